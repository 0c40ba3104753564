// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/testing/work_scene.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/testing/test_signature.h"
#include "d3d12abi/testing/test_target.h"
#include "embedded/fill.cs.dxbc.h"
#include "embedded/triangle.ps.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint32_t kOcclusionQueries = 3;
constexpr uint32_t kStreamBytes = 4096;
constexpr uint64_t kFilledSizeOffset = kStreamBytes;
constexpr uint32_t kComputedDwords = 256;
constexpr uint64_t kIndirectOffset = 256;  // of the upload buffer
constexpr uint64_t kZeroOffset = 512;

// Places in the readback buffer.
constexpr uint64_t kPixelsAt = 0;
constexpr uint64_t kPixelBytes = WorkScene::kSize * WorkScene::kSize * 4;
constexpr uint64_t kOcclusionAt = kPixelsAt + kPixelBytes;
constexpr uint64_t kTimestampsAt = kOcclusionAt + 64;
constexpr uint64_t kStatisticsAt = kTimestampsAt + 64;
constexpr uint64_t kStreamStatisticsAt = kStatisticsAt + 128;
constexpr uint64_t kStreamAt = kStreamStatisticsAt + 64;
constexpr uint64_t kComputedAt = kStreamAt + kStreamBytes + 64;
constexpr uint64_t kReadbackBytes = kComputedAt + kComputedDwords * 4;

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  std::fprintf(stderr, "%s\n", StatusFromHresult(result, what).message().c_str());
  std::abort();
}

ComPtr<ID3D12RootSignature> CreateSignature(ID3D12Device* device,
                                            const D3D12_ROOT_SIGNATURE_DESC& desc) {
  ComPtr<ID3D12RootSignature> signature;
  Check(CreateTestSignature(device, desc, __uuidof(ID3D12RootSignature), signature.Receive()),
        "CreateRootSignature");
  return signature;
}

D3D12MappedBuffer Mapped(ID3D12Device* device, MappedHeap heap, size_t bytes) {
  Result<D3D12MappedBuffer> buffer = CreateMappedBuffer(device, heap, bytes);
  Check(buffer.ok() ? S_OK : E_FAIL, "a mapped buffer");
  return std::move(*buffer);
}

ComPtr<ID3D12Resource> DeviceBuffer(ID3D12Device* device, size_t bytes) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  const D3D12_RESOURCE_DESC desc = BufferDesc(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> buffer;
  Check(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                        D3D12_RESOURCE_STATE_COMMON, nullptr,
                                        __uuidof(ID3D12Resource), buffer.Receive()),
        "CreateCommittedResource");
  return buffer;
}

void Transition(ID3D12GraphicsCommandList* list, ID3D12Resource* resource,
                D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Transition.pResource = resource;
  barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
  barrier.Transition.StateBefore = before;
  barrier.Transition.StateAfter = after;
  list->ResourceBarrier(1, &barrier);
}

template <typename T>
std::vector<T> ReadValues(const std::byte* memory, size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), memory, count * sizeof(T));
  return values;
}

}  // namespace

WorkScene::WorkScene(ID3D12Device* device) : device_(device) {
  CreatePipelines();
  CreateTarget();
  CreateQueries();
  CreateBuffers();
}

