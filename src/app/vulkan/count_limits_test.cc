// SPDX-License-Identifier: Apache-2.0
//
// The experiment "counts": what reaches a driver of a program that draws and dispatches far too much; and what a GPU makes
// of it whose arguments are in a buffer.
#include "app/vulkan/count_limits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/vulkan_compute.h"
#include "app/vulkan/importer.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/driver_functions.h"
#include "app/vulkan/testing/run_board.h"
#include "app/vulkan/testing/test_loader.h"
#include "embedded/canary.comp.spv.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kAll = UINT32_MAX;

// Stands behind the layer, and notes counts and uses of buffers. Draws go no further: nothing is bound for them.
namespace driver {

std::vector<std::string> recorded;
VkBufferUsageFlags usage = 0;
bool dispatches = false;  // also on the GPU

VKAPI_ATTR void VKAPI_CALL Draw(VkCommandBuffer, uint32_t vertices, uint32_t instances,
                                uint32_t first, uint32_t first_instance) {
  recorded.push_back(fmt::format("draw {} {} {} {}", vertices, instances, first, first_instance));
}
VKAPI_ATTR void VKAPI_CALL DrawIndexed(VkCommandBuffer, uint32_t indices, uint32_t instances,
                                       uint32_t first, int32_t offset, uint32_t first_instance) {
  recorded.push_back(
      fmt::format("indexed {} {} {} {} {}", indices, instances, first, offset, first_instance));
}
VKAPI_ATTR void VKAPI_CALL DrawIndirect(VkCommandBuffer, VkBuffer, VkDeviceSize, uint32_t,
                                        uint32_t) {
  recorded.emplace_back("indirect");
}
VKAPI_ATTR void VKAPI_CALL Dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  recorded.push_back(fmt::format("dispatch {} {} {}", x, y, z));
  if (!dispatches) return;
  DriverFunctions::Next<PFN_vkCmdDispatch>("vkCmdDispatch", commands, x, y, z);
}
VKAPI_ATTR void VKAPI_CALL DispatchBase(VkCommandBuffer, uint32_t base, uint32_t, uint32_t,
                                        uint32_t x, uint32_t y, uint32_t z) {
  recorded.push_back(fmt::format("from {} dispatch {} {} {}", base, x, y, z));
}
VKAPI_ATTR VkResult VKAPI_CALL MakeBuffer(VkDevice of, const VkBufferCreateInfo* info,
                                          const VkAllocationCallbacks* allocator,
                                          VkBuffer* buffer) {
  usage = info->usage;
  return DriverFunctions::Next<PFN_vkCreateBuffer>("vkCreateBuffer", of, info, allocator, buffer);
}

const DriverFunctions::Table kFunctions = {
    {"vkCmdDraw", DriverFunctions::Of(Draw)},
    {"vkCmdDrawIndexed", DriverFunctions::Of(DrawIndexed)},
    {"vkCmdDrawIndirect", DriverFunctions::Of(DrawIndirect)},
    {"vkCmdDispatch", DriverFunctions::Of(Dispatch)},
    {"vkCmdDispatchBase", DriverFunctions::Of(DispatchBase)},
    {"vkCreateBuffer", DriverFunctions::Of(MakeBuffer)},
};

}  // namespace driver

// The board of counts, of a run.
class CountBoard {
 public:
  CountBoard()
      : memory_(SharedMemory::Create("cairn counts", ExperimentBoard::BytesFor(kRecords, 1 << 16))),
        board_(ExperimentBoard::Make({memory_->data(), memory_->size_bytes()}, kRecords, 1 << 16)) {
  }
  const ExperimentBoard& board() const { return board_; }

  static constexpr uint32_t kRecords = 64;

 private:
  Result<SharedMemory> memory_;
  ExperimentBoard board_;
};

class CountLimitsTest : public ::testing::TestWithParam<DeviceKind> {
 protected:
  static void SetUpTestSuite() {
    RunBoard::OfProcess().header();
    const Status loaded = DriverFunctions::Load(driver::kFunctions);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
  }
  void TearDown() override {
    if (loader_) pipeline_.Destroy(loader_->vk(), loader_->device());
    arguments_ = {};
    counter_ = {};
    loader_.reset();
    ReplaceRunExperiment(nullptr);
    RecordedExperiment::Replace(nullptr);
    driver::dispatches = false;
  }

