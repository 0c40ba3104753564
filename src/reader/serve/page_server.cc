// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/page_server.h"

#include <fmt/format.h>

#include <algorithm>
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
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "os/handle.h"
#include "os/peer_user.h"
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
// Cookies of all other servers of 127.0.0.1 come with each question.
constexpr uint32_t kMostHeader = 16 << 10;
// The bytes that are read behind an answered question, at most; then the connection is closed.
constexpr size_t kMostUnread = 64 << 10;
// The bounds of docs/reference/bounds.md: open pages, answers that are made or on their way, and all connections. A connection
// that is neither page nor answer gives way to a new one.
constexpr size_t kMostOpenPages = 64;
constexpr size_t kMostAnswers = 32;
constexpr size_t kMostConnections = 512;  // half of what a process may have open, by default
constexpr size_t kFewestConnections = kMostOpenPages + kMostAnswers + 16;
constexpr int kAnswerers = 16;
constexpr char kWrongAddress[] =
    "this address was not given by cairn, or was used before; the one that the browser shows "
    "after the first visit stays valid";

std::string_view View(beast::string_view text) {
  return {text.data(), text.size()};
}

// Returns true for errors for which an immediate retry is useless.
bool IsShortOfSomething(Error error) {
  namespace errc = boost::system::errc;
  return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
         error == errc::not_enough_memory || error == errc::no_buffer_space;
}

// Compares in a time that depends on the length only, so that nobody can guess the secret letter by
// letter.
bool IsSame(std::string_view text, std::string_view secret) {
  unsigned different = text.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < text.size() && i < secret.size(); ++i) {
    different |= static_cast<unsigned char>(text[i]) ^ static_cast<unsigned char>(secret[i]);
  }
  return different == 0;
}

// Returns 128 random bits; "" if the system has no random numbers.
std::string NewSecret() {
  std::array<std::byte, 16> bytes;
  std::string text;
  if (!FillWithSecrets(bytes)) return text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

TcpEnd EndOf(const Tcp::endpoint& endpoint) {
  return {static_cast<uint32_t>(endpoint.address().to_v4().to_uint()), endpoint.port()};
}

PeerUser UserBehind(PeerUsers* users, const Tcp::socket& socket) {
  Error error;
  const Tcp::endpoint there = socket.remote_endpoint(error);
  if (error) return PeerUser::kUnknown;  // it is gone
  const Tcp::endpoint here = socket.local_endpoint(error);
  return error ? PeerUser::kUnknown : users->Find(EndOf(there), EndOf(here));
}

// Returns true if the system reports the user of a connection of this process.
bool SystemTellsUsers(PeerUsers* users) {
  asio::io_context network{1};
  Error error;
  Tcp::acceptor listener(network);
  Tcp::socket ours(network);
  listener.open(Tcp::v4(), error);
  if (!error) KeepFromPrograms(static_cast<RawHandle>(listener.native_handle()));
  if (!error) listener.bind({asio::ip::address_v4::loopback(), 0}, error);
  if (!error) listener.listen(1, error);
  const Tcp::endpoint end = error ? Tcp::endpoint() : listener.local_endpoint(error);
  if (!error) ours.open(Tcp::v4(), error);
  if (!error) KeepFromPrograms(static_cast<RawHandle>(ours.native_handle()));
  if (!error) ours.connect(end, error);
  if (error) return true;  // whatever is wrong with the network, nobody is let in for it
  const Tcp::socket accepted = listener.accept(error);
  return error || UserBehind(users, accepted) == PeerUser::kSame;
}

// Returns the target of a request line, "/5f0c/" of "GET /5f0c/ HTTP/1.1"; "" if there is none.
std::string_view TargetIn(std::string_view line) {
  const size_t start = line.find(' ');
  if (start == std::string_view::npos) return "";
  line.remove_prefix(start + 1);
  return line.substr(0, line.find(' '));
}

// Returns the part between the first '/' of `target` and the second; "" if there is none.
std::string_view SecretIn(std::string_view target) {
  const size_t end = target.find('/', 1);
  if (!target.starts_with('/') || end == std::string_view::npos) return "";
  return target.substr(1, end - 1);
}

// A page of one of many files asks at that file's place.
bool IsOpenQuestion(std::string_view target) {
  return target == "open" ||
         (target.ends_with("/open") && target.find('?') == std::string_view::npos);
}

}  // namespace

