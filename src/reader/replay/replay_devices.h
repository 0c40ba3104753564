// SPDX-License-Identifier: Apache-2.0
//
// The devices of a replay: what the player has on each of them, and which are lost. A device that was
// lost in the recording may be lost here, too; any other loss is a failure, at the latest when all was
// played.
#ifndef CAIRN_READER_REPLAY_REPLAY_DEVICES_H_
#define CAIRN_READER_REPLAY_REPLAY_DEVICES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "d3d12abi/one_shot_list.h"
#include "d3d12abi/resource_states.h"
#include "d3d12abi/texture_readback.h"
#include "reader/replay/canary.h"
#include "reader/replay/list_structures.h"
#include "reader/replay/own_memory.h"
#include "reader/replay/play_log.h"
#include "reader/replay/recent_values.h"
#include "reader/replay/structure_map.h"
#include "reader/replay/work_graph_memory.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Owned by ReplayDevices.
struct DeviceContext {
  uint64_t number = 0;  // of the device
  ComPtr<ID3D12Device> device;
  uint64_t wait_timeout_ns = 0;
  ResourceStates states;
  // Signalled by a queue when it is asked whether it is idle.
  struct Idle {
    ComPtr<ID3D12Fence> fence;
    uint64_t value = 0;
  };
  std::map<uint64_t, Idle> queues;  // by number
  bool lost = false;                // what follows on it is skipped
  // Objects that ended while the GPU might still use them: programs wait in ways that no trace shows.
  struct Ended {
    std::vector<std::pair<ComPtr<ID3D12Fence>, uint64_t>> until;
    std::vector<ComPtr<IUnknown>> objects;
  };
  std::vector<ComPtr<IUnknown>> ended;
  std::deque<Ended> batches;
  std::unique_ptr<OneShotList> barriers;
  std::unique_ptr<Canary> canary;
  ComPtr<ID3D12Resource> zeros;  // a buffer in place of none
  WorkGraphMemory graph_memory;
  // It is known to be another device than the recorded one: only then anything gets more memory than was recorded.
  bool is_another = false;
  bool has_ray_tracing = false;  // only if is_another
  // In place of the program's, where that is too small here.
  OwnMemory structure_memory{D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE};
  OwnMemory scratch_memory{D3D12_RESOURCE_STATE_UNORDERED_ACCESS};
  // Empty unless is_another. Buffers own structures, lists own scratch memory.
  StructureMap structures;
  ScratchMap scratches;
  ListStructures lists;

  // Returns a queue of the player's own, for copies. The first call makes it; an error: the device
  // refuses it.
  Result<ID3D12CommandQueue*> OwnQueue();
  // Returns what reads and writes resources, each within the time-out of waits.
  TextureReadback& Readback();

 private:
  ComPtr<ID3D12CommandQueue> queue_;
  std::unique_ptr<TextureReadback> readback_;
};

// One thread.
class ReplayDevices {
 public:
  // `options`, `log`: outlive this.
  ReplayDevices(const PlayerOptions& options, PlayLog* log) : options_(options), log_(log) {}

  // Returns what belongs to the device, in place of what had its number before.
  DeviceContext* Add(uint64_t number, ComPtr<ID3D12Device> device);
  // A device ends. Returns true if it was lost: then it is leaked with all that the GPU may still hold.
  bool Remove(uint64_t number);
  // Leaks all of them: after a loss or a hang the implementation may never return.
  void Abandon();

  // Null: there is none.
  DeviceContext* Find(uint64_t number) {
    DeviceContext* const recent = recent_.Find(number);
    return recent != nullptr ? recent : LookUp(number);
  }
  const std::map<uint64_t, std::unique_ptr<DeviceContext>>& all() const { return devices_; }

  // Asks the device, or all of them, whether they are lost. An error ends the playback: that of Lose().
  Status CheckLoss(DeviceContext* context);
  Status CheckLosses();
  // Notes that a device is lost here. With options.canary that ends the playback, with kDeviceLost;
  // otherwise what follows on the device is skipped.
  Status Lose(DeviceContext* context, const std::string& what);
  // A device was lost in the recording, or the program removes it.
  void RecordLoss(uint64_t number) { recorded_.insert(number); }

  bool any_lost() const { return !losses_.empty(); }
  bool IsLost(uint64_t number) const { return losses_.contains(number); }
  bool IsLossRecorded(uint64_t number) const { return recorded_.contains(number); }
  // At the end: kDeviceLost, in the log too, if a device was lost here that was not lost in the
  // recording.
  Status Judge();

 private:
  DeviceContext* LookUp(uint64_t number);

  struct Loss {
    uint64_t record = 0;
    std::string what;
  };

  const PlayerOptions& options_;
  PlayLog* const log_;
  std::map<uint64_t, std::unique_ptr<DeviceContext>> devices_;
  RecentValues<DeviceContext> recent_;  // of devices_
  std::map<uint64_t, Loss> losses_;     // here, by device
  std::set<uint64_t> recorded_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_REPLAY_DEVICES_H_
