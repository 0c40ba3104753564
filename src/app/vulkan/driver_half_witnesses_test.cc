// SPDX-License-Identifier: Apache-2.0
//
// Barriers that the driver half sees below: they drain as long as no command is recorded behind
// them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "app/vulkan/device_creation.h"
#include "app/vulkan/driver_half.h"
#include "app/vulkan/layer.h"
#include "app/vulkan/testing/own_functions.h"
#include "format/block/block.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr char kTold[] =
    "1;01000000000000000000000000000000 02000000000000000000000000000000 00000003 test 0 marker "
    "0:dispatch=any:draw=memory:copy=memory";
constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;

template <typename T>
T TestHandle(uintptr_t number) {
  return reinterpret_cast<T>(number * 64);
}

void VKAPI_CALL Properties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* properties) {
  properties->properties.driverVersion = 3;
  for (auto* part = static_cast<VkBaseOutStructure*>(properties->pNext); part != nullptr;
       part = part->pNext) {
    if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
      reinterpret_cast<VkPhysicalDeviceIDProperties*>(part)->deviceUUID[0] = 1;
      reinterpret_cast<VkPhysicalDeviceIDProperties*>(part)->driverUUID[0] = 2;
    }
    if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
      std::strcpy(reinterpret_cast<VkPhysicalDeviceDriverProperties*>(part)->driverName, "test");
    }
  }
}
VkResult VKAPI_CALL CreatePool(VkDevice, const VkCommandPoolCreateInfo* info,
                               const VkAllocationCallbacks*, VkCommandPool* pool) {
  *pool = TestHandle<VkCommandPool>(30 + info->queueFamilyIndex);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL Allocate(VkDevice, const VkCommandBufferAllocateInfo*, VkCommandBuffer* list) {
  static uintptr_t number = 5000;
  *list = TestHandle<VkCommandBuffer>(++number);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL BeginBuffer(VkCommandBuffer, const VkCommandBufferBeginInfo*) {
  return VK_SUCCESS;
}
int barriers_passed_on = 0;
void VKAPI_CALL PassBarrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags,
                            VkDependencyFlags, uint32_t, const VkMemoryBarrier*, uint32_t,
                            const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*) {
  ++barriers_passed_on;
}
int dispatches_passed_on = 0;
void VKAPI_CALL PassDispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) {
  ++dispatches_passed_on;
}
void VKAPI_CALL BeginPass(VkCommandBuffer, const VkRenderPassBeginInfo*, VkSubpassContents) {}
void VKAPI_CALL EndPass(VkCommandBuffer) {}

class DriverHalfWitnesses : public ::testing::Test {
 protected:
  void TearDown() override {
    device_.driver_half.reset();
    ForgetDevice(device_);
    ClearVariable(kVariableOf<&LayerSettings::witnesses>);
  }

  void Start(const std::string& told) {
    SetVariable(kVariableOf<&LayerSettings::witnesses>, told);
    instance_.GetPhysicalDeviceProperties2 = Properties2;
    device_.handle = TestHandle<VkDevice>(1);
    device_.instance = &instance_;
    device_.kind = DeviceKind::kDriven;
    device_.queue_families = {{VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT, 1, 64, {}},
                              {VK_QUEUE_COMPUTE_BIT, 1, 64, {}}};
    device_.vk.CreateCommandPool = CreatePool;
    device_.vk.AllocateCommandBuffers = Allocate;
    device_.vk.BeginCommandBuffer = BeginBuffer;
    device_.vk.CmdPipelineBarrier = PassBarrier;
    device_.vk.CmdDispatch = PassDispatch;
    device_.vk.CmdBeginRenderPass = BeginPass;
    device_.vk.CmdEndRenderPass = EndPass;
    ASSERT_TRUE(RememberDevice(device_));
    device_.driver_half = MakeDriverHalf(device_);
  }

  static const DeviceFunctions& ours() {
    return FunctionsOf<DrivenIntercepts, DrivenWorkIntercepts>();
  }

