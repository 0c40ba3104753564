// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_from_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>

#include "cairn/marker_types.h"

#include "format/block/raw_marker_binds.h"
#include "format/snapshot/marker_type_name.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "format/snapshot/testing/test_block.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kNow = 1'700'000'005'000'000'000;

Snapshot Take(const TestBlock& block, Moment moment = Moment::kNow) {
  Result<Snapshot> snapshot = SnapshotFromBlock(block.bytes(), kNow, Binaries::kLeaveOut, moment);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
  return snapshot.ok() ? std::move(*snapshot) : Snapshot();
}

std::vector<std::string> Losses(const Snapshot& snapshot) {
  std::vector<std::string> losses;
  for (TextRef loss : snapshot.losses) losses.emplace_back(snapshot.Text(loss));
  return losses;
}

TEST(SnapshotFromBlock, ReadsEverythingThatWasWritten) {
  TestBlock block;
  const uint32_t context = block.AddContext(64, 8);
  block.AddSource(context, "VK_AMD_buffer_marker", SourceState::kPresent, "verified");
  block.AddSource(context, "VK_EXT_device_fault", SourceState::kAbsent, "not enabled");
  const uint32_t queue = block.AddQueue(context, 1, "Async");
  const uint32_t pipeline = block.AddPipeline(context, "Blur");
  block.SetShader(pipeline, kStageCompute, "BlurCS");
  const TestBlock::List list = block.AddList(context, queue, 7, "Main");
  block.slot(list).submission_index = 3;
  const uint32_t pass = block.Begin(list, CAIRN_MARKER_PASS, "Post");
  const uint32_t dispatch = block.Scope(list, CAIRN_MARKER_DISPATCH, "Blur X", pipeline);
  block.End(list, pass);
  block.Close(list);
  block.Submit(queue, list);
  block.SetProgress(list, 2, 0);
  block.raw_markers(context)[5] = 0xABCD;

  const Snapshot s = Take(block);
  EXPECT_THAT(Losses(s), IsEmpty());
  EXPECT_EQ(s.process.process_id, 4711u);
  EXPECT_EQ(s.process.snapshot_time_ns, kNow);
  EXPECT_EQ(s.Text(s.process.program), "/games/demo");
  EXPECT_EQ(s.Text(s.process.library_version), "0.1.0");
  ASSERT_EQ(s.devices.size(), 1u);
  EXPECT_EQ(s.Text(s.devices[0].name), "Test device");
  EXPECT_EQ(s.devices[0].method, WriteMethod::kVulkanBufferMarker);
  ASSERT_EQ(s.sources.size(), 2u);
  EXPECT_EQ(s.Text(s.sources[1].name), "VK_EXT_device_fault");
  EXPECT_EQ(s.Text(s.sources[1].reason), "not enabled");
  ASSERT_EQ(s.queues.size(), 1u);
  EXPECT_EQ(s.Text(s.queues[0].name), "Async");
  EXPECT_EQ(s.queues[0].type, 1u);
  EXPECT_EQ(s.queues[0].submission_count, 1u);
  ASSERT_EQ(s.pipelines.size(), 1u);
  EXPECT_EQ(s.Text(s.pipelines[0].shader_names[kStageCompute]), "BlurCS");
  ASSERT_EQ(s.recordings.size(), 1u);
  const Recording& recording = s.recordings[0];
  EXPECT_EQ(recording.device, 0u);
  EXPECT_EQ(recording.queue, 0u);
  EXPECT_EQ(recording.frame, 7u);
  EXPECT_EQ(recording.submission_index, 3u);
  EXPECT_EQ(s.Text(recording.name), "Main");
  EXPECT_FALSE(recording.open);
  EXPECT_EQ(recording.reached, 2u);
  EXPECT_EQ(recording.passed, 0u);
  EXPECT_EQ(recording.submit_count, 1u);
  ASSERT_EQ(recording.event_count, 4u);
  EXPECT_EQ(s.events[0].match, 4u);
  EXPECT_EQ(s.events[dispatch - 1].match, 3u);
  EXPECT_EQ(s.events[2].match, 2u);
  EXPECT_EQ(s.events[3].match, 1u);
  EXPECT_EQ(s.Text(s.events[1].name), "Blur X");
  EXPECT_EQ(s.events[1].type, CAIRN_MARKER_DISPATCH);
  EXPECT_EQ(s.events[1].pipeline, 0u);
  ASSERT_EQ(s.submissions.size(), 1u);
  EXPECT_EQ(s.submissions[0].recording, 0u);
  EXPECT_EQ(s.submissions[0].number, 1u);
  ASSERT_EQ(s.raw_markers.size(), 1u);
  EXPECT_EQ(s.raw_markers[0].index, 5u);
  EXPECT_EQ(s.raw_markers[0].value, 0xABCDu);
}

