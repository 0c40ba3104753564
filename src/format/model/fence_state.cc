// SPDX-License-Identifier: Apache-2.0
#include "format/model/fence_state.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "d3d12gen/roles.h"
#include "format/calls/created_object.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

// Sets the entry; a map that is full keeps what it has.
template <typename T>
void SetEntry(std::map<uint64_t, T>* entries, uint64_t key, const T& value) {
  const bool is_full = entries->size() >= FenceState::kMostEntries;
  if (!is_full || entries->contains(key)) (*entries)[key] = value;
}

}  // namespace

FenceState* FenceTracker::Find(uint64_t fence) {
  const auto found = fences_.find(fence);
  return found == fences_.end() ? nullptr : &found->second;
}

void FenceTracker::Look(const Record& record) {
  switch (record.kind) {
    case RecordKind::kObject: return OnCreation(record);
    case RecordKind::kObjectEnd: fences_.erase(record.object); return;
    case RecordKind::kCall: return OnCall(record);
    case RecordKind::kResult: return OnResult(record);
    case RecordKind::kFenceReached: {
      std::span<const std::byte> rest = record.body;
      const Result<FenceReachedBody> body = DecodeBody<FenceReachedBody>(&rest);
      FenceState* const fence = Find(record.object);
      if (!body.ok() || fence == nullptr) return;
      if (body->seen != 0) {
        if (!fence->HasCompleted(body->value)) Saw(fence, body->value, record.number);
      } else {
        fence->event_waits.erase(fence->event_waits.begin(),
                                 fence->event_waits.upper_bound(body->value));
      }
      return;
    }
    default: return;
  }
}

void FenceTracker::OnCreation(const Record& record) {
  const Result<CreatedObject> made = DecodeObject(record);
  if (!made.ok() || trace_.ChainOf(made->body.chain) != Chain::kID3D12Fence) return;
  if (fences_.size() >= kMostFences) return;
  const auto initial = initial_values_.find(made->body.creator);
  FenceState fence;
  if (initial != initial_values_.end()) {
    fence.completed = {initial->second, made->body.creator};
    fence.highest = initial->second;
  }
  fences_[record.object] = std::move(fence);
}

void FenceTracker::OnCall(const Record& record) {
  const std::optional<Method> method = trace_.MethodOf(record);
  if (!method.has_value()) return;
  const CallRole& role = RoleOf(*method);
  const bool creates = *method == Method::ID3D12Device_CreateFence;
  if (!creates && !role.signals && role.role != Role::kWait) return;
  Record known = record;
  known.method = static_cast<uint16_t>(*method);
  const DecodedCall call = reader_.Arguments(known, &trace_);
  if (call.arguments.size() != Describe(*method).parameters.size()) return;
  if (creates) {
    if (initial_values_.size() < kMostFences)
      initial_values_[record.number] = Value<uint64_t>(call, 0);
    return;
  }
  if (role.role == Role::kWait && role.timeline != Timeline::kQueue) {
    return OnWait(record, role, call);
  }
  const auto value = Value<uint64_t>(call, static_cast<size_t>(role.value));
  const bool is_own = role.object == kNoParameter;
  FenceState* const fence =
      Find(is_own ? record.object : Value<uint64_t>(call, static_cast<size_t>(role.object)));
  if (fence == nullptr) return;
  const FenceState::Value what = {value, record.number};
  if (!role.signals) {
    if (!fence->HasCompleted(value)) SetEntry(&fence->queue_waits, record.object, what);
  } else if (is_own) {
    Signalled(fence, value);
    Complete(fence, value, record.number);
  } else {
    Signalled(fence, value);
    SetEntry(&fence->signals, record.object, what);
  }
}

// Takes a wait of the CPU: SetEventOnCompletion, SetEventOnMultipleFenceCompletion.
void FenceTracker::OnWait(const Record& record, const CallRole& role, const DecodedCall& call) {
  OpenWait wait;
  uint64_t event = 0;
  if (role.replay == Replay::kAwaitEvents) {
    const auto fences_at = static_cast<size_t>(role.object);
    const auto values_at = static_cast<size_t>(role.value);
    const auto* const fences = Array<uint64_t>(call, fences_at);
    const auto* const values = Array<uint64_t>(call, values_at);
    if (fences == nullptr || values == nullptr) return;
    const uint64_t count = std::min<uint64_t>(
        {call.counts[fences_at], call.counts[values_at], FenceState::kMostEntries});
    for (uint64_t i = 0; i < count; ++i) wait.values.emplace_back(fences[i], values[i]);
    constexpr uint32_t kAny = 1;  // D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY
    wait.any = (Value<uint32_t>(call, 3) & kAny) != 0;
    event = Value<uint64_t>(call, 4);
  } else {
    wait.values.emplace_back(record.object, Value<uint64_t>(call, static_cast<size_t>(role.value)));
    event = Value<uint64_t>(call, 1);
  }
  for (const auto& [fence, value] : wait.values) {
    FenceState* const state = Find(fence);
    if (state == nullptr || state->HasCompleted(value)) continue;
    SetEntry(&state->event_waits, value, record.number);
  }
  // Without an event the wait lasts as long as its call.
  if (event == 0 && open_waits_.size() < kMostFences) {
    open_waits_[record.number] = std::move(wait);
  }
}

void FenceTracker::OnResult(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return;
  initial_values_.erase(body->call);
  const std::optional<Method> method = trace_.MethodOf(record);
  if (method == Method::ID3D12Fence_GetCompletedValue) {
    FenceState* const fence = Find(record.object);
    uint64_t value = 0;
    if (fence == nullptr || rest.size() < sizeof(value)) return;
    std::memcpy(&value, rest.data(), sizeof(value));
    return Saw(fence, value, record.number);
  }
  const auto wait = open_waits_.find(body->call);
  if (wait == open_waits_.end()) return;
  const OpenWait ended = std::move(wait->second);
  open_waits_.erase(wait);
  for (const auto& [number, value] : ended.values) {
    FenceState* const fence = Find(number);
    if (fence == nullptr) continue;
    if (Succeeded(record) && (!ended.any || ended.values.size() == 1)) {
      if (!fence->HasCompleted(value)) Saw(fence, value, record.number);
    } else if (const auto entry = fence->event_waits.find(value);
               entry != fence->event_waits.end() && entry->second == body->call) {
      fence->event_waits.erase(entry);
    }
  }
}

void FenceTracker::Signalled(FenceState* fence, uint64_t value) {
  if (value < fence->highest) fence->falls_to = std::min(fence->falls_to, value);
  fence->highest = std::max(fence->highest, value);
}

void FenceTracker::Saw(FenceState* fence, uint64_t value, uint64_t record) {
  // Fences of a lost device have the greatest value, unless the program gave it.
  if (value == FenceState::kMostValue && fence->highest != value) return;
  // Threads record what they saw in any order: only a signal brings a fence back.
  const bool is_less = fence->completed && value < fence->completed->value;
  if (is_less && value < fence->falls_to) return;
  fence->highest = std::max(fence->highest, value);
  Complete(fence, value, record);
}

void FenceTracker::Complete(FenceState* fence, uint64_t value, uint64_t record) {
  if (!fence->completed || fence->completed->value != value) fence->completed = {value, record};
  std::erase_if(fence->queue_waits, [&](const auto& entry) { return entry.second.value <= value; });
  fence->event_waits.erase(fence->event_waits.begin(), fence->event_waits.upper_bound(value));
}

}  // namespace cairn
