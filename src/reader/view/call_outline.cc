// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/value_shape.h"
#include "format/model/call_values.h"
#include "format/pix/pix_event.h"

namespace cairn::cli {
namespace {

constexpr size_t kMostNameLength = 120;
// PIX leaves the look of its palette to viewers. These eight are told apart by who sees no red and green (Okabe and
// Ito); 0 is the default, which has no colour.
constexpr uint32_t kPalette[] = {0,        0xE69F00, 0x56B4E9, 0x009E73,
                                 0xF0E442, 0x0072B2, 0xD55E00, 0xCC79A7};

std::optional<uint32_t> ColourOf(const PixColour& colour) {
  if (colour.kind == PixColourKind::kArgb) return colour.value & 0xFFFFFF;
  const bool has_one = colour.kind == PixColourKind::kPalette && colour.value != 0 &&
                       colour.value < std::size(kPalette);
  return has_one ? std::optional(kPalette[colour.value]) : std::nullopt;
}

void Note(uint64_t number, CallJumps* jumps) {
  if (jumps->count++ < CallOutline::kMostJumps) jumps->numbers.push_back(number);
}

}  // namespace

void CallOutline::Add(const Record& record, uint64_t line) {
  switch (record.kind) {
    case RecordKind::kCall: return AddCall(record, line);
    case RecordKind::kFrame: ++BucketOf(line).frames; return Note(record.number, &frames_);
    case RecordKind::kObjectEnd: return EndAll(record.object, line == 0 ? 0 : line - 1);
    case RecordKind::kResult: break;
    default: return;
  }
  const std::optional<Method> method = trace_->MethodOf(record);
  if (!method || std::string_view(Describe(*method).result.type) != "HRESULT" ||
      Succeeded(record)) {
    return;
  }
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return;
  Note(body->call, &failed_);
  ++BucketOf(line == 0 ? 0 : line - 1).failed;
}

void CallOutline::AddCall(const Record& record, uint64_t line) {
  BucketOf(line);
  const std::optional<Method> method = trace_->MethodOf(record);
  if (!method) return;
  switch (RoleOf(*method).role) {
    case Role::kBeginEvent: return Begin(record, *method, line);
    case Role::kEndEvent: return End(record.object, line);
    case Role::kListReset:
    case Role::kListClose: return EndAll(record.object, line == 0 ? 0 : line - 1);
    case Role::kWork: return AddWork(record, line);
    default: break;
  }
}

void CallOutline::AddWork(const Record& record, uint64_t line) {
  CallBucket& bucket = BucketOf(line);
  ++bucket.work;
  if (!open_.empty()) ++groups_[open_.back()].work;
  const std::optional<WorkState> state = gpu_->Find(record.number);
  if (!state) return;
  if (*state == WorkState::kCompleted) ++bucket.completed;
  if (*state == WorkState::kNotStarted) ++bucket.not_started;
  if (*state != WorkState::kInFlight) return;
  ++bucket.in_flight;
  Note(record.number, &in_flight_);
  if (!open_.empty()) groups_[open_.back()].in_flight = true;
}

void CallOutline::Begin(const Record& record, Method method, uint64_t line) {
  if (groups_.size() == kMostGroups) {
    ++groups_left_out_;
    events_[record.object].push_back(kNoGroup);
    return;
  }
  CallGroup group{.first = line, .call = record.number, .thread = record.thread};
  DecodeOptions options;
  options.blobs = trace_;
  arena_.Reset();
  DecodedCall call;
  if (DecodeArguments(Describe(method), record.body, options, &arena_, &call).ok()) {
    const auto* const data = Load<const std::byte*>(call.arguments[1]);
    if (data != nullptr) {
      const PixEvent event = DecodePixEvent(Load<uint32_t>(call.arguments[0]),
                                            std::span(data, static_cast<size_t>(call.counts[1])));
      const std::string name = VisibleText(event.text);
      group.name = Utf8Prefix(name, std::min(kMostNameLength, kMostNameBytes - name_bytes_));
      if (!group.name.empty() && group.name.size() < name.size()) group.name += "…";
      name_bytes_ = std::min(kMostNameBytes, name_bytes_ + group.name.size());
      group.colour = ColourOf(event.colour);
    }
  }
  const auto index = static_cast<uint32_t>(groups_.size());
  groups_.push_back(std::move(group));
  left_out_.push_back(false);
  open_.push_back(index);
  events_[record.object].push_back(index);
}

// An EndEvent without a beginning is passed over.
void CallOutline::End(uint64_t object, uint64_t line) {
  const auto found = events_.find(object);
  if (found == events_.end()) return;
  const uint32_t group = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) events_.erase(found);
  Close(group, line);
}

