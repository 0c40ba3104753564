// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/private_interfaces.h"

#include <cstring>

#include "app/breadcrumbs/layer_identity.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

bool Is(REFIID riid, const InterfaceId& id) {
  static_assert(sizeof(riid) == sizeof(id));
  return std::memcmp(&riid, &id, sizeof(id)) == 0;
}

}  // namespace

bool GivePrivateInterface(Wrapper& wrapper, REFIID riid, void** object) {
  // All of them start alike; hardly anything else does.
  if (riid.Data1 - kLayerDeviceId.data1 > kRealObjectId.data1 - kLayerDeviceId.data1) return false;
  if (Is(riid, kRealObjectId)) {
    wrapper.real_unknown()->AddRef();
    *object = wrapper.real_pointer();
    return true;
  }
  const void* facts = nullptr;
  if (Is(riid, kLayerDeviceId)) facts = wrapper.layer_device();
  if (Is(riid, kLayerListId)) facts = wrapper.layer_list();
  if (facts == nullptr) return false;
  *object = const_cast<void*>(facts);
  return true;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
