// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan driver that is lavapipe, and loses its device as drivers of GPUs do: vkCmdDraw with kFaultingCount vertices and
// vkCmdDispatch with as many groups in x stand for commands that fault. What is before such a command is executed, the
// command itself and what is behind it never are, and once the device has come there, what waits for it or hands work to it
// returns VK_ERROR_DEVICE_LOST. Neither time nor chance has a part in that.
//
//   VK_DRIVER_FILES=build/tests/losing_driver/losing_icd.json PROGRAM
//
// For programs with one device. It never ends once it is lost: the program has to.
#include <dlfcn.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

namespace {

constexpr uint32_t kFaultingCount = 4711;
constexpr uint64_t kSliceNs = 1'000'000;

// lavapipe's own.
struct Next {
  PFN_vkGetInstanceProcAddr get_instance = nullptr;
  PFN_vkGetDeviceProcAddr get_device = nullptr;
  PFN_vkCreateDevice CreateDevice = nullptr;
  PFN_vkCreateEvent CreateEvent = nullptr;
  PFN_vkGetEventStatus GetEventStatus = nullptr;
  PFN_vkBeginCommandBuffer BeginCommandBuffer = nullptr;
  PFN_vkCmdSetEvent CmdSetEvent = nullptr;
  PFN_vkCmdWaitEvents CmdWaitEvents = nullptr;
  PFN_vkCmdDraw CmdDraw = nullptr;
  PFN_vkCmdDispatch CmdDispatch = nullptr;
  PFN_vkCmdExecuteCommands CmdExecuteCommands = nullptr;
  PFN_vkQueueSubmit QueueSubmit = nullptr;
  PFN_vkQueueSubmit2 QueueSubmit2 = nullptr;
  PFN_vkQueueWaitIdle QueueWaitIdle = nullptr;
  PFN_vkDeviceWaitIdle DeviceWaitIdle = nullptr;
  PFN_vkWaitForFences WaitForFences = nullptr;
  PFN_vkGetFenceStatus GetFenceStatus = nullptr;
  PFN_vkWaitSemaphores WaitSemaphores = nullptr;
  PFN_vkGetSemaphoreCounterValue GetSemaphoreCounterValue = nullptr;
  PFN_vkGetQueryPoolResults GetQueryPoolResults = nullptr;
  PFN_vkResetCommandBuffer ResetCommandBuffer = nullptr;
  PFN_vkFreeCommandBuffers FreeCommandBuffers = nullptr;
  PFN_vkResetCommandPool ResetCommandPool = nullptr;
  PFN_vkDestroyCommandPool DestroyCommandPool = nullptr;
  PFN_vkDestroyDevice DestroyDevice = nullptr;
};
Next next;

VkDevice device = VK_NULL_HANDLE;
VkEvent reached = VK_NULL_HANDLE;  // set where the faulting command stands
VkEvent never = VK_NULL_HANDLE;    // what the device waits for there
std::mutex faulting_mutex;
std::set<VkCommandBuffer> faulting;  // those with such a command
std::atomic<bool> fault_submitted{false};

bool Lost() {
  return fault_submitted.load() && next.GetEventStatus(device, reached) == VK_EVENT_SET;
}

bool IsFaulting(VkCommandBuffer commands) {
  const std::lock_guard lock(faulting_mutex);
  return faulting.contains(commands);
}

void StandStill(VkCommandBuffer commands) {
  next.CmdSetEvent(commands, reached, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  next.CmdWaitEvents(commands, 1, &never, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, nullptr, 0, nullptr, 0, nullptr);
  const std::lock_guard lock(faulting_mutex);
  faulting.insert(commands);
}

// `wait(timeout)` until it says something else than VK_TIMEOUT, the device is lost, or the time is up.
template <typename Wait>
VkResult WaitInSlices(uint64_t timeout_ns, const Wait& wait) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const auto passed = std::chrono::steady_clock::now() - start;
    const auto passed_ns =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
    const uint64_t left_ns = timeout_ns > passed_ns ? timeout_ns - passed_ns : 0;
    const VkResult result = wait(std::min(left_ns, kSliceNs));
    if (result != VK_TIMEOUT) return result;
    if (Lost()) return VK_ERROR_DEVICE_LOST;
    if (left_ns == 0) return VK_TIMEOUT;
  }
}

