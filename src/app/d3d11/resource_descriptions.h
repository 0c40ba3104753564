// SPDX-License-Identifier: Apache-2.0
//
// Describes how a buffer or a texture was made, for reports of those without a name.
#ifndef CAIRN_APP_D3D11_RESOURCE_DESCRIPTIONS_H_
#define CAIRN_APP_D3D11_RESOURCE_DESCRIPTIONS_H_

#include <d3d11_4.h>

#include <cstdint>

#include "app/d3d11/device.h"
#include "format/block/object_description.h"

namespace cairn {

inline uint32_t UsesOf(D3D11_USAGE usage, UINT bind_flags, UINT cpu_access) {
  uint32_t uses = 0;
  const auto is = [bind_flags, &uses](D3D11_BIND_FLAG flag, uint32_t use) {
    if ((bind_flags & flag) != 0) uses |= use;
  };
  is(D3D11_BIND_VERTEX_BUFFER, kUsedAsVertices);
  is(D3D11_BIND_INDEX_BUFFER, kUsedAsIndices);
  is(D3D11_BIND_CONSTANT_BUFFER, kUsedAsConstants);
  is(D3D11_BIND_UNORDERED_ACCESS, kUsedAsStorage);
  is(D3D11_BIND_RENDER_TARGET, kUsedAsTarget);
  is(D3D11_BIND_DEPTH_STENCIL, kUsedAsDepth);
  if (usage == D3D11_USAGE_STAGING) {
    uses |= (cpu_access & D3D11_CPU_ACCESS_READ) != 0 ? kUsedAsReadback : kUsedAsUpload;
  }
  return uses;
}

template <typename Desc>
ObjectDescription TextureDescription(ObjectShape shape, const Desc& desc, UINT height,
                                     UINT layers) {
  ObjectDescription description;
  description.shape = shape;
  description.format = static_cast<uint32_t>(desc.Format);
  description.width = desc.Width;
  description.height = height;
  description.layers = layers;
  description.uses = UsesOf(desc.Usage, desc.BindFlags, desc.CPUAccessFlags);
  return description;
}

inline CreatedFacts FactsOf(const D3D11_BUFFER_DESC* desc) {
  if (desc == nullptr) return {};
  ObjectDescription description;
  description.shape = ObjectShape::kBuffer;
  description.uses = UsesOf(desc->Usage, desc->BindFlags, desc->CPUAccessFlags);
  if ((desc->MiscFlags & D3D11_RESOURCE_MISC_DRAWINDIRECT_ARGS) != 0) {
    description.uses |= kUsedAsArguments;
  }
  return {.size_bytes = desc->ByteWidth, .description = PackDescription(description)};
}
inline CreatedFacts FactsOf(const D3D11_TEXTURE1D_DESC* desc) {
  if (desc == nullptr) return {};
  return {.description = PackDescription(
              TextureDescription(ObjectShape::kTexture1D, *desc, 1, desc->ArraySize))};
}
// D3D11_TEXTURE2D_DESC or ...DESC1.
template <typename Desc>
CreatedFacts FactsOf(const Desc* desc) requires requires {
  desc->SampleDesc;
}
{
  if (desc == nullptr) return {};
  return {.description = PackDescription(
              TextureDescription(ObjectShape::kTexture2D, *desc, desc->Height, desc->ArraySize))};
}
// D3D11_TEXTURE3D_DESC or ...DESC1.
template <typename Desc>
CreatedFacts FactsOf(const Desc* desc) requires requires {
  desc->Depth;
}
{
  if (desc == nullptr) return {};
  return {.description = PackDescription(
              TextureDescription(ObjectShape::kTexture3D, *desc, desc->Height, desc->Depth))};
}

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_RESOURCE_DESCRIPTIONS_H_
