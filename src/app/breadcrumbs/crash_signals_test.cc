// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/crash_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/testing/simulated_gpu.h"

namespace cairn {
namespace {

// The page that the application's own handler makes writable, as write tracking does.
void* guarded_page = nullptr;
uint32_t noted_during_repair = 0;
uint64_t noted_ns_during_repair = 0;
int errno_during_repair = 0;
const BlockHeader* noted_in = nullptr;

void Repair(int, siginfo_t*, void*) {
  errno_during_repair = errno;
  noted_during_repair = noted_in->crash_signal.load();
  noted_ns_during_repair = noted_in->crash_ns.load();
  mprotect(guarded_page, kPageBytes, PROT_READ | PROT_WRITE);
}

// One process, in this order: the handlers are installed once, over those of the application.
class CrashSignalsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    struct sigaction action {};
    action.sa_sigaction = Repair;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
  }
  void SetUp() override {
    Result<std::unique_ptr<BlockWriter>> block = BlockWriter::Create(kMinBlockBytes);
    ASSERT_TRUE(block.ok());
    block_ = std::move(*block);
    CairnContextDesc desc{};
    desc.frame_history_length = 2;
    desc.max_command_lists = 4;
    Result<Context*> context =
        Context::Create(desc, block_.get(), std::make_unique<SimulatedBackend>(&live_lists_));
    ASSERT_TRUE(context.ok());
    context_ = *context;
    noted_in = block_->header();
  }
  void TearDown() override { Context::Destroy(context_); }

