// SPDX-License-Identifier: Apache-2.0
//
// Faults: what the driver knows of a fault of the GPU, in the block's FaultRecord of the device.
// VK_EXT_device_fault answers after the loss of the device, as often as it is asked.
// VK_KHR_device_fault gives each report to whoever asks first, also without a loss ("masked"): the layer
// asks only if the application did not enable the extension, and otherwise notes what it is told.
//
// Threads: any; one lock. The driver's data are not trusted: counts are capped, text is cut.
#ifndef CAIRN_APP_VULKAN_FAULTS_H_
#define CAIRN_APP_VULKAN_FAULTS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "app/vulkan/faults_khr.h"
#include "format/block/block.h"

namespace cairn {

class BlockWriter;

class Faults {
 public:
  struct Functions {
    PFN_vkGetDeviceFaultInfoEXT get_info = nullptr;  // null: the feature is not enabled
    bool has_vendor_binary = false;
    PfnGetDeviceFaultReportsKhr get_reports = nullptr;  // null: they are the application's
    PfnGetDeviceFaultDebugInfoKhr get_debug_info = nullptr;
  };

  // A binary that takes more than this part of the block is not kept.
  static constexpr uint64_t kVendorBinaryShare = 16;

  // `context`: index of the device's context record. The block outlives it.
  Faults(BlockWriter& block, uint32_t context, VkDevice device, const Functions& functions);
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  // The device is lost: asks for all there is, and publishes it.
  void OnDeviceLost();
  // Asks for faults that the driver masked; costs a call, and nothing without VK_KHR_device_fault.
  void Poll();
  // Another context of the same device has learned this: takes it over, without the vendor binary, if
  // nothing is known here. `known` is not changed meanwhile.
  void TakeOver(const FaultRecord& known);
  // Records the reports that the application received.
  void Note(std::span<const KhrFaultInfo> reports);

 private:
  void AskKhr();
  void AskExt();
  void AddReports(std::span<const KhrFaultInfo> reports);
  void AddToDescription(std::string_view words);
  void AddAddress(const VkDeviceFaultAddressInfoEXT& address);
  void AddVendorInfo(const VkDeviceFaultVendorInfoEXT& info);
  void KeepDebugInfo();
  // Room in the block, 0 if the binary is too large or there is none. Either kept or given back.
  uint64_t RoomFor(uint64_t size_bytes) const;
  void GiveBackRoom(uint64_t offset, uint64_t size_bytes);
  // `size_bytes` of the `room_bytes` were written; the binary kept before, if any, is given back.
  // Between Open and Publish.
  void KeepBinary(uint64_t offset, uint64_t room_bytes, uint64_t size_bytes);
  // Opens the record. No reader may use it meanwhile.
  void Open(const char* source);
  void Publish(VkResult result);
  void NoteFailure(VkResult result);

  BlockWriter& block_;
  FaultRecord* const record_;  // null in a block without these tables
  const VkDevice device_;
  const Functions functions_;
  std::mutex mutex_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_FAULTS_H_
