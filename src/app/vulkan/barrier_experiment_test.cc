// SPDX-License-Identifier: Apache-2.0
//
// The experiments "barrier-before" and "barrier-after": what reaches a driver of a program that knows nothing of them.
// tests/exact compares what programs leave behind, with and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/breadcrumbs/driver_half.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/driver_functions.h"
#include "app/vulkan/testing/run_board.h"
#include "app/vulkan/testing/test_loader.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Stands behind the layer and notes the program's commands, and barriers for all commands and all memory, which neither
// the program nor the layer records otherwise.
namespace driver {

std::vector<std::string> recorded;
constexpr uint32_t kOfProgram = 7;  // the value with which the program fills

VKAPI_ATTR void VKAPI_CALL Barrier(VkCommandBuffer commands, VkPipelineStageFlags source,
                                   VkPipelineStageFlags destination, VkDependencyFlags flags,
                                   uint32_t count, const VkMemoryBarrier* barriers, uint32_t,
                                   const VkBufferMemoryBarrier*, uint32_t,
                                   const VkImageMemoryBarrier*) {
  constexpr VkAccessFlags kBoth = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  const bool of_everything = (source & destination & VK_PIPELINE_STAGE_ALL_COMMANDS_BIT) != 0;
  if (of_everything && count == 1 && barriers->srcAccessMask == VK_ACCESS_MEMORY_WRITE_BIT &&
      barriers->dstAccessMask == kBoth) {
    recorded.emplace_back("|");
  }
  DriverFunctions::Next<PFN_vkCmdPipelineBarrier>("vkCmdPipelineBarrier", commands, source,
                                                  destination, flags, count, barriers, 0u, nullptr,
                                                  0u, nullptr);
}
VKAPI_ATTR void VKAPI_CALL Fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset,
                                VkDeviceSize size, uint32_t value) {
  if (value == kOfProgram) recorded.emplace_back("fill");
  DriverFunctions::Next<PFN_vkCmdFillBuffer>("vkCmdFillBuffer", commands, buffer, offset, size,
                                             value);
}
VKAPI_ATTR void VKAPI_CALL Copy2(VkCommandBuffer commands, const VkCopyBufferInfo2* info) {
  recorded.emplace_back("copy2");
  DriverFunctions::Next<PFN_vkCmdCopyBuffer2>("vkCmdCopyBuffer2", commands, info);
}
// The rest is only recorded: nothing is bound for it.
VKAPI_ATTR void VKAPI_CALL Dispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) {
  recorded.emplace_back("dispatch");
}
VKAPI_ATTR void VKAPI_CALL Draw(VkCommandBuffer, uint32_t, uint32_t, uint32_t, uint32_t) {
  recorded.emplace_back("draw");
}
VKAPI_ATTR void VKAPI_CALL Timestamp(VkCommandBuffer, VkPipelineStageFlagBits, VkQueryPool,
                                     uint32_t) {
  recorded.emplace_back("timestamp");
}
VKAPI_ATTR void VKAPI_CALL BeginPass(VkCommandBuffer, const VkRenderPassBeginInfo*,
                                     VkSubpassContents) {
  recorded.emplace_back("begin");
}
VKAPI_ATTR void VKAPI_CALL BeginPass2(VkCommandBuffer, const VkRenderPassBeginInfo*,
                                      const VkSubpassBeginInfo*) {
  recorded.emplace_back("begin");
}
VKAPI_ATTR void VKAPI_CALL EndPass(VkCommandBuffer) {
  recorded.emplace_back("end");
}
VKAPI_ATTR void VKAPI_CALL EndPass2(VkCommandBuffer, const VkSubpassEndInfo*) {
  recorded.emplace_back("end");
}
VKAPI_ATTR void VKAPI_CALL BeginRendering(VkCommandBuffer commands, const VkRenderingInfo* info) {
  recorded.emplace_back("begin");
  DriverFunctions::Next<PFN_vkCmdBeginRendering>("vkCmdBeginRendering", commands, info);
}
VKAPI_ATTR void VKAPI_CALL EndRendering(VkCommandBuffer commands) {
  recorded.emplace_back("end");
  DriverFunctions::Next<PFN_vkCmdEndRendering>("vkCmdEndRendering", commands);
}
VKAPI_ATTR void VKAPI_CALL Execute(VkCommandBuffer commands, uint32_t count,
                                   const VkCommandBuffer* secondaries) {
  recorded.emplace_back("execute");
  DriverFunctions::Next<PFN_vkCmdExecuteCommands>("vkCmdExecuteCommands", commands, count,
                                                  secondaries);
}

