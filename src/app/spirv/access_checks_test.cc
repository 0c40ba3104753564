// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/access_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <spirv-tools/libspirv.hpp>
#include <string>
#include <tuple>

#include "app/spirv/module.h"
#include "app/spirv/pointee_size.h"
#include "app/spirv/testing/shaders.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

using ::testing::ElementsAre;
using testing::Form;
using ::testing::HasSubstr;
using testing::LoadShader;

constexpr AccessChecks kChecks = {0x7f0000001000, 0x7f0000002000, 0x7f0000010000, 0x7f0000020000};

std::vector<uint32_t> Assembled(const std::string& text) {
  std::vector<uint32_t> words;
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_5).Assemble(text, &words)) << text;
  return words;
}

std::string Disassembled(const std::vector<uint32_t>& words) {
  std::string text;
  spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_6)
      .Disassemble(words, &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER);
  return text;
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A compute shader that gets a structure of `members`, of which `decorations` say where they lie, by an address, and
// does this with it: %pointer points to it.
std::string Shader(const std::string& decorations, const std::string& members,
                   const std::string& body) {
  return "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses\n"
         "OpMemoryModel PhysicalStorageBuffer64 GLSL450\n"
         "OpEntryPoint GLCompute %main \"main\" %push\n"
         "OpExecutionMode %main LocalSize 1 1 1\n"
         "OpDecorate %constants Block\n"
         "OpMemberDecorate %constants 0 Offset 0\n"
         "OpDecorate %block Block\n" +
         decorations +
         "%void = OpTypeVoid\n"
         "%fn = OpTypeFunction %void\n"
         "%uint = OpTypeInt 32 0\n"
         "%float = OpTypeFloat 32\n"
         "%v2 = OpTypeVector %float 2\n"
         "%v3 = OpTypeVector %float 3\n"
         "%m = OpTypeMatrix %v2 3\n"
         "%c0 = OpConstant %uint 0\n"
         "%c1 = OpConstant %uint 1\n"
         "%c3 = OpConstant %uint 3\n"
         "%c9 = OpSpecConstant %uint 9\n"
         "%uint2 = OpTypeVector %uint 2\n"
         "%array = OpTypeArray %float %c3\n"
         "%matrices = OpTypeArray %m %c3\n"
         "%special = OpTypeArray %float %c9\n"
         "%block = OpTypeStruct " +
         members +
         "\n%constants = OpTypeStruct %uint2\n"
         "%pconstants = OpTypePointer PushConstant %constants\n"
         "%puint2 = OpTypePointer PushConstant %uint2\n"
         "%pblock = OpTypePointer PhysicalStorageBuffer %block\n"
         "%puint = OpTypePointer PhysicalStorageBuffer %uint\n"
         "%push = OpVariable %pconstants PushConstant\n"
         "%main = OpFunction %void None %fn\n"
         "%label = OpLabel\n"
         "%chain = OpAccessChain %puint2 %push %c0\n"
         "%address = OpLoad %uint2 %chain\n"
         "%pointer = OpBitcast %pblock %address\n" +
         body + "OpReturn\nOpFunctionEnd\n";
}

CheckedModule Checked(const std::vector<uint32_t>& words) {
  Result<CheckedModule> checked = CheckAccesses(words, kChecks);
  EXPECT_TRUE(checked.ok()) << checked.status().message();
  return checked.ok() ? *checked : CheckedModule{};
}

// The sizes of the accesses of such a shader that loads the structure whole.
uint32_t BytesOf(const std::string& decorations, const std::string& members) {
  const CheckedModule checked =
      Checked(Assembled(Shader(decorations, members, "%v = OpLoad %block %pointer Aligned 4\n")));
  EXPECT_EQ(checked.accesses.size(), 1u);
  return checked.accesses.empty() ? 0 : checked.accesses[0].bytes;
}

