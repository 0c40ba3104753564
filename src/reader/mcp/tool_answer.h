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

// `output` and `errors`: what the verb of `call` printed on its two streams. Never fails: output that is none becomes
// an error with the verb's own words. Memory: a few times the bytes of `output` that are wanted.
ToolAnswer MakeToolAnswer(const ToolCall& call, std::string_view output, std::string_view errors);

// Adds a key with texts, of which it takes a few, to an answer that is no error.
void AddTexts(std::string_view key, std::span<const std::string> texts, ToolAnswer* answer);

// Returns the result of "tools/call" as JSON. `pictures`: PNG files. `is_structured`: the protocol's version has
// structuredContent.
std::string ToolResultJson(const ToolAnswer& answer, const std::vector<std::string>& pictures,
                           bool is_structured);

}  // namespace cairn

#endif  // CAIRN_READER_MCP_TOOL_ANSWER_H_
