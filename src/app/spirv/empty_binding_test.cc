// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/empty_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "app/spirv/module_bindings.h"
#include "app/spirv/testing/assembled.h"
#include "app/spirv/testing/shaders.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

using testing::Assembled;
using testing::BodyOf;
using testing::CountZeros;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kForms;
using testing::LoadShader;
using testing::NameOf;
using ::testing::Not;
using ::testing::Pair;
using From = BindingPlace::From;

constexpr BindingPlace Descriptor(uint32_t set, uint32_t binding) {
  return {From::kDescriptor, set, binding};
}

// A compute shader: words in a buffer (set 1, binding 2), constants (set 0, binding 0) and push constants, whose address
// leads to a word.
constexpr char kFront[] = R"(
  OpCapability Shader
  OpCapability PhysicalStorageBufferAddresses
  OpExtension "SPV_KHR_physical_storage_buffer"
  OpMemoryModel PhysicalStorageBuffer64 GLSL450
  OpEntryPoint GLCompute %main "main"
  OpExecutionMode %main LocalSize 1 1 1
  OpName %words "words"
  OpName %Constants "Constants"
  OpName %pushed "pushed"
  OpDecorate %runtime ArrayStride 4
  OpDecorate %Words Block
  OpMemberDecorate %Words 0 Offset 0
  OpDecorate %Constants Block
  OpMemberDecorate %Constants 0 Offset 0
  OpDecorate %Pushed Block
  OpMemberDecorate %Pushed 0 Offset 0
  OpMemberDecorate %Pushed 1 Offset 8
  OpDecorate %Target Block
  OpMemberDecorate %Target 0 Offset 0
  OpDecorate %words DescriptorSet 1
  OpDecorate %words Binding 2
  OpDecorate %constants DescriptorSet 0
  OpDecorate %constants Binding 0
  OpDecorate %unused DescriptorSet 3
  OpDecorate %unused Binding 1
  %void = OpTypeVoid
  %fn = OpTypeFunction %void
  %uint = OpTypeInt 32 0
  %n0 = OpConstant %uint 0
  %n1 = OpConstant %uint 1
  %n5 = OpConstant %uint 5
  %runtime = OpTypeRuntimeArray %uint
  %Words = OpTypeStruct %runtime
  %Constants = OpTypeStruct %uint
  %Target = OpTypeStruct %uint
  %address = OpTypePointer PhysicalStorageBuffer %Target
  %Pushed = OpTypeStruct %address %uint
  %to_words = OpTypePointer StorageBuffer %Words
  %to_word = OpTypePointer StorageBuffer %uint
  %to_constants = OpTypePointer Uniform %Constants
  %to_constant = OpTypePointer Uniform %uint
  %to_pushed = OpTypePointer PushConstant %Pushed
  %to_pushed_word = OpTypePointer PushConstant %uint
  %to_address = OpTypePointer PushConstant %address
  %to_target = OpTypePointer PhysicalStorageBuffer %uint
  %to_local = OpTypePointer Function %uint
  %words = OpVariable %to_words StorageBuffer
  %constants = OpVariable %to_constants Uniform
  %unused = OpVariable %to_constants Uniform
  %pushed = OpVariable %to_pushed PushConstant
)";

// The parts of kFront's shader that use the bindings.
constexpr char kBody[] = R"(
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %constant_at = OpAccessChain %to_constant %constants %n0
  %constant = OpLoad %uint %constant_at
  %word_at = OpAccessChain %to_word %words %n0 %constant
  %word = OpLoad %uint %word_at
  %length = OpArrayLength %uint %words 0
  %old = OpAtomicIAdd %uint %word_at %n1 %n0 %n5
  OpAtomicStore %word_at %n1 %n0 %n5
  %sum = OpIAdd %uint %word %length
  OpStore %word_at %sum
  %address_at = OpAccessChain %to_address %pushed %n0
  %target = OpLoad %address %address_at
  %target_at = OpAccessChain %to_target %target %n0
  %there = OpLoad %uint %target_at Aligned 4
  OpStore %target_at %there Aligned 4
  %pushed_at = OpAccessChain %to_pushed_word %pushed %n1
  %pushed_word = OpLoad %uint %pushed_at
  OpReturn
  OpFunctionEnd
)";