TEST(AccessChecksTest, EachAccessHasItsKindItsSizeAndItsLine) {
  const CheckedModule checked = Checked(LoadShader("addresses.comp", Form::kLines));
  EXPECT_EQ(checked.checked, checked.accesses.size());
  EXPECT_EQ(checked.invocations, InvocationKind::kGlobal);
  std::vector<std::tuple<AccessKind, uint32_t, uint32_t, std::string>> found;
  for (const Access& access : checked.accesses) {
    EXPECT_EQ(access.cannot, "");
    EXPECT_EQ(access.place.file, "addresses.comp");
    if (access.by_descriptor) continue;
    found.emplace_back(access.kind, access.bytes, access.place.line, access.place.function);
  }
  constexpr AccessKind kLoad = AccessKind::kLoad;
  using Found = std::tuple<AccessKind, uint32_t, uint32_t, std::string>;
  EXPECT_THAT(found,
              ElementsAre(Found(kLoad, 4, 38, "main"), Found(kLoad, 4, 39, "main"),
                          Found(kLoad, 4, 40, "main"), Found(kLoad, 4, 40, "main"),
                          Found(AccessKind::kStore, 4, 42, "main"), Found(kLoad, 4, 43, "main"),
                          Found(kLoad, 12, 45, "main"),
                          // vec3, float, and two columns of vec3.
                          Found(kLoad, 40, 48, "main"), Found(AccessKind::kAtomic, 4, 54, "main"),
                          Found(kLoad, 4, 29, "follow"), Found(kLoad, 8, 30, "follow")));
  EXPECT_EQ(checked.accesses[4].place.text, "Words(data).word[at + offset] = at * 3;");
  EXPECT_EQ(checked.accesses[14].pointer, "node");
}

TEST(AccessChecksTest, ModulesStayValidInEveryForm) {
  for (Form form : {Form::kLines, Form::kOptimised}) {
    const std::vector<uint32_t> words = LoadShader("addresses.comp", form);
    const CheckedModule checked = Checked(words);
    EXPECT_GE(checked.checked, 10u) << NameOf(form);
    EXPECT_NE(checked.words, words) << NameOf(form);
    const Status valid = Validate(checked.words);
    EXPECT_TRUE(valid.ok()) << NameOf(form) << ": " << valid.message();
  }
}

TEST(AccessChecksTest, AModuleWithoutSuchAccessesStaysWordByWord) {
  const std::vector<uint32_t> words = LoadShader("textures.frag", Form::kLines);
  const CheckedModule checked = Checked(words);
  EXPECT_EQ(checked.words, words);
  EXPECT_EQ(checked.checked, 0u);
  EXPECT_EQ(CountAccesses(words).value(), 0u);
}

// "descriptor", "element"; with the bound where the module has it.
std::string IndicesOf(const Access& access) {
  std::string text;
  for (const CheckedIndex& index : access.indices) {
    text += index.kind == IndexKind::kDescriptor ? " descriptor" : " element";
    if (index.is_signed) text += " signed";
    if (index.bound.from == IndexBound::From::kConstant)
      text += " < " + std::to_string(index.bound.value);
    if (index.bound.from == IndexBound::From::kId) text += " < constant";
    if (index.bound.from == IndexBound::From::kLength)
      text += " < length of member " + std::to_string(index.bound.value);
  }
  return text;
}

TEST(AccessChecksTest, EachAccessByDescriptorHasItsIndicesAndTheirBounds) {
  const std::vector<uint32_t> words = LoadShader("descriptors.comp", Form::kLines);
  const CheckedModule checked = Checked(words);
  EXPECT_EQ(CountAccesses(words).value(), checked.accesses.size());
  std::vector<std::string> found;
  for (const Access& access : checked.accesses) {
    if (!access.by_descriptor) continue;
    const char* const kinds[] = {"load ", "store ", "atomic "};
    found.push_back(std::to_string(access.place.line) + " " +
                    kinds[static_cast<size_t>(access.kind)] + access.pointer + " " +
                    std::to_string(access.set) + "." + std::to_string(access.binding) +
                    IndicesOf(access) + (access.cannot.empty() ? "" : ": " + access.cannot));
  }
  EXPECT_THAT(
      found,
      ElementsAre(
          "26 load special[].x 0.1 element < constant",
          "27 load lights[].matrix 0.1 element < 4 element signed < 3",
          "28 load rows 0.1 element < 4 element signed < 4", "29 load axis 0.1 element signed < 3",
          "30 store bins 0.2 descriptor < 3 element signed < length of member 1",
          "31 atomic bins 0.2 descriptor < 3 element < length of member 1",
          "32 load bins 0.2 element < length of member 1", "33 store bins 0.2 descriptor < 3",
          "34 load pictures 0.3 descriptor < 5", "34 load linear 0.4 descriptor signed < 2",
          "35 load texels 0.5: the shader does not say how many descriptors there are",
          "36 load targets[] 0.6 element < length of member 0",
          "37 load counters 0.7 descriptor signed < 2",
          "39 store results[] 0.0 element < length of member 0"));
}

