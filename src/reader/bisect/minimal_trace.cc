// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/minimal_trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "d3d12gen/roles.h"
#include "format/file/file_writer.h"
#include "format/model/unused_objects.h"
#include "format/trace/trace_filter.h"
#include "reader/bisect/call_roles.h"

namespace cairn {
namespace {

// The kept calls of a recording: those on a list from its Reset to its execution.
struct KeptRecording {
  uint64_t from = 0;
  uint64_t executed_at = 0;
};

struct Chosen {
  std::unordered_set<uint64_t> work;
  std::map<uint64_t, std::vector<uint64_t>> lists;  // by submission: objects to execute
  std::unordered_map<uint64_t, std::vector<KeptRecording>> recordings;  // by list
  uint64_t stop_before = ~uint64_t{0};
};

// Returns true if the culprit is in this list of the submission.
bool IsGuilty(const BisectTree::Submission& submission, uint32_t index, const Suspect& culprit) {
  const BisectTree::List& list = submission.lists[index];
  switch (culprit.kind) {
    case Suspect::Kind::kSubmission: return culprit.call == submission.call;
    case Suspect::Kind::kList: return culprit.call == submission.call && culprit.list == index;
    case Suspect::Kind::kCall:
      return list.calls != nullptr &&
             std::binary_search(list.calls->begin(), list.calls->end(), culprit.call);
  }
  return false;
}

// Decides if a list of a submission is executed, and which calls stay in it.
void ChooseList(const BisectTree::Submission& submission, uint32_t index,
                const std::vector<Suspect>& culprits, Chosen* chosen) {
  const BisectTree::List& list = submission.lists[index];
  bool is_kept = false;
  for (const Suspect& culprit : culprits) {
    if (!IsGuilty(submission, index, culprit)) continue;
    is_kept = true;
    if (culprit.kind == Suspect::Kind::kCall) {
      chosen->work.insert(culprit.call);
    } else if (list.calls != nullptr) {
      chosen->work.insert(list.calls->begin(), list.calls->end());
    }
  }
  if (!is_kept) return;
  chosen->lists[submission.call].push_back(list.object);
  chosen->recordings[list.object].push_back({list.recorded_from, submission.call});
}

Chosen Choose(const BisectTree& tree, const BisectAnswer& answer) {
  Chosen chosen;
  for (const BisectTree::Submission& submission : tree.submissions) {
    if (submission.call > answer.place) {
      chosen.stop_before = submission.call;
      break;
    }
    for (uint32_t i = 0; i < submission.lists.size(); ++i) {
      ChooseList(submission, i, answer.culprits, &chosen);
    }
    // A submission that is the culprit without lists.
    for (const Suspect& culprit : answer.culprits) {
      if (culprit == Suspect{Suspect::Kind::kSubmission, submission.call, 0}) {
        chosen.lists.try_emplace(submission.call);
      }
    }
  }
  return chosen;
}

// The bundles of which a culprit is the execution are recorded in lists of their own, which no submission
// executes: these recordings stay whole.
void ChooseBundles(const BisectTree& tree, Chosen* chosen) {
  for (const auto& [call, bundle] : tree.bundles) {
    if (call >= chosen->stop_before || !chosen->work.contains(call)) continue;
    chosen->recordings[bundle.object].push_back({bundle.recorded_from, call});
    chosen->work.insert(bundle.calls->begin(), bundle.calls->end());
  }
}

class Without final : public RecordFilter {
 public:
  Without(const TraceReader& trace, const Chosen& chosen) : trace_(trace), chosen_(chosen) {}

  bool Keep(Record* record, uint64_t) override {
    if (record->number >= chosen_.stop_before) return false;
    switch (record->kind) {
      case RecordKind::kCall: return KeepCall(record);
      case RecordKind::kResourceHash:
      case RecordKind::kReadback: return false;
      case RecordKind::kFrame: return KeepFrame(record);
      default: return true;  // a result without its call is passed over by all readers
    }
  }

 private:
  bool KeepCall(Record* record) {
    const std::optional<Method> method = trace_.MethodOf(*record);
    if (!method) return true;
    if (CanBeLeftOut(*method)) return chosen_.work.contains(record->number);
    switch (RoleOf(*method).role) {
      case Role::kSubmit: return KeepExecute(record);
      case Role::kListReset:
      case Role::kListClose: return true;
      case Role::kHint: return false;  // would keep what it names, and nothing else depends on it
      default: return !IsRecorded(*method) || IsRecordingKept(record->object, record->number);
    }
  }

  bool KeepExecute(Record* record) {
    const auto kept = chosen_.lists.find(record->number);
    if (kept == chosen_.lists.end()) return false;
    body_ = ExecuteBody(kept->second);
    record->body = body_;
    return true;
  }

  // Images are others now.
  bool KeepFrame(Record* record) {
    FrameBody body;
    if (record->body.size() < sizeof(body)) return false;
    std::memcpy(&body, record->body.data(), sizeof(body));
    body.hashed = 0;
    body_.assign(record->body.begin(), record->body.end());
    std::memcpy(body_.data(), &body, sizeof(body));
    record->body = body_;
    return true;
  }

  bool IsRecordingKept(uint64_t list, uint64_t number) const {
    const auto kept = chosen_.recordings.find(list);
    if (kept == chosen_.recordings.end()) return false;
    return std::any_of(kept->second.begin(), kept->second.end(), [&](const KeptRecording& part) {
      return number >= part.from && number < part.executed_at;
    });
  }

  const TraceReader& trace_;
  const Chosen& chosen_;
  std::vector<std::byte> body_;
};

}  // namespace

Status WriteMinimalTrace(TraceReader* trace, const BisectTree& tree, const BisectAnswer& answer,
                         MinimalObjects objects, const std::string& path) {
  Chosen chosen = Choose(tree, answer);
  ChooseBundles(tree, &chosen);
  Without filter(*trace, chosen);
  std::vector<RecordFilter*> filters = {&filter};
  std::optional<UnusedObjects> unused;
  if (objects == MinimalObjects::kNeeded) {
    Result<UnusedObjects> found = UnusedObjects::FindInAll(trace, &filter);
    if (!found.ok()) return found.status();
    unused = *std::move(found);
    filters.push_back(&*unused);
  }
  RecordFilters all_filters(std::move(filters));
  Result<FileWriter> file = FileWriter::Create(path);
  if (!file.ok()) return file.status();
  const Result<CopiedTrace> copied = CopyTrace(trace, &all_filters, {}, &*file);
  if (!copied.ok()) return copied.status();
  return file->Finish();
}

}  // namespace cairn
