// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/testing/test_loader.h"

#include <mutex>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/vulkan_loader.h"
#include "app/vulkan/negotiate.h"
#include "app/vulkan/settings.h"
#include "format/block/work_arguments.h"
#include "format/settings/layer_settings.h"

namespace cairn {
namespace {

Status Failed(const char* call, VkResult result) {
  return Status(StatusCode::kNotFound, std::string(call) + ": VkResult " + std::to_string(result));
}

PFN_vkGetInstanceProcAddr system_loader = nullptr;

}  // namespace

Status TestLoader::Create(MarkerMode mode, const TestDeviceRequest& request) {
  CAIRN_RETURN_IF_ERROR(CreateInstance(mode, request));
  return CreateDevice(request);
}

Status TestLoader::CreateInstance(MarkerMode mode, const TestDeviceRequest& request) {
  Result<VulkanGetInstanceProcAddr> loader = LoadVulkanLoader();
  if (!loader.ok()) return loader.status();
  system_loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*loader);
  VkNegotiateLayerInterface interface = {LAYER_NEGOTIATE_INTERFACE_STRUCT};
  interface.loaderLayerInterfaceVersion = 2;
  if (const VkResult result = NegotiateLayer(&interface); result != VK_SUCCESS) {
    return Failed("negotiation", result);
  }
  get_instance_ = interface.pfnGetInstanceProcAddr;
  get_device_ = interface.pfnGetDeviceProcAddr;

  const std::string text(
      SettingWordOf(kRowOf<&LayerSettings::breadcrumbs>, static_cast<int>(mode)));
  const char* const word = text.c_str();
  const LayerSetting setting = {kVulkanLayerName, "breadcrumbs", 7, 1, &word};
  const LayerSettingsCreateInfo settings = {.setting_count = 1, .settings = &setting};
  VkLayerInstanceLink link = {nullptr, system_loader, nullptr};
  if (request.next_of_instance != nullptr) {
    link.pfnNextGetInstanceProcAddr = request.next_of_instance;
  }
  VkLayerInstanceCreateInfo chain = {VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO, &settings,
                                     VK_LAYER_LINK_INFO};
  VkLayerInstanceLink itself = {&link, get_instance_, nullptr};
  chain.u.pLayerInfo = request.twice ? &itself : &link;
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "layer test";
  application.apiVersion = request.api_version;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pNext = &chain;
  info.pApplicationInfo = &application;
  const VkResult result =
      GetOfInstance<PFN_vkCreateInstance>("vkCreateInstance")(&info, nullptr, &instance_);
  return result == VK_SUCCESS ? Status() : Failed("vkCreateInstance", result);
}

Status TestLoader::CreateDevice(const TestDeviceRequest& request) {
  uint32_t count = 1;
  const VkResult found = GetOfInstance<PFN_vkEnumeratePhysicalDevices>(
      "vkEnumeratePhysicalDevices")(instance_, &count, &physical_device_);
  if (count == 0) return Failed("vkEnumeratePhysicalDevices", found);
  const PFN_vkGetInstanceProcAddr next = request.next != nullptr ? request.next : system_loader;
  VkLayerDeviceLink link = {
      nullptr, next,
      reinterpret_cast<PFN_vkGetDeviceProcAddr>(next(instance_, "vkGetDeviceProcAddr"))};
  VkLayerDeviceCreateInfo chain = {VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO, nullptr,
                                   VK_LAYER_LINK_INFO};
  VkLayerDeviceLink itself = {&link, get_instance_, get_device_};
  chain.u.pLayerInfo = request.twice ? &itself : &link;
  VkPhysicalDeviceVulkan13Features features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &chain};
  features.dynamicRendering = VK_TRUE;
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES, &features};
  addresses.bufferDeviceAddress = VK_TRUE;
  VkPhysicalDeviceFeatures2 wanted = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &addresses};
  wanted.features.pipelineStatisticsQuery = VK_TRUE;
  const void* first = &wanted;
  if (request.chain != nullptr) {
    // As the system's loader has it: its own in front.
    chain.pNext = request.chain;
    first = &chain;
  }
  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, first};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(request.extensions.size());
  info.ppEnabledExtensionNames = request.extensions.data();
  const VkResult result = GetOfInstance<PFN_vkCreateDevice>("vkCreateDevice")(
      physical_device_, &info, nullptr, &device_);
  if (result != VK_SUCCESS) return Failed("vkCreateDevice", result);
  LoadDeviceFunctions(device_, get_device_, &vk_);
  vk_.GetDeviceQueue(device_, 0, 0, &queue_);
  return Status();
}

