// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/testing/context_fixture.h"

namespace cairn {
namespace {

using testing::ElementsAre;

TEST_F(ContextTest, FullModeWritesAroundEverything) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_PASS, "Shadow", CAIRN_NAME_STATIC), CAIRN_OK);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC), CAIRN_OK);
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  EXPECT_EQ(list->End(), CAIRN_OK);
  EXPECT_THAT(Events(*list),
              ElementsAre(SeenEvent{EventKind::kBegin, kTop, CAIRN_MARKER_PASS, "Shadow", 0},
                          SeenEvent{EventKind::kBegin, kTop, CAIRN_MARKER_DRAW, "", 0},
                          SeenEvent{EventKind::kEnd, kBottom, 0, "", 2},
                          SeenEvent{EventKind::kEnd, kBottom, 0, "", 1}));
  SimulatedGpu::Execute(native, 3);
  EXPECT_EQ(Reached(*list), 2u);
  EXPECT_EQ(Passed(*list), 3u);
  EXPECT_FALSE(list->ProvenFinished());
  SimulatedGpu::Execute(native);
  EXPECT_EQ(Passed(*list), 4u);
  EXPECT_TRUE(list->ProvenFinished());
}

TEST_F(ContextTest, PassModeWritesTheBottomWherePassesEnd) {
  CairnContextDesc desc = Desc();
  desc.mode = CAIRN_MODE_PASS;
  Make(desc);
  SimulatedList native;
  CommandList* list = Begin(native);
  list->BeginMarker(CAIRN_MARKER_PASS, "Shadow", CAIRN_NAME_STATIC);
  list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
  list->EndMarker();
  list->EndMarker();
  list->BeginMarker(CAIRN_MARKER_DISPATCH, nullptr, CAIRN_NAME_STATIC);
  list->EndMarker();
  list->End();
  std::vector<int> flags;
  for (const SeenEvent& event : Events(*list)) flags.push_back(event.flags);
  EXPECT_THAT(flags, ElementsAre(kTop, kTop, 0, kBottom, kTop, kBottom));
}

TEST_F(ContextTest, TopModeWritesTheBottomOnlyAtTheEndOfTheList) {
  CairnContextDesc desc = Desc();
  desc.mode = CAIRN_MODE_TOP;
  Make(desc);
  SimulatedList native;
  CommandList* list = Begin(native);
  for (int i = 0; i < 2; ++i) {
    list->BeginMarker(CAIRN_MARKER_PASS, "P", CAIRN_NAME_STATIC);
    list->EndMarker();
  }
  list->End();
  std::vector<int> flags;
  for (const SeenEvent& event : Events(*list)) flags.push_back(event.flags);
  EXPECT_THAT(flags, ElementsAre(kTop, 0, kTop, kBottom));
  SimulatedGpu::Execute(native);
  EXPECT_TRUE(list->ProvenFinished());
}

TEST_F(ContextTest, WritesThatTheBackendRefusesAreNotClaimed) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  EXPECT_EQ(list->SetInsideRenderPass(true), CAIRN_OK);
  EXPECT_EQ(list->SetInsideRenderPass(true), CAIRN_ERROR_INVALID_ARGUMENT);
  list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
  list->EndMarker();
  EXPECT_EQ(list->SetInsideRenderPass(false), CAIRN_OK);
  list->End();
  std::vector<int> flags;
  for (const SeenEvent& event : Events(*list)) flags.push_back(event.flags);
  EXPECT_THAT(flags, ElementsAre(0, kBottom));
}

TEST_F(ContextTest, MisuseIsRefused) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  EXPECT_EQ(list->EndMarker(), CAIRN_ERROR_UNBALANCED_MARKER);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_PASS, nullptr, CAIRN_NAME_STATIC),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_TYPE_LIMIT, "x", CAIRN_NAME_STATIC),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(list->End(), CAIRN_OK);
  EXPECT_EQ(list->End(), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC),
            CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(context_->ReleaseCommandList(list).code(), StatusCode::kInvalidArgument);
  // A list without work has only its end.
  EXPECT_EQ(Events(*list), std::vector{(SeenEvent{EventKind::kEnd, kBottom, 0, "", 0})});
}

