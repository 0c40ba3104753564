// SPDX-License-Identifier: Apache-2.0
// Damage of every kind, and exactly what survives it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "format/file/file_reader.h"
#include "format/file/file_writer.h"
#include "format/file/find_chunks.h"
#include "format/file/testing/test_container.h"

namespace cairn {
namespace {

constexpr ChunkType kMessage = MakeChunkType("xMSG");

using Contents = std::map<uint64_t, std::vector<std::byte>>;  // by chunk offset

// A file with raw, compressed and empty chunks.
struct Sample {
  std::vector<std::byte> bytes;
  std::vector<ChunkInfo> chunks;
  Contents contents;
  uint64_t index_offset = 0;
};

Sample Describe(std::vector<std::byte> bytes) {
  Sample sample;
  sample.bytes = std::move(bytes);
  const Result<FileReader> reader = FileReader::FromBytes(sample.bytes);
  EXPECT_TRUE(reader.ok() && reader->losses().empty() && reader->has_index());
  sample.chunks = reader->chunks();
  for (size_t i = 0; i < sample.chunks.size(); ++i) {
    sample.contents[sample.chunks[i].offset] = *reader->Read(i);
  }
  sample.index_offset = sample.chunks.back().end_offset();
  return sample;
}

Sample MixedSample() {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  EXPECT_TRUE(writer.ok());
  EXPECT_TRUE(writer->Append(kMessage, ToBytes("small and raw")).ok());
  EXPECT_TRUE(writer->Append(kMessage, ToBytes(std::string(3000, 'z'))).ok());
  EXPECT_TRUE(writer->Append(MakeChunkType("xNIL"), {}).ok());
  EXPECT_TRUE(writer->Append(MakeChunkType("xEND"), ToBytes("sixteen bytes...")).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return Describe(file.bytes);
}

Sample GoldenSample() {
  std::ifstream stream(CAIRN_SOURCE_DIR "/tests/golden/container-v1.cairn", std::ios::binary);
  EXPECT_TRUE(stream.is_open());
  return Describe(ToBytes(std::string(std::istreambuf_iterator<char>(stream), {})));
}

// Reads `bytes` and checks that every chunk that comes back is one that was written. Returns the
// offsets of those that did not come back.
std::set<uint64_t> LostChunks(const Sample& sample, std::span<const std::byte> bytes) {
  std::set<uint64_t> lost;
  for (const ChunkInfo& chunk : sample.chunks) lost.insert(chunk.offset);
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  if (!reader.ok()) return lost;
  for (size_t i = 0; i < reader->chunks().size(); ++i) {
    const Result<std::vector<std::byte>> payload = reader->Read(i);
    const auto original = sample.contents.find(reader->chunks()[i].offset);
    const bool as_written =
        payload.ok() && original != sample.contents.end() && *payload == original->second;
    EXPECT_TRUE(as_written) << "chunk at " << reader->chunks()[i].offset;
    lost.erase(reader->chunks()[i].offset);
  }
  EXPECT_TRUE(lost.empty() || !reader->losses().empty()) << "a silent loss";
  return lost;
}

// The position of a flipped byte.
enum class Part { kFileHeader, kHeader, kPayload, kPadding, kIndex };
struct Place {
  Part part = Part::kFileHeader;
  uint64_t chunk_offset = 0;
};

Place PlaceOf(const Sample& sample, uint64_t at) {
  if (at < kFileHeaderBytes) return {};
  for (const ChunkInfo& chunk : sample.chunks) {
    if (at < chunk.payload_offset()) return {Part::kHeader, chunk.offset};
    if (at < chunk.payload_offset() + chunk.stored_bytes) return {Part::kPayload, chunk.offset};
    if (at < chunk.end_offset()) return {Part::kPadding, chunk.offset};
  }
  return {Part::kIndex, 0};
}

void FlipEveryByte(const Sample& sample, std::span<const int> patterns) {
  std::vector<std::byte> bytes = sample.bytes;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int pattern : patterns) {
      bytes[at] ^= static_cast<std::byte>(pattern);
      const Place place = PlaceOf(sample, at);
      std::set<uint64_t> expected;
      if (place.part == Part::kPayload) expected.insert(place.chunk_offset);
      ASSERT_EQ(LostChunks(sample, bytes), expected) << "byte " << at << " ^ " << pattern;
      bytes[at] ^= static_cast<std::byte>(pattern);
    }
  }
}

std::vector<int> AllPatterns() {
  std::vector<int> patterns;
  for (int pattern = 1; pattern < 256; ++pattern) patterns.push_back(pattern);
  return patterns;
}

TEST(Corruption, EveryByteOfTheGoldenFileInAllWays) {
  FlipEveryByte(GoldenSample(), AllPatterns());
}

TEST(Corruption, EveryByteOfAMixedFile) {
  constexpr int kPatterns[] = {0x01, 0x80, 0xFF, 0x5A};
  FlipEveryByte(MixedSample(), kPatterns);
}

TEST(Corruption, EveryByteWithoutAnIndexLosesAtMostItsChunk) {
  Sample sample = MixedSample();
  sample.bytes.resize(static_cast<size_t>(sample.index_offset));
  std::vector<std::byte> bytes = sample.bytes;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int pattern : {0x01, 0x80, 0xFF}) {
      bytes[at] ^= static_cast<std::byte>(pattern);
      const Place place = PlaceOf(sample, at);
      std::set<uint64_t> expected;
      if (place.part == Part::kPayload || place.part == Part::kHeader) {
        expected.insert(place.chunk_offset);
      }
      ASSERT_EQ(LostChunks(sample, bytes), expected) << "byte " << at << " ^ " << pattern;
      bytes[at] ^= static_cast<std::byte>(pattern);
    }
  }
}

