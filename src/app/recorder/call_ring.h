// SPDX-License-Identifier: Apache-2.0
//
// The last calls of each thread into the API, written into the block before they are made: the call
// that never returned is in the report. A call costs four stores when it begins and one when it
// returns: benchmark recorder_bench.
//
//   CallRecord* const call = CallRing::Begin(function, object);
//   ... the call ...
//   CallRing::End(call);
//
// Calls nest: what is recorded between a Begin and its End returns before it does. That is why End
// needs no look at what it marks: if the ring has gone around meanwhile, it marks a later call, which
// has returned as well. A reader leaves out the oldest entry, for it may be half overwritten.
#ifndef CAIRN_APP_RECORDER_CALL_RING_H_
#define CAIRN_APP_RECORDER_CALL_RING_H_

#include <atomic>
#include <cstdint>

#include "format/block/block.h"
#if defined(_WIN32)
#include "os/quick_thread_slot.h"
#endif

namespace cairn {

class BlockWriter;

class CallRing {
 public:
  // Where calls go from now on; lives until the process ends, or until SetBlock(nullptr) with no thread
  // in a call. A forked child records nothing until it sets a block of its own.
  static void SetBlock(BlockWriter* block);

  // This thread's entry, made at the first call; where the block has none left, and without a block,
  // a place outside of it. Never null. Slow; what Begin() uses.
  static ThreadRecord* OfThisThread(BlockWriter* block);

  // `function`: BlockWriter::RegisterFunctions. `object`: the pointer that the application holds.
  static CallRecord* Begin(uint32_t function, const void* object) {
    Thread& thread = ThisThread();
    const uint64_t number = ++thread.number;
    if (number == thread.next_look) [[unlikely]]
      Look();
    CallRecord& call = thread.record->calls[number % kCallsPerThread];
    call.returned.store(0, std::memory_order_relaxed);
    call.object.store(reinterpret_cast<uintptr_t>(object), std::memory_order_relaxed);
    call.function.store(function, std::memory_order_relaxed);
    call.number.store(number, std::memory_order_release);
    return &call;
  }
  static void End(CallRecord* call) { call->returned.store(1, std::memory_order_release); }

 private:
  struct Thread {
    ThreadRecord* record;  // null before the first look
    uint64_t number;       // of the last call
    uint64_t next_look;    // the number of the call that takes the slow path
  };

  // Finds the record if there is none, and looks at the thread's name now and then: threads are named
  // at any time.
  static void Look();
  static void Leave(void* record);  // the thread ends
  static void ForgetInForkedChild();
  static void PrepareProcess();

#if defined(_WIN32)
  static Thread& ThisThread() {
    void* const thread = slot_.Get();
    return thread == nullptr ? MakeThread() : *static_cast<Thread*>(thread);
  }
  static Thread& MakeThread();
  static inline constinit QuickThreadSlot slot_;
#else
  static Thread& ThisThread() {
    return this_thread_;
  }
#if defined(__GNUC__)
  // The library is there when the program starts: no call is needed to find the variable.
  [[gnu::tls_model("initial-exec")]]
#endif
  static inline constinit thread_local Thread this_thread_{nullptr, 0, 1};
#endif
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_CALL_RING_H_
