// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/call_ring.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/block_writer.h"

namespace cairn {
namespace {

class CallRingTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinLayerBlockBytes);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
    CallRing::SetBlock(block_.get());
  }
  void TearDown() override { CallRing::SetBlock(nullptr); }

  static void Call(uint32_t function, uintptr_t object) {
    CallRing::End(CallRing::Begin(function, reinterpret_cast<void*>(object)));
  }
  ThreadRecord& OnlyThread() {
    EXPECT_EQ(block_->header()->thread_count.load(), 1u);
    return block_->threads()[0];
  }

  std::unique_ptr<BlockWriter> block_;
};

TEST_F(CallRingTest, CallThatDidNotReturnIsTheOneThatIsOpen) {
  Call(7, 0x70);
  CallRecord* const outer = CallRing::Begin(8, reinterpret_cast<void*>(0x80));
  Call(9, 0x90);
  const ThreadRecord& thread = OnlyThread();
  EXPECT_EQ(thread.state.load(), 1u);
  EXPECT_EQ(thread.thread_id, static_cast<uint32_t>(gettid()));
  std::vector<uint32_t> functions;
  std::vector<uint32_t> open;
  for (const CallRecord& call : thread.calls) {
    if (call.number.load() == 0) continue;
    functions.push_back(call.function.load());
    EXPECT_EQ(call.object.load(), call.function.load() * 16);
    if (call.returned.load() == 0) open.push_back(call.function.load());
  }
  std::sort(functions.begin(), functions.end());
  EXPECT_EQ(functions, (std::vector<uint32_t>{7, 8, 9}));
  EXPECT_EQ(open, std::vector<uint32_t>{8});
  CallRing::End(outer);
  EXPECT_EQ(outer->returned.load(), 1u);
}

TEST_F(CallRingTest, KeepsTheFirstArguments) {
  const char name[] = "list";
  struct Handle {
    uint64_t ptr;
  } const table{0xffffffffffffffe0};
  struct Large {
    uint64_t words[2];
  } const large{{1, 2}};
  CallRecord* const call =
      CallRing::Begin(7, nullptr, uint32_t{64}, int32_t{-2}, &name[0], table, large, 6u);
  EXPECT_EQ(call->arguments[0].load(), 64u);
  EXPECT_EQ(static_cast<int64_t>(call->arguments[1].load()), -2);
  EXPECT_EQ(call->arguments[2].load(), reinterpret_cast<uintptr_t>(name));
  EXPECT_EQ(call->arguments[3].load(), table.ptr);
  EXPECT_EQ(call->arguments[4].load(), 0u) << "what does not fit into a word";
  CallRing::End(call);
  EXPECT_EQ(std::bit_cast<float>(
                static_cast<uint32_t>(CallRing::Begin(7, nullptr, 0.5f)->arguments[0].load())),
            0.5f);
}

TEST_F(CallRingTest, KeepsTheLastCalls) {
  for (uint32_t i = 0; i < 1000; ++i) Call(i, i);
  const ThreadRecord& thread = OnlyThread();
  uint64_t newest = 0;
  for (const CallRecord& call : thread.calls) newest = std::max(newest, call.number.load());
  for (uint32_t position = 0; position < kCallsPerThread; ++position) {
    const CallRecord& call = thread.calls[position];
    EXPECT_EQ(call.number.load() % kCallsPerThread, position);
    EXPECT_GT(call.number.load() + kCallsPerThread, newest);
    EXPECT_EQ(999 - call.function.load(), newest - call.number.load());
    EXPECT_EQ(call.returned.load(), 1u);
  }
}

TEST_F(CallRingTest, OuterCallReturnsAfterTheRingHasGoneAround) {
  CallRecord* const outer = CallRing::Begin(1, nullptr);
  for (uint32_t i = 0; i < 2 * kCallsPerThread; ++i) Call(2, i);
  CallRing::End(outer);
  for (const CallRecord& call : OnlyThread().calls) {
    EXPECT_EQ(call.function.load(), 2u);
    EXPECT_EQ(call.returned.load(), 1u);
  }
}

TEST_F(CallRingTest, ThreadsHaveEntriesWithTheirNamesAndEnd) {
  std::thread([this] {
    Call(1, 1);
    // Named after its first call, as most are.
    pthread_setname_np(pthread_self(), "render thread");
    EXPECT_EQ(block_->threads()[0].state.load(), 1u);
  }).join();
  const ThreadRecord& thread = OnlyThread();
  EXPECT_EQ(thread.state.load(), 2u);
  EXPECT_STREQ(thread.name, "render thread");
  EXPECT_NE(thread.ended_ns.load(), 0u);
  EXPECT_EQ(thread.calls[1].number.load() != 0 || thread.calls[0].number.load() != 0, true);
}

TEST_F(CallRingTest, NameIsSeenWhileTheThreadRuns) {
  std::thread([this] {
    Call(1, 1);
    pthread_setname_np(pthread_self(), "loader");
    for (int i = 0; i < 64; ++i) Call(1, 1);
    EXPECT_STREQ(block_->threads()[0].name, "loader");
  }).join();
}

TEST_F(CallRingTest, EndedEntriesAreUsedAgainOldestFirst) {
  const auto run_thread = [](uint32_t function) {
    std::thread([function] { Call(function, 1); }).join();
  };
  for (uint32_t i = 0; i < kMaxThreads; ++i) run_thread(i);
  EXPECT_EQ(block_->header()->thread_count.load(), kMaxThreads);
  run_thread(kMaxThreads);
  run_thread(kMaxThreads + 1);
  EXPECT_EQ(block_->header()->thread_count.load(), kMaxThreads);
  const auto only_function = [this](uint32_t entry) {
    uint32_t function = 0;
    int count = 0;
    for (const CallRecord& call : block_->threads()[entry].calls) {
      if (call.number.load() == 0) continue;
      function = call.function.load();
      ++count;
    }
    EXPECT_EQ(count, 1);
    return function;
  };
  EXPECT_EQ(only_function(0), kMaxThreads);
  EXPECT_EQ(only_function(1), kMaxThreads + 1);
  EXPECT_EQ(only_function(2), 2u);
}

TEST_F(CallRingTest, ForkedChildLeavesTheBlockAlone) {
  Call(1, 1);
  const ThreadRecord& thread = OnlyThread();
  const auto newest = [&thread] {
    uint64_t number = 0;
    for (const CallRecord& call : thread.calls) number = std::max(number, call.number.load());
    return number;
  };
  const uint64_t before = newest();
  const pid_t child = fork();
  if (child == 0) {
    Call(2, 2);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(newest(), before);
  Call(3, 3);
  EXPECT_EQ(newest(), before + 1);
}

TEST_F(CallRingTest, WithoutABlockCallsGoNowhere) {
  CallRing::SetBlock(nullptr);
  Call(1, 1);
  EXPECT_EQ(block_->header()->thread_count.load(), 0u);
  const auto small = std::move(BlockWriter::Create(kMinBlockBytes).value());
  CallRing::SetBlock(small.get());
  Call(1, 1);
  EXPECT_EQ(small->header()->thread_count.load(), 0u);
  EXPECT_EQ(small->header()->threads_offset, 0u);
}

}  // namespace
}  // namespace cairn