// libcairn has the slots of a Direct3D 11 device, the layer the lists.
TEST(SnapshotFromBlock, RawMarkersAreOfTheDeviceWhoseListsHaveThem) {
  TestBlock block;
  const uint32_t lists = block.AddContext(8, 0);
  const uint32_t slots = block.AddContext(1, 4);
  ContextRecord& record = block.context(slots);
  block.raw_markers(slots)[3] = 0xDEADCAFE;
  EXPECT_EQ(Take(block).raw_markers.at(0).device, slots);
  RawMarkersOf(record) = lists + 1;
  const Snapshot s = Take(block);
  ASSERT_EQ(s.raw_markers.size(), 1u);
  EXPECT_EQ(s.raw_markers[0].device, lists);
  EXPECT_EQ(s.raw_markers[0].index, 3u);
  for (const uint32_t nobody : {slots + 2, kMaxContexts + 1, 0xFFFFFFFFu}) {
    RawMarkersOf(record) = nobody;
    EXPECT_EQ(Take(block).raw_markers.at(0).device, slots) << nobody;
  }
}

TEST(SnapshotFromBlock, OrdersRecordingsByFrameAndLeavesOutFreeOnes) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  block.AddList(context, kNoQueue, 9, "late");
  const TestBlock::List recycled = block.AddList(context, kNoQueue, 3, "recycled");
  block.AddList(context, kNoQueue, 8, "early");
  block.slot(recycled).state = static_cast<uint32_t>(RecordingState::kFree);
  const Snapshot s = Take(block);
  ASSERT_EQ(s.recordings.size(), 2u);
  EXPECT_EQ(s.Text(s.recordings[0].name), "early");
  EXPECT_EQ(s.Text(s.recordings[1].name), "late");
  EXPECT_EQ(s.recordings[0].queue, kNone);
}

TEST(SnapshotFromBlock, WordsOfAnEarlierGenerationMeanNothing) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  block.Scope(list, CAIRN_MARKER_DRAW);
  block.SetProgress(list, 2, 2);
  block.slot(list).generation = 2;
  const Snapshot s = Take(block);
  EXPECT_EQ(s.recordings[0].reached, 0u);
  EXPECT_EQ(s.recordings[0].passed, 0u);
}

TEST(SnapshotFromBlock, ReadsChainsOfManyPages) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  for (int i = 0; i < 1000; ++i) block.Scope(list, CAIRN_MARKER_DRAW, i % 2 == 0 ? "a" : "b");
  const Snapshot s = Take(block);
  EXPECT_THAT(Losses(s), IsEmpty());
  ASSERT_EQ(s.events.size(), 2000u);
  EXPECT_EQ(s.Text(s.events[1998].name), "b");
  EXPECT_EQ(s.events[1998].match, 2000u);
}

TEST(SnapshotFromBlock, CountsRunsOfReusableListsBeyondTheModulus) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const TestBlock::List list = block.AddList(context, queue, 0, "Reused", kRecordingReusable);
  for (int i = 0; i < 200; ++i) block.Submit(queue, list);
  block.words(list).runs = 199 % kRunModulus;
  EXPECT_EQ(Take(block).recordings[0].runs, 199u);
  EXPECT_EQ(Take(block).recordings[0].finished_runs, 198u);
  block.words(list).runs = 200 % kRunModulus;
  EXPECT_EQ(Take(block).recordings[0].runs, 200u);
  block.words(list).runs = 201 % kRunModulus;  // As before the submission: 64 executions ago.
  EXPECT_EQ(Take(block).recordings[0].runs, 137u);
}

TEST(SnapshotFromBlock, SubmissionsOfRecycledListsNameNoRecording) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const TestBlock::List list = block.AddList(context, queue, 0, "Main");
  block.Submit(queue, list);
  block.slot(list).recording_id = 77;
  block.Submit(queue, list);
  const Snapshot s = Take(block);
  ASSERT_EQ(s.submissions.size(), 2u);
  EXPECT_EQ(s.submissions[0].recording, kNone);
  EXPECT_EQ(s.submissions[1].recording, 0u);
}

TEST(SnapshotFromBlock, SubmissionsHaveTheFrameThatTheySayOrThatOfTheirRecording) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const TestBlock::List list = block.AddList(context, queue, 3, "Main");
  block.Submit(queue, list);
  block.submission(block.Submit(queue, list)).frame_plus_1 = 1001;
  block.submission(block.Submit(queue, list)).refused = 1;
  const Snapshot s = Take(block);
  ASSERT_EQ(s.submissions.size(), 2u) << "what the queue refused is none";
  EXPECT_TRUE(s.losses.empty());
  EXPECT_EQ(s.submissions[0].frame, 3u);
  EXPECT_EQ(s.submissions[1].frame, 1000u);
}

