// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/json_rpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/testing/json.h"
#include "reader/mcp/line_splitter.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = RpcMessage::Kind;

RpcMessage OnlyMessage(const std::string& line) {
  const RpcLine read = ReadRpcLine(line);
  EXPECT_EQ(read.error_code, 0) << read.problem;
  EXPECT_THAT(read.messages, SizeIs(1));
  return read.messages.empty() ? RpcMessage() : read.messages.front();
}

TEST(JsonRpc, ReadsARequestANotificationAndAnAnswer) {
  const RpcMessage request =
      OnlyMessage(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}})");
  EXPECT_EQ(request.kind, Kind::kRequest);
  EXPECT_EQ(request.id, "7");
  EXPECT_EQ(request.method, "tools/call");
  EXPECT_EQ(request.params, R"({"name":"open"})");
  EXPECT_EQ(OnlyMessage(R"({"jsonrpc":"2.0","id":"a\u001b\"","method":"ping"})").id,
            "\"a\\u001b\\\"\"");
  const RpcMessage told = OnlyMessage(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(told.kind, Kind::kNotification);
  EXPECT_EQ(told.params, "{}");
  EXPECT_EQ(OnlyMessage(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Kind::kResponse);
}

TEST(JsonRpc, RefusesMalformedMessages) {
  const struct {
    const char* line;
    const char* error;
    const char* id;
  } kWrong[] = {
      {"7", "a message is an object", "null"},
      {R"({"id":1,"method":"ping"})", "\"jsonrpc\" has to be \"2.0\"", "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
       "\"id\" has to be a whole number or a text of at most 256 bytes", "null"},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
       "\"id\" has to be a whole number or a text of at most 256 bytes", "null"},
      {R"({"jsonrpc":"2.0","id":1})", "\"method\" is missing", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":{}})", "\"method\" has to be a text", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", "\"params\" has to be an object",
       "1"},
  };
  for (const auto& wrong : kWrong) {
    const RpcMessage message = OnlyMessage(wrong.line);
    EXPECT_EQ(message.kind, Kind::kInvalid) << wrong.line;
    EXPECT_EQ(message.error, wrong.error) << wrong.line;
    EXPECT_EQ(message.id, wrong.id) << wrong.line;
  }
  const std::string long_id(kMostRpcIdBytes + 1, 'i');
  EXPECT_EQ(OnlyMessage(R"({"jsonrpc":"2.0","id":")" + long_id + R"(","method":"ping"})").kind,
            Kind::kInvalid);
}

TEST(JsonRpc, LinesHaveABoundInBytesDepthAndMessages) {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  EXPECT_EQ(ReadRpcLine(ping + std::string(kMostRpcLineBytes - ping.size(), ' ')).error_code, 0);
  const RpcLine longer = ReadRpcLine(ping + std::string(kMostRpcLineBytes - ping.size() + 1, ' '));
  EXPECT_EQ(longer.error_code, kRpcInvalidRequest);
  EXPECT_EQ(longer.problem, "a line has at most 1048576 bytes");

  const auto nested = [](int depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}}";
  };
  EXPECT_EQ(ReadRpcLine(nested(20)).error_code, 0);
  EXPECT_EQ(ReadRpcLine(nested(40)).error_code, kRpcParseError);
  EXPECT_EQ(ReadRpcLine(nested(400'000)).error_code, kRpcParseError);
  EXPECT_EQ(ReadRpcLine(std::string(kMostRpcLineBytes, '[')).error_code, kRpcParseError);

  const auto batch = [&ping](size_t count) {
    std::string line = "[" + ping;
    for (size_t i = 1; i < count; ++i) line += "," + ping;
    return line + "]";
  };
  EXPECT_THAT(ReadRpcLine(batch(kMostRpcBatch)).messages, SizeIs(kMostRpcBatch));
  EXPECT_EQ(ReadRpcLine(batch(kMostRpcBatch + 1)).error_code, kRpcInvalidRequest);
  EXPECT_EQ(ReadRpcLine("[]").error_code, kRpcInvalidRequest);
}

TEST(JsonRpc, BytesThatAreNoJsonAreAParseError) {
  for (const std::string& line :
       {std::string("{"), std::string("{}{}"), std::string("\0", 1), std::string("\xff\xfe"),
        std::string("{\"a\":\"\xc3\"}"), std::string("{\"a\":\"\0\"}", 9), std::string("nul")}) {
    EXPECT_EQ(ReadRpcLine(line).error_code, kRpcParseError) << line;
  }
}

TEST(JsonRpc, AnswersAreOneLineWhateverTheTextsSay) {
  EXPECT_EQ(RpcResult("7", "{}"), R"({"jsonrpc":"2.0","id":7,"result":{}})");
  const std::string failure = RpcFailure("\"a\"", -32601, "no '\n\x1b[2J\xff\u202e'");
  EXPECT_EQ(failure.find_first_of("\n\x1b\xff"), std::string::npos);
  const Json json = Json::Parse(failure);
  EXPECT_EQ(json["id"], "a");
  EXPECT_EQ(json["error"]["code"], -32601);
  EXPECT_THAT(json["error"]["message"].get<std::string>(), HasSubstr("\x1b[2J"));
}

TEST(LineSplitter, GivesLinesHoweverTheyCome) {
  std::vector<std::string> lines;
  LineSplitter splitter([&lines](std::string_view line) { lines.emplace_back(line); });
  for (const char* const part : {"one\r\n\n", "tw", "o\nthree\nfo", "ur"}) splitter.Add(part);
  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
  splitter.Finish();
  splitter.Finish();
  EXPECT_THAT(lines, ElementsAre("one", "two", "three", "four"));
}

TEST(LineSplitter, KeepsNoMoreOfALineThanItsReaderTakes) {
  std::vector<size_t> sizes;
  LineSplitter splitter([&sizes](std::string_view line) { sizes.push_back(line.size()); });
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) splitter.Add(part);
  splitter.Add("\nnext\n");
  EXPECT_THAT(sizes, ElementsAre(kMostRpcLineBytes + 2, 4u));
}

TEST(LineSplitter, LinesTooLongStayTooLongWhereverTheyAreCut) {
  const std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const auto error_of = [&ping](size_t bytes, const std::string& rest) {
    int error = 1;
    LineSplitter splitter(
        [&error](std::string_view line) { error = ReadRpcLine(line).error_code; });
    splitter.Add(ping + std::string(bytes - ping.size(), ' ') + rest + "\n");
    return error;
  };
  EXPECT_EQ(error_of(kMostRpcLineBytes, ""), 0);
  EXPECT_EQ(error_of(kMostRpcLineBytes, "\r"), 0);
  for (const char* const rest : {"\rmore", "\r\r", "\r\rmore", " \r", " \rmore"}) {
    EXPECT_EQ(error_of(kMostRpcLineBytes, rest), kRpcInvalidRequest) << rest;
  }
  EXPECT_EQ(error_of(kMostRpcLineBytes - 1, "\r\rmore"), kRpcInvalidRequest);
}

}  // namespace
}  // namespace cairn
