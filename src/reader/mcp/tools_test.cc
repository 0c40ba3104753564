// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/tools.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "os/file.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Absolute(const std::string& path) {
  return TextOfPath(std::filesystem::absolute(FilePath(path)));
}

Result<ToolCall> Call(const std::string& name, const std::string& arguments,
                      bool allow_run = true) {
  return ReadToolCall(fmt::format(R"({{"name":"{}","arguments":{}}})", name, arguments),
                      {.allow_run = allow_run, .folder = "/folder"});
}

std::vector<std::string> Words(const std::string& name, const std::string& arguments) {
  const Result<ToolCall> call = Call(name, arguments);
  EXPECT_TRUE(call.ok()) << call.status().message();
  return call.ok() ? call->words : std::vector<std::string>();
}

std::string Refusal(const std::string& name, const std::string& arguments, bool allow_run = true) {
  const Result<ToolCall> call = Call(name, arguments, allow_run);
  EXPECT_EQ(call.status().code(), StatusCode::kInvalidArgument);
  return call.status().message();
}

std::vector<std::string> Names(bool allow_run) {
  std::vector<std::string> names;
  for (const Json& tool : Json::Parse(ToolsJson(allow_run))) {
    names.push_back(tool["name"].get<std::string>());
  }
  return names;
}

TEST(Tools, ToolsThatPlayAreListedIfAllowed) {
  EXPECT_THAT(Names(false), ElementsAre("open", "verdict", "suspects", "work", "calls", "state",
                                        "memory", "diff", "triage"));
  EXPECT_THAT(Names(true), ElementsAre("open", "verdict", "suspects", "work", "calls", "state",
                                       "memory", "diff", "triage", "image", "bisect"));
  EXPECT_EQ(Refusal("bisect", R"({"file":"a"})", false),
            "bisect plays a trace on this machine's GPU; cairn mcp --allow-run allows that");
}

TEST(Tools, SchemasNameEachParameter) {
  for (const Json& tool : Json::Parse(ToolsJson(true))) {
    const Json schema = tool["inputSchema"];
    EXPECT_EQ(schema["type"], "object");
    EXPECT_EQ(schema["additionalProperties"], false);
    for (const Json& name : schema["required"]) {
      EXPECT_TRUE(schema["properties"].contains(name.get<std::string>()));
    }
    for (const auto& [name, parameter] : schema["properties"].items()) {
      EXPECT_FALSE(parameter["description"].get<std::string>().empty()) << name;
    }
    EXPECT_EQ(tool["annotations"]["readOnlyHint"].get<bool>(),
              tool["name"] != "image" && tool["name"] != "bisect");
  }
}

TEST(Tools, MakeCommandLinesOfVerbs) {
  const std::string game = Absolute("game.cairn");
  EXPECT_THAT(Words("open", R"({"file":"game.cairn"})"), ElementsAre("info", "--json", game));
  EXPECT_THAT(Words("verdict", R"({"file":"game.cairn"})"), ElementsAre("report", "--json", game));
  EXPECT_THAT(Words("calls", R"({"file":"game.cairn","function":"Draw","frames":7,"limit":9})"),
              ElementsAre("calls", "--json", "--frames=7", "--function=Draw", "--limit=10", game));
  EXPECT_THAT(Words("calls", R"({"file":"game.cairn","around":"18,233","context":null})"),
              ElementsAre("calls", "--json", "--around=18233", game));
  EXPECT_THAT(Words("state", R"({"call":18233,"file":"game.cairn"})"),
              ElementsAre("state", "--json", "--call=18233", game));
  EXPECT_THAT(Words("diff", R"({"first":"game.cairn","second":"/b","offset":5,"limit":10})"),
              ElementsAre("diff", "--json", "--limit=16", game, Absolute("/b")));
  EXPECT_THAT(Words("image", R"({"file":"game.cairn","objects":["Depth",5],"stretch":true})"),
              ElementsAre("images", "--json", "--object=Depth", "--object=5", "--stretch",
                          "--output=/folder/images", game));
  EXPECT_THAT(Words("bisect", R"({"file":"game.cairn","runs":3})"),
              ElementsAre("bisect", "--json", "--progress", "--no-output", "--no-why", "--runs=3",
                          HasSubstr("--journal=/folder/journal-"), game));
}

TEST(Tools, NoTextBecomesAnOption) {
  EXPECT_THAT(Words("open", R"({"file":"--help"})"),
              ElementsAre("info", "--json", Absolute("--help")));
  EXPECT_THAT(Words("calls", R"({"file":"a","object":"--whole"})"),
              ElementsAre("calls", "--json", "--object=--whole", "--limit=51", Absolute("a")));
  EXPECT_THAT(Words("triage", R"({"paths":["-o","--jsonl"]})"),
              ElementsAre("triage", "--json", Absolute("-o"), Absolute("--jsonl")));
}

TEST(Tools, QueriesOfRows) {
  const Result<ToolCall> work =
      Call("work",
           R"({"file":"a","of":"lists","state":"in flight","name":"Main","offset":3,"limit":500})");
  ASSERT_TRUE(work.ok()) << work.status().message();
  EXPECT_EQ(work->rows.table, "executions");
  EXPECT_EQ(work->rows.state, "in flight");
  EXPECT_EQ(work->rows.name, "Main");
  EXPECT_EQ(work->rows.offset, 3u);
  EXPECT_EQ(work->rows.limit, 500u);
  EXPECT_FALSE(work->plays);
  EXPECT_TRUE(Call("image", R"({"file":"a"})")->plays);
}

