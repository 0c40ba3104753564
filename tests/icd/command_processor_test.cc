// SPDX-License-Identifier: Apache-2.0
#include "icd/command_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cairn::icd {
namespace {

using ::testing::ElementsAre;

class CommandProcessorTest : public ::testing::Test {
 protected:
  enum Word { kReached, kPassed, kOther };

  void Top(uint32_t value, Word word = kReached, uint32_t queue = 0) {
    Store(CommandKind::kTopStore, value, word, queue);
  }
  void Bottom(uint32_t value, Word word = kPassed, uint32_t queue = 0) {
    Store(CommandKind::kBottomStore, value, word, queue);
  }
  void Work(int number, uint32_t kinds = kAllWork, uint32_t queue = 0) {
    Command command;
    command.kind = CommandKind::kWork;
    command.work_kinds = kinds;
    command.effect = [this, number] { ended_.push_back(number); };
    processor_.Enqueue(queue, command);
  }
  void Barrier(uint32_t kinds = kAllWork) {
    Command command;
    command.work_kinds = kinds;
    processor_.Enqueue(0, command);
  }
  void Signal(int number, uint32_t queue = 0) {
    Command command;
    command.kind = CommandKind::kSignal;
    command.effect = [this, number] { signals_.push_back(number); };
    processor_.Enqueue(queue, command);
  }
  void Script(const char* label, uint32_t queue = 0) {
    Command command;
    command.kind = CommandKind::kDirective;
    std::string error;
    ASSERT_TRUE(ParseDirective(label, &command.directive, &error)) << error;
    processor_.Enqueue(queue, command);
  }
  void Checkpoint(const void* marker) {
    for (CommandKind kind : {CommandKind::kTopCheckpoint, CommandKind::kBottomCheckpoint}) {
      Command command;
      command.kind = kind;
      command.checkpoint = marker;
      processor_.Enqueue(0, command);
    }
  }
  // A work with its markers, as Cairn records it in mode full.
  void Marked(int number) {
    Top(static_cast<uint32_t>(2 * number - 1));
    Work(number);
    Bottom(static_cast<uint32_t>(2 * number));
  }

  uint32_t words_[3] = {};
  std::vector<int> ended_;
  std::vector<int> signals_;
  CommandProcessor processor_{2, 4};

 private:
  void Store(CommandKind kind, uint32_t value, Word word, uint32_t queue) {
    Command command;
    command.kind = kind;
    command.target = &words_[word];
    command.value = value;
    processor_.Enqueue(queue, command);
  }
};

TEST_F(CommandProcessorTest, EverythingEndsInOrderWhenNothingIsAsked) {
  Marked(1);
  Marked(2);
  Signal(7);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(3u, 4u, 0u));
  EXPECT_THAT(ended_, ElementsAre(1, 2));
  EXPECT_THAT(signals_, ElementsAre(7));
  EXPECT_TRUE(processor_.Idle(0));
}

TEST_F(CommandProcessorTest, NotesTellTheTruth) {
  uint32_t notes[4][2] = {};
  const auto note = [&](int number) {
    Script(
        ("icd: note " + std::to_string(reinterpret_cast<uintptr_t>(notes[number])) + " 2").c_str());
    if (number == 1) Script("icd: hang");
    if (number == 2) Script("icd: fault");
    Work(number);
  };
  note(0);
  note(1);
  processor_.Settle();
  EXPECT_THAT(notes[0], ElementsAre(2u, 2u));
  EXPECT_THAT(notes[1], ElementsAre(1u, 1u));
  Work(9);  // without a note
  note(2);
  Barrier();
  note(3);
  processor_.Settle();
  EXPECT_TRUE(processor_.lost());
  EXPECT_THAT(notes[2], ElementsAre(1u, 1u));
  EXPECT_THAT(notes[3], ElementsAre(0u, 0u));
}

