// SPDX-License-Identifier: Apache-2.0
#include "format/model/start_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "format/calls/created_object.h"
#include "format/model/call_kinds.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

// More queries than a heap may have.
constexpr uint32_t kMostQueries = 1u << 20;
// The most steps kept for one list with its bundles.
constexpr size_t kMostSteps = 1u << 20;

// An object or a view takes as much as so many entries of lists.
constexpr size_t kEntriesOfObject = 8;

// Copies results of queries: the object that it names is a heap of these.
bool ResolvesQueries(Method method) {
  const CallRole& role = RoleOf(method);
  return role.role == Role::kWork && role.object != kNoParameter &&
         Describe(method).parameters[static_cast<size_t>(role.object)].chain ==
             Chain::kID3D12QueryHeap;
}

}  // namespace

void StartLosses::Look(const Record& record) {
  if ((record.flags & kRecordRestores) == 0 && !started_) {
    started_ = true;
    if (images_.empty()) StopUses();
  }
  // Nothing existed before the start, so that nothing can be missing.
  if (started_ && !uses_.has_value() && query_heaps_.empty()) return;
  switch (record.kind) {
    case RecordKind::kObject: OnObject(record); break;
    case RecordKind::kCall: OnCall(record); break;
    case RecordKind::kResult: OnResult(record); break;
    case RecordKind::kObjectEnd: OnObjectEnd(record); break;
    case RecordKind::kFrame: OnFrame(record); break;
    default: return;
  }
  GiveUpIfTooMuch();
}

size_t StartLosses::HeldOf(uint64_t list) const {
  const auto steps = query_steps_.find(list);
  return (steps == query_steps_.end() ? 0 : steps->second.size()) +
         (uses_.has_value() ? uses_->UsesOf(list).size() : 0);
}

void StartLosses::ForgetList(uint64_t list) {
  held_by_lists_ -= std::min(held_by_lists_, HeldOf(list));
  query_steps_.erase(list);
}

void StartLosses::StopUses() {
  uses_.reset();
  held_by_lists_ = 0;
  for (const auto& [list, steps] : query_steps_) held_by_lists_ += steps.size();
}

void StartLosses::GiveUpIfTooMuch() {
  const size_t objects =
      query_heaps_.size() + images_.size() + (uses_.has_value() ? uses_->size() : 0);
  if (held_by_lists_ + queries_made_ + objects * kEntriesOfObject <= most_held_) return;
  gave_up_ = true;
  uses_.reset();
  query_steps_.clear();
  query_heaps_.clear();
  images_.clear();
}

void StartLosses::OnObject(const Record& record) {
  const Result<CreatedObject> made = DecodeObject(record);
  if (!made.ok()) return;
  if (!started_ && made->body.chain == static_cast<uint32_t>(Chain::kID3D12QueryHeap)) {
    query_heaps_.try_emplace(record.object);
  }
  if (!uses_.has_value()) return;
  uses_->OnObject(record, *made);
  const bool is_image = made->resource.has_value() && made->resource->is_image != 0;
  if (started_ || !is_image || uses_->ShapeOf(record.object) == nullptr) return;
  if (images_.try_emplace(record.object, Image::kUnused).second) ++unused_images_;
}

void StartLosses::OnCall(const Record& record) {
  if (record.method >= kMethodCount) return;
  const auto method = static_cast<Method>(record.method);
  const CallRole& role = RoleOf(method);
  if (IsCommand(role)) return OnListCall(record, method);
  switch (role.role) {
    case Role::kView:
      if (uses_.has_value() && reader_.Read(record, nullptr, &values_, &call_)) {
        uses_->OnView(method, call_, values_);
      }
      return;
    case Role::kCopyViews:
    case Role::kCopyViewRanges:
      if (uses_.has_value() && reader_.Read(record, nullptr, &values_, &call_)) {
        uses_->OnCopies(call_, role.role == Role::kCopyViews);
      }
      return;
    default: break;
  }
  if (started_ && role.role == Role::kSubmit && reader_.Read(record, nullptr, &values_)) {
    OnExecute();
  }
}

// A Reset that was refused leaves the list what it was.
void StartLosses::OnResult(const Record& record) {
  if (RoleOfNumber(record.method).role != Role::kListReset || !Succeeded(record)) return;
  ForgetList(record.object);
  if (uses_.has_value()) uses_->OnReset(record.object);
}

