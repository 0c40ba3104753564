// SPDX-License-Identifier: Apache-2.0
//
// The watcher: waits for what happens to the watched processes, asks ProcessWatch what to do about
// it, and writes the dumps. It sleeps in the kernel between events; only while GPU work is
// unfinished does it look at the progress words every hang_timeout / 10 (at most every 200 ms).
#ifndef CAIRN_WATCHER_WATCH_LOOP_H_
#define CAIRN_WATCHER_WATCH_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "watcher/watcher.h"

namespace cairn {

// Exit codes of `cairn run` that are not the program's own; those of timeout(1) and env(1).
inline constexpr int kExitKilledForHang = 124;
inline constexpr int kExitCairnFailed = 125;
inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;

// What programs can make a watcher spend, whatever they do; docs/cairn-run.md, "Bounds".
inline constexpr size_t kMaxWatched = 4096;  // processes at once; those beyond run unwatched
inline constexpr size_t kMaxCaptures = 16;   // at once; those beyond are not captured
inline constexpr uint64_t kMaxFiles = 4096;  // that one watcher makes
inline constexpr uint64_t kMaxLines = 200;  // on stderr, and one that says how many more there were
inline constexpr uint64_t kMaxDescriptors =
    65536;  // the soft limit is raised to this, if it may be

struct WatchSettings {
  WatchPolicy policy;
  // The dump of the first process with breadcrumbs. A second process's goes to NAME-PID.cairn. May
  // be empty for WatchOverSocket: PROGRAM.cairn in the working directory then.
  std::string output_path;
  // For RunWatched: "NAME=value", each set for the program.
  std::vector<std::string> environment;
  // The program was told to capture. The trace is in the same file as a report. Without this nothing is
  // captured, whatever the program says.
  bool capture = false;
  // An armed capture starts, and the next time stops: when this process gets SIGUSR1; when a file comes
  // to be at the path and is gone again.
  bool capture_trigger_signal = false;
  std::string capture_trigger_path;
  // Takes one line (without its end) per incident.
  std::function<void(const std::string& line)> say;
  // The same for what is missing: reports that could not be written, processes that are not watched.
  std::function<void(const std::string& line)> warn;
};

// Starts arguments[0] with the watcher's socket in its environment, and returns its exit code (128 +
// signal number if a signal ended it, kExitKilledForHang if the watcher killed it, kExitCairnFailed
// instead of 0 if a report or a trace could not be written) once it and every
// other process that handed over a block have ended. SIGTERM and SIGHUP of this process are passed
// on to the program; the program is killed if this process dies. Fails, with nothing started and
// nothing written, with kNotFound (no such program), kUnsupported (it cannot be executed) or another
// code. Call from the only thread.
Result<int> RunWatched(const WatchSettings& settings, const std::vector<std::string>& arguments);

// Watches the process that made the other end of `socket_fd` (see app/recorder/watcher_link.h), and returns
// when it ended. Takes ownership of `socket_fd`, and closes every other descriptor that the process
// inherited except the standard ones.
Status WatchOverSocket(const WatchSettings& settings, int socket_fd);

}  // namespace cairn

#endif  // CAIRN_WATCHER_WATCH_LOOP_H_
