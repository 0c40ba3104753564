// SPDX-License-Identifier: Apache-2.0
//
// Reads the trace in a .cairn file: complete, cut or damaged. Nothing in it is trusted.
//
//   Result<TraceReader> trace = TraceReader::Open("game.cairn");
//   TraceCursor cursor(*trace);
//   CAIRN_RETURN_IF_ERROR(cursor.SeekFrame(100));
//   Record record;
//   while (cursor.Next(&record)) ...
//   CAIRN_RETURN_IF_ERROR(cursor.status());
//
// Memory: the index (48 bytes for each 1 MiB of records), kCachedChunks decoded chunks of blobs
// (kCachedBlobBytes at most, unless one is larger) and of records, and one chunk of records a cursor. Opening a finished file reads its index only; one that was
// cut, each chunk of records.
//
// A reader and its cursors belong to one thread at a time.
#ifndef CAIRN_FORMAT_TRACE_TRACE_READER_H_
#define CAIRN_FORMAT_TRACE_TRACE_READER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "d3d12gen/methods.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"
#include "format/file/file_reader.h"
#include "format/trace/record_kinds.h"
#include "format/trace/trace_writer.h"

namespace cairn {

inline constexpr size_t kCachedChunks = 8;
inline constexpr size_t kCachedBlobBytes = size_t{72} << 20;

// Records that stand together in a chunk.
struct TraceSpan {
  uint64_t first_number = 0;
  uint64_t last_number = 0;
  uint64_t first_frame = 0;  // the frame that its first record belongs to
  uint32_t frame_ends = 0;   // kFrame records in it
  uint32_t record_count = 0;
  size_t chunk = 0;  // index into FileReader::chunks()
};

class TraceReader final : public BlobSource {
 public:
  // Errors: those of FileReader::Open; kNotFound: the file is fine but holds no trace; kUnsupported: a
  // trace of a newer version, with what to do.
  static Result<TraceReader> Open(const std::string& path, Check check = Check::kStructure);
  static Result<TraceReader> FromBytes(std::span<const std::byte> bytes);
  static Result<TraceReader> FromFile(FileReader file);

  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  const TraceFacts& facts() const;
  const TraceTable& table()
      const;  // for a writer of records of this trace (format/trace/trace_tables.h)
  const FileReader& file() const;
  std::span<const TraceSpan> spans() const;
  uint64_t frame_count() const;   // ends of frames
  uint64_t record_count() const;  // in readable chunks
  // FrameBody::frame of the first frame: a trace that began late counts its frames from 0 here, and the
  // program from here. nullopt: not known before the first kFrame was read.
  std::optional<uint64_t> first_frame() const;
  // The frame that the program counts as `frame`, as cursors count; one more than the last is what stands
  // behind its end. Errors: kInvalidArgument, with the frames that there are.
  Result<uint64_t> OrdinalOf(uint64_t frame) const;
  // Returns the totals that a finished trace stores; nullopt if they are missing.
  const std::optional<TraceTotals>& totals() const;
  // Returns the threads listed at the end of a finished trace; otherwise none.
  std::span<const TraceThread> threads() const;
  // The recording came to its end in order, if only because the program was killed: false if the watcher
  // was.
  bool finished() const;
  // Returns the losses of the file and of the trace in it.
  const std::vector<Loss>& losses() const;

  // The method that a record's `method` means in this build; nullopt if this build does not know it.
  std::optional<Method> MethodOf(const Record& record) const;
  std::string MethodName(const Record& record) const;  // as the trace names it, made visible
  Chain ChainOf(uint32_t traced_chain) const;          // kNone if this build does not know it

  // Returns the bytes of the kBlob record with this number, valid until the next call of Blob.
  Result<std::span<const std::byte>> Blob(uint64_t number) override;
  // For who only shows the trace, before its first cursor: costs what the file's size allows
  // (format/file/file_cost.h). Chunks of records beyond that are left out, and the answer says so, empty if
  // there are none; Blob() fails with kOutOfMemory once it has given out, or decoded for that, as many
  // bytes.
  std::string LimitCost();
  // Call it before the first cursor is made. Once `ended` is true, set by any thread, cursors end
  // before their next chunk: kIo, "stopped".
  void StopWhen(const std::atomic<bool>* ended);

 private:
  friend class TraceCursor;
  friend class TraceOpener;
  struct State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Loops over a trace report progress once per this number of records.
inline constexpr uint64_t kRecordsPerProgress = 4096;

// Goes through the records. `trace` must outlive it.
class TraceCursor {
 public:
  explicit TraceCursor(TraceReader& trace, RecordKinds kinds = RecordKinds::kKnown);
  ~TraceCursor();

  // Moves to the first record of a frame (0: the first of the trace); kInvalidArgument beyond the
  // last frame.
  Status SeekFrame(uint64_t frame);
  // Moves to the first record whose number is at least this.
  Status SeekNumber(uint64_t number);
  // Decodes the next chunk on another thread from now on: for callers that read to the end and do
  // other work than reading. One more chunk in memory.
  void ReadAhead();
  // False at the end, or after an error; `record->body` is valid until the next call. The body of a kBlob
  // is its BlobBody alone: TraceReader::Blob gives the bytes. Kinds that this build does not know are
  // passed over unless kAll are wanted.
  bool Next(Record* record);
  // A damaged chunk is passed over and named in `losses`; an error is what ends the trace early.
  const Status& status() const;
  const std::vector<Loss>& losses() const;
  // Returns the frame of the last record, from 0 in the trace; a kFrame belongs to the frame that
  // it ends.
  uint64_t frame() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TRACE_READER_H_
