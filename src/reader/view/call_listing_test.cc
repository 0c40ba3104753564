// SPDX-License-Identifier: Apache-2.0
//
// Tests `cairn calls` with traces that a test writes down.
#include "reader/view/call_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/calls/call_builder.h"
#include "format/calls/import_facts.h"
#include "format/trace/testing/test_trace.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kDevice = 1, kList = 2, kQueue = 3, kFence = 4, kOtherList = 5, kBuffer = 7;

class Calls : public testing::Test {
 protected:
  struct IID {
    uint8_t bytes[16];
  };

  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t object, const Arguments&... arguments) {
    const CallBuilder::Body body = builder_.Call(method, arguments...);
    EXPECT_TRUE(body.ok);
    return trace_.Call(method, object, body.bytes);
  }
  uint64_t Draw(uint64_t list, uint32_t vertices) {
    return Call(Method::ID3D12GraphicsCommandList_DrawInstanced, list, vertices, 1, 0, 0);
  }
  template <typename... Arguments>
  void Return(Method method, uint64_t call, const Arguments&... arguments) {
    CallBuilder::Body body = builder_.Result(method, call, arguments...);
    EXPECT_TRUE(body.ok);
    trace_.Return(call, std::span<const std::byte>(body.bytes).subspan(sizeof(ResultBody)));
  }
  uint64_t CreateFence() {
    return Call(Method::ID3D12Device_CreateFence, kDevice, 0, 0, IID{}, &no_fence_);
  }
  void ReturnFence(uint64_t call, int32_t result) {
    Return(Method::ID3D12Device_CreateFence, call, result, 0, 0, IID{}, &no_fence_);
  }
  void Submit(uint64_t list) {
    void* const lists[] = {ObjectPointer(list)};
    Call(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, 1, lists);
  }
  // Two frames: a named list with draws, another list, a fence.
  void Record() {
    trace_.Object(kDevice, Chain::kID3D12Device, kDevice);
    trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
    trace_.Object(kOtherList, Chain::kID3D12GraphicsCommandList, kDevice);
    trace_.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
    const uint64_t naming = Call(Method::ID3D12Object_SetName, kList, u"Main");
    Return(Method::ID3D12Object_SetName, naming, 0, u"Main");
    first_draw_ = Draw(kList, 3);
    Draw(kOtherList, 4);
    Submit(kList);
    trace_.Frame();
    const IID fence_iid = {};
    void* fence = ObjectPointer(kFence);
    const uint64_t creation =
        Call(Method::ID3D12Device_CreateFence, kDevice, 0, 0, fence_iid, &fence);
    trace_.thread = 1;
    second_draw_ = Draw(kList, 5);
    trace_.thread = 0;
    trace_.Object(kFence, Chain::kID3D12Fence, kDevice, creation);
    trace_.Call(Method::ID3D12Device_CreateFence, kDevice);  // for what Return says of its method
    Submit(kOtherList);
    trace_.Frame();
  }

  std::vector<std::string> List(GpuStates gpu = {}) {
    TraceReader trace = trace_.Open();
    std::string text;
    const Result<ListedCalls> listed =
        ListCalls(trace, options_, gpu, [&text](std::string_view piece) {
          text += piece;
          return true;
        });
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::vector<std::string> lines;
    for (size_t start = 0; start < text.size();) {
      const size_t end = text.find('\n', start);
      lines.push_back(text.substr(start, end - start));
      start = end + 1;
    }
    return lines;
  }
  Status Failure() {
    TraceReader trace = trace_.Open();
    return ListCalls(trace, options_, {}, [](std::string_view) { return true; }).status();
  }

  TestTrace trace_;
  CallBuilder builder_;
  CallListingOptions options_;
  uint64_t first_draw_ = 0;
  uint64_t second_draw_ = 0;
  void* no_fence_ = nullptr;
};

