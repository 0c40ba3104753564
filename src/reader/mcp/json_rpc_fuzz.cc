// SPDX-License-Identifier: Apache-2.0
// Any line is read or refused; what was read can be answered in one line of valid JSON; the call of a tool that is not
// refused becomes words of which no text of the line is an option.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text.h"
#include "reader/mcp/json_rpc.h"
#include "reader/mcp/tools.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckLine(const std::string& line) {
  Check(nlohmann::json::accept(line) && cairn::IsVisibleText(line));
}

void CheckCall(const std::string& params) {
  const cairn::Result<cairn::ToolCall> call =
      cairn::ReadToolCall(params, {.allow_run = true, .folder = "/folder"});
  if (!call.ok()) {
    CheckLine(cairn::RpcFailure("1", cairn::kRpcInvalidParams, call.status().message()));
    return;
  }
  Check(!call->words.empty());
  for (const std::string& word : call->words) {
    Check(word.find('\0') == std::string::npos && word.size() < 8192);
  }
  // Behind the options stand files, as absolute paths.
  Check(!call->words.back().starts_with('-'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const cairn::RpcLine line = cairn::ReadRpcLine(text);
  Check(line.messages.empty() == (line.error_code != 0));
  if (line.error_code != 0) CheckLine(cairn::RpcFailure("null", line.error_code, line.problem));
  for (const cairn::RpcMessage& message : line.messages) {
    CheckLine(cairn::RpcResult(message.id, "{}"));
    CheckLine(cairn::RpcFailure(message.id, cairn::kRpcMethodNotFound, message.method));
    if (message.kind == cairn::RpcMessage::Kind::kRequest) CheckCall(message.params);
  }
  return 0;
}
