// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

extern char** environ;

namespace cairn::testing {
namespace {

struct ProcessFacts {
  pid_t parent = 0;
  char state = ' ';
};

// Returns the facts of every visible process.
std::map<pid_t, ProcessFacts> AllProcesses() {
  std::map<pid_t, ProcessFacts> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string stat = ReadFile(entry.path() / "stat");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(stat.substr(name_end + 1));
    ProcessFacts facts;
    fields >> facts.state >> facts.parent;
    all[pid] = facts;
  }
  return all;
}

// Orphans of a command come to this process, because Command made it their reaper.
std::vector<pid_t> LiveChildren() {
  std::vector<pid_t> children;
  for (const auto& [pid, facts] : AllProcesses()) {
    if (facts.parent == getpid() && facts.state != 'Z') children.push_back(pid);
  }
  return children;
}

void ReapEnded() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

void Redirect(const std::filesystem::path& path, int flags, int target) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0 || dup2(fd, target) < 0) _exit(121);
}

void ApplyEnvironment(const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      unsetenv(setting.c_str());
    } else {
      setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
    }
  }
}

}  // namespace

std::string Program(const std::string& name) {
  return CAIRN_BINARY_DIR "/bin/" + name;
}

std::string TestProgram(const std::string& name) {
  return CAIRN_BINARY_DIR "/tests/programs/" + name;
}

std::string CommandResult::Summary() const {
  return "exit code " + std::to_string(exit_code) + (timed_out ? " (timed out)" : "") +
         "\nstdout:\n" + output + "\nstderr:\n" + errors;
}

Command::Command(const std::vector<std::string>& arguments, const Options& options)
    : options_(options) {
  std::string pattern = (std::filesystem::temp_directory_path() / "cairn-command-XXXXXX").string();
  files_ = mkdtemp(pattern.data());
  std::ofstream(files_ / "input") << options_.input;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  Redirect(files_ / "input", O_RDONLY, STDIN_FILENO);
  Redirect(files_ / "output", O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
  Redirect(files_ / "errors", O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
  if (!options_.folder.empty() && chdir(options_.folder.c_str()) != 0) _exit(122);
  // The tests themselves may run under a watcher, or with settings that change messages.
  unsetenv("CAIRN_WATCHER_FD");
  unsetenv("CAIRN_WATCHER_ADDRESS");
  setenv("LC_ALL", "C.UTF-8", 1);
  setenv("COLUMNS", "0", 1);  // sentences in one line
  // Under the sanitizer a program that crashes shall still die of its signal.
  const char* sanitizer = std::getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS",
         (std::string(sanitizer == nullptr ? "" : sanitizer) +
          ":handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_abort=0")
             .c_str(),
         1);
  // Most tests must not depend on devices, nor on the user's cache.
  setenv("CAIRN_WITNESSES", "off", 1);
  ApplyEnvironment(options_.environment);
  execvp(pointers[0], pointers.data());
  _exit(123);
}

Command::~Command() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const pid_t child : LiveChildren()) kill(child, SIGKILL);
  ReapEnded();
  std::error_code ignored;
  std::filesystem::remove_all(files_, ignored);
}

std::string Command::output() const {
  return ReadFile(files_ / "output");
}

std::string Command::errors() const {
  return ReadFile(files_ / "errors");
}

pid_t Command::WaitUntilReady() {
  pid_t ready = -1;
  WaitUntil(
      [&] {
        const std::string text = output();
        const size_t line = text.find("ready ");
        if (line != std::string::npos && text.find('\n', line) != std::string::npos) {
          ready = std::atoi(text.c_str() + line + 6);
        }
        return ready > 0 || !IsRunning(pid_);
      },
      options_.timeout_s);
  return ready;
}

