// SPDX-License-Identifier: Apache-2.0
//
// The processes of a run, kept for the case that none of them had GPU work that was followed: what
// they loaded, and why the layers were not in them. Also names the processes that are still waited
// for once the program itself has ended. Processes are looked at seldom, and never again once their
// work is followed.
#ifndef CAIRN_WATCHER_DESCENDANT_LOG_H_
#define CAIRN_WATCHER_DESCENDANT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "os/descendants.h"

namespace cairn {

// A run: the program as it was typed, the library and the address that it was given, and the word
// to type for cairn.
struct RunFacts {
  std::vector<std::string> arguments;  // of the program, as typed
  std::string library;                 // that is preloaded; "" without layers
  std::string address;          // "NAME=value" that all descendants have in their environment
  std::string cairn = "cairn";  // this program, as it is typed where PATH may be another one
  ProcessLook file;             // LookAtProgramFile of the program
};

// The reason why the layers were not in a process.
enum class Unfollowed : uint8_t {
  kNot,             // they were, or could have been
  kNoLayer,         // --no-layer, or it was not found
  kOtherUser,       // sudo, su
  kMoreRights,      // setuid, setgid, capabilities
  kNoEnvironment,   // env -i, an empty environment
  kLibraryHidden,   // in a container
  kManifestHidden,  // the same, with the library under another path and no manifest that names it
  kOutOfReach,      // the same, with namespaces from which no way leads to the watcher
  kIs32Bit,
  kIsStatic,
  kOtherPreload,   // LD_PRELOAD without ours
  kOtherLayers,    // VK_INSTANCE_LAYERS without ours
  kLayerDisabled,  // VK_LOADER_LAYERS_DISABLE, or CAIRN_DISABLE_VULKAN_LAYER in a container
  kBreadcrumbsOff,
  kDriverAlone,  // a driver was opened without the Vulkan loader
  kOpenGl,
};
Unfollowed WhyUnfollowed(const ProcessLook& look, const RunFacts& run);

// Processes that end before they are looked at are not known: one that lives for less than 20 ms. One thread.
class DescendantLog {
 public:
  explicit DescendantLog(RunFacts run) : run_(std::move(run)) {}

  // Returns the library and the variables to look for in LookAtProcess.
  LookFor wanted() const;
  // Returns the time of the next look, by the same clock as `now_ns`: soon after the start, then
  // every 0.5 s.
  uint64_t next_look_ns() const { return next_look_ns_; }

  // `living`: all descendants at `now_ns`. `look`: LookAtProcess, for those of which more has to be known.
  void See(const std::vector<Descendant>& living, uint64_t now_ns,
           const std::function<ProcessLook(ProcessId id)>& look);

  // The last look took so long: it shall cost a twentieth of a processor at most.
  void NoteCost(uint64_t now_ns, uint64_t cost_ns);
  // Looks as often as at the start from now on.
  void LookSoon() { interval_ns_ = next_look_ns_ = 0; }

  // Returns what was seen of this process last; null if nothing was.
  const ProcessLook* LookOf(ProcessId id) const;

  struct Awaiting {
    uint64_t ended_ns = 0;           // when the program ended
    bool had_work = false;           // somebody had GPU work that was followed
    std::vector<ProcessId> without;  // for nothing
  };
  // Returns the processes worth waiting for after the program's end, as names with numbers: they
  // have loaded a library of the GPU, or have not had `kGraceNs` for that. If no process had GPU
  // work yet, also those that share the program's session, for any time: the program was their
  // launcher. Excludes the servers of Wine, which end by themselves.
  std::vector<std::string> Awaited(const Awaiting& awaiting, uint64_t now_ns) const;

  // A sentence for each process that used the GPU and was not followed, with its cause and the line to type; where
  // there is none, for those that the layers could not have been in. At most kMostTold, and one that counts the others.
  std::vector<std::string> TellUnfollowed() const;
  // Returns a sentence that names the processes that ran, for a run without a result of
  // TellUnfollowed(). If none lived long enough to be seen, it is about the program: what its file says, or
  // the next step.
  std::string TellWhoRan() const;

  static constexpr uint64_t kGraceNs = uint64_t{5} * 1'000'000'000;
  static constexpr size_t kMostTold = 4;
  static constexpr size_t kMostKept = 512;

 private:
  struct Known {
    Descendant process;
    ProcessLook look;
    bool alive = true;
    uint64_t looked_ns = 0;
    uint64_t wait_ns = 0;  // until the next look
  };

  std::string Sentence(const Known& known) const;
  std::string TellOfFile() const;
  // Returns the cause and the next step, continuing "was not followed: ".
  std::string CauseOf(const Known& known) const;
  std::string LineToType(const Known& known) const;
  // Returns the process that lost the run's environment on the way: ", by sudo (process 71)"; "" if
  // it is not known.
  std::string LostBy(const Known& known) const;

  RunFacts run_;
  uint64_t next_look_ns_ = 0;
  uint64_t interval_ns_ = 0;
  ProcessId session_ = -1;  // of the program
  // The processes by number; a new process with the number of an ended one replaces it.
  std::map<ProcessId, Known> known_;
  size_t others_ = 0;  // that there was no room for
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_DESCENDANT_LOG_H_
