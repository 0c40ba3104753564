// SPDX-License-Identifier: Apache-2.0
//
// ffx_sample_vulkan before|after: FidelityFX Breadcrumbs' sample with Vulkan, started as its
// documentation does: nothing is told but the VkDeviceContext.
#include <memory>
#include <vector>

#include "cairn/compat/ffx_vk.h"

#include "embedded/triangle.frag.spv.h"
#include "embedded/triangle.vert.spv.h"
#include "programs/ffx_sample.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kSize = 64;

class VulkanScene final : public ffx_sample::Scene {
 public:
  explicit VulkanScene(sample::Device& device) : device_(device), picture_(device, kSize, kSize) {
    for (sample::Pipeline& pipeline : pipelines_) {
      pipeline = sample::CreateGraphicsPipeline(
          device, "the pipeline's own name", {kTriangleVertSpv, sizeof(kTriangleVertSpv), "VS"},
          {kTriangleFragSpv, sizeof(kTriangleFragSpv), "PS"}, kSize, kSize);
    }
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool_info.queueFamilyIndex = device.graphics().family;
    VkCommandPool pool = VK_NULL_HANDLE;
    sample::Check(vkCreateCommandPool(device.device(), &pool_info, nullptr, &pool),
                  "vkCreateCommandPool");
    device.Own([d = device.device(), pool] { vkDestroyCommandPool(d, pool, nullptr); });
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    sample::Check(vkAllocateCommandBuffers(device.device(), &info, &list_.commands),
                  "vkAllocateCommandBuffers");
  }

  FfxCommandList List() override { return ffxGetCommandListVK(list_.commands); }
  FfxPipeline Pipeline(ffx_sample::Draw draw) override {
    return ffxGetPipelineVK(PipelineOf(draw).pipeline);
  }
  FfxBreadcrumbsMarkerType Type(ffx_sample::Draw) override { return FFX_BREADCRUMBS_MARKER_DRAW; }
  void Open() override {
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    sample::Check(vkBeginCommandBuffer(list_.commands, &begin), "vkBeginCommandBuffer");
  }
  void Record(ffx_sample::Draw draw) override {
    picture_.Begin(list_);
    vkCmdBindPipeline(list_.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, PipelineOf(draw).pipeline);
    vkCmdDraw(list_.commands, 3, 1, 0, 0);
    picture_.End(list_);
  }
  void Clear() override {
    picture_.Begin(list_);
    picture_.End(list_);
  }
  void Execute() override {
    sample::Check(vkEndCommandBuffer(list_.commands), "vkEndCommandBuffer");
    device_.WaitOrReportLoss(device_.Submit(device_.graphics(), {list_}), 20);
  }

 private:
  const sample::Pipeline& PipelineOf(ffx_sample::Draw draw) const {
    return pipelines_[draw == ffx_sample::Draw::kFirst ? 0 : 1];
  }

  sample::Device& device_;
  sample::List list_;  // told of by nobody but the sample
  sample::Picture picture_;
  sample::Pipeline pipelines_[2];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sample::Device device("ffx_sample_vulkan", {});
  VulkanScene scene(device);
  FfxBreadcrumbsContextDescription desc = {};
  const size_t size = ffxGetScratchMemorySizeVK(device.physical_device(), 1);
  const auto scratch = std::make_unique<uint8_t[]>(size);
  VkDeviceContext vulkan = {device.device(), device.physical_device(), vkGetDeviceProcAddr};
  ffx_sample::Check(
      ffxGetInterfaceVK(&desc.backendInterface, ffxGetDeviceVK(&vulkan), scratch.get(), size, 1),
      "ffxGetInterfaceVK");
  return ffx_sample::Run(scene, desc, argv[1]);
}
