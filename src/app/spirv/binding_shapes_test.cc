// SPDX-License-Identifier: Apache-2.0
//
// Bindings in modules that compilers of our tests do not write: which are listed, and what is left once one is empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/spirv/empty_binding.h"
#include "app/spirv/module_bindings.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/source_places.h"
#include "app/spirv/testing/assembled.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

using testing::Assembled;
using testing::BodyOf;
using testing::CountZeros;
using ::testing::ElementsAre;
using From = BindingPlace::From;

// One module of these tests: what stands in front of its types, and behind them.
struct Text {
  std::string capabilities;
  std::string entry_points = R"(
  OpEntryPoint GLCompute %main "main"
  OpExecutionMode %main LocalSize 1 1 1
)";
  std::string decorations;
  std::string body;

  std::vector<uint32_t> Words() const {
    std::vector<uint32_t> words =
        Assembled("OpCapability Shader\n" + capabilities + "OpMemoryModel Logical GLSL450\n" +
                  entry_points + decorations + kTypes + body);
    const Status valid = Validate(words);
    EXPECT_TRUE(valid.ok()) << valid.message();
    return words;
  }

  // A buffer of words, which all of them may use: binding 0.
  static constexpr char kTypes[] = R"(
  OpDecorate %runtime ArrayStride 4
  OpDecorate %Words Block
  OpMemberDecorate %Words 0 Offset 0
  OpDecorate %words DescriptorSet 0
  OpDecorate %words Binding 0
  %void = OpTypeVoid
  %fn = OpTypeFunction %void
  %bool = OpTypeBool
  %uint = OpTypeInt 32 0
  %float = OpTypeFloat 32
  %int2 = OpTypeVector %uint 2
  %float2 = OpTypeVector %float 2
  %float4 = OpTypeVector %float 4
  %n0 = OpConstant %uint 0
  %n1 = OpConstant %uint 1
  %n5 = OpConstant %uint 5
  %f0 = OpConstant %float 0
  %corner = OpConstantComposite %float2 %f0 %f0
  %texel_at = OpConstantComposite %int2 %n1 %n5
  %runtime = OpTypeRuntimeArray %uint
  %Words = OpTypeStruct %runtime
  %to_words = OpTypePointer StorageBuffer %Words
  %to_word = OpTypePointer StorageBuffer %uint
  %words = OpVariable %to_words StorageBuffer
)";
};

std::string Bound(const std::string& variable, uint32_t binding) {
  return "  OpDecorate %" + variable + " DescriptorSet 0\n  OpDecorate %" + variable + " Binding " +
         std::to_string(binding) + "\n";
}

constexpr BindingPlace At(uint32_t binding) {
  return {From::kDescriptor, 0, binding};
}

// The module once that binding is empty: valid, and empty for another time.
UnboundModule Emptied(const std::vector<uint32_t>& words, const BindingPlace& place) {
  Result<UnboundModule> emptied = EmptyBinding(words, place);
  EXPECT_TRUE(emptied.ok()) << emptied.status().message();
  if (!emptied.ok()) return {};
  const Status valid = Validate(emptied->words);
  EXPECT_TRUE(valid.ok()) << valid.message();
  const Result<UnboundModule> again = EmptyBinding(emptied->words, place);
  EXPECT_TRUE(again.ok() && again->emptied == 0) << "nothing of it is left";
  return std::move(*emptied);
}

std::vector<Binding> Listed(const std::vector<uint32_t>& words) {
  Result<std::vector<Binding>> bindings = ListBindings(words);
  EXPECT_TRUE(bindings.ok()) << bindings.status().message();
  return bindings.ok() ? std::move(*bindings) : std::vector<Binding>();
}

// ---- Which are listed ------------------------------------------------------------------------------------

