// SPDX-License-Identifier: Apache-2.0
//
// Threads that record into lists which they hand to each other, with a real reader at the other end: the order of
// the trace is one in which a program without a capture could have made the calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "app/capture/capture.h"
#include "app/capture/testing/test_watcher.h"
#include "format/trace/trace_reader.h"
#include "watcher/capture_drain.h"

namespace cairn {
namespace {

constexpr uint32_t kThreads = 8;
constexpr uint32_t kLists = 5;
constexpr uint32_t kTurns = 3000;  // of each thread
constexpr uint64_t kFirstList = 100;
constexpr uint64_t kBetweenLists = 4096;  // a multiple of the size of any small table

// A list of the program: the mutex is its, the counter says how often it was recorded into.
struct List {
  std::mutex mutex;
  uint32_t commands = 0;
};

class CaptureOrderTest : public testing::Test {
 protected:
  CaptureOrderTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("capture_order_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CaptureOrderTest() override { std::filesystem::remove_all(folder_); }

  void StartDrain() {
    CaptureDrainSettings settings;
    settings.path = Path();
    drain_.emplace(std::move(watcher_.TakeMemory().MapForWriting(kCaptureRegionBytes)).value(),
                   settings);
  }
  // Ends both, and gives each record of the trace to `each`.
  template <typename Each>
  void ReadTrace(const Each& each) {
    ASSERT_TRUE(drain_->Finish().ok());
    Capture::Active()->FrameEnded(0);  // which sees that nobody reads
    ASSERT_EQ(Capture::Active(), nullptr);
    Result<TraceReader> trace = TraceReader::Open(Path(), Check::kPayloads);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_THAT(trace->losses(), testing::IsEmpty());
    TraceCursor cursor(*trace);
    Record record;
    while (cursor.Next(&record)) each(record);
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().message();
  }

  void Dispatch(uint32_t list, uint32_t x, uint32_t y) {
    Capture& capture = *Capture::Active();
    EncodeContext context;
    context.object_number = [](const void*, Chain) { return uint64_t{7}; };
    const uint32_t one = 1;
    const void* const arguments[] = {&x, &y, &one};
    capture.Returned(capture.BeginCall(Method::ID3D12GraphicsCommandList_Dispatch,
                                       kFirstList + list * kBetweenLists, arguments, context, 0,
                                       &recorders_[list]));
  }
  static void Create(uint64_t object) {
    const ObjectBody body{};
    Capture::Active()->Put(RecordKind::kObject, object, std::as_bytes(std::span(&body, 1)));
  }
  std::string Path() const { return (folder_ / "order.cairn").string(); }

  std::filesystem::path folder_;
  std::array<std::atomic<uint32_t>, kLists> recorders_{};
  TestWatcher watcher_{TestWatcher::Keep::kNoRegion};
  std::optional<CaptureDrain> drain_;
};

TEST_F(CaptureOrderTest, ListsThatGoFromThreadToThreadAndObjectsThatOthersMade) {
  ASSERT_TRUE(Capture::Start({}).ok());
  StartDrain();
  std::vector<List> lists(kLists);
  std::atomic<uint32_t> newest{0};  // the object that was made last
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      for (uint32_t turn = 0; turn < kTurns; ++turn) {
        if (random() % 16 == 0) {
          const auto object = static_cast<uint32_t>(1000 + t * kTurns + turn);
          Create(object);
          newest.store(object, std::memory_order_release);
        }
        // Long runs of one list, so that leases grow; now and then that of another thread.
        const uint32_t which = random() % 64 == 0 ? random() % kLists : t % kLists;
        const std::lock_guard lock(lists[which].mutex);
        Dispatch(which, lists[which].commands++, newest.load(std::memory_order_acquire));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::map<uint64_t, uint32_t> next;
  std::set<uint64_t> made = {0};
  ReadTrace([&](const Record& record) {
    if (record.kind == RecordKind::kObject) made.insert(record.object);
    if (record.kind != RecordKind::kCall) return;
    uint32_t words[2] = {};
    ASSERT_GE(record.body.size(), sizeof(words));
    std::memcpy(words, record.body.data(), sizeof(words));
    ASSERT_EQ(words[0], next[record.object]++) << "list " << record.object;
    ASSERT_EQ(made.count(words[1]), 1u) << "object " << words[1] << " is used before it is made";
  });
  uint32_t commands = 0;
  for (const auto& [list, count] : next) commands += count;
  EXPECT_EQ(commands, kThreads * kTurns);
}

// Numbers that are taken one by one would alternate, too.
TEST_F(CaptureOrderTest, ThreadsThatTakeTurnsAtTheirOwnListsDoNotShareACounter) {
  ASSERT_TRUE(Capture::Start({}).ok());
  constexpr uint32_t kCommands = 400;  // of each
  std::atomic<uint32_t> turn{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kCommands; ++i) {
        while (turn.load(std::memory_order_acquire) != 2 * i + t) std::this_thread::yield();
        Dispatch(t, i, 0);
        turn.store(2 * i + t + 1, std::memory_order_release);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  StartDrain();  // only now: it would take leases from threads that wait for a processor
  uint32_t changes = 0;
  uint64_t list = 0;
  uint32_t commands = 0;
  ReadTrace([&](const Record& record) {
    if (record.kind != RecordKind::kCall) return;
    changes += record.object != list;
    list = record.object;
    ++commands;
  });
  EXPECT_EQ(commands, 2 * kCommands);
  EXPECT_LE(changes, kCommands / 2);
}

}  // namespace
}  // namespace cairn
