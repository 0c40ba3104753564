// SPDX-License-Identifier: Apache-2.0
//
// From progress words to what was running. Pure: plain data in, plain data out; no clock, no file,
// no graphics API. docs/internals/analysis.md derives the rules; command_processor_model.h is what they are
// tested against, over all legal orders.
#ifndef CAIRN_READER_ANALYSIS_ANALYSIS_H_
#define CAIRN_READER_ANALYSIS_ANALYSIS_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

// The proven state of a scope, a list or a frame.
enum class WorkState : uint8_t {
  kNotStarted,  // The GPU had not reached it, proven by a top-of-pipe word.
  kInFlight,    // Reached, or not proven unreached, and not proven finished: a candidate.
  kCompleted,   // A bottom-of-pipe word, a fence or a barrier proves that it finished.
  kUnknown,     // The marker mode was off: the GPU wrote nothing that tells.
};

// One scope of a recording's tree (a begin event with its end), in begin order: parents come before
// children, children are contiguous in depth-first order.
struct Scope {
  uint32_t event = 0;         // index into Snapshot::events of the kBegin
  uint32_t end_sequence = 0;  // sequence number of its kEnd; event_count + 1 when left open
  uint32_t parent = kNone;    // index into Analysis::scopes
  uint32_t depth = 0;
  uint32_t ordinal = 0;       // 1, 2, ... among its siblings of the same type; 0: none is shown
  uint32_t subtree_size = 1;  // scopes: itself and all inside it
  uint16_t type = 0;  // CairnMarkerType of the kBegin, here so that few need to read all events
  bool has_children : 1 = false;
  bool left_open : 1 = false;  // it has no kEnd of its own
  WorkState state = WorkState::kNotStarted;
};
static_assert(sizeof(Scope) == 28, "a dump has 100,000 of them, and several passes read them all");

// One execution of a recording; a recording never submitted as far as we know has one as well.
// Executions of one recording with equal states share their scopes, so that a list submitted ten
// thousand times does not cost ten thousand trees.
struct Execution {
  uint32_t recording = kNone;
  uint32_t submission = kNone;  // index into Snapshot::submissions, kNone if not told
  uint64_t frame = 0;           // of the submission; without one, of the recording
  uint32_t run = 1;
  WorkState state = WorkState::kNotStarted;
  uint32_t first_scope = 0;  // into Analysis::scopes
  uint32_t scope_count = 0;
};

// The state of a bound object at the moment when the GPU may have used it.
enum class BindingState : uint8_t {
  kAlive,
  kDestroyed,  // before the submission, or afterwards while the list was in flight
  kReplaced,   // its entry in the table of objects holds a younger one: it was destroyed before
  kUnknown,    // the address lies in no object that is known
  kNotSeen,    // nothing was looked for there: a descriptor set, or a part of it
};

// Something that was bound where a candidate begins.
struct Binding {
  BindPoint point = BindPoint::kRenderTarget;
  uint32_t slot = 0;  // without kBindSlotOfCompute
  bool of_compute = false;
  bool is_address = false;
  uint64_t address = 0;     // of an address, as bound
  uint32_t object = kNone;  // into Snapshot::objects; kNone for kReplaced and kUnknown
  uint64_t offset = 0;      // of the address, inside the object
  BindingState state = BindingState::kUnknown;
  // kDestroyed: ns from the submission, or where none is known from the snapshot, to the destruction;
  // negative if it was destroyed before. 0 where neither time is known.
  int64_t destroyed_after_ns = 0;
  bool since_submission = false;  // what destroyed_after_ns counts from
  // The destruction, into Snapshot::destructions; kNone if unknown.
  uint32_t destruction = kNone;
  // kDescriptorSet: which descriptor of the set; into Snapshot::descriptors. kNone for kNotSeen.
  uint32_t descriptor = kNone;
  uint32_t descriptor_set = kNone;  // into Snapshot::descriptor_sets
};

// The context of a candidate, which helps to understand it.
struct CandidateContext {
  uint32_t candidate = 0;  // into QueueVerdict::candidates
  // The innermost annotation around it, or itself if it is one; into Analysis::scopes, kNone for none.
  uint32_t annotation_scope = kNone;
  uint32_t first_binding = 0;  // into Analysis::bindings
  uint32_t binding_count = 0;
};
// If there are more candidates than these, only the first and the last ones get a context. The last
// one reached is the most likely culprit where the mode does not show what has finished.
inline constexpr uint32_t kExplainedFirstCandidates = 4;
inline constexpr uint32_t kExplainedLastCandidates = 12;

// The meaning of a list's words for one of its executions.
enum class ListWords : uint8_t {
  kItsOwn,  // they are of this execution
  // The list was submitted several times, not as reusable: their execution cannot be known.
  kOfSeveral,
  kOfOthers,    // the GPU wrote nothing that shows how far it came in this execution
  kImpossible,  // they hold values that no event of the list writes
};

