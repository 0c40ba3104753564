// SPDX-License-Identifier: Apache-2.0
#include "reader/view/bisect_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "reader/analysis/testing/snapshot_builder.h"
#include "reader/bisect/testing/deaths.h"

namespace cairn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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
  culprit.queue = "command queue 3 \"Graphics\"";
  culprit.list = "command list 12 \"Main\"";
  culprit.pipeline = "pipeline state 9 \"Integrate\"";
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
      "    pipeline  pipeline state 9 \"Integrate\"\n"
      "    list      command list 12 \"Main\"\n"
      "    executed  by call 18,233 on command queue 3 \"Graphics\", frame 4\n"
      "\n"
      "Without it the trace runs to its end.\n"
      "It is alone in game.minimal.cairn, which fails as well: cairn replay game.minimal.cairn\n"
      "17 probes, 42.3 s.\n",
      AnswerAsText(OneCall()));
}

TEST(BisectText, NamesThePartsOfACall) {
  BisectTold told = OneCall();
  PartsText& parts = told.culprits[0].parts.emplace();
  parts.word = "command";
  parts.count = 1200;
  parts.guilty = {{1100, 1101, "Dispatch: 1 × 1 × 1 groups"}, {1150, 1152, ""}};
  parts.all_looked_at = true;
  EXPECT_THAT(AnswerAsText(told),
              HasSubstr("    command   [1,100] of 1,200: Dispatch: 1 × 1 × 1 groups\n"
                        "    command   [1,150] to [1,151] of 1,200 together\n"
                        "    in        Frame > Simulate\n"));
  const Json json = Json::Parse(AnswerAsJson(told))["culprits"][0]["parts"];
  EXPECT_EQ(1151, json["guilty"][1]["last"]);
  EXPECT_EQ(true, json["complete"]);
  parts.all_looked_at = false;
  EXPECT_THAT(AnswerAsText(told), HasSubstr("command   those behind this one were not tried"));
  parts.more = true;
  EXPECT_THAT(AnswerAsText(told), HasSubstr("command   others behind these make it fail as well"));
  parts.count_is_limit = true;
  EXPECT_THAT(AnswerAsText(told), HasSubstr("[1,100] of at most 1,200: "));
  parts.guilty.clear();
  parts.needs_none = true;
  EXPECT_THAT(AnswerAsText(told), HasSubstr("    command   none is needed: with everything else in "
                                            "place the trace fails without any of "
                                            "its commands\n"
                                            "    in  "));
}

TEST(BisectText, TheCommandThatItNamesCanBeCopied) {
  BisectTold told = OneCall();
  told.minimal_path = "my game.minimal.cairn";
  EXPECT_THAT(AnswerAsText(told),
              HasSubstr("It is alone in my game.minimal.cairn, which fails as well: cairn replay "
                        "'my game.minimal.cairn'\n"));
  told.minimal_path = "a\nb.cairn";
  EXPECT_THAT(AnswerAsText(told), HasSubstr("cairn replay $'a\\x0ab.cairn'\n"));
}

