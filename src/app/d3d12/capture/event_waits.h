// SPDX-License-Identifier: Apache-2.0
//
// Records when fences reach the values that events of the program wait for (kFenceReached). A thread
// waits for an event in the operating system, unseen. But what it does after the wait, it does when the
// fence has the value. So each fence with such waits is asked before everything is recorded that the
// program may have done after a wait: a replay that waits at the same place never waits too late, and
// not before the GPU had got there in the recording.
//
// Calls that a command list records need no question: their list was reset before, and they take
// effect when it is submitted; nor do calls that change nothing.
//
// Threads: any. Its lock is taken under those of queues and of mapped memory; of the implementation it calls
// ID3D12Fence::GetCompletedValue under it.
#ifndef CAIRN_APP_D3D12_CAPTURE_EVENT_WAITS_H_
#define CAIRN_APP_D3D12_CAPTURE_EVENT_WAITS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "app/d3d12/wrapper.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12gen/methods.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// One for all devices of the process: a thread that has waited for a fence of one may go on with another.
class EventWaits {
 public:
  static EventWaits& Get();  // never destroyed

  // Call it before the call is recorded. Returns the flags of its record: kRecordWaitFollowed for a
  // wait with an event, if there is memory to follow it.
  uint8_t BeforeCall(const Wrapper& wrapper, Method method, const void* const* arguments);
  // Call it before a write of the CPU is recorded, after its bytes were read. Cost without waits: a load.
  void Look() {
    if (count_.load(std::memory_order_acquire) != 0) [[unlikely]]
      LookAtAll();
  }
  // Call it when the fence ends and its real object still exists: nothing can be asked any more, so
  // a replay is to wait now.
  void FenceEnds(const Wrapper& fence);

 private:
  struct Fence {
    ID3D12Fence* real = nullptr;
    std::set<uint64_t> values;
    uint64_t signalled = 0;  // the value of the last signal, seen by the GPU or not yet
  };

  bool Add(const Wrapper* fence, uint64_t value);
  bool AddAll(const Wrapper& wrapper, Method method, const void* const* arguments);
  void LookAtAll();
  // The fence is about to be signalled. If it goes back, the values from there to its last signal may never be
  // seen again.
  void Signals(const Wrapper& fence, uint64_t value);
  // mutex_ is held. Records that the fence has come to the greatest of its values up to `completed`, and forgets
  // these.
  void Reached(uint64_t number, Fence* fence, uint64_t completed);
  // mutex_ is held. The same for each value after `from` up to `to`, though nobody saw it.
  void Unseen(uint64_t number, Fence* fence, uint64_t from, uint64_t to);
  void Record(uint64_t number, uint64_t value, bool seen);
  // mutex_ is held. They are recorded: who finds none left may go on.
  void Forget(Fence* fence, std::set<uint64_t>::iterator first, std::set<uint64_t>::iterator last);

  std::mutex mutex_;
  std::map<uint64_t, Fence> fences_;  // by capture number
  std::atomic<size_t> count_{0};      // of all values
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_EVENT_WAITS_H_
