// SPDX-License-Identifier: Apache-2.0
//
// Records a hash of data that the CPU finds in memory written by the GPU, for a replay to compare
// with. Reads by the CPU cannot be observed. But copies of lists into readback heaps are complete
// when a fence has its value, and are hashed then: when the program asks a fence or has waited for
// one, when it maps or unmaps the buffer, before a submission copies to the same place again, and
// when buffer or fence end. So each copy is hashed once, never while the GPU writes, whether the
// program maps once or each time.
//
// Not looked at: what shaders write into custom heaps, copies that no fence of the program follows, and
// those that only a fence follows which several queues signal, or others (WrappedID3D12Fence::IsShared). Taken to lie elsewhere: what the CPU or
// WriteBufferImmediate write into such a buffer, and other buffers placed in the same memory.
//
// Threads: any. Its lock is taken under those of queues, and over that of a mapping; of the implementation
// it calls ID3D12Fence::GetCompletedValue under it.
#ifndef CAIRN_APP_D3D12_CAPTURE_READBACK_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_READBACK_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "app/d3d12/wrapper.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/pending_copies.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class MappingCapture;

// A member of a capture's state of a device. Without memory it hashes less, without a note: a
// replay compares the existing hashes.
class ReadbackCapture {
 public:
  // A list copies into this buffer of a readback heap. Until BufferEnds() with its number.
  void Follow(uint64_t buffer, MappingCapture& mappings);
  void BufferEnds(uint64_t buffer);

  // Marks results of queries: the resource's contents, and copies of them, differ from run to run.
  void NoteUnpredictable(uint64_t resource);
  bool IsUnpredictable(uint64_t resource);

  // Call it before ExecuteCommandLists, with the queue's lock held.
  void BeforeExecute(std::span<const ListCopies* const> lists, uint64_t queue);
  // Call it after ID3D12CommandQueue::Signal with a value that the fence never got before, and that
  // no other queue will signal; with the queue's lock held.
  void Signalled(uint64_t queue, const Wrapper& fence, uint64_t value);
  // Call it when the fence ends, or is about to be signalled elsewhere: its value no longer shows
  // that copies are complete.
  void ForgetFence(uint64_t fence);
  // The same without looking before: its value says nothing already.
  void DistrustFence(uint64_t fence);

  // The program knows of a fence's progress, or comes to know: whatever is there is looked at.
  void Look() {
    if (waiting_.load(std::memory_order_relaxed) != 0) LookAtAll();
  }
  // Call it after Map and before Unmap.
  void LookAt(uint64_t buffer);

 private:
  // Asks each fence once.
  class Progress;

  void LookAtAll();
  // True: nothing is left to do for this copy.
  bool Hash(PendingCopies::Copy& copy, Progress* progress);
  // mutex_ is held. Without a capture nothing is followed any longer. True: there is none.
  bool Ended();
  void Count();

  std::mutex mutex_;
  PendingCopies pending_;
  std::unordered_map<uint64_t, MappingCapture*> buffers_;
  std::unordered_map<uint64_t, ID3D12Fence*> fences_;  // real, of those that copies wait for
  std::unordered_set<uint64_t> unpredictable_;
  // The number of entries to check without the lock: pending copies, copies not yet proven by a
  // fence, and unpredictable resources.
  std::atomic<size_t> held_{0};
  std::atomic<size_t> waiting_{0};
  std::atomic<size_t> unpredictable_count_{0};
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_READBACK_CAPTURE_H_
