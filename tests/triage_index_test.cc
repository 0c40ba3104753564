// SPDX-License-Identifier: Apache-2.0
//
// cairn triage --index, as a command. What the database itself does is tested beside it: src/reader/index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "harness.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TriageIndexTest : public ::testing::Test {
 protected:
  TriageIndexTest() {
    fs::create_directories(folder_ / "crashes/below");
    fs::create_directories(folder_ / "empty");
    Copy("snapshot-v1.cairn", "crashes/one.cairn");
    Copy("snapshot-v1.cairn", "crashes/below/\xc3\xa4 two.cairn");
    Copy("snapshot-vulkan-v1.cairn", "crashes/three.cairn");
    Copy("trace-v1.cairn", "crashes/trace.cairn");
    std::ofstream(folder_ / "crashes/text.cairn") << "hello";
  }
  void Copy(const std::string& golden, const std::string& name) {
    fs::copy_file(CAIRN_SOURCE_DIR "/tests/golden/" + golden, folder_ / name,
                  fs::copy_options::overwrite_existing);
    Age(name);
  }
  // As if it was written long ago: a file that was written just now is read again.
  void Age(const std::string& name, int hours = 1) {
    fs::last_write_time(folder_ / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {Program("cairn"), "triage"});
    return arguments;
  }
  CommandResult Triage(const std::vector<std::string>& arguments) const {
    return RunCommand(Arguments(arguments), {.folder = folder_.path()});
  }
  // With an index all is as without.
  void ExpectSame(const std::vector<std::string>& paths, const std::string& index = "a.index") {
    for (const std::vector<std::string>& form : {std::vector<std::string>{}, {"--json"}}) {
      std::vector<std::string> arguments = form;
      arguments.insert(arguments.end(), paths.begin(), paths.end());
      const CommandResult without = Triage(arguments);
      arguments.insert(arguments.begin(), {"--index", index});
      const CommandResult with = Triage(arguments);
      EXPECT_EQ(with.output, without.output);
      EXPECT_EQ(with.errors, without.errors);
      EXPECT_EQ(with.exit_code, without.exit_code);
    }
  }
  // 0 where the index is not there yet, or in use.
  int ReportCount(const std::string& name) const {
    sqlite3* database = nullptr;
    sqlite3_stmt* statement = nullptr;
    int count = 0;
    sqlite3_open_v2((folder_ / name).c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    sqlite3_prepare_v2(database, "SELECT count(*) FROM reports", -1, &statement, nullptr);
    if (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
      count = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
  }
  // A second of work, or more.
  void PutManyDumps(int count) {
    TestBlock block(64 << 20);
    FillLargeBlock(&block, 5'000);
    const std::vector<std::byte> dump = SnapshotFileBytes(*SnapshotFromBlock(block.bytes(), 1));
    fs::create_directory(folder_ / "many");
    std::ofstream(folder_ / "many/0.cairn", std::ios::binary)
        .write(reinterpret_cast<const char*>(dump.data()),
               static_cast<std::streamsize>(dump.size()));
    Age("many/0.cairn");
    for (int i = 1; i < count; ++i) {
      fs::create_hard_link(folder_ / "many/0.cairn",
                           folder_ / ("many/" + std::to_string(i) + ".cairn"));
    }
  }

  TemporaryFolder folder_;
};

TEST_F(TriageIndexTest, PrintsWhatItPrintsWithout) {
  ExpectSame({"crashes"});
  ExpectSame({"crashes"});
  ExpectSame({"crashes/"});
  ExpectSame({"."});
  ExpectSame({(folder_ / "crashes")});
  ExpectSame({"crashes/three.cairn", "none.cairn", "crashes/one.cairn", "crashes/below"},
             "b.index");
  // A changed file, and a new one.
  Copy("snapshot-d3d12-v1.cairn", "crashes/one.cairn");
  Copy("snapshot-vulkan-v1.cairn", "crashes/four.cairn");
  ExpectSame({"crashes"});
  const std::vector<std::string> lines = {"--jsonl", "--tsv"};
  for (const std::string& form : lines) {
    const auto sorted = [](std::string text) {
      std::vector<std::string> rows;
      for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
        rows.push_back(text.substr(0, end));
      }
      std::sort(rows.begin(), rows.end());
      return rows;
    };
    EXPECT_EQ(sorted(Triage({form, "--index", "a.index", "crashes"}).output),
              sorted(Triage({form, "crashes"}).output));
  }
}

TEST_F(TriageIndexTest, ReadsNoFileTwiceAndForgetsNone) {
  const CommandResult first = Triage({"--index", "a.index", "crashes"});
  EXPECT_THAT(first.output, StartsWith("3 dumps, 2 signatures; 2 files are without a report\n"));
  // Other bytes of the same size and time are not looked at.
  const auto written = fs::last_write_time(folder_ / "crashes/one.cairn");
  const std::string zeros(fs::file_size(folder_ / "crashes/one.cairn"), '\0');
  std::ofstream(folder_ / "crashes/one.cairn", std::ios::binary) << zeros;
  fs::last_write_time(folder_ / "crashes/one.cairn", written);
  EXPECT_EQ(Triage({"--index", "a.index", "crashes"}).output, first.output);
  Age("crashes/one.cairn", 2);
  EXPECT_THAT(Triage({"--index", "a.index", "crashes"}).output,
              StartsWith("2 dumps, 2 signatures; 3 files are without a report\n"));
  // A quota has deleted them.
  fs::remove_all(folder_ / "crashes");
  const CommandResult later = Triage({"--index", "a.index"});
  EXPECT_EQ(later.exit_code, 0);
  EXPECT_THAT(later.output, StartsWith("2 dumps, 2 signatures\n"));
  EXPECT_EQ(Triage({"--index", "a.index", "empty"}).output, later.output);
}

TEST_F(TriageIndexTest, MergesOtherMachines) {
  Triage({"--index", "host1.index", "crashes/one.cairn"});
  Triage({"--index", "host2.index", "crashes/one.cairn", "crashes/three.cairn"});
  const std::vector<std::string> merge = {"--index",     "all.index", "--merge",
                                          "host1.index", "--merge",   "host2.index"};
  const CommandResult result = Triage(merge);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("2 dumps, 2 signatures\n"));
  EXPECT_THAT(result.output, HasSubstr("host1:" + (folder_ / "crashes/one.cairn")));
  EXPECT_EQ(Triage(merge).output, result.output);
  const CommandResult rows = Triage({"--index", "all.index", "--tsv"});
  EXPECT_THAT(rows.output, HasSubstr("\thost1\t"));
  EXPECT_THAT(rows.output, HasSubstr("\thost2\t"));
  // The files themselves count once, too.
  EXPECT_THAT(Triage({"--index", "all.index", "crashes/one.cairn"}).output,
              StartsWith("2 dumps, 2 signatures\n"));
}

