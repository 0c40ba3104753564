// SPDX-License-Identifier: Apache-2.0
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/layer.h"
#include "cli/witnesses.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFilesOfFolder = 256;

// The lines that the hash is of.
class Machine {
 public:
  void AddText(std::string_view kind, std::string_view text) {
    for (const std::string_view part : {kind, text}) {
      text_ += part;
      text_ += '\0';
    }
  }
  // When it was changed, not what it holds. Nothing of what is not there.
  void AddFile(const fs::path& path) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (error) return;
    AddText(path.string(), std::to_string(time.time_since_epoch().count()));
  }
  // All that has this ending.
  void AddFolder(const fs::path& folder, std::string_view ending) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ending) files.push_back(it->path());
      if (files.size() == kMostFilesOfFolder) break;
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      AddFile(file);
      ++driver_count_;
    }
  }
  // Where the links in a folder lead: which devices there are.
  void AddLinks(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> links;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code no_link;
      links.push_back(it->path().string() + fs::read_symlink(it->path(), no_link).string());
      if (links.size() == kMostFilesOfFolder) break;
    }
    std::sort(links.begin(), links.end());
    for (const std::string& link : links) AddText("device", link);
  }
  void AddDriver(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return AddFolder(path, ".json");
    AddFile(path);
    ++driver_count_;
  }

  uint64_t hash() const {
    if (driver_count_ == 0) return 0;
    return std::max<uint64_t>(XXH3_64bits(text_.data(), text_.size()), 1);
  }

 private:
  std::string text_;
  size_t driver_count_ = 0;
};

std::string BeginningOf(const char* path) {
  std::ifstream file(path);
  char bytes[512];
  file.read(bytes, sizeof(bytes));
  return {bytes, static_cast<size_t>(file.gcount())};
}

}  // namespace

uint64_t WitnessMachine() {
  Machine machine;
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    machine.AddText(name, value);
    const std::string_view list = value;
    for (size_t start = 0; start < list.size();) {
      const size_t end = std::min(list.find(kListSeparator, start), list.size());
      machine.AddDriver(std::string(list.substr(start, end - start)));
      start = end + 1;
    }
  }
  for (const char* name : {"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE",
                           "CUDA_VISIBLE_DEVICES", "MESA_VK_DEVICE_SELECT"}) {
    if (const char* const value = std::getenv(name); value != nullptr) machine.AddText(name, value);
  }
  for (const std::string& folder : VulkanFolders("icd.d")) machine.AddFolder(folder, ".json");
  // Whatever library was installed.
  machine.AddFile("/etc/ld.so.cache");
  machine.AddLinks("/sys/class/drm");
  machine.AddLinks("/proc/driver/nvidia/gpus");
  machine.AddText("nvidia", BeginningOf("/proc/driver/nvidia/version"));
  machine.AddText("kernel", BeginningOf("/proc/sys/kernel/osrelease"));
  return machine.hash();
}

}  // namespace cairn::cli
