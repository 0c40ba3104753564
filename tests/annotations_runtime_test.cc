// SPDX-License-Identifier: Apache-2.0
//
// The annotations runtime without a device: what is kept and for how long, EventIDs, threads, drivers.
// What applications see through Direct3D 12 is in annotations_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cairn/annotations.h"

#include "app/annotations/logging_driver.h"
#include "app/annotations/runtime.h"
#include "app/recorder/block_writer.h"
#include "format/snapshot/marker_arena_reader.h"

namespace cairn {
namespace {

using testing::HasSubstr;

constexpr uint32_t kRetail = static_cast<uint32_t>(AnnotationMode::kDriverRetail);
constexpr uint32_t kRuntimeOnly = static_cast<uint32_t>(AnnotationMode::kRuntimeOnly);

class AnnotationRuntimeTest : public testing::Test {
 protected:
  AnnotationRuntimeTest() : block_(BlockWriter::Create(uint64_t{64} << 20).value()) {
    context_ = block_->AddContext();
  }

  AnnotationOptions Options() const {
    AnnotationOptions options;
    options.block = block_.get();
    options.context_index = context_;
    return options;
  }
  // Makes a runtime with a driver that does nothing; children are created in DRIVER_RETAIL.
  std::unique_ptr<AnnotationRuntime> RetailRuntime() {
    auto runtime = std::make_unique<AnnotationRuntime>(Options(), LoggingDriverWithoutLog());
    EXPECT_TRUE(runtime->SetMode(kRetail));
    return runtime;
  }

  EventIdState Resolve(uint64_t event_id) {
    const Result<BlockReader> reader =
        BlockReader::Open(std::span(block_->data(), block_->size_bytes()));
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    marker_ = KeptMarker();
    return MarkerArenaReader(*reader).Resolve(event_id, 4 << 20, &marker_);
  }
  std::string Payload() const {
    return std::string(reinterpret_cast<const char*>(marker_.payload.data()),
                       marker_.payload.size());
  }
  uint64_t PagesTaken() const { return block_->header()->next_page.load(); }
  uint64_t Append(MarkerArena& arena, const std::string& text, uint32_t metadata = 1) {
    return arena.Append(MarkerKind::kSetMarker, metadata, text.data(),
                        static_cast<uint32_t>(text.size()));
  }

  std::unique_ptr<BlockWriter> block_;
  uint32_t context_ = 0;
  KeptMarker marker_;
};

std::string PatternOf(size_t bytes) {
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31 + i / 4080);
  return text;
}

TEST_F(AnnotationRuntimeTest, WhatAnArenaKeepsResolves) {
  MarkerArena arena(block_.get(), MarkerArena::Lifetime::kAllocator, this);
  std::vector<std::pair<uint64_t, std::string>> markers;
  for (const size_t bytes : {0, 1, 15, 16, 17, 4063, 4064, 4065, 4080, 9000, 1 << 20, 3}) {
    markers.emplace_back(0, PatternOf(bytes));
    markers.back().first =
        Append(arena, markers.back().second, static_cast<uint32_t>(bytes) ^ 0xFF);
  }
  for (uint32_t i = 0; i < 3000; ++i) {
    markers.emplace_back(0, "marker " + std::to_string(i));
    markers.back().first = Append(arena, markers.back().second);
  }
  const uint64_t without_data = arena.Append(MarkerKind::kBeginEvent, 5, nullptr, 77);
  uint64_t bytes = 0;
  for (const auto& [event_id, text] : markers) {
    ASSERT_EQ(EventIdState::kResolved, Resolve(event_id)) << text.size();
    ASSERT_EQ(text, Payload());
    bytes += text.size();
  }
  EXPECT_EQ(bytes, arena.live_bytes());
  EXPECT_EQ(bytes, MarkerArena::LiveBytes(*block_));
  ASSERT_EQ(EventIdState::kResolved, Resolve(without_data));
  EXPECT_EQ(77u, marker_.size_bytes);
  EXPECT_EQ("", Payload());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(this), marker_.native_handle);
}

