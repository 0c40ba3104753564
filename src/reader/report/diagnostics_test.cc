// SPDX-License-Identifier: Apache-2.0
#include "reader/report/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/text.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Report(const TestBlock& block, uint32_t print_flags = 0) {
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value());
  return TextReport(snapshot, AnalyseDump(snapshot), {.print_flags = print_flags});
}

// Returns the text below the heading of a report.
std::string Section(const std::string& report, const std::string& heading) {
  const size_t at = report.find("\n" + heading + "\n");
  if (at == std::string::npos) return "";
  const size_t begin = report.find('\n', at + 1) + 1;
  const size_t end = report.find("\n\n", begin);
  return report.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

TEST(Diagnostics, OfTheSample) {
  TestBlock block;
  FillVulkanBlock(&block);
  const std::string report = Report(block);
  EXPECT_EQ(Section(report, "Fault"),
            R"( - VK_EXT_device_fault: "page fault", at 0.050 s
  ! invalid read at 0x1000020100 (somewhere from 0x1000020000 to 0x1000020fff): memory that was freed, in buffer "Old lights" + 0x100 of 16 KiB, destroyed 30 ms before the fault was noticed, while submitted work was unfinished
      around it: 64 KiB past the end of buffer "Vertices", 892 KiB before image "Shadow map"
  ! instruction that faulted at 0x7f00000040: in no object that is known, 444 GiB past the end of image "Shadow map"
    vendor: MMU status, code 0x3, data 0xfeed
    binary of the vendor, 15 bytes; cairn report --extract DIR writes it to a file
)");
  EXPECT_EQ(Section(report, "Waits"),
            R"( - queue 0 "Graphics" (graphics): submission 1 of 1 has begun
    └─ submission 1: semaphore "Image acquired", which comes from the presentation engine
 - queue 1 "Async compute" (compute): submission 1 of 1 is held back
    └─ submission 1: semaphore "Frame timeline" to reach 7, which comes from submission 1 of queue 0 "Graphics" (graphics)
       └─ submission 1 of queue 0 "Graphics" (graphics) has begun
 - the CPU waits
    └! semaphore "Frame timeline" to reach 9, which nothing submitted so far signals
)");
  EXPECT_EQ(
      Section(report, "Checkpoints of the driver"),
      R"( - queue 0 "Graphics" (graphics), top of the pipe: agrees. It is marker event 7 of command buffer 2. The progress words say the same.
 - queue 0 "Graphics" (graphics), bottom of the pipe: agrees. It is marker event 6 of command buffer 2. The progress words say the same.
)");
  EXPECT_THAT(report, HasSubstr("GPU fault (invalid read at 0x1000020100) in DRAW_INDEXED #2 "));
  EXPECT_THAT(report, HasSubstr("\n  where     Shadows > EXECUTE_COMMANDS #1 > Shadow casters · "
                                "command buffer 2 \"Main\" · "));
  EXPECT_THAT(report, HasSubstr("[ VS: main (00000000000000a1) ]"));
}

TEST(Diagnostics, WithAllEverythingThatWasTold) {
  TestBlock block;
  FillVulkanBlock(&block);
  const std::string waits = Section(Report(block, CAIRN_PRINT_EXTENDED_DEVICE_INFO), "Waits");
  EXPECT_THAT(waits, HasSubstr("   All recorded waits and signals:\n"
                               "    - 0.001 s, the presentation engine signals semaphore \"Image "
                               "acquired\"\n"));
  EXPECT_THAT(waits, HasSubstr("submission 1 of queue 1 \"Async compute\" (compute) waits for "
                               "semaphore \"Frame timeline\" to reach 7\n"));
}

TEST(Diagnostics, NothingWaitsNothingIsPrinted) {
  TestBlock block;
  const uint32_t queue = block.AddQueue(block.AddContext(), 0, "");
  block.AddSync(SyncKind::kSignal, queue, 0, 0x10, 1);
  EXPECT_EQ(Section(Report(block), "Waits"), "");
  EXPECT_THAT(Section(Report(block, CAIRN_PRINT_EXTENDED_DEVICE_INFO), "Waits"),
              HasSubstr("Nothing waits for a signal that has not come."));
}

TEST(Diagnostics, WhatTheKernelSays) {
  Snapshot snapshot;
  const auto section = [&](uint32_t print_flags = 0) {
    return Section(TextReport(snapshot, AnalyseDump(snapshot), {.print_flags = print_flags}),
                   "Kernel log");
  };
  EXPECT_EQ(section(CAIRN_PRINT_EXTENDED_DEVICE_INFO), "");  // it was not asked
  snapshot.kernel_logs = {{}};
  EXPECT_EQ(section(), "");
  EXPECT_EQ(section(CAIRN_PRINT_EXTENDED_DEVICE_INFO),
            " - nothing about a GPU since the program started\n");
  snapshot.kernel_lines = {
      {.time_ns = 5'250'000'000, .text = snapshot.AddText("GPU \x1b[31m reset")},
      {.time_ns = 5'500'000'000,
       .names_process = true,
       .text = snapshot.AddText("NVRM: Xid 31, pid=7204")}};
  snapshot.kernel_logs[0].line_count = 2;
  EXPECT_EQ(section(),
            " - [5.250000] of no process that is named: GPU \\x1b[31m reset\n"
            " ! [5.500000] of this process: NVRM: Xid 31, pid=7204\n");
  snapshot.kernel_logs = {{.why_not = snapshot.AddText("/dev/kmsg cannot be read: no")}};
  EXPECT_EQ(section(), " - the log is unavailable: /dev/kmsg cannot be read: no\n");
}

TEST(Diagnostics, ADeadlockIsToldOnceAndShownOnce) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t queue = block.AddQueue(context, i, "");
    block.AddSync(SyncKind::kWait, queue, 1, 0x10 + i, 1);
    block.AddSync(SyncKind::kSignal, queue, 1, 0x11 - i, 1);
    const TestBlock::List list = block.AddList(context, queue, 0, "");
    block.Close(list);
    block.Submit(queue, list);
  }
  const std::string report = Report(block);
  const std::string cycle =
      "queue 0 (graphics) waits for queue 1 (compute) (semaphore 0x10 to reach 1), which waits for "
      "the first one (semaphore 0x11 to reach 1)";
  EXPECT_THAT(report,
              StartsWith("Deadlock: queues wait for each other\n  wait      " + cycle + '\n'));
  EXPECT_EQ(Section(report, "Waits"),
            R"( - queue 0 (graphics): submission 1 of 1 is held back
    └! submission 1: semaphore 0x10 to reach 1, which would come from submission 1 of queue 1 (compute): a deadlock
       └─ submission 1 of queue 1 (compute) is held back
          └! submission 1: semaphore 0x11 to reach 1, which would come from submission 1 of queue 0 (graphics): a deadlock
 - queue 1 (compute): submission 1 of 1 is held back, as shown above
)");
  const std::string all = Section(Report(block, CAIRN_PRINT_EXTENDED_DEVICE_INFO), "Waits");
  EXPECT_THAT(all, StartsWith(" ! Deadlock: " + cycle + ".\n"));
  EXPECT_THAT(all, HasSubstr(" - queue 1 (compute): submission 1 of 1 is held back\n    └! "));
}

TEST(Diagnostics, AQuestionThatFailed) {
  TestBlock block;
  block.AddFault(block.AddContext(), "VK_EXT_device_fault", "").result = -4;
  EXPECT_EQ(Section(Report(block), "Fault"),
            " - VK_EXT_device_fault could not be asked: VK_ERROR_DEVICE_LOST (-4), at 0.050 s\n");
}

TEST(Diagnostics, TextOfDriversIsMadeVisible) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  block.AddFault(context, "\x1b[31m", "\x1b]0;\x07");
  block.AddVendorInfo(context, "\x1b[0m\n", 1, 2);
  const std::string report = Report(block);
  EXPECT_THAT(report, Not(HasSubstr("\x1b")));
  EXPECT_THAT(Section(report, "Fault"), HasSubstr("vendor: \\x1b[0m\\x0a, code 0x1"));
  EXPECT_THAT(Section(report, "Fault"), HasSubstr("The driver reported no address."));
}

}  // namespace
}  // namespace cairn
