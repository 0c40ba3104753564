// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/unreported_fault.h"

#include <gtest/gtest.h>

#include "reader/analysis/findings.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

CulpritFinding Find(const Snapshot& snapshot) {
  return AnalyseDump(snapshot).culprit;
}

// One work at work, and the watchdog's word.
SnapshotBuilder OneWork(CairnMarkerType type) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(type);
  builder.EndList();
  builder.Submit(queue, list);
  builder.SetWords(list, 1, 0);
  builder.snapshot.incidents.push_back(
      {.kind = IncidentKind::kHang, .value = 2000, .queue = queue});
  return builder;
}

TEST(UnreportedFault, AHangOfAGpuMayBeAFaultThatNobodyReports) {
  SnapshotBuilder builder = OneWork(CAIRN_MARKER_DISPATCH);
  Snapshot& snapshot = builder.snapshot;
  EXPECT_FALSE(Find(snapshot).may_be_fault) << "nobody knows what it runs on";
  snapshot.devices[0].vendor_id = 0x10DE;
  EXPECT_TRUE(Find(snapshot).may_be_fault);
  snapshot.devices[0].name = snapshot.AddText("llvmpipe (LLVM 15.0.6, 256 bits)");
  EXPECT_FALSE(Find(snapshot).may_be_fault) << "lavapipe below another layer";
  snapshot.devices[0].name = {};
  EXPECT_TRUE(Find(snapshot).may_be_fault);
  snapshot.kernel_logs.resize(1);
  EXPECT_TRUE(Find(snapshot).may_be_fault) << "in a virtual machine no driver may log there";
  snapshot.kernel_lines.resize(1);
  EXPECT_FALSE(Find(snapshot).may_be_fault) << "a driver logs there, and would have told";
  snapshot.kernel_lines[0].tells_fault = true;
  EXPECT_NE(Find(snapshot).kind, FindingKind::kCpuFault);
  snapshot.kernel_lines.clear();
  snapshot.incidents[0].kind = IncidentKind::kDeviceLost;
  EXPECT_FALSE(Find(snapshot).may_be_fault) << "it is reported";
}

TEST(UnreportedFault, AWaitForAnEventIsNoFault) {
  SnapshotBuilder builder = OneWork(CAIRN_MARKER_WAIT_EVENTS);
  builder.snapshot.devices[0].vendor_id = 0x10DE;
  EXPECT_FALSE(Find(builder.snapshot).may_be_fault);
}

}  // namespace
}  // namespace cairn
