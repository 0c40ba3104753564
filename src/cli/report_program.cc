// SPDX-License-Identifier: Apache-2.0
#include "cli/report_program.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include "base/shell_words.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/reading_limits.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/own_limits.h"
#include "os/process.h"
#include "os/standard_input.h"
#include "os/wait_set.h"
#include "reader/view/triage.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kLookNs = 50'000'000;     // at the others that run, and at ^C
constexpr uint64_t kTellNs = 1'000'000'000;  // until it is said that it takes long

constexpr char kHandOnExamples[] =
    "Examples:\n"
    "  cairn hand-on game.cairn -- upload.sh   as cairn run --on-report upload.sh starts it";

}  // namespace

ReportProgram::ReportProgram(std::string_view command) : program_(WordsOfShellLine(command)) {}

Status ReportProgram::Check() const {
  if (program_.empty()) return Status();
  using std::filesystem::perms;
  const FilePath file(FileOfProgram(program_.front()));
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  const char* wrong = nullptr;
  if (!std::filesystem::is_regular_file(status)) {
    wrong = "was not found";
  } else if ((status.permissions() &
              (perms::owner_exec | perms::group_exec | perms::others_exec)) == perms::none) {
    wrong = "cannot be executed";
  }
  if (wrong == nullptr) return Status();
  return Status(StatusCode::kNotFound, fmt::format("--on-report: the program {} {}",
                                                   ShellQuoted(program_.front()), wrong));
}

void ReportProgram::Add(const std::string& path) {
  if (program_.empty()) return;
  StartSome();
  if (waiting_.size() == kMostWaitingReports) {
    ++dropped_;
    return;
  }
  // No program takes it for an option.
  waiting_.push_back(path.starts_with('-') ? "./" + path : path);
  StartSome();
}

bool ReportProgram::Look() {
  StartSome();
  return !running_.empty();
}

void ReportProgram::StartSome() {
  std::erase_if(running_, [](Child& child) {
    if (!child.WaitForEnd(0)) return false;
    (void)child.End();  // it says itself what went wrong
    return true;
  });
  while (!waiting_.empty() && running_.size() < kMostReportPrograms) {
    const std::string path = std::move(waiting_.front());
    waiting_.pop_front();
    ChildRequest request{.purpose = "--on-report", .arguments = {"hand-on", path, "--"}};
    request.arguments.insert(request.arguments.end(), program_.begin(), program_.end());
    Result<Child> child = Child::Start(request);
    if (child.ok()) {
      groups_.push_back(static_cast<ProcessId>(child->number()));
      running_.push_back(std::move(*child));
    } else {
      PrintWarning("run", child.status().message());
    }
  }
}

void ReportProgram::Finish(const std::function<void(const std::string&)>& say) {
  InterruptNote interrupt;
  uint64_t tell_ns = MonotonicNs() + kTellNs;
  for (StartSome(); !running_.empty(); StartSome()) {
    (void)running_.front().WaitForEnd(kLookNs);
    if (say && MonotonicNs() >= tell_ns) {
      tell_ns = UINT64_MAX;
      say(fmt::format("cairn: waits for {} of --on-report; ^C ends it", ShellQuotedLine(program_)));
    }
    if (!interrupt.came()) continue;
    for (const Child& child : running_) (void)child.KillAll().ok();
    running_.clear();
    dropped_ += waiting_.size();
    waiting_.clear();
  }
  if (dropped_ == 0) return;
  PrintWarning("run", fmt::format("--on-report: {} was not run for {}", ShellQuotedLine(program_),
                                  Counted(dropped_, "report")));
  dropped_ = 0;
}

namespace {

struct HandOnOptions {
  std::string file;
};

// The line of cairn triage --jsonl.
std::string SummaryOf(const std::string& file) {
  try {
    const Result<DumpSummary> dump = SummariseDump(file, DumpNames::kShown);
    return dump.ok() ? TriageLine(*dump) : TriageLine(file, dump.status());
  } catch (const std::bad_alloc&) {
    return TriageLine(file, Status(StatusCode::kOutOfMemory, WhyNoMemory()));
  }
}

Result<ProcessEnd> RunToEnd(const std::vector<std::string>& arguments) {
  const Result<ProcessHandle> process = SpawnProgram({.arguments = arguments});
  if (!process.ok()) return process.status();
  WaitSet ends;
  CAIRN_RETURN_IF_ERROR(ends.Open());
  CAIRN_RETURN_IF_ERROR(ends.Add(process->handle, 0));
  for (;;) {
    const Result<std::span<const uint64_t>> ended = ends.Wait(WaitSet::kTime);
    if (!ended.ok()) return ended.status();
    if (!ended->empty()) return CollectEnd(*process);
  }
}

int HandOn(const HandOnOptions& options, const std::vector<std::string>& program) {
  if (options.file.empty() || program.empty()) {
    PrintError("hand-on", "cairn run --on-report PROGRAM starts it");
    return kExitUsage;
  }
  LimitReading("hand-on", options.file);
  const std::string summary = SummaryOf(options.file);
  LiftOwnLimits();
  TakeUsualSignals();
  Status status = ReplaceStandardInput(std::as_bytes(std::span(summary)));
  if (status.ok()) {
    std::vector<std::string> arguments = program;
    arguments.push_back(options.file);
    const Result<ProcessEnd> end = RunToEnd(arguments);
    if (end.ok() && end->kind == EndKind::kExited && end->value == 0) return 0;
    status = end.ok()
                 ? Status(StatusCode::kIo, end->kind == EndKind::kSignalled
                                               ? "it died of " + CauseOfDeath(end->value)
                                               : fmt::format("its exit code is {}", end->value))
                 : end.status();
  }
  PrintWarning("run", fmt::format("--on-report: {} {}: {}", ShellQuotedLine(program),
                                  ShellQuoted(options.file), status.message()));
  return kExitFailed;
}

}  // namespace

Verb AddHandOnVerb(CLI::App& root) {
  auto options = std::make_shared<HandOnOptions>();
  Command command(root, "hand-on", "Runs a program for a report.",
                  "cairn hand-on FILE -- PROGRAM [ARGUMENTS]", kHandOnExamples);
  command.Option("file", &options->file, "FILE", "The report");
  command.Hide();
  auto program = std::make_shared<std::vector<std::string>>();
  return {.app = command.app(),
          .run = [options, program] { return HandOn(*options, *program); },
          .program = program,
          .program_needs_dashes = true};
}

}  // namespace cairn::cli
