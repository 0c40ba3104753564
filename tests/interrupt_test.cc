// SPDX-License-Identifier: Apache-2.0
//
// ^C while a verb works on a trace: no half file and no process stays behind, and what can go on later does. On a
// terminal: interrupt_terminal_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "interrupt_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void ExpectStopped(const CommandResult& result, int exit_code, const std::string& errors) {
  EXPECT_EQ(result.exit_code, exit_code) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, errors);
}

TEST_F(InterruptTest, ReplayEndsAfterTheCall) {
  Copy("long.cairn");
  const CommandResult result =
      Interrupt({"replay", "--hash", "--loop", "1000", "long.cairn"},
                [](const Command& command) { return LineCount(command.output()) > 3; });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_THAT(result.errors, StartsWith("cairn replay: warning: stopped after "));
  EXPECT_EQ(LineCount(result.errors), 1u);
  EXPECT_EQ(result.output.back(), '\n');
}

TEST_F(InterruptTest, ImagesOfReplayAreWhole) {
  Copy("long.cairn");
  const CommandResult result = Interrupt(
      {"replay", "--images", "out", "long.cairn"},
      [this](const Command&) { return std::filesystem::exists(folder_ / "out/frame-000003.png"); });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out")) {
    const std::string bytes = ReadFile(entry.path());
    EXPECT_EQ(entry.path().extension(), ".png");
    // The last chunk of a PNG file.
    ASSERT_GT(bytes.size(), 8u) << entry.path();
    EXPECT_EQ(bytes.substr(bytes.size() - 8, 4), "IEND") << entry.path();
  }
}

TEST_F(InterruptTest, ImagesLeavesNothing) {
  Copy("long.cairn");
  const CommandResult result = Interrupt({"images", "-o", "out", "long.cairn"},
                                         [this](const Command&) { return Has("out"); });
  ExpectStopped(result, 1, "cairn images: stopped\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
}

TEST_F(InterruptTest, DiffOfImagesLeavesNothing) {
  Copy("long.cairn");
  const CommandResult result =
      Interrupt({"diff", "--images", "-o", "out", "long.cairn", "long.cairn"},
                [this](const Command&) { return Has("out"); });
  ExpectStopped(result, 2, "cairn diff: stopped\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
}

TEST_F(InterruptTest, TrimLeavesNothing) {
  Copy("long.cairn");
  const CommandResult result =
      Interrupt({"trim", "--frames", "1400-1450", "-o", "b.cairn", "long.cairn"},
                [this](const Command&) { return Recorded() != 0; });
  ExpectStopped(result, 1, "cairn trim: interrupted; nothing is written\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
}

TEST_F(InterruptTest, RepackKeepsTheOldFile) {
  Copy("long.cairn");
  const std::string before = ReadFile(folder_ / "long.cairn");
  const std::vector<std::string> all_options[] = {
      {}, {"-o", "b.cairn"}, {"--redact", "-o", "b.cairn"}};
  for (const std::vector<std::string>& options : all_options) {
    const bool in_place = options.empty();
    std::vector<std::string> arguments = {"repack", "long.cairn"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CommandResult result =
        Interrupt(arguments, [this](const Command&) { return Has(".part"); });
    EXPECT_EQ(result.exit_code, 1) << result.Summary();
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.errors, in_place ? "cairn repack: interrupted; long.cairn is not written\n"
                                      : "cairn repack: interrupted; b.cairn is not written\n");
    EXPECT_THAT(folder_.Contents(), ElementsAre("long.cairn"));
    EXPECT_TRUE(ReadFile(folder_ / "long.cairn") == before);
  }
}

TEST_F(InterruptTest, TriageTellsHowManyFilesItRead) {
  TestBlock block(64 << 20);
  FillLargeBlock(&block, 100'000);
  const std::vector<std::byte> dump = SnapshotFileBytes(*SnapshotFromBlock(block.bytes(), 1));
  std::filesystem::create_directory(folder_ / "crashes");
  const std::string first = folder_ / "crashes/0.cairn";
  std::ofstream(first, std::ios::binary)
      .write(reinterpret_cast<const char*>(dump.data()), static_cast<std::streamsize>(dump.size()));
  for (int i = 1; i < 1'000; ++i) {
    std::filesystem::create_hard_link(first, folder_ / ("crashes/" + std::to_string(i) + ".cairn"));
  }
  const CommandResult result =
      Interrupt({"triage", "--jsonl", "crashes"},
                [](const Command& command) { return !command.output().empty(); });
  EXPECT_EQ(result.exit_code, 1) << result.Summary();
  EXPECT_THAT(result.errors, StartsWith("cairn triage: interrupted after "));
  EXPECT_THAT(result.errors, EndsWith(" of 1,000 files\n"));
  EXPECT_EQ(LineCount(result.errors), 1u);
  EXPECT_EQ(result.output.back(), '\n');
  EXPECT_LT(LineCount(result.output), 1'000u);
}

TEST_F(InterruptTest, BisectGoesOnFromItsJournal) {
  Copy("fault.cairn");
  const std::string journal = folder_ / "fault.bisect";
  const CommandResult result = Interrupt({"bisect", "fault.cairn"},
                                         [&](const Command&) { return AnswerCount(journal) >= 2; });
  EXPECT_GE(AnswerCount(journal), 2u);
  ExpectStopped(result, 1, "cairn bisect: interrupted; the same command resumes from here\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.bisect", "fault.cairn"));

  const CommandResult rest =
      RunCommand(Arguments({"bisect", "--no-why", "fault.cairn"}), Options());
  EXPECT_EQ(rest.exit_code, 0) << rest.Summary();
  EXPECT_THAT(rest.errors, HasSubstr("warning: resumes after "));
  EXPECT_THAT(rest.output, HasSubstr("Dispatch"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.cairn", "fault.minimal.cairn"));
}

// The answer is known by then, but not told.
TEST_F(InterruptTest, BisectTellsItsAnswerAlsoIfTheMinimalTraceWasInterrupted) {
  Copy("fault.cairn");
  const CommandResult result =
      Interrupt({"bisect", "fault.cairn"}, [this](const Command&) { return Has(".untested"); });
  ExpectStopped(result, 1, "cairn bisect: interrupted; the same command resumes from here\n");
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.bisect", "fault.cairn"));
  const size_t answers = AnswerCount(folder_ / "fault.bisect");

  const CommandResult rest =
      RunCommand(Arguments({"bisect", "--json", "--no-why", "fault.cairn"}), Options());
  EXPECT_EQ(rest.exit_code, 0) << rest.Summary();
  EXPECT_THAT(rest.output, HasSubstr("\"probes\": " + std::to_string(answers) + ","));
  EXPECT_THAT(folder_.Contents(), ElementsAre("fault.cairn", "fault.minimal.cairn"));
}

}  // namespace
}  // namespace cairn::testing
