// SPDX-License-Identifier: Apache-2.0
//
// Turns a play in a child process (reader/bisect/probe_process.h) into an answer for a search
// (reader/bisect/bisect.h).
#ifndef CAIRN_READER_BISECT_PROBE_ANSWER_H_
#define CAIRN_READER_BISECT_PROBE_ANSWER_H_

#include <string>

#include "base/status.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/probe_process.h"

namespace cairn {

// A hang, a lost device and a death are failures, wherever they are; a refused call is no answer. What is
// unclear is undecided, and so is a child that somebody else has killed (SIGKILL; that is what a machine does
// that runs out of memory). Only a play that says that it finished, and ended so, is clean.
// Errors: kInterrupted, which ends a search because the user wants it to; kUnsupported for what is not the trace's
// fault, with the child's message.
Result<ProbeAnswer> AnswerOf(const ProbeRun& run, const BisectTree& tree);

// The same of a search on `device`: a play on another one is undecided. A GPU that has just crashed may not be
// there for a while, and the next best is taken, which is mostly one of software.
Result<ProbeAnswer> AnswerOf(const ProbeRun& run, const BisectTree& tree,
                             const DeviceFacts& device);

// "it was played on X (...), not on Y (...)"
std::string OtherDevice(const DeviceFacts& there, const DeviceFacts& wanted);

// Returns "SIGSEGV"; "signal 99" for a number without a name.
std::string SignalName(int number);

// The last submission at or before a call; 0 if there is none.
uint64_t PlaceOf(uint64_t call, const BisectTree& tree);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_PROBE_ANSWER_H_
