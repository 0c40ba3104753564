// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/testing/vulkan_test_device.h"

#include <fmt/format.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "app/breadcrumbs/vulkan_compute.h"
#include "app/breadcrumbs/vulkan_draw_states.h"

namespace cairn {

VkBool32 VKAPI_CALL OnMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                              VkDebugUtilsMessageTypeFlagsEXT,
                              const VkDebugUtilsMessengerCallbackDataEXT* data, void* user_data) {
  static_cast<VulkanTestDevice*>(user_data)->messages_.push_back(data->pMessage);
  return VK_FALSE;
}

namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr uint32_t kImageSize = 64;

bool ValidationLayerInstalled() {
  uint32_t count = 0;
  if (vkEnumerateInstanceLayerProperties(&count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkLayerProperties> layers(count);
  if (vkEnumerateInstanceLayerProperties(&count, layers.data()) != VK_SUCCESS) return false;
  return std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties& layer) {
    return std::strcmp(layer.layerName, kValidationLayer) == 0;
  });
}

VkDebugUtilsMessengerCreateInfoEXT MessengerInfo(VulkanTestDevice* device) {
  VkDebugUtilsMessengerCreateInfoEXT info = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = OnMessage;
  info.pUserData = device;
  return info;
}

}  // namespace

Result<VkShaderModule> LoadTestShader(VkDevice device, const char* name) {
  std::ifstream file(fmt::format("{}/samples/shaders/vulkan/{}", CAIRN_SOURCE_DIR, name),
                     std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty() || bytes.size() % sizeof(uint32_t) != 0) {
    return Status(StatusCode::kNotFound, fmt::format("shader {} is missing", name));
  }
  DeviceFunctions vk;
  LoadDeviceFunctions(device, vkGetDeviceProcAddr, &vk);
  return CreateShader(vk, device, bytes.data(), bytes.size());
}

Status VulkanTestDevice::Create(const std::vector<std::string>& extensions, bool validation) {
  validating_ = validation && ValidationLayerInstalled();
  VkDebugUtilsMessengerCreateInfoEXT messenger = MessengerInfo(this);
  const VkValidationFeatureEnableEXT feature =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT features = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = &feature;
  features.pNext = &messenger;
  VulkanInstanceOptions options;
  if (validating_) {
    options.layers = {kValidationLayer};
    options.extensions = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    options.next = &features;
  }
  CAIRN_RETURN_IF_ERROR(instance_.Create(options));
  if (validating_) {
    CAIRN_RETURN_IF_ERROR(VulkanStatus(
        "vkCreateDebugUtilsMessengerEXT",
        instance_.Load<PFN_vkCreateDebugUtilsMessengerEXT>("vkCreateDebugUtilsMessengerEXT")(
            instance_.instance(), &messenger, nullptr, &messenger_)));
  }
  Result<std::vector<VkPhysicalDevice>> devices = instance_.PhysicalDevices();
  if (!devices.ok()) return devices.status();
  VkPhysicalDeviceVulkan13Features features_13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  renders_ = instance_.Properties(devices->front()).apiVersion >= VK_API_VERSION_1_3;
  features_13.dynamicRendering = VK_TRUE;
  CAIRN_RETURN_IF_ERROR(
      device_.Create(instance_, devices->front(), extensions, renders_ ? &features_13 : nullptr));
  for (uint32_t family = 0; family < device_.families().size(); ++family) {
    VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = family;
    VkCommandPool pool = VK_NULL_HANDLE;
    CAIRN_RETURN_IF_ERROR(
        VulkanStatus("vkCreateCommandPool", vkCreateCommandPool(device(), &info, nullptr, &pool)));
    pools_.push_back(pool);
  }
  return Status();
}

VulkanTestDevice::~VulkanTestDevice() {
  for (VkCommandPool pool : pools_) vkDestroyCommandPool(device(), pool, nullptr);
  if (messenger_ != VK_NULL_HANDLE) {
    instance_.Load<PFN_vkDestroyDebugUtilsMessengerEXT>("vkDestroyDebugUtilsMessengerEXT")(
        instance_.instance(), messenger_, nullptr);
  }
}

VkCommandBuffer VulkanTestDevice::Begin(uint32_t family, bool reusable) {
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pools_[family];
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  if (vkAllocateCommandBuffers(device(), &info, &commands) != VK_SUCCESS) return VK_NULL_HANDLE;
  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = reusable ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                         : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  return vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS ? commands : VK_NULL_HANDLE;
}

