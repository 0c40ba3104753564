// SPDX-License-Identifier: Apache-2.0
//
// Tests `cairn state` with lists that a test writes down.
#include "reader/view/bound_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/calls/call_builder.h"
#include "format/model/render_pass.h"
#include "format/trace/testing/test_trace.h"

namespace cairn::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kDevice = 1, kList = 2, kHeap = 3, kStaging = 4, kPipeline = 5, kSignature = 6,
                   kBuffer = 7, kAllocator = 8, kOther = 9;

struct Bytes16 {
  uint8_t bytes[16] = {};
};
struct ComputeDesc {  // D3D12_COMPUTE_PIPELINE_STATE_DESC
  void* root_signature = ObjectPointer(kSignature);
  const void* code = nullptr;
  uint64_t code_bytes = 0;
  uint32_t node_mask = 0;
  uint32_t padding = 0;
  const void* cached = nullptr;
  uint64_t cached_bytes = 0;
  uint64_t flags = 0;
};
struct VertexView {
  uint64_t address;
  uint32_t size_bytes;
  uint32_t stride_bytes;
};

class ListStateTest : public testing::Test {
 protected:
  ListStateTest() {
    trace_.Object(kDevice, Chain::kID3D12Device, kDevice);
    trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
    trace_.Object(kOther, Chain::kID3D12GraphicsCommandList, kDevice);
    DescriptorHeapFacts heap{};
    heap.count = 100;
    heap.increment_bytes = 32;
    heap.cpu_start = 0x10000;
    heap.gpu_start = 0x90000;
    trace_.DescriptorHeap(kHeap, kDevice, 0, heap);
    heap.cpu_start = 0x20000;
    heap.gpu_start = 0;
    trace_.DescriptorHeap(kStaging, kDevice, 0, heap);
    const ComputeDesc desc;
    void* pipeline = nullptr;
    creation_ =
        Call(Method::ID3D12Device_CreateComputePipelineState, kDevice, &desc, Bytes16{}, &pipeline);
    trace_.Object(kPipeline, Chain::kID3D12PipelineState, kDevice, creation_);
    trace_.Object(kBuffer, Chain::kID3D12Resource, kDevice);
    trace_.Object(kSignature, Chain::kID3D12RootSignature, kDevice);
  }

  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t object, const Arguments&... arguments) {
    const CallBuilder::Body body = builder_.Call(method, arguments...);
    EXPECT_TRUE(body.ok);
    return trace_.Call(method, object, body.bytes);
  }
  uint64_t Dispatch() { return Call(Method::ID3D12GraphicsCommandList_Dispatch, kList, 1, 1, 1); }
  uint64_t Reset() {
    return Call(Method::ID3D12GraphicsCommandList_Reset, kList, ObjectPointer(kAllocator), nullptr);
  }
  Json At(uint64_t call) {
    TraceReader trace = trace_.Open();
    const Result<ListState> state = ListStateAt(trace, call);
    EXPECT_TRUE(state.ok()) << state.status().message();
    if (!state.ok()) return {};
    const Json json = Json::Parse(ListStateJson(*state));
    EXPECT_EQ(Violation(json), "");
    return json;
  }
  std::string InWords(uint64_t call) {
    TraceReader trace = trace_.Open();
    return ListStateInWords(ListStateAt(trace, call).value());
  }

  // Values of calls have no schema of their own.
  static void Empty(const Json& part, const std::string& place, Json* state) {
    if (!part.is_object() && !part.is_array()) return;
    for (const auto& [key, value] : part.items()) {
      const bool is_value = key == "arguments" || key == "view" || key == "value";
      if (is_value && value.is_object()) {
        *state = state->With(place + "/" + key, Json::Parse("{}"));
      } else {
        Empty(value, place + "/" + key, state);
      }
    }
  }
  static std::string Violation(Json state) {
    Empty(state, "", &state);
    return SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/state.schema.json"),
                           state);
  }

  TestTrace trace_;
  CallBuilder builder_;
  uint64_t creation_ = 0;
};