TEST_F(Calls, AreListedWithNamesResultsAndFrames) {
  Record();
  const std::vector<std::string> lines = List();
  EXPECT_THAT(lines[0], HasSubstr("SetName(Name = \"Main\") = S_OK"));
  EXPECT_THAT(lines[1], HasSubstr("command list 2 \"Main\"  DrawInstanced("
                                  "VertexCountPerInstance = 3, InstanceCount = 1"));
  EXPECT_THAT(lines[4], HasSubstr("---- end of frame 0 (present)"));
}

TEST_F(Calls, ObjectsThatTheProgramOpenedHaveALine) {
  trace_.Object(kFence, Chain::kID3D12Fence, kDevice);
  const ObjectBody body = {kDevice, 3, static_cast<uint32_t>(Chain::kID3D12Fence), kImportFacts};
  trace_.Add(RecordKind::kObject, 9,
             BodyBytes(body, BodyBytes(ImportFacts{.source = 3, .place = 0x54, .original = 4})));
  EXPECT_THAT(List(), ElementsAre(EndsWith("fence 9 came to be, made by call 3, opened from "
                                           "handle 0x54: fence 4")));
  options_.json = true;
  const Json line = Json::Parse(List()[0]);
  EXPECT_EQ(line["opened"], "opened from handle 0x54");
  EXPECT_EQ(line["opened_object"], 4);
  options_.json = false;
  options_.filter.object = 9;
  EXPECT_EQ(List().size(), 1u);
  options_.filter.object = kFence;
  EXPECT_EQ(List().size(), 0u);
}

TEST_F(Calls, AnnotationsHaveTheirText) {
  trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
  const char text[] = "Shadow\x1b";
  Call(Method::ID3D12GraphicsCommandList_BeginEvent, kList, 1, text, sizeof(text));
  EXPECT_THAT(List(), ElementsAre(HasSubstr("Size = 8)  \"Shadow\\x1b\"")));
  options_.json = true;
  EXPECT_EQ(Json::Parse(List()[0])["annotation"], "Shadow\\x1b");
}

TEST_F(Calls, ShaderTablesAreCounted) {
  trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
  struct {  // D3D12_DISPATCH_RAYS_DESC
    uint64_t ray_generation[2] = {0x1000, 32};
    uint64_t miss[3] = {0x2000, 96, 64};
    uint64_t hit_group[3] = {0x3000, ~uint64_t{0}, 32};  // as a damaged file may say
    uint64_t callable[3] = {0, 0, 0};
    uint32_t size[4] = {64, 64, 1, 0};
  } desc;
  Call(Method::ID3D12GraphicsCommandList4_DispatchRays, kList, &desc);
  EXPECT_THAT(List(), ElementsAre(EndsWith("  records: 2 miss, 576,460,752,303,423,487 hit group, "
                                           "0 callable")));
  options_.json = true;
  const Json line = Json::Parse(List()[0]);
  EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/calls.schema.json"),
                            line.With("/arguments", Json::Parse("{}"))),
            "");
  EXPECT_EQ(line["records"]["miss"], 2);
  EXPECT_EQ(line["records"]["callable"], 0);
}

TEST_F(Calls, OfAFrameAndOfAFunction) {
  Record();
  options_.filter.function = "drawinstanced";
  EXPECT_EQ(List().size(), 3u);
  options_.filter.first_frame = options_.filter.last_frame = 1;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("VertexCountPerInstance = 5")));
  options_.names = false;  // goes to the frame directly
  EXPECT_THAT(List(), ElementsAre(HasSubstr("object 2  DrawInstanced(VertexCountPerInstance = 5")));
}

TEST_F(Calls, OfAThread) {
  Record();
  options_.filter.thread = 1;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("VertexCountPerInstance = 5")));
}

TEST_F(Calls, OfAnObjectThatIsCalledOrPassed) {
  Record();
  options_.filter.object = kOtherList;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("VertexCountPerInstance = 4"),
                                  HasSubstr("ExecuteCommandLists(")));
  options_.filter.object.reset();
  options_.filter.object_name = "Main";
  EXPECT_THAT(List(), ElementsAre(HasSubstr("SetName("), HasSubstr("VertexCountPerInstance = 3"),
                                  HasSubstr("ExecuteCommandLists("),
                                  HasSubstr("VertexCountPerInstance = 5")));
}

