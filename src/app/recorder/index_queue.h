// SPDX-License-Identifier: Apache-2.0
//
// IndexQueue: indices of table entries that may be used again, the oldest first. Lock-free, any number
// of threads, no allocation after the first.
#ifndef CAIRN_APP_RECORDER_INDEX_QUEUE_H_
#define CAIRN_APP_RECORDER_INDEX_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>

#include "os/memory.h"

namespace cairn {

class IndexQueue {
 public:
  // `capacity` is a power of two and at least the number of different indices: each is in the queue at
  // most once, so that a push always finds room.
  explicit IndexQueue(uint32_t capacity)
      : mask_(capacity - 1), cells_(SparseMemory::Reserve(capacity * sizeof(uint64_t))) {
    if (cells_.data() == nullptr) throw std::bad_alloc();
  }

  void Push(uint32_t index) {
    const uint64_t position = tail_.fetch_add(1, std::memory_order_relaxed);
    Cell(position).store(Lap(position) | index, std::memory_order_release);
  }

  // Returns nullopt if the queue is empty, or if the thread that pushes the oldest entry has not
  // finished.
  std::optional<uint32_t> Pop() {
    uint64_t position = head_.load(std::memory_order_relaxed);
    for (;;) {
      // Read before the position is claimed: afterwards the cell may be filled again.
      const uint64_t cell = Cell(position).load(std::memory_order_acquire);
      if (cell >> 32 != Lap(position) >> 32) {
        // Distinguish an entry that other pops took from the end.
        const uint64_t now = head_.load(std::memory_order_relaxed);
        if (now == position) return std::nullopt;
        position = now;
        continue;
      }
      if (head_.compare_exchange_weak(position, position + 1, std::memory_order_acq_rel)) {
        return static_cast<uint32_t>(cell);
      }
    }
  }

  // Returns the number of entries at this moment.
  uint32_t Size() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail > head ? static_cast<uint32_t>(tail - head) : 0;
  }

 private:
  std::atomic_ref<uint64_t> Cell(uint64_t position) const {
    return std::atomic_ref<uint64_t>(reinterpret_cast<uint64_t*>(cells_.data())[position & mask_]);
  }
  // Returns the number in a cell's upper half: 1 + the rounds of the ring. It distinguishes a
  // filled cell from an old one.
  uint64_t Lap(uint64_t position) const { return (position / (uint64_t{mask_} + 1) + 1) << 32; }

  const uint32_t mask_;
  const SparseMemory cells_;
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_INDEX_QUEUE_H_
