// SPDX-License-Identifier: Apache-2.0
//
// Healthy Vulkan programs that submit nothing that counts as work, and then are idle: no submission is unfinished
// only because nobody sees its end. One of Direct3D 12: idle_d3d12_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/recorder/block_writer.h"
#include "app/vulkan/testing/test_loader.h"
#include "format/snapshot/progress_probe.h"
#include "format/snapshot/snapshot_from_block.h"
#include "reader/analysis/analysis.h"

namespace cairn::testing {
namespace {

// A watchdog and a report see them finish, although the program polls no fence.
TEST(IdleTest, VulkanBuffersWithoutWorkAreSeenToFinish) {
  TestLoader loader;
  const Status status = loader.Create(MarkerMode::kTop);
  ASSERT_TRUE(status.ok()) << status.message();
  const auto submit = loader.Get<PFN_vkQueueSubmit>("vkQueueSubmit");
  const auto idle = reinterpret_cast<PFN_vkQueueWaitIdle>(loader.Next("vkQueueWaitIdle"));
  std::vector<VkCommandBuffer> buffers;
  for (const VkCommandBufferUsageFlags flags :
       {VkCommandBufferUsageFlags{0},
        VkCommandBufferUsageFlags{VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT}}) {
    buffers.push_back(loader.Allocate());
    loader.Begin(buffers.back(), flags);
    loader.End(buffers.back());
    buffers.push_back(loader.Allocate());
    loader.Begin(buffers.back(), flags);
    const VkRect2D scissor = {{0, 0}, {1, 1}};
    loader.Get<PFN_vkCmdSetScissor>("vkCmdSetScissor")(buffers.back(), 0, 1, &scissor);
    loader.End(buffers.back());
  }
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = static_cast<uint32_t>(buffers.size());
  info.pCommandBuffers = buffers.data();
  const BlockWriter& block = *loader.state().block;
  const std::span<const std::byte> bytes(block.data(), block.size_bytes());
  Result<ProgressProbe> probe = ProgressProbe::Open(bytes);
  ASSERT_TRUE(probe.ok()) << probe.status().message();
  for (uint32_t run = 1; run <= 2; ++run) {
    ASSERT_EQ(submit(loader.queue(), 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    ASSERT_EQ(idle(loader.queue()), VK_SUCCESS) << "behind the layer, which learns nothing";
    loader.state().context->Mirror();
    for (const QueueProgress& queue : probe->Poll()) EXPECT_EQ(queue.unfinished, 0u) << run;
  }
  const Result<Snapshot> snapshot = SnapshotFromBlock(bytes, 0);
  ASSERT_TRUE(snapshot.ok());
  const uint32_t context = loader.state().context->index();
  uint32_t seen = 0;
  for (const Execution& execution : Analyse(*snapshot).executions) {
    if (snapshot->recordings[execution.recording].device != context) continue;
    EXPECT_EQ(execution.state, WorkState::kCompleted);
    ++seen;
  }
  EXPECT_EQ(seen, 2 * buffers.size());
}

}  // namespace
}  // namespace cairn::testing
