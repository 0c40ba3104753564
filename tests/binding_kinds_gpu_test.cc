// SPDX-License-Identifier: Apache-2.0
//
// The experiment "bindings" in the Vulkan layer, on a device: each kind of binding, empty alone. Loads give zeros, stores
// go nowhere, and all others are as they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/vulkan_compute.h"
#include "app/spirv/testing/shaders.h"
#include "app/vulkan/recorded_experiment.h"
#include "app/vulkan/testing/test_loader.h"
#include "compute_on_device.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

using spirv::testing::Form;
using spirv::testing::LoadShader;
using ::testing::Each;
using ::testing::UnorderedElementsAre;

constexpr uint32_t kSide = 8;  // of all images
constexpr uint32_t kTexels = kSide * kSide;
using TexelWords = std::array<uint32_t, kTexels>;

constexpr VkShaderStageFlags kAllStages =
    VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT;

struct TestImage {
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
};

// A device with an experiment, and what shaders need there. All of it ends with this object.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    for (auto end = ends_.rbegin(); end != ends_.rend(); ++end) (*end)();
  }

  bool Create() {
    const Status made = loader_.Create(MarkerMode::kTop);
    EXPECT_TRUE(made.ok()) << made.message();
    if (!made.ok()) return false;
    on_ = {loader_.vk(), loader_.device(), loader_.queue(), 0, {}};
    loader_.GetOfInstance<PFN_vkGetPhysicalDeviceMemoryProperties>(
        "vkGetPhysicalDeviceMemoryProperties")(loader_.physical_device(), &on_.memory);
    commands_ = loader_.Allocate();
    loader_.Begin(commands_);
    return true;
  }

  const DeviceFunctions& vk() const { return on_.vk; }
  VkDevice device() const { return on_.device; }
  VkCommandBuffer commands() const { return commands_; }

  SharedBuffer Buffer(VkBufferUsageFlags usage, size_t bytes) {
    const SharedBuffer made = MakeSharedBuffer(on_, usage, bytes);
    EXPECT_NE(made.mapped, nullptr);
    ends_.push_back([this, made] { DestroySharedBuffer(on_, made); });
    return made;
  }
  // One that holds this word everywhere.
  SharedBuffer BufferOf(VkBufferUsageFlags usage, uint32_t word) {
    const SharedBuffer made = Buffer(usage, sizeof(TexelWords));
    TexelWords words;
    words.fill(word);
    std::memcpy(made.mapped, words.data(), sizeof(words));
    return made;
  }
  VkBufferView View(VkBuffer buffer) {
    VkBufferViewCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    info.buffer = buffer;
    info.format = VK_FORMAT_R32_UINT;
    info.range = VK_WHOLE_SIZE;
    VkBufferView view = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateBufferView(device(), &info, nullptr, &view), VK_SUCCESS);
    ends_.push_back([this, view] { vk().DestroyBufferView(device(), view, nullptr); });
    return view;
  }

  TestImage Image(VkFormat format, VkImageUsageFlags usage) {
    VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {kSide, kSide, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    TestImage made;
    EXPECT_EQ(vk().CreateImage(device(), &info, nullptr, &made.image), VK_SUCCESS);
    VkMemoryRequirements needs = {};
    vk().GetImageMemoryRequirements(device(), made.image, &needs);
    VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocation.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> allocation.memoryTypeIndex & 1) == 0)
      ++allocation.memoryTypeIndex;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(vk().AllocateMemory(device(), &allocation, nullptr, &memory), VK_SUCCESS);
    EXPECT_EQ(vk().BindImageMemory(device(), made.image, memory, 0), VK_SUCCESS);
    VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = made.image;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = format;
    view.subresourceRange = kWhole;
    EXPECT_EQ(vk().CreateImageView(device(), &view, nullptr, &made.view), VK_SUCCESS);
    ends_.push_back([this, made, memory] {
      vk().DestroyImageView(device(), made.view, nullptr);
      vk().DestroyImage(device(), made.image, nullptr);
      vk().FreeMemory(device(), memory, nullptr);
    });
    return made;
  }
  // One that is filled by commands in front of all others, and in the layout "general".
  TestImage ImageOf(VkFormat format, VkImageUsageFlags usage, const VkClearColorValue& colour) {
    const TestImage made = Image(format, usage);
    VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.image = made.image;
    barrier.subresourceRange = kWhole;
    vk().CmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                            VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    vk().CmdClearColorImage(commands_, made.image, VK_IMAGE_LAYOUT_GENERAL, &colour, 1, &kWhole);
    return made;
  }
  void Read(const TestImage& image, const SharedBuffer& into) {
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {kSide, kSide, 1};
    vk().CmdCopyImageToBuffer(commands_, image.image, VK_IMAGE_LAYOUT_GENERAL, into.buffer, 1,
                              &region);
  }

  VkSampler Sampler() {
    VkSamplerCreateInfo info = {VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    info.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    VkSampler sampler = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateSampler(device(), &info, nullptr, &sampler), VK_SUCCESS);
    ends_.push_back([this, sampler] { vk().DestroySampler(device(), sampler, nullptr); });
    return sampler;
  }

  // Set 0 with a descriptor in each write, whose binding and set this fills in; bound for both kinds of pipelines.
  VkPipelineLayout BindSet(std::vector<VkWriteDescriptorSet> writes) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    std::vector<VkDescriptorPoolSize> sizes;
    for (VkWriteDescriptorSet& write : writes) {
      write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      write.dstBinding = static_cast<uint32_t>(bindings.size());
      write.descriptorCount = 1;
      bindings.push_back({write.dstBinding, write.descriptorType, 1, kAllStages, nullptr});
      sizes.push_back({write.descriptorType, 1});
    }
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = static_cast<uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateDescriptorSetLayout(device(), &info, nullptr, &set_layout), VK_SUCCESS);
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool_info.maxSets = 1;
    pool_info.poolSizeCount = static_cast<uint32_t>(sizes.size());
    pool_info.pPoolSizes = sizes.data();
    VkDescriptorPool pool = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateDescriptorPool(device(), &pool_info, nullptr, &pool), VK_SUCCESS);
    VkDescriptorSetAllocateInfo allocation = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    allocation.descriptorPool = pool;
    allocation.descriptorSetCount = 1;
    allocation.pSetLayouts = &set_layout;
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(vk().AllocateDescriptorSets(device(), &allocation, &set), VK_SUCCESS);
    for (VkWriteDescriptorSet& write : writes) write.dstSet = set;
    vk().UpdateDescriptorSets(device(), static_cast<uint32_t>(writes.size()), writes.data(), 0,
                              nullptr);
    VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreatePipelineLayout(device(), &layout_info, nullptr, &layout), VK_SUCCESS);
    for (const VkPipelineBindPoint point :
         {VK_PIPELINE_BIND_POINT_COMPUTE, VK_PIPELINE_BIND_POINT_GRAPHICS})
      vk().CmdBindDescriptorSets(commands_, point, layout, 0, 1, &set, 0, nullptr);
    ends_.push_back([this, set_layout, pool, layout] {
      vk().DestroyPipelineLayout(device(), layout, nullptr);
      vk().DestroyDescriptorPool(device(), pool, nullptr);
      vk().DestroyDescriptorSetLayout(device(), set_layout, nullptr);
    });
    return layout;
  }

  VkPipelineShaderStageCreateInfo Stage(VkShaderStageFlagBits stage, const char* name) {
    const std::vector<uint32_t> words = LoadShader(name, Form::kLines);
    const Result<VkShaderModule> shader =
        CreateShader(vk(), device(), words.data(), words.size() * sizeof(uint32_t));
    EXPECT_TRUE(shader.ok()) << name;
    VkPipelineShaderStageCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage = stage;
    info.pName = "main";
    if (!shader.ok()) return info;
    info.module = *shader;
    ends_.push_back(
        [this, module = *shader] { vk().DestroyShaderModule(device(), module, nullptr); });
    return info;
  }
  void Bind(VkPipelineBindPoint point, VkPipeline pipeline) {
    vk().CmdBindPipeline(commands_, point, pipeline);
    ends_.push_back([this, pipeline] { vk().DestroyPipeline(device(), pipeline, nullptr); });
  }

  // All commands before this happen before all behind it.
  void Barrier() {
    VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    vk().CmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                            &barrier, 0, nullptr, 0, nullptr);
  }
  void Run() {
    Barrier();
    loader_.End(commands_);
    EXPECT_EQ(loader_.Run(commands_), VK_SUCCESS);
  }

 private:
  static constexpr VkImageSubresourceRange kWhole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};

  TestLoader loader_;
  ComputeDevice on_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::vector<std::function<void()>> ends_;
};