const DriverFunctions::Table kFunctions = {
    {"vkCmdPipelineBarrier", DriverFunctions::Of(Barrier)},
    {"vkCmdFillBuffer", DriverFunctions::Of(Fill)},
    {"vkCmdCopyBuffer2", DriverFunctions::Of(Copy2)},
    {"vkCmdDispatch", DriverFunctions::Of(Dispatch)},
    {"vkCmdDraw", DriverFunctions::Of(Draw)},
    {"vkCmdWriteTimestamp", DriverFunctions::Of(Timestamp)},
    {"vkCmdBeginRenderPass", DriverFunctions::Of(BeginPass)},
    {"vkCmdBeginRenderPass2", DriverFunctions::Of(BeginPass2)},
    {"vkCmdEndRenderPass", DriverFunctions::Of(EndPass)},
    {"vkCmdEndRenderPass2", DriverFunctions::Of(EndPass2)},
    {"vkCmdBeginRendering", DriverFunctions::Of(BeginRendering)},
    {"vkCmdEndRendering", DriverFunctions::Of(EndRendering)},
    {"vkCmdExecuteCommands", DriverFunctions::Of(Execute)},
};

}  // namespace driver

// With breadcrumbs of its own, or for an implementation of Direct3D.
class BarrierExperimentTest : public ::testing::TestWithParam<DeviceKind> {
 protected:
  static void SetUpTestSuite() {
    RunBoard::OfProcess().header();
    const Status loaded = DriverFunctions::Load(driver::kFunctions);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
  }
  void TearDown() override {
    loader_.reset();
    ReplaceRunExperiment(nullptr);
  }

  void Make(Change change, MarkerMode mode = MarkerMode::kTop) {
    experiment_.change = change;
    ReplaceRunExperiment(change == Change::kNone ? nullptr : &experiment_);
    std::optional<DeviceCreationScope> driven;
    if (GetParam() == DeviceKind::kDriven) driven.emplace();
    loader_.emplace();
    const Status made = loader_->Create(mode, {.next = DriverFunctions::GetOfInstance});
    ASSERT_TRUE(made.ok()) << made.message();
    ASSERT_EQ(loader_->state().kind, GetParam());
    RunBoard::OfProcess().header().changes = 0;
    RunBoard::OfProcess().header().not_changed = 0;
  }
  const DeviceFunctions& vk() const { return loader_->vk(); }

  // Returns what a command buffer makes of this, from its begin to its end, as the driver gets it.
  template <typename Record>
  std::vector<std::string> Recorded(Record record) {
    const VkCommandBuffer commands = loader_->Allocate();
    loader_->Begin(commands);
    driver::recorded.clear();
    record(commands);
    loader_->End(commands);
    return driver::recorded;
  }
  void Fill(VkCommandBuffer commands) {
    if (buffer_of_ != loader_->device()) buffer_ = loader_->MakeBuffer();
    buffer_of_ = loader_->device();
    vk().CmdFillBuffer(commands, buffer_, 0, 64, driver::kOfProgram);
  }
  void Begin(VkCommandBuffer commands, VkRenderingFlags flags = 0) {
    VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.flags = flags;
    info.renderArea.extent = {16, 16};
    info.layerCount = 1;
    vk().CmdBeginRendering(commands, &info);
  }
  static uint32_t changes() { return RunBoard::OfProcess().header().changes; }
  static uint32_t not_changed() { return RunBoard::OfProcess().header().not_changed; }

  Experiment experiment_;
  std::optional<TestLoader> loader_;
  VkDevice buffer_of_ = VK_NULL_HANDLE;
  VkBuffer buffer_ = VK_NULL_HANDLE;
};

