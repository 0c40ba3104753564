// SPDX-License-Identifier: Apache-2.0
//
// RunTrial against a child that tells what it was given, and writes on the boards of the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "format/elimination/board.h"
#include "format/settings/layer_settings.h"
#include "os/child.h"
#include "os/child_status.h"
#include "os/shared_memory.h"
#include "os/testing/file_fixture.h"
#include "reader/bisect/program_trial.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// ---- The child ----------------------------------------------------------------------------------------

// Returns the text behind NAME= in one of the words; "" if none has it.
std::string ValueOf(const std::vector<std::string>& words, const char* name) {
  const std::string prefix = std::string(name) + "=";
  for (const std::string& word : words) {
    if (word.starts_with(prefix)) return word.substr(prefix.size());
  }
  return "";
}

// As a layer that makes a change.
bool WriteOnBoards(const std::vector<std::string>& words) {
  const Result<SharedMemory> memory =
      SharedMemory::MapPathForWriting(ValueOf(words, kVariableOf<&LayerSettings::elimination>));
  if (!memory.ok()) return false;
  const Result<Board> board = Board::Over({memory->data(), memory->size_bytes()});
  if (!board.ok()) return false;
  board->header().lists = 1;
  board->header().changes = 7;
  const std::string experiment = ValueOf(words, kVariableOf<&LayerSettings::experiment_board>);
  if (experiment.empty()) return true;
  const Result<SharedMemory> records = SharedMemory::MapPathForWriting(experiment);
  if (!records.ok()) return false;
  const Result<ExperimentBoard> experiment_board =
      ExperimentBoard::Over({records->data(), records->size_bytes()});
  if (!experiment_board.ok()) return false;
  const std::optional<uint32_t> first = experiment_board->Reserve(1);
  if (!first) return false;
  LoopNote note;
  note.shader = 0xa1;
  note.function = "march";
  experiment_board->Describe(*first, note);
  experiment_board->CountLimited();
  experiment_board->records()[*first].cuts = 9;
  return true;
}

// The program's first word is the file for what it was given, the second one how it ends.
int RunAsTrial(const std::vector<std::string>& words) {
  Result<ChildStatus<TrialStatus>> status = ChildStatus<TrialStatus>::OfThisProcess();
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (!status.ok() || words.end() - dashes != 3) return 1;
  std::ofstream file(*(dashes + 1));
  for (const std::string& word : words) file << word << "\n";
  file.close();
  if (!WriteOnBoards(words)) return 1;
  if (*(dashes + 2) == "hang") (*status)->Fails(FailureKind::kHang, 0);
  (*status)->exit_code = 3;
  (*status)->program.Set(TrialStatus::Program::kEnded);
  return 0;
}

// ---- The parent ---------------------------------------------------------------------------------------

class RunTrialTest : public FileTest {
 protected:
  Result<TrialRun> Run(TrialSettings settings, const char* end = "end") {
    settings.program = {In("told").string(), end};
    Result<TrialRun> run = RunTrial(settings, {});
    std::ifstream file(In("told"));
    words_.clear();
    for (std::string line; std::getline(file, line);) words_.push_back(line);
    return run;
  }
  // Those behind each --set.
  std::vector<std::string> Set() const {
    std::vector<std::string> set;
    for (size_t i = 0; i + 1 < words_.size(); ++i) {
      if (words_[i] == "--set") set.push_back(words_[i + 1]);
    }
    return set;
  }
  std::vector<std::string> words_;
};

TEST_F(RunTrialTest, ARunAsItIsHasNoExperiment) {
  TrialSettings settings;
  settings.environment = {"CAIRN_EVENTS=all"};
  settings.hang_timeout = "2.5";
  const Result<TrialRun> run = Run(settings);
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(TrialEnd::kExited, run->end);
  EXPECT_EQ(3, run->value);
  EXPECT_EQ(1u, run->catalogue.lists);
  EXPECT_EQ(ExperimentNotes(), run->notes);
  EXPECT_THAT(Set(), ElementsAre(StartsWith("CAIRN_ELIMINATION="), "CAIRN_EVENTS=all"));
  const auto timeout = std::find(words_.begin(), words_.end(), "--hang-timeout");
  ASSERT_NE(words_.end(), timeout);
  EXPECT_EQ("2.5", *(timeout + 1));
  EXPECT_THAT(words_, Not(Contains("--output")));
  EXPECT_THAT(words_, Not(Contains("--preload")));
}

TEST_F(RunTrialTest, AnExperimentIsToldAndItsChangesAreCounted) {
  TrialSettings settings;
  settings.experiment = {.change = Change::kFillMemory, .fill = 0xfe};
  settings.report_path = "a report.cairn";
  const Result<TrialRun> run = Run(settings, "hang");
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(TrialEnd::kFailed, run->end);
  EXPECT_EQ(FailureKind::kHang, run->failure);
  EXPECT_EQ(7u, run->catalogue.changes);
  EXPECT_THAT(run->notes.loops, IsEmpty());
  EXPECT_THAT(Set(), ElementsAre(StartsWith("CAIRN_ELIMINATION="), "CAIRN_EXPERIMENT=memory=fe"));
  const auto output = std::find(words_.begin(), words_.end(), "--output");
  ASSERT_NE(words_.end(), output);
  EXPECT_EQ("a report.cairn", *(output + 1));
}

TEST_F(RunTrialTest, LimitedLoopsReportOnABoardOfTheRun) {
  TrialSettings settings;
  settings.experiment = {.change = Change::kLimitLoops, .trips = 100, .shaders = {0xa1}};
  for (int i = 0; i < 2; ++i) {
    const Result<TrialRun> run = Run(settings);
    ASSERT_TRUE(run.ok()) << run.status().message();
    EXPECT_THAT(Set(), ElementsAre(StartsWith("CAIRN_ELIMINATION="),
                                   "CAIRN_EXPERIMENT=loops=100,shader=00000000000000a1",
                                   StartsWith("CAIRN_EXPERIMENT_BOARD=")));
    // Each run has a board of its own.
    EXPECT_EQ(1u, run->notes.limited);
    ASSERT_THAT(run->notes.loops, SizeIs(1));
    EXPECT_EQ(0xa1u, run->notes.loops[0].shader);
    EXPECT_EQ("march", run->notes.loops[0].function);
    EXPECT_EQ(9u, run->notes.loops[0].record.cuts);
  }
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (cairn::WasStartedAsChild()) return cairn::RunAsTrial({argv + 1, argv + argc});
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
