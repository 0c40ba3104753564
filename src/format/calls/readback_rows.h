// SPDX-License-Identifier: Apache-2.0
//
// The rows that a ReadbackBody is about: what recording and replay have to do alike.
#ifndef CAIRN_FORMAT_CALLS_READBACK_ROWS_H_
#define CAIRN_FORMAT_CALLS_READBACK_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "format/calls/record.h"

namespace cairn {

// Returns true if there are rows and all of them lie in a buffer of that size. `rows` may hold any
// values.
bool RowsLieIn(uint64_t buffer_bytes, const ReadbackBody& rows);

struct RowsHash {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const RowsHash&, const RowsHash&) = default;
};
// XXH3 128 of the rows without what is between. `buffer`: its first byte; the rows lie in it.
// May throw std::bad_alloc.
RowsHash HashRows(const std::byte* buffer, const ReadbackBody& rows);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_READBACK_ROWS_H_
