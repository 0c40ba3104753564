// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/page_server.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "os/handle.h"
#include "os/random.h"

namespace cairn {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;

constexpr auto kLook = std::chrono::milliseconds(200);
// A page that is loaded again is away for a moment.
constexpr auto kLinger = std::chrono::seconds(4);
// For a question from its first letter to its last, and for the other side to close what is answered.
constexpr auto kMostAsking = std::chrono::seconds(2);
constexpr auto kMostReading = std::chrono::seconds(60);
// Cookies of all other servers of 127.0.0.1 come with each question.
constexpr uint32_t kMostHeader = 16 << 10;
constexpr int kMostOpenPages = 64;
constexpr int kMostConnections = 512;  // half of what a process may have open, by default
constexpr int kAnswerers = 16;

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

// To try again at once would help nobody.
bool IsShortOfSomething(Error error) {
  namespace errc = boost::system::errc;
  return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
         error == errc::not_enough_memory || error == errc::no_buffer_space;
}

// As long for each text of the same length, so that nobody finds the secret letter by letter.
bool IsSame(std::string_view text, std::string_view secret) {
  unsigned different = text.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < text.size() && i < secret.size(); ++i) {
    different |= static_cast<unsigned char>(text[i]) ^ static_cast<unsigned char>(secret[i]);
  }
  return different == 0;
}

}  // namespace

// Connections live in one thread, `listener`; answers are made by others.
struct PageServer::State {
  class Connection;

  explicit State(Answerer made_by) : answerer(std::move(made_by)) {}

  const Answerer answerer;
  std::string secret;
  std::string host;  // "127.0.0.1:41234"
  std::string address;

  std::mutex mutex;
  int open_pages = 0;
  bool had_page = false;
  std::chrono::steady_clock::time_point last_page;

  // Of the listener.
  int connections = 0;
  bool is_accepting = false;
  asio::io_context network{1};
  const asio::executor_work_guard<asio::io_context::executor_type> until_stopped{
      network.get_executor()};
  Tcp::acceptor acceptor{network};
  asio::steady_timer pause{network};

  asio::thread_pool answerers{kAnswerers};
  std::thread listener;

  Error Listen(uint16_t port);
  void Accept();
  const char* Refusal(const http::request<http::empty_body>& request) const;
};

// One question, and its answer: what stands behind a question that was refused is never taken for another.
class PageServer::State::Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(State* state, Tcp::socket socket) : state_(*state), stream_(std::move(socket)) {
    ++state_.connections;
    parser_.header_limit(kMostHeader);
    // Who has a body is refused with a reason.
    parser_.body_limit(std::numeric_limits<uint64_t>::max());
  }
  ~Connection() {
    if (is_page_) {
      const std::lock_guard lock(state_.mutex);
      --state_.open_pages;
      state_.last_page = std::chrono::steady_clock::now();
    }
    --state_.connections;
    if (!state_.network.stopped()) state_.Accept();
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void ReadQuestion() {
    stream_.expires_after(kMostAsking);
    http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](Error error, size_t) { self->OnQuestion(error); });
  }

 private:
  void OnQuestion(Error error) {
    if (error == http::error::end_of_stream) return;
    // Who was too slow is gone by now.
    if (error) return Write({.status = 400, .type = "text/plain", .body = error.message() + "\n"});
    const http::request<http::empty_body>& request = parser_.get();
    if (const char* const refusal = state_.Refusal(request)) {
      return Write({.status = 403, .type = "text/plain", .body = std::string(refusal) + "\n"});
    }
    PageQuestion question = {
        .target = std::string(View(request.target()).substr(state_.secret.size() + 2)),
        .is_order = request.method() == http::verb::post};
    if (question.target == "open") return KeepOpen();
    // It may take its time.
    stream_.expires_never();
    asio::post(
        state_.answerers, [self = shared_from_this(), question = std::move(question)]() mutable {
          State& state = self->state_;
          PageAnswer answer = {.status = 500, .type = "text/plain"};
          try {
            answer = state.answerer(question);
          } catch (const std::exception& problem) {  // out of memory
            answer.body = std::string(problem.what()) + "\n";
          }
          asio::post(state.network, [self = std::move(self), answer = std::move(answer)]() mutable {
            self->Write(std::move(answer));
          });
        });
  }

  void Write(PageAnswer answer) {
    SetHeader(answer.status, answer.type);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(kMostReading);
    http::async_write(stream_, response_, [self = shared_from_this()](Error error, size_t) {
      if (error) return;
      self->stream_.socket().shutdown(Tcp::socket::shutdown_send, error);
      self->stream_.expires_after(kMostAsking);
      self->ReadToItsEnd();
    });
  }

  // A page says that it is there by an answer that does not end.
  void KeepOpen() {
    {
      const std::lock_guard lock(state_.mutex);
      is_page_ = state_.open_pages < kMostOpenPages;
      if (is_page_) {
        ++state_.open_pages;
        state_.had_page = true;
      }
    }
    if (!is_page_) return Write({.status = 503, .type = "text/plain", .body = "too many pages\n"});
    SetHeader(200, "text/event-stream");
    header_.emplace(response_);
    stream_.expires_after(kMostReading);
    http::async_write_header(stream_, *header_, [self = shared_from_this()](Error error, size_t) {
      if (error) return;
      self->stream_.expires_never();
      self->ReadToItsEnd();
    });
  }

  // To close with something unread would take the answer away from who asked.
  void ReadToItsEnd() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](Error error, size_t) {
                              if (!error) self->ReadToItsEnd();
                            });
  }

  void SetHeader(int status, const std::string& type) {
    response_.result(static_cast<unsigned>(status));
    response_.keep_alive(false);
    response_.set("Content-Type", type);
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("X-Frame-Options", "DENY");
    response_.set("Referrer-Policy", "no-referrer");
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    response_.set("Cross-Origin-Opener-Policy", "same-origin");
    response_.set("Cache-Control", "no-store");
  }

  State& state_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeader};
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> response_;
  std::optional<http::response_serializer<http::string_body>> header_;
  bool is_page_ = false;
};

