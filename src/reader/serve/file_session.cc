// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/file_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
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
#include "format/calls/object_text.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_tables.h"
#include "os/file.h"
#include "reader/analysis/findings.h"
#include "reader/page/page.h"
#include "reader/serve/file_question.h"
#include "reader/serve/kept_playback.h"
#include "reader/serve/private_folder.h"
#include "reader/serve/verb_process.h"
#include "reader/view/bound_state.h"
#include "reader/view/call_listing.h"
#include "reader/view/call_outline.h"
#include "reader/view/call_pages.h"
#include "reader/view/trace_views.h"

namespace cairn {
namespace {

constexpr uint64_t kMostLines = 2000;
constexpr size_t kMostTextBytes = size_t{16} << 20;
constexpr size_t kMostImageBytes = size_t{64} << 20;
// Folders of the session.
constexpr char kImages[] = "images";
constexpr char kOtherImages[] = "other-images";
// A page asks for one thing at a time, and more than one page may be open.
constexpr int kMostPlaying = 4;
constexpr size_t kMostPages = 64;
constexpr std::chrono::milliseconds kBetweenLooks{50};
constexpr char kSearchRuns[] = "a search is running: nothing else is played until it ends";
constexpr char kSuperseded[] = "the page has asked for other images since";

// What the page says instead of images. It asks unasked: a browser would report another status as a fault of the page.
PageAnswer NotPlayed(std::string_view why) {
  PageAnswer answer;
  JsonWriter json(&answer.body, JsonWriter::kOneLine);
  json.BeginObject();
  json.StringKey("refused", why);
  json.EndObject();
  return answer;
}

std::string OneNumber(std::string_view key, uint64_t number) {
  std::string text;
  JsonWriter json(&text, JsonWriter::kOneLine);
  json.BeginObject();
  json.NumberKey(key, number);
  json.EndObject();
  return text;
}

// Distinguishes a file from another one that takes its place.
struct WrittenFile {
  uintmax_t size_bytes = 0;
  std::filesystem::file_time_type written;
  bool operator==(const WrittenFile&) const = default;

  static WrittenFile Of(const std::string& path) {
    std::error_code ignored;
    return {std::filesystem::file_size(FilePath(path), ignored),
            std::filesystem::last_write_time(FilePath(path), ignored)};
  }
};

// Verbs take what begins with '-' for an option.
Status MakeAbsolute(const std::string& path, std::string* absolute) {
  std::error_code error;
  *absolute = TextOfPath(std::filesystem::absolute(FilePath(path), error));
  return error ? StatusFromError(error, fmt::format("'{}' cannot be found", path)) : Status();
}

}  // namespace

struct FileSession::State {
  std::string path;   // absolute
  std::string other;  // the same, or ""
  std::string why;    // an answer of cairn why, or ""
  WrittenFile opened;
  std::optional<Snapshot> snapshot;
  Findings findings;
  cli::GpuStates gpu;
  std::optional<PrivateFolder> folder;
  std::atomic<bool> ending{false};

  // The trace is read by one thread at a time.
  std::mutex trace_mutex;
  std::optional<TraceReader> trace;
  std::condition_variable counted;
  std::optional<cli::CallPages> pages;
  std::string outline;  // JSON, once there are pages
  Status count_status;
  std::thread counter;

  // Serialises verbs that play.
  std::timed_mutex play_mutex;
  std::atomic<int> playing{0};  // runs, or waits for that
  std::optional<KeptPlayback> playback;
  std::mutex newest_mutex;
  uint64_t questions = 0;
  std::map<uint64_t, uint64_t> newest;  // by page
  std::thread search;
  std::mutex search_mutex;
  std::atomic<bool> searching{false};
  std::atomic<bool> search_stops{false};
  std::string search_progress;
  std::string search_answer;  // JSON

  // ---- Reading ----

  // Returns an error once the file is no longer the one that was opened, from which the page's data
  // came.
  Status IsSameFile() const {
    if (WrittenFile::Of(path) == opened) return Status();
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("'{}' has changed since cairn view has opened it", path));
  }