void WorkScene::CreatePipelines() {
  D3D12_ROOT_SIGNATURE_DESC signature = {};
  signature.Flags = D3D12_ROOT_SIGNATURE_FLAG_ALLOW_STREAM_OUTPUT;
  graphics_signature_ = CreateSignature(device_.get(), signature);
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[1].Constants.Num32BitValues = 3;
  signature.Flags = D3D12_ROOT_SIGNATURE_FLAG_NONE;
  signature.NumParameters = 2;
  signature.pParameters = parameters;
  compute_signature_ = CreateSignature(device_.get(), signature);

  D3D12_GRAPHICS_PIPELINE_STATE_DESC draw = {};
  draw.pRootSignature = graphics_signature_.get();
  draw.VS = {kTriangleVsDxbc, sizeof(kTriangleVsDxbc)};
  draw.PS = {kTrianglePsDxbc, sizeof(kTrianglePsDxbc)};
  D3D12_RENDER_TARGET_BLEND_DESC& blend = draw.BlendState.RenderTarget[0];
  blend.RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
  // The order of overlapping draws shows.
  blend.BlendEnable = TRUE;
  blend.SrcBlend = blend.SrcBlendAlpha = D3D12_BLEND_BLEND_FACTOR;
  blend.DestBlend = blend.DestBlendAlpha = D3D12_BLEND_INV_BLEND_FACTOR;
  blend.BlendOp = blend.BlendOpAlpha = D3D12_BLEND_OP_ADD;
  draw.SampleMask = UINT_MAX;
  draw.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
  draw.RasterizerState.CullMode = D3D12_CULL_MODE_NONE;
  draw.PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE;
  draw.NumRenderTargets = 1;
  draw.RTVFormats[0] = DXGI_FORMAT_R8G8B8A8_UNORM;
  draw.SampleDesc.Count = 1;
  Check(device_->CreateGraphicsPipelineState(&draw, __uuidof(ID3D12PipelineState), draw_.Receive()),
        "CreateGraphicsPipelineState");

  static constexpr D3D12_SO_DECLARATION_ENTRY kEntries[] = {{0, "SV_Position", 0, 0, 4, 0},
                                                            {0, "COLOR", 0, 0, 4, 0}};
  const UINT stride = 32;
  D3D12_GRAPHICS_PIPELINE_STATE_DESC stream = draw;
  stream.StreamOutput = {kEntries, 2, &stride, 1, 0};
  Check(device_->CreateGraphicsPipelineState(&stream, __uuidof(ID3D12PipelineState),
                                             stream_.Receive()),
        "CreateGraphicsPipelineState with stream output");

  D3D12_COMPUTE_PIPELINE_STATE_DESC fill = {};
  fill.pRootSignature = compute_signature_.get();
  fill.CS = {kFillCsDxbc, sizeof(kFillCsDxbc)};
  Check(device_->CreateComputePipelineState(&fill, __uuidof(ID3D12PipelineState), fill_.Receive()),
        "CreateComputePipelineState");

  D3D12_INDIRECT_ARGUMENT_DESC argument = {};
  argument.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DRAW;
  const D3D12_COMMAND_SIGNATURE_DESC command = {sizeof(D3D12_DRAW_ARGUMENTS), 1, &argument, 0};
  Check(device_->CreateCommandSignature(&command, nullptr, __uuidof(ID3D12CommandSignature),
                                        draw_command_.Receive()),
        "CreateCommandSignature");
}

void WorkScene::CreateTarget() {
  Check(CreateTestTarget(device_.get(), kSize, __uuidof(ID3D12Resource), target_.Receive(),
                         D3D12_RESOURCE_STATE_COPY_SOURCE),
        "CreateCommittedResource of a render target");
  D3D12_DESCRIPTOR_HEAP_DESC views = {};
  views.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
  views.NumDescriptors = 2;
  Check(device_->CreateDescriptorHeap(&views, __uuidof(ID3D12DescriptorHeap), views_.Receive()),
        "CreateDescriptorHeap");
  const D3D12_CPU_DESCRIPTOR_HANDLE first = GetCpuStart(views_.get());
  device_->CreateRenderTargetView(target_.get(), nullptr, first);
}

void WorkScene::CreateQueries() {
  const auto create = [this](D3D12_QUERY_HEAP_TYPE type, UINT count, void** heap) {
    const D3D12_QUERY_HEAP_DESC desc = {type, count, 0};
    Check(device_->CreateQueryHeap(&desc, __uuidof(ID3D12QueryHeap), heap), "CreateQueryHeap");
  };
  create(D3D12_QUERY_HEAP_TYPE_OCCLUSION, kOcclusionQueries, occlusion_.Receive());
  create(D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2, timestamps_.Receive());
  create(D3D12_QUERY_HEAP_TYPE_PIPELINE_STATISTICS, 1, statistics_.Receive());
  create(D3D12_QUERY_HEAP_TYPE_SO_STATISTICS, 1, stream_queries_.Receive());
}

void WorkScene::CreateBuffers() {
  stream_buffer_ = DeviceBuffer(device_.get(), kStreamBytes + 256);
  compute_buffer_ = DeviceBuffer(device_.get(), kComputedDwords * 4);
  predicates_ = DeviceBuffer(device_.get(), 256);
  upload_ = Mapped(device_.get(), MappedHeap::kUpload, 4096);
  std::memset(upload_.memory, 0, 4096);
  const uint64_t predicates[2] = {0, 1};
  std::memcpy(upload_.memory, predicates, sizeof(predicates));
  const D3D12_DRAW_ARGUMENTS arguments = {3, 1, 0, 0};
  std::memcpy(upload_.memory + kIndirectOffset, &arguments, sizeof(arguments));
  readback_ = Mapped(device_.get(), MappedHeap::kReadback, kReadbackBytes);
  Spoil();
}

void WorkScene::Spoil() {
  std::memset(readback_.memory, 0xEE, kReadbackBytes);
}

