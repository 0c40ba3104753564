// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_tables.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include "format/snapshot/annotation.h"
#include "format/snapshot/made_at.h"
#include "format/snapshot/marker_arena_reader.h"
#include "format/snapshot/object_kinds.h"

namespace cairn {
namespace {

constexpr int kChangedEntryTries = 4;
// The newest of them all.
constexpr uint32_t kMostQueueMarkers = 4096;

// Copies entry `offset`. False if it is free, or changed each time.
bool CopyObject(const BlockReader& block, uint64_t offset, ObjectRecord* record, bool* changed) {
  for (int i = 0; i < kChangedEntryTries; ++i) {
    const uint32_t state = block.Load32(offset + offsetof(ObjectRecord, state));
    const uint64_t serial = block.Load64(offset + offsetof(ObjectRecord, serial));
    if (state == static_cast<uint32_t>(ObjectState::kFree)) return false;
    block.Copy(offset, record);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (block.Load32(offset + offsetof(ObjectRecord, state)) == state &&
        block.Load64(offset + offsetof(ObjectRecord, serial)) == serial) {
      return true;
    }
  }
  *changed = true;
  return false;
}

Object MakeObject(const ObjectRecord& record, Snapshot* snapshot) {
  Object object;
  // A state that this version does not know belongs to an object all the same.
  object.state =
      record.state.load(std::memory_order_relaxed) == static_cast<uint32_t>(ObjectState::kDestroyed)
          ? ObjectState::kDestroyed
          : ObjectState::kAlive;
  object.kind = record.kind;
  object.device = record.context < snapshot->devices.size() ? record.context : kNone;
  const uint32_t length = record.name_length.load(std::memory_order_relaxed);
  object.name_cut = (length & kObjectNameCut) != 0;
  object.name = snapshot->AddText(std::string_view(
      record.name, std::min<size_t>(length & ~kObjectNameCut, sizeof(record.name))));
  object.native_handle = record.native_handle;
  object.serial = record.serial;
  object.created_ns = record.created_ns;
  if (object.state == ObjectState::kDestroyed) {
    object.destroyed_ns = record.destroyed_ns.load(std::memory_order_relaxed);
  }
  object.gpu_address = record.gpu_address;
  object.size_bytes = record.size_bytes;
  object.signalled = record.signalled.load(std::memory_order_relaxed);
  object.waited = record.waited.load(std::memory_order_relaxed);
  object.completed = record.completed.load(std::memory_order_relaxed);
  object.description = record.description;
  return object;
}

// Appends the arguments of a call to `snapshot`. Returns the name of the function, without the
// parameters that `signature` gives behind it (FunctionTable).
TextRef AddArguments(uint64_t call, TextRef signature,
                     const std::array<uint64_t, kArgumentsPerCall>& values, Snapshot* snapshot) {
  const std::string_view text = snapshot->Text(signature);
  const size_t name_end = text.find('(');
  if (name_end == std::string_view::npos) return signature;
  size_t begin = name_end + 1;
  for (const uint64_t value : values) {
    const size_t end = text.find_first_of(",)", begin);
    if (end == std::string_view::npos || end < begin + 3 || text[end - 2] != ':') break;
    CallArgument argument;
    argument.call = call;
    argument.kind = static_cast<ArgumentKind>(text[end - 1]);
    argument.name = {static_cast<uint32_t>(signature.offset + begin),
                     static_cast<uint32_t>(end - 2 - begin)};
    argument.value = value;
    if (argument.kind != ArgumentKind::kOther) snapshot->call_arguments.push_back(argument);
    if (text[end] == ')') break;
    begin = end + 1;
  }
  return {signature.offset, static_cast<uint32_t>(name_end)};
}

// Appends the calls of the thread whose ring starts at `offset`, oldest first.
uint32_t ReadCalls(const BlockReader& block, uint64_t offset, NameTable* names,
                   Snapshot* snapshot) {
  const uint32_t function_count = block.FunctionCount();
  std::array<uint64_t, kCallsPerThread> numbers;
  uint64_t newest = 0;
  for (uint32_t i = 0; i < kCallsPerThread; ++i) {
    numbers[i] = block.Load64(offset + i * sizeof(CallRecord) + offsetof(CallRecord, number));
    if (numbers[i] % kCallsPerThread != i) numbers[i] = 0;
    newest = std::max(newest, numbers[i]);
  }
  // The oldest entry of a full ring is left out: the next call, which has no number yet, may have been
  // writing over it.
  const uint64_t first = newest < kCallsPerThread ? 1 : newest - kCallsPerThread + 2;
  uint32_t count = 0;
  for (uint64_t number = first; newest != 0 && number <= newest && number >= first; ++number) {
    const uint32_t position = static_cast<uint32_t>(number % kCallsPerThread);
    if (numbers[position] != number) continue;
    const uint64_t entry = offset + position * sizeof(CallRecord);
    Call call;
    call.number = number;
    call.object = block.Load64(entry + offsetof(CallRecord, object));
    const uint32_t function = block.Load32(entry + offsetof(CallRecord, function));
    call.returned = block.Load32(entry + offsetof(CallRecord, returned)) != 0;
    std::array<uint64_t, kArgumentsPerCall> arguments;
    for (uint32_t i = 0; i < kArgumentsPerCall; ++i) {
      arguments[i] = block.Load64(entry + offsetof(CallRecord, arguments) + i * sizeof(uint64_t));
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (block.Load64(entry + offsetof(CallRecord, number)) != number) continue;
    if (function < function_count) {
      // The table of names is aligned to 4 only.
      const TextRef signature =
          names->Text(block.Load32(block.functions_offset() + offsetof(FunctionTable, names) +
                                   uint64_t{function} * sizeof(NameRef)));
      call.function = AddArguments(number, signature, arguments, snapshot);
    }
    snapshot->calls.push_back(call);
    ++count;
  }
  return count;
}

uint32_t AddKeptMarker(const KeptMarker& kept, uint64_t* text_budget_bytes, Snapshot* snapshot) {
  if (kept.payload.size() > *text_budget_bytes) return kNone;
  *text_budget_bytes -= kept.payload.size();
  const TextRef payload = snapshot->AddText(
      std::string_view(reinterpret_cast<const char*>(kept.payload.data()), kept.payload.size()));
  return AddAnnotation({kept.event_id, kept.metadata, kept.size_bytes}, payload, text_budget_bytes,
                       snapshot);
}

void ReadReport(const BlockReader& block, const MarkerArenaReader& arenas, uint32_t device,
                uint64_t* text_budget_bytes, Snapshot* snapshot) {
  const uint64_t report = block.driver_reports_offset() + device * sizeof(DriverReport);
  for (uint32_t i = 0; i < kDriverReportCount; ++i) {
    ReportedEventId reported;
    reported.device = device;
    reported.event_id = block.Load64(report + i * sizeof(uint64_t));
    if (reported.event_id == 0) continue;
    KeptMarker kept;
    reported.state = arenas.Resolve(reported.event_id, kMaxNameBytes, &kept);
    if (reported.state == EventIdState::kResolved) {
      reported.annotation = AddKeptMarker(kept, text_budget_bytes, snapshot);
      if (reported.annotation == kNone) reported.state = EventIdState::kUnknown;
    }
    snapshot->reported_event_ids.push_back(reported);
  }
}

}  // namespace

uint64_t ReadObjects(const BlockReader& block, Snapshot* snapshot) {
  const uint32_t count = block.ObjectCount();
  snapshot->objects.resize(count);
  uint64_t changed_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    ObjectRecord record;
    bool changed = false;
    if (CopyObject(block, block.objects_offset() + uint64_t{i} * sizeof(ObjectRecord), &record,
                   &changed)) {
      snapshot->objects[i] = MakeObject(record, snapshot);
    }
    if (changed) ++changed_count;
  }
  return changed_count;
}

void NameByObjects(Snapshot* snapshot) {
  // Without the kind, a name could be that of something else that got the address later.
  constexpr uint32_t kKinds[] = {
      kD3D12QueueKind,  kD3D12PipelineStateKind, kD3D12CommandListKind,   kD3D12StateObjectKind,
      kVulkanQueueKind, kVulkanPipelineKind,     kVulkanCommandBufferKind};
  std::map<std::pair<uint32_t, uint64_t>, const Object*> latest;
  for (const Object& object : snapshot->objects) {
    if (object.state == ObjectState::kFree || object.native_handle == 0) continue;
    if (std::find(std::begin(kKinds), std::end(kKinds), object.kind) == std::end(kKinds)) continue;
    const Object*& known = latest[{object.kind, object.native_handle}];
    if (known == nullptr || MadeAt(*known) < MadeAt(object)) known = &object;
  }
  const auto rename = [&latest](uint32_t kind, auto& named) {
    const auto found = latest.find({kind, named.native_handle});
    if (found == latest.end()) return;
    const Object& object = *found->second;
    if (object.device == named.device && !object.name.empty()) named.name = object.name;
  };
  for (Recording& recording : snapshot->recordings) {
    rename(kD3D12CommandListKind, recording);
    rename(kVulkanCommandBufferKind, recording);
  }
  for (Queue& queue : snapshot->queues) {
    rename(kD3D12QueueKind, queue);
    rename(kVulkanQueueKind, queue);
  }
  for (Pipeline& pipeline : snapshot->pipelines) {
    rename(kD3D12PipelineStateKind, pipeline);
    rename(kD3D12StateObjectKind, pipeline);
    rename(kVulkanPipelineKind, pipeline);
  }
}

void ReadThreads(const BlockReader& block, NameTable* names, Snapshot* snapshot) {
  const uint32_t count = block.ThreadCount();
  snapshot->threads.reserve(count);
  snapshot->calls.reserve(uint64_t{count} * kCallsPerThread);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = block.threads_offset() + uint64_t{i} * sizeof(ThreadRecord);
    const uint32_t state = block.Load32(offset + offsetof(ThreadRecord, state));
    if (state == kEntryFree) continue;
    char name[16];
    block.Copy(offset + offsetof(ThreadRecord, name), name, sizeof(name));
    Thread thread;
    thread.thread_id = block.Load32(offset + offsetof(ThreadRecord, thread_id));
    thread.ended = state != kEntryPublished;
    thread.name = snapshot->AddText(std::string_view(name, strnlen(name, sizeof(name))));
    if (thread.ended) {
      thread.ended_ns = block.Load64(offset + offsetof(ThreadRecord, ended_ns));
    }
    thread.first_call = static_cast<uint32_t>(snapshot->calls.size());
    thread.first_argument = static_cast<uint32_t>(snapshot->call_arguments.size());
    thread.call_count = ReadCalls(block, offset + offsetof(ThreadRecord, calls), names, snapshot);
    thread.argument_count =
        static_cast<uint32_t>(snapshot->call_arguments.size()) - thread.first_argument;
    snapshot->threads.push_back(thread);
  }
}

