// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/block_writer.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "app/recorder/process_facts.h"
#include "app/recorder/thread_number.h"
#include "app/recorder/watcher_link.h"
#include "os/clock.h"
#include "os/crash.h"
#include "os/linux_half.h"
#include "os/this_process.h"

namespace cairn {
namespace {

constexpr uint64_t RoundUpToPage(uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::mutex process_block_mutex;
BlockWriter* process_block = nullptr;  // never freed

// A forked child inherits its parent's block, which stays mapped for the contexts in it. The mutex is held.
BlockWriter* OwnBlock() {
  return process_block != nullptr && process_block->BelongsToThisProcess() ? process_block
                                                                           : nullptr;
}

}  // namespace

BlockWriter* BlockWriter::FindOfThisProcess() {
  std::lock_guard lock(process_block_mutex);
  return OwnBlock();
}

Result<BlockWriter*> BlockWriter::OfThisProcess(uint64_t size_bytes) {
  std::lock_guard lock(process_block_mutex);
  if (BlockWriter* const own = OwnBlock(); own != nullptr) return own;
  LinuxHalf* const half = FindLinuxHalf();
  Result<std::unique_ptr<BlockWriter>> created =
      half != nullptr ? OfLinuxHalf(*half, size_bytes) : Create(size_bytes);
  if (!created.ok()) return created.status();
  // Without a watcher the block still serves cairnPrintStatus.
  (*created)->has_watcher_ =
      half != nullptr ? half->HasWatcher() : HandOverBlock((*created)->memory_).ok();
  const bool is_first = process_block == nullptr;
  process_block = created->release();
  // Blocks of tests may be gone by then; this one is not.
  if (is_first) TellExit([] { process_block->header_->exit_noted.store(1); });
  return process_block;
}

Status BlockWriter::HandOverToNewWatcher() {
  std::lock_guard lock(process_block_mutex);
  if (OwnBlock() == nullptr) return Status();
  CAIRN_RETURN_IF_ERROR(HandOverBlock(process_block->memory_));
  process_block->has_watcher_ = true;
  return Status();
}

Result<std::unique_ptr<BlockWriter>> BlockWriter::Create(uint64_t size_bytes) {
  if (size_bytes < kMinBlockBytes || size_bytes > kMaxBlockBytes) {
    return Status(StatusCode::kInvalidArgument,
                  "a block of " + std::to_string(size_bytes) + " bytes: use " +
                      std::to_string(kMinBlockBytes) + " to " + std::to_string(kMaxBlockBytes));
  }
  // A smaller one holds fewer recordings, and without its tables no objects; the process goes on in any case.
  const uint64_t allowed_bytes = SharedMemory::MostBytes() / kPageBytes * kPageBytes;
  if (allowed_bytes >= kMinBlockBytes) size_bytes = std::min(size_bytes, allowed_bytes);
  Result<SharedMemory> memory = SharedMemory::Create(kBlockMemoryName, RoundUpToPage(size_bytes));
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<BlockWriter>(new BlockWriter(std::move(*memory)));
}

Result<std::unique_ptr<BlockWriter>> BlockWriter::OfLinuxHalf(LinuxHalf& half,
                                                              uint64_t wanted_bytes) {
  uint64_t size_bytes = 0;
  auto* const data = static_cast<std::byte*>(half.ProcessBlock(wanted_bytes, &size_bytes));
  if (data == nullptr) {
    return Status(StatusCode::kOutOfMemory, "the Linux half of Cairn cannot make the block");
  }
  return std::unique_ptr<BlockWriter>(new BlockWriter(SharedMemory::Borrow(data, size_bytes)));
}

BlockWriter::BlockWriter(SharedMemory memory)
    : memory_(std::move(memory)),
      header_(LayOut(memory_)),
      next_free_(new std::atomic<uint32_t>[memory_.size_bytes() / kPageBytes]),
      destructions_(header_),
      objects_(header_, destructions_),
      descriptor_sets_(*this) {}

bool BlockWriter::BelongsToThisProcess() const {
  return header_->process_id == static_cast<uint64_t>(OwnProcessId());
}

BlockHeader* BlockWriter::LayOut(const SharedMemory& memory) {
  BlockHeader& header = *reinterpret_cast<BlockHeader*>(memory.data());
  if (header.magic == kBlockMagic) return &header;  // the other half has done it
  uint64_t offset = kPageBytes;
  const auto place = [&offset](uint64_t bytes) {
    return std::exchange(offset, offset + RoundUpToPage(bytes));
  };
  header.version = kBlockVersion;
  header.header_bytes = sizeof(BlockHeader);
  header.block_bytes = memory.size_bytes();
  header.contexts_offset = place(kMaxContexts * sizeof(ContextRecord));
  header.queues_offset = place(kMaxQueues * sizeof(QueueRecord));
  header.pipelines_offset = place(kMaxPipelines * sizeof(PipelineRecord));
  header.submissions_offset = place(kSubmissionRing * sizeof(SubmissionRecord));
  if (memory.size_bytes() >= kMinLayerBlockBytes) {
    header.objects_offset = place(kMaxObjects * sizeof(ObjectRecord));
    header.threads_offset = place(kMaxThreads * sizeof(ThreadRecord));
    header.functions_offset = place(sizeof(FunctionTable));
    header.arenas_offset = place(kMaxArenas * sizeof(ArenaRecord));
    header.driver_reports_offset = place(kMaxContexts * sizeof(DriverReport));
    header.syncs_offset = place(kSyncRing * sizeof(SyncRecord));
    header.faults_offset = place(kMaxContexts * sizeof(FaultRecord));
    header.checkpoints_offset = place(kMaxContexts * sizeof(CheckpointTable));
    header.shaders_offset = place(kMaxShaders * sizeof(ShaderRecord));
    header.destructions_offset = place(kDestructionTableBytes);
    header.memory_offset = place(kMaxContexts * sizeof(MemoryRecord));
  }
  header.first_free_page = offset / kPageBytes;
  header.next_page = header.first_free_page;
  FillProcessFacts(header);
  // The magic comes last: a reader that finds it finds the rest.
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = kBlockMagic;
  return &header;
}

uint32_t BlockWriter::PopPage(FreeStack& stack) {
  uint64_t head = stack.head.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    const uint32_t page = static_cast<uint32_t>(head);
    const uint32_t next = next_free_[page].load(std::memory_order_relaxed);
    const uint64_t changed = ((head >> 32) + 1) << 32 | next;
    if (stack.head.compare_exchange_weak(head, changed, std::memory_order_acquire)) return page;
  }
  return 0;
}

uint32_t BlockWriter::AllocatePage() {
  const uint32_t own = ThreadNumber();
  for (uint32_t i = 0; i < kFreeStacks; ++i) {
    const uint32_t page = PopPage(free_stacks_[(own + i) % kFreeStacks]);
    if (page != 0) return page;
  }
  const uint64_t page = BumpPages(1);
  if (page != 0) return static_cast<uint32_t>(page);
  return static_cast<uint32_t>(AllocateRange(kPageBytes) / kPageBytes);
}

void BlockWriter::FreePage(uint32_t page) {
  std::atomic<uint64_t>& stack = free_stacks_[ThreadNumber() % kFreeStacks].head;
  uint64_t head = stack.load(std::memory_order_relaxed);
  uint64_t changed;
  do {
    next_free_[page].store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    changed = ((head >> 32) + 1) << 32 | page;
  } while (!stack.compare_exchange_weak(head, changed, std::memory_order_release));
}

uint64_t BlockWriter::BumpPages(uint64_t count) {
  const uint64_t limit = memory_.size_bytes() / kPageBytes;
  uint64_t page = header_->next_page.load(std::memory_order_relaxed);
  do {
    if (count > limit - page) return 0;
  } while (
      !header_->next_page.compare_exchange_weak(page, page + count, std::memory_order_relaxed));
  return page;
}

uint64_t BlockWriter::TakeFreeRange(uint64_t page_count) {
  std::lock_guard lock(ranges_mutex_);
  const auto found =
      std::find_if(free_ranges_.begin(), free_ranges_.end(),
                   [page_count](const auto& range) { return range.second >= page_count; });
  if (found == free_ranges_.end()) return 0;
  const auto [first, count] = *found;
  free_ranges_.erase(found);
  if (count > page_count) free_ranges_.emplace(first + page_count, count - page_count);
  return first;
}

uint64_t BlockWriter::TryAllocateRange(uint64_t size_bytes) {
  const uint64_t page_count = RoundUpToPage(size_bytes) / kPageBytes;
  if (const uint64_t page = TakeFreeRange(page_count); page != 0) {
    std::memset(data() + page * kPageBytes, 0, page_count * kPageBytes);
    return page * kPageBytes;
  }
  return BumpPages(page_count) * kPageBytes;
}

uint64_t BlockWriter::AllocateRange(uint64_t size_bytes) {
  const uint64_t offset = TryAllocateRange(size_bytes);
  if (offset == 0) header_->pages_refused.fetch_add(1, std::memory_order_relaxed);
  return offset;
}

uint64_t BlockWriter::AllocateContextRange(uint64_t size_bytes) {
  uint64_t offset = TryAllocateRange(size_bytes);
  if (offset == 0 && EndedContextsCanMakeRoom(size_bytes)) {
    while (offset == 0 && ForgetOldestEndedContext()) offset = TryAllocateRange(size_bytes);
  }
  if (offset == 0) header_->pages_refused.fetch_add(1, std::memory_order_relaxed);
  return offset;
}

namespace {

// Adds pages to ranges of them (first page, number of pages) and joins neighbours.
void AddPages(BlockWriter::Range range, std::map<uint64_t, uint64_t>* ranges) {
  uint64_t first = range.offset / kPageBytes;
  uint64_t count = RoundUpToPage(range.size_bytes) / kPageBytes;
  if (count == 0) return;
  auto after = ranges->lower_bound(first);
  if (after != ranges->end() && after->first == first + count) {
    count += after->second;
    after = ranges->erase(after);
  }
  if (after != ranges->begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == first) {
      before->second += count;
      return;
    }
  }
  ranges->emplace(first, count);
}

}  // namespace

