// SPDX-License-Identifier: Apache-2.0
//
// The number of bottom-of-pipe writes that a device lets wait before its front end stops:
// docs/reference/raw-markers.md, "The line is short".
#ifndef CAIRN_READER_ANALYSIS_BOTTOM_LINE_LIMIT_H_
#define CAIRN_READER_ANALYSIS_BOTTOM_LINE_LIMIT_H_

#include <cstdint>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns 64 on GCN 1 to 5, recognised by the PCI identifiers, where markers are the device's own
// writes. 0: unknown or unlimited; and of a device that was lost, whose bottom-of-pipe stores may
// be lost with it, so that the limit proves nothing.
uint32_t BottomLineLimit(const Device& device);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_BOTTOM_LINE_LIMIT_H_
