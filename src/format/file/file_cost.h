// SPDX-License-Identifier: Apache-2.0
//
// Limits the cost of reading a file. Compression and references let a few bytes stand for
// gigabytes, so that the limit depends on the file's own size, not on sizes inside of it. Omissions
// because of the limit are reported. docs/formats/cairn-file.md has the list.
#ifndef CAIRN_FORMAT_FILE_FILE_COST_H_
#define CAIRN_FORMAT_FILE_FILE_COST_H_

#include <algorithm>
#include <cstdint>

namespace cairn {

// Files up to this size may cost what `small_file` says: with all budgets together, 512 MiB of memory, as
// much output, and a few seconds.
inline constexpr uint64_t kSmallFileBytes = uint64_t{1} << 20;

struct FileCost {
  uint64_t small_file;
  // For each byte above kSmallFileBytes. Real files stay far below: equal frames of a program compress
  // well, and only so well.
  uint64_t per_byte;
};

inline constexpr FileCost kDecodedBytes = {uint64_t{512} << 20, 4096};  // of all chunks together
inline constexpr FileCost kTextBytes = {uint64_t{64} << 20, 256};  // of names, each counted once
// Names, counted once for each row that has one: as many bytes as printing every row would give.
inline constexpr FileCost kNamedBytes = {uint64_t{32} << 20, 256};
inline constexpr FileCost kTableRows = {uint64_t{1} << 20, 64};  // of a snapshot
inline constexpr FileCost kTraceRecords = {uint64_t{2} << 20, 64};
inline constexpr FileCost kTracedObjects = {uint64_t{256} << 10, 8};
inline constexpr FileCost kBlobBytes = {uint64_t{4} << 30,
                                        65536};  // handed out, and decoded for it
inline constexpr FileCost kDescriptorCopies = {uint64_t{16} << 20, 256};
inline constexpr FileCost kComparedBytes = {uint64_t{1} << 30, 65536};  // of calls as text
// Bytes that are printed of a trace before arguments are left out.
inline constexpr FileCost kPrintedBytes = {uint64_t{128} << 20, 4096};

// Bytes of a report, as text or JSON.
inline constexpr FileCost kReportBytes = {uint64_t{192} << 20, 4096};
// Nominal time of a playback (reader/replay/play_cost.h).
inline constexpr FileCost kPlayedNs = {uint64_t{8} * 1'000'000'000, 100'000};
// Memory and processor time of the whole process in a verb that reads, whatever the other budgets let through
// (cli/reading_limits.h).
inline constexpr FileCost kProcessMemoryBytes = {uint64_t{640} << 20, 16384};
inline constexpr FileCost kProcessorMs = {9'000, 1};

inline uint64_t FileBudget(uint64_t file_bytes, const FileCost& cost) {
  const uint64_t above = file_bytes - std::min(file_bytes, kSmallFileBytes);
  return above > (UINT64_MAX - cost.small_file) / cost.per_byte
             ? UINT64_MAX
             : cost.small_file + above * cost.per_byte;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_FILE_COST_H_