  void Make(uint32_t counts) {
    run_.emplace(
        RecordedExperiment{{.change = Change::kLimitCounts, .counts = counts}, board_.board()});
    RecordedExperiment::Replace(&*run_);
    ReplaceRunExperiment(&run_->experiment);
    std::optional<DeviceCreationScope> driven;
    if (GetParam() == DeviceKind::kDriven) driven.emplace();
    loader_.emplace();
    const Status made = loader_->Create(MarkerMode::kTop, {.next = DriverFunctions::GetOfInstance});
    ASSERT_TRUE(made.ok()) << made.message();
    ASSERT_EQ(loader_->state().kind, GetParam());
    driver::recorded.clear();
    RunBoard::OfProcess().Take();
  }
  const DeviceFunctions& vk() const { return loader_->vk(); }
  void Label(VkCommandBuffer commands, const char* name) {
    VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
    label.pLabelName = name;
    vk().CmdBeginDebugUtilsLabelEXT(commands, &label);
  }
  void BeginPass(VkCommandBuffer commands) {
    VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea.extent = {16, 16};
    info.layerCount = 1;
    vk().CmdBeginRendering(commands, &info);
  }
  // A dispatch that counts its invocations, each a group of its own; and arguments for it.
  void MakeCounter(const VkDispatchIndirectCommand& arguments) {
    driver::dispatches = true;
    ASSERT_EQ("", MakeImporter(loader_->state(), &importer_));
    Result<VulkanBuffer> counter =
        VulkanBuffer::CreateHostVisible(importer_, 64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    Result<VulkanBuffer> buffer =
        VulkanBuffer::CreateHostVisible(importer_, 64, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    ASSERT_TRUE(counter.ok() && buffer.ok());
    counter_ = std::move(*counter);
    arguments_ = std::move(*buffer);
    std::memcpy(arguments_.mapped() + 16, &arguments, sizeof(arguments));
    const Status made = pipeline_.Create(vk(), loader_->device(), kCanaryCompSpv,
                                         sizeof(kCanaryCompSpv), counter_.buffer(), 0);
    ASSERT_TRUE(made.ok()) << made.message();
  }
  uint32_t Invocations() const {
    uint32_t count = 0;
    std::memcpy(&count, counter_.mapped(), sizeof(count));
    return count;
  }
  ExperimentNotes Told() const { return board_.board().Read(); }

  CountBoard board_;
  std::optional<RecordedExperiment> run_;
  std::optional<TestLoader> loader_;
  VulkanDevice importer_;
  VulkanBuffer counter_;
  VulkanBuffer arguments_;
  VulkanCompute pipeline_;
};

INSTANTIATE_TEST_SUITE_P(All, CountLimitsTest,
                         ::testing::Values(DeviceKind::kBreadcrumbs, DeviceKind::kDriven),
                         [](const auto& info) {
                           return std::string(info.param == DeviceKind::kDriven ? "Driven"
                                                                                : "Breadcrumbs");
                         });

TEST_P(CountLimitsTest, CallsHaveNoMoreThanTheLimit) {
  Make(1000);
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  BeginPass(commands);
  vk().CmdDraw(commands, 3, 1, 5, 6);
  vk().CmdDraw(commands, kAll, 1, 5, 6);
  vk().CmdDraw(commands, 300, 4, 0, 0);
  vk().CmdDrawIndexed(commands, 1000, 1, 7, -8, 9);
  vk().CmdDrawIndexed(commands, 1, kAll, 7, -8, 9);
  vk().CmdEndRendering(commands);
  vk().CmdDispatch(commands, 10, 10, 10);
  vk().CmdDispatch(commands, 10, 10, 11);
  vk().CmdDispatch(commands, 65535, 65535, 1);
  vk().CmdDispatchBase(commands, 2, 0, 0, 1, 2000, 1);
  loader_->End(commands);
  EXPECT_THAT(driver::recorded,
              ElementsAre("draw 3 1 5 6", "draw 1000 1 5 6", "draw 300 3 0 0",
                          "indexed 1000 1 7 -8 9", "indexed 1 1000 7 -8 9", "dispatch 10 10 10",
                          "dispatch 10 10 10", "dispatch 1000 1 1", "from 2 dispatch 1 1000 1"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{6, 0}));
  EXPECT_THAT(Told().counts, SizeIs(6));
}

// The same call in the same place is told once.
TEST_P(CountLimitsTest, EachCallIsToldWithItsLabels) {
  Make(1000);
  for (int frame = 0; frame < 3; ++frame) {
    const VkCommandBuffer commands = loader_->Allocate();
    loader_->Begin(commands);
    Label(commands, "Frame");
    Label(commands, "Particles");
    vk().CmdDispatch(commands, 1, kAll, 1);
    vk().CmdEndDebugUtilsLabelEXT(commands);
    if (frame == 0) vk().CmdDispatch(commands, 1, kAll, 1);
    vk().CmdEndDebugUtilsLabelEXT(commands);
    loader_->End(commands);
  }
  const std::vector<CountNote> told = Told().counts;
  ASSERT_THAT(told, SizeIs(2));
  CountNote expected = {.command = "vkCmdDispatch", .label = "Frame > Particles", .count = 3};
  expected.record = {.used = {1, 1000, 1}, .given = {1, kAll, 1}, .limited = 3};
  EXPECT_EQ(told[0], expected);
  EXPECT_EQ(told[1].label, "Frame");
  EXPECT_EQ(told[1].record.limited, 1u);
}

TEST_P(CountLimitsTest, IndirectDrawsAreNotChanged) {
  Make(1);
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  BeginPass(commands);
  vk().CmdDrawIndirect(commands, loader_->MakeBuffer(), 0, 1, 16);
  vk().CmdEndRendering(commands);
  loader_->End(commands);
  EXPECT_THAT(driver::recorded, ElementsAre("indirect"));
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 1}));
  EXPECT_THAT(Told().counts, IsEmpty());
}

