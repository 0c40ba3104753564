// SPDX-License-Identifier: Apache-2.0
//
// The layer's side of the driver half, on a next layer of the test's own that notes what reaches it.
#include "app/vulkan/driver_half.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/driver_half.h"
#include "app/recorder/block_writer.h"
#include "app/vulkan/device_creation.h"
#include "app/vulkan/testing/own_functions.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kBytes = 65536;
constexpr VkDeviceSize kAlignment = 4096;

template <typename Handle>
Handle TestHandle(uintptr_t number) {
  return reinterpret_cast<Handle>(0x10000 + 8 * number);
}

// The calls that the next layer received, and the results that it returns.
struct NextLayer {
  std::vector<std::string> commands;  // of command buffers
  VkDeviceSize created_bytes = 0;
  bool external = false;  // VkExternalMemoryBufferCreateInfo was there
  const void* imported = nullptr;
  VkDeviceSize allocated_bytes = 0;
  uint32_t allocated_type = 0;
  VkResult create_external = VK_SUCCESS;
  VkResult import = VK_SUCCESS;
  uint32_t pointer_types = 0b111;
  VkResult submit = VK_SUCCESS;
  uint32_t fault_questions = 0;
};
NextLayer* next_layer = nullptr;

VkResult VKAPI_CALL NextCreateBuffer(VkDevice, const VkBufferCreateInfo* info,
                                     const VkAllocationCallbacks*, VkBuffer* buffer) {
  next_layer->created_bytes = info->size;
  next_layer->external = info->pNext != nullptr;
  if (next_layer->external && next_layer->create_external != VK_SUCCESS) {
    return next_layer->create_external;
  }
  *buffer = TestHandle<VkBuffer>(20);
  return VK_SUCCESS;
}
void VKAPI_CALL NextRequirements(VkDevice, VkBuffer, VkMemoryRequirements* requirements) {
  *requirements = {kBytes, 64, 0b111};
}
VkResult VKAPI_CALL NextPointer(VkDevice, VkExternalMemoryHandleTypeFlagBits, const void*,
                                VkMemoryHostPointerPropertiesEXT* properties) {
  properties->memoryTypeBits = next_layer->pointer_types;
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextAllocate(VkDevice, const VkMemoryAllocateInfo* info,
                                 const VkAllocationCallbacks*, VkDeviceMemory* memory) {
  next_layer->allocated_bytes = info->allocationSize;
  next_layer->allocated_type = info->memoryTypeIndex;
  next_layer->imported = nullptr;
  for (auto* part = static_cast<const VkBaseInStructure*>(info->pNext); part != nullptr;
       part = part->pNext) {
    if (part->sType != VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) continue;
    if (next_layer->import != VK_SUCCESS) return next_layer->import;
    next_layer->imported =
        reinterpret_cast<const VkImportMemoryHostPointerInfoEXT*>(part)->pHostPointer;
  }
  *memory = TestHandle<VkDeviceMemory>(21);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextCreatePool(VkDevice, const VkCommandPoolCreateInfo* info,
                                   const VkAllocationCallbacks*, VkCommandPool* pool) {
  *pool = TestHandle<VkCommandPool>(30 + info->queueFamilyIndex);
  return VK_SUCCESS;
}
void VKAPI_CALL NextDestroyPool(VkDevice, VkCommandPool, const VkAllocationCallbacks*) {}
VkResult VKAPI_CALL NextResetPool(VkDevice, VkCommandPool, VkCommandPoolResetFlags) {
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextAllocateCommands(VkDevice, const VkCommandBufferAllocateInfo* info,
                                         VkCommandBuffer* commands) {
  static uintptr_t number = 1000;
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    commands[i] = TestHandle<VkCommandBuffer>(++number);
  }
  return VK_SUCCESS;
}
void VKAPI_CALL NextFreeCommands(VkDevice, VkCommandPool, uint32_t, const VkCommandBuffer*) {}
VkResult VKAPI_CALL NextBegin(VkCommandBuffer, const VkCommandBufferBeginInfo*) {
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextEnd(VkCommandBuffer) {
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextReset(VkCommandBuffer, VkCommandBufferResetFlags) {
  return VK_SUCCESS;
}
void VKAPI_CALL NextBeginPass(VkCommandBuffer, const VkRenderPassBeginInfo*, VkSubpassContents) {
  next_layer->commands.emplace_back("begin pass");
}
void VKAPI_CALL NextEndPass(VkCommandBuffer) {
  next_layer->commands.emplace_back("end pass");
}
void VKAPI_CALL NextBeginRendering(VkCommandBuffer, const VkRenderingInfo*) {
  next_layer->commands.emplace_back("begin rendering");
}
void VKAPI_CALL NextEndRendering(VkCommandBuffer) {
  next_layer->commands.emplace_back("end rendering");
}
void VKAPI_CALL NextFill(VkCommandBuffer, VkBuffer, VkDeviceSize offset, VkDeviceSize size,
                         uint32_t value) {
  EXPECT_EQ(size, 4u);
  next_layer->commands.push_back("fill " + std::to_string(offset) + " " + std::to_string(value));
}
void VKAPI_CALL NextUpdate(VkCommandBuffer, VkBuffer, VkDeviceSize offset, VkDeviceSize size,
                           const void* data) {
  EXPECT_EQ(size, 4u);
  uint32_t value = 0;
  std::memcpy(&value, data, sizeof(value));
  next_layer->commands.push_back("update " + std::to_string(offset) + " " + std::to_string(value));
}
void VKAPI_CALL NextMarker(VkCommandBuffer, VkPipelineStageFlagBits stage, VkBuffer,
                           VkDeviceSize offset, uint32_t value) {
  next_layer->commands.push_back((stage == VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT ? "top " : "bottom ") +
                                 std::to_string(offset) + " " + std::to_string(value));
}
void VKAPI_CALL NextBarrier(VkCommandBuffer, VkPipelineStageFlags source, VkPipelineStageFlags,
                            VkDependencyFlags, uint32_t, const VkMemoryBarrier*, uint32_t,
                            const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*) {
  if ((source & VK_PIPELINE_STAGE_ALL_COMMANDS_BIT) != 0) {
    next_layer->commands.emplace_back("wait for all");
  }
}
VkResult VKAPI_CALL NextSubmit(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  return next_layer->submit;
}
VkResult VKAPI_CALL NextFault(VkDevice, VkDeviceFaultCountsEXT* counts,
                              VkDeviceFaultInfoEXT* info) {
  ++next_layer->fault_questions;
  if (info == nullptr) {
    *counts = {VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
    counts->addressInfoCount = 1;
    return VK_SUCCESS;
  }
  std::strcpy(info->description, "page fault");
  info->pAddressInfos[0] = {VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0xABC000, 4096};
  return VK_SUCCESS;
}
void VKAPI_CALL NextMemoryProperties(VkPhysicalDevice,
                                     VkPhysicalDeviceMemoryProperties* properties) {
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  *properties = {};
  properties->memoryTypeCount = 3;
  properties->memoryTypes[0].propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  properties->memoryTypes[1].propertyFlags = kHost;
  properties->memoryTypes[2].propertyFlags = kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
}
void VKAPI_CALL NextProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* properties) {
  auto* const import =
      static_cast<VkPhysicalDeviceExternalMemoryHostPropertiesEXT*>(properties->pNext);
  if (import->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)
    return;
  import->minImportedHostPointerAlignment = kAlignment;
}
PFN_vkVoidFunction VKAPI_CALL NextGet(VkInstance, const char* name) {
  return std::string_view(name) == "vkGetPhysicalDeviceMemoryProperties"
             ? reinterpret_cast<PFN_vkVoidFunction>(NextMemoryProperties)
             : nullptr;
}

class DriverHalfLayerTest : public testing::Test {
 protected:
  void SetUp() override {
    next_layer = &next_;
    instance_.next_get = NextGet;
    instance_.KeepNext();
    instance_.GetPhysicalDeviceProperties2 = NextProperties2;
    device_.handle = TestHandle<VkDevice>(1);
    device_.instance = &instance_;
    device_.kind = DeviceKind::kDriven;
    device_.enabled_extensions = {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
                                  VK_AMD_BUFFER_MARKER_EXTENSION_NAME};
    device_.queue_families = {{VK_QUEUE_GRAPHICS_BIT, 1, 64, {}},
                              {VK_QUEUE_TRANSFER_BIT, 1, 64, {}}};
    auto queue = std::make_unique<QueueState>();
    queue->handle = TestHandle<VkQueue>(2);
    queue->device = &device_;
    device_.queues.push_back(std::move(queue));
    SetFunctions(device_.vk);
    ASSERT_TRUE(RememberDevice(device_) && RememberQueues(device_));
  }
  void TearDown() override {
    device_.driver_half.reset();
    ForgetDevice(device_);
  }

  static void SetFunctions(DeviceFunctions& vk) {
    vk.CreateBuffer = NextCreateBuffer;
    vk.GetBufferMemoryRequirements = NextRequirements;
    vk.GetMemoryHostPointerPropertiesEXT = NextPointer;
    vk.AllocateMemory = NextAllocate;
    vk.CreateCommandPool = NextCreatePool;
    vk.DestroyCommandPool = NextDestroyPool;
    vk.ResetCommandPool = NextResetPool;
    vk.AllocateCommandBuffers = NextAllocateCommands;
    vk.FreeCommandBuffers = NextFreeCommands;
    vk.BeginCommandBuffer = NextBegin;
    vk.EndCommandBuffer = NextEnd;
    vk.ResetCommandBuffer = NextReset;
    vk.CmdBeginRenderPass = NextBeginPass;
    vk.CmdEndRenderPass = NextEndPass;
    vk.CmdBeginRenderingKHR = NextBeginRendering;  // under this name only
    vk.CmdEndRenderingKHR = NextEndRendering;
    vk.CmdFillBuffer = NextFill;
    vk.CmdUpdateBuffer = NextUpdate;
    vk.CmdWriteBufferMarkerAMD = NextMarker;
    vk.CmdPipelineBarrier = NextBarrier;
    vk.QueueSubmit = NextSubmit;
    vk.GetDeviceFaultInfoEXT = NextFault;
  }
  void Start() { device_.driver_half = MakeDriverHalf(device_); }

  static const DeviceFunctions& ours() { return FunctionsOf<DrivenIntercepts>(); }

  // Creates a readback buffer as an implementation of Direct3D does.
  void CreateBuffer(VkDeviceSize size_bytes = kBytes, VkDeviceSize allocated_bytes = kBytes,
                    uint32_t type = 2) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size_bytes;
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(ours().CreateBuffer(device_.handle, &info, nullptr, &buffer), VK_SUCCESS);
    EXPECT_EQ(buffer, TestHandle<VkBuffer>(20));
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = allocated_bytes;
    allocate.memoryTypeIndex = type;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(ours().AllocateMemory(device_.handle, &allocate, nullptr, &memory), VK_SUCCESS);
    EXPECT_EQ(memory, TestHandle<VkDeviceMemory>(21));
  }

  VkCommandPool CreatePool(uint32_t family = 0) {
    VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.queueFamilyIndex = family;
    VkCommandPool pool = VK_NULL_HANDLE;
    ours().CreateCommandPool(device_.handle, &info, nullptr, &pool);
    return pool;
  }
  VkCommandBuffer Allocate(VkCommandPool pool,
                           VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY) {
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.level = level;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    ours().AllocateCommandBuffers(device_.handle, &info, &commands);
    return commands;
  }
  static void Begin(VkCommandBuffer commands) {
    const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    ours().BeginCommandBuffer(commands, &info);
  }
  static DriverList BeginList(VkCommandBuffer commands) {
    const ListOpenScope opening;
    Begin(commands);
    return opening.list();
  }
  DriverBuffer Words() {
    const ExpectedBufferScope expected(nullptr, kBytes);
    CreateBuffer();
    return expected.buffer();
  }
  static DriverWrite Fill(const DriverList& list, const DriverBuffer& words,
                          PipeLocation where = PipeLocation::kTop) {
    return GetDriverHalf()->Write(list, words, WriteMethod::kDriverFillBuffer, where, 8, 5);
  }

  NextLayer next_;
  InstanceState instance_;
  DeviceState device_;
  alignas(kAlignment) std::byte memory_[2 * kBytes];
};

// ---- Memory --------------------------------------------------------------------------------------

TEST_F(DriverHalfLayerTest, TheMemoryOfTheExpectedBufferIsAnImportAndNothingElseIs) {
  Start();
  CreateBuffer();
  EXPECT_EQ(next_.imported, nullptr);
  {
    const ExpectedBufferScope expected(memory_, kBytes);
    CreateBuffer();
    EXPECT_TRUE(next_.external);
    EXPECT_EQ(next_.imported, memory_);
    EXPECT_EQ(next_.allocated_type, 2u);
    EXPECT_TRUE(expected.imported());
    EXPECT_EQ(expected.reason(), "");
    EXPECT_TRUE(expected.buffer().known());
    CreateBuffer();
    EXPECT_EQ(next_.imported, nullptr) << "one buffer is expected";
  }
  CreateBuffer();
  EXPECT_FALSE(next_.external);
  EXPECT_EQ(next_.imported, nullptr);
}

TEST_F(DriverHalfLayerTest, ScopesBelongToTheirThread) {
  Start();
  const ExpectedBufferScope expected(memory_, kBytes);
  std::thread([this] { CreateBuffer(); }).join();
  EXPECT_EQ(next_.imported, nullptr);
  EXPECT_FALSE(expected.buffer().known());
  EXPECT_THAT(std::string(expected.reason()), HasSubstr("did not see the buffer's creation"));
}

TEST_F(DriverHalfLayerTest, BuffersOfOtherSizesAreNotExpected) {
  Start();
  const ExpectedBufferScope expected(memory_, kBytes);
  CreateBuffer(kBytes - 4);
  EXPECT_FALSE(expected.buffer().known());
  CreateBuffer(2 * kBytes);
  EXPECT_FALSE(expected.buffer().known());
  EXPECT_EQ(next_.imported, nullptr);
  CreateBuffer(kBytes + 256);
  EXPECT_TRUE(expected.buffer().known());
}

TEST_F(DriverHalfLayerTest, ALargerAllocationThanTheBlockHasThereIsNotImported) {
  Start();
  const ExpectedBufferScope expected(memory_, kBytes);
  CreateBuffer(kBytes, kBytes + 1);
  EXPECT_EQ(next_.imported, nullptr);
  EXPECT_EQ(next_.allocated_bytes, kBytes + 1) << "as the implementation asked";
  EXPECT_TRUE(expected.buffer().known());
  EXPECT_FALSE(expected.imported());
  EXPECT_EQ(expected.reason(),
            "the implementation of Direct3D allocates 65537 bytes, and 65536 can be imported");
}

TEST_F(DriverHalfLayerTest, MemoryTheCpuCannotReadIsNotImported) {
  Start();
  const ExpectedBufferScope expected(memory_, kBytes);
  CreateBuffer(kBytes, kBytes, /*type=*/0);
  EXPECT_EQ(next_.imported, nullptr);
  EXPECT_EQ(expected.reason(), "the buffer was given memory that the CPU cannot read");
}

TEST_F(DriverHalfLayerTest, AnotherTypeIsTakenWhereThePagesCannotHaveTheWantedOne) {
  Start();
  next_.pointer_types = 0b010;
  {
    const ExpectedBufferScope expected(memory_, kBytes);
    CreateBuffer();
    EXPECT_TRUE(expected.imported());
    EXPECT_EQ(next_.allocated_type, 1u);
  }
  next_.pointer_types = 0b001;
  const ExpectedBufferScope expected(memory_, kBytes);
  CreateBuffer();
  EXPECT_FALSE(expected.imported());
  EXPECT_EQ(next_.allocated_type, 2u);
  EXPECT_EQ(expected.reason(), "no coherent type of memory takes the block's pages");
}

TEST_F(DriverHalfLayerTest, WhatTheDriverRefusesIsMadeAsTheImplementationAsked) {
  Start();
  next_.import = VK_ERROR_INVALID_EXTERNAL_HANDLE;
  {
    const ExpectedBufferScope expected(memory_, kBytes);
    CreateBuffer();
    EXPECT_FALSE(expected.imported());
    EXPECT_EQ(expected.reason(),
              "vkAllocateMemory of the block's pages returned VK_ERROR_INVALID_EXTERNAL_HANDLE");
  }
  next_.create_external = VK_ERROR_UNKNOWN;
  const ExpectedBufferScope expected(memory_, kBytes);
  CreateBuffer();
  EXPECT_FALSE(next_.external);
  EXPECT_FALSE(expected.imported());
  EXPECT_EQ(expected.reason(), "vkCreateBuffer returned VK_ERROR_UNKNOWN");
}

TEST_F(DriverHalfLayerTest, PagesThatAreNotAlignedAndDevicesWithoutTheExtensionAreNotImported) {
  Start();
  {
    const ExpectedBufferScope expected(memory_ + 64, kBytes);
    CreateBuffer();
    EXPECT_EQ(expected.reason(), "the Vulkan device imports memory at multiples of 4096 only");
  }
  device_.driver_half.reset();
  device_.enabled_extensions.clear();
  Start();
  const ExpectedBufferScope expected(memory_, kBytes);
  CreateBuffer();
  EXPECT_EQ(expected.reason(), "the Vulkan device has no VK_EXT_external_memory_host");
  EXPECT_TRUE(expected.buffer().known()) << "it can be written to all the same";
  EXPECT_EQ(next_.imported, nullptr);
}

// ---- Command buffers -----------------------------------------------------------------------------

TEST_F(DriverHalfLayerTest, FillsGoIntoTheCommandBufferThatBegan) {
  Start();
  const DriverBuffer words = Words();
  const VkCommandBuffer commands = Allocate(CreatePool());
  const DriverList list = BeginList(commands);
  ASSERT_TRUE(list.known());
  EXPECT_EQ(list.commands, commands);
  EXPECT_EQ(Fill(list, words), DriverWrite::kRecorded);
  EXPECT_EQ(Fill(list, words, PipeLocation::kBottom), DriverWrite::kRecorded);
  EXPECT_THAT(next_.commands, ElementsAre("fill 8 5", "wait for all", "fill 8 5"));
}

TEST_F(DriverHalfLayerTest, QueuesThatOnlyTransferAreUpdated) {
  Start();
  const DriverBuffer words = Words();
  EXPECT_EQ(Fill(BeginList(Allocate(CreatePool(1))), words), DriverWrite::kRecorded);
  EXPECT_THAT(next_.commands, ElementsAre("update 8 5"));
}

TEST_F(DriverHalfLayerTest, InsideRenderPassesMarkersAreWrittenAndFillsAreNot) {
  Start();
  const DriverBuffer words = Words();
  const VkCommandBuffer commands = Allocate(CreatePool());
  const DriverList list = BeginList(commands);
  const auto marker = [&](PipeLocation where) {
    return GetDriverHalf()->Write(list, words, WriteMethod::kDriverBufferMarker, where, 4, 9);
  };
  EXPECT_STREQ(GetDriverHalf()->WhyNot(words, WriteMethod::kDriverBufferMarker), "");
  ours().CmdBeginRenderPass(commands, nullptr, VK_SUBPASS_CONTENTS_INLINE);
  EXPECT_EQ(Fill(list, words), DriverWrite::kInsideRenderPass);
  EXPECT_EQ(marker(PipeLocation::kTop), DriverWrite::kRecorded);
  ours().CmdEndRenderPass(commands);
  EXPECT_EQ(Fill(list, words), DriverWrite::kRecorded);
  ours().CmdBeginRenderingKHR(commands, nullptr);
  EXPECT_EQ(Fill(list, words), DriverWrite::kInsideRenderPass);
  EXPECT_EQ(marker(PipeLocation::kBottom), DriverWrite::kRecorded);
  ours().CmdEndRenderingKHR(commands);
  EXPECT_THAT(next_.commands, ElementsAre("begin pass", "top 4 9", "end pass", "fill 8 5",
                                          "begin rendering", "bottom 4 9", "end rendering"));
}

TEST_F(DriverHalfLayerTest, MarkersNeedTheirExtension) {
  device_.enabled_extensions.pop_back();
  Start();
  EXPECT_STREQ(GetDriverHalf()->WhyNot(Words(), WriteMethod::kDriverBufferMarker),
               "the Vulkan device does not have it");
}

TEST_F(DriverHalfLayerTest, ARecordingThatEndedIsRefused) {
  Start();
  const DriverBuffer words = Words();
  const VkCommandPool pool = CreatePool();
  const VkCommandBuffer commands = Allocate(pool);
  const DriverList ended = BeginList(commands);
  ours().EndCommandBuffer(commands);
  EXPECT_EQ(Fill(ended, words), DriverWrite::kRefused);
  const DriverList second = BeginList(commands);
  EXPECT_EQ(Fill(ended, words), DriverWrite::kRefused) << "another recording, same command buffer";
  EXPECT_EQ(Fill(second, words), DriverWrite::kRecorded);
  ours().ResetCommandPool(device_.handle, pool, 0);
  EXPECT_EQ(Fill(second, words), DriverWrite::kRefused);
  const DriverList third = BeginList(commands);
  ours().ResetCommandBuffer(commands, 0);
  EXPECT_EQ(Fill(third, words), DriverWrite::kRefused);
  const DriverList fourth = BeginList(commands);
  ours().FreeCommandBuffers(device_.handle, pool, 1, &commands);
  EXPECT_EQ(Fill(fourth, words), DriverWrite::kRefused);
  const DriverList of_pool = BeginList(Allocate(pool));
  ours().DestroyCommandPool(device_.handle, pool, nullptr);
  EXPECT_EQ(Fill(of_pool, words), DriverWrite::kRefused);
  EXPECT_THAT(next_.commands, ElementsAre("fill 8 5"));
}

TEST_F(DriverHalfLayerTest, ListsInDoubtAreNotKnown) {
  Start();
  const VkCommandPool pool = CreatePool();
  const ListOpenScope opening;
  EXPECT_FALSE(opening.list().known());
  Begin(Allocate(pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY));
  EXPECT_FALSE(opening.list().known()) << "a secondary one is no list";
  Begin(Allocate(pool));
  EXPECT_TRUE(opening.list().known());
  {
    const ListOpenScope hidden;
    Begin(Allocate(pool));
  }
  EXPECT_TRUE(opening.list().known()) << "of an inner scope";
  Begin(Allocate(pool));
  EXPECT_FALSE(opening.list().known()) << "two began";
}

TEST_F(DriverHalfLayerTest, WritesIntoAnotherDevicesBufferAreRefused) {
  Start();
  const DriverList list = BeginList(Allocate(CreatePool()));
  EXPECT_EQ(Fill(list, {&next_, 7}), DriverWrite::kRefused);
  EXPECT_THAT(next_.commands, IsEmpty());
}

TEST_F(DriverHalfLayerTest, OnlyDevicesCreatedInTheScopeAreDriven) {
  EXPECT_FALSE(CreatingDrivenDevice());
  {
    const DeviceCreationScope outer;
    const DeviceCreationScope inner;
    EXPECT_TRUE(CreatingDrivenDevice());
    std::thread([] { EXPECT_FALSE(CreatingDrivenDevice()); }).join();
  }
  EXPECT_FALSE(CreatingDrivenDevice());
}

TEST_F(DriverHalfLayerTest, AScopeSeesTheDrivenDeviceThatWasMadeInItAndNoOther) {
  Start();
  const DeviceCreationScope outer;
  EXPECT_FALSE(outer.seen());
  {
    const DeviceCreationScope inner;
    Start();
    EXPECT_TRUE(inner.seen());
  }
  EXPECT_TRUE(outer.seen());
  const DeviceCreationScope next;
  EXPECT_FALSE(next.seen());
  std::thread([this] { Start(); }).join();
  EXPECT_FALSE(next.seen());
}

// ---- Loss ----------------------------------------------------------------------------------------

TEST_F(DriverHalfLayerTest, ALossAsksTheDriverOnceForAllContextsWhoseWordsAreItsOwn) {
  device_.has_device_fault = true;
  Start();
  Result<BlockWriter*> block = BlockWriter::OfThisProcess(kDefaultBlockBytes);
  ASSERT_TRUE(block.ok()) << block.status().message();
  // Two contexts of this device, one that ended, and one of another device.
  uint32_t contexts[4];
  const std::byte* words[4];
  for (int i = 0; i < 4; ++i) {
    const uint64_t offset = (*block)->AllocateRange(kBytes);
    ASSERT_NE(offset, 0u);
    words[i] = (*block)->data() + offset;
    contexts[i] = (*block)->AddContext();
    (*block)->contexts()[contexts[i]].progress_offset = offset;
    (*block)->contexts()[contexts[i]].state.store(1);
  }
  const auto [context, second, ended, other] = contexts;
  const DeviceSeenScope seen;
  EXPECT_EQ(seen.device(), nullptr);
  CreatePool();
  ASSERT_EQ(seen.device(), device_.driver_half.get());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(GetDriverHalf()->NoteWords(seen.device(), words[i]));
  GetDriverHalf()->ForgetWords(seen.device(), words[2]);

  const auto submit = ours().QueueSubmit;
  EXPECT_EQ(submit(TestHandle<VkQueue>(2), 0, nullptr, VK_NULL_HANDLE), VK_SUCCESS);
  EXPECT_EQ(next_.fault_questions, 0u);
  next_.submit = VK_ERROR_DEVICE_LOST;
  EXPECT_EQ(submit(TestHandle<VkQueue>(2), 0, nullptr, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
  const uint32_t questions = next_.fault_questions;
  EXPECT_GT(questions, 0u);
  submit(TestHandle<VkQueue>(2), 0, nullptr, VK_NULL_HANDLE);
  EXPECT_EQ(next_.fault_questions, questions);

  const FaultRecord& fault = (*block)->faults()[context];
  ASSERT_EQ(fault.state.load(), 1u);
  EXPECT_STREQ(fault.description, "page fault");
  ASSERT_EQ(fault.address_count, 1u);
  EXPECT_EQ(fault.addresses[0].address, 0xABC000u);
  const FaultRecord& same = (*block)->faults()[second];
  ASSERT_EQ(same.state.load(), 1u);
  EXPECT_STREQ(same.description, "page fault");
  EXPECT_STREQ(same.source, "VK_EXT_device_fault");
  EXPECT_EQ(same.address_count, 1u);
  EXPECT_EQ(same.vendor_binary_offset, 0u) << "it has one owner";
  for (const uint32_t lost : {context, second}) {
    const ContextRecord& record = (*block)->contexts()[lost];
    EXPECT_EQ(record.device_lost.load(), 1u);
    EXPECT_EQ(record.device_lost_code.load(), VK_ERROR_DEVICE_LOST);
    EXPECT_STREQ((*block)->Name(record.device_lost_where)->bytes, "vkQueueSubmit");
  }
  EXPECT_EQ((*block)->contexts()[ended].device_lost.load(), 0u);
  EXPECT_EQ((*block)->contexts()[other].device_lost.load(), 0u);
  EXPECT_EQ((*block)->faults()[ended].state.load(), 0u);
  EXPECT_EQ((*block)->faults()[other].state.load(), 0u);
}

}  // namespace
}  // namespace cairn
