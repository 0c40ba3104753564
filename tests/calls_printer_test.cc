// SPDX-License-Identifier: Apache-2.0
//
// Calls as people and programs read them.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/testing/json.h"
#include "d3d12gen/supplement.h"
#include "format/calls/call_builder.h"
#include "format/calls/value_printer.h"
#include "format/calls/value_shape.h"

namespace cairn {
namespace {

class Names final : public ValueNames {
 public:
  std::string Object(uint64_t number) const override {
    return "resource " + std::to_string(number) + (number == 12 ? " \"De\x1bpth\"" : "");
  }
  std::string GpuAddress(uint64_t address) const override {
    return address >= 0x1000 ? "resource 12 + " + std::to_string(address - 0x1000) : "";
  }
};

class Printed : public testing::Test {
 protected:
  template <typename... Arguments>
  void Call(Method method, const Arguments&... arguments) {
    const CallBuilder::Body body = CallBuilder().Call(method, arguments...);
    ASSERT_TRUE(body.ok);
    method_ = &Describe(method);
    const Status status = DecodeArguments(*method_, body.bytes, {}, &arena_, &call_);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  template <typename Returned, typename... Arguments>
  void Returns(Method method, const Returned& result, const Arguments&... arguments) {
    const CallBuilder::Body body = CallBuilder().Result(method, 1, result, arguments...);
    ASSERT_TRUE(body.ok);
    method_ = &Describe(method);
    const auto rest = std::span<const std::byte>(body.bytes).subspan(sizeof(ResultBody));
    const Status status = DecodeResults(*method_, rest, {}, &arena_, &call_);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  std::string Text(bool whole = false) { return PrintArguments(*method_, call_, names_, whole); }
  Json AsJson() {
    std::string text;
    JsonWriter json(&text, JsonWriter::kOneLine);
    WriteArguments(*method_, call_, names_, /*whole=*/false, &json);
    return Json::Parse(text);
  }

  Names names_;
  Arena arena_;
  DecodedCall call_;
  const MethodInfo* method_ = nullptr;
};

TEST_F(Printed, NumbersHaveTheirNames) {
  Call(Method::ID3D12GraphicsCommandList_DrawIndexedInstanced, 36, 1, 0, -4, 0);
  EXPECT_EQ(Text(),
            "DrawIndexedInstanced(IndexCountPerInstance = 36, InstanceCount = 1, "
            "StartIndexLocation = 0, BaseVertexLocation = -4, StartInstanceLocation = 0)");
  EXPECT_EQ(AsJson()["BaseVertexLocation"], -4);
}

TEST_F(Printed, EnumeratorsObjectsAndOnlyTheUnionMemberThatIsMeant) {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition.pResource = static_cast<ID3D12Resource*>(ObjectPointer(12));
  barrier.Transition.Subresource = 1;
  barrier.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_DEST;
  barrier.Transition.StateAfter =
      static_cast<D3D12_RESOURCE_STATES>(static_cast<uint32_t>(D3D12_RESOURCE_STATE_COPY_SOURCE) |
                                         static_cast<uint32_t>(D3D12_RESOURCE_STATE_DEPTH_READ));
  Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, 1, &barrier);
  EXPECT_EQ(Text(),
            "ResourceBarrier(NumBarriers = 1, pBarriers = [{Type = "
            "D3D12_RESOURCE_BARRIER_TYPE_TRANSITION, Flags = D3D12_RESOURCE_BARRIER_FLAG_NONE, "
            "Transition = {pResource = resource 12 \"De\\x1bpth\", Subresource = 1, "
            "StateBefore = D3D12_RESOURCE_STATE_COPY_DEST, StateAfter = "
            "D3D12_RESOURCE_STATE_DEPTH_READ | D3D12_RESOURCE_STATE_COPY_SOURCE}}])");
  const Json transition = AsJson()["pBarriers"][0]["Transition"];
  EXPECT_EQ(transition["pResource"]["object"], 12);
  EXPECT_EQ(transition["StateBefore"], "D3D12_RESOURCE_STATE_COPY_DEST");
  EXPECT_EQ(AsJson()["pBarriers"][0].size(), 3u);
}

TEST_F(Printed, AddressesByTheirResource) {
  const D3D12_VERTEX_BUFFER_VIEW views[2] = {{0x1010, 64, 16}, {0x10, 32, 8}};
  Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, 0, 2, views);
  EXPECT_EQ(Text(),
            "IASetVertexBuffers(StartSlot = 0, NumViews = 2, pViews = [{BufferLocation = resource "
            "12 + 16, "
            "SizeInBytes = 64, StrideInBytes = 16}, {BufferLocation = 0x10, SizeInBytes = 32, "
            "StrideInBytes = 8}])");
  EXPECT_EQ(AsJson()["pViews"][0]["BufferLocation"],
            Json::Parse(R"({"address": "0x1010", "text": "resource 12 + 16"})"));
}

TEST_F(Printed, LongArraysAreCutUnlessAllIsAskedFor) {
  std::array<D3D12_RECT, 11> rects = {};
  for (LONG i = 0; i < 11; ++i) rects[static_cast<size_t>(i)].left = i + 1;
  Call(Method::ID3D12GraphicsCommandList_RSSetScissorRects, 11, rects.data());
  EXPECT_NE(Text().find(", ... 3 more])"), std::string::npos) << Text();
  EXPECT_EQ(Text(true).find("more"), std::string::npos);
  EXPECT_EQ(AsJson()["pRects"].size(), 11u);
  EXPECT_EQ(AsJson()["pRects"][10]["bottom"], 0);
}

TEST_F(Printed, EqualElementsAreCounted) {
  std::array<D3D12_RECT, 30> rects = {};
  rects[0].top = rects[29].top = 5;
  Call(Method::ID3D12GraphicsCommandList_RSSetScissorRects, 30, rects.data());
  EXPECT_EQ(Text(),
            "RSSetScissorRects(NumRects = 30, pRects = [{left = 0, top = 5, right = 0, bottom = "
            "0}, {left = 0, top = 0, right = 0, bottom = 0} (28 times), {left = 0, top = 5, right "
            "= 0, bottom = 0}])");
  EXPECT_EQ(Text(true), Text());
  EXPECT_EQ(AsJson()["pRects"].size(), 30u);
  // After 8 different elements the rest is counted, including the last run shown.
  for (size_t i = 0; i < 8; ++i) rects[i].top = static_cast<LONG>(i);
  rects[8] = rects[7];
  Call(Method::ID3D12GraphicsCommandList_RSSetScissorRects, 30, rects.data());
  EXPECT_NE(Text().find("top = 7, right = 0, bottom = 0} (2 times), ... 21 more])"),
            std::string::npos)
      << Text();
}

// A description of 3,000 characters is one of a few hundred.
TEST_F(Printed, PipelinesSayEachThingOnce) {
  D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
  const D3D12_INPUT_ELEMENT_DESC elements[2] = {{"TEXCOORD", 0, DXGI_FORMAT_R32_FLOAT, 0, 0},
                                                {"TEXCOORD", 0, DXGI_FORMAT_R32_FLOAT, 0, 0}};
  desc.InputLayout = {elements, 2};
  void* pipeline = nullptr;
  Call(Method::ID3D12Device_CreateGraphicsPipelineState, &desc, IID{}, &pipeline);
  EXPECT_EQ(Text().find("LogicOpEnable"), Text().rfind("LogicOpEnable")) << Text();
  EXPECT_NE(Text().find("} (8 times)]"), std::string::npos) << Text();
  EXPECT_NE(Text().find("RTVFormats = [DXGI_FORMAT_UNKNOWN (8 times)]"), std::string::npos);
  EXPECT_EQ(Text().find("TEXCOORD"), Text().rfind("TEXCOORD")) << Text();
  EXPECT_EQ(AsJson()["pDesc"]["InputLayout"]["pInputElementDescs"].size(), 2u);
  EXPECT_EQ(AsJson()["pDesc"]["BlendState"]["RenderTarget"].size(), 8u);
}

TEST_F(Printed, PartsGivenTwiceHaveKeysOfTheirOwn) {
  struct alignas(void*) Stream {
    uint32_t first_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK;
    uint32_t first = 3;
    uint32_t second_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK;
    uint32_t second = 4;
  } stream;
  const D3D12_PIPELINE_STATE_STREAM_DESC desc = {sizeof(stream), &stream};
  void* pipeline = nullptr;
  Call(Method::ID3D12Device2_CreatePipelineState, &desc, IID{}, &pipeline);
  EXPECT_EQ(AsJson()["pDesc"], Json::Parse(R"json({"SAMPLE_MASK": 3, "SAMPLE_MASK (2)": 4})json"));
}

TEST_F(Printed, BytesByLengthAndHash) {
  const uint32_t values[3] = {1, 2, 3};
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants, 0, 3, values, 0);
  EXPECT_NE(Text().find("pSrcData = <12 bytes: 01 00 00 00 02 00"), std::string::npos) << Text();
  EXPECT_EQ(AsJson()["pSrcData"]["bytes"], 12);
  EXPECT_EQ(AsJson()["pSrcData"]["xxh64"].get<std::string>().size(), 16u);
}

// Prints members: bytes would differ in every process, because the pointer to the levels is memory
// of the reader.
TEST_F(Printed, FeaturesWithPointersMemberByMember) {
  const D3D_FEATURE_LEVEL wanted[] = {D3D_FEATURE_LEVEL_12_0, D3D_FEATURE_LEVEL_11_0};
  const D3D12_FEATURE_DATA_FEATURE_LEVELS levels = {2, wanted, D3D_FEATURE_LEVEL_11_0};
  Call(Method::ID3D12Device_CheckFeatureSupport, D3D12_FEATURE_FEATURE_LEVELS, &levels,
       sizeof(levels));
  EXPECT_EQ(Text(true),
            "CheckFeatureSupport(Feature = D3D12_FEATURE_FEATURE_LEVELS, pFeatureSupportData = "
            "{NumFeatureLevels = 2, pFeatureLevelsRequested = [D3D_FEATURE_LEVEL_12_0, "
            "D3D_FEATURE_LEVEL_11_0], MaxSupportedFeatureLevel = D3D_FEATURE_LEVEL_11_0}, "
            "FeatureSupportDataSize = 24)");
  EXPECT_EQ(AsJson()["pFeatureSupportData"]["pFeatureLevelsRequested"][0],
            "D3D_FEATURE_LEVEL_12_0");
  // With another size it is not that struct.
  Call(Method::ID3D12Device_CheckFeatureSupport, D3D12_FEATURE_FEATURE_LEVELS, &levels, 8);
  EXPECT_NE(Text().find("pFeatureSupportData = <8 bytes: 00"), std::string::npos) << Text();
}

TEST_F(Printed, ToCompareBytesAreHashedAndObjectsAreTheirNames) {
  std::array<uint32_t, 20> values = {};
  const uint32_t* data = values.data();
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants, 0, 20, data, 0);
  const std::string zeros = ArgumentsToCompare(*method_, call_, names_);
  EXPECT_NE(zeros.find("pSrcData = <80: "), std::string::npos) << zeros;
  values[19] = 1;
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants, 0, 20, data, 0);
  EXPECT_NE(ArgumentsToCompare(*method_, call_, names_), zeros);
  Call(Method::ID3D12GraphicsCommandList_SetPipelineState, ObjectPointer(12));
  EXPECT_EQ(ArgumentsToCompare(*method_, call_, names_), Text());
}

