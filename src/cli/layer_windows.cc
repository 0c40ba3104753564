// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cli/layer.h"
#include "os/this_process.h"

namespace cairn::cli {

const char kLayerLibrary[] = "cairn-d3d.dll";

// Beside this program, in an installation and in a build folder.
std::vector<FilePath> LayerPlaces() {
  return {FilePath(OwnProgramPath()).parent_path() / kLayerLibrary};
}

std::vector<std::string> WindowsLayerVariables() {
  return {};
}

Result<std::vector<std::string>> VulkanLayerVariables() {
  return std::vector<std::string>();
}

}  // namespace cairn::cli
