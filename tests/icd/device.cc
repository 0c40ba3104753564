// SPDX-License-Identifier: Apache-2.0
//
// The device, its queues, private data, and objects that are nothing but their handles.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "icd/entry.h"
#include "icd/objects.h"
#include "icd/requests.h"

namespace cairn::icd {
namespace {

constexpr VkDeviceSize kRingBytes = 1 << 16;

bool Offers(const PhysicalDevice& physical, std::string_view wanted) {
  if (!physical.instance->settings.Has(wanted)) return false;
  for (const VkExtensionProperties& extension : DeviceExtensions()) {
    if (wanted == extension.extensionName) return true;
  }
  return false;
}

VkResult CheckExtensions(const PhysicalDevice& physical, const VkDeviceCreateInfo& info,
                         Device* device) {
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i) {
    const char* name = info.ppEnabledExtensionNames[i];
    if (!Offers(physical, name)) return VK_ERROR_EXTENSION_NOT_PRESENT;
    device->extensions.insert(name);
  }
  return VK_SUCCESS;
}

// Features of extensions that Cairn's layer may ask for are refused without their extension, as a
// strict driver does.
VkResult CheckFeatures(const VkDeviceCreateInfo& info, Device* device) {
  const Settings& settings = device->instance->settings;
  if (const auto* fault = Find<VkPhysicalDeviceFaultFeaturesEXT>(
          info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT)) {
    const bool enabled = device->extensions.contains(VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    if (fault->deviceFault == VK_TRUE && !enabled) return VK_ERROR_FEATURE_NOT_PRESENT;
    device->has_vendor_binary = fault->deviceFaultVendorBinary == VK_TRUE;
    if (device->has_vendor_binary && (!enabled || settings.no_vendor_binary)) {
      return VK_ERROR_FEATURE_NOT_PRESENT;
    }
  }
  if (const auto* binding = Find<VkPhysicalDeviceAddressBindingReportFeaturesEXT>(
          info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT)) {
    device->reports_bindings = binding->reportAddressBinding == VK_TRUE;
    if (device->reports_bindings &&
        !device->extensions.contains(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME)) {
      return VK_ERROR_FEATURE_NOT_PRESENT;
    }
  }
  return VK_SUCCESS;
}

// Returns the misses (Missed) that do no harm with the features of the device; nothing for features that need an extension
// which is not enabled, or another feature.
std::optional<uint32_t> HarmlessMisses(const VkDeviceCreateInfo& info, const Device& device) {
  uint32_t misses = 0;
  const auto add = [&misses](VkBool32 is_on, Missed missed) {
    if (is_on == VK_TRUE) misses |= static_cast<uint32_t>(missed);
  };
  const auto* const features2 =
      Find<VkPhysicalDeviceFeatures2>(info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  const VkPhysicalDeviceFeatures* const all =
      features2 != nullptr ? &features2->features : info.pEnabledFeatures;
  if (all != nullptr) add(all->robustBufferAccess, Missed::kBuffer);
  const auto* const vulkan13 = Find<VkPhysicalDeviceVulkan13Features>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  if (vulkan13 != nullptr) add(vulkan13->robustImageAccess, Missed::kImage);
  const auto* const image = Find<VkPhysicalDeviceImageRobustnessFeatures>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES);
  if (image != nullptr) add(image->robustImageAccess, Missed::kImage);
  const auto* const two = Find<VkPhysicalDeviceRobustness2FeaturesEXT>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT);
  if (two == nullptr) return misses;
  const bool needs_buffers =
      two->robustBufferAccess2 == VK_TRUE && (misses & static_cast<uint32_t>(Missed::kBuffer)) == 0;
  if (needs_buffers || !device.extensions.contains(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)) {
    return std::nullopt;
  }
  add(two->robustImageAccess2, Missed::kImage);
  add(two->nullDescriptor, Missed::kDescriptor);
  return misses;
}

VkResult CreateQueues(const VkDeviceCreateInfo& info, Device* device) {
  for (uint32_t i = 0; i < info.queueCreateInfoCount; ++i) {
    const VkDeviceQueueCreateInfo& wanted = info.pQueueCreateInfos[i];
    if (wanted.queueFamilyIndex >= kFamilyCount ||
        wanted.queueCount > kFamilies[wanted.queueFamilyIndex].queue_count) {
      return VK_ERROR_INITIALIZATION_FAILED;
    }
    for (uint32_t index = 0; index < wanted.queueCount; ++index) {
      auto queue = std::make_unique<Queue>();
      queue->device = device;
      queue->family = wanted.queueFamilyIndex;
      queue->index = index;
      queue->number = static_cast<uint32_t>(device->queues.size());
      queue->flags = wanted.flags;
      device->queues.push_back(std::move(queue));
    }
  }
  return VK_SUCCESS;
}

// Handles directives outside of the command processor; called with the device's lock held.
void OnDirective(Device* device, const Directive& directive) {
  switch (directive.kind) {
    case DirectiveKind::kVendorInfo:
      device->vendor_infos.push_back({directive.text, directive.code, directive.data});
      break;
    case DirectiveKind::kHang: {
      const std::string& file = device->instance->settings.sticks_after_hang;
      if (!file.empty()) std::ofstream{file};
      break;
    }
    case DirectiveKind::kVendorBinary: device->vendor_payload = directive.text; break;
    case DirectiveKind::kBind:
    case DirectiveKind::kUnbind: device->bindings_to_tell.push_back(directive); break;
    default: break;
  }
}

// The remover of the file is unknown here, so that the file is polled.
void WaitWhileStuck(const std::string& file) {
  if (file.empty() || !std::filesystem::exists(file)) return;
  std::ofstream{file + ".waits"};
  while (std::filesystem::exists(file)) std::this_thread::yield();
}

VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical_device, const VkDeviceCreateInfo* info,
                                 const VkAllocationCallbacks*, VkDevice* output) {
  NoteRequest(*info);
  const auto& physical = *From<PhysicalDevice>(physical_device);
  if (physical.instance->settings.dies) std::abort();
  while (physical.instance->settings.sticks) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  const Settings& settings = physical.instance->settings;
  if (!settings.draws_stick) WaitWhileStuck(settings.sticks_after_hang);
  auto device = std::make_unique<Device>(physical.instance);
  VkResult result = CheckExtensions(physical, *info, device.get());
  if (result == VK_SUCCESS) result = CheckFeatures(*info, device.get());
  const std::optional<uint32_t> harmless = HarmlessMisses(*info, *device);
  if (result == VK_SUCCESS && !harmless) result = VK_ERROR_FEATURE_NOT_PRESENT;
  if (result == VK_SUCCESS) result = CreateQueues(*info, device.get());
  if (result != VK_SUCCESS) return result;
  device->processor = std::make_unique<CommandProcessor>(
      static_cast<uint32_t>(device->queues.size()), physical.instance->settings.bottom_line_limit);
  device->processor->set_harmless_misses(*harmless);
  device->processor->set_on_directive(
      [raw = device.get()](const Directive& directive) { OnDirective(raw, directive); });
  device->ring_address = device->next_address;
  device->next_address += 2 * kRingBytes;
  TellBinding(*device, VK_OBJECT_TYPE_UNKNOWN, 0, device->ring_address, kRingBytes, true, true);
  *output = To<VkDevice>(device.release());
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDevice(VkDevice device, const VkAllocationCallbacks*) {
  if (device == VK_NULL_HANDLE) return;
  TellBinding(*Of(device), VK_OBJECT_TYPE_UNKNOWN, 0, Of(device)->ring_address, kRingBytes, false,
              true);
  delete Of(device);
}

void VKAPI_CALL GetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2* info, VkQueue* output) {
  *output = VK_NULL_HANDLE;
  for (const auto& queue : Of(device)->queues) {
    if (queue->family == info->queueFamilyIndex && queue->index == info->queueIndex &&
        queue->flags == info->flags) {
      *output = To<VkQueue>(queue.get());
    }
  }
}

