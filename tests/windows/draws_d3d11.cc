// SPDX-License-Identifier: Apache-2.0
//
// draws-d3d11.exe HOW [FRAMES [DRAWS]]: a Direct3D 11 program as others are, and nothing of Cairn in it. A frame has as
// many draws on four deferred contexts, each recorded by a thread of its own, as on the immediate one, a dispatch, copies,
// events and names. HOW:
//   image      draws, and prints a sum of each picture and buffer
//   times      with a swap chain, which is presented, as DXVK keeps what a frame took until then; prints how long each frame
//              took, and the processor time of one, of all threads, behind the first ten
//   write      an access violation at 0x1230 in the middle of the last frame
//   raise      RaiseException with 0xe0001234 there
//   terminate  TerminateProcess of itself with 77 there
//   hang       the fifth draw of the last frame takes minutes; waits for it
//   lose       the fifth draw of the last frame is one for which tests/losing_driver loses the device; exit with 6 when the
//              device is removed
//   states     as image, with another state of the context for half of the immediate draws, and a second thread that uses
//              the immediate context, which is protected
//   wait       says "ready NUMBER", and draws until somebody kills it
#include <d3d11_4.h>
#include <windows.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "embedded/fill.cs.dxbc.h"
#include "embedded/hang.ps.dxbc.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"

namespace {

constexpr UINT kSize = 1024;
constexpr UINT kThreads = 4;
constexpr UINT kWords = 4096;
constexpr UINT kHungDraw = 5;
constexpr UINT kLosingVertices = 4711;  // of tests/losing_driver

// The constants of solid.vs and solid.ps; hang.ps takes the first two as integers.
struct Constants {
  float offset_scale[4];
  float colour[4];
};
struct Fill {
  UINT value, first, count, padding;
};

void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  fprintf(stderr, "draws-d3d11: %s gives %#lx\n", what, static_cast<unsigned long>(result));
  ExitProcess(70);
}

template <typename Child>
Child* Named(Child* child, std::string_view name) {
  Check(
      child->SetPrivateData(WKPDID_D3DDebugObjectName, static_cast<UINT>(name.size()), name.data()),
      "SetPrivateData");
  return child;
}

struct Gpu {
  ID3D11Device* device = nullptr;
  ID3D11DeviceContext* context = nullptr;
  ID3D11VertexShader* placed = nullptr;
  ID3D11PixelShader* solid = nullptr;
  ID3D11PixelShader* endless = nullptr;
  ID3D11ComputeShader* fill = nullptr;
  ID3D11Texture2D* scene = nullptr;
  ID3D11RenderTargetView* target = nullptr;
  ID3D11Texture2D* scene_read = nullptr;
  ID3D11Buffer* words = nullptr;
  ID3D11UnorderedAccessView* words_view = nullptr;
  ID3D11Buffer* words_read = nullptr;
  ID3D11Buffer* fill_constants = nullptr;
  ID3D11Buffer* aside = nullptr;
  std::array<ID3D11DeviceContext*, kThreads> deferred = {};
  std::array<ID3D11Buffer*, kThreads + 1> constants = {};  // the last is the immediate context's
  ID3D11DeviceContext1* context1 = nullptr;
  ID3DDeviceContextState* other_state = nullptr;
};

ID3D11Buffer* MakeBuffer(ID3D11Device* device, UINT bytes, D3D11_USAGE usage, UINT bind,
                         UINT access, UINT flags) {
  const D3D11_BUFFER_DESC desc = {bytes, usage, bind, access, flags, 0};
  ID3D11Buffer* buffer = nullptr;
  Check(device->CreateBuffer(&desc, nullptr, &buffer), "CreateBuffer");
  return buffer;
}

