// SPDX-License-Identifier: Apache-2.0
//
// Formats one record of a trace, for people and as JSON: a line of `cairn calls`.
#ifndef CAIRN_READER_VIEW_CALL_LINES_H_
#define CAIRN_READER_VIEW_CALL_LINES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "base/status.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_printer.h"
#include "format/trace/trace_reader.h"

namespace cairn::cli {

// "DrawInstanced" of "ID3D12GraphicsCommandList::DrawInstanced".
std::string_view ShortName(std::string_view method);

// A line that is being put together: a call's result comes later.
struct CallLine {
  uint64_t call = 0;  // 0: no call
  bool is_around = false;
  bool never_returned = false;
  std::string text;     // as JSON the first keys with their values, without brackets
  std::string result;   // "" as long as there is none
  std::string problem;  // JSON: why arguments or result cannot be read
};

// The limit for one call, or for the bytes of one write.
inline constexpr uint64_t kMostDecodedBytes = uint64_t{192} << 20;

struct LineOptions {
  bool json = false;
  bool whole = false;  // long arrays and bytes in full
};

// Makes the lines of calls. `trace` and `names` must outlive it. An error that it returns is damage
// of the record, which the line names as well.
class CallLines {
 public:
  CallLines(TraceReader& trace, const ValueNames& names) : trace_(trace), names_(&names) {}

  void set_names(const ValueNames& names) { names_ = &names; }

  // `decoded`: how decoding `call` went; `method`: nullopt if this build does not know it.
  void AddCall(const Record& record, uint64_t frame, std::optional<Method> method,
               const DecodedCall& call, const Status& decoded, const LineOptions& options,
               CallLine* line) const;
  // Adds the call's result to the line. `results`: the record's body behind ResultBody.
  Status AddResult(const Record& record, std::span<const std::byte> results,
                   const LineOptions& options, CallLine* line);
  // Any other record.
  Status AddOther(const Record& record, uint64_t frame, const LineOptions& options, CallLine* line);

 private:
  // A record other than a call, in words and as keys with their values.
  struct Words;
  Status PutFrame(const Record& record, Words* words) const;
  Status PutWrite(const Record& record, const LineOptions& options, Words* words);
  Status PutContents(const Record& record, const LineOptions& options, Words* words);
  Status PutBytes(std::span<const std::byte> rest, const LineOptions& options, Words* words);
  Status PutReadback(const Record& record, Words* words) const;
  Status PutStructure(const Record& record, const LineOptions& options, Words* words);
  Status PutResourceHash(const Record& record, Words* words) const;
  Status PutFenceReached(const Record& record, Words* words) const;
  Status PutDevice(const Record& record, Words* words) const;
  Status PutNote(const Record& record, Words* words) const;
  Status PutObject(const Record& record, Words* words) const;
  Status PutWords(const Record& record, const LineOptions& options, Words* words);
  std::string NameOf(uint64_t object) const;
  void ObjectKeys(const Record& record, JsonWriter* json) const;

  TraceReader& trace_;
  const ValueNames* names_;
  Arena arena_{kMostDecodedBytes};
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_CALL_LINES_H_
