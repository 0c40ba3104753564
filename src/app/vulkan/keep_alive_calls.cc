// SPDX-License-Identifier: Apache-2.0
//
// The calls that end objects, which keep them, and those that fail for want of room, which is then made.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/vulkan/command_buffer.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/keep_alive.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {
namespace {

KeepAliveDevice& KeptOf(VkDevice device) {
  return *DeviceOf(device)->keep_alive;
}

template <typename Handle>
Handle HandleOf(uint64_t value) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(static_cast<uintptr_t>(value));
  } else {
    return value;
  }
}

// ---- Objects ---------------------------------------------------------------------------------------------

// vkDestroy... of one kind of object. One that was made with callbacks ends at once: they may not outlive the call.
template <auto kMember, KeptKind kKind, typename Function>
struct Ending;
template <auto kMember, KeptKind kKind, typename Handle>
struct Ending<kMember, kKind, void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*)> {
  static void Destroy(const DeviceFunctions& next, VkDevice device, uint64_t handle) {
    (next.*kMember)(device, HandleOf<Handle>(handle), nullptr);
  }
  static VKAPI_ATTR void VKAPI_CALL Call(VkDevice device, Handle handle,
                                         const VkAllocationCallbacks* allocator) {
    KeepAliveDevice& kept = KeptOf(device);
    if (handle != VK_NULL_HANDLE && allocator == nullptr) {
      kept.Keep({kKind, 0, HandleValue(handle), Destroy});
      return;
    }
    if (handle != VK_NULL_HANDLE) CountNotChanged();
    (kept.next().*kMember)(device, handle, allocator);
  }
};

template <auto kMember>
using FunctionOf = typename TypeOfMember<decltype(kMember)>::Type;

template <auto kMember, KeptKind kKind = KeptKind::kOther>
ExactFunction Keeps(const char* name) {
  return Replace<kMember>(name, Ending<kMember, kKind, FunctionOf<kMember>>::Call);
}

// ---- Room ------------------------------------------------------------------------------------------------

bool WantsRoom(VkResult result) {
  return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
         result == VK_ERROR_TOO_MANY_OBJECTS || result == VK_ERROR_FRAGMENTATION ||
         result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL;
}

// Calls again as long as more room can be made.
template <typename Call, typename MakeRoom>
VkResult WithRoom(Call call, MakeRoom make_room) {
  VkResult result = call();
  while (WantsRoom(result) && make_room()) result = call();
  return result;
}

template <auto kMember, typename Function>
struct Making;
template <auto kMember, typename... Arguments>
struct Making<kMember, VkResult(VKAPI_PTR*)(VkDevice, Arguments...)> {
  static VKAPI_ATTR VkResult VKAPI_CALL Call(VkDevice device, Arguments... arguments) {
    KeepAliveDevice& kept = KeptOf(device);
    return WithRoom([&] { return (kept.next().*kMember)(device, arguments...); },
                    [&] { return kept.MakeRoom(); });
  }
};

template <auto kMember>
ExactFunction TriesAgain(const char* name) {
  return Replace<kMember>(name, Making<kMember, FunctionOf<kMember>>::Call);
}

// ---- Memory ----------------------------------------------------------------------------------------------

VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                   const VkAllocationCallbacks* allocator, VkDeviceMemory* memory) {
  KeepAliveDevice& kept = KeptOf(device);
  constexpr auto kMember = &DeviceFunctions::AllocateMemory;
  const VkResult result =
      Making<kMember, FunctionOf<kMember>>::Call(device, info, allocator, memory);
  if (result == VK_SUCCESS && allocator == nullptr) {
    Quietly([&] { kept.NoteMemory(*memory, *info); });
  }
  return result;
}

