// SPDX-License-Identifier: Apache-2.0
#include "reader/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "reader/analysis/raw_marker_verdicts.h"
#include "reader/report/describe.h"
#include "reader/report/diagnostics.h"
#include "reader/report/line_sink.h"
#include "reader/report/sections.h"
#include "reader/report/tree.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr size_t kListCandidatesShown = 16;
constexpr size_t kRawMarkersShown = 256;
constexpr size_t kRawCandidatesShown = 16;
constexpr size_t kBindingsShown = 12;

class TextReporter {
 public:
  TextReporter(const Snapshot& snapshot, const Analysis& analysis, const TextOptions& options)
      : snapshot_(snapshot),
        analysis_(analysis),
        options_(options),
        extended_((options.print_flags & CAIRN_PRINT_EXTENDED_DEVICE_INFO) != 0),
        tree_(snapshot, analysis, options),
        diagnostics_(snapshot, analysis, options),
        sections_(snapshot, analysis, options),
        raw_verdicts_(JudgeRawMarkers(snapshot, analysis)) {
    text_.reserve(16384);
  }

  void Print(LineSink& sink) {
    // The answer first: who reads this has just crashed.
    PrintIncidents(sink);
    PrintVerdicts(sink);
    diagnostics_.PrintFaults(sink);
    diagnostics_.PrintKernelLog(sink);
    diagnostics_.PrintWaits(sink);
    diagnostics_.PrintCheckpoints(sink);
    sections_.PrintReportedEventIds(sink);
    sink.Blank();
    sink.Heading("Progress ([X] finished, [>] in flight, [ ] not started)");
    tree_.Print(sink);
    sections_.PrintSubmissions(sink);
    sections_.PrintQueueMarkers(sink);
    sections_.PrintLastCalls(sink);
    sections_.PrintFences(sink);
    sections_.PrintObjects(sink);
    PrintRawMarkers(sink);
    PrintProcess(sink);
    if (extended_ || (options_.print_flags & CAIRN_PRINT_SKIP_DEVICE_INFO) == 0) {
      PrintDevices(sink);
    }
    if (sink.full()) sink.EndFull();
    PrintLosses(sink);
  }

