// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "cli/layer.h"
#include "cli/witness_machine.h"
#include "cli/witnesses.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLinks = 256;

// Adds the targets of the links in a folder, which name the devices.
void AddLinks(const fs::path& folder, Machine* machine) {
  std::error_code error;
  std::vector<std::string> links;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code no_link;
    links.push_back(it->path().string() + fs::read_symlink(it->path(), no_link).string());
    if (links.size() == kMostLinks) break;
  }
  std::sort(links.begin(), links.end());
  for (const std::string& link : links) machine->AddText("device", link);
}

std::string BeginningOf(const char* path) {
  std::ifstream file(path);
  char bytes[512];
  file.read(bytes, sizeof(bytes));
  return {bytes, static_cast<size_t>(file.gcount())};
}

}  // namespace

const char kNoWitnessCache[] = "neither XDG_CACHE_HOME nor HOME names a folder to keep it in";

std::string CacheFolder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  // By the XDG base directory specification, relative paths are ignored.
  fs::path folder = variable("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {
    folder = variable("HOME");
    if (!folder.is_absolute()) return "";
    folder /= ".cache";
  }
  return (folder / "cairn").string();
}

uint64_t WitnessMachine() {
  Machine machine;
  machine.AddEnvironment();
  for (const std::string& folder : VulkanFolders("icd.d")) machine.AddDrivers(folder);
  // Changes with each library that is installed.
  machine.AddFile("/etc/ld.so.cache");
  AddLinks("/sys/class/drm", &machine);
  AddLinks("/proc/driver/nvidia/gpus", &machine);
  machine.AddText("nvidia", BeginningOf("/proc/driver/nvidia/version"));
  machine.AddText("kernel", BeginningOf("/proc/sys/kernel/osrelease"));
  return machine.hash();
}

}  // namespace cairn::cli
