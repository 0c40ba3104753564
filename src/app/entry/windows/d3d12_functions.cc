// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "app/entry/entry.h"
#include "app/entry/windows/dxgi_functions.h"
#include "app/entry/windows/functions.h"
#include "app/entry/windows/replacement.h"
#include "app/settings/log.h"

namespace cairn {
namespace {

using CreateDevice = int32_t (*)(void* adapter, int32_t level, const EntryGuid& iid, void** device);

int32_t OnCreateDevice(CreateDevice next, void* adapter, int32_t level, const EntryGuid& iid,
                       void** device) {
  const InsideScope inside;
  // Without a place for the device this asks only whether one could be created.
  if (!inside.outermost() || device == nullptr) return next(adapter, level, iid, device);
  const EntryBridge& layer = MsBridge();
  // What the implementation leaves alone stays as the program has it.
  void* real = *device;
  const int32_t result = next(adapter, level, *layer.device_iid, &real);
  if (result < 0 || real == nullptr) {
    *device = real;
    return result;
  }
  const int32_t wrapped =
      layer.wrap_device(real, sizeof(char16_t), "", static_cast<uint32_t>(level), iid, device);
  // What makes swap chains must know its queues.
  ReplaceMethodsOfFactories();
  return wrapped < 0 ? wrapped : result;
}

using GetInterface = int32_t (*)(const EntryGuid* class_id, const EntryGuid* iid, void** object);

bool IsDeviceFactory(const EntryGuid* class_id) {
  // CLSID_D3D12DeviceFactory, {114863bf-c386-4aee-b39d-8f0bbb062955}
  constexpr EntryGuid kDeviceFactory = {
      0x114863bf, 0xc386, 0x4aee, {0xb3, 0x9d, 0x8f, 0x0b, 0xbb, 0x06, 0x29, 0x55}};
  return class_id != nullptr && std::memcmp(class_id, &kDeviceFactory, sizeof(kDeviceFactory)) == 0;
}

int32_t OnGetInterface(GetInterface next, const EntryGuid* class_id, const EntryGuid* iid,
                       void** object) {
  const int32_t result = next(class_id, iid, object);
  if (result >= 0 && object != nullptr && IsDeviceFactory(class_id)) {
    LogOnce(LogLevel::kWarning, "ID3D12DeviceFactory",
            "this program makes devices by ID3D12DeviceFactory: they are not seen; "
            "D3D12CreateDevice is");
  }
  return result;
}

}  // namespace

void* OverCreateDevice(void* function) {
  return Replacement<&OnCreateDevice>::Over(function);
}
void* OverGetInterface(void* function) {
  return Replacement<&OnGetInterface>::Over(function);
}

}  // namespace cairn