TEST_F(ContextTest, CopiedNamesMayChangeAtOnceAndLongOnesAreCut) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  std::string name = "Draw 1";
  list->BeginMarker(CAIRN_MARKER_DRAW, name.c_str(), CAIRN_NAME_COPY);
  name = "Draw 2";
  list->BeginMarker(CAIRN_MARKER_DRAW, name.c_str(), CAIRN_NAME_COPY);
  const std::string longest(5000, 'n');
  list->BeginMarker(CAIRN_MARKER_DRAW, longest.c_str(), CAIRN_NAME_COPY);
  const std::vector<SeenEvent> events = Events(*list);
  EXPECT_EQ(events[0].name, "Draw 1");
  EXPECT_EQ(events[1].name, "Draw 2");
  EXPECT_EQ(events[2].name, longest.substr(0, kMaxNameBytes));
  EXPECT_EQ(events[2].flags, kTop | kEventNameTruncated);
}

// The original's second memory block started with an uninitialised cursor.
TEST_F(ContextTest, StaticNamesThatChangeAreCopiedAndFillNothing) {
  Make();
  char name[16] = "first";
  uint64_t pages_after_warm_up = 0;
  for (int frame = 0; frame < 2000; ++frame) {
    context_->BeginFrame();
    SimulatedList native;
    CommandList* list = Begin(native);
    list->BeginMarker(CAIRN_MARKER_PASS, name, CAIRN_NAME_STATIC);
    list->EndMarker();
    list->End();
    EXPECT_EQ(Events(*list)[0].name, name);
    SimulatedGpu::Execute(native);
    std::snprintf(name, sizeof(name), "%d", frame);
    if (frame == 10) pages_after_warm_up = block_->header()->next_page.load();
  }
  EXPECT_EQ(block_->header()->next_page.load(), pages_after_warm_up);
}

TEST_F(ContextTest, KnownFailure01_MoreMarkersThanOneBlockHolds) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  constexpr uint32_t kCount = kEventsPerChunk * 3 + 7;
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(list->BeginMarker(CAIRN_MARKER_DRAW, "d", CAIRN_NAME_STATIC), CAIRN_OK);
    ASSERT_EQ(list->EndMarker(), CAIRN_OK);
  }
  list->End();
  const std::vector<SeenEvent> events = Events(*list);
  ASSERT_EQ(events.size(), 2 * kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(events[2 * i].kind, EventKind::kBegin);
    ASSERT_EQ(events[2 * i + 1].match, 2 * i + 1);
  }
  // Every write goes to the two words of this list and nowhere else.
  for (const SimulatedList::Write& write : native.writes) {
    const auto offset = reinterpret_cast<std::byte*>(write.word) -
                        reinterpret_cast<const std::byte*>(&Words(*list));
    ASSERT_TRUE(offset == 0 || offset == 4) << offset;
  }
  SimulatedGpu::Execute(native);
  EXPECT_EQ(Reached(*list), 2 * kCount - 1);
  EXPECT_EQ(Passed(*list), 2 * kCount);
}

TEST_F(ContextTest, KnownFailure02_ARecycledSlotShowsNothingOfItsFormerList) {
  Make();
  SimulatedList first;
  CommandList* list = Begin(first);
  list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
  list->EndMarker();
  list->End();
  SimulatedGpu::Execute(first);
  const uint32_t slot = list->slot_index();
  for (int i = 0; i < 3; ++i) context_->BeginFrame();
  SimulatedList second;
  CommandList* recycled = Begin(second);
  ASSERT_EQ(recycled->slot_index(), slot);
  recycled->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
  recycled->EndMarker();
  EXPECT_EQ(Reached(*recycled), 0u);
  EXPECT_EQ(Passed(*recycled), 0u);
  // Late writes of the former list mean nothing to the new one.
  SimulatedGpu::ExecuteAgain(first);
  EXPECT_EQ(Reached(*recycled), 0u);
  EXPECT_EQ(Passed(*recycled), 0u);
  SimulatedGpu::Execute(second);
  EXPECT_TRUE(recycled->ProvenFinished());
}

TEST_F(ContextTest, KnownFailure04_ListsThatNeverRanHaveReachedNothing) {
  Make();
  for (int frame = 0; frame < 5; ++frame) {
    context_->BeginFrame();
    SimulatedList native;
    CommandList* list = Begin(native);
    list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
    list->EndMarker();
    list->End();
    EXPECT_FALSE(list->ReachedAnything());
  }
}

