// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum WaitState;

constexpr uint64_t kA = 0xA;
constexpr uint64_t kB = 0xB;
constexpr uint64_t kFence = 0xF;

// Queues whose submissions are one dispatch each.
class Program {
 public:
  explicit Program(uint32_t queue_count, Api api = Api::kVulkan) {
    builder_.snapshot.devices[0].api = api;
    for (uint32_t i = 0; i < queue_count; ++i) builder_.AddQueue();
  }

  // Returns its number on the queue.
  uint64_t Submit(uint32_t queue, bool finished = false) {
    const uint32_t list = builder_.BeginList(queue);
    builder_.Scope(CAIRN_MARKER_DISPATCH);
    builder_.Submit(queue, list);
    if (finished) builder_.SetWords(list, 1, 2);
    return snapshot().queues[queue].submission_count;
  }
  uint32_t Wait(uint32_t queue, uint64_t number, uint64_t handle, uint64_t value,
                uint32_t flags = 0) {
    return Add(SyncKind::kWait, queue, number, handle, value, flags);
  }
  uint32_t Signal(uint32_t queue, uint64_t number, uint64_t handle, uint64_t value,
                  uint32_t flags = 0) {
    return Add(SyncKind::kSignal, queue, number, handle, value, flags);
  }
  // Loses all operations that were reported so far.
  void Truncate() {
    for (Sync& sync : snapshot().syncs) sync.serial += 100;
  }

  WaitGraph Find() { return FindWaits(snapshot(), Analyse(snapshot())); }
  std::vector<WaitState> States() {
    std::vector<WaitState> states;
    for (const cairn::Wait& wait : Find().waits) states.push_back(wait.state);
    return states;
  }
  Snapshot& snapshot() { return builder_.snapshot; }

 private:
  uint32_t Add(SyncKind kind, uint32_t queue, uint64_t number, uint64_t handle, uint64_t value,
               uint32_t flags) {
    Sync sync;
    sync.serial = snapshot().syncs.size() + 1;
    sync.kind = kind;
    sync.flags = flags;
    sync.device = 0;
    sync.queue = queue;
    sync.submission_number = number;
    sync.native_handle = handle;
    sync.value = value;
    snapshot().syncs.push_back(sync);
    return static_cast<uint32_t>(snapshot().syncs.size() - 1);
  }

  SnapshotBuilder builder_;
};

TEST(Waits, NothingToldNothingFound) {
  const WaitGraph graph = FindWaits(Snapshot(), Analyse(Snapshot()));
  EXPECT_THAT(graph.queues, IsEmpty());
  EXPECT_THAT(graph.waits, IsEmpty());
}

TEST(Waits, AQueueWaitsForOneThatRuns) {
  Program program(2);
  program.Submit(0);
  program.Submit(1);
  const uint32_t signal = program.Signal(0, 1, kA, 7);
  const uint32_t wait = program.Wait(1, 1, kA, 7);
  const WaitGraph graph = program.Find();
  ASSERT_THAT(graph.queues, SizeIs(2));
  EXPECT_EQ(graph.queues[0].first_unfinished, 1u);
  EXPECT_FALSE(graph.queues[0].held);
  EXPECT_EQ(graph.queues[0].wait_count, 0u);
  EXPECT_EQ(graph.queues[1].first_unfinished, 1u);
  EXPECT_TRUE(graph.queues[1].held);
  ASSERT_THAT(graph.waits, SizeIs(1));
  EXPECT_EQ(graph.waits[0].sync, wait);
  EXPECT_EQ(graph.waits[0].signal, signal);
  EXPECT_EQ(graph.waits[0].state, kWillBeSignalled);
  EXPECT_EQ(graph.waits[0].held_submission, 1u);
}