VkResult VulkanTestDevice::End(VkCommandBuffer commands) {
  return vkEndCommandBuffer(commands);
}

VkResult VulkanTestDevice::Restart(VkCommandBuffer commands) {
  const VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  return vkBeginCommandBuffer(commands, &begin);
}

VkResult VulkanTestDevice::Submit(uint32_t family, VkCommandBuffer commands, int times) {
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  VkResult result = VK_SUCCESS;
  for (int i = 0; i < times && result == VK_SUCCESS; ++i) {
    result = vkQueueSubmit(device_.families()[family].queue, 1, &submit, VK_NULL_HANDLE);
  }
  return result;
}

VkResult VulkanTestDevice::Wait(uint32_t family) {
  constexpr uint64_t kTimeoutNs = 30'000'000'000;
  const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  VkResult result = vkCreateFence(device(), &info, nullptr, &fence);
  if (result != VK_SUCCESS) return result;
  result = vkQueueSubmit(device_.families()[family].queue, 0, nullptr, fence);
  if (result == VK_SUCCESS) result = vkWaitForFences(device(), 1, &fence, VK_TRUE, kTimeoutNs);
  if (result != VK_TIMEOUT) vkDestroyFence(device(), fence, nullptr);
  return result;
}

Status VulkanTestDraw::Create() {
  CAIRN_RETURN_IF_ERROR(CreateImage());
  CAIRN_RETURN_IF_ERROR(PrepareLayout());
  return CreatePipeline();
}

VulkanTestDraw::~VulkanTestDraw() {
  const VkDevice device = device_.device();
  vkDestroyPipeline(device, pipeline_, nullptr);
  vkDestroyPipelineLayout(device, layout_, nullptr);
  vkDestroyImageView(device, view_, nullptr);
  vkDestroyImage(device, image_, nullptr);
  vkFreeMemory(device, memory_, nullptr);
}

Status VulkanTestDraw::CreateImage() {
  const VkDevice device = device_.device();
  if (!device_.renders()) {
    return Status(StatusCode::kUnsupported, "the device has no dynamic rendering (Vulkan 1.3)");
  }
  VkFormatProperties format = {};
  vkGetPhysicalDeviceFormatProperties(device_.physical_device(), VK_FORMAT_R8G8B8A8_UNORM, &format);
  if ((format.linearTilingFeatures & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT) == 0) {
    return Status(StatusCode::kUnsupported, "the device cannot draw into a linear image");
  }
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {kImageSize, kImageSize, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_LINEAR;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkCreateImage", vkCreateImage(device, &info, nullptr, &image_)));
  VkMemoryRequirements needs = {};
  vkGetImageMemoryRequirements(device, image_, &needs);
  VkPhysicalDeviceMemoryProperties types = {};
  vkGetPhysicalDeviceMemoryProperties(device_.physical_device(), &types);
  constexpr VkMemoryPropertyFlags kNeeded =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = UINT32_MAX;
  for (uint32_t i = 0; i < types.memoryTypeCount; ++i) {
    if ((needs.memoryTypeBits >> i & 1) != 0 &&
        (types.memoryTypes[i].propertyFlags & kNeeded) == kNeeded) {
      allocation.memoryTypeIndex = i;
    }
  }
  if (allocation.memoryTypeIndex == UINT32_MAX) {
    return Status(StatusCode::kUnsupported, "the CPU cannot see images of this device");
  }
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkAllocateMemory", vkAllocateMemory(device, &allocation, nullptr, &memory_)));
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkBindImageMemory", vkBindImageMemory(device, image_, memory_, 0)));
  void* mapped = nullptr;
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkMapMemory", vkMapMemory(device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped)));
  pixels_ = static_cast<std::byte*>(mapped);
  const VkImageSubresource subresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
  vkGetImageSubresourceLayout(device, image_, &subresource, &pixel_layout_);
  VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = info.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  return VulkanStatus("vkCreateImageView", vkCreateImageView(device, &view, nullptr, &view_));
}

// Keeps what the CPU wrote into the image, and leaves it in a layout in which the CPU may look.
Status VulkanTestDraw::PrepareLayout() {
  const VkCommandBuffer commands = device_.Begin(device_.main_family());
  VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_HOST_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  barrier.oldLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
  barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image_;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0, 0, nullptr, 0, nullptr, 1,
                       &barrier);
  CAIRN_RETURN_IF_ERROR(VulkanStatus("vkEndCommandBuffer", device_.End(commands)));
  CAIRN_RETURN_IF_ERROR(
      VulkanStatus("vkQueueSubmit", device_.Submit(device_.main_family(), commands)));
  return VulkanStatus("vkWaitForFences", device_.Wait(device_.main_family()));
}

