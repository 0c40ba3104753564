// SPDX-License-Identifier: Apache-2.0
//
// Starting processes, and seeing them end without polling.
#ifndef CAIRN_OS_PROCESS_H_
#define CAIRN_OS_PROCESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/signal_name.h"
#include "base/status.h"
#include "os/handle.h"
#include "os/this_process.h"

namespace cairn {

class UserRequests;

// A process that is held: never confused with a later one of the same number. Without a handle only its
// number is known: it ended before it could be opened.
struct ProcessHandle {
  ProcessId pid = -1;
  SystemHandle handle;  // for a WaitSet: something happens when it has ended
};

// The way in which a process ended. On Linux it is known exactly for a child; for other processes
// the system reports only that they ended. On Windows every process has an exit code: kSignalled is
// a code that the system gives to a process that dies of an exception, a fastfail or ^C, or the
// code of KillProcess. A process that another program killed has the exit code chosen there, and
// abort() gives 3: both are kExited.
enum class EndKind : uint8_t { kExited, kSignalled, kUnknown };
struct ProcessEnd {
  EndKind kind = EndKind::kUnknown;
  int value = 0;  // exit code; signal number, on Windows the bits of an exception code
  // The exit code is all that the process has given; of Linux it is the last eight bits.
  bool whole_code = false;
};

// Returns the end that an exit code of Windows means. kSignalled: codes that the system gives to
// processes that die of an exception, of a fastfail or of ^C, and that of KillProcess. kExited: all
// others, also 3, which abort() and exit(3) give alike.
constexpr ProcessEnd EndOfExitCode(uint32_t code) {
  return {IsExceptionCode(code) ? EndKind::kSignalled : EndKind::kExited, static_cast<int>(code),
          true};
}

// The system's state of a process that has not ended.
enum class ProcessCondition : uint8_t {
  kRunning,
  kStopped,  // by a debugger or job control; on Windows: all of its threads are suspended
  kEnding,   // none of its threads will ever return to the program; Windows does not tell
};

struct SpawnRequest {
  std::vector<std::string>
      arguments;  // [0] is looked up in PATH; on Windows also with ".exe" behind it
  const SystemHandle* inherited = nullptr;  // stays open in the program, as the same number
  std::vector<std::string> environment;     // "NAME=value", each set for the program
  // The path of a library that is loaded before the program's first instruction; "": none. If it
  // cannot be loaded there, the program runs without it, and `not_preloaded` is called with the
  // reason.
  std::string preloaded;
  std::function<void(const Status& why)> not_preloaded;
  // The requests that this process handles; the program gets their earlier effects.
  const UserRequests* requests = nullptr;
};

// Starts the program as a child that the system kills when this process ends; what the child starts lives on. It has
// this process's input and output, and nothing else open but `inherited`. Call it from a thread that lives as long
// as the process. The program's limit of handles is the one from before RaiseHandleLimit.
// On Linux the library comes first in LD_PRELOAD, which what the program starts inherits; the loader says itself if it
// cannot load it. On Windows a thread of the program loads it; children of the program have it if the library sees to
// that (os/windows/library_injection.h).
// kNotFound: there is no such program. kUnsupported: it cannot be executed, or is of a kind into which no library can be
// loaded (Windows: of 32 bits). kIo: anything else.
Result<ProcessHandle> SpawnProgram(const SpawnRequest& request);
// kUnsupported: a library at this path cannot be preloaded, whatever is in it.
Status CheckPreloaded(const std::string& library);
// The file that SpawnProgram runs for a program of this name: the name itself if it is a path, otherwise the first in
// PATH; "" if there is none.
std::string FileOfProgram(const std::string& program);

// The file of a program as the system names it: "cairn", "cairn.exe".
std::string ProgramFile(std::string_view name);

// A handle of any process. kNotFound if it is gone.
Result<ProcessHandle> OpenProcess(ProcessId pid);

// Returns how an ended process ended, and frees the system's record of a child. kUnknown if the
// system does not tell, or if the process is not held.
ProcessEnd CollectEnd(const ProcessHandle& process);

// Returns the state of a process; kRunning also if it is unknown: the process is gone, or cannot be
// read.
ProcessCondition ConditionOf(ProcessId pid);

// Kills the process. Does nothing if it has ended.
Status KillProcess(const ProcessHandle& process);
// `signal_number` as in <csignal>. Errors: kUnsupported where the system cannot pass that on, as on Windows.
Status SendSignal(const ProcessHandle& process, int signal_number);

// Lets this process hold `most` handles at once, if it may. Returns how many it may.
uint64_t RaiseHandleLimit(uint64_t most);
// Gives this process the limit back that it had before.
void RestoreHandleLimit();

// Takes the handle that this process inherited under this number.
SystemHandle TakeInherited(uint64_t number);
// Closes all that this process has inherited but this one and the standard streams, which others may own.
void CloseAllBut(const SystemHandle& kept);

// The beginning of its command line, a zero behind each argument; "" if it cannot be read.
std::string ArgumentsOf(ProcessId pid);
// The same for a shell, as ShellQuotedLine (base/shell_words.h) returns it. A title that a process wrote over its arguments is one word,
// and stands as it is.
std::string CommandLineOf(ProcessId pid);
// Returns the program that a process runs (base/program_name.h). For a process that has overwritten
// its arguments with a title that has spaces, as browsers and servers do, returns the file that it
// runs.
std::string ProgramOf(ProcessId pid);

}  // namespace cairn

#endif  // CAIRN_OS_PROCESS_H_
