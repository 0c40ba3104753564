// SPDX-License-Identifier: Apache-2.0
//
// From traces to what can be left out, to the names of culprits, and to the minimal trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "format/calls/record.h"
#include "format/trace/testing/test_trace.h"
#include "os/child.h"
#include "os/this_process.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/bisect/call_roles.h"
#include "reader/bisect/minimal_trace.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/testing/deaths.h"
#include "reader/bisect/trace_probe.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kDevice = 1;
constexpr uint64_t kQueue = 2;
constexpr uint64_t kMain = 3;
constexpr uint64_t kShadow = 4;
constexpr uint64_t kAllocator = 5;
constexpr uint64_t kPipeline = 6;

// A program of two lists: `kMain` is recorded twice and executed three times.
struct TwoLists {
  TestTrace test;
  uint64_t first_dispatch = 0;
  uint64_t second_dispatch = 0;
  uint64_t shadow_draw = 0;
  uint64_t late_dispatch = 0;
  std::vector<uint64_t> submissions;
  std::vector<uint64_t> states;  // of lists, in order

  TwoLists() {
    test.Object(kDevice, Chain::kID3D12Device, kDevice);
    test.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
    test.Object(kMain, Chain::kID3D12GraphicsCommandList, kDevice);
    test.Object(kShadow, Chain::kID3D12GraphicsCommandList, kDevice);
    test.Object(kPipeline, Chain::kID3D12PipelineState, kDevice);
    Name(kMain, u"Main");
    Name(kPipeline, u"Integrate");

    Event(kMain, "Frame");
    Event(kMain, "Prepare");
    first_dispatch = Dispatch(kMain, 1);
    test.Make(Method::ID3D12GraphicsCommandList_EndEvent, kMain);
    Event(kMain, "Simulate");
    states.push_back(test.Make(Method::ID3D12GraphicsCommandList_SetPipelineState, kMain,
                               ObjectPointer(kPipeline)));
    second_dispatch = Dispatch(kMain, 7);
    Close(kMain);
    shadow_draw = test.Make(Method::ID3D12GraphicsCommandList_DrawInstanced, kShadow, 3, 1, 0, 0);
    Close(kShadow);
    Execute({kMain, kShadow});
    test.Frame();
    Execute({kMain});
    test.Frame();
    test.Make(Method::ID3D12GraphicsCommandList_Reset, kMain, ObjectPointer(kAllocator), nullptr);
    late_dispatch = Dispatch(kMain, 9);
    Close(kMain);
    Execute({kMain});
    test.Frame();
    EXPECT_TRUE(test.status().ok()) << test.status().message();
  }

  void Name(uint64_t object, const char16_t* name) {
    test.Make(Method::ID3D12Object_SetName, object, name);
  }
  void Event(uint64_t list, const char* text) {
    states.push_back(test.Make(Method::ID3D12GraphicsCommandList_BeginEvent, list, 1, text,
                               std::strlen(text) + 1));
  }
  uint64_t Dispatch(uint64_t list, uint32_t x) {
    return test.Make(Method::ID3D12GraphicsCommandList_Dispatch, list, x, 1, 1);
  }
  void Close(uint64_t list) {
    const uint64_t call = test.Make(Method::ID3D12GraphicsCommandList_Close, list);
    test.Gave(call, 0);
  }
  void Execute(std::vector<uint64_t> lists) {
    submissions.push_back(test.Make(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue,
                                    lists.size(), lists.data()));
  }
};

BisectTree Read(TraceReader& trace) {
  Result<BisectTree> tree = ReadBisectTree(&trace);
  EXPECT_TRUE(tree.ok()) << tree.status().message();
  return tree.ok() ? *tree : BisectTree{};
}

TEST(ListCalls, WorkCanBeLeftOut) {
  for (const Method method : {Method::ID3D12GraphicsCommandList_Dispatch,
                              Method::ID3D12GraphicsCommandList_DrawIndexedInstanced,
                              Method::ID3D12GraphicsCommandList_CopyResource,
                              Method::ID3D12GraphicsCommandList_ExecuteBundle,
                              Method::ID3D12GraphicsCommandList_ExecuteIndirect,
                              Method::ID3D12GraphicsCommandList4_DispatchRays}) {
    EXPECT_TRUE(CanBeLeftOut(method)) << Describe(method).name;
  }
  for (const Method method :
       {Method::ID3D12GraphicsCommandList_ResourceBarrier,
        Method::ID3D12GraphicsCommandList7_Barrier,
        Method::ID3D12GraphicsCommandList_RSSetViewports, Method::ID3D12GraphicsCommandList_Reset,
        Method::ID3D12VideoDecodeCommandList_Reset, Method::ID3D12CommandAllocator_Reset,
        Method::ID3D12CommandQueue_ExecuteCommandLists, Method::ID3D12CommandQueue_BeginEvent,
        Method::ID3D12CommandQueue_Signal}) {
    EXPECT_FALSE(CanBeLeftOut(method)) << Describe(method).name;
  }
}

