// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/testing/d3d12_test_gpu.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "app/breadcrumbs/d3d12_devices.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/testing/test_signature.h"
#include "d3d12abi/testing/test_target.h"
#include "embedded/hang.cs.dxbc.h"
#include "embedded/hang.ps.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint32_t kTargetSize = 64;
constexpr uint32_t kSeed = 1;
constexpr uint32_t kGroups = 16;
constexpr uint32_t kThreads = kGroups * 64;
constexpr size_t kWordAlignment = 65536;

[[noreturn]] void Die(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::abort();
}

// On Windows, where not every machine that runs tests has one, ctest takes this for a test that was skipped.
[[noreturn]] void NoDevice(const Status& status) {
#if defined(_WIN32)
  constexpr int kSkipped = 77;
  std::fprintf(stderr, "skipped: %s\n", status.message().c_str());
  std::_Exit(kSkipped);
#else
  Die(status);
#endif
}

void Check(HRESULT result, const char* what) {
  if (FAILED(result)) Die(StatusFromHresult(result, what));
}

ComPtr<ID3D12RootSignature> CreateRootSignature(ID3D12Device* device) {
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[0].Constants.Num32BitValues = 2;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = 2;
  desc.pParameters = parameters;
  ComPtr<ID3D12RootSignature> signature;
  Check(CreateTestSignature(device, desc, __uuidof(ID3D12RootSignature), signature.Receive()),
        "CreateRootSignature");
  return signature;
}

ComPtr<ID3D12PipelineState> CreateComputePipeline(ID3D12Device* device,
                                                  ID3D12RootSignature* signature) {
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = signature;
  desc.CS = {kHangCsDxbc, sizeof(kHangCsDxbc)};
  ComPtr<ID3D12PipelineState> pipeline;
  Check(
      device->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState), pipeline.Receive()),
      "CreateComputePipelineState");
  return pipeline;
}

ComPtr<ID3D12PipelineState> CreateGraphicsPipeline(ID3D12Device* device,
                                                   ID3D12RootSignature* signature) {
  D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = signature;
  desc.VS = {kTriangleVsDxbc, sizeof(kTriangleVsDxbc)};
  desc.PS = {kHangPsDxbc, sizeof(kHangPsDxbc)};
  desc.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
  desc.SampleMask = UINT_MAX;
  desc.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
  desc.RasterizerState.CullMode = D3D12_CULL_MODE_NONE;
  desc.PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE;
  desc.NumRenderTargets = 1;
  desc.RTVFormats[0] = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  ComPtr<ID3D12PipelineState> pipeline;
  Check(
      device->CreateGraphicsPipelineState(&desc, __uuidof(ID3D12PipelineState), pipeline.Receive()),
      "CreateGraphicsPipelineState");
  return pipeline;
}

ComPtr<ID3D12Resource> CreateTarget(ID3D12Device* device) {
  ComPtr<ID3D12Resource> target;
  Check(CreateTestTarget(device, kTargetSize, __uuidof(ID3D12Resource), target.Receive()),
        "CreateCommittedResource of a render target");
  return target;
}

}  // namespace

ComPtr<ID3D12Device> TestDevice() {
  Result<std::vector<D3D12CreatedDevice>> devices = CreateD3D12Devices();
  if (!devices.ok()) NoDevice(devices.status());
  ComPtr<ID3D12Device> first;
  for (const D3D12CreatedDevice& created : *devices) {
    if (created.device == nullptr) continue;
    auto* const device = static_cast<ID3D12Device*>(created.device);
    if (!first) first = ComPtr<ID3D12Device>(device);
    device->Release();
  }
  if (!first) NoDevice((*devices)[0].status);
  return first;
}

void TestWords::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kWordAlignment});
}

