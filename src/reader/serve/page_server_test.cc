// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <string>
#include <thread>

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PageServerTest : public testing::Test {
 protected:
  PageServerTest()
      : server_(PageServer::Open(0, [](const PageQuestion& question) {
                  return PageAnswer{.type = "text/plain",
                                    .body = question.name + "|" + question.value("key") + "|" +
                                            (question.is_order ? "order" : "question")};
                }).value()) {
    const std::string& address = server_->address();
    host_ = address.substr(7, address.find('/', 7) - 7);
    path_ = address.substr(7 + host_.size());
  }
  httplib::Client Client() {
    return httplib::Client("127.0.0.1", std::stoi(host_.substr(host_.find(':') + 1)));
  }
  // "STATUS body"
  std::string Get(const std::string& path, httplib::Headers headers = {}) {
    const httplib::Result result = Client().Get(path, headers);
    return result ? std::to_string(result->status) + " " + result->body : "no answer";
  }
  std::string Post(const std::string& path, httplib::Headers headers = {}) {
    const httplib::Result result = Client().Post(path, headers, "", "text/plain");
    return result ? std::to_string(result->status) + " " + result->body : "no answer";
  }

  std::unique_ptr<PageServer> server_;
  std::string host_;  // with the port
  std::string path_;
};

TEST_F(PageServerTest, AnswersWhoKnowsTheAddress) {
  EXPECT_THAT(server_->address(), StartsWith("http://127.0.0.1:"));
  EXPECT_GE(path_.size(), 34u);  // 128 bits in hexadecimal
  EXPECT_EQ(Get(path_), "200 ||question");
  EXPECT_EQ(Get(path_ + "calls?key=a%2Fb"), "200 calls|a/b|question");
  EXPECT_EQ(Post(path_ + "images", {{"Origin", "http://" + host_}}), "200 images||order");
}

TEST_F(PageServerTest, HasAnotherSecretEachTime) {
  const auto other = PageServer::Open(0, [](const PageQuestion&) { return PageAnswer(); });
  EXPECT_NE(other.value()->address().substr(28), server_->address().substr(28));
}

TEST_F(PageServerTest, RefusesWhoDoesNot) {
  std::string wrong = path_;
  wrong[5] = wrong[5] == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), std::string("/calls"), std::string("/favicon.ico"), wrong,
        wrong + "calls", path_.substr(0, path_.size() - 2) + "/", "/" + path_}) {
    EXPECT_THAT(Get(path), StartsWith("403 ")) << path;
  }
}

TEST_F(PageServerTest, RefusesOtherNamesOfTheHost) {
  for (const std::string& host :
       {std::string("evil.example"), "evil.example:" + host_.substr(host_.find(':') + 1),
        std::string("localhost"), std::string("127.0.0.1")}) {
    EXPECT_EQ(Get(path_, {{"Host", host}}), "403 this server has another name\n") << host;
  }
}

TEST_F(PageServerTest, RefusesOtherOrigins) {
  const std::string refused = "403 pages of another origin may not ask\n";
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1", "file://"}) {
    EXPECT_EQ(Get(path_, {{"Origin", origin}}), refused) << origin;
    EXPECT_EQ(Post(path_, {{"Origin", origin}}), refused) << origin;
  }
  EXPECT_EQ(Post(path_), "403 an order names its origin\n");
  EXPECT_EQ(Get(path_, {{"Sec-Fetch-Site", "cross-site"}}), "403 other sites may not ask\n");
  EXPECT_THAT(Get(path_, {{"Sec-Fetch-Site", "same-origin"}}), StartsWith("200 "));
}

TEST_F(PageServerTest, LetsNobodyFrameOrGuess) {
  const httplib::Result result = Client().Get(path_);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->get_header_value("X-Frame-Options"), "DENY");
  EXPECT_EQ(result->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(result->get_header_value("Referrer-Policy"), "no-referrer");
  EXPECT_EQ(result->get_header_value("Cross-Origin-Resource-Policy"), "same-origin");
  EXPECT_EQ(result->get_header_value("Access-Control-Allow-Origin"), "");
}

TEST_F(PageServerTest, APortThatIsTakenIsAnError) {
  const auto port = static_cast<uint16_t>(std::stoi(host_.substr(host_.find(':') + 1)));
  const auto second = PageServer::Open(port, [](const PageQuestion&) { return PageAnswer(); });
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("--port"));
}

TEST_F(PageServerTest, EndsWithItsLastPage) {
  std::atomic<bool> ended{false};
  std::thread serving([this, &ended] {
    server_->Serve([] { return false; });
    ended = true;
  });
  // A page that is there, until it wants no more.
  bool was_serving = false;
  int beats = 0;
  Client().Get(path_ + "open", [&](const char*, size_t) {
    was_serving = !ended;
    return ++beats < 2;
  });
  EXPECT_TRUE(was_serving);
  serving.join();
  EXPECT_TRUE(ended);
}

TEST_F(PageServerTest, EndsWhenItIsStopped) {
  server_->Serve([] { return true; });
}

}  // namespace
}  // namespace cairn