TEST_F(Printed, NamesOfPrograms) {
  Call(Method::ID3D12Object_SetName, u"Schatten \x202e\xd800");
  EXPECT_EQ(Text(), "SetName(Name = \"Schatten \\u{202e}\uFFFD\")");
  EXPECT_EQ(AsJson()["Name"], "Schatten \u202e\uFFFD");
}

TEST_F(Printed, ResultsAndWhatTheyGaveOut) {
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  const IID iid = {0x0ec870a6, 0x5d7e, 0x4c22, {0x8c, 0xfc, 0x5b, 0xaa, 0xe0, 0x76, 0x16, 0xed}};
  void* queue = ObjectPointer(5);
  Call(Method::ID3D12Device_CreateCommandQueue, &desc, iid, &queue);
  EXPECT_NE(Text().find("riid = ID3D12CommandQueue, ppCommandQueue = out)"), std::string::npos)
      << Text();
  Returns(Method::ID3D12Device_CreateCommandQueue, 0, &desc, iid, &queue);
  EXPECT_EQ(PrintResult(*method_, call_, names_), "S_OK, ppCommandQueue = resource 5");
  Returns(Method::ID3D12Device_CreateCommandQueue, int32_t{-2005270523}, &desc, iid, &queue);
  EXPECT_EQ(PrintResult(*method_, call_, names_), "DXGI_ERROR_DEVICE_REMOVED");
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  WriteResult(*method_, call_, names_, /*whole=*/false, &json);
  EXPECT_EQ(Json::Parse(text),
            Json::Parse(R"({"result": "DXGI_ERROR_DEVICE_REMOVED", "ppCommandQueue": null})"));
  EXPECT_EQ(ResultCodeName(0x12345678), "0x12345678");
}

