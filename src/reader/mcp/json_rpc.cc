// SPDX-License-Identifier: Apache-2.0
#include "reader/mcp/json_rpc.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "base/json_writer.h"

namespace cairn {
namespace {

using nlohmann::json;

// As JSON; "" for what cannot be an id.
std::string IdText(const json& id) {
  if (id.is_number_integer()) return id.dump();
  const std::string* const text = id.get_ptr<const std::string*>();
  if (text == nullptr || text->size() > kMostRpcIdBytes) return "";
  std::string quoted = "\"";
  AppendJsonText(*text, quoted);
  return quoted + '"';
}

RpcMessage Invalid(std::string why) {
  RpcMessage message;
  message.error = std::move(why);
  return message;
}

RpcMessage ReadMessage(const json& value) {
  if (!value.is_object()) return Invalid("a message is an object");
  const auto version = value.find("jsonrpc");
  if (version == value.end() || *version != "2.0") return Invalid("\"jsonrpc\" has to be \"2.0\"");
  RpcMessage message;
  const auto id = value.find("id");
  if (id != value.end()) {
    std::string text = IdText(*id);
    if (text.empty()) {
      return Invalid(fmt::format("\"id\" has to be a whole number or a text of at most {} bytes",
                                 kMostRpcIdBytes));
    }
    message.id = std::move(text);
  }
  const auto method = value.find("method");
  if (method == value.end()) {
    if (value.contains("result") || value.contains("error")) {
      message.kind = RpcMessage::Kind::kResponse;
    } else {
      message.error = "\"method\" is missing";
    }
    return message;
  }
  const std::string* const name = method->get_ptr<const std::string*>();
  const auto params = value.find("params");
  if (name == nullptr) {
    message.error = "\"method\" has to be a text";
  } else if (params != value.end() && !params->is_object()) {
    message.error = "\"params\" has to be an object";
  } else {
    message.kind = id == value.end() ? RpcMessage::Kind::kNotification : RpcMessage::Kind::kRequest;
    message.method = name->substr(0, kMostRpcMethodBytes + 1);
    message.params = params == value.end() ? "{}" : params->dump();
  }
  return message;
}

RpcLine Wrong(int code, std::string problem) {
  RpcLine line;
  line.error_code = code;
  line.problem = std::move(problem);
  return line;
}

}  // namespace

json ParseBoundedJson(std::string_view text) {
  bool too_deep = false;
  json value = json::parse(
      text.begin(), text.end(),
      [&too_deep](int depth, json::parse_event_t, const json&) {
        too_deep |= depth > kMostRpcDepth;
        return !too_deep;
      },
      false);
  return too_deep ? json(json::value_t::discarded) : value;
}

RpcLine ReadRpcLine(std::string_view line) {
  if (line.size() > kMostRpcLineBytes) {
    return Wrong(kRpcInvalidRequest, fmt::format("a line has at most {} bytes", kMostRpcLineBytes));
  }
  const json value = ParseBoundedJson(line);
  if (value.is_discarded()) {
    return Wrong(kRpcParseError,
                 fmt::format("the line is no JSON, or is deeper than {} levels", kMostRpcDepth));
  }
  RpcLine read;
  read.is_batch = value.is_array();
  if (!read.is_batch) {
    read.messages.push_back(ReadMessage(value));
    return read;
  }
  if (value.empty() || value.size() > kMostRpcBatch) {
    return Wrong(kRpcInvalidRequest,
                 fmt::format("a batch has from 1 to {} messages", kMostRpcBatch));
  }
  for (const json& message : value) read.messages.push_back(ReadMessage(message));
  return read;
}

std::string RpcResult(std::string_view id, std::string_view result) {
  std::string text;
  JsonWriter writer(&text, JsonWriter::kOneLine);
  writer.BeginObject();
  writer.StringKey("jsonrpc", "2.0");
  writer.JsonKey("id", id);
  writer.JsonKey("result", result);
  writer.EndObject();
  return text;
}

std::string RpcFailure(std::string_view id, int code, std::string_view message) {
  std::string text;
  JsonWriter writer(&text, JsonWriter::kOneLine);
  writer.BeginObject();
  writer.StringKey("jsonrpc", "2.0");
  writer.JsonKey("id", id);
  writer.BeginObject("error");
  writer.SignedKey("code", code);
  writer.StringKey("message", message);
  writer.EndObject();
  writer.EndObject();
  return text;
}

}  // namespace cairn
