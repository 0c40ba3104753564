// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/tool_answer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/testing/json.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Json AnswerOf(const ToolCall& call, const std::string& output, const std::string& errors = "",
              int exit_code = 0) {
  const ToolAnswer answer = MakeToolAnswer(call, {exit_code, output, errors});
  EXPECT_FALSE(answer.is_error) << answer.json;
  EXPECT_EQ(answer.json.find('\n'), std::string::npos);
  return Json::Parse(answer.json);
}

ToolCall CallOf(ToolName tool, const std::string& table) {
  ToolCall call;
  call.tool = tool;
  call.words = {"report", "--json"};
  call.rows.table = table;
  return call;
}

constexpr char kReport[] = R"({"format": "cairn-report",
  "verdict": {"kind": "GPU hang", "next": [{"command": "cairn bisect -- rm -r ."}], "suspects": [
    {"execution": 1, "scope": 2, "reason": "only work running"},
    {"execution": 0, "scope": null}, {"execution": 9, "scope": 99}, {"execution": 0, "scope": 0}],
    "last_completed": [{"queue": 0, "execution": 0, "scope": 0}]},
  "devices": [{"name": "GPU", "sources": [1, 2, 3]}],
  "pipelines": [{"name": "Unused"}, {"name": "Blur", "shaders": {"CS": "abc"}}],
  "verdicts": [{"queue": 0, "candidates": [{"execution": 1, "scope": 2, "bindings": [{"slot": 4}]}]}],
  "executions": [{"name": "Early", "frame": 6, "first_scope": 0, "scope_count": 1},
                 {"name": "Main", "frame": 7, "first_scope": 1, "scope_count": 3}],
  "scopes": [
    {"state": "completed", "type": "PASS", "ordinal": 0, "name": "Shadow", "parent": null, "pipeline": null},
    {"state": "in flight", "type": "PASS", "ordinal": 0, "name": "Post", "parent": null, "pipeline": null},
    {"state": "in flight", "type": "DISPATCH", "ordinal": 3, "name": "", "parent": 1, "pipeline": 1, "call": 86},
    {"state": "not started", "type": "DRAW", "ordinal": 4, "name": "sky", "parent": 3, "pipeline": 77}],
  "objects": [{"name": "Low", "gpu_address": "0x1000", "size": 16},
              {"name": "High", "gpu_address": "0x2000", "size": 16}, {"name": "None", "gpu_address": "0x0", "size": 9}],
  "faults": [], "losses": ["no names", "no calls"]})";

TEST(ToolAnswer, SuspectsHaveTheirWork) {
  const Json answer = AnswerOf(CallOf(ToolName::kSuspects, "suspects"), kReport);
  const Json first = answer["suspects"][0];
  EXPECT_EQ(first["path"], "Post > DISPATCH #3");
  EXPECT_EQ(first["state"], "in flight");
  EXPECT_EQ(first["call"], 86);
  EXPECT_EQ(first["pipeline"]["shaders"]["CS"], "abc");
  EXPECT_EQ(first["list"]["name"], "Main");
  EXPECT_EQ(first["bindings"][0]["slot"], 4);
  EXPECT_FALSE(answer["suspects"][1].contains("path"));
  EXPECT_FALSE(answer["suspects"][2].contains("list"));
  EXPECT_EQ(answer["queues"][0]["candidate_count"], 1);
  EXPECT_FALSE(answer["queues"][0].contains("candidates"));
  EXPECT_EQ(answer["last_completed"][0]["path"], "Shadow");
  EXPECT_EQ(answer["matching"], 4);
  EXPECT_TRUE(answer["next_offset"].is_null());
}

TEST(ToolAnswer, CommandsThatNameTheProgramOfAFileAreNotPassedOn) {
  const std::string answer = AnswerOf(CallOf(ToolName::kVerdict, ""), kReport).dump();
  EXPECT_EQ(answer.find("rm -r"), std::string::npos) << answer;
}

