// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "d3d12abi/buffer_desc.h"
#include "invisible/observer.h"

extern "C" {
HANDLE vkd3d_create_event();
unsigned int vkd3d_wait_event(HANDLE event, unsigned int milliseconds);
void vkd3d_destroy_event(HANDLE event);
}

namespace observe {
namespace {

constexpr unsigned int kInfinite = 0xFFFFFFFF;

[[noreturn]] void Fail(const char* what, HRESULT result) {
  std::fprintf(stderr, "observe: %s failed: 0x%08x\n", what, static_cast<unsigned>(result));
  std::exit(2);
}

void Check(const char* what, HRESULT result) {
  if (FAILED(result)) Fail(what, result);
}

}  // namespace

ComPtr<ID3D12Device> CreateDevice() {
  ComPtr<ID3D12Device> device;
  Check("D3D12CreateDevice", D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0,
                                               __uuidof(ID3D12Device), device.Receive()));
  return device;
}

Scene::Scene() : device(CreateDevice()) {
  const D3D12_COMMAND_QUEUE_DESC desc = {D3D12_COMMAND_LIST_TYPE_DIRECT, 0,
                                         D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
  Check("CreateCommandQueue",
        device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()));
  Check("CreateCommandAllocator",
        device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                       __uuidof(ID3D12CommandAllocator), allocator.Receive()));
  Check("CreateCommandList",
        device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                  __uuidof(ID3D12GraphicsCommandList), list.Receive()));
  Check("CreateFence",
        device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()));
}

Scene::~Scene() {
  Wait();
}

ComPtr<ID3D12Resource> Scene::Buffer(D3D12_HEAP_TYPE heap, uint64_t size_bytes,
                                     D3D12_RESOURCE_STATES state, D3D12_RESOURCE_FLAGS flags) {
  const D3D12_HEAP_PROPERTIES properties = {.Type = heap};
  const D3D12_RESOURCE_DESC desc = cairn::BufferDesc(size_bytes, flags);
  ComPtr<ID3D12Resource> buffer;
  Check("CreateCommittedResource",
        device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                        __uuidof(ID3D12Resource), buffer.Receive()));
  return buffer;
}

ComPtr<ID3D12Resource> Scene::Target(uint32_t width, uint32_t height) {
  const D3D12_HEAP_PROPERTIES properties = {.Type = D3D12_HEAP_TYPE_DEFAULT};
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = width;
  desc.Height = height;
  desc.DepthOrArraySize = desc.MipLevels = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
  ComPtr<ID3D12Resource> target;
  Check("CreateCommittedResource",
        device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                        D3D12_RESOURCE_STATE_RENDER_TARGET, nullptr,
                                        __uuidof(ID3D12Resource), target.Receive()));
  return target;
}

void Scene::Wait() {
  const HANDLE event = vkd3d_create_event();
  Check("Signal", queue->Signal(fence.get(), ++fence_value));
  Check("SetEventOnCompletion", fence->SetEventOnCompletion(fence_value, event));
  vkd3d_wait_event(event, kInfinite);
  vkd3d_destroy_event(event);
}

void Scene::Run() {
  Check("Close", list->Close());
  ID3D12CommandList* const lists[] = {list.get()};
  queue->ExecuteCommandLists(1, lists);
  Wait();
  Check("allocator Reset", allocator->Reset());
  Check("list Reset", list->Reset(allocator.get(), nullptr));
}

void Scene::Transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES before,
                       D3D12_RESOURCE_STATES after) {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Transition = {resource, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, before, after};
  list->ResourceBarrier(1, &barrier);
}

uint64_t Scene::HashBuffer(ID3D12Resource* buffer, uint64_t size_bytes) {
  const ComPtr<ID3D12Resource> readback =
      Buffer(D3D12_HEAP_TYPE_READBACK, size_bytes, D3D12_RESOURCE_STATE_COPY_DEST);
  list->CopyBufferRegion(readback.get(), 0, buffer, 0, size_bytes);
  Run();
  void* memory = nullptr;
  Check("Map", readback->Map(0, nullptr, &memory));
  const uint64_t hash = HashBytes(memory, size_bytes);
  readback->Unmap(0, nullptr);
  return hash;
}

uint64_t Scene::HashTarget(ID3D12Resource* target, uint32_t width, uint32_t height) {
  const uint32_t pitch = (width * 4 + 255) / 256 * 256;
  const ComPtr<ID3D12Resource> readback =
      Buffer(D3D12_HEAP_TYPE_READBACK, uint64_t{pitch} * height, D3D12_RESOURCE_STATE_COPY_DEST);
  Transition(target, D3D12_RESOURCE_STATE_RENDER_TARGET, D3D12_RESOURCE_STATE_COPY_SOURCE);
  D3D12_TEXTURE_COPY_LOCATION source = {};
  source.pResource = target;
  source.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  D3D12_TEXTURE_COPY_LOCATION destination = {};
  destination.pResource = readback.get();
  destination.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  destination.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, width, height, 1, pitch};
  list->CopyTextureRegion(&destination, 0, 0, 0, &source, nullptr);
  Transition(target, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_RENDER_TARGET);
  Run();
  void* memory = nullptr;
  Check("Map", readback->Map(0, nullptr, &memory));
  uint64_t hash = 0;
  for (uint32_t y = 0; y < height; ++y) {
    hash = hash * 31 + HashBytes(static_cast<uint8_t*>(memory) + y * pitch, width * 4);
  }
  readback->Unmap(0, nullptr);
  return hash;
}

}  // namespace observe
