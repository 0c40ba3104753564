// SPDX-License-Identifier: Apache-2.0
//
// Wrapper: what all our objects have in common, behind the interface that the application sees. Every
// thin class (d3d12gen/) derives from the newest interface of its chain first and from Wrapper second:
//
//   offset 0   pointer to the table of methods: the interface
//   offset 8   Wrapper
//
// so that from any interface pointer that is known to be ours the wrapper is one step away.
#ifndef CAIRN_D3D12_WRAPPER_H_
#define CAIRN_D3D12_WRAPPER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "d3d12/scratch.h"
#include "d3d12abi/d3d12_video_api.h"
#include "d3d12gen/chains.h"
#include "d3d12gen/interface_traits.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class ListBreadcrumbs;

class Wrapper {
 public:
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;

  Chain chain() const { return chain_; }
  // The implementation's object, as the chain's interface.
  void* real_pointer() const { return real_; }
  // What the application holds.
  void* interface_pointer() const {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - sizeof(void*);
  }
  // The object that counts: itself, or for a tear-off the one that it belongs to.
  Wrapper& owner() const { return *owner_; }
  // Of command lists, otherwise null.
  ListBreadcrumbs* breadcrumbs() const { return breadcrumbs_; }

  // `object` is an interface of one of our classes.
  static Wrapper* FromInterface(const void* object) {
    return reinterpret_cast<Wrapper*>(
        const_cast<std::byte*>(static_cast<const std::byte*>(object)) + sizeof(void*));
  }

  // What IUnknown of every interface does.
  HRESULT Query(REFIID riid, void** object);
  ULONG AddReference();
  ULONG ReleaseReference();

 protected:
  Wrapper(Chain chain, void* real, Wrapper* owner = nullptr)
      : real_(real), owner_(owner != nullptr ? owner : this), chain_(chain) {}
  virtual ~Wrapper() = default;

  void* real_;
  Wrapper* owner_;
  ListBreadcrumbs* breadcrumbs_ = nullptr;
  Chain chain_;
};

// The table of methods of our class for each chain: it tells our objects from others. Known once the
// first object of the class is there; before that nobody can pass one.
class WrapperVtables {
 public:
  // At the end of the constructor of the final class.
  static void Register(Chain chain, const void* interface_pointer) {
    vtables_[static_cast<size_t>(chain)].store(*static_cast<const void* const*>(interface_pointer),
                                               std::memory_order_relaxed);
  }
  static const void* Of(Chain chain) {
    return vtables_[static_cast<size_t>(chain)].load(std::memory_order_relaxed);
  }

 private:
  static inline constinit std::atomic<const void*> vtables_[kChainCount] = {};
};

// The wrapper behind an argument, if it is one of ours; null for null and for foreign objects.
template <typename T>
Wrapper* AsWrapper(T* object) {
  if (object == nullptr) return nullptr;
  const void* const vtable = *reinterpret_cast<const void* const*>(object);
  for (const Chain chain : InterfaceTraits<std::remove_const_t<T>>::kChains) {
    if (vtable == WrapperVtables::Of(chain)) return Wrapper::FromInterface(object);
  }
  return nullptr;
}

// What the implementation gets for an argument: the real object for ours, anything else as it is.
template <typename T>
T* Unwrap(T* object) {
  const Wrapper* const wrapper = AsWrapper(object);
  return wrapper != nullptr ? static_cast<T*>(wrapper->real_pointer()) : object;
}

// The same for arrays of objects, which are copied. Null and empty ones stay.
template <typename T>
requires requires {
  InterfaceTraits<std::remove_const_t<T>>::kChains;
}
T* const* UnwrapArray(Scratch& scratch, T* const* objects, uint64_t count) {
  if (objects == nullptr || count == 0) return objects;
  T** const copy = scratch.Allocate<T*>(count);
  if (copy == nullptr) return objects;
  for (uint64_t i = 0; i < count; ++i) copy[i] = Unwrap(objects[i]);
  return copy;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_WRAPPER_H_
