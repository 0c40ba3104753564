// SPDX-License-Identifier: Apache-2.0
//
// Work that is still running leads to something that was destroyed: the report names it, with who destroyed it
// when. The work is a dispatch, behind which the queue waits for an event of the CPU's, so that what is
// destroyed meanwhile is not used by anybody and yet in flight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/recorder/block_writer.h"
#include "app/vulkan/testing/test_loader.h"
#include "base/testing/json.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "os/thread.h"
#include "reader/analysis/analysis.h"
#include "reader/report/json.h"
#include "reader/report/redact.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A compute shader that does nothing, and declares a buffer for each of these sets and bindings.
struct Declared {
  uint32_t set;
  uint32_t binding;
};
std::vector<uint32_t> ShaderThatDeclares(const std::vector<Declared>& declared) {
  constexpr uint32_t kFirstVariable = 8;
  const uint32_t bound = kFirstVariable + static_cast<uint32_t>(declared.size());
  std::vector<uint32_t> words = {
      0x07230203, 0x00010000, 0,  bound,      0,     // magic, version, generator, bound, schema
      0x00020011, 1,                                 // OpCapability Shader
      0x0003000E, 0,          1,                     // OpMemoryModel Logical GLSL450
      0x0005000F, 5,          1,  0x6E69616D, 0,     // OpEntryPoint GLCompute %1 "main"
      0x00060010, 1,          17, 1,          1, 1,  // OpExecutionMode %1 LocalSize 1 1 1
      0x00030047, 6,          3,  0x00050048, 6, 0,
      35,         0};  // %6: BufferBlock, its member 0: Offset 0
  for (uint32_t i = 0; i < declared.size(); ++i) {
    const uint32_t id = kFirstVariable + i;
    for (const uint32_t word : {0x00040047u, id, 34u, declared[i].set,       // DescriptorSet
                                0x00040047u, id, 33u, declared[i].binding})  // Binding
      words.push_back(word);
  }
  const uint32_t types[] = {0x00020013, 2,          // %2 = OpTypeVoid
                            0x00030021, 3, 2,       // %3 = OpTypeFunction %2
                            0x00040015, 5, 32, 0,   // %5 = OpTypeInt 32 0
                            0x0003001E, 6, 5,       // %6 = OpTypeStruct %5
                            0x00040020, 7, 2,  6};  // %7 = OpTypePointer Uniform %6
  words.insert(words.end(), std::begin(types), std::end(types));
  for (uint32_t i = 0; i < declared.size(); ++i) {
    for (const uint32_t word : {0x0004003Bu, 7u, kFirstVariable + i, 2u}) words.push_back(word);
  }
  const uint32_t function[] = {0x00050036, 2, 1,          0,
                               3,  // %1 = OpFunction %2 None %3
                               0x000200F8, 4, 0x000100FD, 0x00010038};  // OpLabel, return, end
  words.insert(words.end(), std::begin(function), std::end(function));
  return words;
}

class VulkanMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status status = loader_.Create(MarkerMode::kTop);
    ASSERT_TRUE(status.ok()) << status.message();
    VkEventCreateInfo event = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    Get<PFN_vkCreateEvent>("vkCreateEvent")(device(), &event, nullptr, &event_);
    MakeLayout();
    MakePipeline(ShaderThatDeclares({{0, 0}, {0, 2}, {1, 0}, {1, 2}, {1, 5}}));
    MakePool(64, VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT);
  }
  void TearDown() override {
    Release();
    Get<PFN_vkDestroyPipeline>("vkDestroyPipeline")(device(), pipeline_, nullptr);
    Get<PFN_vkDestroyPipelineLayout>("vkDestroyPipelineLayout")(device(), pipeline_layout_,
                                                                nullptr);
    Get<PFN_vkDestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout")(device(), layout_,
                                                                          nullptr);
    Get<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool")(device(), pool_, nullptr);
    Get<PFN_vkDestroyEvent>("vkDestroyEvent")(device(), event_, nullptr);
  }
  // The queue goes on and comes to its end.
  void Release() {
    Get<PFN_vkSetEvent>("vkSetEvent")(device(), event_);
    Get<PFN_vkQueueWaitIdle>("vkQueueWaitIdle")(loader_.queue());
  }

  VkDevice device() const { return loader_.device(); }
  template <typename Function>
  Function Get(const char* name) const {
    return loader_.Get<Function>(name);
  }

  // Binding 0: two storage buffers; 2: a storage image; 5: a texel buffer.
  void MakeLayout() {
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {5, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = 3;
    info.pBindings = bindings;
    Get<PFN_vkCreateDescriptorSetLayout>("vkCreateDescriptorSetLayout")(device(), &info, nullptr,
                                                                        &layout_);
  }
  void MakePipeline(const std::vector<uint32_t>& shader) {
    VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = shader.size() * sizeof(uint32_t);
    module_info.pCode = shader.data();
    VkShaderModule module = VK_NULL_HANDLE;
    Get<PFN_vkCreateShaderModule>("vkCreateShaderModule")(device(), &module_info, nullptr, &module);
    const VkDescriptorSetLayout layouts[] = {layout_, layout_};
    VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 2;
    layout_info.pSetLayouts = layouts;
    Get<PFN_vkCreatePipelineLayout>("vkCreatePipelineLayout")(device(), &layout_info, nullptr,
                                                              &pipeline_layout_);
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = pipeline_layout_;
    Get<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(device(), VK_NULL_HANDLE, 1,
                                                                  &info, nullptr, &pipeline_);
    Get<PFN_vkDestroyShaderModule>("vkDestroyShaderModule")(device(), module, nullptr);
  }
  void MakePool(uint32_t sets, VkDescriptorPoolCreateFlags flags) { pool_ = NewPool(sets, flags); }
  VkDescriptorPool NewPool(uint32_t sets, VkDescriptorPoolCreateFlags flags) {
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * sets},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, sets},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, sets}};
    VkDescriptorPoolCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.flags = flags;
    info.maxSets = sets;
    info.poolSizeCount = 3;
    info.pPoolSizes = sizes;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    Get<PFN_vkCreateDescriptorPool>("vkCreateDescriptorPool")(device(), &info, nullptr, &pool);
    return pool;
  }
  VkDescriptorSet AllocateSet() {
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout_;
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(Get<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets")(device(), &info, &set),
              VK_SUCCESS);
    return set;
  }

  void SetName(VkObjectType type, uint64_t handle, const char* name) {
    VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    info.objectType = type;
    info.objectHandle = handle;
    info.pObjectName = name;
    Get<PFN_vkSetDebugUtilsObjectNameEXT>("vkSetDebugUtilsObjectNameEXT")(device(), &info);
  }
  VkDeviceMemory Allocate(const VkMemoryRequirements& needs) {
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> info.memoryTypeIndex & 1) == 0) ++info.memoryTypeIndex;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    Get<PFN_vkAllocateMemory>("vkAllocateMemory")(device(), &info, nullptr, &memory);
    return memory;
  }
  struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
  };
  Buffer MakeBuffer(const char* name) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 4096;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
    Buffer buffer;
    Get<PFN_vkCreateBuffer>("vkCreateBuffer")(device(), &info, nullptr, &buffer.handle);
    VkMemoryRequirements needs = {};
    Get<PFN_vkGetBufferMemoryRequirements>("vkGetBufferMemoryRequirements")(device(), buffer.handle,
                                                                            &needs);
    buffer.memory = Allocate(needs);
    Get<PFN_vkBindBufferMemory>("vkBindBufferMemory")(device(), buffer.handle, buffer.memory, 0);
    if (name != nullptr) SetName(VK_OBJECT_TYPE_BUFFER, Value(buffer.handle), name);
    return buffer;
  }
  template <typename Handle>
  static uint64_t Value(Handle handle) {
    return reinterpret_cast<uintptr_t>(handle);
  }
  void DestroyBuffer(VkBuffer buffer) {
    Get<PFN_vkDestroyBuffer>("vkDestroyBuffer")(device(), buffer, nullptr);
  }
  void FreeMemory(VkDeviceMemory memory) {
    Get<PFN_vkFreeMemory>("vkFreeMemory")(device(), memory, nullptr);
  }
  void Destroy(const Buffer& buffer) {
    DestroyBuffer(buffer.handle);
    FreeMemory(buffer.memory);
  }

  struct Image {
    VkImage handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
  };
  Image MakeImage() {
    VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = {16, 16, 1};
    info.mipLevels = 1;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_STORAGE_BIT;
    Image image;
    Get<PFN_vkCreateImage>("vkCreateImage")(device(), &info, nullptr, &image.handle);
    VkMemoryRequirements needs = {};
    Get<PFN_vkGetImageMemoryRequirements>("vkGetImageMemoryRequirements")(device(), image.handle,
                                                                          &needs);
    image.memory = Allocate(needs);
    Get<PFN_vkBindImageMemory>("vkBindImageMemory")(device(), image.handle, image.memory, 0);
    VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = image.handle;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = info.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    Get<PFN_vkCreateImageView>("vkCreateImageView")(device(), &view, nullptr, &image.view);
    return image;
  }
  void DestroyView(VkImageView view) {
    Get<PFN_vkDestroyImageView>("vkDestroyImageView")(device(), view, nullptr);
  }
  void DestroyImage(VkImage image) {
    Get<PFN_vkDestroyImage>("vkDestroyImage")(device(), image, nullptr);
  }

  void Write(VkDescriptorSet set, uint32_t element, VkBuffer buffer) {
    const VkDescriptorBufferInfo info = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstArrayElement = element;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &info;
    Get<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets")(device(), 1, &write, 0, nullptr);
  }
  void WriteImage(VkDescriptorSet set, VkImageView view) {
    const VkDescriptorImageInfo info = {VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = 2;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    write.pImageInfo = &info;
    Get<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets")(device(), 1, &write, 0, nullptr);
  }

  void Bind(VkCommandBuffer commands, uint32_t number, VkDescriptorSet set) {
    Get<PFN_vkCmdBindDescriptorSets>("vkCmdBindDescriptorSets")(
        commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout_, number, 1, &set, 0, nullptr);
  }
  void Dispatch(VkCommandBuffer commands) {
    Get<PFN_vkCmdDispatch>("vkCmdDispatch")(commands, 1, 1, 1);
  }
  VkCommandBuffer Begin() {
    const VkCommandBuffer commands = loader_.Allocate();
    loader_.Begin(commands);
    Get<PFN_vkCmdBindPipeline>("vkCmdBindPipeline")(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                                    pipeline_);
    return commands;
  }
  void Submit(VkCommandBuffer commands) {
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    ASSERT_EQ(Get<PFN_vkQueueSubmit>("vkQueueSubmit")(loader_.queue(), 1, &info, VK_NULL_HANDLE),
              VK_SUCCESS);
  }
  // Ends the buffer with a wait for the event, and returns when the GPU waits there.
  void Hang(VkCommandBuffer commands) {
    Get<PFN_vkCmdWaitEvents>("vkCmdWaitEvents")(commands, 1, &event_, VK_PIPELINE_STAGE_HOST_BIT,
                                                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, nullptr, 0,
                                                nullptr, 0, nullptr);
    loader_.End(commands);
    Submit(commands);
    const uint32_t wait = static_cast<uint32_t>(loader_.Events(commands).size()) - 1;
    while (ProgressSequence(loader_.Words(commands).reached.load(),
                            loader_.Slot(commands).generation) < wait) {
      std::this_thread::yield();
    }
  }
  // A dispatch with this set as number 1, in flight.
  void HangWith(VkDescriptorSet set) {
    const VkCommandBuffer commands = Begin();
    Bind(commands, 1, set);
    Dispatch(commands);
    Hang(commands);
  }

  Snapshot Take() {
    const BlockWriter& block = *loader_.state().block;
    loader_.state().context->Mirror();
    Result<Snapshot> snapshot =
        SnapshotFromBlock(std::span<const std::byte>(block.data(), block.size_bytes()), 0);
    EXPECT_TRUE(snapshot.ok());
    Incident hang;
    hang.kind = IncidentKind::kHang;
    hang.queue = loader_.state().context->QueueIndex(loader_.queue());
    // An hour after the start: whatever is destroyed was destroyed before.
    hang.time_ns = snapshot->process.start_time_ns + 3'600'000'000'000;
    snapshot->incidents.push_back(hang);
    return std::move(*snapshot);
  }
  static Json ReportOf(const Snapshot& snapshot) {
    return Json::Parse(JsonReport(snapshot, Analyse(snapshot)));
  }
  // Of all candidates that are dispatches.
  static std::vector<Json> Bindings(const Json& report) {
    std::vector<Json> found;
    for (const Json& verdict : report.at("verdicts")) {
      for (const Json& candidate : verdict.at("candidates")) {
        if (candidate.at("type") != "DISPATCH") continue;
        for (const Json& binding : candidate.at("bindings")) found.push_back(binding);
      }
    }
    return found;
  }
  std::vector<Json> Bindings() { return Bindings(ReportOf(Take())); }
  // What the report says first.
  static std::string Sentence(const Json& report) {
    return report.at("verdict").at("sentence").get<std::string>();
  }

  TestLoader loader_;
  VkEvent event_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout layout_ = VK_NULL_HANDLE;
  VkPipelineLayout pipeline_layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
};