void MakeScene(Gpu* gpu) {
  D3D11_TEXTURE2D_DESC desc = {};
  desc.Width = desc.Height = kSize;
  desc.MipLevels = desc.ArraySize = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.BindFlags = D3D11_BIND_RENDER_TARGET;
  Check(gpu->device->CreateTexture2D(&desc, nullptr, &gpu->scene), "CreateTexture2D");
  Named(gpu->scene, "Scene");
  Check(gpu->device->CreateRenderTargetView(gpu->scene, nullptr, &gpu->target),
        "CreateRenderTargetView");
  desc.BindFlags = 0;
  desc.Usage = D3D11_USAGE_STAGING;
  desc.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
  Check(gpu->device->CreateTexture2D(&desc, nullptr, &gpu->scene_read), "CreateTexture2D");
}

void MakeWords(Gpu* gpu) {
  gpu->words = MakeBuffer(gpu->device, kWords * 4, D3D11_USAGE_DEFAULT, D3D11_BIND_UNORDERED_ACCESS,
                          0, D3D11_RESOURCE_MISC_BUFFER_ALLOW_RAW_VIEWS);
  gpu->words_read =
      MakeBuffer(gpu->device, kWords * 4, D3D11_USAGE_STAGING, 0, D3D11_CPU_ACCESS_READ, 0);
  for (ID3D11Buffer** const buffer : {&gpu->fill_constants, &gpu->aside}) {
    *buffer = MakeBuffer(gpu->device, sizeof(Fill), D3D11_USAGE_DEFAULT, D3D11_BIND_CONSTANT_BUFFER,
                         0, 0);
  }
  D3D11_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D11_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = kWords;
  view.Buffer.Flags = D3D11_BUFFER_UAV_FLAG_RAW;
  Check(gpu->device->CreateUnorderedAccessView(gpu->words, &view, &gpu->words_view),
        "CreateUnorderedAccessView");
}

Gpu MakeGpu() {
  Gpu gpu;
  const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
  Check(D3D11CreateDevice(nullptr, D3D_DRIVER_TYPE_HARDWARE, nullptr, 0, &level, 1,
                          D3D11_SDK_VERSION, &gpu.device, nullptr, &gpu.context),
        "D3D11CreateDevice");
  ID3D11Device* const device = gpu.device;
  Check(device->CreateVertexShader(kSolidVsDxbc, sizeof(kSolidVsDxbc), nullptr, &gpu.placed),
        "CreateVertexShader");
  Check(device->CreatePixelShader(kSolidPsDxbc, sizeof(kSolidPsDxbc), nullptr, &gpu.solid),
        "CreatePixelShader");
  Check(device->CreatePixelShader(kHangPsDxbc, sizeof(kHangPsDxbc), nullptr, &gpu.endless),
        "CreatePixelShader");
  Check(device->CreateComputeShader(kFillCsDxbc, sizeof(kFillCsDxbc), nullptr, &gpu.fill),
        "CreateComputeShader");
  Named(gpu.placed, "Placed triangle");
  Named(gpu.solid, "Solid colour");
  Named(gpu.endless, "Endless loop");
  Named(gpu.fill, "Fill");
  MakeScene(&gpu);
  MakeWords(&gpu);
  for (ID3D11DeviceContext*& deferred : gpu.deferred) {
    Check(device->CreateDeferredContext(0, &deferred), "CreateDeferredContext");
  }
  for (ID3D11Buffer*& constants : gpu.constants) {
    constants = MakeBuffer(device, sizeof(Constants), D3D11_USAGE_DYNAMIC,
                           D3D11_BIND_CONSTANT_BUFFER, D3D11_CPU_ACCESS_WRITE, 0);
  }
  return gpu;
}

// Makes the objects of "states".
void MakeStates(Gpu* gpu) {
  ID3D11Device1* device = nullptr;
  ID3D11Multithread* protection = nullptr;
  const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
  Check(gpu->device->QueryInterface(IID_PPV_ARGS(&device)), "ID3D11Device1");
  Check(gpu->context->QueryInterface(IID_PPV_ARGS(&gpu->context1)), "ID3D11DeviceContext1");
  Check(gpu->context->QueryInterface(IID_PPV_ARGS(&protection)), "ID3D11Multithread");
  Check(device->CreateDeviceContextState(0, &level, 1, D3D11_SDK_VERSION, __uuidof(ID3D11Device1),
                                         nullptr, &gpu->other_state),
        "CreateDeviceContextState");
  protection->SetMultithreadProtected(TRUE);
}

