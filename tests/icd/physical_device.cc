// SPDX-License-Identifier: Apache-2.0
//
// The one physical device: queue families, memory types, features, properties, formats.
#include <algorithm>
#include <cstring>

#include "icd/entry.h"
#include "icd/objects.h"

namespace cairn::icd {
namespace {

constexpr VkExtensionProperties kDeviceExtensions[] = {
    {VK_AMD_BUFFER_MARKER_EXTENSION_NAME, VK_AMD_BUFFER_MARKER_SPEC_VERSION},
    {VK_EXT_DEBUG_MARKER_EXTENSION_NAME, VK_EXT_DEBUG_MARKER_SPEC_VERSION},
    {VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME,
     VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_SPEC_VERSION},
    {VK_EXT_DEVICE_FAULT_EXTENSION_NAME, VK_EXT_DEVICE_FAULT_SPEC_VERSION},
    {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_SPEC_VERSION},
    {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_SPEC_VERSION},
    {VK_EXT_PRIVATE_DATA_EXTENSION_NAME, VK_EXT_PRIVATE_DATA_SPEC_VERSION},
    {VK_EXT_ROBUSTNESS_2_EXTENSION_NAME, VK_EXT_ROBUSTNESS_2_SPEC_VERSION},
    {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, VK_KHR_BUFFER_DEVICE_ADDRESS_SPEC_VERSION},
    {VK_KHR_CREATE_RENDERPASS_2_EXTENSION_NAME, VK_KHR_CREATE_RENDERPASS_2_SPEC_VERSION},
    {VK_KHR_DYNAMIC_RENDERING_EXTENSION_NAME, VK_KHR_DYNAMIC_RENDERING_SPEC_VERSION},
    {VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME, VK_KHR_EXTERNAL_MEMORY_SPEC_VERSION},
    {VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, VK_KHR_SYNCHRONIZATION_2_SPEC_VERSION},
    {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_KHR_TIMELINE_SEMAPHORE_SPEC_VERSION},
    {VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME,
     VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_SPEC_VERSION},
};

const Settings& SettingsOf(VkPhysicalDevice device) {
  return From<PhysicalDevice>(device)->instance->settings;
}

VkPhysicalDeviceFeatures BaseFeatures() {
  VkPhysicalDeviceFeatures features = {};
  VkBool32* first = &features.robustBufferAccess;
  const VkBool32* end = first + sizeof(features) / sizeof(VkBool32);
  std::fill(first, const_cast<VkBool32*>(end), VK_TRUE);
  features.sparseBinding = VK_FALSE;
  features.sparseResidencyBuffer = VK_FALSE;
  features.sparseResidencyImage2D = VK_FALSE;
  features.sparseResidencyImage3D = VK_FALSE;
  features.sparseResidency2Samples = VK_FALSE;
  features.sparseResidency4Samples = VK_FALSE;
  features.sparseResidency8Samples = VK_FALSE;
  features.sparseResidency16Samples = VK_FALSE;
  features.sparseResidencyAliased = VK_FALSE;
  return features;
}

VkPhysicalDeviceLimits Limits() {
  VkPhysicalDeviceLimits limits = {};
  limits.maxImageDimension1D = limits.maxImageDimension2D = 16384;
  limits.maxImageDimension3D = limits.maxImageArrayLayers = 2048;
  limits.maxImageDimensionCube = 16384;
  limits.maxTexelBufferElements = 1 << 27;
  limits.maxUniformBufferRange = 65536;
  limits.maxStorageBufferRange = 1 << 30;
  limits.maxPushConstantsSize = 256;
  limits.maxMemoryAllocationCount = 1 << 20;
  limits.maxSamplerAllocationCount = 1 << 20;
  limits.bufferImageGranularity = 1;
  limits.maxBoundDescriptorSets = 32;
  limits.maxPerStageDescriptorSamplers = limits.maxPerStageDescriptorUniformBuffers = 1 << 20;
  limits.maxPerStageDescriptorStorageBuffers = limits.maxPerStageDescriptorSampledImages = 1 << 20;
  limits.maxPerStageDescriptorStorageImages = limits.maxPerStageResources = 1 << 20;
  limits.maxDescriptorSetUniformBuffers = limits.maxDescriptorSetStorageBuffers = 1 << 20;
  limits.maxDescriptorSetSampledImages = limits.maxDescriptorSetStorageImages = 1 << 20;
  limits.maxDescriptorSetSamplers = 1 << 20;
  limits.maxVertexInputAttributes = limits.maxVertexInputBindings = 32;
  limits.maxVertexInputAttributeOffset = limits.maxVertexInputBindingStride = 2048;
  limits.maxComputeSharedMemorySize = 32768;
  for (uint32_t i = 0; i < 3; ++i) {
    limits.maxComputeWorkGroupCount[i] = 65535;
    limits.maxComputeWorkGroupSize[i] = 1024;
  }
  limits.maxComputeWorkGroupInvocations = 1024;
  limits.maxDrawIndexedIndexValue = limits.maxDrawIndirectCount = UINT32_MAX;
  limits.maxViewports = 16;
  limits.maxViewportDimensions[0] = limits.maxViewportDimensions[1] = 16384;
  limits.viewportBoundsRange[0] = -32768;
  limits.viewportBoundsRange[1] = 32767;
  limits.minMemoryMapAlignment = 4096;
  limits.minTexelBufferOffsetAlignment = limits.minUniformBufferOffsetAlignment = 16;
  limits.minStorageBufferOffsetAlignment = 16;
  limits.maxFramebufferWidth = limits.maxFramebufferHeight = 16384;
  limits.maxFramebufferLayers = 2048;
  limits.framebufferColorSampleCounts = limits.framebufferDepthSampleCounts = 15;
  limits.framebufferStencilSampleCounts = limits.framebufferNoAttachmentsSampleCounts = 15;
  limits.maxColorAttachments = 8;
  limits.sampledImageColorSampleCounts = limits.sampledImageDepthSampleCounts = 15;
  limits.sampledImageIntegerSampleCounts = limits.sampledImageStencilSampleCounts = 15;
  limits.storageImageSampleCounts = 15;
  limits.maxSampleMaskWords = 1;
  limits.timestampPeriod = 1;
  limits.maxSamplerAnisotropy = 16;
  limits.pointSizeRange[0] = limits.lineWidthRange[0] = 1;
  limits.pointSizeRange[1] = limits.lineWidthRange[1] = 1;
  limits.optimalBufferCopyOffsetAlignment = limits.optimalBufferCopyRowPitchAlignment = 1;
  limits.nonCoherentAtomSize = 64;
  return limits;
}

VkPhysicalDeviceProperties BaseProperties(VkPhysicalDevice device) {
  VkPhysicalDeviceProperties properties = {};
  properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 3, VK_HEADER_VERSION);
  properties.driverVersion = kDriverVersion;
  properties.vendorID = SettingsOf(device).nvidia ? kVendorNvidia : kVendorId;
  properties.deviceID = kDeviceId;
  properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  std::strcpy(properties.deviceName, "Cairn test device");
  std::strcpy(reinterpret_cast<char*>(properties.pipelineCacheUUID), "cairn-test-icd");
  properties.limits = Limits();
  return properties;
}

VkPhysicalDeviceMemoryProperties MemoryProperties() {
  VkPhysicalDeviceMemoryProperties memory = {};
  memory.memoryHeapCount = 2;
  memory.memoryHeaps[0] = {kDeviceHeapBytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  memory.memoryHeaps[1] = {VkDeviceSize{1} << 34, 0};
  constexpr VkMemoryPropertyFlags kHost =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  memory.memoryTypeCount = 3;
  memory.memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  memory.memoryTypes[1] = {kHost | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1};
  memory.memoryTypes[2] = {kHost | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
  return memory;
}

// Sets every flag of a structure that is nothing but flags.
template <typename Structure>
void AllowAll(VkBaseOutStructure* structure) {
  auto* first = reinterpret_cast<VkBool32*>(reinterpret_cast<std::byte*>(structure) +
                                            sizeof(VkBaseOutStructure));
  const size_t bytes = sizeof(Structure) - sizeof(VkBaseOutStructure);
  std::fill(first, first + bytes / sizeof(VkBool32), VK_TRUE);
}

// Features beyond those of the core that the driver knows; others are left as they are.
void FillFeature(const Settings& settings, VkBaseOutStructure* entry) {
  switch (entry->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES: {
      AllowAll<VkPhysicalDeviceVulkan11Features>(entry);
      reinterpret_cast<VkPhysicalDeviceVulkan11Features*>(entry)->protectedMemory = VK_FALSE;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
      AllowAll<VkPhysicalDeviceVulkan12Features>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
      AllowAll<VkPhysicalDeviceVulkan13Features>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES:
      AllowAll<VkPhysicalDeviceSynchronization2Features>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
      AllowAll<VkPhysicalDeviceTimelineSemaphoreFeatures>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES:
      AllowAll<VkPhysicalDeviceDynamicRenderingFeatures>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
      AllowAll<VkPhysicalDeviceBufferDeviceAddressFeatures>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIVATE_DATA_FEATURES:
      AllowAll<VkPhysicalDevicePrivateDataFeatures>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES:
      AllowAll<VkPhysicalDeviceImageRobustnessFeatures>(entry);
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT:
      if (settings.Has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)) {
        AllowAll<VkPhysicalDeviceRobustness2FeaturesEXT>(entry);
      }
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT: {
      auto* fault = reinterpret_cast<VkPhysicalDeviceFaultFeaturesEXT*>(entry);
      fault->deviceFault = settings.Has(VK_EXT_DEVICE_FAULT_EXTENSION_NAME) ? VK_TRUE : VK_FALSE;
      fault->deviceFaultVendorBinary =
          fault->deviceFault == VK_TRUE && !settings.no_vendor_binary ? VK_TRUE : VK_FALSE;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT:
      reinterpret_cast<VkPhysicalDeviceAddressBindingReportFeaturesEXT*>(entry)
          ->reportAddressBinding =
          settings.Has(VK_EXT_DEVICE_ADDRESS_BINDING_REPORT_EXTENSION_NAME) ? VK_TRUE : VK_FALSE;
      break;
    default: break;
  }
}

void VKAPI_CALL GetPhysicalDeviceFeatures(VkPhysicalDevice, VkPhysicalDeviceFeatures* features) {
  *features = BaseFeatures();
}

void VKAPI_CALL GetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                           VkPhysicalDeviceFeatures2* features) {
  features->features = BaseFeatures();
  for (auto* entry = static_cast<VkBaseOutStructure*>(features->pNext); entry != nullptr;
       entry = entry->pNext) {
    FillFeature(SettingsOf(device), entry);
  }
}

void VKAPI_CALL GetPhysicalDeviceProperties(VkPhysicalDevice device,
                                            VkPhysicalDeviceProperties* properties) {
  *properties = BaseProperties(device);
}

// There is no number for test drivers.
VkDriverId DriverId(const Settings& settings) {
  if (settings.radv) return VK_DRIVER_ID_MESA_RADV;
  return settings.nvidia ? VK_DRIVER_ID_NVIDIA_PROPRIETARY : VK_DRIVER_ID_MAX_ENUM;
}

void FillProperty(const Settings& settings, VkBaseOutStructure* entry) {
  switch (entry->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES: {
      auto* driver = reinterpret_cast<VkPhysicalDeviceDriverProperties*>(entry);
      driver->driverID = DriverId(settings);
      std::strcpy(driver->driverName, "cairn test driver");
      std::strcpy(driver->driverInfo, "1");
      driver->conformanceVersion = {1, 3, 0, 0};
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES: {
      auto* core = reinterpret_cast<VkPhysicalDeviceVulkan12Properties*>(entry);
      std::strcpy(core->driverName, "cairn test driver");
      std::strcpy(core->driverInfo, "1");
      core->driverID = DriverId(settings);
      core->maxTimelineSemaphoreValueDifference = UINT64_MAX;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES:
      reinterpret_cast<VkPhysicalDeviceTimelineSemaphoreProperties*>(entry)
          ->maxTimelineSemaphoreValueDifference = UINT64_MAX;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES: {
      auto* limits = reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(entry);
      limits->maxPerSetDescriptors = 1 << 20;
      limits->maxMemoryAllocationSize = VkDeviceSize{1} << 32;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES: {
      auto* id = reinterpret_cast<VkPhysicalDeviceIDProperties*>(entry);
      std::strcpy(reinterpret_cast<char*>(id->deviceUUID), "cairn-device");
      std::strcpy(reinterpret_cast<char*>(id->driverUUID), "cairn-driver");
      id->deviceLUIDValid = VK_FALSE;
      break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
      reinterpret_cast<VkPhysicalDeviceExternalMemoryHostPropertiesEXT*>(entry)
          ->minImportedHostPointerAlignment = kImportAlignment;
      break;
    default: break;
  }
}

void VKAPI_CALL GetPhysicalDeviceProperties2(VkPhysicalDevice device,
                                             VkPhysicalDeviceProperties2* properties) {
  properties->properties = BaseProperties(device);
  for (auto* entry = static_cast<VkBaseOutStructure*>(properties->pNext); entry != nullptr;
       entry = entry->pNext) {
    FillProperty(SettingsOf(device), entry);
  }
}

std::vector<VkQueueFamilyProperties> FamilyProperties() {
  std::vector<VkQueueFamilyProperties> families;
  for (const Family& family : kFamilies) {
    families.push_back({family.flags, family.queue_count, 64, {1, 1, 1}});
  }
  return families;
}

void VKAPI_CALL GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice, uint32_t* count,
                                                       VkQueueFamilyProperties* output) {
  static_cast<void>(Enumerate(FamilyProperties(), count, output));
}

void VKAPI_CALL GetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice device, uint32_t* count,
                                                        VkQueueFamilyProperties2* output) {
  const std::vector<VkQueueFamilyProperties> families = FamilyProperties();
  *count = output == nullptr ? kFamilyCount : std::min(*count, kFamilyCount);
  if (output == nullptr) return;
  const bool checkpoints =
      SettingsOf(device).Has(VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME);
  for (uint32_t i = 0; i < *count; ++i) {
    output[i].queueFamilyProperties = families[i];
    for (auto* entry = static_cast<VkBaseOutStructure*>(output[i].pNext); entry != nullptr;
         entry = entry->pNext) {
      if (entry->sType == VK_STRUCTURE_TYPE_QUEUE_FAMILY_CHECKPOINT_PROPERTIES_NV && checkpoints) {
        reinterpret_cast<VkQueueFamilyCheckpointPropertiesNV*>(entry)
            ->checkpointExecutionStageMask =
            VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
      }
    }
  }
}

void VKAPI_CALL GetPhysicalDeviceMemoryProperties(VkPhysicalDevice,
                                                  VkPhysicalDeviceMemoryProperties* memory) {
  *memory = MemoryProperties();
}

void VKAPI_CALL GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice device,
                                                   VkPhysicalDeviceMemoryProperties2* memory) {
  memory->memoryProperties = MemoryProperties();
  auto* const budget = static_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(memory->pNext);
  if (budget == nullptr ||
      budget->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT ||
      !SettingsOf(device).Has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) {
    return;
  }
  for (uint32_t i = 0; i < memory->memoryProperties.memoryHeapCount; ++i) {
    budget->heapBudget[i] = memory->memoryProperties.memoryHeaps[i].size / 8 * 7;
    budget->heapUsage[i] = i == 0 ? DeviceHeapUsage().load() : 0;
  }
}

// Every format can do everything: no pixel is ever looked at.
void VKAPI_CALL GetPhysicalDeviceFormatProperties(VkPhysicalDevice, VkFormat,
                                                  VkFormatProperties* properties) {
  constexpr VkFormatFeatureFlags kAll =
      0x1FFFF | VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
  *properties = {kAll, kAll, kAll};
}

void VKAPI_CALL GetPhysicalDeviceFormatProperties2(VkPhysicalDevice device, VkFormat format,
                                                   VkFormatProperties2* properties) {
  GetPhysicalDeviceFormatProperties(device, format, &properties->formatProperties);
}

VkResult VKAPI_CALL GetPhysicalDeviceImageFormatProperties(VkPhysicalDevice, VkFormat, VkImageType,
                                                           VkImageTiling, VkImageUsageFlags,
                                                           VkImageCreateFlags,
                                                           VkImageFormatProperties* properties) {
  *properties = {{16384, 16384, 2048}, 15, 2048, 15, VkDeviceSize{1} << 32};
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetPhysicalDeviceImageFormatProperties2(
    VkPhysicalDevice device, const VkPhysicalDeviceImageFormatInfo2* info,
    VkImageFormatProperties2* properties) {
  return GetPhysicalDeviceImageFormatProperties(device, info->format, info->type, info->tiling,
                                                info->usage, info->flags,
                                                &properties->imageFormatProperties);
}

void VKAPI_CALL GetPhysicalDeviceSparseImageFormatProperties(VkPhysicalDevice, VkFormat,
                                                             VkImageType, VkSampleCountFlagBits,
                                                             VkImageUsageFlags, VkImageTiling,
                                                             uint32_t* count,
                                                             VkSparseImageFormatProperties*) {
  *count = 0;
}

void VKAPI_CALL GetPhysicalDeviceSparseImageFormatProperties2(
    VkPhysicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2*, uint32_t* count,
    VkSparseImageFormatProperties2*) {
  *count = 0;
}

void VKAPI_CALL GetPhysicalDeviceExternalBufferProperties(
    VkPhysicalDevice device, const VkPhysicalDeviceExternalBufferInfo* info,
    VkExternalBufferProperties* properties) {
  constexpr auto kHost = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  properties->externalMemoryProperties = {};
  if (info->handleType != kHost ||
      !SettingsOf(device).Has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    return;
  }
  properties->externalMemoryProperties = {VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, kHost, kHost};
}

VkResult VKAPI_CALL EnumerateDeviceExtensionProperties(VkPhysicalDevice device, const char*,
                                                       uint32_t* count,
                                                       VkExtensionProperties* output) {
  std::vector<VkExtensionProperties> extensions;
  for (const VkExtensionProperties& extension : kDeviceExtensions) {
    if (SettingsOf(device).Has(extension.extensionName)) extensions.push_back(extension);
  }
  return Enumerate(extensions, count, output);
}

VkResult VKAPI_CALL EnumerateDeviceLayerProperties(VkPhysicalDevice, uint32_t* count,
                                                   VkLayerProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetPhysicalDeviceToolProperties(VkPhysicalDevice, uint32_t* count,
                                                    VkPhysicalDeviceToolProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

const Entry kEntries[] = {
    CAIRN_ICD_ENTRY(GetPhysicalDeviceFeatures),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceFeatures2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceFeatures2KHR, GetPhysicalDeviceFeatures2, nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceProperties2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceProperties2KHR, GetPhysicalDeviceProperties2, nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceQueueFamilyProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceQueueFamilyProperties2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceQueueFamilyProperties2KHR,
                    GetPhysicalDeviceQueueFamilyProperties2, nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceMemoryProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceMemoryProperties2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceMemoryProperties2KHR, GetPhysicalDeviceMemoryProperties2,
                    nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceFormatProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceFormatProperties2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceFormatProperties2KHR, GetPhysicalDeviceFormatProperties2,
                    nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceImageFormatProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceImageFormatProperties2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceImageFormatProperties2KHR,
                    GetPhysicalDeviceImageFormatProperties2, nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceSparseImageFormatProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceSparseImageFormatProperties2),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceSparseImageFormatProperties2KHR,
                    GetPhysicalDeviceSparseImageFormatProperties2, nullptr),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceExternalBufferProperties),
    CAIRN_ICD_NAMED(vkGetPhysicalDeviceExternalBufferPropertiesKHR,
                    GetPhysicalDeviceExternalBufferProperties, nullptr),
    CAIRN_ICD_NOTHING(GetPhysicalDeviceExternalFenceProperties),
    CAIRN_ICD_NOTHING(GetPhysicalDeviceExternalSemaphoreProperties),
    CAIRN_ICD_ENTRY(EnumerateDeviceExtensionProperties),
    CAIRN_ICD_ENTRY(EnumerateDeviceLayerProperties),
    CAIRN_ICD_ENTRY(GetPhysicalDeviceToolProperties),
};

}  // namespace

std::span<const Entry> PhysicalDeviceEntries() {
  return kEntries;
}

std::span<const VkExtensionProperties> DeviceExtensions() {
  return kDeviceExtensions;
}

}  // namespace cairn::icd
