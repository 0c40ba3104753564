// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/empty_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <spirv-tools/libspirv.hpp>
#include <string>

#include "app/spirv/module.h"
#include "app/spirv/testing/shaders.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kForms;
using testing::LoadShader;
using testing::NameOf;
using ::testing::Not;
using testing::WithNewMode;

// Two entry points, of a vertex and a pixel shader, which share a function and have names within their bodies.
constexpr char kTwoStages[] = R"(
  OpCapability Shader
  OpMemoryModel Logical GLSL450
  OpEntryPoint Vertex %vertex "vertex" %position
  OpEntryPoint Fragment %pixel "pixel" %place %colour %depth
  OpExecutionMode %pixel OriginUpperLeft
  OpExecutionMode %pixel DepthReplacing
  OpName %moved "moved"
  OpName %mixed "mixed"
  OpName %shared "shared"
  OpDecorate %position BuiltIn Position
  OpDecorate %depth BuiltIn FragDepth
  OpDecorate %place BuiltIn FragCoord
  OpDecorate %colour Location 0
  OpDecorate %mixed RelaxedPrecision
  %void = OpTypeVoid
  %fn = OpTypeFunction %void
  %float = OpTypeFloat 32
  %vec4 = OpTypeVector %float 4
  %to_vec4 = OpTypePointer Output %vec4
  %from_vec4 = OpTypePointer Input %vec4
  %to_float = OpTypePointer Output %float
  %change = OpTypeFunction %vec4 %vec4
  %one = OpConstant %float 1
  %ones = OpConstantComposite %vec4 %one %one %one %one
  %position = OpVariable %to_vec4 Output
  %colour = OpVariable %to_vec4 Output
  %depth = OpVariable %to_float Output
  %place = OpVariable %from_vec4 Input
  %shared = OpFunction %vec4 None %change
  %given = OpFunctionParameter %vec4
  %shared_begin = OpLabel
  %twice = OpFAdd %vec4 %given %given
  OpReturnValue %twice
  OpFunctionEnd
  %vertex = OpFunction %void None %fn
  %vertex_begin = OpLabel
  %moved = OpFunctionCall %vec4 %shared %ones
  OpStore %position %moved
  OpReturn
  OpFunctionEnd
  %pixel = OpFunction %void None %fn
  %pixel_begin = OpLabel
  %where = OpLoad %vec4 %place
  %mixed = OpFunctionCall %vec4 %shared %where
  OpStore %colour %mixed
  OpStore %depth %one
  OpReturn
  OpFunctionEnd
)";

std::vector<uint32_t> Assembled(const char* text) {
  std::vector<uint32_t> words;
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_3).Assemble(text, &words));
  return words;
}

std::string Disassembled(const std::vector<uint32_t>& words) {
  std::string text;
  spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_6)
      .Disassemble(words, &text,
                   SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES);
  return text;
}

// The instructions of a function, from the one behind its first label.
std::vector<spv::Op> BodyOf(const std::vector<uint32_t>& words, size_t function) {
  Result<Module> module = Module::Read(words);
  EXPECT_TRUE(module.ok());
  std::vector<spv::Op> body;
  for (const Block& block : module->functions[function].blocks) {
    for (const Instruction& instruction : block.instructions) body.push_back(instruction.opcode);
  }
  return body;
}

TEST(EmptyStage, TheOutputsOfTheStageAreZerosAndTheOtherStageStays) {
  const std::vector<uint32_t> words = Assembled(kTwoStages);
  const Result<EmptiedModule> pixel = EmptyStage(words, EmptiedStage::kFragment);
  ASSERT_TRUE(pixel.ok()) << pixel.status().message();
  EXPECT_EQ(pixel->emptied, 1u);
  EXPECT_THAT(BodyOf(pixel->words, 2),
              ::testing::ElementsAre(spv::OpStore, spv::OpStore, spv::OpReturn))
      << "colour and depth";
  EXPECT_EQ(BodyOf(pixel->words, 1), BodyOf(words, 1));
  EXPECT_EQ(BodyOf(pixel->words, 0), BodyOf(words, 0));
  const std::string text = Disassembled(pixel->words);
  EXPECT_THAT(text, HasSubstr("OpConstantNull %v4float"));
  EXPECT_THAT(text, HasSubstr("OpConstantNull %float"));
  EXPECT_THAT(text, HasSubstr("\"moved\""));
  EXPECT_THAT(text, Not(HasSubstr("\"mixed\""))) << "the name of what is gone";
  EXPECT_THAT(text, Not(HasSubstr("RelaxedPrecision")));

  const Result<EmptiedModule> vertex = EmptyStage(words, EmptiedStage::kVertex);
  ASSERT_TRUE(vertex.ok()) << vertex.status().message();
  EXPECT_THAT(BodyOf(vertex->words, 1), ::testing::ElementsAre(spv::OpStore, spv::OpReturn));
  EXPECT_EQ(BodyOf(vertex->words, 2), BodyOf(words, 2));
}

TEST(EmptyStage, ExecutionModesThatSpirvToolsDoesNotKnowStay) {
  const std::vector<uint32_t> words = Assembled(kTwoStages);
  const std::vector<uint32_t> newer = WithNewMode(words);
  ASSERT_EQ(newer.size(), words.size() + 3);
  const Result<EmptiedModule> before = EmptyStage(words, EmptiedStage::kVertex);
  const Result<EmptiedModule> emptied = EmptyStage(newer, EmptiedStage::kVertex);
  ASSERT_TRUE(before.ok() && emptied.ok()) << emptied.status().message();
  EXPECT_EQ(emptied->emptied, 1u);
  EXPECT_EQ(emptied->words, WithNewMode(before->words));
  const Result<EmptiedModule> none = EmptyStage(newer, EmptiedStage::kCompute);
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_EQ(none->emptied, 0u);
}

TEST(EmptyStage, AModuleWithoutTheStageStays) {
  const Result<EmptiedModule> none = EmptyStage(Assembled(kTwoStages), EmptiedStage::kCompute);
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_EQ(none->emptied, 0u);
  EXPECT_THAT(none->words, IsEmpty());
}

TEST(EmptyStage, ModulesOfCompilers) {
  const std::pair<const char*, EmptiedStage> shaders[] = {
      {"march.comp", EmptiedStage::kCompute},
      {"ways_out.comp", EmptiedStage::kCompute},
      {"textures.frag", EmptiedStage::kFragment},
      {"vertices.vert", EmptiedStage::kVertex},
  };
  for (const auto& [name, stage] : shaders) {
    for (const testing::Form form : kForms) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      ASSERT_THAT(words, Not(IsEmpty())) << name;
      const Result<EmptiedModule> emptied = EmptyStage(words, stage);
      ASSERT_TRUE(emptied.ok()) << name << " " << NameOf(form) << ": "
                                << emptied.status().message();
      EXPECT_EQ(emptied->emptied, 1u) << name;
      EXPECT_TRUE(Validate(emptied->words).ok());
      EXPECT_LT(emptied->words.size(), words.size());
    }
  }
}

TEST(EmptyStage, WordsThatAreNoModule) {
  std::vector<uint32_t> words = Assembled(kTwoStages);
  words.resize(words.size() - 3);
  EXPECT_FALSE(EmptyStage(words, EmptiedStage::kFragment).ok());
  EXPECT_FALSE(EmptyStage({}, EmptiedStage::kFragment).ok());
}

}  // namespace
}  // namespace cairn::spirv
