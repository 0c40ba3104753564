// SPDX-License-Identifier: Apache-2.0
//
// The calls that make, write and bind descriptor sets.
#include <array>
#include <memory>
#include <vector>

#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/set_contents.h"

namespace cairn {
namespace {

// ---- Layouts, pools, sets --------------------------------------------------------------------------

VkResult VKAPI_CALL CreateDescriptorSetLayout(VkDevice device,
                                              const VkDescriptorSetLayoutCreateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkDescriptorSetLayout* layout) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateDescriptorSetLayout(device, info, allocator, layout);
  if (result == VK_SUCCESS) Quietly([&] { SetLayoutOf(*layout, InternDescriptorLayout(*info)); });
  return result;
}

void VKAPI_CALL DestroyDescriptorSetLayout(VkDevice device, VkDescriptorSetLayout layout,
                                           const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  SetLayoutOf(layout, nullptr);
  state.objects->Forget(VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, HandleValue(layout));
  state.vk.DestroyDescriptorSetLayout(device, layout, allocator);
}

VkResult VKAPI_CALL AllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo* info,
                                           VkDescriptorSet* sets) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.AllocateDescriptorSets(device, info, sets);
  if (result == VK_SUCCESS) Quietly([&] { AddSets(state, *info, sets); });
  return result;
}

VkResult VKAPI_CALL FreeDescriptorSets(VkDevice device, VkDescriptorPool pool, uint32_t count,
                                       const VkDescriptorSet* sets) {
  const DeviceState& state = *DeviceOf(device);
  ForgetSets(state, count, sets);
  return state.vk.FreeDescriptorSets(device, pool, count, sets);
}

VkResult VKAPI_CALL ResetDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                        VkDescriptorPoolResetFlags flags) {
  const DeviceState& state = *DeviceOf(device);
  ForgetSetsOf(state, pool);
  return state.vk.ResetDescriptorPool(device, pool, flags);
}

void VKAPI_CALL DestroyDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                      const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  ForgetDescriptorPool(state, pool);
  state.objects->Forget(VK_OBJECT_TYPE_DESCRIPTOR_POOL, HandleValue(pool));
  state.vk.DestroyDescriptorPool(device, pool, allocator);
}

// ---- Updates ---------------------------------------------------------------------------------------

void VKAPI_CALL UpdateDescriptorSets(VkDevice device, uint32_t write_count,
                                     const VkWriteDescriptorSet* writes, uint32_t copy_count,
                                     const VkCopyDescriptorSet* copies) {
  const DeviceState& state = *DeviceOf(device);
  const Destructions& destructions = state.block->destructions();
  for (uint32_t i = 0; i < write_count; ++i) WriteSet(writes[i], destructions);
  for (uint32_t i = 0; i < copy_count; ++i) CopySet(copies[i]);
  state.vk.UpdateDescriptorSets(device, write_count, writes, copy_count, copies);
}

struct UpdateTemplate {
  VkPipelineBindPoint point = VK_PIPELINE_BIND_POINT_GRAPHICS;  // of one that pushes
  std::vector<VkDescriptorUpdateTemplateEntry> entries;
};
constinit HandleMap<VkDescriptorUpdateTemplate, UpdateTemplate> update_templates;

template <auto kNext>
VkResult VKAPI_CALL CreateUpdateTemplate(VkDevice device,
                                         const VkDescriptorUpdateTemplateCreateInfo* info,
                                         const VkAllocationCallbacks* allocator,
                                         VkDescriptorUpdateTemplate* made) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = (state.vk.*kNext)(device, info, allocator, made);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    auto known = std::make_unique<UpdateTemplate>();
    known->point = info->pipelineBindPoint;
    known->entries.assign(info->pDescriptorUpdateEntries,
                          info->pDescriptorUpdateEntries + info->descriptorUpdateEntryCount);
    if (update_templates.Set(*made, known.get())) static_cast<void>(known.release());
  });
  return result;
}

template <auto kNext>
void VKAPI_CALL DestroyUpdateTemplate(VkDevice device, VkDescriptorUpdateTemplate handle,
                                      const VkAllocationCallbacks* allocator) {
  const DeviceState& state = *DeviceOf(device);
  delete update_templates.Find(handle);
  update_templates.Erase(handle);
  state.objects->Forget(VK_OBJECT_TYPE_DESCRIPTOR_UPDATE_TEMPLATE, HandleValue(handle));
  (state.vk.*kNext)(device, handle, allocator);
}

