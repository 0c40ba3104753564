// SPDX-License-Identifier: Apache-2.0
//
// Acceleration structures on another device than they were recorded on: those that need more memory there than the
// program left for them, and builds that need more scratch memory, get memory of the player's. The addresses that the
// program has of them mean that from then on.
#ifndef CAIRN_READER_REPLAY_OWN_STRUCTURES_H_
#define CAIRN_READER_REPLAY_OWN_STRUCTURES_H_

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"
#include "reader/replay/descriptor_views.h"
#include "reader/replay/memory_player.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/play_log.h"
#include "reader/replay/replay_devices.h"
#include "reader/replay/replay_objects.h"
#include "reader/replay/wait_engine.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Changes nothing on a device that may be the recorded one (DeviceContext::is_another). Nobody knows how much memory a
// structure had when it was recorded: it moves if it does not fit into its buffer, or meets another one that is known.
// A program that uses memory again for a structure at another address moves that one, too. One thread.
class OwnStructures {
 public:
  // All outlive it.
  struct Parts {
    ReplayObjects* objects;
    DescriptorViews* views;
    MemoryPlayer* memory;
    WaitEngine* waits;
    PlayCost* cost;
    PlayLog* log;
  };
  explicit OwnStructures(Parts parts) : parts_(parts) {}

  // Change the addresses of a build, or of a copy, that is made next. Errors are reasons to skip the call: those of
  // OwnMemory; kUnsupported: nobody knows how much memory it needs in place of a structure that moved; or the playback
  // ends.
  Status PlaceBuild(DeviceContext* context, uint64_t list,
                    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc);
  Status PlaceCopy(DeviceContext* context, uint64_t list, D3D12_GPU_VIRTUAL_ADDRESS* to,
                   D3D12_GPU_VIRTUAL_ADDRESS* from, uint32_t mode);
  // Changes `address`, in the program's memory on this device, to where a structure of this size has room. kUnsupported:
  // it is in no buffer that is found.
  Status Place(DeviceContext* context, uint64_t size_bytes, D3D12_GPU_VIRTUAL_ADDRESS* address);

  // An object ends, and is still in ReplayObjects. Structures in a buffer go on with another one that shares the memory.
  Status End(DeviceContext* context, uint64_t object);
  // A list was reset, or ends: the scratch memory of its builds ends when the GPU is done.
  Status EndList(DeviceContext* context, uint64_t list);

 private:
  // One of unknown size is made at `place`.
  Status PlaceUnknown(DeviceContext* context, D3D12_GPU_VIRTUAL_ADDRESS place);
  std::optional<ReplayObjects::Room> RoomAt(DeviceContext* context, uint64_t place,
                                            uint64_t without = kNoObject);
  // `made`: the place of what is built with it.
  Status PlaceScratch(DeviceContext* context, uint64_t list, uint64_t size_bytes, uint64_t made,
                      D3D12_GPU_VIRTUAL_ADDRESS* address, bool* moved);
  // Makes the views again that were made before a structure moved.
  Status MoveViews(DeviceContext* context, D3D12_GPU_VIRTUAL_ADDRESS from,
                   D3D12_GPU_VIRTUAL_ADDRESS to);

  const Parts parts_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_OWN_STRUCTURES_H_
