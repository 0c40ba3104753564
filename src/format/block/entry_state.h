// SPDX-License-Identifier: Apache-2.0
//
// The `state` of an entry in memory that the application and the watcher share: of contexts, queues, pipelines,
// shaders, faults, threads, marker arenas, and of the rings of a capture.
#ifndef CAIRN_FORMAT_BLOCK_ENTRY_STATE_H_
#define CAIRN_FORMAT_BLOCK_ENTRY_STATE_H_

#include <atomic>
#include <cstdint>

namespace cairn {

// A reader may find other values: a broken program writes anything.
enum EntryState : uint32_t {
  kEntryFree = 0,       // nobody's, or being written
  kEntryPublished = 1,  // all of it may be read
  kEntryRetired = 2,    // the same, but what it is about has ended
};

// All that the caller has written to the entry is seen by whoever sees that it is published.
inline void Publish(std::atomic<uint32_t>& state) {
  state.store(kEntryPublished, std::memory_order_release);
}
inline bool IsPublished(const std::atomic<uint32_t>& state) {
  return state.load(std::memory_order_acquire) == kEntryPublished;
}
// Returns false, and changes nothing, if it is not published.
inline bool Retire(std::atomic<uint32_t>& state,
                   std::memory_order order = std::memory_order_seq_cst) {
  uint32_t published = kEntryPublished;
  return state.compare_exchange_strong(published, kEntryRetired, order);
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_ENTRY_STATE_H_
