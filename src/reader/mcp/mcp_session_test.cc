// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/mcp_session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/testing/json.h"
#include "os/file.h"
#include "reader/mcp/json_rpc.h"
#include "reader/serve/private_folder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::milliseconds kAtOnce(0);
constexpr std::chrono::minutes kLong(5);

std::string Request(const std::string& id, const std::string& method,
                    const std::string& params = "{}") {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method,
                     params);
}

std::string Call(const std::string& id, const std::string& tool = "state",
                 const std::string& arguments = R"({"file":"/a","call":7})",
                 const std::string& more = "") {
  return Request(id, "tools/call",
                 fmt::format(R"({{"name":"{}","arguments":{}{}}})", tool, arguments, more));
}

class McpSessionTest : public ::testing::Test {
 protected:
  void Open(bool allow_run = false) {
    session_ = std::make_unique<McpSession>(
        McpSettings{.version = "1.2.3",
                    .allow_run = allow_run,
                    .folder = folder_.path().string(),
                    .between_progress = between_progress_},
        [this](std::string_view line) { sent_.push_back(Json::Parse(line)); },
        [this](const std::vector<std::string>& words,
               const std::function<bool(const std::string&)>& look) { return run_(words, look); });
  }

  void Initialize(const std::string& version = "2025-06-18", bool allow_run = false) {
    Open(allow_run);
    session_->Receive(
        Request("0", "initialize", fmt::format(R"({{"protocolVersion":"{}"}})", version)));
    session_->Receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    ASSERT_THAT(sent_, SizeIs(1));
  }

  Json TakeOnly() {
    EXPECT_THAT(sent_, SizeIs(1));
    const Json only = sent_.empty() ? Json() : sent_.back();
    sent_.clear();
    return only;
  }

  // An answer to a request that is given at once.
  Json Ask(const std::string& line) {
    session_->Receive(line);
    return TakeOnly();
  }

  const PrivateFolder folder_ = std::move(PrivateFolder::Make()).value();
  std::chrono::milliseconds between_progress_ = kAtOnce;
  std::vector<Json> sent_;
  McpSession::Run run_ = [](const auto&, const auto&) {
    return VerbResult{0, R"({"format":"cairn-state","list":{"text":"Main"}})", ""};
  };
  std::unique_ptr<McpSession> session_;
};

TEST_F(McpSessionTest, AgreesOnAVersion) {
  for (const auto& [wanted, agreed] : {std::pair{"2024-11-05", "2024-11-05"},
                                       {"2025-03-26", "2025-03-26"},
                                       {"2025-06-18", "2025-06-18"},
                                       {"2099-01-01", "2025-06-18"},
                                       {"", "2025-06-18"}}) {
    Initialize(wanted);
    const Json result = TakeOnly()["result"];
    EXPECT_EQ(result["protocolVersion"], agreed);
    EXPECT_EQ(result["serverInfo"]["name"], "cairn");
    EXPECT_EQ(result["serverInfo"]["version"], "1.2.3");
    EXPECT_TRUE(result["capabilities"].contains("tools"));
    EXPECT_THAT(result["instructions"].get<std::string>(), HasSubstr("'open' says"));
  }
}

