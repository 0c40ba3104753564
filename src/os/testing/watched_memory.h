// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_TESTING_WATCHED_MEMORY_H_
#define CAIRN_OS_TESTING_WATCHED_MEMORY_H_

#include <cstddef>

namespace cairn {

// Pages that every write tracker of this system can track: on Windows the kernel's tracks none that it was not told of
// when they were allocated.
class WatchedMemory {
 public:
  explicit WatchedMemory(size_t size_bytes);
  ~WatchedMemory();
  WatchedMemory(const WatchedMemory&) = delete;
  WatchedMemory& operator=(const WatchedMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  size_t size_bytes_;
};

}  // namespace cairn

#endif  // CAIRN_OS_TESTING_WATCHED_MEMORY_H_
