// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace cairn {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FileTest : public testing::Test {
 protected:
  FileTest() : folder_(fs::path(testing::TempDir()) / ("file_test." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }

  fs::path In(const std::string& name) const { return folder_ / name; }
  fs::path Made(const std::string& name, const std::string& text) const {
    std::ofstream(In(name)) << text;
    return In(name);
  }
  std::string TextOf(const fs::path& path) const {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  static File Opened(const fs::path& path, FileMode mode) {
    std::error_code error;
    File file = File::Open(path, mode, error);
    EXPECT_FALSE(error) << error.message();
    return file;
  }
  static std::error_code ErrorOf(const fs::path& path, FileMode mode) {
    std::error_code error;
    EXPECT_FALSE(File::Open(path, mode, error).valid());
    return error;
  }

  fs::path folder_;
};

TEST_F(FileTest, ANewFileIsItsOwnersAlone) {
  File file = Opened(In("new"), FileMode::kCreate);
  struct stat info = {};
  ASSERT_EQ(stat(In("new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(ErrorOf(In("new"), FileMode::kCreate), std::errc::file_exists);
  EXPECT_EQ(ErrorOf(In("none/new"), FileMode::kCreate), std::errc::no_such_file_or_directory);
}

TEST_F(FileTest, AppendsAndReadsAnywhere) {
  File file = Opened(In("a"), FileMode::kCreate);
  EXPECT_FALSE(file.Append(Bytes("first ")));
  EXPECT_FALSE(file.Append(Bytes("second third")));
  EXPECT_EQ(file.facts().type, fs::file_type::regular);
  EXPECT_EQ(file.facts().size_bytes, 18u);
  // What is cut off does not come back as zeros.
  EXPECT_FALSE(file.Truncate(13));
  EXPECT_FALSE(file.Append(Bytes("3rd")));
  EXPECT_FALSE(file.Sync());
  std::string text(6, '?');
  size_t read = 0;
  EXPECT_FALSE(file.ReadAt(6, std::as_writable_bytes(std::span(text)), &read));
  EXPECT_EQ(read, 6u);
  EXPECT_EQ(text, "second");
  EXPECT_FALSE(file.ReadAt(13, std::as_writable_bytes(std::span(text)), &read));
  EXPECT_EQ(read, 3u);
  EXPECT_EQ(text.substr(0, 3), "3rd");
  EXPECT_FALSE(file.Close());
  EXPECT_FALSE(file.valid());
  EXPECT_EQ(TextOf(In("a")), "first second 3rd");

  file = Opened(In("a"), FileMode::kOpenOrCreate);
  EXPECT_FALSE(file.Append(Bytes("!")));
  EXPECT_EQ(TextOf(In("a")), "first second 3rd!");
}

TEST_F(FileTest, ErrorsAreThoseOfTheSystem) {
  const File file = Opened(Made("a", "x"), FileMode::kRead);
  File same = Opened(In("a"), FileMode::kRead);
  EXPECT_EQ(same.Append(Bytes("y")), std::errc::bad_file_descriptor);
  const Status status = StatusFromError(ErrorOf(In("none"), FileMode::kRead), "cannot open it");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "cannot open it: No such file or directory");
  EXPECT_TRUE(IsOutOfSpace(std::make_error_code(std::errc::no_space_on_device)));
  EXPECT_FALSE(IsOutOfSpace(std::make_error_code(std::errc::file_exists)));
  File full = Opened("/dev/full", FileMode::kWrite);
  EXPECT_TRUE(IsOutOfSpace(full.Append(Bytes("y"))));
  EXPECT_EQ(full.facts().type, fs::file_type::character);
  EXPECT_EQ(full.Sync(), std::errc::invalid_argument);
}

TEST_F(FileTest, NeitherPipesNorLinksAreWaitedForOrFollowed) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Opened(In("pipe"), FileMode::kRead).facts().type, fs::file_type::fifo);
  EXPECT_EQ(ErrorOf(In("pipe"), FileMode::kWriteItself), std::errc::no_such_device_or_address);
  fs::create_symlink(Made("a", ""), In("link"));
  EXPECT_EQ(ErrorOf(In("link"), FileMode::kWriteItself), std::errc::too_many_symbolic_link_levels);
  EXPECT_EQ(Opened(folder_, FileMode::kRead).facts().type, fs::file_type::directory);
}

TEST_F(FileTest, ALockKeepsOthersOut) {
  File holder = Opened(Made("a", "x"), FileMode::kWriteItself);
  EXPECT_TRUE(holder.TryLock());
  File other = Opened(In("a"), FileMode::kWriteItself);
  EXPECT_FALSE(other.TryLock());
  // Nobody else cares.
  EXPECT_FALSE(other.Append(Bytes("y")));
  EXPECT_EQ(TextOf(In("a")), "xy");

  std::thread waiter([&] { EXPECT_FALSE(other.Lock()); });
  EXPECT_FALSE(holder.Close());
  waiter.join();
  File third = Opened(In("a"), FileMode::kRead);
  EXPECT_FALSE(third.TryLock());
}

TEST_F(FileTest, KnowsItsName) {
  const File file = Opened(Made("a", ""), FileMode::kRead);
  EXPECT_TRUE(file.IsAt(In("a")));
  fs::create_symlink(In("a"), In("link"));
  EXPECT_TRUE(file.IsAt(In("link")));
  fs::rename(In("a"), In("b"));
  EXPECT_FALSE(file.IsAt(In("a")));
  Made("a", "");
  EXPECT_FALSE(file.IsAt(In("a")));
  EXPECT_TRUE(file.IsAt(In("b")));
}

TEST_F(FileTest, ReplacesAWholeFileOrNothing) {
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("before")));
  EXPECT_EQ(TextOf(In("a")), "before");
  std::ifstream reader(In("a"));
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("behind it")));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "before");
  EXPECT_EQ(TextOf(In("a")), "behind it");
  fs::create_directory(In("folder"));
  EXPECT_EQ(ReplaceFile(In("folder"), Bytes("x")), std::errc::is_a_directory);
  EXPECT_EQ(ReplaceFile(In("none/a"), Bytes("x")), std::errc::no_such_file_or_directory);
  EXPECT_EQ(Names(), (std::set<std::string>{"a", "folder"}));
}

TEST_F(FileTest, ATakenNameStaysTaken) {
  Made("a", "1");
  Made("b", "2");
  EXPECT_EQ(RenameToFree(In("a"), In("b")), std::errc::file_exists);
  EXPECT_EQ(TextOf(In("b")), "2");
  EXPECT_FALSE(RenameToFree(In("a"), In("c")));
  EXPECT_EQ(TextOf(In("c")), "1");
  EXPECT_EQ(Names(), (std::set<std::string>{"b", "c"}));
}

TEST_F(FileTest, TellsWhetherAFileCouldBeMade) {
  EXPECT_FALSE(CheckCreation(In("a")));
  EXPECT_TRUE(Names().empty());
  EXPECT_EQ(CheckCreation(In("none/a")), std::errc::no_such_file_or_directory);
  Made("file", "");
  EXPECT_EQ(CheckCreation(In("file/a")), std::errc::not_a_directory);
  EXPECT_TRUE(CheckCreation("/proc/a"));

  const size_t most = MostBytesOfName(folder_);
  ASSERT_NE(most, 0u);
  EXPECT_TRUE(Opened(In(std::string(most, 'a')), FileMode::kCreate).valid());
  EXPECT_EQ(ErrorOf(In(std::string(most + 1, 'a')), FileMode::kCreate),
            std::errc::filename_too_long);
}

}  // namespace
}  // namespace cairn
