// SPDX-License-Identifier: Apache-2.0
#include "icd/requests.h"

#include <vulkan/vk_icd.h>
#include <vulkan/vk_layer.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace cairn::icd {
namespace {

void NoteExtensions(const char* of, uint32_t count, const char* const* names, std::ostream& out) {
  for (uint32_t i = 0; i < count; ++i) out << of << " extension " << names[i] << "\n";
}

void NoteFlag(VkBool32 on, const char* name, std::ostream& out) {
  if (on == VK_TRUE) out << "device feature " << name << "\n";
}

// Structures that are not known here are told by their number: none is overlooked.
void NoteStructure(const VkBaseInStructure* structure, std::ostream& out) {
  switch (structure->sType) {
    case VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO: return;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT: {
      const auto* fault = reinterpret_cast<const VkPhysicalDeviceFaultFeaturesEXT*>(structure);
      NoteFlag(fault->deviceFault, "deviceFault", out);
      NoteFlag(fault->deviceFaultVendorBinary, "deviceFaultVendorBinary", out);
      return;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ADDRESS_BINDING_REPORT_FEATURES_EXT:
      NoteFlag(reinterpret_cast<const VkPhysicalDeviceAddressBindingReportFeaturesEXT*>(structure)
                   ->reportAddressBinding,
               "reportAddressBinding", out);
      return;
    default: out << "device structure " << static_cast<int64_t>(structure->sType) << "\n";
  }
}

std::ofstream OpenRequests() {
  const char* const path = std::getenv("CAIRN_ICD_REQUESTS");
  return path == nullptr ? std::ofstream() : std::ofstream(path, std::ios::app | std::ios::binary);
}

}  // namespace

void NoteRequest(const VkInstanceCreateInfo& info) {
  std::ofstream out = OpenRequests();
  NoteExtensions("instance", info.enabledExtensionCount, info.ppEnabledExtensionNames, out);
}

void NoteRequest(const VkDeviceCreateInfo& info) {
  std::ofstream out = OpenRequests();
  NoteExtensions("device", info.enabledExtensionCount, info.ppEnabledExtensionNames, out);
  for (auto* next = static_cast<const VkBaseInStructure*>(info.pNext); next != nullptr;
       next = next->pNext) {
    NoteStructure(next, out);
  }
  if (info.pEnabledFeatures != nullptr) out << "device features of Vulkan 1.0\n";
}

}  // namespace cairn::icd
