// SPDX-License-Identifier: Apache-2.0
//
// Where the layers are, and how they get into a program: one library, preloaded for Direct3D 12 and
// named to the Vulkan loader by a manifest.
#ifndef CAIRN_CLI_LAYER_H_
#define CAIRN_CLI_LAYER_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace cairn::cli {

inline constexpr char kVulkanLayerName[] = "VK_LAYER_CAIRN_breadcrumbs";

// The value of LD_PRELOAD for a program under `cairn run`: the library, then what is preloaded already.
// The library is the file that CAIRN_LAYER_PATH names, else libcairn-d3d12.so of the installation or
// build folder that this program belongs to. "" where it cannot be preloaded by design: a build with
// sanitizers, whose libraries other programs cannot load. kNotFound: there is no such file;
// kUnsupported: its path cannot be said in LD_PRELOAD.
Result<std::string> LayerPreload();

// The variables that make the Vulkan loader find and enable the layer, each "NAME=value", with what the
// user's own environment says in them: VK_ADD_LAYER_PATH ends with the manifest's folder, so does
// VK_LAYER_PATH where it is set, for the former counts for nothing then; VK_INSTANCE_LAYERS ends with
// the layer unless it is listed. What is found and listed last stands next to the driver: layers of the
// user see what the program does, and not what ours adds.
// The manifest lies beside the library of LayerPreload, or beside what it links to, or in the
// installation's share/vulkan/explicit_layer.d. Empty in builds with sanitizers. kNotFound: there is no library, or no
// manifest; kUnsupported: its folder cannot be said in a list of folders.
Result<std::vector<std::string>> VulkanLayerVariables();

// vulkan/`name` in the places where the loader looks for drivers and layers by itself, those that exist.
std::vector<std::string> VulkanFolders(const char* name);

// CAIRN_CAPTURE in this program's environment, which the programs that it starts get as well, says so.
bool EnvironmentAsksForCapture();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_LAYER_H_
