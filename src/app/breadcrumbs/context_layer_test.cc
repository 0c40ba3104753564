// SPDX-License-Identifier: Apache-2.0
//
// Contexts and lists as a wrapper of a whole device uses them: the Direct3D 12 layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/testing/context_fixture.h"

namespace cairn {
namespace {

using testing::ElementsAre;

class LayerContextTest : public ContextTest {};

CommandList* BeginHeld(Context* context, SimulatedList& native) {
  CairnCommandListDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.flags = CAIRN_LIST_HELD;
  desc.native = &native;
  CommandList* list = nullptr;
  const Status status = context->BeginCommandList(desc, &list, "application's list");
  EXPECT_TRUE(status.ok()) << status.message();
  return list;
}

TEST_F(LayerContextTest, AnnotationIsKeptAsItCame) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  const std::string payload("\x01\0\x02 and text", 12);
  EXPECT_EQ(list->BeginAnnotation(MakeEventId(3, 2, 1), 2, payload.data(), 12, CAIRN_MARKER_PASS),
            CAIRN_OK);
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  EXPECT_EQ(list->BeginAnnotation(0, 77, nullptr, 5000, CAIRN_MARKER_SET_MARKER), CAIRN_OK);
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  const std::vector<SeenEvent> events = Events(*list);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].flags, kTop | kEventNameIsAnnotation);
  EXPECT_EQ(events[0].type, CAIRN_MARKER_PASS);
  AnnotationHeader header;
  ASSERT_EQ(events[0].name.size(), sizeof(header) + payload.size());
  std::memcpy(&header, events[0].name.data(), sizeof(header));
  EXPECT_EQ(header.event_id, MakeEventId(3, 2, 1));
  EXPECT_EQ(header.metadata, 2u);
  EXPECT_EQ(header.size, payload.size());
  EXPECT_EQ(events[0].name.substr(sizeof(header)), payload);
  EXPECT_EQ(events[2].flags, kTop | kEventNameIsAnnotation | kEventNameTruncated);
  ASSERT_EQ(events[2].name.size(), sizeof(header));
  std::memcpy(&header, events[2].name.data(), sizeof(header));
  EXPECT_EQ(header.size, 5000u);
  EXPECT_EQ(list->BeginAnnotation(0, 0, nullptr, 0, CAIRN_MARKER_TYPE_LIMIT),
            CAIRN_ERROR_INVALID_ARGUMENT);
}

TEST_F(LayerContextTest, AnnotationsOfEverySizeAreCutAtTheNameLimit) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  std::string payload(3000, 'x');
  constexpr uint32_t kRoom = kMaxNameBytes - sizeof(AnnotationHeader);
  for (uint32_t size = 0; size <= 1600; size += 37) {
    ASSERT_EQ(list->BeginAnnotation(size, 0, payload.data(), size, CAIRN_MARKER_PASS), CAIRN_OK);
    ASSERT_EQ(list->EndMarker(), CAIRN_OK);
  }
  const std::vector<SeenEvent> events = Events(*list);
  for (uint32_t i = 0; i * 37 <= 1600; ++i) {
    const SeenEvent& event = events[i * 2];
    EXPECT_EQ(event.name.size(), sizeof(AnnotationHeader) + std::min(i * 37, kRoom));
    EXPECT_EQ((event.flags & kEventNameTruncated) != 0, i * 37 > kRoom);
  }
}

