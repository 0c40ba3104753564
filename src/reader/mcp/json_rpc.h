// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the messages of JSON-RPC 2.0 (www.jsonrpc.org/specification) as the Model Context Protocol uses them:
// one line each, ids that are texts or whole numbers. Pure.
#ifndef CAIRN_READER_MCP_JSON_RPC_H_
#define CAIRN_READER_MCP_JSON_RPC_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// The most bytes of a line, without its end. Whoever cuts lines out of a stream keeps no more of one.
inline constexpr size_t kMostRpcLineBytes = size_t{1} << 20;
inline constexpr int kMostRpcDepth = 32;           // arrays and objects in each other
inline constexpr size_t kMostRpcBatch = 64;        // messages
inline constexpr size_t kMostRpcIdBytes = 256;     // of an id that is a text
inline constexpr size_t kMostRpcMethodBytes = 64;  // longer names are of no method

enum RpcError : int {
  kRpcParseError = -32700,
  kRpcInvalidRequest = -32600,
  kRpcMethodNotFound = -32601,
  kRpcInvalidParams = -32602,
  kRpcServerBusy = -32000,
};

struct RpcMessage {
  enum class Kind {
    kRequest,       // wants an answer
    kNotification,  // wants none
    kResponse,      // answers a request of ours; there are none
    kInvalid,       // wants the answer `error`
  };
  Kind kind = Kind::kInvalid;
  std::string id = "null";  // JSON: what an answer has as its id
  std::string method;
  std::string params;  // JSON: an object; "{}" if there are none
  std::string error;   // of kInvalid: why
};

struct RpcLine {
  int error_code = 0;   // not 0: the whole line is wrong, and there are no messages
  std::string problem;  // why
  bool is_batch = false;
  std::vector<RpcMessage> messages;
};

// Reads one line without its end: any bytes. Time and memory grow with the length of the line alone.
RpcLine ReadRpcLine(std::string_view line);

// Parses JSON; "discarded" (nlohmann) for what is none or is deeper than kMostRpcDepth. Throws nothing.
nlohmann::json ParseBoundedJson(std::string_view text);

// Returns an answer, without a line end. `id` and `result` are JSON, `message` is any text.
std::string RpcResult(std::string_view id, std::string_view result);
std::string RpcFailure(std::string_view id, int code, std::string_view message);

}  // namespace cairn

#endif  // CAIRN_READER_MCP_JSON_RPC_H_
