// SPDX-License-Identifier: Apache-2.0
#include "os/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/signal_name.h"
#include "os/linux/file_descriptor.h"
#include "os/running_processes.h"
#include "os/this_process.h"

extern char** environ;

namespace cairn {
namespace {

// "7:4096:1234": descriptor and size of the memory, and whose child it is for.
constexpr char kMemoryVariable[] = "CAIRN_CHILD_MEMORY";
constexpr char kOwnExecutable[] = "/proc/self/exe";

constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
constexpr std::array kFatal = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};

// If SIGCHLD is ignored (a program may be started so), the kernel does not report how children end.
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

// A copy that the child can keep: the first three are its input and output.
FileDescriptor BehindStandard(int fd) {
  return FileDescriptor(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

// Empty, for this user alone.
FileDescriptor EmptyFile(const std::filesystem::path& path) {
  (void)unlink(path.c_str());  // of a child before; open says why it could not be
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file.valid() ? BehindStandard(file.get()) : FileDescriptor();
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// This process's, with `settings` in it.
std::vector<std::string> EnvironmentWith(const std::vector<std::string>& settings) {
  std::vector<std::string> environment = settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::strcspn(*entry, "=") + 1);
    const bool is_set =
        std::any_of(settings.begin(), settings.end(),
                    [name](const std::string& setting) { return setting.starts_with(name); });
    if (!is_set) environment.emplace_back(*entry);
  }
  return environment;
}

// The data that the new process needs between fork and exec, where it cannot allocate.
struct Launch {
  pid_t parent;
  bool silent;
  const sigset_t* mask;
  int memory;  // -1: none
  int output;  // -1: this process's
  int errors;
  int error_pipe;
  char** arguments;
  char** environment;
};

void CloseOutput() {
  const int nowhere = open("/dev/null", O_RDWR);
  if (nowhere < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
  if (nowhere > STDERR_FILENO) close(nowhere);
}

[[noreturn]] void BecomeChild(const Launch& launch) {
  // Without this the child would survive a killed parent. exec keeps the setting.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(1);
  // A signal to the group (from a terminal, a shell, `timeout`) reaches the parent alone.
  setpgid(0, 0);
  if (launch.silent) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
    for (const int number : kFatal) signal(number, SIG_DFL);
    CloseOutput();
  } else {
    // The child may print to the terminal all the same.
    signal(SIGTTOU, SIG_IGN);
  }
  if (launch.output >= 0) {
    const int nowhere = open("/dev/null", O_RDONLY);
    if (nowhere >= 0) dup2(nowhere, STDIN_FILENO);
    dup2(launch.output, STDOUT_FILENO);
    dup2(launch.errors, STDERR_FILENO);
  }
  RestoreHandleLimit();
  if (launch.memory >= 0) fcntl(launch.memory, F_SETFD, 0);
  sigprocmask(SIG_SETMASK, launch.mask, nullptr);
  execve(kOwnExecutable, launch.arguments, launch.environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(launch.error_pipe, &error, sizeof(error));
  _exit(127);
}

// 0, or why the program was not executed.
int ErrorOfExec(const FileDescriptor& error_pipe) {
  int error = 0;
  ssize_t received = 0;
  do {
    received = read(error_pipe.get(), &error, sizeof(error));
  } while (received < 0 && errno == EINTR);
  return received == sizeof(error) ? error : 0;
}

// The child's handle, or why there is none.
Result<ProcessHandle> StartProcess(const ChildRequest& request, const sigset_t& mask) {
  const std::string failed = fmt::format("a process for {} cannot be made", request.purpose);
  FileDescriptor memory;
  std::vector<std::string> settings = request.environment;
  if (request.memory != nullptr) {
    memory = BehindStandard(static_cast<int>(request.memory->handle()));
    if (!memory.valid()) return StatusFromErrno(errno, failed);
    settings.push_back(fmt::format("{}={}:{}:{}", kMemoryVariable, memory.get(),
                                   request.memory->size_bytes(), getpid()));
  }
  FileDescriptor output, errors;
  if (!request.output.empty()) {
    output = EmptyFile(request.output);
    if (!output.valid()) return StatusFromErrno(errno, failed);
    errors = EmptyFile(request.errors);
    if (!errors.valid()) return StatusFromErrno(errno, failed);
  }
  std::vector<std::string> words = {OwnProgramPath()};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  const std::vector<std::string> environment = EnvironmentWith(settings);
  const std::vector<char*> word_pointers = Pointers(words);
  const std::vector<char*> environment_pointers = Pointers(environment);

  // Closes by itself when exec succeeds, and carries its error otherwise.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return StatusFromErrno(errno, failed);
  const FileDescriptor error_reader(ends[0]);
  FileDescriptor near_writer(ends[1]);
  FileDescriptor error_writer = BehindStandard(near_writer.get());
  near_writer.Close();
  if (!error_writer.valid()) return StatusFromErrno(errno, failed);

  // Flush, so that the child's output comes behind this process's.
  std::fflush(nullptr);
  const Launch launch = {getpid(),
                         request.silent,
                         &mask,
                         memory.get(),
                         output.get(),
                         errors.get(),
                         error_writer.get(),
                         const_cast<char**>(word_pointers.data()),
                         const_cast<char**>(environment_pointers.data())};
  const pid_t pid = fork();
  if (pid < 0) return StatusFromErrno(errno, failed);
  if (pid == 0) BecomeChild(launch);
  error_writer.Close();
  Result<ProcessHandle> process = OpenProcess(pid);
  const int error = ErrorOfExec(error_reader);
  if (error == 0 && process.ok()) return process;
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return error != 0 ? StatusFromErrno(error, failed) : process.status();
}

volatile sig_atomic_t g_foreground = 0;

void PassOn(int number) {
  const auto child = static_cast<pid_t>(g_foreground);
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
  }
  ~SignalsForChild() {
    for (size_t i = 0; watches_ && i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], &before_[i], nullptr);
    }
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    g_foreground = 0;
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;

  void Watch(pid_t child) {
    g_foreground = child;
    watches_ = true;
    struct sigaction action = {};
    action.sa_handler = PassOn;
    action.sa_flags = static_cast<int>(SA_RESTART);
    for (size_t i = 0; i < kPassedOn.size(); ++i) {
      sigaction(kPassedOn[i], nullptr, &before_[i]);
      // Ignored signals (nohup) stay ignored.
      if (before_[i].sa_handler != SIG_IGN) sigaction(kPassedOn[i], &action, nullptr);
    }
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  const sigset_t& mask() const { return mask_; }

 private:
  sigset_t mask_ = {};
  bool watches_ = false;
  std::array<struct sigaction, kPassedOn.size()> before_ = {};
};

// "1:2:3"
bool ParseNumbers(std::string_view text, std::span<uint64_t> numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (uint64_t& number : numbers) {
    if (&number != numbers.data() && (at == end || *at++ != ':')) return false;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return false;
    at = rest;
  }
  return at == end;
}

std::atomic<FaultThread>* g_told = nullptr;
pid_t g_telling_thread = 0;

void OnFatalSignal(int number, siginfo_t* info, void*) {
  const bool here = syscall(SYS_gettid) == g_telling_thread;
  g_told->store(here ? FaultThread::kCaller : FaultThread::kOther, std::memory_order_relaxed);
  // The instruction faults again when this returns, and the default action applies. Signals that
  // were sent are sent again.
  if (info->si_code <= 0) raise(number);
}

}  // namespace

struct Child::State {
  ChildEndsAreTold told;
  ProcessHandle process;
  bool collected = false;

