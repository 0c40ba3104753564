// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "format/trace/decoded_spans.h"
#include "format/trace/trace_reader.h"

namespace cairn {

struct TraceCursor::State {
  State(TraceReader::State& from, RecordKinds which) : trace(from), kinds(which) {}

  // Goes to the first record of spans[index]; with index == spans.size(), to the end.
  void Enter(size_t index);
  // The next record, null at the end.
  const Record* Advance();

  TraceReader::State& trace;
  const RecordKinds kinds;
  size_t span = 0;      // index of the next span to be decoded
  size_t position = 0;  // in `records`
  uint64_t frame = 0;   // of the last record
  uint64_t next_frame = 0;
  std::shared_ptr<const DecodedRecords> records;
  Status status;
  bool reads_ahead = false;
  size_t reported = 0;  // spans before it were already named if they are lost
  std::vector<Loss> loss_list;
};

void TraceCursor::State::Enter(size_t index) {
  span = index;
  position = 0;
  records = nullptr;
  status = Status();
}

const Record* TraceCursor::State::Advance() {
  while (status.ok()) {
    if (records != nullptr && position < records->records.size()) {
      const Record* record = &records->records[position++];
      frame = next_frame;
      if (record->kind == RecordKind::kFrame) ++next_frame;
      const bool is_known = static_cast<uint8_t>(record->kind) <= kLastRecordKind;
      if (is_known || kinds == RecordKinds::kAll) return record;
      continue;
    }
    if (span == trace.spans.size()) return nullptr;
    if (trace.ended != nullptr && *trace.ended) {
      status = Status(StatusCode::kIo, "stopped");
      return nullptr;
    }
    const size_t entered = span++;
    next_frame = trace.spans[entered].first_frame;
    position = 0;
    Result<std::shared_ptr<const DecodedRecords>> decoded = trace.Span(entered);
    if (decoded.ok()) {
      records = std::move(decoded).value();
      if (reads_ahead && span < trace.spans.size()) trace.DecodeAhead(span);
      continue;
    }
    records = nullptr;
    const StatusCode code = decoded.status().code();
    if (code != StatusCode::kCorrupt && code != StatusCode::kUnsupported) {
      status = decoded.status();
    } else if (entered >= reported) {
      reported = entered + 1;
      const ChunkInfo& chunk = trace.file.chunks()[trace.spans[entered].chunk];
      if (loss_list.size() < kMaxLosses) {
        loss_list.push_back(
            {chunk.offset, chunk.end_offset() - chunk.offset, decoded.status().message()});
      }
    }
  }
  return nullptr;
}

TraceCursor::TraceCursor(TraceReader& trace, RecordKinds kinds)
    : state_(std::make_unique<State>(*trace.state_, kinds)) {}
TraceCursor::~TraceCursor() = default;

void TraceCursor::ReadAhead() {
  state_->reads_ahead = true;
}

Status TraceCursor::SeekFrame(uint64_t frame) {
  State& state = *state_;
  state.Enter(0);
  if (frame == 0) return Status();
  const std::vector<TraceSpan>& spans = state.trace.spans;
  const uint64_t frames = spans.empty() ? 0 : spans.back().first_frame + spans.back().frame_ends;
  if (frame > frames) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("there is no frame {}: the trace has {}", frame, frames));
  }
  // The end of the frame before may be the last record of a span.
  const auto after = std::partition_point(
      spans.begin(), spans.end(), [&](const TraceSpan& span) { return span.first_frame < frame; });
  state.Enter(static_cast<size_t>(after - spans.begin()) - (after == spans.begin() ? 0 : 1));
  if (after == spans.begin()) return Status();
  const size_t before = state.span;
  if (spans[before].first_frame + spans[before].frame_ends < frame) {
    state.Enter(before + 1);  // the frame's beginning was lost
    return Status();
  }
  while (const Record* record = state.Advance()) {
    if (record->kind == RecordKind::kFrame && state.next_frame == frame) return Status();
    if (state.next_frame > frame) break;
  }
  // The frame's span is damaged: go on with the first record behind it.
  if (state.status.ok()) state.Enter(before + 1);
  return state.status;
}

Status TraceCursor::SeekNumber(uint64_t number) {
  State& state = *state_;
  const std::vector<TraceSpan>& spans = state.trace.spans;
  const auto span = std::partition_point(
      spans.begin(), spans.end(), [&](const TraceSpan& one) { return one.last_number < number; });
  state.Enter(static_cast<size_t>(span - spans.begin()));
  while (const Record* record = state.Advance()) {
    if (record->number < number) continue;
    --state.position;
    if (record->kind == RecordKind::kFrame) --state.next_frame;
    break;
  }
  return state.status;
}

bool TraceCursor::Next(Record* record) {
  const Record* next = state_->Advance();
  if (next == nullptr) return false;
  *record = *next;
  return true;
}

const Status& TraceCursor::status() const {
  return state_->status;
}
const std::vector<Loss>& TraceCursor::losses() const {
  return state_->loss_list;
}
uint64_t TraceCursor::frame() const {
  return state_->frame;
}

}  // namespace cairn
