// SPDX-License-Identifier: Apache-2.0
#include "d3d12_device.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "d3d12abi/aggregates.h"
#include "png_file.h"

namespace sample {

namespace {

const char* g_program = "sample";

constexpr int kExitOfLack = 77;
constexpr int32_t kDeviceHung = static_cast<int32_t>(0x887A0006);  // DXGI_ERROR_DEVICE_HUNG

D3D12_COMMAND_LIST_TYPE ListType(CairnQueueType type) {
  switch (type) {
    case CAIRN_QUEUE_COMPUTE: return D3D12_COMMAND_LIST_TYPE_COMPUTE;
    case CAIRN_QUEUE_COPY: return D3D12_COMMAND_LIST_TYPE_COPY;
    default: return D3D12_COMMAND_LIST_TYPE_DIRECT;
  }
}

Buffer CreateUnmappedBuffer(ID3D12Device* device, const D3D12_HEAP_PROPERTIES& heap,
                            uint32_t word_count, D3D12_RESOURCE_FLAGS flags,
                            D3D12_RESOURCE_STATES state) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = uint64_t{word_count} * sizeof(uint32_t);
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = flags;
  Buffer buffer;
  buffer.word_count = word_count;
  Check(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                        __uuidof(ID3D12Resource), buffer.resource.Receive()),
        "CreateCommittedResource");
  return buffer;
}

Buffer CreateMappedBuffer(ID3D12Device* device, const D3D12_HEAP_PROPERTIES& heap,
                          uint32_t word_count, D3D12_RESOURCE_FLAGS flags,
                          D3D12_RESOURCE_STATES state) {
  Buffer buffer = CreateUnmappedBuffer(device, heap, word_count, flags, state);
  void* words = nullptr;
  Check(buffer.resource->Map(0, nullptr, &words), "ID3D12Resource::Map");
  buffer.words = static_cast<uint32_t*>(words);
  return buffer;
}

void NeedShaderModel(ID3D12Device* device, D3D_SHADER_MODEL model) {
  D3D12_FEATURE_DATA_SHADER_MODEL highest = {model};
  if (SUCCEEDED(
          device->CheckFeatureSupport(D3D12_FEATURE_SHADER_MODEL, &highest, sizeof(highest))) &&
      highest.HighestShaderModel >= model) {
    return;
  }
  const auto number = static_cast<uint32_t>(model);
  Lack(fmt::format("shader model {}.{}", number >> 4, number & 15));
}

// The device is gone or does not answer. Nothing is destroyed: that could wait for it forever.
[[noreturn]] void ReportLoss(const Telling& telling, HRESULT code, const char* where) {
  telling.DeviceLost(code, where);
  fmt::print(stderr, "{}: device lost (0x{:08X}), noticed in {}\n", g_program,
             static_cast<uint32_t>(code), where);
  std::_Exit(1);
}

}  // namespace

void Fail(const std::string& message) {
  fmt::print(stderr, "{}: {}\n", g_program, message);
  std::exit(2);
}

void Check(HRESULT result, const char* what) {
  if (FAILED(result)) {
    Fail(fmt::format("{} failed with HRESULT 0x{:08X}", what, static_cast<uint32_t>(result)));
  }
}

void Lack(const std::string& what) {
  fmt::print(stderr, "{}: this implementation has no {}\n", g_program, what);
  std::exit(kExitOfLack);
}

Wide::Wide(const char* text) : text_(text, text + std::strlen(text)) {}

void SetName(ID3D12Object* object, const char* name) {
  Check(object->SetName(Wide(name).get()), "ID3D12Object::SetName");
}

Gpu::Gpu(const char* program, const Options& options, D3D_SHADER_MODEL shader_model,
         uint32_t adapter) {
  g_program = program;
  device_ = CreateDevice(adapter);
  if (shader_model > D3D_SHADER_MODEL_5_1) NeedShaderModel(device_.get(), shader_model);
  telling_ = Telling::Start(device_.get(), options);
  telling_->BeginFrame();
}

Gpu::~Gpu() = default;

Buffer Gpu::CreateBuffer(uint32_t word_count) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_CUSTOM;
  heap.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
  heap.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
  return CreateMappedBuffer(device(), heap, word_count, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                            D3D12_RESOURCE_STATE_COMMON);
}

Buffer Gpu::CreateReadbackBuffer(uint32_t word_count) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_READBACK;
  return CreateMappedBuffer(device(), heap, word_count, D3D12_RESOURCE_FLAG_NONE,
                            D3D12_RESOURCE_STATE_COPY_DEST);
}

