// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "os/testing/file_fixture.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

TEST_F(FileTest, ANewFileIsNew) {
  EXPECT_TRUE(Opened(In("new"), FileMode::kCreate).valid());
  EXPECT_EQ(ErrorOf(In("new"), FileMode::kCreate), std::errc::file_exists);
  EXPECT_EQ(ErrorOf(In("none/new"), FileMode::kCreate), std::errc::no_such_file_or_directory);
}

TEST_F(FileTest, AppendsAndReadsAnywhere) {
  File file = Opened(In("a"), FileMode::kCreate);
  EXPECT_FALSE(file.Append(Bytes("first ")));
  EXPECT_FALSE(file.Append(Bytes("second third")));
  EXPECT_EQ(file.facts().type, fs::file_type::regular);
  EXPECT_EQ(file.facts().size_bytes, 18u);
  // The truncated part does not come back as zeros.
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
  EXPECT_FALSE(file.ReadAt(16, std::as_writable_bytes(std::span(text)), &read));
  EXPECT_EQ(read, 0u);
  EXPECT_FALSE(file.Close());
  EXPECT_FALSE(file.valid());
  EXPECT_EQ(TextOf(In("a")), "first second 3rd");

  file = Opened(In("a"), FileMode::kOpenOrCreate);
  EXPECT_FALSE(file.Append(Bytes("!")));
  EXPECT_EQ(TextOf(In("a")), "first second 3rd!");
}

TEST_F(FileTest, ErrorsHaveTheSameWordsOnEverySystem) {
  const Status status = StatusFromError(ErrorOf(In("none"), FileMode::kRead), "cannot open it");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "cannot open it: No such file or directory");
  EXPECT_TRUE(IsOutOfSpace(std::make_error_code(std::errc::no_space_on_device)));
  EXPECT_FALSE(IsOutOfSpace(std::make_error_code(std::errc::file_exists)));
  const File file = Opened(Made("a", "x"), FileMode::kRead);
  File same = Opened(In("a"), FileMode::kRead);
  EXPECT_TRUE(same.Append(Bytes("y")));
  EXPECT_EQ(TextOf(In("a")), "x");
}

TEST_F(FileTest, NamesAreUtf8) {
  const fs::path name = fs::path(u8"Gr\u00fc\u00dfe aus \u6771\u4eac");
  const std::string text = (folder_ / name).string();
  EXPECT_FALSE(ReplaceFile(text, Bytes("here")));
  EXPECT_EQ(TextOf(folder_ / name), "here");
  EXPECT_EQ(FilePath(text), folder_ / name);
  EXPECT_EQ(FilePath(text.c_str()), folder_ / name);
  EXPECT_EQ(FilePath(text).string(), text);
  EXPECT_FALSE(RemoveFile(text));
  EXPECT_TRUE(Names().empty());
}

TEST_F(FileTest, KnowsWhatANameStandsFor) {
  EXPECT_EQ(Opened(folder_, FileMode::kRead).facts().type, fs::file_type::directory);
  EXPECT_EQ(FactsAt(folder_).type, fs::file_type::directory);
  EXPECT_EQ(FactsAt(Made("a", "xyz")).type, fs::file_type::regular);
  EXPECT_EQ(FactsAt(In("a")).size_bytes, 3u);
  EXPECT_EQ(FactsOfName(In("a")).size_bytes, 3u);
  EXPECT_EQ(FactsAt(In("none")).type, fs::file_type::not_found);
  EXPECT_EQ(FactsOfName(In("none/none")).type, fs::file_type::not_found);
}

TEST_F(FileTest, MakesFoldersAsFarAsTheyAreMissing) {
  EXPECT_FALSE(MakeFolders(In("one/two/three")));
  EXPECT_EQ(FactsAt(In("one/two/three")).type, fs::file_type::directory);
  EXPECT_FALSE(MakeFolders(In("one/two/three/")));
  EXPECT_FALSE(MakeFolders(In("one/two/four/")));
  EXPECT_EQ(FactsAt(In("one/two/four")).type, fs::file_type::directory);
  Made("file", "");
  EXPECT_TRUE(MakeFolders(In("file/folder")));
  EXPECT_TRUE(MakeFolders(In("file")));
}