TEST(ListCalls, AllWorkOfShadersButDispatchesMayDraw) {
  for (const Method method : {Method::ID3D12GraphicsCommandList_DrawInstanced,
                              Method::ID3D12GraphicsCommandList_DrawIndexedInstanced,
                              Method::ID3D12GraphicsCommandList_ExecuteIndirect,
                              Method::ID3D12GraphicsCommandList4_DispatchRays,
                              Method::ID3D12GraphicsCommandList6_DispatchMesh,
                              Method::ID3D12GraphicsCommandList10_DispatchGraph}) {
    EXPECT_TRUE(MayDraw(method)) << Describe(method).name;
    EXPECT_TRUE(CanBeLeftOut(method)) << Describe(method).name;
  }
  for (const Method method :
       {Method::ID3D12GraphicsCommandList_Dispatch, Method::ID3D12GraphicsCommandList_CopyResource,
        Method::ID3D12GraphicsCommandList_ClearRenderTargetView}) {
    EXPECT_FALSE(MayDraw(method)) << Describe(method).name;
  }
}

TEST(ListCalls, TheListsOfASubmissionThereAndBack) {
  for (const std::vector<uint64_t>& lists :
       {std::vector<uint64_t>{}, {7}, {1, 2, uint64_t{1} << 40}}) {
    const std::vector<std::byte> body = ExecuteBody(lists);
    const Result<std::vector<uint64_t>> read = ExecutedLists(body, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(lists, *read);
    for (size_t cut = 0; cut < body.size(); ++cut) {
      EXPECT_FALSE(ExecutedLists(std::span(body).first(cut), nullptr).ok()) << cut;
    }
  }
}

TEST(BisectTree, HasSubmissionsListsAndTheirWork) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  const BisectTree tree = Read(trace);
  ASSERT_THAT(tree.submissions, SizeIs(3));
  const auto& first = tree.submissions[0];
  EXPECT_EQ(program.submissions[0], first.call);
  ASSERT_THAT(first.lists, SizeIs(2));
  EXPECT_EQ(kMain, first.lists[0].object);
  EXPECT_THAT(*first.lists[0].calls, ElementsAre(program.first_dispatch, program.second_dispatch));
  EXPECT_THAT(*first.lists[1].calls, ElementsAre(program.shadow_draw));
  EXPECT_EQ(0u, first.lists[0].recorded_from);
  // The same recording, and not that after the reset.
  EXPECT_EQ(first.lists[0].calls, tree.submissions[1].lists[0].calls);
  EXPECT_THAT(*tree.submissions[2].lists[0].calls, ElementsAre(program.late_dispatch));
  EXPECT_LT(program.submissions[1], tree.submissions[2].lists[0].recorded_from);
}

TEST(BisectTree, SaysIfTheTraceDraws) {
  TwoLists program;
  TraceReader draws = program.test.Open();
  EXPECT_TRUE(Read(draws).may_draw);

  TestTrace dispatches;
  dispatches.Object(kDevice, Chain::kID3D12Device, kDevice);
  dispatches.Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
  dispatches.Object(kMain, Chain::kID3D12GraphicsCommandList, kDevice);
  dispatches.Make(Method::ID3D12GraphicsCommandList_Dispatch, kMain, 1, 1, 1);
  const uint64_t list = kMain;
  dispatches.Make(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, 1, &list);
  TraceReader trace = dispatches.Open();
  EXPECT_FALSE(Read(trace).may_draw);
}

TEST(BisectTree, AResetThatIsRefusedEndsNothing) {
  TwoLists program;
  TestTrace& test = program.test;
  const uint64_t reset =
      test.Make(Method::ID3D12GraphicsCommandList_Reset, kMain, ObjectPointer(kAllocator), nullptr);
  test.Gave(reset, -2147467259 /* E_FAIL */, ObjectPointer(kAllocator), nullptr);
  program.Execute({kMain});
  TraceReader trace = test.Open();
  const BisectTree tree = Read(trace);
  ASSERT_THAT(tree.submissions, SizeIs(4));
  EXPECT_THAT(*tree.submissions[3].lists[0].calls, ElementsAre(program.late_dispatch));
  EXPECT_EQ(tree.submissions[3].lists[0].recorded_from, tree.submissions[2].lists[0].recorded_from);
}