TEST_F(LayerContextTest, BindsAreEventsWithoutWrites) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  EXPECT_EQ(list->Bind(BindPoint::kRenderTarget, 3, 0x123456789a, false), CAIRN_OK);
  EXPECT_EQ(list->Bind(BindPoint::kVertexBuffer, 1, 0xfedcba9876543210, true), CAIRN_OK);
  EXPECT_TRUE(native.writes.empty());
  const EventChunk* chunk = Chunk(list->slot()->first_event_page);
  const EventRecord& object = chunk->events[EventPosition(list->slot_index(), 0)];
  EXPECT_EQ(object.kind, EventKind::kBind);
  EXPECT_EQ(object.flags, 0);
  EXPECT_EQ(object.type, static_cast<uint16_t>(BindPoint::kRenderTarget));
  EXPECT_EQ(object.name, 3u);
  EXPECT_EQ(object.pipeline, 0x3456789au);
  EXPECT_EQ(object.match, 0x12u);
  const EventRecord& address = chunk->events[EventPosition(list->slot_index(), 1)];
  EXPECT_EQ(address.flags, kEventBindsAddress);
  EXPECT_EQ(address.pipeline, 0x76543210u);
  EXPECT_EQ(address.match, 0xfedcba98u);
  // The end of the list is proven all the same.
  EXPECT_EQ(list->End(), CAIRN_OK);
  SimulatedGpu::Execute(native);
  EXPECT_EQ(Passed(*list), 2u);
  EXPECT_TRUE(list->ProvenFinished());
  EXPECT_EQ(list->Bind(BindPoint::kSource, 0, 1, false), CAIRN_ERROR_INVALID_ARGUMENT);
}

// The application marked the command itself, with a name: one event is enough.
TEST_F(LayerContextTest, WorkInsideAMarkerOfACommandIsNotMarkedAgain) {
  Make(Desc());
  SimulatedList native;
  CommandList* list = Begin(native);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_PASS, "Pass", CAIRN_NAME_STATIC), CAIRN_OK);
  EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_DISPATCH, "Blur", CAIRN_NAME_STATIC), CAIRN_OK);
  list->BeginWork(CAIRN_MARKER_DISPATCH);
  list->EndWork();
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  list->BeginWork(CAIRN_MARKER_RESOURCE_BARRIER);
  list->EndWork();
  EXPECT_EQ(list->EndMarker(), CAIRN_OK);
  std::vector<uint16_t> types;
  for (const SeenEvent& event : Events(*list)) {
    if (event.kind == EventKind::kBegin) types.push_back(static_cast<uint16_t>(event.type));
  }
  EXPECT_THAT(types,
              ElementsAre(CAIRN_MARKER_PASS, CAIRN_MARKER_DISPATCH, CAIRN_MARKER_RESOURCE_BARRIER));
  EXPECT_EQ(list->End(), CAIRN_OK);
}

TEST_F(LayerContextTest, WorkIsABeginAndItsEnd) {
  for (const CairnMode mode : {CAIRN_MODE_TOP, CAIRN_MODE_PASS, CAIRN_MODE_FULL}) {
    CairnContextDesc desc = Desc();
    desc.mode = mode;
    Make(desc);
    SimulatedList native;
    CommandList* list = Begin(native);
    EXPECT_EQ(list->BeginMarker(CAIRN_MARKER_PASS, "Pass", CAIRN_NAME_STATIC), CAIRN_OK);
    list->BeginWork(CAIRN_MARKER_DISPATCH);
    list->EndWork();
    EXPECT_EQ(list->EndMarker(), CAIRN_OK);
    const int pass_end = mode == CAIRN_MODE_TOP ? 0 : kBottom;
    const int work_end = mode == CAIRN_MODE_FULL ? kBottom : 0;
    EXPECT_THAT(Events(*list),
                ElementsAre(SeenEvent{EventKind::kBegin, kTop, CAIRN_MARKER_PASS, "Pass", 0},
                            SeenEvent{EventKind::kBegin, kTop, CAIRN_MARKER_DISPATCH, "", 0},
                            SeenEvent{EventKind::kEnd, work_end, 0, "", 2},
                            SeenEvent{EventKind::kEnd, pass_end, 0, "", 1}));
    EXPECT_EQ(list->End(), CAIRN_OK);
    // After the end nothing is recorded, and nothing is counted as dropped.
    list->BeginWork(CAIRN_MARKER_DISPATCH);
    list->EndWork();
    EXPECT_EQ(list->slot()->event_count.load(), 4u);
    EXPECT_EQ(list->slot()->dropped_count.load(), 0u);
  }
}

