// SPDX-License-Identifier: Apache-2.0
//
// Starting processes, and seeing them end without polling.
#ifndef CAIRN_OS_PROCESS_H_
#define CAIRN_OS_PROCESS_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace cairn {

// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { Close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close();
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// The system's number of a process, as people see it. A later process may get it again.
using ProcessId = int64_t;

// A process by descriptor: readable once it ended, and never confused with a later process of the
// same number.
struct ProcessHandle {
  pid_t pid = -1;
  FileDescriptor pidfd;
};

// How a process ended: known exactly of a child. Of other processes the system tells only that they ended.
enum class EndKind : uint8_t { kExited, kSignalled, kUnknown };
struct ProcessEnd {
  EndKind kind = EndKind::kUnknown;
  int value = 0;  // exit code or signal number
};

// What the system says of a process that has not ended.
enum class ProcessCondition : uint8_t {
  kRunning,
  kStopped,  // by a debugger or job control
  kEnding,   // none of its threads will ever return to the program
};

struct SpawnRequest {
  std::vector<std::string> arguments;    // [0] is looked up in PATH
  int inherited_fd = -1;                 // stays open in the program
  std::vector<std::string> environment;  // "NAME=value", each set for the program
  sigset_t signal_mask;                  // the program's
  bool ignores_broken_pipes = false;     // whether it starts with SIGPIPE ignored
  std::optional<rlimit> descriptors;     // its limit, where this process has changed its own
};

// Starts the program as a child that the kernel kills when the calling thread's process ends.
// kNotFound: there is no such program. kUnsupported: it cannot be executed. kIo: anything else.
Result<ProcessHandle> SpawnProgram(const SpawnRequest& request);

// A handle of any process. kNotFound if it is gone.
Result<ProcessHandle> OpenProcess(pid_t pid);

// How an ended process ended; a child is reaped by this. kUnknown where the kernel does not tell, or
// the handle has no descriptor.
ProcessEnd CollectEnd(const ProcessHandle& process);

// kRunning also where nothing can be told of it: it is gone, or /proc is not there.
ProcessCondition ConditionOf(pid_t pid);

Status SendSignal(const ProcessHandle& process, int signal_number);

// The beginning of /proc/PID/cmdline, a zero behind each argument; "" if it cannot be read.
std::string ArgumentsOf(pid_t pid);
// The same for people: spaces between the arguments.
std::string CommandLineOf(pid_t pid);
// Which program that is (base/program_name.h). Where a process has written a title over its arguments, one
// with spaces, as browsers and servers do, it is the file that it runs.
std::string ProgramOf(pid_t pid);

}  // namespace cairn

#endif  // CAIRN_OS_PROCESS_H_
