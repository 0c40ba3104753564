// SPDX-License-Identifier: Apache-2.0
// Any bytes must give chunks and losses or an error. Chunks that were read are written again and
// must be read back unchanged.
//
// Random changes break a checksum and so only ever test the search for the next chunk. The mutator
// therefore repairs the checksums of three out of four inputs, as a hostile writer would.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "format/file/file_reader.h"
#include "format/file/file_writer.h"
#include "format/file/testing/test_container.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace cairn {
namespace {

// Keeps one input from decoding gigabytes.
constexpr uint64_t kDecodeBudgetBytes = uint64_t{16} << 20;

void Require(bool condition) {
  if (!condition) std::abort();
}

void RequireConsistentStructure(const FileReader& reader, uint64_t file_bytes) {
  uint64_t end = kFileHeaderBytes;
  for (const ChunkInfo& chunk : reader.chunks()) {
    Require(chunk.offset >= end && chunk.offset % kChunkAlignment == 0);
    Require(chunk.payload_offset() + chunk.stored_bytes <= file_bytes);
    Require(chunk.stored_bytes <= kMaxChunkBytes && chunk.raw_bytes <= kMaxChunkBytes);
    Require(chunk.type != kIndexChunk);
    end = chunk.end_offset();
  }
  Require(reader.losses().size() <= kMaxLosses + 1);
  Require(reader.has_index() || !reader.losses().empty());
  for (const Loss& loss : reader.losses()) Require(!loss.reason.empty());
}

void WriteAgain(const std::vector<std::vector<std::byte>>& payloads) {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  Require(writer.ok());
  for (const auto& payload : payloads) {
    Require(writer->Append(MakeChunkType("xFUZ"), payload).ok());
  }
  Require(writer->Finish().ok());
  const Result<FileReader> reader = FileReader::FromBytes(file.bytes);
  Require(reader.ok() && reader->losses().empty() && reader->has_index());
  Require(reader->chunks().size() == payloads.size());
  for (size_t i = 0; i < payloads.size(); ++i) {
    const Result<std::vector<std::byte>> payload = reader->Read(i);
    Require(payload.ok() && *payload == payloads[i]);
  }
}

void ReadAll(std::span<const std::byte> bytes, Check check) {
  const Result<FileReader> reader = FileReader::FromBytes(bytes, check);
  if (!reader.ok()) {
    Require(!reader.status().message().empty());
    return;
  }
  RequireConsistentStructure(*reader, bytes.size());
  uint64_t budget = kDecodeBudgetBytes;
  std::vector<std::vector<std::byte>> payloads;
  for (size_t i = 0; i < reader->chunks().size(); ++i) {
    const ChunkInfo& chunk = reader->chunks()[i];
    if (chunk.raw_bytes > budget) continue;
    budget -= chunk.raw_bytes;
    Result<std::vector<std::byte>> payload = reader->Read(i);
    if (!payload.ok()) continue;
    Require(payload->size() == chunk.raw_bytes);
    payloads.push_back(std::move(payload).value());
  }
  if (check == Check::kPayloads) WriteAgain(payloads);
}

template <size_t Size>
void Put(uint8_t* data, const std::array<std::byte, Size>& bytes) {
  std::memcpy(data, bytes.data(), Size);
}

uint32_t U32At(const uint8_t* data) {
  return data[0] | uint32_t{data[1]} << 8 | uint32_t{data[2]} << 16 | uint32_t{data[3]} << 24;
}

// Gives the chunk header at `offset`, if something like one stands there, its checksums and place.
void RepairChunk(uint8_t* data, size_t size, size_t offset) {
  const auto pristine = EncodeChunkHeader({});
  if (std::memcmp(data + offset, pristine.data(), 8) != 0) return;
  ChunkHeader header;
  header.info.type = U32At(data + offset + 8);
  header.info.flags = U32At(data + offset + 12);
  header.info.offset = offset;
  header.info.stored_bytes = U32At(data + offset + 24);
  header.info.raw_bytes = U32At(data + offset + 28);
  header.sequence = U32At(data + offset + 36);
  const size_t room = size - offset - kChunkHeaderBytes;
  const std::span<const uint8_t> payload(data + offset + kChunkHeaderBytes,
                                         std::min<size_t>(header.info.stored_bytes, room));
  header.info.payload_crc = Crc32c(std::as_bytes(payload));
  Put(data + offset, EncodeChunkHeader(header));
}

void Repair(uint8_t* data, size_t size) {
  if (size >= kFileHeaderBytes) Put(data, EncodeFileHeader({kFileMajorVersion, data[10]}));
  for (size_t at = kFileHeaderBytes; at + kChunkHeaderBytes <= size; at += kChunkAlignment) {
    RepairChunk(data, size, at);
  }
  if (size < kFileHeaderBytes + kTrailerBytes) return;
  uint8_t* trailer = data + size - kTrailerBytes;
  if (std::memcmp(trailer, EncodeTrailer({}).data(), 8) != 0) return;
  const uint64_t index_offset = U32At(trailer + 8) | uint64_t{U32At(trailer + 12)} << 32;
  Put(trailer, EncodeTrailer({index_offset, size, U32At(trailer + 24)}));
}

}  // namespace
}  // namespace cairn

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 != 0) cairn::Repair(data, mutated);
  return mutated;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  cairn::ReadAll(bytes, cairn::Check::kPayloads);
  cairn::ReadAll(bytes, cairn::Check::kStructure);
  return 0;
}