  void Begin(uint32_t family = 0) {
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.queueFamilyIndex = family;
    VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandBufferCount = 1;
    ours().CreateCommandPool(device_.handle, &pool_info, nullptr, &info.commandPool);
    ours().AllocateCommandBuffers(device_.handle, &info, &commands_);
    const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const ListOpenScope opening;
    ours().BeginCommandBuffer(commands_, &begin);
    list_ = opening.list();
  }
  void Barrier(VkPipelineStageFlags source, VkPipelineStageFlags destination,
               bool of_memory = false) {
    VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT,
                              VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    ours().CmdPipelineBarrier(commands_, source, destination, 0, of_memory ? 1 : 0, &memory, 0,
                              nullptr, 0, nullptr);
  }
  void WeakBarrier() {
    Barrier(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
  }
  void Dispatch() { ours().CmdDispatch(commands_, 1, 1, 1); }
  uint32_t Drains(WriteMethod method = WriteMethod::kDriverBufferMarker) {
    return GetDriverHalf()->Drains(list_, method);
  }

  InstanceState instance_;
  DeviceState device_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  DriverList list_;
};

TEST_F(DriverHalfWitnesses, ABarrierDrainsUntilSomethingFollows) {
  Start(kTold);
  Begin();
  EXPECT_EQ(Drains(), 0u);
  WeakBarrier();
  EXPECT_EQ(Drains(), kEventDrainsDispatches);
  Barrier(kAll, kAll, true);
  EXPECT_EQ(Drains(), kEventDrains);
  Dispatch();
  EXPECT_EQ(Drains(), 0u);
  Barrier(kAll, kAll, true);
  const VkRenderPassBeginInfo pass = {VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  ours().CmdBeginRenderPass(commands_, &pass, VK_SUBPASS_CONTENTS_INLINE);
  EXPECT_EQ(Drains(), 0u);
  Barrier(kAll, kAll, true);
  EXPECT_EQ(Drains(), 0u) << "inside of a render pass";
  ours().CmdEndRenderPass(commands_);
  EXPECT_EQ(Drains(), 0u);
  EXPECT_EQ(barriers_passed_on, 4);
  EXPECT_EQ(dispatches_passed_on, 1);
}

TEST_F(DriverHalfWitnesses, OnlyOfThisRecordingAndThisWayOfWriting) {
  Start(kTold);
  Begin();
  WeakBarrier();
  EXPECT_EQ(Drains(WriteMethod::kDriverFillBuffer), 0u);
  EXPECT_EQ(Drains(WriteMethod::kD3D12CopyBufferRegion), 0u);
  ++list_.recording;
  EXPECT_EQ(Drains(), 0u);
  Begin();
  EXPECT_EQ(Drains(), 0u);
  Begin(1);
  WeakBarrier();
  EXPECT_EQ(Drains(), 0u) << "a family that was not measured";
}

TEST_F(DriverHalfWitnesses, WithoutFactsNothing) {
  for (const char* told : {"", "off", "1", "nonsense"}) {
    Start(told);
    EXPECT_FALSE(device_.driver_half->barriers().any()) << told;
    Begin();
    WeakBarrier();
    EXPECT_EQ(Drains(), 0u) << told;
    const SourceFinding finding =
        GetDriverHalf()->WitnessSource(device_.driver_half.get(), WriteMethod::kDriverBufferMarker);
    EXPECT_EQ(finding.state, SourceState::kAbsent);
    EXPECT_NE(finding.reason, "");
    TearDown();
  }
}

TEST_F(DriverHalfWitnesses, WhatReportsAreTold) {
  Start(kTold);
  const auto reason = [this](WriteMethod method) {
    return GetDriverHalf()->WitnessSource(device_.driver_half.get(), method).reason;
  };
  EXPECT_EQ(reason(WriteMethod::kDriverBufferMarker),
            "any barrier behind dispatches; barriers of memory for all stages behind draws; "
            "barriers of memory for all stages behind copies; measured on 1970-01-01");
  EXPECT_EQ(reason(WriteMethod::kD3D12WriteBufferImmediate),
            "measured for another way of writing words than the one that is used here");
}

}  // namespace
}  // namespace cairn
