// SPDX-License-Identifier: Apache-2.0
//
// The calls that draw and dispatch, on a device whose counts are limited; those that begin command buffers, and those
// that make buffers.
#include <array>

#include "app/vulkan/buffer_usage.h"
#include "app/vulkan/count_limits.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/intercept.h"

namespace cairn {
namespace {

using Vk = DeviceFunctions;

template <size_t kCount>
std::array<uint32_t, kCount> Limited(ExactCommands& commands, const char* command,
                                     std::array<uint32_t, kCount> counts) {
  commands.device().counts()->Limit(command, commands.places(), counts);
  return counts;
}

VKAPI_ATTR VkResult VKAPI_CALL Begin(VkCommandBuffer handle, const VkCommandBufferBeginInfo* info) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const VkResult result = commands.next().BeginCommandBuffer(handle, info);
  if (result == VK_SUCCESS && info != nullptr) {
    commands.Begin(*info);
    commands.places().may_run_at_once =
        (info->flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT) != 0;
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL Draw(VkCommandBuffer handle, uint32_t vertices, uint32_t instances,
                                uint32_t first_vertex, uint32_t first_instance) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<2>(commands, "vkCmdDraw", {vertices, instances});
  commands.next().CmdDraw(handle, counts[0], counts[1], first_vertex, first_instance);
}

VKAPI_ATTR void VKAPI_CALL DrawIndexed(VkCommandBuffer handle, uint32_t indices, uint32_t instances,
                                       uint32_t first_index, int32_t vertex_offset,
                                       uint32_t first_instance) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<2>(commands, "vkCmdDrawIndexed", {indices, instances});
  commands.next().CmdDrawIndexed(handle, counts[0], counts[1], first_index, vertex_offset,
                                 first_instance);
}

VKAPI_ATTR void VKAPI_CALL DrawMeshTasks(VkCommandBuffer handle, uint32_t x, uint32_t y,
                                         uint32_t z) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<3>(commands, "vkCmdDrawMeshTasksEXT", {x, y, z});
  commands.next().CmdDrawMeshTasksEXT(handle, counts[0], counts[1], counts[2]);
}

VKAPI_ATTR void VKAPI_CALL DrawMeshTasksNv(VkCommandBuffer handle, uint32_t tasks,
                                           uint32_t first_task) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<1>(commands, "vkCmdDrawMeshTasksNV", {tasks});
  commands.next().CmdDrawMeshTasksNV(handle, counts[0], first_task);
}

VKAPI_ATTR void VKAPI_CALL Dispatch(VkCommandBuffer handle, uint32_t x, uint32_t y, uint32_t z) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<3>(commands, "vkCmdDispatch", {x, y, z});
  commands.next().CmdDispatch(handle, counts[0], counts[1], counts[2]);
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL DispatchBase(VkCommandBuffer handle, uint32_t base_x, uint32_t base_y,
                                        uint32_t base_z, uint32_t x, uint32_t y, uint32_t z) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<3>(commands, "vkCmdDispatchBase", {x, y, z});
  (commands.next().*kNext)(handle, base_x, base_y, base_z, counts[0], counts[1], counts[2]);
}

VKAPI_ATTR void VKAPI_CALL TraceRays(VkCommandBuffer handle,
                                     const VkStridedDeviceAddressRegionKHR* raygen,
                                     const VkStridedDeviceAddressRegionKHR* miss,
                                     const VkStridedDeviceAddressRegionKHR* hit,
                                     const VkStridedDeviceAddressRegionKHR* callable,
                                     uint32_t width, uint32_t height, uint32_t depth) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  const auto counts = Limited<3>(commands, "vkCmdTraceRaysKHR", {width, height, depth});
  commands.next().CmdTraceRaysKHR(handle, raygen, miss, hit, callable, counts[0], counts[1],
                                  counts[2]);
}