TEST_F(ListStateTest, FencesAndWhoWaits) {
  constexpr uint64_t kQueue = 50, kFence = 51, kOpened = 52;
  trace_.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
  void* place = nullptr;
  const uint64_t made =
      Call(Method::ID3D12Device_CreateFence, kDevice, uint64_t{1}, 0u, Bytes16{}, &place);
  trace_.Object(kFence, Chain::kID3D12Fence, kDevice, made);
  trace_.Object(kOpened, Chain::kID3D12Fence, kDevice);
  const uint64_t signal =
      Call(Method::ID3D12CommandQueue_Signal, kQueue, ObjectPointer(kFence), uint64_t{3});
  const uint64_t queue_wait =
      Call(Method::ID3D12CommandQueue_Wait, kQueue, ObjectPointer(kFence), uint64_t{4});
  const uint64_t event = Call(Method::ID3D12Fence_SetEventOnCompletion, kFence, uint64_t{3},
                              reinterpret_cast<void*>(uintptr_t{77}));
  Reset();
  const uint64_t before = Dispatch();
  const uint64_t reached =
      trace_.Add(RecordKind::kFenceReached, kFence, BodyBytes(FenceReachedBody{3, 1}));
  const uint64_t after = Dispatch();
  const Json fence = At(before)["fences"][0];
  EXPECT_EQ(fence["object"], kFence);
  EXPECT_EQ(fence["completed"], 1);
  EXPECT_EQ(fence["known_by"], made);
  EXPECT_EQ(fence["signals"][0]["queue"]["object"], kQueue);
  EXPECT_EQ(fence["signals"][0]["value"], 3);
  EXPECT_EQ(fence["signals"][0]["call"], signal);
  EXPECT_EQ(fence["queue_waits"][0]["call"], queue_wait);
  EXPECT_EQ(fence["cpu_waits"][0]["value"], 3);
  EXPECT_EQ(fence["cpu_waits"][0]["call"], event);
  const Json later = At(after)["fences"][0];
  EXPECT_EQ(later["completed"], 3);
  EXPECT_EQ(later["known_by"], reached);
  EXPECT_EQ(later["cpu_waits"].size(), 0u);
  EXPECT_EQ(later["queue_waits"].size(), 1u);
  EXPECT_EQ(At(before)["fences"][1]["completed"], nullptr);
  EXPECT_THAT(InWords(before), HasSubstr("fence 52  completed unknown\n"));
  EXPECT_THAT(InWords(before),
              HasSubstr("fence 51  completed 1 (known by " + std::to_string(made) +
                        ")\n"
                        "  signal  3 by command queue 50 (call " +
                        std::to_string(signal) +
                        ")\n"
                        "  wait  for 4 by command queue 50 (call " +
                        std::to_string(queue_wait) + ")\n  wait  for 3 by the CPU (call " +
                        std::to_string(event) + ")\n"));
  EXPECT_THAT(InWords(after),
              HasSubstr("fence 51  completed 3 (known by " + std::to_string(reached) + ")\n"));
}

TEST_F(ListStateTest, ThePipelineAndWhatMadeIt) {
  Reset();
  const uint64_t setting =
      Call(Method::ID3D12GraphicsCommandList_SetPipelineState, kList, ObjectPointer(kPipeline));
  const uint64_t call = Dispatch();
  const Json state = At(call);
  EXPECT_EQ(state["format"], "cairn-state");
  EXPECT_EQ(state["call"]["number"], call);
  EXPECT_EQ(state["list"]["object"], kList);
  EXPECT_EQ(state["pipeline"]["object"], kPipeline);
  EXPECT_EQ(state["pipeline"]["set_by"], setting);
  EXPECT_EQ(state["pipeline"]["created_by"]["number"], creation_);
  EXPECT_EQ(state["pipeline"]["created_by"]["arguments"]["pDesc"]["pRootSignature"]["object"],
            kSignature);
  EXPECT_THAT(InWords(call), HasSubstr("pipeline  pipeline state 5"));
}