TEST(Waits, WhatHasFinishedHasSignalled) {
  Program program(2);
  program.Submit(0, true);
  program.Submit(1);
  program.Signal(0, 1, kA, 7);
  program.Wait(1, 1, kA, 7);
  const WaitGraph graph = program.Find();
  ASSERT_THAT(graph.queues, SizeIs(1));
  EXPECT_EQ(graph.queues[0].queue, 1u);
  EXPECT_FALSE(graph.queues[0].held);
  EXPECT_THAT(program.States(), ElementsAre(kSatisfied));
}

TEST(Waits, OfTheCpuAreCurrentUntilTheyAreOver) {
  Program program(1);
  for (int i = 0; i < 5; ++i) {
    program.Signal(kNone, 0, kA, 0, kSyncFence | kSyncAcquire);
    program.Wait(kNone, 0, kA, 0, kSyncFence);
    program.Wait(kNone, 0, kB, 10 + static_cast<uint64_t>(i));
  }
  EXPECT_THAT(program.Find().waits, SizeIs(10));
  for (size_t i = 0; i < 12; ++i) {
    if (program.snapshot().syncs[i].kind == SyncKind::kWait) {
      program.snapshot().syncs[i].flags |= kSyncOver;
    }
  }
  const WaitGraph graph = program.Find();
  ASSERT_THAT(graph.waits, SizeIs(2));
  EXPECT_EQ(graph.waits[0].sync, 13u);
  EXPECT_EQ(graph.waits[1].sync, 14u);
}

TEST(Waits, ASubmissionWithoutListsIsOverWhenWhatItWaitsForHasCome) {
  Program program(2);
  program.Submit(0, true);
  ++program.snapshot().queues[0].submission_count;  // 2: only a fence
  program.Signal(0, 2, kFence, 0, kSyncFence);
  EXPECT_THAT(program.Find().queues, IsEmpty());
  EXPECT_EQ(program.Find().progress[0].finished, 2u);
  ++program.snapshot().queues[0].submission_count;  // 3: waits for the other queue
  program.Wait(0, 3, kA, 7);
  program.Signal(1, 1, kA, 7);
  program.Submit(1);
  EXPECT_EQ(program.Find().progress[0].finished, 2u);
  EXPECT_THAT(program.States(), ElementsAre(kWillBeSignalled));
  program.snapshot().queues[1].completed_submission = 1;
  EXPECT_EQ(program.Find().progress[0].finished, 3u);
  EXPECT_THAT(program.Find().queues, IsEmpty());
  // One that nothing will signal is not over.
  ++program.snapshot().queues[0].submission_count;
  program.Wait(0, 4, kA, 8);
  EXPECT_EQ(program.Find().progress[0].finished, 3u);
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled));
}

TEST(Waits, WaitsOfFinishedWorkAreOver) {
  Program program(1);
  program.Submit(0, true);
  program.Wait(0, 1, kA, 7);  // of another process, say
  EXPECT_THAT(program.Find().waits, IsEmpty());
}

TEST(Waits, AnySignalOfAtLeastTheValueWillDo) {
  Program program(2);
  program.Submit(0, true);
  program.Submit(0);
  program.Submit(1);
  program.Signal(0, 1, kA, 3);
  const uint32_t larger = program.Signal(0, 2, kA, 9);
  program.Signal(0, 2, kA, 7);
  program.Wait(1, 1, kA, 2);
  program.Wait(1, 1, kA, 5);
  EXPECT_THAT(program.States(), ElementsAre(kSatisfied, kWillBeSignalled));
  EXPECT_EQ(program.Find().waits[1].signal, larger);
}

TEST(Waits, NeverSignalled) {
  Program program(1);
  program.Submit(0);
  program.Signal(0, 1, kA, 3);
  program.Wait(0, 1, kB, 0, kSyncBinary);
  program.Wait(0, 1, kA, UINT64_MAX);
  const WaitGraph graph = program.Find();
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled, kNeverSignalled));
  EXPECT_EQ(graph.waits[0].signal, kNone);
  EXPECT_TRUE(graph.queues[0].held);
}