// Only a lost device would keep lavapipe from becoming idle.
template <typename Wait>
VkResult WaitIdle(const Wait& wait) {
  if (!fault_submitted.load()) return wait();
  while (!Lost()) std::this_thread::yield();
  return VK_ERROR_DEVICE_LOST;
}

// ---- What stands before lavapipe's functions ------------------------------------------------------

VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer commands,
                                       const VkCommandBufferBeginInfo* info) {
  if (Lost()) return VK_SUCCESS;
  {
    const std::lock_guard lock(faulting_mutex);
    faulting.erase(commands);
  }
  return next.BeginCommandBuffer(commands, info);
}

void VKAPI_CALL CmdDraw(VkCommandBuffer commands, uint32_t vertices, uint32_t instances,
                        uint32_t first_vertex, uint32_t first_instance) {
  if (vertices == kFaultingCount) StandStill(commands);
  next.CmdDraw(commands, vertices, instances, first_vertex, first_instance);
}

void VKAPI_CALL CmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  if (x == kFaultingCount) StandStill(commands);
  next.CmdDispatch(commands, x, y, z);
}

void VKAPI_CALL CmdExecuteCommands(VkCommandBuffer commands, uint32_t count,
                                   const VkCommandBuffer* executed) {
  if (std::any_of(executed, executed + count, IsFaulting)) {
    const std::lock_guard lock(faulting_mutex);
    faulting.insert(commands);
  }
  next.CmdExecuteCommands(commands, count, executed);
}

VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* batches,
                                VkFence fence) {
  if (Lost()) return VK_ERROR_DEVICE_LOST;
  for (uint32_t i = 0; i < count; ++i) {
    const VkCommandBuffer* const first = batches[i].pCommandBuffers;
    if (std::any_of(first, first + batches[i].commandBufferCount, IsFaulting)) {
      fault_submitted.store(true);
    }
  }
  return next.QueueSubmit(queue, count, batches, fence);
}

VkResult VKAPI_CALL QueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2* batches,
                                 VkFence fence) {
  if (Lost()) return VK_ERROR_DEVICE_LOST;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < batches[i].commandBufferInfoCount; ++k) {
      if (IsFaulting(batches[i].pCommandBufferInfos[k].commandBuffer)) fault_submitted.store(true);
    }
  }
  return next.QueueSubmit2(queue, count, batches, fence);
}

VkResult VKAPI_CALL QueueWaitIdle(VkQueue queue) {
  return WaitIdle([&] { return next.QueueWaitIdle(queue); });
}

VkResult VKAPI_CALL DeviceWaitIdle(VkDevice of) {
  return WaitIdle([&] { return next.DeviceWaitIdle(of); });
}

VkResult VKAPI_CALL WaitForFences(VkDevice of, uint32_t count, const VkFence* fences, VkBool32 all,
                                  uint64_t timeout_ns) {
  return WaitInSlices(timeout_ns, [&](uint64_t slice_ns) {
    return next.WaitForFences(of, count, fences, all, slice_ns);
  });
}

VkResult VKAPI_CALL WaitSemaphores(VkDevice of, const VkSemaphoreWaitInfo* info,
                                   uint64_t timeout_ns) {
  return WaitInSlices(timeout_ns,
                      [&](uint64_t slice_ns) { return next.WaitSemaphores(of, info, slice_ns); });
}

VkResult VKAPI_CALL GetFenceStatus(VkDevice of, VkFence fence) {
  const VkResult result = next.GetFenceStatus(of, fence);
  return result == VK_NOT_READY && Lost() ? VK_ERROR_DEVICE_LOST : result;
}

VkResult VKAPI_CALL GetSemaphoreCounterValue(VkDevice of, VkSemaphore semaphore, uint64_t* value) {
  const VkResult result = next.GetSemaphoreCounterValue(of, semaphore, value);
  return Lost() ? VK_ERROR_DEVICE_LOST : result;
}

VkResult VKAPI_CALL GetQueryPoolResults(VkDevice of, VkQueryPool pool, uint32_t first,
                                        uint32_t count, size_t bytes, void* data,
                                        VkDeviceSize stride, VkQueryResultFlags flags) {
  if (Lost()) return VK_ERROR_DEVICE_LOST;
  return next.GetQueryPoolResults(of, pool, first, count, bytes, data, stride, flags);
}

