// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan backend: progress words and raw markers written by VK_AMD_buffer_marker where the
// application enabled it, by vkCmdFillBuffer between barriers otherwise.
//
//                      inside render passes   bottom of pipe costs
//   buffer marker      yes                    a drain of the pipe on the GPU
//   fill               no, nothing written    a full execution barrier
//
// The words live in the block itself (VK_EXT_external_memory_host) or, where that is not enabled or
// does not work, in host-visible memory that Mirror() copies into the block.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_BACKEND_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_BACKEND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/breadcrumbs/backend.h"

namespace cairn {

// An extension that the layer could have enabled and did not, or one whose feature is off.
struct LeftOutExtension {
  std::string name;
  std::string reason;  // a clause
};

// The handles are the application's and outlive the backend. No Vulkan header is needed here.
struct VulkanBackendParams {
  using VoidFunction = void (*)();

  void* instance = nullptr;         // VkInstance
  void* physical_device = nullptr;  // VkPhysicalDevice
  void* device = nullptr;           // VkDevice
  void* queue = nullptr;            // VkQueue; used in Initialize only, by nobody else meanwhile
  uint32_t queue_family = 0;        // of `queue`
  // vkGetInstanceProcAddr
  VoidFunction (*get_instance_proc_addr)(void* instance, const char* name) = nullptr;
  // The extensions passed to vkCreateDevice. Other extensions are not used, even if they exist.
  std::vector<std::string> enabled_extensions;
  // The Vulkan layer asks the driver for faults and checkpoints after a loss.
  bool reads_losses = false;
  std::vector<LeftOutExtension> left_out;
  // Called in Initialize, once the method is known; its result becomes one of the sources. May be
  // empty.
  std::function<SourceFinding(WriteMethod)> tell_method;
  // Mode exact: Backend::Serial for a VkCommandBuffer. Null: the work overlaps.
  bool (*is_serial)(void* native) = nullptr;
};

// Never returns null and does no Vulkan work; Initialize reports faults of the parameters. `region`
// of Initialize must be memory that no disk file backs: NVIDIA's driver refuses to import pages of
// one and then fails later allocations too. Destroy it after the GPU has finished with every list.
std::unique_ptr<Backend> CreateVulkanBackend(const VulkanBackendParams& params);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_BACKEND_H_
