// SPDX-License-Identifier: Apache-2.0
//
// cairn mcp as a process: what it says on which stream, what ends it, and what a client can cost it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "harness.h"
#include "played.h"

namespace cairn::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";
constexpr char kInitialize[] =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})"
    "\n";

std::string Call(int id, const std::string& tool, const std::string& arguments) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}","arguments":{}}}}})"
      "\n",
      id, tool, arguments);
}

class McpVerbTest : public ::testing::Test {
 protected:
  Command::Options Options() const {
    std::vector<std::string> environment = LavapipeEnvironment();
    environment.push_back("TMPDIR=" + folder_.path().string());
    environment.push_back("CAIRN=" + Program("cairn"));
    return {.folder = folder_.path(), .environment = environment, .timeout_s = 120};
  }

  // The answers by their ids.
  std::map<int, Json> Answers(const std::string& input, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {Program("cairn"), "mcp"});
    Command::Options how = Options();
    how.input = kInitialize + input;
    const CommandResult result = RunCommand(options, how);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_EQ(result.errors, "");
    std::map<int, Json> answers;
    for (const std::string& line : Lines(result.output)) {
      const Json answer = Json::Parse(line);
      EXPECT_EQ(answer["jsonrpc"], "2.0") << line;
      answers[answer["id"].is_null() ? -1 : answer["id"].get<int>()] = answer;
    }
    return answers;
  }

  CommandResult Shell(const std::string& words) {
    return RunCommand({"bash", "-o", "pipefail", "-c", words}, Options());
  }

  TemporaryFolder folder_;
};

TEST_F(McpVerbTest, AnswersWhatWasAskedBeforeItsInputEnded) {
  const std::string file = kGolden + "played/fault.cairn";
  const std::map<int, Json> answers =
      Answers(Call(1, "open", "{\"file\":\"" + file + "\"}") +
              Call(2, "calls", "{\"file\":\"" + file + R"(","around":86,"context":1})") +
              Call(3, "open", R"({"file":"nowhere.cairn"})") +
              Call(4, "calls", "{\"file\":\"" + file + R"(","from":80,"limit":2})"));
  ASSERT_EQ(answers.size(), 5u);
  const Json opened = answers.at(1)["result"]["structuredContent"];
  EXPECT_EQ(opened["snapshot"]["incidents"][0], "died with signal 11 (SIGSEGV)");
  EXPECT_EQ(opened["tools"].dump(),
            R"(["verdict","suspects","work","memory","calls","state","diff"])");
  const Json calls = answers.at(2)["result"]["structuredContent"]["calls"];
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[1]["method"], "ID3D12GraphicsCommandList::Dispatch");
  EXPECT_EQ(calls[1]["state"], "in flight");
  EXPECT_EQ(answers.at(3)["result"]["isError"], true);
  EXPECT_THAT(answers.at(3)["result"]["content"][0]["text"].get<std::string>(),
              StartsWith("cairn info: cannot open " + folder_ / "nowhere.cairn" + ": "));
  const Json some = answers.at(4)["result"]["structuredContent"];
  ASSERT_EQ(some["calls"].size(), 2u);
  EXPECT_EQ(some["calls"][0]["number"], 80);
  EXPECT_EQ(some["calls"][1]["number"], 81);
  EXPECT_EQ(some["next_from"], 82);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(McpVerbTest, ALineOfAGibibyteCostsAMebibyte) {
  // Zeros, and then something to answer; half of the line would not fit into this memory.
  const CommandResult result =
      Shell("(printf '%s' '" + std::string(kInitialize) +
            "'; head -c 1073741824 /dev/zero; printf '\\n%s\\n' "
            R"('{"jsonrpc":"2.0","id":2,"method":"ping"}') | (ulimit -v 524288; "$CAIRN" mcp))");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const std::vector<std::string> lines = Lines(result.output);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1],
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a line has at most )"
            R"(1048576 bytes"}})");
  EXPECT_EQ(lines[2], R"({"jsonrpc":"2.0","id":2,"result":{}})");
}

// A client that stays: the server ends when it is asked to, and leaves nothing.
TEST_F(McpVerbTest, EndsWhenItIsAskedToWhileItsInputIsOpen) {
  for (const char* const signal : {"TERM", "INT"}) {
    const CommandResult result = Shell(
        fmt::format("set -m; mkfifo in out; \"$CAIRN\" mcp <in >out & exec 3>in 4<out; "
                    "printf '%s' '{}' >&3; read -r line <&4; echo \"$line\"; kill -{} $!; wait $!; "
                    "echo $?; rm in out",
                    kInitialize, signal));
    EXPECT_FALSE(result.timed_out) << signal;
    const std::vector<std::string> lines = Lines(result.output);
    ASSERT_GE(lines.size(), 2u) << result.Summary();
    EXPECT_THAT(lines.front(), HasSubstr("\"protocolVersion\":\"2025-06-18\""));
    EXPECT_EQ(lines.back(), "0") << signal;
    EXPECT_THAT(result.left_behind, IsEmpty());
    EXPECT_THAT(folder_.Contents(), IsEmpty());
  }
}