TEST_F(ListStateTest, AListHasAPipelineOrAStateObject) {
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetPipelineState, kList, ObjectPointer(kPipeline));
  const uint64_t setting =
      Call(Method::ID3D12GraphicsCommandList4_SetPipelineState1, kList, ObjectPointer(kSignature));
  const uint64_t with_state_object = Dispatch();
  Call(Method::ID3D12GraphicsCommandList_SetPipelineState, kList, ObjectPointer(kPipeline));
  const uint64_t with_pipeline = Dispatch();
  const Json rays = At(with_state_object);
  EXPECT_FALSE(rays["pipeline"].is_object());
  EXPECT_EQ(rays["state_object"]["set_by"], setting);
  const Json again = At(with_pipeline);
  EXPECT_EQ(again["pipeline"]["object"], kPipeline);
  EXPECT_FALSE(again.contains("state_object"));
}

TEST_F(ListStateTest, AProgramHasTheNameThatItsIdentifierWasGivenFor) {
  struct Program {
    uint64_t type = 5;  // a work graph
    uint64_t identifier[4] = {1, 2, 3, 4};
    uint64_t more[7] = {};
  } program;
  const uint64_t unknown[4] = {1, 2, 3, 5};
  constexpr Method kGet = Method::ID3D12StateObjectProperties1_GetProgramIdentifier;
  constexpr uint64_t kStateObject = 40;
  trace_.Object(kStateObject, Chain::kID3D12StateObject, kDevice);
  const uint64_t get = Call(kGet, kStateObject, u"Culling");
  trace_.Return(get, std::as_bytes(std::span(program.identifier)));
  Reset();
  const uint64_t setting = Call(Method::ID3D12GraphicsCommandList10_SetProgram, kList, &program);
  const uint64_t named = Dispatch();
  std::memcpy(program.identifier, unknown, sizeof(unknown));
  Call(Method::ID3D12GraphicsCommandList10_SetProgram, kList, &program);
  const uint64_t nameless = Dispatch();
  const Json state = At(named);
  EXPECT_EQ(state["program"]["set_by"], setting);
  EXPECT_EQ(state["program_name"]["set_by"], get);
  EXPECT_EQ(state["program_name"]["arguments"]["pProgramName"], "Culling");
  EXPECT_THAT(InWords(named), HasSubstr("pProgramName = \"Culling\""));
  EXPECT_FALSE(At(nameless).contains("program_name"));
}

TEST_F(ListStateTest, StateOfNewerVersionsOfLists) {
  Reset();
  Call(Method::ID3D12GraphicsCommandList_OMSetStencilRef, kList, 7);
  Call(Method::ID3D12GraphicsCommandList8_OMSetFrontAndBackStencilRef, kList, 1, 2);
  Call(Method::ID3D12GraphicsCommandList9_RSSetDepthBias, kList, 1.5f, 0.0f, 2.0f);
  const Json state = At(Dispatch());
  EXPECT_EQ(state["stencil_reference"]["arguments"]["FrontStencilRef"], 1);
  EXPECT_EQ(state["depth_bias"]["arguments"]["DepthBias"], 1.5);
}

TEST_F(ListStateTest, TablesShowTheDescriptorsBehindThem) {
  const uint64_t written = Call(Method::ID3D12Device_CreateUnorderedAccessView, kDevice,
                                ObjectPointer(kBuffer), nullptr, nullptr, uint64_t{0x20000 + 32});
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, uint64_t{0x10000 + 64},
       uint64_t{0x20000 + 32}, 0);
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, kList, ObjectPointer(kSignature));
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 1,
       uint64_t{0x90000 + 64});
  const uint32_t constants[2] = {11, 12};
  Call(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants, kList, 0, 2, constants, 4);
  const Json root = At(Dispatch())["compute"];
  EXPECT_EQ(root["root_signature"]["object"], kSignature);
  ASSERT_EQ(root["root_arguments"].size(), 2u);
  EXPECT_EQ(root["root_arguments"][0]["values"], Json::Parse("[11, 12]"));
  EXPECT_EQ(root["root_arguments"][0]["offset"], 4);
  const Json table = root["root_arguments"][1];
  EXPECT_EQ(table["kind"], "descriptor table");
  ASSERT_EQ(table["descriptors"].size(), 1u);
  EXPECT_EQ(table["descriptors"][0]["index"], 2);
  EXPECT_EQ(table["descriptors"][0]["written_by"]["number"], written);
  EXPECT_EQ(table["descriptors"][0]["written_by"]["arguments"]["pResource"]["object"], kBuffer);
}

