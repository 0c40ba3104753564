// SPDX-License-Identifier: Apache-2.0
#include "cli/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "format/settings/layer_settings.h"
#include "os/environment.h"
#include "os/process.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "VkLayer_CAIRN_breadcrumbs.json";

bool IsFile(const FilePath& path) {
  return FactsAt(path).type == fs::file_type::regular;
}

std::string Variable(const char* name) {
  const char* const value = OwnVariable(name);
  return value == nullptr ? "" : value;
}

bool IsListed(std::string_view list, std::string_view entry) {
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(kListSeparator, start), list.size());
    if (list.substr(start, end - start) == entry) return true;
    start = end + 1;
  }
  return false;
}

Result<std::string> FindManifestFolder() {
  const Result<std::string> layer = FindLayerLibrary();
  if (!layer.ok()) return layer.status();
  const std::vector<FilePath> folders = ManifestFolders(*layer);
  for (const FilePath& folder : folders) {
    if (IsFile(folder / kManifest)) return TextOfPath(folder);
  }
  const std::string first = TextOfPath(folders.front());
  return Status(StatusCode::kNotFound,
                fmt::format("the layer's manifest {} is {}; install it", kManifest,
                            folders.size() == 1 ? "not in " + first
                                                : fmt::format("neither in {} nor in {}", first,
                                                              TextOfPath(folders.back()))));
}

}  // namespace

Result<std::string> FindLayerLibrary() {
  const char* const named = OwnVariable(kLayerPathVariable);
  if (const std::string path = named == nullptr ? "" : named; !path.empty()) {
    std::error_code error;
    if (IsFile(path)) return TextOfPath(fs::absolute(FilePath(path), error));
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{}={} is no file; name the library {}, or unset it",
                              kLayerPathVariable, path, kLayerLibrary));
  }
  const std::vector<FilePath> places = LayerPlaces();
  for (const FilePath& place : places) {
    if (IsFile(place)) return TextOfPath(place);
  }
  return Status(StatusCode::kNotFound,
                fmt::format("{} is not in {}; name it in {}", kLayerLibrary,
                            TextOfPath(places.back().parent_path()), kLayerPathVariable));
}

bool IsNotForOtherPrograms() {
#if defined(CAIRN_SANITIZED)
  const char* const named = OwnVariable(kLayerPathVariable);
  return named == nullptr || named[0] == 0;
#else
  return false;
#endif
}

Result<std::string> PreloadedLayer() {
  if (IsNotForOtherPrograms()) return std::string();
  Result<std::string> layer = FindLayerLibrary();
  if (!layer.ok()) return layer;
  const Status checked = CheckPreloaded(*layer);
  if (checked.ok()) return layer;
  return Status(checked.code(), fmt::format("{}; install it elsewhere, or name a link to it in {}",
                                            checked.message(), kLayerPathVariable));
}

std::string JoinedList(const std::vector<std::string>& entries) {
  std::string joined;
  for (const std::string& entry : entries) {
    if (entry.empty()) continue;
    if (!joined.empty()) joined += kListSeparator;
    joined += entry;
  }
  return joined;
}

Result<std::vector<std::string>> VulkanLayerVariables(bool has_breadcrumbs) {
  std::vector<std::string> variables;
  if (IsNotForOtherPrograms()) return variables;
  const Result<std::string> folder = FindManifestFolder();
  if (!folder.ok()) return folder.status();
  if (folder->find(kListSeparator) != std::string::npos) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the folder {} contains '{}', which VK_ADD_LAYER_PATH cannot "
                              "express; install it elsewhere, or name a link to it in {}",
                              *folder, kListSeparator, kLayerPathVariable));
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
  variables.push_back("VK_ADD_LAYER_PATH=" + JoinedList(added));
  if (const std::string only = Variable("VK_LAYER_PATH"); !only.empty()) {
    variables.push_back("VK_LAYER_PATH=" + JoinedList({only, *folder}));
  }
  if (!listed) {
    variables.push_back("VK_INSTANCE_LAYERS=" + JoinedList({enabled, kVulkanLayerName}));
  }
  // DXVK passes the annotations of Direct3D 11 on only then, and with them our own
  // (docs/reference/d3d11-layer.md). A program notices that by its annotations' results: without breadcrumbs
  // it must not.
  if (has_breadcrumbs && Variable("DXVK_DEBUG").empty()) variables.push_back("DXVK_DEBUG=markers");
  return variables;
}

bool EnvironmentAsksForCapture() {
  return ReadSetting<&LayerSettings::capture>(OwnVariable)->on;
}

}  // namespace cairn::cli
