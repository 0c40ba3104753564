// SPDX-License-Identifier: Apache-2.0
//
// Checked accesses on a device: the same results where all is inside, and what is done and said of accesses outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "app/spirv/access_checks.h"
#include "app/spirv/testing/shaders.h"
#include "compute_device_fixture.h"

namespace cairn::spirv {
namespace {

using ::testing::Each;
using testing::Form;
using testing::LoadShader;

// As addresses.comp counts them.
enum class Kind : uint32_t { kWords, kVectors, kLights, kList, kAtomic };

class AccessChecksGpuTest : public ComputeDeviceTest {
 protected:
  // The parts of one buffer, by their places.
  static constexpr size_t kList = 64, kOtherList = 0x8000, kRecords = 0x10000, kZeros = 0x20000,
                          kSpare = 0x30000, kTask = 0x40000, kData = 0x41000, kBytes = 0x50000;
  static constexpr uint32_t kUntouched = 0x5a5a5a5a;

  void SetUp() override {
    ComputeDeviceTest::SetUp();
    memory_ = MakeSharedBuffer(on_, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, kBytes);
    ASSERT_NE(memory_.mapped, nullptr);
    std::memset(memory_.mapped, 0, kBytes);
    address_ = AddressOf(memory_);
    ASSERT_EQ(address_ % 64, 0u);
  }
  void TearDown() override {
    DestroySharedBuffer(on_, memory_);
    ComputeDeviceTest::TearDown();
  }

  template <typename T>
  T* At(size_t offset) {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_.mapped) + offset);
  }

  // Shaders may access these, and the task.
  void Allow(std::vector<AccessRange> ranges, size_t list = kList) {
    ranges.push_back({address_ + kTask, 16});
    std::ranges::sort(ranges, {}, &AccessRange::begin);
    At<AccessList>(list)->count = static_cast<uint32_t>(ranges.size());
    std::memcpy(At<AccessRange>(list + sizeof(AccessList)), ranges.data(),
                ranges.size() * sizeof(AccessRange));
    At<AccessTable>(0)->list = static_cast<uint32_t>(list);
  }

  CheckedModule Check(Form form = Form::kLines) {
    const AccessChecks checks = {address_, address_ + kRecords, address_ + kZeros,
                                 address_ + kSpare};
    const Result<CheckedModule> checked = CheckAccesses(LoadShader("addresses.comp", form), checks);
    EXPECT_TRUE(checked.ok()) << checked.status().message();
    return checked.ok() ? *checked : CheckedModule{};
  }

  // Runs a module whose data lies at this address; words of data stay as they are.
  InvocationWords Run(const std::vector<uint32_t>& words, Kind kind, uint64_t data,
                      uint32_t offset = 0) {
    std::memset(At<std::byte>(kRecords), 0, 64 * sizeof(AccessRecord));
    const uint32_t task[4] = {static_cast<uint32_t>(kind), offset, static_cast<uint32_t>(data),
                              static_cast<uint32_t>(data >> 32)};
    std::memcpy(At<uint32_t>(kTask), task, sizeof(task));
    const uint64_t at = address_ + kTask;
    return RunCompute(on_, results_, words,
                      {static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32)});
  }

  // The records of accesses outside, in the order of the module.
  std::vector<std::pair<const Access*, AccessRecord>> Missed(const CheckedModule& checked) {
    std::vector<std::pair<const Access*, AccessRecord>> missed;
    for (size_t i = 0; i < checked.accesses.size(); ++i) {
      const AccessRecord& record = At<AccessRecord>(kRecords)[i];
      if (record.misses != 0) missed.emplace_back(&checked.accesses[i], record);
    }
    return missed;
  }

  uint64_t data() const { return address_ + kData; }

  SharedBuffer memory_;
  uint64_t address_ = 0;
};

