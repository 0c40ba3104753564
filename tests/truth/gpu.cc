// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu.h"

#include <dlfcn.h>
#include <errno.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cairn::truth {
namespace {

std::vector<VkQueueFamilyProperties> FamiliesOf(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  return families;
}

template <typename Function>
void Load(VkInstance instance, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(vkGetInstanceProcAddr(instance, name));
}

VkDebugUtilsLabelEXT Label(const char* text) {
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  label.pLabelName = text;
  return label;
}

}  // namespace

void Fail(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
  std::fflush(nullptr);
  std::_Exit(2);
}

void Check(VkResult result, const char* call) {
  if (result != VK_SUCCESS) Fail(std::string(call) + " returned " + std::to_string(result));
}

Gpu::Gpu(const std::string& scripted, Pipelines pipelines) {
  CreateInstance();
  ChoosePhysicalDevice(!scripted.empty());
  ChooseQueues();
  CreateDevice();
  LoadFunctions(scripted);
  CreatePools();
  if (pipelines == Pipelines::kNone) return;
  if (pipelines == Pipelines::kOfDraws) picture_ = CreatePicture(kPictureWidth);
  CreatePipelines(pipelines == Pipelines::kOfDraws);
}

void Gpu::CreateInstance() {
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = program_invocation_short_name;
  application.apiVersion = VK_API_VERSION_1_3;
  const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = extensions;
  const VkResult result = vkCreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) Fail("no Vulkan driver; see VK_DRIVER_FILES");
  Check(result, "vkCreateInstance");
}