INSTANTIATE_TEST_SUITE_P(All, BarrierExperimentTest,
                         ::testing::Values(DeviceKind::kBreadcrumbs, DeviceKind::kDriven),
                         [](const auto& info) {
                           return std::string(info.param == DeviceKind::kDriven ? "Driven"
                                                                                : "Breadcrumbs");
                         });

// Work, and what is none.
TEST_P(BarrierExperimentTest, EachPieceOfWorkHasItsBarrier) {
  const auto record = [&](VkCommandBuffer commands) {
    Fill(commands);
    vk().CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_NULL_HANDLE, 0);
    const VkBufferCopy2 region = {VK_STRUCTURE_TYPE_BUFFER_COPY_2, nullptr, 0, 128, 64};
    const VkCopyBufferInfo2 copy = {
        VK_STRUCTURE_TYPE_COPY_BUFFER_INFO_2, nullptr, buffer_, buffer_, 1, &region};
    vk().CmdCopyBuffer2(commands, &copy);
    vk().CmdDispatch(commands, 1, 1, 1);
    VkMemoryBarrier of_program = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &of_program, 0, nullptr, 0,
                            nullptr);
    vk().CmdDispatch(commands, 1, 1, 1);
  };
  Make(Change::kNone);
  EXPECT_THAT(Recorded(record), ElementsAre("fill", "timestamp", "copy2", "dispatch", "dispatch"));
  EXPECT_EQ(changes(), 0u);
  Make(Change::kBarrierBefore);
  EXPECT_THAT(Recorded(record), ElementsAre("|", "fill", "timestamp", "|", "copy2", "|", "dispatch",
                                            "|", "dispatch"));
  EXPECT_EQ(changes(), 4u);
  Make(Change::kBarrierAfter);
  EXPECT_THAT(Recorded(record), ElementsAre("fill", "|", "timestamp", "copy2", "|", "dispatch", "|",
                                            "dispatch", "|"));
  EXPECT_EQ(changes(), 4u);
  EXPECT_EQ(not_changed(), 0u);
  Make(Change::kKeepAlive);
  EXPECT_THAT(Recorded(record), ElementsAre("fill", "timestamp", "copy2", "dispatch", "dispatch"));
}