TEST(BisectTree, WithoutSubmissionsThereIsNothingToLeaveOut) {
  TestTrace test;
  test.Object(kDevice, Chain::kID3D12Device, kDevice);
  TraceReader trace = test.Open();
  EXPECT_THAT(ReadBisectTree(&trace).status().message(), HasSubstr("submits nothing"));
  EXPECT_EQ("interrupted",
            ReadBisectTree(&trace, [](uint64_t) { return false; }).status().message());
}

TEST(TraceMayDraw, LooksForDrawsAlone) {
  TestTrace test;
  test.Object(kDevice, Chain::kID3D12Device, kDevice);
  test.Object(kMain, Chain::kID3D12GraphicsCommandList, kDevice);
  test.Make(Method::ID3D12GraphicsCommandList_Dispatch, kMain, 1, 1, 1);
  TraceReader none = test.Open();
  const Result<bool> dispatches = TraceMayDraw(&none);
  ASSERT_TRUE(dispatches.ok()) << "a trace without submissions can be played, too";
  EXPECT_FALSE(*dispatches);
  EXPECT_EQ(StatusCode::kInterrupted,
            TraceMayDraw(&none, [](uint64_t) { return false; }).status().code());

  TestTrace more;
  more.Object(kDevice, Chain::kID3D12Device, kDevice);
  more.Object(kMain, Chain::kID3D12GraphicsCommandList, kDevice);
  more.Make(Method::ID3D12GraphicsCommandList_Dispatch, kMain, 1, 1, 1);
  more.Make(Method::ID3D12GraphicsCommandList_DrawInstanced, kMain, 3, 1, 0, 0);
  TraceReader drawing = more.Open();
  const Result<bool> draws = TraceMayDraw(&drawing);
  ASSERT_TRUE(draws.ok());
  EXPECT_TRUE(*draws);
}

// The trace with damage in all its records.
Result<TraceReader> Damaged(TestTrace* test) {
  std::vector<std::byte> bytes = test->Bytes();
  const Result<FileReader> layout = FileReader::FromBytes(bytes);
  if (!layout.ok()) return layout.status();
  for (const ChunkInfo& chunk : layout->chunks()) {
    if (chunk.type != kTraceRecordChunk) continue;
    bytes[chunk.payload_offset() + chunk.stored_bytes / 2] ^= std::byte{0x10};
  }
  Result<FileReader> file = FileReader::FromBytes(bytes);
  if (!file.ok()) return file.status();
  return TraceReader::FromFile(std::move(file).value());
}

TEST(TraceMayDraw, AssumesThatWhatIsLostDraws) {
  TestTrace test;
  test.Object(kDevice, Chain::kID3D12Device, kDevice);
  test.Make(Method::ID3D12GraphicsCommandList_Dispatch, kMain, 1, 1, 1);
  Result<TraceReader> trace = Damaged(&test);
  ASSERT_TRUE(trace.ok());
  const Result<bool> draws = TraceMayDraw(&*trace);
  ASSERT_TRUE(draws.ok()) << draws.status().message();
  EXPECT_TRUE(*draws);
}

TEST(BisectTree, WhereTheSubmissionsAreLostTheDamageIsNamed) {
  TwoLists program;
  Result<TraceReader> trace = Damaged(&program.test);
  ASSERT_TRUE(trace.ok());
  const Status status = ReadBisectTree(&*trace).status();
  EXPECT_EQ(StatusCode::kCorrupt, status.code());
  EXPECT_THAT(status.message(), HasSubstr("it is damaged"));
  EXPECT_THAT(status.message(), HasSubstr("cairn verify"));
}

TEST(BisectTree, DamagedListsOfASubmissionAreRefusedWithTheRecord) {
  TestTrace test;
  const std::byte rubbish[] = {std::byte{255}, std::byte{255}, std::byte{255}, std::byte{255},
                               std::byte{1}};
  const uint64_t call = test.Call(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, rubbish);
  TraceReader trace = test.Open();
  const Status status = ReadBisectTree(&trace).status();
  EXPECT_EQ(StatusCode::kCorrupt, status.code());
  EXPECT_THAT(status.message(), HasSubstr("record " + std::to_string(call)));
}

