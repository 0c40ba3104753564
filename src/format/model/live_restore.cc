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

uint64_t Restorer::NextFree(uint64_t number, uint64_t step, Steps* steps) const {
  uint64_t free = number;
  while (free != 0 && free < next_number_ && IsUsed(free)) {
    const auto known = steps->find(free);
    free = known == steps->end() ? free + step : known->second;
  }
  while (number != free) {
    const auto [place, is_new] = steps->try_emplace(number, free);
    const uint64_t next = is_new ? number + step : std::exchange(place->second, free);
    number = next;
  }
  return free;
}

uint64_t Restorer::TakeFree(uint64_t floor, uint64_t wanted, uint64_t ceiling) {
  uint64_t number = NextFree(wanted, ~uint64_t{0}, &below_);
  if (number <= floor || number >= ceiling) {
    number = NextFree(std::max(wanted, floor + 1), 1, &above_);
  }
  if (number <= floor || number >= std::min(ceiling, next_number_)) return 0;
  used_.insert(number);
  return number;
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
  }
}

bool Living::Has(uint64_t number) const {
  if (number == kForeignObject) return true;
  const LiveObject* const object = objects_.Find(number);
  return object != nullptr && !object->ended();
}

bool Living::HasAll(const CallValues& values, uint64_t call) const {
  const auto had = [call](const AddressMap& ranges, uint64_t value) {
    bool found = false;
    ranges.ForEachAt(value, [&](const auto& range) { found = found || range.created < call; });
    return found;
  };
  return std::all_of(values.objects.begin(), values.objects.end(),
                     [this](uint64_t number) { return Has(number); }) &&
         std::all_of(values.gpu_addresses.begin(), values.gpu_addresses.end(),
                     [&](uint64_t address) { return had(addresses_, address); });
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

// Returns true if everything exists that the calls, and the views that they read, refer to.
bool IsUsable(const ListRecording& recording, const Living& living, CallValuesReader* reader) {
  bool usable = !recording.read_unknown;
  CallValues values;
  KeptRecords blobs;  // of the next call
  recording.records.ForEach([&](const Record& record) {
    if (record.kind == RecordKind::kBlob) {
      blobs.Add(record);
      return;
    }
    if (record.kind == RecordKind::kCall && reader->Read(record, &blobs, &values) &&
        !living.HasAll(values, record.number)) {
      usable = false;
    }
    blobs.Clear();
  });
  return usable && std::all_of(recording.read.begin(), recording.read.end(), [&](const auto& read) {
           const View& view = *read.second.slot.view;
           return living.HasAll(view.values, view.call_number);
         });
}

// A list that refers to what is gone cannot be submitted any more: it is restored empty, and open if it
// is open.
void RestoreRecording(const LiveObject& list, const Living& living, CallValuesReader* reader,
                      Restorer* restorer, std::vector<const ListRecording*>* restored) {
  if (list.recording == nullptr) return;
  const ListRecording& recording = *list.recording;
  bool usable = IsUsable(recording, living, reader);
  for (const auto& bundle : recording.bundles) usable = usable && IsUsable(*bundle, living, reader);
  if (usable) {
    for (const auto& bundle : recording.bundles) {
      restorer->Add(bundle->records);
      restored->push_back(bundle.get());
    }
    restorer->Add(recording.records);
    restored->push_back(&recording);
  } else if (!list.was_reset || !list.closed) {
    auto kept = std::make_unique<KeptRecords>();
    recording.records.ForEach([&](const Record& record) {
      const Role role = RoleOfNumber(record.method).role;
      if (role == Role::kListReset || role == Role::kListClose) kept->Add(record);
    });
    restorer->AddOwned(std::move(kept));
  }
}

}  // namespace

std::vector<const ListRecording*> RestoreObjects(LiveObjects* objects, const Living& living,
                                                 Restorer* restorer) {
  std::vector<const ListRecording*> recordings;
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
    RestoreRecording(object, living, &reader, restorer, &recordings);
  }
  return recordings;
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

// A view that has to stand in a descriptor, from the call that wrote it there until it was read last.
struct Needed {
  uint64_t handle = 0;
  uint64_t written = 0;
  const View* view = nullptr;
  uint64_t heap_created = 0;
  uint64_t first_read = 0;
  uint64_t last_read = 0;
};

// Returns the needed views by handle, in the order in which they were written.
std::vector<Needed> NeededViews(const LiveObjects& objects, const LiveDescriptors& descriptors,
                                const std::vector<const ListRecording*>& recordings,
                                uint64_t next_number) {
  std::vector<Needed> needed;
  for (const auto& [handle, slot] : descriptors.slots()) {
    needed.push_back(
        {handle, slot.written, slot.view.get(), descriptors.HeapCreated(handle), next_number, 0});
  }
  for (const ListRecording* const recording : recordings) {
    for (const auto& [place, read] : recording->read) {
      const LiveObject* const heap = objects.Find(read.heap);
      if (heap == nullptr) continue;
      needed.push_back({place.first, place.second, read.slot.view.get(), heap->created,
                        read.first_read, read.last_read});
    }
  }
  std::sort(needed.begin(), needed.end(), [](const Needed& a, const Needed& b) {
    return std::pair(a.handle, a.written) < std::pair(b.handle, b.written);
  });
  size_t kept = 0;
  for (const Needed& each : needed) {
    Needed* const before = kept == 0 ? nullptr : &needed[kept - 1];
    if (before != nullptr && before->handle == each.handle && before->written == each.written) {
      before->first_read = std::min(before->first_read, each.first_read);
      before->last_read = std::max(before->last_read, each.last_read);
    } else {
      needed[kept++] = each;
    }
  }
  needed.resize(kept);
  return needed;
}

}  // namespace

uint64_t RestoreDescriptors(const LiveObjects& objects, const LiveDescriptors& descriptors,
                            const std::vector<const ListRecording*>& recordings,
                            const Living& living, Restorer* restorer) {
  struct Homeless {
    uint64_t floor;
    const Needed* needed;
  };
  const std::vector<Needed> all =
      NeededViews(objects, descriptors, recordings, restorer->next_number());
  std::vector<Homeless> homeless;
  const Needed* before = nullptr;  // in the same descriptor
  for (const Needed& each : all) {
    const uint64_t read =
        before != nullptr && before->handle == each.handle ? before->last_read : 0;
    before = &each;
    const View& view = *each.view;
    if (!living.HasAll(view.values, view.call_number)) continue;
    if (each.written == view.call_number) {
      restorer->Add(*view.call);
    } else if (!restorer->IsUsed(each.written)) {
      restorer->AddMade(CallOf(view), each.written, each.handle);
    } else {
      homeless.push_back(
          {std::max({living.Youngest(view.values), each.heap_created, read}), &each});
    }
  }
  // Place the most constrained descriptors first.
  std::stable_sort(homeless.begin(), homeless.end(),
                   [](const Homeless& a, const Homeless& b) { return a.floor > b.floor; });
  uint64_t left_out = 0;
  for (const Homeless& descriptor : homeless) {
    const Needed& needed = *descriptor.needed;
    const uint64_t number = restorer->TakeFree(descriptor.floor, needed.written, needed.first_read);
    if (number == 0) {
      ++left_out;
    } else {
      restorer->AddMade(CallOf(*needed.view), number, needed.handle);
    }
  }
  return left_out;
}

}  // namespace cairn
