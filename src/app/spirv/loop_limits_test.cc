// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <spirv-tools/libspirv.hpp>
#include <sstream>

#include "app/spirv/control_flow.h"
#include "app/spirv/loop_finder.h"
#include "app/spirv/module.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/testing/shaders.h"
#include "app/spirv/valid_loops.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using testing::Form;
using ::testing::HasSubstr;
using testing::kForms;
using testing::kNewMode;
using testing::LoadShader;
using testing::WithNewMode;

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
    EXPECT_EQ(place.excerpt.first_line, 6u) << NameOf(form);
    EXPECT_EQ(place.excerpt.marked, 3u) << NameOf(form);
    EXPECT_THAT(place.excerpt.lines, HasSubstr("\n  for (float i = start; ")) << NameOf(form);
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
  EXPECT_EQ(LimitLoops({}, {}).status().code(), StatusCode::kCorrupt);
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

TEST(LoopLimitsTest, ALoopThatIsNotThereIsAMistake) {
  const std::vector<uint32_t> words = LoadShader("march.comp", Form::kLines);
  EXPECT_EQ(LimitLoops(words, {10, kRecords, 1}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(LimitLoops(words, {10, kRecords, 1}).status().message(),
            "loop 1 is asked for, counted from 0, and the module has 1");
}

// Loops in a row, each with `work` in its body.
std::string LoopsInARow(uint32_t count, const std::string& work = "") {
  std::string body =
      "%0 = OpLabel\n%p = OpAccessChain %puint %data %c0\n%limit = OpLoad %uint %p\n"
      "OpBranch %h0\n";
  for (uint32_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    const std::string from = i == 0 ? "0" : "e" + std::to_string(i - 1);
    body += "%h" + n + " = OpLabel\n%n" + n + " = OpPhi %uint %c0 %" + from + " %m" + n + " %b" +
            n + "\nOpLoopMerge %a" + n + " %b" + n + " None\nOpBranch %w" + n + "\n%w" + n +
            " = OpLabel\n" + work + "%is" + n + " = OpULessThan %bool %n" + n +
            " %limit\nOpBranchConditional %is" + n + " %b" + n + " %a" + n + "\n%b" + n +
            " = OpLabel\n%m" + n + " = OpIAdd %uint %n" + n + " %c1\nOpBranch %h" + n + "\n%a" + n +
            " = OpLabel\nOpStore %p %n" + n + "\nOpBranch %e" + n + "\n%e" + n +
            " = OpLabel\nOpBranch %" + (i + 1 == count ? "last" : "h" + std::to_string(i + 1)) +
            "\n";
  }
  return body + "%last = OpLabel\nOpReturn\n";
}

TEST(LoopLimitsTest, FiveHundredLoopsInOneFunction) {
  std::string work;
  for (int i = 0; i < 40; ++i) work += "OpStore %p %c1\n";
  const std::vector<uint32_t> words = Assembled(Shader(LoopsInARow(500, work)));
  EXPECT_EQ(Limited(words).limited, 500u);
}

TEST(LoopLimitsTest, BeyondABoundASentenceSaysWhatThereIsTooMuchOf) {
  const std::vector<uint32_t> many = Assembled(Shader(LoopsInARow(kMostLoops + 1)));
  EXPECT_EQ(LimitLoops(many, {}).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(LimitLoops(many, {}).status().message(),
            "the module is too large: it has 4097 loops, and 4096 is the most");
  EXPECT_THAT(LimitLoops(std::vector<uint32_t>(kMostWords + 1), {}).status().message(),
              HasSubstr("it has 4194305 words"));

  std::string body = "%0 = OpLabel\nOpBranch %b0\n";
  std::string ends;
  for (int i = 0; i < 1100; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "%b" + n + " = OpLabel\nOpSelectionMerge %e" + n +
            " None\nOpBranchConditional %true %b" + next + " %e" + n + "\n";
    ends = "%e" + n + " = OpLabel\n" +
           (i == 0 ? "OpReturn\n" : "OpBranch %e" + std::to_string(i - 1) + "\n") + ends;
  }
  const std::vector<uint32_t> deep =
      Assembled(Shader(body + "%b1100 = OpLabel\nOpBranch %e1099\n" + ends));
  EXPECT_THAT(LimitLoops(deep, {}).status().message(),
              HasSubstr("loops and branches within each other, and 1023 is the most"));
}

// 2^100 members, in 100 types.
TEST(LoopLimitsTest, StructuresOfStructuresAreCountedNotWalked) {
  std::string types = "%s0 = OpTypeStruct %uint %uint\n";
  for (int i = 1; i < 100; ++i) {
    const std::string before = " %s" + std::to_string(i - 1);
    types += "%s" + std::to_string(i) + " = OpTypeStruct" + before + before + "\n";
  }
  types += "%pdeep = OpTypePointer Private %s99\n%deep = OpVariable %pdeep Private\n";
  std::string text = Shader("%1 = OpLabel\nOpReturn\n");
  text.insert(text.find("%main = OpFunction"), types);
  EXPECT_THAT(LimitLoops(Assembled(text), {}).status().message(), HasSubstr("members"));
}

TEST(LoopLimitsTest, MoreBranchesThanAnInstructionNamesAreRefused) {
  std::string body =
      "%0 = OpLabel\n%p = OpAccessChain %puint %data %c0\n%v = OpLoad %uint %p\n"
      "OpBranch %head\n%head = OpLabel\nOpLoopMerge %after %back None\n"
      "OpBranch %t0\n";
  constexpr int kBranches = 32770;
  for (int i = 0; i < kBranches; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "%t" + n + " = OpLabel\nOpBranchConditional %true %after %t" + next + "\n";
  }
  body += "%t" + std::to_string(kBranches) +
          " = OpLabel\nOpBranch %back\n%back = OpLabel\nOpBranch %head\n"
          "%after = OpLabel\nOpReturn\n";
  const std::vector<uint32_t> words = Assembled(Shader(body));
  const Result<Module> module = Module::Read(words);
  ASSERT_TRUE(module.ok());
  const Function& function = module->functions[0];
  const std::vector<FoundLoop> loops = FindLoops(*module, function, ControlFlow(function));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_THAT(loops[0].cannot, HasSubstr("no OpPhi names more than 32766"));
  // The validator would take minutes.
  EXPECT_EQ(LimitLoops(words, {}).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(LimitLoops(words, {}).status().message(), HasSubstr("steps between blocks"));
}

// A module that is not valid with some loops limited.
Result<ValidLoops> KeptWithout(const std::set<uint32_t>& bad, uint32_t most_tries) {
  std::vector<uint32_t> all(100);
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return KeepValidLoops(all, most_tries, [&](const std::vector<uint32_t>& with) {
    const bool is_bad = std::ranges::any_of(with, [&](uint32_t i) { return bad.contains(i); });
    return is_bad ? Status(StatusCode::kUnsupported, "bad") : Status();
  });
}

TEST(ValidLoopsTest, HalvingFindsTheOnesThatAreRefused) {
  const Result<ValidLoops> valid = KeptWithout({3, 50}, 64);
  ASSERT_TRUE(valid.ok());
  EXPECT_EQ(valid->kept.size(), 98u);
  EXPECT_TRUE(std::ranges::is_sorted(valid->kept));
  EXPECT_THAT(valid->refused,
              ElementsAre(std::pair(3u, std::string("bad")), std::pair(50u, std::string("bad"))));
}

TEST(ValidLoopsTest, BehindTheLastTryTheRestIsRefused) {
  const Result<ValidLoops> valid = KeptWithout({99}, 4);
  ASSERT_TRUE(valid.ok());
  EXPECT_EQ(valid->kept.size() + valid->refused.size(), 100u);
  EXPECT_EQ(valid->kept.size(), 50u);
}

TEST(LoopLimitsTest, ALineMayBeSplitOverSeveralInstructions) {
  std::string text = Shader(
      "%1 = OpLabel\nOpBranch %head\n%head = OpLabel\nOpLine %file 3 1\n"
      "OpLoopMerge %after %back None\nOpBranchConditional %true %back %after\n"
      "%back = OpLabel\nOpBranch %head\n%after = OpLabel\nOpReturn\n");
  std::string sources =
      "%file = OpString \"a.comp\"\nOpSource GLSL 450 %file \"first\nsec\"\n"
      "OpSourceContinued \"ond\n  while (true)\"\nOpSourceContinued \";\nlast\"\n";
  text.insert(text.find("OpDecorate"), sources);
  const LimitedModule limited = Limited(Assembled(text));
  ASSERT_EQ(limited.loops.size(), 1u);
  EXPECT_EQ(limited.loops[0].place.file, "a.comp");
  EXPECT_EQ(limited.loops[0].place.line, 3u);
  EXPECT_EQ(limited.loops[0].place.text, "while (true);");
  EXPECT_EQ(limited.loops[0].place.excerpt,
            (ShaderExcerpt{"first\nsecond\n  while (true);\nlast", 1, 2}));
}

TEST(LoopLimitsTest, WithoutASourceTheLinesAroundAreDisassembled) {
  std::string text = Shader(
      "%1 = OpLabel\nOpBranch %head\n%head = OpLabel\n"
      "OpLoopMerge %after %back None\nOpBranchConditional %true %back %after\n"
      "%back = OpLabel\nOpBranch %head\n%after = OpLabel\nOpReturn\n");
  text.insert(text.find("OpDecorate"), "OpName %head \"fog\"\n");
  // Line breaks in strings in front of the functions.
  text.insert(text.find("OpName"), "%file = OpString \"a\nb\nc\"\n");
  const LimitedModule limited = Limited(Assembled(text));
  ASSERT_EQ(limited.loops.size(), 1u);
  const ShaderExcerpt& excerpt = limited.loops[0].place.excerpt;
  EXPECT_EQ(excerpt.first_line, 0u);
  std::vector<std::string> lines;
  std::istringstream all(excerpt.lines);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  ASSERT_LT(excerpt.marked, lines.size());
  EXPECT_THAT(lines[excerpt.marked], ContainsRegex("OpLoopMerge %[0-9a-z_]+ %[0-9a-z_]+ None"));
  EXPECT_THAT(lines[excerpt.marked - 1], HasSubstr("%fog = OpLabel"));
  EXPECT_THAT(lines[excerpt.marked + 1], HasSubstr("OpBranchConditional %true"));
  EXPECT_THAT(lines.back(), HasSubstr("OpFunctionEnd"));
}

// As `glslangValidator -V -g` writes it.
TEST(LoopLimitsTest, LinesAreCountedBehindTheOptionsThatGlslangWrites) {
  std::string text = Shader(
      "%1 = OpLabel\nOpBranch %head\n%head = OpLabel\nOpLine %file 2 1\n"
      "OpLoopMerge %after %back None\nOpBranchConditional %true %back %after\n"
      "%back = OpLabel\nOpBranch %head\n%after = OpLabel\nOpReturn\n");
  text.insert(
      text.find("OpDecorate"),
      "%file = OpString \"a.comp\"\nOpSource GLSL 450 %file \""
      "// OpModuleProcessed client vulkan100\n// OpModuleProcessed entry-point main\n#line 1\n"
      "first\nwhile (true);\nlast\"\n");
  const LimitedModule limited = Limited(Assembled(text));
  ASSERT_EQ(limited.loops.size(), 1u);
  EXPECT_EQ(limited.loops[0].place.line, 2u);
  EXPECT_EQ(limited.loops[0].place.text, "while (true);");
}

// As Tint writes `while (i < n)`, behind a count of its own that compares vectors.
TEST(LoopLimitsTest, AConditionMayLeaveThroughABlockOfItsOwn) {
  std::string text = Shader(
      "%1 = OpLabel\nOpBranch %head\n%head = OpLabel\nOpLoopMerge %after %back None\nOpBranch "
      "%body\n"
      "%body = OpLabel\nOpSelectionMerge %goes_on None\nOpBranchConditional %true %counted "
      "%goes_on\n"
      "%counted = OpLabel\nOpBranch %after\n"
      "%goes_on = OpLabel\n%i = OpLoad %uint %place\n%less = OpULessThan %bool %i %c1\n"
      "OpSelectionMerge %inside None\nOpBranchConditional %less %inside %leaves\n"
      "%leaves = OpLabel\nOpBranch %after\n"
      "%inside = OpLabel\nOpBranch %back\n"
      "%back = OpLabel\nOpBranch %head\n%after = OpLabel\nOpReturn\n");
  text.insert(text.find("OpDecorate"), "OpName %place \"turns\"\n");
  text.insert(text.find("%main = OpFunction"),
              "%pprivate = OpTypePointer Private %uint\n%place = OpVariable %pprivate Private\n");
  const LimitedModule limited = Limited(Assembled(text));
  ASSERT_EQ(limited.loops.size(), 1u);
  ASSERT_TRUE(limited.loops[0].exit.has_value());
  EXPECT_EQ(limited.loops[0].exit->left, "turns");
  EXPECT_EQ(limited.loops[0].exit->comparison, "<");
  EXPECT_EQ(limited.loops[0].exit->right, "1");
}

// As vkd3d writes "uge r1.w, r0.x, l(7)", "not r1.w, r1.w" and "breakc_nz r1.w".
TEST(LoopLimitsTest, AConditionMayBeAMaskInARegister) {
  const auto text = [](const std::string& between) {
    std::string shader = Shader(
        "%1 = OpLabel\n%r0 = OpVariable %pvec Function\n%r1 = OpVariable %pvec Function\n"
        "OpBranch %head\n%head = OpLabel\nOpLoopMerge %after %back None\nOpBranch %body\n"
        "%body = OpLabel\n%x = OpInBoundsAccessChain %pfloat %r0 %c0\n%i = OpLoad %float %x\n"
        "%bits = OpBitcast %uint %i\n%done = OpUGreaterThanEqual %bool %bits %c7\n"
        "%mask = OpSelect %uint %done %ones %c0\n%kept = OpBitcast %float %mask\n"
        "%w = OpInBoundsAccessChain %pfloat %r1 %c3\nOpStore %w %kept\n"
        "%before = OpLoad %float %w\n%set = OpBitcast %uint %before\n%not = OpNot %uint %set\n"
        "%negated = OpBitcast %float %not\nOpStore %w %negated\n" +
        between +
        "%again = OpInBoundsAccessChain %pfloat %r1 %c3\n%loaded = OpLoad %float %again\n"
        "%test = OpBitcast %uint %loaded\n%leaves = OpINotEqual %bool %test %c0\n"
        "OpSelectionMerge %goes_on None\nOpBranchConditional %leaves %leave %goes_on\n"
        "%leave = OpLabel\nOpBranch %after\n%goes_on = OpLabel\nOpBranch %back\n"
        "%back = OpLabel\nOpBranch %head\n%after = OpLabel\nOpReturn\n");
    shader.insert(shader.find("OpDecorate"), "OpName %r0 \"r0\"\nOpName %r1 \"r1\"\n");
    shader.insert(shader.find("%main = OpFunction"),
                  "%float = OpTypeFloat 32\n%vec = OpTypeVector %float 4\n"
                  "%pvec = OpTypePointer Function %vec\n%pfloat = OpTypePointer Function %float\n"
                  "%c3 = OpConstant %uint 3\n%c7 = OpConstant %uint 7\n"
                  "%f1 = OpConstant %float 1\n%ones = OpConstant %uint 4294967295\n");
    return shader;
  };
  const LimitedModule limited = Limited(Assembled(text("")));
  ASSERT_EQ(limited.loops.size(), 1u);
  ASSERT_TRUE(limited.loops[0].exit.has_value());
  EXPECT_EQ(limited.loops[0].exit->left, "r0.x");
  EXPECT_EQ(limited.loops[0].exit->comparison, ">=");
  EXPECT_EQ(limited.loops[0].exit->right, "7");
  EXPECT_FALSE(limited.loops[0].exit->is_float);
  // Something else was stored there meanwhile: the register itself is what is known.
  const LimitedModule other =
      Limited(Assembled(text("%w2 = OpInBoundsAccessChain %pfloat %r1 %c3\nOpStore %w2 %f1\n")));
  ASSERT_TRUE(other.loops[0].exit.has_value());
  EXPECT_EQ(other.loops[0].exit->left, "r1.w");
  EXPECT_EQ(other.loops[0].exit->comparison, "!=");
  EXPECT_EQ(other.loops[0].exit->right, "0");
  // A store at another place changes nothing.
  const LimitedModule beside =
      Limited(Assembled(text("%x2 = OpInBoundsAccessChain %pfloat %r1 %c0\nOpStore %x2 %f1\n")));
  ASSERT_TRUE(beside.loops[0].exit.has_value());
  EXPECT_EQ(beside.loops[0].exit->left, "r0.x");
}

TEST(LoopLimitsTest, ExecutionModesThatSpirvToolsDoesNotKnowStay) {
  const auto modes_of = [](std::span<const uint32_t> words) {
    return std::ranges::count(words, kNewMode);
  };
  const std::vector<uint32_t> endless = WithNewMode(
      Assembled(Shader("%1 = OpLabel\nOpBranch %head\n%head = OpLabel\n"
                       "OpLoopMerge %after %back None\nOpBranchConditional %true %back %after\n"
                       "%back = OpLabel\nOpBranch %head\n%after = OpLabel\nOpReturn\n")));
  const LimitedModule limited = Limited(endless);
  EXPECT_EQ(limited.limited, 1u);
  EXPECT_EQ(modes_of(limited.words), 1);
  EXPECT_EQ(modes_of(endless), 1);
  // Behind the last entry point, as before.
  const auto place = [](const std::vector<uint32_t>& words) {
    return words[static_cast<size_t>(std::ranges::find(words, kNewMode) - words.begin()) + 1];
  };
  EXPECT_EQ(place(limited.words), place(endless));

  const std::vector<uint32_t> without_loops =
      WithNewMode(Assembled(Shader("%1 = OpLabel\nOpReturn\n")));
  EXPECT_EQ(Limited(without_loops).words, without_loops);

  // A module that ends within an instruction is refused as before.
  std::vector<uint32_t> cut = endless;
  cut.resize(static_cast<size_t>(std::ranges::find(cut, kNewMode) - cut.begin()));
  EXPECT_EQ(LimitLoops(cut, {65536, kRecords, {}}).status().code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace cairn::spirv
