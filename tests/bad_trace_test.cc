// SPDX-License-Identifier: Apache-2.0
//
// Every verb that opens a trace, given files that are none, that a later version has written, that are
// damaged or cut: one line says what is wrong and what to do, nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "format/file/file_cost.h"
#include "format/file/file_reader.h"
#include "format/file/file_writer.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_tables.h"
#include "harness.h"
#include "played.h"

namespace cairn::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::Truly;

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string AsString(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// ---- A good trace, and what can be made of it ------------------------------------------------------

// Twenty frames of a program, in many chunks. The same for all tests.
class GoodTrace : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<TemporaryFolder>();
#if defined(_WIN32)  // recorded on Linux
    std::filesystem::copy_file(kPlayed + "scale.cairn", *folder_ / "large.cairn");
#else
    const CommandResult captured = RunCommand(
        {Program("cairn"), "run", "--quiet", "--capture", "--hash-frames", "-o", "large.cairn",
         "--", Program("sample-scale-d3d12-plain"), "--frames", "20", "--calls", "100"},
        {.folder = folder_->path(), .environment = LavapipeEnvironment()});
    ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
#endif
    Result<TraceReader> trace = TraceReader::Open(*folder_ / "large.cairn");
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    Result<FileWriter> file = FileWriter::Create(*folder_ / "good.cairn", Compression::kNone);
    ASSERT_TRUE(file.ok()) << file.status().message();
    CopyOptions options;
    options.chunk_bytes = size_t{16} << 10;
    ASSERT_TRUE(CopyTrace(&*trace, nullptr, options, &*file).ok());
    ASSERT_TRUE(file->Finish().ok());
    bytes_ = ReadFile(*folder_ / "good.cairn");
    Result<TraceReader> good = TraceReader::Open(*folder_ / "good.cairn");
    ASSERT_TRUE(good.ok());
    ASSERT_GT(good->spans().size(), 4u);
    for (const TraceSpan& span : good->spans()) {
      records_.push_back(good->file().chunks()[span.chunk]);
    }
    for (const ChunkInfo& chunk : good->file().chunks()) {
      if (chunk.type == kTraceTableChunk) tables_.push_back(chunk);
    }
    TraceCursor cursor(*good);
    Record record;
    while (draw_ == 0 && cursor.Next(&record)) {
      if (record.kind == RecordKind::kCall && good->MethodName(record).ends_with("DrawInstanced")) {
        draw_ = record.number;
      }
    }
    ASSERT_NE(draw_, 0u);
  }
  void TearDown() override {
    folder_.reset();
  }

  static const std::string& Bytes() {
    return bytes_;
  }
  // Chunks of records, and the two of the table.
  static const std::vector<ChunkInfo>& Records() {
    return records_;
  }
  static const std::vector<ChunkInfo>& Tables() {
    return tables_;
  }
  static uint64_t Draw() {
    return draw_;
  }  // number of the first draw's call

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline std::string bytes_;
  static inline std::vector<ChunkInfo> records_;
  static inline std::vector<ChunkInfo> tables_;
  static inline uint64_t draw_ = 0;
};
[[maybe_unused]] const auto* const kGoodTrace = ::testing::AddGlobalTestEnvironment(new GoodTrace);

void FlipByteOf(const ChunkInfo& chunk, std::string* bytes) {
  (*bytes)[chunk.payload_offset() + chunk.stored_bytes / 2] ^= 0x20;
}

