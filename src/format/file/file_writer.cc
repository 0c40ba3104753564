// SPDX-License-Identifier: Apache-2.0
#include "format/file/file_writer.h"

#include <fmt/format.h>
#include <zstd.h>

#include <cstring>
#include <new>
#include <utility>

#include "base/byte_writer.h"
#include "base/crc32c.h"

namespace cairn {
namespace {

constexpr int kZstdLevel = 1;
// For kZstdSmall. Records are short and alike: matches of three bytes, which only the strategies from btopt on
// look for, are what makes files several times smaller; how long they are looked for matters little.
struct ZstdParameter {
  ZSTD_cParameter name;
  int value;
};
constexpr ZstdParameter kZstdSmallParameters[] = {
    {ZSTD_c_compressionLevel, 12}, {ZSTD_c_strategy, ZSTD_btopt}, {ZSTD_c_minMatch, 3},
    {ZSTD_c_searchLog, 2},         {ZSTD_c_targetLength, 32},
};
// A zstd frame costs about 16 bytes: below this size nothing is gained.
constexpr size_t kMinCompressBytes = 64;
// Padding of one chunk, so that header, payload and padding go out in one write.
constexpr size_t kMaxPaddingBytes = kChunkAlignment - 1;

bool IsPrintable(ChunkType type) {
  for (int shift = 0; shift < 32; shift += 8) {
    const uint32_t character = type >> shift & 0xFF;
    if (character < 0x20 || character > 0x7E) return false;
  }
  return true;
}

struct ZstdContextDeleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

struct FileWriter::State {
  State(std::unique_ptr<ByteSink> output, Compression wanted)
      : sink(std::move(output)), compression(wanted) {}

  Status Grow(size_t payload_bytes);
  ChunkInfo Store(ChunkType type, std::span<const std::byte> payload);
  Status WriteChunk(ChunkType type, std::span<const std::byte> payload);
  Status WriteBytes(std::span<const std::byte> bytes);
  // Ok while the writer accepts calls.
  Status Usable() const;