TEST_F(AccessChecksGpuTest, InsideOfTheRangesEveryResultIsTheSame) {
  for (Form form : {Form::kLines, Form::kOptimised}) {
    const CheckedModule checked = Check(form);
    // To the last byte.
    const std::pair<Kind, uint64_t> sizes[] = {{Kind::kWords, 64 * 4},
                                               {Kind::kVectors, 64 * 12},
                                               {Kind::kLights, 64 * 40},
                                               {Kind::kList, 4 * 16},
                                               {Kind::kAtomic, 8}};
    for (const auto& [kind, bytes] : sizes) {
      const auto prepare = [&, kind = kind] {
        if (kind == Kind::kList || kind == Kind::kAtomic) {
          for (uint32_t i = 0; i < 4; ++i) {
            const uint64_t next = data() + 16 * ((i + 1) % 4);
            const uint32_t node[4] = {i + 1, 0, static_cast<uint32_t>(next),
                                      static_cast<uint32_t>(next >> 32)};
            std::memcpy(At<uint32_t>(kData + 16 * i), node, sizeof(node));
          }
        } else {
          for (size_t i = 0; i < 64 * 10; ++i) At<float>(kData)[i] = static_cast<float>(i);
        }
      };
      prepare();
      const InvocationWords plain = Run(LoadShader("addresses.comp", form), kind, data());
      EXPECT_NE(plain, InvocationWords{});
      prepare();
      Allow({{data(), bytes}});
      EXPECT_EQ(Run(checked.words, kind, data()), plain)
          << NameOf(form) << ", " << static_cast<uint32_t>(kind);
      EXPECT_TRUE(Missed(checked).empty()) << NameOf(form) << ", " << static_cast<uint32_t>(kind);
    }
  }
}

TEST_F(AccessChecksGpuTest, OneElementBehindTheEndIsNotWrittenAndTold) {
  const CheckedModule checked = Check();
  Allow({{data(), 64 * 4}});
  std::fill_n(At<uint32_t>(kData), 128, kUntouched);
  const InvocationWords results = Run(checked.words, Kind::kWords, data(), 1);
  for (uint32_t i = 0; i < 63; ++i) {
    EXPECT_EQ(results[i], i * 3);
    EXPECT_EQ(At<uint32_t>(kData)[i + 1], i * 3);
  }
  EXPECT_EQ(results[63], 0u) << "what is loaded from outside is zero";
  EXPECT_EQ(At<uint32_t>(kData)[64], kUntouched);
  EXPECT_EQ(At<uint32_t>(kSpare)[0], 189u);
  const auto missed = Missed(checked);
  ASSERT_EQ(missed.size(), 2u);
  EXPECT_EQ(missed[0].first->kind, AccessKind::kStore);
  EXPECT_EQ(missed[0].first->place.text, "Words(data).word[at + offset] = at * 3;");
  EXPECT_EQ(missed[1].first->kind, AccessKind::kLoad);
  for (const auto& [access, record] : missed) {
    EXPECT_EQ(record.misses, 1u);
    EXPECT_EQ(record.first, 1u);
    EXPECT_EQ(record.has_range, 1u);
    EXPECT_EQ(record.bytes, 4u);
    EXPECT_EQ(record.address, data() + 64 * 4);
    EXPECT_EQ(record.range, (AccessRange{data(), 64 * 4}));
    EXPECT_EQ(record.invocation[0], 63u);
  }
}

TEST_F(AccessChecksGpuTest, APartOfTheAccessBehindTheEndIsOutside) {
  const CheckedModule checked = Check();
  Allow({{data(), 64 * 12 - 1}});
  Run(checked.words, Kind::kVectors, data());
  const auto missed = Missed(checked);
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].second.misses, 1u);
  EXPECT_EQ(missed[0].second.bytes, 12u);
  EXPECT_EQ(missed[0].second.address, data() + 63 * 12);
}

TEST_F(AccessChecksGpuTest, NullAndTheEndOfTheAddressesHaveNoRange) {
  const CheckedModule checked = Check();
  Allow({{data(), 64 * 4}});
  EXPECT_THAT(Run(checked.words, Kind::kWords, 0), Each(0u));
  auto missed = Missed(checked);
  ASSERT_EQ(missed.size(), 2u);
  EXPECT_EQ(missed[0].second.misses, 64u);
  EXPECT_EQ(missed[0].second.has_range, 0u);
  EXPECT_EQ(missed[0].second.address, missed[0].second.invocation[0] * 4);
  // The last word that there can be.
  Run(checked.words, Kind::kAtomic, UINT64_MAX - 7);
  missed = Missed(checked);
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].second.address, UINT64_MAX - 3);
  EXPECT_EQ(missed[0].second.has_range, 1u);
}