TEST(Waits, WhatWasLostMayHaveSignalled) {
  Program program(2);
  program.Submit(0);
  program.Submit(1);
  program.Wait(0, 1, kB, 0, kSyncBinary);
  // This signal does not belong to the earlier wait, whose own signal was lost.
  program.Signal(1, 1, kB, 0, kSyncBinary);
  program.Wait(1, 1, kA, 3);
  program.Truncate();
  EXPECT_THAT(program.States(), ElementsAre(kUnknown, kUnknown));
}

TEST(Waits, BinarySemaphoresPairInOrder) {
  Program program(2);
  program.Submit(0, true);
  program.Submit(0);
  program.Submit(1);
  program.Signal(0, 1, kB, 0, kSyncBinary);
  program.Wait(1, 1, kB, 0, kSyncBinary);
  const uint32_t second = program.Signal(0, 2, kB, 0, kSyncBinary);
  program.Wait(1, 1, kB, 0, kSyncBinary);
  program.Wait(1, 1, kB, 0, kSyncBinary);
  EXPECT_THAT(program.States(), ElementsAre(kSatisfied, kWillBeSignalled, kNeverSignalled));
  EXPECT_EQ(program.Find().waits[1].signal, second);
}

TEST(Waits, AWaitMayBeToldBeforeItsSignal) {
  Program program(2);
  program.Submit(1);
  program.Wait(1, 1, kB, 0, kSyncBinary);
  program.Submit(0);
  program.Signal(0, 1, kB, 0, kSyncBinary);
  EXPECT_THAT(program.States(), ElementsAre(kWillBeSignalled));
}

TEST(Waits, TheCpuSignalsAtOnce) {
  Program program(1);
  program.Submit(0);
  program.Wait(0, 1, kA, 3);
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled));
  program.Signal(kNone, 0, kA, 3);
  EXPECT_THAT(program.States(), ElementsAre(kSatisfied));
}

TEST(Waits, TheObjectKnowsWhatHasBeenReached) {
  Program program(1);
  program.Submit(0);
  const uint32_t wait = program.Wait(0, 1, kA, 3);
  program.snapshot().objects.emplace_back().completed = 3;
  program.snapshot().syncs[wait].object = 0;
  EXPECT_THAT(program.States(), ElementsAre(kSatisfied));
}

TEST(Waits, ThePresentationEngineIsTakenToSignal) {
  Program program(1);
  program.Submit(0);
  program.Signal(kNone, 0, kB, 0, kSyncBinary | kSyncAcquire);
  program.Wait(0, 1, kB, 0, kSyncBinary);
  EXPECT_THAT(program.States(), ElementsAre(kWillBeSignalled));
}

TEST(Waits, APresentHoldsNothingBack) {
  Program program(2);
  program.Submit(0, true);
  program.Submit(0);
  program.Submit(1);
  program.Wait(0, 1, kB, 0, kSyncBinary | kSyncPresent);
  program.Signal(0, 2, kA, 1);
  program.Wait(1, 1, kA, 1);
  const WaitGraph graph = program.Find();
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled, kWillBeSignalled));
  EXPECT_EQ(graph.waits[0].held_submission, 0u);
  EXPECT_FALSE(graph.queues[0].held);
}

// A wait may concern a later stage only, and a signal may have been missed.
TEST(Waits, WhatHasBegunIsNotHeldBack) {
  Program program(1);
  program.Submit(0);
  program.Submit(0);
  program.Wait(0, 1, kB, 0, kSyncBinary);
  program.snapshot().recordings[0].reached = 1;
  const WaitGraph graph = program.Find();
  EXPECT_TRUE(graph.queues.at(0).begun);
  EXPECT_FALSE(graph.queues[0].held);
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled));
}

