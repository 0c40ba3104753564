// SPDX-License-Identifier: Apache-2.0
//
// The application's memory callbacks as a memory resource for standard containers.
#ifndef CAIRN_BREADCRUMBS_ALLOCATION_H_
#define CAIRN_BREADCRUMBS_ALLOCATION_H_

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
  // The callbacks align for any fundamental type; nothing here asks for more.
  void* do_allocate(size_t size_bytes, size_t) override {
    void* memory = Allocate(size_bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void do_deallocate(void* memory, size_t, size_t) override { Release(memory); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  CairnAllocationCallbacks callbacks_;
};

}  // namespace cairn

#endif  // CAIRN_BREADCRUMBS_ALLOCATION_H_