TEST_F(VulkanMemoryTest, ABufferThatAnotherThreadDestroyedBehindADescriptorIsNamed) {
  const Buffer kept = MakeBuffer("Lights");
  const Buffer lost = MakeBuffer("Particles");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, kept.handle);
  Write(set, 1, lost.handle);
  HangWith(set);
  loader_.state().context->BeginLayerFrame();
  const uint64_t frame = loader_.state().block->contexts()[loader_.state().context->index()].frame;
  uint32_t thread_id = 0;
  StartInnerThread("streaming", [&] {
    thread_id = CurrentThreadId();
    Destroy(lost);
  }).join();
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u) << report.at("verdicts");
  const Json& binding = bindings[0];
  EXPECT_EQ(binding.at("point"), "descriptor set");
  EXPECT_EQ(binding.at("slot"), 1);
  EXPECT_EQ(binding.at("binding"), 0);
  EXPECT_EQ(binding.at("element"), 1);
  EXPECT_EQ(binding.at("state"), "destroyed");
  EXPECT_GT(binding.at("destroyed_after_ns").get<int64_t>(), 0);
  EXPECT_EQ(binding.at("since_submission"), true);
  const Json destruction = binding.at("destruction");
  EXPECT_EQ(destruction.at("kind"), "buffer");
  EXPECT_TRUE(destruction.at("cause").is_null());
  EXPECT_EQ(destruction.at("thread"), thread_id);
  EXPECT_EQ(destruction.at("thread_name"), "streaming");
  EXPECT_GT(destruction.at("before_incident_ns").get<int64_t>(), 0);
  EXPECT_EQ(destruction.at("frame"), frame);
  EXPECT_EQ(destruction.at("queue"), loader_.state().context->QueueIndex(loader_.queue()));
  EXPECT_EQ(destruction.at("submission"), 1);
  const Json object = report.at("objects").at(binding.at("object").get<uint32_t>());
  EXPECT_EQ(object.at("name"), "Particles");
  EXPECT_EQ(object.at("state"), "destroyed");
  EXPECT_THAT(Sentence(report),
              HasSubstr("uses descriptor set 1 binding 0[1]: buffer \"Particles\", destroyed "));
  EXPECT_THAT(Sentence(report), HasSubstr("after the submission, by thread \"streaming\" ("));
  EXPECT_THAT(Sentence(report), HasSubstr("behind submission 1 of queue "));
  Release();
  Destroy(kept);
}

