// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/bisect_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d3d12gen/roles.h"
#include "format/calls/value_printer.h"
#include "format/model/list_state.h"
#include "format/model/recordings.h"
#include "format/trace/trace_state.h"
#include "reader/bisect/call_roles.h"

namespace cairn {
namespace {

constexpr uint64_t kRecordsBetweenLooks = 1u << 14;

using Calls = std::vector<uint64_t>;

Status AtRecord(const Record& record, const Status& status) {
  return status.WithContext(fmt::format("record {}", record.number));
}

// Asks `keep_on` now and then. Errors: kInterrupted.
Status LookUp(uint64_t record, const std::function<bool(uint64_t record)>& keep_on) {
  if (record % kRecordsBetweenLooks != 0 || !keep_on || keep_on(record)) return {};
  return Status(StatusCode::kInterrupted, "interrupted");
}

// "CopyResource(...)" of "ID3D12GraphicsCommandList::CopyResource(...)" is enough beside its list.
std::string CallText(TraceReader* trace, const Record& record, Method method,
                     const TraceState& state) {
  Arena arena;
  DecodedCall call;
  DecodeOptions options;
  options.blobs = trace;
  const MethodInfo& info = Describe(method);
  if (!DecodeArguments(info, record.body, options, &arena, &call).ok()) return info.name;
  return PrintArguments(info, call, state);
}

// Goes through the trace with the names of all objects, and fills the texts.
class Describer {
 public:
  Describer(TraceReader* trace, const std::vector<Suspect>& culprits, uint64_t place)
      : trace_(trace), place_(place), state_(*trace), lists_(trace) {
    for (const Suspect& culprit : culprits) texts_.emplace_back().suspect = culprit;
  }

