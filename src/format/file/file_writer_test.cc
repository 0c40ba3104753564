// SPDX-License-Identifier: Apache-2.0
#include "format/file/file_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "format/file/file_reader.h"
#include "format/file/testing/test_container.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr ChunkType kMessage = MakeChunkType("xMSG");
constexpr ChunkType kNothing = MakeChunkType("xNIL");

std::vector<std::byte> ReadWholeFile(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << path;
  return ToBytes(std::string(std::istreambuf_iterator<char>(stream), {}));
}

// A folder of its own for each test.
class FileWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cairn-writer-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "a.cairn").string();
    part_path_ = path_ + ".part";
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  fs::path folder_;
  std::string path_;
  std::string part_path_;
};

FileWriter WriterOn(MemoryFile& file, Compression compression = Compression::kZstd) {
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(file), compression);
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  return std::move(writer).value();
}

std::string ReadText(const FileReader& reader, size_t index) {
  const Result<std::vector<std::byte>> payload = reader.Read(index);
  EXPECT_TRUE(payload.ok()) << payload.status().message();
  return payload.ok() ? ToText(*payload) : "";
}

std::string Repeated(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

TEST_F(FileWriterTest, WritesTheGoldenFile) {
  MemoryFile file;
  FileWriter writer = WriterOn(file, Compression::kNone);
  ASSERT_TRUE(writer.Append(kMessage, ToBytes("hello, cairn\n")).ok());
  ASSERT_TRUE(writer.Append(kNothing, {}).ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(file.bytes, ReadWholeFile(CAIRN_SOURCE_DIR "/tests/golden/container-v1.cairn"));
  EXPECT_TRUE(file.committed);
}

TEST_F(FileWriterTest, ReadsTheCompressedGoldenFile) {
  const Result<FileReader> reader =
      FileReader::Open(CAIRN_SOURCE_DIR "/tests/golden/container-v1-zstd.cairn");
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_TRUE(reader->losses().empty());
  EXPECT_TRUE(reader->has_index());
  ASSERT_EQ(reader->chunks().size(), 3u);
  EXPECT_EQ(reader->chunks()[0].flags, kChunkZstd);
  EXPECT_EQ(ReadText(*reader, 0), Repeated("Frame 12, queue \"direct\": DRAW_INDEXED\n", 50));
  EXPECT_EQ(reader->chunks()[1].flags, 0u);
  EXPECT_EQ(ReadText(*reader, 1), "hello, cairn\n");
  EXPECT_EQ(reader->chunks()[2].flags, kChunkZstd);
  EXPECT_EQ(ReadText(*reader, 2), std::string(100000, '\0'));
}

TEST_F(FileWriterTest, CompressesWhatGetsSmaller) {
  MemoryFile file;
  FileWriter writer = WriterOn(file);
  std::string noise(5000, '\0');
  uint32_t random = 1;
  for (char& c : noise) c = static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
  const std::string text = Repeated("marker ", 1000);
  ASSERT_TRUE(writer.Append(kMessage, ToBytes(noise)).ok());
  ASSERT_TRUE(writer.Append(kMessage, ToBytes(text)).ok());
  EXPECT_EQ(writer.chunk_count(), 2u);
  EXPECT_EQ(writer.size_bytes(), file.bytes.size());
  ASSERT_TRUE(writer.Finish().ok());
  const Result<FileReader> reader = FileReader::FromBytes(file.bytes);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 2u);
  EXPECT_EQ(reader->chunks()[0].stored_bytes, noise.size());
  EXPECT_EQ(reader->chunks()[0].flags, 0u);
  EXPECT_LT(reader->chunks()[1].stored_bytes, 100u);
  EXPECT_EQ(reader->chunks()[1].raw_bytes, text.size());
  EXPECT_EQ(ReadText(*reader, 0), noise);
  EXPECT_EQ(ReadText(*reader, 1), text);
}

TEST_F(FileWriterTest, PartFileIsReadableUntilFinishRenamesIt) {
  Result<FileWriter> writer = FileWriter::Create(path_);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->Append(kMessage, ToBytes("first")).ok());
  ASSERT_TRUE(writer->Sync().ok());
  EXPECT_FALSE(fs::exists(path_));
  const Result<FileReader> live = FileReader::Open(part_path_);
  ASSERT_TRUE(live.ok()) << live.status().message();
  ASSERT_EQ(live->chunks().size(), 1u);
  EXPECT_EQ(ReadText(*live, 0), "first");
  EXPECT_FALSE(live->has_index());
  ASSERT_EQ(live->losses().size(), 1u);
  EXPECT_EQ(live->losses()[0].offset, 16u + 48 + 16);
  EXPECT_EQ(live->losses()[0].size_bytes, 0u);
  EXPECT_EQ(live->losses()[0].reason,
            "the end of the file is missing: its writer was interrupted or is still writing, or "
            "the file was cut; chunks that came later are not in it");

  ASSERT_TRUE(writer->Append(kMessage, ToBytes("second")).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_FALSE(fs::exists(part_path_));
  const Result<FileReader> whole = FileReader::Open(path_);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->has_index());
  EXPECT_TRUE(whole->losses().empty());
  ASSERT_EQ(whole->chunks().size(), 2u);
  EXPECT_EQ(ReadText(*whole, 1), "second");
}

