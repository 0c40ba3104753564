// SPDX-License-Identifier: Apache-2.0
//
// A program as others are: nothing of Cairn in it, only PIX events, named objects, and a bug. The
// third draw of the second pass takes longer than the watchdog waits, because its pixel shader loops.
// It ends by itself, so nothing needs a reboot.
//
//   d3dconfig device force-driver-retail-annotations=on
//   cairn run --hang-timeout 2 --kill-on-hang -- sample-annotated-hang-d3d12
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cairn/pix.h"

#include "d3d12_device.h"
#include "embedded/hang.ps.dxbc.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"
#include "work_clock.h"

namespace {

constexpr uint32_t kMaxSide = 2048;
constexpr uint32_t kTrips = 4096;
constexpr uint32_t kMaxTrips = 1u << 24;
constexpr double kLongEnoughToMeasure = 0.1;

// The pixels that the slow draw covers, and its trips in each.
struct Size {
  uint32_t side = 1;
  uint32_t trips = kTrips;
};

// More pixels until the picture is full, then more trips: a software driver ends long loops early.
Size SizeOf(double amount) {
  constexpr double kMaxPixels = double{kMaxSide} * kMaxSide;
  if (amount <= kMaxPixels) {
    return {static_cast<uint32_t>(std::max(1.0, std::sqrt(amount))), kTrips};
  }
  const double trips = std::min(kTrips * (amount / kMaxPixels), double{kMaxTrips});
  return {kMaxSide, static_cast<uint32_t>(trips)};
}

class Scene {
 public:
  Scene(sample::Gpu& gpu, sample::Queue& queue)
      : queue_(queue),
        shadows_(gpu, kMaxSide, kMaxSide, "Shadow atlas"),
        colours_(gpu, kMaxSide, kMaxSide, "Scene colours"),
        solid_(sample::CreateGraphicsPipeline(gpu, "Opaque",
                                              {"SolidVS", kSolidVsDxbc, sizeof(kSolidVsDxbc)},
                                              {"SolidPS", kSolidPsDxbc, sizeof(kSolidPsDxbc)}, 8)),
        fog_(sample::CreateGraphicsPipeline(gpu, "Volumetric fog",
                                            {"FogVS", kTriangleVsDxbc, sizeof(kTriangleVsDxbc)},
                                            {"FogPS", kHangPsDxbc, sizeof(kHangPsDxbc)}, 2)),
        list_(gpu, queue, "Main") {}

  // Finds out how large the slow draw must be to take `seconds` on this device.
  void Calibrate(double seconds) {
    double amount = 64;
    double measured_s = 0;
    MeasureFog();  // what a device does only once shall not count
    for (int attempt = 0; attempt < 28; ++attempt) {
      size_ = SizeOf(amount);
      measured_s = std::min(MeasureFog(), MeasureFog());
      if (measured_s >= kLongEnoughToMeasure) break;
      amount *= 2;
    }
    size_ = SizeOf(amount * seconds / measured_s);
  }

  void Record() {
    list_.Begin();
    PIXBeginEvent(list_.d3d12(), PIX_COLOR(0, 0, 160), "Frame %d", 1);
    PIXBeginEvent(list_.d3d12(), PIX_COLOR(0, 160, 0), "Shadows of %d lights", 2);
    shadows_.Begin(list_);
    for (uint32_t light = 0; light < 2; ++light) DrawSolid(light);
    PIXEndEvent(list_.d3d12());
    PIXBeginEvent(list_.d3d12(), PIX_COLOR(160, 0, 0), "Lighting");
    colours_.Begin(list_);
    DrawSolid(2);
    DrawSolid(3);
    DrawFog();
    DrawSolid(4);
    PIXEndEvent(list_.d3d12());
    PIXEndEvent(list_.d3d12());
    list_.End();
  }

  void Execute(double timeout_s) {
    queue_.Execute({&list_});
    queue_.WaitOrReportLoss(timeout_s);
  }

 private:
  void DrawSolid(uint32_t index) {
    const float x = -0.8f + 0.4f * static_cast<float>(index);
    const std::array<float, 8> constants = {x, 0, 0.2f, 0.2f, 1, 1, 1, 1};
    list_.SetPipeline(solid_);
    list_->SetGraphicsRoot32BitConstants(0, constants.size(), constants.data(), 0);
    list_->DrawInstanced(3, 1, 0, 0);
  }

  void DrawFog() {
    const uint32_t constants[] = {size_.trips, 1};
    const D3D12_RECT covered = {0, 0, static_cast<LONG>(size_.side), static_cast<LONG>(size_.side)};
    const D3D12_VIEWPORT viewport = {
        0, 0, static_cast<float>(size_.side), static_cast<float>(size_.side), 0, 1};
    list_.SetPipeline(fog_);
    list_->SetGraphicsRoot32BitConstants(0, 2, constants, 0);
    list_->RSSetViewports(1, &viewport);
    list_->RSSetScissorRects(1, &covered);
    list_->DrawInstanced(3, 1, 0, 0);
  }

  double MeasureFog() {
    list_.Begin();
    colours_.Begin(list_);
    DrawFog();
    list_.End();
    const sample::WorkClock clock;
    Execute(60);
    return clock.Seconds();
  }

  sample::Queue& queue_;
  sample::Picture shadows_;
  sample::Picture colours_;
  sample::Pipeline solid_;
  sample::Pipeline fog_;
  sample::List list_;
  Size size_;
};

void Run(const sample::Options& options, double seconds) {
  sample::Gpu gpu("sample-annotated-hang-d3d12", options);
  sample::Queue queue(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  Scene scene(gpu, queue);
  scene.Calibrate(seconds);
  scene.Record();
  fmt::print("sample-annotated-hang-d3d12: the third draw of \"Lighting\" runs for about {} s\n",
             seconds);
  std::fflush(stdout);
  scene.Execute(seconds * 4 + 30);
  fmt::print("sample-annotated-hang-d3d12: it is over\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line(
      "Names everything and draws something that outlasts the watchdog, without Cairn.");
  sample::Options options;
  sample::AddOptions(line, &options);
  double seconds = 15;
  line.Number("--seconds", &seconds, 0.1, 600.0, "how long the draw takes, about");
  line.Read(argc, argv);
  Run(options, seconds);
  return 0;
}
