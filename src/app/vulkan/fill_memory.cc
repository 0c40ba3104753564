// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/fill_memory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "app/vulkan/fill_queue.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/own_memory.h"
#include "app/vulkan/run_experiment.h"

namespace cairn {
namespace {

// VK_MEMORY_ALLOCATE_ZERO_INITIALIZE_BIT_EXT, of newer headers: the program may rely on what it then finds.
constexpr VkMemoryAllocateFlags kZeroed = 0x8;

bool MayBeFilled(const VkMemoryAllocateInfo& info) {
  const auto* const flags = FindInChain<VkMemoryAllocateFlagsInfo>(
      info.pNext, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  return IsOwnMemory(info) && (flags == nullptr || (flags->flags & kZeroed) == 0);
}

// Memory that one buffer or image alone may be bound to: which; null for any other.
const VkMemoryDedicatedAllocateInfo* DedicationOf(const VkMemoryAllocateInfo& info) {
  const auto* const dedicated = FindInChain<VkMemoryDedicatedAllocateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
  if (dedicated == nullptr) return nullptr;
  const bool has_owner = dedicated->image != VK_NULL_HANDLE || dedicated->buffer != VK_NULL_HANDLE;
  return has_owner ? dedicated : nullptr;
}

}  // namespace

MemoryFiller::MemoryFiller(const DeviceState& device, uint8_t byte)
    : device_(device.handle), next_(device.vk), byte_(byte) {
  const auto get_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
      device.instance->Next("vkGetPhysicalDeviceMemoryProperties"));
  if (get_properties != nullptr) get_properties(device.physical_device, &memory_properties_);
  if (device.fill_queue) MakeOwnQueue(device);
}

MemoryFiller::~MemoryFiller() {
  if (stuck_) return;
  if (fence_ != VK_NULL_HANDLE) next_.DestroyFence(device_, fence_, nullptr);
  if (pool_ != VK_NULL_HANDLE) next_.DestroyCommandPool(device_, pool_, nullptr);
}

void MemoryFiller::MakeOwnQueue(const DeviceState& device) {
  VkQueue queue = VK_NULL_HANDLE;
  next_.GetDeviceQueue(device_, device.fill_queue->family, device.fill_queue->index, &queue);
  VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = device.fill_queue->family;
  const VkFenceCreateInfo fence = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  if (queue == VK_NULL_HANDLE ||
      next_.CreateCommandPool(device_, &pool, nullptr, &pool_) != VK_SUCCESS ||
      next_.CreateFence(device_, &fence, nullptr, &fence_) != VK_SUCCESS) {
    return;
  }
  VkCommandBufferAllocateInfo commands = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  commands.commandPool = pool_;
  commands.commandBufferCount = 1;
  if (next_.AllocateCommandBuffers(device_, &commands, &commands_) != VK_SUCCESS) return;
  // Neither has been through the loader.
  if (device.set_loader_data != nullptr) {
    device.set_loader_data(device_, queue);
    device.set_loader_data(device_, commands_);
  }
  queue_ = queue;
  family_ = device.fill_queue->family;
}

VkBufferUsageFlags MemoryFiller::UsageForFills(const VkBufferCreateInfo& info) {
  constexpr VkBufferCreateFlags kNever =
      VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_PROTECTED_BIT;
  const auto* const external = FindInChain<VkExternalMemoryBufferCreateInfo>(
      info.pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
  if ((info.flags & kNever) != 0 || external != nullptr) return 0;
  return VK_BUFFER_USAGE_TRANSFER_DST_BIT;
}

std::vector<uint32_t> MemoryFiller::FamiliesWithOwn(const VkBufferCreateInfo& info) const {
  if (info.sharingMode != VK_SHARING_MODE_CONCURRENT) return {};
  std::vector<uint32_t> families(info.pQueueFamilyIndices,
                                 info.pQueueFamilyIndices + info.queueFamilyIndexCount);
  if (std::find(families.begin(), families.end(), family_) != families.end()) return {};
  families.push_back(family_);
  return families;
}

void MemoryFiller::NoteBuffer(VkBuffer buffer, bool can_be_filled) noexcept {
  Quietly([&] {
    const std::lock_guard lock(mutex_);
    if (can_be_filled) {
      unfillable_.erase(buffer);  // an earlier one of this handle
    } else {
      unfillable_.insert(buffer);
    }
  });
}

MemoryFiller::Answer MemoryFiller::Fill(const VkMemoryAllocateInfo& info, VkDeviceMemory memory) {
  const auto answer = [](bool filled) { return filled ? Answer::kFilled : Answer::kNotFilled; };
  {
    const std::lock_guard lock(mutex_);
    waiting_.erase(memory);  // an earlier one of this handle
  }
  if (!MayBeFilled(info) || info.memoryTypeIndex >= memory_properties_.memoryTypeCount) {
    return Answer::kNotFilled;
  }
  const VkMemoryPropertyFlags flags =
      memory_properties_.memoryTypes[info.memoryTypeIndex].propertyFlags;
  if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
    return answer(FillMapped(info, flags, memory));
  }
  if (!IsFilledByGpu(flags)) return Answer::kNotFilled;
  const VkMemoryDedicatedAllocateInfo* const dedicated = DedicationOf(info);
  if (dedicated == nullptr) return answer(FillOnGpu(info, memory));
  if (dedicated->buffer == VK_NULL_HANDLE || !has_queue()) return Answer::kNotFilled;
  return WaitForBind(dedicated->buffer, memory) ? Answer::kOnceBound : Answer::kNotFilled;
}

bool MemoryFiller::WaitForBind(VkBuffer buffer, VkDeviceMemory memory) {
  bool waits = false;
  Quietly([&] {
    const std::lock_guard lock(mutex_);
    waiting_.insert_or_assign(memory, buffer);
    waits = true;
  });
  return waits;
}

bool MemoryFiller::TakeWaiting(VkBuffer buffer, VkDeviceMemory memory) {
  const std::lock_guard lock(mutex_);
  const auto found = waiting_.find(memory);
  if (found == waiting_.end() || found->second != buffer) return false;
  waiting_.erase(found);
  return true;
}

bool MemoryFiller::FillBound(VkBuffer buffer) {
  const std::lock_guard lock(mutex_);
  return !stuck_ && !unfillable_.contains(buffer) && Run(buffer);
}

bool MemoryFiller::FillMapped(const VkMemoryAllocateInfo& info, VkMemoryPropertyFlags flags,
                              VkDeviceMemory memory) const {
  void* mapped = nullptr;
  if (next_.MapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped) != VK_SUCCESS) return false;
  std::memset(mapped, byte_, info.allocationSize);
  bool seen = true;
  if ((flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) == 0) {
    const VkMappedMemoryRange range = {VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, nullptr, memory, 0,
                                       VK_WHOLE_SIZE};
    seen = next_.FlushMappedMemoryRanges(device_, 1, &range) == VK_SUCCESS;
  }
  next_.UnmapMemory(device_, memory);
  return seen;
}