TEST_F(FileWriterTest, DestroyedWithoutFinishLeavesThePartFile) {
  {
    Result<FileWriter> writer = FileWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(kMessage, ToBytes("kept")).ok());
  }
  EXPECT_FALSE(fs::exists(path_));
  const Result<FileReader> reader = FileReader::Open(part_path_);
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(reader->chunks().size(), 1u);
  EXPECT_EQ(ReadText(*reader, 0), "kept");
  const Result<FileReader> missing = FileReader::Open(path_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.status().message(),
            "cannot open " + path_ +
                ": No such file or directory; its writer was interrupted or is still writing: "
                "open " +
                part_path_);
}

TEST_F(FileWriterTest, KeepsTheUnfinishedFileOfAnEarlierRun) {
  for (const char* text : {"first run", "second run"}) {
    Result<FileWriter> writer = FileWriter::Create(path_);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE(writer->Append(kMessage, ToBytes(text)).ok());
  }
  const Result<FileReader> old = FileReader::Open(part_path_ + ".old");
  ASSERT_TRUE(old.ok()) << old.status().message();
  EXPECT_EQ(ReadText(*old, 0), "first run");
  const Result<FileReader> newer = FileReader::Open(part_path_);
  ASSERT_TRUE(newer.ok());
  EXPECT_EQ(ReadText(*newer, 0), "second run");
}

TEST_F(FileWriterTest, RefusesAFileThatIsBeingWritten) {
  Result<FileWriter> first = FileWriter::Create(path_);
  ASSERT_TRUE(first.ok());
  const Result<FileWriter> second = FileWriter::Create(path_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(second.status().message(),
            "cannot write to " + part_path_ +
                ": another process is writing it; choose another file name or wait until it is "
                "done");
  ASSERT_TRUE(first->Append(kMessage, ToBytes("undisturbed")).ok());
  ASSERT_TRUE(first->Finish().ok());
  const Result<FileReader> reader = FileReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadText(*reader, 0), "undisturbed");
}

// Command lines and memory of programs are in it.
TEST_F(FileWriterTest, FilesAreForTheirOwnerAlone) {
  const mode_t before = umask(0);
  Result<FileWriter> writer = FileWriter::Create(path_);
  umask(before);
  ASSERT_TRUE(writer.ok());
  const fs::perms expected = fs::perms::owner_read | fs::perms::owner_write;
  EXPECT_EQ(fs::status(path_ + ".part").permissions(), expected);
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(fs::status(path_).permissions(), expected);
}

TEST_F(FileWriterTest, FinishReplacesAnOlderFile) {
  for (const char* text : {"older", "newer"}) {
    Result<FileWriter> writer = FileWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(kMessage, ToBytes(text)).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  const Result<FileReader> reader = FileReader::Open(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadText(*reader, 0), "newer");
}

TEST_F(FileWriterTest, FinishSaysSoWhenThePartFileWasMovedAway) {
  Result<FileWriter> writer = FileWriter::Create(path_);
  ASSERT_TRUE(writer.ok());
  fs::rename(part_path_, folder_ / "elsewhere");
  const Status status = writer->Finish();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), "cannot rename " + part_path_ +
                                  ": another program moved or replaced it; look for the file "
                                  "beside it");
  EXPECT_TRUE(FileReader::Open((folder_ / "elsewhere").string()).ok());
}

