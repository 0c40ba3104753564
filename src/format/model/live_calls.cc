// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_calls.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

// The calls kept for a subresource: a program that maps it again and again unmaps it as often, or
// never.
constexpr size_t kMapsKept = 16;

// Direct3D 12 has 8; a trace may lie.
constexpr uint32_t kMostInRange = 64;

ListRecording& RecordingOf(LiveObject* list) {
  if (list->recording == nullptr) list->recording = std::make_shared<ListRecording>();
  return *list->recording;
}

std::string BytesOf(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Encodes the tiles that a call of UpdateTileMappings maps; empty for other calls.
std::string TilesOf(const DecodedCall& call, uint16_t method) {
  if (static_cast<Method>(method) != Method::ID3D12CommandQueue_UpdateTileMappings) return "";
  constexpr size_t kRegionBytes = 16;  // of a coordinate, and of a size
  const auto* const count = Argument<uint32_t>(call, 1);
  if (count == nullptr) return "";
  std::string tiles = std::to_string(*count);
  for (const size_t index : {size_t{2}, size_t{3}}) {
    const auto* const regions = Array<std::byte>(call, index);
    tiles += regions == nullptr ? "-" : "+";
    if (regions != nullptr) tiles += BytesOf({regions, *count * kRegionBytes});
  }
  return tiles;
}

}  // namespace

void LiveCalls::OnListWork(const Record& call, KeptRecords before) {
  LiveObject* const list = objects_.Find(call.object);
  if (list == nullptr) return;
  ListRecording& recording = RecordingOf(list);
  recording.records.Add(before);
  recording.records.Add(call);
  if (ReadsDescriptors(call.method)) ReadDescriptors(call, &before, &recording);
  if (RoleOfNumber(call.method).role == Role::kBundle) ReadBundle(call, &recording);
}

void LiveCalls::ReadDescriptors(const Record& call, BlobSource* blobs, ListRecording* recording) {
  DecodedCall arguments;
  if (!reader_.Read(call, blobs, &values_, &arguments)) return;
  for (const uint64_t handle : values_.cpu_descriptors) {
    ReadDescriptor(handle, call.number, recording);
  }
  if (RoleOfNumber(call.method).state != StateKind::kRenderTargets) return;
  // A handle may stand for those behind it as well.
  const auto* const count = Argument<uint32_t>(arguments, 0);
  const auto* const handles = Array<uint64_t>(arguments, 1);
  const auto* const range = Argument<uint32_t>(arguments, 2);
  if (count == nullptr || handles == nullptr || range == nullptr || *range == 0) return;
  const uint64_t increment = descriptors_.IncrementAt(handles[0]);
  for (uint32_t i = 1; i < std::min(*count, kMostInRange); ++i) {
    ReadDescriptor(handles[0] + i * increment, call.number, recording);
  }
}

void LiveCalls::ReadDescriptor(uint64_t handle, uint64_t call, ListRecording* recording) {
  const uint64_t heap = descriptors_.HeapAt(handle);
  if (heap == kNoObject) {
    recording->read_unknown = true;
    return;
  }
  HoldHeap(heap, recording);
  const auto slot = descriptors_.slots().find(handle);
  if (slot == descriptors_.slots().end()) return;
  const auto [place, is_new] = recording->read.try_emplace({handle, slot->second.written});
  if (is_new) place->second = {slot->second, heap, call, call};
  place->second.last_read = call;
}

void LiveCalls::HoldHeap(uint64_t heap, ListRecording* recording) {
  std::vector<uint64_t>& heaps = recording->heaps;
  if (std::find(heaps.begin(), heaps.end(), heap) != heaps.end()) return;
  if (objects_.Hold(heap)) heaps.push_back(heap);
}

void LiveCalls::ReadBundle(const Record& call, ListRecording* recording) {
  if (!reader_.Read(call, nullptr, &values_) || values_.objects.empty()) return;
  const LiveObject* const bundle = objects_.Find(values_.objects[0]);
  if (bundle == nullptr || bundle->recording == nullptr) return;
  const std::shared_ptr<const ListRecording>& executed = bundle->recording;
  if (executed.get() == recording || !executed->bundles.empty()) return;  // no bundle executes one
  std::vector<std::shared_ptr<const ListRecording>>& bundles = recording->bundles;
  if (std::find(bundles.begin(), bundles.end(), executed) != bundles.end()) return;
  for (const uint64_t heap : executed->heaps) HoldHeap(heap, recording);
  bundles.push_back(executed);
}

