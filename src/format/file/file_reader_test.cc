// SPDX-License-Identifier: Apache-2.0
// Whole, foreign, newer and hostile files; damaged ones are in corruption_test.cc.
#include "format/file/file_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "format/file/file_writer.h"
#include "format/file/testing/test_container.h"

namespace cairn {
namespace {

constexpr ChunkType kMessage = MakeChunkType("xMSG");
constexpr ChunkType kOther = MakeChunkType("xOTH");

Status OpenError(std::span<const std::byte> bytes) {
  return FileReader::FromBytes(bytes).status();
}

Status ReadError(std::span<const std::byte> bytes, size_t index = 0) {
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  return reader.ok() ? reader->Read(index).status() : reader.status();
}

std::vector<std::byte> ZstdFrame(std::span<const std::byte> raw) {
  std::vector<std::byte> frame(ZSTD_compressBound(raw.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 1));
  return frame;
}

// The number of losses of a file that misses only its end.
constexpr size_t kOnlyTheEnd = 1;

TEST(FileReader, PathsThatAreNoFiles) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  Status status = FileReader::Open(folder).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "cannot open " + folder + ": it is a directory, not a .cairn file");
  status = FileReader::Open("/nowhere/a.cairn").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "cannot open /nowhere/a.cairn: No such file or directory");
  status = FileReader::Open("/dev/null").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "cannot open /dev/null: it is a device or a pipe, not a .cairn file");
}

TEST(FileReader, MessagesNameTheFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("cairn-empty-" + std::to_string(getpid())))
          .string();
  std::ofstream(path).close();
  const Status status = FileReader::Open(path).status();
  std::filesystem::remove(path);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.message(),
            path +
                ": the file is empty: its writer was stopped before it wrote anything, or a "
                "copy of it failed");
}

TEST(FileReader, FilesThatAreNotCairn) {
  const std::vector<std::byte> elf = ToBytes(std::string("\x7F") + "ELF" + std::string(9000, 'x'));
  EXPECT_EQ(OpenError(elf).code(), StatusCode::kCorrupt);
  EXPECT_EQ(OpenError(elf).message(),
            "not a .cairn file: it starts with 7f 45 4c 46 78 78 78 78, and a .cairn file with "
            "89 43 41 49 52 4e 0d 0a");
  EXPECT_EQ(OpenError(ToBytes("PK")).message(),
            "not a .cairn file: it starts with 50 4b, and a .cairn file with "
            "89 43 41 49 52 4e 0d 0a");
  const ContainerBuilder builder;
  EXPECT_EQ(OpenError(builder.bytes().first(3)).message(),
            "nothing of the file can be read: only 3 of the 16 bytes of its header are present");
  std::vector<std::byte> damaged(builder.bytes().begin(), builder.bytes().end());
  damaged[9] ^= std::byte{1};
  EXPECT_EQ(OpenError(damaged).message(),
            "nothing of the file can be read: its header is damaged and no chunk follows");
}

TEST(FileReader, FileWithoutChunks) {
  MemoryFile file;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file));
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Finish().ok());
  const Result<FileReader> reader = FileReader::FromBytes(file.bytes);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->chunks().empty());
  EXPECT_TRUE(reader->losses().empty());
  EXPECT_TRUE(reader->has_index());
  const Status status = reader->Read(0).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "there is no chunk 0: the file has 0");
}

TEST(FileReader, NewerMinorVersionIsRead) {
  ContainerBuilder builder({1, 7});
  const std::vector<ChunkInfo> chunks = {
      builder.AddRaw(kMessage, ToBytes("known")),
      builder.AddRaw(MakeChunkType("NEW!"), ToBytes("unknown")),
      builder.AddRaw(kMessage, ToBytes("hinted"), 0x10000),
  };
  builder.AddIndex(chunks);
  builder.AddTrailer(3);
  const Result<FileReader> reader = FileReader::FromBytes(builder.bytes());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ(reader->version().major, 1);
  EXPECT_EQ(reader->version().minor, 7);
  EXPECT_TRUE(reader->losses().empty());
  ASSERT_EQ(reader->chunks().size(), 3u);
  EXPECT_EQ(ChunkTypeName(reader->chunks()[1].type), "NEW!");
  EXPECT_EQ(ToText(*reader->Read(2)), "hinted");
}

TEST(FileReader, OtherMajorVersionsAreRefused) {
  const ContainerBuilder newer({2, 1});
  EXPECT_EQ(OpenError(newer.bytes()).code(), StatusCode::kUnsupported);
  EXPECT_EQ(OpenError(newer.bytes()).message(),
            "the file has version 2.1 and this Cairn reads version 1; use a newer Cairn");
  const ContainerBuilder zero({0, 9});
  EXPECT_EQ(OpenError(zero.bytes()).code(), StatusCode::kUnsupported);
  EXPECT_EQ(OpenError(zero.bytes()).message(),
            "the file has version 0.9 and this Cairn reads version 1");
}