void BlockWriter::FreeRange(Range range) {
  std::lock_guard lock(ranges_mutex_);
  AddPages(range, &free_ranges_);
}

bool BlockWriter::EndedContextsCanMakeRoom(uint64_t size_bytes) {
  const uint64_t page_count = RoundUpToPage(size_bytes) / kPageBytes;
  std::lock_guard tables_lock(tables_mutex_);
  std::map<uint64_t, uint64_t> ranges;
  {
    std::lock_guard lock(ranges_mutex_);
    ranges = free_ranges_;
  }
  for (const uint32_t context : contexts_with_remains_) {
    for (const Range& range : remains_[context].ranges) AddPages(range, &ranges);
    AddPages(VendorBinaryOf(context), &ranges);
  }
  // Pages that were never used do not become part of a range, and were too few just now.
  return std::any_of(ranges.begin(), ranges.end(),
                     [page_count](const auto& range) { return range.second >= page_count; });
}

namespace {

constexpr uint64_t NameBytes(uint64_t length_bytes) {
  return (sizeof(uint32_t) + length_bytes + 1 + 7) / 8 * 8;
}

}  // namespace

NameRef BlockWriter::AddName(std::string_view name) {
  std::lock_guard lock(names_mutex_);
  return AddNameLocked(name);
}

