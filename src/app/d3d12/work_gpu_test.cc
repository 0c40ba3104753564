// SPDX-License-Identifier: Apache-2.0
//
// Lists and queues of the layer on a real device: the same results as without it, and what the block
// says afterwards. Run once for each mode of CAIRN_BREADCRUMBS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/breadcrumbs/testing/d3d12_test_gpu.h"
#include "app/d3d12/device.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/work_scene.h"
#include "app/d3d12/work.h"
#include "app/recorder/block_writer.h"
#include "app/settings/own_settings.h"
#include "os/environment.h"

namespace cairn {
namespace {

// The tests check the data of events; the layer reads this variable with its first device.
[[maybe_unused]] const bool events_are_kept = (SetVariable("CAIRN_EVENTS", "all"), true);

// One event of a recording, as the block has it.
struct Seen {
  EventKind kind;
  uint32_t type;
  uint8_t flags;
  std::string name;  // of an annotation: its payload
  uint64_t value;    // kBind
  uint32_t slot;     // kBind
};

std::vector<Seen> EventsOf(const CommandList& list) {
  const BlockWriter& block = *list.context()->block();
  std::vector<Seen> events;
  uint32_t page = list.slot()->first_event_page;
  for (uint32_t i = 0; i < list.slot()->event_count.load(); ++i) {
    const auto* chunk = reinterpret_cast<const EventChunk*>(block.Page(page));
    if (i != 0 && i % kEventsPerChunk == 0) {
      page = chunk->next_page.load();
      chunk = reinterpret_cast<const EventChunk*>(block.Page(page));
    }
    const EventRecord& event = chunk->events[EventPosition(list.slot_index(), i)];
    Seen seen{event.kind, event.type, event.flags, "", 0, 0};
    if (event.kind == EventKind::kBind) {
      seen.value = uint64_t{event.match} << 32 | event.pipeline;
      seen.slot = event.name;
    } else if (event.name != 0) {
      const NameRecord& name = *block.Name(event.name);
      seen.name.assign(name.bytes, name.length_bytes);
      if (event.flags & kEventNameIsAnnotation) seen.name.erase(0, sizeof(AnnotationHeader));
    }
    events.push_back(seen);
  }
  return events;
}

uint32_t CountBegins(const std::vector<Seen>& events, uint32_t type) {
  uint32_t count = 0;
  for (const Seen& event : events) count += event.kind == EventKind::kBegin && event.type == type;
  return count;
}

bool HasBind(const std::vector<Seen>& events, BindPoint point, uint32_t slot, uint64_t value) {
  for (const Seen& event : events) {
    if (event.kind == EventKind::kBind && event.type == static_cast<uint32_t>(point) &&
        event.slot == slot && event.value == value) {
      return true;
    }
  }
  return false;
}

struct Words {
  uint32_t reached;
  uint32_t passed;
};

// The words of a recording, once the GPU has finished.
Words WordsOf(const CommandList& list) {
  list.context()->Mirror();
  const BlockWriter& block = *list.context()->block();
  const ContextRecord& record = block.contexts()[list.context()->index()];
  const auto& words = reinterpret_cast<const ProgressWords*>(
      block.data() + record.progress_offset)[list.slot_index()];
  const uint32_t generation = list.slot()->generation;
  return {ProgressSequence(words.reached.load(), generation),
          ProgressSequence(words.passed.load(), generation)};
}

// A wrapped queue, and what the block says of it.
class TestQueue {
 public:
  explicit TestQueue(ID3D12Device* device) {
    const D3D12_COMMAND_QUEUE_DESC desc = {};
    EXPECT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
              S_OK);
    EXPECT_EQ(RealObject(device)->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence),
                                              unseen_.Receive()),
              S_OK);
  }
  ID3D12CommandQueue* get() const { return queue_.get(); }

  // Until all that the queue was given has finished, by a signal that the layer does not see.
  void WaitUnseen() const {
    ID3D12CommandQueue* const real = RealObject(queue_.get());
    const uint64_t value = unseen_->GetCompletedValue() + 1;
    ASSERT_EQ(real->Signal(unseen_.get(), value), S_OK);
    ComPtr<ID3D12Device> device;
    ASSERT_EQ(real->GetDevice(__uuidof(ID3D12Device), device.Receive()), S_OK);
    const Status status = WaitForFence(device.get(), unseen_.get(), value, kTestLimit);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  uint64_t completed() const {
    Context& context = *AsWrapper(queue_.get())->device()->context();
    const uint32_t index = context.QueueIndex(queue_.get());
    if (index == kNoQueue) {
      ADD_FAILURE() << "the queue is not in the block";
      return 0;
    }
    return context.block()->queues()[index].completed_submission.load();
  }

 private:
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12Fence> unseen_;
};

class WorkGpuTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    real_ = new ComPtr<ID3D12Device>(TestDevice());
    (*real_)->AddRef();
    ID3D12Device* const wrapper = WrapDevice(real_->get(), {});
    wrapped_ = new ComPtr<ID3D12Device>(wrapper);
    wrapper->Release();
  }
  static void TearDownTestSuite() {
    delete wrapped_;
    delete real_;
  }

  ID3D12Device* real() { return real_->get(); }
  ID3D12Device* device() { return wrapped_->get(); }
  MarkerMode mode() const { return *Settings().breadcrumbs; }
  bool off() const { return mode() == MarkerMode::kOff; }

  ComPtr<ID3D12CommandAllocator> Allocator(
      D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT) {
    ComPtr<ID3D12CommandAllocator> allocator;
    EXPECT_EQ(device()->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator),
                                               allocator.Receive()),
              S_OK);
    return allocator;
  }
  ComPtr<ID3D12GraphicsCommandList> List(
      ID3D12CommandAllocator* allocator,
      D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT) {
    ComPtr<ID3D12GraphicsCommandList> list;
    EXPECT_EQ(device()->CreateCommandList(0, type, allocator, nullptr,
                                          __uuidof(ID3D12GraphicsCommandList), list.Receive()),
              S_OK);
    return list;
  }
  ComPtr<ID3D12Fence> Fence() {
    ComPtr<ID3D12Fence> fence;
    EXPECT_EQ(
        device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
        S_OK);
    return fence;
  }
  static CommandList* Recording(ID3D12GraphicsCommandList* list) {
    const Wrapper* const wrapper = AsWrapper(list);
    return wrapper == nullptr || wrapper->breadcrumbs() == nullptr
               ? nullptr
               : wrapper->breadcrumbs()->recording();
  }
  // Executes closed lists and waits for the end.
  void Execute(const std::vector<ID3D12GraphicsCommandList*>& lists,
               D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT) {
    D3D12_COMMAND_QUEUE_DESC desc = {};
    desc.Type = type;
    ComPtr<ID3D12CommandQueue> queue;
    ASSERT_EQ(device()->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
              S_OK);
    ComPtr<ID3D12Fence> fence;
    ASSERT_EQ(
        device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
        S_OK);
    std::vector<ID3D12CommandList*> raw(lists.begin(), lists.end());
    queue->ExecuteCommandLists(static_cast<UINT>(raw.size()), raw.data());
    ASSERT_EQ(queue->Signal(fence.get(), 1), S_OK);
    const Status status = WaitForFence(device(), fence.get(), 1, kTestLimit);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  SceneResult RunScene(ID3D12Device* device, WorkScene& scene, uint32_t executions) {
    D3D12Submitter submitter;
    EXPECT_TRUE(submitter.Create(device, D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
    const Result<ID3D12GraphicsCommandList*> list = submitter.Begin();
    EXPECT_TRUE(list.ok());
    scene.Spoil();
    scene.Record(*list);
    EXPECT_TRUE(submitter.Submit(executions).ok());
    EXPECT_TRUE(submitter.Wait(kTestLimit).ok());
    return scene.Read();
  }

  static ComPtr<ID3D12Device>* real_;
  static ComPtr<ID3D12Device>* wrapped_;
};

ComPtr<ID3D12Device>* WorkGpuTest::real_ = nullptr;
ComPtr<ID3D12Device>* WorkGpuTest::wrapped_ = nullptr;

// A small buffer to copy from and to.
D3D12MappedBuffer Buffer(ID3D12Device* device, MappedHeap heap) {
  Result<D3D12MappedBuffer> buffer = CreateMappedBuffer(device, heap, 4096);
  EXPECT_TRUE(buffer.ok());
  return std::move(*buffer);
}

TEST_F(WorkGpuTest, SceneHasTheSameResultsWithAndWithoutTheLayer) {
  WorkScene bare_scene(real());
  const SceneResult bare = RunScene(real(), bare_scene, 1);
  ASSERT_TRUE(bare.timestamps_in_order);
  ASSERT_GT(bare.occlusion[0], 0u);
  ASSERT_GT(bare.occlusion[2], 0u);
  ASSERT_GT(bare.statistics[0], 0u);
  ASSERT_EQ(bare.stream.back(), 3u * 3 * 32);
  WorkScene scene(device());
  for (const uint32_t executions : {1u, 1u, 5u}) {
    const SceneResult wrapped = RunScene(device(), scene, executions);
    EXPECT_EQ(wrapped.pixels, bare.pixels);
    EXPECT_EQ(wrapped.occlusion, bare.occlusion);
    EXPECT_EQ(wrapped.statistics, bare.statistics);
    EXPECT_EQ(wrapped.stream_statistics, bare.stream_statistics);
    EXPECT_EQ(wrapped.stream, bare.stream);
    EXPECT_EQ(wrapped.computed, bare.computed);
    EXPECT_TRUE(wrapped.timestamps_in_order);
  }
}

TEST_F(WorkGpuTest, WordsTellOfTheLastCommandThatRan) {
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  WorkScene scene(device());
  scene.Record(list.get());
  ASSERT_EQ(list->Close(), S_OK);
  Execute({list.get()});
  CommandList* const recording = Recording(list.get());
  if (off()) {
    EXPECT_EQ(recording, nullptr);
    return;
  }
  ASSERT_NE(recording, nullptr);
  const std::vector<Seen> events = EventsOf(*recording);
  EXPECT_EQ(recording->slot()->native_handle, reinterpret_cast<uintptr_t>(list.get()));
  EXPECT_EQ(recording->slot()->submit_count.load(), 1u);
  const Words words = WordsOf(*recording);
  EXPECT_TRUE(recording->ProvenFinished());
  EXPECT_EQ(words.passed, events.size());
  // The last command is a copy; its begin is the last write at the top. Events of its bindings may
  // follow.
  size_t last_begin = events.size();
  while (last_begin > 0 && events[last_begin - 1].kind != EventKind::kBegin) --last_begin;
  EXPECT_EQ(words.reached, last_begin);
  EXPECT_GE(CountBegins(events, CAIRN_MARKER_DRAW_INSTANCED), 10u);
  EXPECT_EQ(CountBegins(events, CAIRN_MARKER_EXECUTE_INDIRECT), 1u);
  EXPECT_EQ(CountBegins(events, CAIRN_MARKER_DISPATCH), 4u);
  EXPECT_EQ(CountBegins(events, CAIRN_MARKER_CLEAR_RENDER_TARGET), 1u);
  EXPECT_EQ(CountBegins(events, CAIRN_MARKER_RESOLVE_QUERY_DATA), 6u);
  if (mode() == MarkerMode::kTop) {
    // Only the end of the list is written at the bottom.
    for (size_t i = 0; i + 1 < events.size(); ++i) {
      EXPECT_EQ(events[i].flags & kEventWritesBottom, 0) << i;
    }
  }
  // The target is known behind its descriptor, for draws and for the clear.
  const uint32_t target = AsWrapper(scene.target())->object_index() + 1;
  EXPECT_TRUE(HasBind(events, BindPoint::kRenderTarget, 0, target));
  EXPECT_TRUE(HasBind(events, BindPoint::kDestination, 0, target));
  // Commands have their arguments behind their begins.
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    const Seen& next = events[i + 1];
    if (events[i].kind != EventKind::kBegin) continue;
    if (events[i].type == CAIRN_MARKER_DISPATCH) {
      EXPECT_EQ(next.type, static_cast<uint32_t>(ArgumentsPoint::kGroups)) << i;
      EXPECT_GE(next.slot, 1u) << i;
    }
    if (events[i].type == CAIRN_MARKER_DRAW_INSTANCED) {
      EXPECT_EQ(next.type, static_cast<uint32_t>(ArgumentsPoint::kDraw)) << i;
      EXPECT_EQ(next.slot, 3u) << "vertices of " << i;
    }
    if (events[i].type == CAIRN_MARKER_EXECUTE_INDIRECT) {
      EXPECT_EQ(next.type, static_cast<uint32_t>(ArgumentsPoint::kIndirect)) << i;
    }
  }
}

TEST_F(WorkGpuTest, PipelinesHaveTheirStages) {
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  WorkScene scene(device());
  scene.Record(list.get());
  ASSERT_EQ(list->Close(), S_OK);
  CommandList* const recording = Recording(list.get());
  if (recording == nullptr) return;
  const BlockWriter& block = *recording->context()->block();
  const PipelineRecord* found = nullptr;
  for (uint32_t i = 0; i < block.header()->pipeline_count.load(); ++i) {
    const PipelineRecord& record = block.pipelines()[i];
    if (record.state.load() == 1 &&
        record.native_handle == reinterpret_cast<uintptr_t>(scene.draw_pipeline())) {
      found = &record;
    }
  }
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->shader_names[kStageVertex], 0u);
  EXPECT_NE(found->shader_names[kStagePixel], 0u);
  EXPECT_EQ(found->shader_names[kStageCompute], 0u);
}