// After the copy the table shows the unwritten descriptor, not the one that was there before.
TEST_F(ListStateTest, ACopyOfWhatNobodyWroteLeavesNothing) {
  for (const uint64_t handle : {0x10000, 0x10000 + 32, 0x10000 + 64}) {
    Call(Method::ID3D12Device_CreateUnorderedAccessView, kDevice, ObjectPointer(kBuffer), nullptr,
         nullptr, handle);
  }
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 0,
       uint64_t{0x90000});
  const uint64_t before = Dispatch();
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, uint64_t{0x10000 + 32},
       uint64_t{0x20000 + 32}, 0);
  const uint64_t after = Dispatch();
  const auto descriptors = [this](uint64_t call) {
    return At(call)["compute"]["root_arguments"][0]["descriptors"].size();
  };
  EXPECT_EQ(descriptors(before), 3u);
  EXPECT_EQ(descriptors(after), 1u);
}

TEST_F(ListStateTest, TargetsAreThoseOfTheDescriptorsWhenTheyWereSet) {
  const uint64_t handles[] = {0x10000, 0x10000 + 5 * 32};
  const uint64_t depth = 0x20000;
  const auto view = [&](uint64_t handle) {
    return Call(Method::ID3D12Device_CreateRenderTargetView, kDevice, ObjectPointer(kBuffer),
                nullptr, handle);
  };
  const auto writers = [](const Json& state) {
    std::vector<uint64_t> calls;
    for (const Json& target : state["targets"]) {
      const Json& by = target["written_by"];
      calls.push_back(by.is_null() ? 0 : by["number"].get<uint64_t>());
    }
    return calls;
  };
  const uint64_t first = view(handles[0]);
  const uint64_t second = view(handles[1]);
  Reset();
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList, 2u, handles, 0, &depth);
  view(handles[0]);  // the list has read the one before
  const uint64_t draw = Dispatch();
  // One handle, from which on they lie.
  const uint64_t third = view(0x10000 + 32);
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList, 2u, handles, 1, nullptr);
  const uint64_t with_range = Dispatch();
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList, 0u, nullptr, 0, nullptr);
  const uint64_t without = Dispatch();

  const Json state = At(draw);
  EXPECT_THAT(writers(state), ElementsAre(first, second, 0));
  EXPECT_EQ(state["targets"][0]["kind"], "render target");
  EXPECT_EQ(state["targets"][2]["kind"], "depth stencil");
  EXPECT_EQ(state["targets"][1]["written_by"]["arguments"]["pResource"]["object"], kBuffer);
  EXPECT_THAT(InWords(draw),
              HasSubstr("  target  call " + std::to_string(first) + ": CreateRenderTargetView("));
  ASSERT_EQ(writers(At(with_range)).size(), 2u);
  EXPECT_EQ(writers(At(with_range))[1], third);
  EXPECT_THAT(writers(At(without)), ElementsAre());
}

TEST_F(ListStateTest, TargetsOfAPassAreThoseOfItsBegin) {
  const uint64_t bound = 0x10000 + 32, depth_handle = 0x10000 + 2 * 32;
  const auto view = [&](uint64_t handle) {
    return Call(Method::ID3D12Device_CreateRenderTargetView, kDevice, ObjectPointer(kBuffer),
                nullptr, handle);
  };
  const uint64_t before = view(bound);
  const uint64_t of_pass = view(0x10000);
  const uint64_t of_depth = view(depth_handle);
  Reset();
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList, 1u, &bound, 0, nullptr);
  const uint64_t earlier = Dispatch();
  PassTarget target{};
  target.view = 0x10000;
  PassDepth depth{};
  depth.view = depth_handle;
  Call(Method::ID3D12GraphicsCommandList4_BeginRenderPass, kList, 1u, &target, &depth, 0u);
  const uint64_t inside = Dispatch();
  Call(Method::ID3D12GraphicsCommandList4_EndRenderPass, kList);
  const uint64_t behind = Dispatch();

  ASSERT_EQ(At(earlier)["targets"].size(), 1u);
  EXPECT_EQ(At(earlier)["targets"][0]["written_by"]["number"], before);
  const Json targets = At(inside)["targets"];
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0]["kind"], "render target");
  EXPECT_EQ(targets[0]["written_by"]["number"], of_pass);
  EXPECT_EQ(targets[1]["kind"], "depth stencil");
  EXPECT_EQ(targets[1]["written_by"]["number"], of_depth);
  // A pass leaves none bound.
  EXPECT_TRUE(At(behind)["targets"].empty());
}

