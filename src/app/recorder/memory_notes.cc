// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/memory_notes.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "app/recorder/block_writer.h"
#include "os/clock.h"

namespace cairn {

MemoryNotes::MemoryNotes(BlockWriter& block, uint32_t context)
    : record_(block.memory() == nullptr ? nullptr : &block.memory()[context]) {}

bool MemoryNotes::Open() {
  constexpr int kTries = 1000;
  if (record_ == nullptr) return false;
  uint32_t nobody = 0;
  for (int i = 0; !record_->writer.compare_exchange_weak(nobody, 1, std::memory_order_acquire);
       ++i) {
    if (i == kTries) return false;
    nobody = 0;
    std::this_thread::yield();
  }
  record_->state.store(kEntryFree, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  return true;
}

void MemoryNotes::Publish() {
  cairn::Publish(record_->state);
  record_->writer.store(0, std::memory_order_release);
}

void MemoryNotes::KeepHeaps(std::span<const MemoryHeapRecord> heaps) {
  if (heaps.empty()) return;
  record_->heap_count = static_cast<uint32_t>(std::min<size_t>(heaps.size(), kMaxMemoryHeaps));
  std::copy_n(heaps.begin(), record_->heap_count, record_->heaps);
  record_->asked_ns = MonotonicNs();
}

void MemoryNotes::NoteFailure(int32_t result, std::string_view function, uint64_t wanted_bytes,
                              std::span<const MemoryHeapRecord> heaps) {
  if (!Open()) return;
  record_->result = result;
  record_->failed_ns = MonotonicNs();
  ++record_->failed_count;
  record_->wanted_bytes = wanted_bytes;
  std::memset(record_->function, 0, sizeof(record_->function));
  function.copy(record_->function, sizeof(record_->function) - 1);
  KeepHeaps(heaps);
  Publish();
}

void MemoryNotes::NoteHeaps(std::span<const MemoryHeapRecord> heaps) {
  if (heaps.empty() || !Open()) return;
  KeepHeaps(heaps);
  Publish();
}

}  // namespace cairn
