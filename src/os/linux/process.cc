// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/program_name.h"
#include "base/shell_words.h"
#include "os/linux/file_descriptor.h"
#include "os/linux/user_requests.h"

extern char** environ;

namespace cairn {
namespace {

// waitid's type for process descriptors; older C libraries lack the name.
constexpr auto kWaitByPidfd = static_cast<idtype_t>(3);

// PIDFD_GET_INFO, Linux 6.13; the exit status since 6.15. Headers of the distributions we build on
// do not have it yet, the kernels that users run may.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t ids[11];
  int32_t exit_code;  // as from waitpid
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kPidfdInfoExit = uint64_t{1} << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

constexpr char kPreloadVariable[] = "LD_PRELOAD";
constexpr char kPreloadSeparators[] = " :";

// The limit of this process before RaiseHandleLimit, for the programs that it starts.
std::optional<rlimit>& LimitBefore() {
  static std::optional<rlimit> before;
  return before;
}

// Returns the status as waitpid gives it. Returns nullopt before the parent has taken it, and on
// kernels that do not keep it.
std::optional<int> StatusThatTheParentTook(int pidfd) {
  PidfdInfo details{};
  details.mask = kPidfdInfoExit;
  if (ioctl(pidfd, kPidfdGetInfo, &details) != 0 || (details.mask & kPidfdInfoExit) == 0) return {};
  return details.exit_code;
}

FileDescriptor OpenPidfd(ProcessId pid) {
  if (pid > std::numeric_limits<pid_t>::max()) {
    errno = ESRCH;
    return FileDescriptor();
  }
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
}

ProcessEnd FromWaitStatus(int status) {
  if (WIFSIGNALED(status)) return {EndKind::kSignalled, WTERMSIG(status)};
  return {EndKind::kExited, WEXITSTATUS(status)};
}

// The beginning of a file of /proc; "" if the process is gone. Not a stream: those throw when the
// process ends between open and read.
std::string ReadProcessFile(const std::string& folder, const char* name) {
  const FileDescriptor file(open((folder + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string content(16384, '\0');
  const ssize_t size = file.valid() ? read(file.get(), content.data(), content.size()) : 0;
  content.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return content;
}

// The field of FOLDER/stat with this number, counted from 1 as in proc(5), from 3 on; "" if there is
// none. The program's name (field 2) may itself contain spaces and parentheses.
std::string StatField(const std::string& folder, int number) {
  const std::string line = ReadProcessFile(folder, "stat");
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return "";
  size_t start = name_end + 2;
  for (int field = 3; field < number; ++field) {
    start = line.find(' ', start);
    if (start == std::string::npos) return "";
    ++start;
  }
  if (start >= line.size()) return "";
  return line.substr(start, line.find_first_of(" \n", start) - start);
}

template <typename Number>
bool ParseNumber(std::string_view text, int base, Number* number) {
  return std::from_chars(text.data(), text.data() + text.size(), *number, base).ec == std::errc();
}

std::string ThreadFolder(ProcessId pid, ProcessId thread) {
  return fmt::format("/proc/{}/task/{}", pid, thread);
}

// Returns true if the thread has a pending SIGKILL: the kernel also ends the other threads of a
// process by it when the process exits or dies of another signal.
bool HasPendingKill(const std::string& thread_folder) {
  constexpr uint64_t kKillBit = uint64_t{1} << (SIGKILL - 1);
  const std::string status = ReadProcessFile(thread_folder, "status");
  for (const std::string_view name : {"\nSigPnd:\t", "\nShdPnd:\t"}) {
    const size_t at = status.find(name);
    uint64_t pending = 0;
    if (at != std::string::npos &&
        ParseNumber(std::string_view(status).substr(at + name.size(), 16), 16, &pending) &&
        (pending & kKillBit) != 0) {
      return true;
    }
  }
  return false;
}

// Returns true if the thread will never run the program's code again.
bool IsEndingThread(const std::string& folder) {
  // PF_EXITING, PF_DUMPCORE, PF_SIGNALED: the kernel shows its own flags, unchanged for decades.
  constexpr uint64_t kEndingFlags = 0x4 | 0x200 | 0x400;
  const std::string state = StatField(folder, 3);
  if (state == "Z" || state == "X") return true;
  uint64_t flags = 0;
  if (ParseNumber(StatField(folder, 9), 10, &flags) && (flags & kEndingFlags) != 0) return true;
  return HasPendingKill(folder);
}

// A process with more threads is judged by so many: it must not cost its watcher much time.
constexpr int kThreadsLookedAt = 1024;

bool AllThreadsAreEnding(ProcessId pid) {
  DIR* const tasks = opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (tasks == nullptr) return true;
  bool all = true;
  int looked_at = 0;
  while (const dirent* entry = readdir(tasks)) {
    pid_t thread = 0;
    if (!ParseNumber(std::string_view(entry->d_name), 10, &thread)) continue;
    if (!all || ++looked_at > kThreadsLookedAt) break;
    const std::string folder = ThreadFolder(pid, thread);
    // A thread that has just gone has no state.
    all = IsEndingThread(folder) || StatField(folder, 3).empty();
  }
  closedir(tasks);
  return all;
}

// Runs between fork and exec: only calls that are safe there.
[[noreturn]] void ExecuteProgram(const SpawnRequest& request, pid_t watcher, int error_pipe,
                                 char** arguments, char** environment) {
  // The program must not outlive a watcher that is killed: its crash or hang would be missed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != watcher) _exit(125);
  if (request.inherited != nullptr) fcntl(DescriptorOf(*request.inherited), F_SETFD, 0);
  RestoreHandleLimit();
  if (request.requests != nullptr) request.requests->state().Restore();
  execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof(error));
  _exit(127);
}

Status ExecError(int error, const std::string& program) {
  if (error != ENOENT && error != ENOTDIR) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' cannot be executed: {}", program, strerror(error)));
  }
  struct stat info {};
  if (program.find('/') != std::string::npos && stat(program.c_str(), &info) == 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' cannot be executed: its interpreter is missing", program));
  }
  return Status(
      StatusCode::kNotFound,
      fmt::format("program '{}' was not found; give its path, or a name in PATH", program));
}

// Puts the library before those that are preloaded already.
std::string PreloadSetting(const std::string& library) {
  const char* const others = std::getenv(kPreloadVariable);
  const bool are_there = others != nullptr && others[0] != 0;
  return fmt::format("{}={}{}{}", kPreloadVariable, library, are_there ? ":" : "",
                     are_there ? others : "");
}

// The environment with some variables replaced. The strings stay those of `environ` and `settings`.
std::vector<char*> EnvironmentWith(const std::vector<std::string>& settings) {
  const auto replaced = [&settings](std::string_view entry) {
    return std::any_of(settings.begin(), settings.end(), [entry](std::string_view setting) {
      return entry.starts_with(setting.substr(0, setting.find('=') + 1));
    });
  };
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!replaced(*entry)) environment.push_back(*entry);
  }
  for (const std::string& setting : settings) {
    environment.push_back(const_cast<char*>(setting.c_str()));
  }
  environment.push_back(nullptr);
  return environment;
}

}  // namespace

