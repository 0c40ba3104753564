// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "os/linux/file_descriptor.h"

namespace cairn {

bool ParseKernelLogRecord(std::string_view record, KernelLogLine* line) {
  const size_t text = record.find(';');
  if (text == std::string_view::npos) return false;
  std::string_view head = record.substr(0, text);
  for (int field = 0; field < 2; ++field) {
    const size_t comma = head.find(',');
    if (comma == std::string_view::npos) return false;
    head.remove_prefix(comma + 1);
  }
  uint64_t time_us = 0;
  const char* const end = head.data() + head.size();
  const auto [rest, error] = std::from_chars(head.data(), end, time_us);
  if (error != std::errc() || (rest != end && *rest != ',') || time_us > UINT64_MAX / 1000) {
    return false;
  }
  line->time_ns = time_us * 1000;
  line->text = record.substr(text + 1);
  line->text.resize(std::min(line->text.size(), line->text.find('\n')));
  return true;
}

Result<std::vector<KernelLogLine>> ReadKernelLog(uint64_t since_ns) {
  const FileDescriptor log(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log.valid()) {
    if (errno == ENOENT) return Status(StatusCode::kUnsupported, "there is no /dev/kmsg");
    return StatusFromErrno(errno, "/dev/kmsg cannot be read");
  }
  std::vector<KernelLogLine> lines;
  std::array<char, 8192> record;  // one takes no more
  // The log grows meanwhile, so that the number of lines read is limited.
  for (size_t i = 0; i < size_t{1} << 20; ++i) {
    const ssize_t size = read(log.get(), record.data(), record.size());
    if (size < 0 && (errno == EPIPE || errno == EINTR)) continue;  // overwritten before it was read
    if (size < 0 && errno != EAGAIN) return StatusFromErrno(errno, "/dev/kmsg cannot be read");
    if (size <= 0) break;
    KernelLogLine line;
    const std::string_view bytes(record.data(), static_cast<size_t>(size));
    if (!ParseKernelLogRecord(bytes, &line) || line.time_ns < since_ns) continue;
    if (lines.size() == 2 * kMostKernelLogLines) {
      lines.erase(lines.begin(), lines.begin() + kMostKernelLogLines);
    }
    lines.push_back(std::move(line));
  }
  if (lines.size() > kMostKernelLogLines) {
    lines.erase(lines.begin(), lines.end() - kMostKernelLogLines);
  }
  return lines;
}

}  // namespace cairn