TEST_F(McpSessionTest, ErrorsHaveTheCodesOfJsonRpc) {
  Open();
  EXPECT_EQ(Ask(Request("1", "ping"))["result"].dump(), "{}");
  EXPECT_EQ(Ask(Request("1", "tools/list"))["error"]["code"], kRpcInvalidRequest);
  EXPECT_EQ(Ask(Request("1", "initialize"))["error"]["code"], kRpcInvalidParams);
  Initialize();
  sent_.clear();
  EXPECT_EQ(Ask(Request("1", "initialize", R"({"protocolVersion":"2025-06-18"})"))["error"]["code"],
            kRpcInvalidRequest);
  const Json unknown = Ask(Request("\"x\"", "resources/list"));
  EXPECT_EQ(unknown["id"], "x");
  EXPECT_EQ(unknown["error"]["code"], kRpcMethodNotFound);
  EXPECT_EQ(unknown["error"]["message"], "there is no method 'resources/list'");
  EXPECT_EQ(Ask(Call("1", "nonsense", "{}"))["error"]["code"], kRpcInvalidParams);
  EXPECT_EQ(Ask(Call("1", "state", "{}"))["error"]["message"], "state: 'file' is missing");
  EXPECT_EQ(Ask("{")["error"]["code"], kRpcParseError);
  EXPECT_TRUE(Ask("{")["id"].is_null());
  EXPECT_EQ(Ask("[]")["error"]["code"], kRpcInvalidRequest);
  EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","id":3})")["error"]["code"], kRpcInvalidRequest);
  // Whoever only tells something gets no answer, nor does an answer to nothing.
  session_->Receive(R"({"jsonrpc":"2.0","method":"notifications/nonsense"})");
  session_->Receive(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(McpSessionTest, AToolAnswersWithWhatItsVerbPrints) {
  Initialize();
  sent_.clear();
  const std::string absolute = TextOfPath(std::filesystem::absolute(FilePath("/a")));
  std::vector<std::string> words;
  run_ = [&words](const auto& asked, const auto&) {
    words = asked;
    return VerbResult{0, R"({"format":"cairn-state","list":{"text":"M\u001b"}})",
                      "cairn state: warning: cut"};
  };
  session_->Receive(Call("5"));
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  EXPECT_THAT(words, ElementsAre("state", "--json", "--call=7", absolute));
  const Json answer = TakeOnly();
  EXPECT_EQ(answer["id"], 5);
  const Json result = answer["result"];
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["structuredContent"]["list"]["text"], "M\x1b");
  EXPECT_EQ(result["structuredContent"]["warnings"][0], "cut");
  // The text is the same JSON, in which names are still escaped.
  const std::string text = result["content"][0]["text"].get<std::string>();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::Parse(text), result["structuredContent"]);
}

TEST_F(McpSessionTest, OlderVersionsGetTheTextAlone) {
  Initialize("2025-03-26");
  sent_.clear();
  session_->Receive(Call("5"));
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  const Json result = TakeOnly()["result"];
  EXPECT_FALSE(result.contains("structuredContent"));
  EXPECT_EQ(Json::Parse(result["content"][0]["text"].get<std::string>())["list"]["text"], "Main");
}

TEST_F(McpSessionTest, AVerbThatFailsOrDiesIsAnAnswerThatSaysSo) {
  Initialize();
  sent_.clear();
  run_ = [](const auto&, const auto&) {
    return VerbResult{1, "", "cairn state: call 7 is none of a command list\n"};
  };
  session_->Receive(Call("1"));
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  Json result = TakeOnly()["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_FALSE(result.contains("structuredContent"));
  EXPECT_EQ(result["content"][0]["text"], "cairn state: call 7 is none of a command list");
  run_ = [](const auto&, const auto&) {
    return Result<VerbResult>(Status(StatusCode::kInternal, "cairn state died: SIGSEGV"));
  };
  session_->Receive(Call("1"));
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  result = TakeOnly()["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["content"][0]["text"], "cairn state died: SIGSEGV");
}

TEST_F(McpSessionTest, BatchesAreAnsweredInOneLineWhereTheVersionHasThem) {
  Initialize("2025-03-26");
  sent_.clear();
  const std::string batch = "[" + Call("1") + "," + Request("2", "ping") +
                            R"(,{"jsonrpc":"2.0","method":"notifications/nonsense"},7,)" +
                            Call("3") + "]";
  session_->Receive(batch);
  EXPECT_THAT(sent_, IsEmpty());
  // One that is cancelled has no answer.
  session_->Receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  const Json answers = TakeOnly();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["id"], 2);
  EXPECT_EQ(answers[1]["error"]["code"], kRpcInvalidRequest);
  EXPECT_EQ(answers[2]["id"], 1);
  // Nothing to answer: nothing is said.
  session_->Receive(R"([{"jsonrpc":"2.0","method":"notifications/nonsense"}])");
  EXPECT_THAT(sent_, IsEmpty());
  Initialize("2025-06-18");
  sent_.clear();
  EXPECT_EQ(Ask(batch)["error"]["message"], "this version of the protocol has no batches");
}

TEST_F(McpSessionTest, ABatchIsAnsweredWhenTheInputEndsBeforeItsCallsPlay) {
  Initialize("2025-03-26", true);
  sent_.clear();
  session_->Receive("[" + Request("1", "ping") + "," + Call("2", "bisect", R"({"file":"/a"})") +
                    "," + Call("3", "image", R"({"file":"/a"})") + "]");
  EXPECT_THAT(sent_, IsEmpty());
  session_->EndOfInput();
  const Json answers = TakeOnly();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["id"], 1);
  EXPECT_EQ(answers[1]["id"], 2);
  EXPECT_EQ(answers[1]["error"]["code"], kRpcServerBusy);
  EXPECT_EQ(answers[2]["error"]["code"], kRpcServerBusy);
  EXPECT_FALSE(session_->AnswerNext(kLong));
}

