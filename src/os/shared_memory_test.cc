// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "os/this_process.h"

namespace cairn {
namespace {

TEST(SharedMemory, IsFoundByItsPath) {
  Result<SharedMemory> memory = SharedMemory::Create("cairn-test", 8192);
  ASSERT_TRUE(memory.ok());
  memory->data()[8191] = std::byte{42};
  {
    const Result<SharedMemory> same = SharedMemory::MapPathForWriting(memory->PathForOthers());
    ASSERT_TRUE(same.ok()) << same.status().message();
    ASSERT_EQ(8192u, same->size_bytes());
    EXPECT_EQ(std::byte{42}, same->data()[8191]);
    same->data()[0] = std::byte{7};
  }
  EXPECT_EQ(std::byte{7}, memory->data()[0]);
}

// Somebody's variable may name anything.
TEST(SharedMemory, APathToSomethingElseIsRefused) {
  EXPECT_EQ(StatusCode::kNotFound,
            SharedMemory::MapPathForWriting("/no/such/path").status().code());
  EXPECT_FALSE(SharedMemory::MapPathForWriting("").ok());
  EXPECT_FALSE(SharedMemory::MapPathForWriting("/dev/null").ok());
  EXPECT_FALSE(SharedMemory::MapPathForWriting("/").ok());
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("cairn-test-" + std::to_string(OwnProcessId()));
  std::ofstream(file) << "file";
  EXPECT_FALSE(SharedMemory::MapPathForWriting(file.string()).ok());
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace cairn
