// SPDX-License-Identifier: Apache-2.0
//
// The experiment "memory" in the Vulkan layer, on devices: lavapipe, whose memory the CPU can map, and the driver of
// tests/icd, which has memory for the GPU alone. Both leave rubbish in new memory here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/breadcrumbs/vulkan_loader.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/run_board.h"
#include "app/vulkan/testing/test_loader.h"

namespace cairn {
namespace {

using ::testing::Each;

constexpr VkDeviceSize kBytes = 1 << 16;
constexpr uint8_t kRubbish = 0xaa;

// Stands behind the layer.
namespace driver {

PFN_vkGetInstanceProcAddr loader = nullptr;
VkInstance of_program = VK_NULL_HANDLE;
PFN_vkGetDeviceProcAddr get_of_device = nullptr;
DeviceFunctions real;
uint32_t queues = 0;  // that the device is made with

// All memory of both drivers is the CPU's, whatever they say of it.
void* MappedBytes(VkDevice device, VkDeviceMemory memory) {
  void* mapped = nullptr;
  EXPECT_EQ(real.MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
  return mapped;
}

VKAPI_ATTR VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkDeviceMemory* memory) {
  const VkResult result = real.AllocateMemory(device, info, allocator, memory);
  const auto* const next = static_cast<const VkBaseInStructure*>(info->pNext);
  const bool imports =
      next != nullptr && next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  if (result != VK_SUCCESS || imports) return result;
  std::memset(MappedBytes(device, *memory), kRubbish, info->allocationSize);
  real.UnmapMemory(device, *memory);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical_device,
                                            const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkDevice* device) {
  queues = 0;
  for (uint32_t i = 0; i < info->queueCreateInfoCount; ++i) {
    queues += info->pQueueCreateInfos[i].queueCount;
  }
  const auto next = reinterpret_cast<PFN_vkCreateDevice>(loader(of_program, "vkCreateDevice"));
  const VkResult result = next(physical_device, info, allocator, device);
  if (result == VK_SUCCESS) LoadDeviceFunctions(*device, get_of_device, &real);
  return result;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfDevice(VkDevice device, const char* name) {
  if (std::string_view(name) == "vkAllocateMemory") {
    return reinterpret_cast<PFN_vkVoidFunction>(AllocateMemory);
  }
  return get_of_device(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfInstance(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction next = loader(instance, name);
  if (std::string_view(name) == "vkCreateDevice") {
    of_program = instance;
    return reinterpret_cast<PFN_vkVoidFunction>(CreateDevice);
  }
  if (std::string_view(name) == "vkGetDeviceProcAddr") {
    get_of_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(next);
    return reinterpret_cast<PFN_vkVoidFunction>(GetOfDevice);
  }
  return next;
}

}  // namespace driver

class FillMemoryGpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto found = LoadVulkanLoader();
    ASSERT_TRUE(found.ok()) << found.status().message();
    driver::loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*found);
    const char* const own = OwnVariable("VK_DRIVER_FILES");
    own_driver_ = own != nullptr ? own : "";
  }
  void SetUp() override { RunBoard::OfProcess().Take(); }
  void TearDown() override {
    loader_.reset();
    ReplaceRunExperiment(nullptr);
    if (own_driver_.empty()) {
      ClearVariable("VK_DRIVER_FILES");
    } else {
      SetVariable("VK_DRIVER_FILES", own_driver_);
    }
  }

