// SPDX-License-Identifier: Apache-2.0
//
// Shared by the writer and the reader of a .cairn file: chunk types, limits, and the encoding of
// the file header, chunk header, index entry and trailer. docs/formats/cairn-file.md specifies the bytes.
#ifndef CAIRN_FORMAT_FILE_CHUNK_H_
#define CAIRN_FORMAT_FILE_CHUNK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cairn {

// A FourCC: the first character in the lowest byte.
using ChunkType = uint32_t;
constexpr ChunkType MakeChunkType(const char (&name)[5]) {
  ChunkType type = 0;
  for (int i = 3; i >= 0; --i) type = type << 8 | static_cast<uint8_t>(name[i]);
  return type;
}
// The four characters, with unprintable ones made visible.
std::string ChunkTypeName(ChunkType type);

inline constexpr ChunkType kIndexChunk = MakeChunkType("INDX");

inline constexpr uint16_t kFileMajorVersion = 1;
inline constexpr uint16_t kFileMinorVersion = 0;
inline constexpr uint32_t kMaxChunkBytes = uint32_t{64} << 20;  // stored and raw
inline constexpr uint32_t kMaxChunkCount = uint32_t{1} << 20;   // the index not counted
inline constexpr uint32_t kChunkAlignment = 16;

inline constexpr uint32_t kChunkZstd = 1;                  // the payload is one zstd frame
inline constexpr uint32_t kChunkUnknownEncoding = 0xFFFE;  // flags that forbid decoding

inline constexpr size_t kFileHeaderBytes = 16;
inline constexpr size_t kChunkHeaderBytes = 48;
inline constexpr size_t kIndexEntryBytes = 32;
inline constexpr size_t kTrailerBytes = 32;

// The facts of a chunk from its header or its index entry.
struct ChunkInfo {
  ChunkType type = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;  // of the chunk's header in the file
  uint32_t stored_bytes = 0;
  uint32_t raw_bytes = 0;  // what Read() returns
  uint32_t payload_crc = 0;

  uint64_t payload_offset() const { return offset + kChunkHeaderBytes; }
  // Returns the file offset of the next chunk.
  uint64_t end_offset() const {
    const uint64_t end = payload_offset() + stored_bytes;
    return (end + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
  }
};

struct ChunkHeader {
  ChunkInfo info;
  uint32_t sequence = 0;
};

struct FileVersion {
  uint16_t major = 0;
  uint16_t minor = 0;
};

struct Trailer {
  uint64_t index_offset = 0;
  uint64_t file_bytes = 0;
  uint32_t chunk_count = 0;
};

std::array<std::byte, kFileHeaderBytes> EncodeFileHeader(FileVersion version);
std::array<std::byte, kChunkHeaderBytes> EncodeChunkHeader(const ChunkHeader& header);
std::array<std::byte, kIndexEntryBytes> EncodeIndexEntry(const ChunkInfo& info);
std::array<std::byte, kTrailerBytes> EncodeTrailer(const Trailer& trailer);

// True for the magic, and for the beginning of it when that is all there is.
bool HasFileMagic(std::span<const std::byte> bytes);

// Each decodes the structure that `bytes` begin with (fewer bytes give nullopt) and checks magic and
// CRC; an index entry has neither. The sizes in a decoded ChunkInfo are within kMaxChunkBytes; nothing else about them is checked.
std::optional<FileVersion> DecodeFileHeader(std::span<const std::byte> bytes);
// `offset` is where the bytes stand in the file: a header that names another place is refused.
std::optional<ChunkHeader> DecodeChunkHeader(std::span<const std::byte> bytes, uint64_t offset);
std::optional<ChunkInfo> DecodeIndexEntry(std::span<const std::byte> bytes);
std::optional<Trailer> DecodeTrailer(std::span<const std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_CHUNK_H_
