// SPDX-License-Identifier: Apache-2.0
//
// Destructions: who destroyed what and when, in the block (format/block/destructions.h). Any thread; no lock,
// no allocation, and a system call only now and then, for the thread's name. Threads that destroy objects of their own
// write no common cache line but once in 64 times. Cost: benchmark recorder_bench.
#ifndef CAIRN_APP_RECORDER_DESTRUCTIONS_H_
#define CAIRN_APP_RECORDER_DESTRUCTIONS_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "app/recorder/numbers_in_blocks.h"
#include "format/block/block.h"
#include "format/block/destructions.h"

namespace cairn {

// Returns true for objects that the GPU reads and writes, or that lead to them: heaps, resources,
// memory, buffers, images, their views. `kind` is that of an ObjectRecord.
bool IsOfMemory(uint32_t kind);

// An entry of the table of objects, which may serve another object by the time of a report.
struct ObjectEntry {
  uint32_t place = 0;   // 1 + its index; 0 for none
  uint64_t serial = 0;  // ObjectRecord::serial
};

struct DestroyedThing {
  uint32_t kind = 0;
  uint64_t handle = 0;  // what a descriptor holds; 0: none leads to it
  ObjectEntry entry;
};

class Destructions {
 public:
  // `header` starts a block that has been laid out and outlives this.
  explicit Destructions(BlockHeader* header);
  Destructions(const Destructions&) = delete;
  Destructions& operator=(const Destructions&) = delete;

  // `what` ends now, because the calling thread destroys it or `cause` (kind 0: itself). `owner` is what it is a
  // view of (kind 0: nothing). Nothing in a block without this table, and nothing once the device of
  // `context` is lost: that ends everything.
  void Note(uint32_t context, const DestroyedThing& what, const DestroyedThing& cause = {},
            const DestroyedThing& owner = {});

  // Returns DescriptorRecord::stamp of a descriptor that is written now: destructions of the handle from now on
  // count beyond it.
  uint32_t StampOf(uint64_t native_handle) const {
    if (records_ == nullptr) return 0;
    return static_cast<uint32_t>(
        counters_[DestructionCounterOf(native_handle)].count.load(std::memory_order_relaxed));
  }

 private:
  static constexpr uint32_t kShards = 16;
  // Places in the ring, for one thread; those beyond kShards share them.
  struct alignas(128) Shard {
    NumbersInBlocks<kDestructionBlock> places;
  };
  uint64_t TakePlace();

  BlockHeader* const header_;
  DestructionRecord* const records_;  // null if the block has no table
  DestructionCounter* const counters_;
  std::array<Shard, kShards> shards_;
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_DESTRUCTIONS_H_