TEST_F(WorkGpuTest, EventsAndMarkersAreKeptAsTheyCame) {
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  const char16_t wide[] = u"Wide";
  list->EndEvent();
  list->BeginEvent(1, "Frame", 5);
  list->BeginEvent(0, wide, sizeof(wide));
  list->SetMarker(1, "Here", 5);
  list->SetMarker(7, nullptr, 100);
  list->EndEvent();
  list->BeginEvent(2, "\x01\x02", 2);
  ASSERT_EQ(list->Close(), S_OK);
  Execute({list.get()});
  CommandList* const recording = Recording(list.get());
  if (recording == nullptr) return;
  const std::vector<Seen> events = EventsOf(*recording);
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events[0].name, "Frame");
  EXPECT_EQ(events[0].type, CAIRN_MARKER_PASS);
  EXPECT_EQ(events[1].name, std::string(reinterpret_cast<const char*>(wide), sizeof(wide)));
  EXPECT_EQ(events[2].name, std::string("Here", 5));
  EXPECT_EQ(events[2].type, CAIRN_MARKER_SET_MARKER);
  EXPECT_EQ(events[7].name, "\x01\x02");
  EXPECT_EQ(WordsOf(*recording).reached, 8u);
}

TEST_F(WorkGpuTest, ListsOfAllTypesAreFollowed) {
  const D3D12MappedBuffer from = Buffer(device(), MappedHeap::kUpload);
  const D3D12MappedBuffer to = Buffer(device(), MappedHeap::kReadback);
  uint32_t value = 0x1234;
  for (const D3D12_COMMAND_LIST_TYPE type :
       {D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_TYPE_COMPUTE,
        D3D12_COMMAND_LIST_TYPE_COPY}) {
    std::memcpy(from.memory, &++value, sizeof(value));
    const auto allocator = Allocator(type);
    const auto list = List(allocator.get(), type);
    list->CopyBufferRegion(to.resource.get(), 0, from.resource.get(), 0, 64);
    ASSERT_EQ(list->Close(), S_OK);
    Execute({list.get()}, type);
    EXPECT_EQ(std::memcmp(to.memory, &value, sizeof(value)), 0);
    CommandList* const recording = Recording(list.get());
    if (recording == nullptr) continue;
    const std::vector<Seen> events = EventsOf(*recording);
    ASSERT_EQ(events.size(), 5u);  // source, destination, begin, size, end
    EXPECT_EQ(events[0].value, AsWrapper(to.resource.get())->object_index() + 1);
    EXPECT_EQ(events[1].value, AsWrapper(from.resource.get())->object_index() + 1);
    EXPECT_EQ(WordsOf(*recording).reached, 3u);
    EXPECT_EQ(WordsOf(*recording).passed, 5u);
  }
}