 private:
  bool IsShown(uint32_t device) const {
    return options_.only_device == kNone || device == options_.only_device;
  }
  template <typename... Arguments>
  void Format(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  void PrintIncidents(LineSink& sink);
  void PrintProcess(LineSink& sink);
  void PrintDevices(LineSink& sink);
  void PrintDevice(LineSink& sink, uint32_t index);
  void PrintSources(LineSink& sink, const Device& device);
  void PrintVerdicts(LineSink& sink);
  void PrintVerdict(LineSink& sink, const QueueVerdict& verdict);
  void PrintCandidate(LineSink& sink, const QueueVerdict& verdict, const CandidateContext& context);
  void PrintLateSuspect(LineSink& sink, const QueueVerdict& verdict);
  void PrintHidden(LineSink& sink, size_t count, const char* what);
  void PrintBindings(LineSink& sink, const CandidateContext& context);
  void PrintRawMarkers(LineSink& sink);
  void PrintRawMarkerVerdict(LineSink& sink, const RawMarkerVerdict& verdict);
  void PrintRawMarkerWork(LineSink& sink, const RawMarkerWork& work);
  void PrintLosses(LineSink& sink);

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  const TextOptions& options_;
  bool extended_;
  TreePrinter tree_;
  DiagnosticsPrinter diagnostics_;
  SectionPrinter sections_;
  const std::vector<RawMarkerVerdict> raw_verdicts_;
  std::string text_;  // the sentence being built
};

void TextReporter::PrintIncidents(LineSink& sink) {
  sink.Heading("What happened");
  for (const Incident& incident : snapshot_.incidents) {
    sink.Prose(" - ", IncidentSentence(snapshot_, incident));
  }
  if (snapshot_.incidents.empty()) {
    sink.Prose(" - ", "No incident was noticed; this is the state when the status was asked for.");
  }
}

void TextReporter::PrintProcess(LineSink& sink) {
  const Process& process = snapshot_.process;
  sink.Blank();
  sink.Heading("Process");
  text_.clear();
  Format("{}, process {}", snapshot_.Text(process.program), process.process_id);
  if (!process.library_version.empty()) {
    Format(", libcairn {}", snapshot_.Text(process.library_version));
  }
  sink.Prose("   ", text_);
  if (!process.command_line.empty()) {
    text_.clear();
    Format("command line: {}", snapshot_.Text(process.command_line));
    sink.Prose("   ", text_);
  }
  text_.clear();
  if (process.start_time_ns != 0) Format("started {}, ", TimeInWords(process.start_time_ns));
  Format("seen {}", TimeInWords(process.snapshot_time_ns));
  sink.Prose("   ", text_);
}

void TextReporter::PrintDevices(LineSink& sink) {
  for (uint32_t i = 0; i < snapshot_.devices.size(); ++i) {
    if (snapshot_.devices[i].api != Api::kNone && IsShown(i)) PrintDevice(sink, i);
  }
}

void TextReporter::PrintDevice(LineSink& sink, uint32_t index) {
  const Device& device = snapshot_.devices[index];
  sink.Blank();
  text_.clear();
  Format("Device {}: ", index);
  AppendVisibleText(snapshot_.Text(device.name), text_);
  sink.Heading(text_);
  text_.clear();
  Format("{}", ApiName(device.api));
  if (!device.driver.empty()) Format(", driver {}", snapshot_.Text(device.driver));
  if (extended_) {
    Format(", vendor {:#06x}, device {:#06x}, frame {}", device.vendor_id, device.device_id,
           device.frame);
  }
  if (device.destroyed) Format(", context destroyed");
  sink.Prose("   ", text_);
  text_.clear();
  Format("Marker mode {}", ModeWord(device.mode));
  if (device.mode != MarkerMode::kOff) {
    Format(", written with {}, {} memory", MethodName(device.method), MemoryWord(device.memory));
  }
  Format(".");
  sink.Prose("   ", text_);
  sink.Prose("   ", ModeSentence(device.mode));
  if (!device.application.empty()) {
    text_.clear();
    Format("Application: {}", snapshot_.Text(device.application));
    sink.Prose("   ", text_);
  }
  if (!device.annotation_driver.empty()) {
    text_.clear();
    Format("Annotations go to the driver {}", snapshot_.Text(device.annotation_driver));
    if (device.annotations_forced) Format("; DRIVER_RETAIL is forced by d3dconfig");
    sink.Prose("   ", text_);
  }
  if (device.mode != MarkerMode::kOff) sink.Prose("   ", MemorySentence(device));
  if (!device.notes.empty()) {
    text_.clear();
    Format("Known of this device: {}.", snapshot_.Text(device.notes));
    sink.Prose("   ", text_);
  }
  if (device.device_lost) {
    text_.clear();
    Format("The program reported it lost: {}.", DeviceLostCodeInWords(device.device_lost_code));
    sink.Prose("   ", text_);
  }
  if (device.lists_dropped != 0) {
    text_.clear();
    Format(
        "{} command lists found no room and are not in this report: use a larger "
        "max_command_lists.",
        device.lists_dropped);
    sink.Prose("   ", text_);
  }
  PrintSources(sink, device);
}

void TextReporter::PrintSources(LineSink& sink, const Device& device) {
  if (device.source_count == 0) return;
  sink.Prose("   ", "Data sources:");
  for (uint32_t i = 0; i < device.source_count; ++i) {
    const Source& source = snapshot_.sources[device.first_source + i];
    text_.clear();
    Format("{:<7} {}", SourceStateWord(source.state), snapshot_.Text(source.name));
    if (!source.reason.empty()) Format(": {}", snapshot_.Text(source.reason));
    sink.Prose("    - ", text_);
  }
}

void TextReporter::PrintVerdicts(LineSink& sink) {
  sink.Blank();
  sink.Heading("Which work was running");
  bool any = false;
  for (const QueueVerdict& verdict : analysis_.verdicts) {
    if (!IsShown(verdict.device)) continue;
    if (sink.full()) return;
    PrintVerdict(sink, verdict);
    any = true;
  }
  if (!any) sink.Prose(" - ", "Nothing is known: no command list is registered.");
}

void TextReporter::PrintVerdict(LineSink& sink, const QueueVerdict& verdict) {
  text_.clear();
  AppendQueue(snapshot_, verdict.queue, text_);
  const size_t count = verdict.candidates.size() + verdict.list_candidates.size();
  if (verdict.unknown) {
    Format(": not known");
  } else if (count == 0) {
    Format(": nothing was running");
  } else if (verdict.exact) {
    Format(": this was running");
  } else if (verdict.ends_unseen) {
    Format(": not known, {} candidate{} whose end cannot be seen", count, count == 1 ? "" : "s");
  } else {
    Format(": {} candidate{}", count, count == 1 ? "" : "s");
  }
  sink.Prose(" - ", text_);
  // What the analysis explains is what is worth showing: the first and the last ones.
  uint32_t next = 0;
  for (const CandidateContext& context : verdict.contexts) {
    if (context.candidate != next) PrintHidden(sink, context.candidate - next, "candidates");
    next = context.candidate + 1;
    PrintCandidate(sink, verdict, context);
  }
  const size_t lists_shown = std::min(verdict.list_candidates.size(), kListCandidatesShown);
  for (size_t i = 0; i < lists_shown; ++i) {
    text_.clear();
    AppendListPath(snapshot_, analysis_.executions[verdict.list_candidates[i]], text_);
    Format(" > (work outside of markers)");
    sink.Prose("    [>] ", text_);
  }
  if (lists_shown < verdict.list_candidates.size()) {
    PrintHidden(sink, verdict.list_candidates.size() - lists_shown, "command lists");
  }
  PrintLateSuspect(sink, verdict);
  sink.Prose("    ", verdict.reason);
}

void TextReporter::PrintLateSuspect(LineSink& sink, const QueueVerdict& verdict) {
  if (verdict.late_suspect == kNone) return;
  const Scope& scope = analysis_.scopes[verdict.late_suspect];
  text_.clear();
  AppendCallOf(snapshot_, scope, text_);
  AppendListPath(snapshot_, analysis_.executions[verdict.late_suspect_execution], text_);
  AppendScopePath(snapshot_, analysis_, scope, text_);
  sink.Prose("    [X] ", text_);
  const Event& event = snapshot_.events[scope.event];
  if (event.pipeline != kNone && (options_.print_flags & CAIRN_PRINT_SKIP_PIPELINE_INFO) == 0) {
    text_.clear();
    AppendPipeline(snapshot_, event.pipeline, text_);
    sink.Prose("        ", text_);
  }
  sink.Prose("        ",
             "finished, says its word, and may be the culprit all the same: the driver tells of a "
             "fault, and nothing that was running can have made it");
}

void TextReporter::PrintHidden(LineSink& sink, size_t count, const char* what) {
  text_.clear();
  Format("… {} more {}", count, what);
  sink.Prose("        ", text_);
}

void TextReporter::PrintCandidate(LineSink& sink, const QueueVerdict& verdict,
                                  const CandidateContext& context) {
  const Scope& scope = analysis_.scopes[verdict.candidates[context.candidate]];
  text_.clear();
  AppendCallOf(snapshot_, scope, text_);
  AppendListPath(snapshot_, analysis_.executions[verdict.candidate_executions[context.candidate]],
                 text_);
  AppendScopePath(snapshot_, analysis_, scope, text_);
  sink.Prose("    [>] ", text_);
  const Event& event = snapshot_.events[scope.event];
  if (event.pipeline != kNone && (options_.print_flags & CAIRN_PRINT_SKIP_PIPELINE_INFO) == 0) {
    text_.clear();
    AppendPipeline(snapshot_, event.pipeline, text_);
    sink.Prose("        ", text_);
  }
  if (context.annotation_scope != kNone) {
    const Event& marker = snapshot_.events[analysis_.scopes[context.annotation_scope].event];
    const Annotation& annotation = snapshot_.annotations[marker.detail];
    if (annotation.event_id != 0) {
      text_.clear();
      Format("EventID ");
      AppendEventId(annotation.event_id, text_);
      Format(", \"{}\"", snapshot_.Text(annotation.name));
      sink.Prose("        ", text_);
    }
  }
  PrintBindings(sink, context);
}

void TextReporter::PrintBindings(LineSink& sink, const CandidateContext& context) {
  const auto begin = analysis_.bindings.begin() + context.first_binding;
  const auto end = begin + context.binding_count;
  size_t shown = 0;
  const size_t limit = extended_ ? context.binding_count : kBindingsShown;
  // What is not as it should be stands first.
  for (const bool alive : {false, true}) {
    for (auto binding = begin; binding != end; ++binding) {
      if ((binding->state == BindingState::kAlive) != alive || shown == limit) continue;
      ++shown;
      text_.clear();
      AppendBinding(snapshot_, *binding, text_);
      sink.Prose(alive ? "        " : "      ! ", text_);
    }
  }
  if (shown == context.binding_count) return;
  text_.clear();
  Format("… {} more; --all shows them", context.binding_count - shown);
  sink.Prose("        ", text_);
}

void TextReporter::PrintRawMarkerWork(LineSink& sink, const RawMarkerWork& work) {
  text_.clear();
  AppendListPath(snapshot_, analysis_.executions[work.execution], text_);
  if (work.scope != kNone) {
    AppendScopePath(snapshot_, analysis_, analysis_.scopes[work.scope], text_);
  } else if (work.after_marker == 0) {
    Format(" > (what was recorded before marker 1)");
  } else {
    Format(" > (what was recorded behind marker {})", work.after_marker);
  }
  sink.Prose("    [>] ", text_);
  sink.Prose("        ", work.reason);
}

// What can be the culprit; of hangs that have settled the likely ones, which stand first.
void TextReporter::PrintRawMarkerVerdict(LineSink& sink, const RawMarkerVerdict& verdict) {
  size_t count = 0;
  size_t likely = 0;
  for (const RawMarkerWork& work : verdict.works) {
    count += work.state == WorkState::kInFlight;
    likely += work.state == WorkState::kInFlight && work.likely;
  }
  text_.clear();
  AppendQueue(snapshot_, verdict.queue, text_);
  if (count == 0) {
    Format(": all that lies between raw markers had finished or not begun");
  } else {
    Format(": {} candidate{}, {} of them likely", count, count == 1 ? "" : "s", likely);
  }
  sink.Prose(" - ", text_);
  size_t shown = 0;
  for (const bool wanted : {true, false}) {
    for (const RawMarkerWork& work : verdict.works) {
      if (work.state != WorkState::kInFlight || work.likely != wanted) continue;
      if (shown++ < kRawCandidatesShown) PrintRawMarkerWork(sink, work);
    }
  }
  if (shown > kRawCandidatesShown) PrintHidden(sink, shown - kRawCandidatesShown, "candidates");
  if (!verdict.consistent) {
    sink.Prose(
        "    ",
        "No order of execution leaves the slots as they are: stores were lost, or slots hold "
        "values of an earlier use. Nothing is said not to have started.");
  }
  if (verdict.executions_left_out != 0) {
    text_.clear();
    Format("{} older executions of command lists are left out.", verdict.executions_left_out);
    sink.Prose("    ", text_);
  }
  // The last ones are those that the crash is about.
  const size_t markers = verdict.markers.size();
  const size_t first = markers > kRawMarkersShown ? markers - kRawMarkersShown : 0;
  if (first != 0) PrintHidden(sink, first, "markers before these");
  for (size_t i = first; i < markers; ++i) {
    const RawMarkerCommand& marker = verdict.markers[i];
    fmt::format_to(
        std::back_inserter(sink.line()), "    marker {}: {} of pipe, slot {}, {:#018x}: {}", i + 1,
        marker.top ? "top" : "bottom", marker.slot, marker.value, RawArrivalWord(marker.arrival));
    sink.EndLine();
  }
}

void TextReporter::PrintRawMarkers(LineSink& sink) {
  bool headed = false;
  for (const RawMarkerVerdict& verdict : raw_verdicts_) {
    if (!IsShown(verdict.device)) continue;
    if (!headed) {
      sink.Blank();
      sink.Heading("What follows from raw markers");
      headed = true;
    }
    PrintRawMarkerVerdict(sink, verdict);
  }
  const std::vector<RawMarker>& markers = snapshot_.raw_markers;
  const size_t count = static_cast<size_t>(
      std::count_if(markers.begin(), markers.end(),
                    [this](const RawMarker& marker) { return IsShown(marker.device); }));
  if (count == 0) return;
  sink.Blank();
  sink.Heading("Raw markers (slots that were written)");
  size_t shown = 0;
  for (const RawMarker& marker : markers) {
    if (!IsShown(marker.device) || shown == kRawMarkersShown) continue;
    ++shown;
    std::string& line = sink.line();
    line += " - ";
    if (snapshot_.devices.size() > 1 && marker.device != kNone) {
      fmt::format_to(std::back_inserter(line), "device {}, ", marker.device);
    }
    fmt::format_to(std::back_inserter(line), "slot {}: {:#018x} ({})", marker.index, marker.value,
                   marker.value);
    sink.EndLine();
  }
  if (shown == count) return;
  fmt::format_to(std::back_inserter(sink.line()), "   … {} more; --json has all of them",
                 count - shown);
  sink.EndLine();
}

void TextReporter::PrintLosses(LineSink& sink) {
  if (snapshot_.losses.empty()) return;
  sink.Blank();
  sink.Heading("What is missing from this report");
  for (const TextRef& loss : snapshot_.losses) sink.Prose(" - ", snapshot_.Text(loss));
}

}  // namespace

std::string TextReport(const Snapshot& snapshot, const Analysis& analysis,
                       const TextOptions& options) {
  TextReporter reporter(snapshot, analysis, options);
  // Twice: once to count, so that the memory is allocated at once.
  LineSink counter(options.width, options.colour, nullptr);
  reporter.Print(counter);
  std::string text;
  text.reserve(counter.size_bytes());
  LineSink writer(options.width, options.colour, &text);
  reporter.Print(writer);
  return text;
}

}  // namespace cairn
