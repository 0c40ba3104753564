// SPDX-License-Identifier: Apache-2.0
//
// A capture's state of a device, which no single call shows: the living resources and their states,
// the resource that is shown, the ends of frames; and the contents of all resources, when a
// recording begins late.
//
// Threads: any. Lives as long as its device; not made without a capture.
//
// Locks, in the order in which they are taken. The implementation has locks of its own: who presents holds
// that of a native queue (vkd3d_acquire_vk_queue) from BeforePresent() to the end of the frame. So the end
// of a frame with a present takes none of those under which the GPU is given work.
//   look_mutex_     over work for the GPU: images of frames, a late start. Before a present: taken before
//                   the program takes the native queue
//   queues_mutex_   over a late start; otherwise for moments. A thread with a queue's lock does not take it
//   capture_mutex() of queues
//   opened_mutex_   while WriteOpened() waits for the GPU, on a queue of its own; none of the others is taken
//                   meanwhile but objects_mutex_
//   those of readback_capture.h and structure_capture.h
//   frame_mutex_, objects_mutex_: for moments, over no call of the implementation
#ifndef CAIRN_APP_D3D12_CAPTURE_DEVICE_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_DEVICE_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "app/capture/capture.h"
#include "app/d3d12/bindings.h"
#include "app/d3d12/capture/readback_capture.h"
#include "app/d3d12/capture/resource_hashes.h"
#include "app/d3d12/capture/structure_capture.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/resource_states.h"
#include "d3d12abi/texture_readback.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12CommandQueue;

// The facts of a resource when its wrapper is made.
struct CapturedResource {
  D3D12_RESOURCE_DESC desc = {};
  uint32_t initial_state = 0;  // D3D12_RESOURCE_STATES
  bool is_image = false;       // of a swap chain
  uint32_t present_state = 0;
  bool is_new = true;                 // false: it comes back after its last reference
  const Wrapper* heap = nullptr;      // that it is placed in
  bool is_memory_of_program = false;  // MappingCapture::is_memory_of_program()
};

class DeviceCapture {
 public:
  explicit DeviceCapture(ID3D12Device* real);
  ~DeviceCapture();
  DeviceCapture(const DeviceCapture&) = delete;
  DeviceCapture& operator=(const DeviceCapture&) = delete;

  // ---- Objects
  void AddResource(const Wrapper& wrapper, const CapturedResource& resource);
  // Call it before the real resource is released. The last frame of a program without presents ends
  // when the program releases its render target, the only image that a replay could compare. That
  // happens once: a program that goes on to draw recreates its targets now and then.
  void RemoveResource(const Wrapper& wrapper);
  // Omits the hash of a resource whose contents differ from run to run. Call it before
  // RemoveResource().
  void HashNot(const Wrapper& wrapper) {
    if (hashes_.has_value()) hashes_->Forget(wrapper.capture_number());
  }
  void AddHeap(const Wrapper& wrapper);
  // Records what an opened resource holds, without those textures whose state others may know alone. Waits for
  // the GPU, for a limited time, on a queue that nothing else is submitted to. Gives up after some waits in vain.
  void WriteOpened(const Wrapper& wrapper);
  void AddQueue(WrappedID3D12CommandQueue* queue);
  void RemoveQueue(WrappedID3D12CommandQueue* queue);

  // ---- Render target views
  void SetTarget(uint64_t handle, const Wrapper* resource,
                 const D3D12_RENDER_TARGET_VIEW_DESC* desc);
  // Calls `change(DescriptorShadow&)` for known descriptors when descriptors are copied, or their
  // heap ends.
  template <typename Change>
  void ForTargets(const Change& change) {
    change(target_numbers_);
    change(target_subresources_);
  }
  // Notes that a list draws into what is behind a view.
  void NoteTarget(ListStates* list, uint64_t handle) const;

  // Returns the tracker of data that the CPU reads.
  ReadbackCapture& readbacks() { return readbacks_; }
  // Returns the tracker of acceleration structures.
  StructureCapture& structures() { return structures_; }

  // ---- Work
  // After ExecuteCommandLists, with the queue's lock held. `queue`: its number.
  void Executed(std::span<const ListStates* const> lists, bool copy_queue, uint64_t queue);
  // Begins a recording that is due since a present. Call it before a submission, without the lock.
  void StartIfPending();
  // Counts a submission: without presents, a number of submissions count as a frame. Call it after
  // the submission, without the lock.
  void Submitted();
  bool shows_images() const { return states_.LastPresented() != 0; }
  // The program is about to present, and has submitted everything. It holds no native queue yet.
  void BeforePresent();
  // A frame ends, if there was any work since the last one. No lock of a queue is held.
  void EndFrame(FrameEndKind how);
  // Ends the last frame of the device or process, while other threads may be anywhere. Like
  // EndFrame(), but omits hashes that would need to wait for a lock.
  void EndLastFrame();