// A range that no heap has takes its place among the others, and brings nothing.
TEST_F(ListStateTest, CopiesBehindAnUnknownRangeKeepTheirPartners) {
  Call(Method::ID3D12Device_CreateUnorderedAccessView, kDevice, ObjectPointer(kBuffer), nullptr,
       nullptr, uint64_t{0x10000});
  const uint64_t written = Call(Method::ID3D12Device_CreateUnorderedAccessView, kDevice,
                                ObjectPointer(kBuffer), nullptr, nullptr, uint64_t{0x20000});
  const uint64_t to[] = {0x10000};
  const uint32_t to_sizes[] = {3};
  const uint64_t from[] = {0x500000, 0x20000};
  const uint32_t from_sizes[] = {2, 1};
  Call(Method::ID3D12Device_CopyDescriptors, kDevice, 1, to, to_sizes, 2, from, from_sizes, 0);
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 0,
       uint64_t{0x90000});
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 1,
       uint64_t{0x90000 + 64});
  const Json arguments = At(Dispatch())["compute"]["root_arguments"];
  EXPECT_TRUE(arguments[0]["descriptors"].empty());
  ASSERT_EQ(arguments[1]["descriptors"].size(), 1u);
  EXPECT_EQ(arguments[1]["descriptors"][0]["written_by"]["number"], written);
}

TEST_F(ListStateTest, EveryMethodThatMakesAViewCounts) {
  const uint64_t written =
      Call(Method::ID3D12Device8_CreateSamplerFeedbackUnorderedAccessView, kDevice,
           ObjectPointer(kBuffer), ObjectPointer(kBuffer), uint64_t{0x10000});
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 0,
       uint64_t{0x90000});
  const Json table = At(Dispatch())["compute"]["root_arguments"][0];
  ASSERT_EQ(table["descriptors"].size(), 1u);
  EXPECT_EQ(table["descriptors"][0]["written_by"]["number"], written);
}

TEST_F(ListStateTest, DescriptorsEndWithTheirHeap) {
  constexpr uint64_t kLaterHeap = 20;
  Call(Method::ID3D12Device_CreateUnorderedAccessView, kDevice, ObjectPointer(kBuffer), nullptr,
       nullptr, uint64_t{0x10000});
  Call(Method::ID3D12Device_CreateUnorderedAccessView, kDevice, ObjectPointer(kBuffer), nullptr,
       nullptr, uint64_t{0x20000});
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 0,
       uint64_t{0x90000});
  const uint64_t before = Dispatch();
  trace_.ObjectEnd(kHeap);
  DescriptorHeapFacts heap{};
  heap.count = 100;
  heap.increment_bytes = 32;
  heap.cpu_start = 0x10000;
  heap.gpu_start = 0x90000;
  trace_.DescriptorHeap(kLaterHeap, kDevice, 0, heap);
  const uint64_t after = Dispatch();
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, uint64_t{0x10000}, uint64_t{0x20000},
       0);
  const uint64_t copied = Dispatch();
  const auto descriptors = [this](uint64_t call) {
    return At(call)["compute"]["root_arguments"][0]["descriptors"].size();
  };
  EXPECT_EQ(descriptors(before), 1u);
  EXPECT_EQ(descriptors(after), 0u);
  EXPECT_EQ(descriptors(copied), 1u);  // the other heap is as it was
}

TEST_F(ListStateTest, AnotherRootSignatureForgetsItsArguments) {
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature, kList,
       ObjectPointer(kSignature));
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, kList, 0,
       uint64_t{0x500});
  const uint64_t before = Dispatch();
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature, kList, ObjectPointer(77));
  const uint64_t after = Dispatch();
  EXPECT_EQ(At(before)["graphics"]["root_arguments"][0]["value"]["address"], "0x500");
  EXPECT_TRUE(At(after)["graphics"]["root_arguments"].empty());
}

