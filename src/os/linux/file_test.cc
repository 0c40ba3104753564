// SPDX-License-Identifier: Apache-2.0
//
// Tests for POSIX only: modes, pipes, links, devices, and the words of its errors.
#include "os/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "os/testing/file_fixture.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

TEST_F(FileTest, ANewFileIsItsOwnersAlone) {
  const File file = Opened(In("new"), FileMode::kCreate);
  struct stat info = {};
  ASSERT_EQ(stat(In("new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(FileTest, APrivateFolderIsItsOwnersAlone) {
  EXPECT_FALSE(MakePrivateFolder(In("private")));
  struct stat info = {};
  ASSERT_EQ(stat(In("private").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(FileTest, ErrorsAreThoseOfTheSystem) {
  File file = Opened(Made("a", "x"), FileMode::kRead);
  EXPECT_EQ(file.Append(Bytes("y")), std::errc::bad_file_descriptor);
  File full = Opened("/dev/full", FileMode::kWrite);
  EXPECT_TRUE(IsOutOfSpace(full.Append(Bytes("y"))));
  EXPECT_EQ(full.facts().type, fs::file_type::character);
  EXPECT_EQ(full.Sync(), std::errc::invalid_argument);
  fs::create_directory(In("folder"));
  EXPECT_EQ(ReplaceFile(In("folder"), Bytes("x")), std::errc::is_a_directory);
  EXPECT_EQ(CheckCreation(In("a/b")), std::errc::not_a_directory);
  EXPECT_TRUE(CheckCreation("/proc/a"));
  EXPECT_EQ(ErrorOf(In(std::string(MostBytesOfName(folder_) + 1, 'a')), FileMode::kCreate),
            std::errc::filename_too_long);
}

TEST_F(FileTest, NeitherPipesNorLinksAreWaitedForOrFollowed) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Opened(In("pipe"), FileMode::kRead).facts().type, fs::file_type::fifo);
  EXPECT_EQ(ErrorOf(In("pipe"), FileMode::kWriteItself), std::errc::no_such_device_or_address);
  fs::create_symlink(Made("a", ""), In("link"));
  EXPECT_EQ(ErrorOf(In("link"), FileMode::kWriteItself), std::errc::too_many_symbolic_link_levels);
  EXPECT_TRUE(Opened(In("a"), FileMode::kRead).IsAt(In("link")));
  EXPECT_EQ(FactsAt(In("link")).type, fs::file_type::regular);
  EXPECT_EQ(FactsOfName(In("link")).type, fs::file_type::symlink);
  EXPECT_EQ(FactsAt("/dev/null").type, fs::file_type::character);
}

TEST_F(FileTest, WhoReadsAFileThatIsReplacedKeepsIt) {
  std::ifstream reader(Made("a", "before"));
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("behind it")));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "before");
  EXPECT_EQ(TextOf(In("a")), "behind it");
}

}  // namespace
}  // namespace cairn
