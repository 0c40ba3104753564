// SPDX-License-Identifier: Apache-2.0
//
// The application's side of the block: lays it out, hands out its pages and appends to its tables.
// One block a process, shared by all contexts. Layout and publication rules: block.h.
#ifndef CAIRN_APP_RECORDER_BLOCK_WRITER_H_
#define CAIRN_APP_RECORDER_BLOCK_WRITER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "app/recorder/descriptor_sets.h"
#include "app/recorder/destructions.h"
#include "app/recorder/index_queue.h"
#include "app/recorder/object_table.h"
#include "app/recorder/static_names.h"
#include "base/status.h"
#include "format/block/block.h"
#include "os/shared_memory.h"

namespace cairn {

class LinuxHalf;

class BlockWriter {
 public:
  // The block of this process, made and handed to the watcher at the first call; later calls ignore
  // `size_bytes`. Under Wine both halves (os/linux_half.h) have a writer of the same block: the Linux half made it. Never null when Ok; lives until the process ends, so that a report can be written
  // at any moment of its life.
  static Result<BlockWriter*> OfThisProcess(uint64_t size_bytes);

  // Null if it has not been made; in a forked child its parent's does not count.
  static BlockWriter* FindOfThisProcess();

  // Gives the block of this process, if it has been made, to a watcher that was started after it.
  static Status HandOverToNewWatcher();

  // A further writer of the block that the other half has, for this half.
  static Result<std::unique_ptr<BlockWriter>> OfLinuxHalf(LinuxHalf& half, uint64_t wanted_bytes);

  // Makes a private block: for tests and benchmarks.
  static Result<std::unique_ptr<BlockWriter>> Create(uint64_t size_bytes);

  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  BlockHeader* header() const { return header_; }
  std::byte* data() const { return memory_.data(); }
  uint64_t size_bytes() const { return memory_.size_bytes(); }
  bool has_watcher() const { return has_watcher_; }
  // False in a forked child of its owner.
  bool BelongsToThisProcess() const;

  // Allocates a page for events or names; returns 0 when the block is full (counted). Lock-free.
  // The contents are those of its last use.
  uint32_t AllocatePage();
  void FreePage(uint32_t page);
  std::byte* Page(uint32_t page) const { return data() + uint64_t{page} * kPageBytes; }

  // Zeroed contiguous pages: tables and GPU-written words. Returns the offset, 0 when the block is
  // full. Takes a lock.
  uint64_t AllocateRange(uint64_t size_bytes);
  // The same for what can be done without: no report says that it found no room.
  uint64_t TryAllocateRange(uint64_t size_bytes);
  // Frees a range of AllocateRange, which has no user any more. Takes a lock.
  struct Range {
    uint64_t offset;
    uint64_t size_bytes;
  };
  void FreeRange(Range range);

  // The same for a new context. Where there is no room, contexts that have ended give up what a report
  // would have shown of them, the oldest first; none does if all of them together would not be enough.
  uint64_t AllocateContextRange(uint64_t size_bytes);

  // Copies a name until it is given back; 0 for an empty name or when the block is full. Cut at
  // kMaxNameBytes. Takes a lock.
  NameRef AddName(std::string_view name);
  // For names of AddName only; 0 is nothing. Its memory serves a name of the same length again.
  void FreeName(NameRef name);

  // The name of a static string: copied once for each address, then found again. No lock once known.
  // 0 for an empty name, when there is no more room, and for an address that held another text
  // before: the caller copies such a name like any other.
  NameRef StaticName(const char* name);

  NameRecord* Name(NameRef ref) const {
    return reinterpret_cast<NameRecord*>(data() + uint64_t{ref} * 8);
  }

  // Tables. Each returns the index of an unpublished, zeroed entry, or kTableFull: fill it, then
  // Publish. Entries that were never used come first, so that what has ended stays for a
  // report; then those that were retired, the oldest first, with their names given back. All lock.
  static constexpr uint32_t kTableFull = 0xFFFFFFFF;
  uint32_t AddContext();
  uint32_t AddQueue();
  uint32_t AddPipeline();

  // Memory of a context that has ended; given back when its entry is used again, and with it the vendor
  // binary of its fault.
  struct ContextRemains {
    std::vector<Range> ranges;    // of AllocateRange
    std::vector<uint32_t> pages;  // of AllocatePage
  };
  // The entry is of no more use to its owner. Its queues and pipelines are to be retired as well.
  void RetireContext(uint32_t context, ContextRemains remains);
  void RetireQueue(uint32_t queue);
  void RetirePipeline(uint32_t pipeline);

  // The entry of a thread (call_ring.h): unpublished, or null if the block has no room. An ended
  // thread's entry is published as ended, and used again, the oldest first, when there is no other.
  ThreadRecord* AddThread();
  void RetireThread(ThreadRecord* thread);
  bool Owns(const void* address) const {
    return address >= data() && address < data() + size_bytes();
  }

  // Adds the names to the table of functions and returns the index of the first; kTableFull if there is
  // no room. The same names once more get the same indices.
  uint32_t RegisterFunctions(std::span<const char* const> names);

  Destructions& destructions() { return destructions_; }
  ObjectTable& objects() { return objects_; }
  DescriptorSets& descriptor_sets() { return descriptor_sets_; }