void VKAPI_CALL FreeMemory(VkDevice device, VkDeviceMemory memory,
                           const VkAllocationCallbacks* allocator) {
  KeepAliveDevice& kept = KeptOf(device);
  const std::optional<uint64_t> bytes = kept.ForgetMemory(memory);
  if (bytes && allocator == nullptr) {
    constexpr auto kMember = &DeviceFunctions::FreeMemory;
    kept.Keep({KeptKind::kMemory, *bytes, HandleValue(memory),
               Ending<kMember, KeptKind::kMemory, FunctionOf<kMember>>::Destroy});
    return;
  }
  if (memory != VK_NULL_HANDLE) CountNotChanged();
  kept.next().FreeMemory(device, memory, allocator);
}

// ---- What pools have: freed in calls about the pool alone, which no two threads make at once ------------------

// Frees command buffers for which there is no room among the kept ones.
void FreeNow(VkDevice device, VkCommandPool pool, std::span<const VkCommandBuffer> buffers) {
  KeepAliveDevice& kept = KeptOf(device);
  kept.running().Freed(buffers);  // first: afterwards the driver gives the handles away again
  kept.next().FreeCommandBuffers(device, pool, static_cast<uint32_t>(buffers.size()),
                                 buffers.data());
}

void VKAPI_CALL FreeCommandBuffers(VkDevice device, VkCommandPool pool, uint32_t count,
                                   const VkCommandBuffer* buffers) {
  KeepAliveDevice& kept = KeptOf(device);
  for (uint32_t i = 0; buffers != nullptr && i < count; ++i) {
    if (buffers[i] == VK_NULL_HANDLE) continue;
    CountChange();
    const VkCommandBuffer over =
        kept.command_buffers().Keep(pool, buffers[i], kept.limits().of_pool);
    if (over == VK_NULL_HANDLE) continue;
    CountNotChanged();
    FreeNow(device, pool, {&over, 1});
  }
}

VkResult VKAPI_CALL AllocateCommandBuffers(VkDevice device, const VkCommandBufferAllocateInfo* info,
                                           VkCommandBuffer* buffers) {
  KeepAliveDevice& kept = KeptOf(device);
  const VkResult result = WithRoom(
      [&] { return kept.next().AllocateCommandBuffers(device, info, buffers); },
      [&] {
        const VkCommandBuffer oldest = kept.command_buffers().TakeOldest(info->commandPool);
        if (oldest == VK_NULL_HANDLE) return kept.MakeRoom();
        CountNotChanged();
        FreeNow(device, info->commandPool, {&oldest, 1});
        return true;
      });
  if (result != VK_SUCCESS) return result;
  const std::span made(buffers, info->commandBufferCount);
  if (kept.running().Allocated(info->commandPool, made)) return VK_SUCCESS;
  kept.next().FreeCommandBuffers(device, info->commandPool, info->commandBufferCount, buffers);
  std::ranges::fill(made, VkCommandBuffer{VK_NULL_HANDLE});
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

void VKAPI_CALL DestroyCommandPool(VkDevice device, VkCommandPool pool,
                                   const VkAllocationCallbacks* allocator) {
  KeepAliveDevice& kept = KeptOf(device);
  kept.command_buffers().Forget(pool);
  kept.running().Forget(pool);
  constexpr auto kMember = &DeviceFunctions::DestroyCommandPool;
  Ending<kMember, KeptKind::kPool, FunctionOf<kMember>>::Call(device, pool, allocator);
}

// The command buffers behind each other in the batches of a submission.
std::vector<VkCommandBuffer> CommandBuffersOf(std::span<const VkSubmitInfo> batches) {
  std::vector<VkCommandBuffer> buffers;
  for (const VkSubmitInfo& batch : batches) {
    buffers.insert(buffers.end(), batch.pCommandBuffers,
                   batch.pCommandBuffers + batch.commandBufferCount);
  }
  return buffers;
}
std::vector<VkCommandBuffer> CommandBuffersOf(std::span<const VkSubmitInfo2> batches) {
  std::vector<VkCommandBuffer> buffers;
  for (const VkSubmitInfo2& batch : batches) {
    for (uint32_t i = 0; i < batch.commandBufferInfoCount; ++i) {
      buffers.push_back(batch.pCommandBufferInfos[i].commandBuffer);
    }
  }
  return buffers;
}

template <auto kNext, typename Info>
VkResult VKAPI_CALL Submit(VkQueue queue, uint32_t count, const Info* infos, VkFence fence) {
  const QueueState* const state = QueueOf(queue);
  // The layer knows no device of this queue: there is no function to go on to.
  if (state == nullptr || state->device->keep_alive == nullptr) return VK_ERROR_OUT_OF_HOST_MEMORY;
  KeepAliveDevice& kept = *state->device->keep_alive;
  const VkResult result = (kept.next().*kNext)(queue, count, infos, fence);
  if (result == VK_SUCCESS) {
    Quietly([&] { kept.running().Submitted(queue, CommandBuffersOf(std::span(infos, count))); });
  }
  return result;
}

// Waits for submissions of the command buffer, if it is known here, and returns the functions of the next layer; null if
// its device is not known.
const DeviceFunctions* NextAfterRun(VkCommandBuffer buffer) {
  if (RunningCommands* const running = RunningCommands::Of(buffer); running != nullptr) {
    running->WaitFor(buffer);
    return &running->next();
  }
  const CommandBufferState* const state = CommandBufferOf(buffer);
  if (state == nullptr || state->device->keep_alive == nullptr) return nullptr;
  return &state->device->keep_alive->next();
}

// Also a reset, of one that was recorded before.
VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer buffer,
                                       const VkCommandBufferBeginInfo* info) {
  const DeviceFunctions* const next = NextAfterRun(buffer);
  return next == nullptr ? VK_ERROR_OUT_OF_HOST_MEMORY : next->BeginCommandBuffer(buffer, info);
}

