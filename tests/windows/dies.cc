// SPDX-License-Identifier: Apache-2.0
//
// dies.exe HOW: gives a Direct3D 12 queue work to do that takes a while, and ends in the middle of it. A program as others
// are: nothing of Cairn in it but its header of PIX events. HOW:
//   write, read, execute  an access violation at 0x1230
//   divide                by zero
//   raise                 RaiseException with 0xe0001234
//   handled               a write to 0x1230 that is caught, then exit with 0
//   abort, fastfail, overflow (of the stack)
//   terminate             TerminateProcess of itself with 77
//   exit                  exit with 5: what Linux sees of an access violation, too
//   wait                  says "ready NUMBER", and waits until somebody kills it
//   hang                  a dispatch that takes minutes, and waits for it
//   lose                  a dispatch for which tests/losing_driver loses the device, and waits for it; exit with 6 if the
//                         device was removed, with 2 if not
//   lost                  the device is removed, because a list is executed that is still recorded; exit with 6
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cairn/pix.h"

#include "d3d12_device.h"
#include "embedded/hang.cs.dxbc.h"
#include "tests/windows/programs/exceptions.h"

namespace {

constexpr uint64_t kBytes = 64 << 20;
constexpr int kCopies = 200;
// The arguments of hang.cs.hlsl: the longest loop that lavapipe allows, in each of this number of
// groups of 64 threads.
constexpr UINT kTrips = 65535;
constexpr UINT kGroups = 8192;
constexpr UINT kLosingGroups = 4711;  // of tests/losing_driver

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  fprintf(stderr, "dies: %s gives %#lx\n", what, static_cast<unsigned long>(result));
  ExitProcess(70);
}

ID3D12Resource* MakeBuffer(ID3D12Device* device) {
  const D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
  D3D12_RESOURCE_DESC buffer = {};
  buffer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  buffer.Width = kBytes;
  buffer.Height = buffer.DepthOrArraySize = buffer.MipLevels = 1;
  buffer.SampleDesc.Count = 1;
  buffer.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  buffer.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  ID3D12Resource* resource = nullptr;
  Check(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &buffer,
                                        D3D12_RESOURCE_STATE_COMMON, nullptr,
                                        IID_PPV_ARGS(&resource)),
        "CreateCommittedResource");
  return resource;
}

struct Gpu {
  ID3D12Device* device = nullptr;
  ID3D12CommandQueue* queue = nullptr;
  ID3D12Fence* fence = nullptr;
  ID3D12Resource* from = nullptr;
  ID3D12Resource* to = nullptr;
};

Gpu MakeGpu() {
  Gpu gpu;
  Check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&gpu.device)),
        "D3D12CreateDevice");
  const D3D12_COMMAND_QUEUE_DESC direct = {};
  Check(gpu.device->CreateCommandQueue(&direct, IID_PPV_ARGS(&gpu.queue)), "CreateCommandQueue");
  gpu.queue->SetName(L"Main queue");
  Check(gpu.device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gpu.fence)), "CreateFence");
  gpu.from = MakeBuffer(gpu.device);
  gpu.to = MakeBuffer(gpu.device);
  return gpu;
}

ID3D12GraphicsCommandList* MakeList(const Gpu& gpu, const wchar_t* name) {
  ID3D12CommandAllocator* allocator = nullptr;
  ID3D12GraphicsCommandList* list = nullptr;
  Check(
      gpu.device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)),
      "CreateCommandAllocator");
  Check(gpu.device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, nullptr,
                                      IID_PPV_ARGS(&list)),
        "CreateCommandList");
  list->SetName(name);
  return list;
}

void RecordCopies(const Gpu& gpu, ID3D12GraphicsCommandList* list, int copies) {
  PIXBeginEvent(list, PIX_COLOR_DEFAULT, "Frame %d", 7);
  PIXBeginEvent(list, PIX_COLOR_DEFAULT, "%d copies", copies);
  for (int i = 0; i < copies; ++i) list->CopyBufferRegion(gpu.to, 0, gpu.from, 0, kBytes);
  PIXEndEvent(list);
  PIXEndEvent(list);
}

void Execute(const Gpu& gpu, ID3D12GraphicsCommandList* list) {
  ID3D12CommandList* lists[] = {list};
  gpu.queue->ExecuteCommandLists(1, lists);
}

