// SPDX-License-Identifier: Apache-2.0
//
// Signals that end `cairn replay`, or what it plays: its own, its playback's, the driver's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "replay_verb_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// ---- What kills the playback --------------------------------------------------------------------------

class DeathTest : public ReplayVerbTest {
 protected:
  void SetUp() override {
    const CommandResult captured = Cairn({"run", "--quiet", "--capture", "-o", "a.cairn", "--",
                                          Program("sample-fault-d3d12-plain")});
    ASSERT_EQ(captured.exit_code, 128 + SIGSEGV) << captured.Summary();
    for (const std::string& line :
         Lines(Cairn({"calls", "--json", "--function", "ExecuteCommandLists", "a.cairn"}).output)) {
      const Json call = Json::Parse(line);
      if (call.value("kind", "") == "call") submission_ = call["number"].get<uint64_t>();
    }
    ASSERT_NE(submission_, 0u);
  }
  // The parent of the playback survives and reports what killed it, and where: a thread of lavapipe
  // faults.
  void ExpectDeathIsTold(const CommandResult& result, const std::string& verb) {
    EXPECT_EQ(result.exit_code, 4) << result.Summary();
    EXPECT_EQ(result.output, "");
    ASSERT_EQ(Lines(result.errors).size(), 1u) << result.Summary();
    EXPECT_THAT(
        result.errors,
        MatchesRegex("cairn " + verb +
                     ": .*: the playback died of SIGSEGV in a thread of the driver, when "
                     "the playback was at call [0-9,]+, ID3D12[A-Za-z0-9]+::[A-Za-z0-9]+; the "
                     "GPU may have been executing the submission of call " +
                     std::to_string(submission_) +
                     "; cairn bisect .* finds the work that does it\n"));
  }

  uint64_t submission_ = 0;
};

TEST_F(DeathTest, ReplaySaysWhatKilledItAndWhere) {
  ExpectDeathIsTold(Cairn({"replay", "a.cairn"}), "replay");
  // For a debugger.
  const CommandResult here = Cairn({"replay", "--in-process", "a.cairn"});
  EXPECT_EQ(here.exit_code, 128 + SIGSEGV) << here.Summary();
}

TEST_F(DeathTest, ImagesSaysItAndLeavesNoFolder) {
  ExpectDeathIsTold(Cairn({"images", "-o", "images", "a.cairn"}), "images");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "images"));
}

// The message also names the trace.
TEST_F(DeathTest, DiffSaysItAndLeavesNoFolder) {
  const CommandResult captured = Cairn({"run", "--quiet", "--capture", "-o", "good.cairn", "--",
                                        Program("sample-triangle-d3d12-plain"), "sample.png"});
  ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
  const CommandResult result = Cairn({"diff", "--images", "-o", "new", "good.cairn", "a.cairn"});
  EXPECT_EQ(result.exit_code, 2) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(
      result.errors,
      MatchesRegex("cairn diff: a.cairn: the playback died of SIGSEGV .*submission of call " +
                   std::to_string(submission_) + "; .*\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

// Traces of crashes have no whole frames: the playback of a good one is made to die.
TEST_F(ReplayVerbTest, TrimSaysThatItsPlaybackDiedAndLeavesNoFile) {
  const CommandResult captured =
      Cairn({"run", "--quiet", "--capture", "-o", "a.cairn", "--",
             Program("sample-scale-d3d12-plain"), "--frames", "300", "--calls", "1000"});
  ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
  Command trim(Arguments({"trim", "--frames", "0-299", "-o", "b.cairn", "a.cairn"}), Options());
  pid_t player = 0;
  ASSERT_TRUE(WaitUntil([&] {
    const pid_t replay = ChildOf(trim.pid());
    if (replay > 0) player = ChildOf(replay);
    // The playing process has a group of its own. Before it, a child tries to load the library.
    return player > 0 && getpgid(player) == player;
  }));
  kill(player, SIGSEGV);
  const CommandResult result = trim.Wait();
  EXPECT_EQ(result.exit_code, 4) << result.Summary();
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, MatchesRegex("cairn trim: .*the playback died of SIGSEGV .*\n"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ(entry.path().filename(), "a.cairn");
  }
}

// A signal that ends the playback on purpose ends both.
TEST_F(ReplayVerbTest, KillingThePlaybackLeavesNothingBehind) {
  Capture();
  for (const int number : {SIGKILL, SIGTERM}) {
    Command endless(Arguments({"replay", "--hash", "--quiet", "--loop", "0", "a.cairn"}),
                    Options());
    ASSERT_TRUE(WaitUntil([&] { return Lines(endless.output()).size() > kFrames; }));
    kill(endless.pid(), number);
    const CommandResult result = endless.Wait();
    EXPECT_EQ(result.exit_code, number == SIGKILL ? 128 + SIGKILL : 0) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
  }
  // The playback itself, by somebody else.
  Command endless(Arguments({"replay", "--hash", "--quiet", "--loop", "0", "a.cairn"}), Options());
  ASSERT_TRUE(WaitUntil([&] { return Lines(endless.output()).size() > kFrames; }));
  kill(ChildOf(endless.pid()), SIGKILL);
  const CommandResult result = endless.Wait();
  EXPECT_EQ(result.exit_code, 4) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("the playback died of SIGKILL at call "));
}

// Until ^C: the exit code is 0, and all that was printed is whole.
TEST_F(ReplayVerbTest, TheUserEndsAnEndlessLoop) {
  Capture();
  Command endless(Arguments({"replay", "--hash", "--quiet", "--loop", "0", "a.cairn"}), Options());
  ASSERT_TRUE(WaitUntil([&] { return Lines(endless.output()).size() > 2 * kFrames; }));
  kill(endless.pid(), SIGINT);
  const CommandResult result = endless.Wait();
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_THAT(result.errors, StartsWith("cairn replay: warning: stopped after "));
  const std::vector<std::string> lines = Lines(result.output);
  const std::vector<std::string> expected = Lines(Hashes({}));
  ASSERT_GT(lines.size(), 2 * kFrames);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], expected[i % kFrames]) << i;
  EXPECT_EQ(result.output.back(), '\n');
}

}  // namespace
}  // namespace cairn::testing