Status VulkanTestDraw::CreatePipeline() {
  const VkDevice device = device_.device();
  const VkPushConstantRange range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, 2 * sizeof(uint32_t)};
  VkPipelineLayoutCreateInfo layout = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  CAIRN_RETURN_IF_ERROR(VulkanStatus("vkCreatePipelineLayout",
                                     vkCreatePipelineLayout(device, &layout, nullptr, &layout_)));
  Result<VkShaderModule> vertex = LoadTestShader(device, "triangle.vert.spv");
  if (!vertex.ok()) return vertex.status();
  Result<VkShaderModule> fragment = LoadTestShader(device, "hang.frag.spv");
  if (!fragment.ok()) return fragment.status();
  VulkanDrawStates states(kImageSize, *vertex, *fragment, layout_);
  const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
  VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = 1;
  rendering.pColorAttachmentFormats = &format;
  states.info.pNext = &rendering;
  const VkResult result =
      vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &states.info, nullptr, &pipeline_);
  vkDestroyShaderModule(device, *vertex, nullptr);
  vkDestroyShaderModule(device, *fragment, nullptr);
  return VulkanStatus("vkCreateGraphicsPipelines", result);
}

void VulkanTestDraw::BeginRendering(VkCommandBuffer commands) {
  VkRenderingAttachmentInfo attachment = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
  attachment.imageView = view_;
  attachment.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
  attachment.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
  attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = {{0, 0}, {kImageSize, kImageSize}};
  info.layerCount = 1;
  info.colorAttachmentCount = 1;
  info.pColorAttachments = &attachment;
  vkCmdBeginRendering(commands, &info);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
}

void VulkanTestDraw::Draw(VkCommandBuffer commands, uint32_t trips) {
  const uint32_t constants[] = {trips, 1};
  vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(constants),
                     constants);
  vkCmdDraw(commands, 3, 1, 0, 0);
}

void VulkanTestDraw::EndRendering(VkCommandBuffer commands) {
  vkCmdEndRendering(commands);
}

uint32_t VulkanTestDraw::MiddlePixel() const {
  const size_t offset = pixel_layout_.offset + kImageSize / 2 * pixel_layout_.rowPitch +
                        kImageSize / 2 * sizeof(uint32_t);
  return reinterpret_cast<const std::atomic<uint32_t>*>(pixels_ + offset)->load();
}

void VulkanTestDraw::ClearPixels() {
  std::memset(pixels_ + pixel_layout_.offset, 0, pixel_layout_.rowPitch * kImageSize);
}

uint32_t VulkanTestDraw::ExpectedPixel(uint32_t trips) {
  uint32_t x = 1;
  for (uint32_t i = 0; i < trips * 64; ++i) {
    x = x * 1664525u + 1013904223u;
    x ^= x >> 15;
  }
  return x;
}

Result<VulkanTestRegion> VulkanTestRegion::Create(uint32_t recording_capacity,
                                                  uint32_t raw_marker_count) {
  const auto pages = [](size_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  };
  const size_t progress_bytes = pages(recording_capacity * sizeof(ProgressWords));
  const size_t raw_bytes = pages(raw_marker_count * sizeof(uint64_t));
  VulkanTestRegion result;
  Result<SharedMemory> memory =
      SharedMemory::Create("cairn-vulkan-test", progress_bytes + raw_bytes);
  if (!memory.ok()) return memory.status();
  result.memory = std::move(*memory);
  Result<SharedMemory> observed = result.memory.MapAgainForReading();
  if (!observed.ok()) return observed.status();
  result.observed = std::move(*observed);
  result.region = {
      result.memory.data(), progress_bytes + raw_bytes, 0, recording_capacity, progress_bytes,
      raw_marker_count};
  std::memset(result.memory.data() + progress_bytes, 0xCD, raw_marker_count * sizeof(uint64_t));
  return result;
}

const ProgressWords& VulkanTestRegion::words(uint32_t slot) const {
  return reinterpret_cast<const ProgressWords*>(observed.data() + region.progress_offset)[slot];
}

uint64_t VulkanTestRegion::raw(uint32_t index) const {
  return reinterpret_cast<const std::atomic<uint64_t>*>(observed.data() +
                                                        region.raw_markers_offset)[index]
      .load();
}

}  // namespace cairn
