// SPDX-License-Identifier: Apache-2.0
#include "reader/report/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "reader/report/describe.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

// Deeper scopes are not indented further: a hostile list may nest 100,000 deep.
constexpr uint32_t kDeepestIndent = 64;
// In a longer run of collapsed siblings only the first and the last few are shown.
constexpr uint32_t kLongestRun = 12;
constexpr uint32_t kShownOfRun = 4;

}  // namespace

TreePrinter::TreePrinter(const Snapshot& snapshot, const Findings& findings,
                         const TextOptions& options)
    : snapshot_(snapshot),
      analysis_(findings.analysis),
      only_device_(findings.device),
      options_(options) {
  more_siblings_.resize(kDeepestIndent);
  const size_t devices = static_cast<size_t>(
      std::count_if(snapshot.devices.begin(), snapshot.devices.end(),
                    [](const Device& device) { return device.api != Api::kNone; }));
  several_devices_ = devices > 1 && only_device_ == kNone;
  FindFrames();
}

void TreePrinter::FindFrames() {
  tells_submissions_.assign(snapshot_.devices.size(), false);
  size_t count = 0;
  for (const bool add : {false, true}) {
    if (add) frames_.reserve(count);
    const Execution* before = nullptr;
    for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
      const Execution& execution = analysis_.executions[i];
      if (!IsShown(execution)) continue;
      const uint32_t device = DeviceOf(execution);
      const bool is_new =
          before == nullptr || DeviceOf(*before) != device || before->frame != execution.frame;
      before = &execution;
      if (is_new) ++count;
      if (!add) continue;
      if (is_new) frames_.push_back({device, execution.frame, i, i, true});
      Frame& frame = frames_.back();
      frame.end = i + 1;
      frame.quiet &= execution.state == WorkState::kCompleted && !IsExpanded(execution);
      if (execution.submission != kNone && device != kNone) tells_submissions_[device] = true;
    }
  }
}

bool TreePrinter::IsShown(const Execution& execution) const {
  return only_device_ == kNone || DeviceOf(execution) == only_device_;
}

bool TreePrinter::IsExpanded(const Execution& execution) const {
  switch (execution.state) {
    case WorkState::kUnknown:
    case WorkState::kNotStarted: return (options_.print_flags & CAIRN_PRINT_NOT_STARTED_LISTS) != 0;
    case WorkState::kCompleted: return (options_.print_flags & CAIRN_PRINT_FINISHED_LISTS) != 0;
    case WorkState::kInFlight: break;
  }
  return true;
}

bool TreePrinter::IsExpanded(const Scope& scope) const {
  switch (scope.state) {
    case WorkState::kUnknown:
    case WorkState::kNotStarted: return (options_.print_flags & CAIRN_PRINT_NOT_STARTED_NODES) != 0;
    case WorkState::kCompleted: return (options_.print_flags & CAIRN_PRINT_FINISHED_NODES) != 0;
    case WorkState::kInFlight: break;
  }
  return true;
}

uint32_t TreePrinter::CollapsedLists(uint32_t first) const {
  const std::vector<Execution>& executions = analysis_.executions;
  uint32_t end = first;
  while (end < executions.size() && executions[end].state == executions[first].state &&
         !IsExpanded(executions[end]) && DeviceOf(executions[end]) == DeviceOf(executions[first]) &&
         executions[end].frame == executions[first].frame) {
    ++end;
  }
  return end - first;
}

size_t TreePrinter::QuietFrames(size_t first) const {
  size_t end = first;
  while (end < frames_.size() && frames_[end].quiet &&
         frames_[end].device == frames_[first].device) {
    ++end;
  }
  return end - first;
}

uint32_t TreePrinter::CollapsedScopes(uint32_t first, uint32_t end) const {
  uint32_t count = 0;
  for (uint32_t i = first; i < end; i += analysis_.scopes[i].subtree_size) {
    const Scope& scope = analysis_.scopes[i];
    if (scope.state != analysis_.scopes[first].state || IsExpanded(scope)) break;
    ++count;
  }
  return count;
}

void TreePrinter::Print(LineSink& sink) {
  printed_.assign(analysis_.scopes.size(), false);
  for (size_t i = 0; i < frames_.size();) {
    const size_t run = QuietFrames(i);
    const size_t hidden = run > kLongestRun ? run - 2 * kShownOfRun : 0;
    const size_t end = i + std::max<size_t>(run, 1);
    for (const size_t first = i; i < end; ++i) {
      if (sink.full()) return;
      if (hidden != 0 && i == first + kShownOfRun) {
        fmt::format_to(std::back_inserter(sink.line()), "… {} more frames, all {}", hidden,
                       kCompletedWord);
        sink.EndLine();
        i += hidden;
      }
      PrintFrame(sink, frames_[i]);
    }
  }
  if (frames_.empty()) sink.Prose("  ", "No command list is registered.");
}