// Each waits for what the other signals at its end.
TEST(Waits, TwoQueuesInADeadlock) {
  Program program(3);
  for (uint32_t queue = 0; queue < 3; ++queue) program.Submit(queue);
  program.Wait(0, 1, kB, 1);
  program.Signal(0, 1, kA, 1);
  program.Wait(1, 1, kA, 1);
  program.Signal(1, 1, kB, 1);
  program.Wait(2, 1, kA, 1);
  const WaitGraph graph = program.Find();
  EXPECT_THAT(program.States(), ElementsAre(kDeadlock, kDeadlock, kBlocked));
  EXPECT_THAT(graph.cycles, ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(graph.waits[0].cycle, 0u);
  EXPECT_EQ(graph.waits[1].cycle, 0u);
  EXPECT_EQ(graph.waits[2].cycle, kNone);
}

TEST(Waits, ThreeQueuesInADeadlock) {
  Program program(3);
  for (uint32_t queue = 0; queue < 3; ++queue) {
    program.Submit(queue);
    program.Wait(queue, 1, 0x10 + queue, 0, kSyncBinary);
    program.Signal(queue, 1, 0x10 + (queue + 1) % 3, 0, kSyncBinary);
  }
  EXPECT_THAT(program.Find().cycles, ElementsAre(ElementsAre(0, 2, 1)));
}

TEST(Waits, AQueueMayWaitForItself) {
  Program program(1);
  program.Submit(0);
  program.Wait(0, 1, kA, 1);
  program.Submit(0);
  program.Signal(0, 2, kA, 1);
  EXPECT_THAT(program.States(), ElementsAre(kDeadlock));
  EXPECT_THAT(program.Find().cycles, ElementsAre(ElementsAre(0)));
}

// Either signal would do: one is stuck, the other one arrives.
TEST(Waits, OneWayOutIsNoDeadlock) {
  Program program(3);
  for (uint32_t queue = 0; queue < 3; ++queue) program.Submit(queue);
  program.Wait(0, 1, kB, 1);
  program.Signal(0, 1, kA, 1);
  program.Wait(1, 1, kA, 1);
  program.Signal(1, 1, kB, 1);
  const uint32_t way_out = program.Signal(2, 1, kB, 5);
  const WaitGraph graph = program.Find();
  EXPECT_THAT(program.States(), ElementsAre(kWillBeSignalled, kWillBeSignalled));
  EXPECT_EQ(graph.waits[0].signal, way_out);
  EXPECT_THAT(graph.cycles, IsEmpty());
}

TEST(Waits, BehindAWaitThatDoesNotEnd) {
  Program program(2);
  program.Submit(0);
  program.Submit(0);
  program.Submit(1);
  program.Wait(0, 1, kA, 1);
  program.Signal(0, 2, kB, 1);
  program.Wait(1, 1, kB, 1);
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled, kBlocked));
}

// Signals of Direct3D come behind a submission, and waits stand between submissions.
TEST(Waits, OfDirect3DStandBetweenSubmissions) {
  Program program(2, Api::kD3D12);
  program.Submit(0, true);
  program.Wait(0, 1, kB, 1);
  program.Signal(0, 1, kA, 1);
  program.Submit(0);
  program.Submit(1);
  program.Signal(1, 1, kB, 1);
  program.Wait(1, 1, kA, 1);
  program.Submit(1);
  const WaitGraph graph = program.Find();
  EXPECT_THAT(program.States(), ElementsAre(kWillBeSignalled, kWillBeSignalled));
  EXPECT_EQ(graph.waits[0].held_submission, 2u);
  EXPECT_EQ(graph.waits[1].held_submission, 2u);
  // The first one holds queue 0 back; queue 1 has work before it waits.
  EXPECT_TRUE(graph.queues[0].held);
  EXPECT_FALSE(graph.queues[1].held);
}

TEST(Waits, OfDirect3DBehindTheLastSubmission) {
  Program program(1, Api::kD3D12);
  program.Submit(0, true);
  program.Wait(0, 1, kB, 1);
  const WaitGraph graph = program.Find();
  ASSERT_THAT(graph.queues, SizeIs(1));
  EXPECT_EQ(graph.queues[0].first_unfinished, 0u);
  EXPECT_TRUE(graph.queues[0].held);
  EXPECT_EQ(graph.waits[0].held_submission, 0u);
  EXPECT_EQ(graph.waits[0].state, kNeverSignalled);
}

