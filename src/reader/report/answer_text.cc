// SPDX-License-Identifier: Apache-2.0
#include "reader/report/answer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/signal_name.h"
#include "base/text.h"
#include "format/block/marker_kinds.h"
#include "reader/analysis/work_class.h"
#include "reader/report/call_text.h"
#include "reader/report/describe.h"
#include "reader/report/fault_text.h"
#include "reader/report/memory_text.h"
#include "reader/report/suspect_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr std::string_view kDeviceLabel = "device";
constexpr size_t kDevicesNamed = 4;
constexpr size_t kQueuesNamed = 4;
constexpr size_t kOwnersNamed = 3;
constexpr size_t kBindingsNamed = 3;
// The headline names what failed; this says what is not known.
constexpr char kCulpritUnknown[] = "culprit unknown";

// Returns true if the reason's words begin with "unlikely".
bool IsUnlikely(SuspectReason reason) {
  return reason == SuspectReason::kRawMarkersClear || reason == SuspectReason::kRunsNothing ||
         reason == SuspectReason::kHeldBack;
}

// Returns true if the program's own names number frames, as in "Frame 1": its count may be another one.
bool NamesFrame(std::string_view words) {
  for (size_t at = 0; (at = words.find("rame ", at)) != std::string_view::npos; ++at) {
    const char next = at + 5 < words.size() ? words[at + 5] : ' ';
    if (at != 0 && (words[at - 1] | 0x20) == 'f' && next >= '0' && next <= '9') return true;
  }
  return false;
}

class AnswerWriter {
 public:
  AnswerWriter(const Snapshot& snapshot, const Findings& findings, uint32_t print_flags)
      : snapshot_(snapshot),
        findings_(findings),
        analysis_(findings.analysis),
        finding_(findings.culprit),
        with_pipelines_((print_flags & CAIRN_PRINT_SKIP_PIPELINE_INFO) == 0),
        with_devices_((print_flags & CAIRN_PRINT_SKIP_DEVICE_INFO) == 0) {}

  AnswerText Write() && {
    WriteWhatHappened();
    if (finding_.kind == FindingKind::kDeadlock) {
      WriteDeadlock();
    } else if (finding_.kind == FindingKind::kEndlessWait) {
      WriteEndlessWait();
    } else if (finding_.suspects.empty()) {
      WriteNoSuspect();
    } else if (HasCulpritWork(finding_.kind)) {
      WriteSuspects();
    } else {
      WriteRunning();
    }
    WriteMoreFacts();
    return std::move(answer_);
  }

