// SPDX-License-Identifier: Apache-2.0
#include "reader/report/object_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/testing/json.h"
#include "format/block/object_description.h"
#include "format/block/pipeline_description.h"
#include "format/snapshot/object_kinds.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/describe.h"
#include "reader/report/json.h"

namespace cairn {
namespace {

using ::testing::StartsWith;

TEST(ObjectWords, TellWhatAnObjectWasMadeAs) {
  TestBlock block;
  FillDurationsBlock(&block);
  const Snapshot snapshot =
      std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
  const auto words = [&](const Object& object) {
    std::string text;
    AppendObject(snapshot, object, text);
    return text;
  };
  EXPECT_EQ(words(snapshot.objects[0]), "buffer 64 KiB vertex/index #1");
  EXPECT_EQ(words(snapshot.objects[1]), "Texture2D 1920x1080 R16G16B16A16_SFLOAT #2");
  const auto made = [&](const ObjectDescription& description) {
    Object object = snapshot.objects[1];
    object.description = PackDescription(description);
    return words(object);
  };
  EXPECT_EQ(made({.shape = ObjectShape::kTexture3D,
                  .uses = kUsedAsStorage | kUsedAsTarget,
                  .format = 28,
                  .width = 64,
                  .height = 32,
                  .layers = 16}),
            "Texture3D 64x32x16 R8G8B8A8_UNORM storage/render target #2");
  EXPECT_EQ(
      made({.shape = ObjectShape::kTexture1D, .format = 9999, .width = 70'000, .layers = 300}),
      "Texture1D 65535, 255 layers #2")
      << "values that do not fit are the largest, formats of extensions none";
  EXPECT_EQ(
      made({.shape = ObjectShape::kDescriptorHeap, .width = 0x4240, .height = 15, .layers = 1}),
      "descriptor heap, 1,000,000 CBV/SRV/UAV, shader-visible #2");
  EXPECT_EQ(made({.shape = ObjectShape::kDescriptorHeap, .format = 1, .width = 16}),
            "descriptor heap, 16 samplers #2");
  Object heap = snapshot.objects[1];
  heap.description = PackDescription({.shape = ObjectShape::kHeap, .uses = kUsedAsUpload});
  heap.size_bytes = 64 << 20;
  EXPECT_EQ(words(heap), "heap 64 MiB upload #2");
  // A file may say anything.
  Object object = snapshot.objects[1];
  object.description = UINT64_MAX;
  EXPECT_EQ(words(object), "image 2");
  object.description = ~uint64_t{7} | 3;
  EXPECT_THAT(words(object), StartsWith("Texture2D 65535x65535, 255 layers vertex/"));
}

TEST(Words, ShadersStandInTheOrderInWhichTheyRun) {
  TestBlock block;
  const uint32_t pipeline = block.AddPipeline(block.AddContext(), "Meshes");
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    if (stage == kStageCompute || stage == kStageRayTracing) continue;
    block.SetShader(pipeline, static_cast<ShaderStage>(stage), "main");
  }
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  std::string text;
  AppendPipeline(snapshot, 0, text);
  EXPECT_EQ(text,
            "graphics pipeline \"Meshes\" [ AS: main | MS: main | VS: main | HS: main | DS: main | "
            "GS: main | PS: main ]");
}

TEST(Words, ABoundCountIsNoArgument) {
  Snapshot snapshot;
  snapshot.objects.push_back({.state = ObjectState::kAlive,
                              .kind = kVulkanBufferKind,
                              .name = snapshot.AddText("Draws"),
                              .serial = 1});
  Binding binding{.point = BindPoint::kIndirectArguments, .object = 0};
  const auto words = [&] {
    std::string text;
    AppendBinding(snapshot, binding, text);
    return text;
  };
  EXPECT_EQ(words(), "indirect arguments: buffer \"Draws\"");
  binding.slot = 1;
  EXPECT_EQ(words(), "count of indirect commands: buffer \"Draws\"");
}

TEST(Words, PipelinesWithoutANameHaveANumberAndTheirTargets) {
  TestBlock block;
  const uint32_t context = block.AddContext(16);
  const auto add = [&](const char* name, ShaderStage stage, const PipelineDescription& made,
                       uint64_t handle) {
    const uint32_t pipeline = block.AddPipeline(context, name);
    block.SetShader(pipeline, stage, "main of fog.comp");
    block.pipeline(pipeline - 1).description = PackDescription(made);
    block.pipeline(pipeline - 1).native_handle = handle;
  };
  add("", kStageCompute, {}, 0x10);
  add("", kStagePixel,
      {.tells_targets = true, .target_count = 1, .first_target_format = 28, .depth_format = 40},
      0x20);
  add("", kStageVertex, {.tells_targets = true, .vulkan_format = true, .depth_format = 126}, 0x30);
  add("", kStagePixel,
      {.tells_targets = true,
       .vulkan_format = true,
       .target_count = 99,
       .first_target_format = 9999},
      0x40);
  add("Fog", kStageCompute, {}, 0x50);
  block.AddPipeline(context, "");
  block.AddObject(context, kD3D12PipelineStateKind, "", 1);
  Snapshot snapshot =
      std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
  const auto words = [&](uint32_t pipeline) {
    std::string text;
    AppendPipeline(snapshot, pipeline, text);
    return text;
  };
  EXPECT_EQ(words(0), "compute pipeline #1 [ CS: main of fog.comp ]");
  EXPECT_EQ(
      words(1),
      "graphics pipeline #2, 1 target R8G8B8A8_UNORM, depth D32_FLOAT [ PS: main of fog.comp ]");
  EXPECT_EQ(words(2), "graphics pipeline #3, no target, depth D32_SFLOAT [ VS: main of fog.comp ]");
  EXPECT_EQ(words(3), "graphics pipeline #4, 15 targets [ PS: main of fog.comp ]");
  EXPECT_EQ(words(4), "compute pipeline \"Fog\" [ CS: main of fog.comp ]");
  EXPECT_EQ(words(5), "pipeline 6");
  // The object that the pipeline is, as calls name it.
  Object& object = snapshot.objects[0];
  const auto object_words = [&] {
    std::string text;
    AppendObject(snapshot, object, text);
    return text;
  };
  object.native_handle = 0x10;
  EXPECT_EQ(object_words(), "compute pipeline #1 [ CS: main of fog.comp ]");
  object.native_handle = 0x11;
  EXPECT_EQ(object_words(), "pipeline state 1");
  object.native_handle = 0x10;
  object.state = ObjectState::kDestroyed;
  EXPECT_EQ(object_words(), "pipeline state 1") << "another one has its address now";
  const Json json = Json::Parse(JsonReport(snapshot, AnalyseDump(snapshot)));
  EXPECT_EQ(json["pipelines"][1]["description"], "#2, 1 target R8G8B8A8_UNORM, depth D32_FLOAT");
  EXPECT_EQ(json["pipelines"][5]["description"], "");
}

}  // namespace
}  // namespace cairn
