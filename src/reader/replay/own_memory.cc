// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/own_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint64_t kAlignment = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BYTE_ALIGNMENT;
constexpr uint64_t kMostBytes = uint64_t{1} << 36;  // of one place

}  // namespace

Result<D3D12_GPU_VIRTUAL_ADDRESS> OwnMemory::Provide(ID3D12Device* device, PlayCost* cost,
                                                     Place place, uint64_t size_bytes) {
  if (size_bytes > kMostBytes) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("it needs {} bytes on this device", size_bytes));
  }
  Parts& owner = owners_[place.owner];
  Part& part = owner.parts[place.address];
  if (part.address != 0 && part.size_bytes >= size_bytes) return part.address;
  // One that grows often does not take new memory as often.
  const uint64_t wanted =
      part.address == 0 ? size_bytes : std::max(size_bytes, 2 * part.size_bytes);
  const uint64_t taken = (std::max<uint64_t>(wanted, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (owner.blocks.empty() || taken > owner.block_bytes - owner.used_bytes) {
    const Status added = AddBlock(device, cost, taken, &owner);
    if (!added.ok()) return added;
  }
  part = {owner.blocks.back()->GetGPUVirtualAddress() + owner.used_bytes, taken};
  owner.used_bytes += taken;
  return part.address;
}

Status OwnMemory::AddBlock(ID3D12Device* device, PlayCost* cost, uint64_t size_bytes,
                           Parts* parts) const {
  // Each block is twice as large as the one before.
  const uint64_t bytes = std::max(
      size_bytes, std::clamp(2 * parts->block_bytes, kSmallestBlockBytes, kLargestBlockBytes));
  const Status none(StatusCode::kOutOfMemory,
                    fmt::format("there are no {} bytes for what this device needs more", bytes));
  cost->AddMemory(bytes);
  if (cost->spent()) return none;
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  const D3D12_RESOURCE_DESC desc = BufferDesc(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> block;
  if (FAILED(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state_, nullptr,
                                             __uuidof(ID3D12Resource), block.Receive()))) {
    return none;
  }
  parts->blocks.push_back(std::move(block));
  parts->block_bytes = bytes;
  parts->used_bytes = 0;
  return Status();
}

void OwnMemory::Give(uint64_t owner, Place to) {
  const auto from = owners_.find(owner);
  if (from == owners_.end() || owner == to.owner) return;
  const auto part = from->second.parts.find(to.address);
  if (part == from->second.parts.end()) return;
  Parts& heir = owners_[to.owner];
  heir.parts.insert_or_assign(to.address, part->second);
  // The last one remains that which has free memory.
  for (const ComPtr<ID3D12Resource>& block : from->second.blocks) {
    const auto same = [&block](const auto& other) { return other.get() == block.get(); };
    if (std::none_of(heir.blocks.begin(), heir.blocks.end(), same)) {
      heir.blocks.insert(heir.blocks.begin(), block);
    }
  }
}

std::vector<ComPtr<IUnknown>> OwnMemory::Remove(uint64_t owner) {
  std::vector<ComPtr<IUnknown>> ended;
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return ended;
  for (const ComPtr<ID3D12Resource>& block : found->second.blocks) {
    ended.push_back(ComPtr<IUnknown>(block.get()));
  }
  owners_.erase(found);
  return ended;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
