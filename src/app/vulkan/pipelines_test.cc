// SPDX-License-Identifier: Apache-2.0
//
// Shader modules and pipelines, as they come to stand in the block.
#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "app/vulkan/testing/device_objects_fixture.h"
#include "format/block/pipeline_description.h"

namespace cairn {
namespace {

using testing::Each;
using testing::ElementsAre;

struct NextLayer {
  VkResult result = VK_SUCCESS;
  uint64_t next_handle = 1000;
  bool fills = true;  // the pipelines of a call
};
NextLayer* next_layer = nullptr;

template <typename Handle>
VkResult Create(uint32_t count, Handle* handles) {
  for (uint32_t i = 0; next_layer->fills && i < count; ++i) {
    handles[i] = TestHandle<Handle>(next_layer->next_handle++);
  }
  return next_layer->result;
}
VkResult VKAPI_CALL NextModule(VkDevice, const VkShaderModuleCreateInfo*,
                               const VkAllocationCallbacks*, VkShaderModule* module) {
  return Create(1, module);
}
void VKAPI_CALL NextDestroyModule(VkDevice, VkShaderModule, const VkAllocationCallbacks*) {}
VkResult VKAPI_CALL NextGraphics(VkDevice, VkPipelineCache, uint32_t count,
                                 const VkGraphicsPipelineCreateInfo*, const VkAllocationCallbacks*,
                                 VkPipeline* pipelines) {
  return Create(count, pipelines);
}
VkResult VKAPI_CALL NextCompute(VkDevice, VkPipelineCache, uint32_t count,
                                const VkComputePipelineCreateInfo*, const VkAllocationCallbacks*,
                                VkPipeline* pipelines) {
  return Create(count, pipelines);
}
VkResult VKAPI_CALL NextRayTracing(VkDevice, VkDeferredOperationKHR, VkPipelineCache,
                                   uint32_t count, const VkRayTracingPipelineCreateInfoKHR*,
                                   const VkAllocationCallbacks*, VkPipeline* pipelines) {
  return Create(count, pipelines);
}
VkResult VKAPI_CALL NextJoin(VkDevice, VkDeferredOperationKHR) {
  return next_layer->result;
}
void VKAPI_CALL NextDestroyOperation(VkDevice, VkDeferredOperationKHR,
                                     const VkAllocationCallbacks*) {}
void VKAPI_CALL NextDestroyPipeline(VkDevice, VkPipeline, const VkAllocationCallbacks*) {}
void VKAPI_CALL NextIdentifier(VkDevice, VkShaderModule, VkShaderModuleIdentifierEXT* identifier) {
  identifier->identifierSize = 4;
  std::memcpy(identifier->identifier, "abcd", 4);
}

const VkDeferredOperationKHR kOperation = TestHandle<VkDeferredOperationKHR>(900);

class PipelinesTest : public DeviceObjectsTest {
 protected:
  void SetUp() override {
    next_layer = &next_;
    Prepare();
    DeviceFunctions& vk = device_->vk;
    vk.CreateShaderModule = NextModule;
    vk.DestroyShaderModule = NextDestroyModule;
    vk.CreateGraphicsPipelines = NextGraphics;
    vk.CreateComputePipelines = NextCompute;
    vk.CreateRayTracingPipelinesKHR = NextRayTracing;
    vk.DeferredOperationJoinKHR = NextJoin;
    vk.GetDeferredOperationResultKHR = NextJoin;
    vk.DestroyDeferredOperationKHR = NextDestroyOperation;
    vk.DestroyPipeline = NextDestroyPipeline;
    vk.GetShaderModuleIdentifierEXT = NextIdentifier;
    Start();
  }