void VKAPI_CALL GetDeviceQueue(VkDevice device, uint32_t family, uint32_t index, VkQueue* output) {
  VkDeviceQueueInfo2 info = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2};
  info.queueFamilyIndex = family;
  info.queueIndex = index;
  GetDeviceQueue2(device, &info, output);
}

void VKAPI_CALL GetDeviceGroupPeerMemoryFeatures(VkDevice, uint32_t, uint32_t, uint32_t,
                                                 VkPeerMemoryFeatureFlags* features) {
  *features = 0;
}

// Handles of objects that have no state: never reused, and in the range of user-space addresses.
uint64_t NewHandle() {
  static std::atomic<uint64_t> next = 0x5000'0000'0000;
  return next.fetch_add(64);
}

VkResult VKAPI_CALL CreatePrivateDataSlot(VkDevice, const VkPrivateDataSlotCreateInfo*,
                                          const VkAllocationCallbacks*, VkPrivateDataSlot* slot) {
  *slot = reinterpret_cast<VkPrivateDataSlot>(NewHandle());
  return VK_SUCCESS;
}

VkResult VKAPI_CALL SetPrivateData(VkDevice device, VkObjectType, uint64_t object,
                                   VkPrivateDataSlot slot, uint64_t data) {
  std::lock_guard lock(Of(device)->mutex);
  Of(device)->private_data[{reinterpret_cast<uint64_t>(slot), object}] = data;
  return VK_SUCCESS;
}