// The queue is stuck at its first wait; were that signalled, its signal would free the other queue.
TEST(Waits, ASignalBetweenTwoWaitsIsNoDeadlock) {
  Program program(2, Api::kD3D12);
  program.Wait(0, 0, 0x99, 1);
  program.Signal(0, 0, kA, 1);
  program.Wait(0, 0, kB, 1);
  program.Submit(0);
  program.Wait(1, 0, kA, 1);
  program.Signal(1, 0, kB, 1);
  program.Submit(1);
  EXPECT_THAT(program.Find().cycles, IsEmpty());
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled, kBlocked, kBlocked));
}

TEST(Waits, TheCpuWaitsForAFence) {
  Program program(1);
  program.Submit(0, true);
  program.Signal(0, 1, kA, 0, kSyncFence);
  program.Wait(kNone, 0, kA, 0, kSyncFence);
  program.Submit(0);
  const uint32_t signal = program.Signal(0, 2, kA, 0, kSyncFence);
  program.Wait(kNone, 0, kA, 0, kSyncFence);
  const uint32_t last = program.Wait(kNone, 0, kA, 0, kSyncFence);
  const WaitGraph graph = program.Find();
  ASSERT_THAT(graph.queues, SizeIs(2));
  EXPECT_EQ(graph.queues[1].queue, kNone);
  ASSERT_THAT(graph.waits, SizeIs(1));
  EXPECT_EQ(graph.waits[0].sync, last);
  EXPECT_EQ(graph.waits[0].signal, signal);
  EXPECT_EQ(graph.waits[0].state, kWillBeSignalled);
}

TEST(Waits, AFenceIsNoSemaphoreOfTheSameHandle) {
  Program program(1);
  program.Submit(0);
  program.Signal(0, 1, kA, 0, kSyncFence);
  program.Wait(0, 1, kA, 0, kSyncBinary);
  EXPECT_THAT(program.States(), ElementsAre(kNeverSignalled));
}

// All queues wait for one semaphore, whose signals come one after the other from two queues that wait for one
// another each time.
TEST(Waits, ManyQueuesWaitWhileTwoPlayPingPong) {
  constexpr uint32_t kQueues = kMaxQueues;
  Snapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].api = Api::kVulkan;
  snapshot.queues.resize(kQueues);
  for (Queue& queue : snapshot.queues) {
    queue.device = 0;
    queue.submission_count = kSyncRing;
  }
  const auto add = [&snapshot](SyncKind kind, uint32_t queue, uint64_t number, uint64_t handle,
                               uint64_t value) {
    Sync sync;
    sync.serial = snapshot.syncs.size() + 1;
    sync.kind = kind;
    sync.device = 0;
    sync.queue = queue;
    sync.submission_number = number;
    sync.native_handle = handle;
    sync.value = value;
    snapshot.syncs.push_back(sync);
  };
  for (uint32_t queue = 2; queue < kQueues; ++queue) {
    add(SyncKind::kWait, queue, 1, kA, UINT64_MAX);
  }
  for (uint64_t i = 1; snapshot.syncs.size() + 4 <= kSyncRing; ++i) {
    add(SyncKind::kSignal, 0, i, kA, i);
    add(SyncKind::kWait, 1, i, kA, i);
    add(SyncKind::kSignal, 1, i, kB, i);
    add(SyncKind::kWait, 0, i + 1, kB, i);
  }
  const WaitGraph graph = FindWaits(snapshot, Analyse(snapshot));
  const auto count = [&graph](WaitState state) {
    return std::ranges::count(graph.waits, state, &Wait::state);
  };
  EXPECT_EQ(count(kNeverSignalled), kQueues - 2);
  EXPECT_EQ(count(kWillBeSignalled), static_cast<ptrdiff_t>(graph.waits.size() - (kQueues - 2)));
  EXPECT_THAT(graph.cycles, IsEmpty());
}