TEST_F(McpSessionTest, CallsThatWaitHaveABoundAndIdsOfTheirOwn) {
  Initialize();
  sent_.clear();
  for (size_t i = 0; i < kMostWaitingCalls; ++i) session_->Receive(Call(std::to_string(i)));
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_EQ(Ask(Call("3"))["error"]["message"], "a request with this id is under way");
  const Json refused = Ask(Call("99"));
  EXPECT_EQ(refused["error"]["code"], kRpcServerBusy);
  EXPECT_EQ(refused["error"]["message"], "16 calls wait already");
  for (size_t i = 0; i < kMostWaitingCalls; ++i) EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  ASSERT_THAT(sent_, SizeIs(kMostWaitingCalls));
  EXPECT_EQ(sent_.front()["id"], 0);
  EXPECT_EQ(sent_.back()["id"], 15);
}

// A verb that runs until it is no longer wanted.
Result<VerbResult> RunUntilStopped(std::promise<void>* started,
                                   const std::function<bool(const std::string&)>& look) {
  bool is_wanted = look("\rfirst\rcairn bisect: 12 of about 25 probes\r");
  started->set_value();
  while (is_wanted) {
    std::this_thread::yield();
    is_wanted = look("");
  }
  return Status(StatusCode::kIo, "stopped");
}

TEST_F(McpSessionTest, TellsOfProgressAndStopsWhatIsCancelled) {
  Initialize("2025-06-18", true);
  sent_.clear();
  std::promise<void> started;
  run_ = [&started](const auto&, const auto& look) { return RunUntilStopped(&started, look); };
  session_->Receive(
      Call("\"b\"", "bisect", R"({"file":"/a"})", R"(,"_meta":{"progressToken":"t"})"));
  std::thread worker([this] { EXPECT_TRUE(session_->AnswerNext(kLong)); });
  started.get_future().wait();
  session_->Receive(Request("1", "ping"));  // answered meanwhile
  session_->Receive(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}})");
  worker.join();
  std::vector<Json> progress;
  for (const Json& message : sent_) {
    if (message.contains("id")) {
      EXPECT_EQ(message["id"], 1);
    } else {
      progress.push_back(message);
    }
  }
  EXPECT_EQ(sent_.size(), progress.size() + 1);  // no answer to what was cancelled
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress[0]["method"], "notifications/progress");
  EXPECT_EQ(progress[0]["params"]["progressToken"], "t");
  EXPECT_EQ(progress[0]["params"]["message"], "cairn bisect: 12 of about 25 probes");
}

TEST_F(McpSessionTest, ProgressHasAnInterval) {
  between_progress_ = std::chrono::hours(1);
  Initialize("2025-06-18", true);
  sent_.clear();
  run_ = [](const auto&, const auto& look) {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(look("cairn bisect: 12 of about 25 probes\r"));
    return VerbResult{0, "{}", ""};
  };
  session_->Receive(Call("7", "bisect", R"({"file":"/a"})", R"(,"_meta":{"progressToken":"t"})"));
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  EXPECT_EQ(TakeOnly()["id"], 7);
}