TEST_F(LayerContextTest, WorkThatFindsNoRoomIsCounted) {
  Make();
  SimulatedList native;
  CommandList* list = Begin(native);
  while (block_->AllocatePage() != 0) {
  }
  for (int i = 0; i < 10; ++i) {
    list->BeginWork(CAIRN_MARKER_DISPATCH);
    list->EndWork();
  }
  EXPECT_EQ(list->slot()->event_count.load(), 0u);
  EXPECT_EQ(list->slot()->dropped_count.load(), 10u);
  EXPECT_EQ(list->BeginAnnotation(0, 0, "text", 4, CAIRN_MARKER_PASS), CAIRN_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(list->Bind(BindPoint::kSource, 0, 1, false), CAIRN_ERROR_OUT_OF_MEMORY);
}

TEST_F(LayerContextTest, HeldListOutlivesItsFrameUntilItIsReleased) {
  Make();
  SimulatedList native;
  CommandList* list = BeginHeld(context_, native);
  list->BeginWork(CAIRN_MARKER_DRAW);
  list->EndWork();
  EXPECT_EQ(list->End(), CAIRN_OK);
  EXPECT_EQ(list->slot()->native_handle, reinterpret_cast<uintptr_t>("application's list"));
  ASSERT_TRUE(context_->NotifySubmit(&native, &list, 1).ok());
  SimulatedGpu::Execute(native);
  for (int i = 0; i < 10; ++i) context_->BeginFrame();
  EXPECT_EQ(live_lists_, 1);
  EXPECT_EQ(list->slot()->event_count.load(), 2u);
  EXPECT_TRUE(context_->ReleaseCommandList(list).ok());
  EXPECT_FALSE(context_->ReleaseCommandList(list).ok());
  // From here on it ages like others.
  context_->BeginFrame();
  EXPECT_EQ(live_lists_, 1);
  context_->BeginFrame();
  EXPECT_EQ(live_lists_, 0);
}

TEST_F(LayerContextTest, ReleasedListStaysForAsLongAsItRuns) {
  Make();
  SimulatedList native;
  CommandList* list = BeginHeld(context_, native);
  list->BeginWork(CAIRN_MARKER_DRAW);
  list->EndWork();
  EXPECT_EQ(list->End(), CAIRN_OK);
  ASSERT_TRUE(context_->NotifySubmit(&native, &list, 1).ok());
  EXPECT_TRUE(context_->ReleaseCommandList(list).ok());
  SimulatedGpu::Execute(native, 1);
  for (int i = 0; i < 10; ++i) context_->BeginFrame();
  EXPECT_EQ(live_lists_, 1);
  EXPECT_EQ(Reached(*list), 1u);
  SimulatedGpu::Execute(native);
  context_->BeginFrame();
  EXPECT_EQ(live_lists_, 0);
}

TEST_F(LayerContextTest, ReleasedListThatNeverRanIsForgottenAtOnce) {
  Make();
  SimulatedList native;
  CommandList* list = BeginHeld(context_, native);
  list->BeginWork(CAIRN_MARKER_DRAW);
  list->EndWork();
  // Open or ended.
  EXPECT_TRUE(context_->ReleaseCommandList(list).ok());
  EXPECT_EQ(live_lists_, 0);
  EXPECT_EQ(list->slot()->state.load(), static_cast<uint32_t>(RecordingState::kFree));
}

TEST_F(LayerContextTest, FinishedReleasedListsMakeRoomWithoutFrames) {
  CairnContextDesc desc = Desc();
  desc.max_command_lists = 8;
  Make(desc);
  for (int i = 0; i < 1000; ++i) {
    SimulatedList native;
    CommandList* list = BeginHeld(context_, native);
    ASSERT_NE(list, nullptr) << i;
    list->BeginWork(CAIRN_MARKER_DRAW);
    list->EndWork();
    EXPECT_EQ(list->End(), CAIRN_OK);
    ASSERT_TRUE(context_->NotifySubmit(&desc, &list, 1).ok());
    SimulatedGpu::Execute(native);
    EXPECT_TRUE(context_->ReleaseCommandList(list).ok());
  }
  EXPECT_EQ(block_->contexts()[0].lists_dropped.load(), 0u);
}

TEST_F(LayerContextTest, ModeOffNotesEverythingAndWritesNothing) {
  block_ = std::move(BlockWriter::Create(kMinBlockBytes).value());
  CairnContextDesc desc = Desc();
  desc.mode = CAIRN_MODE_OFF;
  context_ = *Context::CreateDeferred(desc, block_.get(),
                                      std::make_unique<SimulatedBackend>(&live_lists_));
  SimulatedList native;
  CommandList* list = BeginHeld(context_, native);
  list->BeginWork(CAIRN_MARKER_DRAW);
  list->EndWork();
  EXPECT_EQ(list->End(), CAIRN_OK);
  EXPECT_THAT(Events(*list), ElementsAre(SeenEvent{EventKind::kBegin, 0, CAIRN_MARKER_DRAW, "", 0},
                                         SeenEvent{EventKind::kEnd, 0, 0, "", 1}));
  ASSERT_TRUE(context_->NotifySubmit(&native, &list, 1).ok());
  EXPECT_TRUE(native.writes.empty());
  EXPECT_EQ(live_lists_, 0);
  const ContextRecord& record = block_->contexts()[0];
  EXPECT_EQ(record.mode, MarkerMode::kOff);
  EXPECT_EQ(record.method, WriteMethod::kNone);
  EXPECT_EQ(block_->header()->submission_serial.load(), 1u);
  EXPECT_EQ(context_->WriteRaw(&native, PipeLocation::kTop, 0, 1).code(), StatusCode::kUnsupported);
}

// Refuses to start, or says what it is.
class StubbornBackend final : public Backend {
 public:
  StubbornBackend(Status answer, int* starts) : answer_(std::move(answer)), starts_(starts) {}
  void Identify(BackendDescription* description) override {
    description->api = Api::kD3D12;
    description->device_name = "stubborn GPU";
    description->driver_name = "driver 1";
    description->vendor_id = 0x10de;
  }
  Status Initialize(const WordRegion&, BackendDescription* description) override {
    ++*starts_;
    Identify(description);
    description->method = WriteMethod::kCustom;
    description->memory = WordMemory::kImported;
    return answer_;
  }
  Status BeginList(BackendList&) override { return Status(); }
  bool WriteProgress(BackendList&, WordKind, PipeLocation, uint32_t) override { return true; }
  Status WriteRaw(void*, PipeLocation, uint32_t, uint64_t) override { return Status(); }
  void ReleaseList(BackendList&) override {}

 private:
  const Status answer_;
  int* const starts_;
};

TEST_F(LayerContextTest, DeferredContextIsKnownAtOnceAndStartsWithItsFirstList) {
  block_ = std::move(BlockWriter::Create(kMinBlockBytes).value());
  int starts = 0;
  context_ = *Context::CreateDeferred(Desc(), block_.get(),
                                      std::make_unique<StubbornBackend>(Status(), &starts));
  const ContextRecord& record = block_->contexts()[0];
  EXPECT_EQ(record.state.load(), 1u);
  EXPECT_EQ(record.api, Api::kD3D12);
  EXPECT_EQ(Name(record.device_name), "stubborn GPU");
  EXPECT_EQ(Name(record.driver_name), "driver 1");
  EXPECT_EQ(record.vendor_id, 0x10deu);
  EXPECT_EQ(record.recording_capacity, 0u);
  EXPECT_EQ(record.method, WriteMethod::kNone);
  EXPECT_TRUE(context_->RegisterQueue(this, CAIRN_QUEUE_COPY, "Upload").ok());
  context_->BeginFrame();
  context_->Mirror();
  EXPECT_EQ(starts, 0);
  SimulatedList native;
  CommandList* list = BeginHeld(context_, native);
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(record.recording_capacity, Desc().max_command_lists);
  EXPECT_EQ(record.raw_marker_count, Desc().raw_marker_count);
  EXPECT_EQ(record.method, WriteMethod::kCustom);
  EXPECT_EQ(list->slot()->frame, 1u);
  EXPECT_TRUE(context_->EnsureStarted().ok());
  EXPECT_EQ(starts, 1);
}

TEST_F(LayerContextTest, DeferredContextThatCannotStartIsOffWithTheReason) {
  block_ = std::move(BlockWriter::Create(kMinBlockBytes).value());
  int starts = 0;
  const Status reason(StatusCode::kUnsupported, "nothing works here");
  context_ = *Context::CreateDeferred(Desc(), block_.get(),
                                      std::make_unique<StubbornBackend>(reason, &starts));
  EXPECT_FALSE(context_->failed());
  CairnCommandListDesc desc{};
  SimulatedList native;
  desc.native = &native;
  CommandList* list = nullptr;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(context_->BeginCommandList(desc, &list).message(), "nothing works here");
  }
  EXPECT_EQ(starts, 1);
  EXPECT_TRUE(context_->failed());
  EXPECT_EQ(context_->failure().message(), "nothing works here");
  const ContextRecord& record = block_->contexts()[0];
  ASSERT_EQ(record.source_count.load(), 1u);
  EXPECT_EQ(Name(record.sources[0].name), "breadcrumbs");
  EXPECT_EQ(record.sources[0].state, SourceState::kFailed);
  EXPECT_EQ(Name(record.sources[0].reason), "nothing works here");
}

