// SPDX-License-Identifier: Apache-2.0
//
// What a lost device tells: VK_EXT_device_fault and VK_NV_device_diagnostic_checkpoints.
#include <algorithm>
#include <cstring>

#include "icd/entry.h"
#include "icd/recording.h"

namespace cairn::icd {
namespace {

VkDeviceFaultAddressTypeEXT AddressType(FaultAccess access) {
  switch (access) {
    case FaultAccess::kRead: return VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT;
    case FaultAccess::kWrite: return VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT;
    case FaultAccess::kExecute: return VK_DEVICE_FAULT_ADDRESS_TYPE_EXECUTE_INVALID_EXT;
    case FaultAccess::kInstruction:
      return VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT;
    case FaultAccess::kNone: break;
  }
  return VK_DEVICE_FAULT_ADDRESS_TYPE_NONE_EXT;
}

void CopyText(const std::string& text, char (&output)[VK_MAX_DESCRIPTION_SIZE]) {
  const size_t size = std::min<size_t>(text.size(), VK_MAX_DESCRIPTION_SIZE - 1);
  std::memcpy(output, text.data(), size);
  output[size] = '\0';
}

// The header that the extension asks for, the application's and engine's names, and the payload.
std::string VendorBinary(const Device& device) {
  if (!device.has_vendor_binary || device.vendor_payload.empty()) return "";
  const Instance& instance = *device.instance;
  VkDeviceFaultVendorBinaryHeaderVersionOneEXT header = {};
  header.headerSize = sizeof(header);
  header.headerVersion = VK_DEVICE_FAULT_VENDOR_BINARY_HEADER_VERSION_ONE_EXT;
  header.vendorID = kVendorId;
  header.deviceID = kDeviceId;
  header.driverVersion = kDriverVersion;
  header.applicationVersion = instance.application_version;
  std::string names;
  if (!instance.application_name.empty()) {
    header.applicationNameOffset = sizeof(header);
    names += instance.application_name + '\0';
  }
  if (!instance.engine_name.empty()) {
    header.engineNameOffset = static_cast<uint32_t>(sizeof(header) + names.size());
    names += instance.engine_name + '\0';
  }
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + names +
         device.vendor_payload;
}

template <typename Output, typename Items, typename Convert>
bool CopyOut(const Items& items, uint32_t* capacity, Output* output, const Convert& convert) {
  const uint32_t available = static_cast<uint32_t>(items.size());
  const uint32_t written = output == nullptr ? 0 : std::min(*capacity, available);
  for (uint32_t i = 0; i < written; ++i) convert(items[i], &output[i]);
  *capacity = written;
  return written == available;
}

VkResult Fill(const Device& device, VkDeviceFaultCountsEXT* counts, VkDeviceFaultInfoEXT* info) {
  const std::vector<Fault>& faults = device.processor->faults();
  const std::string binary = VendorBinary(device);
  CopyText(faults.empty() ? "device lost" : "page fault", info->description);
  bool complete = CopyOut(faults, &counts->addressInfoCount, info->pAddressInfos,
                          [](const Fault& fault, VkDeviceFaultAddressInfoEXT* output) {
                            *output = {AddressType(fault.access), fault.address, fault.precision};
                          });
  complete &= CopyOut(device.vendor_infos, &counts->vendorInfoCount, info->pVendorInfos,
                      [](const VendorInfo& vendor, VkDeviceFaultVendorInfoEXT* output) {
                        CopyText(vendor.description, output->description);
                        output->vendorFaultCode = vendor.code;
                        output->vendorFaultData = vendor.data;
                      });
  const VkDeviceSize room = info->pVendorBinaryData == nullptr ? 0 : counts->vendorBinarySize;
  counts->vendorBinarySize = std::min<VkDeviceSize>(room, binary.size());
  if (counts->vendorBinarySize > 0) {
    std::memcpy(info->pVendorBinaryData, binary.data(), counts->vendorBinarySize);
  }
  return complete && counts->vendorBinarySize == binary.size() ? VK_SUCCESS : VK_INCOMPLETE;
}

VkResult VKAPI_CALL GetDeviceFaultInfoEXT(VkDevice handle, VkDeviceFaultCountsEXT* counts,
                                          VkDeviceFaultInfoEXT* info) {
  Device* device = Of(handle);
  std::lock_guard lock(device->mutex);
  if (!device->processor->lost()) return VK_ERROR_UNKNOWN;
  if (info != nullptr) return Fill(*device, counts, info);
  counts->addressInfoCount = static_cast<uint32_t>(device->processor->faults().size());
  counts->vendorInfoCount = static_cast<uint32_t>(device->vendor_infos.size());
  counts->vendorBinarySize = VendorBinary(*device).size();
  return VK_SUCCESS;
}

void VKAPI_CALL CmdSetCheckpointNV(VkCommandBuffer commands, const void* checkpoint) {
  for (const CommandKind kind : {CommandKind::kTopCheckpoint, CommandKind::kBottomCheckpoint}) {
    Command command;
    command.kind = kind;
    command.checkpoint = checkpoint;
    Record(commands, std::move(command));
  }
}

struct Checkpoint {
  VkPipelineStageFlagBits stage;
  const void* marker;
};

std::vector<Checkpoint> Checkpoints(const Queue& queue) {
  std::lock_guard lock(queue.device->mutex);
  const CommandProcessor& processor = *queue.device->processor;
  std::vector<Checkpoint> found;
  if (const void* top = processor.top_checkpoint(queue.number); top != nullptr) {
    found.push_back({VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, top});
  }
  if (const void* bottom = processor.bottom_checkpoint(queue.number); bottom != nullptr) {
    found.push_back({VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, bottom});
  }
  return found;
}

template <typename Output>
void GetCheckpoints(VkQueue queue, uint32_t* count, Output* output) {
  const std::vector<Checkpoint> found = Checkpoints(*Of(queue));
  const uint32_t available = static_cast<uint32_t>(found.size());
  *count = output == nullptr ? available : std::min(*count, available);
  for (uint32_t i = 0; output != nullptr && i < *count; ++i) {
    output[i].stage = found[i].stage;
    output[i].pCheckpointMarker = const_cast<void*>(found[i].marker);
  }
}

void VKAPI_CALL GetQueueCheckpointDataNV(VkQueue queue, uint32_t* count,
                                         VkCheckpointDataNV* output) {
  GetCheckpoints(queue, count, output);
}

void VKAPI_CALL GetQueueCheckpointData2NV(VkQueue queue, uint32_t* count,
                                          VkCheckpointData2NV* output) {
  GetCheckpoints(queue, count, output);
}

constexpr const char* kCheckpoints = VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME;

const Entry kEntries[] = {
    CAIRN_ICD_EXTENSION(GetDeviceFaultInfoEXT, VK_EXT_DEVICE_FAULT_EXTENSION_NAME),
    CAIRN_ICD_EXTENSION(CmdSetCheckpointNV, kCheckpoints),
    CAIRN_ICD_EXTENSION(GetQueueCheckpointDataNV, kCheckpoints),
    CAIRN_ICD_EXTENSION(GetQueueCheckpointData2NV, kCheckpoints),
};

}  // namespace

std::span<const Entry> FaultEntries() {
  return kEntries;
}

}  // namespace cairn::icd