TEST(ToolAnswer, TheVerdictHasThreeSuspectsAndComesFirst) {
  const ToolAnswer answer = MakeToolAnswer(CallOf(ToolName::kVerdict, "verdict"), {0, kReport, ""});
  EXPECT_THAT(answer.json, StartsWith(R"({"verdict":{"kind":"GPU hang"})"));
  const Json json = Json::Parse(answer.json);
  EXPECT_EQ(json["suspects"].size(), 3u);
  EXPECT_EQ(json["suspect_count"], 4);
  EXPECT_EQ(json["devices"].dump(), R"([{"name":"GPU"}])");
  EXPECT_FALSE(json.contains("scopes"));
}

TEST(ToolAnswer, WorkHasPathsAndFilters) {
  ToolCall call = CallOf(ToolName::kWork, "scopes");
  Json answer = AnswerOf(call, kReport);
  EXPECT_EQ(answer["scopes"].size(), 4u);
  EXPECT_EQ(answer["scopes"][0]["list"], 0);
  EXPECT_EQ(answer["scopes"][2]["list"], 1);
  EXPECT_EQ(answer["scopes"][2]["index"], 2);
  EXPECT_EQ(answer["scopes"][3]["path"], "DRAW #4: sky");  // a parent that is itself is none
  call.rows.name = "pOsT";
  call.rows.limit = 1;
  answer = AnswerOf(call, kReport);
  EXPECT_EQ(answer["matching"], 2);
  EXPECT_EQ(answer["next_offset"], 1);
  EXPECT_EQ(answer["scopes"][0]["path"], "Post");
  call.rows.offset = 1;
  answer = AnswerOf(call, kReport);
  EXPECT_EQ(answer["scopes"][0]["path"], "Post > DISPATCH #3");
  EXPECT_TRUE(answer["next_offset"].is_null());
  call = CallOf(ToolName::kWork, "scopes");
  call.rows.state = "completed";
  EXPECT_EQ(AnswerOf(call, kReport)["scopes"][0]["name"], "Shadow");
  call.rows.state = "";
  call.rows.list = 1;
  EXPECT_EQ(AnswerOf(call, kReport)["matching"], 3);
  EXPECT_EQ(AnswerOf(CallOf(ToolName::kWork, "executions"), kReport)["lists"][1]["frame"], 7);
  call = CallOf(ToolName::kWork, "losses");
  call.rows.name = "calls";
  EXPECT_EQ(AnswerOf(call, kReport)["losses"].dump(), R"([{"index":1,"text":"no calls"}])");
}

// Lists with scopes 0-2, 3-4 and 5-7, of which the first was executed again, and one that recorded nothing.
TEST(ToolAnswer, ExecutionsOfOneListShareItsScopes) {
  const std::string report = R"({"format":"cairn-report","executions":[
    {"name":"A","first_scope":0,"scope_count":3},{"name":"B","first_scope":3,"scope_count":2},
    {"name":"C","first_scope":5,"scope_count":3},{"name":"A","first_scope":0,"scope_count":3},
    {"name":"empty","first_scope":8,"scope_count":0}],
    "scopes":[{},{},{},{},{},{},{},{},{}]})";
  const auto lists_of = [&report](std::optional<uint64_t> list) {
    ToolCall call = CallOf(ToolName::kWork, "scopes");
    call.rows.list = list;
    std::vector<std::string> lists;
    for (const Json& scope : AnswerOf(call, report)["scopes"]) {
      lists.push_back(scope["index"].dump() + ":" + scope["list"].dump());
    }
    return lists;
  };
  EXPECT_THAT(lists_of({}),
              ElementsAre("0:0", "1:0", "2:0", "3:1", "4:1", "5:2", "6:2", "7:2", "8:null"));
  EXPECT_THAT(lists_of(2), ElementsAre("5:2", "6:2", "7:2"));
  EXPECT_THAT(lists_of(3), ElementsAre("0:3", "1:3", "2:3"));
  EXPECT_THAT(lists_of(4), IsEmpty());
  EXPECT_THAT(lists_of(9), IsEmpty());
}