void WaitFor(const Gpu& gpu, UINT64 value) {
  const HANDLE done = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  Check(gpu.fence->SetEventOnCompletion(value, done), "SetEventOnCompletion");
  WaitForSingleObject(done, INFINITE);
}

// Returns when the first of two lists has been executed: the other has not.
void StartWork(const Gpu& gpu) {
  for (const int copies : {1, kCopies}) {
    ID3D12GraphicsCommandList* const list = MakeList(gpu, copies == 1 ? L"Warm-up" : L"Copies");
    RecordCopies(gpu, list, copies);
    Check(list->Close(), "Close");
    Execute(gpu, list);
    if (copies == 1) Check(gpu.queue->Signal(gpu.fence, 1), "Signal");
  }
  WaitFor(gpu, 1);
}

void Dispatch(const Gpu& gpu, UINT trips, UINT groups) {
  // Root parameters: the number of trips and a seed; the buffer in which each thread stores a word.
  constexpr sample::Output kByAddress = sample::Output::kRaw;
  const auto signature = sample::CreateRootSignature(gpu.device, 2, &kByAddress);
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.pRootSignature = signature.get();
  desc.CS = {kHangCsDxbc, sizeof(kHangCsDxbc)};
  ID3D12PipelineState* pipeline = nullptr;
  Check(gpu.device->CreateComputePipelineState(&desc, IID_PPV_ARGS(&pipeline)),
        "CreateComputePipelineState");
  pipeline->SetName(L"Volumetric fog");
  ID3D12GraphicsCommandList* const list = MakeList(gpu, L"Main");
  PIXBeginEvent(list, PIX_COLOR_DEFAULT, "Frame %d", 7);
  list->CopyBufferRegion(gpu.to, 0, gpu.from, 0, kBytes);
  PIXBeginEvent(list, PIX_COLOR_DEFAULT, "Fog");
  list->SetComputeRootSignature(desc.pRootSignature);
  list->SetPipelineState(pipeline);
  const UINT constants[] = {trips, 1};
  list->SetComputeRoot32BitConstants(0, 2, constants, 0);
  list->SetComputeRootUnorderedAccessView(1, gpu.to->GetGPUVirtualAddress());
  list->Dispatch(groups, 1, 1);
  PIXEndEvent(list);
  list->CopyBufferRegion(gpu.to, 0, gpu.from, 0, kBytes);
  PIXEndEvent(list);
  Check(list->Close(), "Close");
  Execute(gpu, list);
  Check(gpu.queue->Signal(gpu.fence, 1), "Signal");
  WaitFor(gpu, 1);
}

int Lose(const Gpu& gpu) {
  Dispatch(gpu, 1, kLosingGroups);
  const HRESULT reason = gpu.device->GetDeviceRemovedReason();
  printf("removed: %#lx\n", static_cast<unsigned long>(reason));
  return reason == S_OK ? 2 : 6;
}

int LoseDevice(const Gpu& gpu) {
  StartWork(gpu);
  ID3D12GraphicsCommandList* const list = MakeList(gpu, L"Still recorded");
  RecordCopies(gpu, list, 1);
  Execute(gpu, list);
  return gpu.device->GetDeviceRemovedReason() == S_OK ? 2 : 6;
}

int Die(std::string_view how) {
  DieByException(how);
  if (how == "handled") {
    AddVectoredExceptionHandler(1, GoOnBehindIt);
    WriteNowhere();
    return 0;
  }
  if (how == "abort") abort();
  if (how == "terminate") TerminateProcess(GetCurrentProcess(), 77);
  if (how == "exit") return 5;
  if (how == "wait") {
    printf("ready %lu\n", GetCurrentProcessId());
    fflush(stdout);
    Sleep(INFINITE);
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "dies: wants HOW; its source lists them\n");
    return 2;
  }
  // Shows no message box.
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  const Gpu gpu = MakeGpu();
  const std::string_view how = argv[1];
  if (how == "hang") Dispatch(gpu, kTrips, kGroups);
  if (how == "lose") return Lose(gpu);
  if (how == "lost") return LoseDevice(gpu);
  StartWork(gpu);
  return Die(how);
}
