// SPDX-License-Identifier: Apache-2.0
//
// The replacements of newer_glibc.c, which this program has, beside the system's own answers. Not with
// CAIRN_SANITIZED: sanitizers have functions of these names.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>

extern "C" uint32_t arc4random();

namespace cairn {
namespace {

constexpr char kProgram[] = "/proc/self/exe";

void ExpectSameFile(const struct statx& expected, const struct stat& found) {
  EXPECT_EQ(expected.stx_ino, found.st_ino);
  EXPECT_EQ(expected.stx_size, static_cast<uint64_t>(found.st_size));
  EXPECT_EQ(expected.stx_mode, found.st_mode);
  EXPECT_EQ(expected.stx_mtime.tv_sec, found.st_mtim.tv_sec);
  EXPECT_EQ(expected.stx_mtime.tv_nsec, found.st_mtim.tv_nsec);
}

TEST(NewerGlibc, FilesAreDescribedAsByTheSystem) {
  struct statx file = {};
  struct statx link = {};
  ASSERT_EQ(statx(AT_FDCWD, kProgram, 0, STATX_BASIC_STATS, &file), 0);
  ASSERT_EQ(statx(AT_FDCWD, kProgram, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &link), 0);
  ASSERT_NE(file.stx_mode, link.stx_mode);
  struct stat found = {};
  ASSERT_EQ(stat(kProgram, &found), 0);
  ExpectSameFile(file, found);
  found = {};
  ASSERT_EQ(lstat(kProgram, &found), 0);
  EXPECT_EQ(link.stx_mode, found.st_mode);
  const int opened = open(kProgram, O_RDONLY | O_CLOEXEC);
  found = {};
  ASSERT_EQ(fstat(opened, &found), 0);
  ExpectSameFile(file, found);
  struct stat64 found64 = {};
  ASSERT_EQ(fstat64(opened, &found64), 0);
  EXPECT_EQ(file.stx_size, static_cast<uint64_t>(found64.st_size));
  close(opened);
  EXPECT_EQ(stat("/no/such/file", &found), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(NewerGlibc, TheTableOfAnAddressIsFound) {
  dl_find_object found = {};
  const auto address = reinterpret_cast<uintptr_t>(&ExpectSameFile);
  ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(address), &found), 0);
  EXPECT_LE(reinterpret_cast<uintptr_t>(found.dlfo_map_start), address);
  EXPECT_GT(reinterpret_cast<uintptr_t>(found.dlfo_map_end), address);
  // The header of such a table begins with its version.
  EXPECT_EQ(*static_cast<const uint8_t*>(found.dlfo_eh_frame), 1);
  const void* const table = found.dlfo_eh_frame;
  ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(&getpid), &found), 0);
  EXPECT_NE(found.dlfo_eh_frame, table);
  EXPECT_EQ(_dl_find_object(nullptr, &found), -1);
}

// The unwinder inside of this program asks for that table, also of another library's functions.
TEST(NewerGlibc, ExceptionsAreCaught) {
  for (const char* number : {"one", "99999999999999999999"}) {
    std::string caught;
    try {
      static_cast<void>(std::stoi(number));
    } catch (const std::logic_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "stoi");
  }
}

TEST(NewerGlibc, RandomNumbersDiffer) {
  const uint32_t first = arc4random();
  bool differs = false;
  for (int i = 0; i < 8; ++i) differs |= arc4random() != first;
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace cairn
