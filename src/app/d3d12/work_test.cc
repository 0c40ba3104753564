// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/testing/simulated_gpu.h"
#include "app/breadcrumbs/testing/test_context_desc.h"
#include "app/recorder/dxbc_code.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// An event of the block in words: "begin 16 T", "end 2 B", "bind 1[0]=7", "event 5 id 9 meta 1 'text'".
std::string Tell(const BlockWriter& block, const EventRecord& event) {
  const std::string writes = std::string(event.flags & kEventWritesTop ? " T" : "") +
                             (event.flags & kEventWritesBottom ? " B" : "");
  if (event.kind == EventKind::kEnd) {
    const int drains = event.flags & kEventDrains;
    return "end " + std::to_string(event.match) + writes +
           (drains != 0 ? " drains " + std::to_string(drains) : "");
  }
  if (event.kind == EventKind::kBind) {
    const uint64_t value = uint64_t{event.match} << 32 | event.pipeline;
    const bool compute = (event.name & kBindSlotOfCompute) != 0;
    return "bind " + std::to_string(event.type) + (compute ? " compute" : "") + "[" +
           std::to_string(event.name & ~kBindSlotOfCompute) + "]" +
           (event.flags & kEventBindsAddress ? "@" : "=") + std::to_string(value);
  }
  std::string text = "begin " + std::to_string(event.type);
  if (event.name != 0) {
    const NameRecord& name = *block.Name(event.name);
    std::string bytes(name.bytes, name.length_bytes);
    if (event.flags & kEventNameIsAnnotation) {
      AnnotationHeader header;
      std::memcpy(&header, bytes.data(), sizeof(header));
      text += " id " + std::to_string(header.event_id) + " meta " +
              std::to_string(header.metadata) + " size " + std::to_string(header.size);
      bytes.erase(0, sizeof(header));
    }
    text += " '" + bytes + "'";
  }
  if (event.pipeline != 0) text += " pipeline " + std::to_string(event.pipeline);
  return text + writes;
}

class WorkTest : public testing::Test {
 protected:
  void Make(CairnMode mode) {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinLayerBlockBytes);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
    const CairnContextDesc desc = TestContextDesc(mode, 64, 0);
    Result<Context*> context =
        Context::Create(desc, block_.get(), std::make_unique<SimulatedBackend>(&live_lists_));
    ASSERT_TRUE(context.ok()) << context.status().message();
    context_ = *context;
  }
  void TearDown() override {
    breadcrumbs_.Release();
    if (context_ != nullptr) Context::Destroy(context_);
  }
  void Start() { Start(breadcrumbs_, native_); }
  void Start(ListBreadcrumbs& breadcrumbs, SimulatedList& native) {
    ListStart start;
    start.real = &native;
    start.name = "Main";
    breadcrumbs.Start(context_, start);
  }
  std::vector<std::string> Events() const { return Events(*breadcrumbs_.recording()); }
  std::vector<std::string> Events(const CommandList& list) const {
    std::vector<std::string> events;
    uint32_t page = list.slot()->first_event_page;
    for (uint32_t i = 0; i < list.slot()->event_count.load(); ++i) {
      const auto* chunk = reinterpret_cast<const EventChunk*>(block_->Page(page));
      if (i != 0 && i % kEventsPerChunk == 0) {
        page = chunk->next_page.load();
        chunk = reinterpret_cast<const EventChunk*>(block_->Page(page));
      }
      events.push_back(Tell(*block_, chunk->events[EventPosition(list.slot_index(), i)]));
    }
    return events;
  }
  void Draw() {
    breadcrumbs_.BeginWork(CAIRN_MARKER_DRAW_INSTANCED);
    breadcrumbs_.EndWork();
  }

  int live_lists_ = 0;
  std::unique_ptr<BlockWriter> block_;
  Context* context_ = nullptr;
  SimulatedList native_;
  ListBreadcrumbs breadcrumbs_;
};

