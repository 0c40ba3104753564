// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/mcp_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/json_writer.h"
#include "base/text.h"
#include "os/file.h"
#include "reader/mcp/json_rpc.h"
#include "reader/mcp/tool_answer.h"
#include "reader/mcp/tools.h"

namespace cairn {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;

// The oldest first; the last is what a client gets that asks for another one.
constexpr std::string_view kVersions[] = {"2024-11-05", "2025-03-26", "2025-06-18"};
constexpr std::string_view kFirstWithoutBatches = "2025-06-18";
constexpr std::string_view kFirstStructured = "2025-06-18";

// The answers of a batch, which come as one line.
struct Batch {
  size_t missing = 0;
  std::vector<std::string> answers;
};

struct WaitingCall {
  std::string id;     // JSON
  std::string token;  // of its progress, JSON; "" if nobody wants to know
  ToolCall call;
  std::shared_ptr<Batch> batch;  // null: it came alone
};

// JSON of what may be an id or a token; "" for anything else.
std::string IdOf(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  // Read as that of a message is.
  const RpcLine line =
      ReadRpcLine(json({{"jsonrpc", "2.0"}, {"id", *found}, {"method", ""}}).dump());
  const bool is_id =
      !line.messages.empty() && line.messages.front().kind == RpcMessage::Kind::kRequest;
  return is_id ? line.messages.front().id : "";
}

std::string TokenOf(const std::string& params) {
  const json read = ParseBoundedJson(params);
  const auto meta = read.find("_meta");
  return meta == read.end() || !meta->is_object() ? "" : IdOf(*meta, "progressToken");
}

// Names of files come from a verb of ours: none leads out of the folder all the same.
std::string ReadImage(const std::filesystem::path& folder, const std::string& name) {
  if (name.find_first_of("/\\:") != std::string::npos || name.starts_with('.')) return "";
  std::error_code error;
  const File file = File::Open(FilePath(folder / name), FileMode::kRead, error);
  const uint64_t size = error ? 0 : file.facts().size_bytes;
  if (size == 0 || size > kMostImageBytes) return "";
  std::string bytes(size, '\0');
  size_t read_bytes = 0;
  error = file.ReadAt(0, std::as_writable_bytes(std::span(bytes)), &read_bytes);
  return error || read_bytes != size ? "" : bytes;
}

// Reads the images of an answer, up to their bounds; the answer names the others.
std::vector<std::string> TakeImages(const std::filesystem::path& folder, ToolAnswer* answer) {
  std::vector<std::string> images;
  std::vector<std::string> not_shown;
  size_t bytes = 0;
  for (const std::string& name : answer->images) {
    std::string image = images.size() == kMostAnswerImages ? "" : ReadImage(folder, name);
    if (image.empty() || bytes + image.size() > kMostImagesBytes) {
      not_shown.push_back(name);
      continue;
    }
    bytes += image.size();
    images.push_back(std::move(image));
  }
  if (!not_shown.empty()) AddTexts("images_not_shown", not_shown, answer);
  return images;
}

// The last line of what a verb says of itself: a terminal would have overwritten those before.
std::string LastLine(std::string_view errors) {
  const size_t end = errors.find_last_not_of("\r\n") + 1;
  const std::string_view lines = errors.substr(0, end);
  return VisibleText(Utf8Prefix(lines.substr(lines.find_last_of("\r\n") + 1), 512));
}

}  // namespace

struct McpSession::State {
  const McpSettings settings;
  const Send send;
  const Run run;

  std::mutex mutex;  // of all below, and of `send`
  std::condition_variable changed;
  std::string version;  // of the protocol; "" before "initialize"
  std::deque<WaitingCall> waiting;
  std::string running;        // id of the call that is being answered; "" if there is none
  bool is_cancelled = false;  // the one that is running
  bool has_ended = false;     // the input
  std::atomic<bool> is_stopped = false;  // without the mutex: `send` may never return

  State(McpSettings settings, Send send, Run run)
      : settings(std::move(settings)), send(std::move(send)), run(std::move(run)) {}

  // ---- Answers; with the mutex locked ----

  void Answer(const std::shared_ptr<Batch>& batch, std::string answer) {
    if (is_stopped) return;
    if (batch == nullptr) {
      send(answer);
      return;
    }
    batch->answers.push_back(std::move(answer));
    OneLess(batch);
  }

