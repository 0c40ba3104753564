// SPDX-License-Identifier: Apache-2.0
//
// The layer as the system's loader finds and loads it, by its manifest.
#include "app/breadcrumbs/vulkan_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "app/vulkan/layer.h"
#include "os/environment.h"
#include "os/library.h"

namespace cairn {
namespace {

#if defined(_WIN32)
constexpr char kFolder[] = CAIRN_BINARY_DIR "/bin";
constexpr char kLibrary[] = "cairn-d3d.dll";
#else
constexpr char kFolder[] = CAIRN_BINARY_DIR "/lib";
constexpr char kLibrary[] = CAIRN_BINARY_DIR "/lib/libcairn-d3d12.so";
#endif

class VulkanLoaderTest : public testing::Test {
 protected:
  void SetUp() override {
    SetVariable("VK_ADD_LAYER_PATH", kFolder);
    Result<VulkanGetInstanceProcAddr> loader = LoadVulkanLoader();
    ASSERT_TRUE(loader.ok()) << loader.status().message();
    get_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*loader);
  }
  void TearDown() override {
    DestroyAll();
    ClearVariable("VK_ADD_LAYER_PATH");
    ClearVariable("CAIRN_BREADCRUMBS");
  }

  template <typename Function>
  Function Get(const char* name) const {
    return reinterpret_cast<Function>(get_(instance_, name));
  }

