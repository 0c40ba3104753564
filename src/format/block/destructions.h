// SPDX-License-Identifier: Apache-2.0
//
// Destructions with their time and thread: a ring in the block. Unfinished GPU work may still refer
// to a destroyed object, by a descriptor or an address.
//
// Threads take entries of the ring in blocks, so that none waits for another: serial numbers rise in each thread
// only, and time_ns orders all. A descriptor needs a stricter order: the object that it means is the first with its handle that was
// destroyed after it was written. For that each handle belongs to one of the counters behind the ring, which counts the destructions of
// its handles: whoever writes a descriptor notes the count, and a destruction counts before it is recorded.
#ifndef CAIRN_FORMAT_BLOCK_DESTRUCTIONS_H_
#define CAIRN_FORMAT_BLOCK_DESTRUCTIONS_H_

#include <atomic>
#include <cstdint>

namespace cairn {

inline constexpr uint32_t kDestructionRing =
    8192;  // Power of two; the oldest entry is overwritten.
inline constexpr uint64_t kDestructionBeingWritten = ~uint64_t{0};
inline constexpr uint32_t kDestructionBlock = 64;  // entries that a thread takes at once
inline constexpr uint32_t kDestroyingThreadNameBytes = 16;

struct alignas(64) DestructionCounter {
  std::atomic<uint64_t> count;
};
inline constexpr uint32_t kDestructionCounters = 256;
// Objects of a thread lie in memory of its own, mostly: other threads' have other counters.
constexpr uint32_t DestructionCounterOf(uint64_t native_handle) {
  return static_cast<uint32_t>((native_handle >> 16) * 0x9E3779B97F4A7C15 >> 56);
}

struct DestructionRecord {
  // 1 + position in the whole run; written last. 0: never used
  std::atomic<uint64_t> serial;
  uint32_t kind;  // as ObjectRecord::kind: of what descriptors name
  uint32_t context;
  uint64_t native_handle;  // 0: no descriptor leads to it, only its entry in the table of objects
  uint64_t time_ns;        // CLOCK_MONOTONIC
  uint32_t frame;          // of the context at that time, low half
  uint32_t order;          // low half of the count of its counter, itself included
  uint64_t submission_serial;  // SubmissionRecord::serial of the last one by then; 0 for none
  uint32_t object;             // 1 + index into the table of objects, 0 for none
  uint32_t cause_object;       // the same, of the cause
  uint64_t object_serial;      // ObjectRecord::serial: the entry may be another's by now
  uint64_t cause_object_serial;
  // The object that the program destroyed or freed, if it is another one: the memory of a buffer,
  // the image of a view. 0: the object itself was destroyed.
  uint64_t cause_handle;
  uint32_t cause_kind;
  uint32_t thread_id;                            // of the operating system
  char thread_name[kDestroyingThreadNameBytes];  // zeros behind it
  // The object that this one is a view of or lies in, unless that is the cause or memory; kind 0:
  // none.
  uint64_t owner_handle;
  uint64_t owner_object_serial;
  uint32_t owner_kind;
  uint32_t owner_object;  // 1 + index into the table of objects, 0 for none
};
static_assert(sizeof(DestructionRecord) == 128);

inline constexpr uint64_t kDestructionTableBytes =
    kDestructionRing * sizeof(DestructionRecord) +
    kDestructionCounters * sizeof(DestructionCounter);
constexpr uint64_t OffsetOfDestructionCounter(uint64_t table_offset, uint32_t counter) {
  return table_offset + kDestructionRing * sizeof(DestructionRecord) +
         counter * sizeof(DestructionCounter);
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_DESTRUCTIONS_H_
