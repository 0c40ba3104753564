// SPDX-License-Identifier: Apache-2.0
//
// Anonymous memory that can be mapped by another process and disappears with its last user. It can
// neither shrink nor grow, so that a reader's mapping never faults. Sparse: pages cost nothing until
// they are touched.
#ifndef CAIRN_OS_SHARED_MEMORY_H_
#define CAIRN_OS_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"
#include "os/handle.h"

namespace cairn {

class SharedMemory {
 public:
  // Returns the largest size that Create accepts: on Linux the limit of this process for files (ulimit -f).
  static uint64_t MostBytes();

  // Creates memory that is zero-filled, and maps it for reading and writing. kUnsupported beyond MostBytes(). `name` is
  // for people who look at what a process holds, and for os/running_processes.h. On Windows it is the beginning of the
  // name by which this user's processes can open it.
  static Result<SharedMemory> Create(const char* name, uint64_t size_bytes);

  // Maps memory made by Create in another process, for reading only; takes ownership of
  // `memory` also when it fails. kCorrupt if it could shrink, is of huge pages or is not `size_bytes` large.
  static Result<SharedMemory> MapForReading(SystemHandle memory, uint64_t size_bytes) {
    return Map(std::move(memory), size_bytes, false);
  }
  // The same for memory in which the reader answers.
  static Result<SharedMemory> MapForWriting(SystemHandle memory, uint64_t size_bytes) {
    return Map(std::move(memory), size_bytes, true);
  }

  // Returns a path by which other processes of this user find the memory while this process lives
  // and keeps it: for processes that cannot be given a handle. Processes in a container may be
  // denied it. The text is the system's own: nobody else parses it.
  std::string PathForOthers() const;
  // Maps what another process's PathForOthers said, for reading and writing. kCorrupt for what could shrink or is
  // no memory; other codes if it cannot be opened.
  static Result<SharedMemory> MapPathForWriting(const std::string& path);

  // Wraps memory that another owner has mapped and keeps for longer than this object is used.
  static SharedMemory Borrow(std::byte* data, uint64_t size_bytes) {
    SharedMemory memory;
    memory.data_ = data;
    memory.size_bytes_ = size_bytes;
    memory.borrowed_ = true;
    return memory;
  }

  // A further mapping for reading only, independent of this one: what is written through this one shows in it.
  Result<SharedMemory> MapAgainForReading() const;

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)),
        borrowed_(other.borrowed_),
        identity_(std::exchange(other.identity_, 0)),
        handle_(std::move(other.handle_)),
        name_(std::move(other.name_)) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(borrowed_, other.borrowed_);
    std::swap(identity_, other.identity_);
    std::swap(handle_, other.handle_);
    std::swap(name_, other.name_);
    return *this;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // "cairn-block-1234-0": the name of this memory for all who have it, on Windows; "" if it has none, and elsewhere.
  const std::string& name() const { return name_; }

  std::byte* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }
  // Identifies memory that another process has made: two mappings that exist at the same time have the same identity if
  // they show the same memory. 0 if it is not known, as on Windows.
  uint64_t identity() const { return identity_; }
  // Drops the touched pages of the mapping: they no longer count as this process's memory until they are touched again.
  // Their bytes stay. Does nothing on Windows.
  void ForgetPages() const;
  // The handle to hand the memory over with. -1 in memory that another process made: the mapping needs none.
  RawHandle handle() const { return handle_.get(); }

 private:
  static Result<SharedMemory> Map(SystemHandle handle, uint64_t size_bytes, bool writable);

  std::byte* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  bool borrowed_ = false;
  uint64_t identity_ = 0;
  SystemHandle handle_;
  std::string name_;
};

}  // namespace cairn

#endif  // CAIRN_OS_SHARED_MEMORY_H_
