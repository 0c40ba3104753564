// SPDX-License-Identifier: Apache-2.0
#include "reader/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "reader/report/describe.h"
#include "reader/report/diagnostics.h"
#include "reader/report/line_sink.h"
#include "reader/report/reason_text.h"
#include "reader/report/sections.h"
#include "reader/report/tree.h"
#include "reader/report/verdict_printer.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr size_t kRawMarkersShown = 256;
constexpr size_t kRawCandidatesShown = 16;

class TextReporter {
 public:
  TextReporter(const Snapshot& snapshot, const Findings& findings, const TextOptions& options)
      : snapshot_(snapshot),
        findings_(findings),
        options_(options),
        extended_((options.print_flags & CAIRN_PRINT_EXTENDED_DEVICE_INFO) != 0),
        verdicts_(snapshot, findings, options),
        tree_(snapshot, findings, options),
        diagnostics_(snapshot, findings, options),
        sections_(snapshot, findings, options) {
    text_.reserve(16384);
  }

  // The reader has just had a crash.
  void PrintVerdict(LineSink& sink) { verdicts_.PrintFinding(sink); }
  void Print(LineSink& sink) {
    PrintVerdict(sink);
    sink.Blank();
    PrintIncidents(sink);
    verdicts_.PrintQueues(sink);
    diagnostics_.PrintFaults(sink);
    diagnostics_.PrintMemory(sink);
    diagnostics_.PrintFreedInFlight(sink);
    diagnostics_.PrintKernelLog(sink);
    diagnostics_.PrintWaits(sink);
    diagnostics_.PrintCheckpoints(sink);
    sections_.PrintReportedEventIds(sink);
    sink.Blank();
    PrintProgressHeading(sink);
    tree_.Print(sink);
    sections_.PrintSubmissions(sink);
    sections_.PrintQueueMarkers(sink);
    sections_.PrintLastCalls(sink);
    sections_.PrintFences(sink);
    sections_.PrintObjects(sink);
    PrintRawMarkers(sink);
    sections_.PrintUserData(sink);
    PrintProcess(sink);
    if (extended_ || (options_.print_flags & CAIRN_PRINT_SKIP_DEVICE_INFO) == 0) {
      PrintDevices(sink);
    }
    if (sink.full()) sink.EndFull();
    PrintLosses(sink);
  }

