// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/checkpoints.h"

#include <algorithm>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/vulkan/checkpoint_marker.h"

namespace cairn {
namespace {

PipeStage StageOfCheckpoint(uint64_t stage) {
  // Both structures have the same numbers for these.
  if (stage == VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT) return PipeStage::kTop;
  if (stage == VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT) return PipeStage::kBottom;
  return PipeStage::kOther;
}

// The driver's count is not trusted: at most as many as the table holds.
template <typename Data, typename Get, typename Add>
void Ask(VkQueue queue, VkStructureType type, Get get, Add add) {
  uint32_t count = 0;
  get(queue, &count, nullptr);
  count = std::min(count, kMaxCheckpoints);
  if (count == 0) return;
  std::vector<Data> data(count);
  for (Data& entry : data) entry.sType = type;
  uint32_t filled = count;
  get(queue, &filled, data.data());
  for (uint32_t i = 0; i < std::min(filled, count); ++i) {
    add(static_cast<uint64_t>(data[i].stage), data[i].pCheckpointMarker);
  }
}

}  // namespace

void ReadCheckpoints(const DeviceFunctions& vk, std::span<const CheckpointQueue> queues,
                     BlockWriter& block, uint32_t context) {
  if (block.checkpoints() == nullptr) return;
  CheckpointTable& table = block.checkpoints()[context];
  uint32_t used = 0;
  for (const CheckpointQueue& queue : queues) {
    const auto add = [&](uint64_t stage, const void* marker) {
      if (used == kMaxCheckpoints) return;
      const CheckpointMarker decoded = DecodeCheckpoint(marker);
      // Not a checkpoint of this layer, whose progress values are never 0.
      if (decoded.progress_value == 0) return;
      table.records[used++] = {queue.record, StageOfCheckpoint(stage), decoded.slot,
                               decoded.progress_value};
    };
    // The second one comes with VK_KHR_synchronization2, and says nothing more.
    if (vk.GetQueueCheckpointDataNV != nullptr) {
      Ask<VkCheckpointDataNV>(queue.queue, VK_STRUCTURE_TYPE_CHECKPOINT_DATA_NV,
                              vk.GetQueueCheckpointDataNV, add);
    } else if (vk.GetQueueCheckpointData2NV != nullptr) {
      Ask<VkCheckpointData2NV>(queue.queue, VK_STRUCTURE_TYPE_CHECKPOINT_DATA_2_NV,
                               vk.GetQueueCheckpointData2NV, add);
    }
  }
  table.count.store(used, std::memory_order_release);
}

}  // namespace cairn