VkResult VKAPI_CALL ResetCommandBuffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags) {
  const DeviceFunctions* const next = NextAfterRun(buffer);
  return next == nullptr ? VK_ERROR_OUT_OF_HOST_MEMORY : next->ResetCommandBuffer(buffer, flags);
}

VkResult VKAPI_CALL ResetCommandPool(VkDevice device, VkCommandPool pool,
                                     VkCommandPoolResetFlags flags) {
  KeepAliveDevice& kept = KeptOf(device);
  kept.running().WaitFor(pool);
  return kept.next().ResetCommandPool(device, pool, flags);
}

VkResult VKAPI_CALL CreateDescriptorPool(VkDevice device, const VkDescriptorPoolCreateInfo* info,
                                         const VkAllocationCallbacks* allocator,
                                         VkDescriptorPool* pool) {
  KeepAliveDevice& kept = KeptOf(device);
  constexpr auto kMember = &DeviceFunctions::CreateDescriptorPool;
  const VkResult result = Making<kMember, FunctionOf<kMember>>::Call(device, info, allocator, pool);
  if (result == VK_SUCCESS) Quietly([&] { kept.descriptor_pools().Note(*pool, *info); });
  return result;
}

void EndDescriptorPool(VkDevice device, VkDescriptorPool pool,
                       const VkAllocationCallbacks* allocator) {
  constexpr auto kMember = &DeviceFunctions::DestroyDescriptorPool;
  Ending<kMember, KeptKind::kPool, FunctionOf<kMember>>::Call(device, pool, allocator);
}

void VKAPI_CALL DestroyDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                      const VkAllocationCallbacks* allocator) {
  KeepAliveDevice& kept = KeptOf(device);
  kept.descriptor_sets().Forget(pool);
  const VkDescriptorPool current = kept.descriptor_pools().Current(pool);
  kept.descriptor_pools().Forget(pool);
  if (current != pool) EndDescriptorPool(device, current, nullptr);
  EndDescriptorPool(device, pool, allocator);
}