// Neither the program's function has one more block, nor is anything else changed than what is checked.
TEST(AccessChecksTest, AccessesByDescriptorAddNoBranchToTheProgram) {
  for (const char* name : {"descriptors.comp", "indices.comp"}) {
    for (Form form : {Form::kLines, Form::kOptimised}) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      const CheckedModule checked = Checked(words);
      const Status valid = Validate(checked.words);
      EXPECT_TRUE(valid.ok()) << name << ", " << NameOf(form) << ": " << valid.message();
      const Result<Module> before = Module::Read(words);
      const Result<Module> after = Module::Read(checked.words);
      ASSERT_TRUE(before.ok() && after.ok());
      for (size_t i = 0; i < before->functions.size(); ++i) {
        EXPECT_EQ(before->functions[i].blocks.size(), after->functions[i].blocks.size());
      }
      const size_t guards = after->functions.size() - before->functions.size();
      EXPECT_GE(guards, 2u) << name << ", " << NameOf(form);
    }
  }
}

// Three accesses of the shader are not uniform: all pointers and values that take their place say so, too.
TEST(AccessChecksTest, IndicesThatAreNotUniformStaySuch) {
  const std::vector<uint32_t> words = LoadShader("descriptors.comp", Form::kLines);
  const auto count_of = [](const std::vector<uint32_t>& module) {
    return CountOf(Disassembled(module), " NonUniform\n");
  };
  EXPECT_GT(count_of(Checked(words).words), count_of(words));
}

TEST(AccessChecksTest, AnArrayOfOneElementStaysAsItIs) {
  const std::string text =
      "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
      "OpEntryPoint GLCompute %main \"main\" %id %data\nOpExecutionMode %main LocalSize 1 1 1\n"
      "OpDecorate %id BuiltIn GlobalInvocationId\n"
      "OpDecorate %array ArrayStride 4\nOpDecorate %block Block\n"
      "OpMemberDecorate %block 0 Offset 0\n"
      "OpDecorate %data DescriptorSet 0\nOpDecorate %data Binding 0\n"
      "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"
      "%uint3 = OpTypeVector %uint 3\n%pin = OpTypePointer Input %uint3\n"
      "%id = OpVariable %pin Input\n"
      "%c0 = OpConstant %uint 0\n%one = OpConstant %uint 1\n"
      "%array = OpTypeArray %uint %one\n%block = OpTypeStruct %array\n"
      "%pblock = OpTypePointer StorageBuffer %block\n%puint = OpTypePointer StorageBuffer %uint\n"
      "%data = OpVariable %pblock StorageBuffer\n"
      "%main = OpFunction %void None %fn\n%label = OpLabel\n"
      "%ids = OpLoad %uint3 %id\n%at = OpCompositeExtract %uint %ids 0\n"
      "%inside = OpAccessChain %puint %data %c0 %c0\nOpStore %inside %at\n"
      "%chain = OpAccessChain %puint %data %c0 %at\nOpStore %chain %at\n"
      "OpReturn\nOpFunctionEnd\n";
  const std::vector<uint32_t> words = Assembled(text);
  const CheckedModule checked = Checked(words);
  ASSERT_EQ(checked.accesses.size(), 1u);
  EXPECT_EQ(checked.accesses[0].cannot, "an array of one element may stand for more of them");
  EXPECT_EQ(checked.words, words);
}

// An element of a buffer of an array without a length: the one index is checked, and the other is not.
TEST(AccessChecksTest, OfAnUnknownNumberOfBuffersTheElementsAreChecked) {
  const std::vector<uint32_t> words = Assembled(
      "OpCapability Shader\nOpCapability RuntimeDescriptorArray\n"
      "OpCapability PhysicalStorageBufferAddresses\n"
      "OpExtension \"SPV_KHR_physical_storage_buffer\"\n"
      "OpMemoryModel PhysicalStorageBuffer64 GLSL450\n"
      "OpEntryPoint GLCompute %main \"main\" %id %data\nOpExecutionMode %main LocalSize 1 1 1\n"
      "OpDecorate %id BuiltIn GlobalInvocationId\n"
      "OpDecorate %array ArrayStride 4\nOpDecorate %block Block\n"
      "OpMemberDecorate %block 0 Offset 0\n"
      "OpDecorate %data DescriptorSet 0\nOpDecorate %data Binding 0\n"
      "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"
      "%uint3 = OpTypeVector %uint 3\n%pin = OpTypePointer Input %uint3\n"
      "%id = OpVariable %pin Input\n%c0 = OpConstant %uint 0\n"
      "%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n"
      "%blocks = OpTypeRuntimeArray %block\n"
      "%pblocks = OpTypePointer StorageBuffer %blocks\n"
      "%puint = OpTypePointer StorageBuffer %uint\n"
      "%data = OpVariable %pblocks StorageBuffer\n"
      "%main = OpFunction %void None %fn\n%label = OpLabel\n"
      "%ids = OpLoad %uint3 %id\n%at = OpCompositeExtract %uint %ids 0\n"
      "%chain = OpAccessChain %puint %data %at %c0 %at\nOpStore %chain %at\n"
      "OpReturn\nOpFunctionEnd\n");
  const CheckedModule checked = Checked(words);
  ASSERT_EQ(checked.accesses.size(), 1u);
  const Access& access = checked.accesses[0];
  EXPECT_EQ(access.cannot, "");
  EXPECT_EQ(access.partly, "the shader does not say how many descriptors there are");
  EXPECT_EQ(IndicesOf(access), " element < length of member 0");
  EXPECT_EQ(checked.checked, 1u);
}