TEST(ModuleBindings, AreThoseThatAreUsed) {
  const Result<std::vector<Binding>> bindings =
      ListBindings(Assembled(std::string(kFront) + kBody));
  ASSERT_TRUE(bindings.ok()) << bindings.status().message();
  ASSERT_EQ(3u, bindings->size());
  const Binding& words = (*bindings)[0];
  EXPECT_EQ(Descriptor(1, 2), words.place);
  EXPECT_EQ(BindingKind::kStorageBuffer, words.kind);
  EXPECT_EQ("words", words.name);
  const Binding& constants = (*bindings)[1];
  EXPECT_EQ(Descriptor(0, 0), constants.place);
  EXPECT_EQ(BindingKind::kUniformBuffer, constants.kind);
  EXPECT_EQ("Constants", constants.name) << "a block without a name of its own";
  const Binding& pushed = (*bindings)[2];
  EXPECT_EQ(BindingPlace{From::kPushConstants}, pushed.place);
  EXPECT_EQ(BindingKind::kPushConstants, pushed.kind);
}

TEST(ModuleBindings, KindsAndNamesOfACompiler) {
  for (const testing::Form form : kForms) {
    const std::vector<uint32_t> words = LoadShader("descriptors.comp", form);
    ASSERT_EQ(testing::HasDebugInfo(form), words.empty()) << "there is none with debug information";
    if (words.empty()) continue;
    const Result<std::vector<Binding>> bindings = ListBindings(words);
    ASSERT_TRUE(bindings.ok()) << bindings.status().message();
    std::map<uint32_t, std::pair<BindingKind, std::string>> kinds;
    for (const Binding& binding : *bindings) {
      if (binding.place.from != From::kDescriptor) continue;
      EXPECT_EQ(0u, binding.place.set);
      kinds[binding.place.number] = {binding.kind, binding.name};
    }
    EXPECT_THAT(kinds, ElementsAre(Pair(0, Pair(BindingKind::kStorageBuffer, "Results")),
                                   Pair(1, Pair(BindingKind::kUniformBuffer, "Constants")),
                                   Pair(2, Pair(BindingKind::kStorageBuffer, "bins")),
                                   Pair(3, Pair(BindingKind::kSampledImage, "pictures")),
                                   Pair(4, Pair(BindingKind::kSampler, "linear")),
                                   Pair(5, Pair(BindingKind::kUniformTexelBuffer, "texels")),
                                   Pair(6, Pair(BindingKind::kStorageBuffer, "Addresses")),
                                   Pair(7, Pair(BindingKind::kStorageImage, "counters"))))
        << NameOf(form);
  }
}

TEST(ModuleBindings, GroupsOfDecorationsCount) {
  std::string text = std::string(kFront) + kBody;
  const std::string_view own =
      "  OpDecorate %words DescriptorSet 1\n  OpDecorate %words Binding 2\n";
  const size_t at = text.find(own);
  ASSERT_NE(std::string::npos, at);
  text.replace(at, own.size(), R"(
  OpDecorate %group DescriptorSet 1
  OpDecorate %group Binding 2
  %group = OpDecorationGroup
  OpGroupDecorate %group %words
)");
  const std::vector<uint32_t> words = Assembled(text);
  const Result<std::vector<Binding>> bindings = ListBindings(words);
  ASSERT_TRUE(bindings.ok()) << bindings.status().message();
  ASSERT_EQ(3u, bindings->size());
  EXPECT_EQ("words", (*bindings)[0].name);
  EXPECT_EQ(Descriptor(1, 2), (*bindings)[0].place);
  EXPECT_EQ(Descriptor(0, 0), (*bindings)[1].place);
  const Result<UnboundModule> constants = EmptyBinding(words, Descriptor(0, 0));
  ASSERT_TRUE(constants.ok()) << constants.status().message();
  EXPECT_EQ(1u, constants->emptied) << "the real one alone";
  EXPECT_EQ(5u, EmptyBinding(words, Descriptor(1, 2))->emptied);
}

// glslang gives a variable the line of its first use.
TEST(ModuleBindings, VariablesHaveTheirLines) {
  const Result<std::vector<Binding>> vertex =
      ListBindings(LoadShader("vertices.vert", testing::Form::kDebugInfo));
  ASSERT_TRUE(vertex.ok()) << vertex.status().message();
  const auto input = std::find_if(vertex->begin(), vertex->end(), [](const Binding& binding) {
    return binding.place.from == From::kVertexInput;
  });
  ASSERT_NE(vertex->end(), input);
  EXPECT_EQ(0u, input->place.number);
  EXPECT_EQ("position", input->name);
  EXPECT_THAT(input->declared.file, HasSubstr("vertices.vert"));
  EXPECT_EQ(5u, input->declared.line);
  EXPECT_EQ("vec4 p = position;", input->declared.text);
  const Result<std::vector<Binding>> plain =
      ListBindings(LoadShader("vertices.vert", testing::Form::kLines));
  ASSERT_TRUE(plain.ok());
  for (const Binding& binding : *plain) EXPECT_EQ(0u, binding.declared.line);
}

