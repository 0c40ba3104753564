// SPDX-License-Identifier: Apache-2.0
//
// What every Vulkan sample needs before it gets to its point: a device, buffers, and lists that are told
// of (vulkan_telling.h) while they are recorded.
//
// A sample ends with 0 when it did what it is for, with 1 after the device was lost or did not answer
// in time (which is told), and with 2 and one line on stderr when it could not start.
#ifndef CAIRN_SAMPLES_VULKAN_DEVICE_H_
#define CAIRN_SAMPLES_VULKAN_DEVICE_H_

#include <vulkan/vulkan.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vulkan_telling.h"

namespace sample {

// Prints "PROGRAM: message" and ends the program with 2.
[[noreturn]] void Fail(const std::string& message);
void Check(VkResult result, const char* call);

struct Queue {
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  CairnQueueType type = CAIRN_QUEUE_DIRECT;
  VkCommandPool pool = VK_NULL_HANDLE;
};

// Memory that both the CPU and the GPU see.
struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  uint32_t* words = nullptr;
  uint32_t word_count = 0;
};

// A command buffer and what is told of it: nothing if `telling` is null.
struct List {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  const Telling* telling = nullptr;
  Telling::Recording recording = nullptr;
};

// A marker around the work recorded while it lives, if the list is told of. `name` is a literal, or
// null.
class Scope {
 public:
  Scope(const List& list, CairnMarkerType type, const char* name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const List& list_;
  bool begun_;
};

class Device {
 public:
  // The device whose name contains the environment variable CAIRN_SAMPLE_DEVICE; without it the first
  // GPU, or else the first device.
  Device(const char* program, const Options& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkDevice device() const { return device_; }
  VkPhysicalDevice physical_device() const { return physical_device_; }
  const Telling& telling() const { return *telling_; }
  bool on_cpu() const { return properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  const Queue& graphics() const { return graphics_; }
  // Another queue for compute work where the device has one, or else the same.
  const Queue& compute() const { return compute_; }

  Buffer CreateBuffer(uint32_t word_count);
  // Memory that is `wanted` as well, if there is any.
  uint32_t FindMemory(uint32_t allowed_types, VkMemoryPropertyFlags needed,
                      VkMemoryPropertyFlags wanted = 0) const;

  // Without a name the list is not told of: work that no report needs to know.
  List BeginList(const Queue& queue, const char* name);
  void EndList(const List& list);
  // Submits and returns a fence that Wait takes.
  VkFence Submit(const Queue& queue, const std::vector<List>& lists);
  // Returns true once the fence is signalled, false if that takes longer than `timeout_s`. A device
  // that is lost is told of and ends the program with 1.
  bool Wait(VkFence fence, double timeout_s);
  // The same, and a timeout is a loss, too.
  void WaitOrReportLoss(VkFence fence, double timeout_s);

  // Runs `destroy` when the device is destroyed, last come first served.
  void Own(std::function<void()> destroy) { owned_.push_back(std::move(destroy)); }

 private:
  void CreateInstance();
  void ChoosePhysicalDevice();
  void ChooseQueues();
  void CreateDevice();
  std::vector<const char*> AvailableExtensions(const std::vector<const char*>& wanted) const;
  [[noreturn]] void ReportLoss(VkResult result, const char* call);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties_ = {};
  VkDevice device_ = VK_NULL_HANDLE;
  std::vector<const char*> extensions_;
  bool has_debug_utils_ = false;
  Queue graphics_;
  Queue compute_;
  uint32_t compute_index_ = 0;  // of the queue in its family
  std::unique_ptr<Telling> telling_;
  std::vector<std::function<void()>> owned_;
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_VULKAN_DEVICE_H_
