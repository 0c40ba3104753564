// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/wrapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "app/annotations/runtime.h"
#include "app/d3d12/capture/call_capture.h"
#include "app/d3d12/device.h"
#include "app/d3d12/factory.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/object_kind.h"
#include "app/d3d12/object_name.h"
#include "app/d3d12/private_interfaces.h"
#include "app/recorder/block_writer.h"
#include "app/settings/log.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Stands for "the real function left the pointer alone": then so do we.
char untouched;

// Under these the application's debug names are stored by programs that do not use SetName.
constexpr GUID kNameUtf8 = {
    0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
constexpr GUID kNameWide = {
    0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

ID3D12Object* AsObject(void* real) {
  return static_cast<ID3D12Object*>(real);
}

std::string GuidText(REFGUID guid) {
  return fmt::format("{{{:08x}-{:04x}-{:04x}-{:02x}{:02x}-{:02x}{:02x}{:02x}{:02x}{:02x}{:02x}}}",
                     guid.Data1, guid.Data2, guid.Data3, guid.Data4[0], guid.Data4[1],
                     guid.Data4[2], guid.Data4[3], guid.Data4[4], guid.Data4[5], guid.Data4[6],
                     guid.Data4[7]);
}

// The interface works, but its methods would let objects out that have no wrapper.
void LogRefused(REFIID riid, const char* reason) noexcept {
  try {
    const std::string text = GuidText(riid);
    LogOnce(LogLevel::kWarning, text,
            fmt::format("interface {} is refused with E_NOINTERFACE: {}; the program would get it "
                        "without the layer (cairn run --no-layer)",
                        text, reason));
  } catch (...) {
  }
}

// Tear-offs are made rarely: one lock for all objects.
std::mutex tear_off_mutex;

// Returns true for objects with private data: a swap chain of vkd3d-proton is wrapped, but is no
// object of Direct3D 12.
bool HasPrivateData(Chain chain) {
  static const InterfaceInfo* const object = FindInterface(__uuidof(ID3D12Object));
  return IsVersionOf(chain, *object);
}

// Removes resting children of a device that ends from the registry: if the program gets such a real
// object again, on another device, it gets another wrapper.
void HideRestingChildren(const Wrapper& device) {
  std::vector<std::pair<const void*, const Wrapper*>> resting;
  try {
    Wrappers().ForEach([&](const Wrapper* wrapper) {
      if (wrapper == &device || !wrapper->rests()) return;
      if (static_cast<const void*>(wrapper->device()) == device.interface_pointer()) {
        resting.emplace_back(wrapper->real_pointer(), wrapper);
      }
    });
  } catch (const std::bad_alloc&) {
    // Without memory only the children found so far are removed.
  }
  for (const auto& [real, wrapper] : resting) Wrappers().Remove(real, wrapper);
}

}  // namespace

WrapperRegistry& Wrappers() {
  // Never destroyed: objects may still be released while the process ends.
  static WrapperRegistry& registry = *new WrapperRegistry;
  return registry;
}

// ---- Identity ------------------------------------------------------------------------------------

HRESULT Wrapper::Query(REFIID riid, void** object) {
  if (owner_ != this) return owner_->Query(riid, object);
  if (object == nullptr || PointerTo(riid) == nullptr) {
    return real_unknown()->QueryInterface(riid, object);
  }
  if (GivePrivateInterface(*this, riid, object)) return S_OK;
  if (QueryOwn(riid, object)) {
    AddReference();
    return S_OK;
  }
  return QueryReal(riid, object);
}

bool Wrapper::QueryOwn(REFIID, void**) {
  return false;
}

HRESULT Wrapper::QueryReal(REFIID riid, void** object) {
  void* granted = &untouched;
  const HRESULT result = real_unknown()->QueryInterface(riid, &granted);
  if (FAILED(result) || granted == &untouched || granted == nullptr) {
    if (granted != &untouched) *object = granted;
    return result;
  }
  const InterfaceInfo* const wanted = FindInterface(riid);
  if (granted == real_ && wanted != nullptr && IsVersionOf(chain_, *wanted)) {
    static_cast<IUnknown*>(granted)->Release();
    AddReference();
    *object = interface_pointer();
    return result;
  }
  if (wanted != nullptr && IsPassed(*wanted)) {
    *object = granted;
    return result;
  }
  if (wanted != nullptr && HasTearOff(*wanted)) {
    return GiveTearOff(*wanted, granted, object);
  }
  static_cast<IUnknown*>(granted)->Release();
  *object = nullptr;
  LogRefused(riid, wanted == nullptr ? "Cairn does not know it"
                                     : "its object is not the one that was asked");
  return E_NOINTERFACE;
}

// Consumes the reference on `real`, which is the interface `wanted` of the real object.
HRESULT Wrapper::GiveTearOff(const InterfaceInfo& wanted, void* real, void** object) {
  Wrapper* found = nullptr;
  bool made = false;
  {
    const std::lock_guard lock(tear_off_mutex);
    for (found = tear_offs_.load(std::memory_order_acquire); found != nullptr;
         found = found->next_tear_off_) {
      if (found->real_ == real && IsVersionOf(found->chain_, wanted)) break;
    }
    if (found == nullptr) {
      found = MakeTearOff(wanted, real, *this);
      if (found != nullptr) {
        made = true;
        found->next_tear_off_ = tear_offs_.load(std::memory_order_relaxed);
        tear_offs_.store(found, std::memory_order_release);
      }
    }
  }
  if (!made) static_cast<IUnknown*>(real)->Release();
  if (found == nullptr) {
    *object = nullptr;
    return E_OUTOFMEMORY;
  }
  AddReference();
  *object = found->interface_pointer();
  return S_OK;
}

// ---- Counting ------------------------------------------------------------------------------------

ULONG Wrapper::AddReference() {
  Wrapper& counted = *owner_;
  const uint32_t before = counted.references_.fetch_add(1, std::memory_order_relaxed);
  if (before == 0) [[unlikely]]
    counted.FirstReferenceAgain();
  return before + 1;
}

bool Wrapper::AddReferenceIfAlive() {
  uint32_t known = references_.load(std::memory_order_relaxed);
  do {
    if (known == 0 && !hears_end_.load(std::memory_order_relaxed)) return false;
  } while (!references_.compare_exchange_weak(known, known + 1, std::memory_order_relaxed));
  if (known == 0) FirstReferenceAgain();
  return true;
}

// A resource that was held is brought back, or whatever the implementation kept.
void Wrapper::FirstReferenceAgain() {
  if (device_ != nullptr && device_ != this) device_->AddReference();
  TakeLife();
}

// Adds a life and returns the number before. The first one wakes the wrapper.
uint32_t Wrapper::TakeLife() {
  const uint32_t before = lives_.fetch_add(1, std::memory_order_acq_rel);
  if (before != 0) return before;
  real_unknown()->AddRef();
  Wrapper* tear_off = tear_offs_.load(std::memory_order_acquire);
  for (; tear_off != nullptr; tear_off = tear_off->next_tear_off_) {
    tear_off->real_unknown()->AddRef();
  }
  OnWoken();
  CaptureObjectWoken(*this);
  return before;
}

ULONG Wrapper::ReleaseReference() {
  Wrapper& counted = *owner_;
  const uint32_t left = counted.references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left == 0) counted.LastReferenceGone();
  return left;
}