TEST_F(CommandProcessorTest, WorkOverlapsAndBottomWritesWait) {
  Script("icd: duration 20");
  Marked(1);
  Marked(2);
  while (ended_.empty()) ASSERT_TRUE(processor_.Step());
  EXPECT_THAT(ended_, ElementsAre(2));
  EXPECT_THAT(words_, ElementsAre(3u, 0u, 0u));
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre(2, 1));
  EXPECT_THAT(words_, ElementsAre(3u, 4u, 0u));
}

TEST_F(CommandProcessorTest, HangLetsOthersPassButNoBottomWriteAndNoBarrier) {
  Script("icd: hang");
  Marked(1);
  Marked(2);
  Barrier();
  Marked(3);
  Signal(1);
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre(2));
  EXPECT_THAT(words_, ElementsAre(3u, 0u, 0u));
  EXPECT_THAT(signals_, ElementsAre());
  EXPECT_FALSE(processor_.Idle(0));
  EXPECT_FALSE(processor_.lost());
}

TEST_F(CommandProcessorTest, BarrierWaitsForItsKindsOnly) {
  Script("icd: hang");
  Work(1, kComputeWork);
  Barrier(kTransferWork);
  Work(2, kTransferWork);
  Barrier(kComputeWork);
  Work(3);
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre(2));
}

TEST_F(CommandProcessorTest, FullLineStopsTheFrontEnd) {
  Script("icd: hang");
  Work(1);
  for (uint32_t i = 1; i <= 4; ++i) Bottom(i);
  Top(1);
  Work(2);
  Top(2);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(1u, 0u, 0u));
  EXPECT_THAT(ended_, ElementsAre());
}

TEST_F(CommandProcessorTest, LateMarkersArriveInTheEndAndFencesWaitForThem) {
  Script("icd: late 10");
  Marked(1);
  Signal(1);
  while (ended_.empty()) ASSERT_TRUE(processor_.Step());
  EXPECT_THAT(words_, ElementsAre(0u, 0u, 0u));
  while (words_[kPassed] == 0) {
    EXPECT_THAT(signals_, ElementsAre());
    ASSERT_TRUE(processor_.Step());
  }
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(1u, 2u, 0u));
  EXPECT_THAT(signals_, ElementsAre(1));
}

TEST_F(CommandProcessorTest, LateStoresOfOneWordStayInOrder) {
  Script("icd: late 10");
  Top(1);
  Script("icd: late 0");
  Top(2);
  Top(5, kOther);
  for (int i = 0; i < 7; ++i) processor_.Step();
  EXPECT_THAT(words_, ElementsAre(0u, 0u, 5u));
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(2u, 0u, 5u));
}

TEST_F(CommandProcessorTest, LateForEverIsNeverSeen) {
  Script("icd: late for ever");
  Marked(1);
  Signal(1);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(0u, 0u, 0u));
  EXPECT_THAT(signals_, ElementsAre());
}

TEST_F(CommandProcessorTest, LatenessOfOnePlace) {
  Script("icd: late 100 bottom");
  Marked(1);
  Script("icd: stop after 20");
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(1u, 0u, 0u));
}

TEST_F(CommandProcessorTest, DirectivesPassByTransfersUnlessTheyAskForOne) {
  Script("icd: hang");
  Script("icd: duration 30 in transfer");
  Work(1, kTransferWork);
  Work(2, kTransferWork);
  Work(3, kComputeWork);
  Work(4, kComputeWork);
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre(2, 4, 1));
}

TEST_F(CommandProcessorTest, BarriersAndFencesReleaseHeldMarkers) {
  Script("icd: reorder");
  Top(1);
  Barrier();
  Signal(1);
  Script("icd: stop after 20");
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(1u, 0u, 0u));
  EXPECT_THAT(signals_, ElementsAre(1));
}

TEST_F(CommandProcessorTest, StopLeavesHeldMarkersUnseen) {
  Script("icd: reorder");
  Top(1);
  Script("icd: stop after 20");
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(0u, 0u, 0u));
}

