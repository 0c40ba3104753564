// SPDX-License-Identifier: Apache-2.0
#include "os/standard_error.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace cairn {
namespace {

TEST(StandardError, TextArrivesAtOnceAndErrnoStays) {
  testing::internal::CaptureStderr();
  errno = 123;
  WriteStandardError("one\n");
  WriteStandardError(std::string(100'000, 'x'));
  WriteStandardError("");
  EXPECT_EQ(errno, 123);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "one\n" + std::string(100'000, 'x'));
}

TEST(StandardError, NobodyThereIsNoError) {
  const int kept = dup(STDERR_FILENO);
  ASSERT_GE(kept, 0);
  close(STDERR_FILENO);
  errno = 123;
  WriteStandardError("lost");
  const int after = errno;
  dup2(kept, STDERR_FILENO);
  close(kept);
  EXPECT_EQ(after, 123);
}

}  // namespace
}  // namespace cairn