TEST_F(ContextTest, KnownFailure06_NothingGrowsWithFramesAndLists) {
  Make();
  uint64_t pages_after_warm_up = 0;
  for (int frame = 0; frame < 1000; ++frame) {
    context_->BeginFrame();
    for (int i = 0; i < 3; ++i) {
      SimulatedList native;
      CommandList* list = Begin(native);
      list->BeginMarker(CAIRN_MARKER_PASS, "left open", CAIRN_NAME_COPY);
      list->BeginMarker(CAIRN_MARKER_DRAW, "inner", CAIRN_NAME_COPY);
      list->EndMarker();
      if (i == 0) list->End();
      SimulatedGpu::Execute(native);
    }
    if (frame == 10) pages_after_warm_up = block_->header()->next_page.load();
  }
  EXPECT_EQ(block_->header()->next_page.load(), pages_after_warm_up);
  EXPECT_LE(live_lists_, 3 * 3);
  Context::Destroy(context_);
  context_ = nullptr;
  EXPECT_EQ(live_lists_, 0);
}

TEST_F(ContextTest, AListThatIsStillRecordedOutlivesItsFrame) {
  Make();
  SimulatedList slow;
  SimulatedList empty;
  CommandList* recorded = Begin(slow);
  CommandList* nothing_yet = Begin(empty);
  recorded->BeginMarker(CAIRN_MARKER_PASS, "outer", CAIRN_NAME_STATIC);
  for (int i = 0; i < 10; ++i) context_->BeginFrame();
  SimulatedList other;
  CommandList* another = Begin(other);
  EXPECT_NE(another, recorded);
  EXPECT_NE(another, nothing_yet);
  EXPECT_EQ(recorded->EndMarker(), CAIRN_OK);
  EXPECT_EQ(nothing_yet->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC), CAIRN_OK);
  EXPECT_EQ(recorded->End(), CAIRN_OK);
  context_->BeginFrame();
  EXPECT_FALSE(recorded->in_use());
  EXPECT_TRUE(nothing_yet->in_use());
  // The native list is recorded again, so that the old recording was given up.
  CommandList* anew = Begin(empty);
  EXPECT_EQ(context_->block()->contexts()[0].lists_dropped.load(), 0u);
  EXPECT_TRUE(anew == nothing_yet || !nothing_yet->in_use());
}

TEST_F(ContextTest, AForgottenListIsNotSubmitted) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  list->End();
  for (int i = 0; i < 3; ++i) context_->BeginFrame();
  int queue = 0;
  EXPECT_EQ(context_->NotifySubmit(&queue, &list, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(block_->header()->submission_serial.load(), 0u);
}

TEST_F(ContextTest, KnownFailure09_APrerecordedListSubmittedTwiceIsTwoExecutions) {
  Make();
  SimulatedList native;
  CommandList* list = RecordOneDraw(native);
  int queue = 0;
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  SimulatedGpu::Execute(native);
  EXPECT_TRUE(list->ProvenFinished());
  // The second execution starts from clean words, not from those of the first.
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  EXPECT_EQ(list->slot()->submit_count.load(), 2u);
  EXPECT_EQ(list->slot()->reset_run.load(), 1u);
  EXPECT_EQ(Reached(*list), 0u);
  SimulatedGpu::ExecuteAgain(native, 1);
  EXPECT_EQ(Reached(*list), 1u);
  EXPECT_EQ(Passed(*list), 0u);
  EXPECT_FALSE(list->ProvenFinished());
  const auto* ring = reinterpret_cast<const SubmissionRecord*>(
      block_->data() + block_->header()->submissions_offset);
  EXPECT_EQ(ring[0].run, 1u);
  EXPECT_EQ(ring[1].run, 2u);
  EXPECT_EQ(ring[1].submission_number, 2u);
}

TEST_F(ContextTest, ASubmissionTellsItsPipelinesAndWhenItsEndWasSeen) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  for (const CairnPipeline pipeline : {CairnPipeline{3}, CairnPipeline{66}, CairnPipeline{3}}) {
    list->BeginWork(CAIRN_MARKER_DISPATCH, pipeline);
    list->EndWork();
  }
  list->End();
  int queue = 0;
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  const auto* ring = reinterpret_cast<const SubmissionRecord*>(
      block_->data() + block_->header()->submissions_offset);
  EXPECT_EQ(ring[0].pipelines, uint64_t{1} << 3 | uint64_t{1} << 2);
  EXPECT_EQ(ring[1].pipelines, ring[0].pipelines);
  EXPECT_EQ(ring[0].ended_ns.load(), 0u);
  ASSERT_TRUE(context_->NotifyCompleted(&queue, 1).ok());
  const uint64_t ended_ns = ring[0].ended_ns.load();
  EXPECT_GE(ended_ns, ring[0].time_ns);
  EXPECT_EQ(ring[1].ended_ns.load(), 0u);
  // Told again: the first time counts.
  ASSERT_TRUE(context_->NotifyCompleted(&queue, 1).ok());
  EXPECT_EQ(ring[0].ended_ns.load(), ended_ns);
  // Recorded anew it has other pipelines.
  SimulatedList other;
  CommandList* copies = Begin(other);
  copies->BeginWork(CAIRN_MARKER_COPY_BUFFER_REGION, 0);
  copies->EndWork();
  copies->End();
  ASSERT_TRUE(context_->NotifySubmit(&queue, &copies, 1).ok());
  EXPECT_EQ(ring[2].pipelines, 1u);
}

