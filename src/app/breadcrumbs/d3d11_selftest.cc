// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d11_selftest.h"

#include <array>
#include <thread>
#include <utility>

#include "embedded/hang.ps.dxbc.h"
#include "embedded/triangle.vs.dxbc.h"
#include "os/clock.h"

namespace cairn {
namespace {

constexpr uint64_t kTimeoutNs = 2'000'000'000;
// The shortest draw that is distinguishable from none on any machine.
constexpr uint64_t kLongDrawNs = 20'000'000;
// A query may say later what a marker has said, but not so late.
constexpr uint64_t kQueryDelayNs = 100'000'000;
constexpr uint64_t kDrawTimeoutNs = 10'000'000'000;
constexpr uint32_t kSide = 512;
constexpr uint32_t kFewestTrips = 16;
constexpr uint32_t kMostTrips = 65536;  // lavapipe leaves loops then
constexpr uint32_t kTripsFactor = 4;
constexpr uint64_t kTestValue = 0x6361'6972'6e00'0000;

// A triangle in a picture of its own whose pixels loop.
class SlowDraw {
 public:
  Status Open(const D3D11Objects& objects) {
    ID3D11Device& device = *objects.device.get();
    context_ = objects.context;
    CAIRN_RETURN_IF_ERROR(
        StatusOf("CreateVertexShader",
                 device.CreateVertexShader(
                     kTriangleVsDxbc, sizeof(kTriangleVsDxbc), nullptr,
                     reinterpret_cast<ID3D11VertexShader**>(vertex_shader_.Receive()))));
    CAIRN_RETURN_IF_ERROR(StatusOf(
        "CreatePixelShader",
        device.CreatePixelShader(kHangPsDxbc, sizeof(kHangPsDxbc), nullptr,
                                 reinterpret_cast<ID3D11PixelShader**>(pixel_shader_.Receive()))));
    const D3D11_BUFFER_DESC constants = {16, D3D11_USAGE_DEFAULT, D3D11_BIND_CONSTANT_BUFFER, 0, 0,
                                         0};
    CAIRN_RETURN_IF_ERROR(
        StatusOf("CreateBuffer",
                 device.CreateBuffer(&constants, nullptr,
                                     reinterpret_cast<ID3D11Buffer**>(constants_.Receive()))));
    const D3D11_TEXTURE2D_DESC picture = {kSide,
                                          kSide,
                                          1,
                                          1,
                                          DXGI_FORMAT_R8G8B8A8_UNORM,
                                          {1, 0},
                                          D3D11_USAGE_DEFAULT,
                                          D3D11_BIND_RENDER_TARGET,
                                          0,
                                          0};
    ComPtr<ID3D11Texture2D> texture;
    CAIRN_RETURN_IF_ERROR(
        StatusOf("CreateTexture2D",
                 device.CreateTexture2D(&picture, nullptr,
                                        reinterpret_cast<ID3D11Texture2D**>(texture.Receive()))));
    CAIRN_RETURN_IF_ERROR(
        StatusOf("CreateRenderTargetView",
                 device.CreateRenderTargetView(
                     texture.get(), nullptr,
                     reinterpret_cast<ID3D11RenderTargetView**>(target_.Receive()))));
    const D3D11_QUERY_DESC done = {D3D11_QUERY_EVENT, 0};
    return StatusOf("CreateQuery(D3D11_QUERY_EVENT)",
                    device.CreateQuery(&done, reinterpret_cast<ID3D11Query**>(done_.Receive())));
  }