VkResult VKAPI_CALL FreeDescriptorSets(VkDevice device, VkDescriptorPool pool, uint32_t count,
                                       const VkDescriptorSet* sets) {
  KeepAliveDevice& kept = KeptOf(device);
  const VkDescriptorPool current = kept.descriptor_pools().Current(pool);
  VkResult result = VK_SUCCESS;
  for (uint32_t i = 0; i < count; ++i) {
    if (sets[i] == VK_NULL_HANDLE) continue;
    // One from before a reset lives on in the pool that was replaced.
    const bool is_current = kept.descriptor_pools().TakeSet(pool, sets[i]);
    const bool keeps = !is_current || kept.pools_tell_when_full();
    if (keeps) CountChange();
    if (!is_current) continue;
    const VkDescriptorSet ends =
        keeps ? kept.descriptor_sets().Keep(pool, sets[i], kept.limits().of_pool) : sets[i];
    if (ends == VK_NULL_HANDLE) continue;
    CountNotChanged();
    const VkResult freed = kept.next().FreeDescriptorSets(device, current, 1, &ends);
    if (freed != VK_SUCCESS) result = freed;
  }
  return result;
}

VkResult VKAPI_CALL AllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo* info,
                                           VkDescriptorSet* sets) {
  KeepAliveDevice& kept = KeptOf(device);
  VkDescriptorSetAllocateInfo current = *info;
  current.descriptorPool = kept.descriptor_pools().Current(info->descriptorPool);
  const VkResult result = WithRoom(
      [&] { return kept.next().AllocateDescriptorSets(device, &current, sets); },
      [&] {
        const VkDescriptorSet oldest = kept.descriptor_sets().TakeOldest(info->descriptorPool);
        if (oldest == VK_NULL_HANDLE) return false;
        CountNotChanged();
        kept.next().FreeDescriptorSets(device, current.descriptorPool, 1, &oldest);
        return true;
      });
  if (result == VK_SUCCESS) {
    Quietly([&] {
      kept.descriptor_pools().NoteSets(info->descriptorPool, {sets, info->descriptorSetCount});
    });
  }
  return result;
}

// Sets of before live on in the old pool. The program's handle, which is the old pool's, names the new one from now on: it
// stays until the program ends it, as the driver would give the handle away again.
VkResult VKAPI_CALL ResetDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                        VkDescriptorPoolResetFlags flags) {
  KeepAliveDevice& kept = KeptOf(device);
  kept.descriptor_sets().Forget(pool);
  const auto before = kept.descriptor_pools().Replace(
      pool, [&](const VkDescriptorPoolCreateInfo& info) -> VkDescriptorPool {
        VkDescriptorPool fresh = VK_NULL_HANDLE;
        const VkResult made = kept.next().CreateDescriptorPool(device, &info, nullptr, &fresh);
        return made == VK_SUCCESS ? fresh : VK_NULL_HANDLE;
      });
  if (before) {
    if (*before == pool) CountChange();
    if (*before != pool) EndDescriptorPool(device, *before, nullptr);
    return VK_SUCCESS;
  }
  CountNotChanged();
  return kept.next().ResetDescriptorPool(device, kept.descriptor_pools().Current(pool), flags);
}

