// SPDX-License-Identifier: Apache-2.0
//
// The table of the tools of `cairn mcp`: what a client reads about them, and the options of the verbs behind them. For
// tools.cc alone.
#ifndef CAIRN_READER_MCP_TOOL_TABLE_H_
#define CAIRN_READER_MCP_TOOL_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "reader/mcp/tools.h"

namespace cairn {

enum class ToolType : uint8_t { kFile, kFiles, kText, kTexts, kNumber, kFlag };

struct ToolParameter {
  std::string_view name;
  ToolType type;
  std::string_view description;
  bool is_required = false;
  std::string_view option = {};                  // of the verb; "" for what only the answer needs
  std::span<const std::string_view> words = {};  // the only texts that there are
};

struct Tool {
  ToolName tool;
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::span<const std::string_view> words;  // of the verb, in front of the options
  std::string_view table;  // of its JSON, whose rows are listed; "" if there is none
  std::span<const ToolParameter> parameters;
  bool plays = false;
};

// In the order of tools/list. Lives as long as the process.
std::span<const Tool> AllTools();

}  // namespace cairn

#endif  // CAIRN_READER_MCP_TOOL_TABLE_H_