TEST_F(ListStateTest, ConstantsAreReplacedOneByOne) {
  constexpr Method kConstant = Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant;
  constexpr Method kConstants = Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants;
  const auto constants = [this](uint64_t call) {
    std::vector<std::string> found;
    for (const Json& argument : At(call)["compute"]["root_arguments"]) {
      found.push_back(argument["index"].dump() + " " + argument["offset"].dump() + " " +
                      argument["values"].dump());
    }
    return found;
  };
  const uint32_t values[5] = {10, 11, 12, 13, 14};
  Reset();
  Call(kConstant, kList, 0, 9, 1);  // of another argument
  Call(kConstant, kList, 2, 9, 1);
  Call(kConstants, kList, 1, 1, values, 1);
  Call(kConstants, kList, 1, 3, values, 0);
  EXPECT_THAT(constants(Dispatch()), ElementsAre("0 1 [9]", "1 0 [10,11,12]", "2 1 [9]"));
}

TEST_F(ListStateTest, ConstantsBesideTheReplacedOnesStay) {
  constexpr Method kConstant = Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant;
  constexpr Method kConstants = Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants;
  const uint32_t values[5] = {10, 11, 12, 13, 14};
  Reset();
  const uint64_t all = Call(kConstants, kList, 1, 5, values, 2);
  const uint64_t one = Call(kConstant, kList, 1, 99, 4);
  Call(kConstants, kList, 1, 0, values, 2);  // nothing
  const uint64_t dispatch = Dispatch();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, kList, 1,
       uint64_t{0x500});
  const uint64_t later = Dispatch();
  const Json arguments = At(dispatch)["compute"]["root_arguments"];
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0]["offset"], 2);
  EXPECT_EQ(arguments[0]["values"], Json::Parse("[10, 11]"));
  EXPECT_EQ(arguments[0]["set_by"], all);
  EXPECT_EQ(arguments[1]["offset"], 4);
  EXPECT_EQ(arguments[1]["values"], Json::Parse("[99]"));
  EXPECT_EQ(arguments[1]["set_by"], one);
  EXPECT_EQ(arguments[2]["offset"], 5);
  EXPECT_EQ(arguments[2]["values"], Json::Parse("[13, 14]"));
  EXPECT_EQ(arguments[2]["set_by"], all);
  const Json view = At(later)["compute"]["root_arguments"];
  ASSERT_EQ(view.size(), 1u);
  EXPECT_EQ(view[0]["kind"], "constant buffer");
}

TEST_F(ListStateTest, AListBeginsWithThePipelineItIsMadeWith) {
  constexpr uint64_t kFresh = 30;
  void* list = nullptr;
  const uint64_t creation =
      Call(Method::ID3D12Device_CreateCommandList, kDevice, 0, 0, ObjectPointer(kAllocator),
           ObjectPointer(kPipeline), Bytes16{}, &list);
  trace_.Object(kFresh, Chain::kID3D12GraphicsCommandList, kDevice, creation);
  const uint64_t first = Call(Method::ID3D12GraphicsCommandList_Dispatch, kFresh, 1, 1, 1);
  const uint64_t reset =
      Call(Method::ID3D12GraphicsCommandList_Reset, kFresh, ObjectPointer(kAllocator), nullptr);
  const uint64_t second = Call(Method::ID3D12GraphicsCommandList_Dispatch, kFresh, 1, 1, 1);
  const Json state = At(first);
  EXPECT_EQ(state["recorded_since"], creation);
  EXPECT_EQ(state["pipeline"]["object"], kPipeline);
  EXPECT_EQ(state["pipeline"]["set_by"], creation);
  EXPECT_EQ(At(second)["recorded_since"], reset);
  EXPECT_TRUE(At(second)["pipeline"].is_null());
}