TEST_F(McpVerbTest, KeepsNoFileOpenBetweenCalls) {
  const std::string file = folder_ / "game.cairn";
  std::filesystem::copy_file(kGolden + "played/fault.cairn", file);
  const CommandResult result =
      Shell("mkfifo in out; \"$CAIRN\" mcp <in >out & exec 3>in 4<out; printf '%s' '" +
            (kInitialize + Call(1, "open", "{\"file\":\"" + file + "\"}")) +
            "' >&3; read -r line <&4; read -r line <&4; echo \"$line\"; readlink /proc/$!/fd/*; "
            "exec 3>&-; wait $!; rm in out game.cairn");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const std::vector<std::string> lines = Lines(result.output);
  ASSERT_GE(lines.size(), 4u) << result.Summary();
  EXPECT_EQ(Json::Parse(lines.front())["result"]["isError"], false);
  EXPECT_THAT(std::vector(lines.begin() + 1, lines.end()),
              AllOf(Contains(EndsWith("/in")), Not(Contains(EndsWith(".cairn")))));
}

TEST_F(McpVerbTest, EndsWhenNobodyReadsItsAnswersAnyMore) {
  const CommandResult result =
      Shell("mkfifo in out; \"$CAIRN\" mcp <in >out & exec 3>in 4<out; printf '%s' '" +
            std::string(kInitialize) +
            "' >&3; read -r line <&4; exec 4<&-; printf '%s\\n' "
            R"('{"jsonrpc":"2.0","id":2,"method":"ping"}' >&3; wait $!; echo $?; rm in out)");
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.output, "0\n") << result.Summary();
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(McpVerbTest, EndsWhenItIsAskedToThoughNobodyReads) {
  // More answers than a pipe takes, and one byte of them is read: all that fits was written by then.
  const CommandResult result = Shell(
      "set -m; mkfifo in out; \"$CAIRN\" mcp <in >out & server=$!; exec 3>in 4<out; printf '%s' '" +
      std::string(kInitialize) +
      "' >&3; (yes '"
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"
      "' | head -n 5000 >&3) & writer=$!; head -c 1 <&4; kill -TERM $server; wait $server; echo "
      "$?; "
      "kill $writer; rm in out");
  EXPECT_FALSE(result.timed_out);
  EXPECT_THAT(Lines(result.output), Contains("{0")) << result.Summary();
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(McpVerbTest, PlaysWhereThatIsAllowed) {
  if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  const std::string file = kGolden + "played/scale.cairn";
  const std::string call = Call(1, "image", "{\"file\":\"" + file + R"(","objects":[16]})");
  const Json refused = Answers(call).at(1);
  EXPECT_EQ(refused["error"]["code"], -32602);
  EXPECT_EQ(refused["error"]["message"],
            "image plays a trace on this machine's GPU; cairn mcp --allow-run allows that");
  const CommandResult result = Shell(
      "mkfifo in out; \"$CAIRN\" mcp --allow-run <in >out & exec 3>in 4<out; printf '%s' '" +
      (kInitialize + call) +
      "' >&3; read -r line <&4; read -r line <&4; echo \"$line\"; exec 3>&-; wait $!; rm in out");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const Json answer = Json::Parse(result.output)["result"];
  EXPECT_EQ(answer["isError"], false);
  ASSERT_EQ(answer["content"].size(), 2u);
  EXPECT_EQ(answer["content"][1]["mimeType"], "image/png");
  EXPECT_THAT(answer["content"][1]["data"].get<std::string>(), StartsWith("iVBORw0KGgo"));  // PNG
  const Json images = answer["structuredContent"]["images"];
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0]["name"], "Picture");
  EXPECT_EQ(images[0]["width"], 64);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(McpVerbTest, PlayedCallsEndWithTheServer) {
  if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  const std::string call =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bisect",)"
      R"("_meta":{"progressToken":7},"arguments":{"runs":1000,"file":")" +
      kGolden + "played/fault.cairn\"}}}\n";
  const CommandResult result = Shell(
      "set -m; mkfifo in out; \"$CAIRN\" mcp --allow-run <in >out & exec 3>in 4<out; printf '%s' "
      "'" +
      (kInitialize + call) +
      "' >&3; while read -r line <&4; do case \"$line\" in *' probes'*) break;; esac; done; echo "
      "\"$line\"; kill -TERM $!; wait $!; echo $?; "
      "rm in out");
  const std::vector<std::string> lines = Lines(result.output);
  ASSERT_GE(lines.size(), 2u) << result.Summary();
  const Json progress = Json::Parse(lines.front());
  EXPECT_EQ(progress["method"], "notifications/progress");
  EXPECT_EQ(progress["params"]["progressToken"], 7);
  EXPECT_THAT(progress["params"]["message"].get<std::string>(), HasSubstr(" probes"));
  EXPECT_EQ(lines.back(), "0");
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

}  // namespace
}  // namespace cairn::testing
