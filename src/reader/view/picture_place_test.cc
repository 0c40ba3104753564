// SPDX-License-Identifier: Apache-2.0
//
// Checks how far a trace that a test writes down is played for the images around a call.
#include "reader/view/picture_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kQueue = 2, kList = 3, kOther = 4, kPipeline = 5;

class PicturePlaceTest : public testing::Test {
 protected:
  uint64_t Draw(uint64_t list) {
    return trace_.Make(Method::ID3D12GraphicsCommandList_DrawInstanced, list, 3u, 1u, 0u, 0u);
  }
  uint64_t SetPipeline(uint64_t list) {
    return trace_.Make(Method::ID3D12GraphicsCommandList_SetPipelineState, list,
                       ObjectPointer(kPipeline));
  }
  uint64_t Reset(uint64_t list) {
    return trace_.Make(Method::ID3D12GraphicsCommandList_Reset, list, ObjectPointer(9),
                       ObjectPointer(kPipeline));
  }
  uint64_t Submit(const std::vector<uint64_t>& lists) {
    std::vector<void*> pointers;
    for (const uint64_t list : lists) pointers.push_back(ObjectPointer(list));
    return trace_.Make(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue,
                       static_cast<uint32_t>(pointers.size()), pointers.data());
  }
  Result<PicturePlace> Find(uint64_t call, PictureMoment moment,
                            uint64_t unfinished = UnfinishedWork::kNone) {
    TraceReader trace = trace_.Open();
    return FindPicturePlace(trace, call, moment, {.first_call = unfinished});
  }
  std::string Refusal(uint64_t call, PictureMoment moment, uint64_t unfinished) {
    const Result<PicturePlace> place = Find(call, moment, unfinished);
    EXPECT_EQ(place.status().code(), StatusCode::kUnsupported);
    return place.status().message();
  }

  TestTrace trace_;
};

TEST_F(PicturePlaceTest, AListIsExecutedUpToItsCall) {
  const uint64_t earlier = Draw(kList);
  const uint64_t call = Draw(kList);
  const uint64_t state = SetPipeline(kList);
  const uint64_t other = Draw(kOther);
  const uint64_t later = Draw(kList);
  const uint64_t submission = Submit({kOther, kList, 7});
  Submit({kList});

  const PicturePlace before = Find(call, PictureMoment::kBefore).value();
  EXPECT_EQ(before.last_call, submission);
  EXPECT_THAT(before.omissions.calls, UnorderedElementsAre(call, later));
  EXPECT_THAT(before.omissions.lists, UnorderedElementsAre(Omissions::ListKey(submission, 2)));
  EXPECT_EQ(before.first_left_out, call);
  EXPECT_TRUE(before.is_partial());

  const PicturePlace after = Find(call, PictureMoment::kAfter).value();
  EXPECT_EQ(after.last_call, submission);
  EXPECT_THAT(after.omissions.calls, UnorderedElementsAre(later));
  // A call that is no work: nothing before it is left out.
  EXPECT_THAT(Find(state, PictureMoment::kAfter)->omissions.calls, UnorderedElementsAre(later));
  EXPECT_THAT(Find(earlier, PictureMoment::kAfter)->omissions.calls,
              UnorderedElementsAre(call, later));
  EXPECT_THAT(Find(other, PictureMoment::kAfter)->omissions.calls, IsEmpty());
  // The last work of a list leaves nothing out, and what was played is a part all the same.
  EXPECT_TRUE(Find(later, PictureMoment::kAfter)->is_partial());
}