TEST_F(AnnotationRuntimeTest, ResetExpiresAndUsesTheSameMemoryAgain) {
  uint64_t taken = 0;
  std::vector<uint64_t> ids;
  MarkerArena arena(block_.get(), MarkerArena::Lifetime::kAllocator, nullptr);
  for (uint32_t round = 0; round < 50; ++round) {
    for (uint32_t i = 0; i < 2000; ++i) ids.push_back(Append(arena, PatternOf(40 + i % 7)));
    if (round == 0) taken = PagesTaken();
    ASSERT_EQ(taken, PagesTaken()) << round;
    arena.Reset();
    ASSERT_EQ(0u, arena.live_bytes());
    ASSERT_EQ(0u, MarkerArena::LiveBytes(*block_));
    ASSERT_EQ(EventIdState::kExpired, Resolve(ids.back()));
    ASSERT_EQ(EventIdState::kExpired, Resolve(ids.front()));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids.end(), std::adjacent_find(ids.begin(), ids.end()));
  EXPECT_EQ(1u, MarkerArena::EntriesInUse(*block_));
}

TEST_F(AnnotationRuntimeTest, AnEntryThatIsUsedAgainNeverRepeatsAnEventId) {
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < 20; ++i) {
    // A table with one entry, as after 65,536 allocators.
    MarkerArena arena(block_.get(), MarkerArena::Lifetime::kAllocator, nullptr);
    if (i > 0) block_->header()->arena_count.store(0);
    ids.push_back(Append(arena, "x"));
    EXPECT_EQ(EventIdState::kResolved, Resolve(ids.back()));
  }
  for (const uint64_t id : ids) EXPECT_EQ(EventIdState::kExpired, Resolve(id));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids.end(), std::adjacent_find(ids.begin(), ids.end()));
  EXPECT_EQ(0u, MarkerArena::EntriesInUse(*block_));
}

TEST_F(AnnotationRuntimeTest, AnEntryWhoseGenerationsAreUsedUpIsLeft) {
  block_->arenas()[0].generation.store(kMaxEventIdGeneration - 1);
  MarkerArena arena(block_.get(), MarkerArena::Lifetime::kAllocator, nullptr);
  const uint64_t before_last = Append(arena, "before last");
  arena.Reset();
  const uint64_t last = Append(arena, "last");
  EXPECT_EQ(kMaxEventIdGeneration, EventIdGeneration(last));
  EXPECT_EQ(EventIdState::kResolved, Resolve(last));
  arena.Reset();
  const uint64_t moved = Append(arena, "moved");
  EXPECT_EQ(1u, EventIdArena(moved));
  EXPECT_EQ(EventIdState::kExpired, Resolve(before_last));
  EXPECT_EQ(EventIdState::kExpired, Resolve(last));
  EXPECT_EQ(EventIdState::kResolved, Resolve(moved));
}

TEST_F(AnnotationRuntimeTest, WithoutAnEntryEventIdsAreUniqueAndUnknown) {
  block_->header()->arena_count.store(kMaxArenas);
  for (uint32_t i = 0; i < kMaxArenas; ++i) block_->arenas()[i].state.store(1);
  MarkerArena arena(block_.get(), MarkerArena::Lifetime::kAllocator, nullptr);
  const uint64_t first = Append(arena, "a");
  const uint64_t second = Append(arena, "b");
  EXPECT_NE(0u, first);
  EXPECT_NE(first, second);
  EXPECT_EQ(EventIdState::kUnknown, Resolve(first));
  EXPECT_EQ(0u, arena.live_bytes());
  // One that is given back is found.
  block_->arenas()[12345].state.store(0);
  const uint64_t third = Append(arena, "c");
  EXPECT_EQ(12345u, EventIdArena(third));
  EXPECT_EQ(EventIdState::kResolved, Resolve(third));
}

TEST_F(AnnotationRuntimeTest, AFullBlockDropsDataAndNothingElse) {
  MarkerArena arena(block_.get(), MarkerArena::Lifetime::kAllocator, nullptr);
  const uint64_t kept = Append(arena, "kept");
  const std::string large = PatternOf(1 << 20);
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < 100; ++i) ids.push_back(Append(arena, large));
  const uint64_t dropped = block_->arenas()[0].dropped.load();
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ((100 - dropped) * large.size() + 4, arena.live_bytes());
  EXPECT_EQ(EventIdState::kResolved, Resolve(kept));
  EXPECT_EQ(EventIdState::kResolved, Resolve(ids.front()));
  EXPECT_EQ(EventIdState::kExpired, Resolve(ids.back()));
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids.end(), std::adjacent_find(ids.begin(), ids.end()));
  arena.Reset();
  EXPECT_EQ(EventIdState::kResolved, Resolve(Append(arena, large)));
}