Buffer Gpu::CreateUploadBuffer(uint32_t word_count) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_UPLOAD;
  return CreateMappedBuffer(device(), heap, word_count, D3D12_RESOURCE_FLAG_NONE,
                            D3D12_RESOURCE_STATE_GENERIC_READ);
}

Buffer Gpu::CreateGpuBuffer(uint32_t word_count, D3D12_RESOURCE_STATES state) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  return CreateUnmappedBuffer(device(), heap, word_count,
                              D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS, state);
}

ComPtr<ID3D12RootSignature> CreateRootSignature(ID3D12Device* device, uint32_t constant_count,
                                                const Output* output) {
  D3D12_ROOT_PARAMETER parameters[2] = {};
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[0].Constants.Num32BitValues = constant_count;
  D3D12_DESCRIPTOR_RANGE range = {};
  range.RangeType = D3D12_DESCRIPTOR_RANGE_TYPE_UAV;
  range.NumDescriptors = 1;
  if (output != nullptr && *output == Output::kTyped) {
    parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
    parameters[1].DescriptorTable.NumDescriptorRanges = 1;
    parameters[1].DescriptorTable.pDescriptorRanges = &range;
  } else {
    parameters[1].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  }
  // A pipeline without constants has no parameters at all: only triangles do without.
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  desc.NumParameters = constant_count == 0 ? 0 : output == nullptr ? 1 : 2;
  desc.pParameters = parameters;
  return CreateRootSignature(device, desc);
}

ComPtr<ID3D12RootSignature> CreateRootSignature(ID3D12Device* device,
                                                const D3D12_ROOT_SIGNATURE_DESC& desc) {
  ComPtr<ID3DBlob> blob;
  ComPtr<ID3DBlob> error;
  Check(D3D12SerializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1,
                                    reinterpret_cast<ID3DBlob**>(blob.Receive()),
                                    reinterpret_cast<ID3DBlob**>(error.Receive())),
        "D3D12SerializeRootSignature");
  ComPtr<ID3D12RootSignature> signature;
  Check(device->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(),
                                    __uuidof(ID3D12RootSignature), signature.Receive()),
        "CreateRootSignature");
  return signature;
}

Pipeline CreateComputePipeline(Gpu& gpu, const char* name, const Shader& shader,
                               uint32_t constant_count, Output output) {
  return CreateComputePipeline(gpu, name, shader,
                               CreateRootSignature(gpu.device(), constant_count, &output));
}

Pipeline CreateComputePipeline(Gpu& gpu, const char* name, const Shader& shader,
                               const ComPtr<ID3D12RootSignature>& signature) {
  Pipeline pipeline;
  pipeline.compute = true;
  pipeline.root_signature = signature;
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = pipeline.root_signature.get();
  desc.CS = {shader.bytes, shader.size_bytes};
  Check(gpu.device()->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState),
                                                 pipeline.state.Receive()),
        "CreateComputePipelineState");
  pipeline.told = gpu.telling().Name(pipeline.state.get(), name, {.compute = shader.name});
  return pipeline;
}

Pipeline CreateGraphicsPipeline(Gpu& gpu, const char* name, const Shader& vertex,
                                const Shader& pixel, uint32_t constant_count) {
  return CreateGraphicsPipeline(gpu, name, vertex, pixel,
                                CreateRootSignature(gpu.device(), constant_count, nullptr));
}

Pipeline CreateGraphicsPipeline(Gpu& gpu, const char* name, const Shader& vertex,
                                const Shader& pixel, const ComPtr<ID3D12RootSignature>& signature) {
  Pipeline pipeline;
  pipeline.root_signature = signature;
  D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = pipeline.root_signature.get();
  desc.VS = {vertex.bytes, vertex.size_bytes};
  desc.PS = {pixel.bytes, pixel.size_bytes};
  desc.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL;
  desc.SampleMask = UINT_MAX;
  desc.RasterizerState.FillMode = D3D12_FILL_MODE_SOLID;
  desc.RasterizerState.CullMode = D3D12_CULL_MODE_BACK;
  desc.RasterizerState.DepthClipEnable = TRUE;
  desc.PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE;
  desc.NumRenderTargets = 1;
  desc.RTVFormats[0] = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  Check(gpu.device()->CreateGraphicsPipelineState(&desc, __uuidof(ID3D12PipelineState),
                                                  pipeline.state.Receive()),
        "CreateGraphicsPipelineState");
  pipeline.told =
      gpu.telling().Name(pipeline.state.get(), name, {.vertex = vertex.name, .pixel = pixel.name});
  return pipeline;
}