TEST_F(Calls, OfASubmissionAreThoseOfItsListsAndItself) {
  Record();
  options_.filter.submission = 2;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("VertexCountPerInstance = 4"),
                                  HasSubstr("ExecuteCommandLists(")));
  options_.filter.submission = 3;
  EXPECT_EQ(Failure().code(), StatusCode::kInvalidArgument);
}

TEST_F(Calls, OfASubmissionAlsoThoseBeforeAResetThatWasRefused) {
  Draw(kList, 3);
  const uint64_t reset =
      Call(Method::ID3D12GraphicsCommandList_Reset, kList, ObjectPointer(9), nullptr);
  Return(Method::ID3D12GraphicsCommandList_Reset, reset, -2147467259 /* E_FAIL */, ObjectPointer(9),
         nullptr);
  Submit(kList);
  options_.filter.submission = 1;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("VertexCountPerInstance = 3"),
                                  HasSubstr("ExecuteCommandLists(")));
}

TEST_F(Calls, AroundOneAreCountedOnBothSides) {
  Record();
  options_.filter.around = first_draw_;
  options_.filter.context = 1;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("  SetName("), HasSubstr("DrawInstanced("),
                                  HasSubstr("VertexCountPerInstance = 4")));
  EXPECT_EQ(List()[1].substr(0, 2), "> ");
  options_.filter.context = 0;
  EXPECT_EQ(List().size(), 1u);
  options_.filter.around = 100'000;
  EXPECT_EQ(Failure().code(), StatusCode::kInvalidArgument);
}

TEST_F(Calls, AroundOneThatIsNoneAreNotListed) {
  Record();
  std::string printed;
  const auto failure = [&](uint64_t around) {
    options_.filter.around = around;
    TraceReader trace = trace_.Open();
    return ListCalls(trace, options_, {},
                     [&](std::string_view text) {
                       printed += text;
                       return true;
                     })
        .status()
        .message();
  };
  for (const bool json : {true, false}) {
    options_.json = json;
    EXPECT_EQ(failure(0), "there is no call or other record 0; the next is 1");
    EXPECT_EQ(failure(77), "there is no call or other record 77; the last record is " +
                               std::to_string(trace_.number));
    EXPECT_EQ(printed, "");
  }
  options_.filter.thread = 1;
  EXPECT_EQ(failure(first_draw_), "the other options leave call " + std::to_string(first_draw_) +
                                      " out, which is of frame 0 and thread 0: "
                                      "ID3D12GraphicsCommandList::DrawInstanced; say --around " +
                                      std::to_string(first_draw_) + " without them");
  EXPECT_EQ(printed, "");
}

// A replay names the record that differs, which may be a read-back, or what memory held.
TEST_F(Calls, AroundAnyRecordAreThoseNearIt) {
  Record();
  trace_.Resource(kBuffer, kDevice, 0, {});
  const uint64_t before = Draw(kList, 7);
  ReadbackBody body{};
  body.row_count = 1;
  body.row_bytes = 16;
  body.fence = kFence;
  body.fence_value = 3;
  const uint64_t readback = trace_.Add(RecordKind::kReadback, kBuffer, BodyBytes(body));
  const uint64_t after = Draw(kList, 8);
  Draw(kList, 9);
  options_.filter.around = readback;
  options_.filter.context = 1;
  for (const bool names : {true, false}) {
    options_.names = names;
    const std::vector<std::string> lines = List();
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[0], HasSubstr(std::to_string(before) + "  t0 "));
    EXPECT_THAT(lines[1], testing::StartsWith("> "));
    EXPECT_THAT(lines[1], HasSubstr("the GPU wrote into "));
    EXPECT_THAT(lines[1], HasSubstr("1 row of 16 bytes"));
    EXPECT_THAT(lines[2], HasSubstr(std::to_string(after) + "  t0 "));
  }
  options_.json = true;
  const Json line = Json::Parse(List().at(1));
  EXPECT_EQ(line["kind"], "readback");
  EXPECT_EQ(line["number"], readback);
  EXPECT_EQ(line["object"], kBuffer);
  EXPECT_EQ(line["around"], true);
  // Any record may be the one that others are wanted around.
  for (uint64_t number = 1; number <= trace_.number; ++number) {
    options_.filter.around = number;
    const std::vector<std::string> lines = List();
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const std::string& text) {
      const Json found = Json::Parse(text);
      return found["number"] == number && found.value("around", false).get<bool>();
    })) << number;
  }
  options_.filter.first_frame = options_.filter.last_frame = 0;
  options_.filter.around = readback;
  EXPECT_EQ(Failure().message(), "the other options leave record " + std::to_string(readback) +
                                     " out, which is of frame 2");
}

