// SPDX-License-Identifier: Apache-2.0
#include "reader/view/program_bisect_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cairn/marker_types.h"

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;

ProgramTold Found() {
  ProgramTold told;
  told.program = "./game --level 3";
  told.duration_ns = 42'300'000'000;
  told.hang_timeout_seconds = 2;
  ProgramFound& found = told.found;
  found.answer.found = true;
  found.answer.kind = FailureKind::kHang;
  found.answer.failed = 2;
  found.answer.asked = 2;
  found.answer.without = ProbeOutcome::kClean;
  found.answer.culprits = {{Suspect::Kind::kCall, 5, 0}};
  found.answer.probes = 16;
  ProgramCulprit culprit;
  culprit.suspect = found.answer.culprits[0];
  culprit.work.key = 0xabc;
  culprit.work.type = CAIRN_MARKER_DISPATCH;
  culprit.work.ordinal = 2;
  culprit.work.path = {"Frame", "Simu\x1blate"};
  culprit.work.pipeline = "Integrate [main]";
  culprit.work.recorded = 1;
  culprit.work.submitted = 37;
  culprit.alike = 3;
  found.culprits = {{culprit}};
  found.runs_with = found.failed_with = 7;
  found.runs_without = 9;
  found.layers_seen = true;
  found.work = 40;
  return told;
}

TEST(ProgramBisectText, NamesTheCulpritAndHowSureThatIs) {
  EXPECT_EQ(
      "./game --level 3 hangs, in 2 of 2 runs.\n"
      "\n"
      "The culprit\n"
      "  DISPATCH, number 2 of 3 alike there\n"
      "    in        Frame > Simu\\x1blate\n"
      "    pipeline  Integrate [main]\n"
      "    recorded  once, submitted 37 times in a run of the whole program\n"
      "\n"
      "The program failed in 7 of 7 runs with it, in 0 of 9 runs without it.\n"
      "Without it everything else runs to its end.\n"
      "16 runs, 42.3 s.\n",
      ProgramAnswerAsText(Found()));
}