TestLoader::~TestLoader() {
  if (device_ != VK_NULL_HANDLE) {
    vk_.DeviceWaitIdle(device_);
    for (VkCommandPool pool : pools_) vk_.DestroyCommandPool(device_, pool, nullptr);
    for (VkBuffer buffer : buffers_) vk_.DestroyBuffer(device_, buffer, nullptr);
    for (VkDeviceMemory memory : memories_) vk_.FreeMemory(device_, memory, nullptr);
    vk_.DestroyDevice(device_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) {
    GetOfInstance<PFN_vkDestroyInstance>("vkDestroyInstance")(instance_, nullptr);
  }
}

VkCommandBuffer TestLoader::Allocate(VkCommandBufferLevel level) {
  static std::mutex mutex;  // tests allocate from threads
  const std::lock_guard lock(mutex);
  VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  VkCommandPool pool = VK_NULL_HANDLE;
  vk_.CreateCommandPool(device_, &pool_info, nullptr, &pool);
  pools_.push_back(pool);
  VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool;
  info.level = level;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  vk_.AllocateCommandBuffers(device_, &info, &commands);
  return commands;
}

void TestLoader::Begin(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         flags, nullptr};
  vk_.BeginCommandBuffer(commands, &info);
}

void TestLoader::BeginSecondary(VkCommandBuffer commands, VkCommandBufferUsageFlags flags) {
  const VkCommandBufferInheritanceInfo inheritance = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         flags, &inheritance};
  vk_.BeginCommandBuffer(commands, &info);
}

void TestLoader::End(VkCommandBuffer commands) {
  vk_.EndCommandBuffer(commands);
}

VkResult TestLoader::Run(VkCommandBuffer commands) {
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  const VkResult result = vk_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE);
  if (result != VK_SUCCESS) return result;
  return vk_.QueueWaitIdle(queue_);
}

VkBuffer TestLoader::MakeBuffer() {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 256;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  vk_.CreateBuffer(device_, &info, nullptr, &buffer);
  VkMemoryRequirements needs = {};
  vk_.GetBufferMemoryRequirements(device_, buffer, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  while ((needs.memoryTypeBits >> allocation.memoryTypeIndex & 1) == 0) {
    ++allocation.memoryTypeIndex;
  }
  VkDeviceMemory memory = VK_NULL_HANDLE;
  vk_.AllocateMemory(device_, &allocation, nullptr, &memory);
  vk_.BindBufferMemory(device_, buffer, memory, 0);
  buffers_.push_back(buffer);
  memories_.push_back(memory);
  return buffer;
}

const RecordingSlot& TestLoader::Slot(VkCommandBuffer commands) const {
  return *CommandBufferOf(commands)->list->slot();
}

const ProgressWords& TestLoader::Words(VkCommandBuffer commands) const {
  state().context->Mirror();
  const ContextRecord& record = state().block->contexts()[state().context->index()];
  const auto* words =
      reinterpret_cast<const ProgressWords*>(state().block->data() + record.progress_offset);
  return words[CommandBufferOf(commands)->list->slot_index()];
}

std::vector<EventRecord> TestLoader::Events(VkCommandBuffer commands) const {
  const CommandList& list = *CommandBufferOf(commands)->list;
  std::vector<EventRecord> events;
  uint32_t page = list.slot()->first_event_page;
  for (uint32_t i = 0; i < list.slot()->event_count.load(); ++i) {
    const auto* chunk = reinterpret_cast<const EventChunk*>(state().block->Page(page));
    events.push_back(chunk->events[EventPosition(list.slot_index(), i)]);
    if (i % kEventsPerChunk == kEventsPerChunk - 1) page = chunk->next_page.load();
  }
  return events;
}

namespace {

bool SaysWithWhat(const EventRecord& event) {
  return event.kind == EventKind::kBind &&
         (IsArguments(event.type) || event.type == static_cast<uint16_t>(BindPoint::kSource) ||
          event.type == static_cast<uint16_t>(BindPoint::kDestination));
}

// Returns the number of work events among the first `sequence`.
uint32_t CountOfWork(const std::vector<EventRecord>& events, uint32_t sequence) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < sequence && i < events.size(); ++i) {
    if (!SaysWithWhat(events[i])) ++count;
  }
  return count;
}

}  // namespace

std::vector<EventRecord> TestLoader::EventsOfWork(VkCommandBuffer commands) const {
  const std::vector<EventRecord> all = Events(commands);
  std::vector<EventRecord> events;
  for (EventRecord event : all) {
    if (SaysWithWhat(event)) continue;
    if (event.kind == EventKind::kEnd) event.match = CountOfWork(all, event.match);
    events.push_back(event);
  }
  return events;
}

uint32_t TestLoader::SequenceOfWork(VkCommandBuffer commands, uint32_t word) const {
  return CountOfWork(Events(commands), ProgressSequence(word, Slot(commands).generation));
}

}  // namespace cairn
