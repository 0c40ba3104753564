// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/given_environment.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "format/settings/layer_settings.h"

namespace cairn {
namespace {

constexpr std::string_view kAddress = kVariableOf<&LayerSettings::watcher_address>;
constexpr std::string_view kPreload = "LD_PRELOAD";
constexpr std::string_view kLayers = "VK_INSTANCE_LAYERS";
constexpr std::string_view kAddedFolders = "VK_ADD_LAYER_PATH";
constexpr std::string_view kFolders = "VK_LAYER_PATH";
constexpr std::string_view kOurLayer = "VK_LAYER_CAIRN_breadcrumbs";
// Enables the installed implicit layer (src/app/vulkan/cairn.json.in).
constexpr std::string_view kImplicit = "CAIRN_ENABLE_VULKAN_LAYER";
// The setting that `cairn run` adds for DXVK (src/cli/layer.cc).
constexpr std::string_view kDxvk = "DXVK_DEBUG=markers";

bool IsNamed(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

// The entry of this name; null if there is none.
const char* Find(char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (IsNamed(*environment, name)) return *environment;
  }
  return nullptr;
}

std::string_view ValueOf(const char* entry) {
  if (entry == nullptr) return {};
  const std::string_view text = entry;
  return text.substr(text.find('=') + 1);
}

// Lists of the loader have colons, LD_PRELOAD also spaces.
bool IsListed(std::string_view list, std::string_view word) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(": ", at), list.size());
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

// An environment that grows in a room.
class Growing {
 public:
  explicit Growing(GivenEnvironment::Room& room) : room_(room) {}

  void Add(const char* entry) {
    if (count_ + 1 >= room_.entries.size()) fits_ = false;
    if (fits_) room_.entries[count_++] = const_cast<char*>(entry);
  }

  // NAME=first:second, in the place of what has that name; an empty one needs no colon.
  void Set(std::string_view name, std::string_view first, std::string_view second) {
    char* const start = Begin(name, first.size() + second.size() + 1);
    if (start == nullptr) return;
    Put(first);
    if (!first.empty() && !second.empty()) Put(":");
    Put(second);
    End(start, name);
  }

  // NAME=list, without `word` wherever the list has it.
  void SetWithout(std::string_view name, std::string_view list, std::string_view word) {
    char* const start = Begin(name, list.size());
    if (start == nullptr) return;
    bool is_first = true;
    for (size_t at = 0; at < list.size();) {
      const size_t end = std::min(list.find_first_of(": ", at), list.size());
      if (list.substr(at, end - at) != word) {
        if (!is_first) Put(list.substr(at - 1, 1));
        Put(list.substr(at, end - at));
        is_first = false;
      }
      at = end + 1;
    }
    End(start, name);
  }

  // Null if it does not fit.
  char* const* Finish() {
    if (!fits_) return nullptr;
    room_.entries[count_] = nullptr;
    return room_.entries.data();
  }

 private:
  // Returns the place of "NAME="; null if it does not fit with a value of so many bytes.
  char* Begin(std::string_view name, size_t most_value_bytes) {
    fits_ = fits_ && used_ + name.size() + most_value_bytes + 2 <= room_.text.size();
    if (!fits_) return nullptr;
    char* const start = room_.text.data() + used_;
    Put(name);
    Put("=");
    return start;
  }

  void Put(std::string_view part) { used_ += part.copy(room_.text.data() + used_, part.size()); }

  void End(char* start, std::string_view name) {
    room_.text[used_++] = 0;
    for (size_t i = 0; i < count_; ++i) {
      if (!IsNamed(room_.entries[i], name)) continue;
      room_.entries[i] = start;
      return;
    }
    Add(start);
  }

  GivenEnvironment::Room& room_;
  size_t count_ = 0;
  size_t used_ = 0;
  bool fits_ = true;
};

void Preload(char* const* environment, std::string_view library, Growing& grown) {
  const std::string_view preloaded = ValueOf(Find(environment, kPreload));
  if (!IsListed(preloaded, library)) grown.Set(kPreload, library, preloaded);
}

// Takes it out of LD_PRELOAD: ld.so complains of what it does not find.
void PreloadNot(char* const* environment, std::string_view library, Growing& grown) {
  const std::string_view preloaded = ValueOf(Find(environment, kPreload));
  if (IsListed(preloaded, library)) grown.SetWithout(kPreload, preloaded, library);
}

void EnableLayer(char* const* environment, std::string_view layer, std::string_view folder,
                 Growing& grown) {
  const std::string_view layers = ValueOf(Find(environment, kLayers));
  if (IsListed(layers, layer)) return;
  grown.Set(kLayers, layers, layer);
  for (const std::string_view name : {kAddedFolders, kFolders}) {
    const char* const entry = Find(environment, name);
    if (name == kFolders && entry == nullptr) continue;
    if (!IsListed(ValueOf(entry), folder)) grown.Set(name, ValueOf(entry), folder);
  }
}

}  // namespace

void GivenEnvironment::Take(char* const* environment, std::string_view library) {
  const char* const address = Find(environment, kAddress);
  if (address == nullptr || !IsListed(ValueOf(Find(environment, kPreload)), library)) return;
  address_ = address;
  library_ = library;
  for (char* const* entry = environment; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("CAIRN_") || text == kDxvk) entries_.emplace_back(text);
  }
  if (!IsListed(ValueOf(Find(environment, kLayers)), kOurLayer)) return;
  const std::string_view folders = ValueOf(Find(environment, kAddedFolders));
  layer_ = kOurLayer;
  folder_ = folders.substr(folders.rfind(':') + 1);  // `cairn run` adds it at the end
}

bool GivenEnvironment::IsLibraryThere() const {
  const int error = errno;
  // Other failures, as of rights, say nothing of what the next program finds.
  const bool there = access(library_.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
  errno = error;
  return there;
}

bool GivenEnvironment::IsMissingIn(char* const* environment) const {
  if (address_.empty()) return false;
  const char* const address = Find(environment, kAddress);
  if (address != nullptr && address != address_) return false;
  if (!IsLibraryThere()) return !layer_.empty() && Find(environment, kImplicit) == nullptr;
  return address == nullptr || !IsListed(ValueOf(Find(environment, kPreload)), library_) ||
         (!layer_.empty() && !IsListed(ValueOf(Find(environment, kLayers)), layer_));
}

char* const* GivenEnvironment::Complete(char* const* environment, Room& room) const {
  Growing grown(room);
  for (char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    grown.Add(*entry);
  }
  if (Find(environment, kAddress) == nullptr) {
    for (const std::string& entry : entries_) {
      const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
      if (Find(environment, name) == nullptr) grown.Add(entry.c_str());
    }
  }
  if (IsLibraryThere()) {
    Preload(environment, library_, grown);
    if (!layer_.empty()) EnableLayer(environment, layer_, folder_, grown);
  } else {
    grown.Set(kImplicit, "1", "");
    PreloadNot(environment, library_, grown);
  }
  char* const* const finished = grown.Finish();
  return finished == nullptr ? environment : finished;
}

}  // namespace cairn