// A list that the GPU has begun, and a raw marker, when a thread of the program faults.
struct FaultyBlock {
  FaultyBlock() {
    context = block.AddContext(64, 4);
    queue = block.AddQueue(context, 0, "Graphics");
    list = block.AddList(context, queue, 1, "Main");
    block.Scope(list, CAIRN_MARKER_DISPATCH);
    block.Close(list);
    block.Submit(queue, list);
    block.SetProgress(list, 1, 0);
    block.raw_markers(context)[2] = 5;
    block.header().crash_address = 0x10;
    block.NoteFault(11);
    block.SetProgress(list, 2, 2);
    block.raw_markers(context)[2] = 6;
  }
  TestBlock block;
  uint32_t context = 0;
  uint32_t queue = 0;
  TestBlock::List list{};
};

TEST(SnapshotFromBlock, TheThreadThatCrashedAndTheArgumentsOfItsCall) {
  FaultyBlock faulty;
  TestBlock& block = faulty.block;
  block.AddThread(41, "other");
  const uint32_t thread = block.AddThread(42, "render");
  block.Call(thread, "vkCmdDispatch(groupCountX:u,groupCountY:i,unknown:s,pNext:p)", 0x50, false);
  CallRecord& call = block.thread(thread).calls[1];
  call.arguments[0] = 64;
  call.arguments[1] = ~uint64_t{0};
  call.arguments[2] = 3;
  call.arguments[3] = 0x7f00;
  call.arguments[4] = 5;
  block.Call(thread, "vkCmdDraw(cut:", 0x50, true);
  block.header().crash_thread = 42;
  const Snapshot s = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  ASSERT_EQ(s.threads.size(), 2u);
  EXPECT_FALSE(s.threads[0].crashed);
  EXPECT_TRUE(s.threads[1].crashed);
  EXPECT_EQ(s.threads[0].argument_count, 0u);
  ASSERT_EQ(s.threads[1].argument_count, 3u);
  EXPECT_EQ(s.Text(s.calls[s.threads[1].first_call].function), "vkCmdDispatch");
  const CallArgument* const arguments = &s.call_arguments[s.threads[1].first_argument];
  EXPECT_EQ(s.Text(arguments[0].name), "groupCountX");
  EXPECT_EQ(arguments[0].kind, ArgumentKind::kUnsigned);
  EXPECT_EQ(arguments[0].value, 64u);
  EXPECT_EQ(arguments[0].call, 1u);
  EXPECT_EQ(arguments[1].kind, ArgumentKind::kSigned);
  EXPECT_EQ(s.Text(arguments[2].name), "pNext") << "what is not kept is left out";
  EXPECT_EQ(arguments[2].value, 0x7f00u);
}

TEST(SnapshotFromBlock, OfTheLastFaultTellsItsWordsAndItsTime) {
  FaultyBlock faulty;
  const Snapshot then = Take(faulty.block, Moment::kLastFault);
  ASSERT_EQ(then.recordings.size(), 1u);
  EXPECT_EQ(then.recordings[0].reached, 1u);
  EXPECT_EQ(then.recordings[0].passed, 0u);
  ASSERT_EQ(then.raw_markers.size(), 1u);
  EXPECT_EQ(then.raw_markers[0].value, 5u);
  const BlockHeader& header = faulty.block.header();
  EXPECT_EQ(then.process.snapshot_time_ns,
            header.start_realtime_ns + (header.crash_ns.load() - header.start_monotonic_ns));
  ASSERT_EQ(then.incidents.size(), 1u);
  EXPECT_EQ(then.Text(then.incidents[0].detail), "the report shows the state at that moment");

  const Snapshot now = Take(faulty.block);
  EXPECT_EQ(now.recordings.at(0).passed, 2u);
  EXPECT_EQ(now.raw_markers.at(0).value, 6u);
  EXPECT_EQ(now.process.snapshot_time_ns, kNow);
}

TEST(SnapshotFromBlock, AFaultThatWasHandledIsNoMoment) {
  FaultyBlock faulty;
  faulty.block.header().crash_signal = 0;
  EXPECT_EQ(Take(faulty.block, Moment::kLastFault).recordings.at(0).passed, 2u);
  FaultyBlock without_words;
  without_words.block.header().crash_ns = 0;
  EXPECT_EQ(Take(without_words.block, Moment::kLastFault).recordings.at(0).passed, 2u);
}

// The context had ended before the fault, so that its words were not copied.
TEST(SnapshotFromBlock, WordsThatAreNotOfThisFaultAreNotTaken) {
  FaultyBlock faulty;
  faulty.block.context(faulty.context).crash_words_ns = 7;
  EXPECT_EQ(Take(faulty.block, Moment::kLastFault).recordings.at(0).passed, 2u);
  faulty.block.NoteFault(11);
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{kPageBytes}, uint64_t{8}, faulty.block.bytes().size() - kPageBytes,
        ~uint64_t{0}, ~uint64_t{kPageBytes - 1}}) {
    faulty.block.context(faulty.context).crash_words_offset = offset;
    EXPECT_EQ(Take(faulty.block, Moment::kLastFault).recordings.at(0).passed, 2u) << offset;
  }
}

