// SPDX-License-Identifier: Apache-2.0
//
// cairn export --perfetto: dumps and captures for the Perfetto UI. docs/reference/cairn-export.md says what stands where.
#ifndef CAIRN_READER_VIEW_PERFETTO_EXPORT_H_
#define CAIRN_READER_VIEW_PERFETTO_EXPORT_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.h"
#include "format/snapshot/snapshot.h"
#include "format/trace/trace_reader.h"

namespace cairn {

using PrintPiece = std::function<bool(std::string_view)>;

// Time is what the clock said, from the start of the program. False once `print` said so. Linear, but for sorting.
bool ExportDump(const Snapshot& snapshot, const PrintPiece& print);

struct ExportedCalls {
  uint64_t calls = 0;
  uint64_t damaged = 0;  // records that contradict others, and chunks that could not be read
  bool interrupted = false;
};
// Time is the order of the records, one microsecond each: calls have no times. `progress`: as everywhere.
// Errors: those of TraceCursor; kIo: `print` said false.
Result<ExportedCalls> ExportCalls(TraceReader& trace, const PrintPiece& print,
                                  const std::function<bool(uint64_t, uint64_t)>& progress);

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_PERFETTO_EXPORT_H_
