// SPDX-License-Identifier: Apache-2.0
//
// Processes that hand over, hang, lose their device, are captured and die, in every order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "watcher/session.h"
#include "watcher/testing/session_scene.h"

namespace cairn {
namespace {

// The events that may occur in a run, one after the other.
enum class Step {
  kGameBlock,
  kChildBlock,
  kGameCapture,
  kGameLosesDevice,
  kGameExec,  // a second block, and a second capture
  kGameDies,
  kChildExits,
  kTime,  // enough for a hang, and for what survives being killed
  kSignal,
};

// One order of steps, and what is true in each.
class Order {
 public:
  // `lazy`: messages are read when something else happens.
  Order(SessionSettings settings, bool lazy) : scene_(std::move(settings)), lazy_(lazy) {
    scene_.StartGame();
    scene_.world.processes[kChild].program = "child";
  }

  void Take(Step step) {
    const bool game_lives = !scene_.world.processes[kGame].dead;
    const bool child_lives = !scene_.world.processes[kChild].dead;
    switch (step) {
      case Step::kGameBlock:
        if (game_lives) scene_.world.SendBlock(kGame);
        break;
      case Step::kChildBlock:
        if (child_lives) scene_.world.SendBlock(kChild);
        break;
      case Step::kGameCapture:
        if (game_lives) scene_.world.SendCapture(kGame);
        break;
      case Step::kGameLosesDevice:
        if (game_lives) scene_.world.LoseDevice(kGame);
        break;
      case Step::kGameExec:
        if (game_lives) scene_.world.SendBlock(kGame), scene_.world.SendCapture(kGame);
        break;
      case Step::kGameDies: End(kGame, kSegv); break;
      case Step::kChildExits: End(kChild, kExit); break;
      case Step::kTime:
        scene_.Pass(10 * kSecond);
        gave_up_ = true;
        break;
      case Step::kSignal: scene_.session->OnSignal(SIGTERM); break;
    }
    if (!lazy_) scene_.session->OnMessages();
    TellEnds();
    CheckNow();
  }

  void Finish() {
    scene_.session->OnMessages();
    End(kGame, kExit);
    End(kChild, kExit);
    TellEnds();
    CheckNow();
    scene_.session->SayLast();
    EXPECT_TRUE(scene_.session->Finished());
    EXPECT_EQ(scene_.session->NextTimeNs(), kNever);
    EXPECT_TRUE(scene_.world.captured.empty());
    const std::set<std::string> different(scene_.lines.begin(), scene_.lines.end());
    EXPECT_EQ(different.size(), scene_.lines.size()) << "something is said twice";
    for (const FakeReport& report : scene_.world.reports) {
      const std::set<IncidentKind> kinds(report.incidents.begin(), report.incidents.end());
      EXPECT_EQ(kinds.size(), report.incidents.size()) << "an incident is told twice";
    }
    const FakeProcess& game = scene_.world.processes[kGame];
    if (game.end.kind == EndKind::kSignalled && game.kills == 0) {
      EXPECT_TRUE(std::any_of(
          scene_.world.reports.begin(), scene_.world.reports.end(), [](const FakeReport& report) {
            return report.process == kGame && report.incidents.back() == IncidentKind::kSignal;
          }));
    }
  }

  const std::vector<std::string>& lines() const { return scene_.lines; }
  int kills() { return scene_.world.processes[kGame].kills + scene_.world.processes[kChild].kills; }

 private:
  void End(ProcessId id, ProcessEnd end) {
    FakeProcess& process = scene_.world.processes[id];
    if (process.dead) return;
    scene_.world.Die(id, process.kills != 0 ? kKilled : end);
    scene_.session->OnEnded(scene_.world.NumberOf(id));
  }

  // Reports the end of processes that had ended when the session learned of them.
  void TellEnds() {
    const std::map<uint64_t, ProcessId> watched = scene_.world.watched;
    for (const auto& [number, id] : watched) {
      if (scene_.world.processes[id].dead) scene_.session->OnEnded(number);
    }
  }

  void CheckNow() {
    // Finished exactly when none is watched any more, but for a program that survived being killed.
    const auto& watched = scene_.world.watched;
    const bool game_given_up = gave_up_ && scene_.world.processes[kGame].kills != 0;
    const bool none = std::all_of(watched.begin(), watched.end(), [&](const auto& each) {
      return each.second == kGame && game_given_up;
    });
    EXPECT_EQ(scene_.session->Finished(), none);
    if (scene_.session->Finished()) {
      EXPECT_EQ(scene_.session->NextTimeNs(), kNever);
    }
  }

  Scene scene_;
  bool lazy_;
  bool gave_up_ = false;
};

// Every order of `steps`, read at once and late.
void TakeEveryOrder(std::vector<Step> steps, const SessionSettings& settings, bool may_kill) {
  std::sort(steps.begin(), steps.end());
  std::set<std::string> said;
  int kills = 0;
  do {
    for (const bool lazy : {false, true}) {
      Order order(settings, lazy);
      for (const Step step : steps) order.Take(step);
      order.Finish();
      said.insert(order.lines().begin(), order.lines().end());
      kills += order.kills();
      if (testing::Test::HasFailure()) {
        std::string text;
        for (const Step step : steps) text += std::to_string(static_cast<int>(step)) + " ";
        for (const std::string& line : order.lines()) text += "\n  " + line;
        FAIL() << "in the order " << text << (lazy ? "\nread late" : "\nread at once");
      }
    }
  } while (std::next_permutation(steps.begin(), steps.end()));
  EXPECT_EQ(kills > 0, may_kill);
  // The orders reach what they are meant to.
  EXPECT_THAT(said, testing::Contains(testing::HasSubstr("died with signal 11")));
}

TEST(WatchSessionOrders, DeathHangAndLossComeInEveryOrder) {
  TakeEveryOrder({Step::kGameBlock, Step::kChildBlock, Step::kGameLosesDevice, Step::kGameDies,
                  Step::kChildExits, Step::kTime},
                 {}, false);
}

TEST(WatchSessionOrders, KillsAndSignalsComeInEveryOrder) {
  TakeEveryOrder({Step::kGameBlock, Step::kChildBlock, Step::kGameLosesDevice, Step::kGameDies,
                  Step::kChildExits, Step::kTime, Step::kSignal},
                 KillingOnHang(), true);
}

TEST(WatchSessionOrders, CapturesComeInEveryOrder) {
  TakeEveryOrder({Step::kGameBlock, Step::kGameCapture, Step::kGameLosesDevice, Step::kGameExec,
                  Step::kGameDies, Step::kTime},
                 Capturing(), false);
}

}  // namespace
}  // namespace cairn