ComPtr<ID3D12DescriptorHeap> CreateView(ID3D12Device* device, ID3D12Resource* buffer,
                                        uint32_t claimed_words) {
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  heap_desc.NumDescriptors = 1;
  heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  ComPtr<ID3D12DescriptorHeap> heap;
  Check(device->CreateDescriptorHeap(&heap_desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()),
        "CreateDescriptorHeap");
  D3D12_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.Format = DXGI_FORMAT_R32_UINT;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = claimed_words;
  device->CreateUnorderedAccessView(buffer, nullptr, &view, cairn::GetCpuStart(heap.get()));
  return heap;
}

Queue::Queue(Gpu& gpu, CairnQueueType type, const char* name) : gpu_(gpu), type_(type) {
  D3D12_COMMAND_QUEUE_DESC desc = {};
  desc.Type = ListType(type);
  Check(gpu.device()->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
        "CreateCommandQueue");
  Check(
      gpu.device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence_.Receive()),
      "CreateFence");
  gpu.telling().Name(queue_.get(), type, name);
}

void Queue::Execute(std::initializer_list<List*> lists) {
  std::vector<Telling::Recording> told;
  std::vector<ID3D12CommandList*> d3d12_lists;
  for (const List* list : lists) {
    told.push_back(list->told());
    d3d12_lists.push_back(list->d3d12());
  }
  const auto count = static_cast<uint32_t>(lists.size());
  gpu_.telling().Submit(queue_.get(), told.data(), count);
  queue_->ExecuteCommandLists(count, d3d12_lists.data());
  Check(queue_->Signal(fence_.get(), ++submitted_), "ID3D12CommandQueue::Signal");
}

void Queue::WaitOrReportLoss(double timeout_s, uint64_t but) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  while (true) {
    const uint64_t completed = fence_->GetCompletedValue();
    if (completed == UINT64_MAX) {
      ReportLoss(gpu_.telling(), gpu_.device()->GetDeviceRemovedReason(),
                 "ID3D12Fence::GetCompletedValue");
    }
    if (completed + but >= submitted_) return;
    if (std::chrono::steady_clock::now() >= deadline) {
      ReportLoss(gpu_.telling(), kDeviceHung, "a wait for ID3D12Fence");
    }
    // Less than a millisecond is no time at all with mingw-w64: a capture had two million calls of that.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Queue::SetEvent(void* event) const {
  Check(fence_->SetEventOnCompletion(submitted_, event), "ID3D12Fence::SetEventOnCompletion");
}

List::List(Gpu& gpu, const Queue& queue, const char* name) : gpu_(gpu), queue_(queue), name_(name) {
  const D3D12_COMMAND_LIST_TYPE type = ListType(queue.type());
  Check(gpu.device()->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator),
                                             allocator_.Receive()),
        "CreateCommandAllocator");
  Check(gpu.device()->CreateCommandList(0, type, allocator_.get(), nullptr,
                                        __uuidof(ID3D12GraphicsCommandList), list_.Receive()),
        "CreateCommandList");
  Check(list_->Close(), "ID3D12GraphicsCommandList::Close");
}

void List::Begin() {
  Check(allocator_->Reset(), "ID3D12CommandAllocator::Reset");
  Check(list_->Reset(allocator_.get(), nullptr), "ID3D12GraphicsCommandList::Reset");
  told_ = gpu_.telling().BeginList(list_.get(), queue_.d3d12(), queue_.type(), name_);
}

void List::End() {
  gpu_.telling().EndList(told_);
  Check(list_->Close(), "ID3D12GraphicsCommandList::Close");
}

void List::SetPipeline(const Pipeline& pipeline) {
  list_->SetPipelineState(pipeline.state.get());
  if (pipeline.compute) {
    list_->SetComputeRootSignature(pipeline.root_signature.get());
  } else {
    list_->SetGraphicsRootSignature(pipeline.root_signature.get());
    list_->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  }
  gpu_.telling().UsePipeline(told_, pipeline.told);
}

void List::Barrier() {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list_->ResourceBarrier(1, &barrier);
}

Scope::Scope(const List& list, CairnMarkerType type, const char* name)
    : list_(list), told_(list.gpu().telling().Begin(list.told(), list.d3d12(), type, name)) {}

Scope::~Scope() {
  if (told_) list_.gpu().telling().End(list_.told(), list_.d3d12());
}

void Transition(const List& list, ID3D12Resource* resource, D3D12_RESOURCE_STATES before,
                D3D12_RESOURCE_STATES after) {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition.pResource = resource;
  barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
  barrier.Transition.StateBefore = before;
  barrier.Transition.StateAfter = after;
  list->ResourceBarrier(1, &barrier);
}