TEST(DescribeCulprits, AProgramTakesThePlaceOfThePipeline) {
  TwoLists program;
  TestTrace& test = program.test;
  test.Make(Method::ID3D12GraphicsCommandList_Reset, kMain, ObjectPointer(kAllocator), nullptr);
  test.Make(Method::ID3D12GraphicsCommandList_SetPipelineState, kMain, ObjectPointer(kPipeline));
  const uint64_t program_desc[11] = {1};  // D3D12_SET_PROGRAM_DESC of a generic pipeline
  test.Make(Method::ID3D12GraphicsCommandList10_SetProgram, kMain, &program_desc);
  const uint64_t dispatch = program.Dispatch(kMain, 5);
  program.Close(kMain);
  program.Execute({kMain});
  TraceReader trace = test.Open();
  const auto texts =
      DescribeCulprits(&trace, {{Suspect::Kind::kCall, dispatch, 0}}, program.submissions.back());
  ASSERT_TRUE(texts.ok());
  ASSERT_THAT(*texts, SizeIs(1));
  EXPECT_THAT((*texts)[0].call, HasSubstr("Dispatch(ThreadGroupCountX = 5"));
  EXPECT_EQ((*texts)[0].pipeline, "");
}

TEST(DescribeCulprits, AResetGivesAFirstPipeline) {
  TwoLists program;
  TestTrace& test = program.test;
  test.Make(Method::ID3D12GraphicsCommandList_Reset, kMain, ObjectPointer(kAllocator),
            ObjectPointer(kPipeline));
  const uint64_t dispatch = program.Dispatch(kMain, 5);
  program.Close(kMain);
  program.Execute({kMain});
  TraceReader trace = test.Open();
  const auto texts =
      DescribeCulprits(&trace, {{Suspect::Kind::kCall, dispatch, 0}}, program.submissions.back());
  ASSERT_TRUE(texts.ok());
  EXPECT_THAT((*texts)[0].pipeline, HasSubstr("\"Integrate\""));
}

TEST(DescribeCulprits, SaysWhatItIsAndWhereItStands) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  const auto texts = DescribeCulprits(&trace, {{Suspect::Kind::kCall, program.second_dispatch, 0}},
                                      program.submissions[1]);
  ASSERT_TRUE(texts.ok());
  ASSERT_THAT(*texts, SizeIs(1));
  const CulpritText& text = (*texts)[0];
  EXPECT_THAT(text.call, HasSubstr("Dispatch(ThreadGroupCountX = 7"));
  EXPECT_THAT(text.list, HasSubstr("\"Main\""));
  EXPECT_THAT(text.pipeline, HasSubstr("\"Integrate\""));
  EXPECT_THAT(text.path, ElementsAre("Frame", "Simulate"));
  // The text names the one of the list's two executions that failed.
  EXPECT_EQ(program.submissions[1], text.submission);
  EXPECT_EQ(0u, text.list_index);
  EXPECT_EQ(1u, text.frame);
  EXPECT_THAT(text.queue, HasSubstr("command queue 2"));
}

TEST(DescribeCulprits, ListsAndSubmissions) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  const auto texts = DescribeCulprits(&trace,
                                      {{Suspect::Kind::kSubmission, program.submissions[0], 0},
                                       {Suspect::Kind::kList, program.submissions[0], 1}},
                                      program.submissions[0]);
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ("", (*texts)[0].list);
  EXPECT_EQ(program.submissions[0], (*texts)[0].submission);
  EXPECT_THAT((*texts)[1].list, HasSubstr("command list 4"));
  EXPECT_EQ(1u, (*texts)[1].list_index);
}

BisectAnswer Found(std::vector<Suspect> culprits, uint64_t place) {
  BisectAnswer answer;
  answer.found = true;
  answer.culprits = std::move(culprits);
  answer.place = place;
  return answer;
}

class MinimalTraceTest : public ::testing::Test {
 protected:
  ~MinimalTraceTest() override { std::filesystem::remove(path_); }

  std::vector<KeptRecord> Write(TraceReader& trace, const BisectAnswer& answer,
                                MinimalObjects objects = MinimalObjects::kNeeded) {
    const BisectTree tree = Read(trace);
    const Status status = WriteMinimalTrace(&trace, tree, answer, objects, path_);
    EXPECT_TRUE(status.ok()) << status.message();
    Result<TraceReader> copy = TraceReader::Open(path_);
    EXPECT_TRUE(copy.ok()) << copy.status().message();
    if (!copy.ok()) return {};
    tree_ = Read(*copy);
    return ReadAll(*copy);
  }
  // A trace that makes a device, and nothing with it.
  void WriteDeviceAlone() const {
    TestTrace test;
    const DeviceBody body = {0x1234, 0x5678, 4, 0xB000};
    test.Add(RecordKind::kDevice, kDevice, std::as_bytes(std::span(&body, 1)));
    test.Finish();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(test.Bytes().data()),
               static_cast<std::streamsize>(test.Bytes().size()));
  }
  static bool Has(const std::vector<KeptRecord>& records, uint64_t number) {
    return std::any_of(records.begin(), records.end(),
                       [&](const KeptRecord& kept) { return kept.record.number == number; });
  }

  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("minimal_trace_test." + std::to_string(OwnProcessId()) + ".cairn"))
                                .string();
  BisectTree tree_;
};