  // Instance and device of this version; 0: the program says nothing about itself.
  void Create(uint32_t version) {
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = version;
    const char* const layer = kVulkanLayerName;
    VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    if (version != 0) info.pApplicationInfo = &application;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &layer;
    ASSERT_EQ(Get<PFN_vkCreateInstance>("vkCreateInstance")(&info, nullptr, &instance_),
              VK_SUCCESS);
    uint32_t count = 1;
    Get<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance_, &count,
                                                                      &physical_);
    ASSERT_EQ(count, 1u);
    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo device = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    ASSERT_EQ(Get<PFN_vkCreateDevice>("vkCreateDevice")(physical_, &device, nullptr, &device_),
              VK_SUCCESS);
  }
  void DestroyAll() {
    if (device_ != VK_NULL_HANDLE) Get<PFN_vkDestroyDevice>("vkDestroyDevice")(device_, nullptr);
    if (instance_ != VK_NULL_HANDLE) {
      Get<PFN_vkDestroyInstance>("vkDestroyInstance")(instance_, nullptr);
    }
    device_ = VK_NULL_HANDLE;
    instance_ = VK_NULL_HANDLE;
  }
  // One submission of a command buffer with nothing in it but a barrier.
  void RunSomething() {
    const auto get_device = Get<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr");
    const auto of_device = [&](const char* name) { return get_device(device_, name); };
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    ASSERT_EQ(reinterpret_cast<PFN_vkCreateCommandPool>(of_device("vkCreateCommandPool"))(
                  device_, &pool_info, nullptr, &pool),
              VK_SUCCESS);
    VkCommandBufferAllocateInfo allocation = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocation.commandPool = pool;
    allocation.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    ASSERT_EQ(reinterpret_cast<PFN_vkAllocateCommandBuffers>(of_device("vkAllocateCommandBuffers"))(
                  device_, &allocation, &commands),
              VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    reinterpret_cast<PFN_vkBeginCommandBuffer>(of_device("vkBeginCommandBuffer"))(commands, &begin);
    VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    reinterpret_cast<PFN_vkCmdPipelineBarrier>(of_device("vkCmdPipelineBarrier"))(
        commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
        &barrier, 0, nullptr, 0, nullptr);
    reinterpret_cast<PFN_vkEndCommandBuffer>(of_device("vkEndCommandBuffer"))(commands);
    VkQueue queue = VK_NULL_HANDLE;
    reinterpret_cast<PFN_vkGetDeviceQueue>(of_device("vkGetDeviceQueue"))(device_, 0, 0, &queue);
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    EXPECT_EQ(reinterpret_cast<PFN_vkQueueSubmit>(of_device("vkQueueSubmit"))(queue, 1, &submit,
                                                                              VK_NULL_HANDLE),
              VK_SUCCESS);
    EXPECT_EQ(reinterpret_cast<PFN_vkQueueWaitIdle>(of_device("vkQueueWaitIdle"))(queue),
              VK_SUCCESS);
    reinterpret_cast<PFN_vkDestroyCommandPool>(of_device("vkDestroyCommandPool"))(device_, pool,
                                                                                  nullptr);
  }

  PFN_vkGetInstanceProcAddr get_ = nullptr;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
};

TEST_F(VulkanLoaderTest, TheManifestIsFoundAndTellsWhatTheLayerHas) {
  uint32_t count = 0;
  const auto layers =
      Get<PFN_vkEnumerateInstanceLayerProperties>("vkEnumerateInstanceLayerProperties");
  ASSERT_EQ(layers(&count, nullptr), VK_SUCCESS);
  std::vector<VkLayerProperties> found(count);
  ASSERT_EQ(layers(&count, found.data()), VK_SUCCESS);
  std::vector<std::string> names;
  for (const VkLayerProperties& layer : found) names.push_back(layer.layerName);
  EXPECT_THAT(names, testing::Contains(kVulkanLayerName));

  const auto extensions =
      Get<PFN_vkEnumerateInstanceExtensionProperties>("vkEnumerateInstanceExtensionProperties");
  VkExtensionProperties extension = {};
  count = 1;
  ASSERT_EQ(extensions(kVulkanLayerName, &count, &extension), VK_SUCCESS);
  EXPECT_STREQ(extension.extensionName, "VK_EXT_layer_settings");
}

TEST_F(VulkanLoaderTest, InstancesOfEveryVersionWork) {
  for (const uint32_t version : {0u, VK_API_VERSION_1_0, VK_API_VERSION_1_1, VK_API_VERSION_1_3}) {
    ASSERT_NO_FATAL_FAILURE(Create(version));
    ASSERT_NO_FATAL_FAILURE(RunSomething());
    DestroyAll();
  }
}

TEST_F(VulkanLoaderTest, OffWorksAsWell) {
  SetVariable("CAIRN_BREADCRUMBS", "off");
  ASSERT_NO_FATAL_FAILURE(Create(VK_API_VERSION_1_3));
  ASSERT_NO_FATAL_FAILURE(RunSomething());
}

TEST_F(VulkanLoaderTest, DevicesSayThatTheLayerIsThere) {
  ASSERT_NO_FATAL_FAILURE(Create(VK_API_VERSION_1_3));
  const auto tools =
      Get<PFN_vkGetPhysicalDeviceToolProperties>("vkGetPhysicalDeviceToolProperties");
  ASSERT_NE(tools, nullptr);
  uint32_t count = 1;
  VkPhysicalDeviceToolProperties tool = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES};
  tools(physical_, &count, &tool);
  ASSERT_EQ(count, 1u);
  EXPECT_STREQ(tool.layer, kVulkanLayerName);

  const auto extensions =
      Get<PFN_vkEnumerateDeviceExtensionProperties>("vkEnumerateDeviceExtensionProperties");
  ASSERT_EQ(extensions(physical_, nullptr, &count, nullptr), VK_SUCCESS);
  EXPECT_GT(count, 1u) << "those of the driver";
}

TEST_F(VulkanLoaderTest, TheLibraryOutlivesTheInstances) {
  ASSERT_NO_FATAL_FAILURE(Create(VK_API_VERSION_1_3));
  DestroyAll();
  EXPECT_NE(Library::FindLoaded(kLibrary).Find<void (*)()>("cairnNegotiateVulkanLayer"), nullptr);
}

}  // namespace
}  // namespace cairn