CommandResult Command::Wait() {
  CommandResult result;
  int status = 0;
  result.timed_out =
      !WaitUntil([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, options_.timeout_s);
  if (result.timed_out) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  // Processes that end by themselves right after the command (a watcher after its program) may.
  WaitUntil(
      [&] {
        ReapEnded();
        return LiveChildren().size() <= options_.leaves_behind;
      },
      5);
  result.left_behind = LiveChildren();
  result.output = output();
  result.errors = errors();
  return result;
}

CommandResult RunCommand(const std::vector<std::string>& arguments,
                         const Command::Options& options) {
  Command command(arguments, options);
  return command.Wait();
}

std::string OutputBeside(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  std::string line;
  for (const std::string& argument : arguments) line += "'" + argument + "' ";
  line += "> '" + (folder / "output") + "' 2> /dev/null";
  return std::system(line.c_str()) == 0 ? ReadFile(folder / "output") : "";
}

std::vector<std::string> LavapipeEnvironment() {
  std::vector<std::string> environment = {"VKD3D_DEBUG=none"};
  for (const char* folder : {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      if (!entry.path().filename().string().starts_with("lvp_icd")) continue;
      environment.push_back("VK_ICD_FILENAMES=" + entry.path().string());
      environment.push_back("VK_DRIVER_FILES=" + entry.path().string());
      return environment;
    }
  }
  return environment;
}

std::vector<std::string> ChosenDriverEnvironment() {
  for (const char* const variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    const char* const chosen = getenv(variable);
    if (chosen != nullptr && *chosen != 0) return {"VKD3D_DEBUG=none"};
  }
  return LavapipeEnvironment();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "cairn-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::Contents() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ReadFile(const std::filesystem::path& path) {
  // Streams throw when a process ends while its file in /proc is read.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string content;
  char buffer[65536];
  for (ssize_t size = 0; (size = read(file, buffer, sizeof(buffer))) > 0;) {
    content.append(buffer, static_cast<size_t>(size));
  }
  if (file >= 0) close(file);
  return content;
}

const int kExitOfKilled = 128 + SIGKILL;

void KillProcess(pid_t pid) {
  kill(pid, SIGKILL);
}

void PressInterrupt(pid_t pid) {
  const pid_t child = ChildOf(pid);
  kill(pid, SIGINT);
  if (child > 0 && getpgid(child) == getpgid(pid)) kill(child, SIGINT);
}

void PullTrigger(pid_t pid) {
  kill(pid, SIGUSR1);
}

namespace {

constexpr uint64_t kHasEnded = ~uint64_t{0};

// Returns the number of its waits; kHasEnded also if it waits to be reaped.
uint64_t WakesOf(pid_t id) {
  constexpr char kName[] = "voluntary_ctxt_switches:";
  for (const std::string& line : Lines(ReadFile("/proc/" + std::to_string(id) + "/status"))) {
    if (line.starts_with("State:\tZ")) break;
    if (line.starts_with(kName))
      return std::strtoull(line.c_str() + sizeof(kName) - 1, nullptr, 10);
  }
  return kHasEnded;
}

}  // namespace

void WaitUntilLookedFrom(pid_t cairn) {
  const uint64_t first = WakesOf(cairn);
  WaitUntil(
      [&] {
        const uint64_t wakes = WakesOf(cairn);
        return wakes == kHasEnded || wakes >= first + 4;
      },
      60);
}

pid_t ChildOf(pid_t parent) {
  const std::string process = std::to_string(parent);
  return std::atoi(ReadFile("/proc/" + process + "/task/" + process + "/children").c_str());
}

bool IsRunning(pid_t pid) {
  const std::map<pid_t, ProcessFacts> all = AllProcesses();
  const auto found = all.find(pid);
  return found != all.end() && found->second.state != 'Z';
}

bool WaitForEnd(pid_t pid, int timeout_s) {
  return WaitUntil([pid] { return !IsRunning(pid); }, timeout_s);
}

bool WaitForFile(const std::filesystem::path& path, int timeout_s) {
  return WaitUntil([&path] { return std::filesystem::exists(path); }, timeout_s);
}

}  // namespace cairn::testing
