// SPDX-License-Identifier: Apache-2.0
//
// cairn mcp: answers an agent's questions about .cairn files. docs/mcp.md is the page for people.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/verb.h"
#include "os/file.h"
#include "os/interrupt.h"
#include "os/standard_error.h"
#include "os/standard_input.h"
#include "os/terminal.h"
#include "reader/mcp/line_splitter.h"
#include "reader/mcp/mcp_session.h"
#include "reader/mcp/tool_answer.h"
#include "reader/serve/private_folder.h"
#include "reader/serve/verb_process.h"

namespace cairn::cli {
namespace {

constexpr char kMcpExamples[] =
    "Examples:\n"
    "  cairn mcp </dev/null               an agent's host starts it, and speaks with it by pipes\n"
    "  cairn mcp --allow-run </dev/null   also offers what plays a trace on this machine's GPU\n\n"
    "To add it to Claude Code: claude mcp add cairn -- cairn mcp. docs/mcp.md has other hosts, and "
    "the\n"
    "tools. Paths that are not absolute begin in the folder in which the host starts it.";

constexpr std::chrono::milliseconds kBetweenLooks(100);  // at ^C

struct McpOptions {
  bool allow_run = false;
};

void GiveLines(McpSession* session) {
  LineSplitter lines([session](std::string_view line) { session->Receive(line); });
  std::array<std::byte, 64 << 10> bytes;
  while (const size_t count = ReadStandardInput(bytes)) {
    lines.Add({reinterpret_cast<const char*>(bytes.data()), count});
  }
  lines.Finish();
  session->EndOfInput();
}

int Run(const McpOptions& options) {
  if (IsTerminal(StandardStream::kOutput)) {
    PrintWarning("mcp",
                 "this speaks JSON with the host of an agent; cairn mcp --help says how to "
                 "add it to one");
  }
  Result<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) {
    PrintError("mcp", folder.status().message());
    return kExitFailed;
  }
  const InterruptNote interrupt;
  std::atomic<bool> has_gone{false};  // the host
  // Shared with the thread that reads, which may wait for a line when this process ends.
  const auto session = std::make_shared<McpSession>(
      McpSettings{.version = CAIRN_VERSION,
                  .allow_run = options.allow_run,
                  .folder = TextOfPath(folder->path())},
      [&has_gone](std::string_view line) {
        if (!WriteStandardOutput(std::string(line) + "\n")) has_gone = true;
      },
      [&folder, &interrupt, &has_gone](const std::vector<std::string>& words,
                                       const std::function<bool(const std::string&)>& look) {
        return RunVerb(words, folder->path(), kMostVerbBytes, [&](const std::string& errors) {
          return !interrupt.came() && !has_gone && look(errors);
        });
      });
  std::thread([session] { GiveLines(session.get()); }).detach();
  while (!interrupt.came() && !has_gone && session->AnswerNext(kBetweenLooks)) {
  }
  session->Stop();
  return 0;
}

}  // namespace

Verb AddMcpVerb(CLI::App& root) {
  auto options = std::make_shared<McpOptions>();
  Command command(root, "mcp", "Answers questions of agents (Model Context Protocol).",
                  "cairn mcp [OPTIONS]", kMcpExamples);
  command.Flag("--allow-run", &options->allow_run,
               "Also offer the tools image and bisect, which play traces on this machine's GPU");
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
