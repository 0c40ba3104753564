// SPDX-License-Identifier: Apache-2.0
//
// The application's memory callbacks as a memory resource for standard containers.
#ifndef CAIRN_APP_BREADCRUMBS_ALLOCATION_H_
#define CAIRN_APP_BREADCRUMBS_ALLOCATION_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>

#include "cairn/breadcrumbs.h"

namespace cairn {

class CallbackMemory final : public std::pmr::memory_resource {
 public:
  // All callbacks NULL: malloc and free.
  explicit CallbackMemory(const CairnAllocationCallbacks& callbacks) : callbacks_(callbacks) {}

  void* Allocate(size_t size_bytes) {
    return callbacks_.allocate != nullptr ? callbacks_.allocate(size_bytes, callbacks_.user_data)
                                          : std::malloc(size_bytes);
  }
  void Release(void* memory) {
    if (memory == nullptr) return;
    if (callbacks_.release != nullptr) {
      callbacks_.release(memory, callbacks_.user_data);
    } else {
      std::free(memory);
    }
  }

 private:
  // The callbacks align for any fundamental type. For more, the address that they gave is kept right
  // before the one that is handed out.
  void* do_allocate(size_t size_bytes, size_t alignment) override {
    const bool over_aligned = alignment > alignof(std::max_align_t);
    void* memory = Allocate(over_aligned ? size_bytes + alignment + sizeof(void*) : size_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (!over_aligned) return memory;
    const uintptr_t first = reinterpret_cast<uintptr_t>(memory) + sizeof(void*);
    void** aligned = reinterpret_cast<void**>((first + alignment - 1) / alignment * alignment);
    aligned[-1] = memory;
    return aligned;
  }
  void do_deallocate(void* memory, size_t, size_t alignment) override {
    Release(alignment > alignof(std::max_align_t) ? static_cast<void**>(memory)[-1] : memory);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  CairnAllocationCallbacks callbacks_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_ALLOCATION_H_
