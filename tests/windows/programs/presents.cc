// SPDX-License-Identifier: Apache-2.0
//
// presents ENDING: a program as others are, with a window, names and PIX events, and nothing of Cairn's. It shows three
// frames, and ends in the middle of the fourth, while the GPU is in the dispatch "Light culling". ENDING:
//   wait        says "ready PID", and waits to be killed
//   exception   writes to 0x1230, on a second thread
//   driver      the dispatch takes no more than seconds; behind it one stores far out of range, "Scatter", which faults
//               in a thread of lavapipe's
//   hang        waits for the dispatch, which takes long
// Or: presents frames COUNT shows so many, says how long one took in microseconds, and ends with 0.
//
// It is made twice: presents imports d3d12.dll and dxgi.dll, presents-late (late_direct3d.cc) loads them when it runs.
#include <dxgi1_4.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "cairn/pix.h"

#include "d3d12_work.h"
#include "d3d12abi/aggregates.h"
#include "embedded/fault.cs.dxbc.h"

namespace {

constexpr UINT kImages = 2;
constexpr UINT kSize = 256;
constexpr uint32_t kWords = 1024;
constexpr uint32_t kFramesBefore = 3;
constexpr double kSecondsBeforeFault = 2;
// Work measured while the machine is busy takes a fraction of the time later.
constexpr double kEndlessSeconds = 600;

class Window {
 public:
  Window(sample::Gpu& gpu, const sample::Queue& queue) : gpu_(gpu) {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);  // no box with a button
    const HWND window = CreateWindowW(L"STATIC", L"presents", WS_POPUP | WS_VISIBLE, 0, 0, kSize,
                                      kSize, nullptr, nullptr, nullptr, nullptr);
    sample::ComPtr<IDXGIFactory4> factory;
    sample::Check(CreateDXGIFactory1(__uuidof(IDXGIFactory4), factory.Receive()),
                  "CreateDXGIFactory1");
    DXGI_SWAP_CHAIN_DESC1 desc = {};
    desc.Width = desc.Height = kSize;
    desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    desc.SampleDesc.Count = 1;
    desc.BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT;
    desc.BufferCount = kImages;
    desc.SwapEffect = DXGI_SWAP_EFFECT_FLIP_DISCARD;
    sample::ComPtr<IDXGISwapChain1> chain;
    sample::Check(
        factory->CreateSwapChainForHwnd(queue.d3d12(), window, &desc, nullptr, nullptr,
                                        reinterpret_cast<IDXGISwapChain1**>(chain.Receive())),
        "CreateSwapChainForHwnd");
    sample::Check(chain->QueryInterface(__uuidof(IDXGISwapChain3), chain_.Receive()),
                  "IDXGISwapChain3");
    D3D12_DESCRIPTOR_HEAP_DESC heap = {};
    heap.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
    heap.NumDescriptors = 1;
    sample::Check(
        gpu.device()->CreateDescriptorHeap(&heap, __uuidof(ID3D12DescriptorHeap), views_.Receive()),
        "CreateDescriptorHeap");
  }

  // Makes the image that is next to be shown the list's target, and clears it.
  void Begin(const sample::List& list) {
    sample::Check(chain_->GetBuffer(chain_->GetCurrentBackBufferIndex(), __uuidof(ID3D12Resource),
                                    image_.Receive()),
                  "GetBuffer");
    const D3D12_CPU_DESCRIPTOR_HANDLE view = cairn::GetCpuStart(views_.get());
    gpu_.device()->CreateRenderTargetView(image_.get(), nullptr, view);
    sample::Transition(list, image_.get(), D3D12_RESOURCE_STATE_PRESENT,
                       D3D12_RESOURCE_STATE_RENDER_TARGET);
    constexpr float kBlue[4] = {0, 0, 1, 1};
    list->ClearRenderTargetView(view, kBlue, 0, nullptr);
  }
  void End(const sample::List& list) {
    sample::Transition(list, image_.get(), D3D12_RESOURCE_STATE_RENDER_TARGET,
                       D3D12_RESOURCE_STATE_PRESENT);
  }
  void Present() {
    image_ = {};
    sample::Check(chain_->Present(0, 0), "Present");
  }

 private:
  sample::Gpu& gpu_;
  sample::ComPtr<IDXGISwapChain3> chain_;
  sample::ComPtr<ID3D12DescriptorHeap> views_;
  sample::ComPtr<ID3D12Resource> image_;
};

struct Scene {
  Scene() : gpu("presents", {}), queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics"), window(gpu, queue) {}
  sample::Gpu gpu;
  sample::Queue queue;
  Window window;
  sample::Pipeline fill = sample::CreateFillPipeline(gpu);
  sample::Buffer buffer = gpu.CreateBuffer(kWords);
  sample::List list{gpu, queue, "Main"};
};

