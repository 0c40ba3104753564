// SPDX-License-Identifier: Apache-2.0
#include "reader/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text.h"
#include "format/snapshot/made_at.h"
#include "format/snapshot/object_kinds.h"
#include "reader/report/call_text.h"
#include "reader/report/describe.h"
#include "reader/report/user_data_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

// The most entries in a report without CAIRN_PRINT_EXTENDED_DEVICE_INFO.
constexpr size_t kSubmissionsShown = 8;
constexpr size_t kListsOfSubmissionShown = 6;
constexpr size_t kMostSubmissionBytes = 1u << 20;  // also where all is wanted
constexpr size_t kQueueMarkersShown = 8;
constexpr size_t kThreadsShown = 8;
constexpr size_t kCallsShown = 4;
constexpr size_t kFencesShown = 8;
constexpr size_t kObjectsShown = 24;
constexpr size_t kReportedShown = 64;
constexpr size_t kDeepestSection = 32;

bool IsUnfinished(const Object& fence) {
  return fence.completed < fence.signalled || fence.completed < fence.waited;
}

}  // namespace

SectionPrinter::SectionPrinter(const Snapshot& snapshot, const Findings& findings,
                               const TextOptions& options)
    : snapshot_(snapshot),
      findings_(findings),
      analysis_(findings.analysis),
      all_((options.print_flags & CAIRN_PRINT_EXTENDED_DEVICE_INFO) != 0) {
  program_ended_ = std::any_of(
      snapshot.incidents.begin(), snapshot.incidents.end(), [](const Incident& incident) {
        return incident.kind == IncidentKind::kSignal || incident.kind == IncidentKind::kExited;
      });
  FindHandles();
  FindOpenQueueMarkers();
  for (uint32_t i = 0; i < snapshot.threads.size(); ++i) thread_order_.push_back(i);
  std::stable_sort(thread_order_.begin(), thread_order_.end(), [this](uint32_t a, uint32_t b) {
    const auto key = [this](const Thread& thread) {
      return std::tuple(!thread.crashed, !HasUnreturned(thread), thread.ended);
    };
    return key(snapshot_.threads[a]) < key(snapshot_.threads[b]);
  });
  text_.reserve(1024);
}

void SectionPrinter::FindOpenQueueMarkers() {
  const std::vector<QueueMarker>& markers = snapshot_.queue_markers;
  queue_marker_open_.assign(markers.size(), false);
  std::vector<size_t> open;
  for (size_t i = 0; i < markers.size(); ++i) {
    if (i != 0 && markers[i].native_handle != markers[i - 1].native_handle) open.clear();
    if (markers[i].kind == QueueMarkerKind::kBegin) {
      open.push_back(i);
      queue_marker_open_[i] = true;
    } else if (markers[i].kind == QueueMarkerKind::kEnd && !open.empty()) {
      queue_marker_open_[open.back()] = false;
      open.pop_back();
    }
  }
}

bool SectionPrinter::HasUnreturned(const Thread& thread) const {
  const auto first = snapshot_.calls.begin() + thread.first_call;
  return std::any_of(first, first + thread.call_count,
                     [](const Call& call) { return !call.returned; });
}

void SectionPrinter::BeginSection(LineSink& sink, std::string_view heading) {
  sink.Blank();
  sink.Heading(heading);
}

void SectionPrinter::PrintRest(LineSink& sink, size_t count, std::string_view what) {
  if (count == 0) return;
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "… {} {}; --all shows them", count, what);
  sink.Prose("   ", text_);
}

// Sorts objects that had the same address: the living one first, then the youngest.
void SectionPrinter::FindHandles() {
  for (uint32_t i = 0; i < snapshot_.objects.size(); ++i) {
    const Object& object = snapshot_.objects[i];
    if (object.state == ObjectState::kFree || object.native_handle == 0) continue;
    handles_.push_back({object.native_handle, i});
  }
  std::sort(handles_.begin(), handles_.end(), [this](const Handle& a, const Handle& b) {
    const Object& of_a = snapshot_.objects[a.object];
    const Object& of_b = snapshot_.objects[b.object];
    return std::tuple(a.native_handle, of_a.state, MadeAt(of_b), a.object) <
           std::tuple(b.native_handle, of_b.state, MadeAt(of_a), b.object);
  });
}