TEST_F(LayerContextTest, ThreadsThatStartADeferredContextStartItOnce) {
  block_ = std::move(BlockWriter::Create(kMinBlockBytes).value());
  int starts = 0;
  context_ = *Context::CreateDeferred(Desc(), block_.get(),
                                      std::make_unique<StubbornBackend>(Status(), &starts));
  std::vector<std::thread> threads;
  std::vector<SimulatedList> natives(4);
  for (SimulatedList& native : natives) {
    threads.emplace_back([this, &native] { BeginHeld(context_, native)->End(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(starts, 1);
}

TEST_F(LayerContextTest, ApplicationSharesTheLayersContext) {
  block_ = std::move(BlockWriter::Create(kMinBlockBytes).value());
  CairnContextDesc desc = Desc();
  desc.mode = CAIRN_MODE_TOP;
  desc.raw_marker_count = 0;
  context_ = *Context::CreateDeferred(desc, block_.get(),
                                      std::make_unique<SimulatedBackend>(&live_lists_));
  const ContextRecord& record = block_->contexts()[0];
  context_->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 1u);
  int released = 0;
  const auto release = [](void* object) { ++*static_cast<int*>(object); };
  context_->Share(Desc(), {&released, release});
  EXPECT_EQ(context_->raw_marker_count(), Desc().raw_marker_count);
  EXPECT_EQ(record.mode, MarkerMode::kFull);
  // The layer counts frames until the application does.
  context_->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 2u);
  context_->BeginFrame();
  context_->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 3u);
  Context::Hold hold;
  EXPECT_TRUE(context_->Unshare(&hold));
  hold.release(hold.object);
  EXPECT_EQ(released, 1);
  EXPECT_FALSE(context_->Unshare(&hold));
  context_->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 4u);
}

