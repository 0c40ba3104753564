// SPDX-License-Identifier: Apache-2.0
#include "reader/report/suspect_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "reader/analysis/work_class.h"
#include "reader/report/describe.h"

namespace cairn {
namespace {

// Appends the fault of a resource that the work uses; mostly there is none.
void AppendUses(const Snapshot& snapshot, const Findings& findings, const SuspectWork& suspect,
                std::string& out) {
  const Analysis& analysis = findings.analysis;
  if (suspect.binding != kNone) {
    out += "; uses ";
    AppendBinding(snapshot, analysis.bindings[suspect.binding], out);
  }
  const uint32_t writer = findings.culprit.late_arguments_writer;
  if (writer == kNone || &suspect != &findings.culprit.suspects.front()) return;
  out += "; it reads its arguments before ";
  AppendScope(snapshot, analysis.scopes[writer], ScopeDetail::kShort, out);
  out += " of the same list writes them";
}

std::string_view ReasonWords(SuspectReason reason, bool has_pipeline) {
  switch (reason) {
    case SuspectReason::kOnlyWorkRunning: return "the only work running";
    case SuspectReason::kLeadsToFault: return "completed, and leads to the address of the fault";
    case SuspectReason::kFinishedByItsWord:
      return "completed, says its word, and may be the culprit all the same: the driver reports a "
             "fault, and nothing that was running can have made it";
    case SuspectReason::kFirstUnfinished:
      return has_pipeline ? "the first work with a pipeline that has not completed"
                          : "the first of its kind that has not completed";
    case SuspectReason::kUnfinished: return "reached, and not completed";
    case SuspectReason::kLastReached:
      return has_pipeline ? "the last work with a pipeline that the GPU reached"
                          : "the last of its kind that the GPU reached";
    case SuspectReason::kReached: return "reached earlier, and not known to have completed";
    case SuspectReason::kReachedTogether:
      return "reached; no barrier stands between it and the dispatch reached last";
    case SuspectReason::kMayHaveBegun: return "may have begun: nothing is written where it begins";
    case SuspectReason::kOutsideOfMarkers: return "its command list is ";  // and the state
    case SuspectReason::kRawMarkers: return "raw markers leave it open";
    case SuspectReason::kRawMarkerLost:
      return "the first work that raw markers do not prove completed, and no other can be "
             "the "
             "culprit; the marker before it is missing, but its write can be lost with the device";
    case SuspectReason::kRawMarkersClear:
      return "unlikely: raw markers say that it had completed or not begun";
    case SuspectReason::kTied: return "the GPU writes nothing around it";
    case SuspectReason::kRunsNothing: return "unlikely: it runs nothing itself";
    case SuspectReason::kHeldBack: return "unlikely: a wait holds its queue back";
    case SuspectReason::kEndUnseen: return "its end cannot be seen";
  }
  return "";
}

void AppendTie(const SuspectWork& suspect, std::string& out) {
  fmt::format_to(std::back_inserter(out), "one of {} {}, between which the GPU writes nothing",
                 suspect.tied_count, suspect.tied_in_pass ? "of this pass" : "works");
  switch (suspect.tie_evidence) {
    case TieEvidence::kNone: return;
    case TieEvidence::kAbsurdSize:
      out += "; likelier than others: by its arguments it would run for minutes";
      return;
    case TieEvidence::kLoops:
      out += "; likelier than others: a shader of its pipeline has a loop";
      return;
    case TieEvidence::kMayLoop: out += "; likelier than others, whose shaders have no loop"; return;
    case TieEvidence::kLarger:
      out += "; likelier than others: by its arguments it is a thousand times as large";
      return;
  }
}

}  // namespace

std::string_view HeadingOfSuspects(const Findings& findings) {
  return HasCulpritWork(findings.culprit.kind) ? "Suspects" : "What was running on the GPU";
}

void AppendSuspectWork(const Snapshot& snapshot, const Findings& findings,
                       const SuspectWork& suspect, std::string& out) {
  const Analysis& analysis = findings.analysis;
  const Scope* scope = suspect.scope == kNone ? nullptr : &analysis.scopes[suspect.scope];
  if (scope != nullptr) AppendCallOf(snapshot, *scope, out);
  AppendListPath(snapshot, analysis.executions[suspect.execution], out);
  if (scope != nullptr) {
    AppendScopePath(snapshot, analysis, *scope, out);
  } else if (suspect.after_marker == kNone) {
    out += " > (work outside of markers)";
  } else {
    fmt::format_to(std::back_inserter(out), " > (what was recorded behind marker {})",
                   suspect.after_marker);
  }
}

void AppendSuspectReason(const Snapshot& snapshot, const Findings& findings,
                         const SuspectWork& suspect, bool with_binding, std::string& out) {
  const bool has_pipeline =
      suspect.scope != kNone &&
      ClassOfScope(snapshot, findings.analysis.scopes[suspect.scope]) == WorkClass::kPipeline;
  if (suspect.reason == SuspectReason::kTied) {
    AppendTie(suspect, out);
  } else {
    out += ReasonWords(suspect.reason, has_pipeline);
    if (suspect.reason == SuspectReason::kOutsideOfMarkers) out += kInFlightWord;
  }
  if (with_binding) AppendUses(snapshot, findings, suspect, out);
}

}  // namespace cairn
