// SPDX-License-Identifier: Apache-2.0
#include "reader/report/suspect_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "base/text.h"
#include "reader/analysis/work_class.h"
#include "reader/report/describe.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

// Appends the fault of a resource that the work uses; mostly there is none.
void AppendUses(const Snapshot& snapshot, const Findings& findings, const SuspectWork& suspect,
                std::string& out) {
  const Analysis& analysis = findings.analysis;
  if (suspect.binding != kNone) {
    const Binding& binding = analysis.bindings[suspect.binding];
    out += IsSurelyUsed(binding.point) ? "; uses " : "; bound: ";
    AppendBinding(snapshot, binding, out);
  }
  if (findings.arguments.scope == kNone || &suspect != &findings.culprit.suspects.front()) return;
  out += "; arguments ";
  AppendArgumentsOrigin(snapshot, findings, out);
  if (findings.arguments.late_writer == kNone) return;
  out += "; ";
  AppendLateWriter(snapshot, findings, out);
}

// `Prepare > DISPATCH #1 (1, 1, 1) of submission 3`.
void AppendWriter(const Snapshot& snapshot, const Findings& findings, const ArgumentsWriter& writer,
                  std::string& out) {
  const Analysis& analysis = findings.analysis;
  std::string path;
  AppendScopePath(snapshot, analysis, analysis.scopes[writer.scope], path, ScopeDetail::kShort);
  out += std::string_view(path).substr(3);  // it begins with " > "
  if (writer.execution == findings.arguments.execution) {
    out += " of the same list";
    return;
  }
  const Execution& execution = analysis.executions[writer.execution];
  const Submission& submission = snapshot.submissions[execution.submission];
  fmt::format_to(std::back_inserter(out), " of submission {}", submission.number);
  const uint32_t queue = QueueOfExecution(snapshot, execution);
  if (queue == QueueOfExecution(snapshot, analysis.executions[findings.arguments.execution]))
    return;
  out += " of ";
  AppendQueue(snapshot, queue, out);
}

// ` (bound as descriptor set 0 binding 2)`.
void AppendPlace(const ArgumentsWriter& writer, std::string& out) {
  if (writer.point == BindPoint::kDestination) return;
  fmt::format_to(std::back_inserter(out), " (bound as {} {}", BindPointWord(writer.point),
                 writer.slot);
  if (writer.binding != kNone) {
    fmt::format_to(std::back_inserter(out), " binding {}", writer.binding);
  }
  out += ')';
}

// Appends why the only suspect is not proven, if it is not.
void AppendDoubt(const Snapshot& snapshot, const Findings& findings, const SuspectWork& suspect,
                 std::string& out) {
  const uint32_t device = findings.analysis.verdicts[suspect.verdict].device;
  if (findings.culprit.certainty == Certainty::kProven || device == kNone ||
      snapshot.devices[device].notes.empty()) {
    return;
  }
  out += "; not proven: ";
  AppendVisibleText(snapshot.Text(snapshot.devices[device].notes), out);
}

std::string_view ReasonWords(SuspectReason reason, bool has_pipeline) {
  switch (reason) {
    case SuspectReason::kOnlyWorkRunning: return kOnlyOneInFlight;
    case SuspectReason::kLeadsToFault: return "completed, and leads to the address of the fault";
    case SuspectReason::kFinishedByItsWord:
      return "its marker says that it completed, and it may be the culprit all the same: the "
             "driver "
             "reports a fault, and nothing that was in flight can have made it";
    case SuspectReason::kBarrierBehind:
      return "its marker says that it completed, but the barrier after it did not end: a barrier "
             "runs nothing, and waits for the work before it";
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
    case SuspectReason::kOutsideOfMarkers: return "its list is ";  // and the state
    case SuspectReason::kRawMarkers: return "raw markers leave it open";
    case SuspectReason::kRawMarkerLost:
      return "the first work that raw markers do not prove completed, and no other can be "
             "the "
             "culprit; the marker before it is missing, but its write can be lost with the device";
    case SuspectReason::kRawMarkersClear:
      return "unlikely: raw markers say that it had completed or not begun";
    case SuspectReason::kTied: return "no marker stands around it";
    case SuspectReason::kRunsNothing: return "unlikely: it runs nothing itself";
    case SuspectReason::kHeldBack: return "unlikely: a wait holds its queue back";
    case SuspectReason::kEndUnseen: return "its end cannot be seen";
  }
  return "";
}

