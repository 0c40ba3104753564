// SPDX-License-Identifier: Apache-2.0
#include "app/capture/mapped_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "app/capture/changed_bytes.h"
#include "app/capture/stand_in.h"
#include "os/environment.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/shared_memory.h"
#include "os/testing/test_role.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

constexpr size_t kPage = 4096;

struct Memory {
  explicit Memory(size_t pages)
      : held(SparseMemory::ReserveForTracking(pages * kPage)),
        data(held.data()),
        size(pages * kPage) {
    if (data == nullptr) abort();
  }
  void Set(size_t offset, int value) {
    reinterpret_cast<volatile char*>(data)[offset] = static_cast<char>(value);
  }
  SparseMemory held;
  std::byte* data;
  size_t size;
};

struct Told {
  uint64_t object;
  uint32_t subresource;
  uint64_t offset;
  std::vector<std::byte> bytes;
};

// "1.0:4096+2" is two bytes at 4096 of subresource 0 of object 1.
std::string Text(const std::vector<Told>& told) {
  std::string text;
  for (const Told& one : told) {
    if (!text.empty()) text += ' ';
    text += std::to_string(one.object) + "." + std::to_string(one.subresource) + ":" +
            std::to_string(one.offset) + "+" + std::to_string(one.bytes.size());
  }
  return text;
}

constexpr char kTracking[] = "CAIRN_CAPTURE_TRACKING";
constexpr char kInChild[] = "CAIRN_MAPPED_MEMORY_TEST_CHILD";

// One process has one MappedMemory, and its method is chosen once: a process each.
class MappedMemoryTest : public testing::TestWithParam<const char*> {
 protected:
  // Runs this test in a process of its own, where it comes here again and `test` is run.
  template <typename Test>
  void InChild(const Test& test) {
    if (OwnVariable(kInChild) != nullptr) {
      test();
      return;
    }
    const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
    SpawnRequest request;
    request.arguments = {OwnProgramPath(), std::string("--gtest_filter=") + info.test_suite_name() +
                                               "." + info.name()};
    request.environment = {std::string(kTracking) + "=" + GetParam(), std::string(kInChild) + "=1",
                           "GTEST_OUTPUT="};
    const Result<ProcessHandle> child = SpawnProgram(request);
    ASSERT_TRUE(child.ok()) << child.status().message();
    const ProcessEnd end = EndOf(*child);
    EXPECT_TRUE(end.kind == EndKind::kExited && end.value == 0) << "ended with " << end.value;
  }
  static MappedMemory::Report Into(std::vector<Told>* told) {
    return [told](uint64_t object, uint32_t subresource, uint64_t offset,
                  std::span<const std::byte> bytes) {
      told->push_back({object, subresource, offset, {bytes.begin(), bytes.end()}});
    };
  }
  static std::string Flush() {
    std::vector<Told> told;
    MappedMemory::Get().Flush(Into(&told));
    return Text(told);
  }
  static std::string Unmap(uint64_t object) {
    std::vector<Told> told;
    MappedMemory::Get().Unmap(object, 0, Into(&told));
    return Text(told);
  }
};

TEST_P(MappedMemoryTest, TellsWhatWasWrittenAndNothingElse) {
  InChild([] {
    Memory memory(64);
    memory.Set(5, 1);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, memory.data, memory.size);
    EXPECT_EQ(mapped.mapped_bytes(), memory.size);
    memory.Set(70'000, 2);
    EXPECT_EQ(Flush(), "1.0:0+4096 1.0:70000+1");  // the first page held something before
    EXPECT_EQ(Flush(), "");
    memory.Set(0, 3);
    memory.Set(65, 3);   // 64 between: one range
    memory.Set(131, 3);  // 65 between
    memory.Set(memory.size - 1, 3);
    EXPECT_EQ(Flush(), "1.0:0+66 1.0:131+1 1.0:262143+1");
    memory.Set(0, 3);  // the same value again
    EXPECT_EQ(Flush(), "");
    memory.Set(100'000, 4);
    EXPECT_EQ(Unmap(1), "1.0:100000+1");
    EXPECT_EQ(mapped.mapped_bytes(), 0u);
    memory.Set(200, 5);
    EXPECT_EQ(Flush(), "");
  });
}

TEST_P(MappedMemoryTest, SaysHow) {
  InChild([] {
    Memory memory(4);
    EXPECT_EQ(MappedMemory::Get().Method(), "");
    MappedMemory::Get().Map(1, 0, memory.data, memory.size);
    const std::string wanted = OwnVariable(kTracking);
    const std::string method = MappedMemory::Get().Method();
    // A kernel without support is replaced by comparing.
    const bool compares = wanted == "compare" ||
                          (wanted == kKernelWriteTracker && MakeKernelWriteTracker() == nullptr);
    EXPECT_EQ(method.substr(0, method.find(' ')), compares ? "compare" : wanted);
  });
}

TEST_P(MappedMemoryTest, ZerosOverWhatWasThereBeforeAreTold) {
  InChild([] {
    Memory memory(4);
    memory.Set(2 * kPage + 7, 9);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, memory.data + 100, memory.size - 100);
    memory.Set(2 * kPage + 7, 0);
    EXPECT_EQ(Flush(), "1.0:8092+4096");
    EXPECT_EQ(Flush(), "");
    memory.Set(2 * kPage + 8, 1);
    EXPECT_EQ(Flush(), "1.0:8100+1");
  });
}

