// SPDX-License-Identifier: Apache-2.0
#include "format/file/find_chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "format/file/payload.h"

namespace cairn {
namespace {

// The range that is searched for a chunk header when the file header is damaged.
constexpr uint64_t kHeaderSearchBytes = 4096;

// A view of the file that moves forward, for reading a few bytes at many places.
class Window {
 public:
  explicit Window(const ByteSource& source) : source_(source) {}

  // Up to `size` bytes at `offset`, fewer only at the end of the file. Bytes that cannot be read
  // are zeros: they hold no chunk, and the search goes on behind them.
  std::span<const std::byte> At(uint64_t offset, size_t size) {
    const uint64_t file_bytes = source_.size_bytes();
    if (offset >= file_bytes) return {};
    size = static_cast<size_t>(std::min<uint64_t>(size, file_bytes - offset));
    if (offset < start_ || offset + size > start_ + bytes_.size()) Load(offset);
    return std::span<const std::byte>(bytes_).subspan(static_cast<size_t>(offset - start_), size);
  }

 private:
  static constexpr size_t kWindowBytes = size_t{256} << 10;
  static constexpr size_t kRetryBytes = 4096;

  void Load(uint64_t offset) {
    start_ = offset;
    bytes_.resize(
        static_cast<size_t>(std::min<uint64_t>(kWindowBytes, source_.size_bytes() - offset)));
    if (source_.ReadAt(offset, bytes_).ok()) return;
    // A bad block on the disk: save what is around it.
    for (size_t at = 0; at < bytes_.size(); at += kRetryBytes) {
      const auto piece = std::span(bytes_).subspan(at, std::min(kRetryBytes, bytes_.size() - at));
      if (!source_.ReadAt(offset + at, piece).ok()) std::ranges::fill(piece, std::byte{0});
    }
  }

  const ByteSource& source_;
  uint64_t start_ = 0;
  std::vector<std::byte> bytes_;
};

class ChunkFinder {
 public:
  explicit ChunkFinder(const ByteSource& source)
      : source_(source), file_bytes_(source.size_bytes()), window_(source) {}

  Result<Layout> Find();

 private:
  Status ReadFileHeader();
  Status RefuseFile(std::span<const std::byte> start);
  bool UseIndex();
  bool AddIndexEntries(std::span<const std::byte> index, const Trailer& trailer);
  void Walk();
  void WalkChunk(const ChunkHeader& header);
  void SkipDamage();
  void NoteEnd();
  bool IsComplete(const ChunkInfo& chunk) const {
    return chunk.payload_offset() + chunk.stored_bytes <= file_bytes_;
  }
  // The header at `offset`, unless its sequence number says that it does not belong there.
  std::optional<ChunkHeader> HeaderAt(uint64_t offset);
  bool TrailerIsAt(uint64_t offset);

  const ByteSource& source_;
  const uint64_t file_bytes_;
  Window window_;
  Layout layout_;
  std::optional<uint64_t> damaged_index_offset_;

