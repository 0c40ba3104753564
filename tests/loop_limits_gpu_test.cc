// SPDX-License-Identifier: Apache-2.0
//
// Shaders of this folder on a device: the same results with and without limits, and what the limits say of loops that do
// not end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "app/spirv/loop_limits.h"
#include "app/spirv/testing/shaders.h"
#include "compute_device_fixture.h"

namespace cairn::spirv {
namespace {

using ::testing::Each;
using testing::Form;
using testing::kForms;
using testing::LoadShader;

using Words = InvocationWords;
using Constants = ComputeConstants;

class LoopLimitsGpuTest : public ComputeDeviceTest {
 protected:
  void SetUp() override {
    ComputeDeviceTest::SetUp();
    records_ = MakeSharedBuffer(on_, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, kBytes);
    ASSERT_NE(records_.mapped, nullptr);
    address_ = AddressOf(records_);
    ASSERT_EQ(address_ % sizeof(LoopRecord), 0u);
  }
  void TearDown() override {
    DestroySharedBuffer(on_, records_);
    ComputeDeviceTest::TearDown();
  }

  const LoopRecord& record(size_t i) const {
    return static_cast<const LoopRecord*>(records_.mapped)[i];
  }

  LimitedModule Limit(const std::vector<uint32_t>& words, uint32_t trips) {
    const Result<LimitedModule> limited = LimitLoops(words, {trips, address_, {}});
    EXPECT_TRUE(limited.ok()) << limited.status().message();
    return limited.ok() ? *limited : LimitedModule{};
  }

  Words Run(const std::vector<uint32_t>& words, Constants constants) {
    std::memset(records_.mapped, 0, kBytes);
    return RunCompute(on_, results_, words, constants);
  }

 private:
  static constexpr size_t kBytes = 64 * sizeof(LoopRecord);

  SharedBuffer records_;
  uint64_t address_ = 0;
};

TEST_F(LoopLimitsGpuTest, AHealthyShaderGivesTheSameResults) {
  const std::pair<const char*, Constants> healthy[] = {{"march.comp", Floats(0.25f, 20.0f)},
                                                       {"ways_out.comp", {12, 5}},
                                                       {"never_ends.comp", {3, 5}}};
  for (const auto& [name, constants] : healthy) {
    for (Form form : kForms) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      const Words plain = Run(words, constants);
      EXPECT_EQ(Run(Limit(words, 60'000).words, constants), plain) << name << ", " << NameOf(form);
      const LimitedModule counted = Limit(words, UINT32_MAX);
      EXPECT_EQ(Run(counted.words, constants), plain) << name << ", " << NameOf(form);
      for (size_t i = 0; i < counted.loops.size(); ++i)
        EXPECT_EQ(record(i).cuts, 0u) << counted.loops[i].place.text;
    }
  }
}

TEST_F(LoopLimitsGpuTest, TripsAreCounted) {
  for (Form form : kForms) {
    const LimitedModule counted = Limit(LoadShader("march.comp", form), UINT32_MAX);
    // From 0.5 in steps of 1 up to 4: the first invocation tests 5 times, the fifth once.
    Run(counted.words, Floats(1.0f, 4.0f));
    EXPECT_EQ(record(0).executions, kInvocations) << NameOf(form);
    EXPECT_EQ(record(0).most_trips, 5u) << NameOf(form);
    EXPECT_EQ(record(0).first, 0u) << NameOf(form);
  }
}

TEST_F(LoopLimitsGpuTest, AStepOfZeroIsCutAndToldWithItsValues) {
  for (Form form : kForms) {
    const LimitedModule limited = Limit(LoadShader("march.comp", form), 1000);
    Run(limited.words, Floats(0.0f, 20.25f));
    // Invocations from 20 on begin behind the limit of the shader's own.
    EXPECT_EQ(record(0).cuts, 20u) << NameOf(form);
    EXPECT_EQ(record(0).executions, kInvocations) << NameOf(form);
    EXPECT_EQ(record(0).most_trips, 1000u) << NameOf(form);
    ASSERT_EQ(record(0).first, 1u) << NameOf(form);
    EXPECT_LT(record(0).invocation[0], 20u) << NameOf(form);
    ASSERT_TRUE(limited.loops[0].exit) << NameOf(form);
    EXPECT_EQ(std::bit_cast<float>(record(0).left),
              0.5f + static_cast<float>(record(0).invocation[0]))
        << NameOf(form);
    EXPECT_EQ(std::bit_cast<float>(record(0).right), 20.25f) << NameOf(form);
  }
}

TEST_F(LoopLimitsGpuTest, LoopsThatCannotEndAreCutAndWhatFollowsRuns) {
  for (Form form : kForms) {
    const LimitedModule limited = Limit(LoadShader("never_ends.comp", form), 100);
    ASSERT_EQ(limited.loops.size(), 2u);
    const bool counts_first = limited.loops[0].place.line == 21;
    const Words counted = Run(limited.words, {8, 0});
    // 1 before, one for each trip, and 5 behind, unless the optimiser took away what no way led to.
    const bool is_optimised = form == Form::kOptimised || form == Form::kOptimisedDebugInfo;
    EXPECT_THAT(counted, Each(1u + 100u + (is_optimised ? 0u : 5u))) << NameOf(form);
    EXPECT_EQ(record(counts_first ? 0 : 1).cuts, kInvocations) << NameOf(form);
    EXPECT_EQ(record(counts_first ? 1 : 0).executions, 0u) << NameOf(form);
    Run(limited.words, {7, 0});
    EXPECT_EQ(record(counts_first ? 1 : 0).cuts, kInvocations) << NameOf(form);
    EXPECT_EQ(record(counts_first ? 0 : 1).cuts, 0u) << NameOf(form);
  }
}

}  // namespace
}  // namespace cairn::spirv