TEST_F(Calls, WhatAResourceHoldsIsItsHash) {
  Record();
  trace_.Resource(kBuffer, kDevice, 0, {});
  const uint64_t hash =
      trace_.Add(RecordKind::kResourceHash, kBuffer, BodyBytes(ResourceHashBody{3, 0, 4096, 1, 2}));
  options_.filter.around = hash;
  options_.filter.context = 0;
  EXPECT_THAT(
      List().at(0),
      HasSubstr(" holds, subresource 3: 4,096 bytes, hash 00000000000000020000000000000001"));
  options_.json = true;
  const Json line = Json::Parse(List().at(0));
  EXPECT_EQ(line["kind"], "resource_hash");
  EXPECT_EQ(line["subresource"], 3);
  EXPECT_EQ(line["bytes"], 4096);
  EXPECT_EQ(line["hash"], "00000000000000020000000000000001");
}

TEST_F(Calls, ReachedFencesHaveTheirValue) {
  Record();
  constexpr uint64_t kWaitedFor = 4242;
  trace_.Object(kWaitedFor, Chain::kID3D12Fence, kDevice);
  const uint64_t seen =
      trace_.Add(RecordKind::kFenceReached, kWaitedFor, BodyBytes(FenceReachedBody{7, 1}));
  const uint64_t unseen =
      trace_.Add(RecordKind::kFenceReached, kWaitedFor, BodyBytes(FenceReachedBody{8, 0}));
  options_.filter.context = 0;
  options_.filter.around = seen;
  EXPECT_THAT(List().at(0), HasSubstr("fence 4242 reached 7, which an event waited for"));
  options_.filter.around = unseen;
  EXPECT_THAT(List().at(0), HasSubstr("fence 4242 is taken to have reached 8"));
  options_.json = true;
  const Json line = Json::Parse(List().at(0));
  EXPECT_EQ(line["kind"], "fence_reached");
  EXPECT_EQ(line["value"], 8);
  EXPECT_EQ(line["seen"], false);
}

TEST_F(Calls, DevicesSayWhichAdapterTheyAreOf) {
  Record();
  std::vector<std::byte> facts = BodyBytes(DeviceBody{}, BodyBytes(uint32_t{4}));
  for (const char letter : {'A', '7', '0', '0'}) facts.push_back(std::byte(letter));
  facts.resize(facts.size() + 2 * sizeof(uint32_t));  // two empty texts
  const uint64_t earlier = trace_.Add(RecordKind::kDevice, kDevice, facts);
  const auto luid = BodyBytes(uint64_t{0x12345});
  facts.insert(facts.end(), luid.begin(), luid.end());
  const uint64_t device = trace_.Add(RecordKind::kDevice, kDevice, facts);
  const auto place = BodyBytes(uint32_t{1});  // the first
  facts.insert(facts.end(), place.begin(), place.end());
  const uint64_t later = trace_.Add(RecordKind::kDevice, kDevice, facts);
  options_.filter.context = 0;
  options_.filter.around = earlier;
  EXPECT_THAT(List().at(0), EndsWith("facts about device 1: A700"));
  options_.filter.around = device;
  EXPECT_THAT(List().at(0),
              EndsWith("facts about device 1: A700, adapter LUID 0x0000000000012345"));
  options_.json = true;
  const Json line = Json::Parse(List().at(0));
  EXPECT_EQ(line["kind"], "device");
  EXPECT_EQ(line["gpu_name"], "A700");
  EXPECT_EQ(line["adapter_luid"], "0x0000000000012345");
  EXPECT_FALSE(line.contains("adapter"));
  options_.json = false;
  options_.filter.around = later;
  EXPECT_THAT(List().at(0),
              EndsWith("facts about device 1: A700, adapter 0, LUID 0x0000000000012345"));
}

