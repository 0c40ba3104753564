// SPDX-License-Identifier: Apache-2.0
//
// A raw marker as a label. An API that has labels and no writes (Direct3D 11 on Vulkan) carries it down, at its place among
// the work, to the Vulkan layer, which writes it and keeps the label to itself:
//
//   cairn raw marker T 5 00000000deadcafe       T, B: top, bottom of pipe; slot; value
//
// Only devices of a RawMarkerScope read labels so: on all others this is a text like others.
#ifndef CAIRN_APP_BREADCRUMBS_RAW_MARKER_TEXT_H_
#define CAIRN_APP_BREADCRUMBS_RAW_MARKER_TEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "app/breadcrumbs/backend.h"

namespace cairn {

struct RawMarker {
  PipeLocation where = PipeLocation::kTop;
  uint32_t index = 0;
  uint64_t value = 0;
  bool operator==(const RawMarker&) const = default;
};

// Zero-terminated. ASCII, so that each character is one of UTF-16, too. Does not allocate.
inline constexpr size_t kRawMarkerTextBytes = 48;
std::array<char, kRawMarkerTextBytes> RawMarkerText(const RawMarker& marker);

// Any text; empty for all that RawMarkerText does not make.
std::optional<RawMarker> ParseRawMarkerText(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_RAW_MARKER_TEXT_H_