void WriteByTemplate(const DescriptorSetState& set, const UpdateTemplate& update, const void* data,
                     const Destructions& destructions) {
  if (set.slot.record == nullptr) return;
  for (const VkDescriptorUpdateTemplateEntry& entry : update.entries) {
    if (entry.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) continue;
    DescriptorWalk walk(*set.layout, entry.dstBinding, entry.dstArrayElement);
    for (uint32_t i = 0; i < entry.descriptorCount && !walk.AtEnd(); ++i, walk.Next()) {
      if (!walk.kept()) continue;
      const void* const info = static_cast<const char*>(data) + entry.offset + i * entry.stride;
      WriteDescriptor(set.slot.descriptors()[walk.place()], walk.binding().number,
                      entry.descriptorType, info, destructions);
    }
  }
}

template <auto kNext>
void VKAPI_CALL UpdateWithTemplate(VkDevice device, VkDescriptorSet set,
                                   VkDescriptorUpdateTemplate handle, const void* data) {
  const DeviceState& state = *DeviceOf(device);
  const DescriptorSetState* const known = SetStateOf(set);
  const UpdateTemplate* const update = update_templates.Find(handle);
  if (known != nullptr && update != nullptr) {
    WriteByTemplate(*known, *update, data, state.block->destructions());
  }
  (state.vk.*kNext)(device, set, handle, data);
}

// ---- What commands use -------------------------------------------------------------------------------

void BindSets(CommandBufferState& state, WorkPoint point, uint32_t first, uint32_t count,
              const VkDescriptorSet* sets) {
  if (state.open == nullptr || point == WorkPoint::kNone) return;
  for (uint32_t i = 0; i < count; ++i) {
    const DescriptorSetState* const set = sets[i] == VK_NULL_HANDLE ? nullptr : SetStateOf(sets[i]);
    BindSet(state, point, first + i, set == nullptr ? 0 : set->place);
  }
}

void VKAPI_CALL CmdBindDescriptorSets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                      VkPipelineLayout layout, uint32_t first, uint32_t count,
                                      const VkDescriptorSet* sets, uint32_t offset_count,
                                      const uint32_t* offsets) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindSets(state, PointOf(point), first, count, sets);
  state.vk->CmdBindDescriptorSets(commands, point, layout, first, count, sets, offset_count,
                                  offsets);
}

// Records that pushed descriptors, or descriptors in a buffer, take the place of a set. Their
// contents are not read.
void BindUnseen(CommandBufferState& state, WorkPoint point, uint32_t first, uint32_t count,
                DescriptorSetPlace what) {
  if (state.open == nullptr || point == WorkPoint::kNone) return;
  for (uint32_t i = 0; i < count; ++i) BindSet(state, point, first + i, what);
}

template <auto kNext>
void VKAPI_CALL CmdPushDescriptorSet(VkCommandBuffer commands, VkPipelineBindPoint point,
                                     VkPipelineLayout layout, uint32_t set, uint32_t count,
                                     const VkWriteDescriptorSet* writes) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindUnseen(state, PointOf(point), set, 1, kPushedDescriptors);
  (state.vk->*kNext)(commands, point, layout, set, count, writes);
}

template <auto kNext>
void VKAPI_CALL CmdPushWithTemplate(VkCommandBuffer commands, VkDescriptorUpdateTemplate handle,
                                    VkPipelineLayout layout, uint32_t set, const void* data) {
  CommandBufferState& state = *CommandBufferOf(commands);
  const UpdateTemplate* const update = update_templates.Find(handle);
  if (update != nullptr) BindUnseen(state, PointOf(update->point), set, 1, kPushedDescriptors);
  (state.vk->*kNext)(commands, handle, layout, set, data);
}

void VKAPI_CALL CmdSetDescriptorBufferOffsetsEXT(VkCommandBuffer commands,
                                                 VkPipelineBindPoint point, VkPipelineLayout layout,
                                                 uint32_t first, uint32_t count,
                                                 const uint32_t* buffers,
                                                 const VkDeviceSize* offsets) {
  CommandBufferState& state = *CommandBufferOf(commands);
  BindUnseen(state, PointOf(point), first, count, kDescriptorBuffers);
  state.vk->CmdSetDescriptorBufferOffsetsEXT(commands, point, layout, first, count, buffers,
                                             offsets);
}

