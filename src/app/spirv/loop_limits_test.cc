// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <spirv-tools/libspirv.hpp>

#include "app/spirv/module.h"
#include "app/spirv/testing/shaders.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

using ::testing::ElementsAre;
using testing::Form;
using ::testing::HasSubstr;
using testing::kForms;
using testing::LoadShader;

constexpr uint64_t kRecords = 0x7f00'1234'5000;
const char* const kShaders[] = {"march.comp", "never_ends.comp", "ways_out.comp", "textures.frag",
                                "vertices.vert"};

std::vector<uint32_t> Assembled(const std::string& text,
                                spv_target_env environment = SPV_ENV_UNIVERSAL_1_3) {
  std::vector<uint32_t> words;
  const spvtools::SpirvTools tools(environment);
  EXPECT_TRUE(tools.Assemble(text, &words)) << text;
  return words;
}

std::string Disassembled(const std::vector<uint32_t>& words) {
  std::string text;
  spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_6)
      .Disassemble(words, &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER);
  return text;
}

LimitedModule Limited(const std::vector<uint32_t>& words,
                      LoopLimits limits = {65536, kRecords, {}}) {
  Result<LimitedModule> limited = LimitLoops(words, limits);
  EXPECT_TRUE(limited.ok()) << limited.status().message();
  return limited.ok() ? *limited : LimitedModule{};
}

// A compute shader with this body of main().
std::string Shader(const std::string& body) {
  return "OpCapability Shader\nOpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"
         "OpMemoryModel Logical GLSL450\n"
         "OpEntryPoint GLCompute %main \"main\"\n"
         "OpExecutionMode %main LocalSize 1 1 1\n"
         "OpDecorate %block Block\n"
         "OpMemberDecorate %block 0 Offset 0\n"
         "OpDecorate %data DescriptorSet 0\n"
         "OpDecorate %data Binding 0\n"
         "%void = OpTypeVoid\n"
         "%fn = OpTypeFunction %void\n"
         "%bool = OpTypeBool\n"
         "%uint = OpTypeInt 32 0\n"
         "%c0 = OpConstant %uint 0\n"
         "%c1 = OpConstant %uint 1\n"
         "%true = OpConstantTrue %bool\n"
         "%block = OpTypeStruct %uint\n"
         "%pblock = OpTypePointer StorageBuffer %block\n"
         "%puint = OpTypePointer StorageBuffer %uint\n"
         "%data = OpVariable %pblock StorageBuffer\n"
         "%main = OpFunction %void None %fn\n" +
         body + "OpFunctionEnd\n";
}

TEST(ModuleTest, IsWrittenAsItWasRead) {
  for (const char* name : kShaders) {
    for (Form form : kForms) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      ASSERT_FALSE(words.empty()) << name;
      const Result<Module> module = Module::Read(words);
      ASSERT_TRUE(module.ok()) << module.status().message();
      EXPECT_EQ(module->Words(), words) << name << ", " << NameOf(form);
    }
  }
}

TEST(ModuleTest, OtherBytesAreNoModule) {
  EXPECT_EQ(Module::Read({}).status().code(), StatusCode::kCorrupt);
  std::vector<uint32_t> words = LoadShader("march.comp", Form::kLines);
  words.resize(words.size() - 1);
  EXPECT_THAT(Module::Read(words).status().message(), HasSubstr("not a SPIR-V module"));
}

TEST(LoopLimitsTest, EveryLoopIsLimitedAndTheModuleIsValid) {
  const std::pair<const char*, uint32_t> counts[] = {{"march.comp", 1},
                                                     {"never_ends.comp", 2},
                                                     {"ways_out.comp", 9},
                                                     {"textures.frag", 1},
                                                     {"vertices.vert", 1}};
  for (const auto& [name, count] : counts) {
    for (Form form : kForms) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      EXPECT_EQ(CountLoops(words), count) << name << ", " << NameOf(form);
      const LimitedModule limited = Limited(words);
      EXPECT_EQ(limited.limited, count) << name << ", " << NameOf(form);
      EXPECT_EQ(limited.loops.size(), count) << name << ", " << NameOf(form);
      EXPECT_TRUE(Validate(limited.words).ok());
      for (const Loop& loop : limited.loops) EXPECT_EQ(loop.cannot, "") << loop.place.text;
    }
  }
}

