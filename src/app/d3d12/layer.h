// SPDX-License-Identifier: Apache-2.0
//
// The Direct3D 12 layer as the entry points see it: where the implementation's objects come in and
// become wrappers, and where wrappers go out to functions of the implementation that are not COM
// methods. Everything else happens behind the COM interfaces; docs/reference/d3d12-layer.md.
//
// "Real" is an object of the implementation, "wrapper" what the application holds. No function throws.
// Any thread.
#ifndef CAIRN_APP_D3D12_LAYER_H_
#define CAIRN_APP_D3D12_LAYER_H_

#include <cstdint>
#include <string>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The origin of a device, which the interfaces of Direct3D 12 do not show.
struct DeviceOrigin {
  // Size of a character of names: as the creator of the vkd3d instance chose it, 2 or 4.
  uint32_t wchar_bytes = sizeof(WCHAR);
  // UTF-8, as the application names itself and its engine to the implementation; "" if it does not.
  std::string application;
  // D3D_FEATURE_LEVEL that was asked for; 0 if it is not known.
  uint32_t feature_level = 0;
  // It stands on a Vulkan device that the Vulkan layer sees (DeviceCreationScope::seen).
  bool is_driven = false;
};

// The wrapper of `real`, with one reference for the caller, whose reference on `real` is taken over.
// An implementation may return one device several times: then it is the same wrapper, and the origin
// is that of the first call. When there is no memory for a wrapper, `real` itself is returned, and the
// application goes on without the layer.
ID3D12Device* WrapDevice(ID3D12Device* real, const DeviceOrigin& origin);

// A resource that the implementation made outside of ID3D12Device (vkd3d_create_image_resource).
// `device` is what the application passed: its wrapper, or a device without a wrapper, whose resources
// have none either. References as above.
// The states are D3D12_RESOURCE_STATES: of the image at first, and in which it is presented.
ID3D12Resource* WrapResource(ID3D12Device* device, ID3D12Resource* real, uint32_t initial_state = 0,
                             uint32_t present_state = 0);

// The real object of a wrapper; `object` itself, which may be null, if it is none. No reference is
// added. T is any interface of the object's chain.
IUnknown* RealObject(IUnknown* object);
template <typename T>
T* RealObject(T* object) {
  return static_cast<T*>(RealObject(static_cast<IUnknown*>(object)));
}

// The wrapper of a real object, as its interface ID3D12X; null if it has none. Without a reference: the
// caller knows that the application holds one.
IUnknown* FindWrapper(IUnknown* real);

// vkd3d_resource_incref and vkd3d_resource_decref count apart from AddRef and Release, but all public
// references together count as one there: the resource lives until this count is 0. The new count, as
// the functions of vkd3d return it, in `count`. False if `resource` is no wrapper: then it is for the
// implementation.
bool HoldResource(ID3D12Resource* resource, ULONG* count);
bool DropResource(ID3D12Resource* resource, ULONG* count);

// vkd3d_queue_signal_on_cpu: the fence gets the value from the CPU once what the queue has is submitted to
// Vulkan. `next` is the implementation's; queue and fence are wrappers or not. In a capture it is a Signal
// of the queue, which comes later, but as surely.
HRESULT SignalOnCpu(ID3D12CommandQueue* queue, ID3D12Fence* fence, UINT64 value,
                    int32_t (*next)(void* queue, void* fence, uint64_t value));

// The program takes the native queue behind this one, perhaps to present: everything is submitted.
// `queue` is a wrapper or not.
void BeforePresent(ID3D12CommandQueue* queue);
// This thread has taken a native queue, or gives it back: meanwhile the layer submits nothing of its own from it.
void HoldsNativeQueue(bool holds);
bool HoldsNativeQueue();
// Something that shows what the queue has made has returned `result`, which may say that the device is lost.
// `function`: its name, for reports; it stays.
void AfterPresent(ID3D12CommandQueue* queue, HRESULT result, const char* function);
// A frame was presented: the next one begins on every device.
void EndFrame();
// The process ends: so does the last frame of a capture.
void EndCapturedFrames();

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_LAYER_H_
