// SPDX-License-Identifier: Apache-2.0
//
// User data of a killed program, from its report into the hands of who reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kListed[] = R"(
User data (cairn report --extract DIR writes it into files)
 - bits, 3 bytes
 - level, 4 bytes: e1m2
 - save.bin, 1,000,000 bytes
)";

class UserDataTest : public ::testing::Test {
 protected:
  Command::Options Here() const {
    Command::Options options;
    options.folder = folder_.path();
    return options;
  }
  CommandResult Cairn(std::vector<std::string> words) {
    words.insert(words.begin(), Program("cairn"));
    return RunCommand(words, Here());
  }
  void RunAndKill(const std::vector<std::string>& words) {
    Command command(words, Here());
    const pid_t pid = command.WaitUntilReady();
    ASSERT_GT(pid, 0) << command.errors();
    KillProcess(pid);
    const CommandResult result = command.Wait();
    EXPECT_EQ(result.exit_code, kExitOfKilled) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
  }

  TemporaryFolder folder_;
};

// Its copy of Cairn makes no block beside that of the preloaded one.
TEST_F(UserDataTest, ASecondCopyOfCairnSetsTheEntriesOfThePreloadedOne) {
  Command command(
      {Program("cairn"), "run", "--quiet", "-o", "a.cairn", "--", TestProgram("user_data_static")},
      Here());
  const pid_t pid = command.WaitUntilReady();
  ASSERT_GT(pid, 0) << command.errors();
  const std::string maps = ReadFile("/proc/" + std::to_string(pid) + "/maps");
  const size_t first = maps.find("/memfd:cairn-block");
  EXPECT_NE(first, std::string::npos) << maps;
  EXPECT_EQ(maps.find("/memfd:cairn-block", first + 1), std::string::npos) << maps;
  KillProcess(pid);
  EXPECT_EQ(command.Wait().exit_code, kExitOfKilled);
  EXPECT_THAT(Cairn({"report", "a.cairn"}).output, HasSubstr(kListed));
}

TEST_F(UserDataTest, SurvivesTheProgram) {
  RunAndKill({Program("cairn"), "run", "--quiet", "-o", "a.cairn", "--", TestProgram("user_data")});
  ASSERT_THAT(folder_.Contents(), ElementsAre("a.cairn"));
  const std::string text = Cairn({"report", "a.cairn"}).output;
  EXPECT_THAT(text, HasSubstr(kListed));
  EXPECT_THAT(text, HasSubstr("SIGKILL"));
  const std::string json = Cairn({"report", "--json", "a.cairn"}).output;
  EXPECT_THAT(json,
              HasSubstr("\"size_bytes\": 3,\n   \"text\": null,\n   \"bytes\": \"0100ff\"\n"));
  EXPECT_THAT(json, HasSubstr("\"size_bytes\": 4,\n   \"text\": \"e1m2\",\n   \"bytes\": null\n"));
  EXPECT_THAT(json,
              HasSubstr("\"size_bytes\": 1000000,\n   \"text\": null,\n   \"bytes\": null\n"));
  EXPECT_THAT(Cairn({"info", "a.cairn"}).output, HasSubstr("\n  user data                 3\n"));
  EXPECT_EQ(Cairn({"report", "--extract", "parts", "a.cairn"}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "parts/user-data-00-bits"), std::string("\x01\x00\xff", 3));
  EXPECT_EQ(ReadFile(folder_ / "parts/user-data-01-level"), "e1m2");
  EXPECT_EQ(ReadFile(folder_ / "parts/user-data-02-save.bin"), std::string(1'000'000, 's'));
  const std::string redacted = Cairn({"report", "--redact", "--json", "a.cairn"}).output;
  EXPECT_THAT(redacted, HasSubstr(R"("size_bytes": 1000000)"));
  EXPECT_THAT(redacted, Not(HasSubstr("save.bin")));
  EXPECT_THAT(redacted, Not(HasSubstr("0100ff")));
}

TEST_F(UserDataTest, IsInTheReportOfTheProgramsOwnWatcher) {
  RunAndKill({TestProgram("user_data"), "b.cairn", Program("cairn")});
  ASSERT_THAT(folder_.Contents(), ElementsAre("b.cairn"));
  EXPECT_THAT(Cairn({"report", "b.cairn"}).output, HasSubstr(kListed));
}

}  // namespace
}  // namespace cairn::testing