TEST_P(MappedMemoryTest, AllCanBeForgottenAtOnce) {
  InChild([] {
    Memory first(4);
    Memory second(4);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, first.data, first.size);
    mapped.Map(2, 0, second.data, second.size);
    mapped.ForgetAll();
    EXPECT_EQ(mapped.mapped_bytes(), 0u);
    // From here on the handler does not lift protections that are left behind.
    signal(SIGSEGV, SIG_DFL);
    first.Set(0, 1);
    second.Set(3 * kPage, 1);
    EXPECT_EQ(Flush(), "");
    EXPECT_EQ(Unmap(1), "");
    mapped.Map(1, 0, first.data, first.size, true);
    first.Set(9, 5);
    EXPECT_EQ(Flush(), "1.0:9+1");
  });
}

TEST_P(MappedMemoryTest, KnownMemoryIsToldOnlyWhereItIsWritten) {
  InChild([] {
    Memory small(2);
    Memory large(1024);
    for (size_t i = 0; i < large.size; i += 100) large.Set(i, 7);
    small.Set(10, 7);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, small.data, small.size, true);
    mapped.Map(2, 0, large.data + 100, large.size - 200, true);
    EXPECT_EQ(Flush(), "");
    small.Set(20, 8);
    large.Set(3 * kPage + 50, 8);
    large.Set(4 * kPage + 60, 8);
    large.Set(large.size - 101, 8);
    std::vector<Told> told;
    mapped.Flush(Into(&told));
    ASSERT_GE(told.size(), 3u);
    EXPECT_EQ(Text({told[0]}), "1.0:20+1");
    // Whole pages the first time, or the bytes.
    std::vector<std::byte> replayed(large.data + 100, large.data + large.size - 100);
    replayed[3 * kPage - 50] = replayed[4 * kPage - 40] = replayed[large.size - 201] = {};
    for (size_t i = 1; i < told.size(); ++i) {
      ASSERT_LE(told[i].offset + told[i].bytes.size(), replayed.size());
      std::memcpy(replayed.data() + told[i].offset, told[i].bytes.data(), told[i].bytes.size());
    }
    EXPECT_EQ(std::memcmp(replayed.data(), large.data + 100, replayed.size()), 0);
    large.Set(3 * kPage + 51, 9);
    EXPECT_EQ(Flush(), "2.0:12239+1");
  });
}

TEST_P(MappedMemoryTest, MapsCount) {
  InChild([] {
    Memory memory(2);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, memory.data, memory.size);
    mapped.Map(1, 0, memory.data, memory.size);
    memory.Set(1, 1);
    EXPECT_EQ(Unmap(1), "");
    EXPECT_EQ(Flush(), "1.0:1+1");
    memory.Set(2, 1);
    EXPECT_EQ(Unmap(1), "1.0:2+1");
    EXPECT_EQ(Unmap(1), "");
    EXPECT_EQ(Unmap(99), "");
  });
}

TEST_P(MappedMemoryTest, MappingsMayLieInTheSamePages) {
  InChild([] {
    Memory memory(8);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, memory.data + 100, 200);
    mapped.Map(2, 0, memory.data + 300, 3 * kPage);
    mapped.Map(3, 1, memory.data, memory.size);  // over all of them
    memory.Set(150, 1);
    memory.Set(300, 1);
    EXPECT_EQ(Flush(), "1.0:50+1 2.0:0+1 3.1:150+1 3.1:300+1");
    memory.Set(2 * kPage, 2);
    memory.Set(7 * kPage, 2);
    // A mapping that ends reports the writes that it found in pages of others to them.
    EXPECT_EQ(Unmap(2), "2.0:7892+1 3.1:8192+1");
    memory.Set(2 * kPage + 1, 3);
    memory.Set(160, 3);
    EXPECT_EQ(Flush(), "1.0:60+1 3.1:160+1 3.1:8193+1 3.1:28672+1");
    std::vector<Told> told;
    mapped.Forget(3, Into(&told));
    memory.Set(170, 4);
    memory.Set(kPage, 4);
    EXPECT_EQ(Flush(), "1.0:70+1");
  });
}

