// SPDX-License-Identifier: Apache-2.0
//
// cairn view: the page of a file, with the file behind it.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "os/browser.h"
#include "os/interrupt.h"
#include "os/memory.h"
#include "reader/serve/file_session.h"
#include "reader/serve/page_server.h"

namespace cairn::cli {
namespace {

constexpr char kViewExamples[] =
    "Examples:\n"
    "  cairn view game.cairn                  opens the browser\n"
    "  cairn view game.cairn other.cairn      the same, to compare them\n"
    "  cairn view --no-browser game.cairn     prints the address only\n\n"
    "The page is served to this machine alone, at an address that nobody guesses. The command "
    "ends\n"
    "with its last page, or by ^C. cairn report --html writes a page that needs no command.";

struct ViewOptions {
  std::string path;
  std::string other;
  uint32_t port = 0;
  bool no_browser = false;
};

int Run(const ViewOptions& options) {
  if (options.path.empty()) {
    PrintError("view", "no file is given; say cairn view FILE.cairn");
    return kExitUsage;
  }
  ShareHeaps();
  Result<std::unique_ptr<FileSession>> session = FileSession::Open(options.path, options.other);
  if (!session.ok()) {
    PrintError("view", session.status().message());
    return kExitFailed;
  }
  const InterruptNote interrupt;
  Result<std::unique_ptr<PageServer>> server = PageServer::Open(
      static_cast<uint16_t>(options.port),
      [&session](const PageQuestion& question) { return (*session)->Answer(question); });
  if (!server.ok()) {
    PrintError("view", server.status().message());
    return kExitFailed;
  }
  const std::string& address = (*server)->address();
  if (!PrintOutput("view", address + "\n")) return kExitFailed;
  // Says nothing if there is none: the address is printed.
  if (!options.no_browser) OpenInBrowser(address);
  (*server)->Serve([&interrupt] { return interrupt.came(); });
  (*session)->Stop();
  return 0;
}

}  // namespace

Verb AddViewVerb(CLI::App& root) {
  auto options = std::make_shared<ViewOptions>();
  Command command(root, "view", "Shows a .cairn file in a browser.",
                  "cairn view [OPTIONS] FILE [OTHER]", kViewExamples);
  command.Option("file", &options->path, "FILE", "The .cairn file");
  command.Option("other", &options->other, "OTHER", "One that it is compared with");
  command.Option("--port", &options->port, "N", "The port of 127.0.0.1; a free one if not given")
      .From(1, 65535);
  command.Flag("--no-browser", &options->no_browser, "Print the address, and open no browser");
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
