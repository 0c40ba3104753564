// SPDX-License-Identifier: Apache-2.0
//
// What a frame of an engine looks like to Cairn: nested passes, several lists, a second queue for
// compute work where the device has one, a few hundred draws and dispatches. Everything completes, and
// the results are checked.
#include <fmt/format.h>

#include <array>

#include "embedded/solid.frag.spv.h"
#include "embedded/solid.vert.spv.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kSize = 128;
constexpr uint32_t kColumns = 16;
constexpr uint32_t kOpaqueDraws = 192;
constexpr uint32_t kTransparentDraws = 64;
constexpr uint32_t kParticleDispatches = 100;
constexpr uint32_t kCullingDispatches = 50;
constexpr uint32_t kWordsPerDispatch = 64;

// Draw number `index` fills one cell of a grid with a colour of its own.
void DrawCell(const sample::List& list, const sample::Pipeline& pipeline, uint32_t index) {
  const float cell = 2.0f / kColumns;
  const float x = -1.0f + cell * (static_cast<float>(index % kColumns) + 0.5f);
  const float y = -1.0f + cell * (static_cast<float>(index / kColumns) + 0.5f);
  const std::array<float, 8> constants = {
      x, y, cell / 2, cell / 2, static_cast<float>(index) / 255.0f, 1.0f, 0.0f, 1.0f};
  vkCmdPushConstants(list.commands, pipeline.layout,
                     VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                     sizeof(constants), constants.data());
  sample::Scope draw(list, CAIRN_MARKER_DRAW, nullptr);
  vkCmdDraw(list.commands, 3, 1, 0, 0);
}

uint32_t CellPixel(const sample::Picture& picture, uint32_t index) {
  constexpr uint32_t kCell = kSize / kColumns;
  const uint32_t row = kColumns - 1 - index / kColumns;  // y points up
  return picture.Pixel(index % kColumns * kCell + kCell / 2, row * kCell + kCell / 2);
}

void RecordGeometry(const sample::List& list, const sample::Pipeline& pipeline,
                    sample::Picture& picture) {
  sample::Scope pass(list, CAIRN_MARKER_PASS, "Geometry");
  picture.Begin(list);
  vkCmdBindPipeline(list.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline.pipeline);
  list.telling->UsePipeline(list.recording, pipeline.told);
  {
    sample::Scope inner(list, CAIRN_MARKER_PASS, "Opaque");
    for (uint32_t i = 0; i < kOpaqueDraws; ++i) DrawCell(list, pipeline, i);
  }
  {
    sample::Scope inner(list, CAIRN_MARKER_PASS, "Transparent");
    for (uint32_t i = 0; i < kTransparentDraws; ++i) DrawCell(list, pipeline, kOpaqueDraws + i);
  }
  picture.End(list);
}

sample::List RecordScene(sample::Device& device, sample::Picture& picture) {
  const sample::Pipeline opaque = sample::CreateGraphicsPipeline(
      device, "Opaque", {kSolidVertSpv, sizeof(kSolidVertSpv), "SolidVS"},
      {kSolidFragSpv, sizeof(kSolidFragSpv), "SolidPS"}, kSize, kSize);
  const sample::List list = device.BeginList(device.graphics(), "Scene");
  {
    sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    RecordGeometry(list, opaque, picture);
    picture.CopyToCpu(list);
  }
  device.EndList(list);
  return list;
}

sample::List RecordPass(sample::Device& device, const sample::Queue& queue, const char* list_name,
                        const char* pass_name, const sample::Buffer& buffer,
                        uint32_t dispatch_count) {
  const sample::Pipeline fill = sample::CreateFillPipeline(device, buffer);
  const sample::List list = device.BeginList(queue, list_name);
  {
    sample::Scope pass(list, CAIRN_MARKER_PASS, pass_name);
    for (uint32_t i = 0; i < dispatch_count; ++i) {
      const uint32_t first = i * kWordsPerDispatch;
      sample::DispatchFill(list, nullptr, fill, {first, first, kWordsPerDispatch});
    }
  }
  device.EndList(list);
  return list;
}

void Run(const sample::Options& options) {
  sample::Device device("sample-passes-vulkan", options);
  sample::Picture picture(device, kSize, kSize);
  const sample::Buffer culling = device.CreateBuffer(kCullingDispatches * kWordsPerDispatch);
  const sample::Buffer particles = device.CreateBuffer(kParticleDispatches * kWordsPerDispatch);

  const sample::List culling_list =
      RecordPass(device, device.graphics(), "Culling", "Cull", culling, kCullingDispatches);
  const sample::List scene_list = RecordScene(device, picture);
  const sample::List particle_list =
      RecordPass(device, device.compute(), "Particles", "Simulate", particles, kParticleDispatches);

  const VkFence graphics = device.Submit(device.graphics(), {culling_list, scene_list});
  const VkFence compute = device.Submit(device.compute(), {particle_list});
  device.WaitOrReportLoss(graphics, 20);
  device.WaitOrReportLoss(compute, 20);

  for (uint32_t i = 0; i < kOpaqueDraws + kTransparentDraws; ++i) {
    if (CellPixel(picture, i) != (0xff00ff00 | i)) sample::Fail(fmt::format("draw {} is wrong", i));
  }
  if (!sample::Filled(culling, {0, 0, culling.word_count}) ||
      !sample::Filled(particles, {0, 0, particles.word_count})) {
    sample::Fail("a dispatch is wrong");
  }
  fmt::print("sample-passes-vulkan: {} draws and {} dispatches on {} are done and correct\n",
             kOpaqueDraws + kTransparentDraws, kCullingDispatches + kParticleDispatches,
             device.compute().queue == device.graphics().queue ? "one queue" : "two queues");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line(
      "Records nested passes in several lists, on two queues where the device has them.");
  sample::Options options;
  sample::AddOptions(line, &options);
  line.Read(argc, argv);
  Run(options);
  return 0;
}