// A number is taken for a text only where any text is.
TEST(Tools, NumbersAreNoneOfTheWordsOfAParameter) {
  EXPECT_EQ(Refusal("work", R"({"file":"a","of":7})"), "work: 'of' must be a string");
  EXPECT_EQ(Refusal("work", R"({"file":"a","state":5})"), "work: 'state' must be a string");
  EXPECT_EQ(Refusal("triage", R"({"paths":["a",5]})"),
            "triage: 'paths' must be an array of strings");
  EXPECT_THAT(Words("calls", R"({"file":"a","object":5})"),
              ElementsAre("calls", "--json", "--object=5", "--limit=51", Absolute("a")));
}

// A filter for which a table has no column would pass no row, as if nothing had run.
TEST(Tools, FiltersThatATableCannotHaveAreRefused) {
  for (const char* const table : {"submissions", "queues", "pipelines", "threads", "losses"}) {
    EXPECT_EQ(
        Refusal("work", fmt::format(R"({{"file":"a","of":"{}","state":"in flight"}})", table)),
        "work: 'state' is only for scopes and lists");
    EXPECT_EQ(Refusal("work", fmt::format(R"({{"file":"a","list":0,"of":"{}"}})", table)),
              "work: 'list' is only for scopes");
  }
  EXPECT_EQ(Refusal("work", R"({"file":"a","list":0,"of":"lists"})"),
            "work: 'list' is only for scopes");
  EXPECT_EQ(Refusal("work", R"({"file":"a","name":"Main","of":"submissions"})"),
            "work: 'name' is not for submissions, which have none");
  EXPECT_EQ(Call("work", R"({"file":"a","list":3,"state":"in flight"})")->rows.list, 3u);
  EXPECT_EQ(Call("memory", R"({"file":"a","state":"alive"})")->rows.state, "alive");
}

TEST(Tools, TheLimitOfCallsAroundOneFollowsTheContext) {
  EXPECT_EQ(Call("calls", R"({"file":"a","around":9})")->rows.limit, 21u);
  const Result<ToolCall> many = Call("calls", R"({"file":"a","around":900,"context":500})");
  EXPECT_EQ(many->rows.limit, 1001u);
  EXPECT_EQ(many->around, 900u);
  EXPECT_EQ(Call("calls", R"({"file":"a","around":9,"limit":5})")->rows.limit, 5u);
  EXPECT_EQ(Call("calls", R"({"file":"a","limit":null})")->rows.limit, 50u);
  EXPECT_EQ(Refusal("calls", R"({"file":"a","around":9,"from":3})"),
            "calls: 'from' and 'around' cannot be given together");
}

TEST(Tools, RefusalsSayWhatIsWrong) {
  EXPECT_EQ(Refusal("nonsense", "{}"), "there is no tool 'nonsense'; tools/list has all of them");
  EXPECT_EQ(Refusal("open", "{}"), "open: 'file' is missing");
  EXPECT_EQ(Refusal("open", "[]"), "'arguments' must be an object");
  EXPECT_EQ(Refusal("open", R"({"file":7.5})"), "open: 'file' must be a string");
  EXPECT_EQ(Refusal("open", R"({"file":7})"), "open: 'file' must be a string");
  EXPECT_EQ(Refusal("open", R"({"file":""})"), "open: 'file' is empty");
  EXPECT_EQ(Refusal("open", R"({"file":"a\u0000b"})"),
            "open: 'file' has at most 4096 bytes, none of which is 0");
  EXPECT_EQ(Refusal("open", R"({"file":")" + std::string(4097, 'a') + "\"}"),
            "open: 'file' has at most 4096 bytes, none of which is 0");
  EXPECT_EQ(Refusal("open", R"({"file":"a","file2":"b"})"),
            "open: there is no argument 'file2'; it has: file");
  EXPECT_EQ(Refusal("state", R"({"file":"a","call":-1})"),
            "state: 'call' must be an integer from 0");
  EXPECT_EQ(Refusal("work", R"({"file":"a","state":"running"})"),
            "work: 'state' is one of: in flight, completed, not started, unknown");
  EXPECT_EQ(Refusal("memory", R"({"file":"a","state":"completed"})"),
            "memory: 'state' is one of: alive, destroyed");
  EXPECT_EQ(Refusal("calls", R"({"file":"a","limit":501})"), "calls: 'limit' is from 1 to 500");
  EXPECT_EQ(Refusal("calls", R"({"file":"a","limit":0})"), "calls: 'limit' is from 1 to 500");
  EXPECT_EQ(Refusal("image", R"({"file":"a","stretch":"yes"})"),
            "image: 'stretch' must be true or false");
  EXPECT_EQ(Refusal("triage", R"({"paths":[]})"),
            "triage: 'paths' must be an array of 1 to 64 strings");
  EXPECT_EQ(ReadToolCall("{}", {}).status().message(), "'name', of the tool, is missing");
}

}  // namespace
}  // namespace cairn
