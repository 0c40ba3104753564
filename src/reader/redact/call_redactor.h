// SPDX-License-Identifier: Apache-2.0
//
// The body of a call without the names in it. All other values stay as they were recorded.
#ifndef CAIRN_READER_REDACT_CALL_REDACTOR_H_
#define CAIRN_READER_REDACT_CALL_REDACTOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/calls/encoded_values.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_tables.h"
#include "reader/redact/hidden_bytes.h"

namespace cairn {

class CallRedactor {
 public:
  // `trace` and `hidden` must outlive it. `what`: names are always replaced.
  CallRedactor(TraceReader* trace, TraceRedaction what, HiddenBytes* hidden)
      : trace_(*trace), what_(what), hidden_(*hidden) {}

  // Returns the new body, valid until the next call. `body`: as FindEncodedValues takes it. Errors: it
  // cannot be read, so that nobody knows where its names are.
  Result<std::span<const std::byte>> Redact(Method method, std::span<const std::byte> body,
                                            CallBody kind);

 private:
  Status RedactPrivateData(std::span<const std::byte> body);
  Status RedactMarker(std::span<const std::byte> body);
  Status RedactValues(Method method, std::span<const std::byte> body, CallBody kind);
  Status PutValue(Method method, const EncodedValue& value, std::span<const std::byte> encoded,
                  CallBody kind);
  void PutText(Shape shape, std::span<const std::byte> encoded);
  void Put(std::span<const std::byte> bytes) {
    body_.insert(body_.end(), bytes.begin(), bytes.end());
  }
  template <typename T>
  void PutNumber(T number) {
    Put(std::as_bytes(std::span(&number, 1)));
  }
  Result<std::span<const std::byte>> ByteValue(std::span<const std::byte> encoded) {
    return DecodeBytes(&encoded, &trace_, &arena_);
  }

  TraceReader& trace_;
  const TraceRedaction what_;
  HiddenBytes& hidden_;
  Arena arena_{uint64_t{256} << 20};
  std::vector<EncodedValue> values_;
  std::vector<std::byte> body_;
};

// Returns UTF-16 as UTF-8, up to a zero.
std::string Utf8OfUtf16(std::span<const std::byte> bytes);
// "name-0123456789abcdef" for it; nothing for nothing.
std::string HiddenName(std::string_view name);

}  // namespace cairn

#endif  // CAIRN_READER_REDACT_CALL_REDACTOR_H_