NameRef BlockWriter::AddNameLocked(std::string_view name) {
  if (name.empty()) return 0;
  name = name.substr(0, kMaxNameBytes);
  const uint64_t bytes = NameBytes(name.size());
  uint64_t offset = 0;
  if (std::vector<NameRef>& given_back = free_names_[bytes / 8]; !given_back.empty()) {
    offset = uint64_t{given_back.back()} * 8;
    given_back.pop_back();
  } else {
    if (names_end_ - names_begin_ < bytes) {
      const uint64_t page = AllocateRange(kPageBytes);
      if (page == 0) return 0;
      names_begin_ = page;
      names_end_ = page + kPageBytes;
    }
    offset = std::exchange(names_begin_, names_begin_ + bytes);
  }
  NameRecord* record = At<NameRecord>(offset);
  record->length_bytes = static_cast<uint32_t>(name.size());
  char* const bytes_of_name = record->bytes;  // more than are declared
  std::memcpy(bytes_of_name, name.data(), name.size());
  bytes_of_name[name.size()] = 0;
  return static_cast<NameRef>(offset / 8);
}

void BlockWriter::FreeName(NameRef name) {
  if (name == 0) return;
  std::lock_guard lock(names_mutex_);
  free_names_[NameBytes(Name(name)->length_bytes) / 8].push_back(name);
}

