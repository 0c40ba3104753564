// SPDX-License-Identifier: Apache-2.0
//
// The experiment "counts" (docs/internals/why.md): no draw has more than a number of vertices, and no dispatch more than a
// number of groups. It is a part of mode exact's functions (exact.h), which know what is bound and where render passes
// are; of the rest of mode exact nothing is done.
//
// Counts in the arguments of a call are limited when it is recorded. Those of vkCmdDispatchIndirect are copied into the
// board's memory, limited there by a dispatch of our own, and read from there; in command buffers that may run several
// times at once they are not. Other indirect commands stand in render passes, where no dispatch may, or take addresses.
// Calls that stay as they are count as not changed.
#ifndef CAIRN_APP_VULKAN_COUNT_LIMITS_H_
#define CAIRN_APP_VULKAN_COUNT_LIMITS_H_

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "app/breadcrumbs/vulkan_compute.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "app/vulkan/device.h"
#include "app/vulkan/recorded_experiment.h"
#include "base/status.h"

namespace cairn {

struct ExactFunction;

// The part of a command buffer that says which of its commands one is. Threads: like it.
struct CommandPlaces {
  std::vector<std::string> labels;  // that are open
  uint32_t indirect = 0;            // indirect commands so far
  bool may_run_at_once = false;     // several times: VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT

  void Clear();
  // "Frame > Terrain".
  std::string Path() const;
};

// One device. Threads: any.
class CountLimits {
 public:
  // `run`, the device and `next`, the functions of the next layer, outlive it. May throw std::bad_alloc.
  CountLimits(const RecordedExperiment& run, const DeviceState& device,
              const DeviceFunctions& next);
  // The GPU has finished with it.
  ~CountLimits();
  CountLimits(const CountLimits&) = delete;
  CountLimits& operator=(const CountLimits&) = delete;

  uint32_t most() const { return run_.experiment.counts; }
  // False where the driver refused what indirect commands need.
  bool can_dispatch() const { return can_dispatch_; }
  // Limits the counts of a direct command that is recorded now, and notes it if one of them changed.
  void Limit(const char* command, const CommandPlaces& places, std::span<uint32_t> counts) noexcept;
  // Notes a new buffer, and whether it may be copied from.
  void NoteBuffer(VkBuffer buffer, bool can_be_copied) noexcept;
  // Records a limited vkCmdDispatchIndirect in the place of the program's, up to what is bound for compute, which is ours
  // afterwards, and returns where its arguments are in buffer(). Returns nothing, and records nothing, without room, for a
  // buffer that cannot be copied, and in a command buffer that may run several times at once.
  std::optional<VkDeviceSize> CopyArguments(VkCommandBuffer commands, CommandPlaces& places,
                                            VkBuffer from, VkDeviceSize offset) noexcept;
  VkBuffer buffer() const { return records_.buffer(); }

 private:
  Status MakeOwn(const DeviceState& device);
  // Returns the record of a command; nothing without room. A new one is described, and has the counts of `note`.
  std::optional<uint32_t> RecordOf(const std::string& key, const CountNote& note);

  const RecordedExperiment& run_;
  const VkDevice device_;
  const DeviceFunctions& next_;
  VulkanDevice importer_;
  VulkanBuffer records_;
  VulkanCompute limiter_;
  bool can_dispatch_ = false;
  std::mutex mutex_;
  std::unordered_map<std::string, uint32_t> places_;  // of records, by key; guarded by mutex_
  std::unordered_set<VkBuffer> uncopyable_;           // guarded by mutex_
};

// The functions that limit, in front of all others of exact.h.
std::span<const ExactFunction> CountFunctions();
// Ours of that name, or null.
PFN_vkVoidFunction FindCountFunction(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_COUNT_LIMITS_H_