  // For who goes through the trace while others ask.
  Result<TraceReader> AnotherReader() const {
    CAIRN_RETURN_IF_ERROR(IsSameFile());
    Result<TraceReader> reader = TraceReader::Open(path);
    if (!reader.ok()) return reader;
    (void)reader->LimitCost();  // as `trace` is: lines that it counts are there
    reader->StopWhen(&ending);
    return reader;
  }

  // The calls that are suspected, the likeliest first.
  std::vector<uint64_t> Suspects() const {
    std::vector<uint64_t> calls;
    for (const SuspectWork& suspect : findings.culprit.suspects) {
      if (suspect.scope == kNone) continue;
      const uint64_t call = snapshot->events[findings.analysis.scopes[suspect.scope].event].call;
      if (call != 0 && std::ranges::find(calls, call) == calls.end()) calls.push_back(call);
    }
    return calls;
  }

  void Count() {
    Result<TraceReader> reader = AnotherReader();
    Result<cli::CallPages> made = reader.status();
    std::string shape;
    if (reader.ok()) {
      cli::CallOutline calls(*reader, gpu);
      made = cli::CallPages::Make(
          *reader, [&calls](const Record& record, uint64_t line) { calls.Add(record, line); });
      if (made.ok()) calls.Finish(made->line_count());
      shape = calls.Json(Suspects());
    }
    const std::lock_guard lock(trace_mutex);
    if (made.ok()) {
      pages = std::move(made).value();
      outline = std::move(shape);
    } else {
      count_status = made.status();
    }
    counted.notify_all();
  }

  // Waits until the lines are counted.
  Status WaitForPages(std::unique_lock<std::mutex>& lock) {
    counted.wait(lock, [this] { return pages.has_value() || !count_status.ok() || ending; });
    if (ending) return Status(StatusCode::kIo, "stopped");
    return count_status;
  }

  PageAnswer Page() const {
    PageAnswer answer{.type = "text/html; charset=utf-8"};
    const Status status = WritePage({.file = TextOfPath(FilePath(path).filename()),
                                     .snapshot = snapshot ? &*snapshot : nullptr,
                                     .findings = &findings,
                                     .has_trace = trace.has_value(),
                                     .other = TextOfPath(FilePath(other).filename()),
                                     .is_served = true,
                                     .why = why},
                                    [&answer](std::string_view piece) {
                                      answer.body += piece;
                                      return true;
                                    });
    return status.ok() ? answer : Refused(status);
  }

  PageAnswer Calls(const FileQuestion& question) {
    const uint64_t count = std::min(question.count.value_or(kMostLines), kMostLines);
    const std::string& text = question.text;
    PageAnswer answer{.type = "application/jsonl"};
    uint64_t found = 0;
    const auto goes_on = [&] { return found != count && answer.body.size() < kMostTextBytes; };
    // Pieces are whole lines.
    const auto print = [&](std::string_view piece) {
      while (!piece.empty() && goes_on()) {
        const std::string_view line = piece.substr(0, piece.find('\n') + 1);
        piece.remove_prefix(line.size());
        if (line.find(text) == std::string_view::npos) continue;
        answer.body += line;
        ++found;
      }
      return goes_on();
    };
    std::unique_lock lock(trace_mutex);
    Status status;
    if (question.first) {
      status = WaitForPages(lock);
      if (status.ok()) status = pages->Print(*trace, *question.first, count, gpu, print);
    } else {
      status = Filtered(question, text.empty() ? count : ~uint64_t{0}, print);
    }
    return status.ok() ? answer : Refused(status);
  }