TEST_F(MinimalTraceTest, HoldsTheCulpritAndWhatItNeeds) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  BisectAnswer answer =
      Found({{Suspect::Kind::kCall, program.second_dispatch, 0}}, program.submissions[0]);
  const std::vector<KeptRecord> records = Write(trace, answer);
  ASSERT_THAT(tree_.submissions, SizeIs(1));
  EXPECT_EQ(program.submissions[0], tree_.submissions[0].call);
  ASSERT_THAT(tree_.submissions[0].lists, SizeIs(1));
  EXPECT_EQ(kMain, tree_.submissions[0].lists[0].object);
  EXPECT_THAT(*tree_.submissions[0].lists[0].calls, ElementsAre(program.second_dispatch));
  EXPECT_FALSE(Has(records, program.first_dispatch));
  EXPECT_FALSE(Has(records, program.shadow_draw));
  EXPECT_FALSE(Has(records, program.late_dispatch));
  for (const uint64_t state : program.states) EXPECT_TRUE(Has(records, state)) << state;
}

TEST_F(MinimalTraceTest, OfARecordingThatIsNotExecutedOnlyItsEndsStay) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  BisectAnswer answer =
      Found({{Suspect::Kind::kCall, program.late_dispatch, 0}}, program.submissions[2]);
  const std::vector<KeptRecord> records = Write(trace, answer);
  ASSERT_THAT(tree_.submissions, SizeIs(1));
  EXPECT_THAT(*tree_.submissions[0].lists[0].calls, ElementsAre(program.late_dispatch));
  for (const uint64_t state : program.states) EXPECT_FALSE(Has(records, state)) << state;
  // Both recordings of the one list, and that of the other, are closed; the one is reset.
  uint64_t closes = 0;
  uint64_t resets = 0;
  for (const KeptRecord& kept : records) {
    if (kept.record.kind != RecordKind::kCall) continue;
    const std::optional<Method> method = trace.MethodOf(kept.record);
    closes += method == Method::ID3D12GraphicsCommandList_Close;
    resets += method == Method::ID3D12GraphicsCommandList_Reset;
  }
  EXPECT_EQ(3u, closes);
  EXPECT_EQ(1u, resets);
}

TEST_F(MinimalTraceTest, TwoCulpritsInTwoSubmissions) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  BisectAnswer answer = Found({{Suspect::Kind::kCall, program.shadow_draw, 0},
                               {Suspect::Kind::kCall, program.late_dispatch, 0}},
                              program.submissions[2]);
  Write(trace, answer);
  ASSERT_THAT(tree_.submissions, SizeIs(2));
  EXPECT_EQ(kShadow, tree_.submissions[0].lists[0].object);
  EXPECT_THAT(*tree_.submissions[0].lists[0].calls, ElementsAre(program.shadow_draw));
  EXPECT_THAT(*tree_.submissions[1].lists[0].calls, ElementsAre(program.late_dispatch));
}

TEST_F(MinimalTraceTest, AWholeListAndAWholeSubmission) {
  TwoLists program;
  TraceReader trace = program.test.Open();
  BisectAnswer answer =
      Found({{Suspect::Kind::kList, program.submissions[0], 0}}, program.submissions[0]);
  Write(trace, answer);
  EXPECT_THAT(*tree_.submissions[0].lists[0].calls,
              ElementsAre(program.first_dispatch, program.second_dispatch));
  EXPECT_THAT(tree_.submissions[0].lists, SizeIs(1));

  answer.culprits = {{Suspect::Kind::kSubmission, program.submissions[0], 0}};
  Write(trace, answer);
  EXPECT_THAT(tree_.submissions[0].lists, SizeIs(2));
}

