// SPDX-License-Identifier: Apache-2.0
//
// The headers of Direct3D 11, and what its users here share.
#ifndef CAIRN_APP_BREADCRUMBS_D3D11_API_H_
#define CAIRN_APP_BREADCRUMBS_D3D11_API_H_

#include <d3d11_4.h>
#include <fmt/format.h>

#include <string>

#include "app/breadcrumbs/layer_identity.h"
#include "base/status.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {

// A device and its immediate context. Those of the implementation: a layer has no part in what Cairn does with them.
struct D3D11Objects {
  ComPtr<ID3D11Device> device;
  ComPtr<ID3D11DeviceContext> context;
};

// Returns the object inside a wrapper, or the object itself.
template <typename Interface>
ComPtr<Interface> RealObject(Interface* object) {
  ComPtr<IUnknown> real;
  static_assert(sizeof(GUID) == sizeof(InterfaceId));
  const auto& id = reinterpret_cast<const GUID&>(kRealObjectId);
  if (FAILED(object->QueryInterface(id, real.Receive()))) return ComPtr<Interface>(object);
  return real.As<Interface>();
}

// Converts the result of `call`.
inline Status StatusOf(const char* call, HRESULT result) {
  if (SUCCEEDED(result)) return Status();
  const StatusCode code =
      result == E_OUTOFMEMORY ? StatusCode::kOutOfMemory : StatusCode::kUnsupported;
  return Status(code,
                fmt::format("{} gives HRESULT 0x{:08X}", call, static_cast<uint32_t>(result)));
}

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D11_API_H_