TestWords::TestWords(uint32_t recording_capacity, uint32_t raw_marker_count) {
  const size_t progress_bytes = recording_capacity * sizeof(ProgressWords);
  region_.recording_capacity = recording_capacity;
  region_.raw_marker_count = raw_marker_count;
  region_.raw_markers_offset = (progress_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const size_t raw_bytes = raw_marker_count * sizeof(uint64_t);
  region_.size_bytes = region_.raw_markers_offset +
                       (raw_bytes + kWordAlignment - 1) / kWordAlignment * kWordAlignment;
  region_.base = static_cast<std::byte*>(
      ::operator new (region_.size_bytes, std::align_val_t{kWordAlignment}));
  memory_.reset(region_.base);
  std::memset(region_.base, 0, region_.size_bytes);
  std::memset(region_.base + region_.raw_markers_offset, 0xCD, raw_bytes);
}

const ProgressWords& TestWords::progress(uint32_t slot) const {
  return reinterpret_cast<const ProgressWords*>(region_.base + region_.progress_offset)[slot];
}

uint64_t TestWords::raw_marker(uint32_t index) const {
  uint64_t value = 0;
  std::memcpy(&value, region_.base + region_.raw_markers_offset + index * sizeof(value),
              sizeof(value));
  return value;
}

SlowWork::SlowWork(ID3D12Device* device)
    : root_signature_(CreateRootSignature(device)),
      compute_(CreateComputePipeline(device, root_signature_.get())),
      graphics_(CreateGraphicsPipeline(device, root_signature_.get())),
      target_(CreateTarget(device)) {
  D3D12_DESCRIPTOR_HEAP_DESC desc = {};
  desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
  desc.NumDescriptors = 1;
  Check(
      device->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), target_views_.Receive()),
      "CreateDescriptorHeap");
  device->CreateRenderTargetView(target_.get(), nullptr, GetCpuStart(target_views_.get()));
  // Mapped and written by the GPU, so that the CPU sees the moment.
  Result<D3D12MappedBuffer> result =
      CreateMappedBuffer(device, MappedHeap::kWriteBack, kThreads * sizeof(uint32_t));
  if (!result.ok()) Die(result.status());
  result_ = std::move(*result);
  ClearResult();
}

void SlowWork::RecordDispatch(ID3D12GraphicsCommandList* list, uint32_t trips) {
  list->SetComputeRootSignature(root_signature_.get());
  list->SetPipelineState(compute_.get());
  list->SetComputeRoot32BitConstant(0, trips, 0);
  list->SetComputeRoot32BitConstant(0, kSeed, 1);
  list->SetComputeRootUnorderedAccessView(1, result_.gpu_address);
  list->Dispatch(kGroups, 1, 1);
}

void SlowWork::RecordDraw(ID3D12GraphicsCommandList* list, uint32_t trips) {
  const D3D12_VIEWPORT viewport = {0, 0, kTargetSize, kTargetSize, 0, 1};
  const D3D12_RECT scissor = {0, 0, kTargetSize, kTargetSize};
  const D3D12_CPU_DESCRIPTOR_HANDLE target = GetCpuStart(target_views_.get());
  list->SetGraphicsRootSignature(root_signature_.get());
  list->SetPipelineState(graphics_.get());
  list->SetGraphicsRoot32BitConstant(0, trips, 0);
  list->SetGraphicsRoot32BitConstant(0, kSeed, 1);
  list->SetGraphicsRootUnorderedAccessView(1, result_.gpu_address);
  list->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  list->RSSetViewports(1, &viewport);
  list->RSSetScissorRects(1, &scissor);
  list->OMSetRenderTargets(1, &target, FALSE, nullptr);
  list->DrawInstanced(3, 1, 0, 0);
}

bool SlowWork::DispatchFinished() const {
  const auto* results = reinterpret_cast<const std::atomic<uint32_t>*>(result_.memory);
  for (uint32_t i = 0; i < kThreads; ++i) {
    if (results[i].load(std::memory_order_acquire) == 0) return false;
  }
  return true;
}

void SlowWork::ClearResult() {
  std::memset(result_.memory, 0, kThreads * sizeof(uint32_t));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