  using Code = std::array<uint32_t, 8>;
  static Code MakeCode(uint32_t seed) { return {0x07230203, seed, 1, 2, 3, 4, 5, 6}; }
  static uint64_t HashOf(const Code& code) { return XXH64(code.data(), sizeof(code), 0); }
  static VkShaderModuleCreateInfo InfoOf(const Code& code) {
    VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = sizeof(code);
    info.pCode = code.data();
    return info;
  }
  VkShaderModule Module(const Code& code) {
    const VkShaderModuleCreateInfo info = InfoOf(code);
    VkShaderModule module = VK_NULL_HANDLE;
    EXPECT_EQ(ours().CreateShaderModule(device(), &info, nullptr, &module), next_.result);
    return module;
  }
  static VkPipelineShaderStageCreateInfo Stage(VkShaderStageFlagBits bit, VkShaderModule module,
                                               const char* entry = "main",
                                               const void* next = nullptr) {
    VkPipelineShaderStageCreateInfo stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                             next};
    stage.stage = bit;
    stage.module = module;
    stage.pName = entry;
    return stage;
  }
  VkPipeline Graphics(const std::vector<VkPipelineShaderStageCreateInfo>& stages,
                      const void* next = nullptr) {
    VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, next};
    info.stageCount = static_cast<uint32_t>(stages.size());
    info.pStages = stages.data();
    return Graphics(info);
  }
  VkPipeline Graphics(const VkGraphicsPipelineCreateInfo& info) {
    VkPipeline pipeline = VK_NULL_HANDLE;
    EXPECT_EQ(
        ours().CreateGraphicsPipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        next_.result);
    return pipeline;
  }
  VkPipeline Compute(const VkPipelineShaderStageCreateInfo& stage) {
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = stage;
    VkPipeline pipeline = VK_NULL_HANDLE;
    ours().CreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    return pipeline;
  }
  void Destroy(VkPipeline pipeline) { ours().DestroyPipeline(device(), pipeline, nullptr); }

  const PipelineRecord& Registered(VkPipeline pipeline) {
    const CairnPipeline number = PipelineNumberFor(*device_, pipeline);
    EXPECT_NE(number, 0u);
    return block_->pipelines()[number - 1];
  }
  std::string Shader(const PipelineRecord& record, ShaderStage stage) const {
    return Name(record.shader_names[stage]);
  }
  static std::string Named(const char* entry, const Code& code) {
    return fmt::format("{} ({:016x})", entry, HashOf(code));
  }

  NextLayer next_;
};

TEST_F(PipelinesTest, CodeIsKeptOncePerHash) {
  const Code first = MakeCode(1);
  const Code second = MakeCode(2);
  Module(first);
  Module(second);
  Module(first);
  ASSERT_EQ(block_->header()->shader_count.load(), 2u);
  const ShaderRecord& record = block_->shaders()[0];
  EXPECT_EQ(record.state.load(), 1u);
  EXPECT_EQ(record.code, ShaderCode::kSpirV);
  EXPECT_EQ(record.hash, HashOf(first));
  EXPECT_EQ(record.size_bytes, sizeof(first));
  EXPECT_EQ(std::memcmp(block_->data() + record.offset, first.data(), sizeof(first)), 0);
  EXPECT_EQ(block_->shaders()[1].hash, HashOf(second));
}

TEST_F(PipelinesTest, WhatTheDriverRefusesIsNotKept) {
  next_.result = VK_ERROR_INVALID_SHADER_NV;
  Module(MakeCode(1));
  EXPECT_EQ(block_->header()->shader_count.load(), 0u);
}

TEST_F(PipelinesTest, AGraphicsPipelineGetsItsNumberWhenItIsFirstAskedFor) {
  const Code vertex = MakeCode(1);
  const Code pixel = MakeCode(2);
  const VkPipeline pipeline = Graphics({Stage(VK_SHADER_STAGE_VERTEX_BIT, Module(vertex), "VSMain"),
                                        Stage(VK_SHADER_STAGE_FRAGMENT_BIT, Module(pixel))});
  EXPECT_EQ(block_->header()->pipeline_count.load(), 0u);
  const PipelineRecord& record = Registered(pipeline);
  EXPECT_EQ(block_->header()->pipeline_count.load(), 1u);
  EXPECT_EQ(&Registered(pipeline), &record);
  EXPECT_EQ(record.native_handle, HandleValue(pipeline));
  EXPECT_EQ(Shader(record, kStageVertex), Named("VSMain", vertex));
  EXPECT_EQ(Shader(record, kStagePixel), Named("main", pixel));
  EXPECT_EQ(Shader(record, kStageCompute), "");
  EXPECT_EQ(record.shader_hashes[kStageVertex], HashOf(vertex));
  EXPECT_EQ(record.shader_hashes[kStagePixel], HashOf(pixel));
  EXPECT_EQ(record.shader_hashes[kStageCompute], 0u);
}