  // Sends a batch's answers once none is missing; those that were cancelled have none.
  void OneLess(const std::shared_ptr<Batch>& batch) {
    if (batch == nullptr || --batch->missing != 0 || batch->answers.empty()) return;
    send(fmt::format("[{}]", fmt::join(batch->answers, ",")));
  }

  std::string Initialize(const RpcMessage& message) {
    const json params = ParseBoundedJson(message.params);
    const auto wanted = params.find("protocolVersion");
    if (wanted == params.end() || !wanted->is_string()) {
      return RpcFailure(message.id, kRpcInvalidParams, "'protocolVersion' is missing");
    }
    version = kVersions[std::size(kVersions) - 1];
    for (const std::string_view known : kVersions) {
      if (*wanted == known) version = known;
    }
    std::string text;
    JsonWriter writer(&text, JsonWriter::kOneLine);
    writer.BeginObject();
    writer.StringKey("protocolVersion", version);
    writer.BeginObject("capabilities");
    writer.BeginObject("tools");
    writer.BoolKey("listChanged", false);
    writer.EndObject();
    writer.EndObject();
    writer.BeginObject("serverInfo");
    writer.StringKey("name", "cairn");
    writer.StringKey("title", "Cairn");
    writer.StringKey("version", settings.version);
    writer.EndObject();
    writer.StringKey("instructions", ToolInstructions());
    writer.EndObject();
    return RpcResult(message.id, text);
  }

  // Returns the answer; "" for one that comes later.
  std::string Request(const RpcMessage& message, const std::shared_ptr<Batch>& batch) {
    if (message.method == "ping") return RpcResult(message.id, "{}");
    if (message.method == "initialize") {
      if (!version.empty() || batch != nullptr) {
        return RpcFailure(message.id, kRpcInvalidRequest, "initialize comes once, and alone");
      }
      return Initialize(message);
    }
    if (version.empty()) {
      return RpcFailure(message.id, kRpcInvalidRequest, "initialize has to come first");
    }
    if (message.method == "tools/list") {
      return RpcResult(message.id, fmt::format("{{\"tools\":{}}}", ToolsJson(settings.allow_run)));
    }
    if (message.method == "tools/call") return CallTool(message, batch);
    return RpcFailure(
        message.id, kRpcMethodNotFound,
        fmt::format("there is no method '{}'", Utf8Prefix(message.method, kMostRpcMethodBytes)));
  }

  std::string CallTool(const RpcMessage& message, const std::shared_ptr<Batch>& batch) {
    const auto has_id = [&message](const WaitingCall& call) { return call.id == message.id; };
    if (running == message.id || std::ranges::any_of(waiting, has_id)) {
      return RpcFailure(message.id, kRpcInvalidRequest, "a request with this id is under way");
    }
    if (waiting.size() == kMostWaitingCalls) {
      return RpcFailure(message.id, kRpcServerBusy,
                        fmt::format("{} calls wait already", kMostWaitingCalls));
    }
    Result<ToolCall> call =
        ReadToolCall(message.params, {.allow_run = settings.allow_run, .folder = settings.folder});
    if (!call.ok()) return RpcFailure(message.id, kRpcInvalidParams, call.status().message());
    waiting.push_back({message.id, TokenOf(message.params), std::move(call).value(), batch});
    changed.notify_all();
    return "";
  }

  void Notification(const RpcMessage& message) {
    if (message.method != "notifications/cancelled") return;
    const std::string id = IdOf(ParseBoundedJson(message.params), "requestId");
    if (id.empty()) return;
    if (id == running) is_cancelled = true;
    const auto found = std::ranges::find(waiting, id, &WaitingCall::id);
    if (found == waiting.end()) return;
    OneLess(found->batch);
    waiting.erase(found);
  }

  void Take(const RpcMessage& message, const std::shared_ptr<Batch>& batch) {
    std::string answer;
    switch (message.kind) {
      case RpcMessage::Kind::kResponse: return;
      case RpcMessage::Kind::kNotification: return Notification(message);
      case RpcMessage::Kind::kInvalid:
        answer = RpcFailure(message.id, kRpcInvalidRequest, message.error);
        break;
      case RpcMessage::Kind::kRequest: answer = Request(message, batch); break;
    }
    if (!answer.empty()) Answer(batch, std::move(answer));
  }

  // ---- Calls ----

