// SPDX-License-Identifier: Apache-2.0
#include "watcher/kernel_lines.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

KernelLineAbout About(std::string_view line) {
  return WhatKernelLineIsAbout(line, 7204);
}

TEST(KernelLines, DriversNameTheProcessInTheirWays) {
  for (const char* const line : {
           "NVRM: Xid (PCI:0000:b3:00): 31, pid=7204, name=sample-fault, Ch 00000008, intr "
           "00000000. "
           "MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f3a_00000000",
           "NVRM: Xid (PCI:0000:00:06): 13, pid=7204, name=sample-fault-vu, Graphics Exception: "
           "channel "
           "0x0000000e, Class 0000cbc0, Offset 00000510, Data 00424348",
           "NVRM: Xid (PCI:0000:01:00): 13, pid='7204', name=game",
           "amdgpu 0000:03:00.0: amdgpu: Process game pid 7204 thread game:cs0 pid 7211 ring "
           "timeout",
           "i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dcfdff, in game [7204]",
           "xe 0000:03:00.0: [drm] GT0: Timedout job: seqno=4294967169, lrc_seqno=1, guc_id=3, "
           "flags=0x0 "
           "in game [7204]",
       }) {
    EXPECT_EQ(About(line), KernelLineAbout::kThisProcess) << line;
  }
}

TEST(KernelLines, OthersAreNotThisProcess) {
  for (const char* const line : {
           "NVRM: Xid (PCI:0000:b3:00): 31, pid=72041, name=other, MMU Fault",
           "i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dcfdff, in other [720]",
           "cairn[7204]: segfault at 8 ip 00007f2c sp 00007f2d error 6",
           "NVRM: Persistence mode is deprecated and will be removed in a future release.",
           "NVRM: GPU at PCI:0000:00:06: GPU-5d560753-a7ee-4d86-94e2-00c0434cdce3",
           "usb 1-1: reset high-speed USB device number 2",
           "[drm] Initialized amdgpu 3.49.0 20150101 for 0000:03:00.0 on minor 0",
           "",
       }) {
    EXPECT_EQ(About(line), KernelLineAbout::kNothing) << line;
  }
}

TEST(KernelLines, SomeAreAboutTheGpuAlone) {
  for (const char* const line : {
           "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
           "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=101, "
           "emitted "
           "seq=103",
           "NVRM: Xid (PCI:0000:00:06): 13, Graphics SM Warp Exception on (GPC 1, TPC 4, SM 0): "
           "MMU Fault",
           "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.",
           "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off "
           "the bus.",
           "i915 0000:00:02.0: [drm] Resetting chip for stopped heartbeat on rcs0",
       }) {
    EXPECT_EQ(About(line), KernelLineAbout::kGpu) << line;
  }
}

TEST(KernelLines, FaultsAreNotTimeOuts) {
  EXPECT_TRUE(KernelLineTellsFault("NVRM: Xid (PCI:0000:00:06): 31, pid=7204, MMU Fault: ENGINE"));
  EXPECT_TRUE(KernelLineTellsFault("NVRM: Xid (PCI:0000:00:06): 13, Graphics SM Warp Exception"));
  EXPECT_TRUE(KernelLineTellsFault("amdgpu 0000:03:00.0: amdgpu: [gfxhub0] no-retry page fault"));
  EXPECT_FALSE(KernelLineTellsFault("[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout"));
  EXPECT_FALSE(KernelLineTellsFault("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."));
}

}  // namespace
}  // namespace cairn
