// SPDX-License-Identifier: Apache-2.0
//
// Serves a page to this user's browser: `cairn view` and `cairn triage --serve`. docs/reference/viewer.md says who may ask.
#ifndef CAIRN_CLI_SERVED_PAGE_H_
#define CAIRN_CLI_SERVED_PAGE_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "reader/serve/page_server.h"

namespace cairn::cli {

struct ServedPageOptions {
  uint32_t port = 0;
  bool no_browser = false;
  bool any_user = false;
};

// Declares --port, --no-browser and --any-user, and returns them.
std::vector<CommandOption> AddServedPageOptions(Command* command, ServedPageOptions* options);

// Prints the address with `fragment` behind it ("#…" or nothing), opens the browser, and serves until the last page was closed or ^C comes. Returns the exit code;
// prints errors. `stop` is called at the end, and makes the answerer end what it is about. No answer is being made any
// more when it returns.
int ServePage(std::string_view verb, const ServedPageOptions& options, std::string_view fragment,
              PageServer::Answerer answerer, const std::function<void()>& stop);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_SERVED_PAGE_H_