TEST_F(VulkanMemoryTest, NamesAreRedactedAndWhoAndWhenStay) {
  const Buffer lost = MakeBuffer("Secret weapon");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, lost.handle);
  HangWith(set);
  StartInnerThread("secret thread", [&] { Destroy(lost); }).join();
  const std::string text = JsonReport(Redact(Take()), Analyse(Redact(Take())));
  EXPECT_THAT(text, Not(HasSubstr("Secret weapon")));
  EXPECT_THAT(text, Not(HasSubstr("secret thread")));
  const std::vector<Json> bindings = Bindings(Json::Parse(text));
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("binding"), 0);
  EXPECT_THAT(bindings[0].at("destruction").at("thread_name").get<std::string>(),
              HasSubstr("name-"));
  EXPECT_EQ(bindings[0].at("destruction").at("submission"), 1);
}

TEST_F(VulkanMemoryTest, WhatIsDestroyedBehindFinishedWorkIsNotTold) {
  const Buffer lost = MakeBuffer("Finished");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, lost.handle);
  const VkCommandBuffer done = Begin();
  Bind(done, 1, set);
  Dispatch(done);
  loader_.End(done);
  ASSERT_EQ(loader_.Run(done), VK_SUCCESS);
  Destroy(lost);
  // The work that hangs has another set.
  const Buffer alive = MakeBuffer("Alive");
  const VkDescriptorSet other = AllocateSet();
  Write(other, 0, alive.handle);
  HangWith(other);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

