// SPDX-License-Identifier: Apache-2.0
#include "icd/program_device.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <signal.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "os/library.h"
#include "os/this_process.h"

namespace cairn::icd {
namespace {

// The smallest module that has a header: nobody compiles it.
constexpr uint32_t kShader[] = {0x07230203, 0x00010000, 0, 1, 0};

CairnVoidFunction GetInstanceProcAddr(void* instance, const char* name) {
  return vkGetInstanceProcAddr(static_cast<VkInstance>(instance), name);
}

bool HasExtension(VkPhysicalDevice device, const char* wanted) {
  uint32_t count = 0;
  Check(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
        "vkEnumerateDeviceExtensionProperties");
  std::vector<VkExtensionProperties> extensions(count);
  Check(vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()),
        "vkEnumerateDeviceExtensionProperties");
  for (const VkExtensionProperties& extension : extensions) {
    if (std::strcmp(extension.extensionName, wanted) == 0) return true;
  }
  return false;
}

VkDebugUtilsLabelEXT Label(const char* text) {
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  label.pLabelName = text;
  return label;
}

}  // namespace

void Fail(const std::string& message) {
  std::fprintf(stderr, "icd_program: %s\n", message.c_str());
  std::exit(2);
}

void Check(VkResult result, const char* call) {
  if (result != VK_SUCCESS) Fail(std::string(call) + " returned " + std::to_string(result));
}

void Check(CairnResult result, const char* call) {
  if (result != CAIRN_OK) Fail(std::string(call) + ": " + cairnGetLastErrorMessage());
}

void SayReady() {
  std::printf("ready %d\n", static_cast<int>(OwnProcessId()));
  std::fflush(stdout);
}

void KillSelf() {
#if defined(_WIN32)
  TerminateProcess(GetCurrentProcess(), 1);
#else
  raise(SIGKILL);
#endif
  std::abort();
}

void ProgramList::BeginLabel(const char* name) {
  const VkDebugUtilsLabelEXT label = Label(name);
  device_->begin_label_(commands_, &label);
  if (cairn_ == nullptr) return;
  Check(cairnBeginMarker(cairn_, CAIRN_MARKER_PASS, name, CAIRN_NAME_COPY), "cairnBeginMarker");
}

void ProgramList::EndLabel() {
  device_->end_label_(commands_);
  EndWork();
}

void ProgramList::BeginWork(CairnMarkerType type, const char* name) {
  BeginLabel(name);
  if (cairn_ == nullptr) return;
  Check(cairnBeginMarker(cairn_, type, nullptr, CAIRN_NAME_STATIC), "cairnBeginMarker");
}

void ProgramList::EndWork() {
  if (cairn_ != nullptr) Check(cairnEndMarker(cairn_), "cairnEndMarker");
}

void ProgramList::Add(std::initializer_list<const char*> steps) {
  constexpr std::string_view kDirective = "icd: ";
  for (const std::string_view step : steps) {
    if (step == "|") {
      Barrier();
    } else if (step.starts_with(kDirective)) {
      Script(std::string(step.substr(kDirective.size())));
    } else {
      Dispatch(step.data());
    }
  }
}

void ProgramList::Dispatch(const char* name) {
  BeginWork(CAIRN_MARKER_DISPATCH, name);
  vkCmdDispatch(commands_, 1, 1, 1);
  EndWork();
  EndLabel();
}

void ProgramList::Draw(const char* name) {
  BeginWork(CAIRN_MARKER_DRAW, name);
  vkCmdDraw(commands_, 3, 1, 0, 0);
  EndWork();
  EndLabel();
}

void ProgramList::DrawIndexed(const char* name) {
  BeginWork(CAIRN_MARKER_DRAW_INDEXED, name);
  vkCmdDrawIndexed(commands_, 3, 1, 0, 0, 0);
  EndWork();
  EndLabel();
}

void ProgramList::BindVertices(const ProgramBuffer& buffer) {
  const VkDeviceSize no_offset = 0;
  vkCmdBindVertexBuffers(commands_, 0, 1, &buffer.buffer, &no_offset);
}

void ProgramList::BindIndices(const ProgramBuffer& buffer) {
  vkCmdBindIndexBuffer(commands_, buffer.buffer, 0, VK_INDEX_TYPE_UINT32);
}

void ProgramList::BeginRendering() {
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea = {{0, 0}, {64, 64}};
  info.layerCount = 1;
  vkCmdBeginRendering(commands_, &info);
  if (cairn_ != nullptr) Check(cairnEnterRenderPass(cairn_), "cairnEnterRenderPass");
}

