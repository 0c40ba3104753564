// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/call_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>

#include "app/recorder/block_writer.h"
#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

std::atomic<BlockWriter*> call_block{nullptr};
ThreadRecord nowhere;  // for threads without an entry: written by all of them, read by nobody

constinit ThreadSlot thread_end;  // marks the record as ended

void CopyThreadName(ThreadRecord* record) {
  static_assert(sizeof(record->name) == kThreadNameBytes);
  const auto words = std::bit_cast<std::array<uint64_t, 2>>(CurrentThreadName());
  for (int i = 0; i < 2; ++i) {
    std::atomic_ref<uint64_t>(reinterpret_cast<uint64_t*>(record->name)[i])
        .store(words[i], std::memory_order_relaxed);
  }
}

}  // namespace

void CallRing::PrepareProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    thread_end.Open(&CallRing::Leave);
#if defined(_WIN32)
    slot_.Open();
#endif
    CallInCopies(&CallRing::ForgetInForkedChild);
  });
}

#if defined(_WIN32)
// The object outlives the thread, because destructors may still make calls: 24 bytes a thread.
CallRing::Thread& CallRing::MakeThread() {
  PrepareProcess();
  constinit static thread_local Thread without_slot{nullptr, 0, 1};
  if (!slot_.is_open()) return without_slot;
  auto* const thread = new (std::nothrow) Thread{nullptr, 0, 1};
  if (thread == nullptr) return without_slot;
  slot_.Set(thread);
  return *thread;
}
#endif

void CallRing::SetBlock(BlockWriter* block) {
  PrepareProcess();
  call_block.store(block, std::memory_order_release);
  if (block == nullptr) thread_end.Set(nullptr);
  Thread& thread = ThisThread();
  thread.record = nullptr;
  thread.next_look = thread.number + 1;
}

// The block is the parent's, which goes on writing it.
void CallRing::ForgetInForkedChild() {
  call_block.store(nullptr, std::memory_order_relaxed);
  thread_end.Set(nullptr);
  Thread& thread = ThisThread();
  thread.record = nullptr;
  thread.next_look = thread.number + 1;
}

ThreadRecord* CallRing::OfThisThread(BlockWriter* block) {
  if (block == nullptr) return &nowhere;
  PrepareProcess();
  // The same block again, after another one or none?
  auto* const known = static_cast<ThreadRecord*>(thread_end.Get());
  if (known != nullptr && block->Owns(known)) return known;
  ThreadRecord* const record = block->AddThread();
  if (record == nullptr) return &nowhere;
  record->thread_id = CurrentThreadId();
  CopyThreadName(record);
  Publish(record->state);
  // The slot has room for one record: that of an earlier block stays "running" in that block.
  thread_end.Set(record);
  return record;
}

void CallRing::Look() {
  constexpr uint64_t kShortest = 16;
  constexpr uint64_t kLongest = 4096;
  Thread& thread = ThisThread();
  if (thread.record == nullptr) {
    thread.record = OfThisThread(call_block.load(std::memory_order_acquire));
  } else if (thread.record != &nowhere) {
    CopyThreadName(thread.record);
  }
  thread.next_look = thread.number + std::clamp(thread.number, kShortest, kLongest);
}

void CallRing::Leave(void* value) {
  auto* const record = static_cast<ThreadRecord*>(value);
  // Calls of later destructors of this thread are lost.
  ThisThread().record = &nowhere;
  BlockWriter* const block = call_block.load(std::memory_order_acquire);
  if (block == nullptr || !block->Owns(record)) return;
  CopyThreadName(record);
  block->RetireThread(record);
}

}  // namespace cairn