  std::unique_ptr<ByteSink> sink;
  Compression compression;
  std::unique_ptr<ZSTD_CCtx, ZstdContextDeleter> zstd;
  std::unique_ptr<std::byte[]> buffer;  // one encoded chunk
  size_t buffer_bytes = 0;
  ByteWriter index;
  uint64_t size_bytes = 0;
  uint32_t chunk_count = 0;
  bool finished = false;
  Status error;  // the first write that failed
};

Status FileWriter::State::Usable() const {
  if (!error.ok()) return error;
  if (!finished) return Status();
  return Status(StatusCode::kInvalidArgument,
                "the .cairn file is finished; create another one for more chunks");
}

Status FileWriter::State::Grow(size_t payload_bytes) {
  const size_t needed = kChunkHeaderBytes + payload_bytes + kMaxPaddingBytes;
  if (buffer_bytes < needed) {
    buffer.reset(new (std::nothrow) std::byte[needed]);
    buffer_bytes = buffer != nullptr ? needed : 0;
  }
  if (compression != Compression::kNone && zstd == nullptr) {
    zstd.reset(ZSTD_createCCtx());
    if (zstd != nullptr && compression == Compression::kZstdSmall) {
      for (const ZstdParameter& parameter : kZstdSmallParameters) {
        ZSTD_CCtx_setParameter(zstd.get(), parameter.name, parameter.value);
      }
    }
  }
  if (buffer != nullptr && (compression == Compression::kNone || zstd != nullptr)) return Status();
  return Status(StatusCode::kOutOfMemory,
                fmt::format("no memory for a chunk of {} bytes", payload_bytes));
}

// Puts the payload into the buffer, compressed if that makes it smaller.
ChunkInfo FileWriter::State::Store(ChunkType type, std::span<const std::byte> payload) {
  ChunkInfo info;
  info.type = type;
  info.offset = size_bytes;
  info.raw_bytes = static_cast<uint32_t>(payload.size());
  info.stored_bytes = info.raw_bytes;
  std::byte* stored = buffer.get() + kChunkHeaderBytes;
  size_t compressed = 0;
  if (compression != Compression::kNone && payload.size() >= kMinCompressBytes) {
    // Room for one byte less than the payload: zstd gives up when that is not enough.
    compressed =
        compression == Compression::kZstdSmall
            ? ZSTD_compress2(zstd.get(), stored, payload.size() - 1, payload.data(), payload.size())
            : ZSTD_compressCCtx(zstd.get(), stored, payload.size() - 1, payload.data(),
                                payload.size(), kZstdLevel);
    if (ZSTD_isError(compressed)) compressed = 0;
  }
  if (compressed != 0) {
    info.flags = kChunkZstd;
    info.stored_bytes = static_cast<uint32_t>(compressed);
  } else if (!payload.empty()) {
    std::memcpy(stored, payload.data(), payload.size());
  }
  info.payload_crc = Crc32c({stored, info.stored_bytes});
  return info;
}

Status FileWriter::State::WriteChunk(ChunkType type, std::span<const std::byte> payload) {
  CAIRN_RETURN_IF_ERROR(Grow(payload.size()));
  const ChunkInfo info = Store(type, payload);
  const auto header = EncodeChunkHeader({info, chunk_count});
  std::memcpy(buffer.get(), header.data(), header.size());
  const size_t chunk_bytes = static_cast<size_t>(info.end_offset() - info.offset);
  const size_t used_bytes = kChunkHeaderBytes + info.stored_bytes;
  std::memset(buffer.get() + used_bytes, 0, chunk_bytes - used_bytes);
  CAIRN_RETURN_IF_ERROR(WriteBytes({buffer.get(), chunk_bytes}));
  if (type != kIndexChunk) {
    index.WriteBytes(EncodeIndexEntry(info));
    ++chunk_count;
  }
  return Status();
}

Status FileWriter::State::WriteBytes(std::span<const std::byte> bytes) {
  error = sink->Write(bytes);
  if (!error.ok()) {
    sink->CutBack(size_bytes);
    if (chunk_count == 0) return error;
    error = Status(error.code(),
                   fmt::format("{} ({} chunks, {} bytes, are in the file and stay readable)",
                               error.message(), chunk_count, size_bytes));
    return error;
  }
  size_bytes += bytes.size();
  return Status();
}

FileWriter::FileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileWriter::FileWriter(FileWriter&&) noexcept = default;
FileWriter& FileWriter::operator=(FileWriter&&) noexcept = default;
FileWriter::~FileWriter() {
  if (state_ != nullptr && !state_->finished && state_->chunk_count == 0) state_->sink->Discard();
}

Result<FileWriter> FileWriter::Create(const std::string& path, Compression compression,
                                      SpareSpace* space) {
  Result<std::unique_ptr<ByteSink>> sink = OpenFileSink(path, space);
  if (!sink.ok()) return sink.status();
  return CreateOn(std::move(sink).value(), compression);
}

Result<FileWriter> FileWriter::CreateOn(std::unique_ptr<ByteSink> sink, Compression compression) {
  FileWriter writer(std::make_unique<State>(std::move(sink), compression));
  CAIRN_RETURN_IF_ERROR(
      writer.state_->WriteBytes(EncodeFileHeader({kFileMajorVersion, kFileMinorVersion})));
  return writer;
}

Status FileWriter::Append(ChunkType type, std::span<const std::byte> payload) {
  CAIRN_RETURN_IF_ERROR(state_->Usable());
  if (type == kIndexChunk || !IsPrintable(type)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("chunk type {} is {}", ChunkTypeName(type),
                              type == kIndexChunk ? "written by Finish alone"
                                                  : "not made of four printable characters"));
  }
  if (payload.size() > kMaxChunkBytes) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a chunk of {} bytes is larger than the limit of {} bytes; split it",
                              payload.size(), kMaxChunkBytes));
  }
  if (state_->chunk_count == kMaxChunkCount) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the file has {} chunks, which is the limit; finish it and go on in "
                              "another one",
                              kMaxChunkCount));
  }
  return state_->WriteChunk(type, payload);
}

Status FileWriter::Sync() {
  CAIRN_RETURN_IF_ERROR(state_->Usable());
  return state_->sink->Sync();
}

Status FileWriter::Finish() {
  CAIRN_RETURN_IF_ERROR(state_->Usable());
  Trailer trailer;
  trailer.index_offset = state_->size_bytes;
  trailer.chunk_count = state_->chunk_count;
  CAIRN_RETURN_IF_ERROR(state_->WriteChunk(kIndexChunk, state_->index.bytes()));
  trailer.file_bytes = state_->size_bytes + kTrailerBytes;
  CAIRN_RETURN_IF_ERROR(state_->WriteBytes(EncodeTrailer(trailer)));
  state_->error = state_->sink->Commit();
  state_->finished = true;
  return state_->error;
}

uint64_t FileWriter::size_bytes() const {
  return state_->size_bytes;
}

uint32_t FileWriter::chunk_count() const {
  return state_->chunk_count;
}

}  // namespace cairn