TEST_F(Calls, StructuresHaveTheirStepAndInputs) {
  Record();
  trace_.Resource(kBuffer, kDevice, 0, {});
  StructureBody body = {};
  body.offset_bytes = 512;
  body.step = static_cast<uint32_t>(StructureStep::kUpdate);
  const std::vector<std::byte> inputs(48);
  trace_.Add(RecordKind::kStructure, kBuffer, BodyBytes(body, BodyBytes(uint32_t{48}, inputs)));
  options_.filter.object = kBuffer;
  EXPECT_THAT(
      List().at(0),
      HasSubstr("resource 7 held an acceleration structure at offset 512, updated: 48 bytes"));
  options_.json = true;
  const Json line = Json::Parse(List().at(0));
  EXPECT_EQ(line["kind"], "structure");
  EXPECT_EQ(line["step"], "updated");
  EXPECT_EQ(line["offset"], 512);
}

TEST_F(Calls, WritesIntoMappedMemoryAreNamedAndShown) {
  Record();
  trace_.Resource(kBuffer, kDevice, 0, {});
  const std::vector<std::byte> data = {std::byte{0xca}, std::byte{0xfe}, std::byte{0x01}};
  const MemoryBody place{2, 0, 256};
  std::vector<std::byte> inline_bytes = BodyBytes(uint32_t{3}, data);
  const uint64_t first = trace_.Add(RecordKind::kMemory, kBuffer, BodyBytes(place, inline_bytes));
  // Longer ones lie in blobs.
  const std::vector<std::byte> longer(5000, std::byte{0x5a});
  const uint64_t blob = trace_.Blob(longer);
  struct __attribute__((packed)) InBlobs {
    uint32_t mark = kBytesInBlobs;
    uint64_t size = 5000;
    uint32_t parts = 1;
    uint64_t number;
  } const in_blobs{.number = blob};
  trace_.Add(RecordKind::kMemory, kBuffer, BodyBytes(place, BodyBytes(in_blobs)));
  options_.filter.object = kBuffer;
  std::vector<std::string> lines = List();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], testing::EndsWith("---- the program wrote into resource 7, "
                                          "subresource 2, at offset 256: 3 bytes"));
  EXPECT_THAT(lines[1], testing::EndsWith(": 5,000 bytes"));
  options_.whole = true;
  lines = List();
  EXPECT_THAT(lines[0], testing::EndsWith(": <3 bytes: ca fe 01>"));
  EXPECT_THAT(lines[1], HasSubstr("<5,000 bytes: 5a 5a 5a "));
  options_.json = true;
  Json line = Json::Parse(List().at(0));
  EXPECT_EQ(line["kind"], "write");
  EXPECT_EQ(line["number"], first);
  EXPECT_EQ(line["frame"], 2);
  EXPECT_EQ(line["object"], kBuffer);
  EXPECT_EQ(line["subresource"], 2);
  EXPECT_EQ(line["offset"], 256);
  EXPECT_EQ(line["bytes"], 3);
  EXPECT_EQ(line["hex"], "cafe01");
  options_.whole = false;
  line = Json::Parse(List().at(1));
  EXPECT_EQ(line["bytes"], 5000);
  EXPECT_FALSE(line.contains("hex"));
  // These records are listed among the calls, but not if a function or a thread is wanted.
  options_.filter = {};
  EXPECT_EQ(List().size(), 12u);
  options_.filter.function = "Draw";
  EXPECT_EQ(List().size(), 3u);
}