TEST(SnapshotFromBlock, WhatOtherThreadsSubmitAfterTheFaultIsLeftOut) {
  FaultyBlock faulty;
  faulty.block.Submit(faulty.queue, faulty.list);
  faulty.block.queue(faulty.queue).completed_submission = 2;
  const Snapshot then = Take(faulty.block, Moment::kLastFault);
  ASSERT_EQ(then.submissions.size(), 1u);
  EXPECT_EQ(then.queues.at(0).submission_count, 1u);
  EXPECT_EQ(then.queues.at(0).completed_submission, 1u);
  EXPECT_THAT(Losses(then), testing::Contains("1 command lists were submitted after the fault, by "
                                              "other threads; they are skipped."));
  EXPECT_EQ(Take(faulty.block).submissions.size(), 2u);
}

TEST(SnapshotFromBlock, NotesDeviceLossAndSignal) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  block.context(context).device_lost_code = -4;
  block.context(context).device_lost_where = block.AddName("vkQueueSubmit");
  block.context(context).device_lost = 1;
  block.header().crash_signal = 11;
  block.header().crash_address = 0x10;
  Snapshot s = Take(block);
  ASSERT_EQ(s.incidents.size(), 2u);
  EXPECT_EQ(s.incidents[0].kind, IncidentKind::kDeviceLost);
  EXPECT_EQ(s.incidents[0].value, -4);
  EXPECT_EQ(s.Text(s.incidents[0].detail), "vkQueueSubmit");
  EXPECT_EQ(s.incidents[1].address, 0x10u);

  Incident signal;
  signal.kind = IncidentKind::kSignal;
  signal.value = 11;
  signal.time_ns = 99;
  NoteIncident(signal, "", &s);
  ASSERT_EQ(s.incidents.size(), 2u);
  EXPECT_EQ(s.incidents[1].time_ns, 99u);
  EXPECT_EQ(s.incidents[1].address, 0x10u);
  signal.value = 9;
  NoteIncident(signal, "", &s);
  EXPECT_EQ(s.incidents.size(), 3u);
}

