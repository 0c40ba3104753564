// SPDX-License-Identifier: Apache-2.0
#include "reader/report/next_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

#ifdef _WIN32
constexpr char kFile[] = R"("a b.cairn")";
#else
constexpr char kFile[] = "'a b.cairn'";
#endif

// Two draws of a list; the first of them had completed.
class NextStepsTest : public ::testing::Test {
 protected:
  NextStepsTest() {
    context_ = block_.AddContext();
    queue_ = block_.AddQueue(context_, 0, "Graphics");
    list_ = block_.AddList(context_, queue_, 0, "Main");
    block_.Scope(list_, CAIRN_MARKER_DRAW, "");
    block_.Scope(list_, CAIRN_MARKER_DRAW, "");
    block_.Close(list_);
    block_.Submit(queue_, list_);
    block_.SetProgress(list_, 3, 2);
  }

  Snapshot Take(IncidentKind kind, int64_t value) {
    Snapshot snapshot = std::move(SnapshotFromBlock(block_.bytes(), 1).value());
    snapshot.process.command_line = snapshot.AddText("./game --level 3");
    snapshot.incidents = {
        {.kind = kind, .value = value, .queue = kind == IncidentKind::kHang ? queue_ : kNone}};
    return snapshot;
  }
  static std::vector<std::string> Commands(const Snapshot& snapshot) {
    std::vector<std::string> commands;
    for (const NextStep& step : NextSteps(snapshot, AnalyseDump(snapshot), "a b.cairn")) {
      EXPECT_FALSE(step.effect.empty());
      commands.push_back(step.command);
    }
    return commands;
  }
  // Mode top, both reached.
  void TellLess() {
    block_.context(context_).mode = MarkerMode::kTop;
    block_.SetProgress(list_, 3, 0);
  }

  TestBlock block_;
  uint32_t context_ = 0;
  uint32_t queue_ = 0;
  TestBlock::List list_{};
};

TEST_F(NextStepsTest, AProvenCulpritIsSearchedByRunsOfTheProgram) {
  EXPECT_THAT(Commands(Take(IncidentKind::kDeviceLost, -4)),
              ElementsAre("cairn bisect -- ./game --level 3"));
}

TEST_F(NextStepsTest, TheTimeOfAHangIsKept) {
  EXPECT_THAT(Commands(Take(IncidentKind::kHang, 2500)),
              ElementsAre("cairn bisect --hang-timeout 2.5 -- ./game --level 3"));
  EXPECT_THAT(Commands(Take(IncidentKind::kHang, 10'000)),
              ElementsAre("cairn bisect -- ./game --level 3"))
      << "the usual one";
}

TEST_F(NextStepsTest, TheEndOfARunThatHangsIsKept) {
  TellLess();
  Snapshot snapshot = Take(IncidentKind::kHang, 2000);
  snapshot.incidents[0].detail = snapshot.AddText("--kill-on-hang");
  EXPECT_THAT(
      Commands(snapshot),
      ElementsAre(
          "cairn run --breadcrumbs full --hang-timeout 2 --kill-on-hang -- ./game --level 3",
          "cairn bisect --hang-timeout 2 -- ./game --level 3"))
      << "a search ends each run by itself";
  snapshot.incidents[0].detail = snapshot.AddText("--kill-on-hang; rm -rf /");
  EXPECT_THAT(Commands(snapshot),
              ElementsAre("cairn run --breadcrumbs full --hang-timeout 2 -- ./game --level 3",
                          "cairn bisect --hang-timeout 2 -- ./game --level 3"))
      << "no text of a file becomes an option";
}

TEST_F(NextStepsTest, AModeThatTellsMoreComesFirst) {
  TellLess();
  EXPECT_THAT(Commands(Take(IncidentKind::kHang, 2000)),
              ElementsAre("cairn run --breadcrumbs full --hang-timeout 2 -- ./game --level 3",
                          "cairn bisect --hang-timeout 2 -- ./game --level 3"));
  block_.context(context_).mode = MarkerMode::kFull;
  EXPECT_THAT(Commands(Take(IncidentKind::kDeviceLost, -4)),
              ElementsAre("cairn run --breadcrumbs exact -- ./game --level 3",
                          "cairn bisect -- ./game --level 3"));
  block_.context(context_).mode = MarkerMode::kExact;
  EXPECT_THAT(Commands(Take(IncidentKind::kDeviceLost, -4)),
              ElementsAre("cairn bisect -- ./game --level 3"))
      << "no mode tells more";
}

TEST_F(NextStepsTest, ATraceIsSearchedInTheFile) {
  Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  for (Event& event : snapshot.events) event.call = 7;
  EXPECT_THAT(Commands(snapshot), ElementsAre(std::string("cairn bisect ") + kFile));
}

TEST_F(NextStepsTest, AFileIsNoOption) {
  Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  for (Event& event : snapshot.events) event.call = 7;
  const std::vector<NextStep> steps = NextSteps(snapshot, AnalyseDump(snapshot), "-oX.cairn");
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].command, "cairn bisect ./-oX.cairn");
}

