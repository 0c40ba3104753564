// SPDX-License-Identifier: Apache-2.0
//
// Cuts a stream into lines, and keeps no more of one than the reader of lines takes.
#ifndef CAIRN_READER_MCP_LINE_SPLITTER_H_
#define CAIRN_READER_MCP_LINE_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "reader/mcp/json_rpc.h"

namespace cairn {

class LineSplitter {
 public:
  // `give` gets each line without its end ("\n" or "\r\n"), but none that is empty. Of a line that has more than
  // kMostRpcLineBytes it gets more than these, too, but at most kMostKeptBytes: ReadRpcLine refuses that.
  explicit LineSplitter(std::function<void(std::string_view line)> give) : give_(std::move(give)) {}

  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      line_ += part.substr(0, kMostKeptBytes - line_.size());
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      Finish();
    }
  }

  // Gives what stands behind the last line end.
  void Finish() {
    if (line_.ends_with('\r')) line_.pop_back();
    if (!line_.empty()) give_(line_);
    line_.clear();
  }

 private:
  // Two more: a '\r' at the end of what is kept may be none of the line's end, and goes.
  static constexpr size_t kMostKeptBytes = kMostRpcLineBytes + 2;

  const std::function<void(std::string_view line)> give_;
  std::string line_;
};

}  // namespace cairn

#endif  // CAIRN_READER_MCP_LINE_SPLITTER_H_