// The backend reports how the barrier was recorded below the API.
TEST_F(WorkTest, BarriersDrainWhatTheyDrainBelow) {
  for (const CairnMode mode : {CAIRN_MODE_TOP, CAIRN_MODE_FULL}) {
    Make(mode);
    Start();
    native_.drains = kEventDrainsDispatches;
    Draw();
    breadcrumbs_.BeginWork(CAIRN_MARKER_RESOURCE_BARRIER);
    breadcrumbs_.EndBarrier();
    const std::vector<std::string> events = Events();
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(events[1], mode == CAIRN_MODE_TOP ? "end 1" : "end 1 B");
    EXPECT_EQ(events[3], mode == CAIRN_MODE_TOP ? "end 3 drains 32" : "end 3 B");
    TearDown();
    context_ = nullptr;
  }
  breadcrumbs_.EndBarrier();  // of a list that is not open
}

TEST_F(WorkTest, TopModeWritesBeforeEachCommandAndOnceAtTheEnd) {
  Make(CAIRN_MODE_TOP);
  Start();
  ASSERT_TRUE(breadcrumbs_.open());
  Draw();
  Draw();
  breadcrumbs_.End();
  EXPECT_FALSE(breadcrumbs_.open());
  EXPECT_THAT(Events(), ElementsAre("begin 16 T", "end 1", "begin 16 T", "end 3 B"));
  EXPECT_EQ(native_.writes.size(), 3u);
}

TEST_F(WorkTest, FullModeWritesAroundEachCommand) {
  Make(CAIRN_MODE_FULL);
  Start();
  Draw();
  Draw();
  breadcrumbs_.End();
  EXPECT_THAT(Events(), ElementsAre("begin 16 T", "end 1 B", "begin 16 T", "end 3 B"));
}

TEST_F(WorkTest, PassModeWritesTheBottomWhereAnEventEnds) {
  Make(CAIRN_MODE_PASS);
  Start();
  breadcrumbs_.BeginEvent(0, 1, "Pass", 5);
  Draw();
  breadcrumbs_.EndEvent();
  Draw();
  breadcrumbs_.End();
  EXPECT_THAT(Events(), ElementsAre(testing::StartsWith("begin 0 id 0 meta 1 size 5 'Pass"),
                                    "begin 16 T", "end 2", "end 1 B", "begin 16 T", "end 5 B"));
}

TEST_F(WorkTest, WithoutAContextNothingHappens) {
  ListStart start;
  start.real = &native_;
  breadcrumbs_.Start(nullptr, start);
  EXPECT_FALSE(breadcrumbs_.open());
  EXPECT_EQ(breadcrumbs_.recording(), nullptr);
  Draw();
  breadcrumbs_.BeginEvent(1, 2, "x", 1);
  breadcrumbs_.EndEvent();
  breadcrumbs_.SetMarker(1, 2, nullptr, 8);
  breadcrumbs_.SetRenderTarget(0, 5);
  breadcrumbs_.SetRootAddress(false, BindPoint::kRootConstantBuffer, 0, 0x1000);
  breadcrumbs_.SetRootSignature(true, this);
  breadcrumbs_.UnbindEverything();
  breadcrumbs_.BeginRenderPassWork(true, true);
  breadcrumbs_.EndRenderPass();
  breadcrumbs_.BeginStatisticsQuery();
  breadcrumbs_.EndStatisticsQuery();
  breadcrumbs_.End();
  breadcrumbs_.Release();
  EXPECT_TRUE(native_.writes.empty());
}

TEST_F(WorkTest, AnnotationsCarryTheirBytes) {
  Make(CAIRN_MODE_FULL);
  Start();
  breadcrumbs_.BeginEvent(77, 2, "\x01\x00\x02", 3);
  breadcrumbs_.SetMarker(78, 1, "Here", 4);
  breadcrumbs_.SetMarker(0, 0, nullptr, 0);
  breadcrumbs_.EndEvent();
  breadcrumbs_.End();
  using std::string_literals::operator""s;
  EXPECT_THAT(Events(), ElementsAre("begin 0 id 77 meta 2 size 3 '\x01\0\x02' T"s,
                                    "begin 52 id 78 meta 1 size 4 'Here' T", "end 2 B",
                                    "begin 52 id 0 meta 0 size 0 '' T", "end 4 B", "end 1 B"));
}

