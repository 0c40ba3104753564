// SPDX-License-Identifier: Apache-2.0
//
// For tests: objects whose methods only note how they were called, for interfaces that no implementation at
// hand has. Every method returns 0 and writes nothing.
#ifndef CAIRN_APP_D3D12_TESTING_TEST_RECORDER_H_
#define CAIRN_APP_D3D12_TESTING_TEST_RECORDER_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "d3d12gen/interfaces.h"
#include "d3d12gen/methods.h"
#include "d3d12gen/supplement.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// `arguments`: as integers of the calling convention; behind the last one of the call is anything.
struct NotedCall {
  size_t slot = 0;
  std::array<uint64_t, 11> arguments = {};
};

// The last call of each object.
inline std::map<const void*, NotedCall> noted_calls;

template <size_t slot>
uint64_t STDMETHODCALLTYPE NoteCall(void* object, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                    uint64_t e, uint64_t f, uint64_t g, uint64_t h, uint64_t i,
                                    uint64_t j, uint64_t k) {
  noted_calls[object] = {slot, {a, b, c, d, e, f, g, h, i, j, k}};
  return 0;
}

inline constexpr size_t kMostSlots = 128;
using MethodTable = std::array<void*, kMostSlots>;

template <size_t... slots>
MethodTable NotingMethods(std::index_sequence<slots...>) {
  return {reinterpret_cast<void*>(&NoteCall<slots>)...};
}
inline MethodTable NotingMethods() {
  return NotingMethods(std::make_index_sequence<kMostSlots>());
}

// Returns the object behind a further interface; null: none.
using FurtherInterfaces = std::function<void*(const InterfaceInfo& wanted)>;

// An object of its own.
class Recorder {
  // First, as in every object of an interface.
  void* const* methods_;

 public:
  Recorder() {
    methods_ = table_.data();
    table_[0] = reinterpret_cast<void*>(&QueryInterface);
    table_[1] = reinterpret_cast<void*>(&AddRef);
    table_[2] = reinterpret_cast<void*>(&Release);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void* object() { return this; }
  template <typename Function>
  void Set(Method method, Function* function) {
    table_[Describe(method).slot] = reinterpret_cast<void*>(function);
  }

  // The object's own versions; the members below list its further interfaces.
  Chain chain = Chain::kNone;
  FurtherInterfaces further = [](const InterfaceInfo&) { return nullptr; };
  ULONG references = 1;

 private:
  static HRESULT STDMETHODCALLTYPE QueryInterface(Recorder* self, REFIID riid, void** object) {
    const InterfaceInfo* const wanted = FindInterface(riid);
    *object = nullptr;
    if (wanted == nullptr) return E_NOINTERFACE;
    const bool own = self->chain != Chain::kNone && IsVersionOf(self->chain, *wanted);
    *object = own ? self : self->further(*wanted);
    if (*object == nullptr) return E_NOINTERFACE;
    static_cast<IUnknown*>(*object)->AddRef();
    return S_OK;
  }
  static ULONG STDMETHODCALLTYPE AddRef(Recorder* self) { return ++self->references; }
  static ULONG STDMETHODCALLTYPE Release(Recorder* self) { return --self->references; }

  MethodTable table_ = NotingMethods();
};

// An object of the fake device, which has the first version of its interface: as long as this lives it has
// the newest one, whose further methods note how they were called, and further interfaces.
class Grown {
 public:
  Grown(IUnknown* object, Chain chain, FurtherInterfaces further)
      : object_(object), chain_(chain), further_(std::move(further)) {
    object_->AddRef();  // The fake's own table must be back when it ends.
    All()[object_] = this;
    original_ = Table();
    const size_t own = OwnSlots(Describe(chain).first);
    for (size_t slot = 0; slot < own; ++slot) table_[slot] = original_[slot];
    table_[0] = reinterpret_cast<void*>(&QueryInterface);
    Table() = table_.data();
  }
  ~Grown() {
    Table() = original_;
    All().erase(object_);
    object_->Release();
  }
  Grown(const Grown&) = delete;
  Grown& operator=(const Grown&) = delete;

 private:
  static std::map<const void*, Grown*>& All() {
    static std::map<const void*, Grown*> all;
    return all;
  }

  void**& Table() { return *reinterpret_cast<void***>(object_); }

  // The slots of an interface with all its bases.
  static size_t OwnSlots(const InterfaceInfo* known) {
    size_t count = 3;
    for (; known != nullptr; known = known->base) {
      for (uint32_t i = 0; i < kMethodCount; ++i) {
        const MethodInfo& method = Describe(static_cast<Method>(i));
        const std::string_view name = method.name;
        if (name.substr(0, name.find(':')) != known->name) continue;
        count = std::max<size_t>(count, method.slot + 1u);
      }
    }
    return count;
  }

  static HRESULT STDMETHODCALLTYPE QueryInterface(IUnknown* self, REFIID riid, void** object) {
    Grown& grown = *All().at(self);
    const InterfaceInfo* const wanted = FindInterface(riid);
    void* found = nullptr;
    if (wanted != nullptr) {
      found = IsVersionOf(grown.chain_, *wanted) ? self : grown.further_(*wanted);
    }
    if (found == nullptr) {
      using Query = HRESULT(STDMETHODCALLTYPE*)(IUnknown*, REFIID, void**);
      return reinterpret_cast<Query>(grown.original_[0])(self, riid, object);
    }
    static_cast<IUnknown*>(found)->AddRef();
    *object = found;
    return S_OK;
  }

  IUnknown* const object_;
  const Chain chain_;
  const FurtherInterfaces further_;
  void** original_;
  MethodTable table_ = NotingMethods();
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_TESTING_TEST_RECORDER_H_