  Status Filtered(const FileQuestion& question, uint64_t most,
                  const std::function<bool(std::string_view)>& print) {
    cli::CallListingOptions options;
    options.json = true;
    options.names = false;
    options.filter.from = question.from.value_or(1);
    options.filter.most = most;
    options.filter.function = question.function;
    options.filter.object = ObjectNumberIn(question.object);
    if (!options.filter.object && !question.object.empty()) {
      options.filter.object_name = question.object;
      options.names = true;
    }
    if (question.thread) {
      options.filter.thread = static_cast<uint32_t>(std::min<uint64_t>(*question.thread, ~0u));
    }
    options.filter.first_frame = options.filter.last_frame = question.frame;
    return cli::ListCalls(*trace, options, gpu, print).status();
  }

  PageAnswer Line(const FileQuestion& question) {
    std::unique_lock lock(trace_mutex);
    if (const Status status = WaitForPages(lock); !status.ok()) return Refused(status);
    const Result<uint64_t> line = pages->LineOf(*trace, *question.number);
    return line.ok() ? PageAnswer{.body = OneNumber("line", *line)} : Refused(line.status());
  }

  PageAnswer Outline() {
    std::unique_lock lock(trace_mutex);
    if (const Status status = WaitForPages(lock); !status.ok()) return Refused(status);
    return {.body = outline};
  }

  PageAnswer CountOfLines() {
    std::unique_lock lock(trace_mutex);
    if (const Status status = WaitForPages(lock); !status.ok()) return Refused(status);
    return {.body = OneNumber("lines", pages->line_count())};
  }

  PageAnswer StateAt(const FileQuestion& question) {
    Result<TraceReader> reader = AnotherReader();
    if (!reader.ok()) return Refused(reader.status());
    const Result<cli::ListState> state = cli::ListStateAt(*reader, *question.call);
    return state.ok() ? PageAnswer{.body = cli::ListStateJson(*state)} : Refused(state.status());
  }

  PageAnswer Objects() const {
    Result<TraceReader> reader = AnotherReader();
    if (!reader.ok()) return Refused(reader.status());
    const Result<cli::ObjectList> objects = cli::ListObjects(*reader, {});
    if (!objects.ok()) return Refused(objects.status());
    PageAnswer answer;
    cli::WriteObjectsJson(*objects, [&answer](std::string_view piece) {
      answer.body += piece;
      return true;
    });
    return answer;
  }

  // ---- Playing ----

  std::vector<std::string> Words(const FileQuestion& question) const {
    return VerbFor(question, {.file = path,
                              .other = other,
                              .images = TextOfPath(folder->path() / kImages),
                              .other_images = TextOfPath(folder->path() / kOtherImages),
                              .journal = TextOfPath(folder->path() / "journal")});
  }

  // Waits until nothing else plays, for as long as it is wanted.
  std::unique_lock<std::timed_mutex> Turn(const std::function<bool()>& is_wanted) {
    std::unique_lock lock(play_mutex, std::defer_lock);
    while (is_wanted() && !lock.try_lock_for(kBetweenLooks)) {
    }
    if (lock.owns_lock() && !is_wanted()) lock.unlock();
    return lock;
  }

  // Calls `play` when nothing else plays, if it may.
  PageAnswer InTurn(const std::function<PageAnswer()>& play) {
    struct Counted {
      explicit Counted(std::atomic<int>* count) : count(count), now(++*count) {}
      ~Counted() { --*count; }
      std::atomic<int>* const count;
      const int now;
    };
    const Counted counted(&playing);
    if (counted.now > kMostPlaying) return Refused(503, "too much is to be played already");
    const auto lock = Turn([this] { return !ending && !searching; });
    if (ending) return Refused(503, "cairn view ends");
    if (!lock.owns_lock()) return Refused(409, kSearchRuns);
    if (const Status status = IsSameFile(); !status.ok()) return Refused(status);
    return play();
  }

  PageAnswer AnswerOf(const std::vector<std::string>& words, int most_exit_code) {
    return InTurn([&] { return Run(words, most_exit_code); });
  }

  PageAnswer Run(const std::vector<std::string>& words, int most_exit_code) {
    const Result<VerbResult> result = RunVerb(words, folder->path(), kMostTextBytes,
                                              [this](const std::string&) { return !ending; });
    if (!result.ok()) return Refused(result.status());
    if (result->output.empty() || result->exit_code > most_exit_code) {
      return Refused(500, result->errors);
    }
    return {.body = result->output};
  }