TEST_F(ContextTest, TheLastFramesStayReadableAfterTheContext) {
  Make();
  SimulatedList native;
  CommandList* list = RecordOneDraw(native);
  SimulatedGpu::Execute(native);
  const RecordingSlot* slot = list->slot();
  Context::Destroy(context_);
  context_ = nullptr;
  EXPECT_EQ(live_lists_, 0);
  EXPECT_EQ(block_->contexts()[0].state.load(), 2u);
  EXPECT_EQ(slot->state.load(), static_cast<uint32_t>(RecordingState::kClosed));
  EXPECT_EQ(slot->event_count.load(), 2u);
}

TEST_F(ContextTest, AContextThatCannotBeInitialisedIsNeverPublished) {
  Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinBlockBytes);
  ASSERT_TRUE(block.ok());
  CairnContextDesc desc = Desc();
  desc.max_command_lists = 65536;
  desc.raw_marker_count = 1048576;
  const Result<Context*> context =
      Context::Create(desc, block->get(), std::make_unique<SimulatedBackend>());
  EXPECT_EQ(context.status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ((*block)->contexts()[0].state.load(), 0u);
}

TEST_F(ContextTest, AListThatTheGpuStillRunsOutlivesItsFrame) {
  Make();
  SimulatedList native;
  CommandList* list = RecordOneDraw(native);
  SimulatedGpu::Execute(native, 1);
  for (int i = 0; i < 10; ++i) context_->BeginFrame();
  EXPECT_EQ(list->slot()->state.load(), static_cast<uint32_t>(RecordingState::kClosed));
  SimulatedGpu::Execute(native);
  context_->BeginFrame();
  EXPECT_EQ(list->slot()->state.load(), static_cast<uint32_t>(RecordingState::kFree));
}

TEST_F(ContextTest, ASubmittedListIsKeptUntilItFinishesOrIsToldComplete) {
  Make();
  SimulatedList native;
  CommandList* list = RecordOneDraw(native);
  int queue = 0;
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  for (int i = 0; i < 10; ++i) context_->BeginFrame();
  EXPECT_EQ(list->slot()->state.load(), static_cast<uint32_t>(RecordingState::kClosed));
  uint64_t submission = 0;
  ASSERT_TRUE(context_->LastSubmission(&queue, &submission).ok());
  EXPECT_EQ(submission, 1u);
  EXPECT_EQ(context_->NotifyCompleted(&queue, 2).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(context_->NotifyCompleted(&queue, submission).ok());
  context_->BeginFrame();
  EXPECT_EQ(list->slot()->state.load(), static_cast<uint32_t>(RecordingState::kFree));
}

// Without a write behind its last event, a list's end is not proven: its words are not cleared for
// another submission as if it had finished.
TEST_F(ContextTest, AListWhoseEndIsNotProvenIsNotCleared) {
  CairnContextDesc desc = Desc();
  desc.mode = CAIRN_MODE_TOP;
  Make(desc);
  SimulatedList native;
  CommandList* list = Begin(native);
  list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC);
  list->EndMarker();
  int queue = 0;
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  SimulatedGpu::Execute(native);
  EXPECT_TRUE(list->NothingMoreToCome());
  EXPECT_FALSE(list->ProvenFinished());
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  EXPECT_EQ(list->slot()->reset_run.load(), 0u);
  EXPECT_EQ(Reached(*list), 1u);
  ASSERT_TRUE(context_->NotifyCompleted(&queue, 2).ok());
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  EXPECT_EQ(list->slot()->reset_run.load(), 2u);
  EXPECT_EQ(Reached(*list), 0u);
}

TEST_F(ContextTest, ReusableListsBelongToNoFrame) {
  Make();
  SimulatedList native;
  CommandList* list = RecordOneDraw(native, CAIRN_LIST_REUSABLE);
  for (int i = 0; i < 10; ++i) context_->BeginFrame();
  EXPECT_EQ(list->slot()->state.load(), static_cast<uint32_t>(RecordingState::kClosed));
  EXPECT_TRUE(context_->ReleaseCommandList(list).ok());
  EXPECT_EQ(context_->ReleaseCommandList(list).code(), StatusCode::kInvalidArgument);
}

