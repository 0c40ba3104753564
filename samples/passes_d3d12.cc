// SPDX-License-Identifier: Apache-2.0
//
// What a frame of an engine looks like to Cairn: nested passes, several lists, a second queue for
// compute work, a few hundred draws and dispatches. Everything completes, and the results are checked.
#include <fmt/format.h>

#include <array>

#include "d3d12_work.h"
#include "embedded/solid.ps.dxbc.h"
#include "embedded/solid.vs.dxbc.h"

namespace {

constexpr uint32_t kSize = 128;
constexpr uint32_t kColumns = 16;
constexpr uint32_t kOpaqueDraws = 192;
constexpr uint32_t kTransparentDraws = 64;
constexpr uint32_t kParticleDispatches = 100;
constexpr uint32_t kCullingDispatches = 50;
constexpr uint32_t kWordsPerDispatch = 64;

// Draw number `index` fills one cell of a grid with a colour of its own.
void DrawCell(const sample::List& list, uint32_t index) {
  const float cell = 2.0f / kColumns;
  const float x = -1.0f + cell * (static_cast<float>(index % kColumns) + 0.5f);
  const float y = -1.0f + cell * (static_cast<float>(index / kColumns) + 0.5f);
  const std::array<float, 8> constants = {
      x, y, cell / 2, cell / 2, static_cast<float>(index) / 255.0f, 1.0f, 0.0f, 1.0f};
  list->SetGraphicsRoot32BitConstants(0, constants.size(), constants.data(), 0);
  const sample::Scope draw(list, CAIRN_MARKER_DRAW_INSTANCED);
  list->DrawInstanced(3, 1, 0, 0);
}

uint32_t CellPixel(const sample::Picture& picture, uint32_t index) {
  constexpr uint32_t kCell = kSize / kColumns;
  const uint32_t row = kColumns - 1 - index / kColumns;  // y points up
  return picture.Pixel(index % kColumns * kCell + kCell / 2, row * kCell + kCell / 2);
}

void RecordScene(sample::List& list, const sample::Pipeline& pipeline, sample::Picture& picture) {
  list.Begin();
  {
    const sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      const sample::Scope pass(list, CAIRN_MARKER_PASS, "Geometry");
      picture.Begin(list);
      list.SetPipeline(pipeline);
      {
        const sample::Scope inner(list, CAIRN_MARKER_PASS, "Opaque");
        for (uint32_t i = 0; i < kOpaqueDraws; ++i) DrawCell(list, i);
      }
      const sample::Scope inner(list, CAIRN_MARKER_PASS, "Transparent");
      for (uint32_t i = 0; i < kTransparentDraws; ++i) DrawCell(list, kOpaqueDraws + i);
    }
    picture.CopyToCpu(list);
  }
  list.End();
}

void RecordPass(sample::List& list, const char* pass_name, const sample::Pipeline& fill,
                const sample::Buffer& buffer, uint32_t dispatch_count) {
  list.Begin();
  {
    const sample::Scope pass(list, CAIRN_MARKER_PASS, pass_name);
    for (uint32_t i = 0; i < dispatch_count; ++i) {
      const uint32_t first = i * kWordsPerDispatch;
      sample::DispatchFill(list, nullptr, fill, buffer, {first, first, kWordsPerDispatch});
    }
  }
  list.End();
}

void Run(const sample::Options& options) {
  sample::Gpu gpu("sample-passes-d3d12", options);
  sample::Queue graphics(gpu, CAIRN_QUEUE_DIRECT, "Graphics");
  sample::Queue compute(gpu, CAIRN_QUEUE_COMPUTE, "Async compute");
  const sample::Pipeline opaque =
      sample::CreateGraphicsPipeline(gpu, "Opaque", {"SolidVS", kSolidVsDxbc, sizeof(kSolidVsDxbc)},
                                     {"SolidPS", kSolidPsDxbc, sizeof(kSolidPsDxbc)}, 8);
  const sample::Pipeline fill = sample::CreateFillPipeline(gpu);
  sample::Picture picture(gpu, kSize, kSize);
  const sample::Buffer culling = gpu.CreateBuffer(kCullingDispatches * kWordsPerDispatch);
  const sample::Buffer particles = gpu.CreateBuffer(kParticleDispatches * kWordsPerDispatch);

  sample::List culling_list(gpu, graphics, "Culling");
  sample::List scene_list(gpu, graphics, "Scene");
  sample::List particle_list(gpu, compute, "Particles");
  RecordPass(culling_list, "Cull", fill, culling, kCullingDispatches);
  RecordScene(scene_list, opaque, picture);
  RecordPass(particle_list, "Simulate", fill, particles, kParticleDispatches);
  graphics.Execute({&culling_list, &scene_list});
  compute.Execute({&particle_list});
  graphics.WaitOrReportLoss(20);
  compute.WaitOrReportLoss(20);

  for (uint32_t i = 0; i < kOpaqueDraws + kTransparentDraws; ++i) {
    if (CellPixel(picture, i) != (0xff00ff00 | i)) sample::Fail(fmt::format("draw {} is wrong", i));
  }
  if (!sample::Filled(culling, {0, 0, culling.word_count}) ||
      !sample::Filled(particles, {0, 0, particles.word_count})) {
    sample::Fail("a dispatch is wrong");
  }
  fmt::print("sample-passes-d3d12: {} draws and {} dispatches on two queues are done and correct\n",
             kOpaqueDraws + kTransparentDraws, kCullingDispatches + kParticleDispatches);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Records nested passes in several lists, on two queues.");
  sample::Options options;
  sample::AddOptions(line, &options);
  line.Read(argc, argv);
  Run(options);
  return 0;
}
