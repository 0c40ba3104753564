// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/object_names.h"

#include <algorithm>
#include <string>
#include <utility>

#include "app/recorder/block_writer.h"
#include "app/vulkan/intercept.h"

namespace cairn {

constinit HandleTree ObjectNames::places_;
static_assert(sizeof(uintptr_t) == sizeof(uint64_t));

ObjectNames::ObjectNames(BlockWriter& block, uint32_t context)
    : table_(block.objects()), context_(context) {}

ObjectNames::~ObjectNames() {
  for (const auto& [object, entry] : objects_) {
    ForgetPlace(object);
    table_.Retire(entry.own);
  }
  for (const auto& [address, range] : ranges_) table_.Retire(range.index);
}

uint32_t ObjectNames::AddRecord(const Object& object, uint64_t address, uint64_t size_bytes) {
  ObjectTable::Object record;
  record.kind = kVulkanObject | static_cast<uint32_t>(object.type);
  record.context = context_;
  record.handle = reinterpret_cast<const void*>(static_cast<uintptr_t>(object.handle));
  record.gpu_address = address;
  record.size_bytes = size_bytes;
  if (IsDescribed(object.type)) {
    descriptions_.Visit(Key(object), [&](const Description& known) {
      record.description = known.packed;
      if (size_bytes == 0) record.size_bytes = known.size_bytes;
    });
  }
  return table_.Add(record);
}

std::string_view ObjectNames::NameOf(uint32_t index) const {
  const ObjectRecord* const record = table_.Find(index);
  if (record == nullptr) return {};
  return {record->name, record->name_length.load() & ~kObjectNameCut};
}

void ObjectNames::Describe(Object object, uint64_t description, uint64_t size_bytes) {
  descriptions_.Set(Key(object), {description, size_bytes});
}

void ObjectNames::SetName(Object object, std::string_view utf8) {
  const std::lock_guard lock(mutex_);
  Entry& entry = objects_[object];
  CountEntries();
  if (entry.own == ObjectTable::kNone && entry.ranges.empty()) entry.own = AddRecord(object, 0, 0);
  table_.SetName(entry.own, utf8);
  for (const uint32_t index : entry.ranges) table_.SetName(index, utf8);
}

void ObjectNames::Bind(Object object, uint64_t address, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  Entry* const entry = object.handle == 0 ? nullptr : &objects_[object];
  CountEntries();
  if (entry != nullptr) entry->ranges.reserve(entry->ranges.size() + 1);
  const auto range = ranges_.emplace(address, Range{object, size_bytes, ObjectTable::kNone});
  const uint32_t index = AddRecord(object, address, size_bytes);
  if (index == ObjectTable::kNone) {
    ranges_.erase(range);
    return;
  }
  range->second.index = index;
  if (entry == nullptr) return;
  if (entry->ranges.empty()) ForgetPlace(object);
  const uint32_t named = entry->ranges.empty() ? entry->own : entry->ranges.front();
  if (const std::string_view name = NameOf(named); !name.empty()) table_.SetName(index, name);
  entry->ranges.push_back(index);
}

void ObjectNames::Unbind(Object object, uint64_t address, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = ranges_.equal_range(address);
  auto found = end;
  for (auto i = begin; i != end; ++i) {
    if (i->second.size_bytes != size_bytes) continue;
    found = i;
    if (i->second.object == object) break;
  }
  if (found == end) return;
  const Range range = found->second;
  ranges_.erase(found);
  const std::string name(NameOf(range.index));
  ForgetPlace(range.object);
  table_.Destroy(range.index);
  const auto entry = objects_.find(range.object);
  if (entry == objects_.end()) return;
  std::erase(entry->second.ranges, range.index);
  KeepWithoutRanges(entry, name);
}

// Keeps the object without addresses; it may get others.
void ObjectNames::KeepWithoutRanges(Entries::iterator entry, const std::string& name) {
  if (!entry->second.ranges.empty() || entry->second.own != ObjectTable::kNone) return;
  if (name.empty()) {
    objects_.erase(entry);
    CountEntries();
    return;
  }
  entry->second.own = AddRecord(entry->first, 0, 0);
  table_.SetName(entry->second.own, name);
}

void ObjectNames::EndRanges(Object object, const DestroyedThing& cause) {
  if (entries_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  const auto entry = objects_.find(object);
  if (entry == objects_.end() || entry->second.ranges.empty()) return;
  const std::string name(NameOf(entry->second.ranges.front()));
  ForgetPlace(object);
  for (const uint32_t index : std::exchange(entry->second.ranges, {})) {
    if (const ObjectRecord* const record = table_.Find(index); record != nullptr) {
      EraseRange(record->gpu_address, index);
    }
    table_.Destroy(index, cause);
  }
  KeepWithoutRanges(entry, name);
}

ObjectEntry ObjectNames::EntryOf(Object object) {
  if (entries_.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard lock(mutex_);
  const auto entry = objects_.find(object);
  if (entry == objects_.end()) return {};
  const std::vector<uint32_t>& ranges = entry->second.ranges;
  return table_.EntryOf(ranges.empty() ? entry->second.own : ranges.front());
}

ObjectEntry ObjectNames::EntryToEnd(Object object) {
  const bool described =
      IsDescribed(object.type) && descriptions_.Visit(Key(object), [](const Description&) {});
  if (!described) return EntryOf(object);
  const std::lock_guard lock(mutex_);
  Entry& entry = objects_[object];
  CountEntries();
  if (entry.ranges.empty() && entry.own == ObjectTable::kNone) {
    entry.own = AddRecord(object, 0, 0);
  }
  return table_.EntryOf(entry.ranges.empty() ? entry.own : entry.ranges.front());
}

uint32_t ObjectNames::FindPlace(VkBuffer buffer) noexcept {
  const Object object = {VK_OBJECT_TYPE_BUFFER, HandleValue(buffer)};
  const std::lock_guard lock(mutex_);
  uint32_t index = ObjectTable::kNone;
  Quietly([&] {
    Entry& entry = objects_[object];
    CountEntries();
    if (entry.own == ObjectTable::kNone && entry.ranges.empty())
      entry.own = AddRecord(object, 0, 0);
    index = entry.ranges.empty() ? entry.own : entry.ranges.front();
  });
  const uint32_t place = index + 1;  // 0 for kNone
  const uint64_t known = uint64_t{context_ + 1} << 32 | place;
  places_.Set(object.handle, reinterpret_cast<void*>(static_cast<uintptr_t>(known)));
  return place;
}

void ObjectNames::EraseRange(uint64_t address, uint32_t index) {
  const auto [begin, end] = ranges_.equal_range(address);
  const auto found =
      std::find_if(begin, end, [&](const auto& range) { return range.second.index == index; });
  if (found != end) ranges_.erase(found);
}

void ObjectNames::Forget(Object object, Ranges ranges) {
  if (IsDescribed(object.type)) descriptions_.Erase(Key(object));
  if (entries_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(object);
  if (found == objects_.end()) return;
  ForgetPlace(object);
  table_.Retire(found->second.own);
  if (ranges == Ranges::kEnd) {
    const std::vector<uint32_t>& indices = found->second.ranges;
    for (const uint32_t index : indices) {
      if (const ObjectRecord* const record = table_.Find(index); record != nullptr) {
        EraseRange(record->gpu_address, index);
      }
      // The destruction was recorded for the first entry.
      index == indices.front() ? table_.Retire(index) : table_.Destroy(index);
    }
  }
  objects_.erase(found);
  CountEntries();
}

}  // namespace cairn
