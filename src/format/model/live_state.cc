// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_state.h"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/calls/created_object.h"
#include "format/model/call_kinds.h"
#include "format/model/call_values.h"
#include "format/model/kept_records.h"
#include "format/model/live_calls.h"
#include "format/model/live_descriptors.h"
#include "format/model/live_objects.h"
#include "format/model/live_restore.h"

namespace cairn {
namespace {

constexpr size_t kNotesKept = 1000;
constexpr size_t kSlotBytes = 128;  // of a descriptor that was written, besides its view

}  // namespace

struct LiveState::State {
  size_t most_bytes = 0;
  LiveObjects objects;
  LiveDescriptors descriptors{&objects};
  LiveCalls calls{&objects, &descriptors};
  std::map<uint64_t, OpenCall> open_calls;                   // by number
  std::unordered_map<uint32_t, KeptRecords> blobs;           // by thread, for its next record
  std::unordered_map<uint64_t, KeptRecords> device_records;  // kDevice, for their kObject
  KeptRecords notes;
  size_t note_count = 0;
  CallValuesReader reader;
  CallValues values;
  uint64_t left_out = 0;

  void OnCall(const Record& record);
  void OnResult(const Record& record);
  void OnObject(const Record& record);
  void OnObjectEnd(const Record& record);
  // An object needs what the call that made it refers to.
  void UseCreator(LiveObject* object, const OpenCall& creator);
};

LiveState::LiveState(size_t most_bytes) : state_(std::make_unique<State>()) {
  state_->most_bytes = most_bytes;
}
LiveState::~LiveState() = default;
LiveState::LiveState(LiveState&&) noexcept = default;
LiveState& LiveState::operator=(LiveState&&) noexcept = default;

uint64_t LiveState::left_out() const {
  return state_->left_out;
}
bool LiveState::too_large() const {
  // A call may copy many descriptors, whose places are no records.
  return KeptBytes() + state_->descriptors.slots().size() * kSlotBytes > state_->most_bytes;
}
size_t LiveState::most_bytes() const {
  return state_->most_bytes;
}
size_t LiveState::object_count() const {
  return state_->objects.size();
}

void LiveState::Keep(const Record& record) {
  switch (record.kind) {
    case RecordKind::kBlob: state_->blobs[record.thread].Add(record); return;
    case RecordKind::kCall: state_->OnCall(record); return;
    case RecordKind::kResult: state_->OnResult(record); break;
    case RecordKind::kObject: state_->OnObject(record); break;
    case RecordKind::kObjectEnd: state_->OnObjectEnd(record); break;
    case RecordKind::kDevice: state_->device_records[record.object].Add(record); break;
    case RecordKind::kNote:
      if (++state_->note_count <= kNotesKept) state_->notes.Add(record);
      break;
    // The contents of memory are recorded when the recording starts.
    case RecordKind::kMemory:
    case RecordKind::kContents:
    case RecordKind::kStructure:
    case RecordKind::kReadback:
    case RecordKind::kResourceHash:
    case RecordKind::kFenceReached:
    case RecordKind::kFrame:
    case RecordKind::kStart:
    case RecordKind::kStop: break;
  }
  // Blobs belong to the next record of their thread.
  state_->blobs.erase(record.thread);
}

// ---- Calls -----------------------------------------------------------------------------------------

void LiveState::State::OnCall(const Record& record) {
  KeptRecords before;
  if (const auto found = blobs.find(record.thread); found != blobs.end()) {
    before = std::move(found->second);
    blobs.erase(found);
  }
  if (IsCommand(RoleOfNumber(record.method))) {
    calls.OnListWork(record, std::move(before));
    return;
  }
  OpenCall call;
  call.records = std::make_shared<KeptRecords>();
  call.records->Add(before);
  call.records->Add(record);
  call.object = record.object;
  call.method = record.method;
  const bool has_results =
      record.method < kMethodCount && Describe(static_cast<Method>(record.method)).has_results;
  if (has_results) {
    open_calls.insert_or_assign(record.number, std::move(call));
  } else {
    calls.Finish(call, nullptr);
  }
}

void LiveState::State::OnResult(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return;
  const auto found = open_calls.find(body->call);
  if (found == open_calls.end()) return;
  const auto before = blobs.find(record.thread);
  if (before != blobs.end()) found->second.records->Add(before->second);
  found->second.records->Add(record);
  calls.Finish(found->second, &record);
  open_calls.erase(found);
}

// ---- Objects ---------------------------------------------------------------------------------------

void LiveState::State::OnObject(const Record& record) {
  const Result<CreatedObject> made = DecodeObject(record);
  if (!made.ok()) return;
  LiveObject* const object = objects.Add(record.object);
  if (object == nullptr) return;
  object->created = record.number;
  const auto creator = open_calls.find(made->body.creator);
  object->creation =
      creator == open_calls.end() ? std::make_shared<KeptRecords>() : creator->second.records;
  const auto device = device_records.find(record.object);
  if (device != device_records.end()) {
    object->creation->Add(device->second);
    device_records.erase(device);
  }
  object->creation->Add(record);
  objects.Use(object, made->body.device);
  if (creator != open_calls.end()) UseCreator(object, creator->second);
  object->resource = made->resource;
  if (made->heap.has_value() && descriptors.AddHeap(record.object, *made->heap)) {
    object->heap = made->heap;
  }
}

void LiveState::State::UseCreator(LiveObject* object, const OpenCall& creator) {
  objects.Use(object, creator.object);
  object->creation->ForEach([&](const Record& each) {
    if (each.kind != RecordKind::kCall) return;
    if (!reader.Read(each, object->creation.get(), &values)) return;
    for (const uint64_t number : values.objects) objects.Use(object, number);
  });
}

void LiveState::State::OnObjectEnd(const Record& record) {
  LiveObject* const object = objects.Find(record.object);
  if (object == nullptr || object->ended()) return;
  object->end.Add(record);
  if (object->heap.has_value()) descriptors.RemoveHeap(*object->heap);
  object->settings.clear();
  object->maps.clear();
  objects.ForgetRecording(object);
  if (object->users == 0) objects.Release(record.object);
}

// ---- The end ---------------------------------------------------------------------------------------

Status LiveState::WriteTo(uint64_t next_number, const std::function<Status(const Record&)>& write) {
  State& state = *state_;
  const Living living(state.objects);
  Restorer restorer(next_number);
  const std::vector<const ListRecording*> recordings =
      RestoreObjects(&state.objects, living, &restorer);
  for (const auto& [number, call] : state.open_calls) restorer.Add(*call.records);
  for (const auto& [thread, blobs] : state.blobs) restorer.Add(blobs);
  restorer.Add(state.notes);
  state.left_out =
      RestoreDescriptors(state.objects, state.descriptors, recordings, living, &restorer);
  return restorer.Write(write);
}

}  // namespace cairn