TEST_F(FileWriterTest, RefusesWrongArgumentsAndGoesOn) {
  MemoryFile file;
  FileWriter writer = WriterOn(file);
  const uint64_t before = writer.size_bytes();
  Status status = writer.Append(kIndexChunk, {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "chunk type INDX is written by Finish alone");
  status = writer.Append(0x0A424344, {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "chunk type DCB\\x0a is not made of four printable characters");
  const std::vector<std::byte> huge(size_t{kMaxChunkBytes} + 1);
  status = writer.Append(kMessage, huge);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "a chunk of 67108865 bytes is larger than the limit of 67108864 bytes; split it");
  EXPECT_EQ(writer.size_bytes(), before);
  EXPECT_TRUE(writer.Append(kMessage, std::span(huge).first(kMaxChunkBytes)).ok());
  EXPECT_TRUE(writer.Finish().ok());
  const Result<FileReader> reader = FileReader::FromBytes(file.bytes);
  ASSERT_TRUE(reader.ok());
  const Result<std::vector<std::byte>> payload = reader->Read(0);
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(payload->size(), size_t{kMaxChunkBytes});
}

TEST_F(FileWriterTest, AcceptsNothingAfterFinish) {
  MemoryFile file;
  FileWriter writer = WriterOn(file);
  ASSERT_TRUE(writer.Finish().ok());
  const std::vector<std::byte> finished = file.bytes;
  const std::string expected = "the .cairn file is finished; create another one for more chunks";
  for (const Status& status :
       {writer.Append(kMessage, ToBytes("late")), writer.Sync(), writer.Finish()}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), expected);
  }
  EXPECT_EQ(file.bytes, finished);
}

TEST_F(FileWriterTest, CountsChunksUpToTheLimit) {
  MemoryFile file;
  file.bytes.reserve(size_t{kMaxChunkCount} * 50);
  FileWriter writer = WriterOn(file);
  for (uint32_t i = 0; i < kMaxChunkCount; ++i) ASSERT_TRUE(writer.Append(kNothing, {}).ok());
  const Status status = writer.Append(kNothing, {});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(),
            "the file has 1048576 chunks, which is the limit; finish it and go on in another one");
  ASSERT_TRUE(writer.Finish().ok());
  const Result<FileReader> reader = FileReader::FromBytes(file.bytes, Check::kStructure);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->has_index());
  EXPECT_EQ(reader->chunks().size(), size_t{kMaxChunkCount});
}

// A disk that fills up after any number of bytes: every chunk that was accepted is readable, and
// the error stays.
TEST_F(FileWriterTest, DiskFullAtEveryByteKeepsWhatWasAccepted) {
  size_t whole_bytes = 0;
  for (size_t capacity = 16; whole_bytes == 0 || capacity < whole_bytes; ++capacity) {
    for (const bool can_cut : {true, false}) {
      MemoryFile file;
      FileWriter writer = WriterOn(file);
      file.capacity_bytes = capacity;
      file.can_cut = can_cut;
      size_t accepted = 0;
      Status status;
      for (int i = 0; i < 5 && status.ok(); ++i) {
        status = writer.Append(kMessage, ToBytes("payload " + std::to_string(i)));
        if (status.ok()) ++accepted;
      }
      if (status.ok()) status = writer.Finish();
      ASSERT_FALSE(status.ok()) << capacity;
      EXPECT_THAT(status.message(),
                  testing::StartsWith(accepted == 0 ? std::string("the disk is full")
                                                    : "the disk is full (" +
                                                          std::to_string(accepted) + " chunks"));
      EXPECT_EQ(writer.Append(kMessage, {}).message(), status.message());
      EXPECT_EQ(writer.Finish().message(), status.message());
      EXPECT_FALSE(file.committed);
      const Result<FileReader> reader = FileReader::FromBytes(file.bytes);
      ASSERT_TRUE(reader.ok()) << capacity;
      // If the partial chunk cannot be cut off, its payload may still be complete.
      ASSERT_GE(reader->chunks().size(), accepted) << capacity;
      ASSERT_LE(reader->chunks().size(), accepted + (can_cut ? 0 : 1)) << capacity;
      for (size_t i = 0; i < reader->chunks().size(); ++i) {
        ASSERT_EQ(ReadText(*reader, i), "payload " + std::to_string(i));
      }
      EXPECT_FALSE(reader->losses().empty());
    }
    if (whole_bytes == 0) {
      MemoryFile file;
      FileWriter writer = WriterOn(file);
      for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(writer.Append(kMessage, ToBytes("payload " + std::to_string(i))).ok());
      }
      ASSERT_TRUE(writer.Finish().ok());
      whole_bytes = file.bytes.size();
    }
  }
}