uint32_t SectionPrinter::FindObject(uint64_t native_handle) const {
  const auto found = std::lower_bound(
      handles_.begin(), handles_.end(), native_handle,
      [](const Handle& handle, uint64_t wanted) { return handle.native_handle < wanted; });
  return found != handles_.end() && found->native_handle == native_handle ? found->object : kNone;
}

// Executions share trees of scopes, which do not overlap: of each tree the first execution is kept.
void SectionPrinter::FindTrees() {
  for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
    const Execution& execution = analysis_.executions[i];
    if (execution.scope_count != 0) tree_executions_.push_back(i);
  }
  const auto first_scope = [this](uint32_t i) { return analysis_.executions[i].first_scope; };
  std::stable_sort(tree_executions_.begin(), tree_executions_.end(),
                   [&](uint32_t a, uint32_t b) { return first_scope(a) < first_scope(b); });
  const auto same = [&](uint32_t a, uint32_t b) { return first_scope(a) == first_scope(b); };
  tree_executions_.erase(std::unique(tree_executions_.begin(), tree_executions_.end(), same),
                         tree_executions_.end());
}

void SectionPrinter::AppendScopeOf(uint32_t scope) {
  if (tree_executions_.empty()) FindTrees();
  const auto after = std::upper_bound(
      tree_executions_.begin(), tree_executions_.end(), scope,
      [this](uint32_t wanted, uint32_t i) { return wanted < analysis_.executions[i].first_scope; });
  if (after == tree_executions_.begin()) return;
  const Execution* const execution = &analysis_.executions[*std::prev(after)];
  if (scope - execution->first_scope >= execution->scope_count) return;
  text_ += "; in ";
  AppendListPath(snapshot_, *execution, text_);
  AppendScopePath(snapshot_, analysis_, analysis_.scopes[scope], text_);
  fmt::format_to(std::back_inserter(text_), ", {}", WorkStateWord(analysis_.scopes[scope].state));
}

void SectionPrinter::PrintReportedEventId(LineSink& sink, size_t index) {
  const ReportedEventId& reported = snapshot_.reported_event_ids[index];
  text_.clear();
  AppendEventId(reported.event_id, text_);
  switch (reported.state) {
    case EventIdState::kResolved:
      text_ += ": \"";
      AppendVisibleText(snapshot_.Text(snapshot_.annotations[reported.annotation].name), text_);
      text_ += '"';
      break;
    case EventIdState::kExpired:
      text_ += ": expired; its command allocator was reset, or its queue let it go";
      break;
    case EventIdState::kUnknown: text_ += ": unknown; no marker that is kept has it"; break;
  }
  if (analysis_.reported_scopes[index] != kNone) AppendScopeOf(analysis_.reported_scopes[index]);
  sink.Prose(" - ", text_);
}

void SectionPrinter::PrintReportedEventIds(LineSink& sink) {
  size_t count = 0;
  for (size_t i = 0; i < snapshot_.reported_event_ids.size(); ++i) {
    if (!IsShown(snapshot_.reported_event_ids[i].device)) continue;
    if (count == 0) BeginSection(sink, "EventIDs that the driver reported");
    if (sink.full()) return;
    if (count++ < kReportedShown || all_) PrintReportedEventId(sink, i);
  }
  if (!all_) PrintRest(sink, count - std::min(count, kReportedShown), "more");
}

void SectionPrinter::PrintSubmission(LineSink& sink, size_t first, size_t end) {
  const Submission& submission = snapshot_.submissions[first];
  text_.clear();
  const std::string time = MonotonicTimeInWords(snapshot_.process, submission.time_ns);
  if (!time.empty()) fmt::format_to(std::back_inserter(text_), "{}, ", time);
  AppendQueue(snapshot_, submission.queue, text_);
  fmt::format_to(std::back_inserter(text_), ", submission {}:", submission.number);
  size_t recycled = 0;
  size_t shown = 0;
  for (size_t i = first; i < end; ++i) {
    const uint32_t execution = findings_.submission_executions[i];
    if (execution == kNone) {
      ++recycled;
      continue;
    }
    if (all_ ? text_.size() > kMostSubmissionBytes : shown == kListsOfSubmissionShown) break;
    text_ += shown++ == 0 ? " " : ", ";
    text_ += StateMark(analysis_.executions[execution].state);
    text_ += ' ';
    AppendListPath(snapshot_, analysis_.executions[execution], text_);
  }
  if (end - first > shown + recycled) {
    fmt::format_to(std::back_inserter(text_), ", … {} more lists", end - first - shown - recycled);
  }
  if (recycled != 0) {
    fmt::format_to(std::back_inserter(text_), "{}{} recycled list{}", shown == 0 ? " " : ", ",
                   recycled, Plural(recycled, "", "s"));
  }
  sink.Prose(" - ", text_);
}

