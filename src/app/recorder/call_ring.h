// SPDX-License-Identifier: Apache-2.0
//
// The last calls of each thread into the API, written into the block before they are made: the call
// that never returned is in the report. A call costs four stores and one for each argument that is kept
// when it begins, and one when it returns: benchmark recorder_bench.
//
//   CallRecord* const call = CallRing::Begin(function, object, arguments...);
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
#include <cstring>
#include <type_traits>

#include "format/block/block.h"
#if defined(_WIN32)
#include "os/quick_thread_slot.h"
#endif

namespace cairn {

class BlockWriter;

class CallRing {
 public:
  // Sets the block for all further calls; it must live until the process ends, or until
  // SetBlock(nullptr) with no thread in a call. A forked child records nothing until it sets a
  // block of its own.
  static void SetBlock(BlockWriter* block);

  // This thread's entry, made at the first call; where the block has none left, and without a block,
  // a place outside of it. Never null. Slow; what Begin() uses.
  static ThreadRecord* OfThisThread(BlockWriter* block);

  // `function`: BlockWriter::RegisterFunctions. `object`: the pointer that the application holds.
  // `arguments`: the first kArgumentsPerCall of them are kept, AsWord.
  template <typename... Arguments>
  static CallRecord* Begin(uint32_t function, const void* object, const Arguments&... arguments) {
    Thread& thread = ThisThread();
    const uint64_t number = ++thread.number;
    if (number == thread.next_look) [[unlikely]]
      Look();
    CallRecord& call = thread.record->calls[number % kCallsPerThread];
    call.returned.store(0, std::memory_order_relaxed);
    call.object.store(reinterpret_cast<uintptr_t>(object), std::memory_order_relaxed);
    call.function.store(function, std::memory_order_relaxed);
    uint32_t place = 0;
    (Keep(call, place++, arguments), ...);
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

  template <typename Argument>
  static void Keep(CallRecord& call, uint32_t place, const Argument& argument) {
    if (place >= kArgumentsPerCall) return;
    call.arguments[place].store(AsWord(argument), std::memory_order_relaxed);
  }
  // The bits of what fits into a word; 0 for what does not.
  template <typename Argument>
  static uint64_t AsWord(const Argument& argument) {
    if constexpr (std::is_signed_v<Argument> && std::is_integral_v<Argument>) {
      return static_cast<uint64_t>(int64_t{argument});
    } else if constexpr (std::is_trivially_copyable_v<Argument> && sizeof(Argument) <= 8) {
      uint64_t word = 0;
      std::memcpy(&word, &argument, sizeof(Argument));
      return word;
    } else {
      return 0;
    }
  }

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