TEST_F(PicturePlaceTest, SubmittedWorkIsPlayedUpToTheCall) {
  const uint64_t draw = Draw(kList);
  const uint64_t submission = Submit({kList});
  const PicturePlace place = Find(draw, PictureMoment::kSubmitted).value();
  EXPECT_EQ(place.last_call, draw);
  EXPECT_FALSE(place.is_partial());
  EXPECT_EQ(Find(submission, PictureMoment::kAfter)->last_call, submission);
  EXPECT_EQ(Find(submission, PictureMoment::kBefore)->last_call, submission - 1);
  EXPECT_EQ(Find(submission + 1, PictureMoment::kSubmitted).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(PicturePlaceTest, AListThatIsNotSubmittedHasNoPlace) {
  const uint64_t draw = Draw(kList);
  Reset(kList);
  Submit({kList});
  const uint64_t last = Draw(kOther);
  EXPECT_THAT(Find(draw, PictureMoment::kBefore).status().message(), HasSubstr("not submitted"));
  EXPECT_THAT(Find(last, PictureMoment::kBefore).status().message(), HasSubstr("not submitted"));
}

TEST_F(PicturePlaceTest, WorkThatHadNotEndedIsNotPlayed) {
  const uint64_t first = Draw(kList);
  Submit({kList});
  const uint64_t earlier = Draw(kList);
  const uint64_t unfinished = Draw(kList);
  const uint64_t behind = Draw(kList);
  const uint64_t other = Draw(kOther);
  const uint64_t submission = Submit({kList});
  const uint64_t end = Submit({kOther});

  EXPECT_TRUE(Find(first, PictureMoment::kAfter, unfinished).ok());
  EXPECT_TRUE(Find(earlier, PictureMoment::kAfter, unfinished).ok());
  // The picture of the moment before it failed.
  const PicturePlace before = Find(unfinished, PictureMoment::kBefore, unfinished).value();
  EXPECT_EQ(before.last_call, submission);
  EXPECT_THAT(before.omissions.calls, UnorderedElementsAre(unfinished, behind));
  EXPECT_TRUE(Find(submission - 1, PictureMoment::kSubmitted, unfinished).ok());
  EXPECT_TRUE(Find(submission, PictureMoment::kBefore, unfinished).ok());

  EXPECT_THAT(Refusal(unfinished, PictureMoment::kAfter, unfinished), HasSubstr("may hang"));
  EXPECT_THAT(Refusal(behind, PictureMoment::kBefore, unfinished), HasSubstr("may hang"));
  EXPECT_THAT(Refusal(other, PictureMoment::kBefore, unfinished), HasSubstr("may hang"));
  EXPECT_THAT(Refusal(submission, PictureMoment::kSubmitted, unfinished), HasSubstr("may hang"));
  EXPECT_THAT(Refusal(end, PictureMoment::kBefore, unfinished), HasSubstr("may hang"));
  // Nobody knows which.
  EXPECT_THAT(Refusal(first, PictureMoment::kSubmitted, 0), HasSubstr("does not say"));
  EXPECT_THAT(Refusal(first, PictureMoment::kBefore, 0), HasSubstr("may hang"));
}

TEST_F(PicturePlaceTest, UnfinishedWorkOfAnotherListInTheSubmissionIsNotPlayed) {
  const uint64_t draw = Draw(kList);
  const uint64_t unfinished = Draw(kOther);
  Submit({kOther, kList});
  EXPECT_THAT(Refusal(draw, PictureMoment::kBefore, unfinished), HasSubstr("may hang"));
  EXPECT_TRUE(Find(draw, PictureMoment::kBefore).ok());
}

TEST_F(PicturePlaceTest, OtherQueuesPlayWhatHadEnded) {
  const uint64_t compute = Draw(kOther);
  const uint64_t unfinished = Draw(kList);
  Submit({kOther});
  Submit({kList});
  EXPECT_TRUE(Find(unfinished, PictureMoment::kBefore, unfinished).ok());
  EXPECT_TRUE(Find(compute, PictureMoment::kAfter, unfinished).ok());
}

class UnfinishedWorkTest : public PicturePlaceTest {
 protected:
  uint64_t FirstCall() {
    TraceReader trace = trace_.Open();
    return UnfinishedWork::Of(trace, &snapshot_, analysis_).first_call;
  }
  void AddExecution(WorkState state, const std::vector<std::pair<uint64_t, WorkState>>& scopes) {
    analysis_.executions.push_back({.state = state,
                                    .first_scope = static_cast<uint32_t>(analysis_.scopes.size()),
                                    .scope_count = static_cast<uint32_t>(scopes.size())});
    for (const auto& [call, scope_state] : scopes) AddScope(call, scope_state);
  }
  void AddScope(uint64_t call, WorkState state) {
    analysis_.scopes.push_back(
        {.event = static_cast<uint32_t>(snapshot_.events.size()), .state = state});
    snapshot_.events.push_back({.call = call});
  }
  void Fail() { snapshot_.incidents.push_back({.kind = IncidentKind::kHang}); }

  Snapshot snapshot_;
  Analysis analysis_;
};

TEST_F(UnfinishedWorkTest, BeginsWithTheFirstCallThatHadNotEnded) {
  const uint64_t first = Draw(kList);
  const uint64_t pass = SetPipeline(kOther);
  const uint64_t ended = Draw(kOther);
  const uint64_t in_flight = Draw(kOther);
  const uint64_t not_started = Draw(kOther);
  AddExecution(WorkState::kCompleted, {{first, WorkState::kCompleted}});
  AddExecution(WorkState::kInFlight, {{pass, WorkState::kInFlight},
                                      {ended, WorkState::kCompleted},
                                      {in_flight, WorkState::kInFlight},
                                      {not_started, WorkState::kNotStarted}});
  analysis_.scopes[1].has_children = true;  // the pass
  TraceReader trace = trace_.Open();
  EXPECT_EQ(UnfinishedWork::Of(trace, &snapshot_, analysis_).first_call, UnfinishedWork::kNone)
      << "nothing failed";
  Fail();
  EXPECT_EQ(FirstCall(), in_flight);
}

TEST_F(UnfinishedWorkTest, WorkThatTheGpuToldNothingAboutCounts) {
  Draw(kOther);  // of a recording before
  Reset(kOther);
  const uint64_t untold = Draw(kOther);
  const uint64_t ended = Draw(kOther);
  const uint64_t in_flight = Draw(kOther);
  AddExecution(WorkState::kInFlight,
               {{ended, WorkState::kCompleted}, {in_flight, WorkState::kInFlight}});
  Fail();
  EXPECT_EQ(FirstCall(), untold);
}

TEST_F(UnfinishedWorkTest, AllListsThatHadNotEndedCount) {
  const uint64_t untold = Draw(kOther);
  const uint64_t first = Draw(kList);
  const uint64_t second = Draw(kOther);
  AddExecution(WorkState::kInFlight, {{first, WorkState::kInFlight}});
  AddExecution(WorkState::kInFlight, {{second, WorkState::kNotStarted}});
  Fail();
  EXPECT_EQ(FirstCall(), untold);
}

TEST_F(UnfinishedWorkTest, OneExecutionOfAListMayHaveEndedAlone) {
  const uint64_t draw = Draw(kList);
  const uint64_t later = Draw(kList);
  AddExecution(WorkState::kCompleted,
               {{draw, WorkState::kCompleted}, {later, WorkState::kCompleted}});
  AddExecution(WorkState::kInFlight,
               {{draw, WorkState::kInFlight}, {later, WorkState::kNotStarted}});
  Fail();
  EXPECT_EQ(FirstCall(), draw);
}

TEST_F(UnfinishedWorkTest, IsUnknownWhereNoCallIsKnown) {
  const uint64_t draw = Draw(kList);
  AddExecution(WorkState::kInFlight, {{draw, WorkState::kInFlight}});
  AddExecution(WorkState::kUnknown, {});
  Fail();
  EXPECT_EQ(FirstCall(), 0u);
}

TEST_F(UnfinishedWorkTest, ATraceThatWasCutOutOfAnotherMayBeThePartThatFails) {
  TraceReader whole = trace_.Open();
  EXPECT_EQ(UnfinishedWork::Of(whole, nullptr, {}).first_call, UnfinishedWork::kNone);
  TraceFacts facts = SampleFacts();
  facts.trimmed = true;
  TestTrace part(Compression::kZstd, MakeTraceTable(facts));
  TraceReader trace = part.Open();
  EXPECT_EQ(UnfinishedWork::Of(trace, nullptr, {}).first_call, 0u);
}

}  // namespace
}  // namespace cairn::cli