TEST_F(AccessChecksGpuTest, AListThatLeadsToNothingIsFollowedInZeros) {
  const CheckedModule checked = Check();
  Allow({{data(), 32}});
  const uint64_t second = data() + 16;
  const uint32_t nodes[8] = {
      7, 0, static_cast<uint32_t>(second), static_cast<uint32_t>(second >> 32), 8, 0, 0, 0};
  std::memcpy(At<uint32_t>(kData), nodes, sizeof(nodes));
  EXPECT_THAT(Run(checked.words, Kind::kList, data()), Each(7800u));
  const auto missed = Missed(checked);
  ASSERT_EQ(missed.size(), 2u);
  for (const auto& [access, record] : missed) {
    EXPECT_EQ(access->place.function, "follow");
    EXPECT_EQ(record.misses, 128u) << "the third and the fourth node of all invocations";
  }
}

TEST_F(AccessChecksGpuTest, TheRangeIsFoundAmongThousandAndTheGapsBetweenThem) {
  const CheckedModule checked = Check();
  // 16 of each 32 bytes: every second node is outside, and lies behind the end of the one before.
  std::vector<AccessRange> ranges;
  for (uint64_t i = 0; i < 1000; ++i) ranges.push_back({data() + 32 * i, 16});
  Allow(ranges);
  for (uint64_t i : {0u, 1u, 499u, 998u, 999u}) {
    Run(checked.words, Kind::kAtomic, data() + 32 * i);
    EXPECT_TRUE(Missed(checked).empty()) << i;
    Run(checked.words, Kind::kAtomic, data() + 32 * i + 16);
    const auto missed = Missed(checked);
    ASSERT_EQ(missed.size(), 1u) << i;
    EXPECT_EQ(missed[0].second.misses, 64u);
    EXPECT_EQ(missed[0].second.range, (AccessRange{data() + 32 * i, 16}));
  }
}

TEST_F(AccessChecksGpuTest, TheListThatTheTableNamesHolds) {
  const CheckedModule checked = Check();
  Allow({{data(), 64 * 4}});
  Run(checked.words, Kind::kWords, data());
  EXPECT_TRUE(Missed(checked).empty());
  // The buffer is gone.
  Allow({}, kOtherList);
  EXPECT_THAT(Run(checked.words, Kind::kWords, data()), Each(0u));
  EXPECT_EQ(Missed(checked).size(), 2u);
}

// By descriptor: `indices.comp` has 16 words, and behind them pairs of words: 24 in 64 words.
enum class IndexTask : uint32_t { kStore, kLoad, kAtomic, kLoadPair };

class IndexChecksGpuTest : public AccessChecksGpuTest {
 protected:
  CheckedModule CheckAll(const std::vector<uint32_t>& words, bool only_counts) {
    const Result<CheckedModule> checked = CheckAccesses(
        words, {address_, address_ + kRecords, address_ + kZeros, address_ + kSpare, only_counts});
    EXPECT_TRUE(checked.ok()) << checked.status().message();
    return checked.ok() ? *checked : CheckedModule{};
  }
  InvocationWords RunPlain(const std::vector<uint32_t>& words, ComputeConstants constants) {
    std::memset(At<std::byte>(kRecords), 0, 64 * sizeof(AccessRecord));
    return RunCompute(on_, results_, words, constants);
  }
  InvocationWords RunTask(const CheckedModule& checked, IndexTask task, uint32_t offset) {
    return RunPlain(checked.words, {static_cast<uint32_t>(task), offset});
  }
};