TEST_P(MappedMemoryTest, SharedMemoryAndMallocWork) {
  InChild([] {
    const SharedMemory shared = std::move(SharedMemory::Create("test", 16 * kPage)).value();
    const auto heap = std::make_unique<char[]>(100'000);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, shared.data(), shared.size_bytes());
    mapped.Map(2, 0, heap.get(), 100'000);
    shared.data()[9 * kPage] = std::byte{1};
    heap[5'000] = 1;
    heap[99'999] = 1;
    EXPECT_EQ(Flush(), "1.0:36864+1 2.0:5000+1 2.0:99999+1");
    heap[5'001] = 2;
    EXPECT_EQ(Flush(), "2.0:5001+1");
    EXPECT_EQ(Unmap(2), "");
  });
}

TEST_P(MappedMemoryTest, MemoryMayGoBeforeItIsForgotten) {
  InChild([] {
    MappedMemory& mapped = MappedMemory::Get();
    std::vector<Told> told;
    for (uint64_t object = 1; object < 50; ++object) {
      Memory memory(16);
      mapped.Map(object, 0, memory.data, memory.size);
      memory.Set(object * 100, 1);
      EXPECT_EQ(Flush(), std::to_string(object) + ".0:" + std::to_string(object * 100) + "+1");
      mapped.Forget(object, Into(&told));
    }
    EXPECT_EQ(told.size(), 0u);
  });
}

// No write is lost, whenever it happens: the sum of the reports equals the memory at the end.
TEST_P(MappedMemoryTest, WritesDuringFlushesAreFoundLater) {
  InChild([] {
    constexpr size_t kPages = 64;
    constexpr int kWriters = 3;
    Memory memory(kPages);
    MappedMemory& mapped = MappedMemory::Get();
    mapped.Map(1, 0, memory.data, memory.size);
    std::vector<std::byte> replayed(memory.size);
    const MappedMemory::Report apply = [&](uint64_t, uint32_t, uint64_t offset,
                                           std::span<const std::byte> bytes) {
      std::memcpy(replayed.data() + offset, bytes.data(), bytes.size());
    };
    std::atomic<int> running{kWriters};
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        uint32_t seed = static_cast<uint32_t>(writer) + 1;
        for (int i = 0; i < 20'000; ++i) {
          seed = seed * 1664525 + 1013904223;
          // Each has its own bytes in the pages of all.
          const size_t at = (seed >> 8) % (memory.size / 4) * 4 + static_cast<size_t>(writer);
          std::atomic_ref<char>(reinterpret_cast<char*>(memory.data)[at])
              .store(static_cast<char>(i), std::memory_order_relaxed);
        }
        --running;
      });
    }
    while (running != 0) mapped.Flush(apply);
    for (std::thread& writer : writers) writer.join();
    mapped.Flush(apply);
    EXPECT_EQ(std::memcmp(replayed.data(), memory.data, memory.size), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(All, MappedMemoryTest,
                         testing::Values(kKernelWriteTracker, kFaultWriteTracker, "compare"),
                         [](const auto& info) { return std::string(info.param); });

class StandInTest : public MappedMemoryTest {};

// `place` is a part of `block`.
MappedPlace Part(const Memory& block, size_t offset, size_t size) {
  return {.data = block.data + offset,
          .size_bytes = size,
          .may_stand_in = true,
          .block = block.data,
          .block_bytes = block.size};
}

TEST_P(StandInTest, IsCopiedByFlushesAndHoldsWhatTheMemoryHeld) {
  InChild([] {
    Memory real(16);
    real.Set(3, 1);
    MappedMemory& mapped = MappedMemory::Get();
    const auto map = [&] {
      return static_cast<char*>(
          mapped.Map(1, 0, {.data = real.data, .size_bytes = real.size, .may_stand_in = true}));
    };
    char* const data = map();
    ASSERT_NE(static_cast<void*>(data), real.data);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % (64 << 10),
              reinterpret_cast<uintptr_t>(real.data) % (64 << 10));
    EXPECT_TRUE(mapped.has_stand_ins());
    EXPECT_EQ(data[3], 1);
    data[5 * kPage] = 2;
    EXPECT_EQ(real.data[5 * kPage], std::byte{0});
    EXPECT_EQ(Flush(), "1.0:0+4096 1.0:20480+1");
    EXPECT_EQ(real.data[5 * kPage], std::byte{2});
    EXPECT_EQ(map(), data);
    data[7] = 3;
    EXPECT_EQ(Unmap(1), "") << "it was mapped twice";
    EXPECT_EQ(Unmap(1), "1.0:7+1");
    EXPECT_EQ(real.data[7], std::byte{3});
    // Programs keep the pointer; captures end.
    data[8] = 4;
    mapped.ForgetAll();
    mapped.Flush({});
    EXPECT_EQ(real.data[8], std::byte{4});
    EXPECT_EQ(map(), data);
    data[9] = 5;
    std::vector<Told> told;
    mapped.Forget(1, Into(&told));
    EXPECT_EQ(Text(told), "1.0:9+1");
    EXPECT_EQ(real.data[9], std::byte{5});
    EXPECT_EQ(mapped.mapped_bytes(), 0u);
  });
}

TEST_P(StandInTest, PartsOfABlockShareIt) {
  InChild([] {
    Memory real(64);
    real.Set(10 * kPage, 9);
    MappedMemory& mapped = MappedMemory::Get();
    auto* const first = static_cast<char*>(mapped.Map(1, 0, Part(real, 0, 20 * kPage)));
    first[10 * kPage] = 8;
    auto* const second = static_cast<char*>(mapped.Map(2, 0, Part(real, 10 * kPage, 30 * kPage)));
    EXPECT_EQ(second, first + 10 * kPage);
    EXPECT_EQ(second[0], 8) << "what the program wrote, not what the memory held";
    second[1] = 7;
    EXPECT_EQ(first[10 * kPage + 1], 7);
    Flush();
    EXPECT_EQ(real.data[10 * kPage], std::byte{8});
    EXPECT_EQ(real.data[10 * kPage + 1], std::byte{7});
    std::vector<Told> told;
    mapped.Forget(1, Into(&told));
    second[2] = 6;
    EXPECT_EQ(Flush(), "2.0:2+1");
    EXPECT_EQ(real.data[10 * kPage + 2], std::byte{6});
    // Without a capture only what has such a block gets one.
    MappedPlace later = Part(real, 12 * kPage, kPage);
    later.track = false;
    EXPECT_EQ(mapped.Map(3, 0, later), second + 2 * kPage);
    Memory other(4);
    MappedPlace apart = Part(other, 0, other.size);
    apart.track = false;
    EXPECT_EQ(mapped.Map(4, 0, apart), other.data);
    // Another block must not overlap: then there is no stand-in.
    EXPECT_EQ(mapped.Map(5, 0,
                         {.data = real.data + real.size - kPage,
                          .size_bytes = 2 * kPage,
                          .may_stand_in = true,
                          .track = false}),
              real.data + real.size - kPage);
  });
}

TEST_P(StandInTest, FollowsWhatOthersWriteAndKeepsWhatTheProgramWrote) {
  InChild([] {
    Memory real(4);
    MappedMemory& mapped = MappedMemory::Get();
    auto* const data = static_cast<char*>(
        mapped.Map(1, 0, {.data = real.data, .size_bytes = real.size, .may_stand_in = true}));
    data[0] = 1;
    mapped.NoteWrittenByOthers(1);
    EXPECT_TRUE(mapped.has_written_by_others());
    mapped.RefreshWritten();
    EXPECT_EQ(data[0], 1) << "nothing has been copied yet";
    Flush();
    real.Set(100, 2);
    data[200] = 3;
    mapped.RefreshWritten();
    EXPECT_EQ(data[100], 2);
    EXPECT_EQ(data[200], 3);
    EXPECT_EQ(Flush(), "1.0:200+1");
    real.Set(300, 4);
    mapped.Refresh(1);
    EXPECT_EQ(data[300], 4);
  });
}

INSTANTIATE_TEST_SUITE_P(All, StandInTest, testing::Values("stand-in"),
                         [](const auto&) { return std::string("stand_in"); });

TEST(ChangedBytes, AreFoundAtTheirPlacesWhereverTheyAre) {
  uint32_t seed = 1;
  const auto random = [&](uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
  };
  for (int round = 0; round < 2000; ++round) {
    const size_t size = 1 + random(5000);
    std::vector<std::byte> memory(size);
    std::vector<std::byte> copy(size);
    const size_t begin = random(static_cast<uint32_t>(size));
    const uint32_t changes = random(6);
    for (uint32_t i = 0; i < changes; ++i) {
      memory[random(static_cast<uint32_t>(size))] = std::byte{1};
    }
    std::vector<bool> told(size);
    size_t behind = 0;
    bool first = true;
    TakeChangedBytes(memory.data(), copy.data(), begin, size, [&](size_t offset, size_t bytes) {
      ASSERT_GE(offset, begin);
      ASSERT_TRUE(first || offset - behind > MappedMemory::kMergeBytes);
      ASSERT_EQ(memory[offset], std::byte{1});
      ASSERT_EQ(memory[offset + bytes - 1], std::byte{1});
      for (size_t i = 0; i < bytes; ++i) told[offset + i] = true;
      behind = offset + bytes;
      first = false;
    });
    for (size_t i = begin; i < size; ++i) {
      ASSERT_EQ(copy[i], memory[i]);
      ASSERT_TRUE(told[i] || memory[i] == std::byte{});
    }
  }
}

}  // namespace
}  // namespace cairn
