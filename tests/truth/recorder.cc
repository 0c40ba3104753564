// SPDX-License-Identifier: Apache-2.0
#include "truth/recorder.h"

#include <algorithm>
#include <cstring>

namespace cairn::truth {
namespace {

constexpr uint32_t kMostGroups = 65535;  // in one dimension, on every device
constexpr VkShaderStageFlags kAllStages =
    VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

// Returns at least `count` groups.
VkDispatchIndirectCommand Groups(uint64_t count) {
  VkDispatchIndirectCommand groups = {1, 1, 1};
  groups.x = static_cast<uint32_t>(std::min<uint64_t>(count, kMostGroups));
  const uint64_t rows = (count + kMostGroups - 1) / kMostGroups;
  groups.y = static_cast<uint32_t>(std::min<uint64_t>(rows, kMostGroups));
  groups.z = static_cast<uint32_t>(
      std::min<uint64_t>((rows + kMostGroups - 1) / kMostGroups, kMostGroups));
  return groups;
}

uint32_t Instances(uint64_t amount) {
  return static_cast<uint32_t>(std::min<uint64_t>(amount, 0x7FFFFFFF));
}

void Barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
             VkPipelineStageFlags to) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = written;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  vkCmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void BarrierBehind(VkCommandBuffer commands, WorkType type) {
  const bool fill = type == WorkType::kFill;
  Barrier(commands, fill ? VK_PIPELINE_STAGE_TRANSFER_BIT : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          fill ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
}

bool IsSecondary(Section section) {
  return section == Section::kSecondary || section == Section::kSecondaryInRendering;
}

}  // namespace

Resources CreateResources(Gpu* gpu, Notes* notes, uint32_t work_count) {
  Resources resources;
  resources.data = gpu->CreateBuffer(65536, false, "Data");
  resources.vertices = gpu->CreateBuffer(65536, true, "Vertices");
  resources.indices = gpu->CreateBuffer(65536, true, "Indices");
  resources.arguments =
      gpu->CreateBuffer(uint64_t{work_count + 1} * kArgumentsBytes, true, "Arguments");
  // One triangle that covers everything.
  constexpr float kVertices[] = {-1, -1, 3, -1, -1, 3};
  std::memcpy(resources.vertices.mapped, kVertices, sizeof(kVertices));
  constexpr uint32_t kIndices[] = {0, 1, 2};
  std::memcpy(resources.indices.mapped, kIndices, sizeof(kIndices));
  resources.set = gpu->CreateSet(resources.data);
  // Last: a driver that refused an import may fail what is allocated behind it.
  resources.words = gpu->CreateWords(notes);
  return resources;
}

std::vector<VkCommandBuffer> Recorder::RecordFrame(uint32_t frame) {
  std::vector<VkCommandBuffer> lists;
  for (const ListPlan& list : Frame(kind_)) {
    const GpuQueue& queue = list.queue == QueueKind::kGraphics ? gpu_.graphics() : gpu_.compute();
    const VkCommandBuffer commands = gpu_.Begin(queue, list.name, nullptr, 0);
    gpu_.BeginLabel(commands, FrameName(frame).c_str());
    for (const PassPlan& pass : list.passes) RecordPass(commands, queue, pass);
    gpu_.EndLabel(commands);
    Check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    lists.push_back(commands);
  }
  return lists;
}

void Recorder::RecordPass(VkCommandBuffer commands, const GpuQueue& queue, const PassPlan& pass) {
  gpu_.BeginLabel(commands, pass.name);
  const bool rendering = IsRendering(pass.section);
  const bool secondary = IsSecondary(pass.section);
  if (rendering) {
    Barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_VERTEX_SHADER_BIT);
    BeginRendering(commands, secondary ? VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT : 0);
  }
  if (secondary) {
    const VkCommandBuffer inner = RecordSecondary(queue, pass, rendering);
    vkCmdExecuteCommands(commands, 1, &inner);
  } else {
    RecordWorks(commands, pass);
  }
  if (rendering) {
    vkCmdEndRendering(commands);
    Barrier(commands, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
            VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
            VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
  }
  gpu_.EndLabel(commands);
}

VkCommandBuffer Recorder::RecordSecondary(const GpuQueue& queue, const PassPlan& pass,
                                          bool rendering) {
  VkCommandBufferInheritanceRenderingInfo inherited = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO};
  inherited.colorAttachmentCount = 1;
  inherited.pColorAttachmentFormats = &kPictureFormat;
  inherited.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkCommandBufferInheritanceInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  if (rendering) info.pNext = &inherited;
  const VkCommandBuffer commands =
      gpu_.Begin(queue, kSecondaryName, &info,
                 rendering ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0);
  RecordWorks(commands, pass);
  Check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  return commands;
}

void Recorder::BeginRendering(VkCommandBuffer commands, VkRenderingFlags flags) {
  VkRenderingAttachmentInfo attachment = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  attachment.imageView = gpu_.picture();
  attachment.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.flags = flags;
  info.renderArea = {{0, 0}, {kPictureWidth, kPictureWidth}};
  info.layerCount = 1;
  info.colorAttachmentCount = 1;
  info.pColorAttachments = &attachment;
  vkCmdBeginRendering(commands, &info);
}