TEST_F(ListStateTest, SlotsAreReplacedOneByOneAndEndWithReset) {
  const VertexView views[2] = {{0x1000, 64, 16}, {0x2000, 32, 8}};
  Reset();
  Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, kList, 1, 2, views);
  Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, kList, 2, 1, nullptr);
  Call(Method::ID3D12GraphicsCommandList_OMSetStencilRef, kOther, 9);  // of another list
  Call(Method::ID3D12GraphicsCommandList_OMSetStencilRef, kList, 7);
  const uint64_t call = Dispatch();
  const uint64_t reset = Reset();
  const uint64_t later = Dispatch();
  const Json state = At(call);
  ASSERT_EQ(state["vertex_buffers"].size(), 1u);
  EXPECT_EQ(state["vertex_buffers"][0]["slot"], 1);
  EXPECT_EQ(state["vertex_buffers"][0]["view"]["StrideInBytes"], 16);
  EXPECT_EQ(state["stencil_reference"]["arguments"]["StencilRef"], 7);
  const Json fresh = At(later);
  EXPECT_TRUE(fresh["vertex_buffers"].empty());
  EXPECT_FALSE(fresh.contains("stencil_reference"));
  EXPECT_EQ(fresh["recorded_since"], reset);
}

TEST_F(ListStateTest, AResetThatIsRefusedEndsNothing) {
  const uint64_t reset = Reset();
  Call(Method::ID3D12GraphicsCommandList_OMSetStencilRef, kList, 7);
  const uint64_t refused = Reset();
  trace_.Gave(refused, -2147467259 /* E_FAIL */, ObjectPointer(kAllocator), nullptr);
  const Json state = At(Dispatch());
  EXPECT_EQ(state["recorded_since"], reset);
  EXPECT_EQ(state["stencil_reference"]["arguments"]["StencilRef"], 7);
}

TEST_F(ListStateTest, WhatABundleSetStaysSet) {
  const uint64_t set =
      Call(Method::ID3D12GraphicsCommandList_SetPipelineState, kOther, ObjectPointer(kPipeline));
  const VertexView views[2] = {{0x1000, 64, 16}, {0x2000, 32, 8}};
  const uint64_t buffers =
      Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, kOther, 3, 2, views);
  Reset();
  Call(Method::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kOther));
  const Json state = At(Dispatch());
  EXPECT_EQ(state["pipeline"]["object"], kPipeline);
  EXPECT_EQ(state["pipeline"]["set_by"], set);
  ASSERT_EQ(state["vertex_buffers"].size(), 2u);
  EXPECT_EQ(state["vertex_buffers"][1]["slot"], 4);
  EXPECT_EQ(state["vertex_buffers"][1]["set_by"], buffers);
  EXPECT_EQ(state["vertex_buffers"][1]["view"]["StrideInBytes"], 8);
}

TEST_F(ListStateTest, NamesAreThoseAtTheCall) {
  Reset();
  Call(Method::ID3D12GraphicsCommandList_SetPredication, kList, ObjectPointer(kBuffer), uint64_t{0},
       0);
  Call(Method::ID3D12Object_SetName, kBuffer, u"Visible");
  EXPECT_THAT(InWords(Dispatch()), HasSubstr("pBuffer = resource 7 \"Visible\""));
}

TEST_F(ListStateTest, EqualElementsAreCountedInWords) {
  Reset();
  const int32_t rectangles[3][4] = {{0, 0, 8, 8}, {0, 0, 8, 8}, {0, 0, 4, 4}};
  Call(Method::ID3D12GraphicsCommandList_RSSetScissorRects, kList, 3, &rectangles[0]);
  EXPECT_THAT(
      InWords(Dispatch()),
      HasSubstr("[{left = 0, top = 0, right = 8, bottom = 8} (2 times), {left = 0, top = 0, "
                "right = 4, bottom = 4}]"));
}

TEST_F(ListStateTest, OtherCallsHaveNone) {
  TraceReader trace = trace_.Open();
  EXPECT_THAT(ListStateAt(trace, creation_).status().message(),
              HasSubstr("which no command list records"));
  EXPECT_THAT(ListStateAt(trace, 1).status().message(), HasSubstr("there is no call 1"));
  EXPECT_EQ(ListStateAt(trace, 100'000).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn::cli