// A chain of queues whose last one waits for all of them, again and again: each wait closes a deadlock.
TEST(Waits, OfTooManyDeadlocksSomeAreLeftOut) {
  for (const uint32_t queues : {8u, kMaxQueues}) {
    Program program(queues);
    for (uint32_t queue = 0; queue < queues; ++queue) {
      program.Submit(queue);
      program.Signal(queue, 1, 0x100 + queue, 1);
      if (queue + 1 < queues) program.Wait(queue, 1, 0x100 + queue + 1, 1);
    }
    uint32_t back_edges = 0;
    for (; program.snapshot().syncs.size() < kSyncRing; ++back_edges) {
      program.Wait(queues - 1, 1, 0x100 + back_edges % queues, 1);
    }
    const WaitGraph graph = program.Find();
    EXPECT_THAT(graph.cycles, SizeIs(kMaxWaitCycles));
    EXPECT_EQ(graph.cycles_left_out, back_edges - kMaxWaitCycles);
    for (const std::vector<uint32_t>& cycle : graph.cycles) {
      EXPECT_LE(cycle.size(), kMaxQueuesOfCycle);
    }
    EXPECT_EQ(std::ranges::count(graph.waits, kDeadlock, &Wait::state),
              static_cast<ptrdiff_t>(graph.waits.size()));
  }
}

// For any input: indices are in range, cycles are as the header defines them, and a cycle that can
// end is none.
TEST(Waits, AnySyncsAreSafe) {
  std::mt19937 random(4711);
  const auto below = [&random](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (int round = 0; round < 300; ++round) {
    const uint32_t queues = 1 + below(4);
    Program program(queues, below(2) == 0 ? Api::kVulkan : Api::kD3D12);
    for (uint32_t i = below(8); i-- > 0;) program.Submit(below(queues), below(2) == 0);
    for (uint32_t i = below(40); i-- > 0;) {
      const uint32_t queue = below(8) == 0 ? kNone : below(queues);
      const uint32_t flags = below(3) == 0 ? below(16) : 0;
      const uint64_t number = below(20) == 0 ? UINT64_MAX : below(5);
      const uint64_t value = below(20) == 0 ? UINT64_MAX : below(4);
      if (below(2) == 0) {
        program.Wait(queue, number, 0x10 + below(4), value, flags);
      } else {
        program.Signal(queue, number, 0x10 + below(4), value, flags);
      }
    }
    const WaitGraph graph = program.Find();
    const std::vector<Sync>& syncs = program.snapshot().syncs;
    uint32_t next = 0;
    for (const QueueWaits& queue : graph.queues) {
      EXPECT_EQ(queue.first_wait, next);
      next += queue.wait_count;
      for (uint32_t i = queue.first_wait; i < next; ++i) {
        EXPECT_EQ(syncs.at(graph.waits.at(i).sync).queue, queue.queue);
      }
    }
    EXPECT_EQ(next, graph.waits.size());
    for (const Wait& wait : graph.waits) {
      if (wait.state == kWillBeSignalled || wait.state == kBlocked || wait.state == kDeadlock) {
        ASSERT_LT(wait.signal, syncs.size());
        EXPECT_EQ(syncs[wait.signal].native_handle, syncs[wait.sync].native_handle);
      }
      EXPECT_TRUE(wait.cycle == kNone || wait.state == kDeadlock);
      EXPECT_TRUE(wait.cycle != kNone || wait.state != kDeadlock || graph.cycles_left_out != 0);
    }
    for (const std::vector<uint32_t>& cycle : graph.cycles) {
      for (size_t i = 0; i < cycle.size(); ++i) {
        const Wait& wait = graph.waits.at(cycle[i]);
        const Wait& after = graph.waits.at(cycle[(i + 1) % cycle.size()]);
        EXPECT_EQ(syncs[wait.signal].queue, syncs[after.sync].queue);
      }
    }
  }
}

}  // namespace
}  // namespace cairn
