// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/layer.h"
#include "os/environment.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "VkLayer_CAIRN_breadcrumbs.json";
constexpr char kManifestFolder[] = "share/vulkan/explicit_layer.d";
constexpr char kWindowsLayerVariable[] = "CAIRN_WINDOWS_LAYER_PATH";
constexpr char kWindowsLayer[] = "cairn-d3d.dll";
constexpr char kWindowsBuildFolder[] = "windows/bin";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Of the installation or build folder that this program belongs to.
fs::path Root() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

Result<std::string> FindManifestFolder() {
  const Result<std::string> layer = FindLayerLibrary();
  if (!layer.ok()) return layer.status();
  std::error_code error;
  const fs::path beside = fs::path(*layer).parent_path();
  const fs::path beside_target = fs::canonical(*layer, error).parent_path();  // of a link
  const fs::path installed = Root() / kManifestFolder;
  for (const fs::path& folder : {beside, beside_target, installed}) {
    if (fs::is_regular_file(folder / kManifest, error)) return folder.string();
  }
  return Status(
      StatusCode::kNotFound,
      fmt::format("the layer's manifest {} is neither in {} nor in {}; install it, or say "
                  "--no-layer",
                  kManifest, beside.string(), installed.string()));
}

// The entries that are not empty, with colons between them.
std::string Joined(const std::vector<std::string>& entries) {
  std::string joined;
  for (const std::string& entry : entries) {
    if (entry.empty()) continue;
    if (!joined.empty()) joined += kListSeparator;
    joined += entry;
  }
  return joined;
}

bool IsListed(std::string_view list, std::string_view entry) {
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(kListSeparator, start), list.size());
    if (list.substr(start, end - start) == entry) return true;
    start = end + 1;
  }
  return false;
}

}  // namespace

const char kLayerLibrary[] = "libcairn-d3d12.so";

std::vector<FilePath> LayerPlaces() {
  std::vector<FilePath> places;
  for (const char* folder : {CAIRN_LIBRARY_FOLDER, "lib"}) {
    places.push_back(Root() / folder / kLayerLibrary);
  }
  return places;
}

std::vector<std::string> VulkanFolders(const char* name) {
  const std::string home = Variable("HOME");
  const auto listed = [](const char* variable, const std::string& otherwise) {
    const std::string value = Variable(variable);
    return value.empty() ? otherwise : value;
  };
  const std::string places =
      Joined({listed("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config"),
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

std::vector<std::string> WindowsLayerVariables() {
  const Result<std::string> layer = FindLayerLibrary();
  if (!layer.ok() || OwnVariable(kWindowsLayerVariable) != nullptr) return {};
  std::error_code error;
  const fs::path beside = fs::path(*layer).parent_path();
  const fs::path beside_target = fs::canonical(*layer, error).parent_path();  // of a link
  for (const fs::path& folder : {beside, beside_target, Root() / kWindowsBuildFolder}) {
    const fs::path library = folder / kWindowsLayer;
    if (fs::is_regular_file(library, error)) {
      return {fmt::format("{}={}", kWindowsLayerVariable, library.string())};
    }
  }
  return {};
}

Result<std::vector<std::string>> VulkanLayerVariables() {
  std::vector<std::string> variables;
  if (IsNotForOtherPrograms()) return variables;
  const Result<std::string> folder = FindManifestFolder();
  if (!folder.ok()) return folder.status();
  if (folder->find(kListSeparator) != std::string::npos) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the folder {} contains a colon, which VK_ADD_LAYER_PATH cannot "
                              "express; install it elsewhere, or name a link to it in {}",
                              *folder, kLayerPathVariable));
  }
  const std::string enabled = Variable("VK_INSTANCE_LAYERS");
  std::vector<std::string> added = {Variable("VK_ADD_LAYER_PATH")};
  const bool listed = IsListed(enabled, kVulkanLayerName);
  if (!enabled.empty() && !listed) {
    // The loader of Debian 12 puts enabled layers into the order in which it finds them, newer ones into
    // that of the list. It looks here first: what it would find later has to stand before ours.
    const std::vector<std::string> standard = VulkanFolders("explicit_layer.d");
    added.insert(added.end(), standard.begin(), standard.end());
  }
  added.push_back(*folder);
  variables.push_back("VK_ADD_LAYER_PATH=" + Joined(added));
  if (const std::string only = Variable("VK_LAYER_PATH"); !only.empty()) {
    variables.push_back("VK_LAYER_PATH=" + Joined({only, *folder}));
  }
  if (!listed) {
    variables.push_back("VK_INSTANCE_LAYERS=" + Joined({enabled, kVulkanLayerName}));
  }
  return variables;
}

}  // namespace cairn::cli
