// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/bindings.h"

#include <new>
#include <utility>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr size_t kFirstTableSize = 256;

// Walks the descriptors of CopyDescriptors' ranges, one after the other.
class RangeWalk {
 public:
  RangeWalk(uint32_t count, const D3D12_CPU_DESCRIPTOR_HANDLE* starts, const UINT* sizes,
            uint32_t increment)
      : count_(starts == nullptr ? 0 : count),
        starts_(starts),
        sizes_(sizes),
        increment_(increment) {
    SkipEmpty();
  }
  bool AtEnd() const { return range_ == count_; }
  uint64_t handle() const { return starts_[range_].ptr + uint64_t{position_} * increment_; }
  void Next() {
    if (++position_ < Size()) return;
    ++range_;
    position_ = 0;
    SkipEmpty();
  }

 private:
  uint32_t Size() const { return sizes_ == nullptr ? 1 : sizes_[range_]; }
  void SkipEmpty() {
    while (range_ < count_ && Size() == 0) ++range_;
  }

  uint32_t count_;
  const D3D12_CPU_DESCRIPTOR_HANDLE* starts_;
  const UINT* sizes_;
  uint32_t increment_;
  uint32_t range_ = 0;
  uint32_t position_ = 0;
};

}  // namespace

DescriptorShadow::Entry* DescriptorShadow::Find(Table& table, uint64_t handle) {
  Entry* of_forgotten = nullptr;
  for (size_t i = Hash(handle);; ++i) {
    Entry& entry = table.entries[i & table.mask];
    const uint64_t key = entry.handle.load(std::memory_order_relaxed);
    if (key == handle) return &entry;
    if (key == 0) return of_forgotten != nullptr ? of_forgotten : &entry;
    if (of_forgotten == nullptr && entry.object.load(std::memory_order_relaxed) == 0) {
      of_forgotten = &entry;
    }
  }
}

bool DescriptorShadow::Grow() {
  const Table* old = tables_.empty() ? nullptr : tables_.back().get();
  const size_t size = old == nullptr ? kFirstTableSize : 2 * (old->mask + 1);
  if (size > 2 * kMaxDescriptors) return false;
  auto table = std::make_unique<Table>(size);
  for (size_t i = 0; old != nullptr && i <= old->mask; ++i) {
    const Entry& entry = old->entries[i];
    const uint32_t object = entry.object.load(std::memory_order_relaxed);
    if (object == 0) continue;
    const uint64_t handle = entry.handle.load(std::memory_order_relaxed);
    Entry* const copy = Find(*table, handle);
    copy->handle.store(handle, std::memory_order_relaxed);
    copy->object.store(object, std::memory_order_relaxed);
    ++table->used;
  }
  tables_.push_back(std::move(table));
  table_.store(tables_.back().get(), std::memory_order_release);
  return true;
}

void DescriptorShadow::SetLocked(uint64_t handle, uint32_t object) {
  if (handle == 0) return;
  Table* table = table_.load(std::memory_order_relaxed);
  if (table == nullptr) {
    if (object == 0 || !Grow()) return;
    table = table_.load(std::memory_order_relaxed);
  }
  Entry* entry = Find(*table, handle);
  uint64_t key = entry->handle.load(std::memory_order_relaxed);
  if (key != handle && object == 0) return;
  if (key == 0 && 2 * (table->used + 1) > table->mask) {
    if (!Grow()) return;
    table = table_.load(std::memory_order_relaxed);
    entry = Find(*table, handle);
    key = 0;  // A table that has just grown holds nothing of forgotten heaps.
  }
  if (key == 0) ++table->used;
  entry->handle.store(handle, std::memory_order_release);
  entry->object.store(object, std::memory_order_relaxed);
}

void DescriptorShadow::Set(uint64_t handle, uint32_t object) {
  const std::lock_guard lock(mutex_);
  try {
    SetLocked(handle, object);
  } catch (const std::bad_alloc&) {
    // A name is missing in the report.
  }
}

void DescriptorShadow::Copy(uint32_t destination_count,
                            const D3D12_CPU_DESCRIPTOR_HANDLE* destinations,
                            const UINT* destination_sizes, uint32_t source_count,
                            const D3D12_CPU_DESCRIPTOR_HANDLE* sources, const UINT* source_sizes,
                            uint32_t increment) {
  RangeWalk to(destination_count, destinations, destination_sizes, increment);
  RangeWalk from(source_count, sources, source_sizes, increment);
  const std::lock_guard lock(mutex_);
  try {
    for (; !to.AtEnd() && !from.AtEnd(); to.Next(), from.Next()) {
      SetLocked(to.handle(), Get(from.handle()));
    }
  } catch (const std::bad_alloc&) {
  }
}

void DescriptorShadow::Forget(uint64_t start, uint32_t increment, uint32_t count) {
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < count; ++i) SetLocked(start + uint64_t{i} * increment, 0);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