void AppendTie(const SuspectWork& suspect, std::string& out) {
  const uint32_t others = suspect.tied_count - 1;
  fmt::format_to(std::back_inserter(out), "no marker separates it from {} other command{}{}",
                 others, Plural(others, "", "s"),
                 suspect.tied_in_pass ? " of its render pass" : "");
  switch (suspect.tie_evidence) {
    case TieEvidence::kNone: return;
    case TieEvidence::kAbsurdSize:
      out += "; more likely than others, because by its arguments it would run for minutes";
      return;
    case TieEvidence::kLoops:
      out += "; more likely than others, because a shader of its own pipeline has a loop";
      return;
    case TieEvidence::kMayLoop:
      out += "; more likely than others, whose shaders have no loop";
      return;
    case TieEvidence::kLarger:
      out += "; more likely than others, because by its arguments it is a thousand times as large";
      return;
  }
}

}  // namespace

std::string_view HeadingOfSuspects(const Findings& findings) {
  return HasCulpritWork(findings.culprit.kind) ? "Suspects" : "Running on the GPU";
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
    out += " > (commands without a marker)";
  } else {
    fmt::format_to(std::back_inserter(out), " > (what was recorded after marker {})",
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
    if (suspect.reason == SuspectReason::kOnlyWorkRunning) {
      AppendDoubt(snapshot, findings, suspect, out);
    }
  }
  if (with_binding) AppendUses(snapshot, findings, suspect, out);
}

void AppendUsualDuration(const UsualDuration& duration, std::string& out) {
  const auto words = [](uint64_t ns) { return DurationInWords(static_cast<int64_t>(ns)); };
  fmt::format_to(std::back_inserter(out), "its submission was unfinished for {}; ",
                 words(duration.unfinished_ns));
  if (duration.count == 1) {
    fmt::format_to(std::back_inserter(out),
                   "an earlier one with the same pipelines ended within {}",
                   words(duration.median_ns));
    return;
  }
  fmt::format_to(std::back_inserter(out),
                 "earlier ones with the same pipelines usually ended within {} (median of {}, the "
                 "longest {})",
                 words(duration.median_ns), GroupedDigits(duration.count),
                 words(duration.longest_ns));
}

void AppendLabelDuration(const Snapshot& snapshot, const Findings& findings, std::string& out) {
  const LabelDuration& duration = findings.label_duration;
  const auto words = [](uint64_t ns) { return DurationInWords(static_cast<int64_t>(ns)); };
  std::string path;
  AppendScopePath(snapshot, findings.analysis, findings.analysis.scopes[duration.scope], path,
                  ScopeDetail::kShort);
  out += std::string_view(path).substr(3);  // it begins with " > "
  if (duration.count == 1) {
    fmt::format_to(std::back_inserter(out), ": ended within {} in one earlier submission",
                   words(duration.median_ns));
  } else {
    fmt::format_to(std::back_inserter(out),
                   ": usually ended within {} (median of {} submissions, the longest {})",
                   words(duration.median_ns), GroupedDigits(duration.count),
                   words(duration.longest_ns));
  }
  if (duration.running_ns == 0) return;
  fmt::format_to(std::back_inserter(out), "; the suspect has run for at least {}",
                 words(duration.running_ns));
}

void AppendArgumentsOrigin(const Snapshot& snapshot, const Findings& findings, std::string& out) {
  constexpr std::string_view kCpuToo =
      "; the program has the memory mapped: the CPU can have written them";
  const ArgumentsOrigin& origin = findings.arguments;
  out += "in ";
  AppendObject(snapshot, snapshot.objects[origin.buffer], out);
  if (origin.last.scope == kNone) {
    out += "; no command in this file is known to have written them";
    if (origin.is_mapped) out += kCpuToo;
    return;
  }
  out += origin.last.is_certain ? ", last written by " : ", perhaps last written by ";
  AppendWriter(snapshot, findings, origin.last, out);
  AppendPlace(origin.last, out);
  if (origin.certain.scope != kNone) {
    out += ", before that by ";
    AppendWriter(snapshot, findings, origin.certain, out);
  }
  if (origin.is_mapped) out += kCpuToo;
}

void AppendLateWriter(const Snapshot& snapshot, const Findings& findings, std::string& out) {
  out += "the command reads them before ";
  AppendScope(snapshot, findings.analysis.scopes[findings.arguments.late_writer],
              ScopeDetail::kShort, out);
  out += " of the same list writes them";
}

}  // namespace cairn
