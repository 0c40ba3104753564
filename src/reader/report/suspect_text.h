// SPDX-License-Identifier: Apache-2.0
//
// A suspect and the reason for its rank in words, for every form of the report.
#ifndef CAIRN_READER_REPORT_SUSPECT_TEXT_H_
#define CAIRN_READER_REPORT_SUSPECT_TEXT_H_

#include <string>
#include <string_view>

#include "reader/analysis/findings.h"

namespace cairn {

// The claim about the only suspect.
inline constexpr std::string_view kOnlyOneInFlight =
    "it began and did not end; no other command with a marker was in flight";

// The heading above several: "Suspects", or "Running on the GPU" if something else failed.
std::string_view HeadingOfSuspects(const Findings& findings);

// `call 18,233, frame 0: "Main" > Frame > DRAW #1`, the call only if it is known. Names stand in it as they are.
void AppendSuspectWork(const Snapshot& snapshot, const Findings& findings,
                       const SuspectWork& suspect, std::string& out);

// `the last work with a pipeline that the GPU reached; bound: vertex buffer 0: resource "Mesh", destroyed`, the
// second half with `with_binding` only. Visible text. `suspect` is one of `findings`.
void AppendSuspectReason(const Snapshot& snapshot, const Findings& findings,
                         const SuspectWork& suspect, bool with_binding, std::string& out);

// Returns false for what was destroyed, or lies in no object that is known.
inline bool IsHarmless(const Binding& binding) {
  return binding.state == BindingState::kAlive || binding.state == BindingState::kNotSeen;
}

// Returns true if a command with this binding accesses it: shaders need not access what is bound for them.
inline bool IsSurelyUsed(BindPoint point) {
  return point == BindPoint::kSource || point == BindPoint::kDestination ||
         point == BindPoint::kIndirectArguments || point == BindPoint::kSecondary;
}

// `its submission was unfinished for 9.8 s; earlier ones with the same pipelines usually ended within 200 µs (median of
// 41, the longest 1.1 ms)`
void AppendUsualDuration(const UsualDuration& duration, std::string& out);

// `Frame 41 > Lighting: usually ended within 400 µs (median of 31 submissions, the longest 2.1 ms); the suspect has run
// for at least 9.8 s`
void AppendLabelDuration(const Snapshot& snapshot, const Findings& findings, std::string& out);

// `in buffer "Arguments", last written by COPY_BUFFER #1 (12 bytes) of the same list`, of the first suspect's arguments.
void AppendArgumentsOrigin(const Snapshot& snapshot, const Findings& findings, std::string& out);

// `the command reads them before FILL_BUFFER #2 of the same list writes them`; needs a late writer.
void AppendLateWriter(const Snapshot& snapshot, const Findings& findings, std::string& out);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_SUSPECT_TEXT_H_
