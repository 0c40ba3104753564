// SPDX-License-Identifier: Apache-2.0
//
// Finds the calls without which a trace does not fail: pure strategy; who probes is somebody else
// (reader/bisect/probe_process.h: a child process under a watchdog; tests: a model).
//
//   submissions -> lists of the guilty submissions -> calls of the guilty lists
//
// A program that runs itself is searched in the same way (reader/bisect/work_tree.h): its scopes stand for
// submissions, what one pipeline does in a scope for lists, single pieces of work for calls.
//
// Each step leaves work out and looks whether the failure stays. A failure that needs two calls ends with
// both. Deterministic: the same answers give the same questions, so that a search goes on where it was
// interrupted by answering from its journal (reader/bisect/bisect_journal.h).
//
// The guarantee of an answer: the trace was seen to fail with nothing but the culprits left,
// several times, and was not seen to fail with any one of several culprits left out as well.
// docs/internals/bisect.md.
#ifndef CAIRN_READER_BISECT_BISECT_H_
#define CAIRN_READER_BISECT_BISECT_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/replay/kept_parts.h"

namespace cairn {

enum class ProbeOutcome : uint8_t {
  kClean = 1,    // everything ran, canaries too
  kFails = 2,    // hang, lost device, or death
  kInvalid = 3,  // what is left makes no sense (the device refused a call): says nothing
  // Something odd came between, which another play may not meet: no memory, a foreign SIGKILL, work that
  // ended while its time was running out. Neither clean nor a failure; asked again.
  kUndecided = 4,
};

enum class FailureKind : uint8_t {
  kNone = 0,  // not known
  kHang = 1,
  kLost = 2,  // the device
  kDied = 3,  // the process
};

struct ProbeAnswer {
  ProbeOutcome outcome = ProbeOutcome::kClean;
  // kFails: where it showed, the number of an ExecuteCommandLists call: the last one at or before the
  // call that was being made, left out or not; 0: before the first.
  uint64_t place = 0;
  // kFails: how it failed, and of which signal the process died; 0: of none.
  FailureKind kind = FailureKind::kNone;
  int signal = 0;
  std::string why;  // kUndecided: what came between
};

// A thing that can be left out.
struct Suspect {
  enum class Kind : uint8_t { kSubmission, kList, kCall };
  Kind kind = Kind::kSubmission;
  uint64_t call = 0;  // number: of ExecuteCommandLists, or of the work
  uint32_t list = 0;  // kList: index in the submission

  auto operator<=>(const Suspect&) const = default;
};

struct BisectQuestion {
  std::vector<Suspect> left_out;  // sorted
  // The first submission after all that matter: the play may end before it. ~0: play all.
  uint64_t stop_before = ~uint64_t{0};
  // True: work that is not in the tree stays. False: it is omitted with the rest, if anything is.
  bool rest_stays = false;
  // One call does only a part of what it was to do.
  std::optional<KeptParts> parts;
};

struct BisectProgress {
  uint64_t probes_done = 0;
  uint64_t probes_expected = 0;  // in all, as far as is known now; not fewer than are done
  std::string what;              // "12 submissions", "the 40 calls of the failing list"
};

// The reason why no culprit was found.
enum class NoCulprit : uint8_t {
  kNone,           // one was found
  kRefused,        // the device refuses what the whole trace asks for
  kNeverFails,     // none of the first plays of the whole trace failed
  kFailsAnyway,    // it fails with everything left out
  kContradiction,  // what failed once did not fail again
};

struct BisectAnswer {
  bool found = false;
  // Calls, in the order of the trace; lists or submissions where it cannot be narrowed down.
  std::vector<Suspect> culprits;
  NoCulprit no_culprit = NoCulprit::kNone;
  uint64_t contradicted_after = 0;  // kContradiction: so many probes
  // The failure: its place and kind (ProbeAnswer). If the first plays differed in place, kind or
  // both, any counts.
  uint64_t place = 0;
  FailureKind kind = FailureKind::kNone;
  int signal = 0;
  bool place_varies = false;
  bool kind_varies = false;
  uint32_t failed = 0;  // so many of `asked` plays of the whole trace failed
  uint32_t asked = 0;
  uint32_t repeats = 0;    // so many were to be asked; the device refused the others
  uint64_t undecided = 0;  // plays of whatever question that were asked again
  // The trace without the culprits: clean, or it fails in `other_place`, of something else. kInvalid: not
  // known.
  ProbeOutcome without = ProbeOutcome::kInvalid;
  uint64_t other_place = 0;
  uint64_t probes = 0;
};

// Returns true if the answer is the same failure, and not another one.
bool IsSameFailure(const BisectAnswer& failure, const ProbeAnswer& answer);

// Returns the plays after which the remaining work counts as clean: one, if the whole trace always
// failed.
uint32_t TriesOf(const BisectAnswer& failure);

// The parts that can be omitted, in the order of the trace.
struct BisectTree {
  struct List {
    uint64_t object = 0;
    // The list's work: draws, dispatches, copies, ... Executions of the same recording share it.
    std::shared_ptr<const std::vector<uint64_t>> calls;
    uint64_t recorded_from = 0;  // the call with which the recording begins, 0: the list's creation
  };
  struct Submission {
    uint64_t call = 0;
    std::vector<List> lists;  // by their index
  };
  std::vector<Submission> submissions;
  std::map<uint64_t, List> bundles;  // as they were recorded, by the call that executes them
  bool may_draw = false;             // MayDraw() of some of the work
};

// The words for the parts in texts.
struct BisectWords {
  std::string whole = "trace";
  std::string play = "replay";
  std::string submission = "submission";
  std::string list = "list";
  std::string call = "call";
  std::string calls = "calls";
  std::string here = " on this device";  // behind "the trace does not fail"
};

// Plays the trace without the omitted parts.
using Probe = std::function<Result<ProbeAnswer>(const BisectQuestion&)>;

struct BisectOptions {
  // The plays of the whole trace at the beginning, and the checks of the answer at the end. For a
  // trace that fails only sometimes each clean answer is asked again, until 99 of 100 such failures
  // would have shown; its culprit must fail about half as often as the whole trace did, and more
  // than once.
  uint32_t repeats = 2;
  uint64_t max_probes = 100'000;
  // The number of undecided plays of one question in a row that ends the search: a guess would name
  // an innocent call.
  uint32_t most_undecided = 4;
  std::function<void(const BisectProgress&)> progress;  // before each probe; may be empty
  BisectWords words;
};

// Errors: those of `probe` (interrupted, no device); kUnsupported: a question that stays undecided, with
// what came between, or more probes than allowed. For N suspects on a level and C culprits it takes
// about C * log2(N) probes, fewer where the failure needs nothing but the submission in which it shows.
// `tree` is not looked at before the first `repeats` plays, of the whole: who learns from those what there is
// fills it then.
Result<BisectAnswer> Bisect(const BisectTree& tree, const Probe& probe,
                            const BisectOptions& options);

// Returns true if the minimal trace that `probe` plays fails like `failure`. Plays it TriesOf times
// at most; plays that are undecided do not count, but `most_undecided` of them in a row are an
// error. Errors: those of `probe`; kUnsupported.
Result<bool> FailsTheSame(const BisectAnswer& failure, const Probe& probe,
                          const BisectOptions& options);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_BISECT_H_