TEST_F(PipelinesTest, EveryStageHasItsPlace) {
  const Code code = MakeCode(1);
  const VkShaderModule module = Module(code);
  const std::pair<VkShaderStageFlagBits, ShaderStage> places[] = {
      {VK_SHADER_STAGE_VERTEX_BIT, kStageVertex},
      {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, kStageHull},
      {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, kStageDomain},
      {VK_SHADER_STAGE_GEOMETRY_BIT, kStageGeometry},
      {VK_SHADER_STAGE_FRAGMENT_BIT, kStagePixel},
      {VK_SHADER_STAGE_MESH_BIT_EXT, kStageMesh},
      {VK_SHADER_STAGE_TASK_BIT_EXT, kStageAmplification},
      {VK_SHADER_STAGE_COMPUTE_BIT, kStageCompute},
      {VK_SHADER_STAGE_CALLABLE_BIT_KHR, kStageRayTracing},
  };
  for (const auto& [bit, stage] : places) {
    const PipelineRecord& record = Registered(Graphics({Stage(bit, module, "entry")}));
    EXPECT_EQ(Shader(record, stage), Named("entry", code));
  }
  const PipelineRecord& unknown = Registered(
      Graphics({Stage(static_cast<VkShaderStageFlagBits>(0x40000000), module, "entry")}));
  for (uint32_t stage = 0; stage < kStageCount; ++stage) EXPECT_EQ(unknown.shader_names[stage], 0u);
}

TEST_F(PipelinesTest, AModuleThatWasNamedIsShownByItsName) {
  const Code code = MakeCode(1);
  const VkShaderModule module = Module(code);
  device_->objects->shaders.NameModule(HandleValue(module), "Lighting");
  device_->objects->shaders.NameModule(HandleValue(module) + 1, "of no module");
  const PipelineRecord& record =
      Registered(Graphics({Stage(VK_SHADER_STAGE_VERTEX_BIT, module, "VSMain"),
                           Stage(VK_SHADER_STAGE_FRAGMENT_BIT, module)}));
  EXPECT_EQ(Shader(record, kStageVertex), Named("Lighting: VSMain", code));
  EXPECT_EQ(Shader(record, kStagePixel), Named("Lighting", code));
  EXPECT_EQ(record.shader_hashes[kStagePixel], HashOf(code));
}

// The strings and sources that glslang -g writes, before anything else.
TEST_F(PipelinesTest, AModuleWithDebugInformationIsShownWithItsFile) {
  std::vector<uint32_t> code = {0x07230203, 0x00010000,   0, 8,   0, 5u << 16 | 7, 2, 0, 0,
                                0,          4u << 16 | 3, 2, 450, 2};
  std::memcpy(&code[7], "fog.comp", 8);
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = code.size() * sizeof(uint32_t);
  info.pCode = code.data();
  VkShaderModule module = VK_NULL_HANDLE;
  ours().CreateShaderModule(device(), &info, nullptr, &module);
  const std::string expected =
      fmt::format("main of fog.comp ({:016x})", XXH64(code.data(), info.codeSize, 0));
  const PipelineRecord& record = Registered(Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, module)));
  EXPECT_EQ(Shader(record, kStageCompute), expected);
  EXPECT_EQ(UnpackPipelineDescription(record.description), PipelineDescription{});
  EXPECT_NE(record.description, 0u);
  const PipelineRecord& of_inline =
      Registered(Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, "main", &info)));
  EXPECT_EQ(Shader(of_inline, kStageCompute), expected);
}