 private:
  // Appends to the headline.
  template <typename... Arguments>
  void Head(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(answer_.headline), format,
                   std::forward<Arguments>(arguments)...);
  }
  // Begins a row; what is appended to the string that is returned stands in it.
  std::string& Row(std::string_view label) {
    return answer_.rows.emplace_back(AnswerRow{label, std::string()}).text;
  }

  void WriteWhatHappened() {
    const Incident* const incident =
        finding_.incident == kNone ? nullptr : &snapshot_.incidents[finding_.incident];
    switch (finding_.kind) {
      case FindingKind::kGpuFault:
        Head("GPU fault");
        if (finding_.fault_address == kNone) return Head(" (from the kernel log)");
        Head(" ({} at {:#x})",
             FaultAddressTypeWord(snapshot_.fault_addresses[finding_.fault_address].type),
             snapshot_.fault_addresses[finding_.fault_address].address);
        return;
      case FindingKind::kDeviceLost: {
        const std::string_view name = DeviceLostCodeName(incident->value);
        return Head("Device lost ({}){}",
                    name.empty() ? DeviceLostCodeInWords(incident->value) : std::string(name),
                    RanOutOfMemory() ? " after memory ran out" : "");
      }
      case FindingKind::kGpuHang:
        return Head("GPU hang{}", finding_.may_be_fault ? " or unreported fault" : "");
      case FindingKind::kDeadlock: return Head("Deadlock: queues wait for each other");
      case FindingKind::kEndlessWait: return Head("A wait does not end");
      case FindingKind::kCpuFault:
        Head("The program died of {}", SignalWord(incident->value));
        return WriteCrash();
      case FindingKind::kKilled:
        return Head("The program was killed by {}", SignalWord(incident->value));
      case FindingKind::kExited:
        if (incident->kind != IncidentKind::kExited) {
          return Head("The program ended with GPU work unfinished");
        }
        return Head("The program exited with code {}, with GPU work unfinished", incident->value);
      case FindingKind::kNothingWrong: return WriteNothingWrong(incident);
    }
  }

  // A call failed for want of memory, on the device in question.
  bool RanOutOfMemory() const {
    return std::any_of(snapshot_.memory.begin(), snapshot_.memory.end(),
                       [this](const DeviceMemory& memory) {
                         return memory.result != 0 && IsInQuestion(memory.device);
                       });
  }
  bool IsInQuestion(uint32_t device) const {
    return findings_.device == kNone || device == findings_.device;
  }

  void WriteNothingWrong(const Incident* incident) {
    if (incident == nullptr) {
      Head("No failure was noticed");
    } else if (incident->kind == IncidentKind::kExited) {
      Head("The program exited with code {}", incident->value);
    } else if (incident->kind == IncidentKind::kRequested) {
      Head("Nothing had gone wrong: this report was asked for");
    } else {
      Head("This version does not know what happened");
    }
  }

  static std::string SignalWord(int64_t number) {
    const std::string_view name = SignalName(number);
    return name.empty() ? SignalInWords(number) : std::string(name);
  }

  // The call that the thread was in, and the object that the address lies in or near.
  void WriteCrash() {
    std::string call;
    AppendUnreturnedCall(snapshot_, finding_.crash, call);
    if (call.empty()) {
      answer_.how_sure = "cause unknown";
      Row("because") = "the thread that crashed is in no call that this file knows";
    } else {
      answer_.how_sure = "proven";
      Head(" in this call");
      Row("call") = call.substr(4);  // the words begin with " in "
      Row("because") =
          "the thread that crashed is in it; the cause may be an earlier call or write";
    }
    for (const FaultAddressVerdict& verdict : findings_.addresses.of_cpu) {
      if (verdict.incident != finding_.incident || !verdict.near_object) continue;
      std::string& row = Row("address");
      fmt::format_to(std::back_inserter(row), "{:#x}, ", verdict.given);
      if (verdict.owners.empty()) {
        AppendOwners(snapshot_, verdict, 1, row);
      } else {
        AppendCrashOwner(snapshot_, verdict.owners.front(), row);
      }
    }
    AppendStrayTables(snapshot_, finding_.crash_tables, "tables");
  }

  void AppendStrayTables(const Snapshot& snapshot, const BoundTables& tables,
                         std::string_view label) {
    std::string words;
    cairn::AppendStrayTables(snapshot, tables, words);
    if (words.empty()) return;
    // Sentences, each with a blank before it.
    words.erase(0, 1);
    if (words.ends_with('.')) words.pop_back();
    Row(label) = std::move(words);
  }

  void WriteDeadlock() {
    if (finding_.cycle == kNone) return;
    AppendCycle(snapshot_, findings_.waits, findings_.waits.cycles[finding_.cycle], Row("wait"));
  }

  void WriteEndlessWait() {
    const Wait& wait = findings_.waits.waits[finding_.wait];
    const Sync& sync = snapshot_.syncs[wait.sync];
    std::string& row = Row("wait");
    AppendQueue(snapshot_, sync.queue, row);
    row += " waits for ";
    AppendSync(snapshot_, sync, row);
    switch (wait.state) {
      case WaitState::kNeverSignalled: row += ", which nothing submitted so far signals"; break;
      case WaitState::kUnknown: row += ", and what would signal it is not known"; break;
      default: row += ", which the presentation engine has not signalled"; break;
    }
  }

  void WriteSuspects() {
    const size_t count = finding_.suspects.size();
    const SuspectWork& first = finding_.suspects.front();
    switch (finding_.certainty) {
      case Certainty::kProven: answer_.how_sure = "proven"; break;
      case Certainty::kLikely:
        if (IsUnlikely(first.reason)) return WriteUnlikely(count);
        answer_.how_sure = "likely";
        break;
      case Certainty::kOneOf: return WriteSeveral(finding_.tied);
      case Certainty::kNothingRunning:
      case Certainty::kAllCompleted:
      case Certainty::kUnknown:
        answer_.how_sure = kCulpritUnknown;
        Row("because") = fmt::format(
            "{} no end that can be seen",
            count == 1 ? "the only candidate has" : fmt::format("{} candidates have", count));
        return;
    }
    Head(" in ");
    AppendWork(first, answer_.headline);
    WriteWork(first);
    std::string& because = Row("because");
    if (finding_.certainty == Certainty::kProven) {
      because = kOnlyOneInFlight;
    } else {
      AppendSuspectReason(snapshot_, findings_, first, false, because);
      if (count > 1) {
        fmt::format_to(std::back_inserter(because), "; the first of {} suspects", count);
      }
    }
    WriteUses(first);
  }

  // A wait holds it back, say: no other work is known, and this one is hardly the culprit.
  void WriteUnlikely(size_t count) {
    const SuspectWork& first = finding_.suspects.front();
    std::string& because = Row("because");
    if (count == 1) {
      answer_.how_sure = "not proven";
      Head(" in ");
      AppendWork(first, answer_.headline);
      because = "the only candidate; ";
    } else {
      answer_.how_sure = fmt::format("one of {}", count);
      Head(" in one of {} suspects", count);
      because = "none of them is likely; the first: ";
    }
    AppendSuspectReason(snapshot_, findings_, first, false, because);
    if (count == 1) WriteWork(first);
  }

  // Nothing puts one before the others: the headline names none, and the table of suspects follows.
  void WriteSeveral(size_t alike) {
    const size_t count = finding_.suspects.size();
    answer_.how_sure = fmt::format("one of {}", count);
    Head(" in one of {} suspects", count);
    std::string& because = Row("because");
    because = alike < count
                  ? fmt::format("the first {} are equally likely, {} less; the first: ", alike,
                                Plural(count - alike, "the other is", "the others are"))
                  : "nothing makes one more likely than the others; the first: ";
    AppendSuspectReason(snapshot_, findings_, finding_.suspects.front(), false, because);
  }

  bool IsLikely(const SuspectWork& suspect) const {
    return finding_.certainty == Certainty::kLikely && !IsUnlikely(suspect.reason);
  }

  // Something else failed: what ran on the GPU meanwhile.
  void WriteRunning() {
    WriteSlow();
    const size_t count = finding_.suspects.size();
    const SuspectWork& first = finding_.suspects.front();
    // Where nothing failed, there is nothing to be sure of.
    const bool fine = finding_.kind == FindingKind::kNothingWrong;
    std::string& row = Row("running");
    if (count == 1) {
      AppendWork(first, row);
      if (!fine && finding_.certainty != Certainty::kProven) row += ", perhaps";
    } else {
      fmt::format_to(std::back_inserter(row), "one or more of {}, {} ", count,
                     !fine && IsLikely(first) ? "likely" : "the first");
      AppendWork(first, row);
    }
    WriteWork(first);
    if (count > 1 && IsLikely(first)) {
      AppendSuspectReason(snapshot_, findings_, first, false, Row("because"));
    }
    WriteHarmful(first);
  }

  // Writes what is bound there and was destroyed, or lies in no object that is known.
  void WriteHarmful(const SuspectWork& suspect) {
    const CandidateContext* const context = FindContext(analysis_, suspect);
    if (context == nullptr) return;
    size_t count = 0;
    for (uint32_t i = 0; i < context->binding_count; ++i) {
      const Binding& binding = analysis_.bindings[context->first_binding + i];
      if (IsHarmless(binding)) continue;
      if (count++ < kBindingsNamed) AppendBinding(snapshot_, binding, Row("bound"));
    }
    if (count > kBindingsNamed) Row("bound") = fmt::format("… {} more", count - kBindingsNamed);
  }

  void WriteSlow() {
    const SlowProgress& slow = finding_.slow;
    if (slow.verdict == kNone) return;
    const auto duration_ns = static_cast<int64_t>(slow.duration_ns);
    Row("progress") = fmt::format(
        "no culprit: the GPU was slow and made progress to the end, {} of {} pieces of work {} in "
        "{}, {} each",
        GroupedDigits(slow.done_count), GroupedDigits(slow.work_count),
        slow.counts_begun ? "were reached" : "had completed", DurationInWords(duration_ns),
        DurationInWords(duration_ns / static_cast<int64_t>(slow.done_count)));
  }

  void WriteNoSuspect() {
    if (HasCulpritWork(finding_.kind)) answer_.how_sure = kCulpritUnknown;
    if (finding_.certainty == Certainty::kAllCompleted) {
      WriteLastCompleted();
    } else if (finding_.certainty == Certainty::kNothingRunning) {
      Row("running") =
          HasCulpritWork(finding_.kind) ? "no command with a marker" : "nothing on the GPU";
    } else if (std::none_of(analysis_.verdicts.begin(), analysis_.verdicts.end(),
                            [this](const QueueVerdict& verdict) {
                              return findings_.device == kNone ||
                                     verdict.device == findings_.device;
                            })) {
      Row("running") = "unknown: no command list is registered";
    } else {
      WriteNotKnown();
    }
  }

  void WriteLastCompleted() {
    Row("because") =
        "every command with a marker that began also ended. A GPU can go on after a wrong access: "
        "the culprit may be one that ended";
    const size_t count = finding_.last_completed.size();
    for (size_t i = 0; i < std::min(count, kQueuesNamed); ++i) {
      const CompletedWork& last = finding_.last_completed[i];
      std::string& row = Row("completed");
      AppendQueue(snapshot_, analysis_.verdicts[last.verdict].queue, row);
      row += ": the last to complete was ";
      if (last.scope != kNone) {
        const SuspectWork work{
            .verdict = last.verdict, .execution = last.execution, .scope = last.scope};
        AppendWork(work, row);
        AppendPathOf(work, " of ", row);
        row += " in ";
      }
      AppendList(last.execution, row);
    }
    if (count > kQueuesNamed)
      Row("completed") = fmt::format("… and {} more queues", count - kQueuesNamed);
  }

  // If the words were old copies, names the work that each queue had to begin next.
  void WriteNotKnown() {
    const size_t named = std::min(finding_.next_to_begin.size(), kQueuesNamed);
    std::string& row = Row("running");
    row = "unknown: ";
    if (named == 0) {
      row += "the marker mode was off";
      return;
    }
    const QueueVerdict& first = analysis_.verdicts[finding_.next_to_begin.front().verdict];
    fmt::format_to(std::back_inserter(row), "the GPU's markers were copies, up to {} µs old",
                   snapshot_.devices[first.device].mirror_period_us);
    for (size_t i = 0; i < named; ++i) {
      const NextWork& next = finding_.next_to_begin[i];
      std::string& begins = Row("then");
      AppendQueue(snapshot_, analysis_.verdicts[next.verdict].queue, begins);
      begins += " had to begin ";
      AppendList(next.execution, begins);
    }
  }

  // The owners of the address that the headline, or the kernel log, names.
  void WriteFault() {
    if (finding_.kind != FindingKind::kGpuFault) return;
    for (const FaultAddressVerdict& verdict : findings_.addresses.of_drivers) {
      if (finding_.fault_address == kNone || verdict.address != finding_.fault_address) continue;
      if (verdict.state == AddressState::kNoAddress) return;
      return WriteOwners(verdict, "");
    }
    for (const FaultAddressVerdict& verdict : findings_.addresses.of_kernel) {
      if (finding_.fault_address != kNone || verdict.kernel_line != finding_.kernel_line) continue;
      if (verdict.state == AddressState::kNoAddress) continue;
      return WriteOwners(verdict, fmt::format("page at {:#x}: ", verdict.first));
    }
  }

  // A row for each object that the address may belong to.
  void WriteOwners(const FaultAddressVerdict& verdict, std::string before) {
    for (const std::string& owner : OwnersInWords(snapshot_, verdict, kOwnersNamed)) {
      Row("fault") = before + owner;
      before.clear();
    }
  }

  // Facts that stand beside any answer.
  void WriteMoreFacts() {
    WriteFault();
    WriteDuration();
    WriteMemory();
    if (finding_.kind != FindingKind::kCpuFault) {
      AppendStrayTables(snapshot_, finding_.crash_tables, "tables");
    }
    WriteFreedInFlight();
    if (with_devices_) WriteDevices();
  }

  // The device that failed or that the first suspect ran on, else all.
  void WriteDevices() {
    uint32_t device = findings_.device;
    if (!finding_.suspects.empty()) {
      device = analysis_.verdicts[finding_.suspects.front().verdict].device;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < snapshot_.devices.size(); ++i) {
      if (snapshot_.devices[i].api == Api::kNone || (device != kNone && device != i)) continue;
      if (count++ < kDevicesNamed) AppendDevice(snapshot_, i, Row(kDeviceLabel));
    }
    if (count > kDevicesNamed) Row(kDeviceLabel) = fmt::format("… {} more", count - kDevicesNamed);
  }

  // Writes how long submissions like that of the first suspect took before, and those with its label.
  void WriteDuration() {
    const UsualDuration& duration = findings_.duration;
    if (duration.execution != kNone) AppendUsualDuration(duration, Row("duration"));
    if (findings_.label_duration.scope != kNone) {
      AppendLabelDuration(snapshot_, findings_, Row("duration"));
    }
  }

  void WriteMemory() {
    for (const DeviceMemory& memory : snapshot_.memory) {
      if (!IsInQuestion(memory.device) || !IsExhausted(snapshot_, memory)) continue;
      AppendExhausted(snapshot_, memory, Row("memory"));
    }
  }

  // The first object that the failed work may have accessed and that was destroyed while it was in flight, unless the
  // address of a fault names it. Of the device in question.
  void WriteFreedInFlight() {
    if (!HasCulpritWork(finding_.kind) || finding_.fault_address != kNone) return;
    const FreedInFlight* first = nullptr;
    size_t count = 0;
    for (const FreedInFlight& freed : findings_.freed_in_flight) {
      const uint32_t device = snapshot_.objects[freed.object].device;
      if (findings_.device != kNone && device != findings_.device) continue;
      if (count++ == 0) first = &freed;
    }
    if (first == nullptr) return;
    std::string& row = Row("freed");
    row = "memory that shaders may reach by address, while work was in flight: ";
    AppendFreedInFlight(snapshot_, *first, row);
    if (count > 1) fmt::format_to(std::back_inserter(row), "; {} more", count - 1);
  }

  // The rows "where" and "pipeline".
  void WriteWork(const SuspectWork& suspect) {
    std::string& row = Row("where");
    AppendPathOf(suspect, "", row);
    if (!row.empty()) row += " · ";
    AppendList(suspect.execution, row);
    const Execution& execution = analysis_.executions[suspect.execution];
    AppendExecutionNotes(snapshot_, execution, row);
    if (execution.submission != kNone) {
      fmt::format_to(std::back_inserter(row), " · submission {}",
                     snapshot_.submissions[execution.submission].number);
    }
    row += " · ";
    AppendQueue(snapshot_, QueueOfExecution(snapshot_, execution), row);
    const bool has_label = NamesFrame(row);
    fmt::format_to(std::back_inserter(row), " · frame {}{}", execution.frame,
                   has_label ? " (Cairn counts from 0)" : "");
    if (suspect.scope == kNone) return;
    const Scope& scope = analysis_.scopes[suspect.scope];
    const uint64_t call = snapshot_.events[scope.event].call;
    if (call != 0) {
      fmt::format_to(std::back_inserter(row), " · call {} of the trace", GroupedDigits(call));
    }
    const uint32_t pipeline = PipelineOf(snapshot_, scope);
    if (pipeline != kNone && with_pipelines_)
      WritePipeline(pipeline, snapshot_.events[scope.event].type);
    WriteEventId(suspect);
  }

  // Where its shaders do not tell its kind, the type of the work does, or the label has said the word.
  void WritePipeline(uint32_t pipeline, uint32_t type) {
    std::string& row = Row("pipeline");
    AppendPipeline(snapshot_, pipeline, row);
    constexpr std::string_view kWord = "pipeline ";
    if (!row.starts_with(kWord)) return;
    IsDispatch(type) ? void(row.insert(0, "compute ")) : void(row.erase(0, kWord.size()));
  }

  // Names the innermost annotated label around the work.
  void WriteEventId(const SuspectWork& suspect) {
    const CandidateContext* const context = FindContext(analysis_, suspect);
    if (context == nullptr || context->annotation_scope == kNone) return;
    const uint32_t event = analysis_.scopes[context->annotation_scope].event;
    const Annotation& annotation = snapshot_.annotations[snapshot_.events[event].detail];
    if (annotation.event_id == 0) return;
    std::string& row = Row("EventID");
    AppendEventId(annotation.event_id, row);
    row += ", \"";
    AppendVisibleText(snapshot_.Text(annotation.name), row);
    row += '"';
  }

  // A resource that it uses, or that is bound for it, and that leads to the fault, was destroyed, or lies in no object that is known; and who
  // wrote its arguments.
  void WriteUses(const SuspectWork& suspect) {
    if (suspect.binding != kNone) {
      const Binding& binding = analysis_.bindings[suspect.binding];
      AppendBinding(snapshot_, binding, Row(IsSurelyUsed(binding.point) ? "uses" : "bound"));
    }
    if (findings_.arguments.scope == kNone) return;
    AppendArgumentsOrigin(snapshot_, findings_, Row("arguments"));
    if (findings_.arguments.late_writer == kNone) return;
    AppendLateWriter(snapshot_, findings_, Row("arguments"));
  }

  // `DRAW_INSTANCED #3 (3 vertices, 1 instance)`
  void AppendWork(const SuspectWork& suspect, std::string& out) const {
    if (suspect.scope != kNone) {
      AppendScope(snapshot_, analysis_.scopes[suspect.scope], ScopeDetail::kShort, out);
    } else if (suspect.after_marker == kNone) {
      out += "commands without a marker";
    } else if (suspect.after_marker == 0) {
      out += "what was recorded before raw marker 1";
    } else {
      fmt::format_to(std::back_inserter(out), "what was recorded after raw marker {}",
                     suspect.after_marker);
    }
  }

  // The names around the work, `Frame 1 > Lighting`, behind `before`; nothing if there are none.
  void AppendPathOf(const SuspectWork& suspect, std::string_view before, std::string& out) const {
    if (suspect.scope == kNone) return;
    const uint32_t parent = analysis_.scopes[suspect.scope].parent;
    if (parent == kNone) return;
    std::string path;
    AppendScopePath(snapshot_, analysis_, analysis_.scopes[parent], path, ScopeDetail::kShort);
    out += before;
    // The path begins with " > ".
    out += std::string_view(path).substr(3);
  }

  void AppendList(uint32_t execution, std::string& out) const {
    const Recording& recording = snapshot_.recordings[analysis_.executions[execution].recording];
    fmt::format_to(std::back_inserter(out), "{} {}", ListWord(snapshot_, recording.device),
                   recording.recording_id);
    if (recording.name.empty()) return;
    out += " \"";
    AppendVisibleText(snapshot_.Text(recording.name), out);
    out += '"';
  }

  const Snapshot& snapshot_;
  const Findings& findings_;
  const Analysis& analysis_;       // of these
  const CulpritFinding& finding_;  // of these
  const bool with_pipelines_;
  const bool with_devices_;
  AnswerText answer_;
};

}  // namespace

AnswerText AnswerInWords(const Snapshot& snapshot, const Findings& findings, uint32_t print_flags) {
  return AnswerWriter(snapshot, findings, print_flags).Write();
}

std::string AnswerLine(const AnswerText& answer) {
  std::string line = answer.headline;
  if (!answer.how_sure.empty()) line += " (" + answer.how_sure + ')';
  for (const AnswerRow& row : answer.rows) {
    if (row.label == kDeviceLabel) continue;  // who lists such lines names the device beside them
    line += "; ";
    line += row.label;
    line += ": ";
    line += row.text;
  }
  return line;
}

}  // namespace cairn