void VKAPI_CALL GetPrivateData(VkDevice device, VkObjectType, uint64_t object,
                               VkPrivateDataSlot slot, uint64_t* data) {
  std::lock_guard lock(Of(device)->mutex);
  const auto found = Of(device)->private_data.find({reinterpret_cast<uint64_t>(slot), object});
  *data = found == Of(device)->private_data.end() ? 0 : found->second;
}

template <typename Function>
struct CreateHandle;
template <typename Info, typename Handle>
struct CreateHandle<VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*,
                                         Handle*)> {
  static VkResult VKAPI_CALL Call(VkDevice, const Info*, const VkAllocationCallbacks*,
                                  Handle* handle) {
    *handle = reinterpret_cast<Handle>(NewHandle());
    return VK_SUCCESS;
  }
};

template <typename Info>
VkResult VKAPI_CALL CreatePipelines(VkDevice, VkPipelineCache, uint32_t count, const Info*,
                                    const VkAllocationCallbacks*, VkPipeline* pipelines) {
  for (uint32_t i = 0; i < count; ++i) pipelines[i] = reinterpret_cast<VkPipeline>(NewHandle());
  return VK_SUCCESS;
}

VkResult VKAPI_CALL CreateGraphicsPipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                            const VkGraphicsPipelineCreateInfo* infos,
                                            const VkAllocationCallbacks* allocator,
                                            VkPipeline* pipelines) {
  const Settings& settings = Of(device)->instance->settings;
  if (settings.draws_stick) WaitWhileStuck(settings.sticks_after_hang);
  return CreatePipelines(device, cache, count, infos, allocator, pipelines);
}

