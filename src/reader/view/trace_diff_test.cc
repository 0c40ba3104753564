// SPDX-License-Identifier: Apache-2.0
#include "reader/view/trace_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"

namespace cairn::cli {
namespace {

using Sequence = std::vector<uint64_t>;

// Returns both sequences without the edits.
std::pair<Sequence, Sequence> Common(const Sequence& first, const Sequence& second) {
  std::vector<bool> gone[2] = {std::vector<bool>(first.size()), std::vector<bool>(second.size())};
  for (const SequenceEdit& edit : CompareSequences(first, second)) {
    EXPECT_FALSE(gone[edit.in_second][edit.index]);
    gone[edit.in_second][edit.index] = true;
  }
  std::pair<Sequence, Sequence> common;
  for (size_t i = 0; i < first.size(); ++i) {
    if (!gone[0][i]) common.first.push_back(first[i]);
  }
  for (size_t i = 0; i < second.size(); ++i) {
    if (!gone[1][i]) common.second.push_back(second[i]);
  }
  return common;
}

TEST(CompareSequencesTest, FindsTheSmallestDifference) {
  EXPECT_TRUE(CompareSequences(Sequence{1, 2, 3}, Sequence{1, 2, 3}).empty());
  EXPECT_EQ(CompareSequences(Sequence{}, Sequence{1, 2}).size(), 2u);
  const auto edits = CompareSequences(Sequence{1, 2, 3, 4}, Sequence{1, 3, 5, 4});
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_FALSE(edits[0].in_second);
  EXPECT_EQ(edits[0].index, 1u);
  EXPECT_TRUE(edits[1].in_second);
  EXPECT_EQ(edits[1].index, 2u);
  // The example of the paper: ABCABBA to CBABAC takes five.
  EXPECT_EQ(CompareSequences(Sequence{1, 2, 3, 1, 2, 2, 1}, Sequence{3, 2, 1, 2, 1, 3}).size(), 5u);
}

TEST(CompareSequencesTest, WhatIsLeftIsEqual) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Sequence first(random() % 40);
    Sequence second(random() % 40);
    for (uint64_t& value : first) value = random() % 4;
    for (uint64_t& value : second) value = random() % 4;
    const auto [a, b] = Common(first, second);
    ASSERT_EQ(a, b) << round;
  }
}

TEST(CompareSequencesTest, VeryDifferentOnesAreNamedAsAWhole) {
  Sequence first = {1};
  Sequence second = {1};
  for (uint64_t i = 0; i < 2000; ++i) {
    first.push_back(10 + i);
    second.push_back(10000 + i);
  }
  first.push_back(2);
  second.push_back(2);
  const auto [a, b] = Common(first, second);
  EXPECT_EQ(a, (Sequence{1, 2}));
  EXPECT_EQ(b, a);
}

// A device, a list with a name, and two frames of draws.
class TraceDiffTest : public testing::Test {
 protected:
  static constexpr uint64_t kDevice = 1;
  struct Run {
    explicit Run(uint64_t list_number) : list(list_number) {
      test.Object(kDevice, Chain::kID3D12Device, kDevice);
      test.Object(list, Chain::kID3D12GraphicsCommandList, kDevice);
    }
    void Draw(uint32_t vertices) {
      const auto body =
          CallBuilder().Call(Method::ID3D12GraphicsCommandList_DrawInstanced, vertices, 1, 0, 0);
      ASSERT_TRUE(body.ok);
      test.Call(Method::ID3D12GraphicsCommandList_DrawInstanced, list, body.bytes);
    }
    TestTrace test;
    uint64_t list;
  };
  static TraceDiffResult Compare(Run& a, Run& b, std::vector<CallDifference>* differences,
                                 TraceDiffOptions options = {}) {
    TraceReader first = a.test.Open();
    TraceReader second = b.test.Open();
    options.print = [&](const CallDifference& difference) {
      differences->push_back(difference);
      return true;
    };
    const Result<TraceDiffResult> result = CompareTraces(first, second, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : TraceDiffResult();
  }
};

// Two readers of one file have their memory in different places.
TEST_F(TraceDiffTest, AFileIsLikeItself) {
  struct FeatureLevels {  // D3D12_FEATURE_DATA_FEATURE_LEVELS
    uint32_t count;
    const uint32_t* wanted;
    uint32_t supported;
  };
  constexpr uint32_t kFeatureLevels = 2;  // D3D12_FEATURE
  const uint32_t wanted[] = {0xc000, 0xb000};
  const FeatureLevels levels = {2, wanted, 0};
  Run a(5);
  a.test.Make(Method::ID3D12Device_CheckFeatureSupport, kDevice, kFeatureLevels, &levels,
              static_cast<uint32_t>(sizeof(levels)));
  ASSERT_TRUE(a.test.status().ok()) << a.test.status().message();
  a.test.Frame();
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, a, &differences);
  EXPECT_THAT(differences, testing::IsEmpty());
  EXPECT_EQ(result.calls[0], 1u);
  EXPECT_EQ(result.undecoded, 0u);
}

