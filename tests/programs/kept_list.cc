// SPDX-License-Identifier: Apache-2.0
//
// kept_list: records a command list once and executes it in each of 6 frames, each of which begins with
// targets in blue. While it is recorded the list reads descriptors of targets that are something else
// afterwards: one is overwritten as soon as it is read, and once more when the list is closed, another is in
// a heap that is given up. With an argument it reads nothing back, marks no frames, and ends without releasing
// anything; with "take", while it holds the queue of libvkd3d, in which nothing can be submitted then. Prints
// what the targets hold after each frame; fails if that is not what the list draws. Knows nothing of Cairn.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/test_target.h"

namespace {

using cairn::ComPtr;

constexpr int kTargets = 3;
constexpr uint32_t kSize = 16;
constexpr uint32_t kPitch = 256;
constexpr uint32_t kCopyBytes = kPitch * kSize;

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  std::fprintf(stderr, "kept_list: %s failed with %#x\n", what, static_cast<unsigned>(result));
  std::exit(2);
}

class Program {
 public:
  Program() {
    Check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                            device_.Receive()),
          "D3D12CreateDevice");
    const D3D12_COMMAND_QUEUE_DESC queue_desc = {};
    Check(device_->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
          "CreateCommandQueue");
    for (int i = 0; i < 2; ++i) {
      Check(device_->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                            __uuidof(ID3D12CommandAllocator),
                                            allocators_[i].Receive()),
            "CreateCommandAllocator");
      Check(device_->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocators_[i].get(),
                                       nullptr, __uuidof(ID3D12GraphicsCommandList),
                                       lists_[i].Receive()),
            "CreateCommandList");
    }
    Check(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence_.Receive()),
          "CreateFence");
    increment_ = device_->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
    for (ComPtr<ID3D12Resource>& target : targets_) target = MakeTarget();
    other_ = MakeTarget();
    MakeReadback();
    own_ = MakeHeap(kTargets);
    for (int i = 0; i < kTargets; ++i) View(own_.get(), i, targets_[i].get());
    RecordKept();
  }

#if !defined(_WIN32)
  // Takes the queue with a function of libvkd3d, which libvkd3d-utils loads.
  void TakeQueue() {
    void* const function = dlsym(RTLD_DEFAULT, "vkd3d_acquire_vk_queue");
    if (function == nullptr) std::exit(3);
    reinterpret_cast<void* (*)(ID3D12CommandQueue*)>(function)(queue_.get());
  }
