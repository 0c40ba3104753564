// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/factory.h"

#include <array>
#include <mutex>

#include "app/d3d12/capture/call_capture.h"
#include "app/d3d12/command_queue.h"
#include "app/d3d12/device_child.h"
#include "app/d3d12/device_ext.h"
#include "app/d3d12/dred.h"
#include "app/d3d12/graphics_command_list.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/objects.h"
#include "app/d3d12/swap_chain.h"
#include "app/d3d12/video_command_list.h"
#include "app/d3d12/work_graphs.h"
#include "app/settings/log.h"
#include "d3d12gen/thin.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// The final class for each generated one, where there is one by hand.
template <typename Thin>
struct ChildClass {
  using Type = PlainChild<Thin>;
};
template <typename Thin>
struct TearOffClass {
  using Type = PlainTearOff<Thin>;
};

#define CAIRN_BY_HAND(name)       \
  template <>                     \
  struct ChildClass<Thin##name> { \
    using Type = Wrapped##name;   \
  };
CAIRN_BY_HAND(ID3D12CommandAllocator)
CAIRN_BY_HAND(ID3D12CommandQueue)
CAIRN_BY_HAND(ID3D12DescriptorHeap)
CAIRN_BY_HAND(ID3D12Fence)
CAIRN_BY_HAND(ID3D12GraphicsCommandList)
CAIRN_BY_HAND(ID3D12Heap)
CAIRN_BY_HAND(ID3D12PipelineLibrary)
CAIRN_BY_HAND(ID3D12PipelineState)
CAIRN_BY_HAND(ID3D12Resource)
CAIRN_BY_HAND(ID3D12StateObject)
CAIRN_BY_HAND(ID3D12VideoDecodeCommandList)
CAIRN_BY_HAND(ID3D12VideoEncodeCommandList)
CAIRN_BY_HAND(ID3D12VideoProcessCommandList)
CAIRN_BY_HAND(IDXGIVkSwapChain)
#undef CAIRN_BY_HAND

#define CAIRN_BY_HAND(name)         \
  template <>                       \
  struct TearOffClass<Thin##name> { \
    using Type = Wrapped##name;     \
  };
CAIRN_BY_HAND(ID3D12DeviceExt)
CAIRN_BY_HAND(ID3D12DXVKInteropDevice)
CAIRN_BY_HAND(ID3D12DeviceRemovedExtendedData)
CAIRN_BY_HAND(ID3D12StateObjectProperties)
CAIRN_BY_HAND(IDXGIVkSwapChainFactory)
#undef CAIRN_BY_HAND

// Devices come through WrapDevice only.
template <typename Thin>
Wrapper* NewChild(WrappedID3D12Device& device, void* real, const Creation& creation) {
  if constexpr (std::is_same_v<Thin, ThinID3D12Device>) {
    return nullptr;
  } else if constexpr (std::is_same_v<Thin, ThinID3D12Resource>) {
    return new WrappedID3D12Resource(device, real, creation);
  } else {
    return new typename ChildClass<Thin>::Type(device, real);
  }
}

Wrapper* NewChild(Chain chain, WrappedID3D12Device& device, void* real, const Creation& creation) {
  switch (chain) {
#define CAIRN_CASE(name) \
  case Chain::k##name: return NewChild<Thin##name>(device, real, creation);
    CAIRN_WRAPPED_CHAINS(CAIRN_CASE)
#undef CAIRN_CASE
    default: return nullptr;
  }
}

Wrapper* NewTearOff(Chain chain, void* real, Wrapper& owner) {
  switch (chain) {
#define CAIRN_CASE(name) \
  case Chain::k##name: return new typename TearOffClass<Thin##name>::Type(real, owner);
    CAIRN_TEAR_OFF_CHAINS(CAIRN_CASE)
#undef CAIRN_CASE
    default: return nullptr;
  }
}

std::mutex& MakingMutex(const void* real) {
  static std::array<std::mutex, 64> mutexes;
  return mutexes[reinterpret_cast<uintptr_t>(real) / 64 % mutexes.size()];
}

void LogNoMemory(const char* what) {
  LogOnce(LogLevel::kError, what, what);
}

}  // namespace

Wrapper* MakeWrapper(Chain chain, WrappedID3D12Device& device, void* real,
                     const Creation& creation) {
  auto* const unknown = static_cast<IUnknown*>(real);
  // Two threads that are given the same object must end up with the same wrapper.
  const std::lock_guard lock(MakingMutex(real));
  if (Wrapper* const known = Wrappers().FindAndAddReference(real); known != nullptr) {
    unknown->Release();
    return known;
  }
  try {
    if (Wrapper* const made = NewChild(chain, device, real, creation); made != nullptr) return made;
  } catch (...) {
    LogNoMemory("no memory for a wrapper: its creation fails with E_OUTOFMEMORY");
  }
  unknown->Release();
  return nullptr;
}

Wrapper* MakeTearOff(const InterfaceInfo& wanted, void* real, Wrapper& owner) {
  try {
    Wrapper* const made = NewTearOff(wanted.chain, real, owner);
    if (made != nullptr) WrapperVtables::Register(wanted.chain, made->interface_pointer());
    return made;
  } catch (...) {
    LogNoMemory("no memory for a wrapper of a further interface: E_OUTOFMEMORY");
    return nullptr;
  }
}

// ---- policy.h ------------------------------------------------------------------------------------

Wrapper* WrapNew(Wrapper& parent, Chain chain, void* real, const Creation& creation) {
  return MakeWrapper(chain, *parent.device(), real, creation);
}

void NoteNoMemory(Wrapper& parent, Chain chain) {
  WrappedID3D12Device* const device = parent.device();
  if (device != nullptr) device->NoteNoMemory(NameOf(chain));
}

HRESULT GiveInterface(Wrapper* made, REFIID riid, void** out) {
  if (made == nullptr) {
    *out = nullptr;
    return E_OUTOFMEMORY;
  }
  if (PointerTo(riid) == nullptr) {
    *out = made->interface_pointer();
    return S_OK;
  }
  const HRESULT result = made->Query(riid, out);
  made->ReleaseReference();
  return result;
}

HRESULT WrapCreated(Wrapper& parent, Chain chain, void* real, REFIID riid, void** out) {
  return GiveInterface(WrapNew(parent, chain, real), riid, out);
}

// ---- layer.h -------------------------------------------------------------------------------------

ID3D12Resource* WrapResource(ID3D12Device* device, ID3D12Resource* real, uint32_t initial_state,
                             uint32_t present_state) {
  Wrapper* const parent = AsWrapper(device);
  if (parent == nullptr || real == nullptr) return real;
  Wrapper* const made =
      WrapNew(*parent, Chain::kID3D12Resource, real,
              {.initial_state = initial_state, .is_image = true, .present_state = present_state});
  return made == nullptr ? nullptr : static_cast<ID3D12Resource*>(made->interface_pointer());
}

IUnknown* RealObject(IUnknown* object) {
  return Unwrap(object);
}

IUnknown* FindWrapper(IUnknown* real) {
  const Wrapper* const wrapper = Wrappers().Find(real);
  return wrapper == nullptr ? nullptr : wrapper->interface_unknown();
}

bool HoldResource(ID3D12Resource* resource, ULONG* count) {
  Wrapper* const wrapper = AsWrapper(resource);
  if (wrapper != nullptr) *count = wrapper->Hold();
  return wrapper != nullptr;
}

bool DropResource(ID3D12Resource* resource, ULONG* count) {
  Wrapper* const wrapper = AsWrapper(resource);
  if (wrapper != nullptr) *count = wrapper->Drop();
  return wrapper != nullptr;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