// "-3=9": call 3 of the first only, the same as call 9 of the second with other arguments; behind it the frames, and
// how many equal calls stand before it.
std::vector<std::string> InWords(const std::vector<CallDifference>& differences) {
  std::vector<std::string> words;
  for (const CallDifference& each : differences) {
    const auto number = [](const std::optional<uint64_t>& value) {
      return value ? std::to_string(*value) : "none";
    };
    words.push_back((each.in_second ? "+" : "-") + std::to_string(each.call) +
                    (each.changed ? "=" + number(each.changed) : "") + " of " +
                    std::to_string(each.frame) + "/" + number(each.other_frame) + " behind " +
                    std::to_string(each.before.count));
  }
  return words;
}

TEST_F(TraceDiffTest, CallsOfOneFunctionWithOtherArgumentsAreChanged) {
  Run a(5), b(5);
  for (Run* const run : {&a, &b}) {
    run->Draw(1);  // 3
    run->Draw(2);  // 4
  }
  a.Draw(3);                                                                                  // 5
  a.test.Make(Method::ID3D12GraphicsCommandList_EndEvent, a.list);                            // 6
  b.test.Make(Method::ID3D12GraphicsCommandList_EndQuery, b.list, ObjectPointer(0), 0u, 0u);  // 5
  b.Draw(4);                                                                                  // 6
  for (Run* const run : {&a, &b}) {
    run->Draw(7);  // 7
    run->test.Frame();
  }
  a.Draw(8);
  a.test.Frame();
  b.Draw(9);
  b.test.Frame();
  ASSERT_TRUE(b.test.status().ok()) << b.test.status().message();
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 6u);
  EXPECT_THAT(
      InWords(differences),
      testing::ElementsAre("+5 of 0/0 behind 2", "-5=6 of 0/0 behind 0", "+6=5 of 0/0 behind 0",
                           "-6 of 0/0 behind 0", "-9=9 of 1/1 behind 0", "+9=9 of 1/1 behind 0"));
  EXPECT_EQ(differences[0].before.first, 3u);
  EXPECT_EQ(differences[0].before.last, 4u);
}

TEST_F(TraceDiffTest, FramesThatDoTheSameAreLinedUp) {
  Run a(5), b(5);
  const auto frame = [](Run& run, std::vector<uint32_t> draws) {
    for (const uint32_t vertices : draws) run.Draw(vertices);
    run.test.Frame();
  };
  frame(a, {1});
  frame(a, {2, 3});
  frame(a, {4});
  frame(b, {9, 9, 9});  // only there
  frame(b, {1});
  frame(b, {2, 7});  // the same functions
  frame(b, {4});
  std::vector<CallDifference> differences;
  TraceDiffOptions options;
  options.align = true;
  const TraceDiffResult result = Compare(a, b, &differences, options);
  EXPECT_EQ(result.frames[0], 3u);
  EXPECT_EQ(result.frames[1], 4u);
  EXPECT_EQ(result.calls[0], 4u);
  EXPECT_EQ(result.calls[1], 7u);
  EXPECT_THAT(InWords(differences),
              testing::ElementsAre("+3 of 0/none behind 0", "+4 of 0/none behind 0",
                                   "+5 of 0/none behind 0", "-6=10 of 1/2 behind 1",
                                   "+10=6 of 2/1 behind 0"));
  // By their numbers nothing is the same.
  differences.clear();
  EXPECT_GT(Compare(a, b, &differences).differences, 5u);
  // Some frames of them.
  differences.clear();
  options.frames = {1, 3};
  const TraceDiffResult some = Compare(a, b, &differences, options);
  EXPECT_EQ(some.first_frame, 1u);
  EXPECT_EQ(some.frames[1], 2u);
}

