// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the driver's handles. Dispatchable objects start with the loader's word.
//
// Threads: everything of a device is guarded by Device::mutex, except what a command buffer records,
// which the application guards. Callbacks into the application are made without the lock.
#ifndef CAIRN_TESTS_ICD_OBJECTS_H_
#define CAIRN_TESTS_ICD_OBJECTS_H_

#include <vulkan/vk_icd.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "icd/command_processor.h"
#include "icd/settings.h"
#include "os/memory.h"

namespace cairn::icd {

inline constexpr uint32_t kVendorId = 0x10CA;
inline constexpr uint32_t kVendorNvidia = 0x10DE;
inline constexpr uint32_t kDeviceId = 1;
inline constexpr uint32_t kDriverVersion = 1;
inline constexpr VkDeviceSize kImportAlignment = 4096;
inline constexpr VkDeviceSize kDeviceHeapBytes = VkDeviceSize{1} << 32;

// The bytes of the process in the heap of the device, by VK_EXT_memory_budget: what would be more than the heap fails.
std::atomic<VkDeviceSize>& DeviceHeapUsage();
inline constexpr VkDeviceSize kMemoryAlignment = 256;

inline constexpr uint32_t kFamilyCount = 3;
struct Family {
  VkQueueFlags flags;
  uint32_t queue_count;
};
// Graphics and all; asynchronous compute; copies only.
inline constexpr Family kFamilies[kFamilyCount] = {
    {VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 2},
    {VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT, 2},
    {VK_QUEUE_TRANSFER_BIT, 1}};

struct Instance;
struct Device;

struct PhysicalDevice {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  Instance* instance = nullptr;
};

struct Messenger {
  VkDebugUtilsMessengerCreateInfoEXT info = {};
};

struct Instance {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  Settings settings;
  PhysicalDevice physical_device;
  std::string application_name;
  std::string engine_name;
  uint32_t application_version = 0;
  std::mutex mutex;  // of `messengers`
  std::vector<std::unique_ptr<Messenger>> messengers;
};

struct Queue {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  Device* device = nullptr;
  uint32_t family = 0;
  uint32_t index = 0;   // in its family
  uint32_t number = 0;  // in the command processor
  VkDeviceQueueCreateFlags flags = 0;
};

struct Memory {
  std::byte* data = nullptr;
  VkDeviceSize size_bytes = 0;
  VkDeviceAddress address = 0;
  SparseMemory pages;  // empty if `data` is the application's
  bool in_device_heap = false;
};

struct Buffer {
  VkDeviceSize size_bytes = 0;
  Memory* memory = nullptr;
  VkDeviceSize offset = 0;

  std::byte* data() const { return memory == nullptr ? nullptr : memory->data + offset; }
  VkDeviceAddress address() const { return memory == nullptr ? 0 : memory->address + offset; }
};

struct Image {
  VkDeviceSize size_bytes = 0;
  VkDeviceSize row_bytes = 0;
  Memory* memory = nullptr;
  VkDeviceSize offset = 0;
};

struct Fence {
  bool signalled = false;
};

struct Semaphore {
  bool timeline = false;
  uint64_t value = 0;  // binary: 1 is signalled
};

struct Event {
  bool set = false;
};

struct CommandPool;

struct CommandBuffer {
  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  Device* device = nullptr;
  CommandPool* pool = nullptr;
  std::vector<Command> commands;
  std::string error;  // of the recording: the first thing that makes no sense
};

struct CommandPool {
  std::set<std::unique_ptr<CommandBuffer>, std::less<>> buffers;
};

struct VendorInfo {
  std::string description;
  uint64_t code = 0;
  uint64_t data = 0;
};

struct Device {
  explicit Device(Instance* owner) : instance(owner) {}

  VK_LOADER_DATA loader = {ICD_LOADER_MAGIC};
  Instance* const instance;
  std::set<std::string, std::less<>> extensions;
  bool reports_bindings = false;
  bool has_vendor_binary = false;

  std::mutex mutex;
  std::condition_variable changed;  // something was submitted, or signalled by the host
  std::unique_ptr<CommandProcessor> processor;
  std::vector<std::unique_ptr<Queue>> queues;

  // GPU addresses: each allocation stands alone between addresses that were never mapped.
  VkDeviceAddress next_address = 0x100'0000'0000;
  std::map<VkDeviceAddress, VkDeviceSize> free_ranges;
  VkDeviceAddress ring_address = 0;  // an internal object

  std::vector<VendorInfo> vendor_infos;
  std::string vendor_payload;
  // Directives about address bindings, to be told once the lock is free.
  std::vector<Directive> bindings_to_tell;

  std::map<std::pair<uint64_t, uint64_t>, uint64_t> private_data;  // by slot and object
};

template <typename Object, typename Handle>
Object* From(Handle handle) {
  return reinterpret_cast<Object*>(handle);
}
template <typename Handle, typename Object>
Handle To(Object* object) {
  return reinterpret_cast<Handle>(object);
}

inline Device* Of(VkDevice device) {
  return From<Device>(device);
}
inline Queue* Of(VkQueue queue) {
  return From<Queue>(queue);
}
inline CommandBuffer* Of(VkCommandBuffer commands) {
  return From<CommandBuffer>(commands);
}

// The first structure of this type in a chain, or null.
template <typename Structure>
const Structure* Find(const void* chain, VkStructureType type) {
  for (auto* entry = static_cast<const VkBaseInStructure*>(chain); entry != nullptr;
       entry = entry->pNext) {
    if (entry->sType == type) return reinterpret_cast<const Structure*>(entry);
  }
  return nullptr;
}

// Writes a list into an array of the application, as Vulkan's enumerating functions do.
template <typename Item, typename Items>
VkResult Enumerate(const Items& items, uint32_t* count, Item* output) {
  const uint32_t available = static_cast<uint32_t>(std::size(items));
  if (output == nullptr) {
    *count = available;
    return VK_SUCCESS;
  }
  const uint32_t written = *count < available ? *count : available;
  uint32_t i = 0;
  for (const auto& item : items) {
    if (i == written) break;
    output[i++] = item;
  }
  *count = written;
  return written < available ? VK_INCOMPLETE : VK_SUCCESS;
}

// Tells messengers what became of GPU addresses, if the device reports it. Without Device::mutex.
void TellBinding(const Device& device, VkObjectType type, uint64_t object, VkDeviceAddress address,
                 VkDeviceSize size_bytes, bool bound, bool internal);
// The same for what directives asked for while the lock was held.
void TellScriptedBindings(Device* device);

}  // namespace cairn::icd

#endif  // CAIRN_TESTS_ICD_OBJECTS_H_