TEST(SnapshotFromBlock, ReadsWhatTheLayerOfDirect3DWrites) {
  TestBlock block;
  FillD3D12Block(&block);
  const Snapshot s = Take(block);
  EXPECT_THAT(Losses(s), IsEmpty());
  EXPECT_EQ(FindInconsistency(s), "");
  EXPECT_EQ(s.process.start_monotonic_ns, 1'000u);
  EXPECT_EQ(s.Text(s.devices[0].annotation_driver), "breadcrumb");
  EXPECT_TRUE(s.devices[0].annotations_forced);
  EXPECT_EQ(s.Text(s.devices[0].application), "Demo on SampleEngine 3");

  ASSERT_EQ(s.annotations.size(), 6u);  // two of the list, one reported, three of the queue
  EXPECT_EQ(s.annotations[1].event_id, MakeEventId(1, 1, 1));
  EXPECT_EQ(s.annotations[1].metadata, 1u);
  EXPECT_EQ(s.annotations[1].size_bytes, 20u);
  EXPECT_EQ(s.Text(s.annotations[1].payload), "Particles of level 3");
  const Event& begin = s.events[5];
  EXPECT_EQ(s.Text(begin.name), "Particles of level 3");
  EXPECT_EQ(begin.detail, 1u);

  ASSERT_EQ(s.binds.size(), 3u);
  EXPECT_EQ(s.events[1].kind, EventKind::kBind);
  EXPECT_EQ(s.binds[s.events[1].detail].value, 1u);
  EXPECT_FALSE(s.binds[0].is_address);
  EXPECT_EQ(s.binds[2].value, 0xDEAD'0000u);
  EXPECT_EQ(s.binds[2].slot, 1u);

  ASSERT_EQ(s.objects.size(), 5u);
  EXPECT_EQ(s.Text(s.objects[2].name), "Particles");
  EXPECT_EQ(s.objects[2].state, ObjectState::kDestroyed);
  EXPECT_EQ(s.objects[2].destroyed_ns, 20'000'000u);
  EXPECT_EQ(s.objects[2].size_bytes, 0x1'0000u);
  EXPECT_EQ(s.objects[4].kind, 23u);
  EXPECT_EQ(s.objects[4].waited, 3u);

  ASSERT_EQ(s.threads.size(), 2u);
  EXPECT_EQ(s.Text(s.threads[1].name), "render");
  ASSERT_EQ(s.threads[1].call_count, 3u);
  const Call& last = s.calls[s.threads[1].first_call + 2];
  EXPECT_EQ(s.Text(last.function), "ID3D12Fence::SetEventOnCompletion");
  EXPECT_EQ(last.number, 3u);
  EXPECT_FALSE(last.returned);

  ASSERT_EQ(s.reported_event_ids.size(), 3u);
  EXPECT_EQ(s.reported_event_ids[0].state, EventIdState::kExpired);
  EXPECT_EQ(s.reported_event_ids[1].state, EventIdState::kUnknown);
  ASSERT_EQ(s.reported_event_ids[2].state, EventIdState::kResolved);
  EXPECT_EQ(s.Text(s.annotations[s.reported_event_ids[2].annotation].name), "Particles of level 3");

  ASSERT_EQ(s.queue_markers.size(), 4u);
  EXPECT_EQ(s.queue_markers[0].queue, 0u);
  EXPECT_EQ(s.Text(s.annotations[s.queue_markers[0].annotation].name), "Level 3");
  EXPECT_EQ(s.queue_markers[2].kind, QueueMarkerKind::kEnd);
  EXPECT_EQ(s.queue_markers[2].annotation, kNone);
  EXPECT_EQ(s.queue_markers[3].submission, 1u);
}

TEST(SnapshotFromBlock, BindsAreNoEndsAndKeepTheirSequenceNumbers) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  const uint32_t begin = block.Begin(list, CAIRN_MARKER_DRAW_INSTANCED);
  block.BindAddress(list, BindPoint::kIndexBuffer, 0, 0x1234'5678'9ABC);
  EXPECT_EQ(block.End(list, begin), 3u);
  const Snapshot s = Take(block);
  EXPECT_EQ(FindInconsistency(s), "");
  EXPECT_EQ(s.events[0].match, 3u);
  EXPECT_EQ(s.binds[0].value, 0x1234'5678'9ABCu);
}

// The oldest entry of a full ring may be half overwritten, and an entry may be forged.
TEST(SnapshotFromBlock, OnlyEndsDrain) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const TestBlock::List list = block.AddList(context, kNoQueue, 0, "Main");
  const uint32_t begin = block.Begin(list, CAIRN_MARKER_RESOURCE_BARRIER, "");
  block.End(list, begin, kEventDrainsDraws | kEventWritesBottom);
  EventChunk& chunk = block.chunk(block.slot(list).first_event_page);
  chunk.events[EventPosition(list.slot, 0)].flags |= kEventDrains;
  const Snapshot s = Take(block);
  EXPECT_EQ(s.events[0].flags, kEventWritesTop);
  EXPECT_EQ(s.events[1].flags, kEventDrainsDraws | kEventWritesBottom);
}

TEST(SnapshotFromBlock, OfAFullRingTheOldestCallIsLeftOut) {
  TestBlock block;
  block.AddContext();
  const uint32_t thread = block.AddThread(1, "");
  for (int i = 0; i < 100; ++i) block.Call(thread, "f" + std::to_string(i), 7, true);
  Snapshot s = Take(block);
  ASSERT_EQ(s.threads[0].call_count, kCallsPerThread - 1);
  EXPECT_EQ(s.calls.front().number, 38u);
  EXPECT_EQ(s.Text(s.calls.front().function), "f37");
  EXPECT_EQ(s.calls.back().number, 100u);
  block.thread(thread).calls[5].number = UINT64_MAX;  // stands at the wrong place
  block.thread(thread).calls[6].function = kMaxFunctions + 7;
  s = Take(block);
  EXPECT_EQ(s.threads[0].call_count, kCallsPerThread - 2);
  EXPECT_EQ(FindInconsistency(s), "");
  block.thread(thread).calls[63].number = UINT64_MAX;
  EXPECT_EQ(Take(block).threads[0].call_count, 1u);
}

TEST(SnapshotFromBlock, AnnotationsAndBindsThatLeadNowhereAreCounted) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const TestBlock::List list = block.AddList(context, kNoQueue, 0, "Main");
  block.Annotate(list, CAIRN_MARKER_PASS, 1, "fine");
  block.Begin(list, CAIRN_MARKER_PASS, "too short");
  block.chunk(block.slot(list).first_event_page).events[EventPosition(list.slot, 1)].flags |=
      kEventNameIsAnnotation;
  block.BindObject(list, BindPoint::kRenderTarget, 0, 1);
  block.AddObject(77, 34, std::string(1000, 'x'), 5);
  block.object(0).name_length = 0xFFFFFFFF;
  block.BindObject(list, BindPoint::kRenderTarget, 0, 2);
  block.BindObject(list, BindPoint::kRenderTarget, 0, 0);
  const Snapshot s = Take(block);
  EXPECT_EQ(FindInconsistency(s), "");
  EXPECT_EQ(s.Text(s.events[0].name), "fine");
  EXPECT_EQ(s.events[1].detail, kNone);
  EXPECT_EQ(s.binds[0].value, 0u);
  EXPECT_EQ(s.binds[1].value, kNone);
  EXPECT_EQ(s.objects[0].device, kNone);
  EXPECT_TRUE(s.objects[0].name_cut);
  EXPECT_THAT(Losses(s), ElementsAre("1 bindings name an object that does not exist.",
                                     "1 names could not be read and are left empty."));
}

