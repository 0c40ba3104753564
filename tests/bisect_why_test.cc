// SPDX-License-Identifier: Apache-2.0
//
// The search for the cause that `cairn bisect` goes on with once it knows the culprit, of programs and of traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "bisect_answers.h"
#include "bisect_program_fixture.h"
#include "harness.h"
#include "played.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class BisectWhyTest : public SearchOfProgramsTest {
 protected:
  // The answer; the culprit was found.
  Json Answer(const CommandResult& result, const std::string& schema) {
    EXPECT_EQ(0, result.exit_code) << result.Summary();
    const Json answer = Json::Parse(result.output);
    EXPECT_TRUE(answer.is_object()) << result.Summary();
    if (!answer.is_object()) return answer;
    const auto check = [](const std::string& name, const Json& json) {
      const Json rules = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/" + name);
      EXPECT_EQ("", SchemaViolation(rules, json)) << json.dump(2);
    };
    check(schema, answer);
    EXPECT_EQ(true, answer["found"]) << answer.dump(2);
    if (answer.contains("why")) check("why.schema.json", answer["why"]);
    return answer;
  }
  // A script that counts its runs in the file "runs" and dies of a dispatch.
  std::vector<std::string> CountedFault() {
    std::ofstream(folder_ / "program.sh")
        << "echo run >> runs\nexec " + Program("sample-fault-vulkan-plain") + "\n";
    return {"sh", "program.sh"};
  }
  int RunsMade() {
    const std::string runs = ReadFile(folder_ / "runs");
    return static_cast<int>(std::count(runs.begin(), runs.end(), '\n'));
  }
};

size_t AnswersIn(const std::string& journal) {
  const std::string text = ReadFile(journal);
  const size_t head = text.find("answers\n");
  if (head == std::string::npos) return 0;
  return static_cast<size_t>(
             std::count(text.begin() + static_cast<std::ptrdiff_t>(head), text.end(), '\n')) -
         1;
}

