// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "reader/analysis/findings.h"
#include "reader/report/answer_text.h"
#include "reader/report/describe.h"
#include "reader/report/signature.h"
#include "reader/report/words.h"
#include "reader/view/perfetto_export.h"
#include "reader/view/perfetto_trace.h"

namespace cairn {
namespace {

constexpr size_t kListsNamed = 16;
constexpr size_t kMostTextBytes = size_t{64}
                                  << 20;  // of all events; later ones have kCutBytes each
constexpr size_t kCutBytes = 64;

// Joins each wait with its signal by one number: index into Snapshot::syncs + 1.
std::vector<uint64_t> FlowsOfSyncs(const Snapshot& snapshot, const WaitGraph& waits) {
  const std::vector<Sync>& syncs = snapshot.syncs;
  std::vector<uint64_t> flows(syncs.size(), 0);
  const auto join = [&](uint32_t wait, uint32_t signal) {
    if (flows[signal] == 0) flows[signal] = signal + 1;
    flows[wait] = flows[signal];
  };
  for (const Wait& wait : waits.waits) {
    if (wait.sync != kNone && wait.signal != kNone) join(wait.sync, wait.signal);
  }
  // For completed work: a wait for a timeline gets the first signal that reaches the value; other
  // waits and signals pair in order.
  struct Signals {
    std::vector<uint32_t> all;
    size_t used = 0;
  };
  std::map<std::pair<uint32_t, uint64_t>, Signals> of_handle;
  for (uint32_t i = 0; i < syncs.size(); ++i) {
    if (syncs[i].kind == SyncKind::kSignal) {
      of_handle[{syncs[i].device, syncs[i].native_handle}].all.push_back(i);
    }
  }
  for (uint32_t i = 0; i < syncs.size(); ++i) {
    if (syncs[i].kind != SyncKind::kWait) continue;
    const auto found = of_handle.find({syncs[i].device, syncs[i].native_handle});
    if (found == of_handle.end()) continue;
    Signals& signals = found->second;
    if ((syncs[i].flags & kSyncBinary) != 0) {
      const size_t next = signals.used++;
      if (flows[i] == 0 && next < signals.all.size()) join(i, signals.all[next]);
      continue;
    }
    if (flows[i] != 0) continue;
    // Values of a timeline rise.
    const auto signal =
        std::lower_bound(signals.all.begin(), signals.all.end(), syncs[i].value,
                         [&](uint32_t at, uint64_t value) { return syncs[at].value < value; });
    if (signal != signals.all.end() && syncs[*signal].value >= syncs[i].value) join(i, *signal);
  }
  return flows;
}

// Returns the state that stands for several, as on the page of a report: of lists in flight and
// completed ones, "in flight".
WorkState Leading(WorkState a, WorkState b) {
  for (const WorkState state :
       {WorkState::kInFlight, WorkState::kNotStarted, WorkState::kUnknown}) {
    if (a == state || b == state) return state;
  }
  return WorkState::kCompleted;
}

class DumpExport {
 public:
  DumpExport(const Snapshot& snapshot, const PrintPiece& print)
      : snapshot_(snapshot),
        findings_(AnalyseDump(snapshot)),
        analysis_(findings_.analysis),
        waits_(findings_.waits),
        flows_(FlowsOfSyncs(snapshot, waits_)),
        trace_(print) {
    end_ns_ = FromRealtime(snapshot.process.snapshot_time_ns);
    for (const Submission& one : snapshot.submissions) Extend(one.time_ns);
    for (const Sync& one : snapshot.syncs) Extend(one.time_ns);
  }

  bool Run() {
    const Process& process = snapshot_.process;
    process_ = trace_.AddProcess(process.process_id, snapshot_.Text(process.program));
    AddQueues();
    AddSyncs();
    AddThreads();
    AddKernelLog();
    Print();
    AddIncidents();
    return trace_.Finish();
  }

 private:
  struct Told {
    PerfettoEvent event;
    bool lasts = false;  // until the end of what is known
  };

  uint64_t FromMonotonic(uint64_t time_ns) const {
    return time_ns - std::min(time_ns, snapshot_.process.start_monotonic_ns);
  }
  uint64_t FromRealtime(uint64_t time_ns) const {
    return time_ns - std::min(time_ns, snapshot_.process.start_time_ns);
  }
  void Extend(uint64_t monotonic_ns) { end_ns_ = std::max(end_ns_, FromMonotonic(monotonic_ns)); }

