// SPDX-License-Identifier: Apache-2.0
//
// Destructions with their time and thread: a ring in the block. Unfinished GPU work may still refer
// to a destroyed object, by a descriptor or an address.
#ifndef CAIRN_FORMAT_BLOCK_DESTRUCTIONS_H_
#define CAIRN_FORMAT_BLOCK_DESTRUCTIONS_H_

#include <atomic>
#include <cstdint>

namespace cairn {

inline constexpr uint32_t kDestructionRing =
    8192;  // Power of two; the oldest entry is overwritten.
inline constexpr uint32_t kDestroyingThreadNameBytes = 16;

struct DestructionRecord {
  std::atomic<uint64_t> serial;  // 1 + position in the whole run; written last
  uint32_t kind;                 // as ObjectRecord::kind: of what descriptors name
  uint32_t context;
  uint64_t native_handle;  // 0: no descriptor leads to it, only its entry in the table of objects
  uint64_t time_ns;        // CLOCK_MONOTONIC
  uint64_t frame;          // of the context at that time
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

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_DESTRUCTIONS_H_