  // State of the walk.
  uint64_t at_ = kFileHeaderBytes;
  uint64_t next_sequence_ = 0;
  bool index_seen_ = false;
  bool trailer_seen_ = false;
};

Result<Layout> ChunkFinder::Find() {
  CAIRN_RETURN_IF_ERROR(ReadFileHeader());
  layout_.has_index = UseIndex();
  if (!layout_.has_index) Walk();
  return std::move(layout_);
}

Status ChunkFinder::ReadFileHeader() {
  if (file_bytes_ == 0) {
    return Status(StatusCode::kCorrupt,
                  "the file is empty: its writer was stopped before it wrote anything, or a copy "
                  "of it failed");
  }
  std::array<std::byte, kFileHeaderBytes> bytes{};
  const auto start =
      std::span(bytes).first(static_cast<size_t>(std::min<uint64_t>(file_bytes_, bytes.size())));
  CAIRN_RETURN_IF_ERROR(source_.ReadAt(0, start));
  const std::optional<FileVersion> version = DecodeFileHeader(start);
  if (!version) {
    for (uint64_t at = kFileHeaderBytes; at < kHeaderSearchBytes; at += kChunkAlignment) {
      if (!HeaderAt(at)) continue;
      layout_.losses.Add(0, kFileHeaderBytes,
                         "the file header is damaged; the file is read as version 1");
      return Status();
    }
    return RefuseFile(start);
  }
  layout_.version = *version;
  if (version->major == kFileMajorVersion) return Status();
  return Status(StatusCode::kUnsupported,
                fmt::format("the file has version {}.{} and this Cairn reads version {}{}",
                            version->major, version->minor, kFileMajorVersion,
                            version->major > kFileMajorVersion ? "; use a newer Cairn" : ""));
}

Status ChunkFinder::RefuseFile(std::span<const std::byte> start) {
  if (!HasFileMagic(start)) {
    std::string hex;
    for (const std::byte byte : start.first(std::min<size_t>(start.size(), 8))) {
      hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", static_cast<uint8_t>(byte));
    }
    return Status(StatusCode::kCorrupt,
                  fmt::format("not a .cairn file: it starts with {}, and a .cairn file with "
                              "89 43 41 49 52 4e 0d 0a",
                              hex));
  }
  if (start.size() < kFileHeaderBytes) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("nothing of the file can be read: only {} of the {} bytes of its "
                              "header are present",
                              start.size(), kFileHeaderBytes));
  }
  return Status(StatusCode::kCorrupt,
                "nothing of the file can be read: its header is damaged and no chunk follows");
}

bool ChunkFinder::UseIndex() {
  if (file_bytes_ < kFileHeaderBytes + kChunkHeaderBytes + kTrailerBytes) return false;
  std::array<std::byte, kTrailerBytes> bytes{};
  if (!source_.ReadAt(file_bytes_ - kTrailerBytes, bytes).ok()) return false;
  const std::optional<Trailer> trailer = DecodeTrailer(bytes);
  if (!trailer || trailer->file_bytes != file_bytes_) return false;
  std::array<std::byte, kChunkHeaderBytes> header_bytes{};
  const uint64_t offset = trailer->index_offset;
  if (offset <= file_bytes_ - kTrailerBytes - kChunkHeaderBytes &&
      source_.ReadAt(offset, header_bytes).ok()) {
    const std::optional<ChunkHeader> header = DecodeChunkHeader(header_bytes, offset);
    if (header && header->info.type == kIndexChunk && IsComplete(header->info)) {
      const Result<std::vector<std::byte>> index = ReadPayload(source_, header->info);
      if (index.ok() && AddIndexEntries(*index, *trailer)) return true;
    }
  }
  damaged_index_offset_ = offset;
  layout_.losses.Add(std::min(offset, file_bytes_), 0,
                     "the index is damaged; the chunks were found by scanning");
  return false;
}

// Accepts an index only if its chunks fill the file without a gap, so that it can hide nothing.
bool ChunkFinder::AddIndexEntries(std::span<const std::byte> index, const Trailer& trailer) {
  const uint64_t count = trailer.chunk_count;
  if (count > kMaxChunkCount || index.size() != count * kIndexEntryBytes) return false;
  std::vector<ChunkInfo> chunks;
  chunks.reserve(static_cast<size_t>(count));
  uint64_t end = kFileHeaderBytes;
  for (; !index.empty(); index = index.subspan(kIndexEntryBytes)) {
    const std::optional<ChunkInfo> chunk = DecodeIndexEntry(index.first(kIndexEntryBytes));
    if (!chunk || chunk->offset != end || chunk->type == kIndexChunk) return false;
    end = chunk->end_offset();
    if (end > trailer.index_offset) return false;
    chunks.push_back(*chunk);
  }
  if (end != trailer.index_offset) return false;
  layout_.chunks = std::move(chunks);
  return true;
}

std::optional<ChunkHeader> ChunkFinder::HeaderAt(uint64_t offset) {
  const std::optional<ChunkHeader> header =
      DecodeChunkHeader(window_.At(offset, kChunkHeaderBytes), offset);
  if (!header || header->sequence < next_sequence_ || header->sequence > kMaxChunkCount) {
    return std::nullopt;
  }
  return header;
}

bool ChunkFinder::TrailerIsAt(uint64_t offset) {
  const std::optional<Trailer> trailer = DecodeTrailer(window_.At(offset, kTrailerBytes));
  return trailer && trailer->file_bytes == offset + kTrailerBytes;
}