  // A hostile file names one long text a million times.
  void Limit(std::string* text) {
    if (text->size() > room_) *text = std::string(Utf8Prefix(*text, kCutBytes));  // frees the rest
    room_ -= std::min(room_, text->size());
  }

  void Add(PerfettoEvent event, bool lasts) {
    Limit(&event.name);
    for (PerfettoArgument& argument : event.arguments) {
      if (auto* text = std::get_if<std::string>(&argument.value)) Limit(text);
    }
    told_.push_back({std::move(event), lasts});
  }

  // Slices of a track have to nest: those that last all end together, the last one first.
  void Print() {
    std::stable_sort(told_.begin(), told_.end(), [](const Told& a, const Told& b) {
      return a.event.time_ns < b.event.time_ns;
    });
    std::vector<uint64_t> open;
    for (const Told& told : told_) {
      told.lasts ? trace_.Begin(told.event) : trace_.Instant(told.event);
      if (told.lasts) open.push_back(told.event.track);
    }
    for (const uint64_t track : open) trace_.End(end_ns_, track);
  }

  void AddQueues() {
    for (uint32_t i = 0; i < snapshot_.queues.size(); ++i) {
      std::string name;
      AppendQueue(snapshot_, i, name);
      queues_.push_back(trace_.AddTrack(name, process_));
    }
    // Lists of one submission are one.
    std::map<std::pair<uint32_t, uint64_t>, std::vector<uint32_t>> lists;
    for (uint32_t i = 0; i < analysis_.executions.size(); ++i) {
      const uint32_t submission = analysis_.executions[i].submission;
      if (submission == kNone) continue;
      const Submission& told = snapshot_.submissions[submission];
      if (told.queue != kNone) lists[{told.queue, told.number}].push_back(i);
    }
    for (const auto& [place, executions] : lists) AddSubmission(place.first, executions);
  }

  void AddSubmission(uint32_t queue, const std::vector<uint32_t>& executions) {
    const Submission& submission =
        snapshot_.submissions[analysis_.executions[executions.front()].submission];
    WorkState state = WorkState::kCompleted;
    std::string names;
    for (size_t i = 0; i < executions.size(); ++i) {
      const Execution& execution = analysis_.executions[executions[i]];
      state = Leading(state, execution.state);
      if (i >= kListsNamed) continue;
      if (!names.empty()) names += ", ";
      AppendListPath(snapshot_, execution, names);
      names += fmt::format(" ({})", WorkStateWord(execution.state));
    }
    if (executions.size() > kListsNamed) {
      names += fmt::format(" and {} more", executions.size() - kListsNamed);
    }
    if (waits_.progress[queue].finished >= submission.number) state = WorkState::kCompleted;
    Add({.time_ns = FromMonotonic(submission.time_ns),
         .track = queues_[queue],
         .category = "submission",
         .name = fmt::format("submission {}", submission.number),
         .flows = {},
         .arguments = {{"state", std::string(WorkStateWord(state))},
                       {"frame", submission.frame},
                       {"lists", names}}},
        state != WorkState::kCompleted);
  }

  void AddSyncs() {
    // Waits that are over stand in no list.
    std::vector<WaitState> states(snapshot_.syncs.size(), WaitState::kSatisfied);
    for (const Wait& wait : waits_.waits) {
      if (wait.sync != kNone) states[wait.sync] = wait.state;
    }
    for (uint32_t i = 0; i < snapshot_.syncs.size(); ++i) {
      const Sync& sync = snapshot_.syncs[i];
      std::string what = std::string(SyncKindWord(sync.kind)) + " ";
      AppendSync(snapshot_, sync, what);
      PerfettoEvent event = {
          .time_ns = FromMonotonic(sync.time_ns),
          .track = sync.queue == kNone ? OfCpu() : queues_[sync.queue],
          .category = SyncKindWord(sync.kind),
          .name = what,
          .flows = {},
          .arguments = {{"value", sync.value}, {"submission", sync.submission_number}}};
      if (flows_[i] != 0) event.flows.push_back(flows_[i]);
      if (sync.kind == SyncKind::kWait) {
        event.arguments.push_back({"state", std::string(WaitStateWord(states[i]))});
      }
      Add(std::move(event), states[i] != WaitState::kSatisfied);
    }
  }

