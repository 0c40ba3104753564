// SPDX-License-Identifier: Apache-2.0
//
// How the block keeps the place of a raw marker (cairn/markers.h) among the events of a recording: as an
// EventKind::kBind of one of these points. The slot is the marker's, the value is what it writes, all 64 bits
// of it, with kEventBindsAddress: it leads to no object.
#ifndef CAIRN_FORMAT_BLOCK_RAW_MARKER_BINDS_H_
#define CAIRN_FORMAT_BLOCK_RAW_MARKER_BINDS_H_

#include "format/block/block.h"

namespace cairn {

inline constexpr BindPoint kBindRawMarkerTop = static_cast<BindPoint>(13);
inline constexpr BindPoint kBindRawMarkerBottom = static_cast<BindPoint>(14);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_RAW_MARKER_BINDS_H_
