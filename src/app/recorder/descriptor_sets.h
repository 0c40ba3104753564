// SPDX-License-Identifier: Apache-2.0
//
// DescriptorSets: memory of the block for the contents of descriptor sets
// (format/block/descriptor_sets.h). Contents are stored when the program writes them, so that they
// survive any end of the process; no reverse look-up is needed when something is destroyed.
//
// Threads: any; one lock, taken where a pool has no record of its own left.
#ifndef CAIRN_APP_RECORDER_DESCRIPTOR_SETS_H_
#define CAIRN_APP_RECORDER_DESCRIPTOR_SETS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

#include "format/block/block.h"
#include "format/block/descriptor_sets.h"

namespace cairn {

class BlockWriter;

class DescriptorSets {
 public:
  // All together take so much of the block at most.
  static constexpr uint64_t kShareOfBlock = 16;

  explicit DescriptorSets(BlockWriter& block) : block_(block) {}
  DescriptorSets(const DescriptorSets&) = delete;
  DescriptorSets& operator=(const DescriptorSets&) = delete;

  struct Slot {
    DescriptorSetRecord* record = nullptr;  // null: there is no room
    uint64_t offset = 0;                    // in the block
    uint32_t size = 0;                      // below kDescriptorSetSizes
    DescriptorRecord* descriptors() const {
      return reinterpret_cast<DescriptorRecord*>(record + 1);
    }
  };
  struct Set {
    uint32_t context = 0;
    uint64_t native_handle = 0;
    uint32_t descriptor_count = 0;  // at most kMaxSetDescriptors
    uint32_t unseen_count = 0;
  };

  // The smallest size that holds so many descriptors.
  static uint32_t SizeFor(uint32_t descriptor_count);

  // Takes an unused record of this size; failures are counted in the header.
  Slot Take(uint32_t size);
  // Ends a set: its contents stay until the record is reused, the oldest first. May throw
  // std::bad_alloc: the record is then lost.
  void Give(const Slot& slot);

  // The record is this set's from now on, and holds nothing yet.
  DescriptorSetPlace Start(const Slot& slot, const Set& set);

 private:
  Slot TakeFromPage(uint32_t size);

  BlockWriter& block_;
  std::atomic<uint32_t> generation_{0};
  std::mutex mutex_;
  uint64_t pages_ = 0;
  std::array<std::deque<Slot>, kDescriptorSetSizes> free_;
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_DESCRIPTOR_SETS_H_