ULONG Wrapper::Hold() {
  return owner_->TakeLife() + 1;
}

ULONG Wrapper::Drop() {
  Wrapper& held = *owner_;
  const uint32_t left = held.lives_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left == 0) held.GiveUpReal();
  return left;
}

void Wrapper::LastReferenceGone() {
  // This may be gone after GiveUpReal().
  Wrapper* const device = device_ == this ? nullptr : static_cast<Wrapper*>(device_);
  if (lives_.fetch_sub(1, std::memory_order_acq_rel) == 1) GiveUpReal();
  if (device != nullptr) device->ReleaseReference();
}

void Wrapper::GiveUpReal() {
  // Against RealEnded(), which the release below may lead to.
  keepers_.fetch_add(1, std::memory_order_relaxed);
  const bool hears_end = hears_end_.load(std::memory_order_relaxed);
  // Another object may get the address of a released real object.
  if (!hears_end) Wrappers().Remove(real_, this);
  OnEnd();
  CaptureObjectRests(*this);
  if (!hears_end) CaptureObjectEnd(*this);
  ReleaseTearOffs();
  const bool check = SelfCheckIsOn();
  if (device_ == this) {
    if (check) CheckDeviceEnds(*device_);
    HideRestingChildren(*this);
  }
  const ULONG left = real_unknown()->Release();
  if (check) CheckEnded(*this, left);
  if (!hears_end) {
    Forget();
    Unkeep();
  }
  Unkeep();
}

// Out of the implementation, and perhaps after the device has ended: nothing of both is called.
void Wrapper::RealEnded() {
  // An implementation that gives up its private data early: from here on the count decides.
  if (!rests()) {
    hears_end_.store(false, std::memory_order_relaxed);
    return;
  }
  Wrappers().Remove(real_, this);
  CaptureObjectEnd(*this);
  Forget();
  Unkeep();
}