  // Those who name no page count as one.
  static uint64_t PageOf(const FileQuestion& question) { return question.page.value_or(0); }
  // The number of a page's question; later ones of the same page are greater.
  uint64_t Number(const FileQuestion& question) {
    const std::lock_guard lock(newest_mutex);
    if (newest.size() >= kMostPages && !newest.contains(PageOf(question))) {
      newest.clear();  // the others are as good as closed
    }
    return newest[PageOf(question)] = ++questions;
  }
  bool IsNewest(const FileQuestion& question, uint64_t number) {
    const std::lock_guard lock(newest_mutex);
    const auto found = newest.find(PageOf(question));
    return found == newest.end() || found->second <= number;
  }

  // Newer questions of the page give up this one, which then waits for nothing.
  PageAnswer Images(const FileQuestion& question) {
    if (trace.has_value() && trace->table().redaction.shaders) {
      return NotPlayed("the trace holds hashes instead of shaders: it cannot be played");
    }
    const uint64_t number = Number(question);
    const auto is_wanted = [&] { return !ending && !searching && IsNewest(question, number); };
    const auto lock = Turn(is_wanted);
    if (lock.owns_lock()) {
      if (const Status status = IsSameFile(); !status.ok()) return Refused(status);
      const Result<std::string> list =
          playback->Ask({.call = *question.call,
                         .moment = question.moment.empty()       ? cli::PictureMoment::kSubmitted
                                   : question.moment == "before" ? cli::PictureMoment::kBefore
                                                                 : cli::PictureMoment::kAfter,
                         .only_completed = question.completed.value_or(0) != 0,
                         .objects = question.objects},
                        is_wanted);
      if (list.ok()) return {.body = *list};
      if (is_wanted()) return NotPlayed(list.status().message());
    }
    if (ending) return Refused(503, "cairn view ends");
    return NotPlayed(searching ? kSearchRuns : kSuperseded);
  }

  // Answers with an image of this folder of the session.
  PageAnswer Image(const FileQuestion& question, const char* images) const {
    std::error_code error;
    const File file =
        File::Open(FilePath(folder->path() / images / question.name), FileMode::kRead, error);
    const uint64_t size = error ? 0 : file.facts().size_bytes;
    if (size == 0 || size > kMostImageBytes) return Refused(404, "there is no such image");
    PageAnswer answer{.type = "image/png", .body = std::string(size, '\0')};
    size_t read_bytes = 0;
    error = file.ReadAt(0, std::as_writable_bytes(std::span(answer.body)), &read_bytes);
    return error || read_bytes != size ? Refused(500, "the image cannot be read") : answer;
  }

  PageAnswer FrameImages(const FileQuestion& question) { return AnswerOf(Words(question), 3); }

  PageAnswer OtherImages(const FileQuestion& question) {
    if (other.empty()) return Refused(400, "there is no second file");
    return FrameImages(question);
  }

  PageAnswer Compare(const FileQuestion& question) {
    if (other.empty()) return Refused(400, "there is no second file");
    return AnswerOf(Words(question), 1);
  }

  PageAnswer StartSearch(const FileQuestion& question) {
    const std::lock_guard lock(search_mutex);
    if (searching) return Refused(409, "a search runs");
    if (ending) return Refused(503, "cairn view ends");
    if (const Status status = IsSameFile(); !status.ok()) return Refused(status);
    if (search.joinable()) search.join();
    searching = true;
    search_stops = false;
    search_progress = search_answer = "";
    search = std::thread([this, words = Words(question)] { Search(words); });
    return {.body = "{}"};
  }