bool MemoryFiller::FillOnGpu(const VkMemoryAllocateInfo& info, VkDeviceMemory memory) {
  const std::lock_guard lock(mutex_);
  if (queue_ == VK_NULL_HANDLE || stuck_) return false;
  VkBufferCreateInfo buffer_info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  buffer_info.size = info.allocationSize;
  buffer_info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  if (next_.CreateBuffer(device_, &buffer_info, nullptr, &buffer) != VK_SUCCESS) return false;
  VkMemoryRequirements needs = {};
  next_.GetBufferMemoryRequirements(device_, buffer, &needs);
  const bool filled = (needs.memoryTypeBits >> info.memoryTypeIndex & 1) != 0 &&
                      needs.size <= info.allocationSize &&
                      next_.BindBufferMemory(device_, buffer, memory, 0) == VK_SUCCESS &&
                      Run(buffer);
  if (!stuck_) next_.DestroyBuffer(device_, buffer, nullptr);
  return filled;
}

bool MemoryFiller::Run(VkBuffer buffer) {
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  if (next_.BeginCommandBuffer(commands_, &begin) != VK_SUCCESS) return false;
  next_.CmdFillBuffer(commands_, buffer, 0, VK_WHOLE_SIZE, byte_ * 0x01010101u);
  if (next_.EndCommandBuffer(commands_) != VK_SUCCESS) return false;
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands_;
  if (next_.QueueSubmit(queue_, 1, &submit, fence_) != VK_SUCCESS) return false;
  stuck_ = next_.WaitForFences(device_, 1, &fence_, VK_TRUE, kMostNs) != VK_SUCCESS;
  return !stuck_ && next_.ResetFences(device_, 1, &fence_) == VK_SUCCESS;
}

void StartFillingMemory(DeviceState& device) {
  const Experiment* const experiment = RunExperimentOfProcess();
  const std::optional<uint8_t> fill = experiment == nullptr ? std::nullopt : FillOf(*experiment);
  if (!fill) return;
  device.memory_filler = std::make_unique<MemoryFiller>(device, *fill);
  InstallFillFunctions(device.vk);
}

}  // namespace cairn
