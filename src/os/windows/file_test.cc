// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "os/this_process.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FileTest : public testing::Test {
 protected:
  FileTest()
      : folder_(fs::temp_directory_path() / ("cairn-file-test-" + std::to_string(OwnProcessId()))) {
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }

  static File Opened(const fs::path& path, FileMode mode) {
    std::error_code error;
    File file = File::Open(path, mode, error);
    EXPECT_FALSE(error) << path << ": " << error.message();
    return file;
  }
  static std::error_code ErrorOf(const fs::path& path, FileMode mode) {
    std::error_code error;
    EXPECT_FALSE(File::Open(path, mode, error).valid());
    return error;
  }
  static std::string TextOf(const fs::path& path) {
    const File file = Opened(path, FileMode::kRead);
    std::string text(file.facts().size_bytes, '?');
    size_t read = 0;
    EXPECT_FALSE(file.ReadAt(0, std::as_writable_bytes(std::span(text)), &read));
    text.resize(read);
    return text;
  }

  fs::path folder_;
};

TEST_F(FileTest, AppendsAndReadsAnywhere) {
  File file = Opened(folder_ / "a", FileMode::kCreate);
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
  EXPECT_EQ(text, "second");
  EXPECT_FALSE(file.ReadAt(13, std::as_writable_bytes(std::span(text)), &read));
  EXPECT_EQ(read, 3u);
  EXPECT_FALSE(file.ReadAt(16, std::as_writable_bytes(std::span(text)), &read));
  EXPECT_EQ(read, 0u);
  EXPECT_FALSE(file.Close());
  EXPECT_FALSE(file.valid());

  file = Opened(folder_ / "a", FileMode::kOpenOrCreate);
  EXPECT_FALSE(file.Append(Bytes("!")));
  EXPECT_EQ(TextOf(folder_ / "a"), "first second 3rd!");
}

TEST_F(FileTest, ErrorsAreThoseOfEverySystem) {
  Opened(folder_ / "a", FileMode::kCreate);
  EXPECT_EQ(ErrorOf(folder_ / "a", FileMode::kCreate), std::errc::file_exists);
  EXPECT_EQ(ErrorOf(folder_ / "none" / "a", FileMode::kCreate),
            std::errc::no_such_file_or_directory);
  const Status status = StatusFromError(ErrorOf(folder_ / "b", FileMode::kRead), "cannot open it");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "cannot open it: No such file or directory");
  EXPECT_EQ(Opened(folder_, FileMode::kRead).facts().type, fs::file_type::directory);
}

TEST_F(FileTest, NamesMayHaveSpacesUmlautsAndThreeHundredCharacters) {
  // The C++ library takes names of that length behind this prefix only.
  const auto long_name = [](const fs::path& path) {
    return fs::path(L"\\\\?\\" + fs::absolute(path).wstring());
  };
  std::vector<fs::path> folders = {folder_ / fs::path(u8"Gr\u00fc\u00dfe aus \u6771\u4eac")};
  while (folders.back().native().size() < 300)
    folders.push_back(folders.back() / std::string(40, 'x'));
  for (const fs::path& folder : folders) ASSERT_TRUE(fs::create_directory(long_name(folder)));
  const fs::path folder = folders.back();
  const fs::path path = folder / "a b.cairn";
  EXPECT_FALSE(CheckCreation(path));
  EXPECT_FALSE(ReplaceFile(path, Bytes("here")));
  EXPECT_EQ(TextOf(path), "here");
  EXPECT_TRUE(Opened(path, FileMode::kRead).IsAt(path));
  EXPECT_FALSE(RenameToFree(path, folder / "c"));
  EXPECT_EQ(TextOf(folder / "c"), "here");
  EXPECT_TRUE(fs::remove(long_name(folder / "c")));
  for (; !folders.empty(); folders.pop_back()) EXPECT_TRUE(fs::remove(long_name(folders.back())));
}

TEST_F(FileTest, ALockKeepsOthersOut) {
  File holder = Opened(folder_ / "a", FileMode::kCreate);
  EXPECT_TRUE(holder.TryLock());
  File other = Opened(folder_ / "a", FileMode::kOpenOrCreate);
  EXPECT_FALSE(other.TryLock());
  // Nobody else cares.
  EXPECT_FALSE(other.Append(Bytes("y")));
  EXPECT_EQ(TextOf(folder_ / "a"), "y");
  std::thread waiter([&] { EXPECT_FALSE(other.Lock()); });
  EXPECT_FALSE(holder.Close());
  waiter.join();
  EXPECT_FALSE(Opened(folder_ / "a", FileMode::kOpenOrCreate).TryLock());
}

TEST_F(FileTest, ReplacesAWholeFileAndNeverWhatHasTheName) {
  EXPECT_FALSE(ReplaceFile(folder_ / "a", Bytes("before")));
  {
    // While somebody reads it not every system does it. Then nothing has changed.
    const File reader = Opened(folder_ / "a", FileMode::kRead);
    const std::error_code error = ReplaceFile(folder_ / "a", Bytes("between"));
    EXPECT_EQ(TextOf(folder_ / "a"), error ? "before" : "between");
  }
  EXPECT_FALSE(ReplaceFile(folder_ / "a", Bytes("after")));
  EXPECT_EQ(TextOf(folder_ / "a"), "after");
  EXPECT_FALSE(ReplaceFile(folder_ / "b", Bytes("b")));
  EXPECT_EQ(RenameToFree(folder_ / "b", folder_ / "a"), std::errc::file_exists);
  EXPECT_EQ(TextOf(folder_ / "a"), "after");
  EXPECT_FALSE(RenameToFree(folder_ / "b", folder_ / "c"));
  EXPECT_FALSE(fs::exists(folder_ / "b"));
}

}  // namespace
}  // namespace cairn