// All damage except to padding is listed; reserved bytes of the index are part of its checksum.
TEST(Corruption, DamageIsListedUnlessItIsHarmless) {
  const Sample sample = GoldenSample();
  std::vector<std::byte> bytes = sample.bytes;
  for (size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= std::byte{0xFF};
    const Result<FileReader> reader = FileReader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok());
    const Part part = PlaceOf(sample, at).part;
    const bool index_header = at >= sample.index_offset && at < sample.index_offset + 48;
    const bool harmless = part == Part::kPadding || part == Part::kHeader;
    ASSERT_EQ(reader->losses().empty(), harmless) << at;
    if (index_header) {
      EXPECT_EQ(reader->losses()[0].reason,
                "the index is damaged; the chunks were found by scanning");
    }
    bytes[at] ^= std::byte{0xFF};
  }
}

TEST(Corruption, EveryTruncationKeepsAllCompleteChunks) {
  for (const Sample& sample : {GoldenSample(), MixedSample()}) {
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      const auto bytes = std::span(sample.bytes).first(size);
      const Result<FileReader> reader = FileReader::FromBytes(bytes);
      if (size < kFileHeaderBytes) {
        ASSERT_EQ(reader.status().code(), StatusCode::kCorrupt) << size;
        continue;
      }
      ASSERT_TRUE(reader.ok()) << size << ": " << reader.status().message();
      ASSERT_FALSE(reader->losses().empty()) << size;
      ASSERT_FALSE(reader->has_index()) << size;
      std::set<uint64_t> expected;
      for (const ChunkInfo& chunk : sample.chunks) {
        if (chunk.payload_offset() + chunk.stored_bytes > size) expected.insert(chunk.offset);
      }
      ASSERT_EQ(LostChunks(sample, bytes), expected) << size;
    }
  }
}

TEST(Corruption, AnIncompleteChunkIsDescribed) {
  const Sample sample = MixedSample();
  const ChunkInfo& last = sample.chunks.back();
  const auto cut = std::span(sample.bytes).first(static_cast<size_t>(last.payload_offset()) + 5);
  const Result<FileReader> reader = FileReader::FromBytes(cut);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->losses().size(), 2u);
  EXPECT_EQ(reader->losses()[0].offset, last.offset);
  EXPECT_EQ(reader->losses()[0].size_bytes, 53u);
  EXPECT_EQ(reader->losses()[0].reason,
            "chunk 3 (xEND) is incomplete: 5 of its 16 payload bytes are present");
  EXPECT_EQ(reader->losses()[1].offset, cut.size());
}

TEST(Corruption, ADamagedPayloadIsDescribed) {
  Sample sample = GoldenSample();
  sample.bytes[0x40] = std::byte{'H'};
  const Result<FileReader> reader = FileReader::FromBytes(sample.bytes);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].offset, 16u);
  EXPECT_EQ(reader->losses()[0].size_bytes, 61u);
  EXPECT_EQ(reader->losses()[0].reason,
            "a chunk of type xMSG is lost: its payload is damaged (CRC32C 087d53dc instead of "
            "0e53695a)");
  // Without the check of payloads, reading the chunk finds the same.
  const Result<FileReader> unchecked = FileReader::FromBytes(sample.bytes, Check::kStructure);
  ASSERT_TRUE(unchecked.ok());
  EXPECT_TRUE(unchecked->losses().empty());
  ASSERT_EQ(unchecked->chunks().size(), 2u);
  const Status status = unchecked->Read(0).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.message(),
            "chunk xMSG at offset 16: its payload is damaged (CRC32C 087d53dc instead of "
            "0e53695a)");
  EXPECT_TRUE(unchecked->Read(1).ok());
}