// Prints submissions in their order; only the latest ones in a short report.
void SectionPrinter::PrintSubmissions(LineSink& sink) {
  const std::vector<Submission>& submissions = snapshot_.submissions;
  const auto is_shown = [&](size_t i) {
    return submissions[i].queue == kNone || IsShown(snapshot_.queues[submissions[i].queue].device);
  };
  // Twice: to count the groups of lists that were submitted together, then to print the last of them.
  size_t count = 0;
  for (const bool print : {false, true}) {
    size_t number = 0;
    for (size_t i = 0; i < submissions.size();) {
      size_t end = i + 1;
      while (end < submissions.size() && submissions[end].queue == submissions[i].queue &&
             submissions[end].number == submissions[i].number) {
        ++end;
      }
      if (is_shown(i)) {
        if (sink.full()) return;
        if (print && (all_ || number + kSubmissionsShown >= count)) PrintSubmission(sink, i, end);
        ++number;
      }
      i = end;
    }
    if (print || number == 0) continue;
    count = number;
    BeginSection(sink, "Submissions, the latest last");
    if (!all_) PrintRest(sink, count - std::min(count, kSubmissionsShown), "earlier");
  }
  PrintEmptySubmissions(sink);
}

// Empty submissions are few, and in a hang the missing signal is often one of them.
void SectionPrinter::PrintEmptySubmissions(LineSink& sink) {
  const std::vector<EmptySubmission>& all = findings_.empty_submissions;
  const size_t first = all_ ? 0 : all.size() - std::min(all.size(), kSubmissionsShown);
  if (!all.empty()) PrintRest(sink, first, "earlier without command lists");
  for (size_t i = first; i < all.size(); ++i) {
    const EmptySubmission& submission = all[i];
    if (!IsShown(snapshot_.queues[submission.queue].device)) continue;
    text_.clear();
    const std::string time = MonotonicTimeInWords(snapshot_.process, submission.time_ns);
    if (!time.empty()) fmt::format_to(std::back_inserter(text_), "{}, ", time);
    AppendQueue(snapshot_, submission.queue, text_);
    fmt::format_to(std::back_inserter(text_), ", submission {}: no command lists",
                   submission.number);
    sink.Prose(" - ", text_);
  }
}

void SectionPrinter::PrintMarkersOfQueue(LineSink& sink, size_t first, size_t end) {
  const std::vector<QueueMarker>& markers = snapshot_.queue_markers;
  text_.clear();
  if (markers[first].queue != kNone) {
    AppendQueue(snapshot_, markers[first].queue, text_);
  } else {
    AppendHandle(markers[first].native_handle);
  }
  sink.Prose(" - ", text_);
  const size_t begin =
      all_ ? first : std::max(first + kQueueMarkersShown, end) - kQueueMarkersShown;
  size_t depth = 0;
  for (size_t i = first; i < end && !sink.full(); ++i) {
    const QueueMarker& marker = markers[i];
    if (marker.kind == QueueMarkerKind::kEnd) {
      if (depth != 0) --depth;
      continue;
    }
    if (i >= begin || queue_marker_open_[i]) {
      text_.assign(std::min<size_t>(depth, kDeepestSection) * 2, ' ');
      text_ += marker.kind == QueueMarkerKind::kSetMarker ? "marker \"" : "event \"";
      const Annotation* annotation =
          marker.annotation == kNone ? nullptr : &snapshot_.annotations[marker.annotation];
      if (annotation != nullptr) AppendVisibleText(snapshot_.Text(annotation->name), text_);
      text_ += '"';
      if (annotation != nullptr && annotation->event_id != 0) {
        text_ += ", EventID ";
        AppendEventId(annotation->event_id, text_);
      }
      fmt::format_to(std::back_inserter(text_), ", before submission {}", marker.submission + 1);
      if (queue_marker_open_[i]) text_ += ", open";
      sink.line() += "    ";
      sink.line() += text_;
      sink.EndLine();
    }
    if (marker.kind == QueueMarkerKind::kBegin) ++depth;
  }
}

