// SPDX-License-Identifier: Apache-2.0
#include "os/futex.h"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <string>
#include <thread>

#include "os/clock.h"
#include "os/testing/test_role.h"

namespace cairn {
namespace {

constexpr uint64_t kMemoryBytes = 4096;
constexpr uint64_t kLongNs = 60'000'000'000;

struct Words {
  std::atomic<uint32_t> question{0};
  std::atomic<uint32_t> answer{0};
  std::atomic<uint32_t> timed_out{0};
};
constexpr uint32_t kRounds = 300;

uint32_t Change(const SharedMemory& memory, std::atomic<uint32_t>* word) {
  const uint32_t was = word->fetch_add(1);
  FutexWake(memory, *word, was);
  return was + 1;
}

// Returns the new value.
uint32_t WaitWhile(const SharedMemory& memory, Words* words, const std::atomic<uint32_t>& word,
                   uint32_t expected) {
  while (word == expected) {
    if (!FutexWait(memory, word, expected, kLongNs)) ++words->timed_out;
  }
  return word;
}

const TestRole answers("answers", [](const TestWords& words) {
  const Result<SharedMemory> memory =
      SharedMemory::MapForWriting(TakeInherited(std::stoull(words.at(0))), kMemoryBytes);
  if (!memory.ok()) return 1;
  auto* const shared = reinterpret_cast<Words*>(memory->data());
  for (uint32_t i = 0; i < kRounds; ++i) {
    WaitWhile(*memory, shared, shared->question, i);
    Change(*memory, &shared->answer);
  }
  return 0;
});

class FutexTest : public testing::Test {
 protected:
  FutexTest() : memory_(SharedMemory::Create("cairn-futex-test", kMemoryBytes)) {
    EXPECT_TRUE(memory_.ok());
    words_ = new (memory_->data()) Words;
  }

  Result<SharedMemory> memory_;
  Words* words_ = nullptr;
};

TEST_F(FutexTest, AnswersComeAndGoBetweenProcesses) {
  const SystemHandle inherited = CopyOf(memory_->handle());
  SpawnRequest request;
  request.arguments = ArgumentsOfRole("answers", {std::to_string(inherited.get())});
  request.inherited = &inherited;
  const Result<ProcessHandle> process = SpawnProgram(request);
  ASSERT_TRUE(process.ok()) << process.status().message();
  for (uint32_t i = 0; i < kRounds; ++i) {
    Change(*memory_, &words_->question);
    WaitWhile(*memory_, words_, words_->answer, i);
  }
  EXPECT_EQ(EndOf(*process).value, 0);
  EXPECT_EQ(words_->answer, kRounds);
  EXPECT_EQ(words_->timed_out, 0u) << "a wake was lost";
}

TEST_F(FutexTest, WakesAllWhoWaitAndForgetsNobody) {
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads) {
    thread = std::thread([this] {
      for (uint32_t value = 0; value < kRounds;) {
        value = WaitWhile(*memory_, words_, words_->question, value);
        words_->answer.fetch_add(1);
      }
    });
  }
  for (uint32_t i = 0; i < kRounds; ++i) {
    // Each change is seen by a waiter before the next one comes: otherwise no thread would wait.
    const uint32_t seen = words_->answer;
    Change(*memory_, &words_->question);
    while (words_->answer == seen) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(words_->timed_out, 0u) << "a wake was lost";
}

TEST_F(FutexTest, DoesNotWaitForWhatHasHappened) {
  words_->question = 7;
  EXPECT_TRUE(FutexWait(*memory_, words_->question, 6, kLongNs));
}

TEST_F(FutexTest, TheTimeMayBeOver) {
  const uint64_t start_ns = MonotonicNs();
  EXPECT_FALSE(FutexWait(*memory_, words_->question, 0, 2'000'000));
  EXPECT_GE(MonotonicNs() - start_ns, 1'900'000u);
  // No thread waits, now or later.
  FutexWake(*memory_, words_->question, 0);
  EXPECT_FALSE(FutexWait(*memory_, words_->question, 0, 2'000'000));
}

}  // namespace
}  // namespace cairn
