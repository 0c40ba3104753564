// SPDX-License-Identifier: Apache-2.0
//
// The `state` of an entry in memory that the application and the watcher share: of contexts, queues, pipelines,
// shaders, faults, threads, marker arenas, and of the rings of a capture.
#ifndef CAIRN_FORMAT_BLOCK_ENTRY_STATE_H_
#define CAIRN_FORMAT_BLOCK_ENTRY_STATE_H_

#include <atomic>
#include <cstdint>

namespace cairn {

// The states of an entry. A reader may find other values, which a broken program has written.
enum EntryState : uint32_t {
  kEntryFree = 0,       // unused, or being written
  kEntryPublished = 1,  // all of it may be read
  kEntryRetired = 2,    // all of it may be read; its object has ended
};

// Publishes the entry: a reader that sees this sees everything that the caller wrote to it before.
inline void Publish(std::atomic<uint32_t>& state) {
  state.store(kEntryPublished, std::memory_order_release);
}
inline bool IsPublished(const std::atomic<uint32_t>& state) {
  return state.load(std::memory_order_acquire) == kEntryPublished;
}
// Retires a published entry. Returns false, and changes nothing, if it is not published.
inline bool Retire(std::atomic<uint32_t>& state,
                   std::memory_order order = std::memory_order_seq_cst) {
  uint32_t published = kEntryPublished;
  return state.compare_exchange_strong(published, kEntryRetired, order);
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_ENTRY_STATE_H_