TEST_F(WorkGpuTest, ListsWithoutWorkAreSeenToFinish) {
  const auto allocator = Allocator();
  const auto empty = List(allocator.get());
  ASSERT_EQ(empty->Close(), S_OK);
  const auto state_only = List(allocator.get());
  state_only->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
  ASSERT_EQ(state_only->Close(), S_OK);
  if (Recording(empty.get()) == nullptr) return;
  const TestQueue queue(device());
  ID3D12CommandList* const lists[] = {empty.get(), state_only.get()};
  for (int run = 0; run < 2; ++run) {
    queue.get()->ExecuteCommandLists(2, lists);
    queue.WaitUnseen();
    for (ID3D12GraphicsCommandList* const list : {empty.get(), state_only.get()}) {
      EXPECT_EQ(WordsOf(*Recording(list)).passed, 1u);
      EXPECT_TRUE(Recording(list)->ProvenFinished());
      EXPECT_EQ(EventsOf(*Recording(list)).at(0).flags, kEventWritesBottom);
    }
  }
}

TEST_F(WorkGpuTest, FencesTellHowFarAQueueIs) {
  if (off()) return;
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  ASSERT_EQ(list->Close(), S_OK);
  ID3D12CommandList* const lists[] = {list.get()};
  const TestQueue queue(device());
  const TestQueue other(device());
  const auto fence = Fence();
  const auto run_and_signal = [&](uint64_t value) {
    queue.get()->ExecuteCommandLists(1, lists);
    ASSERT_EQ(queue.get()->Signal(fence.get(), value), S_OK);
    queue.WaitUnseen();
  };
  run_and_signal(5);
  EXPECT_EQ(queue.completed(), 0u) << "nobody has asked";
  EXPECT_EQ(fence->GetCompletedValue(), 5u);
  EXPECT_EQ(queue.completed(), 1u);
  run_and_signal(6);
  run_and_signal(7);
  EXPECT_EQ(queue.completed(), 2u) << "the queue's next signal asked for the one before";
  // The CPU brings it on: its value says nothing of the queue from here on.
  queue.get()->ExecuteCommandLists(1, lists);
  ASSERT_EQ(fence->Signal(20), S_OK);
  EXPECT_EQ(queue.completed(), 3u) << "what was signalled before counts";
  ASSERT_EQ(queue.get()->Signal(fence.get(), 10), S_OK);
  queue.WaitUnseen();
  static_cast<void>(fence->GetCompletedValue());
  EXPECT_EQ(queue.completed(), 3u);
  // A fence signalled by two queues cannot tell which one it was: it counts for the first until the
  // second one comes, and then for none.
  const auto shared = Fence();
  queue.get()->ExecuteCommandLists(1, lists);
  ASSERT_EQ(queue.get()->Signal(shared.get(), 1), S_OK);
  queue.WaitUnseen();
  EXPECT_EQ(queue.completed(), 3u);
  other.get()->ExecuteCommandLists(1, lists);
  ASSERT_EQ(other.get()->Signal(shared.get(), 2), S_OK);
  EXPECT_EQ(queue.completed(), 5u);
  other.WaitUnseen();
  EXPECT_EQ(shared->GetCompletedValue(), 2u);
  EXPECT_EQ(other.completed(), 0u);
}

