// SPDX-License-Identifier: Apache-2.0
//
// A replay that cairn view has started, and that does not end by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "os/process.h"
#include "os/running_processes.h"
#include "view_fixture.h"

namespace cairn::testing {
namespace {

using ViewReplayStopsTest = ViewTest;

TEST_F(ViewReplayStopsTest, AReplayEndsWithItAndFewWaitForOne) {
  Serve("long.cairn", "long.cairn");
  constexpr int kMost = 4;  // one that plays, and who waits for it
  std::atomic<int> refused{0};
  std::atomic<int> played{0};
  std::vector<std::thread> askers;
  const auto ask = [&] {
    const httplib::Result images = Ask("frame-images?frame=0", true);
    const int status = images ? images->status : 0;
    played += status == 200;
    refused += status == 503 && images->body == "too much is to be played already\n";
  };
  askers.emplace_back(ask);
  // Stopped, so that it does not end by itself. Not before it has become the playback: until then it is a copy of its
  // parent, which waits for that, and would wait for ever.
  const std::string parent = ArgumentsOf(view_->pid());
  EXPECT_TRUE(WaitUntil([&] {
    for (const ProcessId process : RunningProcesses()) {
      if (ParentOf(process) != view_->pid()) continue;
      const std::string arguments = ArgumentsOf(process);
      if (!arguments.empty() && arguments != parent) return kill(process, SIGSTOP) == 0;
    }
    return false;
  }));
  for (int i = 1; i < kMost + 2; ++i) askers.emplace_back(ask);
  EXPECT_TRUE(WaitUntil([&] { return refused == 2; }));
  PressAndExpectNothingLeft();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(played, 0);
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace cairn::testing
