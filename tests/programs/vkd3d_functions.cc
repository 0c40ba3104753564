// SPDX-License-Identifier: Apache-2.0
//
// A program that opens a libvkd3d and calls what it exports beside Direct3D 12. Prints what comes back.
//   vkd3d_functions FILE [keeps]     keeps: placed resources keep their heap alive
#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "app/entry/entry_vkd3d.h"
#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"

namespace {

using cairn::ComPtr;

// ID3D12DeviceTools2, which the layer adds.
constexpr GUID kDeviceTools2 = {
    0x0edb4324, 0x20a7, 0x45ed, {0x80, 0x16, 0xc3, 0x17, 0xa0, 0x73, 0xbe, 0x33}};
constexpr uint32_t kFeatureLevel = 0xb000;
constexpr uint64_t kHeapBytes = 256 << 10;

std::atomic<int> signalled{0};

int32_t SignalEvent(void*) {
  signalled = 1;
  signalled.notify_all();
  return 0;
}

// The struct ends later than what the layer reads of it.
struct DeviceCreateInfo {
  cairn::Vkd3dDeviceCreateInfo known = {};
  uint64_t rest[8] = {};
};

template <typename Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

ComPtr<ID3D12Device> CreateDevice(void* library) {
  ComPtr<ID3D12Device> device;
  auto* const create =
      Find<int32_t(const void*, const GUID&, void**)>(library, "vkd3d_create_device");
  cairn::Vkd3dInstanceCreateInfo instance = {};
  instance.type = cairn::kVkd3dInstanceCreateInfo;
  instance.signal_event = reinterpret_cast<void (*)()>(&SignalEvent);
  instance.wchar_size = sizeof(WCHAR);
  DeviceCreateInfo info;
  info.known.type = cairn::kVkd3dDeviceCreateInfo;
  info.known.minimum_feature_level = kFeatureLevel;
  info.known.instance_create_info = &instance;
  const int32_t result = create(&info, __uuidof(ID3D12Device), device.Receive());
  std::printf("device %#x\n", static_cast<unsigned>(result));
  return device;
}

void SignalOnCpu(void* library, ID3D12Device* device) {
  auto* const signal = Find<int32_t(ID3D12CommandQueue*, ID3D12Fence*, uint64_t)>(
      library, "vkd3d_queue_signal_on_cpu");
  if (signal == nullptr) {
    std::printf("no signal on the CPU\n");
    return;
  }
  ComPtr<ID3D12Fence> fence;
  ComPtr<ID3D12CommandQueue> queue;
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
  device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
  const int32_t result = signal(queue.get(), fence.get(), 5);
  // The fake has done it already, and sets no events.
  if (fence->GetCompletedValue() < 5 && SUCCEEDED(fence->SetEventOnCompletion(5, &signalled))) {
    signalled.wait(0);
  }
  std::printf("signal on the CPU %#x: %u\n", static_cast<unsigned>(result),
              static_cast<unsigned>(fence->GetCompletedValue()));
}

ComPtr<ID3D12Resource> Place(ID3D12Device* device, ID3D12Heap* heap, uint64_t offset) {
  const D3D12_RESOURCE_DESC desc = cairn::BufferDesc(4096);
  ComPtr<ID3D12Resource> buffer;
  const HRESULT result =
      device->CreatePlacedResource(heap, offset, &desc, D3D12_RESOURCE_STATE_GENERIC_READ, nullptr,
                                   __uuidof(ID3D12Resource), buffer.Receive());
  std::printf("placed %#x\n", static_cast<unsigned>(result));
  return buffer;
}

void UseAKeptHeap(ID3D12Device* device) {
  D3D12_HEAP_DESC desc = {};
  desc.SizeInBytes = kHeapBytes;
  desc.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
  desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ID3D12Heap* heap = nullptr;
  device->CreateHeap(&desc, __uuidof(ID3D12Heap), reinterpret_cast<void**>(&heap));
  const ComPtr<ID3D12Resource> first = Place(device, heap, 0);
  std::printf("the heap has %u references\n", static_cast<unsigned>(heap->Release()));
  const ComPtr<ID3D12Resource> second = Place(device, heap, 64 << 10);
  D3D12_HEAP_DESC seen = {};
  heap->GetDesc(&seen);
  std::printf("its size is %u\n", static_cast<unsigned>(seen.SizeInBytes));
  for (int i = 0; i < 100; ++i) {  // over whatever was freed too early
    ComPtr<ID3D12Fence> fence;
    device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
  }
  const ComPtr<ID3D12Resource> third = Place(device, heap, 128 << 10);
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = argc < 2 ? nullptr : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 2;
  ComPtr<ID3D12Device> device = CreateDevice(library);
  if (!device) return 3;
  ComPtr<IUnknown> tools;
  std::printf("layer: %s\n",
              SUCCEEDED(device->QueryInterface(kDeviceTools2, tools.Receive())) ? "yes" : "no");
  tools = {};
  SignalOnCpu(library, device.get());
  if (auto* const frobnicate = Find<int32_t(ID3D12Device*)>(library, "vkd3d_frobnicate")) {
    std::printf("frobnicated: %d\n", frobnicate(device.get()));
  }
  if (argc > 2) UseAKeptHeap(device.get());
  std::printf("references left: %u\n", static_cast<unsigned>(device.Detach()->Release()));
  return 0;
}
