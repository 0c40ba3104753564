// SPDX-License-Identifier: Apache-2.0
#include "os/write_tracker.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <vector>

#include "os/memory.h"
#include "os/testing/watched_memory.h"

namespace cairn {

WatchedMemory::WatchedMemory(size_t size_bytes)
    : data_(static_cast<std::byte*>(
          mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
      size_bytes_(size_bytes) {
  if (data_ == MAP_FAILED) abort();
}
WatchedMemory::~WatchedMemory() {
  munmap(data_, size_bytes_);
}

namespace {

const size_t kPage = PageBytes();

struct Memory {
  explicit Memory(size_t pages, int flags = MAP_PRIVATE | MAP_ANONYMOUS) : size(pages * kPage) {
    data = static_cast<std::byte*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0));
    if (data == MAP_FAILED) abort();
  }
  ~Memory() { munmap(data, size); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void Set(size_t offset, int value) {
    reinterpret_cast<volatile char*>(data)[offset] = static_cast<char>(value);
  }
  std::byte* data;
  size_t size;
};

// Four pages that a tracker watches, and one that nobody may write to. In a child process.
struct Tracked {
  Tracked() {
    mprotect(read_only.data, kPage, PROT_READ);
    if (!tracker->Add(range)) _exit(2);
  }
  std::vector<PageRange> Collect() {
    std::vector<PageRange> written;
    tracker->Collect(range, &written);
    return written;
  }
  // Returns true if that is the page that begins there.
  bool IsPage(const std::vector<PageRange>& written, size_t offset) const {
    return written.size() == 1 && written[0].begin == range.begin + offset;
  }

  Memory memory{4};
  Memory read_only{1};
  const std::unique_ptr<WriteTracker> tracker = MakeFaultWriteTracker();
  const PageRange range{reinterpret_cast<uintptr_t>(memory.data),
                        reinterpret_cast<uintptr_t>(memory.data) + memory.size};
};

// Returns the wait status of a child that runs this, and must not come to its end.
template <typename Body>
int StatusOfChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(3);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(SparseMemory, IsZeroAndCostsNothingUntilItIsTouched) {
  constexpr size_t kBytes = size_t{1} << 30;
  unsigned char resident = 0;
  std::byte* data = nullptr;
  {
    SparseMemory memory = SparseMemory::Reserve(kBytes);
    data = memory.data();
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(data[kBytes - 1], std::byte{0});
    data[kBytes / 2] = std::byte{7};
    ASSERT_EQ(mincore(data + kPage, kPage, &resident), 0);
    EXPECT_EQ(resident & 1, 0);
    const SparseMemory moved = std::move(memory);
    EXPECT_EQ(memory.data(), nullptr);
    EXPECT_EQ(moved.data()[kBytes / 2], std::byte{7});
  }
  EXPECT_EQ(mincore(data, kPage, &resident), -1) << "it is still there";
  EXPECT_EQ(SparseMemory::Reserve(~size_t{0} / 2).data(), nullptr);
}

TEST(WriteTracker, MemoryOfADriverIsNotOrdinary) {
  Memory memory(1);
  EXPECT_TRUE(IsOrdinaryMemory(memory.data));
  Memory shared(1, MAP_SHARED | MAP_ANONYMOUS);
  EXPECT_TRUE(IsOrdinaryMemory(shared.data + 100));
  memory.Set(0, 1);  // nobody waits for it
  const auto vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso == 0 || MakeKernelWriteTracker() == nullptr) GTEST_SKIP() << "no memory to try with";
  EXPECT_FALSE(IsOrdinaryMemory(reinterpret_cast<const void*>(vdso)));
}

TEST(FaultWriteTracker, FaultsThatAreNotOursGoToTheHandlerBefore) {
  const int status = StatusOfChild([] {
    static sigjmp_buf back;
    struct sigaction theirs {};
    theirs.sa_handler = [](int) { siglongjmp(back, 1); };
    sigaction(SIGSEGV, &theirs, nullptr);
    Tracked tracked;
    tracked.memory.Set(kPage, 1);
    if (sigsetjmp(back, 1) == 0) {
      tracked.read_only.Set(0, 1);
      _exit(3);
    }
    _exit(tracked.IsPage(tracked.Collect(), kPage) ? 0 : 4);
  });
  EXPECT_EQ(status, 0);
}

// A handler of the program that was set after ours, and calls ours for what it does not know.
struct sigaction ours_before_theirs;
int their_faults = 0;
void PassOnTheirFault(int signal, siginfo_t* info, void* context) {
  if (++their_faults > 100) _exit(5);
  ours_before_theirs.sa_sigaction(signal, info, context);
}

TEST(FaultWriteTracker, AHandlerThatPassesOnToOursGetsEachFaultOnce) {
  const int status = StatusOfChild([] {
    static sigjmp_buf back;
    struct sigaction first {};
    first.sa_handler = [](int) { siglongjmp(back, 1); };
    sigaction(SIGSEGV, &first, nullptr);
    Tracked tracked;
    struct sigaction theirs {};
    theirs.sa_sigaction = &PassOnTheirFault;
    theirs.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &theirs, &ours_before_theirs);
    tracked.Collect();  // ours is installed again, before theirs
    for (int i = 0; i < 3; ++i) {
      if (sigsetjmp(back, 1) == 0) {
        tracked.read_only.Set(0, 1);
        _exit(3);
      }
    }
    tracked.memory.Set(kPage, 1);  // ours: nobody else learns of it
    _exit(tracked.IsPage(tracked.Collect(), kPage) && their_faults == 3 ? 0 : 4);
  });
  EXPECT_EQ(status, 0);
}

TEST(FaultWriteTracker, WithoutAHandlerBeforeAFaultIsStillTheEnd) {
  const int status = StatusOfChild([] {
    signal(SIGSEGV, SIG_DFL);
    Tracked tracked;
    tracked.memory.Set(kPage, 1);
    tracked.read_only.Set(0, 1);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
}

}  // namespace
}  // namespace cairn
