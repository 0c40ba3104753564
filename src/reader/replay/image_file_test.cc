// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/image_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "os/file.h"
#include "os/this_process.h"

namespace cairn {
namespace {

class ImageFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("cairn_image_file_test." + std::to_string(OwnProcessId()));
    ASSERT_TRUE(MakeFolder(Path("")).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return TextOfPath(folder_ / "deep" / FilePath(name));
  }

  std::filesystem::path folder_;
};

TEST_F(ImageFileTest, PixelsComeBack) {
  RgbaImage image = {3, 2, {}};
  for (uint8_t i = 0; i < 24; ++i) image.pixels.push_back(static_cast<uint8_t>(i * 10));
  ASSERT_TRUE(WritePng(Path("a.png"), image).ok());
  const Result<RgbaImage> read = ReadPng(Path("a.png"));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->width, 3u);
  EXPECT_EQ(read->height, 2u);
  EXPECT_EQ(read->pixels, image.pixels);
  // The folder holds no other file.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "deep"), {}), 1);
}

TEST_F(ImageFileTest, WhatCannotBeWrittenLeavesNothing) {
  EXPECT_EQ(WritePng(Path("b.png"), {2, 2, std::vector<uint8_t>(15)}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(WritePng(Path("b.png"), {0, 0, {}}).code(), StatusCode::kInvalidArgument);
  const Status status = WritePng(Path("none/b.png"), {1, 1, std::vector<uint8_t>(4)});
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("none/b.png"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "deep"));
}

TEST_F(ImageFileTest, BadFilesAreRefused) {
  EXPECT_EQ(ReadPng(Path("absent.png")).status().code(), StatusCode::kNotFound);
  std::ofstream(Path("c.png")) << "\x89PNG no more";
  EXPECT_EQ(ReadPng(Path("c.png")).status().code(), StatusCode::kCorrupt);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(MakeFolder(TextOfPath(folder_ / "file" / "folder")).code(), StatusCode::kIo);
}

TEST_F(ImageFileTest, OnlyEmptyFoldersAreRemoved) {
  RemoveEmptyFolder(TextOfPath(folder_));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "deep"));
  RemoveEmptyFolder(TextOfPath(folder_ / "deep"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "deep"));
  RemoveEmptyFolder(TextOfPath(folder_ / "deep"));
}

#if !defined(_WIN32)  // where links need a right that most users have not
TEST_F(ImageFileTest, ALinkIsNoFolder) {
  std::filesystem::create_symlink("deep", folder_ / "link");
  RemoveEmptyFolder(folder_ / "link");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "deep"));
}
#endif

TEST_F(ImageFileTest, FoldersAreListedByTheirPngFiles) {
  const RgbaImage image = {1, 1, std::vector<uint8_t>(4)};
  ASSERT_TRUE(WritePng(Path("b.png"), image).ok());
  ASSERT_TRUE(WritePng(Path("\u00e4.png"), image).ok());
  std::ofstream(folder_ / "deep" / "c.txt") << "x";
  const Result<std::set<std::string>> files = PngFilesIn(Path(""));
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ(*files, (std::set<std::string>{"b.png", "\u00e4.png"}));
  EXPECT_EQ(PngFilesIn(Path("none")).status().code(), StatusCode::kIo);
}

TEST(ImageNamesTest, NamesBecomePartsOfFileNames) {
  EXPECT_EQ(FileNamePart(""), "");
  EXPECT_EQ(FileNamePart("Shadow map #2"), "Shadow_map__2");
  EXPECT_EQ(FileNamePart("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(FileNamePart(std::string(100, 'x')).size(), 64u);
}

TEST(ImageNamesTest, FormatsHaveNames) {
  EXPECT_EQ(FormatName(28), "R8G8B8A8_UNORM");
  EXPECT_EQ(FormatName(0), "UNKNOWN");
  EXPECT_EQ(FormatName(5000), "format 5000");
}

TEST(ImageNamesTest, HashesAreThoseOfXxhsum) {
  // printf '' | xxhsum -H2
  EXPECT_EQ(HashText(HashPixels({})), "99aa06d3014798d86001c324468d497f");
}

}  // namespace
}  // namespace cairn
