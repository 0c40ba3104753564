// SPDX-License-Identifier: Apache-2.0
//
// Without libcairn: labels and object names, as programs have them anyway.
#include <chrono>
#include <thread>

#include "vulkan_device.h"
#include "vulkan_telling.h"

namespace sample {
namespace {

template <typename Function>
void Load(VkInstance instance, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(vkGetInstanceProcAddr(instance, name));
}

// Handles are pointers or, on 32 bits, numbers.
void SetName(PFN_vkSetDebugUtilsObjectNameEXT set_name, VkDevice device, VkObjectType type,
             uint64_t handle, const char* name) {
  if (set_name == nullptr) return;
  VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = name;
  Check(set_name(device, &info), "vkSetDebugUtilsObjectNameEXT");
}

template <typename Handle>
uint64_t Number(Handle handle) {
  return (uint64_t)handle;
}

}  // namespace

void AddOptions(CommandLine&, Options*) {}

std::vector<const char*> Telling::DeviceExtensions() {
  return {};
}

bool Telling::WantsDebugUtils() {
  return true;
}

std::unique_ptr<Telling> Telling::Start(const TellingDevice& device, const Options&) {
  std::unique_ptr<Telling> telling(new Telling);
  telling->device_ = device.device;
  if (device.has_debug_utils) {
    Load(device.instance, "vkSetDebugUtilsObjectNameEXT", &telling->set_name_);
    Load(device.instance, "vkCmdBeginDebugUtilsLabelEXT", &telling->begin_label_);
    Load(device.instance, "vkCmdEndDebugUtilsLabelEXT", &telling->end_label_);
  }
  return telling;
}

Telling::~Telling() = default;

// The layer learns of frames from presentation.
void Telling::BeginFrame() const {}

void Telling::DeviceLost(VkResult, const char*) const {}

Telling::Pipeline Telling::Name(VkPipeline pipeline, const char* name, const ShaderNames&) const {
  SetName(set_name_, device_, VK_OBJECT_TYPE_PIPELINE, Number(pipeline), name);
  return 0;
}

void Telling::Name(VkQueue queue, CairnQueueType, const char* name) const {
  SetName(set_name_, device_, VK_OBJECT_TYPE_QUEUE, Number(queue), name);
}

void Telling::Name(VkBuffer buffer, const char* name) const {
  SetName(set_name_, device_, VK_OBJECT_TYPE_BUFFER, Number(buffer), name);
}

Telling::Recording Telling::BeginList(VkCommandBuffer commands, VkQueue, CairnQueueType,
                                      const char* name) const {
  SetName(set_name_, device_, VK_OBJECT_TYPE_COMMAND_BUFFER, Number(commands), name);
  return nullptr;
}

void Telling::EndList(Recording) const {}

void Telling::Submit(VkQueue, const std::vector<Recording>&) const {}

bool Telling::Begin(Recording, VkCommandBuffer commands, CairnMarkerType, const char* name) const {
  if (name == nullptr || begin_label_ == nullptr) return false;
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  label.pLabelName = name;
  begin_label_(commands, &label);
  return true;
}

void Telling::End(Recording, VkCommandBuffer commands) const {
  end_label_(commands);
}

void Telling::UsePipeline(Recording, Pipeline) const {}

void Telling::EnterRenderPass(Recording) const {}

void Telling::LeaveRenderPass(Recording) const {}

void Telling::WriteMarker(VkCommandBuffer, uint32_t, uint64_t, CairnPipe) const {}

// Breadcrumbs are copied to the watcher every 500 us where the GPU cannot write its memory. Nobody in
// this program can see that happen, so that it waits for longer.
bool Telling::MarkerArrived(uint32_t, uint64_t) const {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return true;
}

}  // namespace sample
