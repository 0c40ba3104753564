// SPDX-License-Identifier: Apache-2.0
//
// Reads the contents of textures at the end of the playback.
#include <algorithm>
#include <utility>
#include <vector>

#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

bool IsTexture(const ReplayObject& object) {
  return object.chain == Chain::kID3D12Resource &&
         (object.desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE1D ||
          object.desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE2D ||
          object.desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D);
}

bool IsTarget(const ReplayObject& object) {
  const D3D12_RESOURCE_FLAGS drawn_into = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET |
                                          D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL |
                                          D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  return object.is_image || (object.desc.Flags & drawn_into) != 0;
}

// About how much is read back of it: formats that compress have less.
uint64_t ImageBytes(const ReplayObject& object, bool every_subresource) {
  constexpr uint64_t kBytesOfTexel = 4, kMost = uint64_t{1} << 20;
  const D3D12_RESOURCE_DESC& desc = object.desc;
  const uint64_t texels =
      std::min<uint64_t>(desc.Width, kMost) * std::min<uint64_t>(desc.Height, kMost);
  return texels * desc.DepthOrArraySize * kBytesOfTexel * (every_subresource ? 4 : 3) / 3;
}

}  // namespace

Status PlayerImpl::ReadTextures() {
  if (!options_.on_texture) return Status();
  std::vector<ReplayObject*> textures;
  for (const auto& [number, object] : objects_.all()) {
    const bool asked = options_.textures.empty() || options_.textures.contains(number);
    const DeviceContext* const context = devices_.Find(object->device);
    if (!asked || !IsTexture(*object) || context == nullptr || context->lost) continue;
    if (!options_.every_subresource && options_.textures.empty() && !IsTarget(*object)) continue;
    textures.push_back(object.get());
  }
  std::sort(textures.begin(), textures.end(),
            [](const ReplayObject* a, const ReplayObject* b) { return a->number < b->number; });
  for (ReplayObject* const texture : textures) {
    cost_.AddImage(ImageBytes(*texture, options_.every_subresource));
    CAIRN_RETURN_IF_ERROR(CheckCost());
    CAIRN_RETURN_IF_ERROR(ReadTexture(texture));
    if (log_.Interrupted()) break;
  }
  return Status();
}

Status PlayerImpl::ReadTexture(ReplayObject* texture) {
  DeviceContext* const context = devices_.Find(texture->device);
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  const D3D12_RESOURCE_DESC& desc = texture->desc;
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  const uint32_t slices = volume ? 1 : desc.DepthOrArraySize;
  const uint32_t mips = options_.every_subresource ? desc.MipLevels : 1;
  for (uint32_t plane = 0; plane < PlaneCount(desc.Format); ++plane) {
    for (uint32_t slice = 0; slice < slices; ++slice) {
      for (uint32_t mip = 0; mip < mips; ++mip) {
        TextureImage image;
        image.object = texture->number;
        image.subresource = (plane * slices + slice) * desc.MipLevels + mip;
        image.mip = mip;
        image.slice = slice;
        image.plane = plane;
        image.format = desc.Format;
        image.is_target = IsTarget(*texture);
        Result<SubresourceBytes> bytes =
            context->Readback().Read(*queue, texture->As<ID3D12Resource>(), image.subresource,
                                     static_cast<D3D12_RESOURCE_STATES>(context->states.State(
                                         texture->number, image.subresource)));
        if (bytes.ok()) {
          image.width = bytes->width;
          image.height = bytes->height;
          image.depth = bytes->depth;
          image.format = bytes->format;
          image.row_bytes = bytes->row_bytes;
          image.row_count = bytes->row_count;
          image.pixels = std::move(bytes->bytes);
        } else if (bytes.status().code() == StatusCode::kDeviceLost) {
          return log_.Fail(PlayerFailure::kLost, log_.record(), bytes.status().message(),
                           StatusCode::kDeviceLost);
        } else {
          image.problem = bytes.status().message();
        }
        options_.on_texture(std::move(image));
      }
    }
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
