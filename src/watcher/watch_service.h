// SPDX-License-Identifier: Apache-2.0
//
// cairn watchd: waits for programs of this user that `cairn run` did not start, and gives each that hands over a block
// a watcher of its own. A watcher is a process that `cairn watch` is (WatchInherited), so what a program does to its
// watcher, and what becomes of this service meanwhile, concerns no other.
//
//   the program creates a VkInstance    its layer connects, and greets            one handle here
//   it creates a device                 its layer hands over the block            a watcher is started with that end
//   it ends                             the watcher reports, or not, and ends
//
// Linux only.
#ifndef CAIRN_WATCHER_WATCH_SERVICE_H_
#define CAIRN_WATCHER_WATCH_SERVICE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace cairn {

// The most that programs can make the service spend; docs/reference/bounds.md. Programs beyond are not watched.
inline constexpr size_t kMostGreeted = 4096;     // connections without a block
inline constexpr size_t kMostGreetedOfOne = 16;  // of one process; a further one ends its oldest
inline constexpr size_t kMostWatchedPrograms = 256;  // at once, by the process that connected

struct WatchServiceSettings {
  // Returns the command line of a watcher for this program, of which [0] is a path, that finds its end of the channel
  // under this number.
  std::function<std::vector<std::string>(const std::string& program, uint64_t number)> watcher;
  // Takes one line: programs that are not watched.
  std::function<void(const std::string& line)> warn;
  // Called once the doors are open.
  std::function<void()> ready;
};

// Returns when this process is asked to end (SIGTERM, ^C); watchers go on. Errors: those of ServiceDoors::Open. Call it
// from the only thread.
Status RunWatchService(const WatchServiceSettings& settings);

}  // namespace cairn

#endif  // CAIRN_WATCHER_WATCH_SERVICE_H_