  // Called while a verb runs; returns false to end it.
  bool Look(const WaitingCall& job, const std::string& errors, steady_clock::time_point start,
            steady_clock::time_point* told) {
    const std::lock_guard lock(mutex);
    if (is_stopped || is_cancelled || (has_ended && job.call.plays)) return false;
    const auto now = steady_clock::now();
    if (job.token.empty() || now - *told < settings.between_progress) return true;
    *told = now;
    const double seconds = std::chrono::duration<double>(now - start).count();
    const std::string line = LastLine(errors);
    std::string text;
    JsonWriter writer(&text, JsonWriter::kOneLine);
    writer.BeginObject();
    writer.StringKey("jsonrpc", "2.0");
    writer.StringKey("method", "notifications/progress");
    writer.BeginObject("params");
    writer.JsonKey("progressToken", job.token);
    writer.RealKey("progress", seconds);  // grows, as it has to; the end is not known
    writer.StringKey("message", line.empty() ? fmt::format("cairn {} runs, {:.0f} s",
                                                           job.call.words.front(), seconds)
                                             : line);
    writer.EndObject();
    writer.EndObject();
    send(text);
    return true;
  }

  std::string ResultOf(const WaitingCall& job) {
    const std::filesystem::path images = FilePath(settings.folder) / "images";
    std::error_code ignored;
    if (job.call.tool == ToolName::kImage) std::filesystem::remove_all(images, ignored);
    const auto start = steady_clock::now();
    auto told = start;
    const Result<VerbResult> result = run(
        job.call.words, [&](const std::string& errors) { return Look(job, errors, start, &told); });
    ToolAnswer answer = result.ok()
                            ? MakeToolAnswer(job.call, *result)
                            : ToolAnswer{.is_error = true, .json = result.status().message()};
    return ToolResultJson(answer, TakeImages(images, &answer), version >= kFirstStructured);
  }
};

McpSession::McpSession(McpSettings settings, Send send, Run run)
    : state_(std::make_unique<State>(std::move(settings), std::move(send), std::move(run))) {}

McpSession::~McpSession() = default;

void McpSession::Receive(std::string_view line) {
  const RpcLine read = ReadRpcLine(line);
  const std::lock_guard lock(state_->mutex);
  if (state_->is_stopped) return;
  if (read.error_code != 0) {
    state_->Answer(nullptr, RpcFailure("null", read.error_code, read.problem));
    return;
  }
  if (read.is_batch && state_->version >= kFirstWithoutBatches) {
    state_->Answer(nullptr, RpcFailure("null", kRpcInvalidRequest,
                                       "this version of the protocol has no batches"));
    return;
  }
  std::shared_ptr<Batch> batch;
  if (read.is_batch) {
    batch = std::make_shared<Batch>();
    batch->missing =
        static_cast<size_t>(std::ranges::count_if(read.messages, [](const RpcMessage& message) {
          return message.kind == RpcMessage::Kind::kRequest ||
                 message.kind == RpcMessage::Kind::kInvalid;
        }));
  }
  for (const RpcMessage& message : read.messages) state_->Take(message, batch);
}

void McpSession::EndOfInput() {
  const std::lock_guard lock(state_->mutex);
  state_->has_ended = true;
  for (const WaitingCall& job : state_->waiting) {
    if (!job.call.plays) continue;
    state_->Answer(job.batch,
                   RpcFailure(job.id, kRpcServerBusy,
                              "the input has ended: nothing is played for a client that goes"));
  }
  std::erase_if(state_->waiting, [](const WaitingCall& job) { return job.call.plays; });
  state_->changed.notify_all();
}

bool McpSession::AnswerNext(std::chrono::milliseconds most) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.changed.wait_for(lock, most, [&state] {
    return state.is_stopped || state.has_ended || !state.waiting.empty();
  });
  if (state.is_stopped) return false;
  if (state.waiting.empty()) return !state.has_ended;
  const WaitingCall job = std::move(state.waiting.front());
  state.waiting.pop_front();
  state.running = job.id;
  state.is_cancelled = false;
  lock.unlock();
  std::string result = state.ResultOf(job);
  lock.lock();
  state.running.clear();
  // A client that has cancelled waits for no answer.
  if (state.is_cancelled) {
    state.OneLess(job.batch);
  } else {
    state.Answer(job.batch, RpcResult(job.id, result));
  }
  return !state.is_stopped;
}

void McpSession::Stop() {
  state_->is_stopped = true;
  state_->changed.notify_all();
}

}  // namespace cairn