VKAPI_ATTR void VKAPI_CALL DispatchIndirect(VkCommandBuffer handle, VkBuffer buffer,
                                            VkDeviceSize offset) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  CountLimits& limits = *commands.device().counts();
  const std::optional<VkDeviceSize> place =
      commands.may_dispatch() ? limits.CopyArguments(handle, commands.places(), buffer, offset)
                              : std::nullopt;
  if (!place) {
    CountNotChanged();
    return commands.next().CmdDispatchIndirect(handle, buffer, offset);
  }
  commands.compute().Restore(commands.next(), handle);
  commands.next().CmdDispatchIndirect(handle, limits.buffer(), *place);
}

// A command whose counts are nowhere to be limited.
template <auto kNext, typename Function>
struct AsItIs;
template <auto kNext, typename... Arguments>
struct AsItIs<kNext, void(VKAPI_PTR*)(VkCommandBuffer, Arguments...)> {
  static VKAPI_ATTR void VKAPI_CALL Call(VkCommandBuffer handle, Arguments... arguments) {
    CountNotChanged();
    (ExactCommandsOf(handle)->next().*kNext)(handle, arguments...);
  }
};

template <auto kNext>
ExactFunction Unlimited(const char* name) {
  return Replace<kNext>(name, AsItIs<kNext, typename TypeOfMember<decltype(kNext)>::Type>::Call);
}

VKAPI_ATTR void VKAPI_CALL BeginLabel(VkCommandBuffer handle, const VkDebugUtilsLabelEXT* label) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  Quietly([&] {
    const bool named = label != nullptr && label->pLabelName != nullptr;
    commands.places().labels.emplace_back(named ? label->pLabelName : "");
  });
  commands.next().CmdBeginDebugUtilsLabelEXT(handle, label);
}

VKAPI_ATTR void VKAPI_CALL EndLabel(VkCommandBuffer handle) {
  ExactCommands& commands = *ExactCommandsOf(handle);
  if (!commands.places().labels.empty()) commands.places().labels.pop_back();
  commands.next().CmdEndDebugUtilsLabelEXT(handle);
}

// ---- Buffers of arguments, which we copy from ---------------------------------------------------------

// The usage that a copy from the buffer needs, where it holds arguments.
VkBufferUsageFlags UsageForCopies(const VkBufferCreateInfo& info) {
  const bool has_arguments = (BufferUsageOf(info) & VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT) != 0;
  return has_arguments ? VK_BUFFER_USAGE_TRANSFER_SRC_BIT : 0;
}

VKAPI_ATTR VkResult VKAPI_CALL MakeBuffer(VkDevice device, const VkBufferCreateInfo* info,
                                          const VkAllocationCallbacks* allocator,
                                          VkBuffer* buffer) {
  const BufferWithUsage copyable(*info, UsageForCopies(*info));
  ExactDevice& exact = *DeviceOf(device)->exact;
  const VkResult result = exact.next().CreateBuffer(device, copyable.info(), allocator, buffer);
  if (result == VK_SUCCESS) exact.counts()->NoteBuffer(*buffer, copyable.has_usage());
  return result;
}

template <auto kNext>
VKAPI_ATTR void VKAPI_CALL NeedsOfBuffer(VkDevice device,
                                         const VkDeviceBufferMemoryRequirements* info,
                                         VkMemoryRequirements2* needs) {
  AskBufferNeeds(DeviceOf(device)->exact->next().*kNext, device, *info,
                 UsageForCopies(*info->pCreateInfo), needs);
}

}  // namespace

