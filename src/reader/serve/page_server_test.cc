// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#ifdef __linux__
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

#ifdef _WIN32
constexpr int kNoSignal = 0;
void Close(socket_t socket) {
  closesocket(socket);
}
#else
constexpr int kNoSignal = MSG_NOSIGNAL;
void Close(socket_t socket) {
  close(socket);
}
#endif

// Bytes, and no client that knows how it is done.
class RawConnection {
 public:
  // `room`: the bytes that its side holds until they are read; 0: as many as the system likes.
  explicit RawConnection(const std::string& host, int room = 0)
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (room != 0) {
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, reinterpret_cast<const char*>(&room),
                 sizeof(room));
    }
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(host.substr(host.find(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawConnection() { Close(socket_); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  bool is_open() const { return is_open_; }
  bool Send(const std::string& bytes) const {
    return send(socket_, bytes.data(), static_cast<int>(bytes.size()), kNoSignal) ==
           static_cast<ssize_t>(bytes.size());
  }
  // The other side is told that it is gone, not that it has said all.
  void ResetAtEnd() const {
    const linger at_once = {1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, reinterpret_cast<const char*>(&at_once),
               sizeof(at_once));
  }
  bool HasAnswer() const {
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(socket_, &readable);
    timeval at_once = {0, 0};
    return select(static_cast<int>(socket_) + 1, &readable, nullptr, nullptr, &at_once) == 1;
  }
  // Returns the beginning of the answer.
  std::string Start() const {
    std::string start(4096, '\0');
    const ssize_t got = recv(socket_, start.data(), static_cast<int>(start.size()), 0);
    start.resize(got > 0 ? got : 0);
    return start;
  }
  // All that comes until the other side has closed it.
  std::string Rest() const {
    std::string all(1 << 20, '\0');
    size_t size = 0;
    for (ssize_t got = 1; got > 0 && size<all.size(); size += got> 0 ? got : 0) {
      got = recv(socket_, all.data() + size, static_cast<int>(all.size() - size), 0);
    }
    all.resize(size);
    return all;
  }

 private:
  const socket_t socket_;
  bool is_open_ = false;
};

class PageServerTest : public testing::Test {
 protected:
  PageServerTest() {
    Open([](const PageQuestion& question) {
      return PageAnswer{
          .type = "text/plain",
          .body = question.target + "||" + (question.is_order ? "order" : "question")};
    });
  }
  void Open(PageServer::Answerer answerer, PageServerOptions options = {}) {
    options.warn = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      warned_ += line;
    };
    server_ = PageServer::Open(std::move(options), std::move(answerer)).value();
    const std::string ticket = TicketPath();
    const httplib::Result page = Client().Get(ticket);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 303);
    path_ = page->get_header_value("Location");
    EXPECT_NE(path_, ticket);
  }
  // Returns the path of a new address, and notes its host.
  std::string TicketPath() {
    const std::string address = server_->NewAddress();
    EXPECT_THAT(address, StartsWith("http://127.0.0.1:"));
    host_ = address.substr(7, address.find('/', 7) - 7);
    return address.substr(7 + host_.size());
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

  // Returns the whole answer to the lines of a request.
  std::string Ask(const std::vector<std::string>& lines, const std::string& body = "") {
    const RawConnection connection(host_);
    std::string request;
    for (const std::string& line : lines) request += line + "\r\n";
    EXPECT_TRUE(connection.Send(request + "\r\n" + body));
    return connection.Rest();
  }

  std::string Warned() {
    const std::lock_guard lock(mutex_);
    return warned_;
  }

  std::mutex mutex_;
  std::string warned_;
  std::unique_ptr<PageServer> server_;
  std::string host_;  // with the port
  std::string path_;
};

TEST_F(PageServerTest, AnswersWhoKnowsTheAddress) {
  EXPECT_GE(path_.size(), 34u);  // 128 bits in hexadecimal
  EXPECT_EQ(Get(path_), "200 ||question");
  EXPECT_EQ(Get(path_ + "calls?key=a%2Fb"), "200 calls?key=a%2Fb||question");
  EXPECT_EQ(Post(path_ + "images", {{"Origin", "http://" + host_}}), "200 images||order");
}

TEST_F(PageServerTest, HasAnotherSecretEachTime) {
  const std::string ticket = TicketPath();
  EXPECT_GE(ticket.size(), 34u);
  EXPECT_NE(TicketPath(), ticket);
  const std::string first = path_;
  Open([](const PageQuestion&) { return PageAnswer(); });
  EXPECT_NE(path_, first);
}

TEST_F(PageServerTest, AnAddressLeadsToThePageOnce) {
  const std::string ticket = TicketPath();
  const std::string other = TicketPath();
  // The ticket's address answers nothing itself, and is not used up by a refused request.
  EXPECT_THAT(Get(ticket + "calls"), StartsWith("403 "));
  EXPECT_THAT(Post(ticket, {{"Origin", "http://" + host_}}), StartsWith("403 "));
  EXPECT_THAT(Get(ticket, {{"Sec-Purpose", "prefetch;prerender"}}), StartsWith("403 "));
  EXPECT_THAT(Get(ticket, {{"Origin", "http://evil.example"}}), StartsWith("403 "));
  EXPECT_THAT(Get(ticket, {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}}),
              StartsWith("403 "));
  EXPECT_THAT(Get(ticket), StartsWith("303 "));
  EXPECT_THAT(Get(ticket), StartsWith("403 this address was not given by cairn, or was"));
  EXPECT_THAT(Get(other), StartsWith("303 "));
  EXPECT_EQ(Get(path_), "200 ||question");
}

// A browser that is started with a file comes from no origin.
TEST_F(PageServerTest, ThePageMayBeComeToFromAnywhereAndNothingElse) {
  const httplib::Headers coming = {{"Sec-Fetch-Site", "cross-site"},
                                   {"Sec-Fetch-Mode", "navigate"},
                                   {"Sec-Fetch-Dest", "document"}};
  EXPECT_THAT(Get(TicketPath(), coming), StartsWith("303 "));
  EXPECT_EQ(Get(path_, coming), "200 ||question");
  EXPECT_EQ(Get(path_ + "calls", coming), "403 other sites may not ask\n");
  EXPECT_EQ(Get(path_, {{"Sec-Fetch-Site", "cross-site"},
                        {"Sec-Fetch-Mode", "navigate"},
                        {"Sec-Fetch-Dest", "iframe"}}),
            "403 other sites may not ask\n");
}

// The server reads only the first line of a client without the address, whatever it sends.
TEST_F(PageServerTest, WhoDoesNotKnowTheAddressIsNotHeardOut) {
  const RawConnection connection(host_);
  ASSERT_TRUE(connection.Send("GET /" + std::string(32, '0') + "/ HTTP/1.1\r\n"));
  EXPECT_THAT(connection.Start(), StartsWith("HTTP/1.1 403"));
}

TEST_F(PageServerTest, RefusesWhoDoesNot) {
  std::string wrong = path_;
  wrong[5] = wrong[5] == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), std::string("/calls"), std::string("/favicon.ico"), wrong,
        wrong + "calls", "x" + path_.substr(1), path_.substr(0, path_.size() - 2) + "/",
        "/" + path_}) {
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

TEST_F(PageServerTest, RefusesTwoNamesAndTwoOrigins) {
  const std::string get = "GET " + path_ + " HTTP/1.1";
  const std::string host = "Host: " + host_;
  const std::string origin = "Origin: http://" + host_;
  EXPECT_THAT(Ask({get, host}), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask({get, host, "Host: evil.example"}), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask({get, "Host: evil.example", host}), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask({get}), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask({get, host, origin}), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask({get, host, origin, "Origin: http://evil.example"}), StartsWith("HTTP/1.1 403"));
}

TEST_F(PageServerTest, RefusesBodiesAndParts) {
  const std::string host = "Host: " + host_;
  const std::string origin = "Origin: http://" + host_;
  const std::string post = "POST " + path_ + "images HTTP/1.1";
  EXPECT_THAT(Ask({post, host, origin, "Content-Length: 0"}), HasSubstr("images||order"));
  EXPECT_THAT(Ask({post, host, origin, "Content-Length: 5"}, "key=1"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask({post, host, origin, "Transfer-Encoding: chunked"}, "0\r\n\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask({"GET " + path_ + " HTTP/1.1", host, "Range: bytes=0-,0-,0-,0-"}),
              StartsWith("HTTP/1.1 403"));
}

// Another origin's form chooses its body, not its headers.
TEST_F(PageServerTest, TakesNoBodyForAQuestion) {
  const std::string hidden = "GET " + path_ + "calls HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n";
  const std::string answer =
      Ask({"POST " + path_ + " HTTP/1.1", "Host: " + host_, "Origin: http://evil.example",
           "Content-Length: " + std::to_string(hidden.size())},
          hidden);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
  EXPECT_EQ(answer.find("calls||"), std::string::npos) << answer;
}

TEST_F(PageServerTest, WaitsForNobodyWhoIsSlow) {
  const std::string host = host_;
  std::atomic<bool> ended{false};
  std::vector<std::unique_ptr<RawConnection>> connections;
  for (int i = 0; i < 300; ++i) {
    connections.push_back(std::make_unique<RawConnection>(host));
    ASSERT_TRUE(connections.back()->is_open());
    ASSERT_TRUE(connections.back()->Send("GET " + path_ + " HTTP/1.1\r\nX: "));
  }
  std::thread slow([&] {
    while (!ended) {
      for (const auto& connection : connections) (void)connection->Send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // slow is what they are
    }
  });
  EXPECT_EQ(Get(path_), "200 ||question");
  server_.reset();  // while all of them go on
  ended = true;
  slow.join();
}

// Each letter comes soon behind the one before; the whole does not come in time, and has no answer.
TEST_F(PageServerTest, AQuestionComesInTime) {
  const RawConnection connection(host_);
  ASSERT_TRUE(connection.Send("GET " + path_ + " HTTP/1.1\r\nX: "));
  std::atomic<bool> ended{false};
  std::thread slow([&] {
    while (!ended) {
      (void)connection.Send("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  EXPECT_EQ(connection.Rest(), "");
  ended = true;
  slow.join();
}

TEST_F(PageServerTest, AQuestionHasAtMost16KiB) {
  const std::string get = "GET " + path_ + " HTTP/1.1";
  const std::string host = "Host: " + host_;
  EXPECT_THAT(Ask({get, host, "Cookie: " + std::string(15 << 10, 'c')}), HasSubstr("||question"));
  EXPECT_THAT(Ask({get, host, "Cookie: " + std::string(17 << 10, 'c')}),
              StartsWith("HTTP/1.1 400"));
}

TEST_F(PageServerTest, AnAnswerThatCannotBeMadeIsAnError) {
  Open([](const PageQuestion&) -> PageAnswer { throw std::bad_alloc(); });
  EXPECT_THAT(Get(path_), StartsWith("500 "));
  EXPECT_THAT(Get(path_), StartsWith("500 "));
}

TEST_F(PageServerTest, NoAnswerIsMadeOnceItIsDestroyed) {
  std::atomic<bool> destroyed{false};
  std::atomic<int> begun{0};
  std::atomic<int> late{0};
  Open([&](const PageQuestion&) {
    ++begun;
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    if (destroyed) ++late;
    return PageAnswer();
  });
  std::vector<std::thread> askers;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([this] {
      while (Get(path_).starts_with("200")) {
      }
    });
  }
  while (begun < 20) std::this_thread::yield();
  server_.reset();
  destroyed = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(late, 0);
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
  const auto second =
      PageServer::Open({.port = port}, [](const PageQuestion&) { return PageAnswer(); });
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("--port"));
}

TEST_F(PageServerTest, PagesBeyondWhatAnyoneHasOpenAreRefused) {
  std::vector<std::unique_ptr<RawConnection>> pages;
  for (int i = 0; i < 65; ++i) {
    pages.push_back(std::make_unique<RawConnection>(host_));
    ASSERT_TRUE(
        pages.back()->Send("GET " + path_ + "open HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"));
    EXPECT_THAT(pages.back()->Start(), StartsWith(i < 64 ? "HTTP/1.1 200" : "HTTP/1.1 503")) << i;
  }
  EXPECT_EQ(Get(path_), "200 ||question");
}

// 6,000 of them, in turns that a process may have open; none of them asks, and none is closed by its side.
TEST_F(PageServerTest, WhoDoesNotAskGivesWayToWhoDoes) {
#ifdef _WIN32
  GTEST_SKIP() << "Wine takes milliseconds to say whose one of so many connections is";
#endif
  std::vector<std::unique_ptr<RawConnection>> silent;
  for (int i = 0; i < 6000; ++i) {
    if (silent.size() == 700) silent.erase(silent.begin(), silent.begin() + 350);
    silent.push_back(std::make_unique<RawConnection>(host_));
    ASSERT_TRUE(silent.back()->is_open());
    if (i % 2 == 0) (void)silent.back()->Send("GET " + path_);
  }
  EXPECT_EQ(Get(path_), "200 ||question");
  // The oldest were cut, long before their time was over.
  EXPECT_EQ(silent.front()->Rest(), "");
}

// Connections that are being answered take no place of those that ask, nor the other way round.
TEST_F(PageServerTest, MoreQuestionsThanAreAnsweredAtOnceAreRefused) {
  std::atomic<bool> is_let{false};
  std::atomic<int> begun{0};
  Open([&](const PageQuestion& question) {
    ++begun;
    while (question.target == "slow" && !is_let) std::this_thread::yield();
    return PageAnswer{.type = "text/plain", .body = question.target};
  });
  std::vector<std::unique_ptr<RawConnection>> asking;
  for (int i = 0; i < 40; ++i) {
    asking.push_back(std::make_unique<RawConnection>(host_));
    ASSERT_TRUE(
        asking.back()->Send("GET " + path_ + "slow HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"));
  }
  const auto is_answered = [](const auto& each) { return each->HasAnswer(); };
  while (std::count_if(asking.begin(), asking.end(), is_answered) < 8 || begun < 16) {
    std::this_thread::yield();
  }
  EXPECT_THAT(Get(TicketPath()), StartsWith("303 "));
  EXPECT_EQ(begun, 16);
  is_let = true;
  int refused = 0;
  for (const auto& each : asking) {
    const std::string answer = each->Rest();
    if (answer.starts_with("HTTP/1.1 503")) {
      ++refused;
      EXPECT_THAT(answer, HasSubstr("too many questions at once"));
    } else {
      EXPECT_THAT(answer, HasSubstr("\r\n\r\nslow"));
    }
  }
  EXPECT_EQ(refused, 8);
}

// Clients that read nothing have all places for answers: the places are free again.
TEST_F(PageServerTest, AnAnswerThatNobodyReadsEnds) {
#ifdef _WIN32
  GTEST_SKIP() << "under Wine 10 the answers keep their places; not tried on Windows itself";
#endif
  EXPECT_EQ(PageServerOptions().most_reading, std::chrono::seconds(60));
  constexpr size_t kBytes = size_t{5} << 20;  // more than the buffers of both sides hold
  std::atomic<int> begun{0};
  Open(
      [&begun](const PageQuestion& question) {
        if (question.target != "large") return PageAnswer{.type = "text/plain", .body = "small"};
        ++begun;
        return PageAnswer{.type = "text/plain", .body = std::string(kBytes, 'x')};
      },
      {.most_reading = std::chrono::milliseconds(300)});
  std::vector<std::unique_ptr<RawConnection>> deaf;
  for (int i = 0; i < 32; ++i) {
    deaf.push_back(std::make_unique<RawConnection>(host_, 1 << 16));
    ASSERT_TRUE(
        deaf.back()->Send("GET " + path_ + "large HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"));
  }
  while (begun < 32) std::this_thread::yield();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::string answer;
  do {
    answer = Get(path_);
  } while (answer.starts_with("503 ") && std::chrono::steady_clock::now() < end);
  EXPECT_EQ(answer, "200 small");
  // Those whose time is not over yet may get the rest.
  const auto is_cut = [](const auto& connection) {
    size_t got = 0;
    for (std::string piece; !(piece = connection->Start()).empty();) got += piece.size();
    return got < kBytes;
  };
  EXPECT_GE(std::count_if(deaf.begin(), deaf.end(), is_cut), 1);
}

// They are gone before they are accepted, or soon after.
TEST_F(PageServerTest, WhoHangsUpHoldsUpNobody) {
  for (int i = 0; i < 200; ++i) {
    const RawConnection connection(host_);
    connection.ResetAtEnd();
  }
  httplib::Client client = Client();
  client.set_read_timeout(5);
  const httplib::Result result = client.Get(path_);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
}

#ifdef __linux__
// Returns the answer that another user gets to `request`; "" if there is none.
std::string AnswerForNobody(const std::string& host, const std::string& request) {
  int told[2];
  EXPECT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    const RawConnection connection(host);
    if (!connection.is_open()) _exit(2);
    (void)connection.Send(request);
    const std::string rest = connection.Rest();
    (void)!write(told[1], rest.data(), rest.size());
    _exit(0);
  }
  close(told[1]);
  std::string answer(4096, '\0');
  const ssize_t got = read(told[0], answer.data(), answer.size());
  answer.resize(got > 0 ? static_cast<size_t>(got) : 0);
  close(told[0]);
  int end = -1;
  waitpid(child, &end, 0);
  EXPECT_EQ(end, 0);
  return answer;
}

TEST_F(PageServerTest, OtherUsersAreNotAnswered) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  const std::string request = "GET " + path_ + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n";
  EXPECT_THAT(Ask({"GET " + path_ + " HTTP/1.1", "Host: " + host_}), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Warned(), "");
  EXPECT_EQ(AnswerForNobody(host_, request), "");
  EXPECT_EQ(AnswerForNobody(host_, request), "");
  EXPECT_EQ(Warned(),
            "a connection of another user was refused, as later ones will be; if it was yours, "
            "through a program of another user such as root, start again with --any-user");
  // A client that is gone spends no address either.
  const std::string ticket = TicketPath();
  EXPECT_EQ(AnswerForNobody(host_, "GET " + ticket + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"),
            "");
  EXPECT_THAT(Get(ticket), StartsWith("303 "));
}

TEST_F(PageServerTest, OtherUsersAreAnsweredWhereThatIsWanted) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  server_ = PageServer::Open({.any_user = true}, [](const PageQuestion&) {
              return PageAnswer{.body = "{}"};
            }).value();
  const std::string ticket = TicketPath();
  EXPECT_THAT(AnswerForNobody(host_, "GET " + ticket + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"),
              StartsWith("HTTP/1.1 303"));
}

// A browser that it has started lives on, and would keep the port.
TEST_F(PageServerTest, NoProgramThatIsStartedHasItsSockets) {
  const RawConnection connection(host_);
  ASSERT_TRUE(connection.Send("GET " + path_ + "open HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"));
  EXPECT_THAT(connection.Start(), StartsWith("HTTP/1.1 200"));
  int sockets = 0;
  int kept = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in address = {};
    socklen_t size = sizeof(address);
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    if (ntohs(address.sin_port) != std::stoi(host_.substr(host_.find(':') + 1))) continue;
    ++sockets;
    if ((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) ++kept;
  }
  EXPECT_EQ(sockets, 2);
  EXPECT_EQ(kept, 2);
}
#endif

TEST_F(PageServerTest, EndsWithItsLastPage) {
  std::atomic<bool> ended{false};
  std::thread serving([this, &ended] {
    server_->Serve([] { return false; });
    ended = true;
  });
  {
    const RawConnection page(host_);
    ASSERT_TRUE(page.Send("GET " + path_ + "open HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n"));
    EXPECT_THAT(page.Start(), HasSubstr("text/event-stream"));
    EXPECT_FALSE(ended);
  }
  serving.join();
  EXPECT_TRUE(ended);
}

TEST_F(PageServerTest, EndsWhenItIsStopped) {
  server_->Serve([] { return true; });
}

}  // namespace
}  // namespace cairn
