// SPDX-License-Identifier: Apache-2.0
//
// A session of the Model Context Protocol (modelcontextprotocol.io/specification): `cairn mcp` without its streams and
// processes. Versions 2024-11-05, 2025-03-26 and 2025-06-18; of the server's features it has tools. docs/reference/mcp.md is the
// page for people.
//
// One thread gives it the lines of its client as they come, which answers what needs no verb; another one answers the
// calls of tools, one at a time, in their order:
//
//   McpSession session(settings, send, run);
//   std::thread reader([&] { while (NextLine(&line)) session.Receive(line); session.EndOfInput(); });
//   while (session.AnswerNext(std::chrono::milliseconds(100)) && !interrupted) {}
//   session.Stop();
#ifndef CAIRN_READER_MCP_MCP_SESSION_H_
#define CAIRN_READER_MCP_MCP_SESSION_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "reader/serve/verb_process.h"

namespace cairn {

inline constexpr size_t kMostWaitingCalls = 16;  // further ones are refused

struct McpSettings {
  std::string version;     // of Cairn
  bool allow_run = false;  // offers the tools that play
  std::string folder;      // an absolute path, for this session alone: images and journals
  std::chrono::milliseconds between_progress = std::chrono::seconds(1);  // notifications, at least
};

class McpSession {
 public:
  // Takes one message, without a line end. Called by both threads, never at once.
  using Send = std::function<void(std::string_view line)>;
  // Runs a verb: RunVerb (reader/serve/verb_process.h), or a test's own.
  using Run =
      std::function<Result<VerbResult>(const std::vector<std::string>& words,
                                       const std::function<bool(const std::string& errors)>& look)>;

  McpSession(McpSettings settings, Send send, Run run);
  ~McpSession();
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  // Reads a line: any bytes. Returns at once.
  void Receive(std::string_view line);
  // The client says no more: calls that only read are still answered; those that play are ended or refused.
  void EndOfInput();
  // Answers the call that has waited longest, or waits `most` for one. Tells of its progress, if its client has asked
  // for that. Returns false once nothing is left to do: after Stop(), and after EndOfInput() when nothing waits.
  bool AnswerNext(std::chrono::milliseconds most);
  // Ends the call that is being answered, without an answer; later lines are dropped. Any thread; does not wait for a
  // `send` that does not return.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_READER_MCP_MCP_SESSION_H_