void TreePrinter::PrintFrame(LineSink& sink, const Frame& frame) {
  fmt::format_to(std::back_inserter(sink.line()), "<Frame {}>", frame.number);
  if (several_devices_ && frame.device != kNone) {
    fmt::format_to(std::back_inserter(sink.line()), " of device {}", frame.device);
  }
  sink.EndLine();
  for (uint32_t i = frame.first; i < frame.end;) {
    const uint32_t run = CollapsedLists(i);
    const uint32_t hidden = run > kLongestRun ? run - 2 * kShownOfRun : 0;
    const uint32_t end = i + std::max(run, 1u);
    for (const uint32_t first = i; i < end; ++i) {
      if (sink.full()) return;
      if (hidden != 0 && i == first + kShownOfRun) {
        fmt::format_to(std::back_inserter(sink.line()), " … {} more {}s, {}", hidden,
                       ListWord(snapshot_, DeviceOf(analysis_.executions[i])),
                       WorkStateWord(analysis_.executions[i].state));
        sink.EndLine();
        i += hidden;
      }
      PrintList(sink, i);
    }
  }
}

void TreePrinter::PrintList(LineSink& sink, uint32_t index) {
  const Execution& execution = analysis_.executions[index];
  const Recording& recording = snapshot_.recordings[execution.recording];
  const uint32_t queue = QueueOfExecution(snapshot_, execution);
  std::string& line = sink.line();
  line += " - ";
  line += StateMark(execution.state);
  if (queue == kNone) {
    line += " no queue";
  } else {
    line += ' ';
    AppendQueue(snapshot_, queue, line);
  }
  // The number on the queue; without reported submissions, the number that the application gave at
  // registration.
  if (execution.submission != kNone) {
    fmt::format_to(std::back_inserter(line), ", submission {}",
                   snapshot_.submissions[execution.submission].number);
  } else if (recording.device != kNone && tells_submissions_[recording.device]) {
    line += ", not submitted";
  } else {
    fmt::format_to(std::back_inserter(line), ", submission {}", recording.submission_index);
  }
  fmt::format_to(std::back_inserter(line), ", {} {}", ListWord(snapshot_, recording.device),
                 recording.recording_id);
  if (!recording.name.empty()) {
    line += " \"";
    AppendVisibleText(snapshot_.Text(recording.name), line);
    line += '"';
  }
  AppendExecutionNotes(snapshot_, execution, line);
  const bool expanded = IsExpanded(execution) && execution.scope_count != 0;
  const bool shown_before = expanded && printed_[execution.first_scope];
  if (execution.scope_count != 0 && (!expanded || shown_before)) {
    fmt::format_to(std::back_inserter(line), " ({} scope{}{})", execution.scope_count,
                   Plural(execution.scope_count, "", "s"), shown_before ? ", as above" : "");
  }
  sink.EndLine(execution.state, 3, 3);
  if (!expanded || shown_before) return;
  printed_[execution.first_scope] = true;
  PrintScopes(sink, execution);
}

void TreePrinter::PrintScopes(LineSink& sink, const Execution& execution) {
  const uint32_t list_end = execution.first_scope + execution.scope_count;
  for (uint32_t i = execution.first_scope; i < list_end;) {
    const Scope& scope = analysis_.scopes[i];
    const uint32_t end = scope.parent == kNone
                             ? list_end
                             : scope.parent + analysis_.scopes[scope.parent].subtree_size;
    // The first of a row of collapsed siblings decides for the row.
    const uint32_t run = CollapsedScopes(i, end);
    const uint32_t hidden = run > kLongestRun ? run - 2 * kShownOfRun : 0;
    uint32_t position = 0;
    do {
      if (sink.full()) return;
      if (hidden != 0 && position == kShownOfRun) {
        for (uint32_t skipped = 0; skipped < hidden; ++skipped) {
          i += analysis_.scopes[i].subtree_size;
        }
        position += hidden;
        AppendIndent(scope.depth, false, sink.line());
        fmt::format_to(std::back_inserter(sink.line()), "… {} more, {}", hidden,
                       WorkStateWord(scope.state));
        sink.EndLine();
      }
      const uint32_t size = analysis_.scopes[i].subtree_size;
      PrintScope(sink, i, i + size >= end);
      // Children follow their parent unless it is collapsed.
      i += IsExpanded(analysis_.scopes[i]) ? 1 : size;
      ++position;
    } while (position < run);
  }
}

void TreePrinter::AppendIndent(uint32_t depth, bool is_last, std::string& line) const {
  line += "    ";
  const uint32_t levels = std::min(depth, kDeepestIndent);
  for (uint32_t i = 0; i < levels; ++i) line += more_siblings_[i] != 0 ? "│  " : "   ";
  line += is_last ? "└─" : "├─";
}

void TreePrinter::PrintScope(LineSink& sink, uint32_t index, bool is_last) {
  const Scope& scope = analysis_.scopes[index];
  std::string& line = sink.line();
  AppendIndent(scope.depth, is_last, line);
  if (scope.depth < kDeepestIndent) more_siblings_[scope.depth] = is_last ? 0 : 1;
  const size_t mark_offset = line.size();
  line += StateMark(scope.state);
  line += ' ';
  if (scope.depth > kDeepestIndent) {
    fmt::format_to(std::back_inserter(line), "(depth {}) ", scope.depth);
  }
  AppendScope(snapshot_, scope,
              (options_.print_flags & CAIRN_PRINT_SKIP_PIPELINE_INFO) == 0
                  ? ScopeDetail::kEventIdAndPipeline
                  : ScopeDetail::kEventId,
              line);
  const uint32_t inside = scope.subtree_size - 1;
  if (inside != 0 && !IsExpanded(scope)) {
    fmt::format_to(std::back_inserter(line), " ({} scope{})", inside, Plural(inside, "", "s"));
  }
  sink.EndLine(scope.state, mark_offset, 3);
}

}  // namespace cairn