// Conformance suites make and destroy everything, one after the other.
TEST_F(LayerContextTest, ThousandsOfContextsUseTheBlockAgain) {
  block_ = std::move(BlockWriter::Create(uint64_t{64} << 20).value());
  uint64_t next_page = 0;
  for (uint32_t i = 0; i < 2000; ++i) {
    const Result<Context*> context =
        Context::Create(Desc(), block_.get(), std::make_unique<SimulatedBackend>(&live_lists_));
    ASSERT_TRUE(context.ok()) << i << ": " << context.status().message();
    int queue_object;
    const std::string name = "queue " + std::to_string(i);
    ASSERT_TRUE((*context)->RegisterQueue(&queue_object, CAIRN_QUEUE_DIRECT, name.c_str()).ok());
    CairnPipelineDesc pipeline_desc{};
    pipeline_desc.struct_size = sizeof(pipeline_desc);
    pipeline_desc.name = name.c_str();
    pipeline_desc.vertex_shader = "vertex shader";
    for (int j = 0; j < 30; ++j) {
      CairnPipeline pipeline = 0;
      ASSERT_TRUE((*context)->RegisterPipeline(pipeline_desc, &pipeline).ok()) << i;
      if (j % 2 == 0) {
        ASSERT_TRUE((*context)->UnregisterPipeline(pipeline).ok());
      }
    }
    SimulatedList native;
    CairnCommandListDesc desc{};
    desc.native = &native;
    desc.name = name.c_str();
    CommandList* list = nullptr;
    ASSERT_TRUE((*context)->BeginCommandList(desc, &list).ok());
    ASSERT_EQ(list->BeginMarker(CAIRN_MARKER_DRAW, name.c_str(), CAIRN_NAME_COPY), CAIRN_OK);
    ASSERT_EQ(list->EndMarker(), CAIRN_OK);
    ASSERT_EQ(list->End(), CAIRN_OK);
    ASSERT_TRUE((*context)->NotifySubmit(&queue_object, &list, 1).ok());
    SimulatedGpu::Execute(native);
    Context::Destroy(*context);
    // Warm: all tables have been filled once.
    if (i == 1500) next_page = block_->header()->next_page;
  }
  // Names of other lengths took a page or two at most.
  EXPECT_LE(block_->header()->next_page.load(), next_page + 2);
  EXPECT_EQ(live_lists_, 0);
  EXPECT_EQ(block_->header()->context_count.load(), kMaxContexts);
  // The last contexts are all there, with their lists.
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kMaxContexts; ++i) {
    const ContextRecord& record = block_->contexts()[i];
    EXPECT_EQ(record.state.load(), 2u);
    const auto& slot =
        *reinterpret_cast<const RecordingSlot*>(block_->data() + record.recordings_offset);
    EXPECT_EQ(slot.event_count.load(), 2u);
    names.push_back(Name(slot.name));
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> expected;
  for (uint32_t i = 2000 - kMaxContexts; i < 2000; ++i) {
    expected.push_back("queue " + std::to_string(i));
  }
  EXPECT_EQ(names, expected);
}