void CallOutline::EndAll(uint64_t object, uint64_t line) {
  while (events_.contains(object)) End(object, line);
}

// What has begun within the group and is still open crosses it.
void CallOutline::Close(uint32_t group, uint64_t line) {
  if (group == kNoGroup || left_out_[group]) return;
  while (open_.back() != group) {
    left_out_[open_.back()] = true;
    ++groups_left_out_;
    groups_[group].work += groups_[open_.back()].work;
    groups_[group].in_flight = groups_[group].in_flight || groups_[open_.back()].in_flight;
    open_.pop_back();
  }
  open_.pop_back();
  groups_[group].last = line;
  if (open_.empty()) return;
  groups_[open_.back()].work += groups_[group].work;
  groups_[open_.back()].in_flight = groups_[open_.back()].in_flight || groups_[group].in_flight;
}

void CallOutline::Finish(uint64_t lines) {
  while (!open_.empty()) Close(open_.back(), lines == 0 ? 0 : lines - 1);
  events_.clear();
  size_t kept = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (left_out_[i]) continue;
    if (kept != i) groups_[kept] = std::move(groups_[i]);
    ++kept;
  }
  groups_.resize(kept);
  left_out_.clear();
  for (const TraceThread& thread : trace_->threads()) {
    if (thread.unreturned_call != 0) Note(thread.unreturned_call, &unreturned_);
  }
}

// Where there would be too many, each takes twice as many lines.
CallBucket& CallOutline::BucketOf(uint64_t line) {
  while (line / lines_per_bucket_ >= 2 * kMostBuckets) {
    lines_per_bucket_ *= 2;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      const CallBucket from = buckets_[i];
      if (i % 2 == 0) buckets_[i / 2] = {};
      CallBucket& to = buckets_[i / 2];
      to.work += from.work;
      to.completed += from.completed;
      to.in_flight += from.in_flight;
      to.not_started += from.not_started;
      to.failed += from.failed;
      to.frames += from.frames;
    }
    buckets_.resize((buckets_.size() + 1) / 2);
  }
  const auto index = static_cast<size_t>(line / lines_per_bucket_);
  if (index >= buckets_.size()) buckets_.resize(index + 1);
  return buckets_[index];
}

std::string CallOutline::Json(std::span<const uint64_t> suspects) const {
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  const auto numbers = [&json](std::string_view key, std::span<const uint64_t> values) {
    json.BeginArray(key);
    for (const uint64_t value : values) json.Number(value);
    json.EndArray();
  };
  const auto jumps = [&](std::string_view key, const CallJumps& of) {
    json.BeginObject(key);
    json.NumberKey("count", of.count);
    numbers("numbers", of.numbers);
    json.EndObject();
  };
  json.BeginObject();
  numbers("suspects", suspects);
  jumps("in_flight", in_flight_);
  jumps("failed", failed_);
  jumps("unreturned", unreturned_);
  jumps("frames", frames_);
  json.NumberKey("lines_per_bucket", lines_per_bucket_);
  json.BeginArray("buckets");
  for (const CallBucket& bucket : buckets_) {
    json.BeginObject();
    json.NumberKey("work", bucket.work);
    json.NumberKey("completed", bucket.completed);
    json.NumberKey("in_flight", bucket.in_flight);
    json.NumberKey("not_started", bucket.not_started);
    json.NumberKey("failed", bucket.failed);
    json.NumberKey("frames", bucket.frames);
    json.EndObject();
  }
  json.EndArray();
  json.NumberKey("groups_left_out", groups_left_out_);
  json.BeginArray("groups");
  for (const CallGroup& group : groups_) {
    json.BeginObject();
    json.NumberKey("first", group.first);
    json.NumberKey("last", group.last);
    json.NumberKey("call", group.call);
    json.NumberKey("thread", group.thread);
    json.StringKey("name", group.name);
    if (group.colour) json.StringKey("colour", fmt::format("#{:06x}", *group.colour));
    json.NumberKey("work", group.work);
    json.BoolKey("in_flight", group.in_flight);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace cairn::cli
