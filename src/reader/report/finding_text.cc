// SPDX-License-Identifier: Apache-2.0
#include "reader/report/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cairn/marker_types.h"

#include "base/signal_name.h"
#include "base/text.h"
#include "reader/analysis/work_class.h"
#include "reader/report/call_text.h"
#include "reader/report/describe.h"
#include "reader/report/fault_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr size_t kQueuesNamed = 4;

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

// Returns true if the reason's words begin with "unlikely".
bool IsUnlikely(SuspectReason reason) {
  return reason == SuspectReason::kRawMarkersClear || reason == SuspectReason::kRunsNothing ||
         reason == SuspectReason::kHeldBack;
}

class FindingWriter {
 public:
  FindingWriter(const Snapshot& snapshot, const Findings& findings, bool with_pipelines,
                std::string& out)
      : snapshot_(snapshot),
        findings_(findings),
        analysis_(findings.analysis),
        finding_(findings.culprit),
        with_pipelines_(with_pipelines),
        out_(out) {}

  void Write() {
    if (finding_.kind == FindingKind::kDeadlock) return WriteDeadlock();
    if (finding_.kind == FindingKind::kEndlessWait) return WriteEndlessWait();
    WriteWhatHappened();
    if (finding_.suspects.empty()) {
      WriteNoSuspect();
      out_ += '.';
      AppendStrayTables(snapshot_, finding_.crash_tables, out_);
      WriteFreedInFlight();
      return;
    }
    if (finding_.certainty == Certainty::kUnknown) {
      Format("; what was running is unknown, {} candidate{} no end that can be seen: ",
             finding_.suspects.size(), Plural(finding_.suspects.size(), " has", "s have"));
      AppendWork(finding_.suspects.front());
    } else if (AccusesWork(finding_.kind)) {
      WriteAccused();
    } else {
      WriteRunning();
    }
    out_ += '.';
    WritePlace(finding_.suspects.front());
    AppendStrayTables(snapshot_, finding_.crash_tables, out_);
    WriteFreedInFlight();
  }

