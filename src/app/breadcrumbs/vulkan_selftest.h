// SPDX-License-Identifier: Apache-2.0
//
// Tries every way in which a Vulkan device can write words, and judges by the values read back:
// a call that succeeds proves nothing, for drivers and translation layers have stubs that do.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_SELFTEST_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_SELFTEST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/vulkan_functions.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "base/status.h"

namespace cairn {

// A healthy device answers within microseconds; software rasterisers on busy machines need longer.
inline constexpr uint64_t kVulkanSelfTestTimeoutNs = 2'000'000'000;

// Records with `record` into a command buffer of its own, submits it on device.queue, calls `meanwhile` and
// waits for `timeout_ns`.
// kDeviceLost if the device is lost or does not finish in time: it may still be using what was
// recorded, so the caller has to Abandon() the buffers.
Status RunOnce(const VulkanDevice& device, const std::function<void(VkCommandBuffer)>& record,
               const std::function<void()>& meanwhile = nullptr,
               uint64_t timeout_ns = kVulkanSelfTestTimeoutNs);

// The size of the memory for test words, in a mapped coherent buffer that has no other user.
inline constexpr size_t kVulkanTestWordBytes = 16;
struct VulkanTestWords {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  std::byte* mapped = nullptr;  // the CPU's view of the words at `offset`
};

// The method can write 32-bit words at the top and at the bottom of the pipe: kPresent; kSilent: it was
// executed and nothing was written; kFailed: something else was found. One finding for each location
// is appended to `findings`. kDeviceLost as for RunOnce.
struct VulkanMethodState {
  SourceState top = SourceState::kAbsent;
  SourceState bottom = SourceState::kAbsent;
  bool works() const { return top == SourceState::kPresent && bottom == SourceState::kPresent; }
};
Result<VulkanMethodState> TestWriteMethod(const VulkanDevice& device, WriteMethod method,
                                          const VulkanTestWords& words,
                                          std::vector<SourceFinding>* findings);

// Tests all methods and returns the best that works, or kNone.
Result<WriteMethod> ChooseWriteMethod(const VulkanDevice& device, const VulkanTestWords& words,
                                      std::vector<SourceFinding>* findings);

// Counts two executions of a reusable list and expects two.
Status TestRunCounter(const VulkanDevice& device, const VulkanTestWords& words,
                      std::vector<SourceFinding>* findings);

// Sources that are read after a device loss only: NV checkpoints and device faults.
void DescribeLossSources(const VulkanDevice& device, std::vector<SourceFinding>* findings);

// Memory that is mapped twice, as the application and the watcher do. Not of a disk file.
struct SharedTestMemory {
  std::byte* written = nullptr;         // imported; page-aligned
  const std::byte* observed = nullptr;  // the same pages at another address
  size_t size_bytes = 0;                // a multiple of kPageBytes
};

struct VulkanSelfTestReport {
  WriteMethod method = WriteMethod::kNone;  // what a context would choose
  WordMemory memory = WordMemory::kNone;
  std::vector<SourceFinding> findings;
};

// Everything above, and which memory survives: for `cairn selftest`.
Result<VulkanSelfTestReport> SelfTestVulkanDevice(const VulkanDevice& device,
                                                  const SharedTestMemory& shared);

// A clause on what is switched on for this device and makes its words mislead; "" for nothing.
std::string VulkanDeviceNotes(const VulkanDevice& device);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_SELFTEST_H_
