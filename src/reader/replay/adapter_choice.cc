// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/adapter_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cairn {
namespace {

std::string InSmallLetters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Two adapters of one recording: true if they are known to be different ones.
bool Differ(const RecordedAdapter& one, const RecordedAdapter& other) {
  if (one.luid && other.luid) return *one.luid != *other.luid;
  return one.place && other.place && *one.place != *other.place;
}

// True if the LUIDs are the same, and may be those of one adapter. A name says so, or is unknown.
bool HasLuid(const Adapter& adapter, const RecordedAdapter& recorded) {
  if (!recorded.luid || adapter.luid == 0 || adapter.luid != *recorded.luid) return false;
  return recorded.name.empty() || adapter.name.empty() || adapter.name == recorded.name;
}

Status Wrong(const std::vector<Adapter>& adapters, const std::string& what) {
  const std::string there =
      adapters.empty() ? "this machine has none" : "there are " + AdaptersInWords(adapters);
  return {StatusCode::kInvalidArgument, fmt::format("--adapter: {}; {}", what, there)};
}

}  // namespace

std::string AdaptersInWords(const std::vector<Adapter>& adapters) {
  std::string words;
  for (size_t i = 0; i < adapters.size(); ++i) {
    words += fmt::format("{}{} \"{}\"", i == 0 ? "" : ", ", i, VisibleText(adapters[i].name));
  }
  return words;
}

Result<uint32_t> FindAdapter(const std::vector<Adapter>& adapters, std::string_view wanted) {
  if (IsNumber(wanted)) {
    uint32_t place = 0;
    const auto parsed = std::from_chars(wanted.data(), wanted.data() + wanted.size(), place);
    if (parsed.ec == std::errc() && place < adapters.size()) return place;
    return Wrong(adapters, fmt::format("there is no adapter {}", wanted));
  }
  const std::string part = InSmallLetters(wanted);
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < adapters.size(); ++i) {
    if (InSmallLetters(adapters[i].name).find(part) != std::string::npos) found.push_back(i);
  }
  if (wanted.empty()) return Wrong(adapters, "the name is empty");
  if (found.size() == 1) return found.front();
  const std::string shown = VisibleText(std::string(wanted));
  if (found.empty()) {
    return Wrong(adapters, fmt::format("no adapter has \"{}\" in its name", shown));
  }
  return Wrong(adapters,
               fmt::format("{} adapters have \"{}\" in their names, give the number of one",
                           found.size(), shown));
}

bool AdapterChoice::IsTaken(uint32_t place) const {
  return std::any_of(chosen_.begin(), chosen_.end(),
                     [place](const auto& one) { return one.second == place; });
}

std::optional<uint32_t> AdapterChoice::Choose(const RecordedAdapter& recorded) {
  constexpr size_t kMost = 64;
  const auto again = chosen_.find(recorded);
  if (again != chosen_.end()) return again->second;
  // The greater, the more alike; equal ones: the first; 0: not at all.
  const auto likeness = [&](uint32_t i) {
    const Adapter& adapter = adapters_[i];
    if (HasLuid(adapter, recorded)) return 4;
    if (recorded.name.empty() || adapter.name != recorded.name) return 0;
    return recorded.place == i ? 3 : IsTaken(i) ? 1 : 2;
  };
  std::optional<uint32_t> best = asked_;
  int best_likeness = 0;
  for (uint32_t i = 0; !asked_ && i < adapters_.size(); ++i) {
    if (likeness(i) <= best_likeness) continue;
    best = i;
    best_likeness = likeness(i);
  }
  if (chosen_.size() < kMost && recorded.known()) chosen_[recorded] = best;
  return best;
}

bool AdapterChoice::IsAlike(const RecordedAdapter& recorded, std::optional<uint32_t> place) const {
  if (recorded.name.empty() && !recorded.luid) return true;
  if (!place || *place >= adapters_.size()) return false;
  return adapters_[*place].name == recorded.name || HasLuid(adapters_[*place], recorded);
}

bool AdapterChoice::IsAnother(const RecordedAdapter& recorded,
                              std::optional<uint32_t> place) const {
  if (!place || *place >= adapters_.size()) return false;
  const Adapter& adapter = adapters_[*place];
  const bool known = recorded.of_vulkan == adapter.of_vulkan && !recorded.name.empty() &&
                     !adapter.name.empty() && recorded.vendor_id != 0 && adapter.vendor_id != 0;
  return known && adapter.name != recorded.name &&
         (adapter.vendor_id != recorded.vendor_id || adapter.device_id != recorded.device_id);
}

bool AdapterChoice::IsShared(const RecordedAdapter& recorded, std::optional<uint32_t> place) const {
  return std::any_of(chosen_.begin(), chosen_.end(), [&](const auto& one) {
    return one.second == place && Differ(one.first, recorded);
  });
}

}  // namespace cairn
