// SPDX-License-Identifier: Apache-2.0
//
// The application's side of the block: lays it out, hands out its pages and appends to its tables.
// One block a process, shared by all contexts. Layout and publication rules: block.h.
#ifndef CAIRN_RECORDER_BLOCK_WRITER_H_
#define CAIRN_RECORDER_BLOCK_WRITER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/shared_memory.h"
#include "base/status.h"
#include "recorder/block.h"
#include "recorder/static_names.h"

namespace cairn {

class BlockWriter {
 public:
  // The block of this process, made and handed to the watcher at the first call; later calls ignore
  // `size_bytes`. Never null when Ok; lives until the process ends, so that a report can be written
  // at any moment of its life.
  static Result<BlockWriter*> OfThisProcess(uint64_t size_bytes);

  // Gives the block of this process, if it has been made, to a watcher that was started after it.
  static Status HandOverToNewWatcher();

  // A block of its own, known to nobody: for tests and benchmarks.
  static Result<std::unique_ptr<BlockWriter>> Create(uint64_t size_bytes);

  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  BlockHeader* header() const { return header_; }
  std::byte* data() const { return memory_.data(); }
  uint64_t size_bytes() const { return memory_.size_bytes(); }
  bool has_watcher() const { return has_watcher_; }
  // False in a forked child of its owner.
  bool BelongsToThisProcess() const;

  // One page for events or names; 0 when the block is full (counted). Lock-free. The contents are
  // those of its last use.
  uint32_t AllocatePage();
  void FreePage(uint32_t page);
  std::byte* Page(uint32_t page) const { return data() + uint64_t{page} * kPageBytes; }

  // Zeroed contiguous pages that are never given back: tables and GPU-written words. Returns the
  // offset, 0 when the block is full.
  uint64_t AllocateRange(uint64_t size_bytes);

  // Copies a name for the life of the block; 0 for an empty name or when the block is full. Cut at
  // kMaxNameBytes. Takes a lock.
  NameRef AddName(std::string_view name);

  // The name of a static string: copied once for each address, then found again. No lock once known.
  // 0 for an empty name, when there is no more room, and for an address that held another text
  // before: the caller copies such a name like any other.
  NameRef StaticName(const char* name);

  NameRecord* Name(NameRef ref) const {
    return reinterpret_cast<NameRecord*>(data() + uint64_t{ref} * 8);
  }

  // Append-only tables. Each returns the new index, or kTableFull.
  static constexpr uint32_t kTableFull = 0xFFFFFFFF;
  uint32_t AddContext();   // unpublished: fill, then store state = 1
  uint32_t AddQueue();     // unpublished
  uint32_t AddPipeline();  // unpublished

  ContextRecord* contexts() const { return At<ContextRecord>(header_->contexts_offset); }
  QueueRecord* queues() const { return At<QueueRecord>(header_->queues_offset); }
  PipelineRecord* pipelines() const { return At<PipelineRecord>(header_->pipelines_offset); }

  // Appends to the ring; every field but `serial` is taken from the arguments.
  void AddSubmission(uint32_t queue, uint32_t run, uint32_t context, uint32_t slot,
                     uint64_t recording_id, uint64_t submission_number, uint64_t time_ns);

 private:
  BlockWriter(SharedMemory memory);

  template <typename T>
  T* At(uint64_t offset) const {
    return reinterpret_cast<T*>(data() + offset);
  }
  void LayOut();
  bool IsName(NameRef ref, const char* name) const;
  NameRef AddNameLocked(std::string_view name);  // names_mutex_ is held

  SharedMemory memory_;
  BlockHeader* header_;
  std::atomic<bool> has_watcher_ = false;

  // Free pages: stacks of page indices; the upper half of a head counts changes (ABA). A thread gives
  // pages to the stack of its number and looks there first: what it wrote to last is in its cache.
  static constexpr uint32_t kFreeStacks = 8;
  struct alignas(64) FreeStack {
    std::atomic<uint64_t> head{0};
  };
  uint32_t PopPage(FreeStack& stack);

  std::unique_ptr<std::atomic<uint32_t>[]> next_free_;
  std::array<FreeStack, kFreeStacks> free_stacks_;

  std::mutex tables_mutex_;

  std::mutex names_mutex_;
  uint64_t names_begin_ = 0;  // unused rest of the current page of names
  uint64_t names_end_ = 0;
  StaticNames static_names_;
};

}  // namespace cairn

#endif  // CAIRN_RECORDER_BLOCK_WRITER_H_
