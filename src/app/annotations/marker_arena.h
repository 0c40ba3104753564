// SPDX-License-Identifier: Apache-2.0
//
// MarkerArena: what the runtime keeps of markers, in pages of the block, so that EventIDs in a dump
// resolve. The arena of a command allocator dies when the allocator is reset; that of a command queue
// lives until the queue is destroyed, and keeps its newest kQueueDataPages pages of data: older
// markers are dropped, and counted in the dump.
//
// A marker that finds no room is counted as dropped; its EventID is unique all the same.
#ifndef CAIRN_APP_ANNOTATIONS_MARKER_ARENA_H_
#define CAIRN_APP_ANNOTATIONS_MARKER_ARENA_H_

#include <cstdint>

#include "app/recorder/block_writer.h"
#include "format/block/marker_pages.h"

namespace cairn {

// For a marker that no arena keeps: unique in the process, of generation 0.
uint64_t NextUnkeptEventId();

class MarkerArena {
 public:
  // kQueueWithoutEventIds: a queue's, and the dump has no EventIDs: who appends gives none out.
  using Lifetime = ArenaOwner;

  // 2 MiB: more than the largest marker that is likely, little enough for many queues.
  static constexpr uint32_t kQueueDataPages = 512;
  // Larger payloads are not kept.
  static constexpr uint32_t kMaxKeptBytes = 16u << 20;

  // Takes nothing from the block before the first marker. `block` may be null: nothing is kept then.
  // `native` is the allocator or queue, for the dump.
  MarkerArena(BlockWriter* block, Lifetime lifetime, const void* native);
  ~MarkerArena();

  MarkerArena(const MarkerArena&) = delete;
  MarkerArena& operator=(const MarkerArena&) = delete;

  // Copies the marker and returns its EventID, never 0 and never given out before. `data` may be null.
  // One thread at a time, as Direct3D 12 asks for recording with one allocator; queues hold a lock.
  // No lock, and no allocation once warm. Cost: bench Annotations/DriverRetail.
  uint64_t Append(MarkerKind kind, uint32_t metadata, const void* data, uint32_t size,
                  uint32_t submission = 0);

  // Forgets all markers: their EventIDs are expired from now on. Threads as above.
  void Reset();

  uint64_t live_bytes() const { return live_bytes_; }

  // Return, for all arenas of a block, the number of bytes that the runtime keeps so that EventIDs
  // resolve, and the number of entries of the arena table in use. Arenas without EventIDs do not
  // count: the recorder uses them, for names of scopes.
  static uint64_t LiveBytes(const BlockWriter& block);
  static uint32_t EntriesInUse(const BlockWriter& block);

 private:
  bool TakeEntry();
  void GiveBackEntry(bool used_up);
  bool AddDirectoryPage();
  // Stores a marker and returns its place for the directory; page 0 if it was not kept.
  uint32_t Store(MarkerKind kind, const MarkerRecord& marker, const void* data);
  uint32_t StoreOverPages(MarkerKind kind, const MarkerRecord& marker, const void* data);
  bool AddDataPage();
  void MakeRoom(uint32_t bytes);  // queues: drops the oldest until `bytes` fit
  void DropOldest();
  void SkipPassedDirectoryPages();
  uint32_t FirstNeededDataPage() const;
  void FreePagesBefore(uint32_t page);
  void FreeChain(uint32_t first_page);
  uint64_t Drop();
  void SetLiveBytes(uint64_t bytes) {
    live_bytes_ = bytes;
    record_->live_bytes.store(bytes, std::memory_order_relaxed);
  }

  MarkerDataPage* DataPage(uint32_t page) const {
    return reinterpret_cast<MarkerDataPage*>(block_->Page(page));
  }
  MarkerDirectoryPage* DirectoryPage(uint32_t page) const {
    return reinterpret_cast<MarkerDirectoryPage*>(block_->Page(page));
  }

  BlockWriter* block_;
  ArenaRecord* record_ = nullptr;  // null until the first marker
  uint32_t entry_ = 0;
  uint32_t generation_ = 0;
  uint32_t first_index_ = 0;
  uint32_t end_index_ = 0;

  MarkerDataPage* data_ = nullptr;  // the last of the chain, being filled
  uint32_t data_page_ = 0;
  uint32_t data_used_ = 0;
  MarkerDirectoryPage* directory_ = nullptr;  // the last of the chain
  uint32_t directory_used_ = 0;

  uint64_t live_bytes_ = 0;
  uint32_t first_data_page_ = 0;
  uint32_t data_page_count_ = 0;
  uint32_t first_directory_page_ = 0;
  Lifetime lifetime_;
  const void* native_;
};

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_MARKER_ARENA_H_
