// SPDX-License-Identifier: Apache-2.0
#include "vulkan_device.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace sample {
namespace {

const char* g_program = "sample";

std::vector<VkQueueFamilyProperties> QueueFamilies(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  return families;
}

bool HasInstanceExtension(const char* name) {
  uint32_t count = 0;
  vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> available(count);
  vkEnumerateInstanceExtensionProperties(nullptr, &count, available.data());
  for (const VkExtensionProperties& extension : available) {
    if (std::strcmp(extension.extensionName, name) == 0) return true;
  }
  return false;
}

}  // namespace

void Fail(const std::string& message) {
  fmt::print(stderr, "{}: {}\n", g_program, message);
  std::exit(2);
}

void Check(VkResult result, const char* call) {
  if (result != VK_SUCCESS) Fail(fmt::format("{} returned {}", call, static_cast<int>(result)));
}

Scope::Scope(const List& list, CairnMarkerType type, const char* name)
    : list_(list),
      begun_(list.telling != nullptr &&
             list.telling->Begin(list.recording, list.commands, type, name)) {}

Scope::~Scope() {
  if (begun_) list_.telling->End(list_.recording, list_.commands);
}

Device::Device(const char* program, const Options& options) {
  g_program = program;
  CreateInstance();
  ChoosePhysicalDevice();
  ChooseQueues();
  CreateDevice();
  telling_ = Telling::Start({instance_, physical_device_, device_, graphics_.queue,
                             graphics_.family, extensions_, has_debug_utils_},
                            options);
  telling_->Name(graphics_.queue, graphics_.type, "Graphics");
  if (compute_.queue != graphics_.queue) {
    telling_->Name(compute_.queue, compute_.type, "Async compute");
  }
  telling_->BeginFrame();
}

