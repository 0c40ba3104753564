// SPDX-License-Identifier: Apache-2.0
#include "cli/served_page.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/status.h"
#include "cli/verb.h"
#include "os/browser.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/new_file.h"
#include "reader/serve/private_folder.h"

namespace cairn::cli {
namespace {

// The secret in `address` is for the file, not for a command line. Says nothing if there is no browser, or if it cannot
// read the file: the other address is printed.
Status OpenPage(const PrivateFolder& folder, std::string_view verb, const std::string& address) {
  const std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>cairn {1}</title>\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n"
      "<p><a href=\"{0}\">cairn {1}</a>\n",
      address, verb);
  const FilePath path(folder.path() / "open.html");
  if (const std::error_code error = ReplaceFile(path, std::as_bytes(std::span(page)))) {
    return StatusFromError(error, TextOfPath(path));
  }
  OpenInBrowser(TextOfPath(path));
  return {};
}

}  // namespace

std::vector<CommandOption> AddServedPageOptions(Command* command, ServedPageOptions* options) {
  return {
      command
          ->Option("--port", &options->port, "N", "The port of 127.0.0.1; a free one if not given")
          .From(1, 65535),
      command->Flag("--no-browser", &options->no_browser, "Print the address, and open no browser"),
      command->Flag(
          "--any-user", &options->any_user,
          "Also accept connections of other users, such as a relay that root runs (WSL, kubectl "
          "port-forward); anyone who knows the address can connect")};
}

int ServePage(std::string_view verb, const ServedPageOptions& options, std::string_view fragment,
              PageServer::Answerer answerer, const std::function<void()>& stop) {
  const InterruptNote interrupt;
  Result<std::unique_ptr<PageServer>> server = PageServer::Open(
      {.port = static_cast<uint16_t>(options.port),
       .any_user = options.any_user,
       .warn = [verb = std::string(verb)](const std::string& line) { PrintWarning(verb, line); }},
      std::move(answerer));
  if (!server.ok()) {
    PrintError(verb, server.status().message());
    return kExitFailed;
  }
  if (!PrintOutput(verb, fmt::format("{}{}\n", (*server)->NewAddress(), fragment)))
    return kExitFailed;
  std::optional<PrivateFolder> folder;
  if (!options.no_browser) {
    Result<PrivateFolder> made = PrivateFolder::Make();
    Status opened = made.status();
    if (made.ok()) {
      folder.emplace(std::move(made).value());
      opened = OpenPage(*folder, verb, fmt::format("{}{}", (*server)->NewAddress(), fragment));
    }
    if (!opened.ok()) PrintWarning(verb, "no browser is opened: " + opened.message());
  }
  (*server)->Serve([&interrupt] { return interrupt.came(); });
  stop();
  return 0;
}

}  // namespace cairn::cli