// Records the begin of a frame: `dispatches` that take no time.
void BeginFrame(Scene& scene, uint32_t dispatches) {
  scene.list.Begin();
  scene.window.Begin(scene.list);
  const sample::Scope pass(scene.list, CAIRN_MARKER_PASS, "Simulation");
  for (uint32_t i = 0; i < dispatches; ++i) {
    sample::DispatchFill(scene.list, "Forces", scene.fill, scene.buffer, {i, 0, kWords});
  }
}

void EndFrame(Scene& scene) {
  scene.window.End(scene.list);
  scene.list.End();
  scene.queue.Execute({&scene.list});
}

void ShowFrames(Scene& scene, uint32_t count, uint32_t dispatches) {
  for (uint32_t i = 0; i < count; ++i) {
    BeginFrame(scene, dispatches);
    EndFrame(scene);
    scene.window.Present();
    scene.queue.WaitOrReportLoss(20);
  }
}

void Measure(uint32_t count) {
  constexpr uint32_t kWarmUp = 20, kDispatches = 20;
  Scene scene;
  ShowFrames(scene, kWarmUp, kDispatches);
  const auto start = std::chrono::steady_clock::now();
  ShowFrames(scene, count, kDispatches);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  fmt::print("{:.1f}\n", took.count() / count);
}

// Stores far outside of the buffer, once the dispatch before it is done.
class Scatter {
 public:
  Scatter(sample::Gpu& gpu, const sample::Buffer& buffer)
      : pipeline_(sample::CreateComputePipeline(gpu, "Scatter",
                                                {"ScatterCS", kFaultCsDxbc, sizeof(kFaultCsDxbc)},
                                                2, sample::Output::kTyped)),
        views_(sample::CreateTooLargeView(gpu, buffer)) {}

  void Record(sample::List& list) const {
    ID3D12DescriptorHeap* const heap = views_.get();
    const uint32_t constants[] = {sample::kClaimedWords - 1, 7};
    list.Barrier();
    list->SetDescriptorHeaps(1, &heap);
    list.SetPipeline(pipeline_);
    list->SetComputeRoot32BitConstants(0, 2, constants, 0);
    list->SetComputeRootDescriptorTable(1, cairn::GetGpuStart(heap));
    const sample::Scope pass(list, CAIRN_MARKER_PASS, "Scatter");
    list->Dispatch(1, 1, 1);
  }

 private:
  sample::Pipeline pipeline_;
  sample::ComPtr<ID3D12DescriptorHeap> views_;
};

void BeginLastFrame(Scene& scene, const sample::SlowWork& slow, const Scatter* scatter) {
  BeginFrame(scene, 1);
  slow.Bind(scene.list);
  {
    const sample::Scope pass(scene.list, CAIRN_MARKER_PASS, "Light culling");
    slow.Dispatch(scene.list);
  }
  if (scatter != nullptr) scatter->Record(scene.list);
  EndFrame(scene);
}

// Returns once the GPU is in the slow dispatch, and Cairn may have seen it there.
void WaitUntilSlow(Scene& scene, const sample::SlowWork& slow) {
  while (!slow.Started()) std::this_thread::yield();
  scene.gpu.telling().MarkerArrived(0, 0);
}

void End(std::string_view ending) {
  Scene scene;
  const bool faults = ending == "driver";
  const sample::SlowWork slow(scene.gpu, scene.queue, "Light culling",
                              faults ? kSecondsBeforeFault : kEndlessSeconds);
  const Scatter scatter(scene.gpu, scene.buffer);
  ShowFrames(scene, kFramesBefore, 1);
  slow.ForgetResults();
  // On a thread of its own: Wine shows a frame while the next one is made, and keeps the queue to itself meanwhile. If
  // the slow dispatch came first, the thread that submits does not return before that is done.
  std::jthread ends([&] {
    WaitUntilSlow(scene, slow);
    if (ending == "exception") *reinterpret_cast<volatile int*>(0x1230) = 1;
    if (ending == "wait") {
      fmt::print("ready {}\n", GetCurrentProcessId());
      std::fflush(stdout);
    }
  });
  BeginLastFrame(scene, slow, faults ? &scatter : nullptr);
  scene.queue.WaitOrReportLoss(kEndlessSeconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view ending = argc > 1 ? argv[1] : "";
  if (ending == "frames" && argc > 2) {
    Measure(static_cast<uint32_t>(std::atoi(argv[2])));
    return 0;
  }
  if (ending != "wait" && ending != "exception" && ending != "driver" && ending != "hang") {
    sample::Fail("wants an ENDING; its source lists them");
  }
  End(ending);
  return 0;
}
