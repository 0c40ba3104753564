// SPDX-License-Identifier: Apache-2.0
//
// From a block's tables of synchronisation, faults, checkpoints and shaders to those of a snapshot.
// Entries that are torn, or that lead nowhere, are left out and counted.
#ifndef CAIRN_FORMAT_SNAPSHOT_BLOCK_DIAGNOSTICS_H_
#define CAIRN_FORMAT_SNAPSHOT_BLOCK_DIAGNOSTICS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Queues and objects have been read. Returns the number of entries left out.
uint64_t ReadSyncs(const BlockReader& block, Snapshot* snapshot);

// The most bytes kept of data that only vendors' tools and compilers read.
inline constexpr uint64_t kMaxShaderCodeBytes = uint64_t{16} << 20;    // of all shaders together
inline constexpr uint64_t kMaxVendorBinaryBytes = uint64_t{16} << 20;  // of all faults together

// Devices have been read. `keep_bytes`: with the binaries of vendors. Returns how many of these did not fit
// or lie outside of the block.
uint64_t ReadFaults(const BlockReader& block, bool keep_bytes, Snapshot* snapshot);

// Reads what is known of the memory of each device. An entry that changes meanwhile is skipped.
void ReadDeviceMemory(const BlockReader& block, Snapshot* snapshot);

// The place in the snapshot of an event of the block.
struct EventPlace {
  bool found = false;  // false: of a recording that has ended since
  uint32_t recording = kNone;
  uint32_t sequence = 0;
};
class EventPlaces {
 public:
  virtual ~EventPlaces() = default;
  virtual EventPlace Find(uint32_t context, uint32_t slot, uint32_t progress_value) const = 0;
};
// Returns the number of entries left out.
uint64_t ReadCheckpoints(const BlockReader& block, const EventPlaces& places, Snapshot* snapshot);

// The pipelines have been read. With `keep_bytes` the code is kept as far as it fits: first of those
// pipelines that `wanted` says true of, then of all others, then of shaders without a pipeline; in each
// the latest first. Returns the number of shaders that contradict themselves.
uint64_t ReadShaders(const BlockReader& block, const std::vector<bool>& wanted, bool keep_bytes,
                     Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_BLOCK_DIAGNOSTICS_H_