  // Waits and signals of the CPU: which thread made them is not known.
  uint64_t OfCpu() {
    if (cpu_ == 0) cpu_ = trace_.AddTrack("CPU: waits and signals", process_);
    return cpu_;
  }

  // Calls have an order, and no time: a thread's last ones are shown at its end.
  void AddThreads() {
    std::map<uint32_t, uint64_t> tracks;
    for (const Thread& thread : snapshot_.threads) {
      const uint64_t track = trace_.AddThread(snapshot_.process.process_id, thread.thread_id,
                                              snapshot_.Text(thread.name));
      tracks[thread.thread_id] = track;
      if (thread.call_count == 0) continue;
      const Call& last = snapshot_.calls[thread.first_call + thread.call_count - 1];
      std::string calls;
      for (uint32_t i = 0; i < thread.call_count; ++i) {
        const Call& call = snapshot_.calls[thread.first_call + i];
        if (!calls.empty()) calls += ", ";
        calls += snapshot_.Text(call.function);
        if (!call.returned) calls += " (has not returned)";
      }
      Add({.time_ns = thread.ended ? FromMonotonic(thread.ended_ns) : end_ns_,
           .track = track,
           .category = "calls",
           .name = fmt::format("{}: {}", last.returned ? "last call" : "has not returned",
                               snapshot_.Text(last.function)),
           .flows = {},
           .arguments = {{"number", last.number}, {"last calls", calls}}},
          false);
    }
    for (const Destruction& gone : snapshot_.destructions) {
      const auto track = tracks.find(gone.thread_id);
      std::string what = "destroyed ";
      if (gone.object != kNone) {
        AppendObject(snapshot_, snapshot_.objects[gone.object], what);
      } else {
        what += ObjectKindWord(gone.kind);
      }
      Add({.time_ns = FromMonotonic(gone.time_ns),
           .track = track == tracks.end() ? process_ : track->second,
           .category = "destruction",
           .name = what,
           .flows = {},
           .arguments = {{"frame", gone.frame}}},
          false);
    }
  }

  void AddKernelLog() {
    if (snapshot_.kernel_lines.empty()) return;
    const uint64_t track = trace_.AddTrack("kernel log", process_);
    for (const KernelLine& line : snapshot_.kernel_lines) {
      Add({.time_ns = FromMonotonic(line.time_ns),
           .track = track,
           .category = "kernel",
           .name = std::string(snapshot_.Text(line.text)),
           .flows = {},
           .arguments = {}},
          false);
    }
  }

  void AddIncidents() {
    for (const Incident& incident : snapshot_.incidents) {
      trace_.Instant({.time_ns = FromRealtime(incident.time_ns),
                      .track = process_,
                      .category = "incident",
                      .name = IncidentSentence(snapshot_, incident),
                      .flows = {},
                      .arguments = {}});
    }
    const std::string answer =
        AnswerLine(AnswerInWords(snapshot_, findings_, CAIRN_PRINT_SKIP_DEVICE_INFO));
    trace_.Instant(
        {.time_ns = end_ns_,
         .track = process_,
         .category = "verdict",
         .name = answer,
         .flows = {},
         .arguments = {{"how sure", std::string(CertaintyWord(findings_.culprit.certainty))},
                       {"signature", SignatureOf(snapshot_, findings_).id}}});
  }

  const Snapshot& snapshot_;
  const Findings findings_;
  const Analysis& analysis_;  // of these
  const WaitGraph& waits_;    // of these
  const std::vector<uint64_t> flows_;
  PerfettoTrace trace_;
  size_t room_ = kMostTextBytes;
  uint64_t end_ns_ = 0;
  uint64_t process_ = 0;
  uint64_t cpu_ = 0;
  std::vector<uint64_t> queues_;
  std::vector<Told> told_;
};

}  // namespace

bool ExportDump(const Snapshot& snapshot, const PrintPiece& print) {
  return DumpExport(snapshot, print).Run();
}

}  // namespace cairn
