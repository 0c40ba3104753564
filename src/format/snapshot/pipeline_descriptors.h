// SPDX-License-Identifier: Apache-2.0
//
// From a block to Snapshot::pipeline_descriptors: which descriptors the pipelines of work can use.
#ifndef CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_
#define CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_

#include <vector>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Of the pipelines in the recordings that are `looked_at` (by index), those for which the block holds the code
// of every shader, and which do not trace rays: of these only one shader is known. Where nothing is wrong with
// any descriptor set, nothing is read.
void ReadPipelineDescriptors(const BlockReader& block, const std::vector<bool>& looked_at,
                             Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_PIPELINE_DESCRIPTORS_H_