Error PageServer::State::Listen(uint16_t port) {
  Error error;
  acceptor.open(Tcp::v4(), error);
  if (error) return error;
  // A browser that this process starts would keep the port, and a verb the connections.
  KeepFromPrograms(static_cast<RawHandle>(acceptor.native_handle()));
#ifdef _WIN32
  // SO_REUSEADDR lets another process listen at the same port there.
  constexpr int kYes = 1;
  if (setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_EXCLUSIVEADDRUSE,
                 reinterpret_cast<const char*>(&kYes), sizeof(kYes)) != 0) {
    return Error(WSAGetLastError(), boost::system::system_category());
  }
#else
  acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
#endif
  if (!error) acceptor.bind({asio::ip::address_v4::loopback(), port}, error);
  if (!error) acceptor.listen(Tcp::acceptor::max_listen_connections, error);
  return error;
}

void PageServer::State::Accept() {
  if (is_accepting || connections >= kMostConnections) return;
  is_accepting = true;
  acceptor.async_accept([this](Error error, Tcp::socket socket) {
    if (IsShortOfSomething(error)) {
      pause.expires_after(kLook);
      return pause.async_wait([this](Error) {
        is_accepting = false;
        Accept();
      });
    }
    is_accepting = false;
    // Else who asked was gone before.
    if (!error) {
      KeepFromPrograms(static_cast<RawHandle>(socket.native_handle()));
      std::make_shared<Connection>(this, std::move(socket))->ReadQuestion();
    }
    Accept();
  });
}

// Why a request is refused; nullptr if it is not.
const char* PageServer::State::Refusal(const http::request<http::empty_body>& request) const {
  if (request.count("Host") != 1 || View(request["Host"]) != host) {
    return "this server has another name";
  }
  const size_t origins = request.count("Origin");
  if (origins > 1 || (origins == 1 && View(request["Origin"]) != "http://" + host)) {
    return "pages of another origin may not ask";
  }
  const std::string_view site = View(request["Sec-Fetch-Site"]);
  if (!site.empty() && site != "same-origin" && site != "none") return "other sites may not ask";
  const bool is_order = request.method() == http::verb::post;
  if (is_order && origins == 0) return "an order names its origin";
  if (!is_order && request.method() != http::verb::get) return "only GET and POST are known";
  const std::string_view length = View(request["Content-Length"]);
  if (request.count("Transfer-Encoding") != 0 || (!length.empty() && length != "0")) {
    return "questions have no body";
  }
  if (request.count("Range") != 0) return "answers have no parts";
  const std::string_view target = View(request.target());
  const size_t end = target.find('/', 1);
  if (!target.starts_with('/') || end == std::string_view::npos ||
      !IsSame(target.substr(1, end - 1), secret)) {
    return "the address is not the one that cairn view has printed";
  }
  return nullptr;
}

PageServer::PageServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

PageServer::~PageServer() {
  state_->answerers.stop();
  state_->answerers.join();
  state_->network.stop();
  state_->listener.join();
}

Result<std::unique_ptr<PageServer>> PageServer::Open(uint16_t port, Answerer answerer) {
  auto state = std::make_unique<State>(std::move(answerer));
  std::array<std::byte, 16> secret;
  if (!FillWithSecrets(secret)) return Status(StatusCode::kIo, "the system has no random numbers");
  for (const std::byte byte : secret)
    state->secret += fmt::format("{:02x}", static_cast<unsigned>(byte));
  Error error = state->Listen(port);
  const Tcp::endpoint bound = error ? Tcp::endpoint() : state->acceptor.local_endpoint(error);
  if (error) {
    return Status(StatusCode::kIo,
                  fmt::format("port {} of 127.0.0.1 cannot be had: {}; --port names another, "
                              "and without it a free one is taken",
                              port, error.message()));
  }
  state->host = fmt::format("127.0.0.1:{}", bound.port());
  state->address = fmt::format("http://{}/{}/", state->host, state->secret);
  state->Accept();
  State* const raw = state.get();
  state->listener = std::thread([raw] { raw->network.run(); });
  return std::unique_ptr<PageServer>(new PageServer(std::move(state)));
}

const std::string& PageServer::address() const {
  return state_->address;
}

void PageServer::Serve(const std::function<bool()>& is_stopped) {
  const auto has_been_left = [this] {
    const std::lock_guard lock(state_->mutex);
    return state_->had_page && state_->open_pages == 0 &&
           std::chrono::steady_clock::now() - state_->last_page > kLinger;
  };
  while (!is_stopped() && !has_been_left()) std::this_thread::sleep_for(kLook);
}

}  // namespace cairn
