// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/canary.h"

#include <cstring>

#include "d3d12abi/buffer_desc.h"
#include "embedded/canary.cs.dxbc.h"
#include "format/experiment/players_shader.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint32_t kWords = 64;

using SerializeRootSignature = HRESULT(WINAPI*)(const D3D12_ROOT_SIGNATURE_DESC*,
                                                D3D_ROOT_SIGNATURE_VERSION, ID3DBlob**, ID3DBlob**);

// The hash stands behind "DXBC".
constexpr uint64_t HashOfCanary() {
  uint64_t hash = 0;
  for (size_t i = 4; i < 4 + sizeof(hash); ++i) hash = hash << 8 | kCanaryCsDxbc[i];
  return hash;
}
static_assert(HashOfCanary() == kPlayersShader);

}  // namespace

Status Canary::Prepare() {
  if (library_.serialize_root_signature == nullptr) {
    return Status(StatusCode::kUnsupported, "this library has no D3D12SerializeRootSignature");
  }
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[1].Constants.Num32BitValues = 1;
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = 2;
  desc.pParameters = parameters;
  ComPtr<ID3DBlob> blob;
  ComPtr<ID3DBlob> messages;
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      reinterpret_cast<SerializeRootSignature>(library_.serialize_root_signature)(
          &desc, D3D_ROOT_SIGNATURE_VERSION_1, reinterpret_cast<ID3DBlob**>(blob.Receive()),
          reinterpret_cast<ID3DBlob**>(messages.Receive())),
      "D3D12SerializeRootSignature"));
  ID3D12Device* const device = list_.device();
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      device->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(),
                                  __uuidof(ID3D12RootSignature), root_signature_.Receive()),
      "CreateRootSignature"));
  D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline = {};
  pipeline.pRootSignature = root_signature_.get();
  pipeline.CS = {kCanaryCsDxbc, sizeof(kCanaryCsDxbc)};
  CAIRN_RETURN_IF_ERROR(
      CheckHresult(device->CreateComputePipelineState(&pipeline, __uuidof(ID3D12PipelineState),
                                                      pipeline_.Receive()),
                   "CreateComputePipelineState"));
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  const D3D12_RESOURCE_DESC buffer =
      BufferDesc(kWords * sizeof(uint32_t), D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  return CheckHresult(
      device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &buffer,
                                      D3D12_RESOURCE_STATE_UNORDERED_ACCESS, nullptr,
                                      __uuidof(ID3D12Resource), buffer_.Receive()),
      "CreateCommittedResource");
}

Status Canary::Run(ID3D12CommandQueue* queue, std::chrono::milliseconds limit) {
  if (!buffer_) CAIRN_RETURN_IF_ERROR(Prepare());
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  Result<ID3D12Resource*> staging =
      list_.Staging(D3D12_HEAP_TYPE_READBACK, kWords * sizeof(uint32_t));
  if (!staging.ok()) return staging.status();
  ++runs_;
  (*list)->SetComputeRootSignature(root_signature_.get());
  (*list)->SetPipelineState(pipeline_.get());
  (*list)->SetComputeRootUnorderedAccessView(0, buffer_->GetGPUVirtualAddress());
  (*list)->SetComputeRoot32BitConstants(1, 1, &runs_, 0);
  (*list)->Dispatch(1, 1, 1);
  RecordTransition(*list, buffer_.get(), 0, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                   D3D12_RESOURCE_STATE_COPY_SOURCE);
  (*list)->CopyBufferRegion(*staging, 0, buffer_.get(), 0, kWords * sizeof(uint32_t));
  RecordTransition(*list, buffer_.get(), 0, D3D12_RESOURCE_STATE_COPY_SOURCE,
                   D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  CAIRN_RETURN_IF_ERROR(list_.Run(queue, limit));
  void* data = nullptr;
  CAIRN_RETURN_IF_ERROR(CheckHresult((*staging)->Map(0, nullptr, &data), "Map"));
  uint32_t words[kWords];
  std::memcpy(words, data, sizeof(words));
  const D3D12_RANGE nothing = {0, 0};
  (*staging)->Unmap(0, &nothing);
  for (uint32_t i = 0; i < kWords; ++i) {
    if (words[i] != (runs_ ^ i)) {
      return Status(StatusCode::kDeviceLost, "a dispatch that cannot fail wrote something else");
    }
  }
  ++good_runs_;
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
