// SPDX-License-Identifier: Apache-2.0
#include "os/sole_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cairn {
namespace {

namespace fs = std::filesystem;

class SoleFileTest : public testing::Test {
 protected:
  SoleFileTest() : folder_(fs::temp_directory_path() / ("sole-file-" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~SoleFileTest() override { fs::remove_all(folder_); }
  static SoleFile Open(const std::string& path) {
    Result<std::optional<SoleFile>> file = SoleFile::Open(path);
    EXPECT_TRUE(file.ok() && file->has_value());
    return std::move(**file);
  }

  const fs::path folder_;
  const std::string path_ = folder_ / "a";
};

TEST_F(SoleFileTest, KeepsWhatWasWritten) {
  {
    const SoleFile file = Open(path_);
    EXPECT_EQ("", *file.Read(100));
    EXPECT_TRUE(file.Write("first ").ok());
    EXPECT_TRUE(file.Write("second").ok());
    EXPECT_TRUE(file.Sync().ok());
  }
  EXPECT_EQ(fs::perms::owner_read | fs::perms::owner_write, fs::status(path_).permissions());
  const SoleFile file = Open(path_);
  EXPECT_EQ("first second", *file.Read(100));
  EXPECT_EQ("first", *file.Read(5));
  EXPECT_TRUE(file.CutAt(6).ok());
  EXPECT_TRUE(file.Write("third").ok());
  EXPECT_EQ("first third", *file.Read(100));
}

TEST_F(SoleFileTest, ReadsMoreThanAPiece) {
  const std::string long_text(200'000, 'x');
  const SoleFile file = Open(path_);
  EXPECT_TRUE(file.Write(long_text).ok());
  EXPECT_EQ(long_text, *file.Read(1'000'000));
  EXPECT_EQ(150'000u, file.Read(150'000)->size());
}

TEST_F(SoleFileTest, NobodyElseHasIt) {
  {
    const SoleFile file = Open(path_);
    const Result<std::optional<SoleFile>> second = SoleFile::Open(path_);
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->has_value());
  }
  EXPECT_TRUE(SoleFile::Open(path_)->has_value());
  EXPECT_FALSE(SoleFile::Open(path_, SoleFile::Existing::kRefused).ok());
  const Status status = SoleFile::Open(folder_ / "none/a").status();
  EXPECT_EQ(folder_.string() + "/none/a: No such file or directory", status.message());
}

TEST_F(SoleFileTest, IsRemovedOnce) {
  SoleFile file = Open(path_);
  EXPECT_TRUE(file.Remove().ok());
  EXPECT_FALSE(fs::exists(path_));
  SoleFile gone = Open(path_);
  fs::remove(path_);
  EXPECT_TRUE(gone.Remove().ok());
}

TEST_F(SoleFileTest, ANameThatIsTakenStays) {
  std::ofstream(path_) << "a";
  const std::string other = folder_ / "b";
  EXPECT_TRUE(RenameToFreeName(path_, other).ok());
  EXPECT_FALSE(fs::exists(path_));
  std::ofstream(path_) << "new";
  EXPECT_FALSE(RenameToFreeName(path_, other).ok());
  EXPECT_EQ(1u, fs::file_size(other));
  EXPECT_EQ(3u, fs::file_size(path_));
}

}  // namespace
}  // namespace cairn