TEST_F(Calls, WritesThatAreDamagedSaySo) {
  Record();
  const uint64_t write = trace_.Add(RecordKind::kMemory, kList, {});
  options_.filter.object = kList;
  EXPECT_THAT(List().back(), testing::EndsWith("---- <the record is too short>"));
  options_.json = true;
  const Json line = Json::Parse(List().back());
  EXPECT_EQ(line["number"], write);
  EXPECT_EQ(line["problem"], "the record is too short");
}

// Bytes of a call that JSON has only a hash of otherwise.
TEST_F(Calls, WholeJsonHasTheBytes) {
  Record();
  const char text[] = "Shadow";
  Call(Method::ID3D12GraphicsCommandList_BeginEvent, kList, 1, text, sizeof(text));
  options_.json = options_.whole = true;
  options_.filter.function = "BeginEvent";
  EXPECT_EQ(Json::Parse(List().at(0))["arguments"]["pData"]["hex"], "536861646f7700");
}

// However far away the calls are that pass the other options.
TEST_F(Calls, AroundOneWithoutNamesAreAsManyAsWithThem) {
  Record();
  for (int i = 0; i < 3'000; ++i) Draw(kOtherList, 4);
  options_.filter.around = Draw(kList, 6);
  options_.filter.object = kList;
  options_.names = false;
  options_.filter.context = 2;
  EXPECT_THAT(List(), ElementsAre(HasSubstr("ExecuteCommandLists("),
                                  HasSubstr("VertexCountPerInstance = 5"),
                                  HasSubstr("VertexCountPerInstance = 6")));
  options_.filter.context = 100;  // more than there are
  EXPECT_EQ(List().size(), 5u);
  options_.filter.object.reset();
  EXPECT_EQ(List().size(), 101u);
}

TEST_F(Calls, ThatNeverReturnedSaySo) {
  Record();
  options_.filter.function = "CreateFence";
  EXPECT_THAT(List()[0], HasSubstr("never returned"));
  options_.json = true;
  EXPECT_FALSE(Json::Parse(List()[0])["returned"].get<bool>());
}

TEST_F(Calls, UnreturnedCallsWithoutResultAreKnownFromTheThreads) {
  Record();
  TraceThread thread;
  thread.index = 1;
  thread.unreturned_call = second_draw_;
  trace_.Finish(std::vector<TraceThread>{thread});
  options_.filter.function = "DrawInstanced";
  EXPECT_THAT(List(), ElementsAre(Not(HasSubstr("never returned")),
                                  Not(HasSubstr("never returned")), HasSubstr("never returned")));
}

// More calls than may wait for the result of one: it is printed without.
TEST_F(Calls, UnreturnedCallsSaySoHoweverManyCallsFollow) {
  Record();
  const uint64_t creation = CreateFence();
  for (int i = 0; i < 5'000; ++i) Draw(kOtherList, 4);
  TraceThread thread;
  thread.unreturned_call = creation;
  trace_.Finish(std::vector<TraceThread>{thread});
  std::vector<std::string> lines = List();
  const auto is_creation = [&](const std::string& line) {
    return line.find(std::to_string(creation) + "  t0 ") != std::string::npos;
  };
  const auto line = std::find_if(lines.begin(), lines.end(), is_creation);
  ASSERT_NE(line, lines.end());
  EXPECT_THAT(*line, testing::EndsWith("  -- never returned"));
  EXPECT_THAT(lines.back(), Not(HasSubstr("never returned")));
  // The listing ends long before the trace.
  options_.filter.around = creation;
  options_.filter.context = 0;
  EXPECT_THAT(List(), ElementsAre(testing::EndsWith("  -- never returned")));
  options_.json = true;
  EXPECT_FALSE(Json::Parse(List().at(0))["returned"].get<bool>());
}

TEST_F(Calls, ResultsFindTheirCallsInAnyOrder) {
  Record();
  const uint64_t first = CreateFence();
  const uint64_t second = CreateFence();
  ReturnFence(second, 0);
  Return(Method::ID3D12Device_CreateFence, 1, int32_t{0}, 0, 0, IID{}, &no_fence_);  // of no line
  ReturnFence(first, -2147024809);
  options_.filter.function = "CreateFence";
  options_.filter.thread = 0;
  const std::vector<std::string> lines = List();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[2], HasSubstr("= E_INVALIDARG"));
  EXPECT_THAT(lines[3], HasSubstr("= S_OK"));
}

TEST_F(Calls, FramesAreCountedAsTheProgramDoes) {
  trace_.frame = 500;
  Record();
  options_.filter.function = "drawinstanced";
  options_.filter.first_frame = options_.filter.last_frame = 501;
  for (const bool names : {true, false}) {
    options_.names = names;
    EXPECT_THAT(List(), ElementsAre(HasSubstr("VertexCountPerInstance = 5")));
  }
  options_.json = true;
  EXPECT_EQ(Json::Parse(List().at(0))["frame"], 501);
  options_.filter.first_frame = options_.filter.last_frame = 1;
  EXPECT_EQ(Failure().message(), "there is no frame 1: the trace has frames 500 to 501");
}

TEST_F(Calls, AsJsonAreOneObjectALine) {
  Record();
  options_.json = true;
  options_.filter.function = "SetName";
  const Json call = Json::Parse(List().at(0));
  EXPECT_EQ(call["kind"], "call");
  EXPECT_EQ(call["frame"], 0);
  EXPECT_EQ(call["object"], kList);
  EXPECT_EQ(call["method"], "ID3D12Object::SetName");
  EXPECT_EQ(call["arguments"]["Name"], "Main");
  EXPECT_EQ(call["result"]["result"], "S_OK");
}

TEST_F(Calls, WhereARecordingBeginsAndEnds) {
  trace_.Add(RecordKind::kStart, 0, {});
  Draw(kList, 3);
  trace_.Add(RecordKind::kStop, 0, {});
  EXPECT_THAT(List(), ElementsAre(HasSubstr("the recording begins"), HasSubstr("DrawInstanced"),
                                  HasSubstr("the recording ended")));
  options_.json = true;
  const std::vector<std::string> lines = List();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(Json::Parse(lines[0]), Json::Parse(R"({"kind": "start", "number": 1})"));
  EXPECT_EQ(Json::Parse(lines[2]), Json::Parse(R"({"kind": "stop", "number": 3})"));
}

TEST_F(Calls, AsJsonFollowTheirSchema) {
  trace_.Add(RecordKind::kStart, 0, {});
  Record();
  trace_.Note(NoteKind::kTracking, "comparison");
  trace_.Add(RecordKind::kMemory, kList, BodyBytes(MemoryBody{}, BodyBytes(uint32_t{0})));
  trace_.Add(RecordKind::kContents, kList, BodyBytes(ContentsBody{}, BodyBytes(uint32_t{0})));
  trace_.Add(RecordKind::kStop, 0, {});
  options_.json = true;
  options_.whole = true;
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/calls.schema.json");
  const auto check = [&] {
    for (const std::string& line : List()) {
      Json parsed = Json::Parse(line);
      for (const char* key : {"arguments", "result"}) {  // whose values have no schema
        if (!parsed.value(key, nullptr).is_object()) continue;
        parsed = parsed.With(std::string("/") + key, Json::Parse("{}"));
      }
      EXPECT_EQ(SchemaViolation(schema, parsed), "") << line;
    }
  };
  check();
  for (uint64_t number = 1; number <= trace_.number; ++number) {
    options_.filter.around = number;
    options_.filter.context = 0;
    check();
  }
}

TEST_F(Calls, OfACrashHaveTheStateOfTheirWork) {
  Record();
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW_INSTANCED);
  builder.Scope(CAIRN_MARKER_DRAW_INSTANCED);
  builder.EndList();
  builder.Submit(queue, list);
  Snapshot& snapshot = builder.snapshot;
  snapshot.events[0].call = first_draw_;
  snapshot.events[2].call = second_draw_;
  snapshot.recordings[list].reached = 3;
  snapshot.recordings[list].passed = 2;
  options_.filter.function = "DrawInstanced";
  const std::vector<std::string> lines = List(GpuStates(snapshot, Analyse(snapshot)));
  EXPECT_EQ(lines[0].substr(0, 4), "[X] ");
  EXPECT_EQ(lines[1].substr(0, 4), "    ");
  EXPECT_EQ(lines[2].substr(0, 4), "[>] ");
  options_.json = true;
  const Json json = Json::Parse(List(GpuStates(snapshot, Analyse(snapshot)))[0]);
  EXPECT_EQ(json["state"], "completed");
  EXPECT_EQ(json["gpu"], "done") << "the word of before";
}