void ProgramList::EndRendering() {
  vkCmdEndRendering(commands_);
  if (cairn_ != nullptr) Check(cairnLeaveRenderPass(cairn_), "cairnLeaveRenderPass");
}

void ProgramList::Copy(const char* name, const ProgramBuffer& buffer) {
  BeginWork(CAIRN_MARKER_FILL_BUFFER, name);
  vkCmdFillBuffer(commands_, buffer.buffer, 0, VK_WHOLE_SIZE, 1);
  EndWork();
  EndLabel();
}

void ProgramList::Barrier() {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void ProgramList::BarrierOfDraws() {
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                       VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0, nullptr, 0, nullptr, 0,
                       nullptr);
}

void ProgramList::Script(const std::string& directive) {
  const std::string text = "icd: " + directive;
  const VkDebugUtilsLabelEXT label = Label(text.c_str());
  device_->direct_insert_(commands_, &label);
}

void ProgramList::ScriptLabel(const std::string& directive) {
  const std::string text = "icd: " + directive;
  const VkDebugUtilsLabelEXT label = Label(text.c_str());
  device_->insert_label_(commands_, &label);
}

void ProgramList::Execute(const std::vector<ProgramList>& secondaries) {
  std::vector<VkCommandBuffer> handles;
  for (const ProgramList& list : secondaries) handles.push_back(list.commands());
  vkCmdExecuteCommands(commands_, static_cast<uint32_t>(handles.size()), handles.data());
}

void ProgramList::End() {
  if (cairn_ != nullptr) Check(cairnEndCommandList(cairn_), "cairnEndCommandList");
  Check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
}

ProgramDevice::ProgramDevice(bool explicit_cairn) : explicit_cairn_(explicit_cairn) {
  CreateInstance();
  CreateDevice();
  LoadDirectFunctions();
  if (explicit_cairn_) CreateContext();
  const char* const names[] = {"Graphics", "Compute", "Copies"};
  for (size_t i = 0; i < kQueueCount; ++i) {
    Name(VK_OBJECT_TYPE_QUEUE, reinterpret_cast<uint64_t>(queues_[i].queue), names[i]);
    if (!explicit_cairn_) continue;
    Check(cairnRegisterQueue(cairn_, queues_[i].queue, queues_[i].type, names[i]),
          "cairnRegisterQueue");
  }
}

void ProgramDevice::CreateInstance() {
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "icd_program";
  application.pEngineName = "none";
  application.apiVersion = VK_API_VERSION_1_3;
  const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = extensions;
  Check(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
  uint32_t count = 1;
  Check(vkEnumeratePhysicalDevices(instance_, &count, &physical_device_),
        "vkEnumeratePhysicalDevices");
}

void ProgramDevice::CreateDevice() {
  const float priority = 1;
  VkDeviceQueueCreateInfo queues[kQueueCount] = {};
  for (uint32_t i = 0; i < kQueueCount; ++i) {
    queues[i].sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queues[i].queueFamilyIndex = i;
    queues[i].queueCount = 1;
    queues[i].pQueuePriorities = &priority;
  }
  if (explicit_cairn_) {
    for (const char* wanted :
         {VK_AMD_BUFFER_MARKER_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME}) {
      if (HasExtension(physical_device_, wanted)) extensions_.push_back(wanted);
    }
  }
  VkPhysicalDeviceVulkan12Features features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  features.timelineSemaphore = VK_TRUE;
  features.bufferDeviceAddress = VK_TRUE;
  VkPhysicalDeviceVulkan13Features features_13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features_13.dynamicRendering = VK_TRUE;
  features.pNext = &features_13;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features;
  info.queueCreateInfoCount = kQueueCount;
  info.pQueueCreateInfos = queues;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions_.size());
  info.ppEnabledExtensionNames = extensions_.data();
  Check(vkCreateDevice(physical_device_, &info, nullptr, &device_), "vkCreateDevice");
  constexpr CairnQueueType kTypes[] = {CAIRN_QUEUE_DIRECT, CAIRN_QUEUE_COMPUTE, CAIRN_QUEUE_COPY};
  for (uint32_t i = 0; i < kQueueCount; ++i) {
    queues_[i].family = i;
    queues_[i].type = kTypes[i];
    vkGetDeviceQueue(device_, i, 0, &queues_[i].queue);
    VkCommandPoolCreateInfo pool = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = i;
    Check(vkCreateCommandPool(device_, &pool, nullptr, &queues_[i].pool), "vkCreateCommandPool");
  }
  LoadLabelFunctions();
  CreatePipeline();
}

