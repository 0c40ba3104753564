// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/recorder/block_writer.h"

namespace cairn {
namespace {

// ulimit -f: a program that may not have large files goes on, with a smaller block or without one.
TEST(BlockLimits, IsAsLargeAsFilesMayBe) {
  const auto end_with = [](uint64_t limit_bytes, uint64_t expected_bytes) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGXFSZ, SIG_DFL);
      const rlimit limit{limit_bytes, limit_bytes};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
      const auto block = BlockWriter::Create(kDefaultBlockBytes);
      _exit((block.ok() ? (*block)->size_bytes() : 0) == expected_bytes ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  };
  EXPECT_EQ(end_with((uint64_t{100} << 20) + 5, uint64_t{100} << 20), 0);
  EXPECT_EQ(end_with(kMinBlockBytes, kMinBlockBytes), 0);
  EXPECT_EQ(end_with(kMinBlockBytes - 1, 0), 0);
}

}  // namespace
}  // namespace cairn
