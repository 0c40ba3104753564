// SPDX-License-Identifier: Apache-2.0
//
// What cairn view has started ends with it, and when it is asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/json.h"
#include "interrupt_fixture.h"
#include "os/running_processes.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ViewStopsTest : public InterruptTest {
 protected:
  void SetUp() override {
    InterruptTest::SetUp();
    if (IsSkipped()) return;
    const CommandResult page =
        RunCommand(Arguments({"report", "--html", "-", Traces::Path("fault.cairn")}), Options());
    if (page.exit_code != 0) GTEST_SKIP() << "built without the viewer: " << page.errors;
    std::filesystem::create_directory(folder_ / "tmp");
  }
  // Serves one of Traces, which has this name in the folder.
  void Serve(const std::string& trace, const std::string& name) {
    std::filesystem::copy_file(Traces::Path(trace), folder_ / name);
    Command::Options options = Options();
    options.environment.push_back("TMPDIR=" + (folder_ / "tmp"));
    view_.emplace(Arguments({"view", "--no-browser", "--", name}), options);
    ASSERT_TRUE(WaitUntil([&] { return view_->output().find('\n') != std::string::npos; }));
    const std::string address = view_->output();
    host_ = address.substr(7, address.find('/', 7) - 7);
    path_ = address.substr(7 + host_.size(), address.find('\n') - 7 - host_.size());
  }
  httplib::Result Ask(const std::string& name, bool is_order = false) const {
    httplib::Client client("127.0.0.1", std::stoi(host_.substr(host_.find(':') + 1)));
    client.set_read_timeout(120);
    return is_order ? client.Post(path_ + name, {{"Origin", "http://" + host_}}, "", "")
                    : client.Get(path_ + name);
  }
  std::string LastDraw() const {
    std::string last;
    const httplib::Result calls = Ask("calls?function=DrawInstanced&from=100000");
    if (calls) last = Json::Parse(calls->body.substr(0, calls->body.find('\n')))["number"].dump();
    return last;
  }
  void PressAndExpectNothingLeft() {
    PressInterrupt(view_->pid());
    const CommandResult result = view_->Wait();
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
  }

  std::optional<Command> view_;
  std::string host_;
  std::string path_;
};

TEST_F(ViewStopsTest, AReplayEndsWithItAndFewWaitForOne) {
  Serve("long.cairn", "long.cairn");
  const std::string draw = LastDraw();
  ASSERT_NE(draw, "");
  constexpr int kMost = 4;  // one that plays, and who waits for it
  std::atomic<int> refused{0};
  std::atomic<int> played{0};
  std::vector<std::thread> askers;
  const auto ask = [&] {
    const httplib::Result images = Ask("images?call=" + draw, true);
    const int status = images ? images->status : 0;
    played += status == 200;
    refused += status == 503 && images->body == "too much is to be played already\n";
  };
  askers.emplace_back(ask);
  // Stopped, so that it does not end by itself.
  EXPECT_TRUE(WaitUntil([&] {
    for (const ProcessId process : RunningProcesses()) {
      if (ParentOf(process) == view_->pid()) return kill(process, SIGSTOP) == 0;
    }
    return false;
  }));
  for (int i = 1; i < kMost + 2; ++i) askers.emplace_back(ask);
  EXPECT_TRUE(WaitUntil([&] { return refused == 2; }));
  PressAndExpectNothingLeft();
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(played, 0);
  EXPECT_EQ(refused, 2);
}

TEST_F(ViewStopsTest, ASearchEndsWhenItIsAskedTo) {
  Serve("fault.cairn", "fault.cairn");
  const httplib::Result begun = Ask("bisect", true);
  ASSERT_TRUE(begun && begun->status == 200);
  EXPECT_EQ(Ask("bisect", true)->status, 409);
  EXPECT_EQ(Ask("images?call=1", true)->status, 409);
  EXPECT_EQ(Ask("stop-bisect", true)->status, 200);
  Json told;
  ASSERT_TRUE(WaitUntil([&] {
    told = Json::Parse(Ask("bisect")->body);
    return !told["running"].get<bool>();
  }));
  EXPECT_EQ(told["answer"].dump(), "null") << "it was over before";
  EXPECT_THAT(told["progress"].get<std::string>(), HasSubstr("was stopped"));
  PressAndExpectNothingLeft();
}

TEST_F(ViewStopsTest, ANameIsNoOption) {
  Serve("fault.cairn", "--help");
  const httplib::Result images = Ask("images?call=1", true);
  ASSERT_TRUE(images);
  EXPECT_THAT(images->body, ::testing::Not(HasSubstr("Usage")));
  EXPECT_EQ(images->status, 500);
  EXPECT_THAT(images->body, HasSubstr("call 1"));
}

}  // namespace
}  // namespace cairn::testing
