// SPDX-License-Identifier: Apache-2.0
//
// By the calls of libcairn.
#include <fmt/format.h>

#include <string>

#include "vulkan_device.h"
#include "vulkan_telling.h"

namespace sample {
namespace {

void Check(CairnResult result, const char* call) {
  if (result != CAIRN_OK) {
    Fail(fmt::format("{} returned {}: {}", call, cairnResultString(result),
                     cairnGetLastErrorMessage()));
  }
}

CairnVoidFunction GetInstanceProcAddr(void* instance, const char* name) {
  return vkGetInstanceProcAddr(static_cast<VkInstance>(instance), name);
}

}  // namespace

void AddOptions(CommandLine& line, Options* options) {
  line.Mode(&options->mode);
}

std::vector<const char*> Telling::DeviceExtensions() {
  return {VK_AMD_BUFFER_MARKER_EXTENSION_NAME, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
          VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME};
}

bool Telling::WantsDebugUtils() {
  return false;
}

std::unique_ptr<Telling> Telling::Start(const TellingDevice& device, const Options& options) {
  CairnContextDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.mode = options.mode;
  desc.raw_marker_count = 1024;
  CairnVulkanDesc vulkan = {};
  vulkan.struct_size = sizeof(vulkan);
  vulkan.instance = device.instance;
  vulkan.physical_device = device.physical_device;
  vulkan.device = device.device;
  vulkan.queue = device.queue;
  vulkan.queue_family = device.queue_family;
  vulkan.get_instance_proc_addr = GetInstanceProcAddr;
  vulkan.enabled_extension_count = static_cast<uint32_t>(device.device_extensions.size());
  vulkan.enabled_extensions = device.device_extensions.data();
  std::unique_ptr<Telling> telling(new Telling);
  Check(cairnCreateContextVulkan(&desc, &vulkan, &telling->context_), "cairnCreateContextVulkan");
  return telling;
}

Telling::~Telling() {
  if (context_ != nullptr) cairnDestroyContext(context_);
}

void Telling::BeginFrame() const {
  Check(cairnBeginFrame(context_), "cairnBeginFrame");
}

void Telling::DeviceLost(VkResult code, const char* where) const {
  Check(cairnReportDeviceLost(context_, code, where), "cairnReportDeviceLost");
}

Telling::Pipeline Telling::Name(VkPipeline pipeline, const char* name,
                                const ShaderNames& shaders) const {
  CairnPipelineDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.native = pipeline;
  desc.name = name;
  desc.vertex_shader = shaders.vertex;
  desc.pixel_shader = shaders.pixel;
  desc.compute_shader = shaders.compute;
  Pipeline registered = 0;
  Check(cairnRegisterPipeline(context_, &desc, &registered), "cairnRegisterPipeline");
  return registered;
}

void Telling::Name(VkQueue queue, CairnQueueType type, const char* name) const {
  Check(cairnRegisterQueue(context_, queue, type, name), "cairnRegisterQueue");
}

// Buffers have no place in libcairn.
void Telling::Name(VkBuffer, const char*) const {}

Telling::Recording Telling::BeginList(VkCommandBuffer commands, VkQueue queue, CairnQueueType type,
                                      const char* name) const {
  CairnCommandListDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.native = commands;
  desc.queue = queue;
  desc.queue_type = type;
  desc.name = name;
  Recording recording = nullptr;
  Check(cairnBeginCommandList(context_, &desc, &recording), "cairnBeginCommandList");
  return recording;
}

void Telling::EndList(Recording recording) const {
  Check(cairnEndCommandList(recording), "cairnEndCommandList");
}

void Telling::Submit(VkQueue queue, const std::vector<Recording>& recordings) const {
  Check(cairnNotifySubmit(context_, queue, recordings.data(),
                          static_cast<uint32_t>(recordings.size())),
        "cairnNotifySubmit");
}

bool Telling::Begin(Recording recording, VkCommandBuffer, CairnMarkerType type,
                    const char* name) const {
  Check(cairnBeginMarker(recording, type, name, CAIRN_NAME_STATIC), "cairnBeginMarker");
  return true;
}

void Telling::End(Recording recording, VkCommandBuffer) const {
  Check(cairnEndMarker(recording), "cairnEndMarker");
}

void Telling::UsePipeline(Recording recording, Pipeline pipeline) const {
  Check(cairnSetPipeline(recording, pipeline), "cairnSetPipeline");
}

void Telling::EnterRenderPass(Recording recording) const {
  Check(cairnEnterRenderPass(recording), "cairnEnterRenderPass");
}

void Telling::LeaveRenderPass(Recording recording) const {
  Check(cairnLeaveRenderPass(recording), "cairnLeaveRenderPass");
}

void Telling::WriteMarker(VkCommandBuffer commands, uint32_t slot, uint64_t value,
                          CairnPipe pipe) const {
  Check(cairnWriteMarker(context_, commands, pipe, slot, value), "cairnWriteMarker");
}

bool Telling::MarkerArrived(uint32_t slot, uint64_t value) const {
  const volatile uint64_t* slots = nullptr;
  uint32_t count = 0;
  Check(cairnGetMarkers(context_, &slots, &count), "cairnGetMarkers");
  cairnRefresh(context_);
  return slots[slot] == value;
}

}  // namespace sample