TEST_F(LayerContextTest, QueuesThatAreForgottenMakeRoom) {
  Make();
  std::vector<char> queues(5000);
  for (char& queue : queues) {
    ASSERT_TRUE(context_->RegisterQueue(&queue, CAIRN_QUEUE_COMPUTE, "compute").ok());
    context_->ForgetQueue(&queue);
  }
  context_->ForgetQueue(this);
  EXPECT_EQ(block_->header()->queue_count.load(), kMaxQueues);
}

// ---- What the Vulkan layer asks for beside ---------------------------------------------------------

CommandList* BeginFlags(Context* context, SimulatedList& native, uint32_t flags) {
  CairnCommandListDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.flags = CAIRN_LIST_HELD | flags;
  desc.native = &native;
  CommandList* list = nullptr;
  const Status status = context->BeginCommandList(desc, &list);
  EXPECT_TRUE(status.ok()) << status.message();
  return list;
}

void RecordDraw(CommandList* list, CairnPipeline pipeline = 0) {
  list->BeginWork(CAIRN_MARKER_DRAW, pipeline);
  list->EndWork();
}

CommandList* SecondaryWithADraw(Context* context, SimulatedList& native) {
  CommandList* list = BeginFlags(context, native, CAIRN_LIST_SECONDARY | CAIRN_LIST_EXCLUSIVE);
  RecordDraw(list);
  list->End();
  return list;
}

TEST_F(LayerContextTest, AnExclusiveListIsClearedAtEverySubmissionThatFollows) {
  Make();
  SimulatedList native;
  CommandList* list = BeginFlags(context_, native, CAIRN_LIST_EXCLUSIVE);
  RecordDraw(list);
  list->End();
  ASSERT_TRUE(context_->NotifySubmit(this, &list, 1).ok());
  // The GPU got no further than the draw's begin, as far as the words say: nothing proves the end.
  SimulatedGpu::Execute(native, 1);
  EXPECT_EQ(Reached(*list), 1u);
  ASSERT_TRUE(context_->NotifySubmit(this, &list, 1).ok());
  EXPECT_EQ(Reached(*list), 0u);
  EXPECT_EQ(list->slot()->reset_run.load(), 1u);
  EXPECT_EQ(list->slot()->submit_count.load(), 2u);
}