TEST_F(Calls, BeyondFourBillionHaveTheStateOfTheirOwn) {
  SnapshotBuilder builder;
  const uint32_t queue = builder.AddQueue();
  const uint32_t list = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW_INSTANCED);
  builder.EndList();
  builder.Submit(queue, list);
  constexpr uint64_t kRound = uint64_t{1} << 32;
  builder.snapshot.events[0].call = kRound + 7;
  const GpuStates states(builder.snapshot, Analyse(builder.snapshot));
  EXPECT_TRUE(states.Find(kRound + 7).has_value());
  EXPECT_FALSE(states.Find(7).has_value());
  EXPECT_FALSE(states.Find(2 * kRound + 7).has_value());
  EXPECT_FALSE(states.Find(kRound + 8).has_value());
}

TEST_F(Calls, ThatAreDamagedAreCountedAndDoNotEndTheList) {
  trace_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
  trace_.Call(Method::ID3D12GraphicsCommandList_DrawInstanced, kList);
  Draw(kList, 3);
  TraceReader trace = trace_.Open();
  std::string text;
  const Result<ListedCalls> listed = ListCalls(trace, options_, {}, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->damaged, 1u);
  EXPECT_EQ(listed->calls, 2u);
  EXPECT_THAT(listed->first_damage, HasSubstr("VertexCountPerInstance: the record is too short"));
  EXPECT_THAT(text, HasSubstr("VertexCountPerInstance = 3"));
}