// The facts from which a verdict follows; AppendQueueReason (reader/report/reason_text.h) says
// them.
struct QueueReason {
  // Executions of the queue: all, and those in a state.
  uint32_t execution_count = 0;
  uint32_t completed_count = 0;
  uint32_t in_flight_count = 0;
  uint32_t unknown_count = 0;
  uint32_t unseen_end_count = 0;  // in flight, and their end cannot be seen
  // The first one in flight, into Analysis::executions, kNone if none is; and its words.
  uint32_t first_in_flight = kNone;
  ListWords words = ListWords::kItsOwn;
  // Barriers, and no words, prove that its work before this event has finished, its dispatches, its
  // draws: sequence numbers, kAllEvents (scope_tree.h) for all of it. 0: they prove nothing.
  uint32_t drained_work = 0;
  uint32_t drained_dispatches = 0;
  uint32_t drained_draws = 0;
  // Commands behind the candidate of an exact verdict that were reached as well, and wait for it.
  uint32_t waiting_count = 0;
  uint32_t first_waiting = kNone;  // into Analysis::scopes
  uint32_t unwritten_count = 0;    // candidates at whose begin the GPU was to write nothing
  bool words_are_old = false;      // copies, not renewed when the process died
};

// The candidates of one queue, innermost scopes only, and the reasons.
struct QueueVerdict {
  uint32_t queue = kNone;  // kNone: lists registered without a queue
  uint32_t device = kNone;
  std::vector<uint32_t> candidates;  // into Analysis::scopes, in execution order
  // For each candidate its execution, into Analysis::executions.
  std::vector<uint32_t> candidate_executions;
  // In order of the candidates; of more than are explained, the first and the last ones.
  std::vector<CandidateContext> contexts;
  // Executions in flight of which no scope is a candidate: work outside any scope, a list without
  // events, or a further execution of a list whose executions cannot be distinguished.
  std::vector<uint32_t> list_candidates;
  // Work whose word says that it finished, and that may be the culprit all the same: the last of
  // the queue, where this run shows that words ran ahead (late_suspect.h). kNone nearly always.
  uint32_t late_suspect = kNone;            // into Analysis::scopes
  uint32_t late_suspect_execution = kNone;  // into Analysis::executions
  // The barrier behind it did not end; else its device's driver reports a fault.
  bool late_by_barrier = false;
  // True if the end of no execution in flight can be seen (a queue, a list or a place that takes no
  // writes): the executions are candidates only because nothing shows that they have finished.
  bool ends_unseen = false;
  // True where the marker mode was off, and some execution is neither known to have finished nor known
  // not to have been submitted; or where the words were old copies when the process died, and an execution
  // that was submitted may have begun since: then no candidates does not mean that nothing was running.
  bool unknown = false;
  bool exact =
      false;  // one candidate, and the rules prove that it was running and nothing else but barriers behind it
  QueueReason reason;
};

// Work that had finished, on a device where nothing that was in flight can have faulted, and that leads to the
// address of a fault (fault_users.h).
struct FaultUser {
  uint32_t verdict = kNone;    // its queue: into Analysis::verdicts
  uint32_t execution = kNone;  // into Analysis::executions
  uint32_t scope = kNone;      // into Analysis::scopes
  uint32_t binding = kNone;    // what leads there; into Analysis::bindings
};

struct Analysis {
  std::vector<Scope> scopes;
  std::vector<Execution> executions;  // in report order: device, frame, queue, submission
  std::vector<Binding> bindings;      // of candidates and fault users
  std::vector<QueueVerdict>
      verdicts;  // one for each queue that has executions, by device and queue
  // The latest of all queues first. Analyse leaves them empty, AnalyseDump (findings.h) finds them.
  std::vector<FaultUser> fault_users;
  // Some list asks for a raw marker, written or not.
  bool has_raw_markers = false;
  // For each of Snapshot::reported_event_ids the scope that has this EventID, the last one if there
  // are several; kNone if none has.
  std::vector<uint32_t> reported_scopes;
};

// Judges every scope, list and queue of `snapshot`. Time is linear in the number of events plus the
// sorting of executions; the number of allocations does not depend on the number of events (bench
// Analyse). Any snapshot whose indices are in range is safe, however its events nest or its words read.
Analysis Analyse(const Snapshot& snapshot);

// The queue that an execution ran on: of its submission, else of its recording; kNone if unknown.
uint32_t QueueOfExecution(const Snapshot& snapshot, const Execution& execution);

// The verdict of that queue: into Analysis::verdicts.
uint32_t VerdictOfExecution(const Snapshot& snapshot, const Analysis& analysis,
                            const Execution& execution);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_ANALYSIS_H_