TEST_F(WorkTest, EventsMayStayOpenAndEndWithoutABegin) {
  Make(CAIRN_MODE_TOP);
  Start();
  breadcrumbs_.EndEvent();
  breadcrumbs_.BeginEvent(0, 1, "A", 1);
  breadcrumbs_.EndEvent();
  breadcrumbs_.EndEvent();
  breadcrumbs_.BeginEvent(0, 1, "B", 1);
  Draw();
  breadcrumbs_.End();
  EXPECT_EQ(Events().size(), 5u);
  // The next recording knows nothing of it.
  Start();
  breadcrumbs_.EndEvent();
  Draw();
  breadcrumbs_.End();
  EXPECT_THAT(Events(), ElementsAre("begin 16 T", "end 1 B"));
}

TEST_F(WorkTest, AfterCloseNothingIsRecordedUntilReset) {
  Make(CAIRN_MODE_TOP);
  Start();
  Draw();
  breadcrumbs_.End();
  CommandList* const first = breadcrumbs_.recording();
  const size_t writes = native_.writes.size();
  Draw();
  breadcrumbs_.SetMarker(0, 1, "x", 1);
  breadcrumbs_.SetRenderTarget(0, 3);
  breadcrumbs_.SetPipeline(4);
  breadcrumbs_.End();
  EXPECT_EQ(Events().size(), 2u);
  EXPECT_EQ(native_.writes.size(), writes);
  EXPECT_EQ(breadcrumbs_.recording(), first);
}

TEST_F(WorkTest, ListsThatNeverRanGiveTheirSlotBack) {
  Make(CAIRN_MODE_TOP);
  // Far more recordings than slots, recorded and never executed, as some programs do at start.
  for (int i = 0; i < 1000; ++i) {
    Start();
    ASSERT_TRUE(breadcrumbs_.open()) << i;
    Draw();
    if (i % 2 == 0) breadcrumbs_.End();
    if (i % 8 == 0) context_->BeginFrame();
  }
  breadcrumbs_.Release();
  EXPECT_EQ(block_->contexts()[0].lists_dropped.load(), 0u);
}

TEST_F(WorkTest, AListThatIsKeptOutlivesManyFramesAndSubmissions) {
  Make(CAIRN_MODE_TOP);
  Start();
  Draw();
  breadcrumbs_.End();
  int queue = 0;
  for (int i = 0; i < 200; ++i) {
    context_->BeginFrame();
    CommandList* lists[] = {breadcrumbs_.recording()};
    ASSERT_TRUE(context_->NotifySubmit(&queue, lists, 1).ok());
    SimulatedGpu::ExecuteAgain(native_);
  }
  EXPECT_EQ(breadcrumbs_.recording()->slot()->submit_count.load(), 200u);
  EXPECT_THAT(Events(), ElementsAre("begin 16 T", "end 1 B"));
}

TEST_F(WorkTest, ResetWhileTheGpuStillExecutesKeepsTheOldRecording) {
  Make(CAIRN_MODE_TOP);
  Start();
  Draw();
  breadcrumbs_.End();
  CommandList* const running = breadcrumbs_.recording();
  int queue = 0;
  CommandList* lists[] = {running};
  ASSERT_TRUE(context_->NotifySubmit(&queue, lists, 1).ok());
  SimulatedGpu::Execute(native_, 1);
  SimulatedList second;
  Start(breadcrumbs_, second);
  EXPECT_NE(breadcrumbs_.recording(), running);
  EXPECT_THAT(Events(*running), ElementsAre("begin 16 T", "end 1 B"));
  SimulatedGpu::Execute(native_);
  EXPECT_TRUE(running->ProvenFinished());
}

