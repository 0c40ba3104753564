// SPDX-License-Identifier: Apache-2.0
//
// The experiment "bindings" in the Vulkan layer, on a device: a program that knows nothing of it makes modules through
// the layer, which is linked in, and its shaders find a binding empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <string>

#include "app/spirv/testing/assembled.h"
#include "app/spirv/testing/shaders.h"
#include "app/vulkan/recorded_experiment.h"
#include "app/vulkan/shaders.h"
#include "app/vulkan/testing/test_loader.h"
#include "compute_on_device.h"
#include "os/shared_memory.h"

namespace cairn {
namespace {

using spirv::testing::Form;
using spirv::testing::LoadShader;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using From = BindingPlace::From;

constexpr uint32_t kLoads = 1;        // indices.comp: adds words that it loads to a constant
constexpr uint32_t kStoresWords = 0;  // stores numbers

class BindingLayerGpuTest : public ::testing::Test {
 protected:
  // Returns what 64 invocations leave in a buffer of zeros, with this experiment.
  InvocationWords Run(const std::string& experiment, const std::vector<uint32_t>& words,
                      const ComputeConstants& constants) {
    std::memset(memory_.data(), 0, memory_.size_bytes());
    board_ = ExperimentBoard::Make({memory_.data(), memory_.size_bytes()}, 64, 1u << 14);
    run_.emplace(RecordedExperiment{*ParseExperiment(experiment), board_});
    RecordedExperiment::Replace(&*run_);
    TestLoader loader;
    VkPhysicalDeviceVulkan12Features features = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    features.scalarBlockLayout = VK_TRUE;
    VkPhysicalDeviceVulkan11Features pointers = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &features};
    pointers.variablePointersStorageBuffer = VK_TRUE;
    const Status made = loader.Create(MarkerMode::kTop, {.chain = &pointers, .extensions = {}});
    EXPECT_TRUE(made.ok()) << made.message();
    if (!made.ok()) return {};
    ComputeDevice on = {loader.vk(), loader.device(), loader.queue(), 0, {}};
    loader.GetOfInstance<PFN_vkGetPhysicalDeviceMemoryProperties>(
        "vkGetPhysicalDeviceMemoryProperties")(loader.physical_device(), &on.memory);
    const SharedBuffer results =
        MakeSharedBuffer(on, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(InvocationWords));
    EXPECT_NE(results.mapped, nullptr);
    const InvocationWords left = RunCompute(on, results, words, constants);
    DestroySharedBuffer(on, results);
    return left;
  }
  void TearDown() override { RecordedExperiment::Replace(nullptr); }

