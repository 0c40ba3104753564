// SPDX-License-Identifier: Apache-2.0
#include "watch/live_state.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calls/value_decoder.h"
#include "d3d12gen/methods.h"
#include "watch/call_kinds.h"
#include "watch/call_values.h"
#include "watch/kept_records.h"
#include "watch/overlapping_ranges.h"

namespace cairn {
namespace {

using Records = std::shared_ptr<KeptRecords>;

constexpr size_t kNotesKept = 1000;
// Of a subresource: who maps again and again unmaps as often, or never.
constexpr size_t kMapsKept = 16;
// Of one call of CopyDescriptors: more than a heap may have.
constexpr uint32_t kMostDescriptors = 1u << 20;

struct LiveObject {
  Records creation;
  uint64_t created = 0;
  KeptRecords end;             // its kObjectEnd, while others still need what it was
  std::vector<uint64_t> uses;  // objects that cannot be forgotten before this one
  uint32_t users = 0;
  std::optional<ResourceFacts> resource;
  std::optional<DescriptorHeapFacts> heap;

  std::map<std::pair<uint16_t, NameKind>, Records> settings;  // by method
  std::map<std::string, Records> identifiers;                 // by the arguments
  // Of a list: the Close that ended what was recorded when it was made; and what it holds now.
  KeptRecords first_close;
  KeptRecords recording;
  bool closed = false;
  bool was_reset = false;
  // Of a fence.
  Records signal;
  // Of a resource.
  struct Maps {
    std::vector<Records> first;  // kMapsKept at most
    uint64_t more = 0;
  };
  std::map<uint32_t, Maps> maps;  // by subresource
  // By the tiles: who maps the same ones again replaces the mapping, as long as none was copied.
  std::map<std::string, Records> tile_mappings;
  bool tiles_copied = false;

