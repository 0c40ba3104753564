// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/keep_alive.h"

#include <algorithm>
#include <memory>

#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/own_memory.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/sharded_map.h"

namespace cairn {
namespace {

// The program chooses where such memory is mapped, and has the addresses back when it frees it.
constexpr char kPlacedMaps[] = "VK_EXT_map_memory_placed";

VkPhysicalDeviceMemoryProperties MemoryPropertiesOf(const DeviceState& device) {
  VkPhysicalDeviceMemoryProperties properties = {};
  const auto get = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties>(
      device.instance->Next("vkGetPhysicalDeviceMemoryProperties"));
  if (get != nullptr) get(device.physical_device, &properties);
  return properties;
}

}  // namespace

KeepLimits KeepLimits::For(const VkPhysicalDeviceLimits& limits) {
  KeepLimits keep;
  keep.memories = std::min(keep.objects, limits.maxMemoryAllocationCount / 2);
  keep.samplers = std::min(keep.objects, limits.maxSamplerAllocationCount / 2);
  return keep;
}

KeepAliveDevice::KeepAliveDevice(const DeviceState& device, const KeepLimits& limits)
    : device_(device.handle),
      next_(device.vk),
      limits_(limits),
      pools_tell_when_full_(device.api_version >= VK_API_VERSION_1_1 ||
                            device.Enabled(VK_KHR_MAINTENANCE_1_EXTENSION_NAME)),
      keeps_mapped_(!device.Enabled(kPlacedMaps)),
      memory_properties_(MemoryPropertiesOf(device)),
      running_(device_, next_) {}

KeepAliveDevice::~KeepAliveDevice() {
  for (const KeptObject& object : kept_) End(object);
}

void KeepAliveDevice::End(const KeptObject& object) const {
  object.destroy(next_, device_, object.handle);
}

bool KeepAliveDevice::IsBeyondLimits() const {
  const auto count = [this](KeptKind kind) { return kept_of_kind_[static_cast<size_t>(kind)]; };
  return kept_.size() > limits_.objects || kept_bytes_ > limits_.memory_bytes ||
         count(KeptKind::kMemory) > limits_.memories ||
         count(KeptKind::kSampler) > limits_.samplers || count(KeptKind::kPool) > limits_.pools;
}

std::optional<KeptObject> KeepAliveDevice::TakeOldest(bool beyond_limits) {
  const std::lock_guard lock(mutex_);
  if (kept_.empty() || (beyond_limits && !IsBeyondLimits())) return std::nullopt;
  const KeptObject oldest = kept_.front();
  kept_.pop_front();
  kept_bytes_ -= oldest.bytes;
  --kept_of_kind_[static_cast<size_t>(oldest.kind)];
  return oldest;
}

void KeepAliveDevice::Keep(const KeptObject& object) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    kept_.push_back(object);
    kept_bytes_ += object.bytes;
    ++kept_of_kind_[static_cast<size_t>(object.kind)];
  } catch (...) {
    CountNotChanged();
    End(object);
    return;
  }
  CountChange();
  while (const std::optional<KeptObject> oldest = TakeOldest(true)) {
    CountNotChanged();
    End(*oldest);
  }
}

bool KeepAliveDevice::MakeRoom() noexcept {
  bool any = false;
  while (const std::optional<KeptObject> oldest = TakeOldest(false)) {
    any = true;
    CountNotChanged();
    End(*oldest);
    if (oldest->kind == KeptKind::kMemory) break;
  }
  return any;
}

void KeepAliveDevice::NoteMemory(VkDeviceMemory memory, const VkMemoryAllocateInfo& info) {
  if (!IsOwnMemory(info)) return;
  const VkMemoryPropertyFlags flags =
      info.memoryTypeIndex < memory_properties_.memoryTypeCount
          ? memory_properties_.memoryTypes[info.memoryTypeIndex].propertyFlags
          : 0;
  if (!keeps_mapped_ && (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) return;
  const std::lock_guard lock(mutex_);
  memory_bytes_.insert_or_assign(HandleValue(memory), info.allocationSize);
}

std::optional<uint64_t> KeepAliveDevice::ForgetMemory(VkDeviceMemory memory) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_bytes_.find(HandleValue(memory));
  if (found == memory_bytes_.end()) return std::nullopt;
  const uint64_t bytes = found->second;
  memory_bytes_.erase(found);
  return bytes;
}

void StartKeepAlive(DeviceState& device) {
  const Experiment* const experiment = RunExperimentOfProcess();
  if (experiment == nullptr || experiment->change != Change::kKeepAlive) return;
  VkPhysicalDeviceProperties properties = {};
  device.instance->GetPhysicalDeviceProperties(device.physical_device, &properties);
  device.keep_alive = std::make_unique<KeepAliveDevice>(device, KeepLimits::For(properties.limits));
  InstallKeepAliveFunctions(device.vk);
}

void EndKeepAlive(DeviceState& device) {
  if (device.keep_alive == nullptr) return;
  device.vk = device.keep_alive->next();
  device.keep_alive.reset();
}

}  // namespace cairn