TEST(BindingShapes, InputsThatShareALocationAreOne) {
  Text text;
  text.entry_points = R"(
  OpEntryPoint Vertex %main "main" %first %second %third %position
)";
  text.decorations = R"(
  OpName %first "first"
  OpName %third "third"
  OpDecorate %first Location 1
  OpDecorate %second Location 1
  OpDecorate %second Component 2
  OpDecorate %third Location 2
  OpDecorate %position BuiltIn Position
)";
  text.body = R"(
  %from_float2 = OpTypePointer Input %float2
  %to_float4 = OpTypePointer Output %float4
  %first = OpVariable %from_float2 Input
  %second = OpVariable %from_float2 Input
  %third = OpVariable %from_float2 Input
  %position = OpVariable %to_float4 Output
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %a = OpLoad %float2 %first
  %b = OpLoad %float2 %second
  %c = OpLoad %float2 %third
  %ab = OpFAdd %float2 %a %b
  %abc = OpFAdd %float2 %ab %c
  %all = OpVectorShuffle %float4 %abc %abc 0 1 0 1
  OpStore %position %all
  OpReturn
  OpFunctionEnd
)";
  const std::vector<uint32_t> words = text.Words();
  const std::vector<Binding> bindings = Listed(words);
  ASSERT_EQ(2u, bindings.size());
  EXPECT_EQ((BindingPlace{From::kVertexInput, 0, 1}), bindings[0].place);
  EXPECT_EQ("first", bindings[0].name);
  EXPECT_EQ((BindingPlace{From::kVertexInput, 0, 2}), bindings[1].place);
  const UnboundModule emptied = Emptied(words, bindings[0].place);
  EXPECT_EQ(2u, emptied.emptied) << "both components";
  EXPECT_THAT(BodyOf(emptied.words),
              ElementsAre(spv::OpCopyObject, spv::OpCopyObject, spv::OpLoad, spv::OpFAdd,
                          spv::OpFAdd, spv::OpVectorShuffle, spv::OpStore, spv::OpReturn));
}

// A module that uses so many variables.
std::vector<uint32_t> WithBindings(size_t count) {
  Text text;
  std::string variables, uses;
  for (uint32_t i = 1; i < count; ++i) {
    const std::string name = "v" + std::to_string(i);
    text.decorations += Bound(name, i);
    variables += "  %" + name + " = OpVariable %to_words StorageBuffer\n";
    uses += "  %length" + std::to_string(i) + " = OpArrayLength %uint %" + name + " 0\n";
  }
  text.body = variables + R"(
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %length = OpArrayLength %uint %words 0
)" + uses + "  OpReturn\n  OpFunctionEnd\n";
  return text.Words();
}

TEST(BindingShapes, ThereIsAMost) {
  EXPECT_EQ(kMostBindings, Listed(WithBindings(kMostBindings)).size());
  const std::vector<uint32_t> words = WithBindings(kMostBindings + 1);
  const Result<std::vector<Binding>> bindings = ListBindings(words);
  ASSERT_FALSE(bindings.ok());
  EXPECT_EQ("the module is too large: it uses 1025 variables of bindings, and 1024 is the most",
            bindings.status().message());
  EXPECT_EQ(1u, Emptied(words, At(kMostBindings)).emptied) << "one of them costs no more";
}

TEST(SourcePlaces, TheBeginOfALineIsLookedAt) {
  const std::string source =
      std::string(5000, ' ') + "behind\n" + std::string(4000, ' ') + std::string(200'000, 'x');
  Text text;
  text.decorations =
      "  %file = OpString \"a.comp\"\n  OpSource GLSL 450 %file \"" + source + "\"\n";
  text.body = R"(
  %main = OpFunction %void None %fn
  %begin = OpLabel
  OpLine %file 1 1
  %one = OpArrayLength %uint %words 0
  OpLine %file 2 1
  %two = OpArrayLength %uint %words 0
  OpReturn
  OpFunctionEnd
)";
  const Result<Module> module = Module::Read(text.Words());
  ASSERT_TRUE(module.ok()) << module.status().message();
  const SourcePlaces places(*module);
  const Function& main = module->functions[0];
  const std::span<const Instruction> body = main.blocks[0].instructions;
  ASSERT_EQ(5u, body.size()) << "two are lines";
  const SourcePlace one = places.PlaceOf(main, body.first(2));
  EXPECT_EQ(1u, one.line);
  EXPECT_EQ("", one.text);
  const SourcePlace two = places.PlaceOf(main, body.first(4));
  EXPECT_EQ(2u, two.line);
  EXPECT_EQ(std::string(96, 'x'), two.text);
}

