// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/page_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "os/random.h"

namespace cairn {
namespace {

constexpr char kHost[] = "127.0.0.1";
constexpr auto kLook = std::chrono::milliseconds(200);
// A page that is loaded again is away for a moment.
constexpr auto kLinger = std::chrono::seconds(4);
// A page that is gone is noticed when something is written to it.
constexpr auto kHeartbeat = std::chrono::seconds(1);
constexpr int kMostConnections = 64;  // each has a thread; an open page keeps one
constexpr int kMostSilenceS = 2;

// As long for each text of the same length, so that nobody finds the secret letter by letter.
bool IsSame(std::string_view text, std::string_view secret) {
  unsigned different = text.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < text.size() && i < secret.size(); ++i) {
    different |= static_cast<unsigned char>(text[i]) ^ static_cast<unsigned char>(secret[i]);
  }
  return different == 0;
}

}  // namespace

struct PageServer::State {
  class Connections;

  httplib::Server server;
  std::thread listener;
  Answerer answerer;
  std::string secret;
  std::string host;  // "127.0.0.1:41234"
  std::string address;

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  int connections = 0;
  int answering = 0;
  int open_pages = 0;
  bool had_page = false;
  std::chrono::steady_clock::time_point last_page;

  // Why a request is refused; nullptr if it is not.
  const char* Refusal(const httplib::Request& request) const {
    if (request.get_header_value_count("Host") != 1 || request.get_header_value("Host") != host) {
      return "this server has another name";
    }
    const std::string origin = request.get_header_value("Origin");
    const bool has_origin = request.has_header("Origin");
    if (request.get_header_value_count("Origin") > 1) return "pages of another origin may not ask";
    if (has_origin && origin != "http://" + host) return "pages of another origin may not ask";
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none") return "other sites may not ask";
    if (request.method == "POST" && !has_origin) return "an order names its origin";
    if (request.method != "GET" && request.method != "POST") return "only GET and POST are known";
    const std::string length = request.get_header_value("Content-Length");
    if (request.has_header("Transfer-Encoding") || (!length.empty() && length != "0")) {
      return "questions have no body";
    }
    if (request.has_header("Range")) return "answers have no parts";
    const std::string_view target = request.target;
    const size_t end = target.find('/', 1);
    if (end == std::string_view::npos || !IsSame(target.substr(1, end - 1), secret)) {
      return "the address is not the one that cairn view has printed";
    }
    return nullptr;
  }

  void Answer(const httplib::Request& request, httplib::Response* response) {
    const PageQuestion question = {.target = request.target.substr(secret.size() + 2),
                                   .is_order = request.method == "POST"};
    if (question.target == "open") return KeepOpen(response);
    if (!BeginAnswer()) {
      response->status = 503;
      return;
    }
    const std::shared_ptr<void> ends(nullptr, [this](void*) { EndAnswer(); });
    const PageAnswer answer = answerer(question);
    response->status = answer.status;
    response->set_content(answer.body, answer.type);
  }

  bool BeginAnswer() {
    const std::lock_guard lock(mutex);
    if (!stopping) ++answering;
    return !stopping;
  }
  void EndAnswer() {
    const std::lock_guard lock(mutex);
    --answering;
    changed.notify_all();
  }

  // A page says that it is there by an answer that does not end.
  void KeepOpen(httplib::Response* response) {
    {
      const std::lock_guard lock(mutex);
      ++open_pages;
      had_page = true;
    }
    response->set_chunked_content_provider(
        "text/event-stream",
        [this](size_t, httplib::DataSink& sink) {
          std::unique_lock lock(mutex);
          if (changed.wait_for(lock, kHeartbeat, [this] { return stopping; })) return false;
          lock.unlock();
          constexpr std::string_view kBeat = ":\n\n";
          return sink.write(kBeat.data(), kBeat.size());
        },
        [this](bool) {
          const std::lock_guard lock(mutex);
          --open_pages;
          last_page = std::chrono::steady_clock::now();
        });
  }

