// SPDX-License-Identifier: Apache-2.0
//
// Checks the queries and records after a device loss.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "app/vulkan/checkpoint_marker.h"
#include "app/vulkan/testing/device_objects_fixture.h"

namespace cairn {
namespace {

using testing::ElementsAre;

struct NextLayer {
  VkResult submit = VK_ERROR_DEVICE_LOST;
  // VK_EXT_device_fault.
  VkResult counts_result = VK_SUCCESS;
  VkResult info_result = VK_SUCCESS;
  uint32_t addresses = 0;
  uint32_t vendor_infos = 0;
  uint64_t binary = 0;
  uint32_t claimed_more = 0;  // the second answer counts more than it was given room for
  std::atomic<uint32_t> questions{0};
  VkDeviceFaultCountsEXT asked = {};
  VkDeviceFaultInfoEXT asked_info = {};
  std::function<void()> on_question;
  // VK_KHR_device_fault.
  std::vector<KhrFaultInfo> reports;
  uint32_t khr_binary = 0;
  // VK_NV_device_diagnostic_checkpoints.
  std::vector<const void*> checkpoints;
  uint32_t claimed_checkpoints = 0;
};
NextLayer* next_layer = nullptr;

VkResult VKAPI_CALL NextSubmit(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  return next_layer->submit;
}
VkResult VKAPI_CALL NextFenceStatus(VkDevice, VkFence) {
  return VK_ERROR_DEVICE_LOST;
}
VkResult VKAPI_CALL NextEventStatus(VkDevice, VkEvent) {
  return VK_ERROR_DEVICE_LOST;
}

VkResult VKAPI_CALL NextFault(VkDevice, VkDeviceFaultCountsEXT* counts,
                              VkDeviceFaultInfoEXT* info) {
  ++next_layer->questions;
  if (next_layer->on_question) next_layer->on_question();
  if (info == nullptr) {
    counts->addressInfoCount = next_layer->addresses;
    counts->vendorInfoCount = next_layer->vendor_infos;
    counts->vendorBinarySize = next_layer->binary;
    return next_layer->counts_result;
  }
  next_layer->asked = *counts;
  next_layer->asked_info = *info;
  std::strcpy(info->description, "page fault");
  for (uint32_t i = 0; i < counts->addressInfoCount; ++i) {
    info->pAddressInfos[i] = {VK_DEVICE_FAULT_ADDRESS_TYPE_WRITE_INVALID_EXT, 0x1000u + i, 4096};
  }
  for (uint32_t i = 0; i < counts->vendorInfoCount; ++i) {
    std::memset(info->pVendorInfos[i].description, 'v',
                VK_MAX_DESCRIPTION_SIZE);  // Without an end.
    info->pVendorInfos[i].vendorFaultCode = i;
    info->pVendorInfos[i].vendorFaultData = 7;
  }
  if (info->pVendorBinaryData != nullptr) {
    std::memset(info->pVendorBinaryData, 0xAB, counts->vendorBinarySize);
  }
  counts->addressInfoCount += next_layer->claimed_more;
  counts->vendorInfoCount += next_layer->claimed_more;
  counts->vendorBinarySize += next_layer->claimed_more;
  return next_layer->info_result;
}

VkResult VKAPI_CALL NextReports(VkDevice, uint64_t timeout_ns, uint32_t* count,
                                KhrFaultInfo* infos) {
  EXPECT_EQ(timeout_ns, 0u);
  ++next_layer->questions;
  std::vector<KhrFaultInfo>& reports = next_layer->reports;
  if (reports.empty()) {
    *count = 0;
    return VK_TIMEOUT;
  }
  if (infos == nullptr) {
    *count = static_cast<uint32_t>(reports.size());
    return VK_SUCCESS;
  }
  const size_t given = std::min<size_t>(*count, reports.size());
  for (size_t i = 0; i < given; ++i) {
    EXPECT_EQ(infos[i].sType, kKhrFaultInfoType);
    infos[i] = reports[i];
  }
  reports.erase(reports.begin(), reports.begin() + given);
  *count = static_cast<uint32_t>(given);
  return reports.empty() ? VK_SUCCESS : VK_INCOMPLETE;
}
VkResult VKAPI_CALL NextDebugInfo(VkDevice, KhrFaultDebugInfo* info) {
  EXPECT_EQ(info->sType, kKhrFaultDebugInfoType);
  if (info->pVendorBinaryData != nullptr) {
    std::memset(info->pVendorBinaryData, 0xCD, info->vendorBinarySize);
  }
  info->vendorBinarySize = next_layer->khr_binary;
  return VK_SUCCESS;
}
PFN_vkVoidFunction VKAPI_CALL NextGetDevice(VkDevice, const char* name) {
  if (std::strcmp(name, "vkGetDeviceFaultReportsKHR") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(NextReports);
  }
  if (std::strcmp(name, "vkGetDeviceFaultDebugInfoKHR") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(NextDebugInfo);
  }
  return nullptr;
}

template <typename Data>
void Checkpoints(VkQueue queue, uint32_t* count, Data* data) {
  if (data == nullptr) {
    *count = queue == TestHandle<VkQueue>(3)
                 ? std::max<uint32_t>(next_layer->claimed_checkpoints,
                                      static_cast<uint32_t>(next_layer->checkpoints.size()))
                 : 0;
    return;
  }
  const size_t given = std::min<size_t>(*count, next_layer->checkpoints.size());
  for (size_t i = 0; i < given; ++i) {
    data[i].stage = i == 0   ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT
                    : i == 1 ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                             : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    data[i].pCheckpointMarker = const_cast<void*>(next_layer->checkpoints[i]);
  }
  *count = static_cast<uint32_t>(given);
}
void VKAPI_CALL NextCheckpoints(VkQueue queue, uint32_t* count, VkCheckpointDataNV* data) {
  Checkpoints(queue, count, data);
}
void VKAPI_CALL NextCheckpoints2(VkQueue queue, uint32_t* count, VkCheckpointData2NV* data) {
  if (data == nullptr) return Checkpoints<VkCheckpointData2NV>(queue, count, nullptr);
  *count = std::min<uint32_t>(*count, 1);
  data[0].stage = VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT;
  data[0].pCheckpointMarker = const_cast<void*>(next_layer->checkpoints[0]);
}

class DeviceLossTest : public DeviceObjectsTest {
 protected:
  void SetUp() override {
    next_layer = &next_;
    Prepare();
    device_->vk.QueueSubmit = NextSubmit;
    device_->vk.GetFenceStatus = NextFenceStatus;
    device_->vk.GetEventStatus = NextEventStatus;
    device_->next_get = NextGetDevice;
  }
  void StartWithExt(bool binary = true) {
    device_->has_device_fault = true;
    device_->has_device_fault_vendor_binary = binary;
    device_->vk.GetDeviceFaultInfoEXT = NextFault;
    Start();
  }
  void StartWithKhr(bool owned = true) {
    device_->enabled_extensions.push_back(kKhrDeviceFault);
    device_->owns_khr_device_fault = owned;
    Start();
  }
  VkResult Submit() { return ours().QueueSubmit(queue(), 0, nullptr, VK_NULL_HANDLE); }
  const FaultRecord& Fault() const { return block_->faults()[device_->context->index()]; }
  static KhrFaultInfo Report(VkFlags flags, const char* description, uint64_t address) {
    KhrFaultInfo report = {};
    report.sType = kKhrFaultInfoType;
    report.flags = flags;
    std::strcpy(report.description, description);
    report.faultAddressInfo = {VK_DEVICE_FAULT_ADDRESS_TYPE_READ_INVALID_EXT, address, 64};
    report.instructionAddressInfo = {VK_DEVICE_FAULT_ADDRESS_TYPE_INSTRUCTION_POINTER_FAULT_EXT,
                                     address + 1, 4};
    report.vendorInfo.vendorFaultCode = address + 2;
    return report;
  }