std::string FileOfProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/bin:/usr/bin" : variable;
  for (;;) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    // An empty one is the working directory.
    const std::string file = (folder.empty() ? "." : std::string(folder)) + "/" + program;
    struct stat info {};
    if (stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        access(file.c_str(), X_OK) == 0) {
      return file;
    }
    if (folder.size() == folders.size()) return "";
    folders.remove_prefix(folder.size() + 1);
  }
}

std::string ProgramFile(std::string_view name) {
  return std::string(name);
}

Status CheckPreloaded(const std::string& library) {
  if (library.find_first_of(kPreloadSeparators) == std::string::npos) return Status();
  return Status(StatusCode::kUnsupported,
                fmt::format("the path of {} contains a space or a colon, which {} cannot express",
                            library, kPreloadVariable));
}

Result<ProcessHandle> SpawnProgram(const SpawnRequest& request) {
  std::vector<char*> arguments;
  for (const std::string& argument : request.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  std::vector<std::string> settings = request.environment;
  if (!request.preloaded.empty()) settings.push_back(PreloadSetting(request.preloaded));
  std::vector<char*> environment = EnvironmentWith(settings);

  // Closes by itself when exec succeeds, and carries its error otherwise.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return StatusFromErrno(errno, "a pipe cannot be created");
  FileDescriptor error_reader(ends[0]);
  FileDescriptor error_writer(ends[1]);

  const pid_t watcher = getpid();
  const pid_t pid = fork();
  if (pid < 0) return StatusFromErrno(errno, "no process can be started");
  if (pid == 0) {
    ExecuteProgram(request, watcher, error_writer.get(), arguments.data(), environment.data());
  }
  error_writer.Close();
  ProcessHandle child{pid, OpenPidfd(pid)};
  const int pidfd_error = errno;

  int exec_error = 0;
  ssize_t received = 0;
  do {
    received = read(error_reader.get(), &exec_error, sizeof(exec_error));
  } while (received < 0 && errno == EINTR);
  if (received == sizeof(exec_error)) {
    waitpid(pid, nullptr, 0);
    return ExecError(exec_error, request.arguments[0]);
  }
  if (!child.handle.valid()) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return StatusFromErrno(pidfd_error,
                           "the program cannot be watched (Linux 5.3 or newer needed)");
  }
  return child;
}