void WorkScene::BeginTarget(ID3D12GraphicsCommandList* list) {
  const D3D12_CPU_DESCRIPTOR_HANDLE view = GetCpuStart(views_.get());
  const D3D12_RECT scissor = {0, 0, kSize, kSize};
  const float factor[] = {0.25f, 0.5f, 0.75f, 0.5f};
  list->SetGraphicsRootSignature(graphics_signature_.get());
  list->SetPipelineState(draw_.get());
  list->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  list->RSSetScissorRects(1, &scissor);
  list->OMSetBlendFactor(factor);
  list->OMSetRenderTargets(1, &view, FALSE, nullptr);
}

void WorkScene::Draw(ID3D12GraphicsCommandList* list, float x, float y) {
  const D3D12_VIEWPORT viewport = {x, y, kSize / 2.0f, kSize / 2.0f, 0, 1};
  list->RSSetViewports(1, &viewport);
  list->DrawInstanced(3, 1, 0, 0);
}

void WorkScene::RecordQueries(ID3D12GraphicsCommandList* list) {
  list->EndQuery(timestamps_.get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
  list->BeginQuery(occlusion_.get(), D3D12_QUERY_TYPE_OCCLUSION, 0);
  Draw(list, 0, 0);
  list->BeginQuery(statistics_.get(), D3D12_QUERY_TYPE_PIPELINE_STATISTICS, 0);
  Draw(list, 8, 8);
  Draw(list, 16, 4);
  list->EndQuery(statistics_.get(), D3D12_QUERY_TYPE_PIPELINE_STATISTICS, 0);
  list->ExecuteIndirect(draw_command_.get(), 1, upload_.resource.get(), kIndirectOffset, nullptr,
                        0);
  list->EndQuery(occlusion_.get(), D3D12_QUERY_TYPE_OCCLUSION, 0);
  list->BeginQuery(occlusion_.get(), D3D12_QUERY_TYPE_BINARY_OCCLUSION, 1);
  Draw(list, 20, 20);
  list->EndQuery(occlusion_.get(), D3D12_QUERY_TYPE_BINARY_OCCLUSION, 1);
  list->EndQuery(timestamps_.get(), D3D12_QUERY_TYPE_TIMESTAMP, 1);
}

void WorkScene::RecordPredication(ID3D12GraphicsCommandList* list) {
  // EQUAL_ZERO: commands are left out where the value is 0.
  list->BeginQuery(occlusion_.get(), D3D12_QUERY_TYPE_OCCLUSION, 2);
  list->SetPredication(predicates_.get(), 0, D3D12_PREDICATION_OP_EQUAL_ZERO);
  Draw(list, 32, 0);
  Draw(list, 28, 4);
  list->SetPredication(predicates_.get(), 8, D3D12_PREDICATION_OP_EQUAL_ZERO);
  Draw(list, 0, 32);
  list->SetPredication(predicates_.get(), 8, D3D12_PREDICATION_OP_NOT_EQUAL_ZERO);
  Draw(list, 4, 32);
  list->SetPredication(nullptr, 0, D3D12_PREDICATION_OP_EQUAL_ZERO);
  Draw(list, 30, 30);
  list->EndQuery(occlusion_.get(), D3D12_QUERY_TYPE_OCCLUSION, 2);
}

void WorkScene::RecordStream(ID3D12GraphicsCommandList* list) {
  list->CopyBufferRegion(stream_buffer_.get(), 0, upload_.resource.get(), kZeroOffset, 1024);
  list->CopyBufferRegion(stream_buffer_.get(), kFilledSizeOffset, upload_.resource.get(),
                         kZeroOffset, 8);
  Transition(list, stream_buffer_.get(), D3D12_RESOURCE_STATE_COPY_DEST,
             D3D12_RESOURCE_STATE_STREAM_OUT);
  const uint64_t address = stream_buffer_->GetGPUVirtualAddress();
  const D3D12_STREAM_OUTPUT_BUFFER_VIEW view = {address, kStreamBytes, address + kFilledSizeOffset};
  list->SetPipelineState(stream_.get());
  list->SOSetTargets(0, 1, &view);
  list->BeginQuery(stream_queries_.get(), D3D12_QUERY_TYPE_SO_STATISTICS_STREAM0, 0);
  Draw(list, 2, 30);
  Draw(list, 6, 34);
  Draw(list, 10, 26);
  list->EndQuery(stream_queries_.get(), D3D12_QUERY_TYPE_SO_STATISTICS_STREAM0, 0);
  // Unbound with an empty view: libvkd3d reads the array even where null is allowed.
  const D3D12_STREAM_OUTPUT_BUFFER_VIEW none = {};
  list->SOSetTargets(0, 1, &none);
  list->SetPipelineState(draw_.get());
  Transition(list, stream_buffer_.get(), D3D12_RESOURCE_STATE_STREAM_OUT,
             D3D12_RESOURCE_STATE_COPY_SOURCE);
}

void WorkScene::RecordCompute(ID3D12GraphicsCommandList* list) {
  list->SetComputeRootSignature(compute_signature_.get());
  list->SetPipelineState(fill_.get());
  list->SetComputeRootUnorderedAccessView(0, compute_buffer_->GetGPUVirtualAddress());
  D3D12_RESOURCE_BARRIER uav = {};
  uav.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  Transition(list, compute_buffer_.get(), D3D12_RESOURCE_STATE_COMMON,
             D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t constants[] = {1000 * (i + 1), 32 * i, kComputedDwords - 32 * i};
    list->SetComputeRoot32BitConstants(1, 3, constants, 0);
    list->Dispatch(kComputedDwords / 64, 1, 1);
    list->ResourceBarrier(1, &uav);
  }
  Transition(list, compute_buffer_.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
             D3D12_RESOURCE_STATE_COPY_SOURCE);
}

void WorkScene::RecordReadback(ID3D12GraphicsCommandList* list) {
  ID3D12Resource* const to = readback_.resource.get();
  D3D12_TEXTURE_COPY_LOCATION pixels = {};
  pixels.pResource = to;
  pixels.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  pixels.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, kSize, kSize, 1, kSize * 4};
  D3D12_TEXTURE_COPY_LOCATION target = {};
  target.pResource = target_.get();
  target.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  list->CopyTextureRegion(&pixels, 0, 0, 0, &target, nullptr);
  list->ResolveQueryData(occlusion_.get(), D3D12_QUERY_TYPE_OCCLUSION, 0, 1, to, kOcclusionAt);
  list->ResolveQueryData(occlusion_.get(), D3D12_QUERY_TYPE_BINARY_OCCLUSION, 1, 1, to,
                         kOcclusionAt + 8);
  list->ResolveQueryData(occlusion_.get(), D3D12_QUERY_TYPE_OCCLUSION, 2, 1, to, kOcclusionAt + 16);
  list->ResolveQueryData(timestamps_.get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 2, to, kTimestampsAt);
  list->ResolveQueryData(statistics_.get(), D3D12_QUERY_TYPE_PIPELINE_STATISTICS, 0, 1, to,
                         kStatisticsAt);
  list->ResolveQueryData(stream_queries_.get(), D3D12_QUERY_TYPE_SO_STATISTICS_STREAM0, 0, 1, to,
                         kStreamStatisticsAt);
  list->CopyBufferRegion(to, kStreamAt, stream_buffer_.get(), 0, kStreamBytes + 4);
  list->CopyBufferRegion(to, kComputedAt, compute_buffer_.get(), 0, kComputedDwords * 4);
}

