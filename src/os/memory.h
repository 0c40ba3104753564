// SPDX-License-Identifier: Apache-2.0
//
// Memory in pages, as the system has it.
#ifndef CAIRN_OS_MEMORY_H_
#define CAIRN_OS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace cairn {

// A power of two.
size_t PageBytes();

// Returns the resident bytes of this process that are shared memory or files, as the system counts them. 0 if they are
// not known, as on Windows.
uint64_t SharedBytesInUse();

// Makes threads share two heaps. The C library of Linux gives each thread that allocates while
// another one does a heap of its own, and keeps freed memory there: with threads that come and go a
// process holds several times the memory that it uses. Call it before there are threads. Does
// nothing on other systems.
void ShareHeaps();

// Whole pages of this process alone, zero, and without cost until they are touched.
class SparseMemory {
 public:
  // Empty where there is no room.
  static SparseMemory Reserve(size_t size_bytes);
  // The same, which MakeKernelWriteTracker()'s can track: on Windows it tracks no other memory.
  static SparseMemory ReserveForTracking(size_t size_bytes);

  SparseMemory() = default;
  ~SparseMemory();
  SparseMemory(SparseMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_bytes_(other.size_bytes_) {}
  SparseMemory& operator=(SparseMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  // Null if empty.
  std::byte* data() const { return data_; }
  // Lets the memory stay for the life of the process, and empties this. LeakSanitizer follows the pointers in it.
  void Keep();

 private:
  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_OS_MEMORY_H_
