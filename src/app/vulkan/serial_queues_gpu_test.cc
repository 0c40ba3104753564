// SPDX-License-Identifier: Apache-2.0
//
// The experiment "serial-queues" on a device: the calls of a program come back, whatever waits for whatever.
// serial_queues_test.cc has the rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/driver_half.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/serial_queues.h"
#include "app/vulkan/testing/run_board.h"
#include "app/vulkan/testing/test_loader.h"

namespace cairn {
namespace {

// With breadcrumbs of its own, or for an implementation of Direct3D.
class SerialQueuesGpuTest : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    RunBoard::OfProcess().header();
    experiment_.change = Change::kSerialQueues;
    ReplaceRunExperiment(&experiment_);
    std::optional<DeviceCreationScope> driven;
    if (GetParam() == DeviceKind::kDriven) driven.emplace();
    VkPhysicalDeviceVulkan13Features newer = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    newer.synchronization2 = VK_TRUE;
    VkPhysicalDeviceVulkan12Features features = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &newer};
    features.timelineSemaphore = VK_TRUE;
    loader_.emplace();
    const Status made = loader_->Create(MarkerMode::kTop, {.chain = &features});
    ASSERT_TRUE(made.ok()) << made.message();
    ASSERT_EQ(loader_->state().kind, GetParam());
    ASSERT_NE(loader_->state().serial, nullptr);
    RunBoard::OfProcess().header().changes = 0;
    RunBoard::OfProcess().header().not_changed = 0;
  }
  void TearDown() override {
    loader_.reset();
    ReplaceRunExperiment(nullptr);
  }
  const DeviceFunctions& vk() const { return loader_->vk(); }

  VkSemaphore MakeTimeline() {
    VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    const VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateSemaphore(loader_->device(), &info, nullptr, &semaphore), VK_SUCCESS);
    return semaphore;
  }
  VkCommandBuffer Filling(VkBuffer buffer) {
    const VkCommandBuffer commands = loader_->Allocate();
    loader_->Begin(commands);
    vk().CmdFillBuffer(commands, buffer, 0, 64, 7);
    loader_->End(commands);
    return commands;
  }
  VkResult Submit(VkCommandBuffer commands, VkSemaphore wait = VK_NULL_HANDLE, uint64_t value = 0) {
    const VkCommandBufferSubmitInfo buffer = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr,
                                              commands, 0};
    const VkSemaphoreSubmitInfo waits = {
        VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, wait, value,
        VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,    0};
    VkSubmitInfo2 info = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info.commandBufferInfoCount = 1;
    info.pCommandBufferInfos = &buffer;
    info.waitSemaphoreInfoCount = wait != VK_NULL_HANDLE ? 1 : 0;
    info.pWaitSemaphoreInfos = &waits;
    return vk().QueueSubmit2(loader_->queue(), 1, &info, VK_NULL_HANDLE);
  }

  Experiment experiment_;
  std::optional<TestLoader> loader_;
};

INSTANTIATE_TEST_SUITE_P(All, SerialQueuesGpuTest,
                         ::testing::Values(DeviceKind::kBreadcrumbs, DeviceKind::kDriven),
                         [](const auto& info) {
                           return std::string(info.param == DeviceKind::kDriven ? "Driven"
                                                                                : "Breadcrumbs");
                         });

TEST_P(SerialQueuesGpuTest, ASignalThatComesLater) {
  const VkSemaphore timeline = MakeTimeline();
  const VkBuffer buffer = loader_->MakeBuffer();
  EXPECT_EQ(Submit(Filling(buffer), timeline, 1), VK_SUCCESS);
  EXPECT_EQ(Submit(Filling(buffer)), VK_SUCCESS) << "the signal is still to come";
  EXPECT_EQ(RunBoard::OfProcess().header().not_changed, 1u);
  EXPECT_EQ(RunBoard::OfProcess().header().changes, 0u);
  VkSemaphoreSignalInfo signal = {VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
  signal.semaphore = timeline;
  signal.value = 1;
  EXPECT_EQ(vk().SignalSemaphore(loader_->device(), &signal), VK_SUCCESS);
  EXPECT_EQ(Submit(Filling(buffer)), VK_SUCCESS);
  EXPECT_EQ(RunBoard::OfProcess().header().not_changed, 1u) << "all could end, and did";
  EXPECT_EQ(vk().QueueWaitIdle(loader_->queue()), VK_SUCCESS);
  vk().DestroySemaphore(loader_->device(), timeline, nullptr);
}

// A program that waits for its own fence alone, and then ends the device.
TEST_P(SerialQueuesGpuTest, SeveralBatchesWithAFence) {
  const VkBuffer buffer = loader_->MakeBuffer();
  VkFence fence = VK_NULL_HANDLE;
  const VkFenceCreateInfo fence_info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  ASSERT_EQ(vk().CreateFence(loader_->device(), &fence_info, nullptr, &fence), VK_SUCCESS);
  const VkCommandBuffer commands[2] = {Filling(buffer), Filling(buffer)};
  VkSubmitInfo infos[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    infos[i].sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    infos[i].commandBufferCount = 1;
    infos[i].pCommandBuffers = &commands[i];
  }
  EXPECT_EQ(vk().QueueSubmit(loader_->queue(), 2, infos, fence), VK_SUCCESS);
  EXPECT_EQ(vk().WaitForFences(loader_->device(), 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
  vk().DestroyFence(loader_->device(), fence, nullptr);
  EXPECT_EQ(RunBoard::OfProcess().header().not_changed, 0u);
}

TEST_P(SerialQueuesGpuTest, ThreadsThatSubmit) {
  constexpr int kThreads = 3;
  constexpr int kSubmissions = 30;
  const VkBuffer buffer = loader_->MakeBuffer();
  std::mutex queue;  // The API has one thread at a time use it.
  std::vector<std::vector<VkCommandBuffer>> commands(kThreads);
  for (auto& of_thread : commands) {
    for (int i = 0; i < kSubmissions; ++i) of_thread.push_back(Filling(buffer));
  }
  std::vector<std::thread> threads;
  for (const auto& of_thread : commands) {
    threads.emplace_back([&] {
      for (const VkCommandBuffer one : of_thread) {
        const std::lock_guard lock(queue);
        EXPECT_EQ(Submit(one), VK_SUCCESS);
      }
    });
  }
  // Semaphores come and go meanwhile.
  for (int i = 0; i < kSubmissions; ++i) {
    vk().DestroySemaphore(loader_->device(), MakeTimeline(), nullptr);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(RunBoard::OfProcess().header().not_changed, 0u);
  EXPECT_EQ(vk().QueueWaitIdle(loader_->queue()), VK_SUCCESS);
}

}  // namespace
}  // namespace cairn
