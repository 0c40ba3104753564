// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_restore.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

namespace cairn {

// ---- Records ---------------------------------------------------------------------------------------

void Restorer::Add(const KeptRecords& records) {
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

uint64_t Restorer::TakeFree(uint64_t floor) {
  while (free_ > floor && free_ > 1) {
    --free_;
    if (free_ > floor && used_.insert(free_).second) return free_;
  }
  return 0;
}

void Restorer::AddMade(Record record, uint64_t number, uint64_t handle) {
  std::vector<std::byte> body(record.body.begin(), record.body.end());
  if (body.size() < sizeof(handle)) return;
  std::memcpy(body.data() + body.size() - sizeof(handle), &handle, sizeof(handle));
  record.number = number;
  record.body = body;
  auto made = std::make_unique<KeptRecords>();
  made->Add(record);
  AddOwned(std::move(made));
}

Status Restorer::Write(const std::function<Status(const Record&)>& write) {
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

// ---- What is alive ---------------------------------------------------------------------------------

Living::Living(const LiveObjects& objects) : objects_(objects) {
  for (const auto& [number, object] : objects.all()) {
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

bool Living::Has(uint64_t number) const {
  if (number == kForeignObject) return true;
  const LiveObject* const object = objects_.Find(number);
  return object != nullptr && !object->ended();
}

bool Living::HasAll(const CallValues& values, uint64_t call) const {
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

uint64_t Living::Youngest(const CallValues& values) const {
  uint64_t youngest = 0;
  for (const uint64_t number : values.objects) {
    const LiveObject* const object = objects_.Find(number);
    if (object != nullptr) youngest = std::max(youngest, object->created);
  }
  for (const uint64_t address : values.gpu_addresses) {
    addresses_.ForEachAt(address,
                         [&](const auto& range) { youngest = std::max(youngest, range.created); });
  }
  return youngest;
}

// ---- Objects ---------------------------------------------------------------------------------------

namespace {

// A list that refers to what is gone cannot be submitted any more: it is restored empty, and open if it
// is open.
void RestoreRecording(LiveObject& list, const Living& living, CallValuesReader* reader,
                      Restorer* restorer) {
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
    restorer->AddOwned(std::move(kept));
  }
}

}  // namespace

void RestoreObjects(LiveObjects* objects, const Living& living, Restorer* restorer) {
  CallValuesReader reader;
  for (auto& [number, object] : objects->all()) {
    restorer->AddIf(object.creation);
    restorer->Add(object.end);
    for (const auto& [arguments, records] : object.identifiers) restorer->Add(*records);
    restorer->AddIf(object.signal);
    for (const auto& [tiles, records] : object.tile_mappings) restorer->Add(*records);
    if (object.ended()) continue;
    for (const auto& [setting, records] : object.settings) restorer->Add(*records);
    for (const auto& [subresource, maps] : object.maps) {
      for (const Records& records : maps.first) restorer->Add(*records);
    }
    restorer->Add(object.first_close);
    RestoreRecording(object, living, &reader, restorer);
  }
}

// ---- Descriptors -----------------------------------------------------------------------------------

namespace {

Record CallOf(const View& view) {
  Record call;
  view.call->ForEach([&](const Record& each) {
    if (each.kind == RecordKind::kCall) call = each;
  });
  return call;
}

}  // namespace

uint64_t RestoreDescriptors(const LiveDescriptors& descriptors, const Living& living,
                            Restorer* restorer) {
  struct Homeless {
    uint64_t floor;
    uint64_t handle;
    const View* view;
  };
  std::vector<Homeless> homeless;
  for (const auto& [handle, slot] : descriptors.slots()) {
    const View& view = *slot.view;
    if (!living.HasAll(view.values, view.call_number)) continue;
    if (slot.written == view.call_number) {
      restorer->Add(*view.call);
    } else if (!restorer->IsUsed(slot.written)) {
      restorer->AddMade(CallOf(view), slot.written, handle);
    } else {
      const uint64_t heap = descriptors.HeapCreated(handle);
      homeless.push_back({std::max(living.Youngest(view.values), heap), handle, &view});
    }
  }
  // Those that need a late number get the latest.
  std::sort(homeless.begin(), homeless.end(),
            [](const Homeless& a, const Homeless& b) { return a.floor > b.floor; });
  uint64_t left_out = 0;
  restorer->StartTaking();
  for (const Homeless& descriptor : homeless) {
    const uint64_t number = restorer->TakeFree(descriptor.floor);
    if (number == 0) {
      ++left_out;
    } else {
      restorer->AddMade(CallOf(*descriptor.view), number, descriptor.handle);
    }
  }
  return left_out;
}

}  // namespace cairn
