// SPDX-License-Identifier: Apache-2.0
//
// The experiment "bounds" in the Vulkan layer, on a device: a program that knows nothing of it makes buffers with
// addresses, and its shaders access them, through the layer, which is linked in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "app/spirv/testing/shaders.h"
#include "app/vulkan/access_ranges.h"
#include "app/vulkan/recorded_experiment.h"
#include "app/vulkan/testing/test_loader.h"
#include "compute_on_device.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

using spirv::testing::Form;
using spirv::testing::LoadShader;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As addresses.comp counts them.
constexpr uint32_t kWords = 0;
constexpr size_t kBytes = 64 * 4;

class AccessLayerGpuTest : public ::testing::Test {
 protected:
  void Start(const std::string& experiment) {
    run_.emplace(RecordedExperiment{*ParseExperiment(experiment), board_});
    RecordedExperiment::Replace(&*run_);
    features_.bufferDeviceAddress = VK_TRUE;
    features_.scalarBlockLayout = VK_TRUE;
    loader_.emplace();
    const Status made = loader_->Create(MarkerMode::kTop, {.chain = &features_, .extensions = {}});
    ASSERT_TRUE(made.ok()) << made.message();
    on_ = {loader_->vk(), loader_->device(), loader_->queue(), 0, {}};
    loader_->GetOfInstance<PFN_vkGetPhysicalDeviceMemoryProperties>(
        "vkGetPhysicalDeviceMemoryProperties")(loader_->physical_device(), &on_.memory);
    results_ = MakeSharedBuffer(on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(InvocationWords));
    task_ = MakeSharedBuffer(on_, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, 16);
    ASSERT_NE(task_.mapped, nullptr);
  }
  void TearDown() override {
    DestroySharedBuffer(on_, results_);
    DestroySharedBuffer(on_, task_);
    loader_.reset();
    RecordedExperiment::Replace(nullptr);
  }

  uint64_t AddressOf(VkBuffer buffer) {
    VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    info.buffer = buffer;
    return loader_->Get<PFN_vkGetBufferDeviceAddress>("vkGetBufferDeviceAddress")(on_.device,
                                                                                  &info);
  }
  SharedBuffer MakeData() {
    return MakeSharedBuffer(on_, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, kBytes);
  }

  // Each invocation stores three times its number at `data`, and loads it again.
  InvocationWords StoreAndLoad(uint64_t data, uint32_t offset = 0) {
    const uint32_t task[4] = {kWords, offset, static_cast<uint32_t>(data),
                              static_cast<uint32_t>(data >> 32)};
    std::memcpy(task_.mapped, task, sizeof(task));
    const uint64_t at = AddressOf(task_.buffer);
    return RunCompute(on_, results_, LoadShader("addresses.comp", Form::kLines),
                      {static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32)});
  }

  std::vector<AccessNote> Missed() const {
    std::vector<AccessNote> missed;
    for (const AccessNote& access : board_.Read().accesses) {
      if (access.record.misses != 0) missed.push_back(access);
    }
    return missed;
  }

  SharedMemory memory_ = std::move(
      SharedMemory::Create("cairn loops", ExperimentBoard::BytesFor(64, 1u << 14)).value());
  ExperimentBoard board_ =
      ExperimentBoard::Make({memory_.data(), memory_.size_bytes()}, 64, 1u << 14);
  std::optional<RecordedExperiment> run_;
  VkPhysicalDeviceVulkan12Features features_ = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  std::optional<TestLoader> loader_;
  ComputeDevice on_;
  SharedBuffer results_;
  SharedBuffer task_;
};

TEST_F(AccessLayerGpuTest, AccessesWithinBuffersAreAsTheyWere) {
  Start("bounds=skip");
  const SharedBuffer data = MakeData();
  const InvocationWords results = StoreAndLoad(AddressOf(data.buffer));
  for (uint32_t i = 0; i < kInvocations; ++i) EXPECT_EQ(results[i], i * 3);
  const ExperimentNotes told = board_.Read();
  EXPECT_EQ(told.limited, 1u);
  EXPECT_EQ(told.why_none, "");
  // 11 by address, and 5 results that are stored by descriptor.
  EXPECT_THAT(told.accesses, SizeIs(16));
  EXPECT_EQ(std::ranges::count_if(told.accesses, &AccessNote::by_descriptor), 5);
  EXPECT_THAT(told.loops, IsEmpty());
  EXPECT_THAT(Missed(), IsEmpty());
  DestroySharedBuffer(on_, data);
}