TEST_F(WorkGpuTest, AFenceThatEndsHasSaidWhatItKnows) {
  if (off()) return;
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  ASSERT_EQ(list->Close(), S_OK);
  ID3D12CommandList* const lists[] = {list.get()};
  const TestQueue queue(device());
  auto fence = Fence();
  queue.get()->ExecuteCommandLists(1, lists);
  ASSERT_EQ(queue.get()->Signal(fence.get(), 1), S_OK);
  queue.WaitUnseen();
  EXPECT_EQ(queue.completed(), 0u);
  fence = {};
  EXPECT_EQ(queue.completed(), 1u);
}

TEST_F(WorkGpuTest, BundlesAreNotedAndNothingIsWrittenInThem) {
  const auto bundle_allocator = Allocator(D3D12_COMMAND_LIST_TYPE_BUNDLE);
  const auto bundle = List(bundle_allocator.get(), D3D12_COMMAND_LIST_TYPE_BUNDLE);
  bundle->BeginEvent(1, "In the bundle", 13);
  bundle->EndEvent();
  const HRESULT closed = bundle->Close();
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  if (SUCCEEDED(closed)) list->ExecuteBundle(bundle.get());
  ASSERT_EQ(list->Close(), S_OK);
  Execute({list.get()});
  CommandList* const recording = Recording(list.get());
  if (recording == nullptr) return;
  EXPECT_EQ(CountBegins(EventsOf(*recording), CAIRN_MARKER_EXECUTE_BUNDLE),
            SUCCEEDED(closed) ? 1u : 0u);
  const std::vector<Seen> inside = EventsOf(*Recording(bundle.get()));
  ASSERT_EQ(inside.size(), 2u);
  EXPECT_EQ(inside[0].name, "In the bundle");
  EXPECT_EQ(inside[0].flags & (kEventWritesTop | kEventWritesBottom), 0);
}

