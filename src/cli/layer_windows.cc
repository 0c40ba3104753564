// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/layer.h"
#include "os/this_process.h"

namespace cairn::cli {

const char kLayerLibrary[] = "cairn-d3d.dll";
const char kListSeparator = ';';

// The layer is beside this program, in an installation and in a build folder.
std::vector<FilePath> LayerPlaces() {
  return {FilePath(OwnProgramPath()).parent_path() / kLayerLibrary};
}

std::string FindWindowsLayer() {
  return {};
}

std::vector<FilePath> ManifestFolders(const FilePath& layer) {
  return {layer.parent_path()};
}

std::vector<std::string> VulkanFolders(const char*) {
  return {};
}

}  // namespace cairn::cli
