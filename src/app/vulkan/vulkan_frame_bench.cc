// SPDX-License-Identifier: Apache-2.0
//
// Measures the recording of a frame as programs make them: 2,000 draws and 500 dispatches, with the binds between
// them. Off, top and full are the same frame on a device in that mode. Nothing is submitted.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>

#include "app/vulkan/testing/test_loader.h"

namespace cairn {
namespace {

constexpr uint32_t kDraws = 2000;
constexpr uint32_t kDispatches = 500;
constexpr uint32_t kDrawsOfPipeline = 10;
constexpr uint32_t kDrawsOfVertices = 2;
constexpr uint32_t kDispatchesOfPipeline = 5;

// An entry point "main" that does nothing.
constexpr uint32_t kVertex[] = {
    0x07230203, 0x00010000, 0,          5,          0,  // the header
    0x00020011, 1,                                      // OpCapability Shader
    0x0003000e, 0,          1,                          // OpMemoryModel Logical GLSL450
    0x0005000f, 0,          1,          0x6e69616d, 0,  // OpEntryPoint Vertex %1 "main"
    0x00020013, 2,                                      // %2 = OpTypeVoid
    0x00030021, 3,          2,                          // %3 = OpTypeFunction %2
    0x00050036, 2,          1,          0,          3,  // %1 = OpFunction %2 None %3
    0x000200f8, 4,          0x000100fd, 0x00010038      // OpLabel, OpReturn, OpFunctionEnd
};
constexpr uint32_t kCompute[] = {
    0x07230203, 0x00010000, 0,          5,          0,     //
    0x00020011, 1,                                         //
    0x0003000e, 0,          1,                             //
    0x0005000f, 5,          1,          0x6e69616d, 0,     // OpEntryPoint GLCompute %1 "main"
    0x00060010, 1,          17,         1,          1, 1,  // OpExecutionMode %1 LocalSize 1 1 1
    0x00020013, 2,                                         //
    0x00030021, 3,          2,                             //
    0x00050036, 2,          1,          0,          3,     //
    0x000200f8, 4,          0x000100fd, 0x00010038         //
};

class Frame {
 public:
  explicit Frame(MarkerMode mode) {
    if (const Status status = loader_.Create(mode); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
    for (VkBuffer& buffer : vertices_) buffer = loader_.MakeBuffer();
    MakeSets();
    for (VkPipeline& pipeline : graphics_) pipeline = MakeGraphicsPipeline();
    for (VkPipeline& pipeline : compute_) pipeline = MakeComputePipeline();
    commands_ = loader_.Allocate();
    begin_rendering_ = Get<PFN_vkCmdBeginRendering>("vkCmdBeginRendering");
    end_rendering_ = Get<PFN_vkCmdEndRendering>("vkCmdEndRendering");
    bind_pipeline_ = Get<PFN_vkCmdBindPipeline>("vkCmdBindPipeline");
    bind_sets_ = Get<PFN_vkCmdBindDescriptorSets>("vkCmdBindDescriptorSets");
    bind_vertices_ = Get<PFN_vkCmdBindVertexBuffers>("vkCmdBindVertexBuffers");
    draw_ = Get<PFN_vkCmdDraw>("vkCmdDraw");
    dispatch_ = Get<PFN_vkCmdDispatch>("vkCmdDispatch");
  }

  void Record() {
    loader_.Begin(commands_);
    VkRenderingInfo rendering = {VK_STRUCTURE_TYPE_RENDERING_INFO};
    rendering.renderArea.extent = {16, 16};
    rendering.layerCount = 1;
    begin_rendering_(commands_, &rendering);
    for (uint32_t i = 0; i < kDraws; ++i) {
      if (i % kDrawsOfPipeline == 0) {
        bind_pipeline_(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS,
                       graphics_[i / kDrawsOfPipeline % 2]);
      }
      if (i % kDrawsOfVertices == 0) {
        const VkDeviceSize offset = 0;
        bind_vertices_(commands_, 0, 1, &vertices_[i / kDrawsOfVertices % 2], &offset);
      }
      BindSet(VK_PIPELINE_BIND_POINT_GRAPHICS, i);
      draw_(commands_, 36, 1, 0, i);
    }
    end_rendering_(commands_);
    for (uint32_t i = 0; i < kDispatches; ++i) {
      if (i % kDispatchesOfPipeline == 0) {
        bind_pipeline_(commands_, VK_PIPELINE_BIND_POINT_COMPUTE,
                       compute_[i / kDispatchesOfPipeline % 2]);
      }
      BindSet(VK_PIPELINE_BIND_POINT_COMPUTE, i);
      dispatch_(commands_, 8, 8, 1);
    }
    loader_.End(commands_);
  }

 private:
  template <typename Function>
  Function Get(const char* name) const {
    return loader_.Get<Function>(name);
  }

  void BindSet(VkPipelineBindPoint point, uint32_t i) {
    bind_sets_(commands_, point, layout_, 0, 1, &sets_[i % 2], 0, nullptr);
  }

  void MakeSets() {
    const VkDescriptorSetLayoutBinding binding = {
        0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
        VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set_info = {
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set_info.bindingCount = 1;
    set_info.pBindings = &binding;
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    Get<PFN_vkCreateDescriptorSetLayout>("vkCreateDescriptorSetLayout")(loader_.device(), &set_info,
                                                                        nullptr, &set_layout);
    VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout;
    Get<PFN_vkCreatePipelineLayout>("vkCreatePipelineLayout")(loader_.device(), &info, nullptr,
                                                              &layout_);
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool_info.maxSets = 2;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    Get<PFN_vkCreateDescriptorPool>("vkCreateDescriptorPool")(loader_.device(), &pool_info, nullptr,
                                                              &pool);
    const VkDescriptorSetLayout layouts[] = {set_layout, set_layout};
    VkDescriptorSetAllocateInfo allocate_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocate_info.descriptorPool = pool;
    allocate_info.descriptorSetCount = 2;
    allocate_info.pSetLayouts = layouts;
    Get<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets")(loader_.device(), &allocate_info,
                                                                  sets_.data());
    const VkDescriptorBufferInfo buffer = {vertices_[0], 0, VK_WHOLE_SIZE};
    for (const VkDescriptorSet set : sets_) {
      VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = set;
      write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &buffer;
      Get<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets")(loader_.device(), 1, &write, 0,
                                                                nullptr);
    }
  }

  VkPipelineShaderStageCreateInfo StageOf(std::span<const uint32_t> code,
                                          VkShaderStageFlagBits stage) {
    VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = code.size_bytes();
    info.pCode = code.data();
    VkPipelineShaderStageCreateInfo made = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    made.stage = stage;
    made.pName = "main";
    Get<PFN_vkCreateShaderModule>("vkCreateShaderModule")(loader_.device(), &info, nullptr,
                                                          &made.module);
    return made;
  }

  VkPipeline MakeGraphicsPipeline() {
    const VkPipelineShaderStageCreateInfo stage = StageOf(kVertex, VK_SHADER_STAGE_VERTEX_BIT);
    const VkPipelineVertexInputStateCreateInfo input = {
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkPipelineRasterizationStateCreateInfo rasterization = {
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    rasterization.rasterizerDiscardEnable = VK_TRUE;
    rasterization.lineWidth = 1;
    const VkPipelineRenderingCreateInfo rendering = {
        VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         &rendering};
    info.stageCount = 1;
    info.pStages = &stage;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pRasterizationState = &rasterization;
    info.layout = layout_;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = Get<PFN_vkCreateGraphicsPipelines>("vkCreateGraphicsPipelines")(
        loader_.device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    if (result != VK_SUCCESS) std::abort();
    return pipeline;
  }

  VkPipeline MakeComputePipeline() {
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = StageOf(kCompute, VK_SHADER_STAGE_COMPUTE_BIT);
    info.layout = layout_;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = Get<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(
        loader_.device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    if (result != VK_SUCCESS) std::abort();
    return pipeline;
  }

  TestLoader loader_;
  std::array<VkBuffer, 2> vertices_{};
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::array<VkDescriptorSet, 2> sets_{};
  std::array<VkPipeline, 2> graphics_{};
  std::array<VkPipeline, 2> compute_{};
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  PFN_vkCmdBeginRendering begin_rendering_ = nullptr;
  PFN_vkCmdEndRendering end_rendering_ = nullptr;
  PFN_vkCmdBindPipeline bind_pipeline_ = nullptr;
  PFN_vkCmdBindDescriptorSets bind_sets_ = nullptr;
  PFN_vkCmdBindVertexBuffers bind_vertices_ = nullptr;
  PFN_vkCmdDraw draw_ = nullptr;
  PFN_vkCmdDispatch dispatch_ = nullptr;
};

void BM_Frame(benchmark::State& bench, MarkerMode mode) {
  static std::map<MarkerMode, std::unique_ptr<Frame>>& frames =
      *new std::map<MarkerMode, std::unique_ptr<Frame>>;
  std::unique_ptr<Frame>& frame = frames[mode];
  if (frame == nullptr) frame = std::make_unique<Frame>(mode);
  for (auto _ : bench) frame->Record();
  bench.SetItemsProcessed(bench.iterations() * (kDraws + kDispatches));
}
BENCHMARK_CAPTURE(BM_Frame, off, MarkerMode::kOff)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Frame, top, MarkerMode::kTop)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Frame, full, MarkerMode::kFull)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cairn

BENCHMARK_MAIN();
