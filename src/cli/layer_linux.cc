// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/layer.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kWindowsLayer[] = "cairn-d3d.dll";
constexpr char kWindowsBuildFolder[] = "windows/bin";

// Returns the installation or build folder that this program belongs to.
fs::path Root() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

}  // namespace

const char kLayerLibrary[] = "libcairn-d3d12.so";
const char kListSeparator = ':';

std::vector<FilePath> LayerPlaces() {
  std::vector<FilePath> places;
  // First the installation's folder, which no search for libraries finds; then that of a build.
  for (const char* folder : {"lib/cairn", "lib"}) {
    places.push_back(Root() / folder / kLayerLibrary);
  }
  return places;
}

std::vector<FilePath> ManifestFolders(const FilePath& layer) {
  std::error_code error;
  const fs::path target = fs::canonical(layer, error);  // of a link
  return {layer.parent_path(), target.parent_path(), Root() / "share/vulkan/explicit_layer.d"};
}

std::vector<std::string> VulkanFolders(const char* name) {
  const auto listed = [](const char* variable, const std::string& otherwise) {
    const char* const value = OwnVariable(variable);
    return value == nullptr || value[0] == 0 ? otherwise : std::string(value);
  };
  const std::string home = listed("HOME", "");
  const std::string places =
      JoinedList({listed("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config"),
                  listed("XDG_CONFIG_DIRS", "/etc/xdg"), "/etc",
                  listed("XDG_DATA_HOME", home.empty() ? "" : home + "/.local/share"),
                  listed("XDG_DATA_DIRS", "/usr/local/share:/usr/share")});
  std::vector<std::string> folders;
  for (size_t start = 0; start < places.size();) {
    const size_t end = std::min(places.find(kListSeparator, start), places.size());
    const fs::path folder = fs::path(places.substr(start, end - start)) / "vulkan" / name;
    std::error_code error;
    if (fs::is_directory(folder, error)) folders.push_back(folder.string());
    start = end + 1;
  }
  return folders;
}

std::string FindWindowsLayer() {
  const Result<std::string> layer = FindLayerLibrary();
  if (!layer.ok() || ReadSetting<&LayerSettings::windows_path>(OwnVariable).is_set()) return {};
  std::error_code error;
  const fs::path beside = fs::path(*layer).parent_path();
  const fs::path beside_target = fs::canonical(*layer, error).parent_path();  // of a link
  for (const fs::path& folder : {beside, beside_target, Root() / kWindowsBuildFolder}) {
    const fs::path library = folder / kWindowsLayer;
    if (fs::is_regular_file(library, error)) return library.string();
  }
  return {};
}

}  // namespace cairn::cli
