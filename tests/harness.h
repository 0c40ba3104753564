// SPDX-License-Identifier: Apache-2.0
//
// What the cross-process tests share: a folder of their own, running commands with a time limit and
// seeing what they leave behind. On Windows (windows/harness.cc) nothing is seen of that.
#ifndef CAIRN_TESTS_HARNESS_H_
#define CAIRN_TESTS_HARNESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace cairn::testing {

// Looks every few milliseconds until `condition` holds; false when the time is up.
inline bool WaitUntil(const std::function<bool()>& condition, int timeout_s = 60) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(timeout_s);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// build/bin/NAME; on Windows samples of Vulkan lie elsewhere.
std::string Program(const std::string& name);
// build/tests/programs/NAME.
std::string TestProgram(const std::string& name);

struct CommandResult {
  int exit_code =
      -1;  // 128 + signal number if a signal ended it; on Windows all 32 bits of an exception
  bool timed_out = false;
  std::string output;
  std::string errors;
  std::vector<pid_t> left_behind;  // descendants that outlived the command; they were killed

  // The lines of the watcher among the errors of `cairn run`: without the answers that it prints behind an empty line.
  std::string Lines() const {
    const size_t end = errors.find("\n\n");
    return end == std::string::npos ? errors : errors.substr(0, end + 1);
  }
  // For messages of failed tests.
  std::string Summary() const;
};

// A running command, its output collected in files.
class Command {
 public:
  struct Options {
    std::filesystem::path folder;          // working directory
    std::vector<std::string> environment;  // "NAME=value" replaces, "NAME" removes
    std::string input;                     // becomes stdin
    int timeout_s = 60;
    size_t leaves_behind = 0;  // descendants that outlive it on purpose: nobody waits for their end
    bool own_console = false;  // for PressInterrupt, which needs it on Windows
  };
  Command(const std::vector<std::string>& arguments, const Options& options);
  // Kills what is left.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  pid_t pid() const { return pid_; }
  // Waits until the output has a line "ready PID", and returns that PID; -1 if the command ends or
  // the time is up before.
  pid_t WaitUntilReady();
  // Waits for its end and for the end of every process that it has started.
  CommandResult Wait();
  // Returns the output so far.
  std::string output() const;
  std::string errors() const;

 private:
  Options options_;
  std::filesystem::path files_;
  pid_t pid_ = -1;
#if defined(_WIN32)
  intptr_t process_ = 0;  // its handle
#endif
};

// Runs it to its end.
CommandResult RunCommand(const std::vector<std::string>& arguments,
                         const Command::Options& options);

// Returns the standard output of a program that runs while another Command runs, whose processes
// are not of this one.
std::string OutputBeside(const std::vector<std::string>& arguments);

// For programs whose misdeeds are to have the same effect everywhere: the device on the CPU, where there is a
// choice, and no chatter of libvkd3d.
std::vector<std::string> LavapipeEnvironment();
// For programs that are to run on a GPU as well: the same, unless VK_DRIVER_FILES or VK_ICD_FILENAMES chooses a driver.
std::vector<std::string> ChosenDriverEnvironment();

// A folder that exists during one test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // Names of what is in it, sorted.
  std::vector<std::string> Contents() const;

 private:
  std::filesystem::path path_;
};

std::string ReadFile(const std::filesystem::path& path);

// Returns the lines of a text, without their ends.
inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Waits until `cairn run`, as this process, has looked at its program's processes: it wakes for nothing else.
void WaitUntilLookedFrom(pid_t cairn);

// The first child of a process; 0 if it has none.
pid_t ChildOf(pid_t parent);
// Ends it at once, as somebody else would, and the exit code that `cairn run` has then: 128 + SIGKILL; on Windows 1, as
// Task Manager gives it.
void KillProcess(pid_t pid);
extern const int kExitOfKilled;
// ^C, as whoever sits in front of this process would press it; its children that share its terminal get it, too.
void PressInterrupt(pid_t pid);
// Has `cairn run --capture --trigger signal`, which this process is, start or stop.
void PullTrigger(pid_t pid);
// True while the process exists and is not merely waiting for its parent to take note of its end.
bool IsRunning(pid_t pid);
// Waits until the process has ended; false after `timeout_s`.
bool WaitForEnd(pid_t pid, int timeout_s = 20);
// Waits until the file exists; false after `timeout_s`.
bool WaitForFile(const std::filesystem::path& path, int timeout_s = 20);

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_HARNESS_H_