TEST_F(CommandProcessorTest, LostMarkers) {
  Script("icd: lose next marker");
  Marked(1);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(0u, 2u, 0u));
  Script("icd: lose bottom");
  Marked(2);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(3u, 2u, 0u));
  Script("icd: lose top");
  Top(40, kOther);
  Marked(3);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(3u, 6u, 0u));
}

TEST_F(CommandProcessorTest, ReorderedMarkersSwap) {
  Script("icd: reorder");
  Top(1);
  for (int i = 0; i < 2; ++i) processor_.Step();
  EXPECT_THAT(words_, ElementsAre(0u, 0u, 0u));
  Top(2);  // the same word: it does not overtake
  Work(1);
  Bottom(9);
  while (words_[kPassed] == 0) ASSERT_TRUE(processor_.Step());
  EXPECT_THAT(words_, ElementsAre(2u, 9u, 0u));
}

TEST_F(CommandProcessorTest, HeldMarkersAreSeenWhenNothingElseMoves) {
  Script("icd: reorder");
  Top(1);
  processor_.Settle();
  EXPECT_THAT(words_, ElementsAre(1u, 0u, 0u));
}

TEST_F(CommandProcessorTest, FaultLosesTheDeviceAtTheEndOfItsWork) {
  Script("icd: fault 0x1000 write precision 16");
  Marked(1);
  Marked(2);
  Signal(1);
  processor_.Settle();
  EXPECT_TRUE(processor_.lost());
  EXPECT_THAT(ended_, ElementsAre());
  EXPECT_EQ(words_[kPassed], 0u);
  ASSERT_EQ(processor_.faults().size(), 1u);
  EXPECT_EQ(processor_.faults()[0].address, 0x1000u);
  EXPECT_EQ(processor_.faults()[0].precision, 16u);
  EXPECT_EQ(processor_.faults()[0].access, FaultAccess::kWrite);
  EXPECT_FALSE(processor_.Step());
}

TEST_F(CommandProcessorTest, MaskedFaultIsToldOnlyLater) {
  Script("icd: masked-fault 0x2000");
  Marked(1);
  Signal(1);
  processor_.Settle();
  EXPECT_FALSE(processor_.lost());
  EXPECT_THAT(ended_, ElementsAre());  // what it writes is missing
  EXPECT_THAT(words_, ElementsAre(1u, 2u, 0u));
  EXPECT_THAT(signals_, ElementsAre(1));
  EXPECT_EQ(processor_.faults().size(), 1u);
}

TEST_F(CommandProcessorTest, ARaceFaultsWhereWorkRunsBesideIt) {
  Script("icd: duration 9");
  Work(1);
  Barrier();
  Script("icd: race 0x2000");
  Work(2);
  processor_.Settle();
  EXPECT_FALSE(processor_.lost());
  EXPECT_THAT(ended_, ElementsAre(1, 2));
  Script("icd: duration 9");
  Work(3);
  Script("icd: race 0x2000", 1);
  Work(4, kAllWork, 1);
  processor_.Settle();
  EXPECT_TRUE(processor_.lost());
  EXPECT_EQ(processor_.faults().size(), 1u);
}

TEST_F(CommandProcessorTest, AMissFaultsUnlessTheDeviceMakesItHarmless) {
  processor_.set_harmless_misses(static_cast<uint32_t>(Missed::kBuffer) |
                                 static_cast<uint32_t>(Missed::kDescriptor));
  Script("icd: miss buffer 0x1000");
  Work(1);
  Script("icd: miss descriptor");
  Work(2);
  processor_.Settle();
  EXPECT_FALSE(processor_.lost());
  EXPECT_THAT(ended_, ElementsAre(1, 2));
  Script("icd: miss image 0x2000");
  Work(3);
  processor_.Settle();
  EXPECT_TRUE(processor_.lost());
  EXPECT_EQ(processor_.faults().size(), 1u);
  EXPECT_THAT(ended_, ElementsAre(1, 2));
}