std::span<const ExactFunction> KeepAliveFunctions() {
  using Vk = DeviceFunctions;
  static const std::array functions = {
      Replace<&Vk::AllocateMemory>("vkAllocateMemory", AllocateMemory),
      Replace<&Vk::FreeMemory>("vkFreeMemory", FreeMemory),
      Replace<&Vk::FreeCommandBuffers>("vkFreeCommandBuffers", FreeCommandBuffers),
      Replace<&Vk::AllocateCommandBuffers>("vkAllocateCommandBuffers", AllocateCommandBuffers),
      Replace<&Vk::ResetCommandPool>("vkResetCommandPool", ResetCommandPool),
      Replace<&Vk::FreeDescriptorSets>("vkFreeDescriptorSets", FreeDescriptorSets),
      Replace<&Vk::AllocateDescriptorSets>("vkAllocateDescriptorSets", AllocateDescriptorSets),
      Replace<&Vk::ResetDescriptorPool>("vkResetDescriptorPool", ResetDescriptorPool),
      Replace<&Vk::DestroyCommandPool>("vkDestroyCommandPool", DestroyCommandPool),
      Replace<&Vk::DestroyDescriptorPool>("vkDestroyDescriptorPool", DestroyDescriptorPool),
      Replace<&Vk::CreateDescriptorPool>("vkCreateDescriptorPool", CreateDescriptorPool),
      Replace<&Vk::BeginCommandBuffer>("vkBeginCommandBuffer", BeginCommandBuffer),
      Replace<&Vk::ResetCommandBuffer>("vkResetCommandBuffer", ResetCommandBuffer),
      Replace<&Vk::QueueSubmit>("vkQueueSubmit", Submit<&Vk::QueueSubmit, VkSubmitInfo>),
      Replace<&Vk::QueueSubmit2>("vkQueueSubmit2", Submit<&Vk::QueueSubmit2, VkSubmitInfo2>),
      Replace<&Vk::QueueSubmit2KHR>("vkQueueSubmit2KHR",
                                    Submit<&Vk::QueueSubmit2KHR, VkSubmitInfo2>),
      Keeps<&Vk::DestroyQueryPool, KeptKind::kPool>("vkDestroyQueryPool"),
      Keeps<&Vk::DestroySampler, KeptKind::kSampler>("vkDestroySampler"),
      Keeps<&Vk::DestroyAccelerationStructureKHR>("vkDestroyAccelerationStructureKHR"),
      Keeps<&Vk::DestroyAccelerationStructureNV>("vkDestroyAccelerationStructureNV"),
      Keeps<&Vk::DestroyBuffer>("vkDestroyBuffer"),
      Keeps<&Vk::DestroyBufferView>("vkDestroyBufferView"),
      Keeps<&Vk::DestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout"),
      Keeps<&Vk::DestroyDescriptorUpdateTemplate>("vkDestroyDescriptorUpdateTemplate"),
      Keeps<&Vk::DestroyDescriptorUpdateTemplateKHR>("vkDestroyDescriptorUpdateTemplateKHR"),
      Keeps<&Vk::DestroyEvent>("vkDestroyEvent"),
      Keeps<&Vk::DestroyFence>("vkDestroyFence"),
      Keeps<&Vk::DestroyFramebuffer>("vkDestroyFramebuffer"),
      Keeps<&Vk::DestroyImage>("vkDestroyImage"),
      Keeps<&Vk::DestroyImageView>("vkDestroyImageView"),
      Keeps<&Vk::DestroyIndirectCommandsLayoutNV>("vkDestroyIndirectCommandsLayoutNV"),
      Keeps<&Vk::DestroyMicromapEXT>("vkDestroyMicromapEXT"),
      Keeps<&Vk::DestroyPipeline>("vkDestroyPipeline"),
      Keeps<&Vk::DestroyPipelineLayout>("vkDestroyPipelineLayout"),
      Keeps<&Vk::DestroyRenderPass>("vkDestroyRenderPass"),
      Keeps<&Vk::DestroySamplerYcbcrConversion>("vkDestroySamplerYcbcrConversion"),
      Keeps<&Vk::DestroySamplerYcbcrConversionKHR>("vkDestroySamplerYcbcrConversionKHR"),
      Keeps<&Vk::DestroySemaphore>("vkDestroySemaphore"),
      TriesAgain<&Vk::CreateBuffer>("vkCreateBuffer"),
      TriesAgain<&Vk::CreateCommandPool>("vkCreateCommandPool"),
      TriesAgain<&Vk::CreateFence>("vkCreateFence"),
      TriesAgain<&Vk::CreateImage>("vkCreateImage"),
      TriesAgain<&Vk::CreateImageView>("vkCreateImageView"),
      TriesAgain<&Vk::CreateQueryPool>("vkCreateQueryPool"),
      TriesAgain<&Vk::CreateSampler>("vkCreateSampler"),
      TriesAgain<&Vk::CreateSemaphore>("vkCreateSemaphore"),
  };
  return functions;
}

}  // namespace

PFN_vkVoidFunction FindKeepAliveFunction(std::string_view name) {
  for (const ExactFunction& function : KeepAliveFunctions()) {
    if (name == function.name) return function.function;
  }
  return nullptr;
}

void InstallKeepAliveFunctions(DeviceFunctions& functions) {
  for (const ExactFunction& function : KeepAliveFunctions()) {
    function.install(functions, function.function);
  }
}

}  // namespace cairn