TEST_F(FileTest, MakesAFolderForOneUser) {
  EXPECT_FALSE(MakePrivateFolder(In("private")));
  EXPECT_EQ(FactsAt(In("private")).type, fs::file_type::directory);
  EXPECT_FALSE(ReplaceFile(In("private/a"), Bytes("here")));
  EXPECT_EQ(TextOf(In("private/a")), "here");
  EXPECT_EQ(MakePrivateFolder(In("private")), std::errc::file_exists);
  EXPECT_EQ(MakePrivateFolder(Made("file", "")), std::errc::file_exists);
  EXPECT_EQ(MakePrivateFolder(In("none/private")), std::errc::no_such_file_or_directory);
}

TEST_F(FileTest, RemovesFilesAndNoFolders) {
  EXPECT_FALSE(RemoveFile(Made("a", "x")));
  EXPECT_EQ(RemoveFile(In("a")), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(MakeFolders(In("folder")));
  EXPECT_TRUE(RemoveFile(In("folder")));
  EXPECT_EQ(Names(), (std::set<std::string>{"folder"}));
}

TEST_F(FileTest, ALockKeepsOthersOut) {
  File holder = Opened(Made("a", "x"), FileMode::kWriteItself);
  EXPECT_TRUE(holder.TryLock());
  File other = Opened(In("a"), FileMode::kWriteItself);
  EXPECT_FALSE(other.TryLock());
  // Only lockers are affected.
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
  EXPECT_FALSE(RenameToFree(In("a"), In("b")));
  EXPECT_FALSE(file.IsAt(In("a")));
  Made("a", "");
  EXPECT_FALSE(file.IsAt(In("a")));
  EXPECT_TRUE(file.IsAt(In("b")));
}

TEST_F(FileTest, ReplacesAWholeFileOrNothing) {
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("before")));
  EXPECT_EQ(TextOf(In("a")), "before");
  EXPECT_FALSE(ReplaceFile(In("a"), Bytes("behind it")));
  EXPECT_EQ(TextOf(In("a")), "behind it");
  fs::create_directory(In("folder"));
  EXPECT_TRUE(ReplaceFile(In("folder"), Bytes("x")));
  EXPECT_EQ(ReplaceFile(In("none/a"), Bytes("x")), std::errc::no_such_file_or_directory);
  EXPECT_EQ(Names(), (std::set<std::string>{"a", "folder"}));
}

TEST_F(FileTest, ATakenNameStaysTakenOrIsTakenOver) {
  Made("a", "1");
  Made("b", "2");
  EXPECT_EQ(RenameToFree(In("a"), In("b")), std::errc::file_exists);
  EXPECT_EQ(TextOf(In("b")), "2");
  EXPECT_FALSE(RenameToFree(In("a"), In("c")));
  EXPECT_EQ(TextOf(In("c")), "1");
  EXPECT_FALSE(Rename(In("c"), In("b")));
  EXPECT_EQ(TextOf(In("b")), "1");
  EXPECT_EQ(Names(), (std::set<std::string>{"b"}));
}

TEST_F(FileTest, TellsWhetherAFileCouldBeMade) {
  EXPECT_FALSE(CheckCreation(In("a")));
  EXPECT_TRUE(Names().empty());
  EXPECT_EQ(CheckCreation(In("none/a")), std::errc::no_such_file_or_directory);
  Made("file", "");
  EXPECT_TRUE(CheckCreation(In("file/a")));

  const size_t most = MostBytesOfName(folder_);
  ASSERT_NE(most, 0u);
  EXPECT_TRUE(Opened(In(std::string(most, 'a')), FileMode::kCreate).valid());
  EXPECT_TRUE(ErrorOf(In(std::string(most + 1, 'a')), FileMode::kCreate));
}

}  // namespace
}  // namespace cairn