// Connections live in one thread, `listener`; answers are made by others.
struct PageServer::State {
  class Connection;

  State(PageServerOptions chosen, Answerer made_by)
      : options(std::move(chosen)), answerer(std::move(made_by)) {}

  const PageServerOptions options;
  const Answerer answerer;
  std::string secret;
  std::string host;  // "127.0.0.1:41234"

  std::mutex mutex;
  std::vector<std::string> tickets;  // that nobody has used
  size_t open_pages = 0;
  bool had_page = false;
  std::chrono::steady_clock::time_point last_page;

  // The users of the listener.
  PeerUsers users;
  bool users_are_told = false;
  bool has_warned = false;
  size_t most_connections = kMostConnections;
  size_t connections = 0;
  size_t answers = 0;
  std::list<Connection*> waiting;  // that have not asked yet, or were answered; the oldest first
  asio::io_context network{1};
  const asio::executor_work_guard<asio::io_context::executor_type> until_stopped{
      network.get_executor()};
  Tcp::acceptor acceptor{network};
  asio::steady_timer pause{network};

  asio::thread_pool answerers{kAnswerers};
  std::thread listener;

  Error Listen(uint16_t port);
  void Accept();
  void OnAccepted(Error error, Tcp::socket socket);
  bool IsLetIn(const Tcp::socket& socket);
  bool MakeRoom();
  // Return true if the text is a ticket; and if it is a ticket or the page's secret.
  bool IsTicket(std::string_view text);
  bool IsKnown(std::string_view text) { return IsSame(text, secret) || IsTicket(text); }
  // True once.
  bool Spend(std::string_view ticket);
  const char* Refusal(const http::request<http::empty_body>& request);
};

