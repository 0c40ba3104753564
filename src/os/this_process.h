// SPDX-License-Identifier: Apache-2.0
//
// The system's facts about this process.
#ifndef CAIRN_OS_THIS_PROCESS_H_
#define CAIRN_OS_THIS_PROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn {

// The system's number of a process, as people see it. A later process may get it again.
using ProcessId = int64_t;

// Asks the system each time: a copy of this process has a number of its own. Safe in a crash handler.
ProcessId OwnProcessId();

// True if the threads of this process still run while functions registered with atexit are called.
// On Windows those of a library are called after the system has ended the threads, wherever they
// were.
#if defined(_WIN32)
inline constexpr bool kThreadsRunAtExit = false;
#else
inline constexpr bool kThreadsRunAtExit = true;
#endif

// The file that it runs; "" if that is not known.
std::string OwnProgramPath();

// The beginning of its command line, 4096 bytes at most, a zero behind each argument; "" if it is not known.
std::string OwnCommandLine();

// The words behind the program's name, in UTF-8. `argc` and `argv` are those of main, which on Windows have lost what
// the encoding of the country does not know.
std::vector<std::string> CommandLineWords(int argc, char** argv);

// On systems where a process can become two (fork), calls `function` in the copy before anything
// else runs there: the copy has the memory of the original and none of its threads. Elsewhere never
// calls it. The function must take no lock and allocate nothing.
void CallInCopies(void (*function)());

}  // namespace cairn

#endif  // CAIRN_OS_THIS_PROCESS_H_