  void Draw(uint32_t trips) {
    const uint32_t values[4] = {trips, 1, 0, 0};
    context_->UpdateSubresource(constants_.get(), 0, nullptr, values, 0, 0);
    ID3D11RenderTargetView* const target = target_.get();
    ID3D11Buffer* const constants = constants_.get();
    const D3D11_VIEWPORT viewport = {0, 0, kSide, kSide, 0, 1};
    context_->OMSetRenderTargets(1, &target, nullptr);
    context_->RSSetViewports(1, &viewport);
    context_->IASetPrimitiveTopology(D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
    context_->VSSetShader(vertex_shader_.get(), nullptr, 0);
    context_->PSSetShader(pixel_shader_.get(), nullptr, 0);
    context_->PSSetConstantBuffers(0, 1, &constants);
    context_->Draw(3, 0);
    context_->End(done_.get());
  }

  // Waits until the last draw is done. Returns false if that takes too long.
  bool Wait() const {
    const uint64_t end_ns = MonotonicNs() + kDrawTimeoutNs;
    while (context_->GetData(done_.get(), nullptr, 0, 0) == S_FALSE) {
      if (MonotonicNs() > end_ns) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  ComPtr<ID3D11DeviceContext> context_;
  ComPtr<ID3D11VertexShader> vertex_shader_;
  ComPtr<ID3D11PixelShader> pixel_shader_;
  ComPtr<ID3D11Buffer> constants_;
  ComPtr<ID3D11RenderTargetView> target_;
  ComPtr<ID3D11Query> done_;
};

// A draw with a number of trips, between markers.
class Round {
 public:
  Round(const D3D11MarkerWay& way, uint32_t number) : way_(way) {
    for (uint32_t slot = 0; slot < kD3D11TestSlots; ++slot) {
      values_[slot] = kTestValue + number * kD3D11TestSlots + slot;
    }
  }

  Status Record(SlowDraw& draw, uint32_t trips) const {
    CAIRN_RETURN_IF_ERROR(way_.write(PipeLocation::kTop, 0, values_[0]));
    draw.Draw(trips);
    CAIRN_RETURN_IF_ERROR(way_.write(PipeLocation::kTop, 1, values_[1]));
    return way_.write(PipeLocation::kBottom, 2, values_[2]);
  }

  // Waits until the bottom marker has arrived; reads slots from the last to the first, so that a
  // value that is missing was missing when the ones after it had arrived.
  Status Watch() {
    const uint64_t end_ns = MonotonicNs() + kTimeoutNs;
    uint64_t started_ns = 0;
    for (;;) {
      const bool bottom = Arrived(2);
      const bool top = Arrived(1);
      const bool first = Arrived(0);
      const uint64_t now_ns = MonotonicNs();
      if (first && started_ns == 0) started_ns = now_ns;
      if (top && !bottom) top_early_ = true;
      if (bottom && !(top && first)) return Missing("arrived before a top marker in front of it");
      if (bottom) {
        waited_ns_ = now_ns - started_ns;
        return Status();
      }
      if (now_ns > end_ns) return Missing("did not arrive in 2 s");
      std::this_thread::yield();
    }
  }

  bool top_early() const { return top_early_; }
  // Returns the time from the first marker until the bottom one was seen.
  uint64_t waited_ns() const { return waited_ns_; }

 private:
  bool Arrived(uint32_t slot) const { return way_.read(slot) == values_[slot]; }
  Status Missing(const char* what) const {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("the bottom marker {}: read {:#x}, {:#x}, {:#x}, expected {:#x} and up", what,
                    way_.read(0), way_.read(1), way_.read(2), values_[0]));
  }

  const D3D11MarkerWay& way_;
  std::array<uint64_t, kD3D11TestSlots> values_{};
  bool top_early_ = false;
  uint64_t waited_ns_ = 0;
};

// Repeats the test with longer draws, until one is long enough to be observed.
Status Test(const D3D11Objects& objects, const D3D11MarkerWay& way, D3D11MarkerFinding* finding) {
  SlowDraw draw;
  CAIRN_RETURN_IF_ERROR(draw.Open(objects));
  bool first = true;  // in which pipelines are compiled
  uint32_t number = 0;
  for (uint32_t trips = kFewestTrips; trips <= kMostTrips; trips *= kTripsFactor) {
    Round round(way, number++);
    CAIRN_RETURN_IF_ERROR(round.Record(draw, trips));
    objects.context->Flush();
    CAIRN_RETURN_IF_ERROR(round.Watch());
    const uint64_t seen_ns = MonotonicNs();
    const bool done = draw.Wait();
    const uint64_t later_ns = MonotonicNs() - seen_ns;
    if (!done || later_ns > kQueryDelayNs) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("the draw before the bottom marker ended {} ms after it had arrived",
                      later_ns / 1'000'000));
    }
    finding->top_seen_early |= round.top_early();
    if (std::exchange(first, false) || round.waited_ns() < kLongDrawNs) continue;
    finding->works = true;
    finding->source.reason = fmt::format(
        "all values read back; the bottom marker came {} ms behind the top one before the draw, "
        "the "
        "top one behind the draw {}",
        round.waited_ns() / 1'000'000,
        finding->top_seen_early ? "while it ran" : "not before it ended");
    return Status();
  }
  return Status(StatusCode::kUnsupported,
                "the bottom marker was not seen to wait for the draw before it");
}

}  // namespace

D3D11MarkerFinding TestD3D11Markers(const D3D11Objects& objects, const D3D11MarkerWay& way) {
  D3D11MarkerFinding finding;
  const Status status = Test(objects, way, &finding);
  objects.context->ClearState();
  finding.source.name = way.name;
  finding.source.state = finding.works ? SourceState::kPresent : SourceState::kFailed;
  if (!finding.works) finding.source.reason = status.message();
  return finding;
}

}  // namespace cairn
