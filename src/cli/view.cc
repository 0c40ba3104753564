// SPDX-License-Identifier: Apache-2.0
//
// cairn view: the page of a file, with the file behind it.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "cli/command.h"
#include "cli/mistaken_word.h"
#include "cli/verb.h"
#include "embedded/sample.cairn.h"
#include "os/browser.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/memory.h"
#include "os/new_file.h"
#include "reader/serve/file_session.h"
#include "reader/serve/page_server.h"
#include "reader/serve/private_folder.h"

namespace cairn::cli {
namespace {

constexpr char kViewExamples[] =
    "Examples:\n"
    "  cairn view game.cairn                  opens the browser\n"
    "  cairn view game.cairn other.cairn      the same, to compare them\n"
    "  cairn view --no-browser game.cairn     prints the address only\n"
    "  cairn view --sample                    a file to try it with, and a tour\n\n"
    "The page is served to this user of this machine alone, at an address that nobody guesses. The "
    "one\n"
    "that is printed opens it once; the browser then shows one that stays good. The command ends "
    "with\n"
    "its last page, or by ^C. cairn report --html writes a page that needs no command.";

struct ViewOptions {
  std::string path;
  std::string other;
  uint32_t port = 0;
  bool no_browser = false;
  bool any_user = false;
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

// The page begins with its tour.
constexpr char kTour[] = "#tour=1";

// The secret in `address` is for the file, not for a command line. Says nothing if there is no browser, or if it cannot
// read the file: the other address is printed.
Status OpenPage(const PrivateFolder& folder, const std::string& address) {
  const std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>cairn view</title>\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n"
      "<p><a href=\"{0}\">cairn view</a>\n",
      address);
  const FilePath path(folder.path() / "open.html");
  if (const std::error_code error = ReplaceFile(path, std::as_bytes(std::span(page)))) {
    return StatusFromError(error, TextOfPath(path));
  }
  OpenInBrowser(TextOfPath(path));
  return {};
}

// Serves the page of `path` until it is closed.
int Serve(const ViewOptions& options, const std::string& path) {
  const std::string tour = options.sample ? kTour : "";
  Result<std::unique_ptr<FileSession>> session = FileSession::Open(path, options.other);
  if (!session.ok()) {
    const std::string mistaken = MistakenForFile("view", options.path, NeededFile::kAny);
    PrintError("view", mistaken.empty() ? session.status().message() : mistaken);
    return kExitFailed;
  }
  const InterruptNote interrupt;
  Result<std::unique_ptr<PageServer>> server = PageServer::Open(
      {.port = static_cast<uint16_t>(options.port),
       .any_user = options.any_user,
       .warn = [](const std::string& line) { PrintWarning("view", line); }},
      [&session](const PageQuestion& question) { return (*session)->Answer(question); });
  if (!server.ok()) {
    PrintError("view", server.status().message());
    return kExitFailed;
  }
  if (!PrintOutput("view", (*server)->NewAddress() + tour + "\n")) return kExitFailed;
  std::optional<PrivateFolder> folder;
  if (!options.no_browser) {
    Result<PrivateFolder> made = PrivateFolder::Make();
    Status opened = made.status();
    if (made.ok()) {
      folder.emplace(std::move(made).value());
      opened = OpenPage(*folder, (*server)->NewAddress() + tour);
    }
    if (!opened.ok()) PrintWarning("view", "no browser is opened: " + opened.message());
  }
  (*server)->Serve([&interrupt] { return interrupt.came(); });
  (*session)->Stop();
  return 0;
}

int Run(const ViewOptions& options) {
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
  ShareHeaps();
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
  Command command(root, "view", "Shows a .cairn file in a browser.",
                  "cairn view [OPTIONS] FILE [OTHER]", kViewExamples);
  command.DumpFile(&options->path);
  command.Option("other", &options->other, "OTHER", "One that it is compared with");
  command.Option("--port", &options->port, "N", "The port of 127.0.0.1; a free one if not given")
      .From(1, 65535);
  command.Flag("--no-browser", &options->no_browser, "Print the address, and open no browser");
  command.Flag("--sample", &options->sample,
               "Show a file to try the page with: a draw that hung, captured; begins with a tour");
  command.Flag("--any-user", &options->any_user,
               "Answer connections of other users, too, as of a relay that root runs (WSL, kubectl "
               "port-forward); whoever gets to know the address is let in");
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