TEST_F(FileWriterTest, SyncAndCommitErrorsComeBack) {
  MemoryFile file;
  FileWriter writer = WriterOn(file);
  file.sync_fails = true;
  EXPECT_EQ(writer.Sync().message(), "the disk is gone");
  EXPECT_EQ(file.sync_count, 1);
  file.commit_fails = true;
  EXPECT_EQ(writer.Finish().message(), "the name is taken");
  EXPECT_EQ(writer.Finish().message(), "the name is taken");
}

TEST_F(FileWriterTest, FullDevice) {
  // The file header already finds no room.
  const Result<FileWriter> writer = FileWriter::Create("/dev/full");
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.status().code(), StatusCode::kIo);
  EXPECT_EQ(writer.status().message(),
            "cannot write to /dev/full: No space left on device; free some space or write to "
            "another disk");
}

// An empty file is removed.
TEST_F(FileWriterTest, AFileWithoutChunksDoesNotStay) {
  { EXPECT_TRUE(FileWriter::Create(path_).ok()); }
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(FileWriterTest, DevicesAreWrittenDirectly) {
  Result<FileWriter> writer = FileWriter::Create("/dev/null");
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  EXPECT_TRUE(writer->Append(kMessage, ToBytes("gone")).ok());
  EXPECT_TRUE(writer->Sync().ok());
  EXPECT_TRUE(writer->Finish().ok());
  EXPECT_FALSE(fs::exists("/dev/null.part"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// The kernel cuts a write in the middle of a chunk, and the file is cut back to whole chunks.
TEST_F(FileWriterTest, FileSizeLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  Result<FileWriter> writer = FileWriter::Create(path_, Compression::kNone);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append(kMessage, ToBytes("fits")).ok());
  const uint64_t size = writer->size_bytes();
  const rlimit small{size + 1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = writer->Append(kMessage, std::vector<std::byte>(5000));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(),
            "cannot write to " + part_path_ +
                ": File too large; raise the file size limit (ulimit -f) or write to another file "
                "system (1 chunks, 80 bytes, are in the file and stay readable)");
  EXPECT_EQ(fs::file_size(part_path_), size);
  const Result<FileReader> reader = FileReader::Open(part_path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadText(*reader, 0), "fits");
}

TEST_F(FileWriterTest, NamesThatCannotBeWritten) {
  const auto error = [](const std::string& path) {
    const Result<FileWriter> writer = FileWriter::Create(path);
    return writer.status();
  };
  EXPECT_EQ(error("").message(), "cannot create a file: its name is empty");
  EXPECT_EQ(
      error(folder_.string()).message(),
      "cannot write " + folder_.string() + ": it is a directory; give the name of a file in it");
  const std::string missing = (folder_ / "missing" / "a.cairn").string();
  EXPECT_EQ(error(missing).code(), StatusCode::kNotFound);
  EXPECT_EQ(error(missing).message(),
            "cannot create " + missing +
                ".part: No such file or directory; create the folder or choose another one");
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error(pipe).message(),
            "cannot write " + pipe + ": it is not a regular file; give the name of a file");
  EXPECT_EQ(FileReader::Open(pipe).status().message(),
            "cannot open " + pipe + ": it is a device or a pipe, not a .cairn file");
}

TEST_F(FileWriterTest, FolderWithoutPermission) {
  // Root may write anywhere, so the test becomes another user for this one call.
  const uid_t user = geteuid();
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                               fs::perms::others_exec);
  ASSERT_EQ(seteuid(user == 0 ? 65534 : user), 0);
  const Result<FileWriter> writer = FileWriter::Create(path_);
  ASSERT_EQ(seteuid(user), 0);
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.status().code(), StatusCode::kIo);
  EXPECT_EQ(writer.status().message(),
            "cannot create " + part_path_ +
                ": Permission denied; choose a folder that this user may write to");
}

TEST_F(FileWriterTest, NamesAreShownWithoutEscapeSequences) {
  const Result<FileWriter> writer =
      FileWriter::Create((folder_ / "no\x1b[31m" / "a.cairn").string());
  ASSERT_FALSE(writer.ok());
  EXPECT_THAT(writer.status().message(), HasSubstr("no\\x1b[31m"));
}

}  // namespace
}  // namespace cairn