namespace {

ComPtr<ID3D12Resource> CreateImage(ID3D12Device* device, uint32_t width, uint32_t height,
                                   const char* name, D3D12_RESOURCE_STATES state) {
  D3D12_HEAP_PROPERTIES properties = {};
  properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = width;
  desc.Height = height;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.Flags = state == D3D12_RESOURCE_STATE_UNORDERED_ACCESS
                   ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
                   : D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
  ComPtr<ID3D12Resource> image;
  Check(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                        __uuidof(ID3D12Resource), image.Receive()),
        "CreateCommittedResource");
  SetName(image.get(), name);
  return image;
}

}  // namespace

Picture::Picture(Gpu& gpu, uint32_t width, uint32_t height, const char* name,
                 D3D12_RESOURCE_STATES state)
    : Picture(gpu, width, height, CreateImage(gpu.device(), width, height, name, state), state) {}

Picture::Picture(Gpu& gpu, uint32_t width, uint32_t height, const ComPtr<ID3D12Resource>& image,
                 D3D12_RESOURCE_STATES state)
    : width_(width), height_(height), state_(state), image_(image) {
  const bool by_shaders = state == D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
  constexpr uint32_t kAlignment = D3D12_TEXTURE_DATA_PITCH_ALIGNMENT / sizeof(uint32_t);
  row_words_ = (width + kAlignment - 1) / kAlignment * kAlignment;
  pixels_ = gpu.CreateReadbackBuffer(row_words_ * height);
  D3D12_DESCRIPTOR_HEAP_DESC heap = {};
  heap.Type = by_shaders ? D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV : D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
  heap.NumDescriptors = 1;
  if (by_shaders) heap.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  Check(gpu.device()->CreateDescriptorHeap(&heap, __uuidof(ID3D12DescriptorHeap), views_.Receive()),
        "CreateDescriptorHeap");
  const D3D12_CPU_DESCRIPTOR_HANDLE view = cairn::GetCpuStart(views_.get());
  if (by_shaders) {
    gpu.device()->CreateUnorderedAccessView(image_.get(), nullptr, nullptr, view);
  } else {
    gpu.device()->CreateRenderTargetView(image_.get(), nullptr, view);
  }
}

void Picture::Continue(const List& list) {
  const D3D12_VIEWPORT viewport = {0, 0, static_cast<float>(width_), static_cast<float>(height_),
                                   0, 1};
  const D3D12_RECT scissor = {0, 0, static_cast<LONG>(width_), static_cast<LONG>(height_)};
  const D3D12_CPU_DESCRIPTOR_HANDLE view = cairn::GetCpuStart(views_.get());
  list->RSSetViewports(1, &viewport);
  list->RSSetScissorRects(1, &scissor);
  list->OMSetRenderTargets(1, &view, FALSE, nullptr);
}

void Picture::Begin(const List& list) {
  constexpr float kBlack[4] = {0, 0, 0, 1};
  const D3D12_CPU_DESCRIPTOR_HANDLE view = cairn::GetCpuStart(views_.get());
  Continue(list);
  const Scope clear(list, CAIRN_MARKER_CLEAR_RENDER_TARGET);
  list->ClearRenderTargetView(view, kBlack, 0, nullptr);
}

void Picture::CopyToCpu(const List& list) {
  Transition(list, image_.get(), state_, D3D12_RESOURCE_STATE_COPY_SOURCE);
  CopyPixels(list);
}

void Picture::CopyPixels(const List& list) const {
  D3D12_TEXTURE_COPY_LOCATION from = {};
  from.pResource = image_.get();
  from.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  D3D12_TEXTURE_COPY_LOCATION to = {};
  to.pResource = pixels_.resource.get();
  to.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  to.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, width_, height_, 1,
                                  static_cast<UINT>(row_words_ * sizeof(uint32_t))};
  const Scope copy(list, CAIRN_MARKER_COPY_TEXTURE_REGION, "Picture to CPU");
  list->CopyTextureRegion(&to, 0, 0, 0, &from, nullptr);
}

void Picture::Reuse(const List& list) {
  Transition(list, image_.get(), D3D12_RESOURCE_STATE_COPY_SOURCE, state_);
}

std::string Picture::WritePng(const std::string& path) const {
  return ::WritePng(path, width_, height_, row_words_ * sizeof(uint32_t),
                    reinterpret_cast<const std::byte*>(pixels_.words));
}

}  // namespace sample
