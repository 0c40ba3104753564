// SPDX-License-Identifier: Apache-2.0
//
// idle_d3d12: submits command lists that do no work (an empty one, twice, and one that only sets state),
// waits by an event until the GPU has come by, is idle until its input ends, and ends without releasing
// anything. Knows nothing of Cairn.
#include <cstdio>
#include <cstdlib>

#include "d3d12abi/com_ptr.h"

#if defined(_WIN32)
HANDLE CreateFenceEvent() {
  return CreateEventW(nullptr, FALSE, FALSE, nullptr);
}
void WaitFor(HANDLE event) {
  WaitForSingleObject(event, INFINITE);
}
#else
// Functions of libvkd3d-utils, whose header conflicts with Microsoft's.
extern "C" HANDLE vkd3d_create_event();
extern "C" unsigned int vkd3d_wait_event(HANDLE event, unsigned int milliseconds);
HANDLE CreateFenceEvent() {
  return vkd3d_create_event();
}
void WaitFor(HANDLE event) {
  vkd3d_wait_event(event, ~0u);
}
#endif

namespace {

using cairn::ComPtr;

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  std::fprintf(stderr, "idle_d3d12: %s failed with %#x\n", what, static_cast<unsigned>(result));
  std::_Exit(2);
}

void Run() {
  ComPtr<ID3D12Device> device;
  Check(
      D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive()),
      "D3D12CreateDevice");
  const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  Check(device->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
        "CreateCommandQueue");
  ComPtr<ID3D12CommandAllocator> allocators[2];
  ComPtr<ID3D12GraphicsCommandList> lists[2];
  for (int i = 0; i < 2; ++i) {
    Check(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                         __uuidof(ID3D12CommandAllocator), allocators[i].Receive()),
          "CreateCommandAllocator");
    Check(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocators[i].get(), nullptr,
                                    __uuidof(ID3D12GraphicsCommandList), lists[i].Receive()),
          "CreateCommandList");
  }
  lists[1]->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  for (const auto& list : lists) Check(list->Close(), "Close");
  ComPtr<ID3D12Fence> fence;
  Check(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
        "CreateFence");
  const HANDLE event = CreateFenceEvent();
  const int order[] = {0, 0, 1};
  for (UINT64 value = 1; value <= 3; ++value) {
    ID3D12CommandList* const submitted[] = {lists[order[value - 1]].get()};
    queue->ExecuteCommandLists(1, submitted);
    Check(queue->Signal(fence.get(), value), "Signal");
    Check(fence->SetEventOnCompletion(value, event), "SetEventOnCompletion");
    WaitFor(event);
  }
  while (std::getchar() != EOF) {
  }
  std::_Exit(0);
}

}  // namespace

int main() {
  Run();
}