TEST_F(McpSessionTest, AfterItsInputEndsReadsAreAnsweredAndPlaysEnd) {
  Initialize("2025-06-18", true);
  sent_.clear();
  session_->Receive(Call("1"));
  session_->Receive(Call("2", "bisect", R"({"file":"/a"})"));
  session_->EndOfInput();
  EXPECT_TRUE(session_->AnswerNext(kLong));
  EXPECT_FALSE(session_->AnswerNext(kLong));
  ASSERT_THAT(sent_, SizeIs(2));
  EXPECT_EQ(sent_[0]["id"], 2);
  EXPECT_EQ(sent_[0]["error"]["code"], kRpcServerBusy);
  EXPECT_EQ(sent_[1]["id"], 1);
  EXPECT_EQ(sent_[1]["result"]["isError"], false);
  sent_.clear();

  Initialize("2025-06-18", true);
  sent_.clear();
  std::promise<void> started;
  run_ = [&started](const auto&, const auto& look) { return RunUntilStopped(&started, look); };
  session_->Receive(Call("2", "bisect", R"({"file":"/a"})"));
  std::thread worker([this] { session_->AnswerNext(kLong); });
  started.get_future().wait();
  session_->EndOfInput();
  worker.join();
  EXPECT_FALSE(session_->AnswerNext(kLong));
}

TEST_F(McpSessionTest, StopEndsWhatRunsAndNothingIsSaidAfterIt) {
  Initialize();
  sent_.clear();
  std::promise<void> started;
  run_ = [&started](const auto&, const auto& look) { return RunUntilStopped(&started, look); };
  session_->Receive(Call("2"));
  std::thread worker([this] { EXPECT_FALSE(session_->AnswerNext(kLong)); });
  started.get_future().wait();
  session_->Stop();
  worker.join();
  session_->Receive(Request("1", "ping"));
  EXPECT_THAT(sent_, IsEmpty());
}

// A host that does not read holds up the thread that answers, and nobody else.
TEST(McpSessionSend, StopDoesNotWaitForASendThatDoesNotReturn) {
  std::promise<void> sends, read;
  McpSession session(
      {},
      [&](std::string_view) {
        sends.set_value();
        read.get_future().wait();
      },
      [](const auto&, const auto&) -> Result<VerbResult> { return VerbResult{}; });
  std::thread reader([&] { session.Receive(Request("1", "ping")); });
  sends.get_future().wait();
  session.Stop();
  read.set_value();
  reader.join();
}

TEST_F(McpSessionTest, ImagesAreThoseOfTheFolderWithinTheirBounds) {
  Initialize("2025-06-18", true);
  sent_.clear();
  std::ofstream(folder_.path() / "secret.png") << "secret";
  run_ = [this](const auto&, const auto&) {
    const std::filesystem::path images = folder_.path() / "images";
    std::filesystem::create_directory(images);
    std::ofstream(images / "a.png") << "any";
    std::ofstream(images / "large.png") << "x";
    std::filesystem::resize_file(images / "large.png", (4 << 20) + 1);
    for (const char* const name : {"b.png", "c.png", "d.png", "e.png"}) {
      std::ofstream(images / name) << name;
    }
    return VerbResult{0, R"({"folder":"/x","images":[{"files":["a.png","../secret.png"]},
        {"files":["large.png","gone.png"]},{"files":["b.png","c.png","d.png","e.png"]}]})",
                      ""};
  };
  session_->Receive(Call("1", "image", R"({"file":"/a"})"));
  EXPECT_TRUE(session_->AnswerNext(kAtOnce));
  const Json result = TakeOnly()["result"];
  ASSERT_EQ(result["content"].size(), 5u);
  EXPECT_EQ(result["content"][1]["type"], "image");
  EXPECT_EQ(result["content"][1]["mimeType"], "image/png");
  EXPECT_EQ(result["content"][1]["data"], "YW55");
  EXPECT_EQ(result["content"][4]["data"], "ZC5wbmc=");
  EXPECT_FALSE(result["structuredContent"].contains("folder"));
  EXPECT_EQ(result["structuredContent"]["images_not_shown"].dump(),
            R"(["../secret.png","large.png","gone.png","e.png"])");
}

}  // namespace
}  // namespace cairn
