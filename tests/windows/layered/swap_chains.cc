// SPDX-License-Identifier: Apache-2.0
//
// swap-chains.exe [--overlay] [--load LIBRARY] [--late-overlay] [--whose]: everything that a Direct3D 12 program sees of DXGI's swap chains, in a line
// each; the same with and without a layer, which LIBRARY is. `--whose` says instead whose objects it was given. Exits
// with 77 where there is no device. An overlay replaces Present, before LIBRARY does or after it, and counts what it sees.
#include <dxgi1_4.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "app/breadcrumbs/layer_identity.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
namespace {

constexpr UINT kImages = 2;
constexpr UINT kWidth = 64;

// "layer" or "plain": whether the object is a wrapper.
const char* Whose(IUnknown* object) {
  GUID id;
  std::memcpy(&id, &kRealObjectId, sizeof(id));
  ComPtr<IUnknown> real;
  if (object == nullptr) return "nobody's";
  return SUCCEEDED(object->QueryInterface(id, real.Receive())) ? "layer" : "plain";
}

bool same_things = true;  // what does not depend on a layer
void Say(const char* what, long value) {
  if (same_things) std::printf("%s: 0x%lx\n", what, value);
}
void SayWhose(const char* what, IUnknown* object) {
  if (!same_things) std::printf("%s: %s\n", what, Whose(object));
}

ULONG References(IUnknown* object) {
  object->AddRef();
  return object->Release();
}

struct Program {
  ComPtr<IDXGIFactory4> factory;
  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12Fence> fence;
  HWND window = nullptr;
  UINT64 value = 0;

  bool Start() {
    if (FAILED(CreateDXGIFactory1(__uuidof(IDXGIFactory4), factory.Receive())) ||
        FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                                 device.Receive()))) {
      return false;
    }
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
    device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
    window = CreateWindowW(L"STATIC", L"swap chains", WS_POPUP | WS_VISIBLE, 0, 0, kWidth, kWidth,
                           nullptr, nullptr, nullptr, nullptr);
    return window != nullptr;
  }

  void Wait() {
    const HANDLE event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    queue->Signal(fence.get(), ++value);
    fence->SetEventOnCompletion(value, event);
    WaitForSingleObject(event, INFINITE);
    CloseHandle(event);
  }

  DXGI_SWAP_CHAIN_DESC1 Desc() const {
    DXGI_SWAP_CHAIN_DESC1 desc = {};
    desc.Width = desc.Height = kWidth;
    desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    desc.SampleDesc.Count = 1;
    desc.BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT;
    desc.BufferCount = kImages;
    desc.SwapEffect = DXGI_SWAP_EFFECT_FLIP_DISCARD;
    return desc;
  }
};

// ---- An overlay ----------------------------------------------------------------------------------

using PresentFunction = HRESULT(WINAPI*)(IDXGISwapChain*, UINT, UINT);
PresentFunction present_before_overlay = nullptr;
bool has_late_overlay = false;
long overlay_calls = 0;

HRESULT WINAPI OnPresent(IDXGISwapChain* chain, UINT interval, UINT flags) {
  ++overlay_calls;
  return present_before_overlay(chain, interval, flags);
}

void ReplacePresent(IDXGISwapChain* chain) {
  constexpr size_t kSlot = 8;
  if (present_before_overlay != nullptr) return;
  void** const place = *reinterpret_cast<void***>(chain) + kSlot;
  DWORD before = 0;
  VirtualProtect(place, sizeof(*place), PAGE_READWRITE, &before);
  present_before_overlay = reinterpret_cast<PresentFunction>(*place);
  *place = reinterpret_cast<void*>(&OnPresent);
  VirtualProtect(place, sizeof(*place), before, &before);
}

// By a swap chain of its own, as overlays find the method.
void StartOverlay() {
  Program program;
  if (!program.Start()) return;
  const DXGI_SWAP_CHAIN_DESC1 desc = program.Desc();
  ComPtr<IDXGISwapChain1> chain;
  program.factory->CreateSwapChainForHwnd(program.queue.get(), program.window, &desc, nullptr,
                                          nullptr,
                                          reinterpret_cast<IDXGISwapChain1**>(chain.Receive()));
  if (chain) ReplacePresent(chain.get());
  program.Wait();
}

// ---- What is looked at ---------------------------------------------------------------------------

// Transitions of an image, which the implementation refuses or crashes with if it is given a wrapper.
void Use(Program& program, ID3D12Resource* image) {
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  program.device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                         __uuidof(ID3D12CommandAllocator), allocator.Receive());
  program.device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                    __uuidof(ID3D12GraphicsCommandList), list.Receive());
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition = {image, 0, D3D12_RESOURCE_STATE_PRESENT, D3D12_RESOURCE_STATE_RENDER_TARGET};
  list->ResourceBarrier(1, &barrier);
  std::swap(barrier.Transition.StateBefore, barrier.Transition.StateAfter);
  list->ResourceBarrier(1, &barrier);
  Say("Close", list->Close());
  ID3D12CommandList* const lists[] = {list.get()};
  program.queue->ExecuteCommandLists(1, lists);
  program.Wait();
}

void LookAtImages(Program& program, IDXGISwapChain* chain) {
  ComPtr<ID3D12Resource> first;
  for (UINT i = 0; i < kImages; ++i) {
    ComPtr<ID3D12Resource> image;
    ComPtr<ID3D12Resource> again;
    Say("GetBuffer", chain->GetBuffer(i, __uuidof(ID3D12Resource), image.Receive()));
    Say("GetBuffer again", chain->GetBuffer(i, __uuidof(ID3D12Resource), again.Receive()));
    SayWhose("image", image.get());
    Say("is the same", image.get() == again.get());
    Say("is another one's", image.get() == first.get());
    ComPtr<ID3D12Device> device;
    Say("its device", image->GetDevice(__uuidof(ID3D12Device), device.Receive()));
    Say("is ours", device.get() == program.device.get());
    Use(program, image.get());
    first = image;
  }
  IUnknown* nothing = nullptr;
  Say("GetBuffer of another interface",
      chain->GetBuffer(0, __uuidof(ID3D12Fence), reinterpret_cast<void**>(&nothing)));
  Say("GetBuffer behind the last",
      chain->GetBuffer(kImages, __uuidof(ID3D12Resource), reinterpret_cast<void**>(&nothing)));
}

