// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/text.h"
#include "cli/play_process.h"
#include "cli/verb.h"
#include "format/trace/trace_reader.h"
#include "os/shared_memory.h"

namespace cairn::cli {

void PlayTelling::AddTo(PlayerOptions* options) {
  options->on_call = [this](uint64_t number) { call_.store(number, std::memory_order_relaxed); };
  options->on_unfinished = [this](uint64_t first, uint64_t last) {
    first_unfinished_.store(first, std::memory_order_relaxed);
    last_unfinished_.store(last, std::memory_order_relaxed);
  };
}

namespace {

constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

// ---- In the child -----------------------------------------------------------------------------------

PlayTelling* g_telling = nullptr;
pid_t g_player_thread = 0;

void OnFatalSignal(int number, siginfo_t* info, void*) {
  const bool here = syscall(SYS_gettid) == g_player_thread;
  g_telling->Died(here ? PlayTelling::Thread::kPlayer : PlayTelling::Thread::kOther);
  // The instruction faults again when this returns, and nobody is asked then. What was sent is sent again.
  if (info->si_code <= 0) raise(number);
}

[[noreturn]] void RunChild(pid_t parent, const std::function<int(PlayTelling&)>& body,
                           PlayTelling* telling, const sigset_t& mask) {
  // Nobody would end it if its parent was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitFailed);
  // Who signals a group (a terminal, a shell, `timeout`) reaches the parent, which passes it on: once. What is
  // printed is for the terminal all the same.
  setpgid(0, 0);
  signal(SIGTTOU, SIG_IGN);
  g_telling = telling;
  g_player_thread = static_cast<pid_t>(syscall(SYS_gettid));
  struct sigaction action = {};
  action.sa_sigaction = OnFatalSignal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
  for (const int number : kFatal) sigaction(number, &action, nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  int exit_code = kExitFailed;
  try {
    exit_code = body(*telling);
  } catch (const std::exception& error) {
    PrintError("", fmt::format("the playback failed: {}", error.what()));
  }
  std::fflush(nullptr);
  telling->Ended();
  _exit(exit_code);
}

// ---- In the parent ----------------------------------------------------------------------------------

volatile sig_atomic_t g_child = 0;

void PassOn(int number) {
  const auto child = static_cast<pid_t>(g_child);
  if (child <= 0) return;
  if (number != SIGTSTP) {
    kill(child, number);
    return;
  }
  // ^Z, and what comes after it.
  kill(child, SIGSTOP);
  raise(SIGSTOP);
  kill(child, SIGCONT);
}

// While it lives, this process's own ending signals are for the child.
class SignalsForChild {
 public:
  // Blocks them until the child is known.
  SignalsForChild() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : kPassedOn) sigaddset(&blocked, number);
    sigprocmask(SIG_BLOCK, &blocked, &mask_);
    // Whose SIGCHLD is ignored is not told how his children end.
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &child_before_);
  }
  ~SignalsForChild() {
    for (size_t i = 0; watches_ && i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], &before_[i], nullptr);
    }
    sigaction(SIGCHLD, &child_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    g_child = 0;
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;

  void Watch(pid_t child) {
    g_child = child;
    watches_ = true;
    struct sigaction action = {};
    action.sa_handler = PassOn;
    action.sa_flags = static_cast<int>(SA_RESTART);
    for (size_t i = 0; i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], nullptr, &before_[i]);
      // Those that somebody ignores (nohup) stay ignored.
      if (before_[i].sa_handler != SIG_IGN) sigaction(kPassedOn[i], &action, nullptr);
    }
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  const sigset_t& mask() const { return mask_; }

 private:
  sigset_t mask_ = {};
  bool watches_ = false;
  std::array<struct sigaction, kPassedOn.size()> before_ = {};
  struct sigaction child_before_ = {};
};

bool EndsOnPurpose(int number) {
  return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT ||
         number == SIGPIPE;
}

[[noreturn]] void DieOf(int number) {
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(number, &usual, nullptr);
  // One core is enough.
  prctl(PR_SET_DUMPABLE, 0);
  raise(number);
  _exit(128 + number);
}

// "call 1,234, ID3D12Device::CreateFence"
std::string CallInWords(const std::string& path, uint64_t number) {
  std::string words = fmt::format("call {}", GroupedDigits(number));
  Result<TraceReader> trace = TraceReader::Open(path);
  if (!trace.ok()) return words;
  TraceCursor cursor(*trace);
  Record record;
  if (!cursor.SeekNumber(number).ok() || !cursor.Next(&record) || record.number != number) {
    return words;
  }
  return fmt::format("{}, {}", words, trace->MethodName(record));
}

std::string DeathInWords(const std::string& path, int status, const PlayTelling& telling) {
  std::string text;
  if (WIFSIGNALED(status)) {
    const char* const name = sigabbrev_np(WTERMSIG(status));
    text = fmt::format("the playback died of {}", name == nullptr
                                                      ? fmt::format("signal {}", WTERMSIG(status))
                                                      : fmt::format("SIG{}", name));
  } else {
    text = fmt::format("the driver ended the playback, with exit code {}", WEXITSTATUS(status));
  }
  if (telling.call() == 0) return text + " before the first call";
  const std::string call = CallInWords(path, telling.call());
  switch (telling.thread()) {
    case PlayTelling::Thread::kPlayer:
      text += fmt::format(" at {}, in the thread that makes the calls", call);
      break;
    case PlayTelling::Thread::kOther:
      text += fmt::format(" in a thread of the driver, when the playback was at {}", call);
      break;
    default: text += " at " + call; break;
  }
  const uint64_t first = telling.first_unfinished();
  const uint64_t last = telling.last_unfinished();
  if (first == 0) return text + "; all that was submitted before had ended";
  text += first == last
              ? fmt::format("; the GPU may have been at work on the submission of call {}",
                            GroupedDigits(first))
              : fmt::format(
                    "; the GPU may have been at work on the submissions of calls "
                    "{} to {}",
                    GroupedDigits(first), GroupedDigits(last));
  return text + fmt::format("; cairn bisect {} finds the work that does it", ShellQuoted(path));
}

}  // namespace

int PlayInChild(std::string_view verb, const std::string& path,
                const std::function<int(PlayTelling&)>& body) {
  Result<SharedMemory> memory = SharedMemory::Create("cairn-play", sizeof(PlayTelling));
  if (!memory.ok()) {
    PrintError(verb, memory.status().message());
    return kExitFailed;
  }
  auto* const telling = new (memory->data()) PlayTelling;
  // What is buffered would be written twice.
  std::fflush(nullptr);
  int status = 0;
  {
    SignalsForChild signals;
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) RunChild(parent, body, telling, signals.mask());
    if (child < 0) {
      PrintError(
          verb, fmt::format("a process for the playback cannot be made: {}", std::strerror(errno)));
      return kExitFailed;
    }
    signals.Watch(child);
    while (waitpid(child, &status, 0) < 0) {
      if (errno == EINTR) continue;
      PrintError(verb, fmt::format("how the playback ended cannot be found out: {}",
                                   std::strerror(errno)));
      return kExitFailed;
    }
  }
  if (WIFEXITED(status) && telling->ended()) return WEXITSTATUS(status);
  if (WIFSIGNALED(status) && EndsOnPurpose(WTERMSIG(status))) DieOf(WTERMSIG(status));
  // Where the child's progress may stand.
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\x1b[K", stderr);
  PrintError(verb, path + ": " + DeathInWords(path, status, *telling));
  return kExitPlaybackFailed;
}

}  // namespace cairn::cli