TEST_F(LayerContextTest, SecondariesCountAndAreClearedWithThePrimary) {
  Make();
  SimulatedList native;
  SimulatedList primary_native;
  CommandList* inner = SecondaryWithADraw(context_, native);
  EXPECT_EQ(inner->slot()->flags, kRecordingSecondary);
  CommandList* primary = BeginFlags(context_, primary_native, CAIRN_LIST_EXCLUSIVE);
  primary->BeginMarker(CAIRN_MARKER_EXECUTE_COMMANDS, nullptr, CAIRN_NAME_STATIC);
  EXPECT_EQ(primary->ExecuteSecondary(*inner), CAIRN_OK);
  primary->EndMarker();
  primary->End();
  ASSERT_TRUE(context_->NotifySubmit(this, &primary, 1).ok());
  EXPECT_EQ(inner->slot()->submit_count.load(), 1u);
  EXPECT_EQ(inner->slot()->reset_run.load(), 0u);
  SimulatedGpu::Execute(native, 2);
  EXPECT_EQ(Passed(*inner), 2u);
  ASSERT_TRUE(context_->NotifySubmit(this, &primary, 1).ok());
  EXPECT_EQ(Passed(*inner), 0u);
  EXPECT_EQ(inner->slot()->submit_count.load(), 2u);
  EXPECT_EQ(inner->slot()->reset_run.load(), 1u);
  // Both submissions are the primary's alone.
  EXPECT_EQ(block_->header()->submission_serial.load(), 2u);
}

TEST_F(LayerContextTest, SecondariesAreClearedBeforeTheRunOfThePrimaryIsPublished) {
  Make();
  SimulatedList native;
  SimulatedList primary_native;
  CommandList* inner = SecondaryWithADraw(context_, native);
  CommandList* primary = BeginFlags(context_, primary_native, CAIRN_LIST_EXCLUSIVE);
  primary->ExecuteSecondary(*inner);
  primary->End();
  ASSERT_TRUE(context_->NotifySubmit(this, &primary, 1).ok());
  SimulatedGpu::Execute(native);
  // Values that a reader would see while the words are still the old ones.
  std::vector<std::pair<uint32_t, uint64_t>> seen;
  on_clear_ = [&](uint32_t slot) {
    if (slot != inner->slot_index()) return;
    EXPECT_EQ(Passed(*inner), 2u);
    seen.emplace_back(primary->slot()->submit_count.load(),
                      block_->header()->submission_serial.load());
  };
  ASSERT_TRUE(context_->NotifySubmit(this, &primary, 1).ok());
  on_clear_ = nullptr;
  EXPECT_THAT(seen, ElementsAre(std::pair(1u, uint64_t{1})));
  EXPECT_EQ(primary->slot()->submit_count.load(), 2u);
  EXPECT_EQ(inner->slot()->submit_count.load(), 2u);
}

TEST_F(LayerContextTest, ASecondaryThatIsAnotherRecordingByNowIsLeftAlone) {
  Make();
  SimulatedList native;
  SimulatedList primary_native;
  CommandList* inner = BeginFlags(context_, native, CAIRN_LIST_SECONDARY | CAIRN_LIST_EXCLUSIVE);
  inner->End();
  CommandList* primary = BeginFlags(context_, primary_native, CAIRN_LIST_EXCLUSIVE);
  primary->ExecuteSecondary(*inner);
  primary->End();
  ASSERT_TRUE(context_->ReleaseCommandList(inner).ok());
  CommandList* other = BeginFlags(context_, native, CAIRN_LIST_EXCLUSIVE);
  ASSERT_EQ(other, inner) << "the slot is used again";
  ASSERT_TRUE(context_->NotifySubmit(this, &primary, 1).ok());
  EXPECT_EQ(other->slot()->submit_count.load(), 0u);
}

TEST_F(LayerContextTest, ASilentListIsNotedAndNotWritten) {
  Make();
  SimulatedList native;
  CommandList* list = BeginFlags(context_, native, CAIRN_LIST_SILENT);
  RecordDraw(list);
  list->SetSilent(false);
  RecordDraw(list);
  list->End();
  EXPECT_THAT(Events(*list), ElementsAre(SeenEvent{EventKind::kBegin, 0, CAIRN_MARKER_DRAW, "", 0},
                                         SeenEvent{EventKind::kEnd, 0, 0, "", 1},
                                         SeenEvent{EventKind::kBegin, 0, CAIRN_MARKER_DRAW, "", 0},
                                         SeenEvent{EventKind::kEnd, 0, 0, "", 3}));
}

