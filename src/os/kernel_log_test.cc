// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "os/clock.h"

namespace cairn {
namespace {

TEST(KernelLog, ARecordIsItsTimeAndItsFirstLine) {
  KernelLogLine line;
  ASSERT_TRUE(ParseKernelLogRecord(
      "4,812,5140900,-;NVRM: Xid (PCI:0000:01:00): 31, pid=7\n DEVICE=+pci:0\n", &line));
  EXPECT_EQ(line.time_ns, 5'140'900'000u);
  EXPECT_EQ(line.text, "NVRM: Xid (PCI:0000:01:00): 31, pid=7");
  // Newer kernels have more fields.
  ASSERT_TRUE(ParseKernelLogRecord("6,1,12,-,caller=T1;a;b", &line));
  EXPECT_EQ(line.time_ns, 12'000u);
  EXPECT_EQ(line.text, "a;b");
}

TEST(KernelLog, WhatIsNoRecordIsRefused) {
  KernelLogLine line;
  for (const char* const bad : {"", ";", "4,812;x", "4,812,;x", "4,812,12x,-;x", "no head",
                                "4,812,99999999999999999999,-;x", "4,812,18446744073709552,-;x"}) {
    EXPECT_FALSE(ParseKernelLogRecord(bad, &line)) << bad;
  }
}

// Writes a line to this machine's log, where that is possible, and reads it back.
TEST(KernelLog, WhatIsWrittenNowIsRead) {
  const int log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
  std::string takes_lines;  // on, ratelimit, or off: then it takes them and throws them away
  std::ifstream("/proc/sys/kernel/printk_devkmsg") >> takes_lines;
  if (log < 0 || takes_lines == "off" || !ReadKernelLog(0).ok())
    GTEST_SKIP() << "/dev/kmsg may not be read and written";
  const std::string text = "cairn: kernel_log_test " + std::to_string(getpid()) + "\n";
  const uint64_t before_ns = MonotonicNs();
  ASSERT_EQ(write(log, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(log);
  const uint64_t tolerance_ns = 1'000'000'000 + before_ns / 10'000;
  const Result<std::vector<KernelLogLine>> lines = ReadKernelLog(before_ns - tolerance_ns);
  ASSERT_TRUE(lines.ok()) << lines.status().message();
  const auto found = std::find_if(lines->begin(), lines->end(), [&](const KernelLogLine& line) {
    return line.text + "\n" == text;
  });
  ASSERT_NE(found, lines->end());
  EXPECT_LT(found->time_ns, before_ns + tolerance_ns);
  EXPECT_GE(found->time_ns, before_ns - tolerance_ns);
  EXPECT_THAT(ReadKernelLog(UINT64_MAX).value(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace cairn
