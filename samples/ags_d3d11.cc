// SPDX-License-Identifier: Apache-2.0
//
// A program written for AMD GPU Services: a Direct3D 11 device with breadcrumb markers. The five examples of the AGS
// documentation, each with one of its draws that takes too long, and its loop that reads the markers back after a
// present. The answers are checked against the truth, which this program knows. It has nothing of Cairn's but
// amd_ags_x64.dll, and one function of it: in which way markers are written.
#include <d3d11_1.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cairn/compat/amd_ags.h"

#include "command_line.h"
#include "embedded/hang.ps.dxbc.h"
#include "embedded/triangle.ps.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"
#include "sudden_end.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kWorks = 8;
constexpr uint32_t kHangingWork = 5;
constexpr uint32_t kMarkers = 1000;
constexpr uint64_t kTopValue = 0xDEADCAFE;
constexpr uint64_t kBottomValue = 0xDEADBEEF;
constexpr uint32_t kSide = 2048;
constexpr uint32_t kMostTrips = 65000;  // software drivers leave longer loops
// A draw without progress for this time hangs.
constexpr std::chrono::milliseconds kWatchdog(300);
constexpr std::chrono::seconds kTooLong(60);

// 'T' and 'B': markers, numbered from 1; 'X', 'Y', 'Z' and 'D': draws.
struct Example {
  const char* name;
  const char* commands;
};
constexpr Example kExamples[] = {{"Example 1", "TBBXBBT"},
                                 {"Example 2", "TXBTYB"},
                                 {"Example 3", "BXBYBZB"},
                                 {"Example 4", "TXTYTZ"},
                                 {"Example 5", "XTBYTB"}};

[[noreturn]] void Fail(const std::string& what) {
  std::fflush(stdout);
  fmt::print(stderr, "sample-ags-d3d11: {}\n", what);
  std::fflush(stderr);
  // The GPU may be at work: nothing is destroyed.
  std::_Exit(1);
}

void Check(HRESULT result, const char* call) {
  if (FAILED(result)) Fail(fmt::format("{}: {:#x}", call, static_cast<uint32_t>(result)));
}

bool IsMarker(char command) {
  return command == 'T' || command == 'B';
}

uint32_t WorksIn(const std::string& commands) {
  return static_cast<uint32_t>(
      std::count_if(commands.begin(), commands.end(), [](char c) { return !IsMarker(c); }));
}

HWND MakeWindow() {
  const HWND window =
      CreateWindowExW(0, L"STATIC", L"sample-ags-d3d11", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0,
                      256, 256, nullptr, nullptr, nullptr, nullptr);
  if (window == nullptr) Fail("there is no window");
  return window;
}

class Scene {
 public:
  Scene();
  // Finds out how often the slow draw has to loop to take so long.
  void Calibrate(double seconds);
  // Records and executes `commands`, of which draw number `hanging` takes too long, and looks at the slots when nothing
  // moves any more; `then` is called before the draw ends.
  void Run(const std::string& commands, uint32_t hanging, const std::function<void()>& then);
  // Draws and presents as the documentation's loop does, until a present fails; draw number `losing` of each frame has
  // `vertices`. Gives what Present said.
  HRESULT RunUntilLost(const std::string& commands, uint32_t losing, uint32_t vertices);
  // "" or what contradicts the truth. `sentence` is what follows.
  std::string Conclude(std::string* sentence) const;

  // Return the slots that Run read.
  uint64_t Slot(uint32_t number) const { return seen_[number]; }
  bool Written(uint32_t number) const { return Slot(number) != CAIRN_MARKER_UNWRITTEN; }

 private:
  ID3D11Buffer* Constants(uint32_t trips);
  void MakePicture();
  void WriteMarker(uint32_t number, AGSBreadcrumbMarker::Type type);
  void Draw(bool slow, uint32_t vertices = 3);
  void Record();
  double SecondsOf(uint32_t trips);
  void SetTrips(double trips);
  void WaitForGpu();
  std::vector<uint64_t> SlotsNow() const;
  bool HaveArrivedBefore() const;
  void SeeWhenNothingMoves();
  bool Try(const std::function<void()>& then);

