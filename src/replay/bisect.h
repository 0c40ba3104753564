// SPDX-License-Identifier: Apache-2.0
//
// Finds the calls without which a trace does not fail: pure strategy; who probes is somebody else
// (replay/probe_process.h: a child process under a watchdog; tests: a model).
//
//   submissions -> lists of the guilty submission -> calls of the guilty list
//
// Each step leaves work out and looks whether the failure stays. A failure that needs two calls ends with
// both. Deterministic: the same answers give the same questions, so that a search goes on where it was
// interrupted by answering from its journal.
#ifndef CAIRN_REPLAY_BISECT_H_
#define CAIRN_REPLAY_BISECT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "replay/player.h"

namespace cairn {

enum class ProbeOutcome : uint8_t {
  kClean,    // everything ran, canaries too
  kFails,    // hang, lost device, or death, where the trace's own failure is
  kInvalid,  // what is left makes no sense (the device refused a call): says nothing
};

// A thing that can be left out.
struct Suspect {
  enum class Kind : uint8_t { kSubmission, kList, kCall };
  Kind kind = Kind::kSubmission;
  uint64_t call = 0;   // number: of ExecuteCommandLists, or of the work
  uint32_t list = 0;   // kList: index in the submission
};

struct BisectQuestion {
  std::vector<Suspect> left_out;  // sorted
};

struct BisectProgress {
  uint64_t probes_done = 0;
  uint64_t probes_expected = 0;  // at most, as far as is known now
  std::string what;              // "12 submissions", "the 40 calls of list 3 of submission 1,204"
};

struct BisectAnswer {
  bool found = false;
  std::vector<Suspect> culprits;  // calls; lists or submissions where it cannot be narrowed down
  std::string why;                // when not found: the trace does not fail, or not every time
  uint64_t probes = 0;
};

// What can be left out, in the order of the trace.
struct BisectTree {
  struct List {
    uint32_t index = 0;
    uint64_t object = 0;
    std::vector<uint64_t> calls;  // its work: draws, dispatches, copies, ...
  };
  struct Submission {
    uint64_t call = 0;
    std::vector<List> lists;
  };
  std::vector<Submission> submissions;
};

using Probe = std::function<Result<ProbeOutcome>(const BisectQuestion&)>;

// Asks at most `max_probes` questions; each failing answer that matters is asked `repeats` times (a fault
// may be a matter of luck). Errors: those of `probe` (interrupted, no device).
Result<BisectAnswer> Bisect(const BisectTree& tree, const Probe& probe, uint32_t repeats,
                            uint64_t max_probes,
                            const std::function<void(const BisectProgress&)>& progress);

}  // namespace cairn

#endif  // CAIRN_REPLAY_BISECT_H_
