// SPDX-License-Identifier: Apache-2.0
//
// cairn-d3d.dll in programs that get at Direct3D 12 in different ways, beside others who replace the same functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness.h"
#include "tests/windows/layered/started.h"

namespace cairn::testing {
namespace {

constexpr char kFolder[] = CAIRN_BINARY_DIR "/tests/windows/layered/";

std::string Layer() {
  std::string path = CAIRN_BINARY_DIR "/bin/cairn-d3d.dll";
  std::replace(path.begin(), path.end(), '/', '\\');
  return path;
}
std::string LoadLayer() {
  return "load:" + Layer();
}

// Returns the values that the steps printed, without the steps' names.
std::vector<std::string> Answers(const std::string& output) {
  std::vector<std::string> answers;
  for (size_t at = 0, end = 0; (end = output.find('\n', at)) != output.npos; at = end + 1) {
    std::string line = output.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    answers.push_back(line.substr(line.rfind(": ") + 2));
  }
  return answers;
}

std::vector<std::string> AnswersTo(const std::vector<std::string>& steps) {
  PreferNeighbours("layered.exe", {"d3d11", "d3d12"});
  std::vector<std::string> words = {std::string(kFolder) + "layered.exe"};
  words.insert(words.end(), steps.begin(), steps.end());
  const CommandResult result = RunCommand(words, {});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  return Answers(result.output);
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LayerEntry, WithoutItDevicesAreTheImplementations) {
  EXPECT_THAT(AnswersTo({"import", "lookup", "number", "late", "made"}),
              ElementsAre("plain", "plain", "plain", "plain", "4"));
}

TEST(LayerEntry, EveryWayToAFunctionLeadsThroughIt) {
  EXPECT_THAT(AnswersTo({LoadLayer(), "import", "lookup", "number", "late", "made"}),
              ElementsAre("yes", "layer", "layer", "layer", "layer", "4"));
}

TEST(LayerEntry, DeviceFactoriesLeadThroughIt) {
  EXPECT_THAT(AnswersTo({"factory", "sdk"}), ElementsAre("plain", "plain"));
  EXPECT_THAT(AnswersTo({LoadLayer(), "factory", "sdk", "made"}),
              ElementsAre("yes", "layer", "layer", "2"));
}

TEST(LayerEntry, Direct3D11OnItsDevicesGetsTheImplementationsObjects) {
  EXPECT_THAT(AnswersTo({"on12"}), ElementsAre("ours, 0"));
  EXPECT_THAT(AnswersTo({LoadLayer(), "on12"}), ElementsAre("yes", "ours, 0"));
}

TEST(LayerEntry, ItMayComeBeforeTheProgramRuns) {
  PreferNeighbours("layered.exe", {"d3d11", "d3d12"});
  const StartedResult result = RunWithLibrary(
      {kFolder + std::string("layered.exe"), "import", "lookup", "late", "made"}, {}, Layer());
  EXPECT_EQ(result.exit_code, 0u);
  EXPECT_THAT(Answers(result.output), ElementsAre("layer", "layer", "layer", "3"));
}

TEST(LayerEntry, WhoReplacedBeforeItIsCalled) {
  EXPECT_THAT(
      AnswersTo({"load:overlay.dll", LoadLayer(), "import", "overlay", "made", "lookup", "made"}),
      ElementsAre("yes", "yes", "layer", "1", "1", "layer", "2"));
}

// Libraries loaded later cause no second replacement, which would let both functions call each
// other.
TEST(LayerEntry, WhoReplacesAfterItIsCalled) {
  EXPECT_THAT(AnswersTo({LoadLayer(), "load:overlay.dll", "import", "overlay", "made", "late",
                         "import", "overlay", "made"}),
              ElementsAre("yes", "yes", "layer", "1", "1", "layer", "layer", "2", "3"));
}

TEST(LayerEntry, WhatTheImplementationAnswersStays) {
  EXPECT_THAT(AnswersTo({"ask", "fail"}), ElementsAre("0x00000001", "0x80070057, untouched"));
  EXPECT_THAT(AnswersTo({LoadLayer(), "ask", "fail"}),
              ElementsAre("yes", "0x00000001", "0x80070057, untouched"));
}

// With a block of its own libcairn would know nothing of what the layer notes.
TEST(LayerEntry, AProgramThatMarksItsWorkSharesTheLayersBlock) {
  PreferNeighbours("marks.exe", {"d3d12"});
  const std::vector<std::string> words = {CAIRN_BINARY_DIR "/tests/windows/watched.exe",
                                          std::string(kFolder) + "marks.exe"};
  for (const bool with_layer : {false, true}) {
    std::vector<std::string> command = words;
    if (with_layer) command.push_back(Layer());
    const CommandResult result = RunCommand(command, {});
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, HasSubstr("watched: 1 blocks; ended with 0"));
    EXPECT_THAT(result.output, HasSubstr("Device 0: "));
  }
}

}  // namespace
}  // namespace cairn::testing