TEST_F(PipelinesTest, TargetsOfDynamicRenderingAreTheDescription) {
  const VkFormat formats[] = {VK_FORMAT_UNDEFINED, VK_FORMAT_R8G8B8A8_UNORM};
  VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 2;
  rendering.pColorAttachmentFormats = formats;
  rendering.depthAttachmentFormat = VK_FORMAT_D32_SFLOAT;
  VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering};
  VkPipelineRasterizationStateCreateInfo rasterization = {
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  info.pRasterizationState = &rasterization;
  EXPECT_EQ(UnpackPipelineDescription(Registered(Graphics(info)).description),
            (PipelineDescription{.tells_targets = true,
                                 .vulkan_format = true,
                                 .target_count = 2,
                                 .first_target_format = VK_FORMAT_R8G8B8A8_UNORM,
                                 .depth_format = VK_FORMAT_D32_SFLOAT}));
  // One that does not draw, or is linked from parts, need not have valid formats.
  rendering.pColorAttachmentFormats = reinterpret_cast<const VkFormat*>(uintptr_t{16});
  rasterization.rasterizerDiscardEnable = VK_TRUE;
  EXPECT_EQ(UnpackPipelineDescription(Registered(Graphics(info)).description),
            PipelineDescription{});
  rasterization.rasterizerDiscardEnable = VK_FALSE;
  VkPipelineLibraryCreateInfoKHR linked = {VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
                                           &rendering};
  info.pNext = &linked;
  EXPECT_EQ(UnpackPipelineDescription(Registered(Graphics(info)).description),
            PipelineDescription{});
  info.pNext = &rendering;
  rendering.pColorAttachmentFormats = formats;
  // The structure is ignored for a render pass's pipeline.
  info.renderPass = TestHandle<VkRenderPass>(4);
  EXPECT_EQ(UnpackPipelineDescription(Registered(Graphics(info)).description),
            PipelineDescription{});
}

TEST_F(PipelinesTest, CodeInThePipelinesOwnStructureIsKept) {
  const Code code = MakeCode(3);
  const VkShaderModuleCreateInfo inline_code = InfoOf(code);
  const PipelineRecord& record =
      Registered(Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, "main", &inline_code)));
  EXPECT_EQ(Shader(record, kStageCompute), Named("main", code));
  EXPECT_EQ(block_->header()->shader_count.load(), 1u);
}

TEST_F(PipelinesTest, IdentifiersLeadToTheCodeTheyWereGivenFor) {
  const Code code = MakeCode(4);
  VkShaderModuleIdentifierEXT identifier = {VK_STRUCTURE_TYPE_SHADER_MODULE_IDENTIFIER_EXT};
  ours().GetShaderModuleIdentifierEXT(device(), Module(code), &identifier);
  VkPipelineShaderStageModuleIdentifierCreateInfoEXT by_identifier = {
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT};
  by_identifier.identifierSize = identifier.identifierSize;
  by_identifier.pIdentifier = identifier.identifier;
  const VkPipelineShaderStageCreateInfo stage =
      Stage(VK_SHADER_STAGE_COMPUTE_BIT, VK_NULL_HANDLE, "main", &by_identifier);
  EXPECT_EQ(Shader(Registered(Compute(stage)), kStageCompute), Named("main", code));
  const uint8_t unknown[] = "efgh";
  by_identifier.pIdentifier = unknown;
  by_identifier.identifierSize = 0xFFFF;  // Over the limit of the API: no more than that is read.
  std::array<uint8_t, VK_MAX_SHADER_MODULE_IDENTIFIER_SIZE_EXT> longest{};
  by_identifier.pIdentifier = longest.data();
  const PipelineRecord& record = Registered(Compute(stage));
  EXPECT_EQ(Shader(record, kStageCompute), "main");
  EXPECT_EQ(record.shader_hashes[kStageCompute], 0u);
}