// Loops of 4,096 trips, far too often: cut after 65,536 changes nothing. How many trips end in time depends on the machine.
TEST_F(BisectWhyTest, LoopsAreCutInTheCulpritsShadersAlone) {
  const CommandResult result = Run({"bisect", "--json", "--runs", "1", "--hang-timeout", "2", "--",
                                    Program("sample-hang-vulkan-plain"), "--seconds", "60"});
  const Json answer = Answer(result, "bisect-program.schema.json");
  ASSERT_EQ(1u, answer["culprits"].size()) << answer.dump(2);
  EXPECT_THAT(PathOf(answer["culprits"][0][0]), Contains("Integrate"));
  ASSERT_TRUE(answer.contains("why")) << result.Summary();
  const Json& why = answer["why"];
  EXPECT_EQ("hang", why["failure"]);
  EXPECT_EQ(3, why["unchanged"]["failed"]);
  const Json& loops = why["experiments"][0];
  EXPECT_THAT(loops["experiment"].get<std::string>(),
              MatchesRegex("loops=[0-9]+,shader=[0-9a-f]{16}(,loop=0)?"));
  EXPECT_EQ(1, loops["limited_loops"]);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(BisectWhyTest, TheCauseStandsBehindTheCulprit) {
  const CommandResult result = Run(Words({"bisect", "--"}, CountedFault()));
  EXPECT_EQ(0, result.exit_code) << result.Summary();
  EXPECT_THAT(result.output,
              MatchesRegex("sh program.sh dies of SIGSEGV, in 2 of 2 runs.\n\nThe culprit\n(.|\n)*"
                           "\n[0-9]+ runs, [0-9.]+ s.\n\nWhy\n  proven: A shader accesses "
                           "memory or a descriptor out of bounds.\n(.|\n)*"
                           "\n[0-9]+ runs, [0-9.]+ s.\n"));
  EXPECT_THAT(result.output, Not(HasSubstr("Next ")));
  const int made = RunsMade();
  std::filesystem::remove(folder_ / "runs");
  const Json answer =
      Answer(Run(Words({"bisect", "--json", "--"}, CountedFault())), "bisect-program.schema.json");
  EXPECT_EQ(made, RunsMade());
  // One more for the report of the culprit alone.
  EXPECT_EQ(made, answer["runs"].get<int>() + 1 + answer["why"]["runs"].get<int>());
  EXPECT_EQ("death", answer["why"]["failure"]);
  EXPECT_EQ(SIGSEGV, answer["why"]["signal"]);
  ASSERT_EQ(1u, answer["why"]["causes"].size());
  EXPECT_EQ("bounds", answer["why"]["causes"][0]);
  EXPECT_EQ(12u, answer["why"]["experiments"].size());
  std::filesystem::remove(folder_ / "runs");
  const Json without = Answer(Run(Words({"bisect", "--json", "--no-why", "--"}, CountedFault())),
                              "bisect-program.schema.json");
  EXPECT_FALSE(without.contains("why"));
  EXPECT_EQ(RunsMade(), without["runs"].get<int>());
  EXPECT_THAT(folder_.Contents(), ElementsAre("program.sh", "runs"));
}

TEST_F(BisectWhyTest, ATrace) {
  std::filesystem::copy_file(kPlayed + "fault.cairn", folder_ / "fault.cairn");
  const Json answer = Answer(Run({"bisect", "--json", "fault.cairn"}), "bisect.schema.json");
  EXPECT_EQ("fault.minimal.cairn", answer["minimal_trace"]);
  ASSERT_TRUE(answer.contains("why")) << answer.dump(2);
  EXPECT_EQ("trace", answer["why"]["subject"]);
  EXPECT_EQ("fault.cairn", answer["why"]["program"]);
  EXPECT_EQ("death", answer["why"]["failure"]);
  EXPECT_EQ(3, answer["why"]["unchanged"]["failed"]);
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.cairn", "fault.minimal.cairn"));
}

// The answer of the bisect is told; each of the two commands goes on with the journal.
TEST_F(BisectWhyTest, InterruptedInTheSearchForTheCause) {
  const std::vector<std::string> program = CountedFault();
  const std::vector<std::string> words = Words({Program("cairn"), "bisect", "--"}, program);
  const auto interrupt = [&](size_t answers) {
    Command command(words, Options());
    EXPECT_TRUE(WaitUntil([&] { return AnswersIn(folder_ / "sh.why") >= answers; }));
    EXPECT_EQ(0, kill(command.pid(), SIGTERM));
    return command.Wait();
  };
  const CommandResult result = interrupt(2);
  EXPECT_EQ(0, result.exit_code) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("\nThe culprit\n"));
  EXPECT_THAT(result.output, Not(HasSubstr("\nWhy\n")));
  EXPECT_THAT(result.errors, HasSubstr("cairn bisect: interrupted in the search for the cause; the "
                                       "same command resumes from here\n"));
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_THAT(folder_.Contents(),
              UnorderedElementsAre("program.sh", "runs", "sh.bisect", "sh.bisect.work", "sh.why"));
  const size_t remembered = AnswersIn(folder_ / "sh.why");
  const int made = RunsMade();
  const Json answer =
      Answer(Run(Words({"bisect", "--json", "--"}, program)), "bisect-program.schema.json");
  ASSERT_TRUE(answer.contains("why")) << answer.dump(2);
  // The report of the culprit alone, and the program as it is, are made again.
  EXPECT_EQ(answer["why"]["runs"].get<int>() - static_cast<int>(remembered) + 1, RunsMade() - made);
  EXPECT_THAT(folder_.Contents(), UnorderedElementsAre("program.sh", "runs"));

  interrupt(2);
  const CommandResult why = Run(Words({"why", "--"}, program));
  EXPECT_THAT(why.errors, HasSubstr("cairn why: warning: resumes after "));
  EXPECT_THAT(why.output, HasSubstr("dies of SIGSEGV, in 3 of 3 runs."));
  EXPECT_THAT(folder_.Contents(),
              UnorderedElementsAre("program.sh", "runs", "sh.bisect", "sh.bisect.work"));
}

}  // namespace
}  // namespace cairn::testing