  AGSContext* ags_ = nullptr;
  CairnAgsBreadcrumbs breadcrumbs_ = {};
  ID3D11Device* device_ = nullptr;
  ID3D11DeviceContext* context_ = nullptr;
  ID3DUserDefinedAnnotation* annotation_ = nullptr;
  IDXGISwapChain* swap_chain_ = nullptr;
  const volatile uint64_t* slots_ = nullptr;
  ID3D11RenderTargetView* picture_ = nullptr;
  ID3D11VertexShader* vertex_shader_ = nullptr;
  ID3D11PixelShader* quick_ = nullptr;
  ID3D11PixelShader* slow_ = nullptr;
  ID3D11Buffer* constants_ = nullptr;  // of the slow one
  uint32_t trips_ = 1;

  std::string commands_;
  uint32_t hanging_ = 0;
  uint32_t losing_vertices_ = 0;  // of that draw, if it loses the device; otherwise it loops
  uint32_t first_slot_ = 0;
  uint32_t next_slot_ = 0;
  std::vector<uint64_t> seen_;
};

const char* WordsOf(CairnAgsWay way) {
  switch (way) {
    case CAIRN_AGS_AMD_LIBRARY: return "AMD's library";
    case CAIRN_AGS_VULKAN_LAYER: return "the Vulkan layer";
    case CAIRN_AGS_COMPLETION: return "what the API can order";
    case CAIRN_AGS_NONE: break;
  }
  return "nobody";
}

Scene::Scene() {
  if (agsInitialize(AGS_CURRENT_VERSION, nullptr, &ags_, nullptr) != AGS_SUCCESS) {
    Fail("agsInitialize fails");
  }
  DXGI_SWAP_CHAIN_DESC swap_chain = {};
  swap_chain.BufferDesc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  swap_chain.SampleDesc.Count = 1;
  swap_chain.BufferUsage = DXGI_USAGE_RENDER_TARGET_OUTPUT;
  swap_chain.BufferCount = 2;
  swap_chain.OutputWindow = MakeWindow();
  swap_chain.Windowed = TRUE;
  const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
  AGSDX11DeviceCreationParams creation = {};
  creation.DriverType = D3D_DRIVER_TYPE_HARDWARE;
  creation.pFeatureLevels = &level;
  creation.FeatureLevels = 1;
  creation.SDKVersion = D3D11_SDK_VERSION;
  creation.pSwapChainDesc = &swap_chain;
  AGSDX11ExtensionParams extensions = {};
  extensions.pAppName = L"sample-ags-d3d11";
  extensions.numBreadcrumbMarkers = kMarkers;
  AGSDX11ReturnedParams returned = {};
  const AGSReturnCode code =
      agsDriverExtensionsDX11_CreateDevice(ags_, &creation, &extensions, &returned);
  if (code != AGS_SUCCESS) {
    Fail(fmt::format("agsDriverExtensionsDX11_CreateDevice: {}", static_cast<int>(code)));
  }
  if (returned.extensionsSupported.breadcrumbMarkers == 0) Fail("there are no breadcrumb markers");
  device_ = returned.pDevice;
  context_ = returned.pImmediateContext;
  swap_chain_ = returned.pSwapChain;
  slots_ = static_cast<const volatile uint64_t*>(returned.breadcrumbBuffer);
  if (cairnAgsDescribeBreadcrumbs(ags_, &breadcrumbs_) != AGS_SUCCESS) Fail("no way is told");
  fmt::print(
      "Markers are written by {}; top of pipe {}, {}\n", WordsOf(breadcrumbs_.way),
      breadcrumbs_.topOfPipe ? "is told" : "is not told",
      breadcrumbs_.topSeenEarly ? "seen before a draw ended" : "not seen before a draw ended");
  Check(context_->QueryInterface(__uuidof(ID3DUserDefinedAnnotation),
                                 reinterpret_cast<void**>(&annotation_)),
        "ID3DUserDefinedAnnotation");
  Check(device_->CreateVertexShader(kTriangleVsDxbc, sizeof(kTriangleVsDxbc), nullptr,
                                    &vertex_shader_),
        "CreateVertexShader");
  Check(device_->CreatePixelShader(kTrianglePsDxbc, sizeof(kTrianglePsDxbc), nullptr, &quick_),
        "CreatePixelShader");
  Check(device_->CreatePixelShader(kHangPsDxbc, sizeof(kHangPsDxbc), nullptr, &slow_),
        "CreatePixelShader");
  MakePicture();
}