void LiveCalls::Finish(const OpenCall& call, const Record* result) {
  LiveObject* const object = objects_.Find(call.object);
  if (object == nullptr) return;
  Record record;
  call.records->ForEach([&](const Record& each) {
    if (each.kind == RecordKind::kCall) record = each;
  });
  const CallRole& role = RoleOfNumber(call.method);
  switch (role.role) {
    case Role::kProperty: object->settings[{call.method, NameKind::kNone}] = call.records; break;
    case Role::kPrivateData: {
      const NameKind kind = NameInPrivateData(record.body);
      if (kind != NameKind::kNone) object->settings[{call.method, kind}] = call.records;
      break;
    }
    case Role::kIdentifier: object->identifiers[BytesOf(record.body)] = call.records; break;
    case Role::kListReset:
      if (result != nullptr && !Succeeded(*result)) break;
      objects_.ForgetRecording(object);
      RecordingOf(object).records.Add(*call.records);
      object->was_reset = true;
      object->closed = false;
      break;
    case Role::kListClose:
      RecordingOf(object).records.Add(*call.records);
      if (!object->was_reset) object->first_close.Add(*call.records);
      object->closed = true;
      break;
    case Role::kView: descriptors_.OnView(record, call.records); break;
    case Role::kCopyViewRanges: descriptors_.OnCopies(record, false); break;
    case Role::kCopyViews: descriptors_.OnCopies(record, true); break;
    case Role::kSignal:
      // A signal that no replay makes would take the place of one that it does.
      if (role.replay == Replay::kSkip) break;
      if (role.object == kNoParameter) {
        OnSignal(call.object, call);
      } else if (reader_.Read(record, call.records.get(), &values_) && !values_.objects.empty()) {
        OnSignal(values_.objects[0], call);
      }
      break;
    case Role::kTiles: OnTileMapping(record, call); break;
    case Role::kMap:
      if (result != nullptr && Succeeded(*result)) OnMap(object, record, call.records);
      break;
    case Role::kUnmap: OnUnmap(object, record); break;
    default: break;
  }
}

void LiveCalls::OnMap(LiveObject* resource, const Record& record, const Records& records) {
  uint32_t subresource = 0;
  if (record.body.size() < sizeof(subresource)) return;
  std::memcpy(&subresource, record.body.data(), sizeof(subresource));
  LiveObject::Maps& maps = resource->maps[subresource];
  if (maps.first.size() < kMapsKept) {
    maps.first.push_back(records);
  } else {
    ++maps.more;
  }
}

void LiveCalls::OnUnmap(LiveObject* resource, const Record& record) {
  uint32_t subresource = 0;
  if (record.body.size() < sizeof(subresource)) return;
  std::memcpy(&subresource, record.body.data(), sizeof(subresource));
  const auto maps = resource->maps.find(subresource);
  if (maps == resource->maps.end()) return;
  if (maps->second.more != 0) {
    --maps->second.more;
    return;
  }
  maps->second.first.pop_back();
  if (maps->second.first.empty()) resource->maps.erase(maps);
}

// A queue that signalled is needed as long as its signal is.
void LiveCalls::OnSignal(uint64_t fence, const OpenCall& call) {
  LiveObject* const object = objects_.Find(fence);
  if (object == nullptr) return;
  object->signal = call.records;
  if (call.object != fence) objects_.UseOnce(object, call.object);
}

void LiveCalls::OnTileMapping(const Record& record, const OpenCall& call) {
  if (!reader_.Read(record, call.records.get(), &values_) || values_.objects.empty()) return;
  LiveObject* const resource = objects_.Find(values_.objects[0]);
  if (resource == nullptr) return;
  std::vector<uint64_t> needed(values_.objects.begin() + 1, values_.objects.end());
  std::string tiles = TilesOf(reader_.Arguments(record, call.records.get()), record.method);
  if (tiles.empty()) {
    // A copy: it needs what its source had, and any mapping of the same tiles before it.
    resource->tiles_copied = true;
    if (LiveObject* const source = needed.empty() ? nullptr : objects_.Find(needed[0])) {
      source->tiles_copied = true;
    }
  }
  if (resource->tiles_copied) tiles = std::to_string(record.number);
  resource->tile_mappings[std::move(tiles)] = call.records;
  needed.push_back(call.object);
  for (const uint64_t number : needed) objects_.UseOnce(resource, number);
}

}  // namespace cairn