std::span<const ExactFunction> CountFunctions() {
  static const std::array functions = {
      Replace<&Vk::BeginCommandBuffer>("vkBeginCommandBuffer", Begin),
      Replace<&Vk::CmdDraw>("vkCmdDraw", Draw),
      Replace<&Vk::CmdDrawIndexed>("vkCmdDrawIndexed", DrawIndexed),
      Replace<&Vk::CmdDrawMeshTasksEXT>("vkCmdDrawMeshTasksEXT", DrawMeshTasks),
      Replace<&Vk::CmdDrawMeshTasksNV>("vkCmdDrawMeshTasksNV", DrawMeshTasksNv),
      Replace<&Vk::CmdDispatch>("vkCmdDispatch", Dispatch),
      Replace<&Vk::CmdDispatchBase>("vkCmdDispatchBase", DispatchBase<&Vk::CmdDispatchBase>),
      Replace<&Vk::CmdDispatchBaseKHR>("vkCmdDispatchBaseKHR",
                                       DispatchBase<&Vk::CmdDispatchBaseKHR>),
      Replace<&Vk::CmdTraceRaysKHR>("vkCmdTraceRaysKHR", TraceRays),
      Replace<&Vk::CmdDispatchIndirect>("vkCmdDispatchIndirect", DispatchIndirect),
      Unlimited<&Vk::CmdDrawIndirect>("vkCmdDrawIndirect"),
      Unlimited<&Vk::CmdDrawIndexedIndirect>("vkCmdDrawIndexedIndirect"),
      Unlimited<&Vk::CmdDrawIndirectCount>("vkCmdDrawIndirectCount"),
      Unlimited<&Vk::CmdDrawIndirectCountKHR>("vkCmdDrawIndirectCountKHR"),
      Unlimited<&Vk::CmdDrawIndirectCountAMD>("vkCmdDrawIndirectCountAMD"),
      Unlimited<&Vk::CmdDrawIndexedIndirectCount>("vkCmdDrawIndexedIndirectCount"),
      Unlimited<&Vk::CmdDrawIndexedIndirectCountKHR>("vkCmdDrawIndexedIndirectCountKHR"),
      Unlimited<&Vk::CmdDrawIndexedIndirectCountAMD>("vkCmdDrawIndexedIndirectCountAMD"),
      Unlimited<&Vk::CmdDrawIndirectByteCountEXT>("vkCmdDrawIndirectByteCountEXT"),
      Unlimited<&Vk::CmdDrawMeshTasksIndirectEXT>("vkCmdDrawMeshTasksIndirectEXT"),
      Unlimited<&Vk::CmdDrawMeshTasksIndirectCountEXT>("vkCmdDrawMeshTasksIndirectCountEXT"),
      Unlimited<&Vk::CmdDrawMeshTasksIndirectNV>("vkCmdDrawMeshTasksIndirectNV"),
      Unlimited<&Vk::CmdDrawMeshTasksIndirectCountNV>("vkCmdDrawMeshTasksIndirectCountNV"),
      Unlimited<&Vk::CmdDrawMultiEXT>("vkCmdDrawMultiEXT"),
      Unlimited<&Vk::CmdDrawMultiIndexedEXT>("vkCmdDrawMultiIndexedEXT"),
      Unlimited<&Vk::CmdTraceRaysNV>("vkCmdTraceRaysNV"),
      Unlimited<&Vk::CmdTraceRaysIndirectKHR>("vkCmdTraceRaysIndirectKHR"),
      Unlimited<&Vk::CmdTraceRaysIndirect2KHR>("vkCmdTraceRaysIndirect2KHR"),
      Replace<&Vk::CmdBeginDebugUtilsLabelEXT>("vkCmdBeginDebugUtilsLabelEXT", BeginLabel),
      Replace<&Vk::CmdEndDebugUtilsLabelEXT>("vkCmdEndDebugUtilsLabelEXT", EndLabel),
      Replace<&Vk::CreateBuffer>("vkCreateBuffer", MakeBuffer),
      Replace<&Vk::GetDeviceBufferMemoryRequirements>(
          "vkGetDeviceBufferMemoryRequirements",
          NeedsOfBuffer<&Vk::GetDeviceBufferMemoryRequirements>),
      Replace<&Vk::GetDeviceBufferMemoryRequirementsKHR>(
          "vkGetDeviceBufferMemoryRequirementsKHR",
          NeedsOfBuffer<&Vk::GetDeviceBufferMemoryRequirementsKHR>),
  };
  return functions;
}

PFN_vkVoidFunction FindCountFunction(std::string_view name) {
  for (const ExactFunction& function : CountFunctions()) {
    if (name == function.name) return function.function;
  }
  return nullptr;
}

}  // namespace cairn
