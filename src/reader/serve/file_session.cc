// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/file_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/trace_reader.h"
#include "os/file.h"
#include "os/random.h"
#include "reader/analysis/analysis.h"
#include "reader/page/page.h"
#include "reader/serve/verb_process.h"
#include "reader/view/bound_state.h"
#include "reader/view/call_listing.h"
#include "reader/view/call_pages.h"
#include "reader/view/trace_views.h"

namespace cairn {
namespace {

constexpr uint64_t kMostLines = 2000;
constexpr size_t kMostTextBytes = size_t{16} << 20;
constexpr size_t kMostImageBytes = size_t{64} << 20;

PageAnswer Refused(int status, std::string why) {
  return {status, "text/plain; charset=utf-8", VisibleText(why) + "\n"};
}
PageAnswer Refused(const Status& status) {
  return Refused(status.code() == StatusCode::kInvalidArgument ? 400 : 500, status.message());
}

std::optional<uint64_t> Number(const PageQuestion& question, const char* key) {
  const std::string text = question.value(key);
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size())
    return std::nullopt;
  return number;
}

std::string OneNumber(std::string_view key, uint64_t number) {
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  json.BeginObject();
  json.NumberKey(key, number);
  json.EndObject();
  return text;
}

// For this user alone, and gone at the end.
class PrivateFolder {
 public:
  static Result<PrivateFolder> Make() {
    uint64_t random = 0;
    std::error_code error;
    if (!FillWithSecrets(std::as_writable_bytes(std::span(&random, 1)))) {
      return Status(StatusCode::kIo, "the system has no random numbers");
    }
    const std::filesystem::path path =
        std::filesystem::temp_directory_path(error) / fmt::format("cairn-view-{:016x}", random);
    if (!error) std::filesystem::create_directory(path, error);
    if (!error) {
      std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
    }
    if (error) return StatusFromError(error, fmt::format("'{}' cannot be made", TextOfPath(path)));
    return PrivateFolder(path);
  }
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace

struct FileSession::State {
  std::string path;
  std::string other;
  std::optional<Snapshot> snapshot;
  Analysis analysis;
  cli::GpuStates gpu;
  std::optional<PrivateFolder> folder;
  std::atomic<bool> ending{false};

  // The trace is read by one thread at a time.
  std::mutex trace_mutex;
  std::optional<TraceReader> trace;
  std::condition_variable counted;
  std::optional<cli::CallPages> pages;
  Status count_status;
  std::thread counter;

  // What plays runs one at a time.
  std::mutex play_mutex;
  std::thread search;
  std::mutex search_mutex;
  bool searching = false;
  std::string search_progress;
  std::string search_answer;  // JSON

  // ---- Reading ----

  // With a reader of its own, as it goes through all of the trace.
  void Count() {
    Result<TraceReader> reader = TraceReader::Open(path);
    Result<cli::CallPages> made = reader.ok()
                                      ? cli::CallPages::Make(*reader, [this] { return !ending; })
                                      : Result<cli::CallPages>(reader.status());
    const std::lock_guard lock(trace_mutex);
    if (made.ok()) {
      pages = std::move(made).value();
    } else {
      count_status = made.status();
    }
    counted.notify_all();
  }

  // Waits until the lines are counted.
  Status WaitForPages(std::unique_lock<std::mutex>& lock) {
    counted.wait(lock, [this] { return pages.has_value() || !count_status.ok(); });
    return count_status;
  }

  PageAnswer Page() const {
    PageAnswer answer{.type = "text/html; charset=utf-8"};
    const Status status = WritePage({.file = TextOfPath(FilePath(path).filename()),
                                     .snapshot = snapshot ? &*snapshot : nullptr,
                                     .analysis = &analysis,
                                     .has_trace = trace.has_value(),
                                     .other = TextOfPath(FilePath(other).filename()),
                                     .is_served = true},
                                    [&answer](std::string_view piece) {
                                      answer.body += piece;
                                      return true;
                                    });
    return status.ok() ? answer : Refused(status);
  }