  SharedMemory memory_ = std::move(
      SharedMemory::Create("cairn loops", ExperimentBoard::BytesFor(64, 1u << 14)).value());
  ExperimentBoard board_ =
      ExperimentBoard::Make({memory_.data(), memory_.size_bytes()}, 64, 1u << 14);
  std::optional<RecordedExperiment> run_;
};

TEST_F(BindingLayerGpuTest, WithoutOneTheBoardGetsAllOfThem) {
  const std::vector<uint32_t> words = LoadShader("march.comp", Form::kDebugInfo);
  const InvocationWords results = Run("binding=none", words, Floats(1, 70));
  // 0.5 + at, and so on in steps of 1 up to 69.5.
  for (uint32_t at = 0; at < kInvocations; ++at) {
    float sum = 0;
    for (float i = 0.5f + static_cast<float>(at); i < 70; ++i) sum += i;
    EXPECT_EQ(sum, std::bit_cast<float>(results[at])) << at;
  }
  const ExperimentNotes told = board_.Read();
  EXPECT_EQ(0u, told.limited);
  EXPECT_EQ(0u, told.refused);
  EXPECT_EQ("", told.why_none);
  ASSERT_THAT(told.bindings, SizeIs(2));
  const BindingNote& buffer =
      told.bindings[0].kind == BindingKind::kStorageBuffer ? told.bindings[0] : told.bindings[1];
  EXPECT_EQ(BindingKind::kStorageBuffer, buffer.kind);
  EXPECT_EQ((BindingPlace{From::kDescriptor, 0, 0}), buffer.place);
  EXPECT_EQ("Results", buffer.name);
  EXPECT_EQ(Shaders::HashOf(words.data(), words.size() * 4), buffer.shader);
  EXPECT_EQ(static_cast<uint32_t>(kStageCompute), buffer.stage);
  EXPECT_EQ(2u, buffer.count);
}

TEST_F(BindingLayerGpuTest, EmptyPushConstantsAreZeros) {
  for (const Form form : {Form::kLines, Form::kOptimised}) {
    const std::vector<uint32_t> words = LoadShader("indices.comp", form);
    const ComputeConstants constants = {kLoads, 0};
    const InvocationWords as_it_is = Run("binding=none", words, constants);
    EXPECT_EQ(108u, as_it_is[16 + 2 * 8]) << "of the first array, which the second one copies";
    // Kind 0 at offset 0.
    const InvocationWords of_zeros = Run("binding=none", words, {kStoresWords, 0});
    EXPECT_EQ(25u, of_zeros[16 + 2 * 8 + 1]);
    EXPECT_NE(as_it_is, of_zeros);
    EXPECT_EQ(of_zeros, Run("binding=push-constants", words, constants));
    EXPECT_EQ(1u, board_.Read().limited);
    EXPECT_EQ(0u, board_.Read().refused);
  }
}

TEST_F(BindingLayerGpuTest, AnEmptyBufferTakesNothing) {
  const std::vector<uint32_t> words = LoadShader("indices.comp", Form::kLines);
  EXPECT_THAT(Run("binding=0.0", words, {kLoads, 0}), Each(0u));
  EXPECT_EQ(1u, board_.Read().limited);
  EXPECT_THAT(board_.Read().bindings, IsEmpty());
}

TEST_F(BindingLayerGpuTest, OtherBindingsAndOtherShadersStay) {
  const std::vector<uint32_t> words = LoadShader("indices.comp", Form::kLines);
  const InvocationWords as_it_is = Run("binding=none", words, {kLoads, 0});
  for (const char* experiment :
       {"binding=0.1", "binding=1.0", "binding=input.0", "binding=0.0,shader=00000000000000a1"}) {
    EXPECT_EQ(as_it_is, Run(experiment, words, {kLoads, 0})) << experiment;
    EXPECT_EQ(0u, board_.Read().limited) << experiment;
    EXPECT_EQ(0u, board_.Read().refused) << experiment;
  }
  const std::string hash =
      FormatExperiment({.change = Change::kEmptyBinding,
                        .shaders = {Shaders::HashOf(words.data(), words.size() * 4)},
                        .binding = {From::kDescriptor, 0, 0}});
  EXPECT_THAT(Run(hash, words, {kLoads, 0}), Each(0u));
}

// Two entry points share the buffer; the one that runs stores 7 and what is pushed, by OpPtrAccessChain.
constexpr char kTwoEntryPoints[] = R"(
  OpCapability Shader
  OpCapability VariablePointersStorageBuffer
  OpMemoryModel Logical GLSL450
  OpEntryPoint GLCompute %main "main" %invocation
  OpEntryPoint GLCompute %too "too"
  OpExecutionMode %main LocalSize 64 1 1
  OpExecutionMode %too LocalSize 1 1 1
  OpDecorate %invocation BuiltIn LocalInvocationIndex
  OpDecorate %runtime ArrayStride 4
  OpDecorate %to_word ArrayStride 4
  OpDecorate %Words Block
  OpMemberDecorate %Words 0 Offset 0
  OpDecorate %Pushed Block
  OpMemberDecorate %Pushed 0 Offset 0
  OpDecorate %words DescriptorSet 0
  OpDecorate %words Binding 0
  %void = OpTypeVoid
  %fn = OpTypeFunction %void
  %uint = OpTypeInt 32 0
  %n0 = OpConstant %uint 0
  %n7 = OpConstant %uint 7
  %runtime = OpTypeRuntimeArray %uint
  %Words = OpTypeStruct %runtime
  %Pushed = OpTypeStruct %uint
  %from_uint = OpTypePointer Input %uint
  %to_words = OpTypePointer StorageBuffer %Words
  %to_word = OpTypePointer StorageBuffer %uint
  %to_pushed = OpTypePointer PushConstant %Pushed
  %to_pushed_word = OpTypePointer PushConstant %uint
  %invocation = OpVariable %from_uint Input
  %words = OpVariable %to_words StorageBuffer
  %pushed = OpVariable %to_pushed PushConstant
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %at = OpLoad %uint %invocation
  %first = OpAccessChain %to_word %words %n0 %n0
  %own = OpPtrAccessChain %to_word %first %at
  %pushed_at = OpAccessChain %to_pushed_word %pushed %n0
  %constant = OpLoad %uint %pushed_at
  %sum = OpIAdd %uint %constant %n7
  OpStore %own %sum
  OpReturn
  OpFunctionEnd
  %too = OpFunction %void None %fn
  %begin_too = OpLabel
  %there = OpAccessChain %to_word %words %n0 %n0
  OpStore %there %n7
  OpReturn
  OpFunctionEnd
)";

TEST_F(BindingLayerGpuTest, AModuleWithTwoEntryPointsAndMovedPointers) {
  const std::vector<uint32_t> words = spirv::testing::Assembled(kTwoEntryPoints);
  EXPECT_THAT(Run("binding=none", words, {35, 0}), Each(42u));
  EXPECT_THAT(board_.Read().bindings, SizeIs(2));
  EXPECT_THAT(Run("binding=push-constants", words, {35, 0}), Each(7u));
  EXPECT_EQ(1u, board_.Read().limited);
  EXPECT_THAT(Run("binding=0.0", words, {35, 0}), Each(0u));
  EXPECT_EQ(1u, board_.Read().limited);
  EXPECT_EQ(0u, board_.Read().refused);
}

}  // namespace
}  // namespace cairn
