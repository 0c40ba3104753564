// SPDX-License-Identifier: Apache-2.0
//
// Wrapper: what all our objects have in common, behind the interface that the application sees. Every
// thin class (d3d12gen/) derives from the newest interface of its chain first and from Wrapper second:
//
//   offset 0   pointer to the table of methods: the interface
//   offset 8   Wrapper
//
// so that from any interface pointer that is known to be ours the wrapper is one step away.
#ifndef CAIRN_APP_D3D12_WRAPPER_H_
#define CAIRN_APP_D3D12_WRAPPER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/capture/capture.h"
#include "app/d3d12/capture/creation.h"
#include "app/d3d12/check.h"
#include "app/d3d12/real_end.h"
#include "app/d3d12/scratch.h"
#include "app/recorder/object_table.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/chains.h"
#include "d3d12gen/interface_traits.h"
#include "d3d12gen/interfaces.h"

namespace cairn {

class AnnotatedChild;
struct LayerDevice;
struct LayerList;

inline namespace CAIRN_D3D12_NAMESPACE {

class ListBreadcrumbs;
class WrappedID3D12Device;

// Counting. An object starts with one reference, which is the application's; it holds one of the real
// object. A child holds one of its device's wrapper while it has any itself: so a device counts its
// live children, as Direct3D 12 does. The layer's own objects are made on the real device and count
// nowhere.
//
// A resource may be held apart from its references (vkd3d_resource_incref): it then outlives them, and
// AddRef may bring it back. `lives_` counts the holds, and 1 for all references together; everybody else
// just has 1 there.
//
// With the last life the wrapper gives up its reference on the real object. Mostly the real object ends
// with that, and the wrapper with it. But the implementation may keep it, for another object or for the
// GPU, and the program may go on to use it, even take a new reference: until the real object ends
// (real_end.h), the wrapper rests, and is what it was. Where that cannot be heard, and with devices, the
// wrapper ends with its last life.
//
// Threads: all of it, from any thread.
class Wrapper {
 public:
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
  virtual ~Wrapper() = default;

  Chain chain() const { return chain_; }
  // The implementation's object, as the chain's interface.
  void* real_pointer() const { return real_; }
  IUnknown* real_unknown() const { return static_cast<IUnknown*>(real_); }
  // Returns the pointer that the application holds.
  void* interface_pointer() const {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - sizeof(void*);
  }
  IUnknown* interface_unknown() const { return static_cast<IUnknown*>(interface_pointer()); }
  // The object that counts: itself, or for a tear-off the one that it belongs to.
  Wrapper& owner() const { return *owner_; }
  // The device that this is a child of; the device itself for a device, and for its tear-offs. Null for
  // objects that belong to no device.
  WrappedID3D12Device* device() const { return owner_->device_; }
  // Returns the index in the block's table of objects; ObjectTable::kNone if it found no room.
  uint32_t object_index() const { return object_index_; }
  // The object's number in captures; that of the owner for a tear-off.
  uint64_t capture_number() const { return capture_number_; }
  // The word of a command list for Capture::BeginCall. A tear-off has that of its owner.
  std::atomic<uint32_t>& capture_recorder() { return capture_recorder_; }
  // Returns the breadcrumbs of a command list; null for other objects.
  ListBreadcrumbs* breadcrumbs() const { return breadcrumbs_; }

  // `object` is an interface of one of our classes.
  static Wrapper* FromInterface(const void* object) {
    return reinterpret_cast<Wrapper*>(
        const_cast<std::byte*>(static_cast<const std::byte*>(object)) + sizeof(void*));
  }

  // Implements QueryInterface of every interface.
  HRESULT Query(REFIID riid, void** object);
  ULONG AddReference();
  ULONG ReleaseReference();
  // False, and nothing happens, if the last reference is gone, and the object with it.
  bool AddReferenceIfAlive();
  // The count of vkd3d_resource_incref and vkd3d_resource_decref, as they return it.
  ULONG Hold();
  ULONG Drop();

  // Returns true if the wrapper has no life any more: only the implementation may still know the
  // real object.
  bool rests() const { return lives_.load(std::memory_order_relaxed) == 0; }
  // The real object is about to end.
  void RealEnded();

  // Implements SetName of every ID3D12Object.
  HRESULT SetObjectName(const WCHAR* name);
  HRESULT SetObjectData(REFGUID guid, UINT size_bytes, const void* data);
  // Implements GetDevice of every ID3D12DeviceChild.
  HRESULT GetChildDevice(REFIID riid, void** device);

  // Return the data that libcairn in this process asks for (app/breadcrumbs/layer_identity.h); null
  // where they do not apply.
  virtual const LayerDevice* layer_device() const { return nullptr; }
  virtual const LayerList* layer_list() const { return nullptr; }

  // The name, for people; "" if there is none.
  std::string Name() const;

 protected:
  Wrapper(Chain chain, void* real, Wrapper* owner = nullptr)
      : real_(real),
        owner_(owner != nullptr ? owner : this),
        capture_number_(owner != nullptr ? owner->capture_number_ : NextObjectNumber()),
        chain_(chain) {}

  // The last line of the constructor of a final class that is a child: from here on the object is known
  // to the device, to the registry, to the block, and to Unwrap. `facts`: what is special about it; kind,
  // context and handle are filled in.
  void Join(WrappedID3D12Device& device, ObjectTable::Object facts = {},
            const Creation& creation = {});
  // The same for a device itself, which has filled in its own facts, and for objects without a device.
  void JoinAlone(WrappedID3D12Device* self, ObjectTable::Object facts);

  // Interfaces that the class adds to those of the real object. True if `riid` is one: then `object` is
  // its pointer, without a reference.
  virtual bool QueryOwn(REFIID riid, void** object);
  // The class's state of annotations; null for devices and for objects that have none.
  virtual AnnotatedChild* annotated() { return nullptr; }
  // The name has changed; UTF-8, "" for none.
  virtual void OnNamed(std::string_view name) { static_cast<void>(name); }
  // The last reference is gone, and the real object is about to be released. If that does not end it, there
  // may be another reference one day: OnWoken(), and then OnEnd() again.
  virtual void OnEnd() {}
  virtual void OnWoken() {}

  void* real_;
  Wrapper* owner_;
  ListBreadcrumbs* breadcrumbs_ = nullptr;
  WrappedID3D12Device* device_ = nullptr;
  const uint64_t capture_number_;
  uint32_t object_index_ = ObjectTable::kNone;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint32_t> lives_{1};
  std::atomic<uint32_t> capture_recorder_{0};
  Chain chain_;

 private:
  void BecomeKnown(ObjectTable::Object& facts, const Creation& creation);
  HRESULT QueryReal(REFIID riid, void** object);
  HRESULT GiveTearOff(const InterfaceInfo& wanted, void* real, void** object);
  void NoteName(std::string_view name, bool cut);
  void FirstReferenceAgain();
  uint32_t TakeLife();
  void LastReferenceGone();
  // The last life goes. The real object may end with that, and then the wrapper does.
  void GiveUpReal();
  void ReleaseTearOffs();
  // Ends the entry in the object table: no reference can reach the object any more.
  void Forget();
  // The real object, or a method that is not done, is done with the wrapper.
  void Unkeep();

  // The first of the tear-offs made so far, and the next one of the same owner.
  std::atomic<Wrapper*> tear_offs_{nullptr};
  Wrapper* next_tear_off_ = nullptr;
  RealEnd real_end_{*this};
  std::atomic<bool> hears_end_{false};
  std::atomic<uint32_t> keepers_{1};  // 1 for the real object
};

// The table of methods of our class for each chain: it distinguishes our objects from others. Known
// once the first object of the class exists; before that none can be passed.
class WrapperVtables {
 public:
  // Call it at the end of the constructor of the final class.
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

// Returns the implementation's argument: the real object for a wrapper, anything else unchanged.
template <typename T>
T* Unwrap(T* object) {
  const Wrapper* const wrapper = AsWrapper(object);
  if (wrapper == nullptr) return object;
  if (SelfCheckIsOn()) [[unlikely]]
    CheckUnwrap(*wrapper);
  return static_cast<T*>(wrapper->real_pointer());
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

#endif  // CAIRN_APP_D3D12_WRAPPER_H_
