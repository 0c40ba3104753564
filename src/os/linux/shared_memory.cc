// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "os/linux/file_descriptor.h"
#include "os/linux/foreign_handle.h"

namespace cairn {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

uint64_t SharedMemory::MostBytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ~uint64_t{0};
  return limit.rlim_cur;
}

Result<SharedMemory> SharedMemory::Create(const char* name, uint64_t size_bytes) {
  // Beyond the limit the system would end the process, which is perhaps not ours.
  if (size_bytes > MostBytes()) {
    return Status(StatusCode::kUnsupported,
                  "shared memory of " + std::to_string(size_bytes) +
                      " bytes cannot be made: no file of this process may have more than " +
                      std::to_string(MostBytes()) + " (ulimit -f)");
  }
  SharedMemory memory;
  const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  memory.handle_ = SystemHandle(fd);
  if (fd < 0) return StatusFromErrno(errno, "shared memory cannot be created");
  if (ftruncate(fd, static_cast<off_t>(size_bytes)) != 0 || fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    return StatusFromErrno(
        errno, "shared memory of " + std::to_string(size_bytes) + " bytes cannot be reserved");
  }
  void* data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    return StatusFromErrno(
        errno, "shared memory of " + std::to_string(size_bytes) + " bytes cannot be mapped");
  }
  memory.data_ = static_cast<std::byte*>(data);
  memory.size_bytes_ = size_bytes;
  return memory;
}

Result<SharedMemory> SharedMemory::Map(SystemHandle handle, uint64_t size_bytes, bool writable) {
  const int fd = DescriptorOf(handle);
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  if (!IsSealedMemory(fd)) {
    CloseElsewhere(std::move(handle));
    return Status(StatusCode::kCorrupt,
                  "the memory handed over is not sealed against resizing, or of huge pages");
  }
  struct stat info {};
  if (fstat(fd, &info) != 0) return StatusFromErrno(errno, "the memory handed over is unreadable");
  if (size_bytes == 0 || static_cast<uint64_t>(info.st_size) != size_bytes) {
    return Status(StatusCode::kCorrupt, "the memory handed over has " +
                                            std::to_string(info.st_size) + " bytes, not the " +
                                            std::to_string(size_bytes) + " announced");
  }
  void* data = mmap(nullptr, size_bytes, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return StatusFromErrno(errno, "the memory handed over cannot be mapped");
  SharedMemory memory;
  memory.data_ = static_cast<std::byte*>(data);
  memory.size_bytes_ = size_bytes;
  memory.identity_ = info.st_ino;
  return memory;
}

void SharedMemory::ForgetPages() const {
  if (data_ != nullptr && !borrowed_) (void)madvise(data_, size_bytes_, MADV_DONTNEED);
}

std::string SharedMemory::PathForOthers() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(handle_.get());
}

Result<SharedMemory> SharedMemory::MapPathForWriting(const std::string& path) {
  // The name comes from the environment and may be any file's.
  FileDescriptor handle = OpenMemory(path.c_str(), O_RDWR);
  if (!handle.valid() && errno != 0) return StatusFromErrno(errno, path);
  struct stat info {};
  if (!handle.valid() || fstat(handle.get(), &info) != 0) {
    return Status(StatusCode::kCorrupt, path + " is no memory that Cairn has made");
  }
  return Map(std::move(handle), static_cast<uint64_t>(info.st_size), true);
}

Result<SharedMemory> SharedMemory::MapAgainForReading() const {
  SystemHandle again = CopyOf(handle_.get());
  if (!again.valid()) return StatusFromErrno(errno, "shared memory cannot be mapped a second time");
  return MapForReading(std::move(again), size_bytes_);
}

SharedMemory::~SharedMemory() {
  if (data_ == nullptr || borrowed_) return;
  if (identity_ == 0) {
    munmap(data_, size_bytes_);
  } else {
    UnmapElsewhere(data_, size_bytes_);
  }
}

}  // namespace cairn