TEST(SnapshotFromBlock, NamesAreThoseThatObjectsHaveNow) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const uint32_t pipeline = block.AddPipeline(context, "before");
  const TestBlock::List named = block.AddList(context, queue, 0, "");
  const TestBlock::List other = block.AddList(context, queue, 0, "as registered");
  block.queue(queue).native_handle = 0x10;
  block.pipeline(pipeline - 1).native_handle = 0x20;
  block.slot(named).native_handle = 0x30;
  block.slot(other).native_handle = 0x40;
  const auto add = [&](uint32_t kind, const char* name, uint64_t handle, uint64_t created_ns = 5) {
    const uint32_t index = block.AddObject(context, kind, name, created_ns) - 1;
    block.object(index).native_handle = handle;
  };
  add(19, "Graphics", 0x10);
  add(21, "after", 0x20);
  add(22, "of a list that is gone", 0x30);
  add(22, "Shadows", 0x30);
  add(34, "a resource at the address of a list", 0x40);
  add(22, "", 0x40);
  // Serial numbers of threads do not tell whose object came first.
  add(19, "made by another thread before", 0x10, 4);
  const Snapshot s = Take(block);
  EXPECT_EQ(s.Text(s.queues[0].name), "Graphics");
  EXPECT_EQ(s.Text(s.pipelines[0].name), "after");
  EXPECT_EQ(s.Text(s.recordings[0].name), "Shadows");
  EXPECT_EQ(s.Text(s.recordings[1].name), "as registered");
}

TEST(SnapshotFromBlock, WhatHadNoRoomIsCounted) {
  TestBlock block;
  block.AddContext();
  block.header().objects_dropped = 3;
  block.header().arena_count = 2;
  block.arena(0).dropped = 4;
  block.arena(1).dropped = 5;
  block.arena(1).is_queue = 1;
  EXPECT_THAT(Losses(Take(block)),
              ElementsAre("3 objects found no room in the table of objects.",
                          "4 markers of command lists found no room: their EventIDs are unknown.",
                          "5 markers of command queues were dropped to bound their memory: their "
                          "EventIDs have expired."));
}

TEST(SnapshotFromBlock, TablesThatWereNotLaidOutAreEmpty) {
  TestBlock block;
  FillD3D12Block(&block);
  block.header().objects_offset = 0;
  block.header().threads_offset = 0;
  block.header().functions_offset = 0;
  block.header().arenas_offset = 0;
  block.header().driver_reports_offset = 0;
  const Snapshot s = Take(block);
  EXPECT_EQ(FindInconsistency(s), "");
  EXPECT_TRUE(s.objects.empty());
  EXPECT_TRUE(s.threads.empty());
  EXPECT_TRUE(s.reported_event_ids.empty());
  EXPECT_EQ(s.recordings.size(), 1u);
}

// ---- What a block can get wrong ----------------------------------------------------------------

TEST(SnapshotFromBlock, RefusesWhatIsNoBlock) {
  TestBlock block;
  block.header().magic = 0;
  EXPECT_EQ(SnapshotFromBlock(block.bytes(), kNow).status().code(), StatusCode::kNotFound);
  block.header().magic = 42;
  EXPECT_EQ(SnapshotFromBlock(block.bytes(), kNow).status().code(), StatusCode::kCorrupt);
  block.header().magic = kBlockMagic;
  block.header().version = kBlockVersion + 1;
  EXPECT_EQ(SnapshotFromBlock(block.bytes(), kNow).status().code(), StatusCode::kUnsupported);
  block.header().version = kBlockVersion;
  block.header().header_bytes = sizeof(BlockHeader) - 8;
  EXPECT_EQ(SnapshotFromBlock(block.bytes(), kNow).status().code(), StatusCode::kCorrupt);
  block.header().header_bytes = sizeof(BlockHeader) + 8;
  EXPECT_TRUE(SnapshotFromBlock(block.bytes(), kNow).ok());
  block.header().queues_offset = kTestBlockBytes - 64;
  EXPECT_EQ(SnapshotFromBlock(block.bytes(), kNow).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(SnapshotFromBlock(block.bytes().first(100), kNow).status().code(),
            StatusCode::kCorrupt);
  EXPECT_EQ(SnapshotFromBlock(block.bytes().subspan(8), kNow).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(SnapshotFromBlock, ABlockThatEndsEarlyIsReadAsFarAsItGoes) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  block.Scope(list, CAIRN_MARKER_DRAW);
  const uint64_t used = block.header().next_page * kPageBytes;
  Result<Snapshot> cut = SnapshotFromBlock(block.bytes().first(used - kPageBytes), kNow);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->recordings.size(), 1u);
  EXPECT_THAT(Losses(*cut), ::testing::Contains(HasSubstr("shared block is truncated")));
}

TEST(SnapshotFromBlock, AChainThatRunsInACircleEnds) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  for (int i = 0; i < 300; ++i) block.Scope(list, CAIRN_MARKER_DRAW);
  const uint32_t first = block.slot(list).first_event_page;
  block.chunk(block.chunk(first).next_page).next_page = first;
  block.slot(list).event_count = 1'000'000;
  const Snapshot s = Take(block);
  EXPECT_EQ(s.events.size(), 2u * kEventsPerChunk);
  EXPECT_THAT(Losses(s), ElementsAre(HasSubstr("999490 markers could not be read")));
}