VkResult VKAPI_CALL AllocateDescriptorSets(VkDevice, const VkDescriptorSetAllocateInfo* info,
                                           VkDescriptorSet* sets) {
  for (uint32_t i = 0; i < info->descriptorSetCount; ++i) {
    sets[i] = reinterpret_cast<VkDescriptorSet>(NewHandle());
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetPipelineCacheData(VkDevice, VkPipelineCache, size_t* size, void*) {
  *size = 0;
  return VK_SUCCESS;
}

void VKAPI_CALL GetDescriptorSetLayoutSupport(VkDevice, const VkDescriptorSetLayoutCreateInfo*,
                                              VkDescriptorSetLayoutSupport* support) {
  support->supported = VK_TRUE;
}

void VKAPI_CALL GetRenderAreaGranularity(VkDevice, VkRenderPass, VkExtent2D* granularity) {
  *granularity = {1, 1};
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(CreateDevice),
    CAIRN_ICD_ENTRY(DestroyDevice),
    CAIRN_ICD_ENTRY(GetDeviceQueue),
    CAIRN_ICD_ENTRY(GetDeviceQueue2),
    CAIRN_ICD_ENTRY(GetDeviceGroupPeerMemoryFeatures),
    CAIRN_ICD_ENTRY(CreatePrivateDataSlot),
    CAIRN_ICD_NOTHING(DestroyPrivateDataSlot),
    CAIRN_ICD_ENTRY(SetPrivateData),
    CAIRN_ICD_ENTRY(GetPrivateData),
    CAIRN_ICD_NAMED(vkCreatePrivateDataSlotEXT, CreatePrivateDataSlot,
                    VK_EXT_PRIVATE_DATA_EXTENSION_NAME),
    CAIRN_ICD_NAMED(vkDestroyPrivateDataSlotEXT, Nothing<PFN_vkDestroyPrivateDataSlot>::Call,
                    VK_EXT_PRIVATE_DATA_EXTENSION_NAME),
    CAIRN_ICD_NAMED(vkSetPrivateDataEXT, SetPrivateData, VK_EXT_PRIVATE_DATA_EXTENSION_NAME),
    CAIRN_ICD_NAMED(vkGetPrivateDataEXT, GetPrivateData, VK_EXT_PRIVATE_DATA_EXTENSION_NAME),
};

#define CAIRN_ICD_HANDLE(name)                                                      \
  CAIRN_ICD_NAMED(vkCreate##name, CreateHandle<PFN_vkCreate##name>::Call, nullptr), \
      CAIRN_ICD_NOTHING(Destroy##name)

const Entry kStubs[] = {
    CAIRN_ICD_HANDLE(BufferView),
    CAIRN_ICD_HANDLE(ImageView),
    CAIRN_ICD_HANDLE(ShaderModule),
    CAIRN_ICD_HANDLE(PipelineCache),
    CAIRN_ICD_HANDLE(PipelineLayout),
    CAIRN_ICD_HANDLE(Sampler),
    CAIRN_ICD_HANDLE(SamplerYcbcrConversion),
    CAIRN_ICD_HANDLE(DescriptorSetLayout),
    CAIRN_ICD_HANDLE(DescriptorPool),
    CAIRN_ICD_HANDLE(DescriptorUpdateTemplate),
    CAIRN_ICD_HANDLE(Framebuffer),
    CAIRN_ICD_HANDLE(RenderPass),
    CAIRN_ICD_HANDLE(QueryPool),
    CAIRN_ICD_NAMED(vkCreateRenderPass2, CreateHandle<PFN_vkCreateRenderPass2>::Call, nullptr),
    CAIRN_ICD_NAMED(vkCreateRenderPass2KHR, CreateHandle<PFN_vkCreateRenderPass2>::Call,
                    VK_KHR_CREATE_RENDERPASS_2_EXTENSION_NAME),
    CAIRN_ICD_ENTRY(CreateGraphicsPipelines),
    CAIRN_ICD_NAMED(vkCreateComputePipelines, CreatePipelines<VkComputePipelineCreateInfo>,
                    nullptr),
    CAIRN_ICD_NOTHING(DestroyPipeline),
    CAIRN_ICD_ENTRY(AllocateDescriptorSets),
    CAIRN_ICD_NOTHING(FreeDescriptorSets),
    CAIRN_ICD_NOTHING(ResetDescriptorPool),
    CAIRN_ICD_NOTHING(UpdateDescriptorSets),
    CAIRN_ICD_NOTHING(UpdateDescriptorSetWithTemplate),
    CAIRN_ICD_NOTHING(MergePipelineCaches),
    CAIRN_ICD_NOTHING(ResetQueryPool),
    CAIRN_ICD_NOTHING(GetQueryPoolResults),
    CAIRN_ICD_ENTRY(GetPipelineCacheData),
    CAIRN_ICD_ENTRY(GetDescriptorSetLayoutSupport),
    CAIRN_ICD_ENTRY(GetRenderAreaGranularity),
};

}  // namespace

std::span<const Entry> DeviceEntries() {
  return kEntries;
}

std::span<const Entry> StubEntries() {
  return kStubs;
}

}  // namespace cairn::icd
