// SPDX-License-Identifier: Apache-2.0
#include "reader/view/picture_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "d3d12gen/roles.h"
#include "reader/bisect/call_roles.h"

namespace cairn::cli {
namespace {

bool IsSubmission(const std::optional<Method>& method) {
  return method == Method::ID3D12CommandQueue_ExecuteCommandLists;
}

Status WouldPlay(const UnfinishedWork& unfinished, uint64_t call) {
  if (unfinished.first_call == 0) {
    return Status(StatusCode::kUnsupported,
                  "the file does not say which work had ended when the program failed: playing it "
                  "may hang this device");
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("up to call {} stands work that had not ended when the program failed, "
                            "from call {} on: playing it may hang this device",
                            GroupedDigits(call), GroupedDigits(unfinished.first_call)));
}

class PlaceFinder {
 public:
  PlaceFinder(TraceReader& trace, uint64_t call, PictureMoment moment,
              const UnfinishedWork& unfinished)
      : trace_(trace), cursor_(trace), call_(call), moment_(moment), unfinished_(unfinished) {}

  Result<PicturePlace> Run() {
    CAIRN_RETURN_IF_ERROR(cursor_.SeekNumber(call_));
    Record record;
    if (!cursor_.Next(&record) || record.number != call_ || record.kind != RecordKind::kCall) {
      CAIRN_RETURN_IF_ERROR(cursor_.status());
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("there is no call {}", GroupedDigits(call_)));
    }
    const std::optional<Method> method = trace_.MethodOf(record);
    if (moment_ == PictureMoment::kSubmitted || !method ||
        RoleOf(*method).timeline != Timeline::kList) {
      place_.last_call = moment_ == PictureMoment::kBefore ? call_ - 1 : call_;
      CAIRN_RETURN_IF_ERROR(CheckWhole());
      return std::move(place_);
    }
    list_ = record.object;
    CAIRN_RETURN_IF_ERROR(FindSubmission(record));
    return std::move(place_);
  }

 private:
  // Leaves out what the list records from the call on, and finds the call that executes it.
  Status FindSubmission(Record record) {
    const uint64_t first_left_out = moment_ == PictureMoment::kBefore ? call_ : call_ + 1;
    do {
      if (record.kind != RecordKind::kCall) continue;
      const std::optional<Method> method = trace_.MethodOf(record);
      if (!method) continue;
      if (IsSubmission(method)) {
        Result<std::vector<uint64_t>> lists = ExecutedLists(record.body, &trace_);
        if (!lists.ok()) continue;
        const auto own = std::ranges::find(*lists, list_);
        const std::span played(lists->begin(), own);
        if (ExecutesUnfinished(played)) return WouldPlay(unfinished_, call_);
        if (own != lists->end()) return Submit(record.number, *lists, played.size());
        continue;
      }
      if (record.object == list_ && RoleOf(*method).role == Role::kListReset) break;
      if (!CanBeLeftOut(*method)) continue;
      NoteWork(record);
      if (record.object != list_ || record.number < first_left_out) continue;
      place_.omissions.calls.insert(record.number);
      place_.first_left_out = std::min(place_.first_left_out, record.number);
    } while (cursor_.Next(&record));
    CAIRN_RETURN_IF_ERROR(cursor_.status());
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the command list of call {} was not submitted behind it",
                              GroupedDigits(call_)));
  }

  Status Submit(uint64_t number, const std::vector<uint64_t>& lists, size_t own) {
    place_.last_call = number;
    // Also where nothing of the list is left out: what was played is not all that was submitted.
    place_.first_left_out = std::min(place_.first_left_out, number);
    for (size_t i = own + 1; i < lists.size(); ++i) {
      place_.omissions.lists.insert(Omissions::ListKey(number, static_cast<uint32_t>(i)));
    }
    const bool plays_it = moment_ == PictureMoment::kBefore ? call_ > unfinished_.first_call
                                                            : call_ >= unfinished_.first_call;
    return plays_it ? WouldPlay(unfinished_, call_) : Status();
  }

  Status CheckWhole() {
    if (unfinished_.first_call == 0) return WouldPlay(unfinished_, call_);
    if (place_.last_call <= unfinished_.first_call) return Status();
    TraceCursor cursor(trace_);
    CAIRN_RETURN_IF_ERROR(cursor.SeekNumber(unfinished_.first_call));
    Record record;
    while (cursor.Next(&record) && record.number <= place_.last_call) {
      const std::optional<Method> method =
          record.kind == RecordKind::kCall ? trace_.MethodOf(record) : std::nullopt;
      if (!method) continue;
      if (CanBeLeftOut(*method)) NoteWork(record);
      if (!IsSubmission(method)) continue;
      const Result<std::vector<uint64_t>> lists = ExecutedLists(record.body, &trace_);
      if (lists.ok() && ExecutesUnfinished(*lists)) return WouldPlay(unfinished_, call_);
    }
    return cursor.status();
  }

  // Lists with work that had not ended, as far as the trace was read from that work, or from before it.
  void NoteWork(const Record& record) {
    if (record.number >= unfinished_.first_call) unfinished_lists_.insert(record.object);
  }
  bool ExecutesUnfinished(std::span<const uint64_t> lists) const {
    return std::ranges::any_of(lists,
                               [&](uint64_t list) { return unfinished_lists_.contains(list); });
  }

  TraceReader& trace_;
  TraceCursor cursor_;
  const uint64_t call_;
  const PictureMoment moment_;
  const UnfinishedWork& unfinished_;
  uint64_t list_ = 0;
  std::unordered_set<uint64_t> unfinished_lists_;
  PicturePlace place_;
};