  // Runs `body` in a forked child; the wait status.
  template <typename Body>
  static int InChild(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // A child that waits for a thread of its parent does not wait for ever.
      body();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  int live_lists_ = 0;
  std::unique_ptr<BlockWriter> block_;
  Context* context_ = nullptr;
};

TEST_F(CrashSignalsTest, AFaultThatTheApplicationRepairsIsNoCrash) {
  guarded_page = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(guarded_page, MAP_FAILED);
  *static_cast<volatile int*>(guarded_page) = 1;
  EXPECT_EQ(noted_during_repair, static_cast<uint32_t>(SIGSEGV));
  EXPECT_EQ(block_->header()->crash_signal.load(), 0u);
  munmap(guarded_page, kPageBytes);
}

TEST_F(CrashSignalsTest, TheWordsOfTheFaultStayWhenTheGpuGoesOn) {
  CairnCommandListDesc desc{};
  SimulatedList native;
  desc.native = &native;
  CommandList* list = nullptr;
  ASSERT_TRUE(context_->BeginCommandList(desc, &list).ok());
  const ContextRecord& record = block_->contexts()[context_->index()];
  ASSERT_NE(record.crash_words_offset, 0u);
  auto* const now = reinterpret_cast<ProgressWords*>(block_->data() + record.progress_offset);
  const auto* const kept =
      reinterpret_cast<const ProgressWords*>(block_->data() + record.crash_words_offset);
  now->reached = 7;
  now->passed = 6;
  // The application's handler repairs; meanwhile the note stands.
  guarded_page = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(guarded_page, MAP_FAILED);
  *static_cast<volatile int*>(guarded_page) = 1;
  EXPECT_NE(noted_ns_during_repair, 0u);
  EXPECT_EQ(record.crash_words_ns.load(), noted_ns_during_repair);
  EXPECT_EQ(block_->header()->crash_ns.load(), 0u);
  now->reached = 9;
  EXPECT_EQ(kept->reached.load(), 7u);
  EXPECT_EQ(kept->passed.load(), 6u);
  munmap(guarded_page, kPageBytes);
}

// A guard of the application's leaves its handler by a jump: the fault is noted until its thread works on.
TEST_F(CrashSignalsTest, AThreadThatSubmitsAgainLivesOn) {
  BlockHeader& header = *block_->header();
  header.crash_signal = SIGSEGV;
  header.crash_ns = 5;
  header.crash_thread = static_cast<uint32_t>(getpid()) + 1;
  int queue = 0;
  ASSERT_TRUE(context_->NotifySubmit(&queue, nullptr, 0).ok());
  EXPECT_EQ(header.crash_signal.load(), static_cast<uint32_t>(SIGSEGV)) << "another thread's";
  header.crash_thread = static_cast<uint32_t>(gettid());
  ASSERT_TRUE(context_->NotifySubmit(&queue, nullptr, 0).ok());
  EXPECT_EQ(header.crash_signal.load(), 0u);
  EXPECT_EQ(header.crash_ns.load(), 0u);
}

// A thread's crash reporter still runs while another thread has a page repaired.
TEST_F(CrashSignalsTest, ARepairedFaultLeavesTheNoteOfAnotherThread) {
  BlockHeader& header = *block_->header();
  const uint32_t other = static_cast<uint32_t>(getpid()) + 1;
  header.crash_signal = SIGABRT;
  header.crash_thread = other;
  header.crash_address = 0x10;
  guarded_page = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(guarded_page, MAP_FAILED);
  *static_cast<volatile int*>(guarded_page) = 1;
  EXPECT_EQ(noted_during_repair, static_cast<uint32_t>(SIGSEGV));
  EXPECT_EQ(header.crash_signal.load(), static_cast<uint32_t>(SIGABRT));
  EXPECT_EQ(header.crash_thread.load(), other);
  EXPECT_EQ(header.crash_address, 0x10u);
  EXPECT_EQ(header.crash_ns.load(), noted_ns_during_repair) << "of the words that were copied last";
  munmap(guarded_page, kPageBytes);
}

// A program of Windows under Wine: its fault is forgotten, then it exits with the code of the exception.
TEST_F(CrashSignalsTest, AnExitWithAnExceptionIsNotedWithTheAddressOfItsFault) {
  const BlockHeader& header = *block_->header();
  guarded_page = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(guarded_page, MAP_FAILED);
  *static_cast<volatile int*>(guarded_page) = 1;
  ASSERT_EQ(header.crash_signal.load(), 0u);
  NoteExit(5);
  EXPECT_EQ(header.crash_signal.load(), 0u);
  EXPECT_EQ(header.exit_code.load(), 0u) << "of any program";
  NoteExit(0xe0001234);
  EXPECT_EQ(header.crash_signal.load(), 0xe0001234u);
  EXPECT_EQ(header.crash_address, 0u) << "no exception of memory";
  NoteExit(0xc0000005);
  EXPECT_EQ(header.crash_signal.load(), 0xc0000005u);
  EXPECT_EQ(header.crash_address, reinterpret_cast<uintptr_t>(guarded_page));
  EXPECT_EQ(header.exit_code.load(), kExitCodeKnown | 0xc0000005);
  EXPECT_EQ(header.crash_thread.load(), static_cast<uint32_t>(gettid()));
  EXPECT_NE(header.crash_ns.load(), 0u);
  munmap(guarded_page, kPageBytes);
}

TEST_F(CrashSignalsTest, TheExitOfAForkedChildIsNotItsParents) {
  const int status = InChild([] { NoteExit(0xc0000005); });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(block_->header()->crash_signal.load(), 0u);
}

TEST_F(CrashSignalsTest, ErrnoIsTheProgramsOwn) {
  guarded_page = mmap(nullptr, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(guarded_page, MAP_FAILED);
  errno = 123;
  *static_cast<volatile int*>(guarded_page) = 1;
  EXPECT_EQ(errno, 123);
  EXPECT_EQ(errno_during_repair, 123);
  munmap(guarded_page, kPageBytes);
}

TEST_F(CrashSignalsTest, TheCrashOfAForkedChildIsNotItsParents) {
  const int status = InChild([] { std::abort(); });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_EQ(block_->header()->crash_signal.load(), 0u);
}

TEST_F(CrashSignalsTest, AForkedChildLeavesItsParentsContextAlone) {
  EXPECT_EQ(InChild([this] { Context::Destroy(context_); }), 0);
  EXPECT_EQ(block_->contexts()[context_->index()].state.load(), 1u);
}

TEST_F(CrashSignalsTest, AForkedChildGetsABlockOfItsOwn) {
  Result<BlockWriter*> ours = BlockWriter::OfThisProcess(kMinBlockBytes);
  ASSERT_TRUE(ours.ok());
  const int status = InChild([parents = *ours] {
    Result<BlockWriter*> own = BlockWriter::OfThisProcess(kMinBlockBytes);
    const bool good = own.ok() && *own != parents && (*own)->BelongsToThisProcess();
    _exit(good ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*BlockWriter::OfThisProcess(kMinBlockBytes), *ours);
}

}  // namespace
}  // namespace cairn
