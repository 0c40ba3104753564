// SPDX-License-Identifier: Apache-2.0
//
// NumbersInBlocks: a thread's numbers out of a counter that all share. It takes kBlock of them at once, so that
// threads do not wait for each other's cache lines. Any thread; meant for one, or a few.
#ifndef CAIRN_APP_RECORDER_NUMBERS_IN_BLOCKS_H_
#define CAIRN_APP_RECORDER_NUMBERS_IN_BLOCKS_H_

#include <atomic>
#include <cstdint>

namespace cairn {

template <uint64_t kBlock>
class NumbersInBlocks {
 public:
  // Returns a number that no other call returns, for this `counter`; from 0. Each block begins at a multiple of
  // kBlock. Drops what is left of a block that began before `oldest`.
  uint64_t Next(std::atomic<uint64_t>& counter, uint64_t oldest = 0) {
    uint64_t next = next_.load(std::memory_order_relaxed);
    while (next % kBlock != 0 && next >= oldest) {
      if (next_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) return next;
    }
    const uint64_t begin = counter.fetch_add(kBlock, std::memory_order_relaxed);
    // Where another thread has begun a block meanwhile, the rest of this one stays unused.
    next_.compare_exchange_strong(next, begin + 1, std::memory_order_relaxed);
    return begin;
  }

 private:
  std::atomic<uint64_t> next_{0};  // a multiple of kBlock: there is none
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_NUMBERS_IN_BLOCKS_H_