// The comparison is what makes a reused address harmless.
bool BlockWriter::IsName(NameRef ref, const char* name) const {
  return ref != 0 && std::strncmp(Name(ref)->bytes, name, kMaxNameBytes) == 0;
}

NameRef BlockWriter::StaticName(const char* name) {
  const NameRef known = static_names_.Find(name);
  // Only the first text of an address is kept: texts that change would fill the block, which never
  // gives one of these back.
  if (known != 0) return IsName(known, name) ? known : 0;
  if (!static_names_.HasRoom()) return 0;
  std::lock_guard lock(names_mutex_);
  // Another thread may have been first.
  const NameRef added_meanwhile = static_names_.Find(name);
  if (added_meanwhile != 0) return IsName(added_meanwhile, name) ? added_meanwhile : 0;
  const NameRef added = AddNameLocked(std::string_view(name, strnlen(name, kMaxNameBytes)));
  if (added != 0) static_names_.Set(name, added);
  return added;
}

namespace {

// The next entry that was never used, or the one that was retired first; BlockWriter::kTableFull if
// there is neither. The caller holds the lock of the tables; the other half of a process has a lock of its own.
uint32_t TakeEntry(std::atomic<uint32_t>& used, uint32_t capacity, IndexQueue& retired) {
  uint32_t count = used.load(std::memory_order_relaxed);
  while (count < capacity) {
    if (used.compare_exchange_weak(count, count + 1, std::memory_order_release)) return count;
  }
  return retired.Pop().value_or(BlockWriter::kTableFull);
}

// Marks an entry that was used before as unpublished for its readers.
template <typename Record>
void Unpublish(Record& record) {
  record.state.store(kEntryFree, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace

uint32_t BlockWriter::AddContext() {
  std::lock_guard lock(tables_mutex_);
  const uint32_t index = TakeEntry(header_->context_count, kMaxContexts, retired_contexts_);
  if (index == kTableFull) return kTableFull;
  ContextRecord& record = contexts()[index];
  Unpublish(record);
  FreeContextNames(record);
  ReleaseRemains(index);
  std::memset(static_cast<void*>(&record), 0, sizeof(record));
  if (DriverReport* const reports = driver_reports(); reports != nullptr) {
    for (std::atomic<uint64_t>& id : reports[index].event_ids) id.store(0);
  }
  if (CheckpointTable* const table = checkpoints(); table != nullptr) table[index].count.store(0);
  if (memory() != nullptr) {
    std::memset(static_cast<void*>(&memory()[index]), 0, sizeof(MemoryRecord));
  }
  return index;
}

void BlockWriter::FreeContextNames(ContextRecord& record) {
  for (NameRef name : {record.device_name, record.driver_name, record.device_notes,
                       record.device_lost_where, record.annotation_driver, record.application}) {
    FreeName(name);
  }
  const uint32_t sources = std::min(record.source_count.load(), kMaxSources);
  for (uint32_t i = 0; i < sources; ++i) {
    FreeName(record.sources[i].name);
    FreeName(record.sources[i].reason);
  }
}

BlockWriter::Range BlockWriter::VendorBinaryOf(uint32_t context) const {
  if (faults() == nullptr || faults()[context].vendor_binary_offset == 0) return {0, 0};
  return {faults()[context].vendor_binary_offset, faults()[context].vendor_binary_room};
}

void BlockWriter::ReleaseFault(uint32_t context) {
  if (faults() == nullptr) return;
  FaultRecord& fault = faults()[context];
  const Range binary = VendorBinaryOf(context);
  Unpublish(fault);
  std::memset(static_cast<void*>(&fault), 0, sizeof(fault));
  FreeRange(binary);
}

void BlockWriter::ReleaseRemains(uint32_t context) {
  ReleaseFault(context);
  std::erase(contexts_with_remains_, context);
  const ContextRemains remains = std::exchange(remains_[context], {});
  for (const Range& range : remains.ranges) FreeRange(range);
  for (uint32_t page : remains.pages) FreePage(page);
}

void BlockWriter::RetireContext(uint32_t context, ContextRemains remains) {
  std::lock_guard lock(tables_mutex_);
  if (!remains.ranges.empty()) contexts_with_remains_.push_back(context);
  remains_[context] = std::move(remains);
  retired_contexts_.Push(context);
}

bool BlockWriter::ForgetOldestEndedContext() {
  std::lock_guard lock(tables_mutex_);
  if (contexts_with_remains_.empty()) return false;
  const uint32_t context = contexts_with_remains_.front();
  Unpublish(contexts()[context]);
  ReleaseRemains(context);
  return true;
}

uint32_t BlockWriter::AddQueue() {
  std::lock_guard lock(tables_mutex_);
  const uint32_t index = TakeEntry(header_->queue_count, kMaxQueues, retired_queues_);
  if (index == kTableFull) return kTableFull;
  QueueRecord& record = queues()[index];
  Unpublish(record);
  FreeName(record.name);
  std::memset(static_cast<void*>(&record), 0, sizeof(record));
  return index;
}

void BlockWriter::RetireQueue(uint32_t queue) {
  retired_queues_.Push(queue);
}

uint32_t BlockWriter::AddPipeline() {
  std::lock_guard lock(tables_mutex_);
  const uint32_t index = TakeEntry(header_->pipeline_count, kMaxPipelines - 1, retired_pipelines_);
  if (index == kTableFull) return kTableFull;
  PipelineRecord& record = pipelines()[index];
  Unpublish(record);
  FreeName(record.name);
  for (NameRef name : record.shader_names) FreeName(name);
  std::memset(static_cast<void*>(&record), 0, sizeof(record));
  return index;
}

void BlockWriter::RetirePipeline(uint32_t pipeline) {
  retired_pipelines_.Push(pipeline);
}

ThreadRecord* BlockWriter::AddThread() {
  if (threads() == nullptr) return nullptr;
  std::lock_guard lock(tables_mutex_);
  const uint32_t index = TakeEntry(header_->thread_count, kMaxThreads, retired_threads_);
  if (index == kTableFull) return nullptr;
  ThreadRecord& record = threads()[index];
  Unpublish(record);
  record.ended_ns.store(0, std::memory_order_relaxed);
  for (CallRecord& call : record.calls) call.number.store(0, std::memory_order_relaxed);
  return &record;
}

void BlockWriter::RetireThread(ThreadRecord* thread) {
  thread->ended_ns.store(MonotonicNs(), std::memory_order_relaxed);
  thread->state.store(kEntryRetired, std::memory_order_release);
  retired_threads_.Push(static_cast<uint32_t>(thread - threads()));
}

uint32_t BlockWriter::RegisterFunctions(std::span<const char* const> names) {
  FunctionTable* const table = functions();
  if (table == nullptr || names.size() > kMaxFunctions) return kTableFull;
  std::lock_guard lock(tables_mutex_);
  uint32_t used = table->count.load(std::memory_order_acquire);
  const auto is_here = [&](uint32_t first) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (!IsName(table->names[first + i], names[i])) return false;
    }
    return true;
  };
  for (uint32_t first = 0; first + names.size() <= used; ++first) {
    if (is_here(first)) return first;
  }
  const auto count = static_cast<uint32_t>(names.size());
  do {
    if (count > kMaxFunctions - used) return kTableFull;
  } while (!table->count.compare_exchange_weak(used, used + count, std::memory_order_acq_rel));
  // Until then the functions have no name.
  for (uint32_t i = 0; i < count; ++i) table->names[used + i] = AddName(names[i]);
  return used;
}

void BlockWriter::AddShader(ShaderCode code, uint64_t hash, std::span<const std::byte> bytes) {
  if (shaders() == nullptr || hash == 0) return;
  std::lock_guard lock(shaders_mutex_);
  if (!shader_hashes_.insert(hash).second) return;
  uint32_t index = header_->shader_count.load(std::memory_order_relaxed);
  do {
    if (index >= kMaxShaders) {
      header_->shaders_dropped.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  } while (!header_->shader_count.compare_exchange_weak(index, index + 1));
  ShaderRecord& record = shaders()[index];
  record.code = code;
  record.hash = hash;
  record.size_bytes = bytes.size();
  record.offset = 0;
  if (!bytes.empty() && bytes.size() <= size_bytes() / 4 - shader_bytes_) {
    record.offset = AllocateRange(bytes.size());
  }
  if (record.offset != 0) {
    std::memcpy(data() + record.offset, bytes.data(), bytes.size());
    shader_bytes_ += bytes.size();
  } else {
    header_->shaders_dropped.fetch_add(1, std::memory_order_relaxed);
  }
  Publish(record.state);
}

uint64_t BlockWriter::AddSync(const Sync& sync) {
  if (header_->syncs_offset == 0) return 0;
  const uint64_t serial = header_->sync_serial.fetch_add(1, std::memory_order_relaxed) + 1;
  SyncRecord& record = At<SyncRecord>(header_->syncs_offset)[(serial - 1) % kSyncRing];
  record.serial.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.kind = sync.kind;
  record.queue = sync.queue;
  record.submission_number = sync.submission_number;
  record.native_handle = sync.native_handle;
  record.value = sync.value;
  record.time_ns = sync.time_ns;
  record.context = sync.context;
  std::atomic_ref(record.flags).store(sync.flags, std::memory_order_relaxed);
  record.serial.store(serial, std::memory_order_release);
  return serial;
}

void BlockWriter::EndWait(uint64_t sync_serial) {
  if (header_->syncs_offset == 0 || sync_serial == 0) return;
  SyncRecord& record = At<SyncRecord>(header_->syncs_offset)[(sync_serial - 1) % kSyncRing];
  const std::atomic_ref flags(record.flags);
  uint32_t known = flags.load(std::memory_order_relaxed);
  if (record.serial.load(std::memory_order_acquire) != sync_serial) return;
  // The ring would have to go round between the look and this for another wait to be taken for it.
  flags.compare_exchange_strong(known, known | kSyncOver, std::memory_order_relaxed);
}

void BlockWriter::AddSubmission(uint32_t queue, uint32_t run, uint32_t context, uint32_t slot,
                                uint64_t recording_id, uint64_t submission_number, uint64_t frame,
                                uint64_t time_ns, uint64_t pipelines) {
  const uint64_t serial = header_->submission_serial.fetch_add(1, std::memory_order_relaxed) + 1;
  SubmissionRecord& record =
      At<SubmissionRecord>(header_->submissions_offset)[(serial - 1) % kSubmissionRing];
  record.serial.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.queue = queue;
  record.run = run;
  record.context = context;
  record.slot = slot;
  record.recording_id = recording_id;
  record.submission_number = submission_number;
  record.frame_plus_1 = frame + 1;
  record.time_ns = time_ns;
  record.refused.store(0, std::memory_order_relaxed);
  record.ended_ns.store(0, std::memory_order_relaxed);
  record.pipelines = pipelines;
  record.serial.store(serial, std::memory_order_release);
}

void BlockWriter::NoteEnds(uint32_t queue, uint64_t after, uint64_t until) {
  // Submissions of other queues lie between; a queue that is so far behind is not worth more.
  constexpr uint64_t kMostLookedAt = 1024;
  auto* const ring = At<SubmissionRecord>(header_->submissions_offset);
  const uint64_t last = header_->submission_serial.load(std::memory_order_relaxed);
  const uint64_t oldest = last < kMostLookedAt ? 1 : last - kMostLookedAt + 1;
  const uint64_t now_ns = MonotonicNs();
  for (uint64_t serial = last; serial >= oldest; --serial) {
    SubmissionRecord& record = ring[(serial - 1) % kSubmissionRing];
    if (record.serial.load(std::memory_order_acquire) != serial || record.queue != queue) continue;
    if (record.submission_number <= after) return;
    if (record.submission_number <= until) record.ended_ns.store(now_ns, std::memory_order_relaxed);
  }
}

void BlockWriter::RefuseSubmissions(uint32_t queue, uint64_t first_number,
                                    std::vector<uint32_t>* slots) {
  auto* const ring = At<SubmissionRecord>(header_->submissions_offset);
  const uint64_t last = header_->submission_serial.load(std::memory_order_relaxed);
  const uint64_t oldest = last < kSubmissionRing ? 1 : last - kSubmissionRing + 1;
  for (uint64_t serial = last; serial >= oldest; --serial) {
    SubmissionRecord& record = ring[(serial - 1) % kSubmissionRing];
    if (record.serial.load(std::memory_order_acquire) != serial || record.queue != queue) continue;
    if (record.submission_number < first_number) return;
    record.refused.store(1, std::memory_order_release);
    slots->push_back(record.slot);
  }
}

}  // namespace cairn
