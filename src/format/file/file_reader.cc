// SPDX-License-Identifier: Apache-2.0
#include "format/file/file_reader.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "format/file/file_cost.h"
#include "format/file/payload.h"

namespace cairn {

struct FileReader::State {
  void DropDamagedChunks(LossList& list);
  void DropCostlyChunks(LossList& list);

  std::unique_ptr<ByteSource> source;
  FileVersion version;
  bool has_index = false;
  std::vector<ChunkInfo> chunks;
  std::vector<Loss> losses;
};

void FileReader::State::DropDamagedChunks(LossList& list) {
  std::vector<ChunkInfo> good;
  good.reserve(chunks.size());
  for (const ChunkInfo& chunk : chunks) {
    const Status status = CheckPayload(*source, chunk);
    if (status.ok()) {
      good.push_back(chunk);
    } else {
      list.Add(chunk.offset, chunk.payload_offset() + chunk.stored_bytes - chunk.offset,
               fmt::format("a chunk of type {} is lost: {}", ChunkTypeName(chunk.type),
                           status.message()));
    }
  }
  chunks = std::move(good);
}

void FileReader::State::DropCostlyChunks(LossList& list) {
  const uint64_t budget = FileBudget(source->size_bytes(), kDecodedBytes);
  uint64_t decoded_bytes = 0;
  std::erase_if(chunks, [&](const ChunkInfo& chunk) {
    if (chunk.raw_bytes <= budget - decoded_bytes) {
      decoded_bytes += chunk.raw_bytes;
      return false;
    }
    list.Add(chunk.offset, chunk.end_offset() - chunk.offset,
             fmt::format("a chunk of type {} is skipped: it would decode to {} bytes, and all that "
                         "a file of {} bytes may decode to is {}",
                         ChunkTypeName(chunk.type), chunk.raw_bytes, source->size_bytes(), budget));
    return true;
  });
}

FileReader::FileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileReader::FileReader(FileReader&&) noexcept = default;
FileReader& FileReader::operator=(FileReader&&) noexcept = default;
FileReader::~FileReader() = default;

Result<FileReader> FileReader::Open(const std::string& path, Check check) {
  Result<std::unique_ptr<ByteSource>> source = OpenFileSource(path);
  if (!source.ok()) return source.status().NamingFile();
  Result<FileReader> reader = FromSource(std::move(source).value(), check);
  if (!reader.ok()) return reader.status().WithFile(VisibleText(path));
  return reader;
}

Result<FileReader> FileReader::FromBytes(std::span<const std::byte> bytes, Check check) {
  return FromSource(MakeMemorySource(bytes), check);
}

Result<FileReader> FileReader::FromSource(std::unique_ptr<ByteSource> source, Check check) {
  Result<Layout> layout = FindChunks(*source);
  if (!layout.ok()) return layout.status();
  auto state = std::make_unique<State>();
  state->source = std::move(source);
  state->version = layout->version;
  state->has_index = layout->has_index;
  state->chunks = std::move(layout->chunks);
  state->DropCostlyChunks(layout->losses);
  if (check == Check::kPayloads) state->DropDamagedChunks(layout->losses);
  state->losses = layout->losses.Take();
  return FileReader(std::move(state));
}

FileVersion FileReader::version() const {
  return state_->version;
}

uint64_t FileReader::size_bytes() const {
  return state_->source->size_bytes();
}

const std::vector<ChunkInfo>& FileReader::chunks() const {
  return state_->chunks;
}

const std::vector<Loss>& FileReader::losses() const {
  return state_->losses;
}

bool FileReader::has_index() const {
  return state_->has_index;
}

Result<std::vector<std::byte>> FileReader::Read(size_t index) const {
  if (index >= state_->chunks.size()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("there is no chunk {}: the file has {}",
                                                            index, state_->chunks.size()));
  }
  const ChunkInfo& chunk = state_->chunks[index];
  Result<std::vector<std::byte>> payload = ReadPayload(*state_->source, chunk);
  if (payload.ok()) return payload;
  return payload.status().WithContext(
      fmt::format("chunk {} at offset {}", ChunkTypeName(chunk.type), chunk.offset));
}

}  // namespace cairn