  ~State() {
    if (collected || !process.handle.valid()) return;
    (void)SendSignal(process, SIGKILL);
    (void)CollectEnd(process);
  }
};

Result<Child> Child::Start(const ChildRequest& request) {
  auto state = std::make_unique<State>();
  sigset_t none;
  sigemptyset(&none);
  Result<ProcessHandle> process = StartProcess(request, none);
  if (!process.ok()) return process.status();
  state->process = std::move(*process);
  return Child(std::move(state));
}

Child::Child(std::unique_ptr<State> state) : state_(std::move(state)) {}
Child::Child(Child&& other) noexcept = default;
Child& Child::operator=(Child&& other) noexcept = default;
Child::~Child() = default;

bool Child::WaitForEnd(uint64_t timeout_ns) const {
  constexpr uint64_t kNsPerMs = 1'000'000;
  constexpr uint64_t kMostMs = 1'000'000'000;
  pollfd ended = {DescriptorOf(state_->process.handle), POLLIN, 0};
  return poll(&ended, 1, static_cast<int>(std::min(timeout_ns / kNsPerMs, kMostMs))) > 0;
}

Status Child::Kill() const {
  return SendSignal(state_->process, SIGKILL);
}

namespace {

// The group has the number of the child, which no other process gets before End().
Status SignalGroup(pid_t leader, int number) {
  if (kill(-leader, number) == 0 || errno == ESRCH) return {};
  return StatusFromErrno(errno, "the processes of a child cannot be ended");
}

// Returns all descendants of a process, in whatever group.
std::vector<pid_t> DescendantsOf(pid_t ancestor) {
  std::vector<std::pair<pid_t, pid_t>> parents;
  for (const ProcessId id : RunningProcesses()) {
    parents.emplace_back(static_cast<pid_t>(id), static_cast<pid_t>(ParentOf(id)));
  }
  std::vector<pid_t> found = {ancestor};
  for (size_t i = 0; i < found.size(); ++i) {
    for (const auto& [id, parent] : parents) {
      if (parent == found[i]) found.push_back(id);
    }
  }
  found.erase(found.begin());
  return found;
}

// Returns true if a process that is reported as a zombie has another thread, which has not ended.
bool HasThreads(pid_t id) {
  std::error_code gone;
  std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", id), gone);
  size_t threads = 0;
  for (; !gone && task != std::filesystem::directory_iterator(); task.increment(gone)) ++threads;
  return threads > 1;
}

bool LivesInGroup(pid_t id, pid_t group) {
  const FileDescriptor file(open(fmt::format("/proc/{}/stat", id).c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024] = {};
  if (!file.valid() || read(file.get(), text, sizeof(text) - 1) <= 0) return false;
  // Parse behind the name, which may hold anything: state, parent, group.
  const char* const name_end = std::strrchr(text, ')');
  char state = 0;
  int parent = 0;
  int its_group = 0;
  if (name_end == nullptr ||
      std::sscanf(name_end + 1, " %c %d %d", &state, &parent, &its_group) != 3) {
    return false;
  }
  return its_group == group && ((state != 'Z' && state != 'X') || HasThreads(id));
}

}  // namespace

Status Child::AskAllToEnd() const {
  return SignalGroup(static_cast<pid_t>(state_->process.pid), SIGTERM);
}

Status Child::KillAll() const {
  const auto leader = static_cast<pid_t>(state_->process.pid);
  // Find the descendants before their parents die: then their ancestry is lost.
  const std::vector<pid_t> descendants = DescendantsOf(leader);
  const Status status = SignalGroup(leader, SIGKILL);
  for (const pid_t descendant : descendants) kill(descendant, SIGKILL);
  return status;
}

bool Child::GroupLives() const {
  const auto leader = static_cast<pid_t>(state_->process.pid);
  const std::vector<ProcessId> running = RunningProcesses();
  return std::any_of(running.begin(), running.end(), [leader](ProcessId id) {
    return id != leader && LivesInGroup(static_cast<pid_t>(id), leader);
  });
}

ProcessEnd Child::End() {
  state_->collected = true;
  return CollectEnd(state_->process);
}

uint64_t Child::number() const {
  return static_cast<uint64_t>(state_->process.pid);
}

Result<ProcessEnd> RunInForeground(const ChildRequest& request) {
  const ChildEndsAreTold told;
  SignalsForChild signals;
  Result<ProcessHandle> process = StartProcess(request, signals.mask());
  if (!process.ok()) return process.status();
  signals.Watch(process->pid);
  siginfo_t ended = {};
  while (waitid(P_PID, static_cast<id_t>(process->pid), &ended, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  return CollectEnd(*process);
}

std::string CauseOfDeath(int value) {
  const std::string_view name = SignalName(value);
  return name.empty() ? fmt::format("signal {}", value) : std::string(name);
}

bool WasKilled(const ProcessEnd& end) {
  return end.kind == EndKind::kSignalled && end.value == SIGKILL;
}

bool WasAskedToEnd(const ProcessEnd& end) {
  constexpr std::array kAsking = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  return end.kind == EndKind::kSignalled &&
         std::find(kAsking.begin(), kAsking.end(), end.value) != kAsking.end();
}

void EndAs(const ProcessEnd& end) {
  if (end.kind != EndKind::kSignalled) _exit(end.value);
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(end.value, &usual, nullptr);
  LeaveNoDump();
  raise(end.value);
  _exit(128 + end.value);
}

bool WasStartedAsChild() {
  return std::getenv(kMemoryVariable) != nullptr;
}

Result<SharedMemory> TakeMemoryOfParent() {
  const char* const variable = std::getenv(kMemoryVariable);
  if (variable == nullptr) return Status(StatusCode::kNotFound, "no other process has started it");
  const std::string text = variable;
  // The children of this process get no memory.
  unsetenv(kMemoryVariable);
  std::array<uint64_t, 3> numbers = {};
  if (!ParseNumbers(text, numbers) || numbers[0] > INT_MAX) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} is '{}', not three numbers", kMemoryVariable, text));
  }
  // exec forgets that of a program with rights of its own.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (static_cast<uint64_t>(getppid()) != numbers[2]) {
    return Status(StatusCode::kNotFound, "the process that started it is gone");
  }
  // Set the name that tools list, instead of that of the executed link "exe".
  prctl(PR_SET_NAME, program_invocation_short_name);
  return SharedMemory::MapForWriting(SystemHandle(static_cast<RawHandle>(numbers[0])), numbers[1]);
}

void TakeUsualSignals() {
  for (const int number : {SIGPIPE, SIGTTOU}) signal(number, SIG_DFL);
}

void LeaveNoDump() {
  // If the system passes dumps to a program, the limit alone does not prevent them.
  prctl(PR_SET_DUMPABLE, 0);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

void TellFaults(std::atomic<FaultThread>* told) {
  g_told = told;
  g_telling_thread = static_cast<pid_t>(syscall(SYS_gettid));
  struct sigaction action = {};
  action.sa_sigaction = OnFatalSignal;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
  for (const int number : kFatal) sigaction(number, &action, nullptr);
}

}  // namespace cairn
