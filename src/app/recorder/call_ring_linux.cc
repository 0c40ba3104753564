// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "app/recorder/block_writer.h"
#include "app/recorder/call_ring.h"
#include "os/clock.h"

namespace cairn {
namespace {

std::atomic<BlockWriter*> call_block{nullptr};
ThreadRecord nowhere;  // for threads without an entry: written by all of them, read by nobody

pthread_key_t thread_end;  // its destructor marks the record as ended

void CopyThreadName(ThreadRecord* record) {
  static_assert(sizeof(record->name) == 16);
  uint64_t words[2] = {};
  prctl(PR_GET_NAME, words);
  for (int i = 0; i < 2; ++i) {
    std::atomic_ref<uint64_t>(reinterpret_cast<uint64_t*>(record->name)[i])
        .store(words[i], std::memory_order_relaxed);
  }
}

}  // namespace

void CallRing::PrepareProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    // A key's destructor, unlike that of a thread_local object, is not run for the main thread when
    // the program exits: calls made during the exit are recorded like others.
    pthread_key_create(&thread_end, &CallRing::Leave);
    pthread_atfork(nullptr, nullptr, &CallRing::ForgetInForkedChild);
  });
}

void CallRing::SetBlock(BlockWriter* block) {
  PrepareProcess();
  call_block.store(block, std::memory_order_release);
  if (block == nullptr) pthread_setspecific(thread_end, nullptr);
  this_thread_.record = nullptr;
  this_thread_.next_look = this_thread_.number + 1;
}

// The block is the parent's, which goes on writing it.
void CallRing::ForgetInForkedChild() {
  call_block.store(nullptr, std::memory_order_relaxed);
  pthread_setspecific(thread_end, nullptr);
  this_thread_.record = nullptr;
  this_thread_.next_look = this_thread_.number + 1;
}

ThreadRecord* CallRing::OfThisThread(BlockWriter* block) {
  if (block == nullptr) return &nowhere;
  PrepareProcess();
  // The same block again, after another one or none?
  auto* const known = static_cast<ThreadRecord*>(pthread_getspecific(thread_end));
  if (known != nullptr && block->Owns(known)) return known;
  ThreadRecord* const record = block->AddThread();
  if (record == nullptr) return &nowhere;
  record->thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  CopyThreadName(record);
  record->state.store(1, std::memory_order_release);
  // One key, one record: that of a block before this one stays "running" in that block.
  pthread_setspecific(thread_end, record);
  return record;
}

void CallRing::Look() {
  constexpr uint64_t kShortest = 16;
  constexpr uint64_t kLongest = 4096;
  if (this_thread_.record == nullptr) {
    this_thread_.record = OfThisThread(call_block.load(std::memory_order_acquire));
  } else if (this_thread_.record != &nowhere) {
    CopyThreadName(this_thread_.record);
  }
  this_thread_.next_look =
      this_thread_.number + std::clamp(this_thread_.number, kShortest, kLongest);
}

void CallRing::Leave(void* value) {
  auto* const record = static_cast<ThreadRecord*>(value);
  // What other destructors of this thread still call is lost.
  this_thread_.record = &nowhere;
  BlockWriter* const block = call_block.load(std::memory_order_acquire);
  if (block == nullptr || !block->Owns(record)) return;
  CopyThreadName(record);
  block->RetireThread(record);
}

}  // namespace cairn