  void Search(const std::vector<std::string>& words) {
    const std::lock_guard lock(play_mutex);
    playback->End();
    const Result<VerbResult> result =
        RunVerb(words, folder->path(), kMostTextBytes, [this](const std::string& errors) {
          const std::lock_guard search_lock(search_mutex);
          search_progress = errors;
          return !ending && !search_stops;
        });
    const std::lock_guard search_lock(search_mutex);
    searching = false;
    search_progress = result.ok() ? result->errors : result.status().message();
    if (result.ok()) search_answer = result->output;
  }

  PageAnswer StopSearch() {
    search_stops = true;
    return {.body = "{}"};
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

void FileSession::Stop() {
  state_->ending = true;
  { const std::lock_guard lock(state_->trace_mutex); }  // who was about to wait does, and is told
  state_->counted.notify_all();
}

FileSession::~FileSession() {
  Stop();
  for (std::thread* thread : {&state_->counter, &state_->search}) {
    if (thread->joinable()) thread->join();
  }
}

Result<std::unique_ptr<FileSession>> FileSession::Open(const std::string& path,
                                                       const std::string& other, std::string why) {
  if (!HasPage()) return WritePage({}, nullptr);
  Result<FileReader> file = FileReader::Open(path);
  if (!file.ok()) return file.status();
  auto state = std::make_unique<State>();
  state->why = std::move(why);
  CAIRN_RETURN_IF_ERROR(MakeAbsolute(path, &state->path));
  if (!other.empty()) CAIRN_RETURN_IF_ERROR(MakeAbsolute(other, &state->other));
  state->opened = WrittenFile::Of(state->path);
  Result<Snapshot> snapshot = ReadSnapshot(*file);
  if (snapshot.ok()) {
    state->snapshot = std::move(snapshot).value();
    state->findings = AnalyseDump(*state->snapshot);
    state->gpu = cli::GpuStates(*state->snapshot, state->findings.analysis);
  }
  Result<TraceReader> trace = TraceReader::FromFile(std::move(file).value());
  if (trace.ok()) {
    state->trace = std::move(trace).value();
    (void)state->trace->LimitCost();
    state->trace->StopWhen(&state->ending);
  } else if (!state->snapshot) {
    return Status(StatusCode::kNotFound,
                  fmt::format("'{}' holds neither a report nor a trace", path));
  }
  Result<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return folder.status();
  state->folder.emplace(std::move(folder).value());
  state->playback.emplace(state->path, state->folder->path() / kImages);
  State* const raw = state.get();
  if (state->trace) state->counter = std::thread([raw] { raw->Count(); });
  return std::unique_ptr<FileSession>(new FileSession(std::move(state)));
}

PageAnswer FileSession::Answer(const PageQuestion& asked) {
  const Result<FileQuestion> question = ReadFileQuestion(asked.target, asked.is_order);
  if (!question.ok()) {
    const bool is_unknown = question.status().code() == StatusCode::kNotFound;
    return Refused(is_unknown ? 404 : 400, question.status().message());
  }
  State& state = *state_;
  if (question->asked != Asked::kPage && !state.trace) {
    return Refused(404, "the file holds no trace");
  }
  switch (question->asked) {
    case Asked::kPage: return state.Page();
    case Asked::kCalls: return state.Calls(*question);
    case Asked::kCount: return state.CountOfLines();
    case Asked::kLine: return state.Line(*question);
    case Asked::kOutline: return state.Outline();
    case Asked::kState: return state.StateAt(*question);
    case Asked::kObjects: return state.Objects();
    case Asked::kImages: return state.Images(*question);
    case Asked::kImage: return state.Image(*question, kImages);
    case Asked::kFrameImages: return state.FrameImages(*question);
    case Asked::kOtherImages: return state.OtherImages(*question);
    case Asked::kOtherImage: return state.Image(*question, kOtherImages);
    case Asked::kCompare: return state.Compare(*question);
    case Asked::kStartBisect: return state.StartSearch(*question);
    case Asked::kStopBisect: return state.StopSearch();
    case Asked::kBisect: return state.ToldOfSearch();
  }
  return Refused(404, "there is no such question");
}

}  // namespace cairn