TEST(BisectText, SeveralCulpritsAreSaidToBelongTogether) {
  BisectTold told = OneCall();
  told.culprits.push_back(told.culprits[0]);
  told.answer.culprits.push_back(told.answer.culprits[0]);
  told.answer.without = ProbeOutcome::kFails;
  told.answer.other_place = 20'000;
  told.answer.kind = FailureKind::kDied;
  told.answer.signal = kFault;
  const std::string text = AnswerAsText(told);
  EXPECT_THAT(text, HasSubstr(std::string("kills the process (") + kFaultName + ")"));
  EXPECT_THAT(text, HasSubstr("it takes all 2"));
  EXPECT_THAT(text,
              HasSubstr("Without them the trace still fails, for another reason: in submission "
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
  told.answer.no_culprit = NoCulprit::kRefused;
  told.answer.probes = 1;
  EXPECT_EQ(
      "game\\x1b.cairn: no culprit: the device refuses what the trace asks for: see cairn "
      "replay.\n1 probe, 0.0 s.\n",
      AnswerAsText(told));
}

TEST(BisectText, EachReasonForNoCulpritIsASentence) {
  BisectAnswer answer;
  const auto words = [&](NoCulprit reason) {
    answer.no_culprit = reason;
    return NoCulpritInWords(answer, {});
  };
  EXPECT_EQ("", words(NoCulprit::kNone));
  answer.asked = 3;
  answer.repeats = 4;
  EXPECT_EQ("the trace does not fail on this device: 3 of 4 replays were clean",
            words(NoCulprit::kNeverFails));
  EXPECT_EQ("the trace fails even with all submissions skipped: the GPU's work is not the cause",
            words(NoCulprit::kFailsAnyway));
  answer.probes = 50;  // of several searches
  answer.contradicted_after = 40;
  EXPECT_EQ(
      "the answers contradict each other: what failed once did not fail again, in 40 probes; try "
      "again with larger --runs, and with nothing else on the machine",
      words(NoCulprit::kContradiction));
}

BisectTold NoFailure() {
  BisectTold told;
  told.path = "game.cairn";
  told.answer.no_culprit = NoCulprit::kNeverFails;
  told.answer.repeats = 2;
  told.answer.asked = 2;
  told.answer.probes = 3;
  told.answer.undecided = 1;
  told.device = {"llvmpipe, 10005:0000", "Mesa 22.3.6, version 0x1", "libvkd3d-utils.so.1.4.4"};
  told.hang_timeout_ns = 3'000'000'000;
  told.whole_plays = 3;
  told.whole_plays_ns = 4'500'000'000;
  told.slowest_submission = 18'233;
  told.slowest_ns = 800'000'000;
  told.recorded = {"The watchdog saw a hang: queue 0 made no progress for 2 s."};
  told.duration_ns = 4'600'000'000;
  return told;
}

TEST(BisectText, WithoutAFailureItSaysWhatWasTriedAndWhatIsNext) {
  BisectTold told = NoFailure();
  EXPECT_EQ(
      "game.cairn: no culprit: the trace does not fail on this device: 2 of 2 replays were "
      "clean.\n"
      "Tried     2 replays of the whole trace, 1.5 s each\n"
      "Device    llvmpipe, 10005:0000 (Mesa 22.3.6, version 0x1), with libvkd3d-utils.so.1.4.4\n"
      "Slowest   submission 18,233 took 0.8 s; what takes more than 3 s counts as a hang\n"
      "Recorded  The watchdog saw a hang: queue 0 made no progress for 2 s.\n"
      "Next      the device and the driver on which it failed, if this is another\n"
      "          --hang-timeout below 0.8, if what hung there is only slow here\n"
      "          --runs 10, if it fails only now and then\n"
      "3 probes, of which 1 gave no answer and was repeated, 4.6 s.\n",
      AnswerAsText(told));
  const Json json = Json::Parse(AnswerAsJson(told));
  EXPECT_EQ("llvmpipe, 10005:0000", json["device"]);
  EXPECT_EQ("Mesa 22.3.6, version 0x1", json["driver"]);
  EXPECT_EQ(3.0, json["hang_timeout_seconds"]);
  EXPECT_EQ(18'233, json["slowest_submission"]);
  EXPECT_EQ(0.8, json["slowest_seconds"]);
  EXPECT_EQ(told.recorded[0], json["recorded"][0].get<std::string>());
  EXPECT_EQ(1, json["undecided"]);

  // There is no such option.
  told.slowest_ns = 900'000;
  EXPECT_THAT(AnswerAsText(told), HasSubstr("Slowest   submission 18,233 took 0.0009 s; "));
  EXPECT_THAT(AnswerAsText(told), Not(HasSubstr("--hang-timeout")));

  told.recorded.clear();
  told.slowest_submission = 0;
  told.device = {};
  const std::string text = AnswerAsText(told);
  EXPECT_THAT(text, HasSubstr("Recorded  no report of"));
  EXPECT_THAT(text, HasSubstr("Device    a device that does not say its name\n"));
  EXPECT_THAT(text, Not(HasSubstr("--hang-timeout")));
}

TEST(BisectText, WhatIsLeftOutIsSaidWhetherOrNotThereIsACulprit) {
  for (BisectTold told : {OneCall(), NoFailure()}) {
    EXPECT_THAT(AnswerAsText(told), Not(HasSubstr("not exact")));
    told.left_out = "skipped: ID3D12Device3::OpenExistingHeapFromAddress";
    EXPECT_THAT(
        AnswerAsText(told),
        HasSubstr("Not played on this device: skipped: "
                  "ID3D12Device3::OpenExistingHeapFromAddress\nSo the answer is not exact: "));
    EXPECT_EQ(told.left_out, Json::Parse(AnswerAsJson(told))["left_out"].get<std::string>());
  }
}

TEST(BisectText, JsonHasTheSame) {
  const Json json = Json::Parse(AnswerAsJson(OneCall()));
  EXPECT_EQ("cairn-bisect", json["format"]);
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

TEST(BisectText, JsonIsWhatItsSchemaSays) {
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/bisect.schema.json");
  BisectTold list = OneCall();
  list.culprits[0].suspect.kind = Suspect::Kind::kList;
  for (const BisectTold& told : {OneCall(), list, NoFailure(), BisectTold()}) {
    EXPECT_EQ("", SchemaViolation(schema, Json::Parse(AnswerAsJson(told))));
  }
  const Json answer = Json::Parse(AnswerAsJson(OneCall()));
  EXPECT_NE("", SchemaViolation(schema, answer.With("/seconds", "42")));
  EXPECT_EQ("", SchemaViolation(schema, answer.With("/seconds", 42)));
  EXPECT_NE("", SchemaViolation(schema, answer.Without("/culprits/0/submission")));
}

TEST(BisectText, TheRecordedCrashNamesIncidentsAndPaths) {
  SnapshotBuilder builder;
  const uint32_t list = builder.BeginList(builder.AddQueue());
  builder.Begin(CAIRN_MARKER_PASS);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.snapshot.events[1].call = 18'201;
  builder.End();
  builder.Submit(0, list);
  builder.snapshot.incidents.push_back({.kind = IncidentKind::kDeviceLost, .value = -4});
  EXPECT_THAT(RecordedIncidents(builder.snapshot),
              ElementsAre(HasSubstr("VK_ERROR_DEVICE_LOST (-4)")));
  EXPECT_THAT(RecordedIncidents(Snapshot()), IsEmpty());

  std::vector<CulpritText> culprits(3);
  for (CulpritText& culprit : culprits) culprit.suspect = {Suspect::Kind::kCall, 18'201, 0};
  culprits[1].path = {"its own"};
  culprits[2].suspect.call = 18'202;
  AddBreadcrumbPaths(builder.snapshot, &culprits);
  EXPECT_THAT(culprits[0].path, ElementsAre("Pass"));
  EXPECT_THAT(culprits[1].path, ElementsAre("its own"));
  EXPECT_THAT(culprits[2].path, IsEmpty());
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