TEST_F(MinimalTraceTest, ObjectsThatOnlyOtherWorkNeedsGo) {
  TwoLists program;
  TestTrace& test = program.test;
  constexpr uint64_t kNeededBuffer = 30;
  constexpr uint64_t kOtherBuffer = 31;
  struct Guid {
    uint8_t bytes[16];
  };
  constexpr Guid kIid{};
  const auto create = [&](uint64_t object, uint64_t address) {
    const uint64_t call = test.Make(Method::ID3D12Device_CreateCommittedResource, kDevice, nullptr,
                                    0, nullptr, 0, nullptr, kIid, nullptr);
    ResourceFacts facts{};
    facts.gpu_address = address;
    facts.size_bytes = 256;
    test.Resource(object, kDevice, call, facts);
    return call;
  };
  const uint64_t needed = create(kNeededBuffer, 0x1000);
  const uint64_t other = create(kOtherBuffer, 0x2000);
  test.Make(Method::ID3D12GraphicsCommandList_Reset, kMain, ObjectPointer(kAllocator), nullptr);
  const Method set = Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView;
  test.Make(set, kMain, 0, uint64_t{0x1010});
  const uint64_t culprit = program.Dispatch(kMain, 7);
  program.Close(kMain);
  test.Make(Method::ID3D12GraphicsCommandList_Reset, kShadow, ObjectPointer(kAllocator), nullptr);
  test.Make(set, kShadow, 0, uint64_t{0x2000});
  program.Dispatch(kShadow, 8);
  program.Close(kShadow);
  program.Execute({kMain, kShadow});
  TraceReader trace = test.Open();
  ASSERT_TRUE(test.status().ok()) << test.status().message();
  BisectAnswer answer = Found({{Suspect::Kind::kCall, culprit, 0}}, program.submissions.back());
  const auto made = [](const std::vector<KeptRecord>& records, uint64_t object) {
    return std::any_of(records.begin(), records.end(), [&](const KeptRecord& kept) {
      return kept.record.kind == RecordKind::kObject && kept.record.object == object;
    });
  };
  std::vector<KeptRecord> records = Write(trace, answer);
  EXPECT_TRUE(Has(records, needed));
  EXPECT_TRUE(made(records, kNeededBuffer));
  EXPECT_FALSE(Has(records, other));
  EXPECT_FALSE(made(records, kOtherBuffer));
  records = Write(trace, answer, MinimalObjects::kAll);
  EXPECT_TRUE(Has(records, other));
  EXPECT_TRUE(made(records, kOtherBuffer));
}

TEST(FailsTheSame, PlaysUntilAPlaySaysSomething) {
  BisectAnswer failure;
  failure.kind = FailureKind::kHang;
  failure.place = 7;
  failure.asked = failure.failed = 2;
  const ProbeAnswer undecided = {ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, "no memory"};
  const ProbeAnswer hangs = {ProbeOutcome::kFails, 7, FailureKind::kHang};
  std::vector<ProbeAnswer> answers;
  size_t plays = 0;
  const Probe probe = [&](const BisectQuestion&) -> Result<ProbeAnswer> {
    if (plays == answers.size()) return Status(StatusCode::kIo, "stopped");
    return answers[plays++];
  };
  const auto ask = [&](std::vector<ProbeAnswer> now) {
    answers = std::move(now);
    plays = 0;
    return FailsTheSame(failure, probe, {});
  };
  EXPECT_TRUE(*ask({hangs}));
  EXPECT_TRUE(*ask({undecided, undecided, undecided, hangs}));
  EXPECT_FALSE(*ask({undecided, ProbeAnswer{}}));
  EXPECT_THAT(ask({undecided, undecided, undecided, undecided, hangs}).status().message(),
              HasSubstr("no memory"));
  EXPECT_EQ(4u, plays);
  EXPECT_EQ("stopped", ask({undecided}).status().message());
  // An occasional failure gets more tries.
  failure.failed = 1;
  EXPECT_TRUE(*ask({ProbeAnswer{}, undecided, ProbeAnswer{}, hangs}));
  EXPECT_FALSE(*ask(std::vector<ProbeAnswer>(8)));
  EXPECT_EQ(8u, plays);
}

TEST(TraceProbe, OmissionsAreCallsAndLists) {
  const BisectQuestion question = {{{Suspect::Kind::kSubmission, 10, 0},
                                    {Suspect::Kind::kList, 20, 3},
                                    {Suspect::Kind::kCall, 5, 0}},
                                   ~uint64_t{0}};
  const Omissions omissions = OmissionsOf(question);
  EXPECT_EQ((std::unordered_set<uint64_t>{10, 5}), omissions.calls);
  EXPECT_EQ((std::unordered_set<uint64_t>{Omissions::ListKey(20, 3)}), omissions.lists);
}