void WorkScene::Record(ID3D12GraphicsCommandList* list) {
  list->CopyBufferRegion(predicates_.get(), 0, upload_.resource.get(), 0, 16);
  Transition(list, predicates_.get(), D3D12_RESOURCE_STATE_COPY_DEST,
             D3D12_RESOURCE_STATE_PREDICATION);
  Transition(list, target_.get(), D3D12_RESOURCE_STATE_COPY_SOURCE,
             D3D12_RESOURCE_STATE_RENDER_TARGET);
  const float background[] = {0.1f, 0.2f, 0.3f, 1.0f};
  list->ClearRenderTargetView(GetCpuStart(views_.get()), background, 0, nullptr);
  BeginTarget(list);
  RecordQueries(list);
  RecordPredication(list);
  RecordStream(list);
  Draw(list, 24, 12);
  RecordCompute(list);
  Transition(list, target_.get(), D3D12_RESOURCE_STATE_RENDER_TARGET,
             D3D12_RESOURCE_STATE_COPY_SOURCE);
  RecordReadback(list);
}

SceneResult WorkScene::Read() const {
  const std::byte* const memory = readback_.memory;
  SceneResult result;
  result.pixels = ReadValues<uint32_t>(memory + kPixelsAt, kSize * kSize);
  result.occlusion = ReadValues<uint64_t>(memory + kOcclusionAt, kOcclusionQueries);
  const auto times = ReadValues<uint64_t>(memory + kTimestampsAt, 2);
  result.timestamps_in_order = times[0] != 0xEEEEEEEEEEEEEEEE && times[0] <= times[1];
  result.statistics = ReadValues<uint64_t>(memory + kStatisticsAt, 11);
  result.stream_statistics = ReadValues<uint64_t>(memory + kStreamStatisticsAt, 2);
  result.stream = ReadValues<uint32_t>(memory + kStreamAt, 1024 / 4);
  result.stream.push_back(ReadValues<uint32_t>(memory + kStreamAt + kFilledSizeOffset, 1)[0]);
  result.computed = ReadValues<uint32_t>(memory + kComputedAt, kComputedDwords);
  return result;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