TEST(EmptyBinding, LoadsGiveZerosAndStoresGo) {
  const std::vector<uint32_t> words = Assembled(std::string(kFront) + kBody);
  const Result<UnboundModule> buffer = EmptyBinding(words, Descriptor(1, 2));
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  EXPECT_EQ(5u, buffer->emptied);
  EXPECT_THAT(BodyOf(buffer->words),
              ElementsAre(spv::OpAccessChain, spv::OpLoad, spv::OpAccessChain, spv::OpCopyObject,
                          spv::OpCopyObject, spv::OpCopyObject, spv::OpIAdd, spv::OpAccessChain,
                          spv::OpLoad, spv::OpAccessChain, spv::OpLoad, spv::OpStore,
                          spv::OpAccessChain, spv::OpLoad, spv::OpReturn))
      << "the load, the length and the atomic operation";
  EXPECT_EQ(3u, CountZeros(buffer->words));

  const Result<UnboundModule> constants = EmptyBinding(words, Descriptor(0, 0));
  ASSERT_TRUE(constants.ok()) << constants.status().message();
  EXPECT_EQ(1u, constants->emptied);
  EXPECT_EQ(spv::OpCopyObject, BodyOf(constants->words)[1]);
}

TEST(EmptyBinding, WhatAnAddressOfTheBindingLeadsToIsEmpty) {
  const std::vector<uint32_t> words = Assembled(std::string(kFront) + kBody);
  const Result<UnboundModule> pushed = EmptyBinding(words, {From::kPushConstants});
  ASSERT_TRUE(pushed.ok()) << pushed.status().message();
  EXPECT_EQ(3u, pushed->emptied) << "the load and the store there, the other constant";
  EXPECT_EQ(2u, CountZeros(pushed->words));
  const std::vector<spv::Op> body = BodyOf(pushed->words);
  EXPECT_THAT(std::vector<spv::Op>(body.end() - 7, body.end()),
              ElementsAre(spv::OpAccessChain, spv::OpLoad, spv::OpAccessChain, spv::OpCopyObject,
                          spv::OpAccessChain, spv::OpCopyObject, spv::OpReturn));
}

TEST(EmptyBinding, AModuleWithoutTheBindingStays) {
  const std::vector<uint32_t> words = Assembled(std::string(kFront) + kBody);
  for (const BindingPlace& place :
       {Descriptor(2, 1), Descriptor(3, 1), BindingPlace{From::kVertexInput, 0, 0}}) {
    const Result<UnboundModule> none = EmptyBinding(words, place);
    ASSERT_TRUE(none.ok()) << none.status().message();
    EXPECT_EQ(0u, none->emptied);
    EXPECT_THAT(none->words, IsEmpty());
  }
}

// A function that gets a pointer into a buffer; %which is the buffer of its second call.
std::string Calling(const char* which) {
  return std::string(kFront) + R"(
  %taking = OpTypeFunction %uint %to_words
  %read = OpFunction %uint None %taking
  %given = OpFunctionParameter %to_words
  %read_begin = OpLabel
  %given_at = OpAccessChain %to_word %given %n0 %n1
  %given_word = OpLoad %uint %given_at
  OpReturnValue %given_word
  OpFunctionEnd
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %constant_at = OpAccessChain %to_constant %constants %n0
  %constant = OpLoad %uint %constant_at
  %one = OpFunctionCall %uint %read %words
  %two = OpFunctionCall %uint %read )" +
         which + R"(
  %pushed_at = OpAccessChain %to_pushed_word %pushed %n1
  %pushed_word = OpLoad %uint %pushed_at
  OpReturn
  OpFunctionEnd
)";
}

TEST(EmptyBinding, GoesIntoFunctionsThatGetNothingElse) {
  const Result<UnboundModule> both = EmptyBinding(Assembled(Calling("%words")), Descriptor(1, 2));
  ASSERT_TRUE(both.ok()) << both.status().message();
  EXPECT_EQ(1u, both->emptied);
  EXPECT_EQ(spv::OpCopyObject, BodyOf(both->words)[1]);

  std::string text = Calling("%others");
  text.insert(text.find("  %words = OpVariable"),
              "  %others = OpVariable %to_words StorageBuffer\n");
  text.insert(text.find("  OpDecorate %constants DescriptorSet"),
              "  OpDecorate %others DescriptorSet 1\n  OpDecorate %others Binding 3\n");
  const Result<UnboundModule> one = EmptyBinding(Assembled(text), Descriptor(1, 2));
  ASSERT_FALSE(one.ok());
  EXPECT_EQ("the shader passes the binding to a function that gets another one elsewhere",
            one.status().message());
}

