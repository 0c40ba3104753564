// SPDX-License-Identifier: Apache-2.0
#include "cli/watchd_setup.h"

#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "cli/layer.h"
#include "cli/report_store.h"
#include "cli/verb.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/process.h"
#include "os/this_process.h"
#include "os/wait_set.h"

namespace cairn::cli {
namespace {

constexpr char kUnit[] = "cairn-watchd.service";

std::string ManifestPath() {
  const std::string data = XdgFolder("XDG_DATA_HOME", "/.local/share");
  return data.empty() ? "" : data + "/vulkan/implicit_layer.d/cairn-watchd.json";
}

// An implicit layer of another name than the one that cairn run enables: a loader takes only one layer of a name.
std::string ManifestText(const std::string& library) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.StringKey("file_format_version", "1.2.1");
  json.BeginObject("layer");
  json.StringKey("name", "VK_LAYER_CAIRN_watched");
  json.StringKey("type", "GLOBAL");
  json.StringKey("library_path", library);
  json.StringKey("library_arch", "64");
  json.StringKey("api_version",
                 fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(VK_HEADER_VERSION_COMPLETE),
                             VK_API_VERSION_MINOR(VK_HEADER_VERSION_COMPLETE),
                             VK_API_VERSION_PATCH(VK_HEADER_VERSION_COMPLETE)));
  json.StringKey("implementation_version", "1");
  json.StringKey("description", "Reports crashes to cairn watchd");
  json.BeginObject("functions");
  json.StringKey("vkNegotiateLoaderLayerInterfaceVersion", "cairnNegotiateWatchedVulkanLayer");
  json.EndObject();
  json.BeginObject("disable_environment");
  json.StringKey("CAIRN_DISABLE_WATCHD", "1");
  json.EndObject();
  json.EndObject();
  json.EndObject();
  return text;
}

// Replaces the file: a loader reads the old one or the new one.
Status WriteFile(const std::string& path, const std::string& text) {
  const FilePath target(path);
  const FilePath part(path + ".part");
  std::error_code error = MakeFolders(FilePath(target.parent_path()));
  if (!error) {
    (void)RemoveFile(part);
    File file = File::Open(part, FileMode::kCreate, error);
    if (!error) error = file.Append(std::as_bytes(std::span(text)));
    if (!error) error = file.Close();
    if (!error) error = Rename(part, target);
  }
  return error ? StatusFromError(error, "'" + VisibleText(path) + "' cannot be written") : Status();
}

// The user's instance of systemd answers here (systemctl(1), --user).
bool HasSystemd() {
  const char* const folder = OwnVariable("XDG_RUNTIME_DIR");
  std::error_code error;
  return folder != nullptr && std::filesystem::exists(FilePath(folder) / "systemd/private", error);
}

// Runs systemctl --user with these words; returns true if it succeeded. It says why not, if there is one.
bool RunSystemctl(std::vector<std::string> words) {
  words.insert(words.begin(), {"systemctl", "--user"});
  SpawnRequest request;
  request.arguments = std::move(words);
  const Result<ProcessHandle> process = SpawnProgram(request);
  if (!process.ok()) return false;
  WaitSet ended;
  if (!ended.Open().ok() || !ended.Add(process->handle, 0).ok()) return false;
  for (;;) {
    const auto happened = ended.Wait(WaitSet::kTime);
    if (!happened.ok()) return false;
    if (!happened->empty()) break;
  }
  const ProcessEnd end = CollectEnd(*process);
  return end.kind == EndKind::kExited && end.value == 0;
}

// The unit of an installation's package is known to systemd; that of another one is linked into the user's folder.
std::string UnitToEnable() {
  const FilePath own(OwnProgramPath());
  const FilePath unit(own.parent_path().parent_path() / "lib/systemd/user" / kUnit);
  const bool is_packaged = own.parent_path() == "/usr/bin" || own.parent_path() == "/usr/local/bin";
  return is_packaged ? kUnit : TextOfPath(unit);
}

}  // namespace

int EnableWatchd() {
  const std::string manifest = ManifestPath();
  if (manifest.empty()) {
    PrintError("watchd", "neither XDG_DATA_HOME nor HOME names a folder for the layer's manifest");
    return kExitFailed;
  }
  const Result<std::string> library = FindLayerLibrary();
  if (!library.ok()) {
    PrintError("watchd", library.status().message());
    return kExitFailed;
  }
  if (const Status written = WriteFile(manifest, ManifestText(*library)); !written.ok()) {
    PrintError("watchd", written.message());
    return kExitFailed;
  }
  std::string text =
      "Vulkan programs that start from now on load the layer: " + VisibleText(manifest) + "\n";
  if (!HasSystemd()) {
    text += "systemd runs no session here: start `cairn watchd` with your session\n";
    return PrintOutput("watchd", text) ? 0 : kExitFailed;
  }
  if (!PrintOutput("watchd", text)) return kExitFailed;
  text.clear();
  if (!RunSystemctl({"enable", "--now", UnitToEnable()})) {
    PrintError("watchd", fmt::format("systemctl --user enable --now {} failed; start `cairn "
                                     "watchd` with your session",
                                     UnitToEnable()));
    return kExitFailed;
  }
  text += "The service runs, and starts with each session: systemctl --user status cairn-watchd\n";
  return PrintOutput("watchd", text) ? 0 : kExitFailed;
}

int DisableWatchd() {
  const std::string manifest = ManifestPath();
  const std::error_code removed = manifest.empty()
                                      ? std::make_error_code(std::errc::no_such_file_or_directory)
                                      : RemoveFile(manifest);
  if (removed && removed != std::errc::no_such_file_or_directory) {
    PrintError(
        "watchd",
        StatusFromError(removed, "'" + VisibleText(manifest) + "' cannot be removed").message());
    return kExitFailed;
  }
  if (HasSystemd() && !RunSystemctl({"disable", "--now", kUnit})) {
    PrintError("watchd", fmt::format("systemctl --user disable --now {} failed", kUnit));
    return kExitFailed;
  }
  return PrintOutput("watchd",
                     "Programs that start from now on do not load the layer; reports "
                     "stay (cairn list)\n")
             ? 0
             : kExitFailed;
}

}  // namespace cairn::cli
