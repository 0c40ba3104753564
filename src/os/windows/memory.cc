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

SparseMemory SparseMemory::Reserve(size_t size_bytes) {
  SparseMemory memory;
  // Pages count against the machine's memory from now on, and take some when they are touched.
  memory.data_ = static_cast<std::byte*>(
      VirtualAlloc(nullptr, size_bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
  memory.size_bytes_ = memory.data_ == nullptr ? 0 : size_bytes;
  return memory;
}

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) VirtualFree(data_, 0, MEM_RELEASE);
}

}  // namespace cairn