#endif

  void Frame(bool looks) {
    ID3D12GraphicsCommandList* const list = lists_[1].get();
    if (value_ != 0) {
      Check(allocators_[1]->Reset(), "Reset of the allocator");
      Check(list->Reset(allocators_[1].get(), nullptr), "Reset");
    }
    constexpr float kBlue[4] = {0, 0, 1, 1};
    for (int i = 0; i < kTargets; ++i) {
      list->ClearRenderTargetView(Handle(own_.get(), i), kBlue, 0, nullptr);
    }
    Execute(list);
    ID3D12CommandList* const kept = lists_[0].get();
    queue_->ExecuteCommandLists(1, &kept);
    Wait();
    if (!looks) return;
    Check(allocators_[1]->Reset(), "Reset of the allocator");
    Check(list->Reset(allocators_[1].get(), nullptr), "Reset");
    for (int i = 0; i < kTargets; ++i) Copy(list, i);
    Execute(list);
    Wait();
    Look();
    constexpr char kMark[] = "cairn:frame";
    constexpr UINT kAnsi = 1;
    queue_->SetMarker(kAnsi, kMark, sizeof(kMark));
  }

 private:
  ComPtr<ID3D12Resource> MakeTarget() {
    ComPtr<ID3D12Resource> target;
    Check(cairn::CreateTestTarget(device_.get(), kSize, __uuidof(ID3D12Resource), target.Receive()),
          "CreateCommittedResource");
    return target;
  }
  void MakeReadback() {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_READBACK;
    const D3D12_RESOURCE_DESC desc = cairn::BufferDesc(kTargets * kCopyBytes);
    Check(device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                           D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                           __uuidof(ID3D12Resource), readback_.Receive()),
          "CreateCommittedResource of the buffer");
  }
  ComPtr<ID3D12DescriptorHeap> MakeHeap(UINT count) {
    const D3D12_DESCRIPTOR_HEAP_DESC desc = {D3D12_DESCRIPTOR_HEAP_TYPE_RTV, count,
                                             D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
    ComPtr<ID3D12DescriptorHeap> heap;
    Check(device_->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()),
          "CreateDescriptorHeap");
    return heap;
  }
  D3D12_CPU_DESCRIPTOR_HANDLE Handle(ID3D12DescriptorHeap* heap, int index) const {
    D3D12_CPU_DESCRIPTOR_HANDLE handle = cairn::GetCpuStart(heap);
    handle.ptr += static_cast<SIZE_T>(index) * increment_;
    return handle;
  }
  void View(ID3D12DescriptorHeap* heap, int index, ID3D12Resource* target) {
    device_->CreateRenderTargetView(target, nullptr, Handle(heap, index));
  }

  void RecordKept() {
    constexpr float kColors[kTargets][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1}};
    heap_ = MakeHeap(1);
    ComPtr<ID3D12DescriptorHeap> given_up = MakeHeap(1);
    ID3D12GraphicsCommandList* const list = lists_[0].get();
    for (int i = 0; i < 2; ++i) {
      View(heap_.get(), 0, targets_[i].get());
      list->ClearRenderTargetView(Handle(heap_.get(), 0), kColors[i], 0, nullptr);
    }
    View(given_up.get(), 0, targets_[2].get());
    list->ClearRenderTargetView(Handle(given_up.get(), 0), kColors[2], 0, nullptr);
    Check(list->Close(), "Close");
    View(heap_.get(), 0, other_.get());
  }

  void Copy(ID3D12GraphicsCommandList* list, int index) {
    const auto transition = [&](D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) {
      D3D12_RESOURCE_BARRIER barrier = {};
      barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
      barrier.Transition.pResource = targets_[index].get();
      barrier.Transition.StateBefore = before;
      barrier.Transition.StateAfter = after;
      list->ResourceBarrier(1, &barrier);
    };
    D3D12_TEXTURE_COPY_LOCATION to = {};
    to.pResource = readback_.get();
    to.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
    to.PlacedFootprint.Offset = static_cast<UINT64>(index) * kCopyBytes;
    to.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, kSize, kSize, 1, kPitch};
    D3D12_TEXTURE_COPY_LOCATION from = {};
    from.pResource = targets_[index].get();
    from.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
    transition(D3D12_RESOURCE_STATE_RENDER_TARGET, D3D12_RESOURCE_STATE_COPY_SOURCE);
    list->CopyTextureRegion(&to, 0, 0, 0, &from, nullptr);
    transition(D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_RENDER_TARGET);
  }

  void Execute(ID3D12GraphicsCommandList* list) {
    Check(list->Close(), "Close");
    ID3D12CommandList* const submitted = list;
    queue_->ExecuteCommandLists(1, &submitted);
  }
  void Wait() {
    Check(queue_->Signal(fence_.get(), ++value_), "Signal");
    while (fence_->GetCompletedValue() < value_) std::this_thread::yield();
  }
  void Look() {
    constexpr uint32_t kExpected[kTargets] = {0xff0000ff, 0xff00ff00, 0xff00ffff};
    void* data = nullptr;
    Check(readback_->Map(0, nullptr, &data), "Map");
    bool right = true;
    for (int i = 0; i < kTargets; ++i) {
      const uint32_t pixel = static_cast<const uint32_t*>(data)[i * (kCopyBytes / 4)];
      std::printf("%08x%c", pixel, i + 1 == kTargets ? '\n' : ' ');
      right = right && pixel == kExpected[i];
    }
    readback_->Unmap(0, nullptr);
    if (!right) std::exit(1);
  }

  ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocators_[2];
  ComPtr<ID3D12GraphicsCommandList> lists_[2];  // the kept one, and that of a frame
  ComPtr<ID3D12Fence> fence_;
  UINT64 value_ = 0;
  ComPtr<ID3D12Resource> targets_[kTargets];
  ComPtr<ID3D12Resource> other_;
  ComPtr<ID3D12Resource> readback_;
  ComPtr<ID3D12DescriptorHeap> own_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  UINT increment_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bool looks = argc == 1;
  Program program;
  for (int frame = 0; frame < 6; ++frame) program.Frame(looks);
#if !defined(_WIN32)
  if (!looks && std::strcmp(argv[1], "take") == 0) program.TakeQueue();
#else
  static_cast<void>(argv);
#endif
  if (!looks) std::exit(0);
}
