// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/faults.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "base/text.h"
#include "os/clock.h"

namespace cairn {
namespace {

constexpr char kExtDeviceFault[] = "VK_EXT_device_fault";
// More at once than any record holds.
constexpr uint32_t kMaxReports = 64;

// Copies a driver's text, which may lack its terminating zero; the copy has one.
template <size_t kSize>
void CopyText(const char* text, size_t room, char (&to)[kSize]) {
  const std::string_view whole(text, strnlen(text, room));
  const std::string_view kept = Utf8Prefix(whole, kSize - 1);
  std::memset(to, 0, kSize);
  std::memcpy(to, kept.data(), kept.size());
}

}  // namespace

Faults::Faults(BlockWriter& block, uint32_t context, VkDevice device, const Functions& functions)
    : block_(block),
      record_(block.faults() == nullptr ? nullptr : &block.faults()[context]),
      device_(device),
      functions_(functions) {}

void Faults::Open(const char* source) {
  if (record_->state.load() == kEntryFree) {
    std::memset(static_cast<void*>(record_), 0, sizeof(*record_));
    record_->time_ns = MonotonicNs();
  }
  record_->state.store(kEntryFree, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  CopyText(source, sizeof(record_->source), record_->source);
}

void Faults::Publish(VkResult result) {
  record_->result = result;
  cairn::Publish(record_->state);
}

void Faults::AddAddress(const VkDeviceFaultAddressInfoEXT& address) {
  if (record_->address_count == kMaxFaultAddresses) return;
  FaultAddress& kept = record_->addresses[record_->address_count++];
  kept.type = static_cast<FaultAddressType>(address.addressType);
  kept.address = address.reportedAddress;
  kept.precision = address.addressPrecision;
}

void Faults::AddVendorInfo(const VkDeviceFaultVendorInfoEXT& info) {
  if (record_->vendor_info_count == kMaxFaultVendorInfos) return;
  FaultVendorInfo& kept = record_->vendor_infos[record_->vendor_info_count++];
  CopyText(info.description, sizeof(info.description), kept.description);
  kept.code = info.vendorFaultCode;
  kept.data = info.vendorFaultData;
}

uint64_t Faults::RoomFor(uint64_t size_bytes) const {
  if (size_bytes == 0 || size_bytes > block_.size_bytes() / kVendorBinaryShare) return 0;
  return block_.AllocateRange(size_bytes);
}

void Faults::GiveBackRoom(uint64_t offset, uint64_t size_bytes) {
  if (offset != 0) block_.FreeRange({offset, size_bytes});
}

void Faults::KeepBinary(uint64_t offset, uint64_t room_bytes, uint64_t size_bytes) {
  if (size_bytes == 0) {
    GiveBackRoom(offset, room_bytes);
    return;
  }
  GiveBackRoom(record_->vendor_binary_offset, record_->vendor_binary_room);
  record_->vendor_binary_offset = offset;
  record_->vendor_binary_room = room_bytes;
  record_->vendor_binary_bytes = size_bytes;
}

void Faults::OnDeviceLost() {
  if (record_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (functions_.get_reports != nullptr) {
    AskKhr();
    // Perhaps the report of this loss was among those that Poll got.
    if (record_->state.load() != kEntryFree) return KeepDebugInfo();
  }
  if (functions_.get_info != nullptr) AskExt();
}

void Faults::TakeOver(const FaultRecord& known) {
  if (record_ == nullptr || known.state.load(std::memory_order_acquire) == kEntryFree) return;
  const std::lock_guard lock(mutex_);
  if (record_->state.load() != kEntryFree) return;
  std::memcpy(static_cast<void*>(record_), static_cast<const void*>(&known), sizeof(known));
  record_->state.store(kEntryFree, std::memory_order_relaxed);
  record_->vendor_binary_offset = 0;
  record_->vendor_binary_room = 0;
  record_->vendor_binary_bytes = 0;
  Publish(static_cast<VkResult>(known.result));
}

void Faults::Poll() {
  if (record_ == nullptr || functions_.get_reports == nullptr) return;
  const std::lock_guard lock(mutex_);
  AskKhr();
}

void Faults::Note(std::span<const KhrFaultInfo> reports) {
  if (record_ == nullptr || reports.empty()) return;
  const std::lock_guard lock(mutex_);
  AddReports(reports);
}

void Faults::AskKhr() {
  uint32_t count = 0;
  VkResult result = functions_.get_reports(device_, 0, &count, nullptr);
  if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0) return;
  count = std::min(count, kMaxReports);
  std::vector<KhrFaultInfo> reports(count);
  for (KhrFaultInfo& report : reports) report.sType = kKhrFaultInfoType;
  uint32_t filled = count;
  result = functions_.get_reports(device_, 0, &filled, reports.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return;
  filled = std::min(filled, count);
  if (filled == 0) return;
  AddReports(std::span(reports).first(filled));
}

void Faults::AddReports(std::span<const KhrFaultInfo> reports) {
  Open(kKhrDeviceFault);
  VkFlags flags = 0;  // of any of them
  for (const KhrFaultInfo& report : reports) {
    if (record_->description[0] == 0 || (report.flags & kKhrFaultDeviceLost) != 0) {
      CopyText(report.description, sizeof(report.description), record_->description);
    }
    flags |= report.flags;
    if ((report.flags & kKhrFaultMemoryAddress) != 0) AddAddress(report.faultAddressInfo);
    if ((report.flags & kKhrFaultInstructionAddress) != 0) {
      AddAddress(report.instructionAddressInfo);
    }
    if ((report.flags & kKhrFaultVendor) != 0) AddVendorInfo(report.vendorInfo);
  }
  if ((flags & kKhrFaultWatchdogTimeout) != 0) {
    AddToDescription("the driver's watchdog stopped the GPU");
  }
  if ((flags & kKhrFaultOverflow) != 0) AddToDescription("more faults came than the driver keeps");
  Publish(VK_SUCCESS);
}

// Once, behind what the driver says.
void Faults::AddToDescription(std::string_view words) {
  std::string description = record_->description;
  if (description.find(words) != std::string::npos) return;
  // The driver's text is cut rather than what its flags say.
  const size_t room = kFaultTextBytes - 1 - words.size() - 2;
  if (description.size() > room) description = std::string(Utf8Prefix(description, room));
  if (!description.empty()) description += "; ";
  description += words;
  CopyText(description.c_str(), kFaultTextBytes, record_->description);
}

void Faults::KeepDebugInfo() {
  if (functions_.get_debug_info == nullptr || record_->vendor_binary_offset != 0) return;
  KhrFaultDebugInfo info = {};
  info.sType = kKhrFaultDebugInfoType;
  if (functions_.get_debug_info(device_, &info) != VK_SUCCESS) return;
  const uint32_t size_bytes = info.vendorBinarySize;
  const uint64_t offset = RoomFor(size_bytes);
  if (offset == 0) return;
  info.pVendorBinaryData = block_.data() + offset;
  if (functions_.get_debug_info(device_, &info) != VK_SUCCESS) {
    GiveBackRoom(offset, size_bytes);
    return;
  }
  Open(kKhrDeviceFault);
  KeepBinary(offset, size_bytes, std::min(info.vendorBinarySize, size_bytes));
  Publish(VK_SUCCESS);
}

void Faults::NoteFailure(VkResult result) {
  if (record_->state.load() != kEntryFree) return;  // Something is known: a masked fault of before.
  Open(kExtDeviceFault);
  Publish(result);
}

void Faults::AskExt() {
  VkDeviceFaultCountsEXT counts = {};
  counts.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT;
  VkResult result = functions_.get_info(device_, &counts, nullptr);
  if (result < 0) return NoteFailure(result);
  VkDeviceFaultAddressInfoEXT addresses[kMaxFaultAddresses] = {};
  VkDeviceFaultVendorInfoEXT vendor_infos[kMaxFaultVendorInfos] = {};
  counts.addressInfoCount = std::min(counts.addressInfoCount, kMaxFaultAddresses);
  counts.vendorInfoCount = std::min(counts.vendorInfoCount, kMaxFaultVendorInfos);
  const uint64_t binary =
      functions_.has_vendor_binary ? RoomFor(counts.vendorBinarySize) : uint64_t{0};
  if (binary == 0) counts.vendorBinarySize = 0;
  const VkDeviceFaultCountsEXT room = counts;
  VkDeviceFaultInfoEXT info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT;
  info.pAddressInfos = counts.addressInfoCount == 0 ? nullptr : addresses;
  info.pVendorInfos = counts.vendorInfoCount == 0 ? nullptr : vendor_infos;
  info.pVendorBinaryData = binary == 0 ? nullptr : block_.data() + binary;
  // VK_INCOMPLETE: there is more than a record holds.
  result = functions_.get_info(device_, &counts, &info);
  if (result < 0) {
    GiveBackRoom(binary, room.vendorBinarySize);
    return NoteFailure(result);
  }
  Open(kExtDeviceFault);
  CopyText(info.description, sizeof(info.description), record_->description);
  for (uint32_t i = 0; i < std::min(counts.addressInfoCount, room.addressInfoCount); ++i) {
    AddAddress(addresses[i]);
  }
  for (uint32_t i = 0; i < std::min(counts.vendorInfoCount, room.vendorInfoCount); ++i) {
    AddVendorInfo(vendor_infos[i]);
  }
  if (binary != 0) {
    KeepBinary(binary, room.vendorBinarySize,
               std::min(counts.vendorBinarySize, room.vendorBinarySize));
  }
  Publish(result);
}

namespace {

VkResult VKAPI_CALL GetDeviceFaultReports(VkDevice device, uint64_t timeout_ns, uint32_t* count,
                                          KhrFaultInfo* infos) {
  DeviceObjects& objects = *DeviceOf(device)->objects;
  const VkResult result = objects.next_fault_reports(device, timeout_ns, count, infos);
  if (infos != nullptr && (result == VK_SUCCESS || result == VK_INCOMPLETE)) {
    Quietly([&] { objects.faults.Note({infos, *count}); });
  }
  return result;
}

}  // namespace

std::span<const Intercept> FaultIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PfnGetDeviceFaultReportsKhr>("vkGetDeviceFaultReportsKHR", GetDeviceFaultReports),
  };
  return kTable;
}

}  // namespace cairn