TEST_F(TraceDiffTest, NumbersOfObjectsThatArePassedDoNotMatter) {
  Run a(5);
  Run b(9);
  for (Run* const run : {&a, &b}) {
    const uint64_t pipeline = run->list + 20;
    run->test.Object(pipeline, Chain::kID3D12PipelineState, kDevice);
    run->test.Make(Method::ID3D12GraphicsCommandList_SetPipelineState, run->list,
                   ObjectPointer(pipeline));
    run->test.Frame();
  }
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).calls[0], 1u);
  EXPECT_THAT(differences, testing::IsEmpty());
}

TEST_F(TraceDiffTest, BytesMatter) {
  Run a(5);
  Run b(5);
  const uint32_t constants[] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint32_t others[] = {1, 2, 3, 4, 5, 6, 7, 9};
  for (Run* const run : {&a, &b}) {
    run->test.Make(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants, run->list, 0, 8,
                   run == &a ? constants : others, 0);
    run->test.Frame();
  }
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 2u);
}

TEST_F(TraceDiffTest, NumbersOfObjectsDoNotMatter) {
  Run a(5);
  Run b(9);
  for (Run* const run : {&a, &b}) {
    run->Draw(3);
    run->test.Frame();
    run->Draw(6);
    run->test.Frame();
  }
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, b, &differences);
  EXPECT_THAT(differences, testing::IsEmpty());
  EXPECT_EQ(result.differences, 0u);
  EXPECT_EQ(result.calls[0], 2u);
  EXPECT_EQ(result.calls[1], 2u);
  EXPECT_EQ(result.frames[0], 2u);
  EXPECT_EQ(result.undecoded, 0u);
}

TEST_F(TraceDiffTest, ArgumentsAndMissingCallsAreNamed) {
  Run a(5);
  Run b(5);
  a.Draw(3);
  b.Draw(3);
  a.test.Frame();
  b.test.Frame();
  a.Draw(6);
  b.Draw(7);
  b.Draw(8);
  a.test.Frame();
  b.test.Frame();
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, b, &differences);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_EQ(result.differences, 3u);
  EXPECT_EQ(differences[0].frame, 1u);
  EXPECT_FALSE(differences[0].in_second);
  EXPECT_NE(differences[0].text.find("DrawInstanced(VertexCountPerInstance = 6"), std::string::npos)
      << differences[0].text;
  EXPECT_NE(differences[0].text.find("1st command list"), std::string::npos);
  EXPECT_TRUE(differences[1].in_second);
  EXPECT_TRUE(differences[2].in_second);
  // Only the first frame.
  differences.clear();
  TraceDiffOptions options;
  options.frames.end = 1;
  EXPECT_EQ(Compare(a, b, &differences, options).differences, 0u);
  EXPECT_THAT(differences, testing::IsEmpty());
}

TEST_F(TraceDiffTest, AShorterTraceLacksCalls) {
  Run a(5);
  Run b(5);
  a.Draw(3);
  b.Draw(3);
  a.test.Frame();
  b.test.Frame();
  a.Draw(3);
  a.test.Frame();
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, b, &differences);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_FALSE(differences[0].in_second);
  EXPECT_EQ(result.frames[0], 2u);
  EXPECT_EQ(result.frames[1], 1u);
}

