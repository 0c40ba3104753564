// SPDX-License-Identifier: Apache-2.0
//
// From a block to Snapshot::pipeline_descriptors: which descriptors the pipelines of work can use.
#ifndef CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_
#define CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Reads the descriptors that pipelines can use, for the pipelines in the recordings that bind one of
// Snapshot::descriptor_sets and whose shaders' code is complete in the block. Pipelines that trace rays
// are skipped: only one of their shaders is known.
void ReadPipelineDescriptors(const BlockReader& block, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_