TEST_F(AnnotationRuntimeTest, AQueueKeepsItsNewestMarkers) {
  MarkerArena arena(block_.get(), MarkerArena::Lifetime::kQueue, nullptr);
  constexpr uint64_t kLimit = uint64_t{MarkerArena::kQueueDataPages} * kMarkerPageBytes;
  std::vector<std::pair<uint64_t, std::string>> markers;
  uint64_t taken = 0;
  for (uint32_t i = 0; i < 20000; ++i) {
    markers.emplace_back(0, PatternOf(i % 1000) + std::to_string(i));
    markers.back().first = Append(arena, markers.back().second);
    ASSERT_LE(arena.live_bytes(), kLimit);
    if (i == 10000) taken = PagesTaken();
  }
  EXPECT_EQ(taken, PagesTaken());
  const ArenaRecord& record = block_->arenas()[0];
  const uint32_t first = record.first_index.load();
  EXPECT_GT(first, 10000u);
  EXPECT_EQ(first, record.dropped.load());
  EXPECT_GT(arena.live_bytes(), kLimit * 9 / 10);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < markers.size(); ++i) {
    const EventIdState state = Resolve(markers[i].first);
    ASSERT_EQ(i < first ? EventIdState::kExpired : EventIdState::kResolved, state) << i;
    if (i < first) continue;
    ASSERT_EQ(markers[i].second, Payload()) << i;
    bytes += markers[i].second.size();
  }
  EXPECT_EQ(bytes, arena.live_bytes());
  // The most that the arena may keep at once, and more than that.
  const uint64_t mib = Append(arena, PatternOf(1 << 20));
  EXPECT_EQ(EventIdState::kResolved, Resolve(mib));
  EXPECT_EQ(PatternOf(1 << 20), Payload());
  const uint64_t too_large = Append(arena, PatternOf(3 << 20));
  EXPECT_EQ(EventIdState::kExpired, Resolve(too_large));
  EXPECT_EQ(EventIdState::kResolved, Resolve(mib));
  // Empty markers take room, too.
  for (uint32_t i = 0; i < 300000; ++i) Append(arena, "");
  EXPECT_EQ(0u, arena.live_bytes());
}

