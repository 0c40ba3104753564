// SPDX-License-Identifier: Apache-2.0
//
// From a block to Snapshot::pipeline_descriptors: which descriptors the pipelines of work can use.
#ifndef CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_
#define CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_

#include <vector>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Reads the descriptors that pipelines can use, for the pipelines in the recordings that are
// `looked_at` (by index) whose shaders' code is complete in the block. Pipelines that trace rays
// are skipped: only one of their shaders is known. Reads nothing if no descriptor set has a fault.
void ReadPipelineDescriptors(const BlockReader& block, const std::vector<bool>& looked_at,
                             Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_