Device::~Device() {
  Check(vkDeviceWaitIdle(device_), "vkDeviceWaitIdle");
  telling_.reset();
  while (!owned_.empty()) {
    owned_.back()();
    owned_.pop_back();
  }
  vkDestroyDevice(device_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

void Device::CreateInstance() {
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = g_program;
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char* const debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  has_debug_utils_ = Telling::WantsDebugUtils() && HasInstanceExtension(debug_utils);
  info.enabledExtensionCount = has_debug_utils_ ? 1 : 0;
  info.ppEnabledExtensionNames = &debug_utils;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    Fail("no Vulkan device; install the package mesa-vulkan-drivers or the driver of your GPU");
  }
  Check(result, "vkCreateInstance");
}

void Device::ChoosePhysicalDevice() {
  uint32_t count = 0;
  Check(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  Check(vkEnumeratePhysicalDevices(instance_, &count, devices.data()),
        "vkEnumeratePhysicalDevices");
  const char* wanted = std::getenv("CAIRN_SAMPLE_DEVICE");
  bool is_gpu = false;
  std::string names;
  for (VkPhysicalDevice device : devices) {
    VkPhysicalDeviceProperties properties = {};
    vkGetPhysicalDeviceProperties(device, &properties);
    names += fmt::format(" \"{}\"", properties.deviceName);
    if (wanted != nullptr && std::strstr(properties.deviceName, wanted) == nullptr) continue;
    const bool gpu = properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (physical_device_ == VK_NULL_HANDLE || (gpu && !is_gpu)) {
      physical_device_ = device;
      properties_ = properties;
      is_gpu = gpu;
    }
  }
  if (physical_device_ == VK_NULL_HANDLE) {
    Fail(wanted != nullptr && count > 0
             ? fmt::format("CAIRN_SAMPLE_DEVICE is \"{}\", but the devices are{}", wanted, names)
             : "no Vulkan device; install the package mesa-vulkan-drivers or the driver of your "
               "GPU");
  }
  if (properties_.apiVersion < VK_API_VERSION_1_3) {
    Fail(fmt::format("the samples need Vulkan 1.3, and \"{}\" has {}.{}", properties_.deviceName,
                     VK_API_VERSION_MAJOR(properties_.apiVersion),
                     VK_API_VERSION_MINOR(properties_.apiVersion)));
  }
}

void Device::ChooseQueues() {
  const std::vector<VkQueueFamilyProperties> families = QueueFamilies(physical_device_);
  bool found = false;
  for (uint32_t i = 0; i < families.size() && !found; ++i) {
    constexpr VkQueueFlags kNeeded = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    if ((families[i].queueFlags & kNeeded) != kNeeded) continue;
    graphics_.family = i;
    found = true;
  }
  if (!found) Fail(fmt::format("\"{}\" has no graphics queue", properties_.deviceName));
  compute_ = graphics_;
  for (uint32_t i = 0; i < families.size(); ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || (flags & VK_QUEUE_GRAPHICS_BIT) != 0) continue;
    compute_.family = i;
    compute_.type = CAIRN_QUEUE_COMPUTE;
    return;
  }
  if (families[graphics_.family].queueCount > 1) compute_index_ = 1;
}

std::vector<const char*> Device::AvailableExtensions(const std::vector<const char*>& wanted) const {
  uint32_t count = 0;
  Check(vkEnumerateDeviceExtensionProperties(physical_device_, nullptr, &count, nullptr),
        "vkEnumerateDeviceExtensionProperties");
  std::vector<VkExtensionProperties> available(count);
  Check(vkEnumerateDeviceExtensionProperties(physical_device_, nullptr, &count, available.data()),
        "vkEnumerateDeviceExtensionProperties");
  std::vector<const char*> found;
  for (const char* name : wanted) {
    for (const VkExtensionProperties& extension : available) {
      if (std::strcmp(extension.extensionName, name) == 0) found.push_back(name);
    }
  }
  return found;
}

void Device::CreateDevice() {
  extensions_ = AvailableExtensions(Telling::DeviceExtensions());
  const float priorities[] = {1.0f, 1.0f};
  std::vector<VkDeviceQueueCreateInfo> queues(compute_.family == graphics_.family ? 1 : 2);
  for (size_t i = 0; i < queues.size(); ++i) {
    queues[i].sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queues[i].queueFamilyIndex = i == 0 ? graphics_.family : compute_.family;
    queues[i].queueCount = 1 + compute_index_;
    queues[i].pQueuePriorities = priorities;
  }
  VkPhysicalDeviceVulkan13Features features_13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features_13.dynamicRendering = VK_TRUE;
  VkPhysicalDeviceVulkan12Features features_12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features_12.pNext = &features_13;
  features_12.bufferDeviceAddress = VK_TRUE;
  features_12.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceFeatures available = {};
  vkGetPhysicalDeviceFeatures(physical_device_, &available);
  VkPhysicalDeviceFeatures features = {};
  features.fragmentStoresAndAtomics = available.fragmentStoresAndAtomics;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features_12;
  info.pEnabledFeatures = &features;
  info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions_.size());
  info.ppEnabledExtensionNames = extensions_.data();
  Check(vkCreateDevice(physical_device_, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, graphics_.family, 0, &graphics_.queue);
  vkGetDeviceQueue(device_, compute_.family, compute_index_, &compute_.queue);
  for (Queue* queue : {&graphics_, &compute_}) {
    VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.queueFamilyIndex = queue->family;
    Check(vkCreateCommandPool(device_, &pool, nullptr, &queue->pool), "vkCreateCommandPool");
    Own([this, pool = queue->pool] { vkDestroyCommandPool(device_, pool, nullptr); });
  }
}

uint32_t Device::FindMemory(uint32_t allowed_types, VkMemoryPropertyFlags needed,
                            VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory = {};
  vkGetPhysicalDeviceMemoryProperties(physical_device_, &memory);
  for (const VkMemoryPropertyFlags flags : {needed | wanted, needed}) {
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const bool fits = (memory.memoryTypes[i].propertyFlags & flags) == flags;
      if ((allowed_types >> i & 1) != 0 && fits) return i;
    }
  }
  Fail("the device has no suitable memory type");
}

