// SPDX-License-Identifier: Apache-2.0
//
// cairn mcp: answers an agent's questions about .cairn files. docs/reference/mcp.md is the page for people.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
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
    "  cairn mcp </dev/null               an agent's host starts it, and talks to it by pipes\n"
    "  cairn mcp --allow-run </dev/null   also offers tools that play a trace on this machine's "
    "GPU\n\n"
    "To add it to Claude Code: claude mcp add cairn -- cairn mcp. docs/reference/mcp.md has other "
    "hosts, and "
    "the\n"
    "tools. Relative paths begin in the folder in which the host starts cairn mcp.";

constexpr std::chrono::milliseconds kBetweenLooks(100);  // at ^C
constexpr std::chrono::milliseconds kMostEnding(4000);

struct McpOptions {
  bool allow_run = false;
};

// Shared by its threads, of which one may wait for a line, and one for a host that does not read, when the process ends.
struct Server {
  std::unique_ptr<McpSession> session;
  std::atomic<bool> stops{false};
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
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

void AnswerCalls(Server* server) {
  while (!server->stops && server->session->AnswerNext(kBetweenLooks)) {
  }
  const std::lock_guard lock(server->mutex);
  server->is_done = true;
  server->changed.notify_all();
}

// Returns when all is answered, or when this process is to end.
void Serve(const std::shared_ptr<Server>& server) {
  const InterruptNote interrupt;
  std::thread([server] { GiveLines(server->session.get()); }).detach();
  std::thread([server] { AnswerCalls(server.get()); }).detach();
  const auto is_done = [&server] { return server->is_done; };
  std::unique_lock lock(server->mutex);
  while (!interrupt.came() && !server->changed.wait_for(lock, kBetweenLooks, is_done)) {
  }
  server->stops = true;
  // Until a verb is ended; nobody waits for a host that does not read.
  if (server->changed.wait_for(lock, kMostEnding, is_done)) server->session->Stop();
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
  const auto server = std::make_shared<Server>();
  server->session = std::make_unique<McpSession>(
      McpSettings{.version = CAIRN_VERSION,
                  .allow_run = options.allow_run,
                  .folder = TextOfPath(folder->path())},
      [server = server.get()](std::string_view line) {
        if (!WriteStandardOutput(std::string(line) + "\n")) server->stops = true;
      },
      [server = server.get(), path = folder->path()](
          const std::vector<std::string>& words,
          const std::function<bool(const std::string&)>& look) {
        return RunVerb(words, path, kMostVerbBytes,
                       [&](const std::string& errors) { return !server->stops && look(errors); });
      });
  Serve(server);
  return 0;
}

}  // namespace

Verb AddMcpVerb(CLI::App& root) {
  auto options = std::make_shared<McpOptions>();
  Command command(
      root, "mcp",
      "Lets an AI agent ask about .cairn files: a server of the Model Context Protocol.",
      "cairn mcp [OPTIONS]", kMcpExamples);
  command.Flag("--allow-run", &options->allow_run,
               "Also offer the tools image and bisect, which play traces on this machine's GPU");
  return {.app = command.app(), .run = [options] { return Run(*options); }};
}

}  // namespace cairn::cli