void Gpu::ChoosePhysicalDevice(bool scripted) {
  uint32_t count = 0;
  Check(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> devices(count);
  Check(vkEnumeratePhysicalDevices(instance_, &count, devices.data()),
        "vkEnumeratePhysicalDevices");
  const char* wanted = std::getenv("CAIRN_SAMPLE_DEVICE");
  for (VkPhysicalDevice device : devices) {
    VkPhysicalDeviceProperties properties = {};
    vkGetPhysicalDeviceProperties(device, &properties);
    if (wanted != nullptr && std::strstr(properties.deviceName, wanted) == nullptr) continue;
    const bool cpu = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (physical_device_ != VK_NULL_HANDLE && (cpu || backend_ == Backend::kGpu)) continue;
    physical_device_ = device;
    properties_ = properties;
    backend_ = cpu ? Backend::kCpu : Backend::kGpu;
  }
  if (physical_device_ == VK_NULL_HANDLE) Fail("no Vulkan device; see VK_DRIVER_FILES");
  if (properties_.apiVersion < VK_API_VERSION_1_3) Fail("the device lacks Vulkan 1.3");
  if (scripted) backend_ = Backend::kScripted;
}

void Gpu::ChooseQueues() {
  const std::vector<VkQueueFamilyProperties> families = FamiliesOf(physical_device_);
  constexpr VkQueueFlags kBoth = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  uint32_t graphics = 0;
  while (graphics < families.size() && (families[graphics].queueFlags & kBoth) != kBoth) ++graphics;
  if (graphics == families.size()) Fail("the device has no graphics queue");
  queues_[0].family = queues_[1].family = graphics;
  for (uint32_t i = 0; i < families.size(); ++i) {
    if ((families[i].queueFlags & kBoth) != VK_QUEUE_COMPUTE_BIT) continue;
    queues_[1].family = i;
    return;
  }
  if (families[graphics].queueCount > 1) second_index_ = 1;
}

bool Gpu::Has(const char* extension) const {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(physical_device_, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(physical_device_, nullptr, &count, extensions.data());
  for (const VkExtensionProperties& known : extensions) {
    if (std::strcmp(known.extensionName, extension) == 0) return true;
  }
  return false;
}

bool Gpu::CanTellTime() const {
  if (backend_ == Backend::kScripted || !Has(VK_KHR_SHADER_CLOCK_EXTENSION_NAME)) return false;
  VkPhysicalDeviceShaderClockFeaturesKHR clock = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR};
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.pNext = &clock;
  vkGetPhysicalDeviceFeatures2(physical_device_, &features);
  return clock.shaderDeviceClock == VK_TRUE;
}

void Gpu::CreateDevice() {
  const float priorities[] = {1, 1};
  const bool one_family = queues_[0].family == queues_[1].family;
  VkDeviceQueueCreateInfo queues[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    queues[i].sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queues[i].queueFamilyIndex = queues_[i].family;
    queues[i].queueCount = one_family ? 1 + second_index_ : 1;
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
  VkPhysicalDeviceFeatures features = {};
  features.vertexPipelineStoresAndAtomics = VK_TRUE;
  features.fragmentStoresAndAtomics = VK_TRUE;
  features.shaderStorageBufferArrayDynamicIndexing = VK_TRUE;
  VkPhysicalDeviceShaderClockFeaturesKHR clock = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR};
  clock.shaderDeviceClock = VK_TRUE;
  std::vector<const char*> extensions;
  words_are_imported_ = Has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (words_are_imported_) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  has_clock_ = CanTellTime();
  if (has_clock_) {
    extensions.push_back(VK_KHR_SHADER_CLOCK_EXTENSION_NAME);
    features_13.pNext = &clock;
  }
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features_12;
  info.pEnabledFeatures = &features;
  info.queueCreateInfoCount = one_family ? 1 : 2;
  info.pQueueCreateInfos = queues;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  Check(vkCreateDevice(physical_device_, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, queues_[0].family, 0, &queues_[0].queue);
  vkGetDeviceQueue(device_, queues_[1].family, one_family ? second_index_ : 0, &queues_[1].queue);
}

void Gpu::LoadFunctions(const std::string& scripted) {
  Load(instance_, "vkCmdBeginDebugUtilsLabelEXT", &begin_label_);
  Load(instance_, "vkCmdEndDebugUtilsLabelEXT", &end_label_);
  Load(instance_, "vkSetDebugUtilsObjectNameEXT", &set_name_);
  Name(VK_OBJECT_TYPE_QUEUE, (uint64_t)queues_[0].queue, "Graphics");
  if (two_queues()) Name(VK_OBJECT_TYPE_QUEUE, (uint64_t)queues_[1].queue, "Compute");
  if (scripted.empty()) return;
  void* driver = dlopen(scripted.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) Fail("runs on another driver than " + scripted);
  const auto find =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(driver, "vk_icdGetInstanceProcAddr"));
  script_ = reinterpret_cast<PFN_vkCmdInsertDebugUtilsLabelEXT>(
      find(instance_, "vkCmdInsertDebugUtilsLabelEXT"));
}

void Gpu::CreatePools() {
  for (GpuQueue& queue : queues_) {
    VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.queueFamilyIndex = queue.family;
    Check(vkCreateCommandPool(device_, &pool, nullptr, &queue.pool), "vkCreateCommandPool");
  }
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
  VkDescriptorPoolCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = 4;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  Check(vkCreateDescriptorPool(device_, &info, nullptr, &descriptors_), "vkCreateDescriptorPool");
}

VkSemaphore Gpu::CreateTimeline(const char* name) {
  VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  Check(vkCreateSemaphore(device_, &info, nullptr, &semaphore), "vkCreateSemaphore");
  Name(VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore, name);
  return semaphore;
}

VkFence Gpu::CreateFence() {
  const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  Check(vkCreateFence(device_, &info, nullptr, &fence), "vkCreateFence");
  return fence;
}

VkCommandBuffer Gpu::Begin(const GpuQueue& queue, const char* name,
                           const VkCommandBufferInheritanceInfo* inheritance,
                           VkCommandBufferUsageFlags flags) {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = queue.pool;
  info.level =
      inheritance != nullptr ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  Check(vkAllocateCommandBuffers(device_, &info, &commands), "vkAllocateCommandBuffers");
  Name(VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)commands, name);
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT | flags;
  begin.pInheritanceInfo = inheritance;
  Check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  return commands;
}

double Gpu::Run(VkCommandBuffer commands) {
  Check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  const VkFence fence = CreateFence();
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  const auto start = std::chrono::steady_clock::now();
  Check(vkQueueSubmit(graphics().queue, 1, &submit, fence), "vkQueueSubmit");
  Check(vkWaitForFences(device_, 1, &fence, VK_TRUE, 20'000'000'000), "vkWaitForFences");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Gpu::BeginLabel(VkCommandBuffer commands, const char* text) const {
  const VkDebugUtilsLabelEXT label = Label(text);
  begin_label_(commands, &label);
}

void Gpu::EndLabel(VkCommandBuffer commands) const {
  end_label_(commands);
}

void Gpu::Script(VkCommandBuffer commands, const std::string& directive) const {
  if (script_ == nullptr) return;
  const std::string text = "icd: " + directive;
  const VkDebugUtilsLabelEXT label = Label(text.c_str());
  script_(commands, &label);
}

void Gpu::Name(VkObjectType type, uint64_t handle, const char* name) const {
  if (name == nullptr) return;
  VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = name;
  Check(set_name_(device_, &info), "vkSetDebugUtilsObjectNameEXT");
}

}  // namespace cairn::truth
