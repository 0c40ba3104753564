// SPDX-License-Identifier: Apache-2.0
//
// The payloads of the chunks TABL, TIDX and TEND (docs/formats/trace-format.md): what the records mean, where
// they are, and how they ended.
#ifndef CAIRN_FORMAT_TRACE_TRACE_TABLES_H_
#define CAIRN_FORMAT_TRACE_TRACE_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "format/trace/record_chunk.h"
#include "format/trace/trace_writer.h"

namespace cairn {

inline constexpr uint32_t kTraceFormatVersion = 1;

// Returns a hash of the encoding of a method's record: names, types and sizes of parameters and of
// all structs that they reach. Two builds with the same number for a method read each other's
// calls.
uint32_t LayoutHash(Method method);

struct TracedMethod {
  std::string name;  // "ID3D12Device::CreateFence"
  uint32_t layout = 0;
};

// The parts of a trace that were replaced before it was sent (reader/redact).
struct TraceRedaction {
  bool names = false;     // by hashes
  bool shaders = false;   // by hashes, so that it cannot be played
  bool contents = false;  // of resources, by zeros

  bool any() const { return names || shaders || contents; }
  TraceRedaction operator|(const TraceRedaction& other) const {
    return {names || other.names, shaders || other.shaders, contents || other.contents};
  }
};

struct TraceTable {
  TraceFacts facts;
  TraceRedaction redaction;
  std::vector<TracedMethod> methods;  // Record::method is an index
  std::vector<std::string> chains;    // ObjectBody::chain is an index; the first is kNone, ""
};

// Returns the table of this build.
TraceTable MakeTraceTable(const TraceFacts& facts);
std::vector<std::byte> EncodeTraceTable(const TraceTable& table);
// Errors: kCorrupt; kUnsupported: a trace of a newer version.
Result<TraceTable> DecodeTraceTable(std::span<const std::byte> payload);

// Maps a trace's numbers to methods and interfaces of this build.
struct TraceMeaning {
  std::vector<std::optional<Method>> methods;
  std::vector<Chain> chains;
};
TraceMeaning MeaningOf(const TraceTable& table);

struct TraceIndexEntry {
  uint64_t offset = 0;  // of the RECD chunk's header
  RecordChunkHeader header;
};

struct TraceIndex {
  TraceTotals totals;
  std::vector<TraceIndexEntry> entries;
};
std::vector<std::byte> EncodeTraceIndex(const TraceIndex& index);
// The entries are in order and their numbers rise. Errors: kCorrupt.
Result<TraceIndex> DecodeTraceIndex(std::span<const std::byte> payload);

std::vector<std::byte> EncodeTraceEnd(std::span<const TraceThread> threads);
Result<std::vector<TraceThread>> DecodeTraceEnd(std::span<const std::byte> payload);

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TRACE_TABLES_H_
