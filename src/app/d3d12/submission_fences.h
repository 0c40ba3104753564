// SPDX-License-Identifier: Apache-2.0
//
// Finds the progress of a device's queues by fences: a queue was told to signal one, and a thread
// that sees the value knows that the queue's earlier work has finished. The application reads most
// values; the others are read at other occasions: at the queue's next signal, and before a fence or
// a queue ends.
//
// Threads: any. The lock is held while a real fence is asked for its value, so that the fence stays.
#ifndef CAIRN_APP_D3D12_SUBMISSION_FENCES_H_
#define CAIRN_APP_D3D12_SUBMISSION_FENCES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "d3d12abi/d3d12_api.h"

namespace cairn {

class Context;

inline namespace CAIRN_D3D12_NAMESPACE {

class SubmissionFences {
 public:
  struct Signal {
    ID3D12Fence* fence = nullptr;  // real; Forget says when it goes
    uint32_t object = 0;           // its entry in the block's table
    uint64_t value = 0;            // that nothing else brings it to
    void* queue = nullptr;         // as the context knows it
    uint64_t submission = 0;       // the last one before the signal, on that queue
  };

  // Without one nothing is followed. Until Stop.
  void Start(Context* context) { context_ = context; }
  void Stop();

  // Records a signal of the queue. Updates the state of the queue's other signals.
  void Add(const Signal& signal);
  // The fence was seen to have come so far.
  void Reached(ID3D12Fence* fence, uint64_t value);
  // Asks the fence.
  void Look(ID3D12Fence* fence);
  // The same, and from now on it says nothing of what it was to signal so far.
  void Forget(ID3D12Fence* fence);
  // The same without asking it: others have signalled it.
  void Distrust(ID3D12Fence* fence);
  void ForgetQueue(void* queue);

 private:
  // The most signals whose values were not queried; the oldest are dropped.
  static constexpr size_t kMostPending = 64;

  // mutex_ is held in these. Takes out the signals that `wanted` is true of and whose value was reached.
  template <typename Wanted>
  void Ask(Wanted wanted);
  template <typename Which>
  void Remove(Which which);
  void Complete(const Signal& signal);

  Context* context_ = nullptr;
  std::mutex mutex_;
  std::atomic<size_t> count_{0};  // changed under mutex_
  std::array<Signal, kMostPending> pending_{};
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_SUBMISSION_FENCES_H_