VkWriteDescriptorSet Write(VkDescriptorType type, const VkDescriptorBufferInfo* buffer) {
  VkWriteDescriptorSet write = {};
  write.descriptorType = type;
  write.pBufferInfo = buffer;
  return write;
}
VkWriteDescriptorSet Write(VkDescriptorType type, const VkDescriptorImageInfo* image) {
  VkWriteDescriptorSet write = {};
  write.descriptorType = type;
  write.pImageInfo = image;
  return write;
}
VkWriteDescriptorSet Write(VkDescriptorType type, const VkBufferView* view) {
  VkWriteDescriptorSet write = {};
  write.descriptorType = type;
  write.pTexelBufferView = view;
  return write;
}

// `Words` of kinds.comp.
constexpr size_t kWords = 8;
using KindWords = std::array<uint32_t, kWords>;

// What kinds.comp leaves behind.
struct Computed {
  std::array<KindWords, kTexels> results = {};
  TexelWords image = {};   // the storage image
  TexelWords texels = {};  // the storage texel buffer
};

// What an 8 x 8 image holds behind a draw of kinds.vert and kinds.frag.
using Drawn = TexelWords;

class BindingKindsGpuTest : public ::testing::Test {
 protected:
  void Ask(const std::string& experiment) {
    std::memset(memory_.data(), 0, memory_.size_bytes());
    board_ = ExperimentBoard::Make({memory_.data(), memory_.size_bytes()}, 64, 1u << 14);
    run_.emplace(RecordedExperiment{*ParseExperiment(experiment), board_});
    RecordedExperiment::Replace(&*run_);
  }
  void TearDown() override { RecordedExperiment::Replace(nullptr); }