// What a report says of calls.
struct ToldCalls {
  std::unordered_set<uint64_t> ended;
  std::set<uint64_t> unfinished;  // the first one of each command list that had not ended
  bool is_complete = true;        // false: of a list that had not ended no such call is known
};

ToldCalls CallsOf(const Snapshot& snapshot, const Analysis& analysis) {
  ToldCalls told;
  std::vector<uint64_t> unfinished;
  for (const Execution& execution : analysis.executions) {
    uint64_t first = UnfinishedWork::kNone;
    for (uint32_t i = 0; i < execution.scope_count; ++i) {
      const Scope& scope = analysis.scopes[execution.first_scope + i];
      const uint64_t call = snapshot.events[scope.event].call;
      // A scope around others has no work of its own.
      if (call == 0 || scope.has_children) continue;
      if (scope.state == WorkState::kCompleted) {
        told.ended.insert(call);
      } else {
        unfinished.push_back(call);
        first = std::min(first, call);
      }
    }
    if (execution.state == WorkState::kCompleted) continue;
    if (first == UnfinishedWork::kNone) told.is_complete = false;
    told.unfinished.insert(first);
  }
  // One execution of a list had ended, another one had not.
  for (const uint64_t call : unfinished) told.ended.erase(call);
  return told;
}

// Returns the first work of the lists with these calls that had not ended, or is not told about.
uint64_t FirstUnfinished(TraceReader& trace, const ToldCalls& told) {
  uint64_t first = UnfinishedWork::kNone;
  std::unordered_map<uint64_t, uint64_t> of_list;  // since its Reset
  TraceCursor cursor(trace);
  Record record;
  while (cursor.Next(&record) && record.number <= *told.unfinished.rbegin()) {
    const std::optional<Method> method =
        record.kind == RecordKind::kCall ? trace.MethodOf(record) : std::nullopt;
    if (!method) continue;
    if (RoleOf(*method).role == Role::kListReset) of_list.erase(record.object);
    if (CanBeLeftOut(*method) && !told.ended.contains(record.number)) {
      of_list.try_emplace(record.object, record.number);
    }
    if (!told.unfinished.contains(record.number)) continue;
    const auto known = of_list.find(record.object);
    first = std::min({first, record.number, known == of_list.end() ? first : known->second});
  }
  // One that the trace does not have.
  return first == UnfinishedWork::kNone || !cursor.status().ok() ? 0 : first;
}

bool Failed(const Snapshot& snapshot) {
  return !snapshot.faults.empty() ||
         std::ranges::any_of(snapshot.incidents, [](const Incident& incident) {
           return incident.kind == IncidentKind::kSignal ||
                  incident.kind == IncidentKind::kDeviceLost ||
                  incident.kind == IncidentKind::kHang;
         });
}

}  // namespace

UnfinishedWork UnfinishedWork::Of(TraceReader& trace, const Snapshot* snapshot,
                                  const Analysis& analysis) {
  // cairn trim and cairn bisect leave the part that fails, without the report.
  if (snapshot == nullptr) return {.first_call = trace.facts().trimmed ? 0 : kNone};
  if (!Failed(*snapshot)) return {};
  const ToldCalls told = CallsOf(*snapshot, analysis);
  if (!told.is_complete) return {.first_call = 0};
  return told.unfinished.empty() ? UnfinishedWork() : UnfinishedWork{FirstUnfinished(trace, told)};
}

Result<PicturePlace> FindPicturePlace(TraceReader& trace, uint64_t call, PictureMoment moment,
                                      const UnfinishedWork& unfinished) {
  return PlaceFinder(trace, call, moment, unfinished).Run();
}

}  // namespace cairn::cli