void LookAtDevice(Program& program, IDXGISwapChain* chain) {
  ComPtr<ID3D12Device> device;
  Say("GetDevice", chain->GetDevice(__uuidof(ID3D12Device), device.Receive()));
  SayWhose("device", device.get());
  Say("is ours", device.get() == program.device.get());
  IUnknown* nothing = nullptr;
  Say("GetDevice of another interface",
      chain->GetDevice(__uuidof(ID3D12Fence), reinterpret_cast<void**>(&nothing)));
  ComPtr<IDXGIFactory4> factory;
  Say("GetParent", chain->GetParent(__uuidof(IDXGIFactory4), factory.Receive()));
  Say("is ours", factory.get() == program.factory.get());
}

void LookAtResizing(Program& program, IDXGISwapChain* chain) {
  Say("ResizeBuffers", chain->ResizeBuffers(0, 2 * kWidth, kWidth, DXGI_FORMAT_UNKNOWN, 0));
  ComPtr<IDXGISwapChain3> newer;
  chain->QueryInterface(__uuidof(IDXGISwapChain3), newer.Receive());
  if (newer) {
    IUnknown* const queues[kImages] = {program.queue.get(), program.queue.get()};
    const UINT masks[kImages] = {1, 1};
    Say("ResizeBuffers1", newer->ResizeBuffers1(kImages, kWidth, kWidth, DXGI_FORMAT_R8G8B8A8_UNORM,
                                                0, masks, queues));
  }
  LookAtImages(program, chain);
}

void LookAtPresenting(IDXGISwapChain* chain) {
  if (has_late_overlay) ReplacePresent(chain);
  Say("Present as a test", chain->Present(0, DXGI_PRESENT_TEST));
  for (int i = 0; i < 3; ++i) Say("Present", chain->Present(0, 0));
  ComPtr<IDXGISwapChain1> newer;
  chain->QueryInterface(__uuidof(IDXGISwapChain1), newer.Receive());
  const DXGI_PRESENT_PARAMETERS parameters = {};
  if (newer) Say("Present1", newer->Present1(0, 0, &parameters));
}

void LookAt(Program& program, IDXGISwapChain* chain) {
  if (chain == nullptr) return;
  LookAtImages(program, chain);
  LookAtDevice(program, chain);
  LookAtPresenting(chain);
  LookAtResizing(program, chain);
  Say("Present at the end", chain->Present(0, 0));
  program.Wait();
}

void LookAtAll(Program& program) {
  const ULONG references = References(program.queue.get());
  const DXGI_SWAP_CHAIN_DESC1 desc = program.Desc();
  {
    ComPtr<IDXGISwapChain1> chain;
    Say("CreateSwapChainForHwnd", program.factory->CreateSwapChainForHwnd(
                                      program.queue.get(), program.window, &desc, nullptr, nullptr,
                                      reinterpret_cast<IDXGISwapChain1**>(chain.Receive())));
    LookAt(program, chain.get());
  }
  Say("left of the queue", static_cast<long>(References(program.queue.get()) - references));
  {
    DXGI_SWAP_CHAIN_DESC old = {};
    old.BufferDesc.Width = old.BufferDesc.Height = kWidth;
    old.BufferDesc.Format = desc.Format;
    old.SampleDesc = desc.SampleDesc;
    old.BufferUsage = desc.BufferUsage;
    old.BufferCount = kImages;
    old.OutputWindow = program.window;
    old.Windowed = TRUE;
    old.SwapEffect = desc.SwapEffect;
    ComPtr<IDXGISwapChain> chain;
    Say("CreateSwapChain",
        program.factory->CreateSwapChain(program.queue.get(), &old,
                                         reinterpret_cast<IDXGISwapChain**>(chain.Receive())));
    LookAt(program, chain.get());
  }
  Say("left of the queue", static_cast<long>(References(program.queue.get()) - references));
  ComPtr<IDXGISwapChain1> chain;
  Say("CreateSwapChainForComposition", program.factory->CreateSwapChainForComposition(
                                           program.queue.get(), &desc, nullptr,
                                           reinterpret_cast<IDXGISwapChain1**>(chain.Receive())));
  Say("for a device", program.factory->CreateSwapChainForHwnd(
                          program.device.get(), program.window, &desc, nullptr, nullptr,
                          reinterpret_cast<IDXGISwapChain1**>(chain.Receive())));
  Say("calls that the overlay saw", overlay_calls);
  Say("for nothing", program.factory->CreateSwapChainForHwnd(
                         nullptr, program.window, &desc, nullptr, nullptr,
                         reinterpret_cast<IDXGISwapChain1**>(chain.Receive())));
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--whose") == 0) cairn::same_things = false;
    if (std::strcmp(argv[i], "--overlay") == 0) cairn::StartOverlay();
    if (std::strcmp(argv[i], "--late-overlay") == 0) cairn::has_late_overlay = true;
    if (std::strcmp(argv[i], "--load") == 0 && LoadLibraryA(argv[++i]) == nullptr) return 1;
  }
  cairn::Program program;
  if (!program.Start()) return 77;
  cairn::LookAtAll(program);
  std::printf("%s\n", "end");
}