// A program may free what a lost device used, and lavapipe's thread still stands there: nothing that it could read goes.
VkResult VKAPI_CALL ResetCommandBuffer(VkCommandBuffer commands, VkCommandBufferResetFlags flags) {
  return Lost() ? VK_SUCCESS : next.ResetCommandBuffer(commands, flags);
}

void VKAPI_CALL FreeCommandBuffers(VkDevice of, VkCommandPool pool, uint32_t count,
                                   const VkCommandBuffer* commands) {
  if (!Lost()) next.FreeCommandBuffers(of, pool, count, commands);
}

VkResult VKAPI_CALL ResetCommandPool(VkDevice of, VkCommandPool pool,
                                     VkCommandPoolResetFlags flags) {
  return Lost() ? VK_SUCCESS : next.ResetCommandPool(of, pool, flags);
}

void VKAPI_CALL DestroyCommandPool(VkDevice of, VkCommandPool pool,
                                   const VkAllocationCallbacks* allocator) {
  if (!Lost()) next.DestroyCommandPool(of, pool, allocator);
}

void VKAPI_CALL DestroyDevice(VkDevice of, const VkAllocationCallbacks* allocator) {
  if (of == device && fault_submitted.load()) return;  // it stands still for ever
  if (of == device) device = VK_NULL_HANDLE;
  next.DestroyDevice(of, allocator);
}

VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                 const VkAllocationCallbacks* allocator, VkDevice* made);
PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice of, const char* name);
PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* name);

struct Own {
  std::string_view name;
  PFN_vkVoidFunction function;
};

