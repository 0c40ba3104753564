// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "base/text.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/shared_memory.h"
#include "reader/bisect/probe_process.h"
#include "reader/replay/wait_time.h"

namespace cairn {
namespace {

constexpr uint64_t kLookNs = 200'000'000;

void CloseOutput() {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
}

[[noreturn]] void RunChild(pid_t parent, const std::function<void(ProbeTelling&)>& body,
                           ProbeTelling* telling) {
  // Nobody would kill it if it hangs after its parent was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // ^C is for the parent, which then ends the child in order.
  setpgid(0, 0);
  // Its death is expected: nobody wants the memory of each probe on disk.
  prctl(PR_SET_DUMPABLE, 0);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  CloseOutput();
  try {
    body(*telling);
  } catch (const std::exception& error) {
    telling->End(ProbeEnd::kError, error.what());
  }
  _exit(0);
}

uint64_t TimeLeft(uint64_t since_ns, uint64_t timeout_ns) {
  const uint64_t passed = MonotonicNs() - since_ns;
  return passed >= timeout_ns ? 0 : timeout_ns - passed;
}

// True if the process has ended before the time was up.
bool WaitForEnd(const ProcessHandle& child, uint64_t timeout_ns) {
  const uint64_t start_ns = MonotonicNs();
  for (;;) {
    pollfd ended = {static_cast<int>(child.handle.get()), POLLIN, 0};
    const uint64_t left_ns = TimeLeft(start_ns, timeout_ns);
    if (poll(&ended, 1, static_cast<int>(std::min(left_ns, kLookNs) / 1'000'000)) > 0) return true;
    if (left_ns == 0) return false;
  }
}

enum class Watched { kEnded, kStalled, kInterrupted };

Watched Watch(const ProcessHandle& child, const ProbeTelling& telling, const ProbeLimits& limits) {
  const uint64_t timeout_ns = limits.stall_timeout_ns;
  // Often enough that the time between two looks counts in full.
  const uint64_t look_ns =
      timeout_ns == 0 ? kLookNs : std::clamp<uint64_t>(timeout_ns / 8, 1'000'000, kLookNs);
  uint64_t steps = telling.steps();
  WaitTime still(MonotonicNs(), timeout_ns);
  for (;;) {
    pollfd ended = {static_cast<int>(child.handle.get()), POLLIN, 0};
    poll(&ended, 1, static_cast<int>(look_ns / 1'000'000));
    // Asked also when it has ended: plays may be shorter than the time between two looks.
    if (limits.keep_on && !limits.keep_on()) return Watched::kInterrupted;
    if (ended.revents != 0) return Watched::kEnded;
    if (const uint64_t now = telling.steps(); now != steps) {
      steps = now;
      still = WaitTime(MonotonicNs(), timeout_ns);
    }
    // While this process does not run, mostly the child does not, either.
    still.Look(MonotonicNs());
    if (timeout_ns != 0 && still.seen_ns() >= timeout_ns) return Watched::kStalled;
  }
}

// What the child's last word and its end say together.
void Judge(Watched watched, const ProcessEnd& end, const ProbeTelling& telling, ProbeRun* run) {
  run->call = telling.call();
  run->message = telling.message();
  run->devices = telling.devices();
  run->device = telling.device();
  run->left_out = telling.left_out();
  run->skipped = telling.skipped();
  run->slowest_call = telling.slowest_call();
  run->slowest_ns = telling.slowest_ns();
  run->interrupted = watched == Watched::kInterrupted;
  if (watched == Watched::kStalled) {
    run->end = ProbeEnd::kHang;
    return;
  }
  run->end = telling.end();
  // Whatever it said before: a driver's thread that dies at the end is a death, too.
  if (end.kind == EndKind::kSignalled && !run->interrupted) {
    run->end = ProbeEnd::kDied;
    run->signal = end.value;
  } else if (end.kind == EndKind::kUnknown && !run->interrupted) {
    run->end = ProbeEnd::kUnclear;
    run->message = "how the playback ended cannot be found out";
  } else if (run->end == ProbeEnd::kNone) {
    run->end = ProbeEnd::kDied;
  }
}

}  // namespace

void ProbeText::Append(std::string_view text, std::string_view between) {
  const size_t used = bytes_.load(std::memory_order_relaxed);
  if (used == 0) between = "";
  if (kMaxBytes - used <= between.size()) return;
  const std::string_view cut = Utf8Prefix(text, kMaxBytes - used - between.size());
  std::memcpy(text_ + used, between.data(), between.size());
  std::memcpy(text_ + used + between.size(), cut.data(), cut.size());
  bytes_.store(static_cast<uint32_t>(used + between.size() + cut.size()),
               std::memory_order_release);
}

std::string ProbeText::Get() const {
  const size_t bytes = std::min<size_t>(bytes_.load(std::memory_order_acquire), kMaxBytes);
  return VisibleText(std::string_view(text_, bytes));
}

void ProbeTelling::End(ProbeEnd end, std::string_view message) {
  message_.Set(message);
  end_.store(static_cast<uint32_t>(end), std::memory_order_release);
}

void ProbeTelling::On(const DeviceFacts& device) {
  name_.Set(device.name);
  driver_.Set(device.driver);
  library_.Set(device.library);
  library_paths_.Set(device.library_paths);
  devices_.fetch_add(1, std::memory_order_release);
}

ProbeEnd ProbeTelling::end() const {
  const uint32_t end = end_.load(std::memory_order_acquire);
  return end > static_cast<uint32_t>(ProbeEnd::kUnclear) ? ProbeEnd::kNone
                                                         : static_cast<ProbeEnd>(end);
}

std::string ProbeTelling::message() const {
  if (end() == ProbeEnd::kNone) return "";
  return message_.Get();
}

namespace {

// Whose SIGCHLD is ignored (a program may be started so) is not told how his children end.
class ChildEndsAreTold {
 public:
  ChildEndsAreTold() {
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) sigaction(SIGCHLD, &usual, nullptr);
  }
  ~ChildEndsAreTold() { sigaction(SIGCHLD, &before_, nullptr); }
  ChildEndsAreTold(const ChildEndsAreTold&) = delete;
  ChildEndsAreTold& operator=(const ChildEndsAreTold&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace

Result<ProbeRun> RunProbe(const ProbeLimits& limits,
                          const std::function<void(ProbeTelling&)>& body) {
  const ChildEndsAreTold told;
  Result<SharedMemory> memory = SharedMemory::Create("cairn-probe", sizeof(ProbeTelling));
  if (!memory.ok()) return memory.status();
  auto* telling = new (memory->data()) ProbeTelling;
  // What is buffered would be written twice.
  std::fflush(nullptr);
  const uint64_t start_ns = MonotonicNs();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return StatusFromErrno(errno, "a process for the probe cannot be made");
  if (pid == 0) RunChild(parent, body, telling);

  Result<ProcessHandle> child = OpenProcess(pid);
  if (!child.ok()) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return child.status();
  }
  const Watched watched = Watch(*child, *telling, limits);
  if (watched != Watched::kEnded) {
    CAIRN_RETURN_IF_ERROR(SendSignal(*child, SIGKILL));
    if (!WaitForEnd(*child, limits.kill_timeout_ns)) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("probe process {} cannot be killed: it is stuck in the kernel's "
                                "driver; the machine may need a restart",
                                pid));
    }
  }
  ProbeRun run;
  Judge(watched, CollectEnd(*child), *telling, &run);
  run.duration_ns = MonotonicNs() - start_ns;
  return run;
}

}  // namespace cairn