TEST_F(WorkTest, AListWhoseTopWritesWereSkippedIsFinishedAllTheSame) {
  Make(CAIRN_MODE_TOP);
  Start();
  breadcrumbs_.SetPredicated(true);
  EXPECT_TRUE(breadcrumbs_.predicated());
  Draw();
  Draw();
  breadcrumbs_.End();
  EXPECT_FALSE(breadcrumbs_.predicated());
  CommandList* const list = breadcrumbs_.recording();
  int queue = 0;
  ASSERT_TRUE(context_->NotifySubmit(&queue, &list, 1).ok());
  native_.writes.erase(native_.writes.begin(), native_.writes.end() - 1);
  EXPECT_FALSE(list->ProvenFinished());
  SimulatedGpu::Execute(native_);
  EXPECT_TRUE(list->ProvenFinished());
}

TEST_F(WorkTest, PipelinesAreRegisteredOnceAtTheirFirstUse) {
  Make(CAIRN_MODE_TOP);
  PipelineNote note;
  const unsigned char vertex[] = {'D',  'X',  'B',  'C',  0x01, 0x23,
                                  0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  note.SetStage(kStageVertex, KeepDxbc(block_.get(), vertex, sizeof(vertex)));
  note.SetStage(kStagePixel, KeepDxbc(block_.get(), "garbage that is no shader", 25));
  note.SetStage(kStageHull, KeepDxbc(block_.get(), nullptr, 100));
  const PipelineDescription description = {.tells_targets = true, .target_count = 3};
  note.SetDescription(description);
  EXPECT_EQ(block_->header()->pipeline_count.load(), 0u);
  std::vector<CairnPipeline> numbers(8);
  std::vector<std::thread> threads;
  for (CairnPipeline& number : numbers) {
    threads.emplace_back([&] { number = note.Register(*context_, &note, "Opaque"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(numbers, testing::Each(numbers[0]));
  const PipelineRecord& record = block_->pipelines()[numbers[0] - 1];
  EXPECT_EQ(record.state.load(), 1u);
  EXPECT_EQ(record.native_handle, reinterpret_cast<uintptr_t>(&note));
  const auto name = [&](NameRef ref) { return std::string(block_->Name(ref)->bytes); };
  EXPECT_EQ(name(record.name), "Opaque");
  EXPECT_EQ(name(record.shader_names[kStageVertex]), "0123456789abcdef");
  EXPECT_EQ(name(record.shader_names[kStagePixel]), "shader");
  EXPECT_EQ(name(record.shader_names[kStageHull]), "shader");
  EXPECT_EQ(record.shader_names[kStageCompute], 0u);
  EXPECT_EQ(record.shader_hashes[kStageVertex], 0x0123456789abcdefu);
  EXPECT_EQ(record.shader_hashes[kStagePixel], 0u);
  EXPECT_EQ(UnpackPipelineDescription(record.description), description);
  ASSERT_EQ(block_->header()->shader_count.load(), 1u) << "its code is kept";
  EXPECT_EQ(block_->shaders()[0].hash, 0x0123456789abcdefu);
  EXPECT_EQ(block_->shaders()[0].code, ShaderCode::kDxbc);
  EXPECT_EQ(block_->shaders()[0].size_bytes, sizeof(vertex));
  note.End(*context_);
  EXPECT_EQ(record.state.load(), 2u);
}

TEST_F(WorkTest, BindingsAreNotedOnceAndUnboundOnes) {
  Make(CAIRN_MODE_TOP);
  Start();
  breadcrumbs_.SetRenderTarget(0, 7);
  breadcrumbs_.SetRenderTarget(1, 8);
  breadcrumbs_.EndRenderTargets(2);
  breadcrumbs_.SetDepthStencil(9);
  breadcrumbs_.SetRenderTarget(0, 7);
  breadcrumbs_.EndRenderTargets(1);
  breadcrumbs_.SetDepthStencil(9);
  breadcrumbs_.SetVertexBuffer(3, 0x1'0000'0010);
  breadcrumbs_.SetVertexBuffer(3, 0x1'0000'0010);
  breadcrumbs_.SetIndexBuffer(0x2000);
  breadcrumbs_.SetStreamOutput(2, 0x3000);
  breadcrumbs_.End();
  EXPECT_THAT(Events(), ElementsAre("bind 1[0]=7", "bind 1[1]=8", "bind 2[0]=9", "bind 1[1]=0",
                                    "bind 3[3]@4294967312", "bind 4[0]@8192", "bind 8[2]@12288"));
}

TEST_F(WorkTest, SlotsThatDoNotExistAreIgnored) {
  Make(CAIRN_MODE_TOP);
  Start();
  for (const uint32_t slot : {4u, 8u, 32u, 64u, 0x80000000u, 0xFFFFFFFFu}) {
    if (slot >= 8) breadcrumbs_.SetRenderTarget(slot, 1);
    if (slot >= 32) breadcrumbs_.SetVertexBuffer(slot, 1);
    breadcrumbs_.SetStreamOutput(slot, 1);
    if (slot >= 64) {
      breadcrumbs_.SetRootAddress(true, BindPoint::kRootShaderResource, slot, 1);
    }
  }
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(WorkTest, AnotherRootSignatureUnbindsItsParameters) {
  Make(CAIRN_MODE_TOP);
  Start();
  int first = 0;
  int second = 0;
  breadcrumbs_.SetRootSignature(false, &first);
  breadcrumbs_.SetRootSignature(true, &first);
  breadcrumbs_.SetRootAddress(false, BindPoint::kRootConstantBuffer, 2, 0x1000);
  breadcrumbs_.SetRootAddress(true, BindPoint::kRootUnorderedAccess, 1, 0x2000);
  breadcrumbs_.SetRootSignature(false, &first);
  breadcrumbs_.SetRootSignature(true, &second);
  EXPECT_THAT(Events(),
              ElementsAre("bind 5[2]@4096", "bind 7 compute[1]@8192", "bind 7 compute[1]@0"));
}

TEST_F(WorkTest, ClearStateUnbindsEverything) {
  Make(CAIRN_MODE_TOP);
  Start();
  int signature = 0;
  breadcrumbs_.SetRootSignature(false, &signature);
  breadcrumbs_.SetRenderTarget(1, 7);
  breadcrumbs_.SetDepthStencil(8);
  breadcrumbs_.SetVertexBuffer(2, 16);
  breadcrumbs_.SetIndexBuffer(17);
  breadcrumbs_.SetStreamOutput(3, 18);
  breadcrumbs_.SetRootAddress(false, BindPoint::kRootShaderResource, 4, 19);
  const size_t bound = Events().size();
  breadcrumbs_.UnbindEverything();
  std::vector<std::string> events = Events();
  events.erase(events.begin(), events.begin() + static_cast<ptrdiff_t>(bound));
  EXPECT_THAT(events, ElementsAre("bind 1[1]=0", "bind 2[0]=0", "bind 3[2]@0", "bind 4[0]@0",
                                  "bind 8[3]@0", "bind 6[4]@0"));
}

TEST_F(WorkTest, OperandsBelongToTheNextCommand) {
  Make(CAIRN_MODE_TOP);
  Start();
  for (int i = 0; i < 2; ++i) {
    breadcrumbs_.UseObject(BindPoint::kDestination, 0, 4);
    breadcrumbs_.UseObject(BindPoint::kSource, 0, 5);
    breadcrumbs_.UseObject(BindPoint::kSource, 0, 0);
    breadcrumbs_.UseAddress(BindPoint::kSource, 1, 0x1000);
    breadcrumbs_.BeginWork(CAIRN_MARKER_COPY_RESOURCE);
    breadcrumbs_.EndWork();
  }
  EXPECT_THAT(Events(), ElementsAre("bind 11[0]=4", "bind 10[0]=5", "bind 10[1]@4096", "begin 10 T",
                                    "end 4", "bind 11[0]=4", "bind 10[0]=5", "bind 10[1]@4096",
                                    "begin 10 T", "end 9"));
}

TEST_F(WorkTest, PipelinesAreThoseOfTheMoment) {
  Make(CAIRN_MODE_TOP);
  Start();
  breadcrumbs_.SetPipeline(3);
  Draw();
  breadcrumbs_.SetPipeline(0);
  Draw();
  EXPECT_THAT(Events(), ElementsAre("begin 16 pipeline 3 T", "end 1", "begin 16 T", "end 3"));
}

TEST_F(WorkTest, NothingIsWrittenInsideRenderPasses) {
  Make(CAIRN_MODE_FULL);
  Start();
  breadcrumbs_.BeginRenderPassWork(false, false);
  breadcrumbs_.EndWork();
  Draw();
  breadcrumbs_.BeginWork(CAIRN_MARKER_END_RENDER_PASS);
  breadcrumbs_.EndRenderPass();
  breadcrumbs_.EndWork();
  Draw();
  breadcrumbs_.End();
  EXPECT_THAT(Events(), ElementsAre("begin 37 T", "end 1", "begin 16", "end 3", "begin 42",
                                    "end 5 B", "begin 16 T", "end 7 B"));
}

TEST_F(WorkTest, NothingIsWrittenBetweenPassesThatSuspendAndResume) {
  Make(CAIRN_MODE_FULL);
  Start();
  breadcrumbs_.BeginRenderPassWork(false, true);
  breadcrumbs_.EndWork();
  breadcrumbs_.BeginWork(CAIRN_MARKER_END_RENDER_PASS);
  breadcrumbs_.EndRenderPass();
  breadcrumbs_.EndWork();
  breadcrumbs_.BeginRenderPassWork(true, true);
  breadcrumbs_.EndWork();
  breadcrumbs_.BeginWork(CAIRN_MARKER_END_RENDER_PASS);
  breadcrumbs_.EndRenderPass();
  breadcrumbs_.EndWork();
  breadcrumbs_.End();
  EXPECT_EQ(native_.writes.size(), 1u);  // at the begin of the first pass
  // A list that only resumes and suspends is not written into at all.
  SimulatedList middle;
  Start(breadcrumbs_, middle);
  breadcrumbs_.BeginRenderPassWork(true, true);
  breadcrumbs_.EndWork();
  Draw();
  breadcrumbs_.BeginWork(CAIRN_MARKER_END_RENDER_PASS);
  breadcrumbs_.EndRenderPass();
  breadcrumbs_.EndWork();
  breadcrumbs_.End();
  EXPECT_TRUE(middle.writes.empty());
}

TEST_F(WorkTest, NothingIsWrittenWhileStatisticsAreCounted) {
  Make(CAIRN_MODE_FULL);
  Start();
  breadcrumbs_.BeginStatisticsQuery();
  breadcrumbs_.BeginStatisticsQuery();
  Draw();
  breadcrumbs_.EndStatisticsQuery();
  Draw();
  breadcrumbs_.EndStatisticsQuery();
  breadcrumbs_.EndStatisticsQuery();
  Draw();
  EXPECT_THAT(Events(),
              ElementsAre("begin 16", "end 1", "begin 16", "end 3", "begin 16 T", "end 5 B"));
}

TEST_F(WorkTest, ThreadsRecordTheirOwnLists) {
  Make(CAIRN_MODE_FULL);
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  std::vector<std::vector<std::string>> seen(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &seen] {
      SimulatedList native;
      ListBreadcrumbs breadcrumbs;
      for (int round = 0; round < 50; ++round) {
        native.writes.clear();
        Start(breadcrumbs, native);
        for (int i = 0; i <= t; ++i) {
          breadcrumbs.BeginWork(CAIRN_MARKER_DISPATCH);
          breadcrumbs.EndWork();
        }
        breadcrumbs.End();
      }
      seen[static_cast<size_t>(t)] = Events(*breadcrumbs.recording());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(seen[static_cast<size_t>(t)].size(), static_cast<size_t>(2 * (t + 1)));
  }
}

}  // namespace
}  // namespace cairn