void ProgramDevice::LoadLabelFunctions() {
#define CAIRN_LOAD(member, name) \
  member = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(instance_, #name))
  CAIRN_LOAD(begin_label_, vkCmdBeginDebugUtilsLabelEXT);
  CAIRN_LOAD(end_label_, vkCmdEndDebugUtilsLabelEXT);
  CAIRN_LOAD(insert_label_, vkCmdInsertDebugUtilsLabelEXT);
  CAIRN_LOAD(set_name_, vkSetDebugUtilsObjectNameEXT);
#undef CAIRN_LOAD
}

void ProgramDevice::CreatePipeline() {
  VkShaderModuleCreateInfo module_info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = sizeof(kShader);
  module_info.pCode = kShader;
  VkComputePipelineCreateInfo pipeline = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  pipeline.stage.pName = "main";
  Check(vkCreateShaderModule(device_, &module_info, nullptr, &pipeline.stage.module),
        "vkCreateShaderModule");
  Check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &pipeline, nullptr, &pipeline_),
        "vkCreateComputePipelines");
  Name(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<uint64_t>(pipeline_), "Nothing");
}

// The driver's functions take the application's handles: neither the loader nor Cairn's layer replaces
// them.
void ProgramDevice::LoadDirectFunctions() {
  const auto find = Library::FindLoaded(CAIRN_ICD_LIBRARY)
                        .Find<PFN_vkGetInstanceProcAddr>("vk_icdGetInstanceProcAddr");
  if (find == nullptr) Fail("runs on another driver than " CAIRN_ICD_LIBRARY);
  direct_insert_ = reinterpret_cast<PFN_vkCmdInsertDebugUtilsLabelEXT>(
      find(instance_, "vkCmdInsertDebugUtilsLabelEXT"));
  direct_queue_insert_ = reinterpret_cast<PFN_vkQueueInsertDebugUtilsLabelEXT>(
      find(instance_, "vkQueueInsertDebugUtilsLabelEXT"));
}

void ProgramDevice::CreateContext() {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  const char* mode = std::getenv("CAIRN_BREADCRUMBS");
  desc.mode = mode != nullptr && std::strcmp(mode, "top") == 0 ? CAIRN_MODE_TOP : CAIRN_MODE_FULL;
  CairnVulkanDesc vulkan = {};
  vulkan.struct_size = sizeof(vulkan);
  vulkan.instance = instance_;
  vulkan.physical_device = physical_device_;
  vulkan.device = device_;
  vulkan.queue = queues_[0].queue;
  vulkan.queue_family = 0;
  vulkan.get_instance_proc_addr = GetInstanceProcAddr;
  vulkan.enabled_extension_count = static_cast<uint32_t>(extensions_.size());
  vulkan.enabled_extensions = extensions_.data();
  Check(cairnCreateContextVulkan(&desc, &vulkan, &cairn_), "cairnCreateContextVulkan");
  Check(cairnBeginFrame(cairn_), "cairnBeginFrame");
}

void ProgramDevice::Name(VkObjectType type, uint64_t handle, const char* name) {
  VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = name;
  Check(set_name_(device_, &info), "vkSetDebugUtilsObjectNameEXT");
}

ProgramBuffer ProgramDevice::CreateBuffer(VkDeviceSize size_bytes, const char* name) {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size_bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  ProgramBuffer buffer;
  Check(vkCreateBuffer(device_, &info, nullptr, &buffer.buffer), "vkCreateBuffer");
  Name(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<uint64_t>(buffer.buffer), name);
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device_, buffer.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.pNext = &flags;
  allocation.allocationSize = needs.size;
  Check(vkAllocateMemory(device_, &allocation, nullptr, &buffer.memory), "vkAllocateMemory");
  Check(vkBindBufferMemory(device_, buffer.buffer, buffer.memory, 0), "vkBindBufferMemory");
  VkBufferDeviceAddressInfo address = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = buffer.buffer;
  buffer.address = vkGetBufferDeviceAddress(device_, &address);
  return buffer;
}

void ProgramDevice::Destroy(const ProgramBuffer& buffer) {
  vkDestroyBuffer(device_, buffer.buffer, nullptr);
  vkFreeMemory(device_, buffer.memory, nullptr);
}

void ProgramDevice::FreeMemoryOf(const ProgramBuffer& buffer) {
  vkFreeMemory(device_, buffer.memory, nullptr);
}