  PageAnswer Calls(const PageQuestion& question) {
    const uint64_t count = std::min(Number(question, "count").value_or(kMostLines), kMostLines);
    const std::string text = question.value("text");
    PageAnswer answer{.type = "application/jsonl"};
    uint64_t found = 0;
    // Pieces are whole lines.
    const auto print = [&](std::string_view piece) {
      while (!piece.empty() && found != count) {
        const std::string_view line = piece.substr(0, piece.find('\n') + 1);
        piece.remove_prefix(line.size());
        if (line.find(text) == std::string_view::npos) continue;
        answer.body += line;
        ++found;
      }
      return found != count && answer.body.size() < kMostTextBytes;
    };
    std::unique_lock lock(trace_mutex);
    Status status;
    if (const std::optional<uint64_t> first = Number(question, "first")) {
      status = WaitForPages(lock);
      if (status.ok()) status = pages->Print(*trace, *first, count, gpu, print);
    } else {
      status = Filtered(question, text.empty() ? count : ~uint64_t{0}, print);
    }
    return status.ok() ? answer : Refused(status);
  }

  Status Filtered(const PageQuestion& question, uint64_t most,
                  const std::function<bool(std::string_view)>& print) {
    cli::CallListingOptions options;
    options.json = true;
    options.names = false;
    options.filter.from = Number(question, "from").value_or(1);
    options.filter.most = most;
    options.filter.function = question.value("function");
    options.filter.object = Number(question, "object");
    if (!options.filter.object && !question.value("object").empty()) {
      options.filter.object_name = question.value("object");
      options.names = true;
    }
    if (const auto thread = Number(question, "thread")) {
      options.filter.thread = static_cast<uint32_t>(std::min<uint64_t>(*thread, ~0u));
    }
    options.filter.first_frame = options.filter.last_frame = Number(question, "frame");
    return cli::ListCalls(*trace, options, gpu, print).status();
  }

  PageAnswer Line(const PageQuestion& question) {
    const std::optional<uint64_t> number = Number(question, "number");
    if (!number) return Refused(400, "the number of a call is missing");
    std::unique_lock lock(trace_mutex);
    if (const Status status = WaitForPages(lock); !status.ok()) return Refused(status);
    const Result<uint64_t> line = pages->LineOf(*trace, *number);
    return line.ok() ? PageAnswer{.body = OneNumber("line", *line)} : Refused(line.status());
  }

  PageAnswer CountOfLines() {
    std::unique_lock lock(trace_mutex);
    if (const Status status = WaitForPages(lock); !status.ok()) return Refused(status);
    return {.body = OneNumber("lines", pages->line_count())};
  }

  PageAnswer StateAt(const PageQuestion& question) {
    const std::optional<uint64_t> call = Number(question, "call");
    if (!call) return Refused(400, "the number of a call is missing");
    // It reads up to the call, and others go on meanwhile.
    Result<TraceReader> reader = TraceReader::Open(path);
    if (!reader.ok()) return Refused(reader.status());
    (void)reader->LimitCost();
    const Result<cli::ListState> state = cli::ListStateAt(*reader, *call);
    return state.ok() ? PageAnswer{.body = cli::ListStateJson(*state)} : Refused(state.status());
  }

  PageAnswer Objects() const {
    Result<TraceReader> reader = TraceReader::Open(path);
    if (!reader.ok()) return Refused(reader.status());
    const Result<cli::ObjectList> objects =
        cli::ListObjects(*reader, {.progress = [this](uint64_t, uint64_t) { return !ending; }});
    if (!objects.ok()) return Refused(objects.status());
    PageAnswer answer;
    cli::WriteObjectsJson(*objects, [&answer](std::string_view piece) {
      answer.body += piece;
      return true;
    });
    return answer;
  }

  // ---- Playing ----

  PageAnswer AnswerOf(const std::vector<std::string>& words, int most_exit_code) {
    const std::lock_guard lock(play_mutex);
    const Result<VerbResult> result = RunVerb(words, folder->path(), kMostTextBytes,
                                              [this](const std::string&) { return !ending; });
    if (!result.ok()) return Refused(result.status());
    if (result->output.empty() || result->exit_code > most_exit_code) {
      return Refused(500, result->errors);
    }
    return {.body = result->output};
  }

  PageAnswer Images(const PageQuestion& question) {
    const std::optional<uint64_t> call = Number(question, "call");
    if (!call) return Refused(400, "the number of a call is missing");
    return AnswerOf({"images", "--json", "--call", std::to_string(*call), "-o",
                     TextOfPath(folder->path() / "images"), path},
                    3);
  }

  // One of those that `cairn images` has written: a name, and no path.
  PageAnswer Image(const PageQuestion& question) const {
    const std::string name = question.value("name");
    if (name.empty() || name.find_first_of("/\\") != std::string::npos || name.starts_with('.')) {
      return Refused(400, "that is no image's name");
    }
    std::error_code error;
    const File file =
        File::Open(FilePath(folder->path() / "images" / name), FileMode::kRead, error);
    const uint64_t size = error ? 0 : file.facts().size_bytes;
    if (size == 0 || size > kMostImageBytes) return Refused(404, "there is no such image");
    PageAnswer answer{.type = "image/png", .body = std::string(size, '\0')};
    size_t read_bytes = 0;
    error = file.ReadAt(0, std::as_writable_bytes(std::span(answer.body)), &read_bytes);
    return error || read_bytes != size ? Refused(500, "the image cannot be read") : answer;
  }

