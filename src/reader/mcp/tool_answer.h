// SPDX-License-Identifier: Apache-2.0
//
// Makes the answer of a tool from what its verb has printed: the wanted parts and rows, within kMostAnswerBytes, with
// a sentence where something was left out.
#ifndef CAIRN_READER_MCP_TOOL_ANSWER_H_
#define CAIRN_READER_MCP_TOOL_ANSWER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/mcp/tools.h"
#include "reader/serve/verb_process.h"

namespace cairn {

// About the most that a model reads with profit; rows that do not fit have a next_offset.
inline constexpr size_t kMostAnswerBytes = size_t{64} << 10;
inline constexpr size_t kMostAnswerTextBytes = 4096;  // of one text in it
inline constexpr size_t kMostAnswerImages = 4;
inline constexpr size_t kMostImageBytes = size_t{4} << 20;   // of one PNG file
inline constexpr size_t kMostImagesBytes = size_t{8} << 20;  // of all of them
inline constexpr size_t kMostVerbBytes = size_t{256} << 20;  // of the output of a verb

struct ToolAnswer {
  bool is_error = false;
  std::string json;  // an object, one line; with `is_error` a text for people instead
  std::vector<std::string> images;  // names of files in the folder of images
};

// Makes an answer of what the verb of `call` printed. Never fails: a verb that printed no JSON becomes an error, with
// the verb's own words if it has any. A verb that failed after it had printed is an answer with a warning. Memory, beside
// `result`: 500,000 values, or 4 MiB of calls, as a tree; of a report's tables what the wanted rows need.
ToolAnswer MakeToolAnswer(const ToolCall& call, const VerbResult& result);

// Adds a key with texts, of which it takes a few, to an answer that is no error.
void AddTexts(std::string_view key, std::span<const std::string> texts, ToolAnswer* answer);

// Returns the result of "tools/call" as JSON. `images`: PNG files. `is_structured`: the protocol's version has
// structuredContent.
std::string ToolResultJson(const ToolAnswer& answer, const std::vector<std::string>& images,
                           bool is_structured);

}  // namespace cairn

#endif  // CAIRN_READER_MCP_TOOL_ANSWER_H_