void ChunkFinder::Walk() {
  while (at_ < file_bytes_ && !trailer_seen_) {
    if (layout_.chunks.size() == kMaxChunkCount) {
      layout_.losses.Add(
          at_, file_bytes_ - at_,
          fmt::format("the file has more than {} chunks; the rest is not read", kMaxChunkCount));
      return;
    }
    const std::optional<ChunkHeader> header = HeaderAt(at_);
    if (header && IsComplete(header->info)) {
      WalkChunk(*header);
    } else if (TrailerIsAt(at_)) {
      trailer_seen_ = true;
      at_ += kTrailerBytes;
    } else {
      SkipDamage();
    }
  }
  NoteEnd();
}

void ChunkFinder::WalkChunk(const ChunkHeader& header) {
  if (header.info.type == kIndexChunk) {
    index_seen_ = true;
  } else {
    layout_.chunks.push_back(header.info);
  }
  next_sequence_ = uint64_t{header.sequence} + 1;
  at_ = header.info.end_offset();
}

// Moves to the next chunk or trailer, or to the end, and lists what was passed over.
void ChunkFinder::SkipDamage() {
  const uint64_t start = at_;
  const std::optional<ChunkHeader> cut = HeaderAt(start);
  std::optional<ChunkHeader> next;
  do {
    at_ += kChunkAlignment;
    next = HeaderAt(at_);
  } while (at_ < file_bytes_ && !(next && IsComplete(next->info)) && !TrailerIsAt(at_));
  at_ = std::min(at_, file_bytes_);
  const uint64_t size = at_ - start;
  if (cut) {
    const uint64_t present = file_bytes_ - std::min(file_bytes_, cut->info.payload_offset());
    layout_.losses.Add(
        start, size,
        fmt::format("chunk {} ({}) is incomplete: {} of its {} payload bytes are "
                    "present",
                    cut->sequence, ChunkTypeName(cut->info.type), present, cut->info.stored_bytes));
    return;
  }
  // Already listed as a damaged index, or about to be listed as a damaged trailer.
  if (damaged_index_offset_ == start || (index_seen_ && at_ == file_bytes_)) return;
  const bool counted = at_ < file_bytes_ && next && next->sequence > next_sequence_;
  layout_.losses.Add(
      start, size,
      counted ? fmt::format("{} bytes hold no readable chunk; {} lost here", size,
                            next->sequence - next_sequence_ == 1
                                ? "1 chunk is"
                                : fmt::format("{} chunks are", next->sequence - next_sequence_))
              : fmt::format("{} bytes hold no readable chunk", size));
}

void ChunkFinder::NoteEnd() {
  if (trailer_seen_) {
    if (at_ < file_bytes_) {
      layout_.losses.Add(at_, file_bytes_ - at_, "bytes follow the end of the .cairn file");
    } else if (!damaged_index_offset_) {
      layout_.losses.Add(at_, 0, "the index is missing; the chunks were found by scanning");
    }
  } else if (index_seen_) {
    layout_.losses.Add(file_bytes_, 0,
                       "the trailer is damaged or incomplete; the chunks were found by scanning");
  } else {
    layout_.losses.Add(file_bytes_, 0,
                       "the end of the file is missing: its writer was interrupted or is still "
                       "writing, or the file was cut; chunks that came later are not in it");
  }
}

}  // namespace

void LossList::Add(uint64_t offset, uint64_t size_bytes, std::string reason) {
  if (losses_.size() < kMaxLosses) {
    losses_.push_back({offset, size_bytes, std::move(reason)});
  } else {
    ++dropped_count_;
  }
}

std::vector<Loss> LossList::Take() {
  std::stable_sort(losses_.begin(), losses_.end(),
                   [](const Loss& a, const Loss& b) { return a.offset < b.offset; });
  if (dropped_count_ != 0) {
    const Loss& last = losses_.back();
    losses_.push_back({last.offset + last.size_bytes, 0,
                       fmt::format("{} more places are damaged", dropped_count_)});
  }
  return std::move(losses_);
}

Result<Layout> FindChunks(const ByteSource& source) {
  return ChunkFinder(source).Find();
}

}  // namespace cairn