TEST_F(PipelinesTest, LibrariesBringTheirStages) {
  const Code vertex = MakeCode(1);
  const Code pixel = MakeCode(2);
  VkGraphicsPipelineLibraryCreateInfoEXT part = {
      VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT};
  part.flags = VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
  const VkPipeline front = Graphics({Stage(VK_SHADER_STAGE_VERTEX_BIT, Module(vertex))}, &part);
  part.flags = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT;
  const VkPipeline back = Graphics({Stage(VK_SHADER_STAGE_FRAGMENT_BIT, Module(pixel))}, &part);
  // Libraries without shaders may have anything for their stages.
  part.flags = VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT;
  VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &part};
  info.stageCount = 7;
  info.pStages = reinterpret_cast<const VkPipelineShaderStageCreateInfo*>(uintptr_t{8});
  const VkPipeline input = Graphics(info);
  const VkPipeline libraries[] = {input, front, back, TestHandle<VkPipeline>(77777)};
  VkPipelineLibraryCreateInfoKHR linked = {VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR};
  linked.libraryCount = 4;
  linked.pLibraries = libraries;
  info.pNext = &linked;
  const PipelineRecord& record = Registered(Graphics(info));
  EXPECT_EQ(Shader(record, kStageVertex), Named("main", vertex));
  EXPECT_EQ(Shader(record, kStagePixel), Named("main", pixel));
}

TEST_F(PipelinesTest, PipelinesOfADeferredOperationAreKnownWhenItHasCompleted) {
  const Code raygen = MakeCode(1);
  const std::vector<VkPipelineShaderStageCreateInfo> stages = {
      Stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, Module(raygen), "raygen"),
      Stage(VK_SHADER_STAGE_MISS_BIT_KHR, Module(MakeCode(2)), "miss")};
  VkRayTracingPipelineCreateInfoKHR info = {VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR};
  info.stageCount = 2;
  info.pStages = stages.data();
  const VkRayTracingPipelineCreateInfoKHR infos[] = {info, info};
  VkPipeline pipelines[2] = {};
  next_.result = VK_OPERATION_DEFERRED_KHR;
  next_.fills = false;
  EXPECT_EQ(ours().CreateRayTracingPipelinesKHR(device(), kOperation, VK_NULL_HANDLE, 2, infos,
                                                nullptr, pipelines),
            VK_OPERATION_DEFERRED_KHR);
  const auto join = ours().DeferredOperationJoinKHR;
  next_.result = VK_THREAD_DONE_KHR;
  EXPECT_EQ(join(device(), kOperation), VK_THREAD_DONE_KHR);
  pipelines[1] = TestHandle<VkPipeline>(5000);  // The first one failed.
  EXPECT_EQ(PipelineNumberFor(*device_, pipelines[1]), 0u);
  next_.result = VK_SUCCESS;
  EXPECT_EQ(join(device(), kOperation), VK_SUCCESS);
  pipelines[1] = TestHandle<VkPipeline>(6000);  // The program may use its array again.
  EXPECT_EQ(join(device(), kOperation), VK_SUCCESS);
  EXPECT_EQ(PipelineNumberFor(*device_, TestHandle<VkPipeline>(6000)), 0u);
  const PipelineRecord& record = Registered(TestHandle<VkPipeline>(5000));
  EXPECT_EQ(Shader(record, kStageRayTracing), Named("raygen", raygen));
  EXPECT_EQ(record.shader_hashes[kStageRayTracing], HashOf(raygen));
}

TEST_F(PipelinesTest, AnOperationThatIsDestroyedIsForgotten) {
  VkRayTracingPipelineCreateInfoKHR info = {VK_STRUCTURE_TYPE_RAY_TRACING_PIPELINE_CREATE_INFO_KHR};
  VkPipeline pipeline = TestHandle<VkPipeline>(5000);
  next_.result = VK_OPERATION_DEFERRED_KHR;
  next_.fills = false;
  ours().CreateRayTracingPipelinesKHR(device(), kOperation, VK_NULL_HANDLE, 1, &info, nullptr,
                                      &pipeline);
  ours().DestroyDeferredOperationKHR(device(), kOperation, nullptr);
  next_.result = VK_SUCCESS;
  EXPECT_EQ(ours().GetDeferredOperationResultKHR(device(), kOperation), VK_SUCCESS);
  EXPECT_EQ(PipelineNumberFor(*device_, pipeline), 0u);
}

