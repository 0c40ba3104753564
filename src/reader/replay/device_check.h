// SPDX-License-Identifier: Apache-2.0
//
// Compares what a trace asks of its devices with the devices of this machine, and plays nothing: sizes and alignments
// of resources, the heaps that they are placed in, sizes of acceleration structures, interfaces.
#ifndef CAIRN_READER_REPLAY_DEVICE_CHECK_H_
#define CAIRN_READER_REPLAY_DEVICE_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "d3d12gen/interfaces.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_reader.h"
#include "reader/replay/play_cost.h"
#include "reader/replay/player.h"
#include "reader/replay/replay_devices.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Calls that lack their arguments are left to the playback, which skips them with the reason; calls that failed when they
// were recorded need nothing here. Memory: bounded by the number of living placed resources and heaps of the trace. One
// thread.
class DeviceCheck {
 public:
  // All outlive this. `wchar_bytes`: D3D12Library::wchar_bytes.
  DeviceCheck(TraceReader* trace, ReplayDevices* devices, PlayCost* cost, uint32_t wchar_bytes)
      : trace_(trace), devices_(devices), cost_(cost), wchar_bytes_(wchar_bytes) {}

  void OnCall(const Record& record);
  void OnResult(const Record& record);
  void OnObject(const Record& record);
  // Lets go of the device, if it is one.
  void OnObjectEnd(const Record& record);
  // The same for a playback, which compares nothing else: resources and heaps, before they are played.
  void Follow(const Record& record);
  // What a placed resource needs here, whose creation was followed and not yet answered. Missing: unknown, or this
  // device makes none like it.
  struct Need {
    D3D12_RESOURCE_ALLOCATION_INFO memory = {};
    bool fits =
        true;  // into its heap, and beside those that it did not overlap when it was recorded
  };
  std::optional<Need> NeedOf(uint64_t call) const;
  // It gets a heap of its own.
  void Forget(uint64_t call) { asked_.erase(call); }
  // A feature that the program asked about has another answer here.
  void AddFeature(const std::string& name);

  // In the order in which they were found; at most kMost, and one that counts the rest.
  std::vector<DeviceDifference> Take();

  static constexpr size_t kMost = 1000;

 private:
  struct Placed {
    uint64_t offset = 0;
    uint64_t size_bytes = 0;           // here
    uint64_t recorded_size_bytes = 0;  // 0: unknown
  };
  struct Heap {
    uint64_t size_bytes = 0;
    std::map<uint64_t, Placed> resources;  // living ones, by number
  };
  // A creation whose object is yet to come, or a question whose result is.
  struct Asked {
    Method method = Method::ID3D12Object_GetPrivateData;
    uint64_t device = 0;
    uint64_t heap = 0;    // of a placed resource
    uint64_t offset = 0;  // in it
    uint64_t heap_size_bytes = 0;
    bool updates = false;  // the structure may be updated
    D3D12_RESOURCE_DESC desc = {};
    D3D12_RESOURCE_ALLOCATION_INFO allocation = {};                        // here
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO structure = {};  // here
  };
  struct Object {
    Chain chain = Chain::kNone;
    uint64_t device = 0;
    uint64_t heap = 0;  // that it is placed in
  };

  ID3D12Device* DeviceOf(uint64_t number);
  // A playback gives memory of its own to what needs more on this device.
  bool Moves(uint64_t device) const;
  void CheckInterface(const Record& record, Method method);
  bool HasInterface(uint64_t device_number, bool of_device, const InterfaceInfo* wanted);
  void AddMissing(uint64_t call, Method method);
  // Keeps what `record` asks, if it is one of the calls that are compared.
  void Keep(const Record& record, Method method);
  Placed PlacedOf(const Asked& asked) const;
  // Returns a resource of the heap that this one overlaps, which it did not when it was recorded; 0: none.
  static uint64_t NewNeighbour(const Heap& heap, const Placed& placed, size_t* compared);
  void CheckPlaced(uint64_t number, const Asked& asked);
  void CheckAllocation(uint64_t call, const Asked& asked,
                       const D3D12_RESOURCE_ALLOCATION_INFO& recorded);
  void CheckStructure(uint64_t call, const Asked& asked,
                      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO& recorded);
  // `key`: differences with the same are counted as one; "": it stands alone.
  void Add(DeviceDifference::Kind kind, uint64_t call, bool prevents, std::string text,
           const std::string& key = "");

  TraceReader* const trace_;
  ReplayDevices* const devices_;
  PlayCost* const cost_;
  const uint32_t wchar_bytes_;
  Arena arena_;
  std::unordered_map<uint64_t, Object> objects_;
  std::unordered_map<uint64_t, Heap> heaps_;
  std::unordered_map<uint64_t, Asked> asked_;  // by call
  // Recorded sizes, by device and what was asked about.
  std::map<std::string, uint64_t> recorded_sizes_;
  std::map<std::pair<uint64_t, const void*>, bool> interfaces_;  // device, interface: is it there
  std::map<uint64_t, ComPtr<ID3D12GraphicsCommandList>> lists_;  // by device
  std::map<uint64_t, Method>
      missing_;  // by call: its interface is not here; its result is yet to come
  std::map<std::string, size_t> known_;
  std::vector<DeviceDifference> differences_;
  uint64_t not_kept_ = 0;
  bool not_kept_prevents_ = false;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_DEVICE_CHECK_H_