  void Prepare() {
    // Not SO_REUSEPORT, the library's own choice: another process could listen at the same port. On Windows SO_REUSEADDR
    // lets one do that, too.
    server.set_socket_options([](socket_t socket) {
#ifdef SO_EXCLUSIVEADDRUSE
      constexpr int kOption = SO_EXCLUSIVEADDRUSE;
#else
      constexpr int kOption = SO_REUSEADDR;
#endif
      constexpr int kYes = 1;
      setsockopt(socket, SOL_SOCKET, kOption, reinterpret_cast<const char*>(&kYes), sizeof(kYes));
    });
    // One question a connection: what stands behind a question that was refused is never taken for another.
    server.set_keep_alive_max_count(1);
    server.set_keep_alive_timeout(kMostSilenceS);
    server.set_read_timeout(kMostSilenceS);
    server.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                {"X-Frame-Options", "DENY"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Resource-Policy", "same-origin"},
                                {"Cross-Origin-Opener-Policy", "same-origin"},
                                {"Cache-Control", "no-store"}});
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const char* const refusal = Refusal(request);
          if (refusal == nullptr) return httplib::Server::HandlerResponse::Unhandled;
          response.status = 403;
          response.set_content(std::string(refusal) + "\n", "text/plain");
          return httplib::Server::HandlerResponse::Handled;
        });
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      Answer(request, &response);
    };
    server.Get("/.*", answer);
    server.Post("/.*", answer);
  }
};

// Threads that the server does not wait for at its end: who sends a letter now and then could hold it up for as long as
// he likes. They keep what they use.
class PageServer::State::Connections final : public httplib::TaskQueue {
 public:
  explicit Connections(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // Older versions of the library expect no answer.
  using Accepted = decltype(std::declval<TaskQueue&>().enqueue(nullptr));
  Accepted enqueue(std::function<void()> serve) override {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(
        lock, [this] { return state_->connections < kMostConnections || state_->stopping; });
    ++state_->connections;
    std::thread([serve = std::move(serve), state = state_] {
      serve();
      const std::lock_guard ended(state->mutex);
      --state->connections;
      state->changed.notify_all();
    }).detach();
    return static_cast<Accepted>(true);
  }
  void shutdown() override {}

 private:
  const std::shared_ptr<State> state_;
};

PageServer::PageServer(std::shared_ptr<State> state) : state_(std::move(state)) {}

PageServer::~PageServer() {
  {
    std::unique_lock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
    state_->changed.wait(lock, [this] { return state_->answering == 0; });
  }
  state_->server.stop();
  state_->listener.join();
}

Result<std::unique_ptr<PageServer>> PageServer::Open(uint16_t port, Answerer answerer) {
  auto state = std::make_shared<State>();
  std::array<std::byte, 16> secret;
  if (!FillWithSecrets(secret)) return Status(StatusCode::kIo, "the system has no random numbers");
  for (const std::byte byte : secret)
    state->secret += fmt::format("{:02x}", static_cast<unsigned>(byte));
  state->answerer = std::move(answerer);
  state->Prepare();
  state->server.new_task_queue = [weak = std::weak_ptr(state)] {
    return new State::Connections(weak.lock());
  };
  int bound = port;
  if (port == 0) {
    bound = state->server.bind_to_any_port(kHost);
  } else if (!state->server.bind_to_port(kHost, port)) {
    bound = -1;
  }
  if (bound <= 0) {
    return Status(StatusCode::kIo, fmt::format("port {} of {} cannot be had; --port names another, "
                                               "and without it a free one is taken",
                                               port, kHost));
  }
  state->host = fmt::format("{}:{}", kHost, bound);
  state->address = fmt::format("http://{}/{}/", state->host, state->secret);
  State* const raw = state.get();
  state->listener = std::thread([raw] { raw->server.listen_after_bind(); });
  // Else it could be stopped before it has begun, and would not notice.
  while (!raw->server.is_running()) std::this_thread::yield();
  return std::unique_ptr<PageServer>(new PageServer(std::move(state)));
}

const std::string& PageServer::address() const {
  return state_->address;
}

void PageServer::Serve(const std::function<bool()>& is_stopped) {
  std::unique_lock lock(state_->mutex);
  while (!is_stopped()) {
    const bool left = state_->had_page && state_->open_pages == 0 &&
                      std::chrono::steady_clock::now() - state_->last_page > kLinger;
    if (left) return;
    state_->changed.wait_for(lock, kLook);
  }
}

}  // namespace cairn
