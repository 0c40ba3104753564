// SPDX-License-Identifier: Apache-2.0
//
// Numbers of calls beside the events of lists: a block has their low halves only (format/block/block.h), and who
// knows how far the capture came restores the rest.
#ifndef CAIRN_FORMAT_SNAPSHOT_CALL_NUMBERS_H_
#define CAIRN_FORMAT_SNAPSHOT_CALL_NUMBERS_H_

#include <cstdint>

#include "format/snapshot/snapshot.h"

namespace cairn {

// The number that ends in these 32 bits: the largest one that is not above `last`, as what a block still has
// is of the last four billion calls. If there is none, `low` itself; 0, "none", stays 0.
uint64_t CallNumberOf(uint32_t low, uint64_t last);

// The same for all events of a snapshot that was taken from a block. `last`: the last number that the capture
// gave out, asked for after the block was read.
void RestoreCallNumbers(Snapshot* snapshot, uint64_t last);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_CALL_NUMBERS_H_