Result<ProcessHandle> OpenProcess(ProcessId pid) {
  ProcessHandle process{pid, OpenPidfd(pid)};
  if (process.handle.valid()) return process;
  if (errno == ESRCH) return Status(StatusCode::kNotFound, fmt::format("process {} is gone", pid));
  return StatusFromErrno(errno, fmt::format("process {} cannot be watched", pid));
}

ProcessEnd CollectEnd(const ProcessHandle& process) {
  if (!process.handle.valid()) return {EndKind::kUnknown, 0};
  const int pidfd = DescriptorOf(process.handle);
  siginfo_t info{};
  if (waitid(kWaitByPidfd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG) == 0 &&
      info.si_pid != 0) {
    if (info.si_code == CLD_EXITED) return {EndKind::kExited, info.si_status};
    return {EndKind::kSignalled, info.si_status};
  }
  if (const std::optional<int> status = StatusThatTheParentTook(pidfd)) {
    return FromWaitStatus(*status);
  }
  // An ended process shows its status until its parent has reaped it: "X" while the parent is doing so.
  const std::string folder = fmt::format("/proc/{}", process.pid);
  const std::string state = StatField(folder, 3);
  int value = 0;
  if ((state == "Z" || state == "X") && ParseNumber(StatField(folder, 52), 10, &value)) {
    return FromWaitStatus(value);
  }
  // It may have done so between the two looks.
  if (const std::optional<int> status = StatusThatTheParentTook(pidfd)) {
    return FromWaitStatus(*status);
  }
  return {EndKind::kUnknown, 0};
}

ProcessCondition ConditionOf(ProcessId pid) {
  // The first thread may end long before the others, and goes with them when they are made to end.
  if (IsEndingThread(ThreadFolder(pid, pid))) {
    return AllThreadsAreEnding(pid) ? ProcessCondition::kEnding : ProcessCondition::kRunning;
  }
  const std::string state = StatField(fmt::format("/proc/{}", pid), 3);
  return state == "T" || state == "t" ? ProcessCondition::kStopped : ProcessCondition::kRunning;
}

Status KillProcess(const ProcessHandle& process) {
  return SendSignal(process, SIGKILL);
}

// Many of these limits are from a time when select() was in use.
uint64_t RaiseHandleLimit(uint64_t most) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<uint64_t>::max();
  if (!LimitBefore().has_value()) LimitBefore() = limit;
  rlimit wanted = limit;
  wanted.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, most));
  return setrlimit(RLIMIT_NOFILE, &wanted) == 0 ? wanted.rlim_cur : limit.rlim_cur;
}

void RestoreHandleLimit() {
  if (LimitBefore().has_value()) setrlimit(RLIMIT_NOFILE, &*LimitBefore());
}

SystemHandle TakeInherited(uint64_t number) {
  return SystemHandle(static_cast<intptr_t>(number));
}

void CloseAllBut(const SystemHandle& kept) {
  const auto number = static_cast<unsigned>(DescriptorOf(kept));
  if (number > 3) syscall(SYS_close_range, 3u, number - 1, 0u);
  syscall(SYS_close_range, number + 1, ~0u, 0u);
}

Status SendSignal(const ProcessHandle& process, int signal_number) {
  const int pidfd = DescriptorOf(process.handle);
  if (syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0) == 0) {
    return Status();
  }
  return StatusFromErrno(errno, fmt::format("signal {} cannot be sent", signal_number));
}

std::string ArgumentsOf(ProcessId pid) {
  return ReadProcessFile(fmt::format("/proc/{}", pid), "cmdline");
}

std::string ProgramOf(ProcessId pid) {
  std::string program(ProgramOfCommandLine(ArgumentsOf(pid)));
  if (program.find(' ') == std::string::npos || IsWindowsProgram(program)) return program;
  std::error_code error;
  const std::filesystem::path file =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  return error ? program : file.string();
}

std::string CommandLineOf(ProcessId pid) {
  std::string line = ArgumentsOf(pid);
  if (IsWindowsProgram(ProgramOfCommandLine(line))) {
    // Wine has written it over its own, and filled up with zeros.
    line.resize(line.find_last_not_of('\0') + 1);
  }
  const std::vector<std::string> words = WordsOfArguments(line);
  const bool is_title = words.size() == 1 && words.front().find(' ') != std::string::npos &&
                        !IsWindowsProgram(words.front()) && words.front() != ProgramOf(pid);
  return is_title ? words.front() : ShellQuotedLine(words);
}

}  // namespace cairn
