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
  ForgetSets(count, sets);
  return state.vk.FreeDescriptorSets(device, pool, count, sets);
}

VkResult VKAPI_CALL ResetDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                        VkDescriptorPoolResetFlags flags) {
  const DeviceState& state = *DeviceOf(device);
  ForgetSetsOf(pool);
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
  const uint32_t stamp = DestructionStamp(state);
  for (uint32_t i = 0; i < write_count; ++i) WriteSet(writes[i], stamp);
  for (uint32_t i = 0; i < copy_count; ++i) CopySet(copies[i]);
  state.vk.UpdateDescriptorSets(device, write_count, writes, copy_count, copies);
}

using UpdateTemplate = std::vector<VkDescriptorUpdateTemplateEntry>;
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
    auto entries = std::make_unique<UpdateTemplate>(
        info->pDescriptorUpdateEntries,
        info->pDescriptorUpdateEntries + info->descriptorUpdateEntryCount);
    if (update_templates.Set(*made, entries.get())) static_cast<void>(entries.release());
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

void WriteByTemplate(const DescriptorSetState& set, const UpdateTemplate& entries, const void* data,
                     uint32_t stamp) {
  if (set.slot.record == nullptr) return;
  for (const VkDescriptorUpdateTemplateEntry& entry : entries) {
    if (entry.descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) continue;
    DescriptorWalk walk(*set.layout, entry.dstBinding, entry.dstArrayElement);
    for (uint32_t i = 0; i < entry.descriptorCount && !walk.AtEnd(); ++i, walk.Next()) {
      if (!walk.kept()) continue;
      const void* const info = static_cast<const char*>(data) + entry.offset + i * entry.stride;
      WriteDescriptor(set.slot.descriptors()[walk.place()], walk.binding().number,
                      entry.descriptorType, info, stamp);
    }
  }
}

template <auto kNext>
void VKAPI_CALL UpdateWithTemplate(VkDevice device, VkDescriptorSet set,
                                   VkDescriptorUpdateTemplate handle, const void* data) {
  const DeviceState& state = *DeviceOf(device);
  const DescriptorSetState* const known = SetStateOf(set);
  const UpdateTemplate* const entries = update_templates.Find(handle);
  if (known != nullptr && entries != nullptr) {
    WriteByTemplate(*known, *entries, data, DestructionStamp(state));
  }
  (state.vk.*kNext)(device, set, handle, data);
}

// ---- What commands use -------------------------------------------------------------------------------

WorkPoint PointOf(VkPipelineBindPoint point) {
  switch (point) {
    case VK_PIPELINE_BIND_POINT_GRAPHICS: return WorkPoint::kGraphics;
    case VK_PIPELINE_BIND_POINT_COMPUTE: return WorkPoint::kCompute;
    case VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR: return WorkPoint::kRayTracing;
    default: return WorkPoint::kNone;
  }
}

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

// They take the place of a set. What they hold is not looked into.
void VKAPI_CALL CmdSetDescriptorBufferOffsetsEXT(VkCommandBuffer commands,
                                                 VkPipelineBindPoint point, VkPipelineLayout layout,
                                                 uint32_t first, uint32_t count,
                                                 const uint32_t* buffers,
                                                 const VkDeviceSize* offsets) {
  CommandBufferState& state = *CommandBufferOf(commands);
  const WorkPoint of = PointOf(point);
  for (uint32_t i = 0; state.open != nullptr && of != WorkPoint::kNone && i < count; ++i) {
    BindSet(state, of, first + i, kDescriptorBuffers);
  }
  state.vk->CmdSetDescriptorBufferOffsetsEXT(commands, point, layout, first, count, buffers,
                                             offsets);
}

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
  };
  return intercepts;
}

}  // namespace cairn