VkSemaphore ProgramDevice::CreateTimeline(const char* name) {
  VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  Check(vkCreateSemaphore(device_, &info, nullptr, &semaphore), "vkCreateSemaphore");
  Name(VK_OBJECT_TYPE_SEMAPHORE, reinterpret_cast<uint64_t>(semaphore), name);
  return semaphore;
}

VkFence ProgramDevice::CreateFence() {
  const VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence = VK_NULL_HANDLE;
  Check(vkCreateFence(device_, &info, nullptr, &fence), "vkCreateFence");
  return fence;
}

ProgramList ProgramDevice::Begin(const ProgramQueue& queue, const char* name,
                                 VkCommandBufferUsageFlags flags, VkCommandBufferLevel level) {
  VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = queue.pool;
  allocate.level = level;
  allocate.commandBufferCount = 1;
  ProgramList list;
  list.device_ = this;
  Check(vkAllocateCommandBuffers(device_, &allocate, &list.commands_), "vkAllocateCommandBuffers");
  Name(VK_OBJECT_TYPE_COMMAND_BUFFER, reinterpret_cast<uint64_t>(list.commands_), name);
  VkCommandBufferInheritanceInfo inheritance = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = flags;
  info.pInheritanceInfo = &inheritance;
  Check(vkBeginCommandBuffer(list.commands_, &info), "vkBeginCommandBuffer");
  if (explicit_cairn_) {
    CairnCommandListDesc desc = {};
    desc.struct_size = sizeof(desc);
    const bool once = (flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
    desc.flags = once ? 0u : uint32_t{CAIRN_LIST_REUSABLE};
    desc.native = list.commands_;
    desc.queue = queue.queue;
    desc.queue_type = queue.type;
    desc.name = name;
    Check(cairnBeginCommandList(cairn_, &desc, &list.cairn_), "cairnBeginCommandList");
  }
  if (queue.type != CAIRN_QUEUE_COPY) {
    vkCmdBindPipeline(list.commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  }
  return list;
}

bool ProgramDevice::Lost(VkResult result, const char* call) {
  if (result == VK_ERROR_DEVICE_LOST) {
    if (explicit_cairn_) cairnReportDeviceLost(cairn_, result, call);
    return true;
  }
  if (result != VK_TIMEOUT) Check(result, call);
  return false;
}

bool ProgramDevice::Submit(const ProgramQueue& queue, const std::vector<ProgramList>& lists,
                           const SubmitSync& sync, VkFence fence) {
  std::vector<VkCommandBuffer> handles;
  std::vector<CairnCommandList*> registered;
  for (const ProgramList& list : lists) {
    handles.push_back(list.commands());
    if (list.cairn_ != nullptr) registered.push_back(list.cairn_);
  }
  VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  values.waitSemaphoreValueCount = values.signalSemaphoreValueCount = 1;
  values.pWaitSemaphoreValues = &sync.wait_value;
  values.pSignalSemaphoreValues = &sync.signal_value;
  const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.pNext = &values;
  submit.waitSemaphoreCount = sync.wait == VK_NULL_HANDLE ? 0 : 1;
  submit.pWaitSemaphores = &sync.wait;
  submit.pWaitDstStageMask = &stages;
  submit.commandBufferCount = static_cast<uint32_t>(handles.size());
  submit.pCommandBuffers = handles.data();
  submit.signalSemaphoreCount = sync.signal == VK_NULL_HANDLE ? 0 : 1;
  submit.pSignalSemaphores = &sync.signal;
  if (explicit_cairn_) {
    Check(cairnNotifySubmit(cairn_, queue.queue, registered.data(),
                            static_cast<uint32_t>(registered.size())),
          "cairnNotifySubmit");
  }
  return !Lost(vkQueueSubmit(queue.queue, 1, &submit, fence), "vkQueueSubmit");
}

bool ProgramDevice::Wait(VkFence fence, uint64_t timeout_ns) {
  return !Lost(vkWaitForFences(device_, 1, &fence, VK_TRUE, timeout_ns), "vkWaitForFences");
}

bool ProgramDevice::SubmitAndWait(const ProgramQueue& queue,
                                  const std::vector<ProgramList>& lists) {
  const VkFence fence = CreateFence();
  return Submit(queue, lists, {}, fence) && Wait(fence);
}

void ProgramDevice::Script(const ProgramQueue& queue, const std::string& directive) {
  const std::string text = "icd: " + directive;
  const VkDebugUtilsLabelEXT label = Label(text.c_str());
  direct_queue_insert_(queue.queue, &label);
}

}  // namespace cairn::icd
