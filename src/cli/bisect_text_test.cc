// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BisectTold OneCall() {
  BisectTold told;
  told.path = "game.cairn";
  told.answer.found = true;
  told.answer.culprits = {{Suspect::Kind::kCall, 18'201, 0}};
  told.answer.place = 18'233;
  told.answer.failed = 2;
  told.answer.asked = 2;
  told.answer.without = ProbeOutcome::kClean;
  told.answer.probes = 17;
  told.answer.kind = FailureKind::kHang;
  told.minimal_path = "game.minimal.cairn";
  told.duration_ns = 42'300'000'000;
  CulpritText culprit;
  culprit.suspect = told.answer.culprits[0];
  culprit.frame = 4;
  culprit.submission = 18'233;
  culprit.call = "Dispatch(ThreadGroupCountX = 64)";
  culprit.queue = "ID3D12CommandQueue #3 \"Graphics\"";
  culprit.list = "ID3D12GraphicsCommandList #12 \"Main\"";
  culprit.pipeline = "ID3D12PipelineState #9 \"Integrate\"";
  culprit.path = {"Frame", "Simulate"};
  told.culprits = {culprit};
  return told;
}

TEST(BisectText, TellsWhatItIsAndWhere) {
  EXPECT_EQ(
      "game.cairn hangs in submission 18,233, in 2 of 2 replays.\n"
      "\n"
      "The culprit\n"
      "  call 18,201: Dispatch(ThreadGroupCountX = 64)\n"
      "    in        Frame > Simulate\n"
      "    pipeline  ID3D12PipelineState #9 \"Integrate\"\n"
      "    list      ID3D12GraphicsCommandList #12 \"Main\"\n"
      "    executed  by call 18,233 on ID3D12CommandQueue #3 \"Graphics\", frame 4\n"
      "\n"
      "Without it the trace runs to its end.\n"
      "Alone it is in game.minimal.cairn, which fails as well: cairn replay game.minimal.cairn\n"
      "17 probes, 42.3 s.\n",
      AnswerAsText(OneCall()));
}

TEST(BisectText, SeveralCulpritsAreSaidToBelongTogether) {
  BisectTold told = OneCall();
  told.culprits.push_back(told.culprits[0]);
  told.answer.culprits.push_back(told.answer.culprits[0]);
  told.answer.without = ProbeOutcome::kFails;
  told.answer.other_place = 20'000;
  told.answer.kind = FailureKind::kDied;
  told.answer.signal = SIGSEGV;
  const std::string text = AnswerAsText(told);
  EXPECT_THAT(text, HasSubstr("kills the process (SIGSEGV)"));
  EXPECT_THAT(text, HasSubstr("it takes all 2"));
  EXPECT_THAT(text, HasSubstr("Without them the trace fails, too, of something else: in submission "
                              "20,000."));
}

TEST(BisectText, ListsAndSubmissionsHaveNoCall) {
  BisectTold told = OneCall();
  told.culprits[0].suspect = {Suspect::Kind::kList, 18'233, 3};
  EXPECT_THAT(AnswerAsText(told), HasSubstr("  list 3 of submission 18,233, whatever it holds\n"));
  told.culprits[0].suspect = {Suspect::Kind::kSubmission, 18'233, 0};
  EXPECT_THAT(AnswerAsText(told), HasSubstr("  submission 18,233, whatever it holds\n"));
}

TEST(BisectText, SaysWhyThereIsNoCulprit) {
  BisectTold told;
  told.path = "game\x1b.cairn";
  told.answer.why = "the trace does not fail on this device: 2 of 2 replays were clean";
  told.answer.probes = 1;
  EXPECT_EQ(
      "game\\x1b.cairn: no culprit: the trace does not fail on this device: 2 of 2 replays were "
      "clean.\n1 probe, 0.0 s.\n",
      AnswerAsText(told));
}

TEST(BisectText, JsonHasTheSame) {
  const auto json = nlohmann::json::parse(AnswerAsJson(OneCall()));
  EXPECT_EQ(1, json["version"]);
  EXPECT_EQ(true, json["found"]);
  EXPECT_EQ("hang", json["failure"]);
  EXPECT_EQ(18'233, json["submission"]);
  EXPECT_EQ("clean", json["without"]);
  EXPECT_EQ("game.minimal.cairn", json["minimal_trace"]);
  ASSERT_EQ(1u, json["culprits"].size());
  EXPECT_EQ("call", json["culprits"][0]["kind"]);
  EXPECT_EQ(18'201, json["culprits"][0]["call"]);
  EXPECT_EQ("Simulate", json["culprits"][0]["path"][1]);
}

TEST(BisectText, ProgressIsABarAndAnEstimate) {
  EXPECT_EQ("[##########..........] 10 of about 20 probes, 20 s left: 12 submissions",
            ProgressLine({10, 20, "12 submissions"}, 2'000));
  EXPECT_EQ("[....................] 0 of about 5 probes: the whole trace",
            ProgressLine({0, 5, "the whole trace"}, 0));
  // More were needed than expected.
  EXPECT_THAT(ProgressLine({30, 20, "x"}, 1), HasSubstr("30 of about 31"));
  EXPECT_THAT(ProgressLine({30, 20, "x"}, 1), Not(HasSubstr("-")));
}

}  // namespace
}  // namespace cairn::cli
