// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/object_table.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "app/recorder/thread_number.h"
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

ObjectTable::Shard& ObjectTable::OwnShard() {
  return shards_[ThreadNumber() % kShards];
}

void ObjectTable::LookAtOthers(Shard& own) const {
  uint32_t others = 0;
  uint32_t fullest = 0;
  uint32_t in_fullest = 0;
  for (uint32_t i = 0; i < kShards; ++i) {
    if (&shards_[i] == &own) continue;
    const uint32_t size = shards_[i].destroyed.Size();
    others += size;
    if (size <= in_fullest) continue;
    fullest = i;
    in_fullest = size;
  }
  own.others.store(others, std::memory_order_relaxed);
  own.fullest.store(fullest, std::memory_order_relaxed);
  own.in_fullest.store(in_fullest, std::memory_order_relaxed);
}

ObjectTable::Shard& ObjectTable::Fullest() {
  return *std::max_element(shards_.begin(), shards_.end(), [](const Shard& a, const Shard& b) {
    return a.destroyed.Size() < b.destroyed.Size();
  });
}

// An entry of a destroyed object, if enough of them are kept without it.
std::optional<uint32_t> ObjectTable::TakeOld(Shard& own) {
  const uint32_t takes = own.takes.load(std::memory_order_relaxed);
  own.takes.store(takes + 1, std::memory_order_relaxed);
  if (takes % kTakesBetweenLooks == 0) LookAtOthers(own);
  const uint32_t size = own.destroyed.Size();
  if (size + own.others.load(std::memory_order_relaxed) <= kKeptDestroyed) return std::nullopt;
  // A thread that destroys little would find its last ones there, while another's are older.
  const bool is_poor = size < own.in_fullest.load(std::memory_order_relaxed) / 2;
  Shard& from = is_poor ? shards_[own.fullest.load(std::memory_order_relaxed)] : own;
  return from.destroyed.Pop();
}

uint32_t ObjectTable::TakeEntry(Shard& own) {
  if (records_ == nullptr) return kNone;
  if (const std::optional<uint32_t> index = TakeOld(own)) return *index;
  std::atomic<uint32_t>& count = header_->object_count;
  uint32_t used = count.load(std::memory_order_relaxed);
  while (used < kMaxObjects) {
    if (count.compare_exchange_weak(used, used + 1, std::memory_order_release)) return used;
  }
  // An entry is on its way while another thread is between the two steps of Destroy.
  for (int attempt = 0; attempt < 100; ++attempt) {
    Shard& from = Fullest();
    if (from.destroyed.Size() == 0) break;
    if (const std::optional<uint32_t> index = from.destroyed.Pop()) return *index;
    std::this_thread::yield();
  }
  return kNone;
}

uint32_t ObjectTable::Add(const Object& object) {
  Shard& own = OwnShard();
  const uint32_t index = TakeEntry(own);
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
  record.serial = own.serials.Next(header_->object_serial) + 1;
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
  OwnShard().destroyed.Push(index);
}

}  // namespace cairn
