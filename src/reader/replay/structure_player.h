// SPDX-License-Identifier: Apache-2.0
//
// Builds the acceleration structures that were there when a recording began (kStructure): each from its recorded
// inputs, by the steps that had led to it. What is copied later is built in memory of the player's.
#ifndef CAIRN_READER_REPLAY_STRUCTURE_PLAYER_H_
#define CAIRN_READER_REPLAY_STRUCTURE_PLAYER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"
#include "format/calls/record.h"
#include "format/calls/structure_inputs.h"
#include "format/calls/value_decoder.h"
#include "reader/replay/own_structures.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/play_log.h"
#include "reader/replay/replay_devices.h"
#include "reader/replay/replay_objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// One thread.
class StructurePlayer {
 public:
  // All outlive it. `limit`: how long a step may take on the GPU.
  struct Parts {
    BlobSource* blobs;
    ReplayObjects* objects;
    ReplayDevices* devices;
    PlayLog* log;
    PlayCost* cost;
    OwnStructures* own;
    std::function<Status()> check_cost;
    std::chrono::milliseconds limit;
  };
  explicit StructurePlayer(Parts parts) : parts_(parts) {}

  // Makes the step, and waits for it. An error ends the playback; a structure that cannot be built is in the log, once.
  Status Play(const Record& record);

 private:
  // The structure whose steps are played.
  struct Structure {
    uint64_t object = 0;
    uint64_t offset_bytes = 0;
    uint32_t copies_left = 0;
    D3D12_GPU_VIRTUAL_ADDRESS address = 0;  // where it lies by now; 0: it could not be built
    uint64_t size_bytes = 0;                // that it may take there
    uint32_t type = 0;                      // of its build, as the next two
    uint32_t flags = 0;
    uint32_t count = 0;
    ComPtr<ID3D12Resource> memory;  // of the player's, if it lies there
  };
  // The parts that a step uses.
  struct Step {
    const StructureBody& body;
    ReplayObject* object;
    DeviceContext* context;
    ComPtr<ID3D12Device5> device;
    ComPtr<ID3D12GraphicsCommandList4> list;
  };

  Status MakeStep(const StructureBody& body, ReplayObject* object, DeviceContext* context,
                  std::span<const std::byte> rest);
  Status Build(const Step& step, StructureInputs inputs);
  Status Copy(const Step& step);
  // Returns where the step puts the structure, with room for `size_bytes`; `memory`: of the player's, if it lies there.
  Result<D3D12_GPU_VIRTUAL_ADDRESS> Target(const Step& step, uint64_t size_bytes,
                                           ComPtr<ID3D12Resource>* memory);
  Status Run(const Step& step);
  Result<ComPtr<ID3D12Resource>> CreateBuffer(ID3D12Device* device, D3D12_HEAP_TYPE type,
                                              uint64_t size_bytes, D3D12_RESOURCE_STATES state);
  Result<ComPtr<ID3D12Resource>> Upload(const Step& step, std::span<const std::byte> inputs);

  const Parts parts_;
  Arena arena_;
  Structure structure_;
  // Where structures lie that were built: an instance names one of them, or none.
  std::set<D3D12_GPU_VIRTUAL_ADDRESS> built_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_STRUCTURE_PLAYER_H_
