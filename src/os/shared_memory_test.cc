// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

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
  char path[] = "/tmp/cairn-test-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  EXPECT_EQ(4, write(file, "file", 4));
  EXPECT_EQ(StatusCode::kCorrupt, SharedMemory::MapPathForWriting(path).status().code());
  close(file);
  std::remove(path);
}

}  // namespace
}  // namespace cairn