void SectionPrinter::PrintQueueMarkers(LineSink& sink) {
  const std::vector<QueueMarker>& markers = snapshot_.queue_markers;
  bool any = false;
  for (size_t i = 0; i < markers.size() && !sink.full();) {
    size_t end = i + 1;
    while (end < markers.size() && markers[end].native_handle == markers[i].native_handle) ++end;
    if (markers[i].queue == kNone || IsShown(snapshot_.queues[markers[i].queue].device)) {
      if (!any) BeginSection(sink, "Markers of queues");
      any = true;
      PrintMarkersOfQueue(sink, i, end);
    }
    i = end;
  }
}

void SectionPrinter::AppendHandle(uint64_t native_handle) {
  const uint32_t object = FindObject(native_handle);
  if (object != kNone) {
    AppendObject(snapshot_, snapshot_.objects[object], text_);
  } else {
    fmt::format_to(std::back_inserter(text_), "{:#x}", native_handle);
  }
}

void SectionPrinter::AppendCall(const Thread& thread, const Call& call) {
  AppendCallWithArguments(snapshot_, thread, call, text_);
  if (call.object != 0) {
    text_ += " of ";
    AppendHandle(call.object);
  }
}

void SectionPrinter::PrintThread(LineSink& sink, const Thread& thread) {
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "thread {}", thread.thread_id);
  if (!thread.name.empty()) {
    text_ += " \"";
    AppendVisibleText(snapshot_.Text(thread.name), text_);
    text_ += '"';
  }
  if (thread.ended) text_ += ", ended";
  if (thread.crashed) text_ += ", crashed";
  const Call* first = snapshot_.calls.data() + thread.first_call;
  if (thread.call_count == 0) {
    text_ += ", no calls";
  } else {
    const uint64_t made = first[thread.call_count - 1].number;
    fmt::format_to(std::back_inserter(text_), ", {} call{}", made, Plural(made, "", "s"));
  }
  sink.Prose(" - ", text_);
  for (uint32_t i = thread.call_count; i-- > 0;) {
    if (first[i].returned) continue;
    text_.clear();
    AppendCall(thread, first[i]);
    text_ += program_ended_ ? ": never returned" : ": has not returned";
    sink.Prose("    [>] ", text_);
  }
  const size_t limit = all_ ? thread.call_count : kCallsShown;
  size_t shown = 0;
  for (uint32_t i = thread.call_count; i != 0 && shown < limit;) {
    const Call& call = first[--i];
    if (!call.returned) continue;
    // A program that polls would show nothing else.
    uint32_t times = 1;
    while (i != 0 && first[i - 1].returned && first[i - 1].object == call.object &&
           snapshot_.Text(first[i - 1].function) == snapshot_.Text(call.function)) {
      --i;
      ++times;
    }
    ++shown;
    text_.clear();
    AppendCall(thread, call);
    if (times != 1) fmt::format_to(std::back_inserter(text_), ", {} times", times);
    sink.Prose("        ", text_);
  }
}

// Threads whose calls did not return first.
void SectionPrinter::PrintLastCalls(LineSink& sink) {
  if (thread_order_.empty()) return;
  BeginSection(sink, "Last calls, the newest first");
  const size_t shown = all_ ? thread_order_.size() : std::min(thread_order_.size(), kThreadsShown);
  for (size_t i = 0; i < shown && !sink.full(); ++i)
    PrintThread(sink, snapshot_.threads[thread_order_[i]]);
  PrintRest(sink, thread_order_.size() - shown, "more threads");
}

void SectionPrinter::PrintFence(LineSink& sink, const Object& fence) {
  text_.clear();
  AppendObject(snapshot_, fence, text_);
  fmt::format_to(std::back_inserter(text_), ": completed {}, signalled {}, waited for {}",
                 fence.completed, fence.signalled, fence.waited);
  if (fence.waited > fence.signalled && fence.waited > fence.completed) {
    text_ += "; no signal of that value was seen";
  } else if (IsUnfinished(fence)) {
    text_ += "; not seen to have come";
  }
  if (fence.state == ObjectState::kDestroyed) text_ += ", destroyed";
  sink.Prose(" - ", text_);
}

