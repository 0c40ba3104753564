// SPDX-License-Identifier: Apache-2.0
//
// The block that both halves of a process under Wine fill, and the watcher that one of them has.
#include "os/linux_half.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/recorder/watcher_link.h"
#include "os/clock.h"
#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

class FakeHalf final : public LinuxHalf {
 public:
  CAIRN_LINUX_CALL uint64_t ProcessId() const override { return 4711; }
  CAIRN_LINUX_CALL uint32_t ThreadId() const override { return 12; }
  CAIRN_LINUX_CALL uint64_t MonotonicNs() const override { return 1000; }
  CAIRN_LINUX_CALL void* CreateMemory(const char*, uint64_t) override { return nullptr; }
  CAIRN_LINUX_CALL void* MapMemory(const char*, uint64_t*) override { return nullptr; }
  CAIRN_LINUX_CALL void FreeMemory(void*) override {}
  CAIRN_LINUX_CALL bool Wait(const void*, uint32_t, uint64_t) const override { return true; }
  CAIRN_LINUX_CALL void Wake(const void*) const override {}
  CAIRN_LINUX_CALL void* ProcessBlock(uint64_t, uint64_t* size_bytes) override {
    if (block == nullptr) return nullptr;
    *size_bytes = block->size_bytes();
    return block->data();
  }
  CAIRN_LINUX_CALL bool HasWatcher() const override { return has_watcher; }
  CAIRN_LINUX_CALL int32_t SendToWatcher(const void* message, uint64_t size_bytes,
                                         const void*) const override {
    if (size_bytes != sizeof(sent)) return 22;
    std::memcpy(&sent, message, sizeof(sent));
    return error;
  }
  CAIRN_LINUX_CALL void* ThreadScopes() const override { return nullptr; }
  CAIRN_LINUX_CALL void* Driver() const override { return nullptr; }

  BlockWriter* block = nullptr;
  bool has_watcher = true;
  int32_t error = 0;
  mutable HandoverMessage sent;
};

class LinuxHalfTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first_ = BlockWriter::Create(kMinLayerBlockBytes).value();
    half_.block = first_.get();
    second_ = BlockWriter::OfLinuxHalf(half_, kMinLayerBlockBytes).value();
  }
  void TearDown() override { SetLinuxHalf(nullptr); }

  FakeHalf half_;
  std::unique_ptr<BlockWriter> first_;
  std::unique_ptr<BlockWriter> second_;
};

TEST_F(LinuxHalfTest, BothWritersFillOneBlockAsItWasLaidOut) {
  const uint64_t next_page = first_->header()->next_page;
  ASSERT_EQ(second_->header(), first_->header());
  EXPECT_EQ(first_->header()->next_page, next_page);
  EXPECT_EQ(first_->AddContext(), 0u);
  EXPECT_EQ(second_->AddContext(), 1u);
  EXPECT_EQ(first_->AddQueue(), 0u);
  EXPECT_EQ(second_->AddQueue(), 1u);
  const char* const names[] = {"vkQueueSubmit", "vkCmdDraw"};
  const char* const others[] = {"ID3D12CommandQueue::Signal"};
  EXPECT_EQ(first_->RegisterFunctions(names), 0u);
  EXPECT_EQ(second_->RegisterFunctions(others), 2u);
  EXPECT_EQ(second_->RegisterFunctions(names), 0u) << "by the other one";
  EXPECT_STREQ(second_->Name(second_->AddName("Main"))->bytes, "Main");
}

TEST_F(LinuxHalfTest, NothingIsGivenOutTwice) {
  constexpr uint32_t kEach = 200;
  std::array<std::set<uint32_t>, 2> pages, queues, shaders;
  const auto take = [&](BlockWriter& block, int number) {
    for (uint32_t i = 0; i < kEach; ++i) {
      pages[number].insert(block.AllocatePage());
      queues[number].insert(block.AddQueue());
      block.AddShader(ShaderCode::kSpirV, 1 + i * 2 + number, {});
    }
  };
  std::thread other([&] { take(*second_, 1); });
  take(*first_, 0);
  other.join();
  for (const auto& of_both : {&pages, &queues}) {
    std::set<uint32_t> all = (*of_both)[0];
    all.insert((*of_both)[1].begin(), (*of_both)[1].end());
    EXPECT_EQ(all.size(), 2 * kEach);
    EXPECT_EQ(all.count(0), of_both == &pages ? 0u : 1u);
  }
  std::set<uint64_t> hashes;
  ASSERT_EQ(first_->header()->shader_count.load(), 2 * kEach);
  for (uint32_t i = 0; i < 2 * kEach; ++i) hashes.insert(first_->shaders()[i].hash);
  EXPECT_EQ(hashes.size(), 2 * kEach);
}

TEST_F(LinuxHalfTest, TheWatcherIsTheOthers) {
  SetLinuxHalf(&half_);
  EXPECT_TRUE(HasWatcher());
  Result<WatcherLine> line = WatcherLine::Open();
  ASSERT_TRUE(line.ok());
  EXPECT_FALSE(line->IsCut());
  EXPECT_TRUE(SendDeviceLost().ok());
  EXPECT_EQ(half_.sent.kind, HandoverKind::kDeviceLost);
  half_.error = 32;
  EXPECT_EQ(SendDeviceLost().message(), "its Linux half cannot send to the watcher: error 32");
  half_.has_watcher = false;
  EXPECT_TRUE(line->IsCut());
  EXPECT_EQ(WatcherLine::Open().status().code(), StatusCode::kNotFound);
}

TEST_F(LinuxHalfTest, WithoutMemoryThereIsNoBlock) {
  half_.block = nullptr;
  EXPECT_EQ(BlockWriter::OfLinuxHalf(half_, kMinLayerBlockBytes).status().code(),
            StatusCode::kOutOfMemory);
}

#if defined(_WIN32)
TEST_F(LinuxHalfTest, NumbersAndTimesAreThoseOfLinux) {
  SetLinuxHalf(&half_);
  EXPECT_EQ(OwnProcessId(), 4711);
  EXPECT_EQ(CurrentThreadId(), 12u);
  EXPECT_EQ(MonotonicNs(), 1000u);
}
#endif

}  // namespace
}  // namespace cairn