TEST_F(VulkanMemoryTest, AHandleThatIsUsedAgainIsNotConfused) {
  // Until the driver gives the handle of a destroyed buffer to a new one: lavapipe does soon.
  Buffer first = MakeBuffer("First");
  Buffer second;
  std::vector<Buffer> others;
  for (int i = 0; i < 1000 && second.handle != first.handle; ++i) {
    Destroy(first);
    if (second.handle != VK_NULL_HANDLE) others.push_back(second);
    first = {first.handle, VK_NULL_HANDLE};
    second = MakeBuffer("Second");
    if (second.handle != first.handle) {
      others.push_back(second);
      first = MakeBuffer("First");
      second = {};
    }
  }
  ASSERT_EQ(second.handle, first.handle) << "the driver never gives a handle again";
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, second.handle);
  HangWith(set);
  EXPECT_TRUE(Bindings().empty()) << "the one with this handle that was destroyed is an older one";
  Destroy(second);
  const Buffer third = MakeBuffer("Third");
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(report.at("objects").at(bindings[0].at("object").get<uint32_t>()).at("name"), "Second")
      << "whoever has the handle now";
  Release();
  Destroy(third);
  for (const Buffer& other : others) Destroy(other);
}

TEST_F(VulkanMemoryTest, FreedMemoryUnderALivingBufferIsTheCause) {
  const Buffer buffer = MakeBuffer("Skinned vertices");
  SetName(VK_OBJECT_TYPE_DEVICE_MEMORY, Value(buffer.memory), "Heap A");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, buffer.handle);
  HangWith(set);
  FreeMemory(buffer.memory);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  const Json cause = bindings[0].at("destruction").at("cause");
  EXPECT_EQ(cause.at("kind"), "device memory");
  EXPECT_EQ(report.at("objects").at(cause.at("object").get<uint32_t>()).at("name"), "Heap A");
  EXPECT_THAT(Sentence(report),
              HasSubstr("buffer \"Skinned vertices\", whose device memory \"Heap A\" was freed "));
  Release();
  DestroyBuffer(buffer.handle);
}

TEST_F(VulkanMemoryTest, ADestroyedImageIsFoundThroughItsView) {
  const Image image = MakeImage();
  SetName(VK_OBJECT_TYPE_IMAGE, Value(image.handle), "Albedo");
  const VkDescriptorSet set = AllocateSet();
  WriteImage(set, image.view);
  HangWith(set);
  DestroyImage(image.handle);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("binding"), 2);
  EXPECT_EQ(bindings[0].at("destruction").at("kind"), "image view");
  EXPECT_EQ(bindings[0].at("destruction").at("cause").at("kind"), "image");
  EXPECT_THAT(Sentence(report), HasSubstr("whose image \"Albedo\" was destroyed "));
  Release();
  DestroyView(image.view);
  FreeMemory(image.memory);
}

