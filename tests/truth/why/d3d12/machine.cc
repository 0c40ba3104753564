// SPDX-License-Identifier: Apache-2.0
#include "truth/why/d3d12/machine.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "d3d12abi/aggregates.h"
#include "embedded/crowd.cs.dxbc.h"
#include "embedded/step_zero.cs.dxbc.h"
#include "truth/why/d3d12/adapter.h"

namespace cairn::truth::why::d3d12 {
namespace {

constexpr uint32_t kConstantCount = sizeof(Constants) / sizeof(uint32_t);

enum Parameter : uint32_t {
  kConstants,
  kWords,    // t0
  kResults,  // u0
  kOther,    // u1
  kView,     // u2
  kParameterCount,
};

ComPtr<ID3D12RootSignature> CreateSignature(ID3D12Device* device) {
  D3D12_ROOT_PARAMETER parameters[kParameterCount] = {};
  parameters[kConstants].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[kConstants].Constants.Num32BitValues = kConstantCount;
  parameters[kWords].ParameterType = D3D12_ROOT_PARAMETER_TYPE_SRV;
  parameters[kResults].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  parameters[kOther].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  parameters[kOther].Descriptor.ShaderRegister = 1;
  D3D12_DESCRIPTOR_RANGE range = {};
  range.RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_UAV;
  range.NumDescriptors = 1;
  range.BaseShaderRegister = 2;
  parameters[kView].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
  parameters[kView].DescriptorTable.NumDescriptorRanges = 1;
  parameters[kView].DescriptorTable.pDescriptorRanges = &range;
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = kParameterCount;
  desc.pParameters = parameters;
  return sample::CreateRootSignature(device, desc);
}

ComPtr<ID3D12CommandSignature> CreateDispatches(ID3D12Device* device) {
  D3D12_INDIRECT_ARGUMENT_DESC argument = {};
  argument.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
  D3D12_COMMAND_SIGNATURE_DESC desc = {};
  desc.ByteStride = sizeof(D3D12_DISPATCH_ARGUMENTS);
  desc.NumArgumentDescs = 1;
  desc.pArgumentDescs = &argument;
  ComPtr<ID3D12CommandSignature> signature;
  sample::Check(device->CreateCommandSignature(&desc, nullptr, __uuidof(ID3D12CommandSignature),
                                               signature.Receive()),
                "CreateCommandSignature");
  return signature;
}

// A list with a cycle, and a bound that is far too large.
void FillWords(uint32_t* words) {
  std::fill_n(words, kWordCount, 0);
  for (uint32_t i = 0; i < 16; ++i) words[kList + i] = i % 8 + 1;
  words[kBound] = UINT32_MAX;
}

D3D12_RESOURCE_DESC BufferOf(uint64_t bytes) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  return desc;
}

}  // namespace

Machine::Machine()
    : gpu_("why_d3d12_program", {}),
      queue_(gpu_, CAIRN_QUEUE_DIRECT, "Graphics"),
      on_cpu_(AdapterIsCpu()),
      signature_(CreateSignature(device())),
      dispatches_(CreateDispatches(device())),
      words_(gpu_.CreateUploadBuffer(kWordCount)),
      results_(gpu_.CreateBuffer(kResultCount)) {
  sample::SetName(words_.resource.get(), "Words");
  sample::SetName(results_.resource.get(), "Results");
  FillWords(words_.words);
  results_view_ = View(results_.resource.get(), kResultCount);
}

sample::Pipeline Machine::Compute(const char* name, Shader shader) {
  return sample::CreateComputePipeline(gpu_, name, {name, shader.code.data(), shader.code.size()},
                                       signature_);
}

sample::Pipeline Machine::Draws(const char* name, Shader vertex, Shader pixel) {
  return sample::CreateGraphicsPipeline(gpu_, name, {name, vertex.code.data(), vertex.code.size()},
                                        {name, pixel.code.data(), pixel.code.size()}, signature_);
}

ComPtr<ID3D12Resource> Machine::CreateUnwritten(uint64_t bytes, const char* name) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  const D3D12_RESOURCE_DESC desc = BufferOf(bytes);
  ComPtr<ID3D12Resource> buffer;
  sample::Check(device()->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_CREATE_NOT_ZEROED, &desc,
                                                  D3D12_RESOURCE_STATE_COMMON, nullptr,
                                                  __uuidof(ID3D12Resource), buffer.Receive()),
                "CreateCommittedResource");
  sample::SetName(buffer.get(), name);
  return buffer;
}

ComPtr<ID3D12Heap> Machine::CreateHeap(uint64_t bytes) {
  D3D12_HEAP_DESC desc = {};
  desc.SizeInBytes = bytes;
  desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS | D3D12_HEAP_FLAG_CREATE_NOT_ZEROED;
  ComPtr<ID3D12Heap> heap;
  sample::Check(device()->CreateHeap(&desc, __uuidof(ID3D12Heap), heap.Receive()), "CreateHeap");
  return heap;
}