void Scene::MakePicture() {
  D3D11_TEXTURE2D_DESC desc = {};
  desc.Width = desc.Height = kSide;
  desc.MipLevels = desc.ArraySize = 1;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  desc.BindFlags = D3D11_BIND_RENDER_TARGET;
  ID3D11Texture2D* texture = nullptr;
  Check(device_->CreateTexture2D(&desc, nullptr, &texture), "CreateTexture2D");
  Check(device_->CreateRenderTargetView(texture, nullptr, &picture_), "CreateRenderTargetView");
  texture->Release();
}

ID3D11Buffer* Scene::Constants(uint32_t trips) {
  const uint32_t values[4] = {trips, 1, 0, 0};
  const D3D11_BUFFER_DESC desc = {
      sizeof(values), D3D11_USAGE_DEFAULT, D3D11_BIND_CONSTANT_BUFFER, 0, 0, 0};
  const D3D11_SUBRESOURCE_DATA data = {values, 0, 0};
  ID3D11Buffer* buffer = nullptr;
  Check(device_->CreateBuffer(&desc, &data, &buffer), "CreateBuffer");
  return buffer;
}

void Scene::WriteMarker(uint32_t number, AGSBreadcrumbMarker::Type type) {
  AGSBreadcrumbMarker marker = {};
  marker.markerData = type == AGSBreadcrumbMarker::TopOfPipe ? kTopValue : kBottomValue;
  marker.type = type;
  marker.index = first_slot_ + number;
  if (agsDriverExtensionsDX11_WriteBreadcrumb(ags_, &marker) != AGS_SUCCESS) {
    Fail("agsDriverExtensionsDX11_WriteBreadcrumb fails");
  }
}