TEST_F(MinimalTraceTest, BundlesOfCulpritsStayWhole) {
  TwoLists program;
  TestTrace& test = program.test;
  constexpr uint64_t kBundle = 20;
  constexpr uint64_t kOtherBundle = 21;
  test.Object(kBundle, Chain::kID3D12GraphicsCommandList, kDevice);
  test.Object(kOtherBundle, Chain::kID3D12GraphicsCommandList, kDevice);
  const uint64_t old_draw = program.Dispatch(kBundle, 1);
  program.Close(kBundle);
  test.Make(Method::ID3D12GraphicsCommandList_Reset, kBundle, ObjectPointer(kAllocator), nullptr);
  const uint64_t pipeline = test.Make(Method::ID3D12GraphicsCommandList_SetPipelineState, kBundle,
                                      ObjectPointer(kPipeline));
  const uint64_t draw = program.Dispatch(kBundle, 2);
  program.Close(kBundle);
  const uint64_t other_draw = program.Dispatch(kOtherBundle, 3);
  program.Close(kOtherBundle);
  test.Make(Method::ID3D12GraphicsCommandList_Reset, kMain, ObjectPointer(kAllocator), nullptr);
  const uint64_t culprit =
      test.Make(Method::ID3D12GraphicsCommandList_ExecuteBundle, kMain, ObjectPointer(kBundle));
  const uint64_t other = test.Make(Method::ID3D12GraphicsCommandList_ExecuteBundle, kMain,
                                   ObjectPointer(kOtherBundle));
  program.Close(kMain);
  program.Execute({kMain});
  TraceReader trace = test.Open();
  BisectAnswer answer = Found({{Suspect::Kind::kCall, culprit, 0}}, program.submissions.back());
  const std::vector<KeptRecord> records = Write(trace, answer);
  for (const uint64_t kept : {pipeline, draw, culprit}) EXPECT_TRUE(Has(records, kept)) << kept;
  for (const uint64_t gone : {old_draw, other_draw, other}) {
    EXPECT_FALSE(Has(records, gone)) << gone;
  }
}

// ---- What a probe does in its process, as its words ask ------------------------------------------------------

// In the file: so many processes have come here.
int CountPlay(const std::string& path) {
  std::ofstream(path, std::ios::app) << '.';
  return static_cast<int>(std::filesystem::file_size(path));
}

int PlaysIn(const std::string& path) {
  std::error_code none;
  const int plays =
      std::filesystem::exists(path, none) ? static_cast<int>(std::filesystem::file_size(path)) : 0;
  std::filesystem::remove(path, none);
  return plays;
}

DeviceFacts Gpu() {
  return {"NVIDIA H200, 10de:2335", "580.1", "libvkd3d.so.1", "/a/libvkd3d.so.1"};
}

// words[0] says how its device behaves, words[1] counts the plays.
void Misbehave(const std::vector<std::string>& words, PlayerOptions* options) {
  options->create_device = [words, told = options->on_device](uint32_t) -> void* {
    const int plays = CountPlay(words.at(1));
    const std::string& how = words.at(0);
    if (how == "abort") std::abort();
    if (how == "exit") std::_Exit(0);
    if (how == "die") {
      DieOf(std::stoi(words.at(2)));
    }
    // Another one, until so many have played.
    if (how == "other") {
      DeviceFacts found = Gpu();
      found.name = words.at(3);
      found.library_paths = words.at(4);
      told(plays > std::stoi(words.at(2)) ? Gpu() : found);
      std::abort();
    }
    return nullptr;  // "none"
  };
}

class TraceProbeTest : public MinimalTraceTest {
 protected:
  TraceProbeTest() : plays_(path_ + ".plays") {
    settings_.path = path_;
    settings_.device_pause_ns = 0;
  }
  ~TraceProbeTest() override { std::filesystem::remove(plays_); }
  void Ask(const std::string& how, const std::vector<std::string>& more = {}) {
    settings_.arguments = {how, plays_};
    settings_.arguments.insert(settings_.arguments.end(), more.begin(), more.end());
  }

  const std::string plays_;
  TraceProbeSettings settings_;
};

// A device that a hang has taken away for a while: not an answer, whatever is left out.
TEST_F(TraceProbeTest, ADeviceThatCannotBeMadeIsAnErrorNotAnAnswer) {
  WriteDeviceAlone();
  settings_.device_tries = 3;
  Ask("none");
  for (const BisectQuestion& question :
       {BisectQuestion{}, BisectQuestion{{{Suspect::Kind::kCall, 5, 0}}, ~uint64_t{0}}}) {
    const Result<ProbeRun> run = PlayProbe(settings_, question);
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(ProbeEnd::kNoDevice, run->end) << run->message;
    EXPECT_EQ(3, PlaysIn(plays_));
    EXPECT_THAT(AnswerOf(*run, {}).status().message(), HasSubstr("no device"));
  }
}

