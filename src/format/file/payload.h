// SPDX-License-Identifier: Apache-2.0
//
// Reads, checks and decodes the payload of one chunk.
#ifndef CAIRN_FORMAT_FILE_PAYLOAD_H_
#define CAIRN_FORMAT_FILE_PAYLOAD_H_

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "format/file/byte_source.h"
#include "format/file/chunk.h"

namespace cairn {

// Ok when the stored bytes can be read and have the checksum that `chunk` states; kCorrupt or kIo
// otherwise. Reads piece by piece, so it needs little memory.
Status CheckPayload(const ByteSource& source, const ChunkInfo& chunk);

// The decoded payload: exactly chunk.raw_bytes bytes. Errors as FileReader::Read.
Result<std::vector<std::byte>> ReadPayload(const ByteSource& source, const ChunkInfo& chunk);

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_PAYLOAD_H_
