// SPDX-License-Identifier: Apache-2.0
//
// Stores the position of a raw marker (cairn/markers.h) among the events of a recording: as an
// EventKind::kBind of one of these points. The slot is the marker's, the value is the one that it
// writes, all 64 bits of it, with kEventBindsAddress: it leads to no object.
#ifndef CAIRN_FORMAT_BLOCK_RAW_MARKER_BINDS_H_
#define CAIRN_FORMAT_BLOCK_RAW_MARKER_BINDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/block/block.h"

namespace cairn {

inline constexpr BindPoint kBindRawMarkerTop = static_cast<BindPoint>(13);
inline constexpr BindPoint kBindRawMarkerBottom = static_cast<BindPoint>(14);

// Returns a reference to the index, plus 1, of the context whose lists own the raw markers of
// `slots`; 0: the context's own lists do. Direct3D 11: libcairn has the slots, the layer the lists.
inline std::atomic_ref<uint32_t> RawMarkersOf(ContextRecord& slots) {
  return std::atomic_ref(slots.reserved[0]);
}
inline constexpr size_t kRawMarkersOfOffset = offsetof(ContextRecord, reserved);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_RAW_MARKER_BINDS_H_