ComPtr<ID3D12Resource> Machine::Place(ID3D12Heap* heap, uint64_t offset, uint64_t bytes,
                                      const char* name) {
  const D3D12_RESOURCE_DESC desc = BufferOf(bytes);
  ComPtr<ID3D12Resource> buffer;
  sample::Check(device()->CreatePlacedResource(heap, offset, &desc, D3D12_RESOURCE_STATE_COMMON,
                                               nullptr, __uuidof(ID3D12Resource), buffer.Receive()),
                "CreatePlacedResource");
  sample::SetName(buffer.get(), name);
  return buffer;
}

ComPtr<ID3D12DescriptorHeap> Machine::View(ID3D12Resource* buffer, uint32_t words) {
  return sample::CreateView(device(), buffer, words);
}

void Machine::Bind(sample::List& list, const sample::Pipeline& pipeline, const Bindings& bindings) {
  ID3D12DescriptorHeap* view = bindings.view == nullptr ? results_view_.get() : bindings.view;
  const auto results = results_.resource->GetGPUVirtualAddress();
  list->SetDescriptorHeaps(1, &view);
  list.SetPipeline(pipeline);
  list->SetComputeRoot32BitConstants(kConstants, kConstantCount, &bindings.constants, 0);
  list->SetComputeRootShaderResourceView(kWords, words_.resource->GetGPUVirtualAddress());
  list->SetComputeRootUnorderedAccessView(kResults, results);
  list->SetComputeRootUnorderedAccessView(kOther,
                                          bindings.address == 0 ? results : bindings.address);
  list->SetComputeRootDescriptorTable(kView, GetGpuStart(view));
}

void Machine::Dispatch(sample::List& list, const char* label, const sample::Pipeline& pipeline,
                       const Bindings& bindings, uint32_t groups) {
  Bind(list, pipeline, bindings);
  const std::vector<uint32_t> all = GroupsOf(groups);
  const sample::Scope scope(list, CAIRN_MARKER_DISPATCH, label);
  list->Dispatch(all[0], all[1], all[2]);
}

void Machine::DispatchIndirect(sample::List& list, const char* label,
                               const sample::Pipeline& pipeline, const Bindings& bindings,
                               ID3D12Resource* arguments) {
  Bind(list, pipeline, bindings);
  const sample::Scope scope(list, CAIRN_MARKER_EXECUTE_INDIRECT, label);
  list->ExecuteIndirect(dispatches_.get(), 1, arguments, 0, nullptr, 0);
}

void Machine::Draw(sample::List& list, const char* label, const sample::Pipeline& pipeline,
                   sample::Picture& picture, const Constants& constants, uint32_t vertices,
                   uint32_t instances) {
  picture.Begin(list);
  ID3D12DescriptorHeap* view = results_view_.get();
  const auto results = results_.resource->GetGPUVirtualAddress();
  list->SetDescriptorHeaps(1, &view);
  list.SetPipeline(pipeline);
  list->SetGraphicsRoot32BitConstants(kConstants, kConstantCount, &constants, 0);
  list->SetGraphicsRootShaderResourceView(kWords, words_.resource->GetGPUVirtualAddress());
  list->SetGraphicsRootUnorderedAccessView(kResults, results);
  list->SetGraphicsRootUnorderedAccessView(kOther, results);
  list->SetGraphicsRootDescriptorTable(kView, GetGpuStart(view));
  const sample::Scope scope(list, CAIRN_MARKER_DRAW_INSTANCED, label);
  list->DrawInstanced(vertices, instances, 0, 0);
}

void Machine::Finish(sample::List& list) {
  list.End();
  queue_.Execute({&list});
  Wait(queue_);
}

Constants Machine::Bounded(Constants constants) const {
  constants.most_trips = size_.trips;
  return constants;
}

double Machine::Time(const sample::Pipeline& pipeline, const Constants& constants,
                     uint32_t groups) {
  sample::List list(gpu_, queue_, "Measure");
  list.Begin();
  Dispatch(list, "Measure", pipeline, {constants}, groups);
  const auto start = std::chrono::steady_clock::now();
  Finish(list);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Machine::Measure(double seconds) {
  const sample::Pipeline loop = Compute("Measured loop", kStepZeroCsDxbc);
  const sample::Pipeline crowd = Compute("Measured crowd", kCrowdCsDxbc);
  const auto time_loop = [&](const Size& size) {
    return Time(loop, {.most_trips = size.trips, .limit = 1}, size.groups);
  };
  const auto time_crowd = [&](const Size& size) { return Time(crowd, {}, size.crowd); };
  size_ = MeasureSize(seconds, on_cpu(), time_loop, time_crowd);
}

}  // namespace cairn::truth::why::d3d12
