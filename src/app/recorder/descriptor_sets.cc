// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/descriptor_sets.h"

#include "app/recorder/block_writer.h"

namespace cairn {

uint32_t DescriptorSets::SizeFor(uint32_t descriptor_count) {
  uint32_t size = 0;
  while (size + 1 < kDescriptorSetSizes && DescriptorsThatFit(size) < descriptor_count) ++size;
  return size;
}

DescriptorSets::Slot DescriptorSets::Take(uint32_t size) {
  const std::lock_guard lock(mutex_);
  std::deque<Slot>& free = free_[size];
  if (free.empty()) return TakeFromPage(size);
  const Slot slot = free.front();
  free.pop_front();
  return slot;
}

DescriptorSets::Slot DescriptorSets::TakeFromPage(uint32_t size) {
  const bool may_grow = (pages_ + 1) * kPageBytes <= block_.size_bytes() / kShareOfBlock;
  const uint32_t page = may_grow ? block_.AllocatePage() : 0;
  if (page == 0) {
    block_.header()->descriptor_sets_left_out.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  ++pages_;
  const uint64_t step = uint64_t{kDescriptorSetUnitBytes} << size;
  for (uint64_t at = 0; at < kPageBytes; at += step) {
    auto* const record = reinterpret_cast<DescriptorSetRecord*>(block_.Page(page) + at);
    // The page held something else.
    record->generation.store(0, std::memory_order_relaxed);
    free_[size].push_back({record, uint64_t{page} * kPageBytes + at, size});
  }
  const Slot slot = free_[size].front();
  free_[size].pop_front();
  return slot;
}

void DescriptorSets::Give(const Slot& slot) {
  const std::lock_guard lock(mutex_);
  free_[slot.size].push_back(slot);
}

DescriptorSetPlace DescriptorSets::Start(const Slot& slot, const Set& set) {
  uint32_t generation = generation_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (generation == 0) generation = generation_.fetch_add(1, std::memory_order_relaxed) + 1;
  DescriptorSetRecord& record = *slot.record;
  record.generation.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.descriptor_count = set.descriptor_count;
  record.native_handle = set.native_handle;
  record.context = set.context;
  record.unseen_count = set.unseen_count;
  for (uint32_t i = 0; i < set.descriptor_count; ++i) {
    slot.descriptors()[i].handle.store(0, std::memory_order_relaxed);
  }
  record.generation.store(generation, std::memory_order_release);
  return MakeDescriptorSetPlace(slot.offset, generation);
}

}  // namespace cairn
