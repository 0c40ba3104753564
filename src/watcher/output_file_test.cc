// SPDX-License-Identifier: Apache-2.0
#include "watcher/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "watcher/output_path.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

// Puts obstacles in the way of "game.cairn", each test in a folder of its own.
class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest()
      : folder_(fs::path(testing::TempDir()) / ("output_file_test." + std::to_string(getpid()))),
        path_((folder_ / "game.cairn").string()),
        part_(path_ + ".part") {
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  // The check at the start refuses with `why`; at the crash the file gets the next name, and says why.
  void ExpectInTheWay(const std::string& why) {
    EXPECT_EQ(CheckOutputPath(path_).message(), why);
    int asked = 0;
    Result<OutputFile> file = CreateOutput(
        path_, [&] { return (folder_ / ("game-" + std::to_string(++asked) + ".cairn")).string(); });
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(file->path, (folder_ / "game-1.cairn").string());
    EXPECT_EQ(file->why_not, why);
    EXPECT_TRUE(file->writer.Finish().ok());
    EXPECT_TRUE(fs::is_regular_file(folder_ / "game-1.cairn"));
    EXPECT_FALSE(CreateOutput(path_, nullptr).ok());
  }

  fs::path folder_;
  std::string path_;
  std::string part_;
};

TEST_F(OutputFileTest, TheWantedNameIsUsedWhereItCanBe) {
  Result<OutputFile> file = CreateOutput(path_, [] { return std::string("unused"); });
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->path, path_);
  EXPECT_EQ(file->why_not, "");
}

TEST_F(OutputFileTest, ADirectory) {
  fs::create_directories(part_);
  ExpectInTheWay("cannot write to " + part_ +
                 ": it is a directory; move it away or choose another file name");
}

TEST_F(OutputFileTest, APipe) {
  ASSERT_EQ(mkfifo(part_.c_str(), 0600), 0);
  // With a reader the pipe could be written to.
  const int reader = open(part_.c_str(), O_RDONLY | O_NONBLOCK);
  ExpectInTheWay("cannot write to " + part_ +
                 ": it is a pipe; move it away or choose another file name");
  close(reader);
}

TEST_F(OutputFileTest, ASymbolicLink) {
  fs::create_symlink("/etc/passwd", part_);
  ExpectInTheWay("cannot write to " + part_ +
                 ": it is a symbolic link; move it away or choose another file name");
}

TEST_F(OutputFileTest, AFileThatIsBeingWritten) {
  Result<FileWriter> other = FileWriter::Create(path_);
  ASSERT_TRUE(other.ok());
  ExpectInTheWay("cannot write to " + part_ +
                 ": another process is writing it; choose another file name or wait until it is "
                 "done");
}

TEST_F(OutputFileTest, ALeftoverThatCannotBeKept) {
  std::ofstream(part_) << "from an earlier run";
  fs::create_directories(part_ + ".old");
  ExpectInTheWay("cannot keep the unfinished file of an earlier run as " + part_ +
                 ".old: Is a directory; choose another place for the file");
}

TEST_F(OutputFileTest, ALeftoverIsKept) {
  std::ofstream(part_) << "from an earlier run";
  EXPECT_TRUE(CheckOutputPath(path_).ok());
  EXPECT_TRUE(fs::is_regular_file(part_));
  EXPECT_FALSE(fs::exists(part_ + ".old"));
  EXPECT_TRUE(CreateOutput(path_, nullptr).ok());
  EXPECT_TRUE(fs::is_regular_file(part_ + ".old"));
}

TEST_F(OutputFileTest, NamesEndSomewhere) {
  fs::create_directories(part_);
  int asked = 0;
  const Result<OutputFile> none = CreateOutput(path_, [&] { return ++asked == 2 ? "" : path_; });
  EXPECT_EQ(none.status().message(), "cannot write to " + part_ +
                                         ": it is a directory; move it away or choose another "
                                         "file name");
  EXPECT_EQ(asked, 2);
  asked = 0;
  EXPECT_FALSE(CreateOutput(path_, [&] {
                 ++asked;
                 return path_;
               }).ok());
  EXPECT_EQ(asked, 4);
}

}  // namespace
}  // namespace cairn
