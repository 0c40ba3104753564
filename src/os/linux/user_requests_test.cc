// SPDX-License-Identifier: Apache-2.0
//
// Signals, and the limit of handles.
#include "os/user_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "os/process.h"
#include "os/wait_set.h"

namespace cairn {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(UserRequests, WaitUntilTheyAreTaken) {
  WaitSet set;
  ASSERT_TRUE(set.Open().ok());
  UserRequests requests;
  ASSERT_TRUE(requests.Listen(true).ok());
  ASSERT_TRUE(set.Add(requests.handle(), 3).ok());
  UserRequest request;
  EXPECT_FALSE(requests.Take(&request));
  for (const int number : {SIGTERM, SIGXFSZ, SIGUSR1}) kill(getpid(), number);
  const auto happened = set.Wait(WaitSet::kTime);
  ASSERT_TRUE(happened.ok());
  EXPECT_THAT(*happened, Contains(3u));
  std::vector<int> signals;
  int triggers = 0;
  while (requests.Take(&request)) {
    if (request.kind == UserRequest::Kind::kTrigger) {
      ++triggers;
    } else {
      signals.push_back(request.signal_number);
      EXPECT_FALSE(request.asked_of_all);
    }
  }
  EXPECT_THAT(signals, ElementsAre(SIGTERM));
  EXPECT_EQ(triggers, 1);
}

TEST(UserRequests, LeaveEverythingAsItWas) {
  sigset_t before;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  {
    UserRequests requests;
    ASSERT_TRUE(requests.Listen(false).ok());
    sigset_t now;
    sigprocmask(SIG_BLOCK, nullptr, &now);
    EXPECT_EQ(sigismember(&now, SIGTERM), 1);
    EXPECT_EQ(sigismember(&now, SIGUSR1), sigismember(&before, SIGUSR1));
    // A program that is started meanwhile can be asked to end.
    SpawnRequest request;
    request.arguments = {"sleep", "60"};
    request.requests = &requests;
    Result<ProcessHandle> program = SpawnProgram(request);
    ASSERT_TRUE(program.ok());
    ASSERT_TRUE(SendSignal(*program, SIGTERM).ok());
    WaitSet set;
    ASSERT_TRUE(set.Open().ok());
    ASSERT_TRUE(set.Add(program->handle, 1).ok());
    ASSERT_TRUE(set.Wait(WaitSet::kTime).ok());
    EXPECT_EQ(CollectEnd(*program).value, SIGTERM);
  }
  sigset_t after;
  sigprocmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

// The last of this file: it is for the life of the process.
TEST(RaiseHandleLimit, TheProgramsThatAreStartedHaveTheLimitFromBefore) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(RaiseHandleLimit(100), 100u);
  EXPECT_EQ(RaiseHandleLimit(80), 100u) << "it is never lowered";
  SpawnRequest request;
  request.arguments = {"sh", "-c", "exit $(ulimit -n)"};
  Result<ProcessHandle> program = SpawnProgram(request);
  ASSERT_TRUE(program.ok());
  WaitSet set;
  ASSERT_TRUE(set.Open().ok());
  ASSERT_TRUE(set.Add(program->handle, 1).ok());
  ASSERT_TRUE(set.Wait(WaitSet::kTime).ok());
  EXPECT_EQ(CollectEnd(*program).value, 64);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace cairn
