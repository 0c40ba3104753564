// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace cairn {
namespace {

// Somebody's variable may name anything.
TEST(SharedMemory, APathToSomethingElseIsRefused) {
  EXPECT_EQ(StatusCode::kNotFound,
            SharedMemory::MapPathForWriting("/no/such/path").status().code());
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
