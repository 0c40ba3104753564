// SPDX-License-Identifier: Apache-2.0
//
// A verb's playback in a child process: what killed the program may kill who plays its trace.
#ifndef CAIRN_CLI_PLAY_PROCESS_H_
#define CAIRN_CLI_PLAY_PROCESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/verb.h"
#include "os/child.h"
#include "os/child_status.h"
#include "reader/replay/player.h"

namespace cairn::cli {

// The status of the playback's process (os/child_status.h). Written by the child, so hostile to the parent.
struct PlayStatus {
  // Lets a player note here how far it is in this one of the traces (PlayProcess::paths). `this` has to outlive it.
  void AddTo(PlayerOptions* options, size_t trace_index = 0);

  std::atomic<uint32_t> trace{0};
  std::atomic<uint64_t> call{0};  // that was made last
  std::atomic<uint64_t> first_unfinished{0};
  std::atomic<uint64_t> last_unfinished{0};
  std::atomic<FaultThread> thread{
      FaultThread::kNone};  // that a fault met; the caller's is the player's
  std::atomic<bool> ended{false};
};

// Reads the value of Command::PlayTimeout into `options`. "", for an option that was not given,
// sets PlayerOptions::wait_as_recorded. Errors: kInvalidArgument, in words for people.
Status ParsePlayTimeout(std::string_view timeout, PlayerOptions* options);

// The words behind "cairn" of this process, with which PlayInChild runs it again. Set before a verb runs.
void SetOwnWords(std::vector<std::string> words);

// A verb that plays traces.
struct PlayProcess {
  std::string_view verb;
  std::vector<std::string> paths;  // of the traces
  // Exit codes: if there is no child, and if the playback died.
  int failed = kExitFailed;
  int playback_failed = kExitPlaybackFailed;
  // A folder that the playback makes. If the playback is ended on purpose before it has an image, the folder goes
  // again; if it fails, that is up to the caller. "": none.
  std::string new_folder;
};

// Runs this program again as a child with the same words; there the same call runs `body`, and does not return.
// The child has this process's terminal and files; the result is its exit code. Signals that somebody sends to this
// process reach the child; who kills one of them kills both. If the child dies, one line on stderr says of what, at
// which call of which trace, and which GPU work had not ended. Signals that end programs on purpose (SIGINT, SIGTERM,
// ...) end this one, too.
// The child leaves without destructors of globals: those of drivers may wait for a GPU that hangs.
int PlayInChild(const PlayProcess& process, const std::function<int(PlayStatus&)>& body);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_PLAY_PROCESS_H_
