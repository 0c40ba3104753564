// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/object_table.h"

#include <cstring>
#include <thread>

#include "base/text.h"
#include "os/clock.h"

namespace cairn {
namespace {

ObjectRecord* RecordsOf(BlockHeader* header) {
  if (header->objects_offset == 0) return nullptr;
  return reinterpret_cast<ObjectRecord*>(reinterpret_cast<std::byte*>(header) +
                                         header->objects_offset);
}

}  // namespace

ObjectTable::ObjectTable(BlockHeader* header, Destructions& destructions)
    : header_(header), destructions_(destructions), records_(RecordsOf(header)) {}

uint32_t ObjectTable::TakeEntry() {
  if (records_ == nullptr) return kNone;
  if (destroyed_.Size() > kKeptDestroyed) {
    if (const std::optional<uint32_t> index = destroyed_.Pop()) return *index;
  }
  std::atomic<uint32_t>& count = header_->object_count;
  uint32_t used = count.load(std::memory_order_relaxed);
  while (used < kMaxObjects) {
    if (count.compare_exchange_weak(used, used + 1, std::memory_order_release)) return used;
  }
  // An entry is on its way while another thread is between the two steps of Destroy.
  for (int attempt = 0; attempt < 100 && destroyed_.Size() != 0; ++attempt) {
    if (const std::optional<uint32_t> index = destroyed_.Pop()) return *index;
    std::this_thread::yield();
  }
  return kNone;
}

uint32_t ObjectTable::Add(const Object& object) {
  const uint32_t index = TakeEntry();
  if (index == kNone) {
    header_->objects_dropped.fetch_add(1, std::memory_order_relaxed);
    return kNone;
  }
  ObjectRecord& record = records_[index];
  record.state.store(static_cast<uint32_t>(ObjectState::kFree), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.kind = object.kind;
  record.context = object.context;
  record.name_length.store(0, std::memory_order_relaxed);
  record.native_handle = reinterpret_cast<uintptr_t>(object.handle);
  record.serial = header_->object_serial.fetch_add(1, std::memory_order_relaxed) + 1;
  record.created_ns = MonotonicNs();
  record.destroyed_ns.store(0, std::memory_order_relaxed);
  record.gpu_address = object.gpu_address;
  record.size_bytes = object.size_bytes;
  record.signalled.store(0, std::memory_order_relaxed);
  record.waited.store(0, std::memory_order_relaxed);
  record.completed.store(object.initial_completed, std::memory_order_relaxed);
  record.description = object.description;
  record.state.store(static_cast<uint32_t>(ObjectState::kAlive), std::memory_order_release);
  return index;
}

void ObjectTable::SetName(uint32_t index, std::string_view utf8, bool cut) {
  if (index == kNone) return;
  ObjectRecord& record = records_[index];
  const std::string_view kept = Utf8Prefix(utf8, kObjectNameBytes);
  // Applications name one object from several threads: whole words, one of the names or a mixture.
  record.name_length.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t begin = 0; begin < kept.size(); begin += sizeof(uint64_t)) {
    const std::string_view part = kept.substr(begin, sizeof(uint64_t));
    uint64_t word = 0;
    std::memcpy(&word, part.data(), part.size());
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(record.name + begin))
        .store(word, std::memory_order_relaxed);
  }
  const uint32_t mark = cut || kept.size() < utf8.size() ? kObjectNameCut : 0;
  record.name_length.store(static_cast<uint32_t>(kept.size()) | mark, std::memory_order_release);
}

void ObjectTable::Destroy(uint32_t index, const DestroyedThing& cause) {
  if (index == kNone) return;
  const ObjectRecord& record = records_[index];
  if (IsOfMemory(record.kind)) {
    destructions_.Note(record.context, {record.kind, 0, EntryOf(index)}, cause);
  }
  Retire(index);
}

void ObjectTable::Retire(uint32_t index) {
  if (index == kNone) return;
  ObjectRecord& record = records_[index];
  record.destroyed_ns.store(MonotonicNs(), std::memory_order_relaxed);
  record.state.store(static_cast<uint32_t>(ObjectState::kDestroyed), std::memory_order_release);
  destroyed_.Push(index);
}

}  // namespace cairn