TEST_F(Calls, WhoseResultIsDamagedSaySo) {
  trace_.Object(kDevice, Chain::kID3D12Device, kDevice);
  const uint64_t creation = CreateFence();
  trace_.Return(creation);
  EXPECT_THAT(List(), ElementsAre(testing::EndsWith(" = <result: the record is too short>")));
  options_.json = true;
  const Json call = Json::Parse(List().at(0));
  EXPECT_TRUE(call["result"].is_null());
  EXPECT_TRUE(call["arguments"].is_object());
  EXPECT_EQ(call["problem"], "result: the record is too short");
}

TEST_F(Calls, OfAnObjectOrAThreadThatIsNotThereAreAnError) {
  Record();
  options_.filter.object = 99'999;
  EXPECT_EQ(Failure().message(),
            "there is no object 99999; cairn objects lists those that there are");
  options_.filter.object.reset();
  options_.filter.object_name = "Nonexist";
  EXPECT_EQ(Failure().message(),
            "there is no object named 'Nonexist'; cairn objects lists those that there are");
  options_.filter.object_name.clear();
  options_.filter.thread = 99;
  EXPECT_EQ(Failure().message(), "there is no thread 99; the last is 1");
  // An object or thread without such a call is no error.
  options_.filter.thread = 1;
  options_.filter.function = "CreateFence";
  EXPECT_TRUE(Failure().ok());
  options_.filter.thread.reset();
  options_.filter.object_name = "Main";
  EXPECT_TRUE(Failure().ok());
  options_.filter.object_name.clear();
  options_.filter.object = kFence;
  options_.filter.last_frame = options_.filter.first_frame = 0;  // it comes later
  EXPECT_TRUE(Failure().ok());
}

TEST_F(Calls, WhatDoesNotExistIsSaid) {
  Record();
  options_.filter.function = "Frobnicate";
  EXPECT_THAT(Failure().message(), HasSubstr("no method's name contains 'Frobnicate'"));
  options_.filter.function.clear();
  options_.filter.first_frame = 77;
  EXPECT_THAT(Failure().message(), HasSubstr("there is no frame 77"));
}

}  // namespace
}  // namespace cairn::cli