// As most programs do it: the view goes first. It has no name, the image has.
TEST_F(VulkanMemoryTest, ADestroyedViewIsToldWithItsImage) {
  const Image image = MakeImage();
  SetName(VK_OBJECT_TYPE_IMAGE, Value(image.handle), "Normals");
  const VkDescriptorSet set = AllocateSet();
  WriteImage(set, image.view);
  HangWith(set);
  DestroyView(image.view);
  DestroyImage(image.handle);
  FreeMemory(image.memory);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  const Json destruction = bindings[0].at("destruction");
  EXPECT_TRUE(destruction.at("cause").is_null());
  EXPECT_EQ(destruction.at("owner").at("kind"), "image");
  EXPECT_THAT(Sentence(report), HasSubstr(" of image \"Normals\", destroyed "));
}

TEST_F(VulkanMemoryTest, FreedMemoryUnderALivingImageIsTheCause) {
  const Image image = MakeImage();
  const VkDescriptorSet set = AllocateSet();
  WriteImage(set, image.view);
  HangWith(set);
  FreeMemory(image.memory);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("destruction").at("cause").at("kind"), "device memory");
  EXPECT_EQ(bindings[0].at("destruction").at("owner").at("kind"), "image");
  Release();
  DestroyView(image.view);
  DestroyImage(image.handle);
}

TEST_F(VulkanMemoryTest, TheSetThatWasBoundLastCounts) {
  const Buffer lost = MakeBuffer("Lost");
  const Buffer alive = MakeBuffer("Alive");
  const VkDescriptorSet stale = AllocateSet();
  const VkDescriptorSet fresh = AllocateSet();
  Write(stale, 0, lost.handle);
  Write(fresh, 0, alive.handle);
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, fresh);
  Bind(commands, 1, stale);
  Bind(commands, 1, fresh);
  Dispatch(commands);
  Hang(commands);
  Destroy(lost);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

TEST_F(VulkanMemoryTest, ADescriptorThatIsWrittenAnewLeadsToWhatItNames) {
  const Buffer lost = MakeBuffer("Lost");
  const Buffer alive = MakeBuffer("Alive");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, lost.handle);
  Destroy(lost);
  Write(set, 0, alive.handle);
  HangWith(set);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

// Set 1 is still bound from work before, but this pipeline cannot use it.
TEST_F(VulkanMemoryTest, WhatNoShaderOfThePipelineDeclaresIsNotMeant) {
  Get<PFN_vkDestroyPipeline>("vkDestroyPipeline")(device(), pipeline_, nullptr);
  Get<PFN_vkDestroyPipelineLayout>("vkDestroyPipelineLayout")(device(), pipeline_layout_, nullptr);
  MakePipeline(ShaderThatDeclares({{0, 0}, {1, 2}}));
  const Buffer lost = MakeBuffer("Lost");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, lost.handle);
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, set);
  Bind(commands, 1, set);
  Dispatch(commands);
  Hang(commands);
  Destroy(lost);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 1u) << "binding 0 of set 0 is declared, of set 1 it is not";
  EXPECT_EQ(bindings[0].at("slot"), 0);
  EXPECT_EQ(bindings[0].at("binding"), 0);
}

