// SPDX-License-Identifier: Apache-2.0
//
// Records, in the order of their numbers, into chunks of a .cairn file. docs/trace-format.md.
//
//   TraceWriter writer(&file);
//   writer.Begin(facts);
//   writer.Add(record); ...
//   writer.Finish(unreturned);      index; the file itself is finished by its owner
//
// One thread. Memory: two chunks (kTraceChunkBytes each) and 40 bytes for each distinct blob of the
// last kKnownBlobs.
#ifndef CAIRN_TRACE_TRACE_WRITER_H_
#define CAIRN_TRACE_TRACE_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "cairnfile/file_writer.h"
#include "calls/record.h"

namespace cairn {

inline constexpr ChunkType kTraceTableChunk = MakeChunkType("TABL");   // names of methods, chains; facts
inline constexpr ChunkType kTraceRecordChunk = MakeChunkType("RECD");  // records
inline constexpr ChunkType kTraceBlobChunk = MakeChunkType("BLOB");    // bytes of blobs
inline constexpr ChunkType kTraceIndexChunk = MakeChunkType("TIDX");   // where which frame and record is
inline constexpr ChunkType kTraceEndChunk = MakeChunkType("TEND");     // threads, and unreturned calls
inline constexpr size_t kTraceChunkBytes = 1u << 20;  // raw, of records; of blobs
inline constexpr size_t kKnownBlobs = 1u << 20;

struct TraceFacts {
  std::string program;
  std::string command_line;
  std::string library_version;
  uint64_t process_id = 0;
  uint64_t start_realtime_ns = 0;
  uint64_t start_monotonic_ns = 0;
  bool trimmed = false;  // made from another trace
};

struct TraceThread {
  uint32_t index = 0;
  uint32_t thread_id = 0;
  std::string name;
  uint64_t unreturned_call = 0;  // 0: none
};

class TraceWriter {
 public:
  explicit TraceWriter(FileWriter* file);
  ~TraceWriter();

  Status Begin(const TraceFacts& facts);
  // Numbers must rise. kBlob records come with their bytes in `body` behind BlobBody (never spilled):
  // equal bytes are stored once.
  Status Add(const Record& record);
  // What was added is in the file's chunks; else that happens when a chunk is full.
  Status Flush();
  Status Finish(std::span<const TraceThread> threads);

  uint64_t records() const;
  uint64_t frames() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_TRACE_TRACE_WRITER_H_
