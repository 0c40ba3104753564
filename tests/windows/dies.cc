// SPDX-License-Identifier: Apache-2.0
//
// dies.exe HOW: gives a Direct3D 12 queue copies to do that take a while, and ends in the middle of them. HOW:
//   write, read, execute  an access violation at 0x1230
//   divide                by zero
//   raise                 RaiseException with 0xe0001234
//   handled               a write to 0x1230 that is caught, then exit with 0
//   abort, fastfail, overflow (of the stack)
//   terminate             TerminateProcess of itself with 77
//   exit                  exit with 5: what Linux sees of an access violation, too
#include <d3d12.h>
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr uint64_t kBytes = 64 << 20;
constexpr int kCopies = 200;

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
  ID3D12Resource* resource = nullptr;
  Check(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &buffer,
                                        D3D12_RESOURCE_STATE_COMMON, nullptr,
                                        IID_PPV_ARGS(&resource)),
        "CreateCommittedResource");
  return resource;
}

// Returns when the first of several lists has been executed: the others have not.
void StartWork() {
  ID3D12Device* device = nullptr;
  Check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)),
        "D3D12CreateDevice");
  ID3D12CommandQueue* queue = nullptr;
  const D3D12_COMMAND_QUEUE_DESC direct = {};
  Check(device->CreateCommandQueue(&direct, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
  ID3D12Fence* fence = nullptr;
  Check(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
  ID3D12Resource* from = MakeBuffer(device);
  ID3D12Resource* to = MakeBuffer(device);
  for (const int copies : {1, kCopies}) {
    ID3D12CommandAllocator* allocator = nullptr;
    ID3D12GraphicsCommandList* list = nullptr;
    Check(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)),
          "CreateCommandAllocator");
    Check(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, nullptr,
                                    IID_PPV_ARGS(&list)),
          "CreateCommandList");
    for (int i = 0; i < copies; ++i) list->CopyBufferRegion(to, 0, from, 0, kBytes);
    Check(list->Close(), "Close");
    ID3D12CommandList* lists[] = {list};
    queue->ExecuteCommandLists(1, lists);
    if (copies == 1) Check(queue->Signal(fence, 1), "Signal");
  }
  const HANDLE done = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  Check(fence->SetEventOnCompletion(1, done), "SetEventOnCompletion");
  WaitForSingleObject(done, INFINITE);
}

volatile int* const nowhere = reinterpret_cast<volatile int*>(0x1230);
volatile int one = 1, zero = 0;

int __attribute__((noinline)) Recurse(volatile int* before) {
  volatile int here[1024];
  here[0] = *before;
  return here[0] != 0 ? 0 : Recurse(here) + here[0];
}

LONG CALLBACK GoOn(EXCEPTION_POINTERS* exception) {
  // Behind the store: rax holds where it went.
  static int somewhere;
  exception->ContextRecord->Rax = reinterpret_cast<DWORD64>(&somewhere);
  return EXCEPTION_CONTINUE_EXECUTION;
}

void WriteNowhere() {
  asm volatile("movl $1, (%%rax)" : : "a"(nowhere) : "memory");
}

int Die(std::string_view how) {
  if (how == "write") WriteNowhere();
  if (how == "read") return *nowhere;
  if (how == "execute") reinterpret_cast<void (*)()>(const_cast<int*>(nowhere))();
  if (how == "divide") return one / zero;
  if (how == "raise") RaiseException(0xe0001234, 0, 0, nullptr);
  if (how == "handled") {
    AddVectoredExceptionHandler(1, GoOn);
    WriteNowhere();
    return 0;
  }
  if (how == "abort") abort();
  if (how == "fastfail") asm volatile("int $0x29" : : "c"(FAST_FAIL_FATAL_APP_EXIT));
  if (how == "overflow") return Recurse(&zero);
  if (how == "terminate") TerminateProcess(GetCurrentProcess(), 77);
  if (how == "exit") return 5;
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "dies: wants HOW; its source lists them\n");
    return 2;
  }
  // No box with a button.
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  StartWork();
  return Die(argv[1]);
}
