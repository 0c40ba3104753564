// SPDX-License-Identifier: Apache-2.0
#include "format/file/payload.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <span>

#include "base/crc32c.h"

namespace cairn {
namespace {

constexpr size_t kCheckPieceBytes = size_t{256} << 10;

Status WrongChecksum(uint32_t found, uint32_t expected) {
  return Status(
      StatusCode::kCorrupt,
      fmt::format("its payload is damaged (CRC32C {:08x} instead of {:08x})", found, expected));
}

// The only allocation whose size comes from the file; both sizes are within kMaxChunkBytes.
Status Resize(std::vector<std::byte>& bytes, size_t size) {
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, fmt::format("no memory for its {} bytes", size));
  }
  return Status();
}

Status CheckEncoding(const ChunkInfo& chunk) {
  if ((chunk.flags & kChunkUnknownEncoding) != 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("it is stored in a way that this version does not know (flags "
                              "{:#x}); use a newer Cairn",
                              chunk.flags));
  }
  const bool zstd = (chunk.flags & kChunkZstd) != 0;
  if (zstd ? chunk.stored_bytes < chunk.raw_bytes : chunk.stored_bytes == chunk.raw_bytes) {
    return Status();
  }
  return Status(StatusCode::kCorrupt,
                fmt::format("its sizes contradict each other ({} bytes stored{}, {} decoded)",
                            chunk.stored_bytes, zstd ? " with zstd" : "", chunk.raw_bytes));
}

Status Decompress(std::span<const std::byte> stored, size_t raw_bytes,
                  std::vector<std::byte>& raw) {
  // Check before allocating: the frame itself has to state the size that the chunk states.
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_bytes ||
      ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("its payload is not one zstd frame of {} bytes", raw_bytes));
  }
  CAIRN_RETURN_IF_ERROR(Resize(raw, raw_bytes));
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (!ZSTD_isError(size) && size == raw_bytes) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("its payload does not decompress: {}",
                            ZSTD_isError(size) ? ZSTD_getErrorName(size) : "it is too short"));
}

}  // namespace

Status CheckPayload(const ByteSource& source, const ChunkInfo& chunk) {
  std::vector<std::byte> piece(std::min<size_t>(kCheckPieceBytes, chunk.stored_bytes));
  uint32_t crc = 0;
  for (size_t done = 0; done < chunk.stored_bytes;) {
    const auto part =
        std::span(piece).first(std::min<size_t>(piece.size(), chunk.stored_bytes - done));
    CAIRN_RETURN_IF_ERROR(source.ReadAt(chunk.payload_offset() + done, part));
    crc = Crc32c(part, crc);
    done += part.size();
  }
  return crc == chunk.payload_crc ? Status() : WrongChecksum(crc, chunk.payload_crc);
}

Result<std::vector<std::byte>> ReadPayload(const ByteSource& source, const ChunkInfo& chunk) {
  CAIRN_RETURN_IF_ERROR(CheckEncoding(chunk));
  std::vector<std::byte> stored;
  CAIRN_RETURN_IF_ERROR(Resize(stored, chunk.stored_bytes));
  CAIRN_RETURN_IF_ERROR(source.ReadAt(chunk.payload_offset(), stored));
  const uint32_t crc = Crc32c(stored);
  if (crc != chunk.payload_crc) return WrongChecksum(crc, chunk.payload_crc);
  if ((chunk.flags & kChunkZstd) == 0) return stored;
  std::vector<std::byte> raw;
  CAIRN_RETURN_IF_ERROR(Decompress(stored, chunk.raw_bytes, raw));
  return raw;
}

}  // namespace cairn
