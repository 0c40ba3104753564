// SPDX-License-Identifier: Apache-2.0
#include "recorder/block_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "recorder/handover.h"
#include "recorder/process_facts.h"

namespace cairn {
namespace {

constexpr uint64_t RoundUpToPage(uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Threads are numbered as they come.
uint32_t ThreadNumber() {
  static std::atomic<uint32_t> threads{0};
  thread_local const uint32_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::mutex process_block_mutex;
BlockWriter* process_block = nullptr;  // never freed

}  // namespace

Result<BlockWriter*> BlockWriter::OfThisProcess(uint64_t size_bytes) {
  std::lock_guard lock(process_block_mutex);
  // What a forked child inherits is its parent's block; it stays mapped for the contexts in it.
  if (process_block != nullptr && process_block->BelongsToThisProcess()) return process_block;
  Result<std::unique_ptr<BlockWriter>> created = Create(size_bytes);
  if (!created.ok()) return created.status();
  // Without a watcher the block still serves cairnPrintStatus.
  (*created)->has_watcher_ = HandOverBlock((*created)->memory_).ok();
  process_block = created->release();
  return process_block;
}

Status BlockWriter::HandOverToNewWatcher() {
  std::lock_guard lock(process_block_mutex);
  if (process_block == nullptr || !process_block->BelongsToThisProcess()) return Status();
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
  Result<SharedMemory> memory = SharedMemory::Create("cairn-block", RoundUpToPage(size_bytes));
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<BlockWriter>(new BlockWriter(std::move(*memory)));
}

BlockWriter::BlockWriter(SharedMemory memory)
    : memory_(std::move(memory)),
      header_(reinterpret_cast<BlockHeader*>(memory_.data())),
      next_free_(new std::atomic<uint32_t>[memory_.size_bytes() / kPageBytes]) {
  LayOut();
}

bool BlockWriter::BelongsToThisProcess() const {
  return header_->process_id == CurrentProcessId();
}

void BlockWriter::LayOut() {
  BlockHeader& header = *header_;
  uint64_t offset = kPageBytes;
  const auto place = [&offset](uint64_t bytes) {
    return std::exchange(offset, offset + RoundUpToPage(bytes));
  };
  header.version = kBlockVersion;
  header.header_bytes = sizeof(BlockHeader);
  header.block_bytes = memory_.size_bytes();
  header.contexts_offset = place(kMaxContexts * sizeof(ContextRecord));
  header.queues_offset = place(kMaxQueues * sizeof(QueueRecord));
  header.pipelines_offset = place(kMaxPipelines * sizeof(PipelineRecord));
  header.submissions_offset = place(kSubmissionRing * sizeof(SubmissionRecord));
  header.first_free_page = offset / kPageBytes;
  header.next_page = header.first_free_page;
  FillProcessFacts(header);
  // The magic comes last: a reader that finds it finds the rest.
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = kBlockMagic;
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

uint64_t BlockWriter::AllocateRange(uint64_t size_bytes) {
  const uint64_t page_count = RoundUpToPage(size_bytes) / kPageBytes;
  const uint64_t limit = memory_.size_bytes() / kPageBytes;
  uint64_t page = header_->next_page.load(std::memory_order_relaxed);
  do {
    if (page_count > limit - page) {
      header_->pages_refused.fetch_add(1, std::memory_order_relaxed);
      return 0;
    }
  } while (!header_->next_page.compare_exchange_weak(page, page + page_count,
                                                     std::memory_order_relaxed));
  return page * kPageBytes;
}

NameRef BlockWriter::AddName(std::string_view name) {
  std::lock_guard lock(names_mutex_);
  return AddNameLocked(name);
}

NameRef BlockWriter::AddNameLocked(std::string_view name) {
  if (name.empty()) return 0;
  name = name.substr(0, kMaxNameBytes);
  const uint64_t bytes = (sizeof(uint32_t) + name.size() + 1 + 7) / 8 * 8;
  if (names_end_ - names_begin_ < bytes) {
    const uint64_t page = AllocateRange(kPageBytes);
    if (page == 0) return 0;
    names_begin_ = page;
    names_end_ = page + kPageBytes;
  }
  const uint64_t offset = std::exchange(names_begin_, names_begin_ + bytes);
  NameRecord* record = At<NameRecord>(offset);
  record->length_bytes = static_cast<uint32_t>(name.size());
  std::memcpy(record->bytes, name.data(), name.size());
  record->bytes[name.size()] = 0;
  return static_cast<NameRef>(offset / 8);
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

uint32_t BlockWriter::AddContext() {
  std::lock_guard lock(tables_mutex_);
  const uint32_t count = header_->context_count.load(std::memory_order_relaxed);
  if (count == kMaxContexts) return kTableFull;
  header_->context_count.store(count + 1, std::memory_order_release);
  return count;
}

uint32_t BlockWriter::AddQueue() {
  std::lock_guard lock(tables_mutex_);
  const uint32_t count = header_->queue_count.load(std::memory_order_relaxed);
  if (count == kMaxQueues) return kTableFull;
  header_->queue_count.store(count + 1, std::memory_order_release);
  return count;
}

uint32_t BlockWriter::AddPipeline() {
  std::lock_guard lock(tables_mutex_);
  const uint32_t count = header_->pipeline_count.load(std::memory_order_relaxed);
  if (count == kMaxPipelines - 1) return kTableFull;
  header_->pipeline_count.store(count + 1, std::memory_order_release);
  return count;
}

void BlockWriter::AddSubmission(uint32_t queue, uint32_t run, uint32_t context, uint32_t slot,
                                uint64_t recording_id, uint64_t submission_number,
                                uint64_t time_ns) {
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
  record.time_ns = time_ns;
  record.serial.store(serial, std::memory_order_release);
}

}  // namespace cairn
