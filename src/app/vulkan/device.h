// SPDX-License-Identifier: Apache-2.0
//
// The layer's state of a device and of its queues.
//
// Threads: all is set before vkCreateDevice returns and stays until vkDestroyDevice, so reading needs no
// lock. `objects` and `driver_half` look after themselves.
#ifndef CAIRN_APP_VULKAN_DEVICE_H_
#define CAIRN_APP_VULKAN_DEVICE_H_

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/layer_identity.h"
#include "app/breadcrumbs/vulkan_backend.h"
#include "app/vulkan/layer.h"
#include "format/block/block.h"
#include "vulkangen/device_functions.h"

namespace cairn {

class BlockWriter;
struct CommandPoolState;
class Context;
class DeviceBarriers;
class DeviceObjects;
class DriverHalfDevice;
class ExactDevice;
class KeepAliveDevice;
class ShaderExperiment;
class MemoryFiller;
class SerialQueues;
struct DeviceState;

enum class DeviceKind : uint8_t {
  kOff,          // calls pass
  kBreadcrumbs,  // of a Vulkan program: automatic breadcrumbs
  kDriven,       // of an implementation of Direct3D, whose layer makes the breadcrumbs
};

struct QueueState {
  VkQueue handle = VK_NULL_HANDLE;
  DeviceState* device = nullptr;
  uint32_t family = 0;
  uint32_t index = 0;  // in the family
  CairnQueueType type = CAIRN_QUEUE_OTHER;
  bool is_protected = false;
};

// A queue of the layer's own, by its place.
struct OwnQueue {
  uint32_t family = 0;
  uint32_t index = 0;
};

struct DeviceState {
  DeviceState();
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  VkDevice handle = VK_NULL_HANDLE;
  InstanceState* instance = nullptr;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  PFN_vkGetDeviceProcAddr next_get = nullptr;
  DeviceFunctions
      vk;  // of the next layer, or of exact.h; null where the device has no such function
  // For dispatchable handles that the layer itself makes; null where the loader gave none.
  PFN_vkSetDeviceLoaderData set_loader_data = nullptr;
  DeviceKind kind = DeviceKind::kOff;
  uint32_t api_version = VK_API_VERSION_1_0;    // of the device, and no more than the instance's
  std::vector<std::string> enabled_extensions;  // as passed down, with those that the layer added
  // Features of extensions that the layer, or the application, enabled.
  bool has_device_fault = false;                // VkPhysicalDeviceFaultFeaturesEXT::deviceFault
  bool has_device_fault_vendor_binary = false;  // ...::deviceFaultVendorBinary
  bool owns_checkpoints = false;  // the layer alone enabled VK_NV_device_diagnostic_checkpoints
  bool owns_khr_device_fault = false;          // the layer alone enabled VK_KHR_device_fault
  bool has_memory_budget = false;              // the physical device has VK_EXT_memory_budget
  bool has_shader_experiment_request = false;  // ShaderExperimentRequest::added
  std::optional<OwnQueue> fill_queue;          // FillQueueRequest::queue
  bool reports_address_bindings = false;       // VkPhysicalDeviceAddressBindingReportFeaturesEXT
  std::vector<LeftOutExtension> left_out;      // for reports
  std::vector<VkQueueFamilyProperties> queue_families;
  // All of the device: the handles that vkGetDeviceQueue returns.
  std::vector<std::unique_ptr<QueueState>> queues;

  // kBreadcrumbs only.
  LayerDevice identity{};  // for libcairn in the same process
  BlockWriter* block = nullptr;
  Context* context = nullptr;
  MarkerMode mode = MarkerMode::kOff;
  // The method of a RawMarkerScope: labels that describe a raw marker write it (raw_marker_text.h),
  // by this method. Otherwise kNone.
  WriteMethod raw_marker_method = WriteMethod::kNone;
  uint32_t noted_raw_markers = 0;  // those behind them are Cairn's own
  // True in modes full and exact with VK_NV_device_diagnostic_checkpoints: each command gets one.
  bool has_checkpoints = false;
  // Set in modes whose words do not show every end; null otherwise.
  std::unique_ptr<DeviceBarriers> barriers;
  // Some command buffer ended inside of a dynamic render pass that another one resumes.
  std::atomic<bool> suspends_render_passes{false};
  std::mutex command_pools_mutex;
  CommandPoolState* command_pools = nullptr;  // the first

  std::unique_ptr<DeviceObjects> objects;  // kBreadcrumbs: from the device's first call to its last
  std::unique_ptr<DriverHalfDevice> driver_half;  // kDriven
  std::unique_ptr<ExactDevice> exact;  // in mode exact, or with barriers of an experiment
  std::unique_ptr<ShaderExperiment>
      shader_experiment;                        // in "loops", "bounds", "stages", "bindings"
  std::unique_ptr<KeepAliveDevice> keep_alive;  // in the experiment "keep-alive"
  std::unique_ptr<MemoryFiller> memory_filler;  // in the experiment "memory"
  std::unique_ptr<SerialQueues> serial;         // in the experiment "serial-queues"

  bool Enabled(std::string_view extension) const;
};

// Null for handles of devices made without the layer.
DeviceState* DeviceOf(VkDevice device);
QueueState* QueueOf(VkQueue queue);

// Returns the type of a queue of this family.
CairnQueueType QueueTypeOf(VkQueueFlags flags);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_DEVICE_H_