TEST_F(AccessLayerGpuTest, BehindTheEndOfABufferIsTold) {
  Start("bounds=skip");
  const SharedBuffer data = MakeData();
  const uint64_t address = AddressOf(data.buffer);
  const InvocationWords results = StoreAndLoad(address, 2);
  EXPECT_EQ(results[61], 183u);
  EXPECT_EQ(results[62], 0u);
  const std::vector<AccessNote> missed = Missed();
  ASSERT_THAT(missed, SizeIs(2));
  EXPECT_EQ(missed[0].kind, AccessKind::kStore);
  EXPECT_EQ(missed[0].line, 42u);
  EXPECT_EQ(missed[0].record.misses, 2u);
  EXPECT_EQ(missed[0].record.range, (AccessRange{address, kBytes}));
  DestroySharedBuffer(on_, data);
}

TEST_F(AccessLayerGpuTest, NothingMayAccessABufferThatIsGone) {
  Start("bounds=skip");
  const SharedBuffer data = MakeData();
  const uint64_t address = AddressOf(data.buffer);
  StoreAndLoad(address);
  EXPECT_THAT(Missed(), IsEmpty());
  DestroySharedBuffer(on_, data);
  EXPECT_THAT(StoreAndLoad(address), Each(0u));
  ASSERT_THAT(Missed(), SizeIs(2));
  EXPECT_EQ(Missed()[0].record.misses, kInvocations);
}

TEST_F(AccessLayerGpuTest, NothingMayAccessABufferWhoseMemoryIsFreed) {
  Start("bounds=skip");
  const SharedBuffer data = MakeData();
  const uint64_t address = AddressOf(data.buffer);
  on_.vk.FreeMemory(on_.device, data.memory, nullptr);
  EXPECT_THAT(StoreAndLoad(address), Each(0u));
  EXPECT_THAT(Missed(), SizeIs(2));
  on_.vk.DestroyBuffer(on_.device, data.buffer, nullptr);
}

// The control: what misses is told, and goes where the program wants it. Its memory is there, for another buffer.
TEST_F(AccessLayerGpuTest, CountedAccessesGoWhereTheyWould) {
  Start("bounds=count");
  const SharedBuffer data = MakeSharedBuffer(
      on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      2 * kBytes);
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kBytes;
  info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  VkBuffer smaller = VK_NULL_HANDLE;
  ASSERT_EQ(on_.vk.CreateBuffer(on_.device, &info, nullptr, &smaller), VK_SUCCESS);
  ASSERT_EQ(on_.vk.BindBufferMemory(on_.device, smaller, data.memory, 0), VK_SUCCESS);
  const uint64_t address = AddressOf(smaller);
  on_.vk.DestroyBuffer(on_.device, data.buffer, nullptr);
  const InvocationWords results = StoreAndLoad(address, 1);
  for (uint32_t i = 0; i < kInvocations; ++i) EXPECT_EQ(results[i], i * 3);
  ASSERT_THAT(Missed(), SizeIs(2));
  EXPECT_EQ(Missed()[0].record.misses, 1u);
  on_.vk.DestroyBuffer(on_.device, smaller, nullptr);
  on_.vk.FreeMemory(on_.device, data.memory, nullptr);
}

// One of the two is gone, and the memory of the other goes on to its end.
TEST_F(AccessLayerGpuTest, BuffersThatShareMemoryAreOneRange) {
  Start("bounds=skip");
  const SharedBuffer data = MakeSharedBuffer(
      on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      2 * kBytes);
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kBytes;
  info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  VkBuffer smaller = VK_NULL_HANDLE;
  ASSERT_EQ(on_.vk.CreateBuffer(on_.device, &info, nullptr, &smaller), VK_SUCCESS);
  ASSERT_EQ(on_.vk.BindBufferMemory(on_.device, smaller, data.memory, 0), VK_SUCCESS);
  const uint64_t address = AddressOf(smaller);
  StoreAndLoad(address, 64);
  EXPECT_THAT(Missed(), IsEmpty());
  on_.vk.DestroyBuffer(on_.device, smaller, nullptr);
  StoreAndLoad(address, 64);
  EXPECT_THAT(Missed(), IsEmpty());
  DestroySharedBuffer(on_, data);
}