TEST_F(TriageIndexTest, OneLineSaysWhyNot) {
  std::ofstream(folder_ / "text.index") << std::string(200, 'x');
  EXPECT_EQ(Triage({"--index", "text.index", "crashes"}).errors,
            "cairn triage: --index: text.index: not an SQLite database; with another file all "
            "reports are read anew\n");
  const CommandResult none = Triage({"--index", "a.index", "--merge", "none.index", "crashes"});
  EXPECT_EQ(none.errors, "cairn triage: --merge: none.index: no such file\n");
  EXPECT_EQ(none.exit_code, 1);
  const CommandResult itself = Triage({"--index", "a.index", "--merge", "./a.index"});
  EXPECT_EQ(itself.errors, "cairn triage: --merge: ./a.index is the index itself\n");
  EXPECT_EQ(itself.exit_code, 2);
  EXPECT_EQ(Triage({"--index", "a.index", "empty"}).errors,
            "cairn triage: no file there ends with .cairn, and the index is empty; cairn run "
            "writes such files\n");
  EXPECT_EQ(Triage({"--merge", "a.index", "crashes"}).errors,
            "cairn triage: --merge requires --index; see cairn triage --help\n");
  EXPECT_EQ(Triage({"--index", "a.index", "--serve", "crashes"}).errors,
            "cairn triage: --serve excludes --index; see cairn triage --help\n");
}

TEST_F(TriageIndexTest, AKilledOneGoesOn) {
  constexpr int kFiles = 700;
  PutManyDumps(kFiles);
  {
    Command command(Arguments({"--index", "a.index", "many"}), {.folder = folder_.path()});
    ASSERT_TRUE(WaitUntil([this] { return ReportCount("a.index") > 0; }));
    KillProcess(command.pid());
    command.Wait();
  }
  EXPECT_THAT(ReportCount("a.index"), AnyOf(256, 512, kFiles));
  const CommandResult result = Triage({"--index", "a.index", "many"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("700 dumps, 1 signature\n"));
  EXPECT_EQ(ReportCount("a.index"), kFiles);
}

TEST_F(TriageIndexTest, TwoAtOnceAgree) {
  PutManyDumps(300);
  const CommandResult both =
      RunCommand({"/bin/bash", "-c",
                  "\"$0\" triage --index a.index many crashes >one & first=$!; "
                  "\"$0\" triage --index a.index many crashes >two && wait $first",
                  Program("cairn")},
                 {.folder = folder_.path()});
  EXPECT_EQ(both.exit_code, 0) << both.Summary();
  EXPECT_THAT(ReadFile(folder_ / "one"), StartsWith("303 dumps, 3 signatures; 2 files"));
  EXPECT_EQ(ReadFile(folder_ / "two"), ReadFile(folder_ / "one"));
  EXPECT_EQ(ReportCount("a.index"), 303);
}

}  // namespace
}  // namespace cairn::testing
