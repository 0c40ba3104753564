// SPDX-License-Identifier: Apache-2.0
//
// The program's end of a capture's region (format/block/capture_region.h): where its parts lie, waiting for
// the watcher, and the blocks of the spill.
#ifndef CAIRN_APP_CAPTURE_SHARED_REGION_H_
#define CAIRN_APP_CAPTURE_SHARED_REGION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "app/recorder/watcher_link.h"
#include "base/status.h"
#include "format/block/capture_region.h"
#include "os/shared_memory.h"

namespace cairn {

// Any thread.
class SharedRegion {
 public:
  // The header says where everything lies; the rest of it is for the caller to fill. Errors: kNotFound
  // (no watcher), kIo, kOutOfMemory.
  static Result<std::unique_ptr<SharedRegion>> Create();
  // The time that a thread waits for a watcher that gives nothing back: it is stopped, or does not
  // support captures. Then the capture ends, and the region says so. Tests wait for a shorter time.
  static constexpr uint64_t kMostSilentNs = 10'000'000'000;
  static inline std::atomic<uint64_t> most_silent_ns{kMostSilentNs};
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  // The header is complete.
  Status HandOver() const;

  CaptureRegionHeader& header() const {
    return *reinterpret_cast<CaptureRegionHeader*>(memory_.data());
  }
  CaptureRing& ring(uint32_t index) const { return rings_[index]; }
  std::byte* ring_bytes(uint32_t index) const {
    return ring_bytes_ + size_t{index} * kCaptureRingBytes;
  }
  std::byte* spill_block(uint32_t block) const { return spill_ + size_t{block} * kSpillBlockBytes; }
  // Held by the thread that writes into the last ring.
  std::mutex& last_ring_mutex() { return last_ring_mutex_; }
  // Tracks the calls of the threads that share the last ring; the caller holds last_ring_mutex().
  // Without memory a call is not tracked.
  void EnterInLastRing(uint64_t call);
  void LeaveInLastRing(uint64_t call);

  CaptureState state() const {
    return static_cast<CaptureState>(header().state.load(std::memory_order_acquire));
  }
  void SetState(CaptureState state);

  // Returns true if recording has ended: it was stopped, or the watcher is gone.
  bool ended() const { return state() == CaptureState::kStopped; }

  void RingDoorbell() const;

  // Takes as many blocks of the spill as `blocks` has room for, and waits for them. The watcher frees
  // them when it has read the record that names them. False: the capture has ended.
  bool TakeBlocks(std::span<uint32_t> blocks);

  // Calls `ready` until it is true, each time that the watcher has made room. `waiting` counts those who
  // do. False: the capture has ended meanwhile: at most a second after the watcher has, or because that has made no
  // room for ten seconds.
  template <typename Ready>
  bool WaitUntil(std::atomic<uint32_t>& waiting, const Ready& ready) {
    waiting.fetch_add(1, std::memory_order_seq_cst);
    bool found = true;
    for (;;) {
      const uint32_t seen = header().drained.load(std::memory_order_seq_cst);
      if (ready()) break;
      found = Sleep(seen);
      if (!found) break;
    }
    waiting.fetch_sub(1, std::memory_order_relaxed);
    return found;
  }

  // Ends the capture, and says so once, if the watcher is gone or reads no more. False: it has ended.
  // Costs a system call.
  bool CheckWatcher();

 private:
  SharedRegion(SharedMemory memory, WatcherLine watcher);
  // Waits until `drained` is not `seen`; false: the capture has ended.
  bool Sleep(uint32_t seen);
  // The watcher has given nothing back for kMostSilentNs in which threads waited for it.
  bool IsSilent();
  void End();
  bool TakeBlock(uint32_t* block);
  void FreeBlocks(std::span<const uint32_t> blocks);

  SharedMemory memory_;
  WatcherLine watcher_;
  CaptureRing* rings_;
  std::byte* ring_bytes_;
  std::byte* spill_;
  std::mutex last_ring_mutex_;
  std::vector<uint64_t> last_ring_calls_;
  std::atomic<uint32_t> answered_{0};  // `drained` as seen last
  std::atomic<uint64_t> looked_ns_{0};
  std::atomic<uint64_t> silent_ns_{0};
};

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_SHARED_REGION_H_