#ifdef VK_KHR_maintenance6
// The commands of Vulkan 1.4 name stages instead of a pipe.
template <typename Bind>
void ForPointsOf(VkShaderStageFlags stages, Bind bind) {
  constexpr VkShaderStageFlags kRays =
      VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_ANY_HIT_BIT_KHR |
      VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR |
      VK_SHADER_STAGE_INTERSECTION_BIT_KHR | VK_SHADER_STAGE_CALLABLE_BIT_KHR;
  constexpr VkShaderStageFlags kGraphics =
      VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT;
  if ((stages & kGraphics) != 0) bind(WorkPoint::kGraphics);
  if ((stages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) bind(WorkPoint::kCompute);
  if ((stages & kRays) != 0) bind(WorkPoint::kRayTracing);
}

template <auto kNext>
void VKAPI_CALL CmdBindDescriptorSets2(VkCommandBuffer commands,
                                       const VkBindDescriptorSetsInfoKHR* info) {
  CommandBufferState& state = *CommandBufferOf(commands);
  ForPointsOf(info->stageFlags, [&](WorkPoint point) {
    BindSets(state, point, info->firstSet, info->descriptorSetCount, info->pDescriptorSets);
  });
  (state.vk->*kNext)(commands, info);
}

template <auto kNext>
void VKAPI_CALL CmdPushDescriptorSet2(VkCommandBuffer commands,
                                      const VkPushDescriptorSetInfoKHR* info) {
  CommandBufferState& state = *CommandBufferOf(commands);
  ForPointsOf(info->stageFlags,
              [&](WorkPoint point) { BindUnseen(state, point, info->set, 1, kPushedDescriptors); });
  (state.vk->*kNext)(commands, info);
}

template <auto kNext>
void VKAPI_CALL CmdPushWithTemplate2(VkCommandBuffer commands,
                                     const VkPushDescriptorSetWithTemplateInfoKHR* info) {
  CommandBufferState& state = *CommandBufferOf(commands);
  const UpdateTemplate* const update = update_templates.Find(info->descriptorUpdateTemplate);
  if (update != nullptr)
    BindUnseen(state, PointOf(update->point), info->set, 1, kPushedDescriptors);
  (state.vk->*kNext)(commands, info);
}

void VKAPI_CALL CmdSetDescriptorBufferOffsets2EXT(VkCommandBuffer commands,
                                                  const VkSetDescriptorBufferOffsetsInfoEXT* info) {
  CommandBufferState& state = *CommandBufferOf(commands);
  ForPointsOf(info->stageFlags, [&](WorkPoint point) {
    BindUnseen(state, point, info->firstSet, info->setCount, kDescriptorBuffers);
  });
  state.vk->CmdSetDescriptorBufferOffsets2EXT(commands, info);
}
#endif

}  // namespace