TEST_F(VulkanMemoryTest, CopiesAndTemplatesWriteDescriptors) {
  const Buffer lost = MakeBuffer("Lost");
  VkBufferViewCreateInfo view_info = {VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  view_info.buffer = lost.handle;
  view_info.format = VK_FORMAT_R32_UINT;
  view_info.range = VK_WHOLE_SIZE;
  VkBufferView view = VK_NULL_HANDLE;
  Get<PFN_vkCreateBufferView>("vkCreateBufferView")(device(), &view_info, nullptr, &view);
  struct Data {
    uint64_t before = 0;
    VkDescriptorBufferInfo buffer;
    VkBufferView view;
  } data = {0, {lost.handle, 0, VK_WHOLE_SIZE}, view};
  const VkDescriptorUpdateTemplateEntry entries[] = {
      {0, 1, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(Data, buffer), 0},
      {5, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, offsetof(Data, view), 0}};
  VkDescriptorUpdateTemplateCreateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  info.descriptorUpdateEntryCount = 2;
  info.pDescriptorUpdateEntries = entries;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = layout_;
  VkDescriptorUpdateTemplate update = VK_NULL_HANDLE;
  Get<PFN_vkCreateDescriptorUpdateTemplate>("vkCreateDescriptorUpdateTemplate")(device(), &info,
                                                                                nullptr, &update);
  const VkDescriptorSet source = AllocateSet();
  const VkDescriptorSet set = AllocateSet();
  Get<PFN_vkUpdateDescriptorSetWithTemplate>("vkUpdateDescriptorSetWithTemplate")(device(), source,
                                                                                  update, &data);
  VkCopyDescriptorSet copies[2] = {{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET},
                                   {VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET}};
  copies[0].srcSet = source;
  copies[0].srcArrayElement = 1;
  copies[0].dstSet = set;
  copies[0].descriptorCount = 1;
  copies[1].srcSet = source;
  copies[1].srcBinding = 5;
  copies[1].dstSet = set;
  copies[1].dstBinding = 5;
  copies[1].descriptorCount = 1;
  Get<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets")(device(), 0, nullptr, 2, copies);
  HangWith(set);
  DestroyBuffer(lost.handle);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].at("binding"), 0);
  EXPECT_EQ(bindings[0].at("element"), 0);
  EXPECT_EQ(bindings[0].at("destruction").at("kind"), "buffer");
  EXPECT_EQ(bindings[1].at("binding"), 5);
  EXPECT_EQ(bindings[1].at("destruction").at("kind"), "buffer view");
  EXPECT_EQ(bindings[1].at("destruction").at("cause").at("kind"), "buffer");
  Release();
  Get<PFN_vkDestroyBufferView>("vkDestroyBufferView")(device(), view, nullptr);
  Get<PFN_vkDestroyDescriptorUpdateTemplate>("vkDestroyDescriptorUpdateTemplate")(device(), update,
                                                                                  nullptr);
  FreeMemory(lost.memory);
}

// A program that takes everything down while the GPU still runs: sets go first.
TEST_F(VulkanMemoryTest, AFreedSetStillSaysWhatItHeld) {
  const Buffer lost = MakeBuffer("Torn down");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, lost.handle);
  HangWith(set);
  Get<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool")(device(), pool_, nullptr);
  pool_ = VK_NULL_HANDLE;
  Destroy(lost);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("destruction").at("kind"), "buffer");
}

// Reset and allocated again, a pool gives out the same handles: what was bound before does not lead to what
// they hold now.
TEST_F(VulkanMemoryTest, ASetOfAPoolThatWasResetIsAnother) {
  const Buffer alive = MakeBuffer("Alive");
  const Buffer lost = MakeBuffer("Lost");
  const VkDescriptorSet set = AllocateSet();
  Write(set, 0, alive.handle);
  HangWith(set);
  Get<PFN_vkResetDescriptorPool>("vkResetDescriptorPool")(device(), pool_, 0);
  const VkDescriptorSet again = AllocateSet();
  Write(again, 0, lost.handle);
  Destroy(lost);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

TEST_F(VulkanMemoryTest, ABufferThatOnlyBindsIsSeenToFinish) {
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, AllocateSet());
  loader_.End(commands);
  const std::vector<EventRecord> events = loader_.Events(commands);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kBind);
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(
      ProgressSequence(loader_.Words(commands).passed.load(), loader_.Slot(commands).generation),
      1u);
}

