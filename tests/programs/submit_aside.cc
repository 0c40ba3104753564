// SPDX-License-Identifier: Apache-2.0
//
// A library to preload into Direct3D 12 programs, for tests: a second thread that draws into an image of
// its own, on a queue of its own, and ends frames by a marker, all the time while the program presents.
//   SUBMIT_ASIDE_FRAMES=N   so many frames; "submit_aside: N frames" on stdout when they are done
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/testing/test_target.h"

namespace {

using namespace cairn;

std::thread* g_thread = nullptr;

int FrameCount() {
  const char* const text = std::getenv("SUBMIT_ASIDE_FRAMES");
  return text == nullptr ? 0 : std::atoi(text);
}

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  std::fprintf(stderr, "submit_aside: %s: 0x%08x\n", what, static_cast<unsigned>(result));
  std::_Exit(1);
}

struct Work {
  explicit Work(ID3D12Device* device) {
    const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
    Check(device->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
          "queue");
    Check(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                         __uuidof(ID3D12CommandAllocator), allocator.Receive()),
          "allocator");
    Check(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                    __uuidof(ID3D12GraphicsCommandList), list.Receive()),
          "list");
    Check(list->Close(), "Close");
    Check(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
          "fence");
    Check(CreateTestTarget(device, 16, __uuidof(ID3D12Resource), target.Receive()), "target");
    D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
    heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
    heap_desc.NumDescriptors = 1;
    Check(device->CreateDescriptorHeap(&heap_desc, __uuidof(ID3D12DescriptorHeap), views.Receive()),
          "heap");
    device->CreateRenderTargetView(target.get(), nullptr, GetCpuStart(views.get()));
  }

  void Frame(UINT64 number) {
    Check(allocator->Reset(), "Reset");
    Check(list->Reset(allocator.get(), nullptr), "Reset");
    const D3D12_CPU_DESCRIPTOR_HANDLE view = GetCpuStart(views.get());
    list->OMSetRenderTargets(1, &view, FALSE, nullptr);
    const float colour[4] = {static_cast<float>(number % 256) / 255.0f, 0, 0, 1};
    list->ClearRenderTargetView(view, colour, 0, nullptr);
    Check(list->Close(), "Close");
    ID3D12CommandList* const lists[] = {list.get()};
    queue->ExecuteCommandLists(1, lists);
    Check(queue->Signal(fence.get(), number), "Signal");
    constexpr char kMark[] = "cairn:frame";
    constexpr UINT kAnsi = 1;
    queue->SetMarker(kAnsi, kMark, sizeof(kMark));
    while (fence->GetCompletedValue() < number) std::this_thread::yield();
  }

  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  ComPtr<ID3D12Resource> target;
  ComPtr<ID3D12DescriptorHeap> views;
};

void Start(ID3D12Device* device) {
  const int frames = FrameCount();
  if (frames == 0 || g_thread != nullptr) return;
  g_thread = new std::thread([frames, kept = ComPtr<ID3D12Device>(device)] {
    {
      Work work(kept.get());
      for (int i = 1; i <= frames; ++i) work.Frame(static_cast<UINT64>(i));
    }
    std::printf("submit_aside: %d frames\n", frames);
    std::fflush(stdout);
  });
  // Before what the driver does at the end of the process.
  std::atexit([] { g_thread->join(); });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) HRESULT WINAPI D3D12CreateDeviceVKD3D(
    IUnknown* adapter, D3D_FEATURE_LEVEL level, REFIID iid, void** device, int version) {
  using Create = HRESULT(WINAPI*)(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**, int);
  const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "D3D12CreateDeviceVKD3D"));
  const HRESULT result = next(adapter, level, iid, device, version);
  if (SUCCEEDED(result) && device != nullptr) Start(static_cast<ID3D12Device*>(*device));
  return result;
}
