// SPDX-License-Identifier: Apache-2.0
//
// Checks that Vulkan programs under `cairn run` get the layer, by acting as one.
#ifndef CAIRN_CLI_VULKAN_LAYER_CHECK_H_
#define CAIRN_CLI_VULKAN_LAYER_CHECK_H_

#include <string>
#include <vector>

#include "format/block/block.h"
#include "format/snapshot/snapshot.h"

namespace cairn::cli {

// The layer's results on one device.
struct LayerOnDevice {
  std::string device;
  WriteMethod method = WriteMethod::kNone;
  WordMemory memory = WordMemory::kNone;
  std::string problem;  // "" if its breadcrumbs work
};

struct VulkanLayerCheck {
  SourceState state = SourceState::kAbsent;
  std::string reason;  // why it does not work, and the next step; "" if it does
  std::vector<LayerOnDevice> devices;
};

// Makes the layer known to the Vulkan loader of this process as `cairn run` does to that of a program.
// Call it before any other function of Vulkan: the loader reads the environment when it is first used,
// and so does the layer.
void MakeVulkanLayerKnown();

// Creates an instance with the layer, and each device with one queue, and reads in the block that the
// layer then has what it would record with. Some milliseconds a device. Not in builds with sanitizers.
VulkanLayerCheck CheckVulkanLayer();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_VULKAN_LAYER_CHECK_H_
