// SPDX-License-Identifier: Apache-2.0
//
// For vulkan_memory_test.cc: work that is in flight as long as the test wants, and what it uses. The work is a
// dispatch, behind which the queue waits for an event of the CPU's: what is destroyed meanwhile is not used by
// anybody, and yet in flight.
#ifndef CAIRN_TESTS_VULKAN_MEMORY_FIXTURE_H_
#define CAIRN_TESTS_VULKAN_MEMORY_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/recorder/block_writer.h"
#include "app/vulkan/testing/test_loader.h"
#include "base/testing/json.h"
#include "format/snapshot/snapshot_from_block.h"
#include "reader/analysis/findings.h"
#include "reader/report/json.h"

namespace cairn::testing {

// A compute shader that does nothing, and declares a buffer for each of these sets and bindings.
struct Declared {
  uint32_t set;
  uint32_t binding;
};
inline std::vector<uint32_t> ShaderThatDeclares(const std::vector<Declared>& declared) {
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
    vk().CreateEvent(device(), &event, nullptr, &event_);
    MakeLayout();
    MakePipeline(ShaderThatDeclares({{0, 0}, {0, 2}, {1, 0}, {1, 2}, {1, 5}}));
    MakePool(64, VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT);
  }
  void TearDown() override {
    Release();
    vk().DestroyPipeline(device(), pipeline_, nullptr);
    vk().DestroyPipelineLayout(device(), pipeline_layout_, nullptr);
    vk().DestroyDescriptorSetLayout(device(), layout_, nullptr);
    vk().DestroyDescriptorPool(device(), pool_, nullptr);
    vk().DestroyEvent(device(), event_, nullptr);
  }
  // The queue goes on and comes to its end.
  void Release() {
    vk().SetEvent(device(), event_);
    vk().QueueWaitIdle(loader_.queue());
  }

  VkDevice device() const { return loader_.device(); }
  const DeviceFunctions& vk() const { return loader_.vk(); }