  Computed Compute(const std::string& experiment) {
    Ask(experiment);
    Machine machine;
    Computed computed;
    if (!machine.Create()) return computed;
    const SharedBuffer results =
        machine.Buffer(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(computed.results));
    std::memset(results.mapped, 0, sizeof(computed.results));
    const SharedBuffer numbers = machine.BufferOf(VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, 20);
    const SharedBuffer texels = machine.BufferOf(VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT, 9);
    const SharedBuffer counters = machine.BufferOf(VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT, 11);
    const SharedBuffer copy =
        machine.Buffer(VK_BUFFER_USAGE_TRANSFER_DST_BIT, sizeof(computed.image));
    const TestImage stored =
        machine.ImageOf(VK_FORMAT_R32_UINT, VK_IMAGE_USAGE_STORAGE_BIT, {.uint32 = {7, 0, 0, 0}});
    const TestImage combined = machine.ImageOf(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT,
                                               {.float32 = {3, 0, 0, 0}});
    const TestImage picture = machine.ImageOf(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT,
                                              {.float32 = {5, 0, 0, 0}});
    const VkSampler nearest = machine.Sampler();
    const VkDescriptorBufferInfo of_results = {results.buffer, 0, VK_WHOLE_SIZE};
    const VkDescriptorBufferInfo of_numbers = {numbers.buffer, 0, 16};
    constexpr VkImageLayout kGeneral = VK_IMAGE_LAYOUT_GENERAL;
    const VkDescriptorImageInfo of_stored = {VK_NULL_HANDLE, stored.view, kGeneral};
    const VkDescriptorImageInfo of_combined = {nearest, combined.view, kGeneral};
    const VkDescriptorImageInfo of_picture = {VK_NULL_HANDLE, picture.view, kGeneral};
    const VkDescriptorImageInfo of_nearest = {nearest, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED};
    const VkBufferView of_texels = machine.View(texels.buffer);
    const VkBufferView of_counters = machine.View(counters.buffer);
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.layout = machine.BindSet({Write(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &of_results),
                                   Write(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, &of_numbers),
                                   Write(VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, &of_stored),
                                   Write(VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &of_combined),
                                   Write(VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, &of_picture),
                                   Write(VK_DESCRIPTOR_TYPE_SAMPLER, &of_nearest),
                                   Write(VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, &of_texels),
                                   Write(VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, &of_counters)});
    info.stage = machine.Stage(VK_SHADER_STAGE_COMPUTE_BIT, "kinds.comp");
    VkPipeline pipeline = VK_NULL_HANDLE;
    EXPECT_EQ(machine.vk().CreateComputePipelines(machine.device(), VK_NULL_HANDLE, 1, &info,
                                                  nullptr, &pipeline),
              VK_SUCCESS);
    machine.Bind(VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    machine.Barrier();
    machine.vk().CmdDispatch(machine.commands(), 1, 1, 1);
    machine.Barrier();
    machine.Read(stored, copy);
    machine.Run();
    std::memcpy(computed.results.data(), results.mapped, sizeof(computed.results));
    std::memcpy(computed.image.data(), copy.mapped, sizeof(computed.image));
    std::memcpy(computed.texels.data(), counters.mapped, sizeof(computed.texels));
    return computed;
  }

  // One triangle over all of the image, which is zeros before.
  Drawn Draw(const std::string& experiment) {
    Ask(experiment);
    Machine machine;
    Drawn drawn = {};
    if (!machine.Create()) return drawn;
    struct Vertex {
      float position[4];
      float red;
    };
    constexpr Vertex kTriangle[] = {{{-1, -1, 0, 1}, 1}, {{3, -1, 0, 1}, 1}, {{-1, 3, 0, 1}, 1}};
    const SharedBuffer vertices =
        machine.Buffer(VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, sizeof(kTriangle));
    std::memcpy(vertices.mapped, kTriangle, sizeof(kTriangle));
    const SharedBuffer colours =
        machine.BufferOf(VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, std::bit_cast<uint32_t>(1.0f));
    const SharedBuffer copy = machine.Buffer(VK_BUFFER_USAGE_TRANSFER_DST_BIT, sizeof(drawn));
    const TestImage blue = machine.ImageOf(VK_FORMAT_R32_SFLOAT, VK_IMAGE_USAGE_SAMPLED_BIT,
                                           {.float32 = {1, 0, 0, 0}});
    const TestImage target =
        machine.ImageOf(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, {});
    const VkDescriptorBufferInfo of_colours = {colours.buffer, 0, 16};
    const VkDescriptorImageInfo of_blue = {machine.Sampler(), blue.view, VK_IMAGE_LAYOUT_GENERAL};
    const VkPipelineLayout layout =
        machine.BindSet({Write(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, &of_colours),
                         Write(VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &of_blue)});
    constexpr VkVertexInputBindingDescription kStream = {0, sizeof(Vertex),
                                                         VK_VERTEX_INPUT_RATE_VERTEX};
    constexpr VkVertexInputAttributeDescription kInputs[] = {
        {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0},
        {1, 0, VK_FORMAT_R32_SFLOAT, offsetof(Vertex, red)}};
    VkPipelineVertexInputStateCreateInfo inputs = {
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    inputs.vertexBindingDescriptionCount = 1;
    inputs.pVertexBindingDescriptions = &kStream;
    inputs.vertexAttributeDescriptionCount = 2;
    inputs.pVertexAttributeDescriptions = kInputs;
    machine.Bind(VK_PIPELINE_BIND_POINT_GRAPHICS, PipelineOf(machine, inputs, layout));
    machine.Barrier();
    VkRenderingAttachmentInfo attachment = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    attachment.imageView = target.view;
    attachment.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    attachment.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    VkRenderingInfo rendering = {VK_STRUCTURE_TYPE_RENDERING_INFO};
    rendering.renderArea.extent = {kSide, kSide};
    rendering.layerCount = 1;
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachments = &attachment;
    const DeviceFunctions& vk = machine.vk();
    vk.CmdBeginRendering(machine.commands(), &rendering);
    const VkDeviceSize offset = 0;
    vk.CmdBindVertexBuffers(machine.commands(), 0, 1, &vertices.buffer, &offset);
    vk.CmdDraw(machine.commands(), 3, 1, 0, 0);
    vk.CmdEndRendering(machine.commands());
    machine.Barrier();
    machine.Read(target, copy);
    machine.Run();
    std::memcpy(drawn.data(), copy.mapped, sizeof(drawn));
    return drawn;
  }

  static VkPipeline PipelineOf(Machine& machine, const VkPipelineVertexInputStateCreateInfo& inputs,
                               VkPipelineLayout layout) {
    const VkPipelineShaderStageCreateInfo stages[] = {
        machine.Stage(VK_SHADER_STAGE_VERTEX_BIT, "kinds.vert"),
        machine.Stage(VK_SHADER_STAGE_FRAGMENT_BIT, "kinds.frag")};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    constexpr VkViewport kAll = {0, 0, kSide, kSide, 0, 1};
    constexpr VkRect2D kScissor = {{0, 0}, {kSide, kSide}};
    VkPipelineViewportStateCreateInfo viewport = {
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    viewport.viewportCount = 1;
    viewport.pViewports = &kAll;
    viewport.scissorCount = 1;
    viewport.pScissors = &kScissor;
    VkPipelineRasterizationStateCreateInfo rasterization = {
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    rasterization.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples = {
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState plain = {};
    plain.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                           VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    VkPipelineColorBlendStateCreateInfo blend = {
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.attachmentCount = 1;
    blend.pAttachments = &plain;
    constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachmentFormats = &kFormat;
    VkGraphicsPipelineCreateInfo info = {VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         &rendering};
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &inputs;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &rasterization;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    EXPECT_EQ(machine.vk().CreateGraphicsPipelines(machine.device(), VK_NULL_HANDLE, 1, &info,
                                                   nullptr, &pipeline),
              VK_SUCCESS);
    return pipeline;
  }

  // One module was changed, and none refused.
  void ExpectEmptied(const std::string& experiment) const {
    EXPECT_EQ(1u, board_.Read().limited) << experiment;
    EXPECT_EQ(0u, board_.Read().refused) << experiment;
  }

  SharedMemory memory_ = std::move(
      SharedMemory::Create("cairn loops", ExperimentBoard::BytesFor(64, 1u << 14)).value());
  ExperimentBoard board_ =
      ExperimentBoard::Make({memory_.data(), memory_.size_bytes()}, 64, 1u << 14);
  std::optional<RecordedExperiment> run_;
};

TexelWords CountedFrom(uint32_t first) {
  TexelWords words;
  for (uint32_t i = 0; i < kTexels; ++i) words[i] = first + i;
  return words;
}

TexelWords Filled(uint32_t word) {
  TexelWords words;
  words.fill(word);
  return words;
}

// Uniform buffer, storage image, combined image sampler, image and sampler, texel buffer, storage texel buffer, the
// widths of two images.
constexpr KindWords kAsItIs = {20, 7, 3, 5, 9, 11, kSide, kSide};

TEST_F(BindingKindsGpuTest, ADispatchAsItIs) {
  const Computed computed = Compute("binding=none");
  EXPECT_THAT(computed.results, Each(kAsItIs));
  EXPECT_EQ(CountedFrom(1), computed.image);
  EXPECT_EQ(CountedFrom(100), computed.texels);
  std::vector<BindingKind> kinds;
  for (const BindingNote& note : board_.Read().bindings) kinds.push_back(note.kind);
  EXPECT_THAT(kinds, UnorderedElementsAre(
                         BindingKind::kStorageBuffer, BindingKind::kUniformBuffer,
                         BindingKind::kStorageImage, BindingKind::kCombinedImageSampler,
                         BindingKind::kSampledImage, BindingKind::kSampler,
                         BindingKind::kUniformTexelBuffer, BindingKind::kStorageTexelBuffer));
}

TEST_F(BindingKindsGpuTest, LoadsOfAnEmptyBindingAreZerosAndOthersStay) {
  // The binding, and the words that come through it.
  const std::pair<uint32_t, std::vector<size_t>> kCases[] = {
      {1, {0}}, {2, {1, 6}}, {3, {2, 7}}, {4, {3}}, {5, {3}}, {6, {4}}, {7, {5}}};
  for (const auto& [binding, zeros] : kCases) {
    const std::string experiment = "binding=0." + std::to_string(binding);
    const Computed computed = Compute(experiment);
    KindWords expected = kAsItIs;
    for (const size_t word : zeros) expected[word] = 0;
    EXPECT_THAT(computed.results, Each(expected)) << experiment;
    EXPECT_EQ(binding == 2 ? Filled(7) : CountedFrom(1), computed.image) << experiment;
    EXPECT_EQ(binding == 7 ? Filled(11) : CountedFrom(100), computed.texels) << experiment;
    ExpectEmptied(experiment);
  }
}

TEST_F(BindingKindsGpuTest, AnEmptyStorageBufferTakesNothingAndImagesStay) {
  const Computed computed = Compute("binding=0.0");
  EXPECT_THAT(computed.results, Each(KindWords{}));
  EXPECT_EQ(CountedFrom(1), computed.image);
  EXPECT_EQ(CountedFrom(100), computed.texels);
  ExpectEmptied("binding=0.0");
}

// Red comes from a vertex, green from a uniform buffer, blue from a texture; alpha says that a pixel was drawn.
TEST_F(BindingKindsGpuTest, PixelsLackWhatComesThroughAnEmptyBinding) {
  EXPECT_EQ(Filled(0xffffffff), Draw("binding=none"));
  EXPECT_EQ(0u, board_.Read().limited);
  const std::pair<const char*, uint32_t> kCases[] = {{"binding=input.1", 0xffffff00},
                                                     {"binding=0.0", 0xffff00ff},
                                                     {"binding=0.1", 0xff00ffff},
                                                     {"binding=input.0", 0}};
  for (const auto& [experiment, pixel] : kCases) {
    EXPECT_EQ(Filled(pixel), Draw(experiment)) << experiment;
    ExpectEmptied(experiment);
  }
}

}  // namespace
}  // namespace cairn