// One question, and its answer: bytes behind a refused question are never read as another one.
class PageServer::State::Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(State* state, Tcp::socket socket) : state_(*state), stream_(std::move(socket)) {
    ++state_.connections;
    Wait();
    parser_.header_limit(kMostHeader);
    // A request with a body is refused with a reason.
    parser_.body_limit(std::numeric_limits<uint64_t>::max());
  }
  ~Connection() {
    if (is_page_) {
      const std::lock_guard lock(state_.mutex);
      --state_.open_pages;
      state_.last_page = std::chrono::steady_clock::now();
    }
    if (is_answer_) --state_.answers;
    StopWaiting();
    if (!is_cut_) --state_.connections;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void ReadQuestion() {
    stream_.expires_after(kMostAsking);
    ReadFirstLine();
  }
  // Closes the connection and stops counting it. Pending operations end with an error, and then it
  // is destroyed.
  void Cut() {
    StopWaiting();
    is_cut_ = true;
    --state_.connections;
    stream_.close();
  }

 private:
  void Wait() { place_ = state_.waiting.insert(state_.waiting.end(), this); }
  void StopWaiting() {
    if (place_) state_.waiting.erase(*std::exchange(place_, std::nullopt));
  }

  // Reads the first line only: a client without the address costs no more than that.
  void ReadFirstLine() {
    const size_t room = std::min<size_t>(4096, buffer_.max_size() - buffer_.size());
    if (room == 0) return ReadFields();  // which says that it is too long
    stream_.async_read_some(buffer_.prepare(room),
                            [self = shared_from_this()](Error error, size_t got) {
                              if (!error) self->OnPiece(got);
                            });
  }
  void OnPiece(size_t got) {
    buffer_.commit(got);
    const std::string_view text(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return ReadFirstLine();
    const std::string_view target = TargetIn(text.substr(0, end));
    if (!target.empty() && !state_.IsKnown(SecretIn(target))) return Refuse(403, kWrongAddress);
    ReadFields();
  }
  void ReadFields() {
    http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](Error error, size_t) { self->OnQuestion(error); });
  }

  void OnQuestion(Error error) {
    if (error == http::error::end_of_stream) return;
    // A client that was too slow is gone by now.
    if (error) return Refuse(400, error.message());
    const http::request<http::empty_body>& request = parser_.get();
    if (const char* const refusal = state_.Refusal(request)) return Refuse(403, refusal);
    if (state_.Spend(SecretIn(View(request.target())))) return LeadToPage();
    PageQuestion question = {
        .target = std::string(View(request.target()).substr(state_.secret.size() + 2)),
        .is_order = request.method() == http::verb::post};
    if (IsOpenQuestion(question.target)) return KeepOpen();
    if (state_.answers >= kMostAnswers) return Refuse(503, "too many questions at once");
    ++state_.answers;
    is_answer_ = true;
    StopWaiting();
    // The answer may take any time.
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

  void Refuse(int status, const std::string& why) {
    Write({.status = status, .type = "text/plain", .body = why + "\n"});
  }
  // The browser shows, and keeps, the address that is good as long as the server lives.
  void LeadToPage() {
    response_.set("Location", "/" + state_.secret + "/");
    Write({.status = 303, .type = "text/plain"});
  }

  void Write(PageAnswer answer) {
    SetHeader(answer.status, answer.type);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(state_.options.most_reading);
    http::async_write(stream_, response_, [self = shared_from_this()](Error error, size_t) {
      if (std::exchange(self->is_answer_, false)) --self->state_.answers;
      if (error) return;
      if (!self->place_ && !self->is_cut_) self->Wait();
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
    if (!is_page_) return Refuse(503, "too many pages");
    StopWaiting();
    SetHeader(200, "text/event-stream");
    header_.emplace(response_);
    stream_.expires_after(state_.options.most_reading);
    http::async_write_header(stream_, *header_, [self = shared_from_this()](Error error, size_t) {
      if (error) return;
      self->stream_.expires_never();
      self->ReadToItsEnd();
    });
  }

  // Reads the rest of the request: closing a connection with unread data would take the answer away
  // from the client.
  void ReadToItsEnd() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = shared_from_this()](Error error, size_t got) {
                              self->unread_ += got;
                              if (!error && self->unread_ <= kMostUnread) self->ReadToItsEnd();
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
  std::optional<std::list<Connection*>::iterator> place_;  // among those that wait
  size_t unread_ = 0;
  bool is_page_ = false;
  bool is_answer_ = false;
  bool is_cut_ = false;
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
  acceptor.async_accept(
      [this](Error error, Tcp::socket socket) { OnAccepted(error, std::move(socket)); });
}

void PageServer::State::OnAccepted(Error error, Tcp::socket socket) {
  if (IsShortOfSomething(error)) {
    // Fewer than that can be had at once, now and later.
    most_connections = std::max(kFewestConnections, connections - connections / 4);
    if (!MakeRoom()) {
      pause.expires_after(kLook);
      return pause.async_wait([this](Error) { Accept(); });
    }
    // The socket of the oldest connection is closed by now.
    return Accept();
  }
  // Else who asked was gone before.
  if (!error) {
    KeepFromPrograms(static_cast<RawHandle>(socket.native_handle()));
    while (connections >= most_connections && MakeRoom()) {
    }
    if (connections < most_connections && IsLetIn(socket)) {
      std::make_shared<Connection>(this, std::move(socket))->ReadQuestion();
    }
  }
  Accept();
}

// Returns false if the connection is another user's, or if its user is unknown although the system
// reports users.
bool PageServer::State::IsLetIn(const Tcp::socket& socket) {
  if (options.any_user || !users_are_told) return true;
  const PeerUser user = UserBehind(&users, socket);
  if (user == PeerUser::kSame) return true;
  // Most connections of an unknown user are closed at their other end already.
  if (user == PeerUser::kOther && !std::exchange(has_warned, true) && options.warn) {
    options.warn(
        "a connection of another user was refused, as later ones will be; if it was yours, through "
        "a program of another user such as root, start again with --any-user");
  }
  return false;
}

// Cuts the one that has waited longest. A browser asks at once, so it is not a browser's.
bool PageServer::State::MakeRoom() {
  if (waiting.empty()) return false;
  waiting.front()->Cut();
  return true;
}

bool PageServer::State::IsTicket(std::string_view text) {
  const std::lock_guard lock(mutex);
  bool is_one = false;
  for (const std::string& ticket : tickets) is_one = IsSame(text, ticket) || is_one;
  return is_one;
}

bool PageServer::State::Spend(std::string_view text) {
  const std::lock_guard lock(mutex);
  return std::erase_if(tickets, [&](const std::string& ticket) { return IsSame(text, ticket); }) !=
         0;
}

// Returns why a request is refused; nullptr if it is not.
const char* PageServer::State::Refusal(const http::request<http::empty_body>& request) {
  if (request.count("Host") != 1 || View(request["Host"]) != host) {
    return "this server has another name";
  }
  const size_t origins = request.count("Origin");
  if (origins > 1 || (origins == 1 && View(request["Origin"]) != "http://" + host)) {
    return "pages of another origin may not ask";
  }
  const std::string_view target = View(request.target());
  const std::string_view secret_in = SecretIn(target);
  const std::string_view behind = secret_in.empty() ? "" : target.substr(secret_in.size() + 2);
  // The page itself may be reached from anywhere with its address: from the file that the browser
  // is started with, or by a click in a terminal.
  const bool comes_to_page = behind.empty() && View(request["Sec-Fetch-Mode"]) == "navigate" &&
                             View(request["Sec-Fetch-Dest"]) == "document";
  const std::string_view site = View(request["Sec-Fetch-Site"]);
  if (!site.empty() && site != "same-origin" && site != "none" && !comes_to_page) {
    return "other sites may not ask";
  }
  const bool is_order = request.method() == http::verb::post;
  if (is_order && origins == 0) return "an order names its origin";
  if (!is_order && request.method() != http::verb::get) return "only GET and POST are known";
  const std::string_view length = View(request["Content-Length"]);
  if (request.count("Transfer-Encoding") != 0 || (!length.empty() && length != "0")) {
    return "questions have no body";
  }
  if (request.count("Range") != 0) return "answers have no parts";
  if (!IsKnown(secret_in)) return kWrongAddress;
  if (IsTicket(secret_in)) {
    if (is_order || !behind.empty()) return "this address leads to the page, and answers nothing";
    // A prefetch would use up the address before a user opens it.
    if (request.count("Sec-Purpose") != 0)
      return "this address is not to be fetched before its time";
  }
  return nullptr;
}

PageAnswer Refused(int status, std::string_view why) {
  return {status, "text/plain; charset=utf-8", VisibleText(why) + "\n"};
}

PageAnswer Refused(const Status& status) {
  return Refused(status.code() == StatusCode::kInvalidArgument ? 400 : 500, status.message());
}

PageServer::PageServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

PageServer::~PageServer() {
  state_->answerers.stop();
  state_->answerers.join();
  state_->network.stop();
  state_->listener.join();
}

Result<std::unique_ptr<PageServer>> PageServer::Open(PageServerOptions options, Answerer answerer) {
  const uint16_t port = options.port;
  auto state = std::make_unique<State>(std::move(options), std::move(answerer));
  state->secret = NewSecret();
  if (state->secret.empty()) return Status(StatusCode::kIo, "the system has no random numbers");
  state->users_are_told = state->options.any_user || SystemTellsUsers(&state->users);
  if (!state->users_are_told && state->options.warn) {
    state->options.warn(
        "this system does not say whose connections are: anyone who knows the address can "
        "connect");
  }
  Error error = state->Listen(port);
  const Tcp::endpoint bound = error ? Tcp::endpoint() : state->acceptor.local_endpoint(error);
  if (error) {
    return Status(StatusCode::kIo,
                  fmt::format("port {} of 127.0.0.1 is not available: {}; give another with "
                              "--port, or none to take a free one",
                              port, error.message()));
  }
  state->host = fmt::format("127.0.0.1:{}", bound.port());
  state->Accept();
  State* const raw = state.get();
  state->listener = std::thread([raw] { raw->network.run(); });
  return std::unique_ptr<PageServer>(new PageServer(std::move(state)));
}

std::string PageServer::NewAddress() {
  const std::string ticket = NewSecret();
  const std::lock_guard lock(state_->mutex);
  if (!ticket.empty()) state_->tickets.push_back(ticket);
  return fmt::format("http://{}/{}/", state_->host, ticket);
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