TEST_F(NextStepsTest, AWaitIsNotSearched) {
  block_.SetProgress(list_, 0, 0);
  block_.AddSync(SyncKind::kWait, queue_, 1, 0x20, 7);
  EXPECT_THAT(Commands(Take(IncidentKind::kHang, 2000)),
              ElementsAre(std::string("cairn report --all ") + kFile));
}

TEST_F(NextStepsTest, TheCallsOfACrashAreRecordedOrChecked) {
  EXPECT_THAT(Commands(Take(IncidentKind::kSignal, 11)),
              ElementsAre("cairn bisect -- ./game --level 3"))
      << "no call of Vulkan is recorded";
  block_.context(context_).api = Api::kD3D12;
  Snapshot snapshot = Take(IncidentKind::kSignal, 11);
  EXPECT_THAT(Commands(snapshot), ElementsAre("cairn bisect -- ./game --level 3",
                                              "cairn run --capture -- ./game --level 3"))
      << "the draw in flight may have made the fault, where the CPU does the GPU's work";
  for (Event& event : snapshot.events) event.call = 7;
  EXPECT_THAT(Commands(snapshot), ElementsAre(std::string("cairn bisect ") + kFile,
                                              std::string("cairn verify ") + kFile));
  block_.SetProgress(list_, 4, 4);
  snapshot = Take(IncidentKind::kSignal, 11);
  EXPECT_THAT(Commands(snapshot), ElementsAre("cairn run --capture -- ./game --level 3"));
}

TEST_F(NextStepsTest, ThePageIsAdvisedWhereNothingFailedAndWhereTheProgramIsUnknown) {
  const std::string view = std::string("cairn view ") + kFile;
  EXPECT_THAT(Commands(Take(IncidentKind::kRequested, 0)), ElementsAre(view));
  EXPECT_THAT(Commands(Take(IncidentKind::kSignal, 9)), ElementsAre(view))
      << "somebody wanted it so";
  Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  snapshot.process.command_line = {};
  EXPECT_THAT(Commands(snapshot), ElementsAre(std::string("cairn view ") + kFile));
}

TEST_F(NextStepsTest, AFailureIsSentAsTextOrAsTheFile) {
  const auto sent = [](const Snapshot& snapshot, std::string_view file) {
    return StepsToSend(snapshot, AnalyseDump(snapshot), file);
  };
  Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  std::vector<NextStep> steps = sent(snapshot, "a b.cairn");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].command, std::string("cairn report --markdown ") + kFile);
  EXPECT_EQ(steps[1].command, kFile);
  EXPECT_EQ(steps[1].effect.find("recorded calls"), std::string::npos) << "it holds none";
  for (Event& event : snapshot.events) event.call = 7;
  EXPECT_NE(sent(snapshot, "a b.cairn")[1].effect.find("recorded calls"), std::string::npos);
  EXPECT_THAT(sent(Take(IncidentKind::kRequested, 0), "a b.cairn"), IsEmpty()) << "nothing failed";
}

TEST_F(NextStepsTest, AHostileCommandLineIsQuoted) {
  const auto command_of = [&](std::string_view line) {
    Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
    snapshot.process.command_line = snapshot.AddText(line);
    const std::vector<std::string> commands = Commands(snapshot);
    return commands.empty() ? "" : commands.front();
  };
#ifdef _WIN32
  EXPECT_EQ(command_of(R"(C:\a\game.exe '-x;' 'two words\' '')"),
            R"(cairn bisect -- C:\a\game.exe "-x;" "two words\\" "")");
  for (const char* line : {"./game\x1b[2J\n", "./game $(calc)", "./game %PATH%", "./game a\"b"}) {
    EXPECT_EQ(command_of(line), std::string("cairn view ") + kFile)
        << "no line is safe in cmd.exe and PowerShell: " << line;
  }
#else
  EXPECT_EQ(command_of("./game -x; $(rm) 'two words' ''"),
            "cairn bisect -- ./game '-x;' '$(rm)' 'two words' ''");
  EXPECT_EQ(command_of("./game\x1b[2J\n"), R"(cairn bisect -- $'./game\x1b[2J\x0a')");
  EXPECT_EQ(command_of(R"('C:\a b\game.exe' -x)"), R"(cairn bisect -- wine 'C:\a b\game.exe' -x)");
#endif
}

}  // namespace
}  // namespace cairn
