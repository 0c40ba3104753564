// SPDX-License-Identifier: Apache-2.0
//
// Names of marker types, as include/cairn/marker_types.h spells them.
#ifndef CAIRN_FORMAT_SNAPSHOT_MARKER_TYPE_NAME_H_
#define CAIRN_FORMAT_SNAPSHOT_MARKER_TYPE_NAME_H_

#include <cstdint>
#include <string_view>

namespace cairn {

// "DRAW_INDEXED"; empty for a number that this version does not know.
std::string_view MarkerTypeName(uint32_t type);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_MARKER_TYPE_NAME_H_