TEST(SnapshotFromBlock, OfMoreThanMayBeReadTheRunningAndTheLatestStay) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  std::vector<TestBlock::List> lists;
  for (int i = 0; i < 4; ++i) {
    lists.push_back(block.AddList(context, kNoQueue, 0, "List " + std::to_string(i)));
    for (int scope = 0; scope < 100; ++scope) block.Scope(lists[i], CAIRN_MARKER_DRAW);
    block.SetProgress(lists[i], 200, 200);
  }
  block.SetProgress(lists[1], 50, 48);
  const auto kept = [&block](const BlockReadLimits& limits) {
    const Result<Snapshot> s =
        SnapshotFromBlock(block.bytes(), kNow, Binaries::kLeaveOut, Moment::kNow, limits);
    std::vector<std::string> names;
    for (const Recording& recording : s->recordings) names.emplace_back(s->Text(recording.name));
    for (const std::string& loss : Losses(*s)) names.push_back(loss);
    return names;
  };
  const auto loss = HasSubstr("2 command lists are more than a report keeps: the earliest");
  EXPECT_THAT(kept({}), ElementsAre("List 0", "List 1", "List 2", "List 3"));
  EXPECT_THAT(kept({.events = 500}), ElementsAre("List 1", "List 3", loss));
  EXPECT_THAT(kept({.event_pages = 2}), ElementsAre("List 1", "List 3", loss));
  EXPECT_THAT(kept({.slots = 1}), ElementsAre("List 0", HasSubstr("1 command lists are more")));
  EXPECT_EQ(BlockReadLimits().slots, 131'072u);
  EXPECT_EQ(BlockReadLimits().events, 1'048'576u);
  EXPECT_EQ(BlockReadLimits().event_pages, 16'384u);
}

TEST(SnapshotFromBlock, NamesBeyondTheirPagesAreLeftOut) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "");
  for (int i = 0; i < 50; ++i) {
    block.Scope(list, CAIRN_MARKER_DRAW,
                std::string(1000, static_cast<char>('a' + i % 26)) + std::to_string(i));
  }
  const Result<Snapshot> s =
      SnapshotFromBlock(block.bytes(), kNow, Binaries::kLeaveOut, Moment::kNow, {.name_pages = 2});
  EXPECT_EQ(s->events.size(), 100u);
  EXPECT_THAT(Losses(*s), ::testing::Contains(HasSubstr("names")));
  EXPECT_EQ(s->Text(s->events[98].name), "");
  EXPECT_NE(s->Text(s->events[0].name), "");
  EXPECT_EQ(BlockReadLimits().name_pages, 8'192u);
  EXPECT_EQ(BlockReadLimits().text_bytes, uint64_t{48} << 20);
}

TEST(SnapshotFromBlock, RawMarkersBeyondTheLimitAreCounted) {
  TestBlock block;
  for (const uint32_t context : {block.AddContext(8, 4), block.AddContext(8, 4)}) {
    for (uint64_t i = 0; i < 4; ++i) block.raw_markers(context)[i] = 10 * context + i;
  }
  EXPECT_EQ(Take(block).raw_markers.size(), 8u);
  const Result<Snapshot> s =
      SnapshotFromBlock(block.bytes(), kNow, Binaries::kLeaveOut, Moment::kNow, {.raw_markers = 5});
  ASSERT_TRUE(s.ok());
  std::vector<uint64_t> values;
  for (const RawMarker& marker : s->raw_markers) values.push_back(marker.value);
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 10));
  EXPECT_THAT(Losses(*s), ElementsAre("3 raw markers are more than a report keeps."));
  EXPECT_EQ(BlockReadLimits().raw_markers, 2'097'152u);
}

