// SPDX-License-Identifier: Apache-2.0
//
// Records as the input of fuzzers of what reads them: u8 how many of them are restored, then for each
// u8 kind, u8 + u8 method, u8 object, u8 size, body. Kinds and methods wrap around, so that most inputs
// are records of something; numbers are given in order.
#ifndef CAIRN_FORMAT_TRACE_TESTING_RECORD_FUZZ_INPUT_H_
#define CAIRN_FORMAT_TRACE_TESTING_RECORD_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/trace/record_chunk.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {

inline void AddFuzzedRecords(std::span<const std::byte> input, TestTrace* test) {
  constexpr size_t kMostRecords = 120;
  constexpr uint32_t kThreads = 3;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
  if (input.empty()) return;
  const size_t restored = at(0);
  input = input.subspan(1);
  for (size_t count = 0; input.size() >= 5 && count < kMostRecords; ++count) {
    const auto kind = static_cast<RecordKind>(1 + at(0) % kLastRecordKind);
    const auto method = static_cast<uint16_t>((at(1) | at(2) << 8) % (kMethodCount + 1));
    const uint64_t object = at(3);
    const size_t size = std::min<size_t>(at(4), input.size() - 5);
    std::span<const std::byte> body = input.subspan(5, size);
    std::vector<std::byte> whole;
    if (kind == RecordKind::kBlob) {
      whole = BodyBytes(BlobBody{static_cast<uint32_t>(size), 0}, body);
      body = whole;
    }
    test->thread = object % kThreads;
    test->Add(kind, object, body, method, count < restored ? kRecordRestores : 0);
    input = input.subspan(5 + size);
  }
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TESTING_RECORD_FUZZ_INPUT_H_
