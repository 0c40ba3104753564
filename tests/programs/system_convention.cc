// SPDX-License-Identifier: Apache-2.0
//
// A program for the implementation in system_convention_d3d12.cc. Prints what comes back.
//   system_convention linked         calls D3D12CreateDevice
//   system_convention opened FILE    opens the library FILE and looks the function up
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/com_ptr.h"

namespace {

using cairn::ComPtr;

// ID3D12DeviceTools2, which the layer adds.
constexpr GUID kDeviceTools2 = {
    0x0edb4324, 0x20a7, 0x45ed, {0x80, 0x16, 0xc3, 0x17, 0xa0, 0x73, 0xbe, 0x33}};

int Use(decltype(&D3D12CreateDevice) create) {
  std::printf("level 11_0: %#x\n", static_cast<unsigned>(create(nullptr, D3D_FEATURE_LEVEL_11_0,
                                                                __uuidof(ID3D12Device), nullptr)));
  std::printf("no device wanted: %#x\n",
              static_cast<unsigned>(
                  create(nullptr, D3D_FEATURE_LEVEL_12_1, __uuidof(ID3D12Device), nullptr)));
  ComPtr<ID3D12Device> device;
  if (FAILED(create(nullptr, D3D_FEATURE_LEVEL_12_1, __uuidof(ID3D12Device), device.Receive()))) {
    return 2;
  }
  ComPtr<IUnknown> tools;
  std::printf("layer: %s\n",
              SUCCEEDED(device->QueryInterface(kDeviceTools2, tools.Receive())) ? "yes" : "no");
  tools = {};
  const LUID luid = cairn::GetAdapterLuid(device.get());
  std::printf("nodes %u, adapter %x:%x\n", device->GetNodeCount(),
              static_cast<unsigned>(luid.HighPart), static_cast<unsigned>(luid.LowPart));

  ComPtr<ID3D12Fence> fence;
  ComPtr<ID3D12CommandQueue> queue;
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  device->CreateFence(5, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
  device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
  if (!fence || !queue) return 3;
  std::printf("fence %u", static_cast<unsigned>(fence->GetCompletedValue()));
  fence->Signal(9);
  std::printf(" %u", static_cast<unsigned>(fence->GetCompletedValue()));
  queue->Signal(fence.get(), 12);
  std::printf(" %u\n", static_cast<unsigned>(fence->GetCompletedValue()));

  ComPtr<ID3D12Device> again;
  fence->GetDevice(__uuidof(ID3D12Device), again.Receive());
  std::printf("same device: %s\n", again.get() == device.get() ? "yes" : "no");
  again = {};
  queue = {};
  fence = {};
  std::printf("references left: %u\n", static_cast<unsigned>(device.Detach()->Release()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || std::strcmp(argv[1], "opened") != 0) return Use(&D3D12CreateDevice);
  void* const library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 4;
  return Use(reinterpret_cast<decltype(&D3D12CreateDevice)>(dlsym(library, "D3D12CreateDevice")));
}