// To join all of them takes hours, and tens of gigabytes.
TEST(ToolAnswer, OnlySuspectsOfThePageAreJoined) {
  const auto repeated = [](const std::string& text, int count) {
    std::string all = text;
    for (int i = 1; i < count; ++i) all += "," + text;
    return "[" + all + "]";
  };
  const std::string report = R"({"verdict":{"suspects":)" + repeated(R"({"scope":0})", 200'000) +
                             R"(},"scopes":[{"type":"DRAW","ordinal":4,"pipeline":0}],)" +
                             R"("pipelines":[{"name":"Sky","x":)" + repeated("[7]", 100'000) +
                             "}]}";
  ToolCall call = CallOf(ToolName::kSuspects, "suspects");
  call.rows.offset = 199'999;
  const Json answer = AnswerOf(call, report);
  EXPECT_EQ(answer["matching"], 200'000);
  EXPECT_TRUE(answer["next_offset"].is_null());
  ASSERT_EQ(answer["suspects"].size(), 1u);
  EXPECT_EQ(answer["suspects"][0]["path"], "DRAW #4");
  EXPECT_EQ(AnswerOf(CallOf(ToolName::kVerdict, "verdict"), report)["suspect_count"], 200'000);
}

TEST(ToolAnswer, MemoryFindsWhatLiesAtAnAddress) {
  ToolCall call = CallOf(ToolName::kMemory, "objects");
  EXPECT_TRUE(AnswerOf(call, kReport).contains("faults"));
  for (const auto& [address, name] : {std::pair{"0x200f", "High"}, {"1000", "Low"}}) {
    call.rows.address = address;
    const Json answer = AnswerOf(call, kReport);
    EXPECT_EQ(answer["matching"], 1) << address;
    EXPECT_EQ(answer["objects"][0]["name"], name);
    EXPECT_FALSE(answer.contains("faults"));
  }
  for (const char* const address : {"0x2010", "0x0", "zz", "-1", "0x10000000000001000"}) {
    call.rows.address = address;
    EXPECT_EQ(AnswerOf(call, kReport)["matching"], 0) << address;
  }
}

TEST(ToolAnswer, OpenSaysWhatCanBeAsked) {
  const ToolCall call = CallOf(ToolName::kOpen, "");
  EXPECT_EQ(AnswerOf(call, R"({"chunks":[1],"snapshot":{}})").dump(),
            R"({"snapshot":{},"tools":["verdict","suspects","work","memory"]})");
  const Json trace = AnswerOf(call, R"({"trace":{}})", "cairn info: warning: it is cut\nmore\n");
  EXPECT_EQ(trace["tools"].dump(), R"(["calls","state","diff"])");
  EXPECT_EQ(trace["tools_with_allow_run"].dump(), R"(["image","bisect"])");
  EXPECT_EQ(trace["warnings"].dump(), R"(["it is cut"])");
}

TEST(ToolAnswer, CallsGoOnWhereTheyEnd) {
  ToolCall call = CallOf(ToolName::kCalls, "calls");
  call.rows.limit = 2;
  const std::string two = "{\"number\":3}\n{\"number\":6}\n";
  EXPECT_EQ(AnswerOf(call, two).dump(),
            R"({"calls":[{"number":3},{"number":6}],"next_from":null})");
  EXPECT_EQ(AnswerOf(call, two + "{\"number\":9}\n")["next_from"], 9);
  EXPECT_EQ(AnswerOf(call, "").dump(), R"({"calls":[],"next_from":null})");
  EXPECT_TRUE(MakeToolAnswer(call, {1, "", "cairn calls: no such frame"}).is_error);
  // A verb that found nothing has answered, whatever it warns of.
  EXPECT_EQ(AnswerOf(call, "", "cairn calls: warning: 1 record could not be read\n").dump(),
            R"({"calls":[],"next_from":null,"warnings":["1 record could not be read"]})");
  // Long ones come one by one.
  const auto longer = [](int number) {
    return fmt::format("{{\"number\":{},\"many\":[{}0]}}\n", number, std::string(5 << 20, ' '));
  };
  Json answer = AnswerOf(call, longer(3) + longer(6) + "{\"number\":9}\n");
  ASSERT_EQ(answer["calls"].size(), 1u);
  EXPECT_EQ(answer["calls"][0]["number"], 3);
  EXPECT_EQ(answer["next_from"], 4);
  answer = AnswerOf(call, "{\"number\":2}\n" + longer(3));
  EXPECT_EQ(answer["calls"].size(), 1u);
  EXPECT_EQ(answer["next_from"], 3);
}

// With the most neighbours on each side the answer would be full before it comes to the call.
TEST(ToolAnswer, CallsAroundACallHaveThatCall) {
  std::string output;
  for (int i = 1000; i <= 2000; ++i) {
    output += fmt::format("{{\"number\":{},\"method\":\"{}\"}}\n", i, std::string(200, 'm'));
  }
  ToolCall call = CallOf(ToolName::kCalls, "calls");
  call.around = 1500;
  call.rows.limit = 1001;
  Json answer = AnswerOf(call, output);
  const uint64_t first = answer["calls"][0]["number"].get<uint64_t>();
  const uint64_t count = answer["calls"].size();
  EXPECT_GT(count, 100u);
  EXPECT_LE(first + count / 2, 1501u);
  EXPECT_GE(first + count / 2, 1499u);
  EXPECT_EQ(answer["calls"][count - 1]["number"], first + count - 1);
  EXPECT_EQ(answer["next_from"], first + count);
  EXPECT_FALSE(answer.contains("truncated"));
  call.rows.limit = 3;
  answer = AnswerOf(call, output);
  ASSERT_EQ(answer["calls"].size(), 3u);
  EXPECT_EQ(answer["calls"][0]["number"], 1499);
  EXPECT_EQ(answer["next_from"], 1502);
  // The first call of a trace, and one longer than an answer.
  call.around = 1000;
  EXPECT_EQ(AnswerOf(call, output)["calls"][0]["number"], 1000);
  call.around = 7;
  answer = AnswerOf(call, "{\"number\":6}\n{\"number\":7,\"many\":[" + std::string(100'000, ' ') +
                              "0]}\n{\"number\":8}\n");
  EXPECT_EQ(answer["calls"].dump(), R"([{"many":[0],"number":7}])");
  EXPECT_EQ(answer["next_from"], 8);
  EXPECT_EQ(AnswerOf(call, "").dump(), R"({"calls":[],"next_from":null})");
}

TEST(ToolAnswer, IsBoundedInBytesTextsAndRows) {
  std::string output = R"({"groups":[)";
  for (int i = 0; i < 400; ++i) {
    output += fmt::format("{}{{\"text\":\"{}\"}}", i == 0 ? "" : ",", std::string(1000, 'x'));
  }
  output += R"(],"long":")" + std::string(100'000, 'y') + R"(","many":[)";
  for (int i = 0; i < 100'000; ++i) output += fmt::format("{}{}", i == 0 ? "" : ",", i);
  output += "]}";
  ToolCall call = CallOf(ToolName::kTriage, "groups");
  call.rows.limit = 500;
  const std::string text = MakeToolAnswer(call, {0, output, ""}).json;
  EXPECT_LT(text.size(), kMostAnswerBytes + 4096);
  const Json answer = Json::Parse(text);
  const uint64_t rows = answer["groups"].size();
  EXPECT_GT(rows, 20u);
  EXPECT_EQ(answer["matching"], 400);
  EXPECT_EQ(answer["next_offset"], rows);
  EXPECT_EQ(answer["long"].get<std::string>().size(), kMostAnswerTextBytes + 3);
  EXPECT_THAT(answer["truncated"].get<std::string>(), HasSubstr(" values and 1 long text are cut"));
}

TEST(ToolAnswer, KeepsNoTreeOfALongDocument) {
  const auto repeated = [](const std::string& text, int count) {
    std::string all = text;
    for (int i = 1; i < count; ++i) all += "," + text;
    return "[" + all + "]";
  };
  // Rows that pass by cost nothing of what is kept; what is kept has an end.
  const std::string rows = repeated(R"({"state":"completed","x":[1,2,3,{}]})", 300'000);
  ToolCall call = CallOf(ToolName::kWork, "scopes");
  call.rows.offset = 299'998;
  Json answer = AnswerOf(call, R"({"executions":[{"first_scope":0}],"scopes":)" + rows + "}");
  EXPECT_EQ(answer["matching"], 300'000);
  ASSERT_EQ(answer["scopes"].size(), 2u);
  EXPECT_EQ(answer["scopes"][1]["index"], 299'999);
  EXPECT_EQ(answer["scopes"][1]["x"].dump(), "[1,2,3,{}]");
  EXPECT_FALSE(answer.contains("truncated"));
  answer = AnswerOf(CallOf(ToolName::kState, ""),
                    "{\"a\":" + repeated("[[],{}]", 400'000) + ",\"b\":7}");
  EXPECT_FALSE(answer.contains("b"));
  EXPECT_THAT(answer["truncated"].get<std::string>(),
              HasSubstr(" values and 0 long texts are cut"));
}

TEST(ToolAnswer, OutputWithoutAnObjectIsAnError) {
  const ToolCall call = CallOf(ToolName::kState, "");
  for (const std::string output : {"{", "[]", "7", "{}{}", "{\"a\":\"\xff\"}"}) {
    const ToolAnswer answer = MakeToolAnswer(call, {0, output, ""});
    EXPECT_TRUE(answer.is_error) << output;
    EXPECT_EQ(answer.json, "cairn report printed no JSON object; please report this as a defect");
  }
  EXPECT_TRUE(MakeToolAnswer(call, {0, "{\"a\":" + std::string(100'000, '['), ""}).is_error);
  EXPECT_EQ(MakeToolAnswer(call, {3, "", ""}).json,
            "cairn report printed nothing and ended with 3");
  EXPECT_TRUE(MakeToolAnswer(call, {0, "", ""}).is_error);
  EXPECT_EQ(MakeToolAnswer(call, {1, "", "cairn state: '\x1b[2J'\n"}).json,
            "cairn state: '\\x1b[2J'");
}

TEST(ToolAnswer, AVerbThatFailsAfterItPrintedIsAnAnswerWithItsError) {
  const ToolCall call = CallOf(ToolName::kTriage, "groups");
  const std::string errors =
      "cairn triage: 3 of 5 files\rcairn triage: warning: a.cairn is cut\n"
      "cairn triage: interrupted after 3 of 5 files\ncairn triage: 4 of 5 files\r";
  const Json answer = AnswerOf(call, R"({"groups":[{"count":2}]})", errors, 1);
  EXPECT_EQ(answer["groups"][0]["count"], 2);
  EXPECT_EQ(answer["warnings"].dump(),
            R"(["a.cairn is cut","cairn triage: interrupted after 3 of 5 files"])");
  EXPECT_EQ(AnswerOf(call, R"({"groups":[]})", errors)["warnings"].dump(), R"(["a.cairn is cut"])");
  // Some verbs end with 1 for what they found.
  EXPECT_FALSE(AnswerOf(call, R"({"groups":[]})", "", 1).contains("warnings"));
}

}  // namespace
}  // namespace cairn