TEST_P(BarrierExperimentTest, RenderPassesStayWhole) {
  const VkRenderPassBeginInfo info = {VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  const VkSubpassBeginInfo subpass = {VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
  const VkSubpassEndInfo end = {VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
  const auto draws = [&](VkCommandBuffer commands) {
    vk().CmdDraw(commands, 3, 1, 0, 0);
    vk().CmdDraw(commands, 3, 1, 0, 0);
  };
  const std::vector<std::function<void(VkCommandBuffer)>> passes = {
      [&](VkCommandBuffer commands) {
        Begin(commands);
        draws(commands);
        vk().CmdEndRendering(commands);
      },
      [&](VkCommandBuffer commands) {
        vk().CmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
        draws(commands);
        vk().CmdEndRenderPass(commands);
      },
      [&](VkCommandBuffer commands) {
        vk().CmdBeginRenderPass2(commands, &info, &subpass);
        draws(commands);
        vk().CmdEndRenderPass2(commands, &end);
      }};
  for (const auto& pass : passes) {
    Make(Change::kBarrierBefore);
    EXPECT_THAT(Recorded(pass), ElementsAre("|", "begin", "draw", "draw", "end"));
    EXPECT_EQ(changes(), 1u);
    EXPECT_EQ(not_changed(), 2u) << "nothing stands between the draws";
    Make(Change::kBarrierAfter);
    EXPECT_THAT(Recorded(pass), ElementsAre("begin", "draw", "draw", "end", "|"));
    EXPECT_EQ(changes(), 1u);
    EXPECT_EQ(not_changed(), 2u);
  }
}

// Between a pass that suspends and the one that resumes it no barrier may stand, in whatever command buffers they are.
TEST_P(BarrierExperimentTest, SuspendedPasses) {
  const auto suspend = [&](VkCommandBuffer commands) {
    Begin(commands, VK_RENDERING_SUSPENDING_BIT);
    vk().CmdEndRendering(commands);
  };
  const auto resume = [&](VkCommandBuffer commands) {
    Begin(commands, VK_RENDERING_RESUMING_BIT);
    vk().CmdEndRendering(commands);
  };
  const auto both = [&](VkCommandBuffer commands) {
    suspend(commands);
    Begin(commands, VK_RENDERING_RESUMING_BIT | VK_RENDERING_SUSPENDING_BIT);
    vk().CmdEndRendering(commands);
    resume(commands);
    Fill(commands);
  };
  Make(Change::kBarrierBefore);
  EXPECT_THAT(Recorded(both),
              ElementsAre("|", "begin", "end", "begin", "end", "begin", "end", "|", "fill"));
  EXPECT_THAT(Recorded(suspend), ElementsAre("|", "begin", "end"));
  EXPECT_THAT(Recorded(resume), ElementsAre("begin", "end"));
  Make(Change::kBarrierAfter);
  EXPECT_THAT(Recorded(both),
              ElementsAre("begin", "end", "begin", "end", "begin", "end", "|", "fill", "|"));
  EXPECT_THAT(Recorded(suspend), ElementsAre("begin", "end"));
  EXPECT_THAT(Recorded(resume), ElementsAre("begin", "end", "|"));
}

TEST_P(BarrierExperimentTest, SecondaryCommandBuffers) {
  // In a secondary one, around it, and around one that a render pass executes.
  const auto record = [&](VkCommandBuffer commands) {
    const VkCommandBuffer work = loader_->Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    loader_->BeginSecondary(work);
    Fill(work);
    loader_->End(work);
    const VkCommandBuffer draws = loader_->Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBufferInheritanceRenderingInfo rendering = {
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
    rendering.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    const VkCommandBufferInheritanceInfo inheritance = {
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, &rendering};
    const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                            VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
                                            &inheritance};
    vk().BeginCommandBuffer(draws, &begin);
    vk().CmdDraw(draws, 3, 1, 0, 0);
    loader_->End(draws);
    vk().CmdExecuteCommands(commands, 1, &work);
    Begin(commands, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
    vk().CmdExecuteCommands(commands, 1, &draws);
    vk().CmdEndRendering(commands);
  };
  Make(Change::kBarrierBefore);
  EXPECT_THAT(Recorded(record),
              ElementsAre("|", "fill", "draw", "|", "execute", "|", "begin", "execute", "end"));
  Make(Change::kBarrierAfter);
  EXPECT_THAT(Recorded(record),
              ElementsAre("fill", "|", "draw", "execute", "|", "begin", "execute", "end", "|"));
}

// A command buffer that is recorded again, and ended in the middle of something, keeps nothing of it.
TEST_P(BarrierExperimentTest, ARecordingBeginsAnew) {
  Make(Change::kBarrierBefore);
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  Begin(commands, VK_RENDERING_SUSPENDING_BIT);
  vk().CmdEndRendering(commands);
  loader_->End(commands);
  loader_->Begin(commands);
  driver::recorded.clear();
  Fill(commands);
  loader_->End(commands);
  EXPECT_THAT(driver::recorded, ElementsAre("|", "fill"));
  ASSERT_EQ(loader_->Run(commands), VK_SUCCESS) << "and the driver takes it";
}

// There the GPU does one piece of work at a time in any case.
TEST_P(BarrierExperimentTest, ModeExactIsAsItWas) {
  const auto record = [&](VkCommandBuffer commands) { Fill(commands); };
  Make(Change::kNone, MarkerMode::kExact);
  const std::vector<std::string> without = Recorded(record);
  EXPECT_THAT(without, ::testing::Contains("|"));
  for (const Change change : {Change::kBarrierBefore, Change::kBarrierAfter}) {
    Make(change, MarkerMode::kExact);
    EXPECT_THAT(Recorded(record), ElementsAreArray(without));
    EXPECT_EQ(changes(), 0u);
  }
}

TEST_P(BarrierExperimentTest, WithoutBreadcrumbsNothingIsChanged) {
  experiment_.change = Change::kBarrierBefore;
  ReplaceRunExperiment(&experiment_);
  loader_.emplace();
  ASSERT_TRUE(loader_->Create(MarkerMode::kOff, {.next = DriverFunctions::GetOfInstance}).ok());
  EXPECT_THAT(Recorded([&](VkCommandBuffer commands) { Fill(commands); }), ElementsAre("fill"));
}

}  // namespace
}  // namespace cairn