TEST_F(CommandProcessorTest, FaultAfterCompletionHangsTheNextWork) {
  Script("icd: fault-after-completion");
  Marked(1);
  Signal(1);
  Barrier();
  Marked(2);
  Signal(2);
  processor_.Settle();
  EXPECT_FALSE(processor_.lost());
  EXPECT_THAT(words_, ElementsAre(3u, 2u, 0u));
  EXPECT_THAT(signals_, ElementsAre(1));
}

TEST_F(CommandProcessorTest, LossShowsOrDropsWhatIsNotSeenYet) {
  for (const bool drops : {false, true}) {
    CommandProcessor other(1, 4);
    std::swap(words_[kReached], words_[kOther]);
    words_[kReached] = 0;
    const auto script = [&](const char* label) {
      Command command;
      command.kind = CommandKind::kDirective;
      std::string error;
      ASSERT_TRUE(ParseDirective(label, &command.directive, &error));
      other.Enqueue(0, command);
    };
    if (drops) script("icd: drop-stores");
    script("icd: late 100");
    Command top;
    top.kind = CommandKind::kTopStore;
    top.target = &words_[kReached];
    top.value = 8;
    other.Enqueue(0, top);
    script("icd: device-lost");
    other.Settle();
    EXPECT_TRUE(other.lost());
    EXPECT_EQ(words_[kReached], drops ? 0u : 8u);
  }
}

TEST_F(CommandProcessorTest, StopKeepsEverythingAsItIs) {
  Script("icd: duration 50");
  Marked(1);
  Script("icd: stop after 5");
  Marked(2);
  processor_.Settle();
  EXPECT_TRUE(processor_.stopped());
  EXPECT_FALSE(processor_.lost());
  EXPECT_THAT(words_, ElementsAre(3u, 0u, 0u));
}

TEST_F(CommandProcessorTest, QueuesRunBesideEachOther) {
  Script("icd: hang");
  Marked(1);
  Top(1, kOther, 1);
  Work(2, kAllWork, 1);
  Signal(2, 1);
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre(2));
  EXPECT_THAT(signals_, ElementsAre(2));
  EXPECT_TRUE(processor_.Idle(1));
}

TEST_F(CommandProcessorTest, WaitsHoldTheFrontEndUntilAnotherQueueSignals) {
  bool open = false;
  Command wait;
  wait.kind = CommandKind::kWait;
  wait.condition = [&] { return open; };
  processor_.Enqueue(1, wait);
  Work(1, kAllWork, 1);
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre());
  Command signal;
  signal.kind = CommandKind::kSignal;
  signal.effect = [&] { open = true; };
  processor_.Enqueue(0, signal);
  processor_.Settle();
  EXPECT_THAT(ended_, ElementsAre(1));
}

TEST_F(CommandProcessorTest, Checkpoints) {
  const int markers[2] = {};
  Checkpoint(&markers[0]);
  Script("icd: hang");
  Work(1);
  Checkpoint(&markers[1]);
  processor_.Settle();
  EXPECT_EQ(processor_.top_checkpoint(0), &markers[1]);
  EXPECT_EQ(processor_.bottom_checkpoint(0), &markers[0]);
  EXPECT_EQ(processor_.top_checkpoint(1), nullptr);
}

TEST_F(CommandProcessorTest, OtherDirectivesAreHandedOn) {
  std::vector<DirectiveKind> kinds;
  processor_.set_on_directive([&](const Directive& directive) { kinds.push_back(directive.kind); });
  Script("icd: vendor-info 1 2 text");
  Script("icd: bind 4096 4096");
  processor_.Settle();
  EXPECT_THAT(kinds, ElementsAre(DirectiveKind::kVendorInfo, DirectiveKind::kBind));
}

}  // namespace
}  // namespace cairn::icd