// Prints the fences with waiters first.
void SectionPrinter::PrintFences(LineSink& sink) {
  size_t count = 0;
  for (const bool unfinished : {true, false}) {
    for (const Object& object : snapshot_.objects) {
      if (object.kind != kD3D12FenceKind || object.state == ObjectState::kFree ||
          !IsShown(object.device) || IsUnfinished(object) != unfinished ||
          (object.state == ObjectState::kDestroyed && !unfinished && !all_)) {
        continue;
      }
      if (sink.full()) return;
      if (count++ == 0) BeginSection(sink, "Fences");
      if (all_ || count <= kFencesShown) PrintFence(sink, object);
    }
  }
  if (!all_) PrintRest(sink, count - std::min(count, kFencesShown), "more");
}

void SectionPrinter::PrintObjectCounts(LineSink& sink) {
  // Count by name, because several kinds unknown to this version share one.
  struct Count {
    std::string_view word;
    size_t alive = 0;
    size_t destroyed = 0;
  };
  std::vector<Count> counts;
  for (const Object& object : snapshot_.objects) {
    if (object.state == ObjectState::kFree || !IsShown(object.device)) continue;
    const std::string_view word = ObjectKindWord(object.kind);
    auto count = std::find_if(counts.begin(), counts.end(),
                              [word](const Count& known) { return known.word == word; });
    if (count == counts.end()) count = counts.insert(counts.end(), Count{word});
    ++(object.state == ObjectState::kAlive ? count->alive : count->destroyed);
  }
  std::sort(counts.begin(), counts.end(),
            [](const Count& a, const Count& b) { return a.word < b.word; });
  text_.clear();
  for (const Count& count : counts) {
    fmt::format_to(std::back_inserter(text_), "{}{}: {}", text_.empty() ? "" : ", ", count.word,
                   count.alive);
    if (count.destroyed != 0) {
      fmt::format_to(std::back_inserter(text_), " (and {} destroyed)", count.destroyed);
    }
  }
  sink.Prose("   ", text_);
}

void SectionPrinter::PrintObject(LineSink& sink, const Object& object) {
  text_.clear();
  AppendObject(snapshot_, object, text_);
  const bool has_handles = !HasGpuAddresses(object.kind);
  if (object.gpu_address != 0 && has_handles) {
    fmt::format_to(std::back_inserter(text_), ", handles from {:#x} to {:#x}", object.gpu_address,
                   object.gpu_address + object.size_bytes - 1);
  } else if (object.gpu_address != 0) {
    fmt::format_to(std::back_inserter(text_), " at {:#x}", object.gpu_address);
  }
  if (object.size_bytes != 0 && !has_handles) {
    fmt::format_to(std::back_inserter(text_), ", {}", BytesInWords(object.size_bytes));
  }
  const std::string created = MonotonicTimeInWords(snapshot_.process, object.created_ns);
  if (!created.empty()) fmt::format_to(std::back_inserter(text_), ", created {}", created);
  if (object.state == ObjectState::kDestroyed) {
    const std::string destroyed = MonotonicTimeInWords(snapshot_.process, object.destroyed_ns);
    text_ += ", destroyed";
    if (!destroyed.empty()) fmt::format_to(std::back_inserter(text_), " {}", destroyed);
  }
  sink.Prose(" - ", text_);
}

void SectionPrinter::PrintObjects(LineSink& sink) {
  const auto is_object = [this](const Object& object) {
    return object.state != ObjectState::kFree && IsShown(object.device);
  };
  if (std::none_of(snapshot_.objects.begin(), snapshot_.objects.end(), is_object)) return;
  BeginSection(sink, "Objects (times since the program started)");
  PrintObjectCounts(sink);
  size_t named = 0;
  for (const Object& object : snapshot_.objects) {
    if (!is_object(object) || (object.name.empty() && !all_)) continue;
    if (sink.full()) return;
    if (++named <= kObjectsShown || all_) PrintObject(sink, object);
  }
  if (!all_) PrintRest(sink, named - std::min(named, kObjectsShown), "more with names");
}

void SectionPrinter::PrintUserData(LineSink& sink) {
  const std::vector<UserData>& entries = snapshot_.user_data;
  if (entries.empty()) return;
  const bool in_file = std::any_of(entries.begin(), entries.end(),
                                   [](const UserData& data) { return !data.bytes.empty(); });
  BeginSection(
      sink, in_file ? "User data (cairn report --extract DIR writes it into files)" : "User data");
  for (const UserData& data : entries) {
    text_.clear();
    AppendUserData(snapshot_, data, text_);
    sink.Prose(" - ", text_);
  }
}

}  // namespace cairn