TEST_F(IndexChecksGpuTest, HealthyShadersGiveTheSameResults) {
  const std::pair<const char*, ComputeConstants> healthy[] = {{"march.comp", Floats(0.25f, 20.0f)},
                                                              {"ways_out.comp", {12, 5}},
                                                              {"never_ends.comp", {3, 5}},
                                                              {"indices.comp", {0, 0}},
                                                              {"indices.comp", {1, 0}},
                                                              {"indices.comp", {2, 0}},
                                                              {"indices.comp", {3, 0}}};
  for (const auto& [name, constants] : healthy) {
    for (Form form : testing::kForms) {
      const std::vector<uint32_t> words = LoadShader(name, form);
      const InvocationWords plain = RunPlain(words, constants);
      EXPECT_NE(plain, InvocationWords{});
      for (const bool only_counts : {false, true}) {
        const CheckedModule checked = CheckAll(words, only_counts);
        EXPECT_GE(checked.checked, 1u) << name << ", " << NameOf(form);
        EXPECT_EQ(RunPlain(checked.words, constants), plain) << name << ", " << NameOf(form);
        EXPECT_TRUE(Missed(checked).empty()) << name << ", " << NameOf(form);
      }
    }
  }
}

TEST_F(IndexChecksGpuTest, AStoreBehindTheEndIsNotMade) {
  for (Form form : testing::kForms) {
    const CheckedModule checked = CheckAll(LoadShader("indices.comp", form), false);
    const InvocationWords results = RunTask(checked, IndexTask::kStore, 2);
    for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(results[i], 100 + i);
    EXPECT_EQ(results[17], 0u);
    EXPECT_EQ(results[19], 0u) << "what is outside does not go to the first element";
    for (uint32_t i = 2; i < 24; ++i) EXPECT_EQ(results[17 + 2 * i], (i - 2) * 3 + 1);
    const auto missed = Missed(checked);
    ASSERT_EQ(missed.size(), 1u) << NameOf(form);
    const auto& [access, record] = missed[0];
    EXPECT_EQ(access->kind, AccessKind::kStore);
    EXPECT_EQ(access->place.text, "if (at < 24u) data.rest[to].high = at * 3u + 1u;");
    EXPECT_EQ(record.misses, 2u);
    EXPECT_EQ(record.first, 1u);
    EXPECT_THAT(record.invocation[0], ::testing::AnyOf(22u, 23u));
    const IndexMiss miss = IndexMissOf(record);
    EXPECT_EQ(miss.index[0], record.invocation[0] + 2);
    EXPECT_EQ(miss.bound[0], 24u);
    EXPECT_THAT(std::vector(miss.bound + 1, miss.bound + 4), Each(1u));
  }
}

TEST_F(IndexChecksGpuTest, ALoadOutsideGivesZeros) {
  const CheckedModule checked = CheckAll(LoadShader("indices.comp", Form::kLines), false);
  const InvocationWords one = RunTask(checked, IndexTask::kLoad, 1);
  for (uint32_t i = 0; i < 24; ++i) {
    EXPECT_EQ(one[16 + 2 * i], i % 16 == 0 ? 0u : 99 + i % 16) << i;
  }
  auto missed = Missed(checked);
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].second.misses, 2u);
  EXPECT_TRUE(missed[0].first->indices[0].is_signed);
  EXPECT_EQ(static_cast<int32_t>(IndexMissOf(missed[0].second).index[0]), -1);
  EXPECT_EQ(IndexMissOf(missed[0].second).bound[0], 16u);
  // A structure, far behind.
  const InvocationWords pairs = RunTask(checked, IndexTask::kLoadPair, 1u << 31);
  for (uint32_t i = 0; i < 24; ++i) EXPECT_EQ(pairs[16 + 2 * i], 9u);
  missed = Missed(checked);
  ASSERT_FALSE(missed.empty());
  EXPECT_EQ(missed[0].second.misses, 24u);
}

TEST_F(IndexChecksGpuTest, AnAtomicOperationOutsideIsNotMadeAndGivesZero) {
  const CheckedModule checked = CheckAll(LoadShader("indices.comp", Form::kLines), false);
  const InvocationWords results = RunTask(checked, IndexTask::kAtomic, 20);
  for (uint32_t i = 0; i < 24; ++i) {
    EXPECT_EQ(results[16 + 2 * i], 7u);
    EXPECT_EQ(results[17 + 2 * i], i < 20 ? 0u : 5u) << i;
  }
  const auto missed = Missed(checked);
  ASSERT_EQ(missed.size(), 1u);
  EXPECT_EQ(missed[0].first->kind, AccessKind::kAtomic);
  EXPECT_EQ(missed[0].second.misses, 20u);
}

}  // namespace
}  // namespace cairn::spirv
