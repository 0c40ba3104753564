// SPDX-License-Identifier: Apache-2.0
//
// Telling: what a sample says about its work, in one of two ways.
//   vulkan_telling_cairn.cc   by the calls of cairn/breadcrumbs.h, which the samples show
//   vulkan_telling_plain.cc   as any Vulkan program does, by labels and object names of
//                             VK_EXT_debug_utils; under `cairn run` the layer does the rest:
//                             sample-NAME-vulkan-plain
#ifndef CAIRN_SAMPLES_VULKAN_TELLING_H_
#define CAIRN_SAMPLES_VULKAN_TELLING_H_

#include <vulkan/vulkan.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cairn/breadcrumbs.h"
#include "cairn/markers.h"

#include "command_line.h"

namespace sample {

struct Options {
  CairnMode mode = CAIRN_MODE_FULL;
};
// --mode top|pass|full, where the sample decides; under the layer, `cairn run --breadcrumbs` does.
void AddOptions(CommandLine& line, Options* options);

// What a telling needs to know of the device.
struct TellingDevice {
  VkInstance instance;
  VkPhysicalDevice physical_device;
  VkDevice device;
  VkQueue queue;
  uint32_t queue_family;
  const std::vector<const char*>& device_extensions;  // that are enabled
  bool has_debug_utils;                               // VK_EXT_debug_utils is enabled
};

// Of one device. Names are literals. What fails ends the program (Fail in vulkan_device.h).
class Telling {
 public:
  using Pipeline = CairnPipeline;
  using Recording = CairnCommandList*;

  // Extensions that it can use, to be enabled where there are any.
  static std::vector<const char*> DeviceExtensions();
  static bool WantsDebugUtils();

  // Never null.
  static std::unique_ptr<Telling> Start(const TellingDevice& device, const Options& options);
  ~Telling();  // After the GPU has finished with everything, before the device.
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

  void BeginFrame() const;
  void DeviceLost(VkResult code, const char* where) const;

  struct ShaderNames {
    const char* vertex = nullptr;
    const char* pixel = nullptr;
    const char* compute = nullptr;
  };
  Pipeline Name(VkPipeline pipeline, const char* name, const ShaderNames& shaders) const;
  void Name(VkQueue queue, CairnQueueType type, const char* name) const;
  void Name(VkBuffer buffer, const char* name) const;

  // After vkBeginCommandBuffer and before vkEndCommandBuffer; before vkQueueSubmit of several. The last
  // two are for primary command buffers.
  Recording BeginList(VkCommandBuffer commands, VkQueue queue, CairnQueueType type,
                      const char* name) const;
  void EndList(Recording recording) const;
  void Submit(VkQueue queue, const std::vector<Recording>& recordings) const;

  // Around work; `name` may be null. False if there was nothing to say: then there is no end.
  bool Begin(Recording recording, VkCommandBuffer commands, CairnMarkerType type,
             const char* name) const;
  void End(Recording recording, VkCommandBuffer commands) const;
  void UsePipeline(Recording recording, Pipeline pipeline) const;
  void EnterRenderPass(Recording recording) const;
  void LeaveRenderPass(Recording recording) const;

  // Has the GPU write `value` into a raw marker where it reaches this point of the list, or once all before
  // it has finished.
  void WriteMarker(VkCommandBuffer commands, uint32_t slot, uint64_t value,
                   CairnPipe pipe = CAIRN_TOP_OF_PIPE) const;
  // True once it has, and what it wrote before has come to the watcher. To be asked while later work
  // is seen to run.
  bool MarkerArrived(uint32_t slot, uint64_t value) const;

  // For samples that exist with libcairn only; null without it.
  CairnContext* context() const { return context_; }

 private:
  Telling() = default;

  CairnContext* context_ = nullptr;  // null without libcairn
  VkDevice device_ = VK_NULL_HANDLE;
  // Null where VK_EXT_debug_utils is not used.
  PFN_vkSetDebugUtilsObjectNameEXT set_name_ = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT begin_label_ = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT end_label_ = nullptr;
};

}  // namespace sample

#endif  // CAIRN_SAMPLES_VULKAN_TELLING_H_
