// SPDX-License-Identifier: Apache-2.0
#include "format/file/chunk.h"

#include <algorithm>
#include <string_view>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/crc32c.h"
#include "base/text.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic =
    "\x89"
    "CAIRN\r\n";
constexpr std::string_view kSyncMarker =
    "\xF0\x9F\xAA\xA8"
    "CHK1";
constexpr std::string_view kEndMarker =
    "\xF0\x9F\xAA\xA8"
    "END1";
constexpr size_t kMarkerBytes = 8;
constexpr size_t kCrcBytes = 4;

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool StartsWith(std::span<const std::byte> bytes, std::string_view marker) {
  return bytes.size() >= marker.size() &&
         std::equal(marker.begin(), marker.end(), reinterpret_cast<const char*>(bytes.data()));
}

// The structure in `writer`, with its CRC in the last four of `Size` bytes.
template <size_t Size>
std::array<std::byte, Size> Seal(ByteWriter& writer) {
  writer.WriteU32(Crc32c(writer.bytes()));
  std::array<std::byte, Size> sealed{};
  std::copy_n(writer.bytes().begin(), Size, sealed.begin());
  return sealed;
}

// True when `bytes` has a whole structure of `size` bytes that starts with `marker` and ends with
// the CRC of what is before it.
bool IsSealed(std::span<const std::byte> bytes, size_t size, std::string_view marker) {
  if (bytes.size() < size || !StartsWith(bytes, marker)) return false;
  ByteReader reader(bytes.subspan(size - kCrcBytes, kCrcBytes));
  uint32_t crc = 0;
  return reader.ReadU32(crc) && crc == Crc32c(bytes.first(size - kCrcBytes));
}

bool SizesAreWithinLimits(const ChunkInfo& info) {
  return info.stored_bytes <= kMaxChunkBytes && info.raw_bytes <= kMaxChunkBytes;
}

}  // namespace

std::string ChunkTypeName(ChunkType type) {
  std::string name(4, '\0');
  for (size_t i = 0; i < 4; ++i) name[i] = static_cast<char>(type >> (8 * i));
  return VisibleText(name);
}

std::array<std::byte, kFileHeaderBytes> EncodeFileHeader(FileVersion version) {
  ByteWriter writer;
  writer.WriteBytes(AsBytes(kMagic));
  writer.WriteU16(version.major);
  writer.WriteU16(version.minor);
  return Seal<kFileHeaderBytes>(writer);
}

std::array<std::byte, kChunkHeaderBytes> EncodeChunkHeader(const ChunkHeader& header) {
  ByteWriter writer;
  writer.WriteBytes(AsBytes(kSyncMarker));
  writer.WriteU32(header.info.type);
  writer.WriteU32(header.info.flags);
  writer.WriteU64(header.info.offset);
  writer.WriteU32(header.info.stored_bytes);
  writer.WriteU32(header.info.raw_bytes);
  writer.WriteU32(header.info.payload_crc);
  writer.WriteU32(header.sequence);
  writer.WriteU32(0);
  return Seal<kChunkHeaderBytes>(writer);
}

std::array<std::byte, kIndexEntryBytes> EncodeIndexEntry(const ChunkInfo& info) {
  ByteWriter writer;
  writer.WriteU64(info.offset);
  writer.WriteU32(info.type);
  writer.WriteU32(info.flags);
  writer.WriteU32(info.stored_bytes);
  writer.WriteU32(info.raw_bytes);
  writer.WriteU32(info.payload_crc);
  writer.WriteU32(0);
  std::array<std::byte, kIndexEntryBytes> entry{};
  std::copy_n(writer.bytes().begin(), kIndexEntryBytes, entry.begin());
  return entry;
}

std::array<std::byte, kTrailerBytes> EncodeTrailer(const Trailer& trailer) {
  ByteWriter writer;
  writer.WriteBytes(AsBytes(kEndMarker));
  writer.WriteU64(trailer.index_offset);
  writer.WriteU64(trailer.file_bytes);
  writer.WriteU32(trailer.chunk_count);
  return Seal<kTrailerBytes>(writer);
}

bool HasFileMagic(std::span<const std::byte> bytes) {
  return !bytes.empty() && StartsWith(bytes, kMagic.substr(0, bytes.size()));
}

std::optional<FileVersion> DecodeFileHeader(std::span<const std::byte> bytes) {
  if (!IsSealed(bytes, kFileHeaderBytes, kMagic)) return std::nullopt;
  ByteReader reader(bytes.subspan(kMarkerBytes));
  FileVersion version;
  reader.ReadU16(version.major);
  reader.ReadU16(version.minor);
  return version;
}

std::optional<ChunkHeader> DecodeChunkHeader(std::span<const std::byte> bytes, uint64_t offset) {
  if (!IsSealed(bytes, kChunkHeaderBytes, kSyncMarker)) return std::nullopt;
  ByteReader reader(bytes.subspan(kMarkerBytes));
  ChunkHeader header;
  reader.ReadU32(header.info.type);
  reader.ReadU32(header.info.flags);
  reader.ReadU64(header.info.offset);
  reader.ReadU32(header.info.stored_bytes);
  reader.ReadU32(header.info.raw_bytes);
  reader.ReadU32(header.info.payload_crc);
  reader.ReadU32(header.sequence);
  if (header.info.offset != offset || !SizesAreWithinLimits(header.info)) return std::nullopt;
  return header;
}

std::optional<ChunkInfo> DecodeIndexEntry(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  ChunkInfo info;
  uint32_t reserved = 0;
  reader.ReadU64(info.offset);
  reader.ReadU32(info.type);
  reader.ReadU32(info.flags);
  reader.ReadU32(info.stored_bytes);
  reader.ReadU32(info.raw_bytes);
  reader.ReadU32(info.payload_crc);
  if (!reader.ReadU32(reserved) || !SizesAreWithinLimits(info)) return std::nullopt;
  return info;
}

std::optional<Trailer> DecodeTrailer(std::span<const std::byte> bytes) {
  if (!IsSealed(bytes, kTrailerBytes, kEndMarker)) return std::nullopt;
  ByteReader reader(bytes.subspan(kMarkerBytes));
  Trailer trailer;
  reader.ReadU64(trailer.index_offset);
  reader.ReadU64(trailer.file_bytes);
  reader.ReadU32(trailer.chunk_count);
  return trailer;
}

}  // namespace cairn