// ---- What is left -----------------------------------------------------------------------------------------

// A function that gets an image and a sampler, or pointers to them; of its second call the image is %`image`.
Text GivesImages(bool by_pointer, const std::string& image) {
  Text text;
  text.entry_points = R"(
  OpEntryPoint Fragment %main "main" %colour
  OpExecutionMode %main OriginUpperLeft
)";
  text.decorations = "  OpDecorate %colour Location 0\n" + Bound("picture", 1) +
                     Bound("sampler", 2) + Bound("other", 3);
  text.body = R"(
  %Image = OpTypeImage %float 2D 0 0 0 1 Unknown
  %Sampler = OpTypeSampler
  %Sampled = OpTypeSampledImage %Image
  %to_image = OpTypePointer UniformConstant %Image
  %to_sampler = OpTypePointer UniformConstant %Sampler
  %to_colour = OpTypePointer Output %float4
  %picture = OpVariable %to_image UniformConstant
  %other = OpVariable %to_image UniformConstant
  %sampler = OpVariable %to_sampler UniformConstant
  %colour = OpVariable %to_colour Output
)";
  text.body += by_pointer ? R"(
  %taking = OpTypeFunction %float4 %to_image %to_sampler
  %look = OpFunction %float4 None %taking
  %image_there = OpFunctionParameter %to_image
  %sampler_there = OpFunctionParameter %to_sampler
  %look_begin = OpLabel
  %its_image = OpLoad %Image %image_there
  %its_sampler = OpLoad %Sampler %sampler_there
)"
                          : R"(
  %taking = OpTypeFunction %float4 %Image %Sampler
  %look = OpFunction %float4 None %taking
  %its_image = OpFunctionParameter %Image
  %its_sampler = OpFunctionParameter %Sampler
  %look_begin = OpLabel
)";
  text.body += R"(
  %both = OpSampledImage %Sampled %its_image %its_sampler
  %seen = OpImageSampleExplicitLod %float4 %both %corner Lod %f0
  OpReturnValue %seen
  OpFunctionEnd
  %main = OpFunction %void None %fn
  %begin = OpLabel
)";
  text.body += by_pointer ? R"(
  %one = OpFunctionCall %float4 %look %picture %sampler
  %two = OpFunctionCall %float4 %look %)" +
                                image + " %sampler\n"
                          : R"(
  %loaded_picture = OpLoad %Image %picture
  %loaded_other = OpLoad %Image %other
  %loaded_sampler = OpLoad %Sampler %sampler
  %one = OpFunctionCall %float4 %look %loaded_picture %loaded_sampler
  %two = OpFunctionCall %float4 %look %loaded_)" +
                                image + " %loaded_sampler\n";
  text.body += R"(
  %sum = OpFAdd %float4 %one %two
  OpStore %colour %sum
  OpReturn
  OpFunctionEnd
)";
  return text;
}