 private:
  template <typename... Arguments>
  void Format(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  void WriteDeadlock() {
    if (finding_.cycle == kNone) {
      out_ += "Deadlock: queues wait for each other.";
    } else {
      AppendCycle(snapshot_, findings_.waits, findings_.waits.cycles[finding_.cycle], out_);
    }
  }

  void WriteEndlessWait() {
    const Wait& wait = findings_.waits.waits[finding_.wait];
    const Sync& sync = snapshot_.syncs[wait.sync];
    out_ += "A wait does not end: ";
    AppendQueue(snapshot_, sync.queue, out_);
    out_ += " waits for ";
    AppendSync(snapshot_, sync, out_);
    switch (wait.state) {
      case WaitState::kNeverSignalled: out_ += ", which nothing was told to signal so far."; break;
      case WaitState::kUnknown: out_ += ", and what would signal it is not known."; break;
      default: out_ += ", which the presentation engine has not signalled."; break;
    }
  }

  void WriteWhatHappened() {
    const Incident* incident =
        finding_.incident == kNone ? nullptr : &snapshot_.incidents[finding_.incident];
    switch (finding_.kind) {
      case FindingKind::kGpuFault: WriteFault(); break;
      case FindingKind::kDeviceLost: {
        const std::string_view name = DeviceLostCodeName(incident->value);
        Format("The device was lost ({})",
               name.empty() ? DeviceLostCodeInWords(incident->value) : std::string(name));
        break;
      }
      case FindingKind::kGpuHang:
        out_ += "The GPU hung";
        if (finding_.may_be_fault) {
          out_ += ", or a fault that the driver does not report stopped it";
          if (finding_.certainty == Certainty::kProven) out_ += ',';
        }
        break;
      case FindingKind::kCpuFault:
        WriteSignal("The program died of ", incident->value);
        WriteCrash();
        break;
      case FindingKind::kKilled: WriteSignal("The program was killed by ", incident->value); break;
      case FindingKind::kExited:
        if (incident->kind == IncidentKind::kExited) {
          Format("The program exited with code {}, with GPU work unfinished", incident->value);
        } else {
          out_ += "The program ended with GPU work unfinished";
        }
        break;
      case FindingKind::kNothingWrong:
        if (incident == nullptr) {
          out_ += "No incident was noticed";
        } else if (incident->kind == IncidentKind::kExited) {
          Format("The program exited with code {}", incident->value);
        } else if (incident->kind != IncidentKind::kRequested) {
          out_ += "What happened is not known to this version";
        } else {
          out_ += "Nothing had gone wrong: this report was asked for";
        }
        break;
      case FindingKind::kDeadlock:
      case FindingKind::kEndlessWait: break;
    }
  }

  void WriteFault() {
    out_ += "The GPU faulted";
    if (finding_.fault_address != kNone) {
      const FaultAddress& address = snapshot_.fault_addresses[finding_.fault_address];
      Format(" ({} at {:#x})", FaultAddressTypeWord(address.type), address.address);
    } else {
      out_ += " (says the kernel's log)";
    }
  }

  void WriteSignal(const char* what, int64_t number) {
    out_ += what;
    const std::string_view name = SignalName(number);
    out_ += name.empty() ? SignalInWords(number) : std::string(name);
  }

  // Writes the call that the thread was in, and the object that its address lies in or near.
  void WriteCrash() {
    AppendUnreturnedCall(snapshot_, finding_.crash, out_);
    for (const FaultAddressVerdict& verdict : findings_.addresses.of_cpu) {
      if (verdict.incident != finding_.incident || !verdict.near_object) continue;
      Format(", at {:#x}, ", verdict.given);
      if (verdict.owners.empty()) {
        AppendOwners(snapshot_, verdict, 1, out_);
      } else {
        AppendCrashOwner(snapshot_, verdict.owners.front(), out_);
      }
    }
  }

  // Writes the objects that the failed work may have accessed and that were destroyed while it was
  // in flight, unless the address of a fault names them. Those of the device in question.
  void WriteFreedInFlight() {
    if (!AccusesWork(finding_.kind) || finding_.fault_address != kNone) return;
    const FreedInFlight* first = nullptr;
    size_t count = 0;
    for (const FreedInFlight& freed : findings_.freed_in_flight) {
      const uint32_t device = snapshot_.objects[freed.object].device;
      if (findings_.device != kNone && device != findings_.device) continue;
      if (count++ == 0) first = &freed;
    }
    if (first == nullptr) return;
    if (count == 1) {
      Format(" While work was {}, memory that shaders may reach by address was destroyed: ",
             kInFlightWord);
    } else {
      Format(
          " While work was {}, {} objects that shaders may reach by address were destroyed, the "
          "first: ",
          kInFlightWord, count);
    }
    AppendFreedInFlight(snapshot_, *first, out_);
    out_ += '.';
  }

  void WriteLastFinished() {
    out_ +=
        "; all marked work that had begun had finished. A GPU may go on behind a wrong access: the "
        "culprit may be among what had finished. The last";
    const size_t count = finding_.last_completed.size();
    const size_t named = std::min(count, kQueuesNamed);
    for (size_t i = 0; i < named; ++i) {
      const CompletedWork& last = finding_.last_completed[i];
      out_ += i == 0 ? " on " : "; on ";
      AppendQueue(snapshot_, analysis_.verdicts[last.verdict].queue, out_);
      out_ += " was ";
      const Recording& recording =
          snapshot_.recordings[analysis_.executions[last.execution].recording];
      if (last.scope != kNone) {
        AppendWork({.verdict = last.verdict, .execution = last.execution, .scope = last.scope});
        out_ += " in ";
      }
      AppendList(recording);
    }
    if (count > named) Format("; and {} more queues", count - named);
  }

  void WriteNoSuspect() {
    if (finding_.certainty == Certainty::kAllCompleted) {
      WriteLastFinished();
    } else if (finding_.certainty == Certainty::kNothingRunning) {
      out_ += AccusesWork(finding_.kind) ? "; no marked work was running"
                                         : "; nothing was running on the GPU";
    } else if (std::none_of(analysis_.verdicts.begin(), analysis_.verdicts.end(),
                            [this](const QueueVerdict& verdict) {
                              return findings_.device == kNone ||
                                     verdict.device == findings_.device;
                            })) {
      out_ += "; no command list is registered";
    } else {
      WriteNotKnown();
    }
  }

  // If the words were old copies, names the work that each queue had to begin next.
  void WriteNotKnown() {
    out_ += "; what was running is unknown, for ";
    const size_t named = std::min(finding_.next_to_begin.size(), kQueuesNamed);
    for (size_t i = 0; i < named; ++i) {
      const NextWork& next = finding_.next_to_begin[i];
      const QueueVerdict& verdict = analysis_.verdicts[next.verdict];
      if (i == 0) {
        const Device& device = snapshot_.devices[verdict.device];
        Format("its words were copies, up to {} µs old. By these the next to begin on ",
               device.mirror_period_us);
      } else {
        out_ += "; on ";
      }
      AppendQueue(snapshot_, verdict.queue, out_);
      out_ += " was ";
      AppendList(snapshot_.recordings[analysis_.executions[next.execution].recording]);
    }
    if (named == 0) out_ += "the marker mode was off";
  }

  void WriteAccused() {
    const size_t count = finding_.suspects.size();
    const SuspectWork& first = finding_.suspects.front();
    switch (finding_.certainty) {
      case Certainty::kProven:
        out_ += " in ";
        AppendWork(first);
        out_ += ": proven, it was the only work running";
        AppendUses(snapshot_, findings_, first, out_);
        return;
      case Certainty::kLikely:
        if (IsUnlikely(first.reason)) {
          Format("; the first of {} suspects: ", count);
          break;
        }
        out_ += ", likely in ";
        AppendWork(first);
        Format(", the first of {} suspects: ", count);
        AppendSuspectReason(snapshot_, findings_, first, true, out_);
        return;
      case Certainty::kOneOf:
        if (count == 1) {
          out_ += "; the only candidate, not proven: ";
        } else if (finding_.tied >= count) {
          Format("; one of {}, all equally likely: ", count);
        } else {
          Format("; one of {} equally likely, of {} in all: ", finding_.tied, count);
        }
        break;
      case Certainty::kNothingRunning:
      case Certainty::kAllCompleted:
      case Certainty::kUnknown: break;
    }
    AppendWork(first);
    out_ += ", ";
    AppendSuspectReason(snapshot_, findings_, first, true, out_);
  }

  void WriteSlow() {
    const SlowProgress& slow = finding_.slow;
    Format(
        "; no culprit: the GPU was slow and made progress to the end, {} of {} pieces of work {} "
        "in ",
        GroupedDigits(slow.done_count), GroupedDigits(slow.work_count),
        slow.counts_begun ? "were reached" : "had finished");
    const auto duration_ns = static_cast<int64_t>(slow.duration_ns);
    out_ += DurationInWords(duration_ns);
    out_ += ", ";
    out_ += DurationInWords(duration_ns / static_cast<int64_t>(slow.done_count));
    out_ += " each";
  }

  void WriteRunning() {
    if (finding_.slow.verdict != kNone) WriteSlow();
    const size_t count = finding_.suspects.size();
    out_ += "; on the GPU ";
    if (count > 1) {
      Format("one or more of {} were running, ", count);
      if (finding_.certainty == Certainty::kLikely) {
        out_ += "likely ";
      } else if (finding_.tied >= count) {
        out_ += "all equally likely, the first ";
      } else {
        Format("{} of them equally likely, the first ", finding_.tied);
      }
    }
    AppendWork(finding_.suspects.front());
    if (count == 1) {
      out_ += finding_.certainty == Certainty::kProven ? " was running" : " may have been running";
    }
  }

  // `DRAW_INSTANCED 3 of Frame 1 > Lighting (graphics pipeline "Volumetric fog")`
  void AppendWork(const SuspectWork& suspect) {
    if (suspect.scope == kNone && suspect.after_marker == kNone) {
      out_ += "work outside of markers";
      return;
    }
    if (suspect.scope == kNone) {
      if (suspect.after_marker == 0) {
        out_ += "what was recorded before raw marker 1";
      } else {
        Format("what was recorded behind raw marker {}", suspect.after_marker);
      }
      return;
    }
    const Scope& scope = analysis_.scopes[suspect.scope];
    AppendScope(snapshot_, scope, ScopeDetail::kShort, out_);
    if (scope.parent != kNone) {
      std::string path;
      AppendScopePath(snapshot_, analysis_, analysis_.scopes[scope.parent], path,
                      ScopeDetail::kShort);
      // The path begins with " > ".
      out_ += " of ";
      out_ += std::string_view(path).substr(3);
    }
    const uint32_t pipeline = PipelineOf(snapshot_, scope);
    if (pipeline == kNone || !with_pipelines_) return;
    out_ += " (";
    AppendPipelineName(snapshot_, pipeline, out_);
    out_ += ')';
  }

  void AppendList(const Recording& recording) {
    Format("command list {}", recording.recording_id);
    if (recording.name.empty()) return;
    out_ += " \"";
    AppendVisibleText(snapshot_.Text(recording.name), out_);
    out_ += '"';
  }

  // Writes the position of the work, as everywhere in the report.
  void WritePlace(const SuspectWork& suspect) {
    const Execution& execution = analysis_.executions[suspect.execution];
    const Recording& recording = snapshot_.recordings[execution.recording];
    out_ += " It stands in ";
    AppendList(recording);
    if (execution.submission != kNone) {
      Format(", submission {} of ", snapshot_.submissions[execution.submission].number);
    } else {
      out_ += ", ";
    }
    AppendQueue(snapshot_, QueueOfExecution(snapshot_, execution), out_);
    Format(", frame {}", execution.frame);
    const uint64_t call =
        suspect.scope == kNone ? 0 : snapshot_.events[analysis_.scopes[suspect.scope].event].call;
    if (call != 0) Format(", call {} of the trace", GroupedDigits(call));
    out_ += '.';
  }

  const Snapshot& snapshot_;
  const Findings& findings_;
  const Analysis& analysis_;       // of these
  const CulpritFinding& finding_;  // of these
  bool with_pipelines_;
  std::string& out_;
};

std::string_view ReasonWords(SuspectReason reason, bool has_pipeline) {
  switch (reason) {
    case SuspectReason::kOnlyWorkRunning: return "the only work running";
    case SuspectReason::kLeadsToFault: return "finished, and leads to the address of the fault";
    case SuspectReason::kFinishedByItsWord:
      return "finished, says its word, and may be the culprit all the same: the driver tells of a "
             "fault, and nothing that was running can have made it";
    case SuspectReason::kFirstUnfinished:
      return has_pipeline ? "the first work with a pipeline that has not finished"
                          : "the first of its kind that has not finished";
    case SuspectReason::kUnfinished: return "reached, and not finished";
    case SuspectReason::kLastReached:
      return has_pipeline ? "the last work with a pipeline that the GPU reached"
                          : "the last of its kind that the GPU reached";
    case SuspectReason::kReached: return "reached earlier, and not known to have finished";
    case SuspectReason::kReachedTogether:
      return "reached; no barrier stands between it and the dispatch reached last";
    case SuspectReason::kMayHaveBegun: return "may have begun: nothing is written where it begins";
    case SuspectReason::kOutsideOfMarkers: return "its command list is ";  // and the state
    case SuspectReason::kRawMarkers: return "raw markers leave it open";
    case SuspectReason::kRawMarkerLost:
      return "the first work that raw markers do not prove finished, and no other can be "
             "the "
             "culprit; the marker before it is missing, but its write can be lost with the device";
    case SuspectReason::kRawMarkersClear:
      return "unlikely: raw markers say that it had finished or not begun";
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

void AppendFinding(const Snapshot& snapshot, const Findings& findings, bool with_pipelines,
                   std::string& out) {
  FindingWriter(snapshot, findings, with_pipelines, out).Write();
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