// Makes the swap chain of "times": a visible window, and the usual number of buffers.
IDXGISwapChain* MakeSwapChain(ID3D11Device* device) {
  const HWND window = CreateWindowW(L"static", L"draws-d3d11", WS_POPUP | WS_VISIBLE, 0, 0, 64, 64,
                                    nullptr, nullptr, GetModuleHandleW(nullptr), nullptr);
  IDXGIDevice* dxgi = nullptr;
  IDXGIAdapter* adapter = nullptr;
  IDXGIFactory* factory = nullptr;
  IDXGISwapChain* chain = nullptr;
  Check(device->QueryInterface(IID_PPV_ARGS(&dxgi)), "IDXGIDevice");
  Check(dxgi->GetAdapter(&adapter), "GetAdapter");
  Check(adapter->GetParent(IID_PPV_ARGS(&factory)), "GetParent");
  DXGI_SWAP_CHAIN_DESC desc = {};
  desc.BufferDesc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT;
  desc.BufferCount = 2;
  desc.OutputWindow = window;
  desc.Windowed = TRUE;
  desc.SwapEffect = DXGI_SWAP_EFFECT_DISCARD;
  Check(factory->CreateSwapChain(device, &desc, &chain), "CreateSwapChain");
  return chain;
}

class Event {
 public:
  Event(ID3D11DeviceContext* context, const wchar_t* name) {
    if (FAILED(context->QueryInterface(__uuidof(ID3DUserDefinedAnnotation),
                                       reinterpret_cast<void**>(&annotation_)))) {
      return;
    }
    annotation_->BeginEvent(name);
  }
  ~Event() {
    if (annotation_ == nullptr) return;
    annotation_->EndEvent();
    annotation_->Release();
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

 private:
  ID3DUserDefinedAnnotation* annotation_ = nullptr;
};

void BindState(const Gpu& gpu, ID3D11DeviceContext* context, ID3D11Buffer* constants) {
  const D3D11_VIEWPORT viewport = {0, 0, kSize, kSize, 0, 1};
  context->RSSetViewports(1, &viewport);
  context->OMSetRenderTargets(1, &gpu.target, nullptr);
  context->IASetPrimitiveTopology(D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  context->VSSetShader(gpu.placed, nullptr, 0);
  context->PSSetShader(gpu.solid, nullptr, 0);
  context->VSSetConstantBuffers(0, 1, &constants);
  context->PSSetConstantBuffers(0, 1, &constants);
}

void SetConstants(ID3D11DeviceContext* context, ID3D11Buffer* buffer, const void* constants) {
  D3D11_MAPPED_SUBRESOURCE mapped = {};
  Check(context->Map(buffer, 0, D3D11_MAP_WRITE_DISCARD, 0, &mapped), "Map");
  memcpy(mapped.pData, constants, sizeof(Constants));
  context->Unmap(buffer, 0);
}

// Draw number `i` of a frame: small, at a place and in a colour of its own.
void DrawOne(ID3D11DeviceContext* context, ID3D11Buffer* buffer, UINT frame, UINT i) {
  const UINT mixed = (i * 2654435761u) ^ (frame * 40503u);
  const auto part = [mixed](int shift) {
    return static_cast<float>(mixed >> shift & 255) / 255.0f;
  };
  const Constants constants = {{part(0) * 2 - 1, part(8) * 2 - 1, 0.03f, 0.03f},
                               {part(4), part(12), part(20), 1}};
  SetConstants(context, buffer, &constants);
  context->Draw(3, 0);
}

ID3D11CommandList* RecordPart(const Gpu& gpu, UINT thread, UINT frame, UINT draws) {
  ID3D11DeviceContext* const context = gpu.deferred[thread];
  BindState(gpu, context, gpu.constants[thread]);
  {
    const std::wstring name = L"Part " + std::to_wstring(thread);
    const Event event(context, name.c_str());
    for (UINT i = 0; i < draws; ++i) {
      DrawOne(context, gpu.constants[thread], frame, thread * draws + i);
    }
  }
  ID3D11CommandList* list = nullptr;
  Check(context->FinishCommandList(FALSE, &list), "FinishCommandList");
  return list;
}

void DrawDeferred(const Gpu& gpu, UINT frame, UINT draws) {
  const Event event(gpu.context, L"Shadows");
  std::array<ID3D11CommandList*, kThreads> lists = {};
  {
    std::array<std::jthread, kThreads> threads;
    for (UINT i = 0; i < kThreads; ++i) {
      threads[i] = std::jthread([&, i] { lists[i] = RecordPart(gpu, i, frame, draws / kThreads); });
    }
  }
  for (ID3D11CommandList* const list : lists) {
    gpu.context->ExecuteCommandList(list, FALSE);
    list->Release();
  }
}

// Draws with hang.ps.hlsl, for this number of trips.
void DrawLooping(const Gpu& gpu, UINT trips_per_pixel, UINT vertices) {
  const UINT trips[8] = {trips_per_pixel, 1};
  Constants whole = {{0, 0, 3, 3}, {0, 0, 0, 1}};
  // The places are those of the vertex shader; the loop's length is read from another buffer.
  SetConstants(gpu.context, gpu.constants[0], trips);
  SetConstants(gpu.context, gpu.constants[kThreads], &whole);
  gpu.context->PSSetConstantBuffers(0, 1, &gpu.constants[0]);
  gpu.context->PSSetShader(gpu.endless, nullptr, 0);
  gpu.context->Draw(vertices, 0);
}

// From one state of the context to the other, and back the next time.
void SwapStates(Gpu* gpu) {
  ID3DDeviceContextState* before = nullptr;
  gpu->context1->SwapDeviceContextState(gpu->other_state, &before);
  gpu->other_state->Release();
  gpu->other_state = before;
}

void DrawImmediate(Gpu* gpu, UINT frame, UINT draws, std::string_view how) {
  const Event event(gpu->context, L"Opaque");
  ID3D11Buffer* const constants = gpu->constants[kThreads];
  BindState(*gpu, gpu->context, constants);
  for (UINT i = 1; i <= draws; ++i) {
    const bool swaps = how == "states" && (i == draws / 4 || i == draws * 3 / 4);
    if (swaps) SwapStates(gpu);
    if (swaps && i == draws / 4) BindState(*gpu, gpu->context, constants);
    if ((how == "hang" || how == "lose") && i == kHungDraw) {
      DrawLooping(*gpu, how == "hang" ? 65535 : 1, how == "hang" ? 3 : kLosingVertices);
      BindState(*gpu, gpu->context, constants);
    } else {
      DrawOne(gpu->context, constants, frame, draws + i);
    }
  }
}

// Uses the immediate context on a second thread, without an effect on pictures.
void UseContextAside(const Gpu& gpu) {
  const Fill unused = {};
  for (UINT i = 0; i < 100; ++i) {
    gpu.context->UpdateSubresource(gpu.aside, 0, nullptr, &unused, 0, 0);
  }
}

void DispatchFill(const Gpu& gpu, UINT frame) {
  const Event event(gpu.context, L"Fill");
  const Fill fill = {frame * 100, 0, kWords, 0};
  gpu.context->UpdateSubresource(gpu.fill_constants, 0, nullptr, &fill, 0, 0);
  gpu.context->CSSetShader(gpu.fill, nullptr, 0);
  gpu.context->CSSetConstantBuffers(0, 1, &gpu.fill_constants);
  gpu.context->CSSetUnorderedAccessViews(0, 1, &gpu.words_view, nullptr);
  gpu.context->Dispatch(kWords / 64, 1, 1);
}

void End(std::string_view how) {
  if (how == "write") *reinterpret_cast<volatile int*>(0x1230) = 1;
  if (how == "raise") RaiseException(0xe0001234, 0, 0, nullptr);
  if (how == "terminate") TerminateProcess(GetCurrentProcess(), 77);
}

void DrawFrame(Gpu* gpu, UINT frame, UINT draws, std::string_view how) {
  const std::wstring name = L"Frame " + std::to_wstring(frame);
  const Event event(gpu->context, name.c_str());
  const float grey[4] = {0.2f, 0.2f, 0.2f, 1};
  gpu->context->ClearRenderTargetView(gpu->target, grey);
  DrawDeferred(*gpu, frame, draws);
  std::jthread aside;
  if (how == "states") aside = std::jthread([gpu] { UseContextAside(*gpu); });
  DrawImmediate(gpu, frame, draws, how);
  End(how);
  DispatchFill(*gpu, frame);
  gpu->context->CopyResource(gpu->scene_read, gpu->scene);
  gpu->context->CopyResource(gpu->words_read, gpu->words);
}

// FNV-1a.
void AddTo(uint64_t* sum, const void* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    *sum = (*sum ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3;
  }
}

uint64_t SumOf(const Gpu& gpu, ID3D11Resource* resource, UINT rows, UINT row_bytes) {
  D3D11_MAPPED_SUBRESOURCE mapped = {};
  Check(gpu.context->Map(resource, 0, D3D11_MAP_READ, 0, &mapped), "Map");
  uint64_t sum = 0xcbf29ce484222325;
  for (UINT row = 0; row < rows; ++row) {
    AddTo(&sum, static_cast<const char*>(mapped.pData) + row * mapped.RowPitch, row_bytes);
  }
  gpu.context->Unmap(resource, 0);
  return sum;
}

// Asks until the device is removed. (A Map that waits for the GPU does not always return then, on DXVK 2.6.)
int WaitForRemoval(const Gpu& gpu) {
  HRESULT reason = S_OK;
  while ((reason = gpu.device->GetDeviceRemovedReason()) == S_OK) SwitchToThread();
  printf("removed: %#lx\n", static_cast<unsigned long>(reason));
  return 6;
}

double NowMs() {
  LARGE_INTEGER now, frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  return 1000.0 * static_cast<double>(now.QuadPart) / static_cast<double>(frequency.QuadPart);
}

// Returns the processor time of all threads of this process.
double ProcessorMs() {
  FILETIME start, end, kernel, user;
  GetProcessTimes(GetCurrentProcess(), &start, &end, &kernel, &user);
  const auto ticks = [](const FILETIME& time) {
    return static_cast<double>(uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime);
  };
  return (ticks(kernel) + ticks(user)) / 1e4;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view how = count > 1 ? words[1] : "image";
  UINT frames = count > 2 ? strtoul(words[2], nullptr, 10) : 3;
  const UINT draws = count > 3 ? strtoul(words[3], nullptr, 10) : 40;
  if (how == "wait") frames = ~0u;
  Gpu gpu = MakeGpu();
  if (how == "states") MakeStates(&gpu);
  IDXGISwapChain* const chain = how == "times" ? MakeSwapChain(gpu.device) : nullptr;
  constexpr UINT kWarmUp = 10;
  double processor_ms = 0;
  for (UINT frame = 1; frame <= frames; ++frame) {
    const double start = NowMs();
    if (frame == kWarmUp + 1) processor_ms = ProcessorMs();
    DrawFrame(&gpu, frame, draws, frame == frames || how == "states" ? how : "");
    gpu.context->Flush();
    if (chain != nullptr) Check(chain->Present(0, 0), "Present");
    if (how == "lose" && frame == frames) return WaitForRemoval(gpu);
    const uint64_t picture = SumOf(gpu, gpu.scene_read, kSize, kSize * 4);
    const uint64_t buffer = SumOf(gpu, gpu.words_read, 1, kWords * 4);
    if (how == "image" || how == "states") {
      printf("frame %u: picture %016llx, buffer %016llx\n", frame,
             static_cast<unsigned long long>(picture), static_cast<unsigned long long>(buffer));
    }
    if (how == "times") printf("frame %u: %.2f ms\n", frame, NowMs() - start);
    if (how == "wait" && frame == 2) printf("ready %lu\n", GetCurrentProcessId());
    fflush(stdout);
  }
  if (how == "times" && frames > kWarmUp) {
    printf("processor: %.2f ms\n", (ProcessorMs() - processor_ms) / (frames - kWarmUp));
  }
  return 0;
}