TEST_F(AnnotationRuntimeTest, NothingIsKeptWithoutABlock) {
  AnnotationOptions options = Options();
  options.block = nullptr;
  AnnotationRuntime runtime(options, LoggingDriverWithoutLog());
  ASSERT_TRUE(runtime.SetMode(kRetail));
  AnnotatedList list(runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
  list.OnOpen(runtime.NewAllocatorArena(nullptr), nullptr);
  const AnnotationCall first = list.SetMarker(1, "a", 1);
  EXPECT_NE(0u, first.event_id);
  EXPECT_NE(first.event_id, list.SetMarker(1, "a", 1).event_id);
}

TEST_F(AnnotationRuntimeTest, ListsHaveTheirOpenEventsUntilTheyAreOpenedAnew) {
  const auto runtime = RetailRuntime();
  AnnotatedList list(*runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
  const auto arena = runtime->NewAllocatorArena(nullptr);
  list.OnOpen(arena, nullptr);
  EXPECT_EQ(0u, list.EndEvent().event_id);
  const uint64_t outer = list.BeginEvent(1, "outer", 6).event_id;
  const uint64_t inner = list.BeginEvent(1, "inner", 6).event_id;
  EXPECT_EQ(inner, list.EndEvent().event_id);
  EXPECT_EQ(outer, list.EndEvent().event_id);
  EXPECT_EQ(0u, list.EndEvent().event_id);
  list.BeginEvent(1, "left open", 10);
  list.OnClose();
  list.OnOpen(arena, nullptr);
  EXPECT_EQ(0u, list.EndEvent().event_id);
  EXPECT_EQ(EventIdState::kResolved, Resolve(outer));
  arena->Reset();
  EXPECT_EQ(EventIdState::kExpired, Resolve(outer));
}

TEST_F(AnnotationRuntimeTest, EventsBeyondTheDeepestAreCountedAndHaveNoEnd) {
  OpenEvents events;
  for (uint64_t i = 1; i <= OpenEvents::kMaxDepth + 3; ++i) events.Push(i);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(0u, events.Pop());
  EXPECT_EQ(OpenEvents::kMaxDepth, events.Pop());
  events.Clear();
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(0u, events.Pop());
}

// The breadcrumb driver ends what was begun, whether or not the end has an EventID.
TEST_F(AnnotationRuntimeTest, DriversLearnWhetherAnEndHasABegin) {
  const auto runtime = RetailRuntime();
  AnnotatedList list(*runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
  list.OnOpen(runtime->NewAllocatorArena(nullptr), nullptr);
  list.EndEvent();
  EXPECT_FALSE(list.object().ends_event);
  for (uint32_t i = 0; i <= OpenEvents::kMaxDepth; ++i) list.BeginEvent(1, "a", 2);
  EXPECT_EQ(0u, list.EndEvent().event_id);
  EXPECT_TRUE(list.object().ends_event);
  EXPECT_NE(0u, list.EndEvent().event_id);
  EXPECT_TRUE(list.object().ends_event);
}

TEST_F(AnnotationRuntimeTest, AnAllocatorMayDieBeforeItsOpenList) {
  const auto runtime = RetailRuntime();
  AnnotatedList list(*runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
  auto arena = runtime->NewAllocatorArena(nullptr);
  list.OnOpen(arena, nullptr);
  arena.reset();
  EXPECT_EQ(EventIdState::kResolved, Resolve(list.SetMarker(1, "still recording", 16).event_id));
  list.OnClose();
  EXPECT_EQ(0u, MarkerArena::LiveBytes(*block_));
  EXPECT_EQ(0u, MarkerArena::EntriesInUse(*block_));
}

// M3 and E1 of the requirements, where ThreadSanitizer sees all of it.
TEST_F(AnnotationRuntimeTest, ModesMayBeSetWhileOthersCreateAndMark) {
  const auto runtime = RetailRuntime();
  constexpr uint32_t kThreads = 4, kRounds = 500;
  std::vector<std::vector<uint64_t>> ids(kThreads);
  AnnotatedQueue queue(*runtime, nullptr);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto arena = runtime->NewAllocatorArena(nullptr);
      for (uint32_t i = 0; i < kRounds; ++i) {
        runtime->SetMode((i + t) % 2 == 0 ? kRetail : kRuntimeOnly);
        AnnotatedList list(*runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
        list.OnOpen(arena, nullptr);
        const bool retail = list.mode() == AnnotationMode::kDriverRetail;
        const uint64_t id = list.SetMarker(1, &i, sizeof(i)).event_id;
        EXPECT_EQ(retail, id != 0);
        if (id != 0) ids[t].push_back(id);
        ids[t].push_back(queue.BeginEvent(t, &i, sizeof(i)));
        queue.EndEvent();
        list.OnClose();
        if (i % 50 == 0) arena->Reset();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> all;
  for (const auto& some : ids) all.insert(all.end(), some.begin(), some.end());
  EXPECT_GE(all.size(), kThreads * kRounds);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.end(), std::adjacent_find(all.begin(), all.end()));
}

TEST_F(AnnotationRuntimeTest, TheContextSaysWhichDriverAndWhetherForced) {
  AnnotationOptions options = Options();
  options.forced = true;
  options.driver = "none";
  const auto runtime = AnnotationRuntime::Create(options);
  EXPECT_FALSE(runtime->supported());
  EXPECT_EQ(AnnotationMode::kDriverRetail, runtime->mode());
  const ContextRecord& record = block_->contexts()[context_];
  EXPECT_STREQ("none", block_->Name(record.annotation_driver)->bytes);
  EXPECT_EQ(1u, record.annotations_forced);
}

// ---- Drivers in libraries ----------------------------------------------------------------------

const std::string kSampleDriver = CAIRN_BINARY_DIR "/samples/cairn-sample-driver.so";

TEST_F(AnnotationRuntimeTest, ALibraryIsADriverAndReportsACrash) {
  AnnotationOptions options = Options();
  options.driver = kSampleDriver;
  auto runtime = AnnotationRuntime::Create(options);
  EXPECT_TRUE(runtime->supported());
  EXPECT_EQ("sample", runtime->driver().name);
  ASSERT_TRUE(runtime->SetMode(kRetail));
  const auto arena = runtime->NewAllocatorArena(nullptr);
  uint64_t last = 0;
  {
    AnnotatedList list(*runtime, D3D12DDI_HT_COMMAND_LIST, nullptr);
    list.OnOpen(arena, nullptr);
    list.BeginEvent(1, "Frame", 6);
    last = list.SetMarker(1, "the culprit", 12).event_id;
  }
  testing::internal::CaptureStderr();
  runtime.reset();
  EXPECT_EQ("cairn: driver sample: 2 calls\n", testing::internal::GetCapturedStderr());
  const DriverReport& report = block_->driver_reports()[context_];
  EXPECT_EQ(last, report.event_ids[0].load());
  EXPECT_EQ(0u, report.event_ids[1].load());
  ASSERT_EQ(EventIdState::kResolved, Resolve(report.event_ids[0].load()));
  EXPECT_EQ(std::string("the culprit\0", 12), Payload());
}

TEST_F(AnnotationRuntimeTest, CrashEventsFillTheWordsInOrderAndNeverMore) {
  const Result<Driver> driver = OpenDriver("logging", CairnDriverHost{});
  ASSERT_TRUE(driver.ok());
  AnnotationOptions options = Options();
  options.driver = kSampleDriver;
  const auto runtime = AnnotationRuntime::Create(options);
  // The sample's state starts with its host.
  const CairnDriverHost* host =
      *static_cast<const CairnDriverHost* const*>(runtime->driver().state);
  ASSERT_EQ(kDriverReportCount, host->crash_event_id_count);
  host->report_crash_event(host->host, 0);
  for (uint64_t i = 1; i <= kDriverReportCount + 5; ++i) host->report_crash_event(host->host, i);
  for (uint64_t i = 0; i < kDriverReportCount; ++i) EXPECT_EQ(i + 1, host->crash_event_ids[i]);
  EXPECT_EQ(CAIRN_DRIVER_INTERFACE_VERSION, host->interface_version);
  if (driver->close != nullptr) driver->close(driver->state);
}

TEST_F(AnnotationRuntimeTest, ADriverThatCannotBeOpenedIsReplacedWithAMessage) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/no/such/driver.so", "CAIRN_DRIVER=/no/such/driver.so: cannot be loaded: "},
      {"C:\\no\\driver.dll", "CAIRN_DRIVER=C:\\no\\driver.dll: cannot be loaded: "},
      {"no\\driver.dll", "CAIRN_DRIVER=no\\driver.dll: cannot be loaded: "},
      {"C:driver.dll", "CAIRN_DRIVER=C:driver.dll: cannot be loaded: "},
      {"loging", "no such driver; use breadcrumb, logging, none, or the path of a shared library"},
      {CAIRN_NO_DRIVER_LIBRARY, "exports no cairnOpenDriver: it is no driver library"},
  };
  for (const auto& [name, message] : cases) {
    AnnotationOptions options = Options();
    options.driver = name;
    testing::internal::CaptureStderr();
    const auto runtime = AnnotationRuntime::Create(options);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr(message));
    EXPECT_THAT(told, HasSubstr("the driver breadcrumb is used instead"));
    EXPECT_EQ("breadcrumb", runtime->driver().name);
    EXPECT_TRUE(runtime->supported());
  }
}

TEST_F(AnnotationRuntimeTest, DriversAreOfferedVersionsAndRefusedIfTheyAnswerWithOthers) {
  EXPECT_EQ(1u, D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_LATEST);
  EXPECT_EQ(uint64_t{121} << 16, D3D12DDI_SUPPORTED_0121);
  AnnotationOptions options = Options();
  options.driver = kSampleDriver;
  const auto sample = AnnotationRuntime::Create(options);
  const CairnDriverHost* host = *static_cast<const CairnDriverHost* const*>(sample->driver().state);
  EXPECT_EQ(sizeof(CairnDriverHost), host->struct_size);
  EXPECT_EQ(D3D12DDI_SUPPORTED_0121, host->ddi_supported);
  EXPECT_EQ(D3D12DDI_FEATURE_0121_USER_DEFINED_ANNOTATIONS, host->feature);
  EXPECT_EQ(D3D12DDI_FEATURE_VERSION_USER_DEFINED_ANNOTATIONS_LATEST, host->feature_version);

  const std::string folder = CAIRN_BINARY_DIR "/tests/programs/";
  const std::pair<std::string, std::string> cases[] = {
      {"cairn_driver_feature_version.so",
       "implements version 2 of the feature; versions up to 1 are known here"},
      {"cairn_driver_ddi_required.so",
       "needs revision 122 of the driver interface; this is revision 121"},
  };
  for (const auto& [name, message] : cases) {
    options.driver = folder + name;
    testing::internal::CaptureStderr();
    const auto runtime = AnnotationRuntime::Create(options);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_THAT(told, HasSubstr(message));
    EXPECT_THAT(told, HasSubstr("the driver breadcrumb is used instead"));
    EXPECT_EQ("breadcrumb", runtime->driver().name);
  }
}

// Any device child: includes kinds that no implementation at hand can make.
TEST_F(AnnotationRuntimeTest, NamesOfEveryKindReachTheDriverWhole) {
  struct Seen {
    uint32_t kind = 0;
    uint32_t calls = 0;
    std::u16string name;
  } seen;
  ObserveLoggingDriver(
      [](const DriverCall& call, void* user_data) {
        Seen& seen = *static_cast<Seen*>(user_data);
        seen.kind = call.handle_type;
        seen.name = static_cast<const char16_t*>(call.name);
        ++seen.calls;
      },
      &seen);
  AnnotationOptions options = Options();
  options.driver = "logging";
  options.wchar_bytes = 2;
  const auto runtime = AnnotationRuntime::Create(options);
  ASSERT_TRUE(runtime->SetMode(kRetail));
  std::u16string name(65536, u'n');
  name.back() = u'\u4e2d';
  uint32_t calls = 0;
  for (uint32_t kind = D3D12DDI_HT_COMMAND_QUEUE; kind <= D3D12DDI_HT_VIDEO_ENCODER_HEAP; ++kind) {
    AnnotatedChild child(*runtime, kind, nullptr);
    child.SetName(name.c_str());
    EXPECT_EQ(++calls, seen.calls) << kind;
    EXPECT_EQ(kind, seen.kind);
    EXPECT_TRUE(seen.name == name) << kind;
  }
  // Objects without a kind have no handle that a driver could be given.
  AnnotatedChild(*runtime, 0, nullptr).SetName(name.c_str());
  EXPECT_EQ(calls, seen.calls);
  ObserveLoggingDriver(nullptr, nullptr);
}

TEST_F(AnnotationRuntimeTest, TheLoggingDriverWritesALineACall) {
  AnnotationOptions options = Options();
  options.driver = "logging";
  options.wchar_bytes = 2;
  const auto runtime = AnnotationRuntime::Create(options);
  ASSERT_TRUE(runtime->SetMode(kRetail));
  AnnotatedList list(*runtime, D3D12DDI_HT_COMMAND_LIST, reinterpret_cast<void*>(0x1234));
  list.OnOpen(runtime->NewAllocatorArena(nullptr), nullptr);
  testing::internal::CaptureStderr();
  list.SetMarker(1, "hello", 5);
  list.SetName(u"A\u00e9\n");
  list.SetName(nullptr);
  EXPECT_EQ(
      "cairn: driver logging: pfnCmdListSetMarker(0x1234, metadata 1, 5 bytes, EventID 0x1000000)\n"
      "cairn: driver logging: pfnSetName(type 22, 0x1234, \"A\\u{e9}\\u{a}\")\n"
      "cairn: driver logging: pfnSetName(type 22, 0x1234, null)\n",
      testing::internal::GetCapturedStderr());
}

// ---- Messages ----------------------------------------------------------------------------------

struct Message {
  uint32_t id = 0;
  void* device = nullptr;
  std::string text;
};

TEST_F(AnnotationRuntimeTest, MessagesGoToTheInfoQueueTheCallbackOrStderr) {
  Message queued, called;
  AnnotationOptions options = Options();
  options.application_device = this;
  AnnotationRuntime without_queue(options, NoDriver());
  options.add_to_info_queue = [](void* user_data, uint32_t id, const char* text) {
    *static_cast<Message*>(user_data) = {id, nullptr, text};
    return true;
  };
  options.info_queue_user_data = &queued;
  AnnotationRuntime with_queue(options, NoDriver());

  testing::internal::CaptureStderr();
  EXPECT_FALSE(without_queue.SetMode(2));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("#1465"));

  testing::internal::CaptureStderr();
  EXPECT_FALSE(with_queue.SetMode(0xFFFFFFFF));
  EXPECT_EQ(1465u, queued.id);
  EXPECT_THAT(queued.text,
              HasSubstr("Mode 4294967295 is not a D3D12_USER_DEFINED_ANNOTATION_MODE"));

  const CairnMessageCallback callback = [](uint32_t id, void* device, const char* text,
                                           void* user_data) {
    *static_cast<Message*>(user_data) = {id, device, text};
  };
  EXPECT_EQ(CAIRN_OK, cairnSetMessageCallback(callback, &called));
  EXPECT_FALSE(without_queue.SetMode(7));
  EXPECT_EQ(1465u, called.id);
  EXPECT_EQ(this, called.device);
  EXPECT_EQ(CAIRN_OK, cairnSetMessageCallback(nullptr, nullptr));
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
}

}  // namespace
}  // namespace cairn
