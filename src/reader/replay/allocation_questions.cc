// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/allocation_questions.h"

#include <fmt/format.h>

#include "reader/replay/structure_questions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

bool IsAllocationQuestion(Method method) {
  return method == Method::ID3D12Device_GetResourceAllocationInfo ||
         method == Method::ID3D12Device4_GetResourceAllocationInfo1 ||
         method == Method::ID3D12Device8_GetResourceAllocationInfo2;
}

bool IsFeedback(const D3D12_RESOURCE_DESC& desc) {
  constexpr uint32_t kMinMip = 189;  // DXGI_FORMAT_SAMPLER_FEEDBACK_...: newer than the headers
  constexpr uint32_t kMipRegionUsed = 190;
  return NumberOf(desc.Format) == kMinMip || NumberOf(desc.Format) == kMipRegionUsed;
}

std::string KeyOf(const D3D12_RESOURCE_DESC& desc) {
  // Without the padding.
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(desc.Dimension),
                     desc.Alignment, desc.Width, desc.Height, desc.DepthOrArraySize, desc.MipLevels,
                     static_cast<int>(desc.Format), desc.SampleDesc.Count, desc.SampleDesc.Quality,
                     static_cast<int>(desc.Layout), static_cast<int>(desc.Flags));
}

uint64_t HeapRoom(uint64_t heap_bytes, uint64_t offset_bytes) {
  constexpr uint64_t kBlock = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
  const uint64_t rest = heap_bytes % kBlock == 0 ? 0 : kBlock - heap_bytes % kBlock;
  const uint64_t bytes = heap_bytes > kRefusedBytes - rest ? heap_bytes : heap_bytes + rest;
  return offset_bytes > bytes ? 0 : bytes - offset_bytes;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