// The next buffer may resume a dynamic render pass: until it does, the GPU may be given nothing.
TEST_F(VulkanMemoryTest, ASuspendedRenderPassMayGoOnBehindABind) {
  loader_.state().suspends_render_passes = true;
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, AllocateSet());
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "Resumed", {}};
  Get<PFN_vkCmdBeginDebugUtilsLabelEXT>("vkCmdBeginDebugUtilsLabelEXT")(commands, &label);
  Get<PFN_vkCmdEndDebugUtilsLabelEXT>("vkCmdEndDebugUtilsLabelEXT")(commands);
  Bind(commands, 1, AllocateSet());
  loader_.End(commands);
  const std::vector<EventRecord> events = loader_.Events(commands);
  ASSERT_EQ(events.size(), 4u);
  for (const EventRecord& event : events) {
    EXPECT_EQ(event.flags & (kEventWritesTop | kEventWritesBottom), 0);
  }
}

// Four threads with a pool each make, write and reset sets, and destroy what they hold, while one set of work in
// flight leads to a buffer that lives: whenever one looks, nothing is wrong.
TEST_F(VulkanMemoryTest, WhileThreadsChangeSetsSnapshotsStayTrue) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  const Buffer alive = MakeBuffer("Alive");
  const VkDescriptorSet bound = AllocateSet();
  Write(bound, 0, alive.handle);
  HangWith(bound);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const VkDescriptorPool pool = NewPool(8, 0);
      for (int round = 0; round < kRounds; ++round) {
        const VkDescriptorSetLayout layouts[] = {layout_, layout_};
        VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
        info.descriptorPool = pool;
        info.descriptorSetCount = 2;
        info.pSetLayouts = layouts;
        VkDescriptorSet sets[2] = {};
        Get<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets")(device(), &info, sets);
        const Buffer buffer = MakeBuffer(round % 2 == 0 ? "Short-lived" : nullptr);
        Write(sets[0], 0, buffer.handle);
        Write(sets[1], 1, buffer.handle);
        Destroy(buffer);
        Get<PFN_vkResetDescriptorPool>("vkResetDescriptorPool")(device(), pool, 0);
      }
      Get<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool")(device(), pool, nullptr);
      --running;
    });
  }
  int looks = 0;
  do {
    const Snapshot snapshot = Take();
    EXPECT_EQ(FindInconsistency(snapshot), "");
    EXPECT_TRUE(snapshot.descriptors.empty());
    ++looks;
  } while (running.load() != 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(looks, 0);
  Destroy(alive);
  EXPECT_EQ(Bindings().size(), 1u) << "in the end it was destroyed";
}

TEST_F(VulkanMemoryTest, ManySetsTakeBoundedMemory) {
  BlockWriter& block = *loader_.state().block;
  const uint64_t limit = block.size_bytes() / DescriptorSets::kShareOfBlock;
  const uint64_t before = block.header()->next_page.load();
  // Each takes 128 bytes: more than the share has room for.
  const uint32_t count = static_cast<uint32_t>(limit / 128) + 10'000;
  Get<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool")(device(), pool_, nullptr);
  MakePool(count, 0);
  std::vector<VkDescriptorSetLayout> layouts(count, layout_);
  std::vector<VkDescriptorSet> sets(count);
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool_;
  info.descriptorSetCount = count;
  info.pSetLayouts = layouts.data();
  ASSERT_EQ(
      Get<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets")(device(), &info, sets.data()),
      VK_SUCCESS);
  EXPECT_LE((block.header()->next_page.load() - before) * kPageBytes, limit);
  EXPECT_GE(block.header()->descriptor_sets_left_out.load(), 9'000u);
  // Those without room do no harm; the first ones are looked into.
  const Buffer lost = MakeBuffer("Lost");
  Write(sets.front(), 0, lost.handle);
  Write(sets.back(), 0, lost.handle);
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, sets.back());
  Bind(commands, 1, sets.front());
  Dispatch(commands);
  Hang(commands);
  Destroy(lost);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("slot"), 1);
  EXPECT_THAT(report.at("losses").dump(), HasSubstr("descriptor sets found no room"));
}

}  // namespace
}  // namespace cairn::testing