TEST(FileReader, UnknownEncodingIsListedButNotRead) {
  ContainerBuilder builder;
  builder.AddRaw(kMessage, ToBytes("???"), 0x4);
  builder.AddRaw(kOther, ToBytes("plain"));
  const Result<FileReader> reader = FileReader::FromBytes(builder.bytes());
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 2u);
  EXPECT_EQ(reader->losses().size(), kOnlyTheEnd);
  const Status status = reader->Read(0).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "chunk xMSG at offset 16: it is stored in a way that this version does not know (flags "
            "0x4); use a newer Cairn");
  EXPECT_EQ(ToText(*reader->Read(1)), "plain");
}

TEST(FileReader, SizesThatContradictEachOther) {
  ContainerBuilder builder;
  ChunkInfo raw;
  raw.type = kMessage;
  raw.stored_bytes = 3;
  raw.raw_bytes = 4;
  builder.Add(raw, ToBytes("abc"));
  builder.AddZstd(kMessage, ToBytes("abcd"), 4);
  EXPECT_EQ(ReadError(builder.bytes(), 0).message(),
            "chunk xMSG at offset 16: its sizes contradict each other (3 bytes stored, 4 decoded)");
  EXPECT_EQ(ReadError(builder.bytes(), 1).message(),
            "chunk xMSG at offset 80: its sizes contradict each other (4 bytes stored with zstd, 4 "
            "decoded)");
}

TEST(FileReader, ChunksBeyondTheSizeLimitAreDamage) {
  ContainerBuilder builder;
  ChunkInfo huge;
  huge.type = kMessage;
  huge.flags = kChunkZstd;
  huge.stored_bytes = 4;
  huge.raw_bytes = kMaxChunkBytes + 1;
  builder.Add(huge, ToBytes("abcd"));
  builder.AddRaw(kOther, ToBytes("next"));
  const Result<FileReader> reader = FileReader::FromBytes(builder.bytes());
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 1u);
  EXPECT_EQ(ToText(*reader->Read(0)), "next");
  ASSERT_EQ(reader->losses().size(), 2u);
  EXPECT_EQ(reader->losses()[0].offset, 16u);
  EXPECT_EQ(reader->losses()[0].size_bytes, 64u);
  EXPECT_EQ(reader->losses()[0].reason, "64 bytes hold no readable chunk; 1 chunk is lost here");
}

TEST(FileReader, ZstdBombsAreBounded) {
  const std::vector<std::byte> zeros(kMaxChunkBytes);
  const std::vector<std::byte> frame = ZstdFrame(zeros);
  ASSERT_LT(frame.size(), 10000u);

  ContainerBuilder honest;  // the largest expansion that the format allows
  honest.AddZstd(kMessage, frame, kMaxChunkBytes);
  const Result<FileReader> reader = FileReader::FromBytes(honest.bytes());
  ASSERT_TRUE(reader.ok());
  const Result<std::vector<std::byte>> payload = reader->Read(0);
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(*payload, zeros);

  ContainerBuilder understated;  // the frame expands to more than the chunk states
  understated.AddZstd(kMessage, frame, 10000);
  EXPECT_EQ(ReadError(understated.bytes()).code(), StatusCode::kCorrupt);
  EXPECT_EQ(ReadError(understated.bytes()).message(),
            "chunk xMSG at offset 16: its payload is not one zstd frame of 10000 bytes");

  ContainerBuilder overstated;  // memory for a payload that is not there
  overstated.AddZstd(kMessage, ZstdFrame(ToBytes("tiny")), kMaxChunkBytes);
  EXPECT_EQ(ReadError(overstated.bytes()).message(),
            "chunk xMSG at offset 16: its payload is not one zstd frame of 67108864 bytes");
}

TEST(FileReader, OnlyOneWholeZstdFrameIsAccepted) {
  const std::vector<std::byte> raw(1000, std::byte{'a'});
  const std::vector<std::byte> frame = ZstdFrame(raw);

  std::vector<std::byte> twice = frame;
  twice.insert(twice.end(), frame.begin(), frame.end());
  ContainerBuilder two;
  two.AddZstd(kMessage, twice, 1000);
  EXPECT_EQ(ReadError(two.bytes()).code(), StatusCode::kCorrupt);

  ContainerBuilder cut;
  cut.AddZstd(kMessage, std::span(frame).first(frame.size() - 1), 1000);
  EXPECT_EQ(ReadError(cut.bytes()).code(), StatusCode::kCorrupt);

  ContainerBuilder skippable;  // magic of a skippable frame, 4 bytes long
  skippable.AddZstd(kMessage, ToBytes(std::string("\x50\x2A\x4D\x18\x04\0\0\0abcd", 12)), 1000);
  EXPECT_EQ(ReadError(skippable.bytes()).code(), StatusCode::kCorrupt);

  // Streaming leaves the content size out.
  std::vector<std::byte> streamed(ZSTD_compressBound(raw.size()));
  ZSTD_CStream* stream = ZSTD_createCStream();
  ZSTD_inBuffer in{raw.data(), raw.size(), 0};
  ZSTD_outBuffer out{streamed.data(), streamed.size(), 0};
  ASSERT_FALSE(ZSTD_isError(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_continue)));
  ASSERT_EQ(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCStream(stream);
  streamed.resize(out.pos);
  ContainerBuilder unsized;
  unsized.AddZstd(kMessage, streamed, 1000);
  EXPECT_EQ(ReadError(unsized.bytes()).code(), StatusCode::kCorrupt);

  std::vector<std::byte> broken = frame;  // right checksum, wrong content
  broken[broken.size() / 2] ^= std::byte{0xFF};
  ContainerBuilder nonsense;
  nonsense.AddZstd(kMessage, broken, 1000);
  EXPECT_EQ(ReadError(nonsense.bytes()).code(), StatusCode::kCorrupt);
}

