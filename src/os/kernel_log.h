// SPDX-License-Identifier: Apache-2.0
//
// Reads the log of the operating system's kernel and its drivers.
#ifndef CAIRN_OS_KERNEL_LOG_H_
#define CAIRN_OS_KERNEL_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace cairn {

struct KernelLogLine {
  // The time of MonotonicNs() (os/clock.h) by the kernel's own clock, which is not corrected: it
  // may be off by one part in 10,000 of the time since the machine started.
  uint64_t time_ns = 0;
  std::string text;  // untrusted: programs can make the kernel log what they like
};

// The lines from `since_ns` on that the kernel still has, the last kMostKernelLogLines of them. Never waits. Cost: a
// system call for each line that the kernel still has.
// Errors: kIo where it may not be read (on most systems by the administrator alone, and in no container),
// kUnsupported where there is none.
inline constexpr size_t kMostKernelLogLines = 4096;
Result<std::vector<KernelLogLine>> ReadKernelLog(uint64_t since_ns);

// One record of the log as /dev/kmsg gives it: "PRIORITY,NUMBER,MICROSECONDS,FLAGS;text", further
// lines with more facts. False for other text.
bool ParseKernelLogRecord(std::string_view record, KernelLogLine* line);

}  // namespace cairn

#endif  // CAIRN_OS_KERNEL_LOG_H_