void Recorder::RecordWorks(VkCommandBuffer commands, const PassPlan& pass) {
  for (const WorkPlan& plan : pass.works) {
    const bool barrier = plan.barrier && !IsRendering(pass.section);
    if (const VkEvent event = ChangeOf(next_work_).event; event != VK_NULL_HANDLE)
      WaitForEvent(commands, event);
    gpu_.BeginLabel(commands, plan.label);
    for (uint32_t i = 0; i < plan.count; ++i) {
      if (i != 0 && barrier) BarrierBehind(commands, plan.type);
      RecordWork(commands, plan.type, next_work_, ChangeOf(next_work_));
      ++next_work_;
    }
    gpu_.EndLabel(commands);
    if (barrier) BarrierBehind(commands, plan.type);
  }
}

const Injection& Recorder::ChangeOf(uint32_t work) const {
  static const Injection kNoChange;
  for (const Injection& injection : injections_) {
    if (injection.work == work) return injection;
  }
  return kNoChange;
}

void Recorder::WaitForEvent(VkCommandBuffer commands, VkEvent event) {
  gpu_.BeginLabel(commands, kWaitLabel);
  vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                  VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, nullptr, 0, nullptr, 0, nullptr);
  gpu_.EndLabel(commands);
}

void Recorder::BindFor(VkCommandBuffer commands, bool draw, uint32_t work,
                       const Injection& change) {
  const Pipeline& pipeline = draw ? gpu_.draws() : gpu_.dispatches();
  const VkPipelineBindPoint point =
      draw ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
  vkCmdBindPipeline(commands, point, pipeline.pipeline);
  const VkDescriptorSet set = change.set != VK_NULL_HANDLE ? change.set : resources_.set;
  vkCmdBindDescriptorSets(commands, point, pipeline.layout, 0, 1, &set, 0, nullptr);
  Constants constants;
  constants.notes = resources_.words.address + Notes::OffsetOf(work);
  constants.address = change.address;
  constants.misdeed = change.misdeed;
  constants.stage = change.stage;
  constants.lane = change.lane;
  constants.trips = change.trips;
  constants.ticks = change.ticks;
  vkCmdPushConstants(commands, pipeline.layout, kAllStages, 0, sizeof(constants), &constants);
}

void Recorder::RecordWork(VkCommandBuffer commands, WorkType type, uint32_t work,
                          const Injection& change) {
  if (gpu_.backend() == Backend::kScripted && type != WorkType::kFill) {
    const volatile void* notes = notes_.WordsOf(work);
    gpu_.Script(commands, "note " + std::to_string(reinterpret_cast<uintptr_t>(notes)) + " " +
                              std::to_string(kInvocations));
    if (!change.directive.empty()) gpu_.Script(commands, change.directive);
  }
  if (type == WorkType::kFill) {
    vkCmdFillBuffer(commands, resources_.words.buffer, Notes::OffsetOf(work),
                    kInvocations * sizeof(uint32_t), 2);
    return;
  }
  BindFor(commands, IsDraw(type), work, change);
  if (IsDraw(type)) {
    Draw(commands, type, work, change);
  } else {
    Dispatch(commands, type, work, change);
  }
}

void Recorder::Dispatch(VkCommandBuffer commands, WorkType type, uint32_t work,
                        const Injection& change) {
  const VkDispatchIndirectCommand counts = Groups(change.amount);
  if (type == WorkType::kDispatch) {
    vkCmdDispatch(commands, counts.x, counts.y, counts.z);
    return;
  }
  if (change.arguments != VK_NULL_HANDLE) {
    vkCmdDispatchIndirect(commands, change.arguments, 0);
    return;
  }
  const uint32_t offset = work * kArgumentsBytes;
  std::memcpy(static_cast<char*>(resources_.arguments.mapped) + offset, &counts, sizeof(counts));
  vkCmdDispatchIndirect(commands, resources_.arguments.buffer, offset);
}

void Recorder::Draw(VkCommandBuffer commands, WorkType type, uint32_t work,
                    const Injection& change) {
  const uint32_t instances = Instances(change.amount);
  notes_.SetLastInstance(work, instances - 1);
  const VkBuffer vertices =
      change.vertices != VK_NULL_HANDLE ? change.vertices : resources_.vertices.buffer;
  const VkDeviceSize no_offset = 0;
  vkCmdBindVertexBuffers(commands, 0, 1, &vertices, &no_offset);
  if (type == WorkType::kDraw) {
    vkCmdDraw(commands, 3, instances, 0, 0);
  } else if (type == WorkType::kDrawIndexed) {
    const VkBuffer indices =
        change.indices != VK_NULL_HANDLE ? change.indices : resources_.indices.buffer;
    vkCmdBindIndexBuffer(commands, indices, 0, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands, 3, instances, 0, 0, 0);
  } else if (change.arguments != VK_NULL_HANDLE) {
    vkCmdDrawIndirect(commands, change.arguments, 0, 1, sizeof(VkDrawIndirectCommand));
  } else {
    const VkDrawIndirectCommand counts = {3, instances, 0, 0};
    const uint32_t offset = work * kArgumentsBytes;
    std::memcpy(static_cast<char*>(resources_.arguments.mapped) + offset, &counts, sizeof(counts));
    vkCmdDrawIndirect(commands, resources_.arguments.buffer, offset, 1, sizeof(counts));
  }
}

VkCommandBuffer Recorder::RecordAlone(bool draw, const Injection& injection, uint32_t scratch) {
  const VkCommandBuffer commands = gpu_.Begin(gpu_.graphics(), nullptr, nullptr, 0);
  if (draw) BeginRendering(commands, 0);
  RecordWork(commands, draw ? WorkType::kDraw : WorkType::kDispatch, scratch, injection);
  if (draw) vkCmdEndRendering(commands);
  return commands;
}

}  // namespace cairn::truth
