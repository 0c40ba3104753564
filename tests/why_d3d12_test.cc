// SPDX-License-Identifier: Apache-2.0
//
// `cairn why` of Direct3D 12: programs of tests/truth/why whose cause is known, and the trace of one of them. bench/truth
// --why --d3d12 asks about all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness.h"
#include "why_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;

class WhyD3d12Test : public SearchOfCausesTest {
 protected:
  // So many groups that lavapipe needs far longer than --hang-timeout, unless loops are cut after --trips.
  static std::vector<std::string> Failing(const std::string& fault) {
    return {CAIRN_BINARY_DIR "/tests/truth/why_d3d12_program", "--size", "2000,4294967295,1",
            fault};
  }
  // Enough runs for the first question.
  const std::vector<std::string> of_loops_ = {"--runs",  "1",   "--hang-timeout", "2",
                                              "--trips", "256", "--max-runs",     "5"};

  // The third of three loops in the shader of the second of three dispatches.
  static void ExpectThirdLoop(const Json& answer) {
    EXPECT_EQ("hang", answer["failure"]) << answer.dump(2);
    EXPECT_THAT(Causes(answer), ElementsAre("loops")) << answer.dump(2);
    const Json& loops = answer["experiments"][0];
    EXPECT_EQ("proven", loops["verdict"]) << loops.dump(2);
    EXPECT_EQ(1, loops["control"]["failed"]);
    ASSERT_EQ(1u, loops["loops"].size()) << loops.dump(2);
    const Json& loop = loops["loops"][0];
    EXPECT_EQ(2, loop["index"]);
    EXPECT_EQ(true, loop["alone"]);
    EXPECT_EQ(256, loop["most_trips"]);
    EXPECT_EQ(2000 * 64, loop["executions"]);
    EXPECT_EQ(2000 * 64, loop["cuts"]);
  }
};

TEST_F(WhyD3d12Test, ALoopAndItsTrace) {
  ExpectThirdLoop(Why(of_loops_, Failing("three-loops"), 0));

  const CommandResult captured = Run(
      Words({"run", "--capture", "-o", "a.cairn", "--hang-timeout", "2", "--kill-on-hang", "--"},
            Failing("three-loops")));
  EXPECT_EQ(124, captured.exit_code) << captured.Summary();
  const Json answer = Answer(Words(of_loops_, {"a.cairn"}), 0);
  EXPECT_EQ("trace", answer["subject"]);
  ExpectThirdLoop(answer);
  EXPECT_THAT(folder_.Contents(), ElementsAre("a.cairn"));
}

// A step that nobody wrote: the playback leaves what the layers fill its memory with.
TEST_F(WhyD3d12Test, MemoryThatNobodyWroteInATrace) {
  const CommandResult captured = Run(
      Words({"run", "--capture", "-o", "a.cairn", "--hang-timeout", "2", "--kill-on-hang", "--"},
            Failing("fresh-step")));
  EXPECT_EQ(124, captured.exit_code) << captured.Summary();
  const auto played = [&] {
    return Run({"run", "--quiet", "-o", "played.cairn", "--hang-timeout", "2", "--kill-on-hang",
                "--", Program("cairn"), "probe", "--play", "a.cairn", "--timeout", "60"});
  };
  CommandResult run = played();
  EXPECT_EQ(124, run.exit_code) << run.Summary();
  SearchOfProgramsTest::environment_ = {"CAIRN_EXPERIMENT=memory=fe"};
  run = played();
  EXPECT_EQ(0, run.exit_code) << run.Summary();
  SearchOfProgramsTest::environment_ = {"CAIRN_EXPERIMENT=memory=00"};
  run = played();
  EXPECT_EQ(124, run.exit_code) << run.Summary();
}

TEST_F(WhyD3d12Test, AViewOfABufferThatWasReleased) {
  const Json answer = Why({"--runs", "1"}, Failing("view-released"), 0);
  EXPECT_EQ("death", answer["failure"]) << answer.dump(2);
  ASSERT_FALSE(Causes(answer).empty()) << answer.dump(2);
  EXPECT_EQ("keep-alive", Causes(answer)[0]);
  EXPECT_EQ("proven", Verdicts(answer)["keep-alive"]);
}

TEST_F(WhyD3d12Test, BuffersThatAreReleasedInTime) {
  const Json answer = Why({"--runs", "1"}, Failing("healthy-released"), 1);
  EXPECT_EQ("", answer["failure"]) << answer.dump(2);
  EXPECT_EQ(true, answer["layers_seen"]);
  EXPECT_EQ(0u, answer["experiments"].size());
}

}  // namespace
}  // namespace cairn::testing
