// SPDX-License-Identifier: Apache-2.0
#include "os/memory.h"

#include "os/windows/system.h"

namespace cairn {

size_t PageBytes() {
  static const size_t bytes = [] {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
  }();
  return bytes;
}

uint64_t SharedBytesInUse() {
  return 0;
}

void ShareHeaps() {}

namespace {

// Pages count against the machine's memory from now on, and take some when they are touched.
std::byte* Allocate(size_t size_bytes, DWORD how) {
  return static_cast<std::byte*>(
      VirtualAlloc(nullptr, size_bytes, MEM_RESERVE | MEM_COMMIT | how, PAGE_READWRITE));
}

}  // namespace

SparseMemory SparseMemory::Reserve(size_t size_bytes) {
  SparseMemory memory;
  memory.data_ = Allocate(size_bytes, 0);
  memory.size_bytes_ = memory.data_ == nullptr ? 0 : size_bytes;
  return memory;
}

SparseMemory SparseMemory::ReserveForTracking(size_t size_bytes) {
  SparseMemory memory;
  memory.data_ = Allocate(size_bytes, MEM_WRITE_WATCH);
  if (memory.data_ == nullptr) return Reserve(size_bytes);
  memory.size_bytes_ = size_bytes;
  return memory;
}

void SparseMemory::Keep() {
  data_ = nullptr;
}

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) VirtualFree(data_, 0, MEM_RELEASE);
}

}  // namespace cairn
