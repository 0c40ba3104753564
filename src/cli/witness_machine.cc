// SPDX-License-Identifier: Apache-2.0
#include "cli/witness_machine.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cli/layer.h"
#include "os/environment.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostDriversOfFolder = 256;

}  // namespace

void Machine::AddEnvironment() {
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
    const char* const value = OwnVariable(name);
    if (value == nullptr) continue;
    AddText(name, value);
    const std::string_view list = value;
    for (size_t start = 0; start < list.size();) {
      const size_t end = std::min(list.find(kListSeparator, start), list.size());
      AddDriver(std::string(list.substr(start, end - start)));
      start = end + 1;
    }
  }
  for (const char* name : {"VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE",
                           "CUDA_VISIBLE_DEVICES", "MESA_VK_DEVICE_SELECT"}) {
    if (const char* const value = OwnVariable(name); value != nullptr) AddText(name, value);
  }
}

void Machine::AddText(std::string_view kind, std::string_view text) {
  for (const std::string_view part : {kind, text}) {
    text_ += part;
    text_ += '\0';
  }
}

void Machine::AddFile(const FilePath& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error) return;
  AddText(TextOfPath(path), std::to_string(time.time_since_epoch().count()));
}

void Machine::AddDriver(const FilePath& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return AddDrivers(path);
  AddFile(path);
  ++driver_count_;
}

void Machine::AddDrivers(const FilePath& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") files.push_back(it->path());
    if (files.size() == kMostDriversOfFolder) break;
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    AddFile(file);
    ++driver_count_;
  }
}

uint64_t Machine::hash() const {
  if (driver_count_ == 0) return 0;
  return std::max<uint64_t>(XXH3_64bits(text_.data(), text_.size()), 1);
}

}  // namespace cairn::cli