std::string Random() {
  std::mt19937 random(7);
  std::string bytes(10'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// The container of a release to come.
std::string ContainerOfVersion2() {
  std::string bytes = GoodTrace::Bytes();
  bytes.replace(0, kFileHeaderBytes, AsString(EncodeFileHeader({2, 0})));
  return bytes;
}

// The same chunks, some with another payload.
std::string WithTable(const std::function<std::vector<std::byte>(std::vector<std::byte>)>& change) {
  const TemporaryFolder folder;
  WriteFile(folder / "good.cairn", GoodTrace::Bytes());
  Result<FileReader> from = FileReader::Open(folder / "good.cairn");
  Result<FileWriter> to = FileWriter::Create(folder / "changed.cairn");
  EXPECT_TRUE(from.ok() && to.ok());
  for (size_t i = 0; i < from->chunks().size(); ++i) {
    Result<std::vector<std::byte>> payload = from->Read(i);
    EXPECT_TRUE(payload.ok());
    const ChunkType type = from->chunks()[i].type;
    if (type == kTraceTableChunk) payload = change(std::move(payload).value());
    EXPECT_TRUE(to->Append(type, *payload).ok());
  }
  EXPECT_TRUE(to->Finish().ok());
  return ReadFile(folder / "changed.cairn");
}

std::string TraceOfVersion2() {
  return WithTable([](std::vector<std::byte> table) {
    table.front() = std::byte{kTraceFormatVersion + 1};
    return table;
  });
}

// A later release records this method in another way.
std::string MethodOfALaterVersion(const std::string& name) {
  return WithTable([&](const std::vector<std::byte>& payload) {
    Result<TraceTable> table = DecodeTraceTable(payload);
    EXPECT_TRUE(table.ok());
    size_t changed = 0;
    for (TracedMethod& method : table->methods) {
      if (method.name != name) continue;
      method.layout ^= 1;
      ++changed;
    }
    EXPECT_EQ(changed, 1u) << name;
    return EncodeTraceTable(*table);
  });
}

// A chunk in the middle that is stored in a way of a later release, in its header and in the index.
std::string StoredInALaterWay() {
  std::string bytes = GoodTrace::Bytes();
  const ChunkInfo& chunk = GoodTrace::Records()[GoodTrace::Records().size() / 2];
  const auto set_flag = [&](size_t place) {
    uint32_t flags = 0;
    std::memcpy(&flags, &bytes[place], sizeof(flags));
    flags |= 2;
    std::memcpy(&bytes[place], &flags, sizeof(flags));
  };
  const auto set_crc = [&](size_t from, size_t count, size_t place) {
    const uint32_t crc = Crc32c(std::as_bytes(std::span(bytes).subspan(from, count)));
    std::memcpy(&bytes[place], &crc, sizeof(crc));
  };
  set_flag(chunk.offset + 12);
  set_crc(chunk.offset, 44, chunk.offset + 44);
  uint64_t index = 0;  // its header
  std::memcpy(&index, &bytes[bytes.size() - kTrailerBytes + 8], sizeof(index));
  uint32_t index_bytes = 0;
  std::memcpy(&index_bytes, &bytes[index + 24], sizeof(index_bytes));
  const size_t entries = index + kChunkHeaderBytes;
  for (size_t entry = entries; entry < entries + index_bytes; entry += kIndexEntryBytes) {
    uint64_t offset = 0;
    std::memcpy(&offset, &bytes[entry], sizeof(offset));
    if (offset == chunk.offset) set_flag(entry + 12);
  }
  set_crc(entries, index_bytes, index + 32);
  set_crc(index, 44, index + 44);
  return bytes;
}

std::string DamagedRecords() {
  std::string bytes = GoodTrace::Bytes();
  FlipByteOf(GoodTrace::Records()[GoodTrace::Records().size() / 2], &bytes);
  return bytes;
}

std::string DamagedTables() {
  std::string bytes = GoodTrace::Bytes();
  for (const ChunkInfo& table : GoodTrace::Tables()) FlipByteOf(table, &bytes);
  return bytes;
}

// In the middle of a chunk.
std::string Cut() {
  const ChunkInfo& chunk = GoodTrace::Records()[GoodTrace::Records().size() / 2];
  return GoodTrace::Bytes().substr(0, chunk.payload_offset() + chunk.stored_bytes / 2);
}

// ---- The verbs -------------------------------------------------------------------------------------

// The result of a verb for a damaged file.
enum class Ending {
  kRefused,  // one line, no output
  kWarned,   // one line, and what there is to say of the rest
  kTold,     // its output is about the damage: no line
};

struct VerbCase {
  std::string name;
  std::vector<std::string> arguments;  // "FILE" is the file, "DRAW" the number of a call
  int refused_code = 1;
  Ending damaged = Ending::kRefused;  // records in the middle are lost
  Ending cut = Ending::kWarned;       // the end is
  int cut_code = 0;
  std::string writes = "";      // what may be there afterwards, if the file was not refused
  bool takes_any_file = false;  // it reads the container, not the trace in it
};

void PrintTo(const VerbCase& verb, std::ostream* stream) {
  *stream << verb.name;
}

std::vector<VerbCase> Verbs() {
  return {
      {.name = "replay", .arguments = {"replay", "FILE"}},
      {.name = "replay_images",
       .arguments = {"replay", "--images", "out", "FILE"},
       .writes = "out"},
      {.name = "bisect", .arguments = {"bisect", "--quiet", "FILE"}, .cut_code = 1},
      {.name = "why", .arguments = {"why", "--quiet", "--runs", "1", "FILE"}, .cut_code = 1},
      {.name = "calls", .arguments = {"calls", "FILE"}, .damaged = Ending::kWarned},
      {.name = "state",
       .arguments = {"state", "--call", "DRAW", "FILE"},
       .damaged = Ending::kWarned},
      {.name = "objects", .arguments = {"objects", "FILE"}, .damaged = Ending::kWarned},
      {.name = "images", .arguments = {"images", "-o", "out", "FILE"}, .writes = "out"},
      {.name = "diff",
       .arguments = {"diff", "FILE", "good.cairn"},
       .refused_code = 2,
       .damaged = Ending::kWarned,
       .cut_code = 1},
      {.name = "diff_second",
       .arguments = {"diff", "good.cairn", "FILE"},
       .refused_code = 2,
       .damaged = Ending::kWarned,
       .cut_code = 1},
      {.name = "diff_images",
       .arguments = {"diff", "--images", "good.cairn", "FILE"},
       .refused_code = 2,
       .cut_code = 1},
      {.name = "trim",
       .arguments = {"trim", "--frames", "19", "-o", "b.cairn", "FILE"},
       .cut_code = 1},
      {.name = "trim_before",
       .arguments = {"trim", "--frames", "2-3", "-o", "b.cairn", "FILE"},
       .damaged = Ending::kTold,
       .writes = "b.cairn"},
      {.name = "info",
       .arguments = {"info", "FILE"},
       .damaged = Ending::kWarned,
       .takes_any_file = true},
      {.name = "verify",
       .arguments = {"verify", "FILE"},
       .damaged = Ending::kTold,
       .cut = Ending::kTold},
      {.name = "repack", .arguments = {"repack", "FILE"}, .cut = Ending::kRefused, .cut_code = 1},
      {.name = "repack_output",
       .arguments = {"repack", "--force", "-o", "b.cairn", "FILE"},
       .cut = Ending::kRefused,
       .cut_code = 1},
      {.name = "report",
       .arguments = {"report", "FILE"},
       .cut = Ending::kRefused,
       .cut_code = 1,
       .takes_any_file = true},
  };
}

class BadTraceTest : public ::testing::TestWithParam<VerbCase> {
 protected:
  void SetUp() override {
    const std::string& verb = GetParam().arguments[0];
    const bool plays = verb == "replay" || verb == "bisect" || verb == "why" || verb == "images" ||
                       verb == "trim" || GetParam().name == "diff_images";
    if (plays && !WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
    WriteFile(folder_ / "good.cairn", GoodTrace::Bytes());
  }

  CommandResult Run(const std::string& file) {
    std::vector<std::string> command = {Program("cairn")};
    for (const std::string& argument : GetParam().arguments) {
      command.push_back(argument == "FILE"   ? file
                        : argument == "DRAW" ? std::to_string(GoodTrace::Draw())
                                             : argument);
    }
    const CommandResult result =
        RunCommand(command, {.folder = folder_.path(), .environment = LavapipeEnvironment()});
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, IsEmpty());
    return result;
  }

  // One line that says in the verb's name what is wrong and what to do; no result, no file.
  void ExpectRefusal(const std::string& file, const std::string& what, const std::string& next_step,
                     const std::string& may_stay = "") {
    SCOPED_TRACE(file);
    if (!may_stay.empty()) std::filesystem::remove_all(folder_ / may_stay);
    const std::vector<std::string> before = folder_.Contents();
    const CommandResult result = Run(file);
    EXPECT_EQ(result.exit_code, GetParam().refused_code) << result.Summary();
    ExpectLine(result, file, what, next_step);
    EXPECT_EQ(result.output, "");
    std::vector<std::string> after = folder_.Contents();
    std::erase(after, may_stay);
    EXPECT_EQ(after, before);
  }
  void ExpectLine(const CommandResult& result, const std::string& file, const std::string& what,
                  const std::string& next_step) {
    EXPECT_EQ(Lines(result.errors).size(), 1u) << result.Summary();
    EXPECT_THAT(result.errors, StartsWith("cairn " + GetParam().arguments[0] + ": "));
    EXPECT_THAT(result.errors, HasSubstr(file));
    EXPECT_THAT(result.errors, HasSubstr(what));
    EXPECT_THAT(result.errors, HasSubstr(next_step));
  }

  TemporaryFolder folder_;
};

TEST_P(BadTraceTest, WhatIsNoTrace) {
  const std::string give = "; give a file that cairn run";
  ExpectRefusal("missing.cairn", "No such file or directory", "; cairn run ");
  std::filesystem::create_directory(folder_ / "folder.cairn");
  if (GetParam().arguments[0] == "diff") {
    ExpectRefusal("folder.cairn", "folder.cairn is a folder and good.cairn is not",
                  "; give two traces or two folders");
  } else {
    ExpectRefusal("folder.cairn", "it is a directory, not a .cairn file", give);
  }
  WriteFile(folder_ / "empty.cairn", "");
  ExpectRefusal("empty.cairn", "the file is empty", give);
  WriteFile(folder_ / "random.cairn", Random());
  ExpectRefusal("random.cairn", "not a .cairn file: it starts with", give);
  const std::string cut_header = GoodTrace::Bytes().substr(0, kFileHeaderBytes - 2);
  WriteFile(folder_ / "header.cairn", cut_header);
  ExpectRefusal("header.cairn", "", give);
}

TEST_P(BadTraceTest, ALaterVersion) {
  WriteFile(folder_ / "later.cairn", ContainerOfVersion2());
  ExpectRefusal("later.cairn", "the file has version 2.0 and this Cairn reads version 1",
                "; use a newer Cairn");
  WriteFile(folder_ / "trace.cairn", TraceOfVersion2());
  const std::string what = "the trace has version 2 and this cairn reads up to version 1";
  const std::string next = "; use the cairn that recorded it, or a newer one";
  if (!GetParam().takes_any_file) {
    ExpectRefusal("trace.cairn", what, next);
  } else if (GetParam().name == "report") {
    ExpectRefusal("trace.cairn", "is a trace without a report", "cairn calls show");
  } else {
    const CommandResult result = Run("trace.cairn");
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    ExpectLine(result, "trace.cairn", "warning: ", next);
    EXPECT_THAT(result.output, HasSubstr("No trace: trace.cairn: " + what));
  }
}

TEST_P(BadTraceTest, NamesOfMethodsThatAreDamaged) {
  WriteFile(folder_ / "tables.cairn", DamagedTables());
  if (!GetParam().takes_any_file) {
    ExpectRefusal("tables.cairn", "the trace cannot be read: the names of its methods are damaged",
                  "; give a file that cairn run --capture has written");
  } else if (GetParam().name == "report") {
    ExpectRefusal("tables.cairn", "payload is damaged", "cairn info lists them");
  } else {
    const CommandResult result = Run("tables.cairn");
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    ExpectLine(result, "tables.cairn",
               "warning: ", "is damaged; what is lost is listed at the end");
    EXPECT_THAT(result.output, HasSubstr("the names of its methods are damaged"));
  }
}

TEST_P(BadTraceTest, RecordsThatAreDamagedOrStoredInALaterWay) {
  const std::vector<std::pair<std::string, std::string>> files = {{"damaged", DamagedRecords()},
                                                                  {"stored", StoredInALaterWay()}};
  for (const auto& [name, bytes] : files) {
    const std::string file = name + ".cairn";
    WriteFile(folder_ / file, bytes);
    const std::string reason =
        name == "damaged" ? "its payload is damaged" : "is stored in a way that this version";
    if (GetParam().name == "report" && name == "stored") {
      ExpectRefusal(file, "is a trace without a report", "cairn calls show");
      continue;
    }
    if (GetParam().damaged == Ending::kRefused) {
      // Images of the frames before it.
      const std::string may_stay = GetParam().name == "replay_images" ? "out" : "";
      ExpectRefusal(file, GetParam().arguments[0] == "repack" ? "damaged or cut" : reason,
                    "; cairn ", may_stay);
      EXPECT_EQ(ReadFile(folder_ / file), bytes);
      continue;
    }
    const CommandResult result = Run(file);
    if (GetParam().damaged == Ending::kWarned) {
      EXPECT_NE(result.output, "") << result.Summary();
      ExpectLine(result, "",
                 "warning: ", GetParam().name == "info" ? "at the end" : "; cairn verify");
      EXPECT_THAT(result.errors, AnyOf(HasSubstr(reason), HasSubstr("is listed at the end")));
    } else if (GetParam().name == "verify") {
      EXPECT_EQ(result.exit_code, 1) << result.Summary();
      EXPECT_EQ(result.errors, "");
      EXPECT_THAT(result.output, HasSubstr(reason));
    } else {  // the frames before the damage
      EXPECT_EQ(result.exit_code, 0) << result.Summary();
      EXPECT_EQ(result.errors, "");
      const CommandResult whole =
          RunCommand({Program("cairn"), "verify", "b.cairn"}, {.folder = folder_.path()});
      EXPECT_EQ(whole.exit_code, 0) << whole.Summary();
    }
  }
}

TEST_P(BadTraceTest, ATraceThatWasCut) {
  WriteFile(folder_ / "cut.cairn", Cut());
  const std::vector<std::string> before = folder_.Contents();
  const CommandResult result = Run("cut.cairn");
  EXPECT_EQ(result.exit_code, GetParam().cut_code) << result.Summary();
  const std::vector<std::string> lines = Lines(result.errors);
  if (GetParam().cut == Ending::kTold) {
    EXPECT_EQ(result.errors, "");
    EXPECT_THAT(result.output, HasSubstr("the recording was cut off"));
  } else if (GetParam().cut == Ending::kRefused) {
    EXPECT_EQ(result.output, "");
    ExpectLine(result, "cut.cairn", "", "; cairn ");
  } else {
    ASSERT_FALSE(lines.empty()) << result.Summary();
    EXPECT_THAT(lines[0], HasSubstr("warning: cut.cairn "));
    EXPECT_THAT(lines[0], HasSubstr("cut off"));
    // The wanted frames are behind the cut.
    const bool has_none = GetParam().name == "trim";
    EXPECT_EQ(lines.size(), has_none ? 2u : 1u) << result.Summary();
    if (has_none) {
      EXPECT_THAT(lines[1], HasSubstr("there is no frame 19"));
    }
  }
  std::vector<std::string> after = folder_.Contents();
  std::erase(after, GetParam().writes);
  EXPECT_EQ(after, before);
}

INSTANTIATE_TEST_SUITE_P(Verbs, BadTraceTest, ::testing::ValuesIn(Verbs()),
                         [](const auto& info) { return info.param.name; });

// ---- What asks for too much ------------------------------------------------------------------------

// A small file of three million records. None of them needs a device.
TEST(TraceOfMuchWork, IsPlayedOnlyWhereThatIsWanted) {
  if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  const TemporaryFolder folder;
  TestTrace trace(Compression::kZstdSmall);
  for (int i = 0; i < 3'000'000; ++i) trace.Note(NoteKind::kTracking, "");
  ASSERT_TRUE(trace.status().ok()) << trace.status().message();
  WriteFile(folder / "much.cairn", AsString(trace.Bytes()));
  ASSERT_LT(trace.Bytes().size(), kSmallFileBytes);
  for (std::vector<std::string> words :
       {std::vector<std::string>{"replay"}, std::vector<std::string>{"images", "-o", "out"}}) {
    words.insert(words.begin(), Program("cairn"));
    words.push_back("much.cairn");
    const Command::Options options = {.folder = folder.path(),
                                      .environment = LavapipeEnvironment()};
    const CommandResult refused = RunCommand(words, options);
    EXPECT_EQ(refused.exit_code, 1) << refused.Summary();
    EXPECT_THAT(refused.errors, HasSubstr("the trace asks for more work than a file of "));
    words.push_back("--no-limit");
    const CommandResult played = RunCommand(words, options);
    EXPECT_THAT(played.errors, ::testing::Not(HasSubstr("asks for more work"))) << played.Summary();
  }
}

// ---- What this version does not know ----------------------------------------------------------------

class LaterMethodTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  CommandResult Cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return RunCommand(arguments, {.folder = folder_.path(), .environment = LavapipeEnvironment()});
  }
  // The trace, with a method that a later release records in another way.
  void Make(const std::string& method) {
    WriteFile(folder_ / "good.cairn", GoodTrace::Bytes());
    WriteFile(folder_ / "later.cairn", MethodOfALaterVersion(method));
  }

  TemporaryFolder folder_;
};