 private:
  void PrintProgressHeading(LineSink& sink) {
    text_ = "Progress (";
    for (const WorkState state :
         {WorkState::kCompleted, WorkState::kInFlight, WorkState::kNotStarted}) {
      if (state != WorkState::kCompleted) text_ += ", ";
      Format("{} {}", StateMark(state), WorkStateWord(state));
    }
    text_ += ')';
    sink.Heading(text_);
  }
  bool IsShown(uint32_t device) const {
    return findings_.device == kNone || device == findings_.device;
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
  void PrintHidden(LineSink& sink, size_t count, const char* what);
  void PrintRawMarkers(LineSink& sink);
  void PrintRawMarkerVerdict(LineSink& sink, const RawMarkerVerdict& verdict);
  void PrintRawMarkerWork(LineSink& sink, const RawMarkerWork& work);
  void PrintLosses(LineSink& sink);

  const Snapshot& snapshot_;
  const Findings& findings_;
  const TextOptions& options_;
  bool extended_;
  VerdictPrinter verdicts_;
  TreePrinter tree_;
  DiagnosticsPrinter diagnostics_;
  SectionPrinter sections_;
  std::string text_;  // the sentence being built
};

void TextReporter::PrintIncidents(LineSink& sink) {
  sink.Heading("Incidents");
  for (const Incident& incident : snapshot_.incidents) {
    sink.Prose(" - ", IncidentSentence(snapshot_, incident));
  }
  if (snapshot_.incidents.empty()) {
    sink.Prose(" - ", "No failure was noticed; this is the state when the report was asked for.");
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
  // The reasons of its queues say it, too.
  if (!device.notes.empty() && (extended_ || findings_.culprit.suspects.empty())) {
    text_.clear();
    Format("Note on this device: {}.", snapshot_.Text(device.notes));
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

// Prints the sources, without --all only those that would have answered more of the verdict's open
// questions.
void TextReporter::PrintSources(LineSink& sink, const Device& device) {
  if (device.source_count == 0) return;
  const uint32_t end = device.first_source + device.source_count;
  const auto limits = [this](uint32_t source) {
    return std::binary_search(findings_.limiting_sources.begin(), findings_.limiting_sources.end(),
                              source);
  };
  size_t limiting = 0;
  for (uint32_t i = device.first_source; i < end; ++i) limiting += limits(i) ? 1 : 0;
  if (extended_ || limiting != 0) {
    sink.Prose("   ", extended_ ? "Data sources:" : "Data sources that would have told more:");
  }
  for (uint32_t i = device.first_source; i < end; ++i) {
    if (!extended_ && !limits(i)) continue;
    const Source& source = snapshot_.sources[i];
    text_.clear();
    Format("{:<7} {}", SourceStateWord(source.state), snapshot_.Text(source.name));
    if (!source.reason.empty()) Format(": {}", snapshot_.Text(source.reason));
    sink.Prose("    - ", text_);
  }
  if (extended_ || limiting == device.source_count) return;
  const size_t others = device.source_count - limiting;
  text_.clear();
  Format("{} {}data source{}; --all shows {}", others, limiting == 0 ? "" : "other ",
         Plural(others, "", "s"), Plural(others, "it", "them"));
  sink.Prose("   ", text_);
}

void TextReporter::PrintHidden(LineSink& sink, size_t count, const char* what) {
  text_.clear();
  Format("… {} more {}", count, what);
  sink.Prose("        ", text_);
}

void TextReporter::PrintRawMarkerWork(LineSink& sink, const RawMarkerWork& work) {
  text_.clear();
  const Analysis& analysis = findings_.analysis;
  AppendListPath(snapshot_, analysis.executions[work.execution], text_);
  if (work.scope != kNone) {
    AppendScopePath(snapshot_, analysis, analysis.scopes[work.scope], text_);
  } else if (work.after_marker == 0) {
    Format(" > (what was recorded before marker 1)");
  } else {
    Format(" > (what was recorded after marker {})", work.after_marker);
  }
  sink.Prose("    [>] ", text_);
  sink.Prose("        ", RawReasonInWords(work.reason));
}

// Prints the possible culprits, the likely ones first.
void TextReporter::PrintRawMarkerVerdict(LineSink& sink, const RawMarkerVerdict& verdict) {
  const uint32_t count = verdict.candidate_count;
  text_.clear();
  AppendQueue(snapshot_, verdict.queue, text_);
  if (count == 0) {
    Format(": all that lies between raw markers had completed or not begun");
  } else {
    Format(": {} candidate{}, {} of them likely", count, Plural(count, "", "s"),
           verdict.likely_count);
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
        "values of an earlier use. No work is known not to have started.");
  }
  if (verdict.executions_left_out != 0) {
    text_.clear();
    Format("{} older executions of command lists are not shown.", verdict.executions_left_out);
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
  for (const RawMarkerVerdict& verdict : findings_.raw_markers) {
    if (!IsShown(verdict.device)) continue;
    if (!headed) {
      sink.Blank();
      sink.Heading("Conclusions from raw markers");
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
  sink.Heading("Missing from this report");
  std::string_view before;
  for (const TextRef& loss : snapshot_.losses) {
    if (snapshot_.Text(loss) != before) sink.Prose(" - ", snapshot_.Text(loss));
    before = snapshot_.Text(loss);
  }
}

}  // namespace

std::string TextReport(const Snapshot& snapshot, const Findings& findings,
                       const TextOptions& options) {
  TextReporter reporter(snapshot, findings, options);
  // Twice: once to count, so that the memory is allocated at once.
  LineSink counter(options.width, options.colour, nullptr, options.whole_rows);
  reporter.Print(counter);
  std::string text;
  text.reserve(counter.size_bytes());
  LineSink writer(options.width, options.colour, &text, options.whole_rows);
  reporter.Print(writer);
  return text;
}

std::string TextVerdict(const Snapshot& snapshot, const Findings& findings,
                        const TextOptions& options) {
  TextReporter reporter(snapshot, findings, options);
  std::string text;
  LineSink writer(options.width, options.colour, &text, options.whole_rows);
  reporter.PrintVerdict(writer);
  return text;
}

}  // namespace cairn