  ContextRecord* contexts() const { return At<ContextRecord>(header_->contexts_offset); }
  QueueRecord* queues() const { return At<QueueRecord>(header_->queues_offset); }
  PipelineRecord* pipelines() const { return At<PipelineRecord>(header_->pipelines_offset); }
  // Null in a block without these tables: kMinLayerBlockBytes.
  ThreadRecord* threads() const { return AtOrNull<ThreadRecord>(header_->threads_offset); }
  FunctionTable* functions() const { return AtOrNull<FunctionTable>(header_->functions_offset); }
  ArenaRecord* arenas() const { return AtOrNull<ArenaRecord>(header_->arenas_offset); }
  DriverReport* driver_reports() const {
    return AtOrNull<DriverReport>(header_->driver_reports_offset);
  }

  FaultRecord* faults() const { return AtOrNull<FaultRecord>(header_->faults_offset); }
  MemoryRecord* memory() const { return AtOrNull<MemoryRecord>(header_->memory_offset); }
  CheckpointTable* checkpoints() const {
    return AtOrNull<CheckpointTable>(header_->checkpoints_offset);
  }
  ShaderRecord* shaders() const { return AtOrNull<ShaderRecord>(header_->shaders_offset); }

  // Keeps the code of a shader, unless there is one with this hash already. All shaders together may
  // take a quarter of the block; of what comes later only hash and size are kept. Takes a lock.
  void AddShader(ShaderCode code, uint64_t hash, std::span<const std::byte> bytes);

  // Appends to the ring of synchronisation.
  struct Sync {
    SyncKind kind = SyncKind::kWait;
    uint32_t flags = 0;
    uint32_t context = 0;
    uint32_t queue = kNoQueue;
    uint64_t submission_number = 0;
    uint64_t native_handle = 0;
    uint64_t value = 0;
    uint64_t time_ns = 0;
  };
  // Adds an operation and returns its serial number; 0 in a block without this table.
  uint64_t AddSync(const Sync& sync);
  // Sets kSyncOver, if the ring still has that entry; 0 is none.
  void EndWait(uint64_t sync_serial);

  // Appends to the ring; every field but `serial` is taken from the arguments.
  void AddSubmission(uint32_t queue, uint32_t run, uint32_t context, uint32_t slot,
                     uint64_t recording_id, uint64_t submission_number, uint64_t frame,
                     uint64_t time_ns, uint64_t pipelines);
  // The CPU has just seen that the queue's submissions after `after`, up to `until`, have completed.
  void NoteEnds(uint32_t queue, uint64_t after, uint64_t until);
  // Marks what the queue was given from this submission on as refused, and adds the slot of each entry.
  void RefuseSubmissions(uint32_t queue, uint64_t first_number, std::vector<uint32_t>* slots);

 private:
  BlockWriter(SharedMemory memory);

  template <typename T>
  T* At(uint64_t offset) const {
    return reinterpret_cast<T*>(data() + offset);
  }
  template <typename T>
  T* AtOrNull(uint64_t offset) const {
    return offset == 0 ? nullptr : At<T>(offset);
  }
  static BlockHeader* LayOut(const SharedMemory& memory);
  // `count` never used pages; 0 when there are none. Lock-free.
  uint64_t BumpPages(uint64_t count);
  uint64_t TakeFreeRange(uint64_t page_count);
  // False if none has anything to give.
  bool ForgetOldestEndedContext();
  // Returns true if a free range would be large enough once all ended contexts gave theirs back.
  bool EndedContextsCanMakeRoom(uint64_t size_bytes);
  void FreeContextNames(ContextRecord& record);
  // The vendor binary of the entry's fault; no bytes if there is none.
  Range VendorBinaryOf(uint32_t context) const;
  // The fault's record is empty afterwards.
  void ReleaseFault(uint32_t context);
  void ReleaseRemains(uint32_t context);
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

  std::mutex ranges_mutex_;
  std::map<uint64_t, uint64_t> free_ranges_;  // first page, number of pages; never side by side

  std::mutex tables_mutex_;
  IndexQueue retired_contexts_{kMaxContexts};
  IndexQueue retired_queues_{kMaxQueues};
  IndexQueue retired_pipelines_{kMaxPipelines};
  IndexQueue retired_threads_{kMaxThreads};
  // Guarded by tables_mutex_.
  std::array<ContextRemains, kMaxContexts> remains_;
  std::vector<uint32_t> contexts_with_remains_;  // the first to end is the first
  Destructions destructions_;
  ObjectTable objects_;
  DescriptorSets descriptor_sets_;

  std::mutex shaders_mutex_;
  std::unordered_set<uint64_t> shader_hashes_;
  uint64_t shader_bytes_ = 0;

  std::mutex names_mutex_;
  uint64_t names_begin_ = 0;  // unused rest of the current page of names
  uint64_t names_end_ = 0;
  // Names given back, by size in units of 8 bytes.
  std::array<std::vector<NameRef>, (sizeof(NameRecord) + kMaxNameBytes + 8) / 8 + 1> free_names_;
  StaticNames static_names_;
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_BLOCK_WRITER_H_