 private:
  // The image of a frame.
  struct Shown {
    uint64_t object = 0;
    bool hashed = false;
    uint64_t hash_low = 0;
    uint64_t hash_high = 0;
  };

  // A queue that sees all that was drawn, and its lock where it is the program's.
  struct LookQueue {
    ComPtr<ID3D12CommandQueue> real;
    std::unique_lock<std::mutex> lock;
  };

  // The image of the frame that ends with the process; without hash if something is in the way.
  Shown LookAtLast(const Capture& capture);
  // look_mutex_ is held, and no lock of a queue. If the recording ends with this frame: hashes of what resources
  // hold.
  void HashAtStop(const Capture& capture);
  void HashAll();
  // Returns true if all queues have finished their work. Does not wait for their locks, and waits
  // for the GPU for a limited time.
  bool IsAllDone();

  static bool Hashes(const Capture& capture) { return capture.hash_frames() && capture.on(); }
  // look_mutex_ is held.
  Shown Look(ID3D12CommandQueue* queue, uint64_t object);
  TextureReadback& Readback();
  // Returns true if a frame ends here, and counts it. The caller holds frame_mutex_.
  bool CountFrame(FrameEndKind how);
  // frame_mutex_ is held. True: the recording is to begin.
  bool WriteFrame(Capture& capture, FrameEndKind how, const Shown& shown);
  void EndPresentedFrame(Capture& capture);
  // The recording begins here: with all queues at rest, what every resource holds. look_mutex_ is held.
  void StartLate(Capture& capture);
  // False: the GPU is at work, and the next frame is soon enough.
  bool WaitForAllQueues(Capture& capture);
  bool IsIdle(ID3D12CommandQueue* queue, std::string* why);
  void WriteAllContents(Capture& capture, ID3D12CommandQueue* queue);
  // Reads a resource by `queue`, which may be null, with `readback`.
  struct ContentsReader {
    ID3D12CommandQueue* queue;
    TextureReadback& readback;
    bool is_memory_of_program;
  };
  Status WriteContents(Capture& capture, const ContentsReader& reader, uint64_t number,
                       ID3D12Resource* real);
  static Result<std::vector<std::byte>> ReadBuffer(const ContentsReader& reader, uint64_t number,
                                                   ID3D12Resource* real, uint64_t offset,
                                                   uint64_t size, D3D12_RESOURCE_STATES state);
  Status ReadOpened(Capture& capture, uint64_t number, ID3D12Resource* real);
  // The real resource, with a reference for the caller; null if it has ended.
  ComPtr<ID3D12Resource> Find(uint64_t number) const;
  // A direct queue of the program, real, or one of our own if it has none. queues_mutex_ is held.
  ComPtr<ID3D12CommandQueue> AnyQueueLocked() const;
  // Null if what was done to `object` last was done on a queue that cannot look at it.
  LookQueue QueueToLook(uint64_t object, bool lock);

  ID3D12Device* const real_;
  ResourceStates states_;
  ReadbackCapture readbacks_;
  StructureCapture structures_;
  std::optional<ResourceHashes> hashes_;  // none: not requested
  DescriptorShadow target_numbers_;       // low half of the object number
  DescriptorShadow target_subresources_;  // + 1

  mutable std::mutex objects_mutex_;
  struct Known {
    ID3D12Resource* real;
    bool is_image;
    bool is_memory_of_program;
  };
  std::unordered_map<uint64_t, Known> resources_;
  // Held while a recording begins late. A thread that holds a queue's lock does not take it.
  mutable std::mutex queues_mutex_;
  std::vector<WrappedID3D12CommandQueue*> queues_;

  std::mutex look_mutex_;
  std::optional<TextureReadback> readback_;
  uint32_t readbacks_given_up_ = 0;

  // For WriteOpened(). The lock is held while it waits for the GPU; nothing else takes it.
  std::mutex opened_mutex_;
  ComPtr<ID3D12CommandQueue> opened_queue_;
  std::optional<TextureReadback> opened_readback_;
  uint32_t opened_given_up_ = 0;

  uint32_t start_attempts_ = 0;

  std::mutex frame_mutex_;
  std::unordered_map<std::thread::id, Shown> presenting_;  // by presenting thread
  bool released_last_target_ = false;
  std::atomic<bool> start_pending_{false};
  std::atomic<bool> start_at_next_frame_{false};
  std::atomic<bool> counts_submissions_{true};  // until the program presents or marks frames
  std::atomic<uint64_t> submissions_{0};        // since the device began
  std::atomic<uint64_t> frame_submissions_{0};  // at the last end of a frame
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_DEVICE_CAPTURE_H_