void ReadKeptMarkers(const BlockReader& block, uint64_t text_budget_bytes, Snapshot* snapshot) {
  const MarkerArenaReader arenas(block);
  if (block.driver_reports_offset() != 0) {
    for (uint32_t device = 0; device < snapshot->devices.size(); ++device) {
      ReadReport(block, arenas, device, &text_budget_bytes, snapshot);
    }
  }
  for (const KeptMarker& kept : arenas.QueueMarkers(kMostQueueMarkers, kMaxNameBytes)) {
    QueueMarker marker;
    const auto queue = std::find_if(
        snapshot->queues.begin(), snapshot->queues.end(), [&kept](const Queue& candidate) {
          return candidate.device != kNone && candidate.native_handle == kept.native_handle;
        });
    if (queue != snapshot->queues.end()) {
      marker.queue = static_cast<uint32_t>(queue - snapshot->queues.begin());
    }
    marker.native_handle = kept.native_handle;
    marker.kind = static_cast<QueueMarkerKind>(kept.kind);
    marker.submission = kept.submission;
    if (kept.kind != MarkerKind::kEndEvent) {
      marker.annotation = AddKeptMarker(kept, &text_budget_bytes, snapshot);
    }
    snapshot->queue_markers.push_back(marker);
  }
}

DroppedMarkers CountDroppedMarkers(const BlockReader& block) {
  DroppedMarkers dropped;
  const uint32_t count = block.ArenaCount();
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = block.arenas_offset() + uint64_t{i} * sizeof(ArenaRecord);
    const uint64_t of_arena = block.Load64(offset + offsetof(ArenaRecord, dropped));
    const bool is_queue = block.Load32(offset + offsetof(ArenaRecord, is_queue)) != 0;
    (is_queue ? dropped.of_queues : dropped.of_lists) += of_arena;
  }
  return dropped;
}

}  // namespace cairn