TEST_F(PipelinesTest, AfterAnErrorTheArrayIsNotLookedAt) {
  next_.result = VK_ERROR_OUT_OF_HOST_MEMORY;
  const VkPipeline pipeline = Graphics(VkGraphicsPipelineCreateInfo{});
  EXPECT_EQ(PipelineNumberFor(*device_, pipeline), 0u);
  next_.result = VK_PIPELINE_COMPILE_REQUIRED;
  next_.fills = false;
  EXPECT_EQ(Graphics(VkGraphicsPipelineCreateInfo{}), VkPipeline{VK_NULL_HANDLE});
}

TEST_F(PipelinesTest, ADestroyedPipelinesHandleMayBeAnothers) {
  const Code first = MakeCode(1);
  const Code second = MakeCode(2);
  const VkPipeline pipeline = Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, Module(first)));
  const PipelineRecord& old = Registered(pipeline);
  Destroy(pipeline);
  EXPECT_EQ(old.state.load(), 2u);
  EXPECT_EQ(PipelineNumberFor(*device_, pipeline), 0u);
  next_.next_handle -= 1;
  const VkShaderModule module = Module(second);
  next_.next_handle = HandleValue(pipeline) / 0x100;
  const VkPipeline again = Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, module));
  ASSERT_EQ(again, pipeline);
  EXPECT_EQ(Shader(Registered(again), kStageCompute), Named("main", second));
  EXPECT_EQ(Name(old.shader_names[kStageCompute]), Named("main", first));
  Destroy(VK_NULL_HANDLE);
}

TEST_F(PipelinesTest, AForgottenModuleHasNoHash) {
  const Code code = MakeCode(1);
  const VkShaderModule module = Module(code);
  ours().DestroyShaderModule(device(), module, nullptr);
  EXPECT_EQ(Shader(Registered(Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, module))), kStageCompute),
            "main");
}

TEST_F(PipelinesTest, NamesGivenBeforeTheFirstUseAreThePipelines) {
  const VkPipeline pipeline =
      Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, Module(MakeCode(1)), nullptr));
  objects().pipelines.SetName(HandleValue(pipeline), "blur");
  const PipelineRecord& record = Registered(pipeline);
  EXPECT_EQ(Name(record.name), "blur");
}

TEST_F(PipelinesTest, PipelinesOfOtherDevicesAreNotKnown) {
  const VkPipeline pipeline = Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, Module(MakeCode(1))));
  DeviceState other;
  EXPECT_EQ(PipelineNumberFor(other, pipeline), 0u);
  EXPECT_NE(PipelineNumberFor(*device_, pipeline), 0u);
}

TEST_F(PipelinesTest, ThreadsThatBindAPipelineForTheFirstTimeAgreeOnItsNumber) {
  std::vector<VkPipeline> pipelines;
  for (uint32_t i = 0; i < 100; ++i) {
    pipelines.push_back(Compute(Stage(VK_SHADER_STAGE_COMPUTE_BIT, Module(MakeCode(i)))));
  }
  std::vector<CairnPipeline> seen[2];
  const auto bind = [&](std::vector<CairnPipeline>* numbers) {
    for (const VkPipeline pipeline : pipelines) {
      numbers->push_back(PipelineNumberFor(*device_, pipeline));
    }
  };
  std::thread other([&] { bind(&seen[1]); });
  bind(&seen[0]);
  other.join();
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_THAT(seen[0], Each(testing::Ne(0u)));
  EXPECT_EQ(block_->header()->pipeline_count.load(), 100u);
}

}  // namespace
}  // namespace cairn