TEST_F(LaterMethodTest, ItsCallsAreLeftOutAndCounted) {
  const std::string method = "ID3D12GraphicsCommandList::DrawInstanced";
  Make(method);
  const auto left_out = [&](const std::string& verb, const std::string& times) {
    return Truly([pattern = std::regex("cairn " + verb + ": warning: skipped .(" + times +
                                       " times, first in )?call [0-9,]+.: " + method +
                                       ": this version of Cairn does not know it\n")](
                     const std::string& text) { return std::regex_match(text, pattern); });
  };
  const CommandResult replay = Cairn({"replay", "later.cairn"});
  EXPECT_EQ(replay.exit_code, 3) << replay.Summary();
  EXPECT_THAT(replay.errors, left_out("replay", "320"));
  EXPECT_THAT(replay.output, HasSubstr("; 320 calls skipped\n"));
  // And the images are others.
  const CommandResult validated = Cairn({"replay", "--validate", "later.cairn"});
  EXPECT_EQ(validated.exit_code, 1) << validated.Summary();
  EXPECT_THAT(validated.errors, HasSubstr("first difference: "));
  const CommandResult trim = Cairn({"trim", "--frames", "2-3", "-o", "b.cairn", "later.cairn"});
  EXPECT_EQ(trim.exit_code, 3) << trim.Summary();
  EXPECT_THAT(trim.errors, left_out("trim", "[0-9]+"));
  const CommandResult images = Cairn({"images", "-o", "out", "later.cairn"});
  EXPECT_EQ(images.exit_code, 3) << images.Summary();
  EXPECT_THAT(images.errors, left_out("images", "320"));
  const CommandResult bisect = Cairn({"bisect", "later.cairn"});
  EXPECT_EQ(bisect.exit_code, 1) << bisect.Summary();
  EXPECT_THAT(bisect.output, Truly([&](const std::string& text) {
                return std::regex_search(
                    text, std::regex("Not played on this device: 320 calls; skipped: call "
                                     "[0-9]+, " +
                                     method));
              }));
  const CommandResult verify = Cairn({"verify", "later.cairn"});
  EXPECT_EQ(verify.exit_code, 1) << verify.Summary();
  EXPECT_THAT(verify.output, HasSubstr("this cairn does not know " + method));
}

// Without its fence nothing says when the GPU is done with what the program uses again.
TEST_F(LaterMethodTest, WithoutFencesTheGpuIsWaitedFor) {
  Make("ID3D12Device::CreateFence");
  const CommandResult good = Cairn({"replay", "--hash", "--quiet", "good.cairn"});
  ASSERT_EQ(Lines(good.output).size(), 20u);
  for (int i = 0; i < 10; ++i) {
    const CommandResult later = Cairn({"replay", "--hash", "--quiet", "later.cairn"});
    EXPECT_EQ(later.exit_code, 3) << later.Summary();
    EXPECT_EQ(later.output, good.output);
  }
}

}  // namespace
}  // namespace cairn::testing
