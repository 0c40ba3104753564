// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/kept_dumps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "reader/serve/dump_files.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr uint64_t kBuild = 7;
const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

class KeptDumpsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "crashes/below");
    Copy("snapshot-v1.cairn", "crashes/a.cairn");
    Copy("snapshot-vulkan-v1.cairn", "crashes/below/b.cairn");
    Copy("trace-v1.cairn", "crashes/c.cairn");
    std::ofstream(folder_ / "crashes/d.cairn") << "no dump";
    Age("crashes/d.cairn");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Copy(const std::string& golden, const std::string& name) {
    fs::copy_file(kGolden + golden, folder_ / name, fs::copy_options::overwrite_existing);
    Age(name);
  }
  // As if it was written long ago.
  void Age(const std::string& name) {
    fs::last_write_time(folder_ / name,
                        fs::file_time_type::clock::now() - std::chrono::hours(++hours_));
  }
  std::string Kept() const { return (folder_ / "cache/triage/1").string(); }
  std::vector<std::string> Files() const {
    return DumpFilesIn({(folder_ / "crashes").string()}).value();
  }
  // Returns lines of --jsonl; expects that they are those of files that are read.
  std::vector<std::string> ReadAll(KeptDumps& dumps) {
    std::vector<std::string> lines;
    const std::vector<std::string> files = Files();
    EXPECT_TRUE(dumps
                    .Read(
                        files, [](uint64_t) { return true; },
                        [&](const std::string& file, const Result<DumpSummary>& dump) {
                          lines.push_back(Line(file, dump));
                        })
                    .ok());
    std::vector<std::string> expected;
    for (const std::string& file : files) expected.push_back(Line(file, SummariseDump(file)));
    EXPECT_EQ(lines, expected);
    return lines;
  }
  static std::string Line(const std::string& file, const Result<DumpSummary>& dump) {
    return dump.ok() ? TriageLine(*dump) : TriageLine(file, dump.status().WithFile(file));
  }
  uint64_t ReadsOfANewOne(uint64_t build = kBuild) {
    KeptDumps dumps(Kept(), build);
    ReadAll(dumps);
    return dumps.read_count();
  }

  fs::path folder_;
  int hours_ = 0;
};

TEST_F(KeptDumpsTest, ReadsAFileOnce) {
  EXPECT_EQ(ReadsOfANewOne(), 4u);
  // The message of what is no .cairn file names it: that one is read again.
  EXPECT_EQ(ReadsOfANewOne(), 1u);
  KeptDumps dumps(Kept(), kBuild);
  ReadAll(dumps);
  ReadAll(dumps);
  EXPECT_EQ(dumps.read_count(), 2u);
}

TEST_F(KeptDumpsTest, ReadsWhatIsNewOrChanged) {
  KeptDumps dumps(Kept(), kBuild);
  ReadAll(dumps);
  Copy("snapshot-v1.cairn", "crashes/new.cairn");
  Copy("snapshot-v1.cairn", "crashes/below/b.cairn");  // another dump
  fs::remove(folder_ / "crashes/d.cairn");
  const uint64_t before = dumps.read_count();
  EXPECT_EQ(ReadAll(dumps).size(), 4u);
  EXPECT_EQ(dumps.read_count(), before + 2);
  EXPECT_EQ(ReadsOfANewOne(), 0u);
}

TEST_F(KeptDumpsTest, ReadsWhatWasWrittenJustNowAgain) {
  ReadsOfANewOne();
  fs::last_write_time(folder_ / "crashes/a.cairn", fs::file_time_type::clock::now());
  EXPECT_EQ(ReadsOfANewOne(), 2u);
  EXPECT_EQ(ReadsOfANewOne(), 2u);
}

TEST_F(KeptDumpsTest, OfAnotherBuildOrDamagedIsReadAnewAndReplaced) {
  ReadsOfANewOne();
  EXPECT_EQ(ReadsOfANewOne(kBuild + 1), 4u);
  EXPECT_EQ(ReadsOfANewOne(kBuild + 1), 1u);
  fs::resize_file(Kept(), fs::file_size(Kept()) / 2);
  EXPECT_EQ(ReadsOfANewOne(kBuild + 1), 4u);
  EXPECT_EQ(ReadsOfANewOne(kBuild + 1), 1u);
  std::ofstream(Kept()) << "CAIRNDIX and other things";
  EXPECT_EQ(ReadsOfANewOne(), 4u);
}

TEST_F(KeptDumpsTest, WhereNothingCanBeKeptAllIsReadEachTime) {
  std::ofstream(folder_ / "cache") << "no folder";
  EXPECT_EQ(ReadsOfANewOne(), 4u);
  EXPECT_EQ(ReadsOfANewOne(), 4u);
  KeptDumps nowhere("", kBuild);
  ReadAll(nowhere);
  ReadAll(nowhere);
  EXPECT_EQ(nowhere.read_count(), 5u) << "but what it has read itself";
}

TEST_F(KeptDumpsTest, IsForItsOwnerAlone) {
  ReadsOfANewOne();
#ifdef __linux__
  EXPECT_EQ(fs::status(Kept()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
#endif
}

TEST_F(KeptDumpsTest, KeepsWhatWasReadBeforeItWasStopped) {
  for (int i = 0; i < 100; ++i)
    Copy("snapshot-v1.cairn", "crashes/" + std::to_string(i) + ".cairn");
  KeptDumps dumps(Kept(), kBuild);
  const Status status = dumps.Read(
      Files(), [](uint64_t given) { return given < 50; },
      [](const std::string&, const Result<DumpSummary>&) {});
  EXPECT_EQ(status.code(), StatusCode::kInterrupted);
  EXPECT_EQ(ReadsOfANewOne(), 54u + 0u);
}

TEST_F(KeptDumpsTest, OldFilesMakeRoom) {
  fs::create_directories(folder_ / "cache/triage");
  for (int i = 0; i < 40; ++i) {
    const std::string name = "cache/triage/old-" + std::to_string(i);
    std::ofstream(folder_ / name) << i;
    Age(name);
  }
  ReadsOfANewOne();
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "cache/triage")) {
    ++count;
    EXPECT_NE(entry.path().filename(), "old-39") << "the oldest";
  }
  EXPECT_EQ(count, KeptDumps::kMostFiles);
  EXPECT_TRUE(fs::exists(Kept()));
}

TEST_F(KeptDumpsTest, FilesOfFoldersComeOnceAndInOrder) {
  const std::string crashes = (folder_ / "crashes").string();
  const auto file = [&](const char* name) { return (folder_ / "crashes" / name).string(); };
  EXPECT_THAT(DumpFilesIn({crashes, file("a.cairn")}).value(),
              ElementsAre(file("a.cairn"), (folder_ / "crashes" / "below" / "b.cairn").string(),
                          file("c.cairn"), file("d.cairn")));
}

}  // namespace
}  // namespace cairn
