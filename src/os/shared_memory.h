// SPDX-License-Identifier: Apache-2.0
//
// Anonymous memory that can be mapped by another process and disappears with its last user. It can
// neither shrink nor grow, so that a reader's mapping never faults. Sparse: pages cost nothing until
// they are touched.
#ifndef CAIRN_OS_SHARED_MEMORY_H_
#define CAIRN_OS_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace cairn {

class SharedMemory {
 public:
  // Zero-filled and mapped for reading and writing. `name` is for people who look into /proc.
  static Result<SharedMemory> Create(const char* name, uint64_t size_bytes);

  // Maps memory made by Create in another process, for reading only; takes ownership of `fd` also
  // when it fails. kCorrupt if the memory is not sealed or is not `size_bytes` large.
  static Result<SharedMemory> MapForReading(int fd, uint64_t size_bytes);
  // The same for memory in which the reader answers.
  static Result<SharedMemory> MapForWriting(int fd, uint64_t size_bytes);

  // A further mapping for reading only, independent of this one: what is written through this one shows in it.
  Result<SharedMemory> MapAgainForReading() const;

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }
  // To hand it over. -1 in memory that was mapped from a descriptor: the mapping needs none.
  int fd() const { return fd_; }

 private:
  static Result<SharedMemory> Map(int fd, uint64_t size_bytes, int protection);

  std::byte* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  int fd_ = -1;
};

}  // namespace cairn

#endif  // CAIRN_OS_SHARED_MEMORY_H_
