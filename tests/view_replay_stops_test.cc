// SPDX-License-Identifier: Apache-2.0
//
// A replay that cairn view has started, and that does not end by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/process.h"
#include "os/running_processes.h"
#include "view_fixture.h"

namespace cairn::testing {
namespace {

class ViewReplayStopsTest : public ViewTest {
 protected:
  // Stops the playback that cairn view has started, so that it does not end by itself. Not before it has become the
  // playback: until then it is a copy of its parent, which waits for that, and would wait for ever.
  std::optional<ProcessId> StopPlayback() {
    const std::string parent = ArgumentsOf(view_->pid());
    std::optional<ProcessId> stopped;
    EXPECT_TRUE(WaitUntil([&] {
      for (const ProcessId process : RunningProcesses()) {
        if (ParentOf(process) != view_->pid()) continue;
        const std::string arguments = ArgumentsOf(process);
        if (arguments.empty() || arguments == parent) continue;
        if (kill(process, SIGSTOP) == 0) stopped = process;
      }
      return stopped.has_value();
    }));
    return stopped;
  }
};

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
  (void)StopPlayback();
  for (int i = 1; i < kMost + 2; ++i) askers.emplace_back(ask);
  EXPECT_TRUE(WaitUntil([&] { return refused == 2; }));
  PressAndExpectNothingLeft();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(played, 0);
  EXPECT_EQ(refused, 2);
}

TEST_F(ViewReplayStopsTest, ANewerQuestionOfAPageGivesUpItsOlderOne) {
  Serve("fault.cairn", "fault.cairn");
  const auto body_of = [this](const std::string& question) {
    const httplib::Result images = Ask(question, true);
    return images ? images->body : std::string("no answer");
  };
  std::string older;
  std::string newer;
  std::thread first([&] { older = body_of("images?call=1&page=7"); });
  const std::optional<ProcessId> playback = StopPlayback();
  std::thread second([&] { newer = body_of("images?call=2&page=7"); });
  // While it still stands.
  first.join();
  if (playback) kill(*playback, SIGCONT);
  second.join();
  EXPECT_EQ(older, "{\"refused\":\"the page has asked for other images since\"}");
  // The playback goes on with it: the trace has no such call.
  EXPECT_EQ(newer, "{\"refused\":\"there is no call 2\"}");
  PressAndExpectNothingLeft();
}

}  // namespace
}  // namespace cairn::testing