template <typename Function>
Own OwnFunction(std::string_view name, Function function) {
  return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

PFN_vkVoidFunction FindOwn(std::string_view name) {
  static const std::array kAll = {
      OwnFunction("vkGetInstanceProcAddr", GetInstanceProcAddr),
      OwnFunction("vkGetDeviceProcAddr", GetDeviceProcAddr),
      OwnFunction("vkCreateDevice", CreateDevice),
      OwnFunction("vkDestroyDevice", DestroyDevice),
      OwnFunction("vkResetCommandBuffer", ResetCommandBuffer),
      OwnFunction("vkFreeCommandBuffers", FreeCommandBuffers),
      OwnFunction("vkResetCommandPool", ResetCommandPool),
      OwnFunction("vkDestroyCommandPool", DestroyCommandPool),
      OwnFunction("vkBeginCommandBuffer", BeginCommandBuffer),
      OwnFunction("vkCmdDraw", CmdDraw),
      OwnFunction("vkCmdDispatch", CmdDispatch),
      OwnFunction("vkCmdExecuteCommands", CmdExecuteCommands),
      OwnFunction("vkQueueSubmit", QueueSubmit),
      OwnFunction("vkQueueSubmit2", QueueSubmit2),
      OwnFunction("vkQueueSubmit2KHR", QueueSubmit2),
      OwnFunction("vkQueueWaitIdle", QueueWaitIdle),
      OwnFunction("vkDeviceWaitIdle", DeviceWaitIdle),
      OwnFunction("vkWaitForFences", WaitForFences),
      OwnFunction("vkGetFenceStatus", GetFenceStatus),
      OwnFunction("vkWaitSemaphores", WaitSemaphores),
      OwnFunction("vkWaitSemaphoresKHR", WaitSemaphores),
      OwnFunction("vkGetSemaphoreCounterValue", GetSemaphoreCounterValue),
      OwnFunction("vkGetSemaphoreCounterValueKHR", GetSemaphoreCounterValue),
      OwnFunction("vkGetQueryPoolResults", GetQueryPoolResults),
  };
  const auto found =
      std::find_if(kAll.begin(), kAll.end(), [name](const Own& own) { return own.name == name; });
  return found == kAll.end() ? nullptr : found->function;
}

// Under its older name where the program asked for an older Vulkan.
template <typename Function>
void Fetch(Function* function, const char* name, const char* older = nullptr) {
  *function = reinterpret_cast<Function>(next.get_device(device, name));
  if (*function != nullptr || older == nullptr) return;
  *function = reinterpret_cast<Function>(next.get_device(device, older));
}

void FetchDeviceFunctions() {
  Fetch(&next.CreateEvent, "vkCreateEvent");
  Fetch(&next.GetEventStatus, "vkGetEventStatus");
  Fetch(&next.BeginCommandBuffer, "vkBeginCommandBuffer");
  Fetch(&next.CmdSetEvent, "vkCmdSetEvent");
  Fetch(&next.CmdWaitEvents, "vkCmdWaitEvents");
  Fetch(&next.CmdDraw, "vkCmdDraw");
  Fetch(&next.CmdDispatch, "vkCmdDispatch");
  Fetch(&next.CmdExecuteCommands, "vkCmdExecuteCommands");
  Fetch(&next.QueueSubmit, "vkQueueSubmit");
  Fetch(&next.QueueSubmit2, "vkQueueSubmit2", "vkQueueSubmit2KHR");
  Fetch(&next.QueueWaitIdle, "vkQueueWaitIdle");
  Fetch(&next.DeviceWaitIdle, "vkDeviceWaitIdle");
  Fetch(&next.WaitForFences, "vkWaitForFences");
  Fetch(&next.GetFenceStatus, "vkGetFenceStatus");
  Fetch(&next.WaitSemaphores, "vkWaitSemaphores", "vkWaitSemaphoresKHR");
  Fetch(&next.GetSemaphoreCounterValue, "vkGetSemaphoreCounterValue",
        "vkGetSemaphoreCounterValueKHR");
  Fetch(&next.GetQueryPoolResults, "vkGetQueryPoolResults");
  Fetch(&next.ResetCommandBuffer, "vkResetCommandBuffer");
  Fetch(&next.FreeCommandBuffers, "vkFreeCommandBuffers");
  Fetch(&next.ResetCommandPool, "vkResetCommandPool");
  Fetch(&next.DestroyCommandPool, "vkDestroyCommandPool");
  Fetch(&next.DestroyDevice, "vkDestroyDevice");
}

VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                 const VkAllocationCallbacks* allocator, VkDevice* made) {
  const VkResult result = next.CreateDevice(physical, info, allocator, made);
  if (result != VK_SUCCESS) return result;
  device = *made;
  FetchDeviceFunctions();
  const VkEventCreateInfo event = {VK_STRUCTURE_TYPE_EVENT_CREATE_INFO, nullptr, 0};
  if (next.CreateEvent(device, &event, nullptr, &reached) != VK_SUCCESS ||
      next.CreateEvent(device, &event, nullptr, &never) != VK_SUCCESS) {
    next.DestroyDevice(device, allocator);
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  return VK_SUCCESS;
}

// Functions that lavapipe does not have are missing.
PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice of, const char* name) {
  const PFN_vkVoidFunction real = next.get_device(of, name);
  const PFN_vkVoidFunction own = real == nullptr ? nullptr : FindOwn(name);
  return own != nullptr ? own : real;
}

PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction real = next.get_instance(instance, name);
  if (real == nullptr) return nullptr;
  if (std::strcmp(name, "vkCreateDevice") == 0) {
    next.CreateDevice = reinterpret_cast<PFN_vkCreateDevice>(real);
  }
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
    next.get_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
  }
  const PFN_vkVoidFunction own = FindOwn(name);
  return own != nullptr ? own : real;
}

// Returns a function of lavapipe's library; null if it is not there.
template <typename Function>
Function OfLavapipe(const char* name) {
  static void* const library = dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

#define CAIRN_EXPORT extern "C" __attribute__((visibility("default")))

CAIRN_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  const auto negotiate =
      OfLavapipe<VkResult(VKAPI_PTR*)(uint32_t*)>("vk_icdNegotiateLoaderICDInterfaceVersion");
  next.get_instance = OfLavapipe<PFN_vkGetInstanceProcAddr>("vk_icdGetInstanceProcAddr");
  if (negotiate == nullptr || next.get_instance == nullptr) return VK_ERROR_INCOMPATIBLE_DRIVER;
  return negotiate(version);
}

CAIRN_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                                const char* name) {
  return GetInstanceProcAddr(instance, name);
}

CAIRN_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char* name) {
  const auto get = OfLavapipe<PFN_vkGetInstanceProcAddr>("vk_icdGetPhysicalDeviceProcAddr");
  const PFN_vkVoidFunction real = get == nullptr ? nullptr : get(instance, name);
  return real;
}
