// SPDX-License-Identifier: Apache-2.0
//
// Finds the layers and loads them into a program: one library, preloaded for Direct3D 12 and named
// to the Vulkan loader by a manifest.
#ifndef CAIRN_CLI_LAYER_H_
#define CAIRN_CLI_LAYER_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "os/file.h"

namespace cairn::cli {

inline constexpr char kVulkanLayerName[] = "VK_LAYER_CAIRN_breadcrumbs";

// Names the library instead of the one of the installation.
inline constexpr char kLayerPathVariable[] = "CAIRN_LAYER_PATH";

// "libcairn-d3d12.so", "cairn-d3d.dll".
extern const char kLayerLibrary[];

// Returns the places of the layer in the installation or build folder that this program belongs to;
// the first existing one counts.
std::vector<FilePath> LayerPlaces();

// The library that the layers are in, a whole path: the file that CAIRN_LAYER_PATH names, else that of LayerPlaces.
// kInvalidArgument: CAIRN_LAYER_PATH names no file; kNotFound: it is in none of these places.
Result<std::string> FindLayerLibrary();

// The same where it can be preloaded into a program (SpawnRequest::preloaded). "" where it cannot by design: a build
// with sanitizers, whose libraries other programs cannot load. kUnsupported: not at its path.
Result<std::string> PreloadedLayer();

// Returns the path of cairn-d3d.dll, which libcairn-d3d12.so has loaded into programs of Windows under Wine: beside that
// library or what it links to, or in the build folder of Windows. "" if it is not there, or the user has named one
// himself (CAIRN_WINDOWS_LAYER_PATH), or on Windows.
std::string FindWindowsLayer();

// Returns the variables that make the Vulkan loader find and enable the layer, each "NAME=value",
// including the user's own values: VK_ADD_LAYER_PATH ends with the manifest's folder, and so does
// VK_LAYER_PATH if it is set, because the loader then ignores the former; VK_INSTANCE_LAYERS ends
// with the layer unless it is listed. The layer listed last is next to the driver: layers of the
// user see the program's calls, and not those that ours adds. The manifest lies beside the library
// of FindLayerLibrary, or beside what it links to, or in the installation's
// share/vulkan/explicit_layer.d. Empty in builds with sanitizers. Adds DXVK_DEBUG=markers, unless
// the user has set it, or `has_breadcrumbs` is false: the layer will record no work. Errors:
// kNotFound: there is no library, or no manifest; kUnsupported: its folder cannot be part of a list
// of folders.
Result<std::vector<std::string>> VulkanLayerVariables(bool has_breadcrumbs = true);

// Between the folders of a list: ':', on Windows ';'.
extern const char kListSeparator;

// Joins the entries that are not empty.
std::string JoinedList(const std::vector<std::string>& entries);

// Returns the folders that may hold the manifest of the library at `layer`. The first that has it
// counts.
std::vector<FilePath> ManifestFolders(const FilePath& layer);

// vulkan/`name` in the places where the loader looks for drivers and layers by itself, those that exist. None on
// Windows, where it looks into the registry.
std::vector<std::string> VulkanFolders(const char* name);

// CAIRN_CAPTURE in this program's environment, which the programs that it starts get as well, says so.
bool EnvironmentAsksForCapture();

// True in builds whose libraries other programs cannot load.
bool IsNotForOtherPrograms();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_LAYER_H_