  Result<std::vector<CulpritText>> Run() {
    TraceCursor cursor(*trace_);
    Record record;
    while (cursor.Next(&record)) {
      if (record.number > LastNumber()) break;
      // A damaged record costs a name.
      (void)state_.Apply(record);
      lists_.Look(record);
      if (const std::optional<Method> method = trace_->MethodOf(record)) {
        if (record.kind == RecordKind::kCall) OnCall(record, *method, cursor.frame());
        if (record.kind == RecordKind::kResult) recordings_.OnResult(record, RoleOf(*method));
      }
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    return std::move(texts_);
  }

 private:
  struct Recording {
    Calls work;  // culprits only
    std::vector<std::string> path;
  };

  uint64_t LastNumber() const {
    uint64_t last = place_;
    for (const CulpritText& text : texts_) last = std::max(last, text.suspect.call);
    return last;
  }

  void OnCall(const Record& record, Method method, uint64_t frame) {
    const Role role = RoleOf(method).role;
    if (role == Role::kSubmit) return OnExecute(record, frame);
    if (!IsRecorded(method)) return;
    if (role == Role::kListReset) return recordings_.Reset(record.object);
    Recording& recording = recordings_[record.object];
    if (role == Role::kBeginEvent) {
      recording.path.push_back(EventText(method, record.body, trace_));
    } else if (role == Role::kEndEvent) {
      if (!recording.path.empty()) recording.path.pop_back();
    } else if (CanBeLeftOut(method)) {
      OnWork(record, method, recording);
    }
  }

  void OnWork(const Record& record, Method method, Recording& recording) {
    for (CulpritText& text : texts_) {
      if (text.suspect.kind != Suspect::Kind::kCall || text.suspect.call != record.number) continue;
      recording.work.push_back(record.number);
      text.call = CallText(trace_, record, method, state_);
      text.list = state_.Object(record.object);
      text.path = recording.path;
      const BoundState* const bound = lists_.Find(record.object);
      if (bound != nullptr && bound->pipeline != kNoObject) {
        text.pipeline = state_.Object(bound->pipeline);
      }
    }
  }

  void OnExecute(const Record& record, uint64_t frame) {
    if (record.number > place_ && place_ != 0) return;
    const Result<std::vector<uint64_t>> lists = ExecutedLists(record.body, trace_);
    if (!lists.ok()) return;
    for (uint32_t i = 0; i < lists->size(); ++i) {
      const Calls& work = recordings_[(*lists)[i]].work;
      for (CulpritText& text : texts_) {
        const bool is_call = text.suspect.kind == Suspect::Kind::kCall;
        const bool executed =
            is_call && std::find(work.begin(), work.end(), text.suspect.call) != work.end();
        const bool is_list = text.suspect == Suspect{Suspect::Kind::kList, record.number, i};
        if (!executed && !is_list) continue;
        if (is_list) text.list = state_.Object((*lists)[i]);
        Place(record, frame, i, &text);
      }
    }
    for (CulpritText& text : texts_) {
      if (text.suspect == Suspect{Suspect::Kind::kSubmission, record.number, 0}) {
        Place(record, frame, 0, &text);
      }
    }
  }

  void Place(const Record& record, uint64_t frame, uint32_t index, CulpritText* text) const {
    text->frame = frame;
    text->submission = record.number;
    text->list_index = index;
    text->queue = state_.Object(record.object);
  }

  TraceReader* trace_;
  const uint64_t place_;
  TraceState state_;
  ListTracker lists_;
  Recordings<Recording> recordings_;
  std::vector<CulpritText> texts_;
};

}  // namespace

Result<BisectTree> ReadBisectTree(TraceReader* trace,
                                  const std::function<bool(uint64_t record)>& keep_on) {
  BisectTree tree;
  struct Current {
    std::shared_ptr<Calls> calls = std::make_shared<Calls>();
    uint64_t from = 0;
  };
  Recordings<Current> recordings;
  TraceCursor cursor(*trace);
  Record record;
  for (uint64_t i = 0; cursor.Next(&record); ++i) {
    CAIRN_RETURN_IF_ERROR(LookUp(i, keep_on));
    const std::optional<Method> method = trace->MethodOf(record);
    if (!method) continue;
    if (record.kind == RecordKind::kResult) recordings.OnResult(record, RoleOf(*method));
    if (record.kind != RecordKind::kCall) continue;
    switch (RoleOf(*method).role) {
      // Earlier executions keep their own recording.
      case Role::kListReset:
        recordings.Reset(record.object, {std::make_shared<Calls>(), record.number});
        break;
      case Role::kSubmit: {
        const Result<std::vector<uint64_t>> lists = ExecutedLists(record.body, trace);
        if (!lists.ok()) return AtRecord(record, lists.status());
        BisectTree::Submission submission = {record.number, {}};
        for (const uint64_t list : *lists) {
          const Current& recording = recordings[list];
          submission.lists.push_back({list, recording.calls, recording.from});
        }
        tree.submissions.push_back(std::move(submission));
        break;
      }
      case Role::kBundle: {
        recordings[record.object].calls->push_back(record.number);
        const uint64_t bundle = BundleOf(*method, record.body, trace);
        const Current& recording = recordings[bundle];
        tree.bundles[record.number] = {bundle, recording.calls, recording.from};
        break;
      }
      default:
        if (CanBeLeftOut(*method)) recordings[record.object].calls->push_back(record.number);
        tree.may_draw |= MayDraw(*method);
        break;
    }
  }
  CAIRN_RETURN_IF_ERROR(cursor.status());
  if (tree.submissions.empty()) {
    // The submissions may be in the lost part.
    const std::vector<Loss>& lost = cursor.losses().empty() ? trace->losses() : cursor.losses();
    if (!lost.empty()) {
      return Status(StatusCode::kCorrupt,
                    fmt::format("it is damaged, and what is left of it submits nothing to a GPU: "
                                "{}; cairn verify lists all that is lost",
                                lost.front().reason));
    }
    return Status(StatusCode::kUnsupported,
                  "the trace submits nothing to a GPU: there is nothing to skip");
  }
  return tree;
}

Result<bool> TraceMayDraw(TraceReader* trace, const std::function<bool(uint64_t record)>& keep_on) {
  TraceCursor cursor(*trace);
  Record record;
  for (uint64_t i = 0; cursor.Next(&record); ++i) {
    CAIRN_RETURN_IF_ERROR(LookUp(i, keep_on));
    const std::optional<Method> method = trace->MethodOf(record);
    if (method && record.kind == RecordKind::kCall && MayDraw(*method)) return true;
  }
  return !cursor.status().ok() || !cursor.losses().empty() || !trace->losses().empty();
}

Result<std::vector<CulpritText>> DescribeCulprits(TraceReader* trace,
                                                  const std::vector<Suspect>& culprits,
                                                  uint64_t place) {
  return Describer(trace, culprits, place).Run();
}

}  // namespace cairn
