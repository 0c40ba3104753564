// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "os/this_process.h"

namespace cairn {
namespace {

TEST(SharedMemory, IsSeenThroughASecondMappingThatMayNotWrite) {
  const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 100'000);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_EQ(memory->data()[99'999], std::byte{0});
  const Result<SharedMemory> again = memory->MapAgainForReading();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->size_bytes(), 100'000u);
  EXPECT_NE(again->data(), memory->data());
  memory->data()[99'999] = std::byte{7};
  EXPECT_EQ(again->data()[99'999], std::byte{7});
}

TEST(SharedMemory, OfAnotherSizeIsRefused) {
  const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 100'000);
  ASSERT_TRUE(memory.ok());
  const Result<SharedMemory> larger =
      SharedMemory::MapForReading(CopyOf(memory->handle()), 200'000);
  EXPECT_EQ(larger.status().code(), StatusCode::kCorrupt) << larger.status().message();
  EXPECT_EQ(SharedMemory::MapForReading(CopyOf(memory->handle()), 10'000).status().code(),
            StatusCode::kCorrupt);
  EXPECT_TRUE(SharedMemory::MapForWriting(CopyOf(memory->handle()), 100'000).ok());
  EXPECT_FALSE(SharedMemory::MapForReading(SystemHandle(), 100'000).ok());
}

TEST(SharedMemory, IsFoundByItsPath) {
  Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 10'000);
  ASSERT_TRUE(memory.ok());
  memory->data()[9'999] = std::byte{42};
  {
    const Result<SharedMemory> same = SharedMemory::MapPathForWriting(memory->PathForOthers());
    ASSERT_TRUE(same.ok()) << same.status().message();
    ASSERT_EQ(10'000u, same->size_bytes());
    EXPECT_EQ(std::byte{42}, same->data()[9'999]);
    same->data()[0] = std::byte{7};
  }
  EXPECT_EQ(std::byte{7}, memory->data()[0]);
}

// A variable of the environment may name anything.
TEST(SharedMemory, APathToNothingIsRefused) {
  EXPECT_FALSE(SharedMemory::MapPathForWriting("").ok());
  EXPECT_FALSE(SharedMemory::MapPathForWriting("/").ok());
  EXPECT_FALSE(SharedMemory::MapPathForWriting("/no/such/path").ok());
  std::string path;
  {
    const Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 10'000);
    ASSERT_TRUE(memory.ok());
    path = memory->PathForOthers();
  }
  EXPECT_FALSE(SharedMemory::MapPathForWriting(path).ok());
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("cairn-test-" + std::to_string(OwnProcessId()));
  std::ofstream(file) << "file";
  EXPECT_FALSE(SharedMemory::MapPathForWriting(file.string()).ok());
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace cairn