TEST_F(Printed, ProgramsOfStateObjects) {
  // Names have 16 bits a character here, whatever the type of the headers.
  const auto named = [](auto* field, const void* text) { Store(field, text); };
  const char16_t* const exports[1] = {u"VSMain"};
  const UINT mask = 3;
  D3D12_STATE_SUBOBJECT parts[3] = {};
  const D3D12_STATE_SUBOBJECT* const used[1] = {&parts[0]};
  D3D12_GENERIC_PROGRAM_DESC program = {};
  named(&program.ProgramName, u"Shadows");
  named(&program.pExports, exports);
  program.NumExports = 1;
  program.ppSubobjects = used;
  program.NumSubobjects = 1;
  D3D12_WORK_GRAPH_DESC graph = {};
  named(&graph.ProgramName, u"Culling");
  graph.Flags = D3D12_WORK_GRAPH_FLAG_INCLUDE_ALL_AVAILABLE_NODES;
  parts[0] = {D3D12_STATE_SUBOBJECT_TYPE_SAMPLE_MASK, &mask};
  parts[1] = {D3D12_STATE_SUBOBJECT_TYPE_GENERIC_PROGRAM, &program};
  parts[2] = {D3D12_STATE_SUBOBJECT_TYPE_WORK_GRAPH, &graph};
  const D3D12_STATE_OBJECT_DESC desc = {D3D12_STATE_OBJECT_TYPE_EXECUTABLE, 3, parts};
  void* object = nullptr;
  Call(Method::ID3D12Device5_CreateStateObject, &desc, IID{}, &object);
  EXPECT_EQ(AsJson()["pDesc"], Json::Parse(R"json({
    "Type": "D3D12_STATE_OBJECT_TYPE_EXECUTABLE",
    "Subobjects": [
      {"SAMPLE_MASK": 3},
      {"GENERIC_PROGRAM": {"ProgramName": "Shadows", "Exports": ["VSMain"], "Subobjects": [0]}},
      {"WORK_GRAPH": {"ProgramName": "Culling",
                      "Flags": "D3D12_WORK_GRAPH_FLAG_INCLUDE_ALL_AVAILABLE_NODES",
                      "NumEntrypoints": 0, "pEntrypoints": null,
                      "NumExplicitlyDefinedNodes": 0, "pExplicitlyDefinedNodes": null}}]
  })json"));
}