std::span<const Intercept> DescriptorIntercepts() {
  using Functions = DeviceFunctions;
  static const std::array intercepts = {
      InterceptOf<PFN_vkCreateDescriptorSetLayout>("vkCreateDescriptorSetLayout",
                                                   CreateDescriptorSetLayout),
      InterceptOf<PFN_vkDestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout",
                                                    DestroyDescriptorSetLayout),
      InterceptOf<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets", AllocateDescriptorSets),
      InterceptOf<PFN_vkFreeDescriptorSets>("vkFreeDescriptorSets", FreeDescriptorSets),
      InterceptOf<PFN_vkResetDescriptorPool>("vkResetDescriptorPool", ResetDescriptorPool),
      InterceptOf<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool", DestroyDescriptorPool),
      InterceptOf<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets", UpdateDescriptorSets),
      InterceptOf<PFN_vkCreateDescriptorUpdateTemplate>(
          "vkCreateDescriptorUpdateTemplate",
          CreateUpdateTemplate<&Functions::CreateDescriptorUpdateTemplate>),
      InterceptOf<PFN_vkCreateDescriptorUpdateTemplate>(
          "vkCreateDescriptorUpdateTemplateKHR",
          CreateUpdateTemplate<&Functions::CreateDescriptorUpdateTemplateKHR>),
      InterceptOf<PFN_vkDestroyDescriptorUpdateTemplate>(
          "vkDestroyDescriptorUpdateTemplate",
          DestroyUpdateTemplate<&Functions::DestroyDescriptorUpdateTemplate>),
      InterceptOf<PFN_vkDestroyDescriptorUpdateTemplate>(
          "vkDestroyDescriptorUpdateTemplateKHR",
          DestroyUpdateTemplate<&Functions::DestroyDescriptorUpdateTemplateKHR>),
      InterceptOf<PFN_vkUpdateDescriptorSetWithTemplate>(
          "vkUpdateDescriptorSetWithTemplate",
          UpdateWithTemplate<&Functions::UpdateDescriptorSetWithTemplate>),
      InterceptOf<PFN_vkUpdateDescriptorSetWithTemplate>(
          "vkUpdateDescriptorSetWithTemplateKHR",
          UpdateWithTemplate<&Functions::UpdateDescriptorSetWithTemplateKHR>),
      InterceptOf<PFN_vkCmdBindDescriptorSets>("vkCmdBindDescriptorSets", CmdBindDescriptorSets),
      InterceptOf<PFN_vkCmdSetDescriptorBufferOffsetsEXT>("vkCmdSetDescriptorBufferOffsetsEXT",
                                                          CmdSetDescriptorBufferOffsetsEXT),
      InterceptOf<PFN_vkCmdPushDescriptorSetKHR>(
          "vkCmdPushDescriptorSetKHR", CmdPushDescriptorSet<&Functions::CmdPushDescriptorSetKHR>),
      InterceptOf<PFN_vkCmdPushDescriptorSetWithTemplateKHR>(
          "vkCmdPushDescriptorSetWithTemplateKHR",
          CmdPushWithTemplate<&Functions::CmdPushDescriptorSetWithTemplateKHR>),
#ifdef VK_KHR_maintenance6
      InterceptOf<PFN_vkCmdBindDescriptorSets2KHR>(
          "vkCmdBindDescriptorSets2KHR",
          CmdBindDescriptorSets2<&Functions::CmdBindDescriptorSets2KHR>),
      InterceptOf<PFN_vkCmdPushDescriptorSet2KHR>(
          "vkCmdPushDescriptorSet2KHR",
          CmdPushDescriptorSet2<&Functions::CmdPushDescriptorSet2KHR>),
      InterceptOf<PFN_vkCmdPushDescriptorSetWithTemplate2KHR>(
          "vkCmdPushDescriptorSetWithTemplate2KHR",
          CmdPushWithTemplate2<&Functions::CmdPushDescriptorSetWithTemplate2KHR>),
      InterceptOf<PFN_vkCmdSetDescriptorBufferOffsets2EXT>("vkCmdSetDescriptorBufferOffsets2EXT",
                                                           CmdSetDescriptorBufferOffsets2EXT),
#endif
#ifdef VK_VERSION_1_4
      InterceptOf<PFN_vkCmdPushDescriptorSet>(
          "vkCmdPushDescriptorSet", CmdPushDescriptorSet<&Functions::CmdPushDescriptorSet>),
      InterceptOf<PFN_vkCmdPushDescriptorSetWithTemplate>(
          "vkCmdPushDescriptorSetWithTemplate",
          CmdPushWithTemplate<&Functions::CmdPushDescriptorSetWithTemplate>),
      InterceptOf<PFN_vkCmdBindDescriptorSets2>(
          "vkCmdBindDescriptorSets2", CmdBindDescriptorSets2<&Functions::CmdBindDescriptorSets2>),
      InterceptOf<PFN_vkCmdPushDescriptorSet2>(
          "vkCmdPushDescriptorSet2", CmdPushDescriptorSet2<&Functions::CmdPushDescriptorSet2>),
      InterceptOf<PFN_vkCmdPushDescriptorSetWithTemplate2>(
          "vkCmdPushDescriptorSetWithTemplate2",
          CmdPushWithTemplate2<&Functions::CmdPushDescriptorSetWithTemplate2>),
#endif
  };
  return intercepts;
}

}  // namespace cairn
