// SPDX-License-Identifier: Apache-2.0
//
// Tests for Linux only: copies of a process, and memory that belongs to another userfaultfd.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/capture/capture.h"
#include "app/capture/mapped_memory.h"
#include "app/capture/testing/test_watcher.h"
#include "os/write_tracker.h"

namespace cairn {
namespace {

constexpr size_t kPage = 4096;

TEST(CaptureTest, AForkedChildRecordsNothing) {
  TestWatcher watcher;
  ASSERT_TRUE(Capture::Start({}).ok());
  Capture& capture = *Capture::Active();
  EncodeContext context;
  context.object_number = [](const void*, Chain) { return uint64_t{7}; };
  const uint32_t one = 1;
  const void* const arguments[] = {&one, &one, &one};
  const uint64_t call =
      capture.BeginCall(Method::ID3D12GraphicsCommandList_Dispatch, 1, arguments, context);
  const pid_t child = fork();
  if (child == 0) _exit(Capture::Active() == nullptr && Capture::CurrentCall() == 0 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Capture::CurrentCall(), call);
  capture.Returned(call);
  EXPECT_EQ(watcher.Finish().size(), 2u);
}

struct Memory {
  explicit Memory(size_t pages) : size(pages * kPage) {
    data = static_cast<std::byte*>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (data == MAP_FAILED) abort();
  }
  ~Memory() { munmap(data, size); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* data;
  size_t size;
};

// By itself it takes what a program cannot notice. Memory that another userfaultfd has is as a driver's:
// ours is refused.
TEST(StandIns, AreChosenWhereNothingElseWorks) {
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("CAIRN_CAPTURE_TRACKING");
    Memory real(4);
    const std::unique_ptr<WriteTracker> other = MakeKernelWriteTracker();
    const auto begin = reinterpret_cast<uintptr_t>(real.data);
    if (other == nullptr || !other->Add({begin, begin + real.size})) _exit(77);
    MappedMemory& mapped = MappedMemory::Get();
    auto* const given = static_cast<char*>(
        mapped.Map(1, 0, {.data = real.data, .size_bytes = 2 * kPage, .may_stand_in = true}));
    EXPECT_NE(static_cast<void*>(given), real.data);
    // The kernel may write there, too.
    const int file = open("/proc/self/exe", O_RDONLY);
    EXPECT_EQ(pread(file, given + 100, 1000, 0), 1000);
    mapped.Flush({});
    EXPECT_EQ(std::memcmp(real.data + 100, given + 100, 1000), 0);
    EXPECT_EQ(real.data[101], std::byte{'E'});
    Memory ordinary(2);
    EXPECT_EQ(mapped.Map(2, 0, {.data = ordinary.data, .size_bytes = kPage, .may_stand_in = true}),
              ordinary.data);
    // The GPU writes here as well.
    std::byte* const both = real.data + 2 * kPage;
    EXPECT_EQ(mapped.Map(3, 0, {.data = both, .size_bytes = 2 * kPage}), both);
    EXPECT_EQ(mapped.Method(),
              "compare (comparison with a copy), stand-in (memory of Cairn's own, copied before "
              "the GPU gets work), userfaultfd (write-protection without faults)");
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no userfaultfd here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cairn