  void Start(uint8_t fill, MarkerMode mode = MarkerMode::kTop) {
    experiment_ = {.change = Change::kFillMemory, .fill = fill};
    ReplaceRunExperiment(&experiment_);
    TestDeviceRequest request;
    request.next = driver::GetOfInstance;
    loader_.emplace();
    const Status made = loader_->Create(mode, request);
    ASSERT_TRUE(made.ok()) << made.message();
    loader_->GetOfInstance<PFN_vkGetPhysicalDeviceMemoryProperties>(
        "vkGetPhysicalDeviceMemoryProperties")(loader_->physical_device(), &memory_);
    RunBoard::OfProcess().Take();
  }
  void StartOnTheDriverOfTests(uint8_t fill, MarkerMode mode = MarkerMode::kTop) {
    SetVariable("VK_DRIVER_FILES", CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json");
    Start(fill, mode);
  }

  // The program allocates memory of this type. Returns what it finds there.
  std::vector<uint8_t> NewMemory(uint32_t type, const void* chain = nullptr) {
    const VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, chain, kBytes, type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(loader_->vk().AllocateMemory(loader_->device(), &info, nullptr, &memory), VK_SUCCESS);
    std::vector<uint8_t> bytes(kBytes);
    std::memcpy(bytes.data(), driver::MappedBytes(loader_->device(), memory), kBytes);
    driver::real.UnmapMemory(loader_->device(), memory);
    loader_->vk().FreeMemory(loader_->device(), memory, nullptr);
    return bytes;
  }
  // A type that the CPU can map, or one that it cannot.
  uint32_t TypeOf(bool is_mappable) const {
    uint32_t type = 0;
    while (type < memory_.memoryTypeCount &&
           ((memory_.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) !=
               is_mappable) {
      ++type;
    }
    EXPECT_LT(type, memory_.memoryTypeCount);
    return type;
  }

  inline static std::string own_driver_;
  Experiment experiment_;
  std::optional<TestLoader> loader_;
  VkPhysicalDeviceMemoryProperties memory_ = {};
};

TEST_F(FillMemoryGpuTest, MemoryThatTheCpuMaps) {
  for (const uint8_t fill : {0x00, 0xfe}) {
    ASSERT_NO_FATAL_FAILURE(Start(fill));
    EXPECT_THAT(NewMemory(TypeOf(true)), Each(fill));
    EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
    loader_.reset();
  }
}

TEST_F(FillMemoryGpuTest, WithoutTheExperimentMemoryStays) {
  ASSERT_NO_FATAL_FAILURE(Start(0));
  loader_.reset();
  ReplaceRunExperiment(nullptr);
  TestDeviceRequest request;
  request.next = driver::GetOfInstance;
  loader_.emplace();
  ASSERT_TRUE(loader_->Create(MarkerMode::kTop, request).ok());
  EXPECT_THAT(NewMemory(TypeOf(true)), Each(kRubbish));
}

TEST_F(FillMemoryGpuTest, MemoryOfTheGpuAlone) {
  for (const uint8_t fill : {0x00, 0xfe}) {
    ASSERT_NO_FATAL_FAILURE(StartOnTheDriverOfTests(fill));
    EXPECT_EQ(driver::queues, 2u) << "the program's, and the layer's own";
    EXPECT_THAT(NewMemory(TypeOf(false)), Each(fill));
    EXPECT_THAT(NewMemory(TypeOf(false)), Each(fill));
    EXPECT_THAT(NewMemory(TypeOf(true)), Each(fill));
    EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{3, 0}));
    VkMemoryAllocateFlagsInfo zeroed = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    zeroed.flags = 0x8;  // VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT
    EXPECT_THAT(NewMemory(TypeOf(false), &zeroed), Each(kRubbish));
    EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 1}));
    loader_.reset();
  }
}

TEST_F(FillMemoryGpuTest, MemoryOfTheGpuAloneForOneBuffer) {
  ASSERT_NO_FATAL_FAILURE(StartOnTheDriverOfTests(0xfe));
  const DeviceFunctions& vk = loader_->vk();
  const VkDevice device = loader_->device();
  VkBufferCreateInfo made = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  made.size = kBytes;
  made.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  VkMemoryDedicatedAllocateInfo dedicated = {VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
  ASSERT_EQ(vk.CreateBuffer(device, &made, nullptr, &dedicated.buffer), VK_SUCCESS);
  const VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &dedicated, kBytes,
                                     TypeOf(false)};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  ASSERT_EQ(vk.AllocateMemory(device, &info, nullptr, &memory), VK_SUCCESS);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 0}));
  ASSERT_EQ(vk.BindBufferMemory(device, dedicated.buffer, memory, 0), VK_SUCCESS);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{1, 0}));
  std::vector<uint8_t> bytes(kBytes);
  std::memcpy(bytes.data(), driver::MappedBytes(device, memory), kBytes);
  EXPECT_THAT(bytes, Each(0xfe));
  driver::real.UnmapMemory(device, memory);
  vk.DestroyBuffer(device, dedicated.buffer, nullptr);
  vk.FreeMemory(device, memory, nullptr);
}

TEST_F(FillMemoryGpuTest, MemoryOfTheGpuAloneInModeExact) {
  ASSERT_NO_FATAL_FAILURE(StartOnTheDriverOfTests(0xfe, MarkerMode::kExact));
  EXPECT_THAT(NewMemory(TypeOf(false)), Each(0xfe));
}

// The program's queue waits for an event of the CPU's: the fill waits for nothing of the program's.
TEST_F(FillMemoryGpuTest, MemoryOfTheGpuAloneWhileTheProgramsWorkWaits) {
  ASSERT_NO_FATAL_FAILURE(StartOnTheDriverOfTests(0xfe));
  const DeviceFunctions& vk = loader_->vk();
  const VkDevice device = loader_->device();
  const VkEventCreateInfo info = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
  VkEvent event = VK_NULL_HANDLE;
  ASSERT_EQ(vk.CreateEvent(device, &info, nullptr, &event), VK_SUCCESS);
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  vk.CmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, nullptr, 0, nullptr, 0, nullptr);
  loader_->End(commands);
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  ASSERT_EQ(vk.QueueSubmit(loader_->queue(), 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
  EXPECT_THAT(NewMemory(TypeOf(false)), Each(0xfe));
  EXPECT_EQ(vk.SetEvent(device, event), VK_SUCCESS);
  EXPECT_EQ(vk.QueueWaitIdle(loader_->queue()), VK_SUCCESS);
  vk.DestroyEvent(device, event, nullptr);
}

}  // namespace
}  // namespace cairn
