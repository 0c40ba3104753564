// SPDX-License-Identifier: Apache-2.0
//
// The watcher: waits for what happens to the watched processes, and lets a session (session.h) act on
// it. It sleeps in the kernel between events; only while GPU work is
// unfinished does it look at the progress words every hang_timeout / 10 (1 to 100 ms).
#ifndef CAIRN_WATCHER_WATCH_LOOP_H_
#define CAIRN_WATCHER_WATCH_LOOP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "watcher/session.h"

namespace cairn {

// Exit codes of `cairn run` that are not the program's own; those of timeout(1) and env(1).
inline constexpr int kExitKilledForHang = 124;
inline constexpr int kExitCairnFailed = 125;
inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;

// The soft limit is raised to this, if it may be; docs/reference/bounds.md.
inline constexpr uint64_t kMaxDescriptors = 65536;

struct WatchSettings : SessionSettings {
  // For RunWatched: "NAME=value", each set for the program.
  std::vector<std::string> environment;
  // The same: a library that is in the program from its beginning (SpawnRequest::preloaded). Why it is not, is warned
  // of.
  std::string preloaded;
  // For WatchInherited: the program's name, if it is gone before this process has read it.
  std::string program;
  // An armed capture starts, and the next time stops, when this process gets SIGUSR1.
  bool capture_trigger_signal = false;
  // The children that this process starts for itself are no part of the run; nor is what they start. Empty: there are
  // none. `look_at_own_children` is called now and then as long as it returns true, which is while one of them runs.
  std::function<std::vector<ProcessId>()> groups_of_own_children;
  std::function<bool()> look_at_own_children;
  // Takes the reports in the place of files, which are written without it. Outlives the run.
  SessionOutput* output = nullptr;
};

// Starts arguments[0] with the watcher's socket in its environment, and returns its exit code (128 +
// signal number if a signal ended it, on Windows the code of the exception; kExitKilledForHang if the watcher killed it, kExitCairnFailed
// instead of 0 if a report or a trace could not be written) once it and every
// other process that handed over a block have ended. SIGTERM and SIGHUP of this process are passed
// on to the program, which a second SIGTERM kills if the first did not end it within 5 s; the program is
// killed if this process dies. Fails, with nothing started and
// nothing written, with kNotFound (no such program), kUnsupported (it cannot be executed) or another
// code. Call from the only thread.
Result<int> RunWatched(const WatchSettings& settings, const std::vector<std::string>& arguments);

// The program that these words start, for ProgramInWords and DefaultOutputPath: where the .exe was typed without its
// ending, the file that was found.
std::string NameOfStarted(const std::vector<std::string>& arguments);

// Watches the process that made the channel of which this process inherited an end under this number (see
// app/recorder/watcher_link.h), and returns when it ended. Takes ownership of that end, and closes all else that
// this process inherited except the standard streams.
Status WatchInherited(const WatchSettings& settings, uint64_t channel_number);

}  // namespace cairn

#endif  // CAIRN_WATCHER_WATCH_LOOP_H_