  NextLayer next_;
};

TEST_F(DeviceLossTest, ALossIsReportedOnceWithTheCallThatSaidIt) {
  Start();
  EXPECT_EQ(Submit(), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(context_record().device_lost.load(), 1u);
  EXPECT_EQ(context_record().device_lost_code.load(), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(Name(context_record().device_lost_where), "vkQueueSubmit");
  EXPECT_EQ(ours().GetFenceStatus(device(), TestHandle<VkFence>(9)), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(Name(context_record().device_lost_where), "vkQueueSubmit");
  EXPECT_EQ(Fault().state.load(), 0u) << "nobody can be asked";
}

TEST_F(DeviceLossTest, OtherErrorsAreNoLoss) {
  StartWithExt();
  for (const VkResult result : {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_UNKNOWN, VK_TIMEOUT}) {
    next_.submit = result;
    EXPECT_EQ(Submit(), result);
  }
  EXPECT_EQ(context_record().device_lost.load(), 0u);
  EXPECT_EQ(next_.questions.load(), 0u);
  EXPECT_EQ(ours().GetEventStatus(device(), VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(Name(context_record().device_lost_where), "vkGetEventStatus");
}

TEST_F(DeviceLossTest, TheDriversFaultsAreInTheBlockBeforeTheLossIsReported) {
  next_.addresses = 2;
  next_.vendor_infos = 1;
  next_.binary = 5000;
  uint32_t lost_while_asked = 1;
  StartWithExt();
  next_.on_question = [&] { lost_while_asked = context_record().device_lost.load(); };
  Submit();
  EXPECT_EQ(lost_while_asked, 0u);
  EXPECT_EQ(next_.questions.load(), 2u);
  const FaultRecord& fault = Fault();
  ASSERT_EQ(fault.state.load(), 1u);
  EXPECT_EQ(fault.result, VK_SUCCESS);
  EXPECT_STREQ(fault.source, "VK_EXT_device_fault");
  EXPECT_STREQ(fault.description, "page fault");
  EXPECT_NE(fault.time_ns, 0u);
  ASSERT_EQ(fault.address_count, 2u);
  EXPECT_EQ(fault.addresses[0].type, FaultAddressType::kWriteInvalid);
  EXPECT_EQ(fault.addresses[1].address, 0x1001u);
  EXPECT_EQ(fault.addresses[1].precision, 4096u);
  ASSERT_EQ(fault.vendor_info_count, 1u);
  EXPECT_EQ(std::string(fault.vendor_infos[0].description), std::string(kFaultTextBytes - 1, 'v'));
  EXPECT_EQ(fault.vendor_infos[0].data, 7u);
  ASSERT_EQ(fault.vendor_binary_bytes, 5000u);
  const std::byte* const binary = block_->data() + fault.vendor_binary_offset;
  EXPECT_EQ(std::count(binary, binary + 5000, std::byte{0xAB}), 5000);
}

TEST_F(DeviceLossTest, HugeCountsAreCapped) {
  next_.addresses = UINT32_MAX;
  next_.vendor_infos = UINT32_MAX;
  next_.binary = UINT64_MAX;
  next_.claimed_more = 1000;
  next_.info_result = VK_INCOMPLETE;
  StartWithExt();
  Submit();
  EXPECT_EQ(next_.asked.addressInfoCount, kMaxFaultAddresses);
  EXPECT_EQ(next_.asked.vendorInfoCount, kMaxFaultVendorInfos);
  EXPECT_EQ(next_.asked.vendorBinarySize, 0u);
  EXPECT_EQ(next_.asked_info.pVendorBinaryData, nullptr);
  const FaultRecord& fault = Fault();
  EXPECT_EQ(fault.state.load(), 1u);
  EXPECT_EQ(fault.result, VK_INCOMPLETE);
  EXPECT_EQ(fault.address_count, kMaxFaultAddresses);
  EXPECT_EQ(fault.vendor_info_count, kMaxFaultVendorInfos);
  EXPECT_EQ(fault.vendor_binary_offset, 0u);
  EXPECT_EQ(fault.vendor_binary_bytes, 0u);
}

TEST_F(DeviceLossTest, ADriverThatCountsMoreThanItWasGivenRoomForIsNotBelieved) {
  next_.addresses = 1;
  next_.vendor_infos = 1;
  next_.binary = 100;
  next_.claimed_more = 3;
  StartWithExt();
  Submit();
  EXPECT_EQ(Fault().address_count, 1u);
  EXPECT_EQ(Fault().vendor_info_count, 1u);
  EXPECT_EQ(Fault().vendor_binary_bytes, 100u);
}

TEST_F(DeviceLossTest, WithoutTheFeatureNoBinaryIsAskedFor) {
  next_.binary = 100;
  StartWithExt(false);
  Submit();
  EXPECT_EQ(next_.asked.vendorBinarySize, 0u);
  EXPECT_EQ(next_.asked_info.pAddressInfos, nullptr);
  EXPECT_EQ(Fault().vendor_binary_bytes, 0u);
  EXPECT_EQ(Fault().state.load(), 1u);
}

TEST_F(DeviceLossTest, AFailedQuestionIsNotedWithItsResult) {
  next_.counts_result = VK_ERROR_UNKNOWN;
  StartWithExt();
  Submit();
  EXPECT_EQ(Fault().state.load(), 1u);
  EXPECT_EQ(Fault().result, VK_ERROR_UNKNOWN);
  EXPECT_STREQ(Fault().source, "VK_EXT_device_fault");
  EXPECT_EQ(context_record().device_lost.load(), 1u);
}

TEST_F(DeviceLossTest, ASecondFailedQuestionToo) {
  next_.info_result = VK_ERROR_OUT_OF_HOST_MEMORY;
  next_.addresses = 1;
  StartWithExt();
  Submit();
  EXPECT_EQ(Fault().result, VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(Fault().address_count, 0u);
}

TEST_F(DeviceLossTest, TheRoomOfABinaryThatDidNotComeIsGivenBack) {
  next_.info_result = VK_ERROR_OUT_OF_HOST_MEMORY;
  next_.binary = 5000;
  StartWithExt();
  Submit();
  EXPECT_EQ(Fault().vendor_binary_offset, 0u);
  const auto* const room = static_cast<const std::byte*>(next_.asked_info.pVendorBinaryData);
  ASSERT_NE(room, nullptr);
  EXPECT_EQ(block_->data() + block_->AllocateRange(5000), room);
}

TEST_F(DeviceLossTest, ReportsOfKhrDeviceFault) {
  next_.reports = {Report(kKhrFaultMemoryAddress, "first", 0x100),
                   Report(kKhrFaultInstructionAddress | kKhrFaultVendor | kKhrFaultDeviceLost,
                          "the one that killed", 0x200)};
  next_.khr_binary = 64;
  StartWithKhr();
  Submit();
  const FaultRecord& fault = Fault();
  ASSERT_EQ(fault.state.load(), 1u);
  EXPECT_STREQ(fault.source, "VK_KHR_device_fault");
  EXPECT_STREQ(fault.description, "the one that killed");
  ASSERT_EQ(fault.address_count, 2u);
  EXPECT_EQ(fault.addresses[0].type, FaultAddressType::kReadInvalid);
  EXPECT_EQ(fault.addresses[0].address, 0x100u);
  EXPECT_EQ(fault.addresses[1].type, FaultAddressType::kInstructionFault);
  EXPECT_EQ(fault.addresses[1].address, 0x201u);
  ASSERT_EQ(fault.vendor_info_count, 1u);
  EXPECT_EQ(fault.vendor_infos[0].code, 0x202u);
  EXPECT_EQ(fault.vendor_binary_bytes, 64u);
  EXPECT_EQ(block_->data()[fault.vendor_binary_offset], std::byte{0xCD});
}

TEST_F(DeviceLossTest, FlagsOfKhrDeviceFaultAreToldBehindTheDriversWords) {
  next_.reports = {Report(kKhrFaultMemoryAddress | kKhrFaultOverflow, "first", 0x100),
                   Report(kKhrFaultWatchdogTimeout | kKhrFaultDeviceLost, "page table walk", 0)};
  StartWithKhr();
  Submit();
  EXPECT_STREQ(Fault().description,
               "page table walk; the driver's watchdog stopped the GPU; more faults came than the "
               "driver keeps");
  EXPECT_EQ(Fault().address_count, 1u);
}

TEST_F(DeviceLossTest, AWatchdogWithoutWords) {
  next_.reports = {Report(kKhrFaultWatchdogTimeout, "", 0)};
  StartWithKhr();
  objects().EndFrame();
  objects().EndFrame();
  EXPECT_STREQ(Fault().description, "the driver's watchdog stopped the GPU");
}

// A long text of the driver's is cut, not what its flags say.
TEST_F(DeviceLossTest, AWatchdogBehindManyWords) {
  next_.reports = {Report(kKhrFaultWatchdogTimeout, std::string(250, 'x').c_str(), 0)};
  StartWithKhr();
  Submit();
  const std::string description = Fault().description;
  EXPECT_EQ(description.size(), size_t{kFaultTextBytes} - 1);
  EXPECT_TRUE(description.ends_with("xxx; the driver's watchdog stopped the GPU")) << description;
}

TEST_F(DeviceLossTest, CallsWithoutMemoryAreCounted) {
  Start();
  next_.submit = VK_ERROR_OUT_OF_HOST_MEMORY;
  Submit();
  next_.submit = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  Submit();
  const MemoryRecord& memory = block_->memory()[device_->context->index()];
  ASSERT_EQ(memory.state.load(), 1u);
  EXPECT_EQ(memory.result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(memory.failed_count, 2u);
  EXPECT_STREQ(memory.function, "vkQueueSubmit");
  EXPECT_EQ(memory.wanted_bytes, 0u);
  EXPECT_EQ(context_record().device_lost.load(), 0u);
}

TEST_F(DeviceLossTest, MaskedFaultsAreFoundAtTheEndOfAFrame) {
  next_.reports.assign(100, Report(kKhrFaultMemoryAddress, "masked", 0x100));
  StartWithKhr();
  objects().EndFrame();
  EXPECT_EQ(Fault().state.load(), 1u);
  EXPECT_EQ(Fault().address_count, kMaxFaultAddresses);
  EXPECT_EQ(context_record().device_lost.load(), 0u);
  next_.reports.clear();
  next_.khr_binary = 8;
  Submit();
  EXPECT_STREQ(Fault().description, "masked");
  EXPECT_EQ(Fault().vendor_binary_bytes, 8u);
}

TEST_F(DeviceLossTest, ReportsOfAnApplicationThatAsksItselfAreLeftToIt) {
  next_.reports = {Report(kKhrFaultMemoryAddress, "the program's", 0x100)};
  StartWithKhr(false);
  objects().EndFrame();
  Submit();
  EXPECT_EQ(next_.questions.load(), 0u);
  EXPECT_EQ(Fault().state.load(), 0u);
  const auto ask = reinterpret_cast<PfnGetDeviceFaultReportsKhr>(
      FindFunction<ObjectIntercepts>(device(), "vkGetDeviceFaultReportsKHR"));
  uint32_t count = 0;
  EXPECT_EQ(ask(device(), 0, &count, nullptr), VK_SUCCESS);
  ASSERT_EQ(count, 1u);
  KhrFaultInfo info = {};
  info.sType = kKhrFaultInfoType;
  EXPECT_EQ(ask(device(), 0, &count, &info), VK_SUCCESS);
  EXPECT_STREQ(info.description, "the program's");
  EXPECT_STREQ(Fault().description, "the program's");
  EXPECT_EQ(ask(device(), 0, &count, &info), VK_TIMEOUT);
}

TEST_F(DeviceLossTest, CheckpointsOfEveryQueue) {
  device_->has_checkpoints = true;
  device_->vk.GetQueueCheckpointDataNV = NextCheckpoints;
  next_.checkpoints = {EncodeCheckpoint({5, ProgressValue(1, 9)}),
                       EncodeCheckpoint({6, ProgressValue(2, 3)}), nullptr,
                       EncodeCheckpoint({7, 1})};
  Start();
  Submit();
  const CheckpointTable& table = block_->checkpoints()[device_->context->index()];
  ASSERT_EQ(table.count.load(), 3u);
  EXPECT_EQ(table.records[0].queue, objects().queues()[0]->record);
  EXPECT_EQ(table.records[0].stage, PipeStage::kTop);
  EXPECT_EQ(table.records[0].slot, 5u);
  EXPECT_EQ(table.records[0].progress_value, ProgressValue(1, 9));
  EXPECT_EQ(table.records[1].stage, PipeStage::kBottom);
  EXPECT_EQ(table.records[1].slot, 6u);
  EXPECT_EQ(table.records[2].stage, PipeStage::kOther);
}

TEST_F(DeviceLossTest, MoreCheckpointsThanTheTableHolds) {
  device_->has_checkpoints = true;
  device_->vk.GetQueueCheckpointDataNV = NextCheckpoints;
  next_.checkpoints.assign(200, EncodeCheckpoint({1, 1}));
  next_.claimed_checkpoints = UINT32_MAX;
  Start();
  Submit();
  EXPECT_EQ(block_->checkpoints()[device_->context->index()].count.load(), kMaxCheckpoints);
}

TEST_F(DeviceLossTest, CheckpointsOfSynchronization2) {
  device_->has_checkpoints = true;
  device_->vk.GetQueueCheckpointData2NV = NextCheckpoints2;
  next_.checkpoints = {EncodeCheckpoint({5, 9})};
  Start();
  Submit();
  const CheckpointTable& table = block_->checkpoints()[device_->context->index()];
  ASSERT_EQ(table.count.load(), 1u);
  EXPECT_EQ(table.records[0].stage, PipeStage::kBottom);
}

TEST_F(DeviceLossTest, OneOfTwoThreadsAsksAndTheOtherWaitsForIt) {
  StartWithExt();
  std::atomic<bool> asking{false};
  std::atomic<uint32_t> known_when_told{0};
  std::thread other([&] {
    while (!asking.load()) std::this_thread::yield();
    ours().GetFenceStatus(device(), TestHandle<VkFence>(9));
    known_when_told = context_record().device_lost.load();
  });
  next_.on_question = [&] { asking = true; };
  Submit();
  other.join();
  EXPECT_EQ(known_when_told.load(), 1u);
  EXPECT_EQ(next_.questions.load(), 2u);
}

}  // namespace
}  // namespace cairn
