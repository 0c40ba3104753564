// SPDX-License-Identifier: Apache-2.0
//
// For tests, fuzzer and benchmark: sinks in memory, and .cairn files that no writer would write.
#ifndef CAIRN_FORMAT_FILE_TESTING_TEST_CONTAINER_H_
#define CAIRN_FORMAT_FILE_TESTING_TEST_CONTAINER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"
#include "base/crc32c.h"
#include "format/file/byte_sink.h"
#include "format/file/chunk.h"

namespace cairn {

inline std::vector<std::byte> ToBytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

inline std::string ToText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The bytes that a MemorySink received, and its failures to simulate. Outlives the sink.
struct MemoryFile {
  std::vector<std::byte> bytes;
  size_t capacity_bytes = std::numeric_limits<size_t>::max();  // a write beyond it fails
  bool can_cut = true;
  bool sync_fails = false;
  bool commit_fails = false;
  int sync_count = 0;
  bool committed = false;
};

class MemorySink : public ByteSink {
 public:
  explicit MemorySink(MemoryFile& file) : file_(file) {}

  Status Write(std::span<const std::byte> bytes) override {
    const size_t room = file_.capacity_bytes - file_.bytes.size();
    const auto fits = bytes.first(std::min(bytes.size(), room));
    file_.bytes.insert(file_.bytes.end(), fits.begin(), fits.end());
    return fits.size() == bytes.size() ? Status() : Status(StatusCode::kIo, "the disk is full");
  }
  void CutBack(uint64_t size_bytes) override {
    if (file_.can_cut) file_.bytes.resize(static_cast<size_t>(size_bytes));
  }
  Status Sync() override {
    ++file_.sync_count;
    return file_.sync_fails ? Status(StatusCode::kIo, "the disk is gone") : Status();
  }
  Status Commit() override {
    if (file_.commit_fails) return Status(StatusCode::kIo, "the name is taken");
    file_.committed = true;
    return Status();
  }

 private:
  MemoryFile& file_;
};

// Lays bytes out as the specification says, with every field open to lies; checksums are right.
class ContainerBuilder {
 public:
  explicit ContainerBuilder(FileVersion version = {kFileMajorVersion, kFileMinorVersion}) {
    writer_.WriteBytes(EncodeFileHeader(version));
  }

  // A chunk whose header states `info` (offset and payload CRC are filled in) and whose payload is
  // `stored`. Returns what its header says.
  ChunkInfo Add(ChunkInfo info, std::span<const std::byte> stored) {
    info.offset = writer_.size();
    info.payload_crc = Crc32c(stored);
    writer_.WriteBytes(EncodeChunkHeader({info, sequence_++}));
    writer_.WriteBytes(stored);
    writer_.AlignTo(kChunkAlignment);
    return info;
  }
  ChunkInfo AddRaw(ChunkType type, std::span<const std::byte> payload, uint32_t flags = 0) {
    ChunkInfo info;
    info.type = type;
    info.flags = flags;
    info.stored_bytes = info.raw_bytes = static_cast<uint32_t>(payload.size());
    return Add(info, payload);
  }
  ChunkInfo AddZstd(ChunkType type, std::span<const std::byte> stored, uint32_t raw_bytes) {
    ChunkInfo info;
    info.type = type;
    info.flags = kChunkZstd;
    info.stored_bytes = static_cast<uint32_t>(stored.size());
    info.raw_bytes = raw_bytes;
    return Add(info, stored);
  }
  void AddIndex(std::span<const ChunkInfo> chunks) {
    ByteWriter index;
    for (const ChunkInfo& chunk : chunks) index.WriteBytes(EncodeIndexEntry(chunk));
    index_offset_ = writer_.size();
    AddRaw(kIndexChunk, index.bytes());
  }
  void AddTrailer(uint32_t chunk_count) {
    writer_.WriteBytes(EncodeTrailer({index_offset_, writer_.size() + kTrailerBytes, chunk_count}));
  }
  void SkipSequence(uint32_t count) { sequence_ += count; }

  std::span<const std::byte> bytes() const { return writer_.bytes(); }
  size_t size() const { return writer_.size(); }

 private:
  ByteWriter writer_;
  uint32_t sequence_ = 0;
  uint64_t index_offset_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_TESTING_TEST_CONTAINER_H_
