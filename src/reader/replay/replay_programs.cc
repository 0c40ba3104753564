// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_programs.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr UINT kNoGraph = ~0u;

Status CheckInput(const ReplayProgram& program, D3D12_NODE_CPU_INPUT* input) {
  if (input->EntrypointIndex >= program.record_bytes.size()) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("entry point {} of a work graph that has {}", input->EntrypointIndex,
                              program.record_bytes.size()));
  }
  const UINT size = program.record_bytes[input->EntrypointIndex];
  if (size == 0 || input->NumRecords == 0) {
    // Nothing is read, whatever the trace says.
    input->pRecords = nullptr;
    input->RecordStrideInBytes = 0;
    return Status();
  }
  if (input->pRecords == nullptr) {
    return Status(StatusCode::kUnsupported, "the trace does not have its records");
  }
  // There are as many bytes as records and strides: the decoder has seen to that.
  if (input->RecordStrideInBytes >= size) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("records of {} bytes, where this work graph takes {}",
                            input->RecordStrideInBytes, size));
}

Status CheckAllInputs(const ReplayProgram& program, D3D12_MULTI_NODE_CPU_INPUT* inputs) {
  if (inputs->NumNodeInputs == 0) return Status();
  if (inputs->pNodeInputs == nullptr) {
    return Status(StatusCode::kUnsupported, "the trace does not have its inputs");
  }
  if (inputs->NodeInputStrideInBytes != sizeof(D3D12_NODE_CPU_INPUT)) {
    return Status(StatusCode::kCorrupt, fmt::format("inputs of nodes lie {} bytes apart",
                                                    inputs->NodeInputStrideInBytes));
  }
  // Decoded for this call alone.
  auto* const all = const_cast<D3D12_NODE_CPU_INPUT*>(inputs->pNodeInputs);
  for (UINT i = 0; i < inputs->NumNodeInputs; ++i) {
    CAIRN_RETURN_IF_ERROR(CheckInput(program, &all[i]));
  }
  return Status();
}

std::array<UINT64, 4> KeyOf(const D3D12_PROGRAM_IDENTIFIER& identifier) {
  std::array<UINT64, 4> key;
  static_assert(sizeof(key) == sizeof(identifier.OpaqueData));
  std::memcpy(key.data(), identifier.OpaqueData, sizeof(key));
  return key;
}

}  // namespace

ReplayProgram DescribeProgram(IUnknown* real, const WCHAR* name, uint64_t state_object,
                              const D3D12_PROGRAM_IDENTIFIER& identifier) {
  ReplayProgram program;
  program.identifier = identifier;
  program.state_object = state_object;
  ComPtr<ID3D12WorkGraphProperties> graphs;
  if (name == nullptr ||
      FAILED(real->QueryInterface(__uuidof(ID3D12WorkGraphProperties), graphs.Receive())) ||
      !graphs) {
    return program;
  }
  const UINT graph = graphs->GetWorkGraphIndex(name);
  if (graph == kNoGraph) return program;
  program.is_work_graph = true;
  D3D12_WORK_GRAPH_MEMORY_REQUIREMENTS memory = {};
  graphs->GetWorkGraphMemoryRequirements(graph, &memory);
  program.least_backing_bytes = memory.MinSizeInBytes;
  program.record_bytes.resize(graphs->GetNumEntrypoints(graph));
  for (UINT i = 0; i < program.record_bytes.size(); ++i) {
    program.record_bytes[i] = graphs->GetEntrypointRecordSizeInBytes(graph, i);
  }
  return program;
}

Status CheckInputs(const ReplayProgram& program, D3D12_DISPATCH_GRAPH_DESC* desc) {
  switch (static_cast<uint32_t>(desc->Mode)) {
    case D3D12_DISPATCH_MODE_NODE_CPU_INPUT: return CheckInput(program, &desc->NodeCPUInput);
    case D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT:
      return CheckAllInputs(program, &desc->MultiNodeCPUInput);
    case D3D12_DISPATCH_MODE_NODE_GPU_INPUT:
    case D3D12_DISPATCH_MODE_MULTI_NODE_GPU_INPUT: return Status();
    default:
      return Status(StatusCode::kUnsupported, fmt::format("inputs of the kind {} are not known",
                                                          static_cast<uint32_t>(desc->Mode)));
  }
}

void ReplayPrograms::Asked(uint64_t call, ReplayProgram program) {
  if (KeyOf(program.identifier) == std::array<UINT64, 4>{}) return;
  asked_[call] = std::move(program);
}

void ReplayPrograms::Recorded(uint64_t call, const D3D12_PROGRAM_IDENTIFIER& recorded) {
  const auto found = asked_.find(call);
  if (found == asked_.end()) return;
  const Key key = {found->second.device, KeyOf(recorded)};
  programs_[key] = std::make_shared<const ReplayProgram>(std::move(found->second));
  asked_.erase(found);
}

std::shared_ptr<const ReplayProgram> ReplayPrograms::Find(
    uint64_t device, const D3D12_PROGRAM_IDENTIFIER& recorded) const {
  const auto found = programs_.find(Key{device, KeyOf(recorded)});
  return found == programs_.end() ? nullptr : found->second;
}

void ReplayPrograms::Remove(uint64_t state_object) {
  std::erase_if(asked_, [&](const auto& each) { return each.second.state_object == state_object; });
  std::erase_if(programs_,
                [&](const auto& each) { return each.second->state_object == state_object; });
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
