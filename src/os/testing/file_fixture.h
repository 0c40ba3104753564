// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for each test of files.
#ifndef CAIRN_OS_TESTING_FILE_FIXTURE_H_
#define CAIRN_OS_TESTING_FILE_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "os/file.h"
#include "os/new_file.h"
#include "os/this_process.h"

namespace cairn {

inline std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FileTest : public testing::Test {
 protected:
  FileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("cairn-file-test-" + std::to_string(OwnProcessId()))) {
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path In(const std::string& name) const { return folder_ / name; }
  std::filesystem::path Made(const std::string& name, const std::string& text) const {
    std::ofstream(In(name), std::ios::binary) << text;
    return In(name);
  }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  static File Opened(const std::filesystem::path& path, FileMode mode) {
    std::error_code error;
    File file = File::Open(path, mode, error);
    EXPECT_FALSE(error) << path << ": " << error.message();
    return file;
  }
  static std::error_code ErrorOf(const std::filesystem::path& path, FileMode mode) {
    std::error_code error;
    EXPECT_FALSE(File::Open(path, mode, error).valid());
    return error;
  }
  // Reads a file with our own functions: also names that streams do not take, and files that are
  // open elsewhere.
  static std::string TextOf(const std::filesystem::path& path) {
    const File file = Opened(path, FileMode::kRead);
    std::string text(file.facts().size_bytes, '?');
    size_t read = 0;
    EXPECT_FALSE(file.ReadAt(0, std::as_writable_bytes(std::span(text)), &read));
    text.resize(read);
    return text;
  }

  const std::filesystem::path folder_;
};

}  // namespace cairn

#endif  // CAIRN_OS_TESTING_FILE_FIXTURE_H_
