// SPDX-License-Identifier: Apache-2.0
//
// MemoryNotes: the memory of a device in the block: the last call that failed for want of it, and its heaps.
//
// Threads: any, and both halves of the layer, which share nothing but the block. A note that finds another one being
// written for long is dropped.
#ifndef CAIRN_APP_RECORDER_MEMORY_NOTES_H_
#define CAIRN_APP_RECORDER_MEMORY_NOTES_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "format/block/block.h"

namespace cairn {

class BlockWriter;

class MemoryNotes {
 public:
  // `context`: index of the device's context record. The block outlives the notes.
  MemoryNotes(BlockWriter& block, uint32_t context);
  MemoryNotes(const MemoryNotes&) = delete;
  MemoryNotes& operator=(const MemoryNotes&) = delete;

  // A call failed with `result` for want of memory. `wanted_bytes`: 0 if that is not known. `heaps`: as they are now,
  // at most kMaxMemoryHeaps; without any, those of before stay.
  void NoteFailure(int32_t result, std::string_view function, uint64_t wanted_bytes,
                   std::span<const MemoryHeapRecord> heaps);
  // The heaps as they are now.
  void NoteHeaps(std::span<const MemoryHeapRecord> heaps);

 private:
  // Returns true if the record is this thread's until Publish. Readers ignore it meanwhile.
  bool Open();
  void Publish();
  void KeepHeaps(std::span<const MemoryHeapRecord> heaps);

  MemoryRecord* const record_;  // null in a block without this table
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_MEMORY_NOTES_H_
