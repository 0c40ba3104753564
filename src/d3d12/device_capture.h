// SPDX-License-Identifier: Apache-2.0
//
// What a capture has to know of a device, which no single call tells: which resources live and in which
// state they are, which of them is shown, where frames end; and what all resources hold, when a recording
// begins late.
//
// Threads: any. Lives as long as its device; not made without a capture.
#ifndef CAIRN_D3D12_DEVICE_CAPTURE_H_
#define CAIRN_D3D12_DEVICE_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/capture.h"
#include "d3d12/bindings.h"
#include "d3d12/wrapper.h"
#include "d3d12abi/resource_states.h"
#include "d3d12abi/texture_readback.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12CommandQueue;

// What is known of a resource when its wrapper is made.
struct CapturedResource {
  D3D12_RESOURCE_DESC desc = {};
  uint32_t initial_state = 0;  // D3D12_RESOURCE_STATES
  bool is_image = false;       // of a swap chain
  uint32_t present_state = 0;
};

class DeviceCapture {
 public:
  explicit DeviceCapture(ID3D12Device* real) : real_(real), readback_(real) {}
  DeviceCapture(const DeviceCapture&) = delete;
  DeviceCapture& operator=(const DeviceCapture&) = delete;

  // ---- Objects
  void AddResource(const Wrapper& wrapper, const CapturedResource& resource);
  // Before the real resource is released. The last frame of a program without presents ends when it
  // gives up what it has drawn into.
  void RemoveResource(const Wrapper& wrapper);
  void AddQueue(WrappedID3D12CommandQueue* queue);
  void RemoveQueue(WrappedID3D12CommandQueue* queue);

  // ---- Render target views
  void SetTarget(uint64_t handle, const Wrapper* resource,
                 const D3D12_RENDER_TARGET_VIEW_DESC* desc);
  // Descriptors are copied, or their heap ends: calls `change(DescriptorShadow&)` for what is known.
  template <typename Change>
  void ForTargets(const Change& change) {
    change(target_numbers_);
    change(target_subresources_);
  }
  // Notes that a list draws into what is behind a view.
  void NoteTarget(ListStates* list, uint64_t handle) const;

  // ---- Work
  // After ExecuteCommandLists, with the queue's lock held.
  void Executed(std::span<const ListStates* const> lists, bool copy_queue);
  // Before a submission, without the lock: begins a recording that is due since a present.
  void StartIfPending();
  // After a submission, without the lock: without presents, so many submissions count as a frame.
  void Submitted(ID3D12CommandQueue* queue);
  bool shows_images() const { return states_.LastPresented() != 0; }
  // The program is about to present from `queue`, a real one, and has submitted everything.
  void BeforePresent(ID3D12CommandQueue* queue);
  // A frame ends, if there was any work since the last one. `queue`: a real one, null if none is known;
  // without it the image is not hashed. No lock of a queue is held.
  void EndFrame(FrameEndKind how, ID3D12CommandQueue* queue);

 private:
  // The image of a frame.
  struct Shown {
    uint64_t object = 0;
    bool hashed = false;
    uint64_t hash_low = 0;
    uint64_t hash_high = 0;
  };

  Shown Look(const Capture& capture, ID3D12CommandQueue* queue, uint64_t object,
             uint32_t subresource);
  void WriteFrame(Capture& capture, FrameEndKind how, const Shown& shown);
  // The recording begins here: with all queues at rest, what every resource holds.
  void StartLate(Capture& capture);
  Status WaitForAllQueues();
  void WriteAllContents(Capture& capture, ID3D12CommandQueue* queue);
  Status WriteContents(Capture& capture, ID3D12CommandQueue* queue, uint64_t number,
                       ID3D12Resource* real);
  // The real resource, with a reference for the caller; null if it has ended.
  ComPtr<ID3D12Resource> Find(uint64_t number) const;
  // A direct queue of the program, real; null if there is none. queues_mutex_ is held.
  ID3D12CommandQueue* AnyQueueLocked() const;
  // The same with a reference, or one of our own if the program has none.
  ComPtr<ID3D12CommandQueue> QueueToLook();

  ID3D12Device* const real_;
  ResourceStates states_;
  DescriptorShadow target_numbers_;       // low half of the object number
  DescriptorShadow target_subresources_;  // + 1

  mutable std::mutex objects_mutex_;
  struct Known {
    ID3D12Resource* real;
    bool is_image;
  };
  std::unordered_map<uint64_t, Known> resources_;
  // Held while a recording begins late. A thread that holds a queue's lock does not take it.
  mutable std::mutex queues_mutex_;
  std::vector<WrappedID3D12CommandQueue*> queues_;

  std::mutex frame_mutex_;
  TextureReadback readback_;
  Shown presenting_;
  std::atomic<bool> start_pending_{false};
  std::atomic<bool> counts_submissions_{true};  // until the program presents or marks frames
  std::atomic<uint64_t> submissions_{0};        // since the device began
  std::atomic<uint64_t> frame_submissions_{0};  // at the last end of a frame
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_DEVICE_CAPTURE_H_