TEST_F(LayerContextTest, SilenceEnds) {
  Make();
  SimulatedList native;
  CommandList* list = BeginFlags(context_, native, CAIRN_LIST_EXCLUSIVE);
  list->SetSilent(true);
  RecordDraw(list);
  list->SetSilent(false);
  RecordDraw(list);
  list->End();
  const std::vector<SeenEvent> events = Events(*list);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].flags | events[1].flags, 0);
  EXPECT_EQ(events[2].flags, kTop);
  EXPECT_EQ(events[3].flags, kBottom);
}

TEST_F(LayerContextTest, AListWithoutWorkWritesItsEnd) {
  Make();
  SimulatedList native;
  CommandList* list = BeginFlags(context_, native, CAIRN_LIST_EXCLUSIVE);
  list->End();
  EXPECT_THAT(Events(*list), ElementsAre(SeenEvent{EventKind::kEnd, kBottom, 0, "", 0}));
  ASSERT_TRUE(context_->NotifySubmit(this, &list, 1).ok());
  EXPECT_FALSE(list->ProvenFinished());
  SimulatedGpu::Execute(native);
  EXPECT_TRUE(list->ProvenFinished());
  ASSERT_TRUE(context_->NotifySubmit(this, &list, 1).ok());
  EXPECT_FALSE(list->ProvenFinished()) << "another run";
}

// Secondaries are no work of their own, and where nothing may be written there is no end to be seen.
TEST_F(LayerContextTest, ListsWithoutWorkThatMayNotBeWrittenHaveNoEvents) {
  Make();
  SimulatedList native;
  for (const uint32_t flags : {CAIRN_LIST_SECONDARY, CAIRN_LIST_SILENT}) {
    CommandList* list = BeginFlags(context_, native, flags);
    list->End();
    EXPECT_THAT(Events(*list), ElementsAre()) << flags;
  }
  CommandList* list = BeginFlags(context_, native, 0);
  EXPECT_EQ(list->SetInsideRenderPass(true), CAIRN_OK);
  list->End();
  EXPECT_THAT(Events(*list), ElementsAre()) << "the backend refused";
  EXPECT_TRUE(native.writes.empty());
}

TEST_F(LayerContextTest, SubmissionsSayInWhichFrameTheyWereMade) {
  Make();
  SimulatedList native;
  CommandList* list = BeginFlags(context_, native, CAIRN_LIST_EXCLUSIVE);
  RecordDraw(list);
  list->End();
  ASSERT_TRUE(context_->NotifySubmit(this, &list, 1).ok());
  for (int i = 0; i < 7; ++i) context_->BeginLayerFrame();
  ASSERT_TRUE(context_->NotifySubmit(this, &list, 1).ok());
  const auto* const ring = reinterpret_cast<const SubmissionRecord*>(
      block_->data() + block_->header()->submissions_offset);
  EXPECT_EQ(ring[0].frame_plus_1, 1u);
  EXPECT_EQ(ring[1].frame_plus_1, 8u);
  EXPECT_EQ(list->slot()->frame, 0u) << "where it was recorded";
}

TEST_F(LayerContextTest, EachWorkHasThePipelineOfItsBindPoint) {
  Make();
  SimulatedList native;
  CommandList* list = BeginFlags(context_, native, 0);
  list->SetPipeline(9);
  RecordDraw(list, 4);
  list->BeginWork(CAIRN_MARKER_DISPATCH);
  list->EndWork();
  const EventChunk* const chunk = Chunk(list->slot()->first_event_page);
  EXPECT_EQ(chunk->events[EventPosition(list->slot_index(), 0)].pipeline, 4u);
  EXPECT_EQ(chunk->events[EventPosition(list->slot_index(), 2)].pipeline, 9u);
}

}  // namespace
}  // namespace cairn