TEST_F(WorkGpuTest, OneListManyTimes) {
  WorkScene scene(device());
  const auto allocator = Allocator();
  const auto list = List(allocator.get());
  scene.Record(list.get());
  ASSERT_EQ(list->Close(), S_OK);
  for (uint32_t i = 1; i <= 20; ++i) {
    Execute({list.get()});
    CommandList* const recording = Recording(list.get());
    if (recording == nullptr) continue;
    EXPECT_EQ(recording->slot()->submit_count.load(), i);
    EXPECT_EQ(WordsOf(*recording).passed, recording->slot()->event_count.load());
  }
}

TEST_F(WorkGpuTest, AListThatRefusesStaysWhatItWas) {
  const D3D12MappedBuffer from = Buffer(device(), MappedHeap::kUpload);
  const D3D12MappedBuffer to = Buffer(device(), MappedHeap::kReadback);
  const auto allocator = Allocator();
  const auto other = Allocator();
  const auto list = List(allocator.get());
  CommandList* const first = Recording(list.get());
  EXPECT_TRUE(FAILED(list->Reset(other.get(), nullptr)));  // still open
  EXPECT_EQ(Recording(list.get()), first);
  list->CopyBufferRegion(to.resource.get(), 0, from.resource.get(), 0, 64);
  EXPECT_EQ(list->Close(), S_OK);
  EXPECT_TRUE(FAILED(list->Close()));
  EXPECT_EQ(Recording(list.get()), first);
  Execute({list.get()});
  if (first != nullptr) {
    EXPECT_EQ(EventsOf(*first).size(), 5u) << "operands, begin, size, end";
    EXPECT_EQ(WordsOf(*first).passed, 5u);
  }
  ASSERT_EQ(list->Reset(other.get(), nullptr), S_OK);
  EXPECT_EQ(list->Close(), S_OK);
  if (first != nullptr) {
    EXPECT_EQ(EventsOf(*Recording(list.get())).size(), 1u) << "nothing but its end";
  }
}

