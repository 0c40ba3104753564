// SPDX-License-Identifier: Apache-2.0
//
// Functions that exist once for each calling convention and are needed without Direct3D headers.
// Those headers declare the two namespaces as inline ones: no file may include both those headers
// and this one.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_VARIANTS_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_VARIANTS_H_

#include <memory>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/layer_identity.h"

namespace cairn {

#define CAIRN_DECLARE_D3D12_VARIANT(name)                 \
  namespace name {                                        \
  std::unique_ptr<Backend> CreateBackend(void* device);   \
  /* QueryInterface for one of the layer's identifiers */ \
  void* AskLayer(void* object, const InterfaceId& id);    \
  void AddReference(void* object);                        \
  void ReleaseReference(void* object);                    \
  }

CAIRN_DECLARE_D3D12_VARIANT(d3d12_ms)
#if defined(_WIN32)
namespace d3d12_sysv = d3d12_ms;  // the platform's own convention is that of Windows
#else
CAIRN_DECLARE_D3D12_VARIANT(d3d12_sysv)
#endif

#undef CAIRN_DECLARE_D3D12_VARIANT

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_VARIANTS_H_
