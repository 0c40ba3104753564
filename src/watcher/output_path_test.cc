// SPDX-License-Identifier: Apache-2.0
#include "watcher/output_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "watcher/output_names.h"

namespace cairn {
namespace {

class OutputPathTest : public testing::Test {
 protected:
  OutputPathTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                ("output_path_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~OutputPathTest() override { std::filesystem::remove_all(folder_); }

  std::string In(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST(OutputPath, DefaultIsTheProgramsNameInTheWorkingDirectory) {
  EXPECT_EQ(DefaultOutputPath("build/bin/sample-hang-vulkan"), "sample-hang-vulkan.cairn");
  EXPECT_EQ(DefaultOutputPath("game"), "game.cairn");
  EXPECT_EQ(DefaultOutputPath("game.x86_64"), "game.x86_64.cairn");
  EXPECT_EQ(DefaultOutputPath("folder/"), "program.cairn");
  EXPECT_EQ(DefaultOutputPath("Z:\\games\\Game.exe"), "Game.exe.cairn");
}

TEST(OutputPath, OtherProcessesGetTheirNumber) {
  EXPECT_EQ(OutputPathOfProcess("out/game.cairn", 71), "out/game-71.cairn");
  EXPECT_EQ(OutputPathOfProcess("game", 71), "game-71");
  EXPECT_EQ(OutputPathOfProcess("v1.2/game", 71), "v1.2/game-71");
  EXPECT_EQ(OutputPathOfProcess("out/.hidden", 71), "out/.hidden-71");
}

TEST(OutputPath, AProcessThatNeedsSeveralCountsThem) {
  EXPECT_EQ(OutputPathOfProcess("out/game.cairn", 71, 1), "out/game-71.cairn");
  EXPECT_EQ(OutputPathOfProcess("out/game.cairn", 71, 2), "out/game-71-2.cairn");
  EXPECT_EQ(OutputPathOfProcess("out/game", 71, 16), "out/game-71-16");
}

TEST(OutputPath, NamesDoNotGrow) {
  OutputNames names("out/game.cairn", 1000);
  OutputNames::OfProcess main;
  OutputNames::OfProcess other;
  EXPECT_EQ(names.Next(&main, "game", 71), "out/game.cairn");
  EXPECT_EQ(names.Next(&other, "game", 72), "out/game-72.cairn");
  std::string last;
  for (uint32_t i = 0; i < kMaxPathsOfProcess; ++i) last = names.Next(&main, "game", 71);
  EXPECT_EQ(last, "out/game-71-16.cairn");
  EXPECT_EQ(names.Next(&main, "game", 71), "");
  EXPECT_EQ(names.Next(&other, "game", 72), "out/game-72-2.cairn");
}

TEST(OutputPath, NothingOfAnEarlierRunIsWrittenOver) {
  std::vector<std::string> there = {"game.cairn"};
  const auto exists = [&](const std::string& path) {
    return std::find(there.begin(), there.end(), path) != there.end();
  };
  OutputNames::OfProcess process;
  EXPECT_EQ(OutputNames("", 1000, exists).Next(&process, "bin/game", 71), "game-71.cairn");
  there.push_back("game-72.cairn");
  OutputNames::OfProcess again;
  EXPECT_EQ(OutputNames("", 1000, exists).Next(&again, "bin/game", 72), "game-72-2.cairn");
  OutputNames::OfProcess named;
  EXPECT_EQ(OutputNames("game.cairn", 1000, exists).Next(&named, "bin/game", 73), "game.cairn")
      << "the user named it";
}

TEST(OutputPath, NamesEnd) {
  OutputNames names("", 2, [](const std::string&) { return false; });
  OutputNames::OfProcess processes[3];
  EXPECT_EQ(names.Next(&processes[0], "bin/a", 1), "a.cairn");
  EXPECT_EQ(names.Next(&processes[1], "bin/b", 2), "b-2.cairn");
  EXPECT_EQ(names.Next(&processes[2], "bin/c", 3), "");
}

TEST_F(OutputPathTest, AWritableFolderIsLeftAsItWas) {
  EXPECT_TRUE(CheckOutputPath(In("a.cairn")).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(OutputPathTest, AnExistingFileIsNotTouched) {
  std::ofstream(In("a.cairn")) << "before";
  EXPECT_TRUE(CheckOutputPath(In("a.cairn")).ok());
  EXPECT_EQ(std::filesystem::file_size(In("a.cairn")), 6u);
}

TEST_F(OutputPathTest, ANameHasRoomForThoseOfTheFilesBesideIt) {
  EXPECT_TRUE(CheckOutputPath(In(std::string(200, 'a'))).ok());
  const std::string longest(static_cast<size_t>(pathconf(folder_.c_str(), _PC_NAME_MAX)), 'a');
  EXPECT_EQ(CheckOutputPath(In(longest)).message(),
            "the name of '" + In(longest) +
                "' is 20 bytes too long: the file that is written first has a longer one; give a "
                "shorter name with -o FILE");
  EXPECT_TRUE(CheckOutputPath(In(longest.substr(20))).ok());
  EXPECT_FALSE(CheckOutputPath(In(longest.substr(19))).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(OutputPathTest, SaysWhatIsInTheWay) {
  EXPECT_EQ(CheckOutputPath("").message(), "'' names no file; give a file with -o FILE");
  EXPECT_EQ(CheckOutputPath(folder_.string()).message(),
            "'" + folder_.string() + "' is a directory; give a file with -o FILE");
  EXPECT_EQ(CheckOutputPath("/dev/null").message(),
            "'/dev/null' is not a regular file; give a file with -o FILE");
  EXPECT_EQ(CheckOutputPath(In("none/a.cairn")).message(),
            "no file can be written in directory '" + In("none") +
                "' (No such file or directory); give another with -o FILE");
  std::ofstream(In("file")) << "x";
  EXPECT_EQ(CheckOutputPath(In("file/a.cairn")).message(),
            "no file can be written in directory '" + In("file") +
                "' (Not a directory); give another with -o FILE");
  EXPECT_FALSE(CheckOutputPath("/proc/a.cairn").ok());
}

}  // namespace
}  // namespace cairn
