// SPDX-License-Identifier: Apache-2.0
#include "os/write_tracker.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "os/child.h"
#include "os/memory.h"
#include "os/testing/test_role.h"
#include "os/testing/watched_memory.h"
#include "os/windows/system.h"

namespace cairn {

WatchedMemory::WatchedMemory(size_t size_bytes)
    : data_(static_cast<std::byte*>(VirtualAlloc(
          nullptr, size_bytes, MEM_RESERVE | MEM_COMMIT | MEM_WRITE_WATCH, PAGE_READWRITE))),
      size_bytes_(size_bytes) {
  if (data_ == nullptr) std::abort();
}
WatchedMemory::~WatchedMemory() {
  VirtualFree(data_, 0, MEM_RELEASE);
}

namespace {

PageRange Pages(const void* data, size_t count) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return {begin, begin + count * PageBytes()};
}

TEST(KernelWriteTracker, TracksWhatWasAllocatedForItOnly) {
  const auto tracker = MakeKernelWriteTracker();
  ASSERT_NE(tracker, nullptr);
  const SparseMemory other = SparseMemory::Reserve(4 * PageBytes());
  EXPECT_FALSE(tracker->Add(Pages(other.data(), 4)));
  // More pages apart from each other than one call tells of.
  const WatchedMemory memory(2048 * PageBytes());
  ASSERT_TRUE(tracker->Add(Pages(memory.data(), 2048)));
  for (size_t i = 0; i < 1024; ++i) memory.data()[2 * i * PageBytes()] = std::byte{1};
  std::vector<PageRange> written;
  EXPECT_TRUE(tracker->Collect(Pages(memory.data(), 2048), &written));
  EXPECT_EQ(written.size(), 1024u);
}

TEST(FaultWriteTracker, LeavesOtherProtectionsAlone) {
  const auto tracker = MakeFaultWriteTracker();
  ASSERT_NE(tracker, nullptr);
  DWORD before = 0;
  const SparseMemory memory = SparseMemory::Reserve(4 * PageBytes());
  VirtualProtect(memory.data() + PageBytes(), PageBytes(), PAGE_EXECUTE_READWRITE, &before);
  EXPECT_FALSE(tracker->Add(Pages(memory.data(), 4)));
  EXPECT_TRUE(tracker->Add(Pages(memory.data(), 1)));
  // Reading is no writing.
  EXPECT_EQ(memory.data()[0], std::byte{0});
  std::vector<PageRange> written;
  EXPECT_TRUE(tracker->Collect(Pages(memory.data(), 1), &written));
  EXPECT_TRUE(written.empty());
  tracker->Remove(Pages(memory.data(), 1));
}

const TestRole faults_elsewhere("faults-elsewhere", [](const TestWords&) {
  LeaveNoDump();
  const auto tracker = MakeFaultWriteTracker();
  const WatchedMemory memory(4 * PageBytes());
  DWORD before = 0;
  if (!tracker->Add(Pages(memory.data(), 2))) return 2;
  memory.data()[0] = std::byte{1};
  VirtualProtect(memory.data() + 3 * PageBytes(), PageBytes(), PAGE_READONLY, &before);
  static_cast<volatile std::byte*>(memory.data())[3 * PageBytes()] = std::byte{1};
  return 3;
});

TEST(FaultWriteTracker, AFaultThatIsNotOursIsStillTheEnd) {
  const ProcessEnd end = EndOf(StartRole("faults-elsewhere"));
  EXPECT_EQ(CauseOfDeath(end.value), "EXCEPTION_ACCESS_VIOLATION");
}

TEST(IsOrdinaryMemory, IsWhatProgramsHave) {
  const WatchedMemory memory(PageBytes());
  EXPECT_TRUE(IsOrdinaryMemory(memory.data()));
  DWORD before = 0;
  ASSERT_NE(VirtualProtect(memory.data(), PageBytes(), PAGE_READWRITE | PAGE_NOCACHE, &before), 0);
  MEMORY_BASIC_INFORMATION info = {};
  VirtualQuery(memory.data(), &info, sizeof(info));
  if ((info.Protect & PAGE_NOCACHE) == 0) GTEST_SKIP() << "Wine forgets it";
  EXPECT_FALSE(IsOrdinaryMemory(memory.data()));
}

}  // namespace
}  // namespace cairn
