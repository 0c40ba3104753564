// SPDX-License-Identifier: Apache-2.0
//
// From a block to Snapshot::destructions, descriptor_sets and descriptors: which of the sets that work binds lead
// to something that was destroyed, or to buffers with arguments of indirect commands, which shaders can write.
#ifndef CAIRN_FORMAT_SNAPSHOT_BLOCK_DESTRUCTIONS_H_
#define CAIRN_FORMAT_SNAPSHOT_BLOCK_DESTRUCTIONS_H_

#include <cstdint>
#include <vector>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Resolves the binds of descriptor sets in all recordings (not yet spliced); what was destroyed is looked for in those
// that are `looked_at` (by index). Sets that have ended bind nothing, nor do those of which nothing is kept. `until_ns`: what was destroyed later, in
// CLOCK_MONOTONIC, is left out; 0: nothing is. Returns how many destructions were written
// meanwhile and are left out. Objects, devices and recordings have been read. Time is linear in the
// events of all recordings, in the ring, and in the descriptors of the distinct sets that are bound. A set that both kinds
// of recordings bind is read twice, and may count twice against kMaxDescriptorSets.
uint64_t ReadDestructions(const BlockReader& block, const std::vector<bool>& looked_at,
                          uint64_t until_ns, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_BLOCK_DESTRUCTIONS_H_
