// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "d3d12gen/roles.h"
#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/model/decoded_arguments.h"
#include "reader/view/perfetto_export.h"
#include "reader/view/perfetto_trace.h"

namespace cairn {
namespace {

constexpr uint64_t kNsOfRecord = 1000;
constexpr size_t kMostFenceValues = 1 << 20;

class CallExport {
 public:
  CallExport(TraceReader& trace, const PrintPiece& print) : reader_(trace), trace_(print) {
    const TraceFacts& facts = reader_.facts();
    process_ = trace_.AddProcess(facts.process_id, facts.program);
    frames_ = trace_.AddTrack("frames", process_);
    for (const TraceThread& thread : reader_.threads()) known_threads_[thread.index] = &thread;
  }

  Result<ExportedCalls> Run(const std::function<bool(uint64_t, uint64_t)>& progress) {
    TraceCursor cursor(reader_);
    cursor.ReadAhead();
    Record record;
    uint64_t count = 0;
    while (cursor.Next(&record)) {
      if (++count % kRecordsPerProgress == 0 && !progress(count, reader_.record_count())) {
        exported_.interrupted = true;
        return exported_;
      }
      Take(record);
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    exported_.damaged += cursor.losses().size();
    if (!trace_.Finish()) return Status(StatusCode::kIo, "the output cannot be written");
    return exported_;
  }

 private:
  static uint64_t TimeOf(uint64_t number) { return number * kNsOfRecord; }

  void Take(const Record& record) {
    switch (record.kind) {
      case RecordKind::kCall: return Call(record);
      case RecordKind::kResult: return ResultOf(record);
      case RecordKind::kFrame: return Frame(record);
      default: return;
    }
  }

  uint64_t TrackOf(uint32_t thread) {
    uint64_t& track = threads_[thread];
    if (track == 0) {
      const auto known = known_threads_.find(thread);
      const bool named = known != known_threads_.end();
      track = trace_.AddThread(
          reader_.facts().process_id, named ? known->second->thread_id : thread + 1,
          named && !known->second->name.empty() ? known->second->name
                                                : fmt::format("thread {}", thread));
    }
    return track;
  }

  uint64_t QueueOf(uint64_t object) {
    uint64_t& track = queues_[object];
    if (track == 0) track = trace_.AddTrack(fmt::format("command queue {}", object), process_);
    return track;
  }

  void Call(const Record& record) {
    ++exported_.calls;
    const uint64_t track = TrackOf(record.thread);
    trace_.Begin({.time_ns = TimeOf(record.number),
                  .track = track,
                  .category = "call",
                  .name = reader_.MethodName(record),
                  .flows = {},
                  .arguments = {{"call", record.number}, {"object", record.object}}});
    open_[record.number] = track;
    const std::optional<Method> method = reader_.MethodOf(record);
    if (!method.has_value()) return;
    const CallRole& role = RoleOf(*method);
    if (role.timeline != Timeline::kQueue) return;
    switch (role.role) {
      case Role::kSubmit:
        return OnQueue(record, "submission", fmt::format("submission {}", ++submissions_), {});
      case Role::kSignal: return Fence(record, true);
      case Role::kWait: return Fence(record, false);
      default: return;
    }
  }

  void OnQueue(const Record& record, std::string_view category, std::string name,
               std::vector<uint64_t> flows) {
    trace_.Instant({.time_ns = TimeOf(record.number),
                    .track = QueueOf(record.object),
                    .category = category,
                    .name = std::move(name),
                    .flows = std::move(flows),
                    .arguments = {{"call", record.number}}});
  }

  // An arrow leads from the signal of a value to each wait for the same value.
  void Fence(const Record& record, bool signals) {
    CallValues values;
    DecodedCall arguments;
    if (!values_.Read(record, &reader_, &values, &arguments) || values.objects.empty()) {
      ++exported_.damaged;
      return;
    }
    const uint64_t* const value = Argument<uint64_t>(arguments, 1);
    if (value == nullptr) return;
    const auto place = std::pair(values.objects.front(), *value);
    std::vector<uint64_t> flows;
    if (flows_.size() < kMostFenceValues || flows_.count(place) != 0) {
      flows.push_back(flows_.try_emplace(place, flows_.size() + 1).first->second);
    }
    OnQueue(record, signals ? "signal" : "wait",
            fmt::format("{} fence {} {} {}", signals ? "signal" : "wait", place.first,
                        signals ? "with" : "for", place.second),
            std::move(flows));
  }

  void ResultOf(const Record& record) {
    ResultBody body;
    if (record.body.size() < sizeof(body)) {
      ++exported_.damaged;
      return;
    }
    std::memcpy(&body, record.body.data(), sizeof(body));
    const auto call = open_.find(body.call);
    if (call == open_.end()) return;  // made before the trace begins
    trace_.End(TimeOf(record.number), call->second);
    open_.erase(call);
  }

  void Frame(const Record& record) {
    FrameBody body;
    if (record.body.size() < sizeof(body)) {
      ++exported_.damaged;
      return;
    }
    std::memcpy(&body, record.body.data(), sizeof(body));
    trace_.Begin({.time_ns = TimeOf(frame_start_),
                  .track = frames_,
                  .category = "frame",
                  .name = fmt::format("frame {}", body.frame),
                  .flows = {},
                  .arguments = {{"ended at, ns", body.time_ns}}});
    trace_.End(TimeOf(record.number), frames_);
    frame_start_ = record.number;
  }

  TraceReader& reader_;
  PerfettoTrace trace_;
  CallValuesReader values_;
  ExportedCalls exported_;
  uint64_t process_ = 0;
  uint64_t frames_ = 0;
  uint64_t frame_start_ = 0;
  uint64_t submissions_ = 0;
  std::map<uint32_t, const TraceThread*> known_threads_;
  std::unordered_map<uint32_t, uint64_t> threads_;  // to tracks
  std::unordered_map<uint64_t, uint64_t> queues_;   // the same
  std::unordered_map<uint64_t, uint64_t> open_;     // calls that have not returned, to tracks
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> flows_;  // of a fence and a value
};

}  // namespace

Result<ExportedCalls> ExportCalls(TraceReader& trace, const PrintPiece& print,
                                  const std::function<bool(uint64_t, uint64_t)>& progress) {
  return CallExport(trace, print).Run(progress);
}

}  // namespace cairn