void StartLosses::OnObjectEnd(const Record& record) {
  ForgetList(record.object);
  if (uses_.has_value()) uses_->EndList(record.object);
}

void StartLosses::OnListCall(const Record& record, Method method) {
  const size_t before = HeldOf(record.object);
  OnQueries(record, method);
  if (uses_.has_value() && reader_.Read(record, nullptr, &values_, &call_)) {
    uses_->OnListCall(method, record.object, call_, values_);
  }
  held_by_lists_ += HeldOf(record.object) - before;
}

void StartLosses::OnQueries(const Record& record, Method method) {
  if (query_heaps_.empty()) return;
  const auto read = [&] { return reader_.Read(record, nullptr, &values_, &call_); };
  const CallRole& role = RoleOf(method);
  const bool ends = role.role == Role::kEndQuery;
  if (ends || ResolvesQueries(method)) {
    if (!read()) return;
    const auto value = [&](int8_t parameter) {
      return Value<uint32_t>(call_, static_cast<size_t>(parameter));
    };
    query_steps_[record.object].push_back({Value<uint64_t>(call_, static_cast<size_t>(role.object)),
                                           value(role.slot), ends ? 1 : value(role.count), !ends});
    return;
  }
  if (role.role != Role::kBundle || !read()) return;
  const auto bundle = query_steps_.find(Value<uint64_t>(call_, static_cast<size_t>(role.object)));
  if (bundle == query_steps_.end()) return;
  const std::vector<QueryStep> steps = bundle->second;
  std::vector<QueryStep>& own = query_steps_[record.object];
  if (own.size() + steps.size() > kMostSteps) return;
  own.insert(own.end(), steps.begin(), steps.end());
}

void StartLosses::OnExecute() {
  for (const uint64_t list : values_.objects) {
    if (const auto steps = query_steps_.find(list); steps != query_steps_.end()) {
      for (const QueryStep& step : steps->second) Step(step);
    }
    if (!uses_.has_value()) continue;
    for (const ResourceUse& use : uses_->UsesOf(list)) {
      if (use.kind == ResourceUse::Kind::kRead) UseImage(use.object, false);
      if (use.kind == ResourceUse::Kind::kOverwrite) UseImage(use.object, true);
    }
  }
  if (unused_images_ == 0) StopUses();
}

void StartLosses::Step(const QueryStep& step) {
  const auto found = query_heaps_.find(step.heap);
  if (found == query_heaps_.end()) return;
  QueryHeap& heap = found->second;
  if (!step.resolves) {
    queries_made_ += heap.made.insert(step.first).second ? 1 : 0;
    return;
  }
  const uint64_t end = uint64_t{step.first} + std::min(step.count, kMostQueries);
  for (uint64_t i = step.first; i < end && !heap.missing.has_value(); ++i) {
    if (!heap.made.contains(static_cast<uint32_t>(i))) heap.missing = static_cast<uint32_t>(i);
  }
}

void StartLosses::UseImage(uint64_t image, bool overwritten) {
  const auto found = images_.find(image);
  if (found == images_.end() || found->second != Image::kUnused) return;
  found->second = overwritten ? Image::kOverwritten : Image::kMissing;
  --unused_images_;
}

// A presented image counts as read.
void StartLosses::OnFrame(const Record& record) {
  if (!uses_.has_value() || !started_) return;
  UseImage(record.object, false);
  if (unused_images_ == 0 || ++frames_ >= kImageFrames) StopUses();
}

std::vector<std::string> StartLosses::Told() const {
  std::vector<std::string> told;
  if (gave_up_) {
    told.push_back(
        "what the lists did with queries and images from before the recording began was too much "
        "to "
        "follow: what of that is missing is not known");
  }
  for (const auto& [number, heap] : query_heaps_) {
    if (!heap.missing.has_value()) continue;
    told.push_back(
        fmt::format("query heap {}: results from before the recording began were resolved, query "
                    "{} first; they "
                    "are not in the trace, and a replay has others",
                    number, *heap.missing));
  }
  for (const auto& [number, image] : images_) {
    if (image != Image::kMissing) continue;
    told.push_back(
        fmt::format("resource {}, an image of a swap chain, was drawn into or shown without being "
                    "cleared first: "
                    "its contents when the recording began are not in the trace",
                    number));
  }
  return told;
}

}  // namespace cairn