TEST(LoopLimitsTest, PlacesComeFromDebugInformation) {
  for (Form form : kForms) {
    const LimitedModule limited = Limited(LoadShader("march.comp", form));
    ASSERT_EQ(limited.loops.size(), 1u) << NameOf(form);
    const SourcePlace& place = limited.loops[0].place;
    EXPECT_EQ(place.file, "march.comp") << NameOf(form);
    EXPECT_EQ(place.line, 9u) << NameOf(form);
    EXPECT_EQ(place.text, "for (float i = start; i < parameters.limit; i += parameters.step) {")
        << NameOf(form);
  }
  EXPECT_EQ(Limited(LoadShader("march.comp", Form::kLines)).loops[0].place.function, "march");
}

TEST(LoopLimitsTest, AnExitIsNamedByItsValues) {
  const Loop loop = Limited(LoadShader("march.comp", Form::kLines)).loops[0];
  ASSERT_TRUE(loop.exit);
  EXPECT_EQ(loop.exit->left, "i");
  EXPECT_EQ(loop.exit->comparison, "<");
  EXPECT_EQ(loop.exit->right, "parameters.limit");
  EXPECT_TRUE(loop.exit->is_float);
  const Loop turns = Limited(LoadShader("ways_out.comp", Form::kLines)).loops[7];
  ASSERT_TRUE(turns.exit) << turns.place.text;
  EXPECT_EQ(turns.exit->left + turns.exit->comparison + turns.exit->right, "turn<100");
  EXPECT_FALSE(turns.exit->is_float);
}

TEST(LoopLimitsTest, OneLoopAloneIsChanged) {
  const std::vector<uint32_t> words = LoadShader("ways_out.comp", Form::kOptimised);
  const LimitedModule limited = Limited(words, {10, kRecords, 3});
  EXPECT_EQ(limited.limited, 1u);
  EXPECT_EQ(limited.loops.size(), 9u);
  const std::string text = Disassembled(limited.words);
  // Its function, and one call of it.
  const auto count = [&](const std::string& what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("OpFunctionCall"), 1u);
  EXPECT_EQ(count(" OpAtomicUMax"), 1u);
}

TEST(LoopLimitsTest, TheSecondRecordIsBehindTheFirst) {
  const std::string text = Disassembled(Limited(LoadShader("never_ends.comp", Form::kLines)).words);
  EXPECT_THAT(text, HasSubstr(" 305418240\n"));  // 0x12345000, the low word
  EXPECT_THAT(text, HasSubstr(" 305418304\n"));  // 64 bytes behind it
  EXPECT_THAT(text, HasSubstr(" 32512\n"));      // 0x7f00
}

TEST(LoopLimitsTest, AModuleWithoutLoopsStaysAsItIs) {
  const std::vector<uint32_t> words = Assembled(Shader("%1 = OpLabel\nOpReturn\n"));
  const LimitedModule limited = Limited(words);
  EXPECT_EQ(limited.words, words);
  EXPECT_EQ(limited.limited, 0u);
  EXPECT_EQ(CountLoops(words), 0u);
}

// `value` is computed on the way out alone, and the added branch leads around it.
TEST(LoopLimitsTest, ValuesThatOneWayComputesCanBeUsedBehindTheLoop) {
  const std::vector<uint32_t> words =
      Assembled(Shader("%1 = OpLabel\nOpBranch %head\n"
                       "%head = OpLabel\n"
                       "%n = OpPhi %uint %c0 %1 %next %back\n"
                       "OpLoopMerge %after %back None\n"
                       "OpBranch %body\n"
                       "%body = OpLabel\n"
                       "%p = OpAccessChain %puint %data %c0\n"
                       "%value = OpLoad %uint %p\n"
                       "%is = OpULessThan %bool %value %n\n"
                       "OpBranchConditional %is %after %back\n"
                       "%back = OpLabel\n"
                       "%next = OpIAdd %uint %n %c1\n"
                       "OpBranch %head\n"
                       "%after = OpLabel\n"
                       "%sum = OpIAdd %uint %value %n\n"
                       "OpStore %p %sum\n"
                       "OpReturn\n"));
  ASSERT_TRUE(Validate(words).ok()) << Validate(words).message();
  EXPECT_EQ(Limited(words).limited, 1u);
}