// Like a recording that cairn trim makes of the other one.
TEST_F(TraceDiffTest, ARecordingThatBeganLateAndWasStoppedIsComparedWhereItIs) {
  Run all(5);
  for (uint32_t frame = 0; frame < 5; ++frame) {
    all.Draw(3 + frame);
    all.test.Frame();
  }
  Run part(7);
  part.test.frame = 2;
  part.test.Add(RecordKind::kStart, 0, {});
  for (uint32_t frame = 2; frame < 4; ++frame) {
    part.Draw(3 + frame);
    part.test.Frame();
  }
  part.test.Add(RecordKind::kStop, 0, {});
  for (const bool swapped : {false, true}) {
    std::vector<CallDifference> differences;
    const TraceDiffResult result =
        swapped ? Compare(part, all, &differences) : Compare(all, part, &differences);
    EXPECT_EQ(result.frames[0], 2u);
    EXPECT_EQ(result.frames[1], 2u);
    EXPECT_THAT(differences, testing::IsEmpty());
  }
}

TEST_F(TraceDiffTest, WithoutAnyEndOfAFrameAllIsCompared) {
  for (const bool stopped : {false, true}) {
    Run a(5);
    Run b(5);
    for (Run* const run : {&a, &b}) {
      run->Draw(run == &a ? 3 : 4);
      if (stopped) run->test.Add(RecordKind::kStop, 0, {});
    }
    std::vector<CallDifference> differences;
    EXPECT_EQ(Compare(a, b, &differences).differences, 2u);
  }
}

TEST_F(TraceDiffTest, FramesMayHaveAnyNumber) {
  Run a(5);
  a.Draw(3);
  a.test.frame = kNoFrame;
  a.test.Frame();
  TraceReader first = a.test.Open();
  TraceReader second = a.test.Open();
  const Result<TraceDiffResult> result = CompareTraces(first, second, {});
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(TraceDiffTest, CallsThatRestoreAStateAreLeftOut) {
  Run a(5);
  Run b(5);
  const auto body =
      CallBuilder().Call(Method::ID3D12GraphicsCommandList_DrawInstanced, 99, 1, 0, 0);
  b.test.Add(RecordKind::kCall, b.list, body.bytes,
             static_cast<uint16_t>(Method::ID3D12GraphicsCommandList_DrawInstanced),
             kRecordRestores);
  for (Run* const run : {&a, &b}) {
    run->Draw(3);
    run->test.Frame();
  }
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 0u);
}

TEST_F(TraceDiffTest, ThreadsMayRunInAnotherOrder) {
  Run a(5);
  Run b(5);
  a.test.thread = 0;
  a.Draw(3);
  a.test.thread = 1;
  a.Draw(4);
  b.test.thread = 1;
  b.Draw(4);
  b.test.thread = 0;
  b.Draw(3);
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 0u);
}

TEST_F(TraceDiffTest, ThreadsMayBeNumberedInAnotherOrder) {
  Run a(5);
  Run b(5);
  for (const uint32_t thread : {0u, 1u, 2u, 3u}) {
    a.test.thread = thread;
    a.Draw(10 + thread);
    a.Draw(20 + thread);
    b.test.thread = 3 - thread;
    b.Draw(10 + thread);
    b.Draw(20 + thread);
  }
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 0u);
}

TEST_F(TraceDiffTest, ThreadsThatDifferArePairedByWhatTheyHaveInCommon) {
  Run a(5);
  Run b(5);
  for (const uint32_t thread : {0u, 1u}) {
    a.test.thread = thread;
    for (uint32_t i = 0; i < 5; ++i) a.Draw(10 * thread + i);
    b.test.thread = 1 - thread;
    for (uint32_t i = 1; i < 5; ++i) b.Draw(10 * thread + i);
  }
  b.test.thread = 7;
  b.Draw(99);
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 3u);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_FALSE(differences[0].in_second);
  EXPECT_EQ(differences[0].thread, 0u);
  EXPECT_EQ(differences[0].other_thread, 1u);
  EXPECT_FALSE(differences[1].in_second);
  EXPECT_EQ(differences[1].thread, 1u);
  EXPECT_EQ(differences[1].other_thread, 0u);
  EXPECT_TRUE(differences[2].in_second);
  EXPECT_EQ(differences[2].thread, 7u);
  EXPECT_EQ(differences[2].other_thread, std::nullopt);
}

