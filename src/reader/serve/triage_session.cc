// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/triage_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "os/clock.h"
#include "os/file.h"
#include "reader/page/page.h"
#include "reader/serve/dump_files.h"
#include "reader/serve/file_question.h"
#include "reader/serve/file_session.h"
#include "reader/serve/kept_dumps.h"
#include "reader/view/triage_page_data.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

fs::file_time_type WrittenAt(const std::string& path) {
  std::error_code ignored;
  return fs::last_write_time(FilePath(path), ignored);
}

}  // namespace

struct TriageSession::State {
  explicit State(TriageSessionOptions chosen)
      : options(std::move(chosen)), dumps(options.kept, options.build) {}

  const TriageSessionOptions options;
  std::atomic<bool> ending{false};

  // One page at a time is made.
  std::mutex look_mutex;
  KeptDumps dumps;

  // Files by their numbers: a number stays that of its file, whatever is found later.
  std::mutex files_mutex;
  std::vector<std::string> files;
  std::unordered_map<std::string, uint64_t> numbers;

  struct OpenFile {
    uint64_t number;
    fs::file_time_type written;
    std::shared_ptr<FileSession> session;
  };
  std::mutex open_mutex;
  std::list<OpenFile> open;  // the one that was asked for last stands first

  uint64_t NumberOf(const std::string& file) {
    const std::lock_guard lock(files_mutex);
    const auto [at, is_new] = numbers.try_emplace(file, files.size());
    if (is_new) files.push_back(file);
    return at->second;
  }
  std::optional<std::string> FileOf(uint64_t number) {
    const std::lock_guard lock(files_mutex);
    if (number >= files.size()) return std::nullopt;
    return files[number];
  }

  Status Look(const std::function<bool(uint64_t, uint64_t)>& goes_on, TriagePageData* data) {
    const std::lock_guard lock(look_mutex);
    const Result<std::vector<std::string>> found = DumpFilesIn(options.paths);
    if (!found.ok()) return found.status();
    return dumps.Read(
        *found, [&](uint64_t done) { return !ending && goes_on(done, found->size()); },
        [&](const std::string& file, const Result<DumpSummary>& dump) {
          if (dump.ok()) {
            data->Add(*dump, NumberOf(file));
          } else {
            data->AddUnreadable(file, dump.status());
          }
        });
  }

  PageAnswer Page() {
    TriagePageData data(options.place, RealtimeNs(), true);
    Status status = Look([](uint64_t, uint64_t) { return true; }, &data);
    if (ending) return Refused(503, "cairn triage ends");
    PageAnswer answer{.type = "text/html; charset=utf-8"};
    if (status.ok()) {
      status = WriteTriagePage(data.Json(), true, [&answer](std::string_view piece) {
        answer.body += piece;
        return true;
      });
    }
    return status.ok() ? answer : Refused(status);
  }

  // `is_page`: the page of the file is asked for, which shows what the file holds now.
  Result<std::shared_ptr<FileSession>> SessionOf(uint64_t number, bool is_page) {
    const std::optional<std::string> file = FileOf(number);
    if (!file) return Status(StatusCode::kNotFound, "no file has this number");
    const fs::file_time_type written = WrittenAt(*file);
    // A file is opened, and another one is stopped, without the lock: a slow one holds up nobody else.
    std::shared_ptr<FileSession> session, superfluous;
    {
      const std::lock_guard lock(open_mutex);
      if (ending) return Status(StatusCode::kInterrupted, "cairn triage ends");
      const auto found = std::ranges::find(open, number, &OpenFile::number);
      if (found != open.end()) {
        open.splice(open.begin(), open, found);
        if (!is_page || open.front().written == written) return open.front().session;
        superfluous = Take(open.begin());
      }
    }
    Stop(superfluous);
    superfluous = nullptr;
    Result<std::unique_ptr<FileSession>> opened = FileSession::Open(*file, "");
    if (!opened.ok()) return opened.status().WithFile(*file);
    session = std::move(opened).value();
    {
      const std::lock_guard lock(open_mutex);
      if (ending) return Status(StatusCode::kInterrupted, "cairn triage ends");
      const auto found = std::ranges::find(open, number, &OpenFile::number);
      if (found != open.end()) return found->session;  // another question was faster
      if (open.size() == kMostOpenFiles) superfluous = Take(std::prev(open.end()));
      open.push_front({number, written, session});
    }
    Stop(superfluous);
    return session;
  }

  std::shared_ptr<FileSession> Take(std::list<OpenFile>::iterator file) {
    std::shared_ptr<FileSession> session = std::move(file->session);
    open.erase(file);
    return session;
  }

  // Refuses whoever is being answered by it, who then destroys it.
  static void Stop(const std::shared_ptr<FileSession>& session) {
    if (session != nullptr) session->Stop();
  }
};

TriageSession::TriageSession(std::unique_ptr<State> state) : state_(std::move(state)) {}

TriageSession::~TriageSession() {
  Stop();
}

Result<std::unique_ptr<TriageSession>> TriageSession::Open(TriageSessionOptions options) {
  if (!HasPage()) return WriteTriagePage("", true, nullptr);
  return std::unique_ptr<TriageSession>(
      new TriageSession(std::make_unique<State>(std::move(options))));
}

Status TriageSession::Look(const std::function<bool(uint64_t, uint64_t)>& goes_on) {
  TriagePageData unused(state_->options.place, 0, true);
  return state_->Look(goes_on, &unused);
}

PageAnswer TriageSession::Answer(const PageQuestion& asked) {
  if (asked.target.empty() && !asked.is_order) return state_->Page();
  const std::optional<DumpQuestion> question = ReadDumpQuestion(asked.target);
  if (!question) return Refused(404, "there is no such question");
  const Result<std::shared_ptr<FileSession>> session =
      state_->SessionOf(question->number, question->rest.empty());
  if (!session.ok()) return Refused(404, session.status().message());
  return (*session)->Answer({.target = std::string(question->rest), .is_order = asked.is_order});
}

void TriageSession::Stop() {
  state_->ending = true;
  std::list<State::OpenFile> open;
  {
    const std::lock_guard lock(state_->open_mutex);
    open.swap(state_->open);
  }
  for (const State::OpenFile& file : open) file.session->Stop();
}

}  // namespace cairn