// The end of one loop is the begin of the next, with values that pass from one to the other.
TEST(LoopLimitsTest, ALoopThatBeginsWhereAnotherEnds) {
  const std::vector<uint32_t> words =
      Assembled(Shader("%1 = OpLabel\n%p = OpAccessChain %puint %data %c0\n%limit = OpLoad %uint "
                       "%p\nOpBranch %head\n"
                       "%head = OpLabel\n"
                       "%n = OpPhi %uint %c0 %1 %n1 %back\n"
                       "%n1 = OpIAdd %uint %n %c1\n"
                       "%is = OpULessThan %bool %n %limit\n"
                       "OpLoopMerge %second %back None\n"
                       "OpBranchConditional %is %back %second\n"
                       "%back = OpLabel\nOpBranch %head\n"
                       "%second = OpLabel\n"
                       "%m = OpPhi %uint %n %head %m1 %second\n"
                       "%m1 = OpIAdd %uint %m %c1\n"
                       "%goes = OpULessThan %bool %m1 %limit\n"
                       "OpLoopMerge %end %second None\n"
                       "OpBranchConditional %goes %second %end\n"
                       "%end = OpLabel\nOpStore %p %m1\nOpReturn\n"));
  ASSERT_TRUE(Validate(words).ok()) << Validate(words).message();
  const LimitedModule limited = Limited(words);
  EXPECT_EQ(limited.limited, 2u);
}

TEST(LoopLimitsTest, ALoopThatNeverGoesBackIsNotChanged) {
  const std::vector<uint32_t> words =
      Assembled(Shader("%1 = OpLabel\nOpBranch %head\n"
                       "%head = OpLabel\nOpLoopMerge %after %back None\nOpBranch %body\n"
                       "%body = OpLabel\nOpBranch %after\n"
                       "%back = OpLabel\nOpBranch %head\n"
                       "%after = OpLabel\nOpReturn\n"));
  ASSERT_TRUE(Validate(words).ok()) << Validate(words).message();
  const LimitedModule limited = Limited(words);
  EXPECT_EQ(limited.limited, 0u);
  ASSERT_EQ(limited.loops.size(), 1u);
  EXPECT_EQ(limited.loops[0].cannot, "nothing goes back to its begin");
  EXPECT_EQ(limited.words, words);
}

TEST(LoopLimitsTest, WhatAnInvocationIsFollowsFromTheStage) {
  EXPECT_EQ(Limited(LoadShader("march.comp", Form::kLines)).invocations, InvocationKind::kGlobal);
  EXPECT_EQ(Limited(LoadShader("textures.frag", Form::kLines)).invocations,
            InvocationKind::kFragment);
  EXPECT_EQ(Limited(LoadShader("vertices.vert", Form::kLines)).invocations,
            InvocationKind::kVertex);
}

TEST(LoopLimitsTest, AModuleThatIsNotValidIsSaidToBe) {
  std::vector<uint32_t> words = LoadShader("march.comp", Form::kLines);
  EXPECT_EQ(LimitLoops({}, {}).status().code(), StatusCode::kUnsupported);
  words[3] = 10;  // the bound of ids
  const Result<LimitedModule> limited = LimitLoops(words, {});
  EXPECT_EQ(limited.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(limited.status().message(), HasSubstr("the module is not valid: "));
}

// Every version of SPIR-V that a driver takes.
TEST(LoopLimitsTest, OldVersionsTakeTheExtension) {
  std::vector<uint32_t> words = LoadShader("march.comp", Form::kOptimised);
  for (uint32_t version : {0x00010300u, 0x00010400u, 0x00010500u, 0x00010600u}) {
    Result<Module> module = Module::Read(words);
    ASSERT_TRUE(module.ok());
    std::vector<uint32_t> other = words;
    other[1] = version;
    if (!Validate(other).ok()) continue;  // from 1.4 on an entry point names all variables
    const LimitedModule limited = Limited(other);
    EXPECT_EQ(limited.limited, 1u) << std::hex << version;
    EXPECT_EQ(
        Disassembled(limited.words).find("SPV_KHR_physical_storage_buffer") != std::string::npos,
        version < 0x00010500)
        << std::hex << version;
  }
}

}  // namespace
}  // namespace cairn::spirv