TEST(SnapshotFromBlock, BadReferencesAreEmptyAndCounted) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const TestBlock::List list = block.AddList(context, queue, 0, "Main");
  block.Scope(list, CAIRN_MARKER_DRAW, "", 99);
  EventChunk& chunk = block.chunk(block.slot(list).first_event_page);
  chunk.events[0].name = 0xFFFFFFFF;
  chunk.events[1].match = 7;
  block.slot(list).queue = 5;
  block.SetProgress(list, 9, 8);
  block.submission(1).serial = 5;
  block.header().submission_serial = 1;
  const Snapshot s = Take(block);
  EXPECT_EQ(s.recordings[0].queue, kNone);
  EXPECT_EQ(s.recordings[0].reached, 2u);
  EXPECT_EQ(s.recordings[0].passed, 0u);
  EXPECT_EQ(s.events[0].match, 0u);
  EXPECT_EQ(s.events[1].match, 0u);
  EXPECT_EQ(s.events[0].pipeline, kNone);
  EXPECT_EQ(Losses(s).size(), 5u);
}

TEST(SnapshotFromBlock, TablesOfTwoContextsMayNotOverlap) {
  TestBlock block;
  block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  const uint32_t second = block.AddContext();
  block.context(second).recordings_offset = block.context(0).recordings_offset;
  const Snapshot s = Take(block);
  EXPECT_EQ(s.recordings.size(), 1u);
  EXPECT_THAT(Losses(s), ElementsAre(HasSubstr("1 devices have tables outside")));
}

// With sanitizers a snapshot, which begins with room for all that could come, takes 20 ms.
#if defined(CAIRN_SANITIZED)
constexpr uint64_t kLieStep = 5;
#else
constexpr uint64_t kLieStep = 1;
#endif

TEST(SnapshotFromBlock, AnyByteMayLie) {
  TestBlock block;
  const uint32_t context = block.AddContext(4, 4);
  const uint32_t queue = block.AddQueue(context, 0, "Q");
  const TestBlock::List list = block.AddList(context, queue, 0, "Main");
  block.Scope(list, CAIRN_MARKER_DRAW, "draw", block.AddPipeline(context, "P"));
  block.Submit(queue, list);
  const std::vector<std::pair<uint64_t, uint64_t>> places = {
      {0, sizeof(BlockHeader)},
      {block.header().contexts_offset, sizeof(ContextRecord)},
      {block.header().queues_offset, sizeof(QueueRecord)},
      {block.header().pipelines_offset, sizeof(PipelineRecord)},
      {block.header().submissions_offset, sizeof(SubmissionRecord)},
      {block.context(0).recordings_offset, sizeof(RecordingSlot)},
      {uint64_t{block.slot(list).first_event_page} * kPageBytes, 48},
  };
  std::mt19937 random(1);
  for (const auto& [offset, size] : places) {
    for (uint64_t i = 0; i < size; i += kLieStep) {
      std::byte& byte = block.bytes()[offset + i];
      const std::byte good = byte;
      for (uint32_t value : {uint32_t{0}, uint32_t{0xFF}, static_cast<uint32_t>(random() & 0xFF)}) {
        byte = static_cast<std::byte>(value);
        const Result<Snapshot> taken = SnapshotFromBlock(block.bytes(), kNow);
        EXPECT_TRUE(!taken.ok() || taken->events.size() <= 2u * kEventsPerChunk);
      }
      byte = good;
    }
  }
}

// The program runs on while its block is read.
TEST(SnapshotFromBlock, ABlockThatChangesMeanwhileGivesConsistentSnapshots) {
  TestBlock block;
  FillSampleBlock(&block);
  const std::span<std::byte> bytes = block.bytes();
  const uint64_t used_words = block.header().next_page * kPageBytes / 8;
  const uint64_t first_word = block.context(0).recordings_offset / 8;
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    std::mt19937_64 random(7);
    auto* const words = reinterpret_cast<uint64_t*>(bytes.data());
    while (!stop.load(std::memory_order_relaxed)) {
      const uint64_t index = first_word + random() % (used_words - first_word);
      const uint64_t small = random() % 512;
      __atomic_store_n(&words[index], random() % 2 == 0 ? small << 32 | small : random(),
                       __ATOMIC_RELAXED);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const Result<Snapshot> snapshot = SnapshotFromBlock(bytes, kNow);
    ASSERT_TRUE(snapshot.ok());
    ASSERT_EQ(FindInconsistency(*snapshot), "");
  }
  stop = true;
  writer.join();
}

TEST(MarkerTypeName, SpellsTypesAsTheHeaderDoes) {
  EXPECT_EQ(MarkerTypeName(CAIRN_MARKER_PASS), "PASS");
  EXPECT_EQ(MarkerTypeName(CAIRN_MARKER_DRAW_INDEXED), "DRAW_INDEXED");
  EXPECT_EQ(MarkerTypeName(200), "");
  EXPECT_EQ(MarkerTypeName(0xFFFFFFFF), "");
}

}  // namespace
}  // namespace cairn