TEST_F(Printed, InputsOfWorkGraphs) {
  const uint32_t records[2] = {1, 2};
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT;
  desc.NodeCPUInput = {3, 2, records, 4};
  Call(Method::ID3D12GraphicsCommandList10_DispatchGraph, &desc);
  EXPECT_EQ(Text(),
            "DispatchGraph(pDesc = {Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT, NodeCPUInput = "
            "{EntrypointIndex = 3, NumRecords = 2, pRecords = <8 bytes: 01 00 00 00 02 00 00 00>, "
            "RecordStrideInBytes = 4}})");
}

TEST_F(Printed, StreamsPartByPart) {
  struct alignas(void*) Stream {
    uint32_t root_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_ROOT_SIGNATURE;
    void* root = ObjectPointer(21);
    uint32_t mask_type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_SAMPLE_MASK;
    uint32_t mask = 3;
    uint32_t future_type = 999;
    uint32_t future = 1;
  } stream;
  const D3D12_PIPELINE_STATE_STREAM_DESC desc = {sizeof(stream), &stream};
  void* pipeline = nullptr;
  const IID iid = {};
  Call(Method::ID3D12Device2_CreatePipelineState, &desc, iid, &pipeline);
  EXPECT_EQ(Text(),
            "CreatePipelineState(pDesc = {ROOT_SIGNATURE = resource 21, SAMPLE_MASK = 3, "
            "unknown = <8 bytes: e7 03 00 00 01 00 00 00>}, riid = "
            "{00000000-0000-0000-0000-000000000000}, ppPipelineState = out)");
}

}  // namespace
}  // namespace cairn