// An index is believed only if it accounts for every byte.
TEST(FileReader, IndexesThatHideOrInventChunksAreNotUsed) {
  const auto with_index = [](auto lie) {
    ContainerBuilder builder;
    std::vector<ChunkInfo> chunks = {builder.AddRaw(kMessage, ToBytes("one")),
                                     builder.AddRaw(kOther, ToBytes("two"))};
    lie(chunks);
    builder.AddIndex(chunks);
    builder.AddTrailer(static_cast<uint32_t>(chunks.size()));
    return std::vector<std::byte>(builder.bytes().begin(), builder.bytes().end());
  };
  using Chunks = std::vector<ChunkInfo>;
  const std::vector<std::vector<std::byte>> files = {
      with_index([](Chunks& chunks) { chunks.pop_back(); }),
      with_index([](Chunks& chunks) { chunks.erase(chunks.begin()); }),
      with_index([](Chunks& chunks) { chunks.push_back(chunks.back()); }),
      with_index([](Chunks& chunks) { std::swap(chunks[0], chunks[1]); }),
      with_index([](Chunks& chunks) { chunks[0].stored_bytes = 200; }),
      with_index([](Chunks& chunks) { chunks[0].stored_bytes = kMaxChunkBytes + 1; }),
      with_index([](Chunks& chunks) { chunks[1].offset += 16; }),
      with_index([](Chunks& chunks) { chunks[1].offset = ~uint64_t{0} - 15; }),
      with_index([](Chunks& chunks) { chunks[1].type = kIndexChunk; }),
      with_index([](Chunks& chunks) { chunks.clear(); }),
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const Result<FileReader> reader = FileReader::FromBytes(files[i]);
    ASSERT_TRUE(reader.ok()) << i;
    EXPECT_FALSE(reader->has_index()) << i;
    ASSERT_EQ(reader->chunks().size(), 2u) << i;
    EXPECT_EQ(ToText(*reader->Read(0)), "one");
    EXPECT_EQ(ToText(*reader->Read(1)), "two");
    ASSERT_EQ(reader->losses().size(), 1u) << i;
    EXPECT_EQ(reader->losses()[0].reason,
              "the index is damaged; the chunks were found by scanning");
  }
}

TEST(FileReader, TrailersThatPointNowhereAreNotFollowed) {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{17}, uint64_t{16}, uint64_t{1} << 40,
                                ~uint64_t{0}, ~uint64_t{0} - 40}) {
    ContainerBuilder builder;
    builder.AddRaw(kMessage, ToBytes("one"));
    std::vector<std::byte> bytes(builder.bytes().begin(), builder.bytes().end());
    const auto trailer = EncodeTrailer({offset, bytes.size() + kTrailerBytes, 1});
    bytes.insert(bytes.end(), trailer.begin(), trailer.end());
    const Result<FileReader> reader = FileReader::FromBytes(bytes);
    ASSERT_TRUE(reader.ok()) << offset;
    ASSERT_EQ(reader->chunks().size(), 1u) << offset;
    ASSERT_EQ(reader->losses().size(), 1u) << offset;
    EXPECT_EQ(reader->losses()[0].reason,
              "the index is damaged; the chunks were found by scanning");
  }
}

TEST(FileReader, BytesAfterTheEndAreNamed) {
  ContainerBuilder builder;
  const std::vector<ChunkInfo> chunks = {builder.AddRaw(kMessage, ToBytes("one"))};
  builder.AddIndex(chunks);
  builder.AddTrailer(1);
  std::vector<std::byte> bytes(builder.bytes().begin(), builder.bytes().end());
  bytes.resize(bytes.size() + 100);
  const Result<FileReader> reader = FileReader::FromBytes(bytes);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 1u);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].offset, builder.size());
  EXPECT_EQ(reader->losses()[0].size_bytes, 100u);
  EXPECT_EQ(reader->losses()[0].reason, "bytes follow the end of the .cairn file");
}

TEST(FileReader, ChunksBeyondTheCountLimitAreLost) {
  ContainerBuilder builder;
  for (uint32_t i = 0; i <= kMaxChunkCount; ++i) builder.AddRaw(kMessage, {});
  const Result<FileReader> reader = FileReader::FromBytes(builder.bytes(), Check::kStructure);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->chunks().size(), size_t{kMaxChunkCount});
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].offset, builder.size() - kChunkHeaderBytes);
  EXPECT_EQ(reader->losses()[0].reason,
            "the file has more than 1048576 chunks; the rest is not read");
}

}  // namespace
}  // namespace cairn
