// SPDX-License-Identifier: Apache-2.0
//
// cairn view: the page of a file, with the file behind it.
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "cli/command.h"
#include "cli/mistaken_word.h"
#include "cli/report_store.h"
#include "cli/served_page.h"
#include "cli/verb.h"
#include "embedded/sample.cairn.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/new_file.h"
#include "reader/serve/file_session.h"
#include "reader/serve/private_folder.h"
#include "reader/serve/why_answer.h"

namespace cairn::cli {
namespace {

constexpr char kViewExamples[] =
    "Examples:\n"
    "  cairn view game.cairn                  opens the browser\n"
    "  cairn view game.cairn other.cairn      the same, to compare them\n"
    "  cairn view --no-browser game.cairn     prints the address only\n"
    "  cairn view why.json                    an answer of cairn why --json\n"
    "  cairn view --why why.json game.cairn   the answer beside the report\n"
    "  cairn view --sample                    a file to try it with, and a tour\n\n"
    "The page is served to this user of this machine alone, at an address that cannot be guessed.\n"
    "The printed address works once; the browser then shows a lasting one. The command ends when\n"
    "its last page is closed, or by ^C. cairn report --html writes a page that needs no server.";

struct ViewOptions {
  std::string path;
  std::string other;
  std::string why;  // an answer of cairn why
  ServedPageOptions served;
  bool last = false;
  bool sample = false;
};

// Writes the file of --sample, which this program holds, and returns its path. `folder` removes it.
Result<std::string> WriteSample(const PrivateFolder& folder) {
  const FilePath path(folder.path() / "sample.cairn");
  if (const std::error_code error = ReplaceFile(path, std::as_bytes(std::span(kSampleCairn)))) {
    return StatusFromError(error, TextOfPath(path));
  }
  return TextOfPath(path);
}

// Serves the page of `path` until it is closed.
int Serve(const ViewOptions& options, const std::string& path) {
  Result<std::string> why = std::string();
  if (!options.why.empty()) why = ReadWhyAnswer(options.why);
  if (!why.ok()) {
    PrintError("view", "--why: " + why.status().message());
    return kExitFailed;
  }
  Result<std::unique_ptr<FileSession>> session =
      FileSession::Open(path, options.other, std::move(*why));
  if (!session.ok()) {
    const std::string mistaken = MistakenForFile("view", options.path, NeededFile::kAny);
    PrintError("view", mistaken.empty() ? session.status().message() : mistaken);
    return kExitFailed;
  }
  return ServePage(
      "view", options.served, options.sample ? "#tour=1" : "",
      [&session](const PageQuestion& question) { return (*session)->Answer(question); },
      [&session] { (*session)->Stop(); });
}

bool IsAnswer(const std::string& path) {
  return path.ends_with(".json");
}

// Serves the page of an answer of cairn why, which asks for nothing more.
int ServeAnswer(const ViewOptions& options) {
  const Result<std::string> why = ReadWhyAnswer(options.path);
  const Result<std::string> page =
      why.ok() ? PageOfWhyAnswer(*why, /*is_served=*/true) : Result<std::string>(why.status());
  if (!page.ok()) {
    PrintError("view", page.status().message());
    return kExitFailed;
  }
  return ServePage(
      "view", options.served, "",
      [&page](const PageQuestion& question) {
        if (!question.target.empty()) return Refused(404, "there is no file behind an answer");
        return PageAnswer{.type = "text/html; charset=utf-8", .body = *page};
      },
      [] {});
}

int Run(ViewOptions options) {
  const bool both = options.last && !options.path.empty();
  if (!NameLastReport("view", options.last, &options.path)) return both ? kExitUsage : kExitFailed;
  if (options.sample && !options.path.empty()) {
    PrintError("view", "--sample shows a file of its own; say cairn view --sample, or cairn view " +
                           options.path);
    return kExitUsage;
  }
  if (options.path.empty() && !options.sample) {
    PrintError("view",
               "no file is given; say cairn view FILE.cairn, or cairn view --sample to try it");
    return kExitUsage;
  }
  if (IsAnswer(options.path) && !(options.other.empty() && options.why.empty())) {
    PrintError("view",
               "an answer of cairn why is shown alone, or beside a file: say cairn view "
               "--why ANSWER.json FILE.cairn");
    return kExitUsage;
  }
  ShareHeaps();
  if (IsAnswer(options.path)) return ServeAnswer(options);
  if (!options.sample) return Serve(options, options.path);
  Result<PrivateFolder> folder = PrivateFolder::Make();
  Result<std::string> path = folder.ok() ? WriteSample(*folder) : folder.status();
  if (!path.ok()) {
    PrintError("view", path.status().message());
    return kExitFailed;
  }
  return Serve(options, *path);
}

}  // namespace

Verb AddViewVerb(CLI::App& root) {
  auto options = std::make_shared<ViewOptions>();
  Command command(
      root, "view",
      "Shows a .cairn file in a browser: the report, each queue's commands, resources, memory.",
      "cairn view [OPTIONS] FILE [OTHER]", kViewExamples);
  command.DumpFile(&options->path);
  AddLastOption(&command, &options->last);
  command.Option("other", &options->other, "OTHER",
                 "Another .cairn file, to compare with the first");
  command.Option("--why", &options->why, "ANSWER", "Show this answer of cairn why --json, too");
  AddServedPageOptions(&command, &options->served);
  command.Flag("--sample", &options->sample,
               "Show a file to try the page with: a draw that hung, captured; begins with a tour");
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