void Scene::Draw(bool slow, uint32_t vertices) {
  const D3D11_VIEWPORT viewport = {0, 0, kSide, kSide, 0, 1};
  context_->OMSetRenderTargets(1, &picture_, nullptr);
  context_->RSSetViewports(1, &viewport);
  context_->IASetPrimitiveTopology(D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  context_->VSSetShader(vertex_shader_, nullptr, 0);
  context_->PSSetShader(slow ? slow_ : quick_, nullptr, 0);
  context_->PSSetConstantBuffers(0, 1, &constants_);
  context_->Draw(vertices, 0);
}

void Scene::WaitForGpu() {
  const D3D11_QUERY_DESC desc = {D3D11_QUERY_EVENT, 0};
  ID3D11Query* query = nullptr;
  Check(device_->CreateQuery(&desc, &query), "CreateQuery");
  context_->End(query);
  context_->Flush();
  const Clock::time_point end = Clock::now() + kTooLong;
  BOOL done = FALSE;
  while (context_->GetData(query, &done, sizeof(done), 0) != S_OK) {
    if (Clock::now() > end) Fail("the GPU does not come to an end");
    std::this_thread::yield();
  }
  query->Release();
}

double Scene::SecondsOf(uint32_t trips) {
  SetTrips(trips);
  Draw(true);
  const Clock::time_point start = Clock::now();
  WaitForGpu();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Scene::SetTrips(double trips) {
  trips_ = static_cast<uint32_t>(std::min(trips, double{kMostTrips}));
  if (constants_ != nullptr) constants_->Release();
  constants_ = Constants(trips_);
}

void Scene::Calibrate(double seconds) {
  Draw(false);
  SecondsOf(1);  // what a device does only once shall not count
  uint32_t trips = 16;
  double measured = SecondsOf(trips);
  while (measured < 0.1 && trips < kMostTrips / 4) measured = SecondsOf(trips *= 4);
  SetTrips(trips * seconds / measured);
}

void Scene::Record() {
  annotation_->BeginEvent(L"Draw loop");
  uint32_t marker = 0;
  uint32_t work = 0;
  for (const char command : commands_) {
    if (IsMarker(command)) {
      WriteMarker(marker++, command == 'T' ? AGSBreadcrumbMarker::TopOfPipe
                                           : AGSBreadcrumbMarker::BottomOfPipe);
    } else {
      const bool hangs = work++ == hanging_;
      Draw(hangs && losing_vertices_ == 0, hangs && losing_vertices_ != 0 ? losing_vertices_ : 3);
    }
  }
  annotation_->EndEvent();
}

std::vector<uint64_t> Scene::SlotsNow() const {
  return {slots_ + first_slot_, slots_ + next_slot_};
}

// All markers before the draw that hangs: none of them waits for it.
bool Scene::HaveArrivedBefore() const {
  uint32_t marker = 0;
  uint32_t work = 0;
  for (const char command : commands_) {
    if (IsMarker(command)) {
      if (!Written(marker++)) return false;
    } else if (work++ == hanging_) {
      return true;
    }
  }
  return true;
}

void Scene::SeeWhenNothingMoves() {
  const Clock::time_point end = Clock::now() + kTooLong;
  seen_ = SlotsNow();
  Clock::time_point since = Clock::now();
  while (!HaveArrivedBefore() || Clock::now() - since < kWatchdog) {
    if (Clock::now() > end) Fail("markers that wait for nothing do not arrive");
    std::this_thread::yield();
    std::vector<uint64_t> now = SlotsNow();
    if (now == seen_) continue;
    seen_ = std::move(now);
    since = Clock::now();
  }
}

// False if the draw had ended, or was about to.
bool Scene::Try(const std::function<void()>& then) {
  // Uses new slots, so that unwritten ones are recognised.
  first_slot_ = next_slot_;
  next_slot_ += static_cast<uint32_t>(commands_.size()) - WorksIn(commands_);
  if (next_slot_ > kMarkers) Fail("no draw is long enough");
  Record();
  context_->Flush();
  // Before the present: Wine's own Direct3D asks the GPU nothing while one waits.
  SeeWhenNothingMoves();
  then();
  const Clock::time_point seen = Clock::now();
  Check(swap_chain_->Present(0, 0), "Present");
  WaitForGpu();
  return Clock::now() > seen + kWatchdog / 3;
}

void Scene::Run(const std::string& commands, uint32_t hanging, const std::function<void()>& then) {
  commands_ = commands;
  hanging_ = hanging;
  while (!Try(then)) SetTrips(2.0 * trips_);
}

HRESULT Scene::RunUntilLost(const std::string& commands, uint32_t losing, uint32_t vertices) {
  commands_ = commands;
  hanging_ = losing;
  losing_vertices_ = vertices;
  SetTrips(1);
  first_slot_ = next_slot_;
  next_slot_ += static_cast<uint32_t>(commands_.size()) - WorksIn(commands_);
  Record();
  HRESULT result = S_OK;
  while (result == S_OK) {
    context_->Flush();
    result = swap_chain_->Present(0, 0);
    // Waits like programs that are at most a frame ahead: a present waits for older ones, of which
    // a lost device ends none.
    const Clock::time_point end = Clock::now() + kTooLong;
    while (result == S_OK && device_->GetDeviceRemovedReason() == S_OK) {
      if (Clock::now() > end) Fail("no present fails: the device is not lost");
      std::this_thread::yield();
    }
  }
  seen_ = SlotsNow();
  return result;
}

std::string Scene::Conclude(std::string* sentence) const {
  const CairnRawCommandKind top =
      breadcrumbs_.topOfPipe ? CAIRN_RAW_TOP_MARKER : CAIRN_RAW_BOTTOM_MARKER;
  std::vector<CairnRawCommand> commands;
  std::string draws;
  std::string written;
  uint32_t markers = 0;
  for (const char command : commands_) {
    if (!IsMarker(command)) {
      commands.push_back({CAIRN_RAW_WORK, 0, 0});
      draws += command;
      continue;
    }
    if (Written(markers)) written += fmt::format(" {}", markers + 1);
    commands.push_back({command == 'T' ? top : CAIRN_RAW_BOTTOM_MARKER, markers++,
                        command == 'T' ? kTopValue : kBottomValue});
  }
  CairnRawVerdict verdicts[kWorks] = {};
  uint32_t count = kWorks;
  uint32_t consistent = 0;
  if (cairnInferFromMarkers(commands.data(), static_cast<uint32_t>(commands.size()), seen_.data(),
                            markers, 0, verdicts, &count, &consistent) != CAIRN_OK) {
    return cairnGetLastErrorMessage();
  }
  std::string may_run;
  for (uint32_t i = 0; i < count; ++i) {
    if (verdicts[i].state != CAIRN_RAW_MAY_RUN) continue;
    may_run += fmt::format(" Draw{}{}", draws[i], verdicts[i].likely != 0 ? "" : " (unlikely)");
  }
  *sentence =
      fmt::format("Draw{} hangs, written:{}, it may be:{}\n", draws[hanging_], written, may_run);
  if (consistent == 0) return "no order of execution leaves the slots like this";
  for (uint32_t i = 0; i < count; ++i) {
    const CairnRawState state = verdicts[i].state;
    if (i == hanging_ && (state != CAIRN_RAW_MAY_RUN || verdicts[i].likely == 0)) {
      return "the draw that hangs is not among the likely ones: " + std::string(verdicts[i].reason);
    }
    if (i > hanging_ && state == CAIRN_RAW_FINISHED) {
      return "a draw behind the one that hangs is said to have finished";
    }
    if (i < hanging_ && state == CAIRN_RAW_NOT_STARTED) {
      return "a draw before the one that hangs is said not to have started";
    }
  }
  return "";
}

void RunExamples(Scene& scene) {
  for (const Example& example : kExamples) {
    const std::string commands = example.commands;
    for (uint32_t hanging = 0; hanging < WorksIn(commands); ++hanging) {
      scene.Run(commands, hanging, [] {});
      fmt::print("{}: ", example.name);
      std::string sentence;
      const std::string problem = scene.Conclude(&sentence);
      fmt::print("{}", sentence);
      if (!problem.empty()) Fail(fmt::format("{}: {}", example.name, problem));
    }
  }
}

void PrintTable(const Scene& scene) {
  for (uint32_t i = 0; i < kWorks; ++i) {
    fmt::print("The draw count is {}; the top marker is {:016X} and the bottom marker is {:016X}\n",
               i, scene.Slot(2 * i), scene.Slot(2 * i + 1));
  }
  std::fflush(stdout);
}

// Records as the documentation shows: a top marker before each draw and a bottom marker behind it,
// read after a present.
void RunReadBack(Scene& scene, bool kill) {
  std::string commands;
  for (uint32_t i = 0; i < kWorks; ++i) commands += "TDB";
  scene.Run(commands, kHangingWork, [&] {
    if (!kill) return;
    PrintTable(scene);
    sample::EndSuddenly();
  });
  PrintTable(scene);
  // The draw's top marker can be lost with the device, as in the documentation's own table: the
  // conclusion then also names the draw that follows.
  std::string sentence;
  const std::string problem = scene.Conclude(&sentence);
  if (!problem.empty() || scene.Slot(2 * kHangingWork - 1) != kBottomValue ||
      scene.Written(2 * kHangingWork + 1)) {
    Fail(fmt::format("the markers around the draw that hangs are not what they should be. {}",
                     problem));
  }
}

// The same loop on a device that is lost in a draw, as drivers of GPUs lose it.
void RunUntilLost(Scene& scene, uint32_t vertices) {
  std::string commands;
  for (uint32_t i = 0; i < kWorks; ++i) commands += "TDB";
  const HRESULT result = scene.RunUntilLost(commands, kHangingWork, vertices);
  fmt::print("Present: {:#x}\n", static_cast<uint32_t>(result));
  PrintTable(scene);
  std::string sentence;
  const std::string problem = scene.Conclude(&sentence);
  fmt::print("{}", sentence);
  if (!problem.empty()) Fail(problem);
  std::fflush(stdout);
  std::_Exit(0);  // Work of a lost device never ends.
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line(
      "Runs the five examples of AGS breadcrumbs on Direct3D 11, and a loop that reads them back.");
  bool kill = false;
  double seconds = 2;
  line.Flag("--kill", &kill, "leave out the examples; end suddenly while the sixth draw hangs");
  uint32_t vertices = 0;
  line.Number("--lose", &vertices, 1, 1000000,
              "leave out the examples; the sixth draw has so many vertices, and the driver loses "
              "its device in it");
  line.Number("--seconds", &seconds, 1.0, 60.0, "how long a draw hangs, about");
  line.Read(argc, argv);
  Scene scene;
  if (vertices != 0) RunUntilLost(scene, vertices);
  scene.Calibrate(seconds);
  if (!kill) RunExamples(scene);
  RunReadBack(scene, kill);
  std::fflush(stdout);
  return 0;
}