TEST(EmptyBinding, SaysWhichUseCannotBeEmptied) {
  std::string text = std::string(kFront) + kBody;
  text.insert(text.find("  %target_at = "), R"(
  %kept = OpVariable %to_kept Function
  OpStore %kept %target
)");
  // Variables of a function stand at its begin.
  const std::string kept = "  %kept = OpVariable %to_kept Function\n";
  text.erase(text.find(kept), kept.size());
  text.insert(text.find("  %constant_at"), kept);
  text.insert(text.find("  %words = OpVariable"), "  %to_kept = OpTypePointer Function %address\n");
  text.insert(text.find("  OpDecorate %runtime"), "  OpDecorate %kept AliasedPointer\n");
  const Result<UnboundModule> stored = EmptyBinding(Assembled(text), {From::kPushConstants});
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ("the shader uses the binding in OpStore, which cannot be emptied",
            stored.status().message());
  EXPECT_TRUE(EmptyBinding(Assembled(text), Descriptor(1, 2)).ok()) << "the others are not its way";
}

// Every binding of shaders of two compilers' options, with and without debug information.
TEST(EmptyBinding, ModulesOfCompilers) {
  for (const char* name : {"descriptors.comp", "march.comp", "ways_out.comp", "textures.frag",
                           "vertices.vert", "indices.comp", "addresses.comp"}) {
    for (const testing::Form form : kForms) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      const bool has_two_forms = std::string_view(name) == "descriptors.comp" ||
                                 std::string_view(name) == "addresses.comp";
      ASSERT_EQ(has_two_forms && testing::HasDebugInfo(form), words.empty()) << name;
      if (words.empty()) continue;
      const Result<std::vector<Binding>> bindings = ListBindings(words);
      ASSERT_TRUE(bindings.ok()) << bindings.status().message();
      EXPECT_THAT(*bindings, Not(IsEmpty())) << name;
      for (const Binding& binding : *bindings) {
        SCOPED_TRACE(std::string(name) + " " + NameOf(form) + " " + binding.name);
        const Result<UnboundModule> emptied = EmptyBinding(words, binding.place);
        ASSERT_TRUE(emptied.ok()) << emptied.status().message();
        EXPECT_NE(0u, emptied->emptied);
        EXPECT_TRUE(Validate(emptied->words).ok());
        EXPECT_LE(CountZeros(emptied->words), emptied->emptied);
        const Result<UnboundModule> again = EmptyBinding(emptied->words, binding.place);
        ASSERT_TRUE(again.ok()) << again.status().message();
        EXPECT_EQ(0u, again->emptied) << "nothing of it is left";
        for (const Binding& other : *bindings) {
          if (other.place == binding.place) continue;
          const Result<UnboundModule> one = EmptyBinding(words, other.place);
          const Result<UnboundModule> behind = EmptyBinding(emptied->words, other.place);
          ASSERT_TRUE(one.ok() && behind.ok());
          EXPECT_LE(behind->emptied, one->emptied);
          // Samplers and images are used together.
          const bool is_shared =
              other.kind == BindingKind::kSampler || other.kind == BindingKind::kSampledImage;
          if (!is_shared) {
            EXPECT_EQ(behind->emptied, one->emptied) << "others stay: " << other.name;
          }
        }
      }
    }
  }
}

TEST(EmptyBinding, ExecutionModesThatSpirvToolsDoesNotKnowStay) {
  const std::vector<uint32_t> words = Assembled(std::string(kFront) + kBody);
  const std::vector<uint32_t> newer = testing::WithNewMode(words);
  ASSERT_EQ(words.size() + 3, newer.size());
  const Result<std::vector<Binding>> bindings = ListBindings(newer);
  ASSERT_TRUE(bindings.ok()) << bindings.status().message();
  EXPECT_EQ(3u, bindings->size());
  const Result<UnboundModule> before = EmptyBinding(words, Descriptor(1, 2));
  const Result<UnboundModule> emptied = EmptyBinding(newer, Descriptor(1, 2));
  ASSERT_TRUE(before.ok() && emptied.ok()) << emptied.status().message();
  EXPECT_EQ(5u, emptied->emptied);
  EXPECT_EQ(testing::WithNewMode(before->words), emptied->words);
  const Result<UnboundModule> none = EmptyBinding(newer, Descriptor(2, 1));
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_THAT(none->words, IsEmpty());
}

TEST(EmptyBinding, WordsThatAreNoModule) {
  std::vector<uint32_t> words = Assembled(std::string(kFront) + kBody);
  words.resize(words.size() - 3);
  EXPECT_FALSE(EmptyBinding(words, Descriptor(1, 2)).ok());
  EXPECT_FALSE(EmptyBinding({}, Descriptor(1, 2)).ok());
  EXPECT_FALSE(ListBindings(words).ok());
}

}  // namespace
}  // namespace cairn::spirv