TEST_F(ContextTest, FullTablesAreCountedNotOverrun) {
  CairnContextDesc desc = Desc();
  desc.max_command_lists = 2;
  Make(desc);
  SimulatedList natives[3];
  Begin(natives[0]);
  Begin(natives[1]);
  CairnCommandListDesc list_desc{};
  list_desc.native = &natives[2];
  CommandList* list = nullptr;
  EXPECT_EQ(context_->BeginCommandList(list_desc, &list).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(list, nullptr);
  EXPECT_EQ(block_->contexts()[0].lists_dropped.load(), 1u);
}

TEST_F(ContextTest, EventsThatFindNoMemoryAreCounted) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  while (block_->AllocatePage() != 0) {
  }
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC),
            CAIRN_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  EXPECT_EQ(list->slot()->dropped_count.load(), 1u);
  EXPECT_EQ(list->End(), CAIRN_OK);
  EXPECT_TRUE(native.writes.empty());
}

TEST_F(ContextTest, RawMarkersStartUnwrittenAndHoldWhatTheGpuWrote) {
  Make();
  SimulatedList native;
  ASSERT_TRUE(context_->WriteRaw(&native, PipeLocation::kTop, 3, 0x0123456789ABCDEF).ok());
  EXPECT_EQ(context_->raw_markers()[3], kRawMarkerUnwritten);
  SimulatedGpu::Execute(native);
  EXPECT_EQ(context_->raw_markers()[3], 0x0123456789ABCDEFu);
  EXPECT_EQ(context_->raw_markers()[2], kRawMarkerUnwritten);
}

TEST_F(ContextTest, PipelinesKeepTheirNamesAfterTheyAreUnregistered) {
  Make();
  CairnPipelineDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.name = "Basic pipeline";
  desc.pixel_shader = "SolidColorPS";
  CairnPipeline pipeline = 0;
  ASSERT_TRUE(context_->RegisterPipeline(desc, &pipeline).ok());
  const PipelineRecord& record = block_->pipelines()[pipeline - 1];
  EXPECT_EQ(Name(record.name), "Basic pipeline");
  EXPECT_EQ(Name(record.shader_names[kStagePixel]), "SolidColorPS");
  EXPECT_EQ(record.shader_names[kStageVertex], 0u);
  EXPECT_TRUE(context_->UnregisterPipeline(pipeline).ok());
  EXPECT_EQ(record.state.load(), 2u);
  EXPECT_EQ(context_->UnregisterPipeline(pipeline).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(context_->UnregisterPipeline(99).code(), StatusCode::kInvalidArgument);
}

TEST_F(ContextTest, ThreadsRecordIntoListsOfTheirOwn) {
  Make();
  constexpr int kThreads = 4;
  constexpr int kMarkers = 2000;
  std::vector<SimulatedList> natives(kThreads);
  std::vector<CommandList*> lists(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      lists[t] = Begin(natives[t]);
      for (int i = 0; i < kMarkers; ++i) {
        lists[t]->BeginMarker(CAIRN_MARKER_DRAW, "same literal", CAIRN_NAME_STATIC);
        lists[t]->EndMarker();
      }
      lists[t]->End();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    const std::vector<SeenEvent> events = Events(*lists[t]);
    ASSERT_EQ(events.size(), 2u * kMarkers);
    for (int i = 0; i < kMarkers; ++i) ASSERT_EQ(events[2 * i].name, "same literal");
  }
}

TEST_F(ContextTest, KnownFailure05_OneListUsedByTwoThreadsWithSynchronisation) {
  CairnContextDesc desc = Desc();
  desc.flags |= CAIRN_CONTEXT_THREAD_SYNCHRONIZATION;
  Make(desc);
  SimulatedList native;
  CommandList* list = Begin(native);
  const auto record = [list] {
    for (int i = 0; i < 5000; ++i) {
      list->BeginMarker(CAIRN_MARKER_DRAW, "copied", CAIRN_NAME_COPY);
      list->EndMarker();
    }
  };
  std::thread other(record);
  record();
  other.join();
  list->End();
  const std::vector<SeenEvent> events = Events(*list);
  EXPECT_EQ(events.size(), 20000u);
  int depth = 0;
  for (const SeenEvent& event : events) {
    depth += event.kind == EventKind::kBegin ? 1 : -1;
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
}

}  // namespace
}  // namespace cairn
