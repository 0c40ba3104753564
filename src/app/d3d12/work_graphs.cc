// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/work_graphs.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "app/settings/log.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint64_t kMostRecordBytes = uint64_t{64} << 20;
constexpr uint64_t kRecordAlignment = 8;  // that of the largest scalar
constexpr UINT kNoGraph = ~0u;

RecordBytes RecordBytesOf(ID3D12StateObjectProperties1* properties, LPCWSTR name) {
  ComPtr<ID3D12WorkGraphProperties> graphs;
  if (name == nullptr ||
      FAILED(properties->QueryInterface(__uuidof(ID3D12WorkGraphProperties), graphs.Receive()))) {
    return nullptr;
  }
  const UINT graph = graphs->GetWorkGraphIndex(name);
  if (graph == kNoGraph) return nullptr;
  auto bytes = std::make_shared<std::vector<UINT>>(graphs->GetNumEntrypoints(graph));
  for (UINT i = 0; i < bytes->size(); ++i) {
    (*bytes)[i] = graphs->GetEntrypointRecordSizeInBytes(graph, i);
  }
  return bytes;
}

// Replaces the records of `input`, a copy, by packed ones.
void PackRecords(Scratch& scratch, D3D12_NODE_CPU_INPUT& input,
                 std::span<const UINT> record_bytes) {
  const auto* const passed = static_cast<const std::byte*>(std::exchange(input.pRecords, nullptr));
  const uint64_t passed_stride = input.RecordStrideInBytes;
  if (input.EntrypointIndex >= record_bytes.size()) return;
  const uint64_t size = record_bytes[input.EntrypointIndex];
  const uint64_t count = input.NumRecords;
  if (passed == nullptr || size == 0 || count == 0) return;
  const uint64_t least = (size + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
  const uint64_t stride = passed_stride < size ? least : passed_stride;
  if (stride > kMostRecordBytes / count) return;
  auto* const packed = scratch.Allocate<std::byte>(count * stride);
  if (packed == nullptr) return;
  std::memset(packed, 0, count * stride);
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(packed + i * stride, passed + i * passed_stride, size);
  }
  input.pRecords = packed;
  input.RecordStrideInBytes = stride;
}

void PackInputs(Scratch& scratch, D3D12_MULTI_NODE_CPU_INPUT& inputs,
                std::span<const UINT> record_bytes) {
  using Input = D3D12_NODE_CPU_INPUT;
  const auto* const passed =
      reinterpret_cast<const std::byte*>(std::exchange(inputs.pNodeInputs, nullptr));
  if (passed == nullptr) return;
  auto* const packed = scratch.Allocate<Input>(inputs.NumNodeInputs);
  if (packed == nullptr) return;
  uint64_t bytes = 0;
  for (UINT i = 0; i < inputs.NumNodeInputs; ++i) {
    std::memcpy(&packed[i], passed + i * inputs.NodeInputStrideInBytes, sizeof(Input));
    // Each may have as much as one alone, all together no more than that.
    PackRecords(scratch, packed[i],
                bytes < kMostRecordBytes ? record_bytes : std::span<const UINT>());
    if (packed[i].pRecords != nullptr) {
      bytes += packed[i].NumRecords * packed[i].RecordStrideInBytes;
    }
  }
  inputs.pNodeInputs = packed;
  inputs.NodeInputStrideInBytes = sizeof(Input);
}

}  // namespace

NotedPrograms::Key NotedPrograms::KeyOf(const void* device,
                                        const D3D12_PROGRAM_IDENTIFIER& identifier) {
  Key key = {device, {}};
  static_assert(sizeof(key.second) == sizeof(identifier.OpaqueData));
  std::memcpy(key.second.data(), identifier.OpaqueData, sizeof(key.second));
  return key;
}

void NotedPrograms::Add(const void* device, const D3D12_PROGRAM_IDENTIFIER& identifier,
                        NotedProgram program) {
  const std::lock_guard lock(mutex_);
  programs_[KeyOf(device, identifier)] = std::move(program);
}

void NotedPrograms::Remove(const Wrapper& state_object) {
  const std::lock_guard lock(mutex_);
  std::erase_if(programs_,
                [&](const auto& each) { return each.second.state_object == &state_object; });
}

NotedProgram NotedPrograms::Find(const void* device,
                                 const D3D12_PROGRAM_IDENTIFIER& identifier) const {
  const std::lock_guard lock(mutex_);
  const auto found = programs_.find(KeyOf(device, identifier));
  return found == programs_.end() ? NotedProgram() : found->second;
}

NotedPrograms& Programs() {
  static auto* const programs = new NotedPrograms;  // objects may end when the process does
  return *programs;
}

void WrappedID3D12StateObjectProperties::Note(const D3D12_PROGRAM_IDENTIFIER& identifier,
                                              LPCWSTR name) {
  constexpr D3D12_PROGRAM_IDENTIFIER kNone = {};
  if (std::memcmp(&identifier, &kNone, sizeof(kNone)) == 0) return;
  try {
    Programs().Add(owner().device(), identifier, {&owner(), RecordBytesOf(real(), name)});
  } catch (...) {
    LogOnce(LogLevel::kError, "no memory for a program",
            "no memory to note a program: what it reads from the CPU is not captured");
  }
}

#if defined(_MSC_VER)
D3D12_PROGRAM_IDENTIFIER WrappedID3D12StateObjectProperties::GetProgramIdentifier(LPCWSTR name) {
  const D3D12_PROGRAM_IDENTIFIER identifier =
      ThinID3D12StateObjectProperties::GetProgramIdentifier(name);
  Note(identifier, name);
  return identifier;
}
#else
D3D12_PROGRAM_IDENTIFIER* WrappedID3D12StateObjectProperties::GetProgramIdentifier(
    D3D12_PROGRAM_IDENTIFIER* result, LPCWSTR name) {
  ThinID3D12StateObjectProperties::GetProgramIdentifier(result, name);
  Note(*result, name);
  return result;
}
#endif

const D3D12_DISPATCH_GRAPH_DESC* RecordableInputs(Scratch& scratch,
                                                  const D3D12_DISPATCH_GRAPH_DESC* desc,
                                                  std::span<const UINT> record_bytes) {
  if (desc == nullptr || (desc->Mode != D3D12_DISPATCH_MODE_NODE_CPU_INPUT &&
                          desc->Mode != D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT)) {
    return desc;
  }
  auto* const copy = scratch.Copy(desc, 1);
  if (copy == nullptr) return nullptr;
  if (desc->Mode == D3D12_DISPATCH_MODE_NODE_CPU_INPUT) {
    PackRecords(scratch, copy->NodeCPUInput, record_bytes);
  } else {
    PackInputs(scratch, copy->MultiNodeCPUInput, record_bytes);
  }
  return copy;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