TEST_P(CountLimitsTest, TheArgumentsOfADispatchAreLimitedOnTheGpu) {
  Make(8);
  MakeCounter({4, 3, 2});
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  Label(commands, "Particles");
  pipeline_.Bind(vk(), commands);
  vk().CmdDispatchIndirect(commands, arguments_.buffer(), 16);
  vk().CmdEndDebugUtilsLabelEXT(commands);
  vk().CmdDispatch(commands, 1, 1, 1);  // with what the program has bound
  loader_->End(commands);
  ASSERT_EQ(loader_->Run(commands), VK_SUCCESS);
  EXPECT_EQ(Invocations(), 4u * 2 + 1);
  ASSERT_EQ(loader_->Run(commands), VK_SUCCESS);
  EXPECT_EQ(Invocations(), 2u * (4 * 2 + 1));
  const std::vector<CountNote> told = Told().counts;
  ASSERT_THAT(told, SizeIs(1));
  CountNote expected = {
      .command = "vkCmdDispatchIndirect", .label = "Particles", .count = 3, .is_indirect = true};
  expected.record = {.used = {4, 2, 1}, .given = {4, 3, 2}, .limited = 2};
  EXPECT_EQ(told[0], expected);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 0})) << "the record counts";
}

TEST_P(CountLimitsTest, WithoutALimitTheGpuOnlyReads) {
  for (const uint32_t counts : {uint32_t{24}, Experiment::kOnlyCount}) {
    TearDown();
    pipeline_ = {};
    Make(counts);
    MakeCounter({4, 3, 2});
    const VkCommandBuffer commands = loader_->Allocate();
    loader_->Begin(commands);
    pipeline_.Bind(vk(), commands);
    vk().CmdDispatchIndirect(commands, arguments_.buffer(), 16);
    loader_->End(commands);
    ASSERT_EQ(loader_->Run(commands), VK_SUCCESS);
    EXPECT_EQ(Invocations(), 24u) << counts;
    for (const CountNote& note : Told().counts) EXPECT_EQ(note.record.limited, 0u);
  }
}

// Within a query the layer's own dispatch would be counted as well; and the board has an end.
TEST_P(CountLimitsTest, WhereTheLayerCannotReadTheArgumentsTheyAreNotChanged) {
  Make(8);
  MakeCounter({4, 3, 2});
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  pipeline_.Bind(vk(), commands);
  for (uint32_t i = 0; i < CountBoard::kRecords + 2; ++i) {
    vk().CmdDispatchIndirect(commands, arguments_.buffer(), 16);
  }
  loader_->End(commands);
  ASSERT_EQ(loader_->Run(commands), VK_SUCCESS);
  EXPECT_EQ(Invocations(), CountBoard::kRecords * 8 + 2 * 24u);
  EXPECT_EQ(RunBoard::OfProcess().Take(), (ChangeCounts{0, 2}));
  EXPECT_EQ(Told().dropped, 2u);
}

TEST_P(CountLimitsTest, BuffersOfArgumentsCanBeCopied) {
  Make(8);
  const auto used_as = [&](VkBufferUsageFlags usage) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 64;
    info.usage = usage;
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateBuffer(loader_->device(), &info, nullptr, &buffer), VK_SUCCESS);
    vk().DestroyBuffer(loader_->device(), buffer, nullptr);
    return driver::usage;
  };
  EXPECT_TRUE(used_as(VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT) & VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  EXPECT_FALSE(used_as(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT) & VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
}

}  // namespace
}  // namespace cairn
