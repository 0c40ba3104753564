// SPDX-License-Identifier: Apache-2.0
//
// Checked access to a block that somebody else writes, perhaps at this moment and perhaps with bad
// intent. Every read copies; nothing read is used as an offset before Contains() has said yes.
#ifndef CAIRN_FORMAT_SNAPSHOT_BLOCK_READER_H_
#define CAIRN_FORMAT_SNAPSHOT_BLOCK_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/status.h"
#include "format/block/block.h"

namespace cairn {

// The validated tables of a context: aligned, inside the block, apart from all other tables.
struct ContextTables {
  bool usable = false;
  uint64_t recordings_offset = 0;
  uint64_t progress_offset = 0;
  uint64_t raw_markers_offset = 0;  // 0 if there are none
  uint32_t recording_capacity = 0;
  uint32_t raw_marker_count = 0;
};

class BlockReader {
 public:
  // Checks the header. `block` must stay mapped; its size is what is really mapped, whatever the
  // header says. kNotFound: the block has no layout yet. kUnsupported: another version. kCorrupt:
  // the header contradicts itself or the size. kInvalidArgument: not aligned to 16.
  static Result<BlockReader> Open(std::span<const std::byte> block);

  uint64_t size_bytes() const { return block_.size(); }
  // True when the writer says that the block is larger than what is mapped.
  bool is_cut() const { return is_cut_; }

  // Offsets of the fixed tables, checked for their whole capacity.
  uint64_t contexts_offset() const { return contexts_offset_; }
  uint64_t queues_offset() const { return queues_offset_; }
  uint64_t pipelines_offset() const { return pipelines_offset_; }
  uint64_t submissions_offset() const { return submissions_offset_; }
  // The same; 0 where the writer laid out no such table, and then its count is 0.
  uint64_t objects_offset() const { return objects_offset_; }
  uint64_t threads_offset() const { return threads_offset_; }
  uint64_t functions_offset() const { return functions_offset_; }
  uint64_t arenas_offset() const { return arenas_offset_; }
  uint64_t driver_reports_offset() const { return driver_reports_offset_; }
  uint64_t syncs_offset() const { return syncs_offset_; }
  uint64_t faults_offset() const { return faults_offset_; }
  uint64_t memory_offset() const { return memory_offset_; }
  uint64_t checkpoints_offset() const { return checkpoints_offset_; }
  uint64_t shaders_offset() const { return shaders_offset_; }
  uint64_t destructions_offset() const { return destructions_offset_; }
  // The byte offset of the pages for recordings, names and events.
  uint64_t pages_offset() const { return pages_offset_; }

  bool Contains(uint64_t offset, uint64_t bytes) const {
    return offset <= block_.size() && bytes <= block_.size() - offset;
  }

  // One value. `offset` must be aligned and contained.
  uint32_t Load32(uint64_t offset) const {
    return __atomic_load_n(reinterpret_cast<const uint32_t*>(block_.data() + offset),
                           __ATOMIC_ACQUIRE);
  }
  uint64_t Load64(uint64_t offset) const {
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(block_.data() + offset),
                           __ATOMIC_ACQUIRE);
  }

  // Copies bytes, eight at a time, each eight read once. Both multiples of 8, and contained.
  void Copy(uint64_t offset, void* out, uint64_t bytes) const {
    for (uint64_t i = 0; i < bytes; i += 8) {
      const uint64_t word = __atomic_load_n(
          reinterpret_cast<const uint64_t*>(block_.data() + offset + i), __ATOMIC_RELAXED);
      std::memcpy(static_cast<char*>(out) + i, &word, 8);
    }
  }
  template <typename T>
  void Copy(uint64_t offset, T* out) const {
    static_assert(sizeof(T) % 8 == 0 && std::is_standard_layout_v<T>);
    Copy(offset, static_cast<void*>(out), sizeof(T));
  }

  // Number of published entries, never more than the table holds.
  uint32_t ContextCount() const;
  uint32_t QueueCount() const;
  uint32_t PipelineCount() const;
  uint32_t ObjectCount() const;
  uint32_t ThreadCount() const;
  uint32_t FunctionCount() const;
  uint32_t ArenaCount() const;
  uint32_t ShaderCount() const;

  // The tables of a context whose record was copied to `record`. Two contexts whose tables overlap
  // are both read from the first only: pass those already accepted.
  ContextTables TablesOf(const ContextRecord& record,
                         std::span<const ContextTables> accepted) const;

 private:
  explicit BlockReader(std::span<const std::byte> block) : block_(block) {}

  std::span<const std::byte> block_;
  bool is_cut_ = false;
  uint64_t contexts_offset_ = 0;
  uint64_t queues_offset_ = 0;
  uint64_t pipelines_offset_ = 0;
  uint64_t submissions_offset_ = 0;
  uint64_t objects_offset_ = 0;
  uint64_t threads_offset_ = 0;
  uint64_t functions_offset_ = 0;
  uint64_t arenas_offset_ = 0;
  uint64_t driver_reports_offset_ = 0;
  uint64_t syncs_offset_ = 0;
  uint64_t faults_offset_ = 0;
  uint64_t memory_offset_ = 0;
  uint64_t checkpoints_offset_ = 0;
  uint64_t shaders_offset_ = 0;
  uint64_t destructions_offset_ = 0;
  uint64_t pages_offset_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_BLOCK_READER_H_