// The probe reports it at once: this play dies before its end.
TEST_F(TraceProbeTest, AProbeTellsWhatIsNotAsItWasRecordedAlsoIfItDies) {
  TestTrace test;
  test.Note(NoteKind::kUnsupported, "a heap was made of the program's own memory");
  const DeviceBody body = {0x1234, 0x5678, 4, 0xB000};
  test.Add(RecordKind::kDevice, kDevice, std::as_bytes(std::span(&body, 1)));
  test.Finish();
  std::ofstream(path_, std::ios::binary)
      .write(reinterpret_cast<const char*>(test.Bytes().data()),
             static_cast<std::streamsize>(test.Bytes().size()));
  Ask("abort");
  const Result<ProbeRun> run = PlayProbe(settings_, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(ProbeEnd::kDied, run->end);
  EXPECT_EQ("recorded: a heap was made of the program's own memory", run->left_out);
  EXPECT_EQ(0u, run->devices);

  settings_.device_tries = 1;
  Ask("none");
  EXPECT_THAT(ProbeDevice(settings_).status().message(), HasSubstr("no device"));
}

// The GPU is away after a crash, and the loader takes the next best: it is waited for as if there were none.
TEST_F(TraceProbeTest, AnotherDeviceThanThatOfTheSearchIsNone) {
  WriteDeviceAlone();
  settings_.device = Gpu();
  settings_.device_tries = 3;
  Ask("other", {"2", "llvmpipe, 10005:0000", "/a/libvkd3d.so.1"});
  const Result<ProbeRun> back = PlayProbe(settings_, {});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(3, PlaysIn(plays_));
  EXPECT_EQ(ProbeEnd::kDied, back->end);
  EXPECT_EQ(Gpu(), back->device);

  Ask("other", {"3", "llvmpipe, 10005:0000", "/a/libvkd3d.so.1"});
  const Result<ProbeRun> away = PlayProbe(settings_, {});
  ASSERT_TRUE(away.ok());
  EXPECT_EQ(3, PlaysIn(plays_));
  EXPECT_EQ(ProbeEnd::kNoDevice, away->end);
  EXPECT_EQ("it was played on llvmpipe, 10005:0000 (580.1), not on NVIDIA H200, 10de:2335 (580.1)",
            AnswerOf(*away, {}, Gpu()).status().message());

  Ask("other", {"3", Gpu().name, "/b/libvkd3d.so.1"});
  EXPECT_THAT(PlayProbe(settings_, {})->message,
              HasSubstr("with /b/libvkd3d.so.1), not on NVIDIA H200, 10de:2335 (580.1, with /a/"));
}

// A driver that cannot be loaded may take the process with it: that is said, and not nothing.
TEST_F(TraceProbeTest, ADeviceThatTakesThePlaybackWithItIsNamed) {
  WriteDeviceAlone();
  const auto dies_of = [&](int number) {
    Ask("die", {std::to_string(number)});
    return ProbeDevice(settings_).status();
  };
  EXPECT_EQ(std::string("the playback died of ") + kFaultName + " before it had a device",
            dies_of(kFault).message());
  (void)PlaysIn(plays_);
  EXPECT_EQ(StatusCode::kUnsupported, dies_of(Deaths().at(Deaths().size() - 2)).code());
  EXPECT_EQ(1, PlaysIn(plays_));
  Ask("exit");
  EXPECT_EQ("the playback ended before it had a device", ProbeDevice(settings_).status().message());
  (void)PlaysIn(plays_);
  // Another process killed it: the next play may end in another way.
  EXPECT_THAT(dies_of(kKilled).message(), HasSubstr("something else killed the playback"));
  EXPECT_EQ(4, PlaysIn(plays_));
}

TEST(TraceProbe, AFileThatIsNoTraceIsAnErrorNotAnAnswer) {
  TraceProbeSettings settings;
  settings.path = "/nowhere/at/all.cairn";
  const Result<ProbeRun> run = PlayProbe(settings, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(ProbeEnd::kError, run->end);
  EXPECT_THAT(run->message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace cairn

// A probe is this program, run again.
int main(int argc, char** argv) {
  if (cairn::WasStartedAsChild()) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const cairn::Status status = cairn::AnswerTraceProbe([&](cairn::PlayerOptions* options) {
      if (words.size() > 1) cairn::Misbehave(words, options);
    });
    return status.ok() ? 0 : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