void Wrapper::Forget() {
  if (BlockWriter* const block = ProcessBlock(); block != nullptr) {
    block->objects().Destroy(object_index_);
  }
}

void Wrapper::Unkeep() {
  if (keepers_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Wrapper* tear_off = tear_offs_.load(std::memory_order_acquire);
  while (tear_off != nullptr) delete std::exchange(tear_off, tear_off->next_tear_off_);
  delete this;
}

// Tear-offs live as long as their owner: a pointer that the program keeps may wake the owner.
void Wrapper::ReleaseTearOffs() {
  Wrapper* tear_off = tear_offs_.load(std::memory_order_acquire);
  for (; tear_off != nullptr; tear_off = tear_off->next_tear_off_) {
    tear_off->OnEnd();
    tear_off->real_unknown()->Release();
  }
}

// ---- Becoming known ------------------------------------------------------------------------------

void Wrapper::Join(WrappedID3D12Device& device, ObjectTable::Object facts,
                   const Creation& creation) {
  Wrappers().Add(real_, this);  // The only line that may throw.
  facts.kind = ObjectKindOf(NameOf(chain_));
  facts.context = device.context_index();
  device_ = &device;
  device.AddReference();
  hears_end_.store(HasPrivateData(chain_) && real_end_.Watch(AsObject(real_)),
                   std::memory_order_relaxed);
  BecomeKnown(facts, creation);
}

void Wrapper::JoinAlone(WrappedID3D12Device* self, ObjectTable::Object facts) {
  Wrappers().Add(real_, this);
  facts.kind = ObjectKindOf(NameOf(chain_));
  device_ = self;
  BecomeKnown(facts, {});
}

void Wrapper::BecomeKnown(ObjectTable::Object& facts, const Creation& creation) {
  facts.handle = interface_pointer();
  if (BlockWriter* const block = ProcessBlock(); block != nullptr) {
    object_index_ = block->objects().Add(facts);
  }
  WrapperVtables::Register(chain_, interface_pointer());
  CaptureObject(*this, creation);
}

// ---- Names ---------------------------------------------------------------------------------------

HRESULT Wrapper::SetObjectName(const WCHAR* name) {
  const HRESULT result = AsObject(real_)->SetName(name);
  // A name that the implementation has no use for is one for the report all the same.
  const ObjectName text(name, device_ != nullptr ? device_->wchar_bytes() : sizeof(WCHAR));
  NoteName(text.utf8(), text.cut());
  if (AnnotatedChild* const child = annotated(); child != nullptr) child->SetName(name);
  return result;
}

HRESULT Wrapper::SetObjectData(REFGUID guid, UINT size_bytes, const void* data) {
  const HRESULT result = AsObject(real_)->SetPrivateData(guid, size_bytes, data);
  if (FAILED(result) || PointerTo(guid) == nullptr) return result;
  const bool wide = guid == kNameWide;
  if (!wide && guid != kNameUtf8) return result;
  const uint32_t wchar_bytes = device_ != nullptr ? device_->wchar_bytes() : sizeof(WCHAR);
  const ObjectName text(data, wide ? wchar_bytes : 1, size_bytes);
  NoteName(text.utf8(), text.cut());
  return result;
}

void Wrapper::NoteName(std::string_view name, bool cut) {
  if (BlockWriter* const block = ProcessBlock(); block != nullptr) {
    block->objects().SetName(object_index_, name, cut);
  }
  try {
    OnNamed(name);
  } catch (const std::bad_alloc&) {
    // The report shows the name that it had before; no exception may leave SetName.
  }
}

std::string Wrapper::Name() const {
  BlockWriter* const block = ProcessBlock();
  if (block == nullptr) return {};
  const ObjectRecord* const record = block->objects().Find(object_index_);
  if (record == nullptr) return {};
  const uint32_t length = record->name_length.load(std::memory_order_acquire) & ~kObjectNameCut;
  try {
    return std::string(record->name, std::min<size_t>(length, kObjectNameBytes));
  } catch (const std::bad_alloc&) {
    return {};
  }
}

HRESULT Wrapper::GetChildDevice(REFIID riid, void** device) {
  if (device == nullptr || device_ == nullptr || PointerTo(riid) == nullptr) {
    return static_cast<ID3D12DeviceChild*>(real_)->GetDevice(riid, device);
  }
  return device_->Query(riid, device);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