  // Binding 0: two storage buffers; 2: a storage image; 5: a texel buffer.
  void MakeLayout() {
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
        {5, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = 3;
    info.pBindings = bindings;
    vk().CreateDescriptorSetLayout(device(), &info, nullptr, &layout_);
  }
  // Binding 0: so many storage buffers.
  VkDescriptorSetLayout MakeLayoutOf(uint32_t descriptors) const {
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptors,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = 1;
    info.pBindings = &binding;
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    vk().CreateDescriptorSetLayout(device(), &info, nullptr, &layout);
    return layout;
  }
  void MakePipeline(const std::vector<uint32_t>& shader) {
    VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = shader.size() * sizeof(uint32_t);
    module_info.pCode = shader.data();
    VkShaderModule module = VK_NULL_HANDLE;
    vk().CreateShaderModule(device(), &module_info, nullptr, &module);
    const VkDescriptorSetLayout layouts[] = {layout_, layout_};
    VkPipelineLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 2;
    layout_info.pSetLayouts = layouts;
    vk().CreatePipelineLayout(device(), &layout_info, nullptr, &pipeline_layout_);
    VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = pipeline_layout_;
    vk().CreateComputePipelines(device(), VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_);
    vk().DestroyShaderModule(device(), module, nullptr);
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
    vk().CreateDescriptorPool(device(), &info, nullptr, &pool);
    return pool;
  }
  VkDescriptorSet AllocateSet() {
    VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = pool_;
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout_;
    VkDescriptorSet set = VK_NULL_HANDLE;
    EXPECT_EQ(vk().AllocateDescriptorSets(device(), &info, &set), VK_SUCCESS);
    return set;
  }

  void SetName(VkObjectType type, uint64_t handle, const char* name) {
    VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    info.objectType = type;
    info.objectHandle = handle;
    info.pObjectName = name;
    vk().SetDebugUtilsObjectNameEXT(device(), &info);
  }
  VkDeviceMemory Allocate(const VkMemoryRequirements& needs, bool by_address = false) {
    VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    if (by_address) info.pNext = &flags;
    info.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> info.memoryTypeIndex & 1) == 0) ++info.memoryTypeIndex;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    vk().AllocateMemory(device(), &info, nullptr, &memory);
    return memory;
  }
  struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
  };
  // `by_address`: shaders may reach it by its device address.
  Buffer MakeBuffer(const char* name, bool by_address = false) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 4096;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
    if (by_address) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    Buffer buffer;
    vk().CreateBuffer(device(), &info, nullptr, &buffer.handle);
    VkMemoryRequirements needs = {};
    vk().GetBufferMemoryRequirements(device(), buffer.handle, &needs);
    buffer.memory = Allocate(needs, by_address);
    vk().BindBufferMemory(device(), buffer.handle, buffer.memory, 0);
    if (name != nullptr) SetName(VK_OBJECT_TYPE_BUFFER, Value(buffer.handle), name);
    return buffer;
  }
  template <typename Handle>
  static uint64_t Value(Handle handle) {
    return reinterpret_cast<uintptr_t>(handle);
  }
  void DestroyBuffer(VkBuffer buffer) { vk().DestroyBuffer(device(), buffer, nullptr); }
  void FreeMemory(VkDeviceMemory memory) { vk().FreeMemory(device(), memory, nullptr); }
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
    vk().CreateImage(device(), &info, nullptr, &image.handle);
    VkMemoryRequirements needs = {};
    vk().GetImageMemoryRequirements(device(), image.handle, &needs);
    image.memory = Allocate(needs);
    vk().BindImageMemory(device(), image.handle, image.memory, 0);
    VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = image.handle;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = info.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vk().CreateImageView(device(), &view, nullptr, &image.view);
    return image;
  }
  // Lavapipe of newer Mesa executes under a lock of its queue, for which destroying a view waits: seen of 25.0, not of
  // 22.3. Programs may not destroy what is in use.
  bool DriverWaitsBeforeViewsGo() {
    const Snapshot snapshot = Take();
    const std::string driver(snapshot.Text(snapshot.devices[0].driver));
    const size_t mesa = driver.find("Mesa ");
    return driver.find("llvmpipe") != driver.npos && mesa != driver.npos &&
           std::stoi(driver.substr(mesa + 5)) > 22;
  }
  void DestroyView(VkImageView view) { vk().DestroyImageView(device(), view, nullptr); }
  void DestroyImage(VkImage image) { vk().DestroyImage(device(), image, nullptr); }

  void Write(VkDescriptorSet set, uint32_t element, VkBuffer buffer) {
    const VkDescriptorBufferInfo info = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstArrayElement = element;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &info;
    vk().UpdateDescriptorSets(device(), 1, &write, 0, nullptr);
  }
  void WriteImage(VkDescriptorSet set, VkImageView view) {
    const VkDescriptorImageInfo info = {VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = 2;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    write.pImageInfo = &info;
    vk().UpdateDescriptorSets(device(), 1, &write, 0, nullptr);
  }

  void Bind(VkCommandBuffer commands, uint32_t number, VkDescriptorSet set) {
    vk().CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout_, number,
                               1, &set, 0, nullptr);
  }
  void Dispatch(VkCommandBuffer commands) { vk().CmdDispatch(commands, 1, 1, 1); }
  VkCommandBuffer Begin() {
    const VkCommandBuffer commands = loader_.Allocate();
    loader_.Begin(commands);
    vk().CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    return commands;
  }
  void Submit(VkCommandBuffer commands) {
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    ASSERT_EQ(vk().QueueSubmit(loader_.queue(), 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
  }
  // Ends the buffer with a wait for the event, and returns when the GPU waits there.
  void Hang(VkCommandBuffer commands) {
    vk().CmdWaitEvents(commands, 1, &event_, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, nullptr, 0, nullptr, 0, nullptr);
    loader_.End(commands);
    Submit(commands);
    const uint32_t wait = static_cast<uint32_t>(loader_.Events(commands).size()) - 1;
    while (ProgressSequence(loader_.Words(commands).reached.load(),
                            loader_.Slot(commands).generation) < wait) {
      std::this_thread::yield();
    }
  }
  // Allocates a set in which this element of binding 0 is that buffer.
  VkDescriptorSet SetWith(uint32_t element, VkBuffer buffer) {
    const VkDescriptorSet set = AllocateSet();
    Write(set, element, buffer);
    return set;
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
    return Json::Parse(JsonReport(snapshot, AnalyseDump(snapshot)));
  }
  // Returns the bindings of all candidates that are dispatches.
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
  // Returns the first sentence of the report.
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

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_VULKAN_MEMORY_FIXTURE_H_
