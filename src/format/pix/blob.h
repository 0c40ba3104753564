// SPDX-License-Identifier: Apache-2.0
//
// The layout of PIX3 blobs, for decoder and encoder.
#ifndef CAIRN_FORMAT_PIX_BLOB_H_
#define CAIRN_FORMAT_PIX_BLOB_H_

#include <cstddef>
#include <span>

#include "format/pix/pix_event.h"

namespace cairn {

// Fills all of `event` but `text` where the bytes are no event, which leaves its kind kUnknown.
void DecodePixBlob(std::span<const std::byte> bytes, PixEvent& event);

}  // namespace cairn

#endif  // CAIRN_FORMAT_PIX_BLOB_H_