  PageAnswer Compare() {
    if (other.empty()) return Refused(400, "there is no second file");
    return AnswerOf({"diff", "--json", path, other}, 1);
  }

  PageAnswer StartSearch() {
    const std::lock_guard lock(search_mutex);
    if (searching) return Refused(409, "a search runs");
    if (search.joinable()) search.join();
    searching = true;
    search_progress = search_answer = "";
    search = std::thread([this] { Search(); });
    return {.body = "{}"};
  }

  void Search() {
    const std::lock_guard lock(play_mutex);
    const Result<VerbResult> result =
        RunVerb({"bisect", "--json", "--no-output", "--journal",
                 TextOfPath(folder->path() / "journal"), path},
                folder->path(), kMostTextBytes, [this](const std::string& errors) {
                  const std::lock_guard search_lock(search_mutex);
                  search_progress = errors;
                  return !ending;
                });
    const std::lock_guard search_lock(search_mutex);
    searching = false;
    search_progress = result.ok() ? result->errors : result.status().message();
    if (result.ok()) search_answer = result->output;
  }

  PageAnswer ToldOfSearch() {
    const std::lock_guard lock(search_mutex);
    PageAnswer answer;
    JsonWriter json(&answer.body, JsonWriter::kOneLine);
    json.BeginObject();
    json.BoolKey("running", searching);
    // The last line: a terminal would have overwritten those before.
    const std::string_view told = search_progress;
    json.StringKey(
        "progress",
        told.substr(told.substr(0, told.find_last_not_of("\r\n") + 1).find_last_of("\r\n") + 1));
    json.JsonKey("answer", search_answer.empty() ? "null" : search_answer);
    json.EndObject();
    return answer;
  }
};

FileSession::FileSession(std::unique_ptr<State> state) : state_(std::move(state)) {}

FileSession::~FileSession() {
  state_->ending = true;
  for (std::thread* thread : {&state_->counter, &state_->search}) {
    if (thread->joinable()) thread->join();
  }
}

Result<std::unique_ptr<FileSession>> FileSession::Open(const std::string& path,
                                                       const std::string& other) {
  if (!HasPage()) return WritePage({}, nullptr);
  Result<FileReader> file = FileReader::Open(path);
  if (!file.ok()) return file.status();
  auto state = std::make_unique<State>();
  state->path = path;
  state->other = other;
  Result<Snapshot> snapshot = ReadSnapshot(*file);
  if (snapshot.ok()) {
    state->snapshot = std::move(snapshot).value();
    state->analysis = Analyse(*state->snapshot);
    state->gpu = cli::GpuStates(*state->snapshot);
  }
  Result<TraceReader> trace = TraceReader::FromFile(std::move(file).value());
  if (trace.ok()) {
    state->trace = std::move(trace).value();
    (void)state->trace->LimitCost();
  } else if (!state->snapshot) {
    return Status(StatusCode::kNotFound,
                  fmt::format("'{}' holds neither a report nor a trace", path));
  }
  Result<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return folder.status();
  state->folder.emplace(std::move(folder).value());
  State* const raw = state.get();
  if (state->trace) state->counter = std::thread([raw] { raw->Count(); });
  return std::unique_ptr<FileSession>(new FileSession(std::move(state)));
}

PageAnswer FileSession::Answer(const PageQuestion& question) {
  State& state = *state_;
  if (question.name.empty()) return state.Page();
  if (!state.trace) return Refused(404, "the file holds no trace");
  if (question.is_order) {
    if (question.name == "images") return state.Images(question);
    if (question.name == "bisect") return state.StartSearch();
    return Refused(404, "there is no such order");
  }
  if (question.name == "calls") return state.Calls(question);
  if (question.name == "count") return state.CountOfLines();
  if (question.name == "line") return state.Line(question);
  if (question.name == "state") return state.StateAt(question);
  if (question.name == "objects") return state.Objects();
  if (question.name == "image") return state.Image(question);
  if (question.name == "compare") return state.Compare();
  if (question.name == "bisect") return state.ToldOfSearch();
  return Refused(404, "there is no such question");
}

}  // namespace cairn
