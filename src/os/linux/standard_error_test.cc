// SPDX-License-Identifier: Apache-2.0
#include "os/standard_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace cairn {
namespace {

// Returns the exit status of a copy of this process that writes to the standard error that
// `prepare` sets up.
template <typename Prepare>
int EndOfWriter(const Prepare& prepare) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    prepare();
    WriteStandardError("lost");
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    const bool as_before = sigismember(&mask, SIGXFSZ) == 0 && sigismember(&mask, SIGPIPE) == 0;
    _exit(as_before ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(StandardError, AFileThatMayNotGrowEndsNobody) {
  EXPECT_EQ(EndOfWriter([] {
              char path[] = "/tmp/cairn-test-XXXXXX";
              const int file = mkstemp(path);
              unlink(path);
              const rlimit none{0, 0};
              if (file < 0 || setrlimit(RLIMIT_FSIZE, &none) != 0) _exit(2);
              dup2(file, STDERR_FILENO);
            }),
            0);
}

TEST(StandardError, APipeThatNobodyReadsEndsNobody) {
  EXPECT_EQ(EndOfWriter([] {
              int ends[2];
              if (pipe(ends) != 0) _exit(2);
              close(ends[0]);
              dup2(ends[1], STDERR_FILENO);
            }),
            0);
}

}  // namespace
}  // namespace cairn