TEST(BindingShapes, ImagesAndSamplersThatFunctionsGet) {
  for (const bool by_pointer : {false, true}) {
    SCOPED_TRACE(by_pointer);
    const std::vector<uint32_t> same = GivesImages(by_pointer, "picture").Words();
    const size_t loads = by_pointer ? 2 : 0;  // in the function
    for (const uint32_t binding : {1u, 2u}) {
      const UnboundModule emptied = Emptied(same, At(binding));
      EXPECT_EQ(1u, emptied.emptied);
      EXPECT_EQ(1u, CountZeros(emptied.words));
      EXPECT_EQ(spv::OpCopyObject, BodyOf(emptied.words)[loads + 1]) << "the sample";
    }
    EXPECT_EQ(0u, EmptyBinding(same, At(3))->emptied) << "no sample has it";

    const std::vector<uint32_t> two = GivesImages(by_pointer, "other").Words();
    for (const uint32_t binding : {1u, 3u}) {
      const Result<UnboundModule> one = EmptyBinding(two, At(binding));
      ASSERT_FALSE(one.ok());
      EXPECT_EQ("the shader passes the binding to a function that gets another one elsewhere",
                one.status().message());
    }
    EXPECT_EQ(1u, Emptied(two, At(2)).emptied) << "both calls have the sampler";
  }
}

TEST(BindingShapes, AtomicOperationsOnTexels) {
  Text text;
  text.decorations = Bound("counters", 1);
  text.body = R"(
  %Counters = OpTypeImage %uint 2D 0 0 0 2 R32ui
  %to_counters = OpTypePointer UniformConstant %Counters
  %to_texel = OpTypePointer Image %uint
  %counters = OpVariable %to_counters UniformConstant
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %texel = OpImageTexelPointer %to_texel %counters %texel_at %n0
  %old = OpAtomicIAdd %uint %texel %n1 %n0 %n5
  %older = OpAtomicCompareExchange %uint %texel %n1 %n0 %n0 %n5 %old
  %word_at = OpAccessChain %to_word %words %n0 %n1
  OpStore %word_at %older
  OpReturn
  OpFunctionEnd
)";
  const std::vector<uint32_t> words = text.Words();
  const UnboundModule emptied = Emptied(words, At(1));
  EXPECT_EQ(2u, emptied.emptied);
  EXPECT_EQ(2u, CountZeros(emptied.words));
  EXPECT_THAT(BodyOf(emptied.words),
              ElementsAre(spv::OpImageTexelPointer, spv::OpCopyObject, spv::OpCopyObject,
                          spv::OpAccessChain, spv::OpStore, spv::OpReturn));
  EXPECT_EQ(1u, Emptied(words, At(0)).emptied) << "the store";
}

TEST(BindingShapes, SparseImages) {
  Text text;
  text.capabilities = "OpCapability SparseResidency\n";
  text.decorations = Bound("picture", 1) + Bound("stored", 2);
  text.body = R"(
  %Image = OpTypeImage %float 2D 0 0 0 1 Unknown
  %Stored = OpTypeImage %float 2D 0 0 0 2 Rgba32f
  %Sampled = OpTypeSampledImage %Image
  %Seen = OpTypeStruct %uint %float4
  %to_sampled = OpTypePointer UniformConstant %Sampled
  %to_stored = OpTypePointer UniformConstant %Stored
  %picture = OpVariable %to_sampled UniformConstant
  %stored = OpVariable %to_stored UniformConstant
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %both = OpLoad %Sampled %picture
  %image = OpImage %Image %both
  %loaded = OpLoad %Stored %stored
  %sampled = OpImageSparseSampleExplicitLod %Seen %both %corner Lod %f0
  %gathered = OpImageSparseGather %Seen %both %corner %n0
  %fetched = OpImageSparseFetch %Seen %image %texel_at Lod %n0
  %read = OpImageSparseRead %Seen %loaded %texel_at
  %code = OpCompositeExtract %uint %fetched 0
  %is_there = OpImageSparseTexelsResident %bool %code
  %word = OpSelect %uint %is_there %n5 %n1
  %word_at = OpAccessChain %to_word %words %n0 %n1
  OpStore %word_at %word
  OpReturn
  OpFunctionEnd
)";
  const std::vector<uint32_t> words = text.Words();
  const UnboundModule picture = Emptied(words, At(1));
  EXPECT_EQ(3u, picture.emptied);
  EXPECT_EQ(3u, CountZeros(picture.words)) << "of the structure with the code";
  EXPECT_THAT(BodyOf(picture.words),
              ElementsAre(spv::OpLoad, spv::OpImage, spv::OpLoad, spv::OpCopyObject,
                          spv::OpCopyObject, spv::OpCopyObject, spv::OpImageSparseRead,
                          spv::OpCompositeExtract, spv::OpImageSparseTexelsResident, spv::OpSelect,
                          spv::OpAccessChain, spv::OpStore, spv::OpReturn));
  const UnboundModule stored = Emptied(words, At(2));
  EXPECT_EQ(1u, stored.emptied);
  EXPECT_EQ(spv::OpCopyObject, BodyOf(stored.words)[6]);
}

