// SPDX-License-Identifier: Apache-2.0
//
// VK_KHR_device_fault for headers that do not have it yet, from Vulkan's public specification: the
// numbers and layouts are part of the API and do not change.
#ifndef CAIRN_APP_VULKAN_FAULTS_KHR_H_
#define CAIRN_APP_VULKAN_FAULTS_KHR_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace cairn {

inline constexpr char kKhrDeviceFault[] = "VK_KHR_device_fault";

#ifdef VK_KHR_device_fault
using KhrFaultInfo = VkDeviceFaultInfoKHR;
using KhrFaultDebugInfo = VkDeviceFaultDebugInfoKHR;
using KhrFaultFeatures = VkPhysicalDeviceFaultFeaturesKHR;
#else
struct KhrFaultInfo {
  VkStructureType sType;
  void* pNext;
  VkFlags flags;
  uint64_t groupId;
  char description[VK_MAX_DESCRIPTION_SIZE];
  VkDeviceFaultAddressInfoEXT faultAddressInfo;
  VkDeviceFaultAddressInfoEXT instructionAddressInfo;
  VkDeviceFaultVendorInfoEXT vendorInfo;
};
struct KhrFaultDebugInfo {
  VkStructureType sType;
  void* pNext;
  uint32_t vendorBinarySize;
  void* pVendorBinaryData;
};
struct KhrFaultFeatures {
  VkStructureType sType;
  void* pNext;
  VkBool32 deviceFault;
  VkBool32 deviceFaultVendorBinary;
  VkBool32 deviceFaultReportMasked;
  VkBool32 deviceFaultDeviceLostOnMasked;
};
#endif

inline constexpr auto kKhrFaultFeaturesType = static_cast<VkStructureType>(1000573000);
inline constexpr auto kKhrFaultInfoType = static_cast<VkStructureType>(1000573002);
inline constexpr auto kKhrFaultDebugInfoType = static_cast<VkStructureType>(1000573003);
// A flag of KhrFaultInfo::flags.
inline constexpr VkFlags kKhrFaultDeviceLost = 0x1;
inline constexpr VkFlags kKhrFaultMemoryAddress = 0x2;
inline constexpr VkFlags kKhrFaultInstructionAddress = 0x4;
inline constexpr VkFlags kKhrFaultVendor = 0x8;
inline constexpr VkFlags kKhrFaultWatchdogTimeout = 0x10;
inline constexpr VkFlags kKhrFaultOverflow = 0x20;  // more faults came than the driver keeps

using PfnGetDeviceFaultReportsKhr = VkResult(VKAPI_PTR*)(VkDevice device, uint64_t timeout_ns,
                                                         uint32_t* count, KhrFaultInfo* infos);
using PfnGetDeviceFaultDebugInfoKhr = VkResult(VKAPI_PTR*)(VkDevice device,
                                                           KhrFaultDebugInfo* info);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_FAULTS_KHR_H_
