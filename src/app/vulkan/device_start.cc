// SPDX-License-Identifier: Apache-2.0
//
// A device gets its Context before the application gets the device: nobody else uses its queues then, and
// the self-test can.
#include <algorithm>
#include <string>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/vulkan_backend.h"
#include "app/recorder/block_writer.h"
#include "app/settings/log.h"
#include "app/vulkan/command_buffer.h"
#include "app/vulkan/device_creation.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/driver_half.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/fill_memory.h"
#include "app/vulkan/keep_alive.h"
#include "app/vulkan/noted_calls.h"
#include "app/vulkan/serial_queues.h"
#include "app/vulkan/shader_experiment.h"
#include "app/vulkan/witnesses.h"

namespace cairn {
namespace {

constexpr uint32_t kRecordings = 4096;
constexpr uint32_t kFrameHistory = 4;
constexpr uint32_t kRawMarkers = 1024;  // for an application that shares the context

// ---- What the backend calls: the next layer, not the loader, which would lead back to this layer ---

// A command buffer that the layer makes has not been through the loader.
VKAPI_ATTR VkResult VKAPI_CALL AllocateOwnCommandBuffers(VkDevice device,
                                                         const VkCommandBufferAllocateInfo* info,
                                                         VkCommandBuffer* command_buffers) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.AllocateCommandBuffers(device, info, command_buffers);
  if (result != VK_SUCCESS || state.set_loader_data == nullptr) return result;
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    state.set_loader_data(device, command_buffers[i]);
  }
  return result;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL NextDeviceFunction(VkDevice device, const char* name) {
  if (std::string_view(name) == "vkAllocateCommandBuffers") {
    return reinterpret_cast<PFN_vkVoidFunction>(AllocateOwnCommandBuffers);
  }
  return DeviceOf(device)->next_get(device, name);
}

PFN_vkVoidFunction NextInstanceFunction(void* instance, const char* name) {
  if (std::string_view(name) == "vkGetDeviceProcAddr") {
    return reinterpret_cast<PFN_vkVoidFunction>(NextDeviceFunction);
  }
  return InstanceOf(static_cast<VkInstance>(instance))->Next(name);
}

// ---- The Context ---------------------------------------------------------------------------------

const QueueState* QueueForSelfTest(const DeviceState& state) {
  const QueueState* best = nullptr;
  for (const auto& queue : state.queues) {
    if (queue->is_protected || queue->type == CAIRN_QUEUE_OTHER) continue;
    if (best == nullptr || queue->type < best->type) best = queue.get();
  }
  return best;
}

uint32_t RawMarkerCount() {
  const RawMarkerScope* const wanted = RawMarkerScope::Current();
  return wanted == nullptr ? kRawMarkers
                           : std::max(kRawMarkers, wanted->count() + wanted->own_count());
}

CairnContextDesc ContextDesc(MarkerMode mode) {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = static_cast<CairnMode>(mode);
  desc.frame_history_length = kFrameHistory;
  desc.max_command_lists = kRecordings;
  desc.raw_marker_count = RawMarkerCount();
  desc.block_size_bytes = kDefaultBlockBytes;
  return desc;
}

void NameQueues(DeviceState& state) {
  for (const auto& queue : state.queues) {
    const std::string name =
        "family " + std::to_string(queue->family) + " queue " + std::to_string(queue->index);
    const Status status = state.context->RegisterQueue(queue->handle, queue->type, name.c_str());
    if (!status.ok()) Log(LogLevel::kWarning, status.message());
  }
}

Status StartContext(DeviceState& state) {
  const QueueState* const queue = QueueForSelfTest(state);
  if (queue == nullptr) {
    return Status(StatusCode::kUnsupported, "none of its queues can write words");
  }
  Result<BlockWriter*> block = BlockWriter::OfThisProcess(kDefaultBlockBytes);
  if (!block.ok()) return block.status();
  VulkanBackendParams params;
  params.instance = state.instance->handle;
  params.physical_device = state.physical_device;
  params.device = state.handle;
  params.queue = queue->handle;
  params.queue_family = queue->family;
  params.get_instance_proc_addr = NextInstanceFunction;
  params.enabled_extensions = state.enabled_extensions;
  params.reads_losses = true;
  params.left_out = state.left_out;
  if (state.instance->mode == MarkerMode::kTop || state.instance->mode == MarkerMode::kPass) {
    state.barriers = std::make_unique<DeviceBarriers>(*state.instance, state.physical_device);
    params.tell_method = [&state](WriteMethod method) {
      SourceFinding finding = state.barriers->Describe(method);
      if (!state.barriers->ServeFor(method)) state.barriers.reset();
      return finding;
    };
  }
  if (state.instance->mode == MarkerMode::kExact) params.is_serial = IsSerial;
  Result<Context*> context = Context::CreateDeferred(ContextDesc(state.instance->mode), *block,
                                                     CreateVulkanBackend(params));
  if (!context.ok()) return context.status();
  state.block = *block;
  state.context = *context;
  StartNotingCalls(state.block);
  if (!state.instance->application.empty()) {
    state.block->contexts()[state.context->index()].application =
        state.block->AddName(state.instance->application);
  }
  // A Context that failed stays in the block, with the reason.
  return state.context->EnsureStarted();
}

const LayerDevice* FindDeviceForLibrary(void* device) {
  const DeviceState* const state = DeviceOf(static_cast<VkDevice>(device));
  return state == nullptr || state->kind != DeviceKind::kBreadcrumbs ? nullptr : &state->identity;
}

const LayerList* FindListForLibrary(void* command_buffer) {
  const CommandBufferState* const state =
      CommandBufferOf(static_cast<VkCommandBuffer>(command_buffer));
  return state == nullptr ? nullptr : &state->identity;
}

void StartBreadcrumbs(DeviceState& state) {
  if (const Status status = StartContext(state); !status.ok()) {
    state.kind = DeviceKind::kOff;
    // A program that makes many devices gets one line.
    const std::string why = "no breadcrumbs for a Vulkan device: " + status.message();
    LogOnce(LogLevel::kWarning, why, why);
    return;
  }
  state.mode = state.instance->mode;
  state.has_checkpoints =
      WritesAllEnds(state.mode) && state.vk.CmdSetCheckpointNV != nullptr && state.owns_checkpoints;
  NameQueues(state);
  state.objects = MakeDeviceObjects(state);
  state.identity = {LayerToken(), state.handle, state.context};
  SetVulkanLayerHooks({FindDeviceForLibrary, FindListForLibrary});
  if (RawMarkerScope* const wanted = RawMarkerScope::Current()) {
    state.raw_marker_method = state.block->contexts()[state.context->index()].method;
    state.noted_raw_markers = wanted->count();
    wanted->NoteSlots(state.context->raw_markers(), state.raw_marker_method);
  }
}

}  // namespace

void StartDevice(DeviceState& state) {
  if (state.kind == DeviceKind::kDriven) {
    state.driver_half = MakeDriverHalf(state);
  } else {
    StartBreadcrumbs(state);
  }
  if (state.kind != DeviceKind::kOff) StartFillingMemory(state);
  if (state.kind != DeviceKind::kOff) StartExact(state);
  if (state.kind != DeviceKind::kOff) StartKeepAlive(state);
  StartShaderExperiment(state);
  if (state.kind != DeviceKind::kOff) StartSerialQueues(state);
}

void EndDevice(DeviceState& state) {
  ForgetCommandPools(state);
  EndKeepAlive(state);
  state.objects.reset();
  state.driver_half.reset();
  state.shader_experiment.reset();
  state.serial.reset();
  state.exact.reset();
  state.memory_filler.reset();
  if (state.context != nullptr) Context::Destroy(state.context);
  state.context = nullptr;
}

}  // namespace cairn