// Each entry point has a variable of its own for the binding, and another binding.
TEST(BindingShapes, OneBindingOfTwoEntryPoints) {
  Text text;
  text.entry_points = R"(
  OpEntryPoint GLCompute %main "main"
  OpEntryPoint GLCompute %too "too"
  OpExecutionMode %main LocalSize 1 1 1
  OpExecutionMode %too LocalSize 1 1 1
)";
  text.decorations = Bound("words_too", 0) + Bound("rest", 1);
  text.body = R"(
  %words_too = OpVariable %to_words StorageBuffer
  %rest = OpVariable %to_words StorageBuffer
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %length = OpArrayLength %uint %words 0
  %rest_at = OpAccessChain %to_word %rest %n0 %n1
  OpStore %rest_at %length
  OpReturn
  OpFunctionEnd
  %too = OpFunction %void None %fn
  %begin_too = OpLabel
  %word_at = OpAccessChain %to_word %words_too %n0 %n5
  %word = OpLoad %uint %word_at
  %rest_at_too = OpAccessChain %to_word %rest %n0 %n0
  OpStore %rest_at_too %word
  OpReturn
  OpFunctionEnd
)";
  const std::vector<uint32_t> words = text.Words();
  std::vector<BindingPlace> places;
  for (const Binding& binding : Listed(words)) places.push_back(binding.place);
  EXPECT_THAT(places, ElementsAre(At(0), At(0), At(1))) << "two variables, which may be aliases";
  const UnboundModule emptied = Emptied(words, At(0));
  EXPECT_EQ(2u, emptied.emptied);
  EXPECT_THAT(BodyOf(emptied.words),
              ElementsAre(spv::OpCopyObject, spv::OpAccessChain, spv::OpStore, spv::OpReturn,
                          spv::OpAccessChain, spv::OpCopyObject, spv::OpAccessChain, spv::OpStore,
                          spv::OpReturn));
  const UnboundModule rest = Emptied(words, At(1));
  EXPECT_THAT(BodyOf(rest.words),
              ElementsAre(spv::OpArrayLength, spv::OpAccessChain, spv::OpReturn, spv::OpAccessChain,
                          spv::OpLoad, spv::OpAccessChain, spv::OpReturn))
      << "the stores of both";
}

