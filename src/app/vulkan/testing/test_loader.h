// SPDX-License-Identifier: Apache-2.0
//
// For tests and benchmarks: plays the loader for the layer that is linked into this program. The
// chain is the layer and, behind it, the system's loader with the first driver it finds. The layer
// records into this process's block.
#ifndef CAIRN_APP_VULKAN_TESTING_TEST_LOADER_H_
#define CAIRN_APP_VULKAN_TESTING_TEST_LOADER_H_

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <string>
#include <vector>

#include "app/vulkan/command_buffer.h"
#include "base/status.h"
#include "format/block/block.h"
#include "vulkangen/device_functions.h"

namespace cairn {

// How instance and device are made; without more it has the features that most tests need.
struct TestDeviceRequest {
  const void* chain = nullptr;  // of VkDeviceCreateInfo, in the place of these features
  std::vector<const char*> extensions;
  uint32_t api_version = VK_API_VERSION_1_3;
  // vkGetInstanceProcAddr in the place of the system's loader: sees what the layer passes on.
  PFN_vkGetInstanceProcAddr next = nullptr;
  PFN_vkGetInstanceProcAddr next_of_instance = nullptr;
  bool twice = false;  // the layer, in both chains
};

class TestLoader {
 public:
  TestLoader() = default;
  ~TestLoader();
  TestLoader(const TestLoader&) = delete;
  TestLoader& operator=(const TestLoader&) = delete;

  // An instance and a device with one queue of family 0, in this mode. kNotFound without a driver.
  Status Create(MarkerMode mode, const TestDeviceRequest& request = {});

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physical_device() const { return physical_device_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  DeviceState& state() const { return *DeviceOf(device_); }

  // The device's functions as an application gets them: the layer's, where it has one.
  const DeviceFunctions& vk() const { return vk_; }
  // The same by name. The caller gives the type.
  template <typename Function>
  Function Get(const char* name) const {
    return reinterpret_cast<Function>(get_device_(device_, name));
  }
  template <typename Function>
  Function GetOfInstance(const char* name) const {
    return reinterpret_cast<Function>(get_instance_(instance_, name));
  }
  // The one behind the layer.
  PFN_vkVoidFunction Next(const char* name) const { return state().next_get(device_, name); }

  // A pool of its own for each command buffer; both end with the device. The buffer is not begun.
  VkCommandBuffer Allocate(VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  void Begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags = 0);
  void BeginSecondary(VkCommandBuffer commands, VkCommandBufferUsageFlags flags = 0);
  void End(VkCommandBuffer commands);
  // Submits and waits for the queue.
  VkResult Run(VkCommandBuffer commands);
  // 256 bytes that may be filled and copied.
  VkBuffer MakeBuffer();

  // The block's view of a command buffer's recording.
  const RecordingSlot& Slot(VkCommandBuffer commands) const;
  const ProgressWords& Words(VkCommandBuffer commands) const;
  std::vector<EventRecord> Events(VkCommandBuffer commands) const;
  // Without those that only say with what a command was recorded: numbers, and operands of copies. Their sequence
  // numbers, and what a word means by them, are as if there were none.
  std::vector<EventRecord> EventsOfWork(VkCommandBuffer commands) const;
  uint32_t SequenceOfWork(VkCommandBuffer commands, uint32_t word) const;

 private:
  Status CreateInstance(MarkerMode mode, const TestDeviceRequest& request);
  Status CreateDevice(const TestDeviceRequest& request);

  PFN_vkGetInstanceProcAddr get_instance_ = nullptr;
  PFN_vkGetDeviceProcAddr get_device_ = nullptr;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  DeviceFunctions vk_;
  std::vector<VkCommandPool> pools_;
  std::vector<VkBuffer> buffers_;
  std::vector<VkDeviceMemory> memories_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_TESTING_TEST_LOADER_H_
