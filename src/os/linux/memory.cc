// SPDX-License-Identifier: Apache-2.0
#include "os/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "os/linux/file_descriptor.h"

#if defined(CAIRN_SANITIZED)
extern "C" __attribute__((weak)) void __lsan_register_root_region(const void* memory, size_t bytes);
#endif

namespace cairn {

size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

uint64_t SharedBytesInUse() {
  const FileDescriptor file(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  char text[128] = {};
  unsigned long shared_pages = 0;
  if (read(file.get(), text, sizeof(text) - 1) <= 0 ||
      std::sscanf(text, "%*u %*u %lu", &shared_pages) != 1) {
    return 0;
  }
  return shared_pages * PageBytes();
}

void ShareHeaps() {
  mallopt(M_ARENA_MAX, 2);
}

SparseMemory SparseMemory::Reserve(size_t size_bytes) {
  SparseMemory memory;
  void* const data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return memory;
  memory.data_ = static_cast<std::byte*>(data);
  memory.size_bytes_ = size_bytes;
  return memory;
}

SparseMemory SparseMemory::ReserveForTracking(size_t size_bytes) {
  return Reserve(size_bytes);
}

void SparseMemory::Keep() {
#if defined(CAIRN_SANITIZED)
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(data_, size_bytes_);
#endif
  data_ = nullptr;
}

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) munmap(data_, size_bytes_);
}

}  // namespace cairn
