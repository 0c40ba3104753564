// SPDX-License-Identifier: Apache-2.0
//
// ObjectTable: the API's objects in the block, by an index that their wrappers keep. Entries of
// destroyed objects stay for a report and are used again, the oldest first. Any thread; no lock, no
// allocation. Each thread takes entries out of those that it destroyed itself, so that threads that make and
// destroy objects write no common cache line but once in 64 times, until one holds far fewer than another. Cost: benchmark recorder_bench.
#ifndef CAIRN_APP_RECORDER_OBJECT_TABLE_H_
#define CAIRN_APP_RECORDER_OBJECT_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "app/recorder/destructions.h"
#include "app/recorder/index_queue.h"
#include "app/recorder/numbers_in_blocks.h"
#include "format/block/block.h"

namespace cairn {

class ObjectTable {
 public:
  // The object found no entry (counted in the header), or the block has no table; every function takes
  // it and does nothing.
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // The destroyed objects that are kept before entries are reused: with one thread. With several it may be
  // kTakesBetweenLooks fewer for each other thread.
  static constexpr uint32_t kKeptDestroyed = 8192;
  static constexpr uint32_t kTakesBetweenLooks = 128;

  // The facts of an object when it is made.
  struct Object {
    uint32_t kind = 0;               // D3D12_DRED_ALLOCATION_TYPE
    uint32_t context = 0;            // index of the context record of its device
    const void* handle = nullptr;    // the pointer that the application holds
    uint64_t gpu_address = 0;        // buffers
    uint64_t size_bytes = 0;         // buffers and heaps
    uint64_t initial_completed = 0;  // fences: the value that they start with
    uint64_t description = 0;        // format/block/object_description.h
  };

  // `header` starts a block that has been laid out and outlives the table. Reports ends of memory
  // objects to `destructions`.
  ObjectTable(BlockHeader* header, Destructions& destructions);
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  uint32_t Add(const Object& object);

  // Copies the name, "" for none. Cuts text beyond kObjectNameBytes at a code point, and marks it;
  // `cut`: it was cut already.
  void SetName(uint32_t index, std::string_view utf8, bool cut = false);

  // The calling thread ends the object, by destroying it or `cause` (kind 0: itself). The entry may be used
  // again: the index means nothing any more.
  void Destroy(uint32_t index, const DestroyedThing& cause = {});
  // The same of an entry whose object lives on, or ends with its device.
  void Retire(uint32_t index);

  // For destructions.
  ObjectEntry EntryOf(uint32_t index) const {
    return index == kNone ? ObjectEntry{} : ObjectEntry{index + 1, records_[index].serial};
  }

  // The largest values win.
  void NoteSignalled(uint32_t index, uint64_t value) {
    if (index != kNone) Raise(records_[index].signalled, value);
  }
  void NoteWaited(uint32_t index, uint64_t value) {
    if (index != kNone) Raise(records_[index].waited, value);
  }
  void NoteCompleted(uint32_t index, uint64_t value) {
    if (index != kNone) Raise(records_[index].completed, value);
  }

  // For tests and self-checks; null for kNone.
  const ObjectRecord* Find(uint32_t index) const {
    return index == kNone ? nullptr : &records_[index];
  }

 private:
  static void Raise(std::atomic<uint64_t>& target, uint64_t value) {
    uint64_t known = target.load(std::memory_order_relaxed);
    while (known < value &&
           !target.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
  }
  // A thread's part of what changes hands. Threads beyond kShards share them.
  static constexpr uint32_t kShards = 16;
  struct alignas(128) Shard {
    IndexQueue destroyed{kMaxObjects};
    NumbersInBlocks<64> serials;
    std::atomic<uint32_t> takes{0};
    // The others as seen last: entries in all, and the one that had most.
    std::atomic<uint32_t> others{0};
    std::atomic<uint32_t> fullest{0};
    std::atomic<uint32_t> in_fullest{0};
  };
  Shard& OwnShard();
  uint32_t TakeEntry(Shard& own);
  std::optional<uint32_t> TakeOld(Shard& own);
  void LookAtOthers(Shard& own) const;
  Shard& Fullest();

  BlockHeader* const header_;
  Destructions& destructions_;
  ObjectRecord* const records_;  // null if the block has no table
  std::array<Shard, kShards> shards_;
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_OBJECT_TABLE_H_