  bool ended() const { return !end.empty(); }
};

// A call that has not returned yet.
struct OpenCall {
  Records records;
  CallKind kind = CallKind::kOther;
  uint64_t object = 0;
  uint16_t method = 0;
};

// What stands in a descriptor.
struct View {
  Records call;
  uint64_t call_number = 0;
  CallValues values;
};
struct Slot {
  std::shared_ptr<const View> view;
  uint64_t written = 0;  // number of the call that wrote it: of the view itself or of a copy
};

std::string BytesOf(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

uint64_t HeapBytes(const DescriptorHeapFacts& heap) {
  return uint64_t{heap.count} * heap.increment_bytes;
}

bool IsSane(const DescriptorHeapFacts& heap) {
  return heap.cpu_start != 0 && heap.increment_bytes != 0 && heap.count <= kMostDescriptors &&
         heap.cpu_start + HeapBytes(heap) >= heap.cpu_start;
}

// What a call returned; `result`: its kResult record.
bool Succeeded(const Record& result) {
  int32_t code = 0;
  if (result.body.size() < sizeof(ResultBody) + sizeof(code)) return false;
  std::memcpy(&code, result.body.data() + sizeof(ResultBody), sizeof(code));
  return code >= 0;
}

template <typename T>
const T* Argument(const DecodedCall& call, size_t index) {
  return index < call.arguments.size() ? static_cast<const T*>(call.arguments[index]) : nullptr;
}

// The first elements of an array parameter; null if the pointer was null.
template <typename T>
const T* Array(const DecodedCall& call, size_t index) {
  const T* const* const pointer = Argument<const T*>(call, index);
  return pointer == nullptr ? nullptr : *pointer;
}

// Which tiles of its resource a call of UpdateTileMappings maps; empty for other calls.
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

struct LiveState::State {
  std::unordered_map<uint64_t, LiveObject> objects;
  std::map<uint64_t, Slot> slots;                   // by handle
  std::map<uint64_t, uint64_t> heap_starts;         // handle of the first descriptor -> heap
  std::map<uint64_t, OpenCall> open_calls;          // by number
  std::unordered_map<uint32_t, KeptRecords> blobs;  // by thread, for its next record
  std::unordered_map<uint64_t, KeptRecords> device_records;  // kDevice, for their kObject
  KeptRecords notes;
  size_t note_count = 0;
  CallValuesReader reader;
  CallValues values;
  uint64_t left_out = 0;

  LiveObject* Find(uint64_t number) {
    const auto found = objects.find(number);
    return found == objects.end() ? nullptr : &found->second;
  }

  void OnCall(const Record& record);
  void OnResult(const Record& record);
  void OnObject(const Record& record);
  void OnObjectEnd(const Record& record);
  // The call is complete; `result` is null for methods without results.
  void Finish(const OpenCall& call, const Record* result);

  void Use(LiveObject* user, uint64_t number);
  void Release(uint64_t number);
  void ForgetSlots(const DescriptorHeapFacts& heap);
  void OnSignal(uint64_t fence, const OpenCall& call);
  void OnTileMapping(const OpenCall& call);
  void OnUnmap(LiveObject* resource, const Record& record);
  void OnView(const Record& record, const Records& records);
  void OnCopies(const Record& record, bool simple);
  void CopySlot(uint64_t from, uint64_t to, uint64_t number);
  // The heap that a handle is in; null, or 0, for others.
  const LiveObject* HeapAt(uint64_t handle) const;
  uint64_t IncrementAt(uint64_t handle) const;
  uint64_t HeapCreated(uint64_t handle) const;
};

namespace {

// One pass over what is kept, at the end.
class Restorer {
 public:
  explicit Restorer(uint64_t next_number) : next_number_(next_number) {}

  void Add(const KeptRecords& records) {
    Record record;
    for (size_t place = 0;;) {
      const size_t at = place;
      if (!records.Next(&place, &record)) break;
      if (record.number != 0 && record.number < next_number_) {
        out_.push_back({record.number, &records, at});
        used_.insert(record.number);
      }
    }
  }
  void AddIf(const Records& records) {
    if (records != nullptr) Add(*records);
  }
  bool IsUsed(uint64_t number) const { return used_.count(number) != 0; }

  // The largest number that is free, above `floor`; 0 if there is none.
  uint64_t TakeFree(uint64_t floor) {
    while (free_ > floor && free_ > 1) {
      --free_;
      if (free_ > floor && used_.insert(free_).second) return free_;
    }
    return 0;
  }
  void StartTaking() { free_ = next_number_; }

  // `record` with another number and its last 8 bytes replaced.
  void AddMade(Record record, uint64_t number, uint64_t handle) {
    std::vector<std::byte> body(record.body.begin(), record.body.end());
    if (body.size() < sizeof(handle)) return;
    std::memcpy(body.data() + body.size() - sizeof(handle), &handle, sizeof(handle));
    record.number = number;
    record.body = body;
    made_.push_back(std::make_unique<KeptRecords>());
    made_.back()->Add(record);
    Add(*made_.back());
  }

  Status Write(const std::function<Status(const Record&)>& write) {
    std::sort(out_.begin(), out_.end(),
              [](const Out& a, const Out& b) { return a.number < b.number; });
    uint64_t before = 0;
    for (const Out& out : out_) {
      if (out.number == before) continue;  // two objects of one call
      before = out.number;
      Record record;
      size_t place = out.place;
      out.records->Next(&place, &record);
      CAIRN_RETURN_IF_ERROR(write(record));
    }
    return Status();
  }

 private:
  struct Out {
    uint64_t number;
    const KeptRecords* records;
    size_t place;
  };
  uint64_t next_number_;
  uint64_t free_ = 0;
  std::vector<Out> out_;
  std::unordered_set<uint64_t> used_;
  std::vector<std::unique_ptr<KeptRecords>> made_;
};

// What is alive when the recording starts: that, and nothing else, may be referred to.
class Living {
 public:
  explicit Living(const std::unordered_map<uint64_t, LiveObject>& objects) : objects_(objects) {
    for (const auto& [number, object] : objects) {
      if (object.ended()) continue;
      if (object.resource.has_value()) {
        addresses_.Add(object.resource->gpu_address, object.resource->size_bytes, number,
                       object.created);
      }
      if (object.heap.has_value()) {
        descriptors_.Add(object.heap->cpu_start, HeapBytes(*object.heap), number, object.created);
      }
    }
  }

  bool Has(uint64_t number) const {
    if (number == kForeignObject) return true;
    const auto found = objects_.find(number);
    return found != objects_.end() && !found->second.ended();
  }
  // For a call with that number: an address may have belonged to another object then.
  bool HasAll(const CallValues& values, uint64_t call) const {
    const auto had = [call](const OverlappingRanges& ranges, uint64_t value) {
      bool found = false;
      ranges.ForEachAt(value, [&](const auto& range) { found = found || range.created < call; });
      return found;
    };
    return std::all_of(values.objects.begin(), values.objects.end(),
                       [this](uint64_t number) { return Has(number); }) &&
           std::all_of(values.gpu_addresses.begin(), values.gpu_addresses.end(),
                       [&](uint64_t address) { return had(addresses_, address); }) &&
           std::all_of(values.cpu_descriptors.begin(), values.cpu_descriptors.end(),
                       [&](uint64_t handle) { return had(descriptors_, handle); });
  }
  // The number of the youngest object that the values refer to.
  uint64_t Youngest(const CallValues& values) const {
    uint64_t youngest = 0;
    for (const uint64_t number : values.objects) {
      const auto found = objects_.find(number);
      if (found != objects_.end()) youngest = std::max(youngest, found->second.created);
    }
    for (const uint64_t address : values.gpu_addresses) {
      addresses_.ForEachAt(
          address, [&](const auto& range) { youngest = std::max(youngest, range.created); });
    }
    return youngest;
  }

 private:
  const std::unordered_map<uint64_t, LiveObject>& objects_;
  OverlappingRanges addresses_;
  OverlappingRanges descriptors_;
};

// A list that refers to what is gone cannot be submitted any more: it is restored empty, and open if it
// is open.
void AddRecording(LiveObject& list, const Living& living, CallValuesReader* reader,
                  Restorer* restorer, std::vector<std::unique_ptr<KeptRecords>>* made) {
  bool usable = true;
  CallValues values;
  auto kept = std::make_unique<KeptRecords>();
  list.recording.ForEach([&](const Record& record) {
    if (record.kind == RecordKind::kCall && reader->Read(record, &list.recording, &values) &&
        !living.HasAll(values, record.number)) {
      usable = false;
    }
    const CallKind kind = CallKindOf(record.method);
    if (kind == CallKind::kListReset || kind == CallKind::kListClose) kept->Add(record);
  });
  if (usable) {
    restorer->Add(list.recording);
  } else if (!list.was_reset || !list.closed) {
    restorer->Add(*kept);
    made->push_back(std::move(kept));
  }
}

}  // namespace

LiveState::LiveState() : state_(std::make_unique<State>()) {}
LiveState::~LiveState() = default;
LiveState::LiveState(LiveState&&) noexcept = default;
LiveState& LiveState::operator=(LiveState&&) noexcept = default;

uint64_t LiveState::left_out() const {
  return state_->left_out;
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
    // What memory holds is told when the recording starts.
    case RecordKind::kMemory:
    case RecordKind::kContents:
    case RecordKind::kReadback:
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
  const CallKind kind = CallKindOf(record.method);
  if (kind == CallKind::kListWork) {
    if (LiveObject* const list = Find(record.object)) {
      list->recording.Add(before);
      list->recording.Add(record);
    }
    return;
  }
  OpenCall call;
  call.records = std::make_shared<KeptRecords>();
  call.records->Add(before);
  call.records->Add(record);
  call.kind = kind;
  call.object = record.object;
  call.method = record.method;
  const bool has_results =
      record.method < kMethodCount && Describe(static_cast<Method>(record.method)).has_results;
  if (has_results) {
    open_calls.insert_or_assign(record.number, std::move(call));
  } else {
    Finish(call, nullptr);
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
  Finish(found->second, &record);
  open_calls.erase(found);
}

void LiveState::State::Finish(const OpenCall& call, const Record* result) {
  LiveObject* const object = Find(call.object);
  if (object == nullptr) return;
  Record record;
  call.records->ForEach([&](const Record& each) {
    if (each.kind == RecordKind::kCall) record = each;
  });
  switch (call.kind) {
    case CallKind::kOther:
    case CallKind::kListWork: break;
    case CallKind::kSetting: object->settings[{call.method, NameKind::kNone}] = call.records; break;
    case CallKind::kPrivateData: {
      const NameKind kind = NameInPrivateData(record.body);
      if (kind != NameKind::kNone) object->settings[{call.method, kind}] = call.records;
      break;
    }
    case CallKind::kIdentifier: object->identifiers[BytesOf(record.body)] = call.records; break;
    case CallKind::kListReset:
      if (result != nullptr && !Succeeded(*result)) break;
      object->recording.Clear();
      object->recording.Add(*call.records);
      object->was_reset = true;
      object->closed = false;
      break;
    case CallKind::kListClose:
      object->recording.Add(*call.records);
      if (!object->was_reset) object->first_close.Add(*call.records);
      object->closed = true;
      break;
    case CallKind::kView: OnView(record, call.records); break;
    case CallKind::kCopyViews: OnCopies(record, false); break;
    case CallKind::kCopyViewsSimple: OnCopies(record, true); break;
    case CallKind::kQueueSignal:
      if (reader.Read(record, call.records.get(), &values) && !values.objects.empty()) {
        OnSignal(values.objects[0], call);
      }
      break;
    case CallKind::kFenceSignal: OnSignal(call.object, call); break;
    case CallKind::kTileMapping: OnTileMapping(call); break;
    case CallKind::kMap:
      if (result != nullptr && Succeeded(*result) && record.body.size() >= sizeof(uint32_t)) {
        uint32_t subresource = 0;
        std::memcpy(&subresource, record.body.data(), sizeof(subresource));
        LiveObject::Maps& maps = object->maps[subresource];
        if (maps.first.size() < kMapsKept) {
          maps.first.push_back(call.records);
        } else {
          ++maps.more;
        }
      }
      break;
    case CallKind::kUnmap: OnUnmap(object, record); break;
  }
}

void LiveState::State::OnUnmap(LiveObject* resource, const Record& record) {
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
void LiveState::State::OnSignal(uint64_t fence, const OpenCall& call) {
  LiveObject* const object = Find(fence);
  if (object == nullptr) return;
  object->signal = call.records;
  if (call.object != fence &&
      std::find(object->uses.begin(), object->uses.end(), call.object) == object->uses.end()) {
    Use(object, call.object);
  }
}

void LiveState::State::OnTileMapping(const OpenCall& call) {
  Record record;
  call.records->ForEach([&](const Record& each) {
    if (each.kind == RecordKind::kCall) record = each;
  });
  if (!reader.Read(record, call.records.get(), &values) || values.objects.empty()) return;
  LiveObject* const resource = Find(values.objects[0]);
  if (resource == nullptr) return;
  std::vector<uint64_t> needed(values.objects.begin() + 1, values.objects.end());
  std::string tiles = TilesOf(reader.Arguments(record, call.records.get()), record.method);
  if (tiles.empty()) {
    // A copy: it needs what its source had, and any mapping of the same tiles before it.
    resource->tiles_copied = true;
    if (LiveObject* const source = needed.empty() ? nullptr : Find(needed[0])) {
      source->tiles_copied = true;
    }
  }
  if (resource->tiles_copied) tiles = std::to_string(record.number);
  resource->tile_mappings[std::move(tiles)] = call.records;
  needed.push_back(call.object);
  for (const uint64_t number : needed) {
    if (std::find(resource->uses.begin(), resource->uses.end(), number) == resource->uses.end()) {
      Use(resource, number);
    }
  }
}

// ---- Objects ---------------------------------------------------------------------------------------

void LiveState::State::Use(LiveObject* user, uint64_t number) {
  LiveObject* const used = Find(number);
  if (used == nullptr || used == user) return;
  ++used->users;
  user->uses.push_back(number);
}

void LiveState::State::OnObject(const Record& record) {
  std::span<const std::byte> rest = record.body;
  const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok() || record.object == kNoObject || objects.count(record.object) != 0) return;
  LiveObject& object = objects[record.object];
  object.created = record.number;
  const auto creator = open_calls.find(body->creator);
  object.creation =
      creator == open_calls.end() ? std::make_shared<KeptRecords>() : creator->second.records;
  const auto device = device_records.find(record.object);
  if (device != device_records.end()) {
    object.creation->Add(device->second);
    device_records.erase(device);
  }
  object.creation->Add(record);
  Use(&object, body->device);
  if (creator != open_calls.end()) {
    Use(&object, creator->second.object);
    object.creation->ForEach([&](const Record& each) {
      if (each.kind != RecordKind::kCall) return;
      if (!reader.Read(each, object.creation.get(), &values)) return;
      for (const uint64_t number : values.objects) Use(&object, number);
    });
  }
  if (body->facts == kResourceFacts) {
    if (const Result<ResourceFacts> facts = DecodeBody<ResourceFacts>(&rest); facts.ok()) {
      object.resource = *facts;
    }
  } else if (body->facts == kDescriptorHeapFacts) {
    if (const Result<DescriptorHeapFacts> facts = DecodeBody<DescriptorHeapFacts>(&rest);
        facts.ok() && IsSane(*facts)) {
      object.heap = *facts;
      heap_starts.insert_or_assign(facts->cpu_start, record.object);
    }
  }
}

void LiveState::State::OnObjectEnd(const Record& record) {
  LiveObject* const object = Find(record.object);
  if (object == nullptr || object->ended()) return;
  object->end.Add(record);
  if (object->heap.has_value()) ForgetSlots(*object->heap);
  object->settings.clear();
  object->maps.clear();
  object->recording = KeptRecords();
  if (object->users == 0) Release(record.object);
}

void LiveState::State::ForgetSlots(const DescriptorHeapFacts& heap) {
  heap_starts.erase(heap.cpu_start);
  const auto first = slots.lower_bound(heap.cpu_start);
  slots.erase(first, slots.lower_bound(heap.cpu_start + HeapBytes(heap)));
}

// Forgets an object that has ended, and those that only it needed.
void LiveState::State::Release(uint64_t number) {
  std::vector<uint64_t> unneeded = {number};
  while (!unneeded.empty()) {
    const auto found = objects.find(unneeded.back());
    unneeded.pop_back();
    const std::vector<uint64_t> uses = std::move(found->second.uses);
    objects.erase(found);
    for (const uint64_t used : uses) {
      LiveObject* const object = Find(used);
      if (object != nullptr && --object->users == 0 && object->ended()) unneeded.push_back(used);
    }
  }
}

// ---- Descriptors -----------------------------------------------------------------------------------

const LiveObject* LiveState::State::HeapAt(uint64_t handle) const {
  const auto after = heap_starts.upper_bound(handle);
  if (after == heap_starts.begin()) return nullptr;
  const auto found = objects.find(std::prev(after)->second);
  if (found == objects.end() || !found->second.heap.has_value()) return nullptr;
  const DescriptorHeapFacts& heap = *found->second.heap;
  return handle < heap.cpu_start + HeapBytes(heap) ? &found->second : nullptr;
}

uint64_t LiveState::State::IncrementAt(uint64_t handle) const {
  const LiveObject* const heap = HeapAt(handle);
  return heap == nullptr ? 0 : heap->heap->increment_bytes;
}

uint64_t LiveState::State::HeapCreated(uint64_t handle) const {
  const LiveObject* const heap = HeapAt(handle);
  return heap == nullptr ? 0 : heap->created;
}

void LiveState::State::OnView(const Record& record, const Records& records) {
  auto view = std::make_shared<View>();
  uint64_t handle = 0;
  if (record.body.size() < sizeof(handle) || !reader.Read(record, records.get(), &view->values)) {
    return;
  }
  std::memcpy(&handle, record.body.data() + record.body.size() - sizeof(handle), sizeof(handle));
  if (IncrementAt(handle) == 0) return;
  view->values.cpu_descriptors.clear();  // only the handle itself
  view->call = records;
  view->call_number = record.number;
  slots.insert_or_assign(handle, Slot{std::move(view), record.number});
}

void LiveState::State::CopySlot(uint64_t from, uint64_t to, uint64_t number) {
  const auto source = slots.find(from);
  if (source == slots.end()) {
    slots.erase(to);
  } else {
    const std::shared_ptr<const View> view = source->second.view;
    slots.insert_or_assign(to, Slot{view, number});
  }
}

void LiveState::State::OnCopies(const Record& record, bool simple) {
  const DecodedCall call = reader.Arguments(record, nullptr);
  // The handles, one for each descriptor.
  const auto unroll = [this](uint32_t ranges, const uint64_t* starts, const uint32_t* sizes) {
    std::vector<uint64_t> handles;
    for (uint32_t i = 0; starts != nullptr && i < ranges; ++i) {
      const uint64_t increment = IncrementAt(starts[i]);
      const uint32_t size = sizes == nullptr ? 1 : sizes[i];
      for (uint32_t n = 0; increment != 0 && n < size; ++n) {
        if (handles.size() >= kMostDescriptors) return handles;
        handles.push_back(starts[i] + n * increment);
      }
    }
    return handles;
  };
  std::vector<uint64_t> to;
  std::vector<uint64_t> from;
  if (simple) {
    const auto* const count = Argument<uint32_t>(call, 0);
    const auto* const to_start = Argument<uint64_t>(call, 1);
    const auto* const from_start = Argument<uint64_t>(call, 2);
    if (count == nullptr || to_start == nullptr || from_start == nullptr) return;
    to = unroll(1, to_start, count);
    from = unroll(1, from_start, count);
  } else {
    const auto* const to_ranges = Argument<uint32_t>(call, 0);
    const auto* const from_ranges = Argument<uint32_t>(call, 3);
    if (to_ranges == nullptr || from_ranges == nullptr) return;
    to = unroll(*to_ranges, Array<uint64_t>(call, 1), Array<uint32_t>(call, 2));
    from = unroll(*from_ranges, Array<uint64_t>(call, 4), Array<uint32_t>(call, 5));
  }
  for (size_t i = 0; i < std::min(to.size(), from.size()); ++i) {
    CopySlot(from[i], to[i], record.number);
  }
}

// ---- The end ---------------------------------------------------------------------------------------

Status LiveState::WriteTo(uint64_t next_number, const std::function<Status(const Record&)>& write) {
  State& state = *state_;
  const Living living(state.objects);
  Restorer restorer(next_number);
  std::vector<std::unique_ptr<KeptRecords>> made;
  for (auto& [number, object] : state.objects) {
    restorer.AddIf(object.creation);
    restorer.Add(object.end);
    for (const auto& [arguments, records] : object.identifiers) restorer.Add(*records);
    restorer.AddIf(object.signal);
    for (const auto& [tiles, records] : object.tile_mappings) restorer.Add(*records);
    if (object.ended()) continue;
    for (const auto& [setting, records] : object.settings) restorer.Add(*records);
    for (const auto& [subresource, maps] : object.maps) {
      for (const Records& records : maps.first) restorer.Add(*records);
    }
    restorer.Add(object.first_close);
    AddRecording(object, living, &state.reader, &restorer, &made);
  }
  for (const auto& [number, call] : state.open_calls) restorer.Add(*call.records);
  for (const auto& [thread, blobs] : state.blobs) restorer.Add(blobs);
  restorer.Add(state.notes);

  struct Homeless {
    uint64_t floor;
    uint64_t handle;
    const View* view;
  };
  std::vector<Homeless> homeless;
  const auto call_of = [](const View& view) {
    Record call;
    view.call->ForEach([&](const Record& each) {
      if (each.kind == RecordKind::kCall) call = each;
    });
    return call;
  };
  for (const auto& [handle, slot] : state.slots) {
    if (!living.HasAll(slot.view->values, slot.view->call_number)) continue;
    if (slot.written == slot.view->call_number) {
      restorer.Add(*slot.view->call);
    } else if (!restorer.IsUsed(slot.written)) {
      restorer.AddMade(call_of(*slot.view), slot.written, handle);
    } else {
      uint64_t floor = living.Youngest(slot.view->values);
      floor = std::max(floor, state.HeapCreated(handle));
      homeless.push_back({floor, handle, slot.view.get()});
    }
  }
  // Those that need a late number get the latest.
  std::sort(homeless.begin(), homeless.end(),
            [](const Homeless& a, const Homeless& b) { return a.floor > b.floor; });
  restorer.StartTaking();
  for (const Homeless& descriptor : homeless) {
    const uint64_t number = restorer.TakeFree(descriptor.floor);
    if (number == 0) {
      ++state.left_out;
    } else {
      restorer.AddMade(call_of(*descriptor.view), number, descriptor.handle);
    }
  }
  return restorer.Write(write);
}

}  // namespace cairn
