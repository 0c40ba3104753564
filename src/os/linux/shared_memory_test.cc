// SPDX-License-Identifier: Apache-2.0
#include "os/shared_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace cairn {
namespace {

// A variable of the environment may name anything.
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

// In a copy of this process with that limit, which the system would end otherwise.
TEST(SharedMemory, BeyondTheLimitOfFilesItIsRefused) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    const bool right =
        SharedMemory::MostBytes() == 1 << 20 && SharedMemory::Create("test", 1 << 20).ok() &&
        SharedMemory::Create("test", (1 << 20) + 1).status().code() == StatusCode::kUnsupported;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SharedMemory, MappingsOfTheSameMemoryHaveTheSameIdentity) {
  const Result<SharedMemory> one = SharedMemory::Create("test", 8192);
  const Result<SharedMemory> other = SharedMemory::Create("test", 8192);
  ASSERT_TRUE(one.ok() && other.ok());
  const auto identity = [](const SharedMemory& memory) {
    return memory.MapAgainForReading().value().identity();
  };
  EXPECT_NE(identity(*one), 0u);
  EXPECT_EQ(identity(*one), identity(*one));
  EXPECT_NE(identity(*one), identity(*other));
}

TEST(SharedMemory, ForgottenPagesAreThereAgain) {
  const Result<SharedMemory> memory = SharedMemory::Create("test", 8192);
  ASSERT_TRUE(memory.ok());
  const Result<SharedMemory> seen = memory->MapAgainForReading();
  ASSERT_TRUE(seen.ok());
  memory->data()[5000] = std::byte{7};
  EXPECT_EQ(seen->data()[5000], std::byte{7});
  seen->ForgetPages();
  EXPECT_EQ(seen->data()[5000], std::byte{7});
}

}  // namespace
}  // namespace cairn