TEST(Corruption, LostChunksInARowAreCounted) {
  ContainerBuilder builder;
  builder.AddRaw(kMessage, ToBytes("first"));
  const size_t start = builder.size();
  for (int i = 0; i < 3; ++i) builder.AddRaw(kMessage, ToBytes("middle"));
  const size_t end = builder.size();
  builder.AddRaw(kMessage, ToBytes("last"));
  std::vector<std::byte> bytes(builder.bytes().begin(), builder.bytes().end());
  std::fill(bytes.begin() + static_cast<ptrdiff_t>(start),
            bytes.begin() + static_cast<ptrdiff_t>(end), std::byte{0});
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 2u);
  EXPECT_EQ(ToText(*reader->Read(1)), "last");
  ASSERT_EQ(reader->losses().size(), 2u);
  EXPECT_EQ(reader->losses()[0].offset, start);
  EXPECT_EQ(reader->losses()[0].size_bytes, end - start);
  EXPECT_EQ(reader->losses()[0].reason, "192 bytes hold no readable chunk; 3 chunks are lost here");
}

// A .cairn file inside a payload must not be taken for part of the file when the header in front
// of it is damaged.
TEST(Corruption, AnEmbeddedFileIsNotMistakenForChunks) {
  const Sample inner = GoldenSample();
  ContainerBuilder builder;
  const ChunkInfo carrier = builder.AddRaw(kMessage, inner.bytes);
  builder.AddRaw(kMessage, ToBytes("after"));
  std::vector<std::byte> bytes(builder.bytes().begin(), builder.bytes().end());
  bytes[static_cast<size_t>(carrier.offset)] ^= std::byte{1};
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 1u);
  EXPECT_EQ(ToText(*reader->Read(0)), "after");
}

TEST(Corruption, SequenceNumbersMustRise) {
  ContainerBuilder builder;
  builder.SkipSequence(5);
  builder.AddRaw(kMessage, ToBytes("fifth"));
  builder.SkipSequence(static_cast<uint32_t>(-6));
  builder.AddRaw(kMessage, ToBytes("stale"));
  builder.SkipSequence(5);
  builder.AddRaw(kMessage, ToBytes("sixth"));
  const Result<FileReader> reader = FileReader::FromBytes(builder.bytes());
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 2u);
  EXPECT_EQ(ToText(*reader->Read(0)), "fifth");
  EXPECT_EQ(ToText(*reader->Read(1)), "sixth");
}

TEST(Corruption, ManyLossesAreSummedUp) {
  ContainerBuilder builder;
  for (int i = 0; i < 1500; ++i) builder.AddRaw(kMessage, ToBytes("payload"));
  std::vector<std::byte> bytes(builder.bytes().begin(), builder.bytes().end());
  for (size_t chunk = 0; chunk < 1500; ++chunk) {
    bytes[kFileHeaderBytes + chunk * 64 + kChunkHeaderBytes] ^= std::byte{1};
  }
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->chunks().empty());
  ASSERT_EQ(reader->losses().size(), kMaxLosses + 1);
  EXPECT_EQ(reader->losses().back().reason, "501 more places are damaged");
}

// A disk with one unreadable block.
class BadBlockSource : public ByteSource {
 public:
  BadBlockSource(std::span<const std::byte> bytes, uint64_t first, uint64_t last)
      : memory_(MakeMemorySource(bytes)), first_(first), last_(last) {}
  uint64_t size_bytes() const override { return memory_->size_bytes(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> bytes) const override {
    if (offset <= last_ && offset + bytes.size() > first_) {
      return Status(StatusCode::kIo, "bad block");
    }
    return memory_->ReadAt(offset, bytes);
  }

 private:
  std::unique_ptr<ByteSource> memory_;
  uint64_t first_;
  uint64_t last_;
};

TEST(Corruption, AnUnreadableBlockLosesWhatStartsInIt) {
  ContainerBuilder builder;
  for (int i = 0; i < 1000; ++i) builder.AddRaw(kMessage, ToBytes("payload"));
  const BadBlockSource source(builder.bytes(), 20480, 24575);
  Result<Layout> layout = FindChunks(source);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  // Chunks are 64 bytes each; pieces of 4,096 bytes are saved, counted from where reading began.
  EXPECT_GE(layout->chunks.size(), 1000u - 2 * 64 - 2);
  EXPECT_LT(layout->chunks.size(), 1000u);
  EXPECT_EQ(layout->chunks.back().offset, builder.size() - 64);
  const std::vector<Loss> losses = layout->losses.Take();
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_LE(losses[0].offset, 20480u);
  EXPECT_GE(losses[0].offset + losses[0].size_bytes, 24576u - 64);
}

TEST(Corruption, AnUnreadableBeginningIsAnError) {
  const Sample sample = GoldenSample();
  const Status status = FindChunks(BadBlockSource(sample.bytes, 0, 15)).status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), "bad block");
}

}  // namespace
}  // namespace cairn