// As implementations with one array for all descriptors have them.
TEST(BindingShapes, NonUniformDescriptors) {
  Text text;
  text.capabilities = R"(
  OpCapability ShaderNonUniform
  OpCapability RuntimeDescriptorArray
  OpCapability StorageBufferArrayNonUniformIndexing
  OpCapability SampledImageArrayNonUniformIndexing
  OpExtension "SPV_EXT_descriptor_indexing"
)";
  text.decorations = Bound("buffers", 1) + Bound("pictures", 2);
  for (const char* id : {"index", "at", "word", "old", "picture_at", "picture"})
    text.decorations += std::string("  OpDecorate %") + id + " NonUniform\n";
  text.body = R"(
  %Image = OpTypeImage %float 2D 0 0 0 1 Unknown
  %Buffers = OpTypeRuntimeArray %Words
  %Pictures = OpTypeRuntimeArray %Image
  %to_buffers = OpTypePointer StorageBuffer %Buffers
  %to_pictures = OpTypePointer UniformConstant %Pictures
  %to_picture = OpTypePointer UniformConstant %Image
  %buffers = OpVariable %to_buffers StorageBuffer
  %pictures = OpVariable %to_pictures UniformConstant
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %index_at = OpAccessChain %to_word %words %n0 %n0
  %loaded = OpLoad %uint %index_at
  %index = OpCopyObject %uint %loaded
  %at = OpAccessChain %to_word %buffers %index %n0 %n5
  %word = OpLoad %uint %at
  %old = OpAtomicIAdd %uint %at %n1 %n0 %word
  OpStore %at %old
  %picture_at = OpAccessChain %to_picture %pictures %index
  %picture = OpLoad %Image %picture_at
  %texel = OpImageFetch %float4 %picture %texel_at Lod %n0
  OpReturn
  OpFunctionEnd
)";
  const std::vector<uint32_t> words = text.Words();
  const UnboundModule buffers = Emptied(words, At(1));
  EXPECT_EQ(3u, buffers.emptied);
  EXPECT_EQ(2u, CountZeros(buffers.words)) << "the decorations of their results stay";
  EXPECT_THAT(BodyOf(buffers.words),
              ElementsAre(spv::OpAccessChain, spv::OpLoad, spv::OpCopyObject, spv::OpAccessChain,
                          spv::OpCopyObject, spv::OpCopyObject, spv::OpAccessChain, spv::OpLoad,
                          spv::OpImageFetch, spv::OpReturn));
  const UnboundModule pictures = Emptied(words, At(2));
  EXPECT_EQ(1u, pictures.emptied);
  EXPECT_EQ(spv::OpCopyObject, BodyOf(pictures.words)[9]) << "the fetch";
  const UnboundModule indices = Emptied(words, At(0));
  EXPECT_EQ(1u, indices.emptied);
  EXPECT_EQ(spv::OpCopyObject, BodyOf(indices.words)[1]) << "the first descriptor for all";
}

TEST(BindingShapes, PointersThatAreMovedAndChosen) {
  Text text;
  text.capabilities = "OpCapability VariablePointersStorageBuffer\n";
  text.decorations = "  OpDecorate %to_word ArrayStride 4\n" + Bound("others", 1);
  text.body = R"(
  %others = OpVariable %to_words StorageBuffer
  %main = OpFunction %void None %fn
  %begin = OpLabel
  %first = OpAccessChain %to_word %words %n0 %n0
  %fifth = OpPtrAccessChain %to_word %first %n5
  %word = OpLoad %uint %fifth
  OpStore %fifth %word
  %other = OpAccessChain %to_word %others %n0 %n0
  OpStore %other %word
  OpReturn
  OpFunctionEnd
)";
  const UnboundModule emptied = Emptied(text.Words(), At(0));
  EXPECT_EQ(2u, emptied.emptied);
  EXPECT_THAT(BodyOf(emptied.words),
              ElementsAre(spv::OpAccessChain, spv::OpPtrAccessChain, spv::OpCopyObject,
                          spv::OpAccessChain, spv::OpStore, spv::OpReturn));

  text.body.insert(text.body.find("  OpReturn"), R"(
  %is_first = OpIEqual %bool %word %n0
  %chosen = OpSelect %to_word %is_first %fifth %other
  OpStore %chosen %n1
)");
  for (const uint32_t binding : {0u, 1u}) {
    const Result<UnboundModule> chosen = EmptyBinding(text.Words(), At(binding));
    ASSERT_FALSE(chosen.ok());
    EXPECT_EQ("the shader uses the binding in OpSelect, which cannot be emptied",
              chosen.status().message());
  }
}

}  // namespace
}  // namespace cairn::spirv
