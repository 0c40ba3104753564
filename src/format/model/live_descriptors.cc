// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_descriptors.h"

#include <cstring>
#include <iterator>
#include <utility>

#include "format/model/descriptor_copies.h"

namespace cairn {
namespace {

bool IsSane(const DescriptorHeapFacts& heap) {
  return heap.cpu_start != 0 && heap.increment_bytes != 0 && heap.count <= kMostDescriptors &&
         heap.cpu_start + HeapBytes(heap) >= heap.cpu_start;
}

}  // namespace

bool LiveDescriptors::AddHeap(uint64_t heap, const DescriptorHeapFacts& facts) {
  if (!IsSane(facts)) return false;
  heap_starts_.insert_or_assign(facts.cpu_start, heap);
  return true;
}

void LiveDescriptors::RemoveHeap(const DescriptorHeapFacts& facts) {
  heap_starts_.erase(facts.cpu_start);
  const auto first = slots_.lower_bound(facts.cpu_start);
  slots_.erase(first, slots_.lower_bound(facts.cpu_start + HeapBytes(facts)));
}

const LiveObject* LiveDescriptors::HeapAt(uint64_t handle) const {
  const auto after = heap_starts_.upper_bound(handle);
  if (after == heap_starts_.begin()) return nullptr;
  const LiveObject* const heap = objects_.Find(std::prev(after)->second);
  if (heap == nullptr || !heap->heap.has_value()) return nullptr;
  return handle < heap->heap->cpu_start + HeapBytes(*heap->heap) ? heap : nullptr;
}

uint64_t LiveDescriptors::IncrementAt(uint64_t handle) const {
  const LiveObject* const heap = HeapAt(handle);
  return heap == nullptr ? 0 : heap->heap->increment_bytes;
}

uint64_t LiveDescriptors::HeapCreated(uint64_t handle) const {
  const LiveObject* const heap = HeapAt(handle);
  return heap == nullptr ? 0 : heap->created;
}

void LiveDescriptors::OnView(const Record& record, const Records& records) {
  auto view = std::make_shared<View>();
  uint64_t handle = 0;
  if (record.body.size() < sizeof(handle) || !reader_.Read(record, records.get(), &view->values)) {
    return;
  }
  std::memcpy(&handle, record.body.data() + record.body.size() - sizeof(handle), sizeof(handle));
  if (IncrementAt(handle) == 0) return;
  view->values.cpu_descriptors.clear();  // only the handle itself
  view->call = records;
  view->call_number = record.number;
  slots_.insert_or_assign(handle, Slot{std::move(view), record.number});
}

void LiveDescriptors::CopySlot(uint64_t from, uint64_t to, uint64_t number) {
  const auto source = slots_.find(from);
  if (source == slots_.end()) {
    slots_.erase(to);
  } else {
    const std::shared_ptr<const View> view = source->second.view;
    slots_.insert_or_assign(to, Slot{view, number});
  }
}

void LiveDescriptors::OnCopies(const Record& record, bool simple) {
  const DecodedCall call = reader_.Arguments(record, nullptr);
  const auto increment_at = [this](uint64_t handle) { return IncrementAt(handle); };
  for (const DescriptorCopy& copy : DescriptorCopiesOf(call, simple, increment_at)) {
    CopySlot(copy.from, copy.to, record.number);
  }
}

}  // namespace cairn
