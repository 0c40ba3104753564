// SPDX-License-Identifier: Apache-2.0
//
// The waits of a playback for fences, queues and devices: each has a time-out, and looks for lost
// devices and for interruption. A wait blocks only for what was enqueued already: values that come later
// in the trace, or never, are not waited for.
//
// PlayerImpl says what is enqueued (fences(), unfinished()), and asks for the waits. One thread.
#ifndef CAIRN_READER_REPLAY_WAIT_ENGINE_H_
#define CAIRN_READER_REPLAY_WAIT_ENGINE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"
#include "reader/replay/device.h"
#include "reader/replay/fence_model.h"
#include "reader/replay/play_log.h"
#include "reader/replay/player.h"
#include "reader/replay/replay_devices.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/unfinished_work.h"
#include "reader/replay/wait_time.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Errors of its waits end the playback, and are in the log: kDeviceLost after a hang
// (PlayerFailure::kHang) or, in a search, a loss (kLost); kUnsupported for kUnclear. A wait that is
// interrupted, or whose device is lost meanwhile, is ok: look at the log and at the device after it.
class WaitEngine {
 public:
  // All but `recorded_frame_ns` outlive this. `recorded_frame_ns`: returns how long the frame that is
  // played took when it was recorded; 0: unknown.
  WaitEngine(const PlayerOptions& options, const D3D12Library& library, ReplayObjects* objects,
             ReplayDevices* devices, PlayLog* log, std::function<uint64_t()> recorded_frame_ns)
      : options_(options),
        library_(library),
        objects_(objects),
        devices_(devices),
        log_(log),
        recorded_frame_ns_(std::move(recorded_frame_ns)),
        unfinished_(options.on_unfinished) {}

  FenceModel& fences() { return fences_; }
  UnfinishedWork& unfinished() { return unfinished_; }

  // Waits until one of the fences has its value; all of these are reachable. Waits for none if one of
  // the fences is not here: that may be the one. When all queues have done what they had and no value
  // has come, the wait is skipped.
  Status Await(std::span<const FenceValue> any);
  // The program waits for one of these in an unseen way: awaits it now if it is reachable, or when it is. Counts the
  // wait as skipped if fences() keeps no more of them.
  Status AwaitWhenReachable(const std::vector<FenceValue>& any);
  // Awaits what fences() says has become reachable.
  Status AwaitReachable();

  // Wait until a queue, all queues of a device, or all queues have done what they have; those that are
  // blocked, and lost devices, are passed over. `since_ns`: when the work began (MonotonicNs()); 0: now.
  Status WaitForQueue(uint64_t queue, DeviceContext* context, uint64_t since_ns = 0);
  Status WaitForDevice(uint64_t device);
  Status WaitForDevices();
  // Waits for the submission of the record that is played, keeps it if it is the slowest, and runs a
  // canary behind it. For searches.
  Status WaitForSubmission(uint64_t queue, DeviceContext* context, uint64_t since_ns);

  // Releases objects of context->ended that the GPU can no longer use. Waits only for the oldest, when
  // there are many.
  Status SweepEnded(DeviceContext* context);
  // Returns true if a queue waits for a value that nothing signals.
  bool AnyBlocked() const;
  // Returns true if the GPU has done all that it can. Called before objects are released although
  // the playback did not reach its end. Waits for a short time, interrupted or not.
  bool Settle();

 private:
  struct Awaited {
    ID3D12Fence* fence = nullptr;
    uint64_t number = kNoObject;  // of a fence of the trace
    uint64_t value = 0;
    DeviceContext* context = nullptr;
    bool may_be_most = false;  // the program itself gives it the greatest value
    bool Reached(uint64_t now) const;
  };
  class IdleQueues;

  Status WaitFor(std::span<const Awaited> any, const std::string& what, uint64_t since_ns = 0);
  Status LookForLoss(std::span<const Awaited> any, const std::string& what, bool* over);
  void GiveUp(std::span<const Awaited> any);
  Status CheckPunctuality(const WaitTime& time, const std::string& what, const Awaited& awaited);
  // Returns the time after which a wait counts as that for a hung GPU.
  uint64_t LimitNs() const;
  Status AskIdle(uint64_t queue, DeviceContext* context);
  bool AnyBlocked(const DeviceContext& context) const;
  Status RunCanary(uint64_t submitted_to, DeviceContext* context);

  const PlayerOptions& options_;
  const D3D12Library& library_;
  ReplayObjects* const objects_;
  ReplayDevices* const devices_;
  PlayLog* const log_;
  const std::function<uint64_t()> recorded_frame_ns_;
  FenceModel fences_;
  UnfinishedWork unfinished_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_WAIT_ENGINE_H_