// The same shader twice: with each decoration at its target, and with all of them in groups.
TEST(AccessChecksTest, GroupsOfDecorationsCount) {
  const auto shader = [](const std::string& decorations) {
    return "OpCapability Shader\nOpCapability VulkanMemoryModel\n"
           "OpExtension \"SPV_KHR_vulkan_memory_model\"\nOpMemoryModel Logical Vulkan\n"
           "OpEntryPoint GLCompute %main \"main\" %id %data\nOpExecutionMode %main LocalSize 1 1 "
           "1\n" +
           decorations +
           "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"
           "%uint3 = OpTypeVector %uint 3\n%pin = OpTypePointer Input %uint3\n"
           "%id = OpVariable %pin Input\n%c0 = OpConstant %uint 0\n%c1 = OpConstant %uint 1\n"
           "%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %uint %array\n"
           "%pblock = OpTypePointer StorageBuffer %block\n"
           "%puint = OpTypePointer StorageBuffer %uint\n"
           "%data = OpVariable %pblock StorageBuffer\n"
           "%main = OpFunction %void None %fn\n%label = OpLabel\n"
           "%ids = OpLoad %uint3 %id\n%at = OpCompositeExtract %uint %ids 0\n"
           "%chain = OpAccessChain %puint %data %c1 %at\nOpStore %chain %at\n"
           "OpReturn\nOpFunctionEnd\n";
  };
  const CheckedModule alone = Checked(Assembled(
      shader("OpDecorate %id BuiltIn GlobalInvocationId\nOpDecorate %array ArrayStride 4\n"
             "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
             "OpMemberDecorate %block 1 Offset 4\n"
             "OpDecorate %data DescriptorSet 2\nOpDecorate %data Binding 3\n")));
  const CheckedModule grouped =
      Checked(Assembled(shader("OpDecorate %id BuiltIn GlobalInvocationId\n"
                               "OpDecorate %strides ArrayStride 4\n%strides = OpDecorationGroup\n"
                               "OpGroupDecorate %strides %array\n"
                               "OpDecorate %front Offset 0\n%front = OpDecorationGroup\n"
                               "OpGroupMemberDecorate %front %block 0\n"
                               "OpDecorate %behind Offset 4\n%behind = OpDecorationGroup\n"
                               "OpGroupMemberDecorate %behind %block 1\n"
                               "OpDecorate %block Block\n"
                               "OpDecorate %place DescriptorSet 2\nOpDecorate %place Binding 3\n"
                               "%place = OpDecorationGroup\nOpGroupDecorate %place %data\n")));
  for (const CheckedModule* checked : {&alone, &grouped}) {
    ASSERT_EQ(checked->accesses.size(), 1u);
    const Access& access = checked->accesses[0];
    EXPECT_EQ(access.cannot, "");
    EXPECT_EQ(access.set, 2u);
    EXPECT_EQ(access.binding, 3u);
    EXPECT_EQ(IndicesOf(access), " element < length of member 1");
  }
}

TEST(AccessChecksTest, SizesOfGroupedDecorations) {
  EXPECT_EQ(BytesOf("OpDecorate %front Offset 0\n%front = OpDecorationGroup\n"
                    "OpDecorate %behind Offset 16\n%behind = OpDecorationGroup\n"
                    "OpGroupMemberDecorate %front %block 0\n"
                    "OpGroupMemberDecorate %behind %block 1\n",
                    "%v3 %uint"),
            20u);
  EXPECT_EQ(BytesOf("OpMemberDecorate %block 0 Offset 0\n"
                    "OpDecorate %stride ArrayStride 16\n%stride = OpDecorationGroup\n"
                    "OpGroupDecorate %stride %array\n",
                    "%array"),
            36u);
}