TEST_F(WorkGpuTest, ResetWhileTheGpuIsStillAtWork) {
  SlowWork work(device());
  work.ClearResult();
  const auto slow_allocator = Allocator();
  const auto list = List(slow_allocator.get());
  work.RecordDispatch(list.get(), 2048);
  ASSERT_EQ(list->Close(), S_OK);
  D3D12_COMMAND_QUEUE_DESC desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  ASSERT_EQ(device()->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
            S_OK);
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
            S_OK);
  ID3D12CommandList* raw = list.get();
  queue->ExecuteCommandLists(1, &raw);
  ASSERT_EQ(queue->Signal(fence.get(), 1), S_OK);
  // The list can be reset any number of times with an allocator that is not in use.
  const auto allocator = Allocator();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(list->Reset(allocator.get(), nullptr), S_OK);
    list->SetMarker(1, "again", 5);
    ASSERT_EQ(list->Close(), S_OK);
  }
  queue->ExecuteCommandLists(1, &raw);
  ASSERT_EQ(queue->Signal(fence.get(), 2), S_OK);
  ASSERT_TRUE(WaitForFence(device(), fence.get(), 2, kTestLimit).ok());
  EXPECT_TRUE(work.DispatchFinished());
  if (CommandList* const recording = Recording(list.get()); recording != nullptr) {
    EXPECT_EQ(WordsOf(*recording).passed, 2u);
  }
}

TEST_F(WorkGpuTest, EightThreadsRecordAtOnce) {
  constexpr uint32_t kThreads = 8;
  const D3D12MappedBuffer from = Buffer(device(), MappedHeap::kUpload);
  const D3D12MappedBuffer to = Buffer(device(), MappedHeap::kReadback);
  for (uint32_t i = 0; i < 1024; ++i) reinterpret_cast<uint32_t*>(from.memory)[i] = i * 7;
  std::vector<ComPtr<ID3D12CommandAllocator>> allocators;
  std::vector<ComPtr<ID3D12GraphicsCommandList>> lists;
  for (uint32_t t = 0; t < kThreads; ++t) {
    allocators.push_back(Allocator());
    lists.push_back(List(allocators[t].get()));
    ASSERT_EQ(lists[t]->Close(), S_OK);
  }
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(allocators[t]->Reset(), S_OK);
        EXPECT_EQ(lists[t]->Reset(allocators[t].get(), nullptr), S_OK);
        for (uint32_t i = t; i < 1024; i += kThreads) {
          lists[t]->CopyBufferRegion(to.resource.get(), i * 4, from.resource.get(), i * 4, 4);
        }
        EXPECT_EQ(lists[t]->Close(), S_OK);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<ID3D12GraphicsCommandList*> raw;
  for (const auto& list : lists) raw.push_back(list.get());
  Execute(raw);
  EXPECT_EQ(std::memcmp(to.memory, from.memory, 4096), 0);
  for (ID3D12GraphicsCommandList* list : raw) {
    if (CommandList* const recording = Recording(list); recording != nullptr) {
      EXPECT_EQ(WordsOf(*recording).passed, recording->slot()->event_count.load());
    }
  }
}

TEST_F(WorkGpuTest, ThousandsOfListsThatNeverRun) {
  const auto allocator = Allocator();
  for (int i = 0; i < 3000; ++i) {
    const auto list = List(allocator.get());
    list->SetMarker(1, "never", 5);
    ASSERT_EQ(list->Close(), S_OK);
  }
  const auto last = List(allocator.get());
  EXPECT_EQ(Recording(last.get()) == nullptr, off());
}

}  // namespace
}  // namespace cairn
