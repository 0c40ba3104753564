// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/work_graph_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

WorkGraphMemory::Graph WorkGraphMemory::GraphOf(const ReplayProgram& program) {
  std::array<UINT64, 4> identifier;
  std::copy_n(program.identifier.OpaqueData, identifier.size(), identifier.begin());
  return {program.state_object, identifier};
}

Result<WorkGraphMemory::Own> WorkGraphMemory::Provide(ID3D12Device* device,
                                                      const ReplayProgram& program,
                                                      D3D12_GPU_VIRTUAL_ADDRESS given) {
  const UINT64 least = program.least_backing_bytes;
  std::vector<ComPtr<ID3D12Resource>>& buffers =
      own_[std::tuple_cat(GraphOf(program), std::tuple(given))];
  if (!buffers.empty() && GetDesc(buffers.back().get()).Width >= least) {
    return Own{buffers.back()->GetGPUVirtualAddress(), false};
  }
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  const D3D12_RESOURCE_DESC desc = BufferDesc(least, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> buffer;
  if (FAILED(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                             D3D12_RESOURCE_STATE_COMMON, nullptr,
                                             __uuidof(ID3D12Resource), buffer.Receive()))) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("there are no {} bytes for its work graph", least));
  }
  buffers.push_back(std::move(buffer));
  return Own{buffers.back()->GetGPUVirtualAddress(), true};
}

bool WorkGraphMemory::IsInitialised(const ReplayProgram& program,
                                    D3D12_GPU_VIRTUAL_ADDRESS real) const {
  const auto found = initialised_.find(real);
  return found != initialised_.end() && found->second == GraphOf(program);
}

void WorkGraphMemory::NoteInitialised(const ReplayProgram& program,
                                      D3D12_GPU_VIRTUAL_ADDRESS real) {
  initialised_[real] = GraphOf(program);
}

std::vector<ComPtr<IUnknown>> WorkGraphMemory::Remove(uint64_t state_object) {
  std::vector<ComPtr<IUnknown>> ended;
  for (auto own = own_.begin(); own != own_.end();) {
    if (std::get<0>(own->first) != state_object) {
      ++own;
      continue;
    }
    for (const ComPtr<ID3D12Resource>& buffer : own->second) {
      ended.push_back(ComPtr<IUnknown>(buffer.get()));
    }
    own = own_.erase(own);
  }
  std::erase_if(initialised_,
                [&](const auto& each) { return std::get<0>(each.second) == state_object; });
  return ended;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
