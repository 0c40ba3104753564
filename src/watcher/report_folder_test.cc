// SPDX-License-Identifier: Apache-2.0
#include "watcher/report_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

namespace cairn {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ReportFolderTest : public ::testing::Test {
 protected:
  ReportFolderTest() { fs::create_directories(folder_); }
  ~ReportFolderTest() override { fs::remove_all(all_); }

  // A file that was written so many days ago.
  void Write(const std::string& name, size_t size_bytes, int days) {
    std::ofstream(folder_ / name) << std::string(size_bytes, 'x');
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - days * kDay);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  static constexpr std::chrono::hours kDay{24};
  const fs::path all_ =
      fs::path(::testing::TempDir()) / ("report_folder_test." + std::to_string(getpid()));
  const fs::path folder_ = all_ / "reports";
};

TEST_F(ReportFolderTest, TheOldestMakeRoom) {
  Write("a.cairn", 100, 3);
  Write("b.cairn", 100, 2);
  Write("c.cairn", 100, 1);
  Write("d.cairn.part", 100, 4);
  PruneReports(folder_, {.most_bytes = 250});
  EXPECT_THAT(Names(), UnorderedElementsAre("b.cairn", "c.cairn"));
}

TEST_F(ReportFolderTest, OldOnesGoWhateverTheirSize) {
  Write("new.cairn", 1, 9);
  Write("old.cairn", 1, 11);
  PruneReports(folder_, {.most_age_seconds = 10 * 24 * 60 * 60});
  EXPECT_THAT(Names(), ElementsAre("new.cairn"));
}

TEST_F(ReportFolderTest, TheNewestStays) {
  Write("only.cairn", 1000, 100);
  PruneReports(folder_, {.most_bytes = 10, .most_age_seconds = 1});
  EXPECT_THAT(Names(), ElementsAre("only.cairn"));
}

TEST_F(ReportFolderTest, LinksFoldersAndOtherFilesAreLeftAlone) {
  const fs::path elsewhere = all_ / "of_another.cairn";
  std::ofstream(elsewhere) << std::string(100, 'x');
  fs::create_symlink(elsewhere, folder_ / "link.cairn");
  fs::create_directory(folder_ / "folder.cairn");
  Write("old.cairn", 1, 1);
  Write("new.cairn", 1, 0);
  Write("notes.txt", 1, 9);
  PruneReports(folder_, {.most_bytes = 1, .most_age_seconds = 0});
  EXPECT_THAT(Names(),
              UnorderedElementsAre("link.cairn", "folder.cairn", "new.cairn", "notes.txt"));
  EXPECT_TRUE(fs::exists(elsewhere));
}

TEST_F(ReportFolderTest, AReportThatIsBeingWrittenStays) {
  Write("a.cairn.part", 100, 2);
  Write("b.cairn", 100, 1);
  std::error_code error;
  {
    File writer = File::Open(folder_ / "a.cairn.part", FileMode::kWriteItself, error);
    ASSERT_TRUE(writer.TryLock());
    PruneReports(folder_, {.most_bytes = 10});
    EXPECT_THAT(Names(), UnorderedElementsAre("a.cairn.part", "b.cairn"));
  }
  PruneReports(folder_, {.most_bytes = 10});
  EXPECT_THAT(Names(), ElementsAre("b.cairn"));
}

TEST_F(ReportFolderTest, TheNewestIsTheFirst) {
  Write("a.cairn", 1, 2);
  Write("b.cairn", 3, 1);
  Write("c.cairn.part", 1, 0);
  const std::vector<StoredReport> reports = StoredReports(folder_);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].path, (folder_ / "b.cairn").string());
  EXPECT_EQ(reports[0].size_bytes, 3u);
  EXPECT_EQ(reports[1].path, (folder_ / "a.cairn").string());
  EXPECT_TRUE(StoredReports(folder_ / "nowhere").empty());
}

TEST_F(ReportFolderTest, NamesSayTheProgramAndTheTime) {
  EXPECT_EQ(NewReportPath("/r", "/usr/bin/game", 4711, 1'700'000'003'000'000'000),
            "/r/game-20231114T221323Z-4711.cairn");
  EXPECT_EQ(NewReportPath("/r", "", 1, 0), "/r/program-19700101T000000Z-1.cairn");
}

TEST_F(ReportFolderTest, IsThisUsersAlone) {
  const fs::path made = folder_ / "state/cairn";
  ASSERT_TRUE(OpenReportFolder(made).ok());
  EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(OpenReportFolder(made).ok()) << "it is there";
  fs::permissions(made, fs::perms::all);
  EXPECT_THAT(OpenReportFolder(made).message(), HasSubstr("others may write to"));
  fs::permissions(made, fs::perms::owner_all);
  fs::create_symlink(made, folder_ / "link");
  EXPECT_THAT(OpenReportFolder(folder_ / "link").message(), HasSubstr("is no folder"));
}

}  // namespace
}  // namespace cairn
