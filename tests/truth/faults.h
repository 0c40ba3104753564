// SPDX-License-Identifier: Apache-2.0
//
// The faults that the program can inject, one a run, by name: what is done, to which work.
#ifndef CAIRN_TESTS_TRUTH_FAULTS_H_
#define CAIRN_TESTS_TRUTH_FAULTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cairn::truth {

// The fault of the work, or of the program while the work runs.
enum class Misdeed : uint8_t {
  kNone,
  kStore,             // through an address
  kLoad,              // through an address
  kStoreToDestroyed,  // through a descriptor whose buffer was destroyed and its memory freed
  kLoadFromDestroyed,
  kFetchVertices,  // from a vertex buffer that was destroyed
  kFetchIndices,
  kFetchArguments,  // of an indirect dispatch or draw
  kLong,            // takes `--seconds`, and ends
  kEndless,         // waits for a word that nobody writes; gives up in the end
  kAbsurdCount,     // of groups or instances, from a buffer of arguments
  kWaitForEvent,    // a command that waits for an event that nobody sets
  kWaitForever,     // its submission waits for a semaphore that nobody signals
  kWaitTooFar,      // for a value that the semaphore never gets
  kDeadlock,        // two queues wait for each other
  kSlow,            // takes a while, less than any watchdog's time
};

enum class Where : uint8_t { kNowhere, kFar, kNear, kNull, kFreed };
enum class Lanes : uint8_t { kAll, kOne };
enum class Stage : uint8_t { kPixelOrCompute, kVertex };

// The fault of the program itself.
enum class Deed : uint8_t {
  kNothing,
  kSegmentationFault,  // in a thread of its own
  kAbort,
  kDivideByZero,
  kStackOverflow,
  kKill,       // SIGKILL
  kTerminate,  // SIGTERM
  kExit,       // with 3, at once
  kIdle,       // does nothing for longer than the watchdog waits
};
enum class When : uint8_t {
  kWhileItRuns,     // the work of the fault
  kBeforeAnything,  // with everything recorded, and nothing submitted
  kAfterSubmit,     // at once
  kAtTheEnd,        // everything has finished
};

struct Place {
  const char* pass = nullptr;
  const char* label = nullptr;
  uint32_t ordinal = 1;
};

struct Fault {
  const char* name;
  const char* what;  // for --list, one clause
  Misdeed misdeed = Misdeed::kNone;
  Place place;
  Where where = Where::kNowhere;
  Lanes lanes = Lanes::kAll;
  Stage stage = Stage::kPixelOrCompute;
  Deed deed = Deed::kNothing;
  When when = When::kWhileItRuns;
  bool nothing_behind = false;  // no frame is submitted behind that of the fault
  bool neighbours = false;      // Neighbours() take a while beside it
};

// Innocent work of the same frame that takes `share` of Durations::slow_s.
struct Neighbour {
  Place place;
  double share;
};
// One in front of the fault, on its queue, so that the other queue has begun by then; one on the other queue, which
// still runs when the fault comes.
std::span<const Neighbour> Neighbours();

std::span<const Fault> Faults();
// Null if there is none of that name.
const Fault* FindFault(const std::string& name);

// The kind of device, which decides what can be observed.
enum class Backend : uint8_t {
  kCpu,  // lavapipe: a wild access ends the process
  kGpu,
  kScripted,  // tests/icd: no shader runs
};
const char* NameOf(Backend backend);
// Kinds of verdict (docs/reference/report.md) that are right for it on such a device.
std::vector<const char*> RightKinds(const Fault& fault, Backend backend);
// Returns the role of the place in the fault: "culprit", "running" (while the program died), "slow"
// (and innocent), or "".
const char* RoleOf(const Fault& fault);
// "healthy", "hang", "wait", "death" (of the process) or "memory".
const char* GroupOf(const Fault& fault);
bool NeedsTwoQueues(const Fault& fault);

}  // namespace cairn::truth

#endif  // CAIRN_TESTS_TRUTH_FAULTS_H_