TEST_F(TraceDiffTest, VeryManyThreadsAreThoseOfTheSameIndex) {
  Run a(5);
  Run b(5);
  for (uint32_t thread = 0; thread < 100; ++thread) {
    a.test.thread = b.test.thread = thread;
    a.Draw(1000 + thread);
    b.Draw(2000 + thread);
  }
  std::vector<CallDifference> differences;
  EXPECT_EQ(Compare(a, b, &differences).differences, 200u);
  for (const CallDifference& difference : differences) {
    EXPECT_EQ(difference.thread, difference.other_thread);
  }
}

TEST_F(TraceDiffTest, PollsAreLeftOut) {
  Run a(5);
  Run b(5);
  for (Run* const run : {&a, &b}) run->test.Object(6, Chain::kID3D12Fence, kDevice);
  a.test.Call(Method::ID3D12Fence_GetCompletedValue, 6);
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, b, &differences);
  EXPECT_EQ(result.differences, 0u);
  EXPECT_EQ(result.calls[0], 0u);
}

TEST_F(TraceDiffTest, HashesOfFramesAreCompared) {
  Run a(5);
  Run b(5);
  for (uint64_t frame = 0; frame < 3; ++frame) {
    FrameBody body{};
    body.frame = frame;
    body.hashed = 1;
    body.hash_low = frame;
    a.test.Add(RecordKind::kFrame, 0, BodyBytes(body));
    if (frame == 2) body.hash_high = 1;
    b.test.Add(RecordKind::kFrame, 0, BodyBytes(body));
  }
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, b, &differences);
  EXPECT_EQ(result.compared_images, 3u);
  EXPECT_EQ(result.different_images, std::vector<uint64_t>{2});
}

TEST_F(TraceDiffTest, CallsThatContradictThemselvesAreComparedByName) {
  Run a(5);
  Run b(5);
  for (Run* const run : {&a, &b}) {
    run->test.Call(Method::ID3D12GraphicsCommandList_DrawInstanced, 5, {});
  }
  std::vector<CallDifference> differences;
  const TraceDiffResult result = Compare(a, b, &differences);
  EXPECT_EQ(result.differences, 0u);
  EXPECT_EQ(result.undecoded, 2u);
}

TEST_F(TraceDiffTest, NoSuchFrame) {
  Run a(5);
  Run b(5);
  TraceReader first = a.test.Open();
  TraceReader second = b.test.Open();
  TraceDiffOptions options;
  options.frames.first = 4;
  EXPECT_EQ(CompareTraces(first, second, options).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(TraceDiffTest, WantedFramesAreThoseOfBoth) {
  Run a(5);
  Run b(5);
  for (uint32_t frame = 0; frame < 20; ++frame) a.test.Frame();
  b.test.frame = 5;
  for (uint32_t frame = 5; frame < 10; ++frame) b.test.Frame();
  b.test.Add(RecordKind::kStop, 0, {});
  TraceReader first = a.test.Open();
  TraceReader second = b.test.Open();
  const Result<FrameRange> some = ComparableFrames(first, second, {3, 8});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->first, 5u);
  EXPECT_EQ(some->end, 8u);
  for (const FrameRange& wanted : {FrameRange{3, 4}, FrameRange{18, 31}}) {
    EXPECT_EQ(ComparableFrames(first, second, wanted).status().message(),
              "there is no frame " + std::to_string(wanted.first) +
                  " in both: the first has frames 0 to 19, the second frames 5 to 9");
  }
}

TEST_F(TraceDiffTest, NoFrameInBoth) {
  Run a(5);
  Run b(5);
  a.test.Frame();
  b.test.frame = 7;
  b.test.Frame();
  TraceReader first = a.test.Open();
  TraceReader second = b.test.Open();
  EXPECT_EQ(
      CompareTraces(first, second, {}).status().message(),
      "the traces have no frame in common: the first has frames 0 to 0, the second frames 7 to 7");
}

}  // namespace
}  // namespace cairn::cli