Buffer Device::CreateBuffer(uint32_t word_count) {
  const uint32_t families[] = {graphics_.family, compute_.family};
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = VkDeviceSize{word_count} * sizeof(uint32_t);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (families[0] != families[1]) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = 2;
    info.pQueueFamilyIndices = families;
  }
  Buffer buffer;
  buffer.word_count = word_count;
  Check(vkCreateBuffer(device_, &info, nullptr, &buffer.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex =
      // The device's own, where the CPU reaches it: work that waits for the CPU may see nothing else change.
      FindMemory(needs.memoryTypeBits,
                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                 VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  Check(vkAllocateMemory(device_, &allocation, nullptr, &memory), "vkAllocateMemory");
  Check(vkBindBufferMemory(device_, buffer.buffer, memory, 0), "vkBindBufferMemory");
  void* mapped = nullptr;
  Check(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  buffer.words = static_cast<uint32_t*>(mapped);
  std::memset(mapped, 0, info.size);
  VkBufferDeviceAddressInfo address = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = buffer.buffer;
  buffer.address = vkGetBufferDeviceAddress(device_, &address);
  Own([this, buffer, memory] {
    vkDestroyBuffer(device_, buffer.buffer, nullptr);
    vkFreeMemory(device_, memory, nullptr);
  });
  return buffer;
}

List Device::BeginList(const Queue& queue, const char* name) {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = queue.pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  List list;
  Check(vkAllocateCommandBuffers(device_, &info, &list.commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  Check(vkBeginCommandBuffer(list.commands, &begin), "vkBeginCommandBuffer");
  if (name == nullptr) return list;
  list.telling = telling_.get();
  list.recording = telling_->BeginList(list.commands, queue.queue, queue.type, name);
  return list;
}

void Device::EndList(const List& list) {
  if (list.telling != nullptr) list.telling->EndList(list.recording);
  Check(vkEndCommandBuffer(list.commands), "vkEndCommandBuffer");
}

VkFence Device::Submit(const Queue& queue, const std::vector<List>& lists) {
  std::vector<VkCommandBuffer> commands;
  std::vector<Telling::Recording> told;
  for (const List& list : lists) {
    commands.push_back(list.commands);
    if (list.telling != nullptr) told.push_back(list.recording);
  }
  if (!told.empty()) telling_->Submit(queue.queue, told);
  const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  Check(vkCreateFence(device_, &info, nullptr, &fence), "vkCreateFence");
  Own([this, fence] { vkDestroyFence(device_, fence, nullptr); });
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = static_cast<uint32_t>(commands.size());
  submit.pCommandBuffers = commands.data();
  const VkResult result = vkQueueSubmit(queue.queue, 1, &submit, fence);
  if (result == VK_ERROR_DEVICE_LOST) ReportLoss(result, "vkQueueSubmit");
  Check(result, "vkQueueSubmit");
  return fence;
}

bool Device::Wait(VkFence fence, double timeout_s) {
  const VkResult result =
      vkWaitForFences(device_, 1, &fence, VK_TRUE, static_cast<uint64_t>(timeout_s * 1e9));
  if (result == VK_TIMEOUT) return false;
  if (result == VK_ERROR_DEVICE_LOST) ReportLoss(result, "vkWaitForFences");
  Check(result, "vkWaitForFences");
  return true;
}

void Device::WaitOrReportLoss(VkFence fence, double timeout_s) {
  if (!Wait(fence, timeout_s)) ReportLoss(VK_TIMEOUT, "vkWaitForFences");
}

void Device::ReportLoss(VkResult result, const char* call) {
  telling_->DeviceLost(result, call);
  fmt::print(stderr, "{}: the device is lost: {} returned {}\n", g_program, call,
             static_cast<int>(result));
  std::fflush(nullptr);
  // A lost device may never let itself be destroyed.
  std::_Exit(1);
}

}  // namespace sample
