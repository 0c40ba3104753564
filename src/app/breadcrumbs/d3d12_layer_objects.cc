// SPDX-License-Identifier: Apache-2.0
//
// Calls of COM objects whose convention the caller has found out: declared in d3d12_variants.h, which
// cannot be included here.
#include "app/breadcrumbs/layer_identity.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

void* AskLayer(void* object, const InterfaceId& id) {
  static_assert(sizeof(InterfaceId) == sizeof(IID));
  void* answer = nullptr;
  const HRESULT result =
      static_cast<IUnknown*>(object)->QueryInterface(reinterpret_cast<const IID&>(id), &answer);
  return SUCCEEDED(result) ? answer : nullptr;
}

void AddReference(void* object) {
  static_cast<IUnknown*>(object)->AddRef();
}

void ReleaseReference(void* object) {
  static_cast<IUnknown*>(object)->Release();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