TEST(AccessChecksTest, SizesAreThoseOfTheLayout) {
  EXPECT_EQ(BytesOf("OpMemberDecorate %block 0 Offset 0\nOpMemberDecorate %block 1 Offset 16\n",
                    "%v3 %uint"),
            20u);
  // The last member in memory need not be the last one of the structure.
  EXPECT_EQ(BytesOf("OpMemberDecorate %block 0 Offset 32\nOpMemberDecorate %block 1 Offset 0\n",
                    "%v2 %uint"),
            40u);
  EXPECT_EQ(
      BytesOf("OpMemberDecorate %block 0 Offset 0\nOpDecorate %array ArrayStride 16\n", "%array"),
      36u);
  // Three columns of two, 16 bytes apart; two rows of three.
  const std::string matrix =
      "OpMemberDecorate %block 0 Offset 0\n"
      "OpMemberDecorate %block 0 MatrixStride 16\n";
  EXPECT_EQ(BytesOf(matrix + "OpMemberDecorate %block 0 ColMajor\n", "%m"), 40u);
  EXPECT_EQ(BytesOf(matrix + "OpMemberDecorate %block 0 RowMajor\n", "%m"), 28u);
  EXPECT_EQ(BytesOf(matrix + "OpMemberDecorate %block 0 ColMajor\n"
                             "OpDecorate %matrices ArrayStride 64\n",
                    "%matrices"),
            168u);
}

TEST(AccessChecksTest, AnAccessOfUnknownSizeStaysAsItIs) {
  const std::vector<uint32_t> words =
      Assembled(Shader("OpMemberDecorate %block 0 Offset 0\nOpDecorate %special ArrayStride 4\n",
                       "%special", "%v = OpLoad %block %pointer Aligned 4\n"));
  const CheckedModule checked = Checked(words);
  ASSERT_EQ(checked.accesses.size(), 1u);
  EXPECT_EQ(checked.accesses[0].cannot, "the size of what it accesses is not known");
  EXPECT_EQ(checked.words, words);
}

TEST(AccessChecksTest, ACopyIsTwoAccesses) {
  const CheckedModule checked =
      Checked(Assembled(Shader("OpMemberDecorate %block 0 Offset 0\n", "%uint",
                               "OpCopyMemory %pointer %pointer Aligned 4\n")));
  ASSERT_EQ(checked.accesses.size(), 2u);
  EXPECT_EQ(checked.accesses[0].kind, AccessKind::kStore);
  EXPECT_EQ(checked.accesses[1].kind, AccessKind::kLoad);
  EXPECT_EQ(checked.checked, 2u);
}

// The decoration stands at the member, which the changed pointer does not come from.
TEST(AccessChecksTest, MemoryThatOthersWriteStaysSuch) {
  const std::string body =
      "%member = OpAccessChain %puint %pointer %c0\n"
      "%v = OpLoad %uint %member Aligned 4\n"
      "OpStore %member %v Aligned 4\n";
  const std::string offset = "OpMemberDecorate %block 0 Offset 0\n";
  // The search of the ranges loads seven words so.
  const std::string plain = Disassembled(Checked(Assembled(Shader(offset, "%uint", body))).words);
  const std::string coherent = Disassembled(
      Checked(Assembled(Shader(offset + "OpMemberDecorate %block 0 Coherent\n", "%uint", body)))
          .words);
  EXPECT_EQ(CountOf(plain, "Volatile|Aligned 4"), 7u);
  EXPECT_EQ(CountOf(coherent, "Volatile|Aligned 4"), 9u);
}

TEST(AccessChecksTest, OtherWordsAreRefusedWithASentence) {
  EXPECT_EQ(CheckAccesses(std::vector<uint32_t>{1, 2, 3}, kChecks).status().code(),
            StatusCode::kCorrupt);
  std::vector<uint32_t> cut = LoadShader("addresses.comp", Form::kLines);
  cut.resize(cut.size() - 1);  // without the end of the last function
  const Result<CheckedModule> checked = CheckAccesses(cut, kChecks);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.status().message(), HasSubstr("do not end"));
}

}  // namespace
}  // namespace cairn::spirv
