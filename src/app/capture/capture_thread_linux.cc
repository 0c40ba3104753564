// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <new>

#include "app/capture/capture_thread.h"

namespace cairn {
namespace {

enum RingState : uint32_t { kRingFree = 0, kRingInUse = 1, kRingLeft = 2 };

pthread_key_t thread_end;
std::atomic<uint32_t> threads_seen{0};

}  // namespace

void CaptureThread::PrepareProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    // A key's destructor, unlike that of a thread_local object, is not run for the main thread when
    // the program exits: calls made during the exit are recorded like others.
    pthread_key_create(&thread_end, &CaptureThread::End);
    pthread_atfork(nullptr, nullptr, &CaptureThread::ForgetInForkedChild);
  });
}

// The ring is the parent's, which goes on writing it.
void CaptureThread::ForgetInForkedChild() {
  pthread_setspecific(thread_end, nullptr);
  this_thread_ = nullptr;
}

uint32_t CaptureThread::TakeRing(SharedRegion* region) {
  for (uint32_t i = 0; i + 1 < kCaptureRings; ++i) {
    uint32_t state = kRingFree;
    if (region->ring(i).state.load(std::memory_order_relaxed) == kRingFree &&
        region->ring(i).state.compare_exchange_strong(state, kRingInUse,
                                                      std::memory_order_acq_rel)) {
      return i;
    }
  }
  return kCaptureRings - 1;
}

CaptureThread* CaptureThread::Make(SharedRegion* region) {
  PrepareProcess();
  if (this_thread_ != nullptr) End(this_thread_);  // of a capture before this one
  auto* const thread = new (std::nothrow) CaptureThread(region, TakeRing(region));
  if (thread == nullptr) return nullptr;
  thread->index_ = threads_seen.fetch_add(1, std::memory_order_relaxed);
  thread->Introduce();
  this_thread_ = thread;
  pthread_setspecific(thread_end, thread);
  return thread;
}

void CaptureThread::Introduce() {
  const auto lock = LockIfShared();
  CaptureRing& ring = writer_.ring();
  ring.thread = index_;
  ring.thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  LookAtName();
  ring.state.store(kRingInUse, std::memory_order_release);
}

void CaptureThread::LookAtName() {
  static_assert(sizeof(CaptureRing::name) == 16 && offsetof(CaptureRing, name) % 4 == 0);
  uint32_t words[4] = {};
  prctl(PR_GET_NAME, words);
  for (int i = 0; i < 4; ++i) {
    std::atomic_ref<uint32_t>(reinterpret_cast<uint32_t*>(writer_.ring().name)[i])
        .store(words[i], std::memory_order_relaxed);
  }
}

// What other destructors of this thread still call goes into another ring.
void CaptureThread::End(void* value) {
  auto* const thread = static_cast<CaptureThread*>(value);
  this_thread_ = nullptr;
  if (thread->shares_) {
    if (thread->depth_ != 0) thread->Leave(thread->calls_[0]);
  } else {
    thread->LookAtName();
    thread->writer_.ring().in_call.store(0, std::memory_order_relaxed);
    thread->writer_.ring().state.store(kRingLeft, std::memory_order_release);
  }
  delete thread;
}

}  // namespace cairn
