// SPDX-License-Identifier: Apache-2.0
#include "app/entry/entry.h"

#include "app/d3d12/layer.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

static_assert(sizeof(EntryGuid) == sizeof(GUID) && sizeof(ULONG) == sizeof(uint32_t));

const IID& InterfaceId(const EntryGuid& guid) {
  return reinterpret_cast<const IID&>(guid);
}

int32_t WrapCreatedDevice(void* real, uint32_t wchar_bytes, const char* application,
                          uint32_t feature_level, const EntryGuid& iid, void** device) {
  DeviceOrigin origin;
  origin.wchar_bytes = wchar_bytes;
  origin.application = application;
  origin.feature_level = feature_level;
  ID3D12Device* const wrapper = WrapDevice(static_cast<ID3D12Device*>(real), origin);
  const HRESULT result = wrapper->QueryInterface(InterfaceId(iid), device);
  wrapper->Release();
  return result;
}

void* Real(void* object) {
  return RealObject(static_cast<IUnknown*>(object));
}

void* WrapImage(void* device, void* real, uint32_t initial_state, uint32_t present_state) {
  return WrapResource(static_cast<ID3D12Device*>(device), static_cast<ID3D12Resource*>(real),
                      initial_state, present_state);
}

void BeforeQueueIsTaken(void* queue) {
  BeforePresent(static_cast<ID3D12CommandQueue*>(queue));
}

bool Hold(void* resource, uint32_t* count) {
  ULONG held = 0;
  if (!HoldResource(static_cast<ID3D12Resource*>(resource), &held)) return false;
  *count = held;
  return true;
}

bool Drop(void* resource, uint32_t* count) {
  ULONG held = 0;
  if (!DropResource(static_cast<ID3D12Resource*>(resource), &held)) return false;
  *count = held;
  return true;
}

int32_t SignalOnCpuOf(void* queue, void* fence, uint64_t value,
                      int32_t (*next)(void* queue, void* fence, uint64_t value)) {
  return SignalOnCpu(static_cast<ID3D12CommandQueue*>(queue), static_cast<ID3D12Fence*>(fence),
                     value, next);
}

const EntryBridge& Bridge() {
  static const EntryBridge bridge = {
      .device_iid = reinterpret_cast<const EntryGuid*>(&__uuidof(ID3D12Device)),
      .wrap_device = WrapCreatedDevice,
      .real_object = Real,
      .wrap_resource = WrapImage,
      .hold_resource = Hold,
      .drop_resource = Drop,
      .signal_on_cpu = SignalOnCpuOf,
      .before_present = BeforeQueueIsTaken,
      .holds_queue = [](bool holds) { HoldsNativeQueue(holds); },
      .end_frame = EndFrame,
  };
  return bridge;
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE

#if defined(CAIRN_D3D12_SYSV_ABI)
const EntryBridge& SysvBridge() {
  return Bridge();
}
#else
const EntryBridge& MsBridge() {
  return Bridge();
}
#endif

}  // namespace cairn
