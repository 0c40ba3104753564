// SPDX-License-Identifier: Apache-2.0
//
// Barriers and events. A barrier holds the front end until work of its source stages has ended;
// destination stages and memory are ignored, which only makes it wait longer.
#include "icd/entry.h"
#include "icd/recording.h"

namespace cairn::icd {
namespace {

constexpr VkPipelineStageFlags2 kGraphicsStages =
    VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT |
    VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT |
    VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT |
    VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |
    VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT |
    VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |
    VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT;
constexpr VkPipelineStageFlags2 kTransferStages =
    VK_PIPELINE_STAGE_2_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT |
    VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;
constexpr VkPipelineStageFlags2 kAllStages =
    VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;

uint32_t KindsOf(VkPipelineStageFlags2 stages) {
  if ((stages & kAllStages) != 0) return kAllWork;
  uint32_t kinds = 0;
  if ((stages & kGraphicsStages) != 0) kinds |= kGraphicsWork;
  if ((stages & VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT) != 0) kinds |= kComputeWork;
  if ((stages & kTransferStages) != 0) kinds |= kTransferWork;
  return kinds;
}

void RecordBarrier(VkCommandBuffer commands, uint32_t kinds) {
  if (kinds == 0) return;
  Command command;
  command.kind = CommandKind::kBarrier;
  command.work_kinds = kinds;
  Record(commands, std::move(command));
}

uint32_t KindsOf(const VkDependencyInfo& info) {
  VkPipelineStageFlags2 stages = 0;
  for (uint32_t i = 0; i < info.memoryBarrierCount; ++i) {
    stages |= info.pMemoryBarriers[i].srcStageMask;
  }
  for (uint32_t i = 0; i < info.bufferMemoryBarrierCount; ++i) {
    stages |= info.pBufferMemoryBarriers[i].srcStageMask;
  }
  for (uint32_t i = 0; i < info.imageMemoryBarrierCount; ++i) {
    stages |= info.pImageMemoryBarriers[i].srcStageMask;
  }
  return KindsOf(stages);
}

void VKAPI_CALL CmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags source,
                                   VkPipelineStageFlags, VkDependencyFlags, uint32_t,
                                   const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*,
                                   uint32_t, const VkImageMemoryBarrier*) {
  RecordBarrier(commands, KindsOf(VkPipelineStageFlags2{source}));
}

void VKAPI_CALL CmdPipelineBarrier2(VkCommandBuffer commands, const VkDependencyInfo* info) {
  RecordBarrier(commands, KindsOf(*info));
}

void RecordSet(VkCommandBuffer commands, VkEvent event, bool set) {
  Command command;
  command.kind = CommandKind::kSignal;
  command.effect = [target = From<Event>(event), set] { target->set = set; };
  Record(commands, std::move(command));
}

void RecordWaits(VkCommandBuffer commands, uint32_t count, const VkEvent* events) {
  for (uint32_t i = 0; i < count; ++i) {
    Command command;
    command.kind = CommandKind::kWait;
    command.condition = [event = From<Event>(events[i])] { return event->set; };
    Record(commands, std::move(command));
  }
}

void VKAPI_CALL CmdSetEvent(VkCommandBuffer commands, VkEvent event, VkPipelineStageFlags) {
  RecordSet(commands, event, true);
}
void VKAPI_CALL CmdSetEvent2(VkCommandBuffer commands, VkEvent event, const VkDependencyInfo*) {
  RecordSet(commands, event, true);
}
void VKAPI_CALL CmdResetEvent(VkCommandBuffer commands, VkEvent event, VkPipelineStageFlags) {
  RecordSet(commands, event, false);
}
void VKAPI_CALL CmdResetEvent2(VkCommandBuffer commands, VkEvent event, VkPipelineStageFlags2) {
  RecordSet(commands, event, false);
}
void VKAPI_CALL CmdWaitEvents(VkCommandBuffer commands, uint32_t count, const VkEvent* events,
                              VkPipelineStageFlags, VkPipelineStageFlags, uint32_t,
                              const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*,
                              uint32_t, const VkImageMemoryBarrier*) {
  RecordWaits(commands, count, events);
}
void VKAPI_CALL CmdWaitEvents2(VkCommandBuffer commands, uint32_t count, const VkEvent* events,
                               const VkDependencyInfo*) {
  RecordWaits(commands, count, events);
}

VkResult VKAPI_CALL CreateEvent(VkDevice, const VkEventCreateInfo*, const VkAllocationCallbacks*,
                                VkEvent* event) {
  *event = To<VkEvent>(new Event);
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyEvent(VkDevice, VkEvent event, const VkAllocationCallbacks*) {
  delete From<Event>(event);
}

VkResult VKAPI_CALL GetEventStatus(VkDevice device, VkEvent event) {
  std::lock_guard lock(Of(device)->mutex);
  return From<Event>(event)->set ? VK_EVENT_SET : VK_EVENT_RESET;
}

VkResult SetByHost(VkDevice device, VkEvent event, bool set) {
  {
    std::lock_guard lock(Of(device)->mutex);
    From<Event>(event)->set = set;
    if (!Of(device)->instance->settings.lazy) Of(device)->processor->Settle();
  }
  Of(device)->changed.notify_all();
  return VK_SUCCESS;
}

VkResult VKAPI_CALL SetEvent(VkDevice device, VkEvent event) {
  return SetByHost(device, event, true);
}

VkResult VKAPI_CALL ResetEvent(VkDevice device, VkEvent event) {
  return SetByHost(device, event, false);
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CmdPipelineBarrier),
    CAIRN_ICD_ENTRY(CmdPipelineBarrier2),
    CAIRN_ICD_NAMED(vkCmdPipelineBarrier2KHR, CmdPipelineBarrier2,
                    VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME),
    CAIRN_ICD_ENTRY(CmdSetEvent),
    CAIRN_ICD_ENTRY(CmdSetEvent2),
    CAIRN_ICD_ENTRY(CmdResetEvent),
    CAIRN_ICD_ENTRY(CmdResetEvent2),
    CAIRN_ICD_ENTRY(CmdWaitEvents),
    CAIRN_ICD_ENTRY(CmdWaitEvents2),
    CAIRN_ICD_ENTRY(CreateEvent),
    CAIRN_ICD_ENTRY(DestroyEvent),
    CAIRN_ICD_ENTRY(GetEventStatus),
    CAIRN_ICD_ENTRY(SetEvent),
    CAIRN_ICD_ENTRY(ResetEvent),
};

}  // namespace

std::span<const Entry> BarrierEntries() {
  return kEntries;
}

}  // namespace cairn::icd
