// SPDX-License-Identifier: Apache-2.0
//
// A block with a little of everything, the same at each call: for golden files, corruption tests and
// seeds of fuzzers.
#ifndef CAIRN_FORMAT_SNAPSHOT_TESTING_SAMPLE_BLOCK_H_
#define CAIRN_FORMAT_SNAPSHOT_TESTING_SAMPLE_BLOCK_H_

#include "format/snapshot/testing/test_block.h"

namespace cairn {

// One frame of a Direct3D 12 program under the layer: PIX events with EventIDs, bindings, objects (one
// freed while it is used, one fence that nothing signals), last calls (one that never returned), EventIDs
// that the driver reported.
void FillD3D12Block(TestBlock* block);

// Two frames, two queues, nested passes, a reusable list, an open list, pipelines, hostile names,
// raw markers, a lost device.
void FillSampleBlock(TestBlock* block);

// A Vulkan program under the layer: a secondary command buffer in which the GPU stopped, a queue that waits
// for the one that stopped, a fault in a buffer that was destroyed, checkpoints, shaders.
void FillVulkanBlock(TestBlock* block);

// A Vulkan program whose dispatch binds a buffer that another thread destroyed, and an image whose memory was
// freed.
void FillMemoryBlock(TestBlock* block);

// A Vulkan program whose commands have arguments: of a render pass in which the GPU writes nothing, the draw whose
// shader has a loop; an indirect draw and who writes its arguments.
void FillArgumentsBlock(TestBlock* block);

// A Vulkan program that ran out of memory: a submission that ended, one with the same pipeline that did not, heaps,
// and objects that are described in place of a name.
void FillDurationsBlock(TestBlock* block);

// The same program with four entries of user data.
void FillUserDataBlock(TestBlock* block);

// Lists with `scope_count` draws in passes of 100, a million in each; the GPU stopped in the middle.
void FillLargeBlock(TestBlock* block, uint32_t scope_count);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TESTING_SAMPLE_BLOCK_H_