TEST(ProgramBisectText, SaysWhatMakesItWorthLess) {
  ProgramTold told = Found();
  told.survive_seconds = 60;
  told.report_path = "a b.cairn";
  told.found.answer.kind_varies = true;
  told.found.work_not_in_all = 4;
  told.found.failed_otherwise = 1;
  told.found.stuck = 2;
  told.found.work_dropped = 5;
  told.found.answer.undecided = 1;
  const std::string text = ProgramAnswerAsText(told);
  for (const char* line :
       {"Without it everything else runs on.\n",
        "Irregular: the whole program failed in different ways; each counted as a failure.\n",
        "Irregular: 4 of 40 pieces of work were not in every run of the whole.\n",
        "1 run failed in another way, which counts as no failure.\n",
        "2 runs did not end without a part of the work, and counted as no failure.\n",
        "5 pieces of work did not fit into the list of work: skipped with others only.\n",
        "The report of a run with nothing else: cairn report 'a b.cairn'\n",
        "16 runs, of which 1 gave no answer and was repeated, 42.3 s.\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ProgramBisectText, SeveralThatFailByThemselvesAreNamedOneAfterTheOther) {
  ProgramTold told = Found();
  told.found.culprits.push_back(told.found.culprits[0]);
  told.found.culprits[1][0].work.path = {"Other"};
  told.found.answer.without = ProbeOutcome::kFails;
  EXPECT_EQ(
      "./game --level 3 hangs, in 2 of 2 runs.\n"
      "\n"
      "The culprit\n"
      "  DISPATCH, number 2 of 3 alike there\n"
      "    in        Frame > Simu\\x1blate\n"
      "    pipeline  Integrate [main]\n"
      "    recorded  once, submitted 37 times in a run of the whole program\n"
      "And without that\n"
      "  DISPATCH, number 2 of 3 alike there\n"
      "    in        Other\n"
      "    pipeline  Integrate [main]\n"
      "    recorded  once, submitted 37 times in a run of the whole program\n"
      "\n"
      "The program failed in 7 of 7 runs with one of them, in 0 of 9 runs without any of them.\n"
      "Without any of them everything else fails, too: there are more culprits, or what is "
      "skipped was needed.\n"
      "16 runs, 42.3 s.\n",
      ProgramAnswerAsText(told));
}

TEST(ProgramBisectText, ScopesAndGroupsAreNamedWhole) {
  ProgramTold told = Found();
  told.found.culprits[0][0].suspect.kind = Suspect::Kind::kList;
  told.found.culprits[0][0].count = 3;
  EXPECT_THAT(ProgramAnswerAsText(told),
              HasSubstr("  3 pieces of work of type DISPATCH together\n"));
  told.found.culprits[0][0].count = 1;
  EXPECT_THAT(ProgramAnswerAsText(told), HasSubstr("  1 piece of work of type DISPATCH\n"));
  told.found.culprits[0][0].count = 3;
  told.found.culprits[0][0].suspect.kind = Suspect::Kind::kSubmission;
  told.found.culprits[0][0].work.path.clear();
  told.found.work_not_in_all = 1;
  EXPECT_THAT(ProgramAnswerAsText(told), HasSubstr("1 of 40 pieces of work was not in every run"));
  EXPECT_THAT(ProgramAnswerAsText(told),
              HasSubstr("  all 3 pieces of work of a scope together\n    in        no label\n\n"));
}

TEST(ProgramBisectText, SaysWhatToTryWhereNothingFails) {
  ProgramTold told;
  told.program = "./game";
  told.hang_timeout_seconds = 10;
  told.found.answer.asked = 2;
  told.found.answer.probes = 2;
  told.found.answer.no_culprit = NoCulprit::kNeverFails;
  told.found.answer.repeats = 2;
  told.found.exit_code = 3;
  EXPECT_EQ(
      "./game: no culprit: the program does not fail: 2 of 2 runs were clean.\n"
      "Saw       no Vulkan or Direct3D 12 work; cairn run -- PROGRAM says whether the layers are "
      "loaded into it\n"
      "Ended     by itself, with exit code 3\n"
      "Next      --hang-timeout below 10, if what hangs elsewhere is only slow here\n"
      "          --runs 10, if it fails only now and then\n"
      "2 runs, 0.0 s.\n",
      ProgramAnswerAsText(told));
  told.found.answer.no_culprit = NoCulprit::kFailsAnyway;
  EXPECT_THAT(ProgramAnswerAsText(told),
              HasSubstr("./game: no culprit: the program fails even with all scopes skipped: the "
                        "GPU's work is not the cause.\n"));
  const auto json = Json::Parse(ProgramAnswerAsJson(told));
  EXPECT_TRUE(json["fails_without_gpu_work"].get<bool>());
  EXPECT_EQ(json["not_to_blame"], json["fails_without_gpu_work"]) << "its older name";
}

TEST(ProgramBisectJson, HasWhatTheTextHas) {
  const Json json = Json::Parse(ProgramAnswerAsJson(Found()));
  EXPECT_EQ("cairn-bisect-program", json["format"]);
  EXPECT_EQ(1, json["version"]);
  EXPECT_EQ("./game --level 3", json["program"]);
  EXPECT_EQ(true, json["found"]);
  EXPECT_EQ("hang", json["failure"]);
  EXPECT_EQ(7, json["failed_with"]);
  EXPECT_EQ(9, json["runs_without"]);
  EXPECT_EQ("clean", json["without"]);
  ASSERT_EQ(1u, json["culprits"].size());
  const Json culprit = json["culprits"][0][0];
  EXPECT_EQ("work", culprit["kind"]);
  EXPECT_EQ("DISPATCH", culprit["type"]);
  EXPECT_EQ(2, culprit["ordinal"]);
  EXPECT_EQ("Simu\\x1blate", culprit["path"][1]);
  EXPECT_EQ(37, culprit["submitted"]);
  EXPECT_EQ("0xabc", culprit["key"]);
}

TEST(ProgramBisectJson, FollowsTheSchema) {
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/bisect-program.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, Json::Parse(ProgramAnswerAsJson(Found()))));
  EXPECT_EQ("", SchemaViolation(schema, Json::Parse(ProgramAnswerAsJson(ProgramTold()))));
  ProgramTold with_why = Found();
  with_why.why_json = R"({"format": "cairn-why"})";
  const Json with = Json::Parse(ProgramAnswerAsJson(with_why));
  EXPECT_EQ("", SchemaViolation(schema, with));
  EXPECT_EQ("cairn-why", with["why"]["format"]);
  const Json answer = Json::Parse(ProgramAnswerAsJson(Found()));
  EXPECT_FALSE(answer.contains("why"));
  EXPECT_NE("", SchemaViolation(schema, answer.With("/runs", "42")));
  EXPECT_NE("", SchemaViolation(schema, answer.Without("/culprits/0/0/key")));
}

}  // namespace
}  // namespace cairn::cli
