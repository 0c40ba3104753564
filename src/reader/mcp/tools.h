// SPDX-License-Identifier: Apache-2.0
//
// The tools of `cairn mcp`: their names, descriptions and parameters, and the command line of `cairn` that answers a
// call. docs/reference/mcp.md has them for people. Pure, but for the current folder, in which relative paths begin.
#ifndef CAIRN_READER_MCP_TOOLS_H_
#define CAIRN_READER_MCP_TOOLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace cairn {

// Rows of a table that one answer has, at most and without being asked.
inline constexpr uint64_t kMostToolRows = 500;
inline constexpr uint64_t kUsualToolRows = 50;
inline constexpr size_t kMostToolTextBytes = 4096;  // of a parameter
inline constexpr size_t kMostToolPaths = 64;        // of a parameter that takes several

enum class ToolName {
  kOpen,
  kVerdict,
  kSuspects,
  kWork,
  kCalls,
  kState,
  kMemory,
  kDiff,
  kTriage,
  kImage,   // plays
  kBisect,  // plays
};

// Selects the rows of a table that an answer has.
struct RowQuery {
  std::string table;             // a key of the verb's JSON
  std::string state;             // "" or a state that rows have
  std::string name;              // "" or a part of a row's name or path, in any case
  std::string address;           // "" or a GPU address: rows whose memory contains it
  std::optional<uint64_t> list;  // an index: the scopes of this command list
  uint64_t offset = 0;
  uint64_t limit = kUsualToolRows;
};

struct ToolCall {
  ToolName tool = ToolName::kOpen;
  bool plays = false;              // runs on the GPU: is ended when its client goes
  std::vector<std::string> words;  // of the command line, behind "cairn"
  RowQuery rows;
  std::optional<uint64_t> around;  // of calls: the one that an answer has first of all
};

struct ToolSettings {
  bool allow_run = false;
  std::string folder;  // an absolute path: for images and journals
};

// Returns the array of tools of "tools/list" as JSON: without those that play unless they are allowed.
std::string ToolsJson(bool allow_run);

// Reads the parameters of "tools/call", {"name": "calls", "arguments": {...}}, which are JSON. No text of theirs
// becomes an option: it stands behind "--name=", or is an absolute path. Errors, for whoever asked: kInvalidArgument,
// no tool has this name, or none that is allowed; an argument is unknown, missing, of another type or too long.
Result<ToolCall> ReadToolCall(std::string_view params, const ToolSettings& settings);

// Explains the use of the tools; the answer to "initialize" has it.
std::string_view ToolInstructions();

}  // namespace cairn

#endif  // CAIRN_READER_MCP_TOOLS_H_