// By descriptor: 16 words, and behind them pairs of words up to the end of a buffer of 64.
TEST_F(AccessLayerGpuTest, AnIndexBehindTheEndOfABufferIsTold) {
  for (const bool skips : {true, false}) {
    Start(skips ? "bounds=skip" : "bounds=count");
    RunCompute(on_, results_, LoadShader("indices.comp", Form::kLines), {0, 1});
    const std::vector<AccessNote> missed = Missed();
    ASSERT_THAT(missed, SizeIs(1)) << skips;
    EXPECT_TRUE(missed[0].by_descriptor);
    EXPECT_EQ(missed[0].kind, AccessKind::kStore);
    EXPECT_EQ(missed[0].pointer, "data");
    EXPECT_EQ(missed[0].set, 0u);
    EXPECT_EQ(missed[0].binding, 0u);
    EXPECT_EQ(missed[0].line, 16u);
    EXPECT_EQ(missed[0].record.misses, 1u);
    EXPECT_EQ(missed[0].record.invocation[0], 23u);
    EXPECT_EQ(missed[0].indices[0], (IndexNote{IndexKind::kElement, false}));
    EXPECT_EQ(missed[0].indices[1], IndexNote{});
    EXPECT_EQ(IndexMissOf(missed[0].record).index[0], 24u);
    EXPECT_EQ(IndexMissOf(missed[0].record).bound[0], 24u);
    TearDown();
    std::memset(memory_.data(), 0, memory_.size_bytes());
    board_ = ExperimentBoard::Make({memory_.data(), memory_.size_bytes()}, 64, 1u << 14);
  }
  Start("bounds=skip");
}

TEST_F(AccessLayerGpuTest, OtherShadersStayAsTheyAre) {
  Start("bounds=skip,shader=00000000000000a1");
  const SharedBuffer data = MakeData();
  StoreAndLoad(AddressOf(data.buffer));
  EXPECT_EQ(board_.Read(), ExperimentNotes{});
  DestroySharedBuffer(on_, data);
}

TEST_F(AccessLayerGpuTest, MoreBuffersThanTheListTakesForbidNothing) {
  Start("bounds=skip");
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 16;
  info.usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  std::vector<VkBuffer> buffers(AccessRanges::kMostRanges);
  for (VkBuffer& buffer : buffers)
    ASSERT_EQ(on_.vk.CreateBuffer(on_.device, &info, nullptr, &buffer), VK_SUCCESS);
  VkMemoryRequirements needs = {};
  on_.vk.GetBufferMemoryRequirements(on_.device, buffers[0], &needs);
  const uint64_t step = (needs.size + needs.alignment - 1) / needs.alignment * needs.alignment;
  // Of a larger buffer, which is then destroyed: its memory stays.
  const SharedBuffer all =
      MakeSharedBuffer(on_, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, step * (buffers.size() + 1));
  const uint64_t address = AddressOf(all.buffer);
  on_.vk.DestroyBuffer(on_.device, all.buffer, nullptr);
  EXPECT_EQ(board_.Read().why_none, "");
  // With the task's buffer they are one too many.
  for (size_t i = 0; i < buffers.size(); ++i) {
    ASSERT_EQ(on_.vk.BindBufferMemory(on_.device, buffers[i], all.memory, step * i), VK_SUCCESS);
  }
  EXPECT_THAT(board_.Read().why_none, HasSubstr("more than 8192 buffers"));
  StoreAndLoad(address);
  EXPECT_THAT(Missed(), IsEmpty());
  for (VkBuffer buffer : buffers) on_.vk.DestroyBuffer(on_.device, buffer, nullptr);
  on_.vk.FreeMemory(on_.device, all.memory, nullptr);
}

}  // namespace
}  // namespace cairn
