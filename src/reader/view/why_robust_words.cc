// SPDX-License-Identifier: Apache-2.0
#include "reader/view/why_robust_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cairn::cli {
namespace {

// Lists accesses that these features make harmless, and that the checks of shaders do not see.
std::vector<std::string_view> UnseenAccesses(RobustFeatures features) {
  std::vector<std::string_view> list;
  if ((features & (kRobustBufferAccess | kRobustBufferAccess2)) != 0) {
    list.insert(list.end(),
                {"an element beyond the bound range of a uniform buffer or of a storage buffer of "
                 "fixed length",
                 "a vertex beyond its buffer", "a texel beyond a texel buffer"});
  }
  if ((features & (kRobustImageAccess | kRobustImageAccess2)) != 0) {
    list.emplace_back("a texel outside of an image");
  }
  if ((features & kNullDescriptor) != 0) list.emplace_back("a descriptor that is null");
  return list;
}

// "a, b or c"
std::string Either(const std::vector<std::string_view>& list) {
  if (list.size() < 2) return fmt::format("{}", fmt::join(list, ""));
  return fmt::format("{} or {}", fmt::join(list.begin(), list.end() - 1, ", "), list.back());
}

const WhyResult* BoundsOf(const WhyFound& found) {
  const auto bounds =
      std::find_if(found.results.begin(), found.results.end(),
                   [](const WhyResult& result) { return result.name == ExperimentName::kBounds; });
  return bounds == found.results.end() ? nullptr : &*bounds;
}

// Returns true if the program fails in the same way with every access checked that the checks can see.
bool StaysWithAllChecked(const WhyResult& bounds) {
  const AccessFindings& accesses = bounds.accesses;
  return bounds.verdict == WhyVerdict::kFails && accesses.unchecked.empty() &&
         accesses.dropped == 0 && accesses.refused_modules == 0;
}

}  // namespace

std::vector<std::string> RobustInWords(const WhyFound& found, const WhyResult& result) {
  const RobustDevices& devices = result.robust;
  std::vector<std::string> sentences = {
      fmt::format("Enabled: {}.", fmt::join(NamesOf(devices.enabled), ", "))};
  if (devices.own != 0) {
    sentences.push_back(
        fmt::format("The program itself enables {}.", fmt::join(NamesOf(devices.own), ", ")));
  }
  const WhyResult* const bounds = BoundsOf(found);
  if (bounds != nullptr && Helps(bounds->verdict)) {
    sentences.emplace_back("It agrees with the accesses skipped, which name the place.");
    return sentences;
  }
  const std::string list = Either(UnseenAccesses(devices.enabled));
  sentences.push_back(
      bounds != nullptr && StaysWithAllChecked(*bounds)
          ? fmt::format("With accesses skipped the failure stays, so it is one that the checks "
                        "of shaders do not see: {}.",
                        list)
          : fmt::format("It can be {}.", list));
  sentences.emplace_back(
      "No more than likely: a driver compiles other code with these features, and that may be what "
      "helps.");
  return sentences;
}

std::vector<std::string> RobustDoubts(const WhyResult& result) {
  const bool stays =
      result.verdict == WhyVerdict::kFails || result.verdict == WhyVerdict::kFailsOtherwise;
  if (result.name != ExperimentName::kRobust || !stays) return {};
  std::vector<std::string> groups;
  const auto add = [&groups](RobustFeatures features, std::string_view one, std::string_view many) {
    const std::vector<std::string_view> names = NamesOf(features);
    if (names.empty()) return;
    groups.push_back(
        fmt::format("{} ({})", fmt::join(names, ", "), names.size() == 1 ? one : many));
  };
  const RobustDevices& devices = result.robust;
  // A feature that one device got, and another did not.
  const RobustFeatures some = devices.enabled & (devices.missing | devices.left | devices.own);
  add(devices.missing & ~some, "the device does not have it", "the device does not have them");
  add(devices.left & ~some, "the layers could not enable it", "the layers could not enable them");
  add(devices.own & ~some, "the program itself enables it", "the program itself enables them");
  add(some, "on one device, and on another it was", "on one device, and on another they were");
  if (groups.empty()) return {};
  return {fmt::format("Not enabled: {}", fmt::join(groups, "; "))};
}

}  // namespace cairn::cli
