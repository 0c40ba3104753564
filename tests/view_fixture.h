// SPDX-License-Identifier: Apache-2.0
//
// ViewTest: cairn view of a trace, and who asks it.
#ifndef CAIRN_TESTS_VIEW_FIXTURE_H_
#define CAIRN_TESTS_VIEW_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "interrupt_fixture.h"

namespace cairn::testing {

class ViewTest : public InterruptTest {
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
    for (const char* const name : {"TMPDIR=", "TMP=", "TEMP="}) {  // of Linux, and of Windows
      options.environment.push_back(name + (folder_ / "tmp"));
    }
    view_.emplace(Arguments({"view", "--no-browser", "--", name}), options);
    ASSERT_TRUE(WaitUntil([&] { return view_->output().find('\n') != std::string::npos; }));
    ASSERT_NO_FATAL_FAILURE(UseAddress(view_->output()));
  }
  // One that is good once, up to the end of a line; it leads to the page.
  void UseAddress(const std::string& address) {
    host_ = address.substr(7, address.find('/', 7) - 7);
    const httplib::Result page =
        Client().Get(address.substr(7 + host_.size(), address.find('\n') - 7 - host_.size()));
    ASSERT_TRUE(page);
    ASSERT_EQ(page->status, 303);
    path_ = page->get_header_value("Location");
  }
  httplib::Client Client() const {
    httplib::Client client("127.0.0.1", std::stoi(host_.substr(host_.find(':') + 1)));
    client.set_read_timeout(120);
    return client;
  }
  httplib::Result Ask(const std::string& name, bool is_order = false) const {
    httplib::Client client = Client();
    return is_order ? client.Post(path_ + name, {{"Origin", "http://" + host_}}, "", "")
                    : client.Get(path_ + name);
  }
  void PressAndExpectNothingLeft() {
    PressInterrupt(view_->pid());
    const CommandResult result = view_->Wait();
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
  }

  std::optional<Command> view_;
  std::string host_;
  std::string path_;
};

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_VIEW_FIXTURE_H_
