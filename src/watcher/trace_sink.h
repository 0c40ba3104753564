// SPDX-License-Identifier: Apache-2.0
//
// The file of a capture while it is written: takes the records of the program in order, keeps back what
// an armed capture does not write, and remembers the first error instead of returning it, because
// nobody could do anything about it before the program ends.
#ifndef CAIRN_WATCHER_TRACE_SINK_H_
#define CAIRN_WATCHER_TRACE_SINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/file/file_writer.h"
#include "format/model/live_state.h"
#include "format/model/start_losses.h"
#include "format/trace/trace_writer.h"

namespace cairn {

struct CaptureSummary {
  uint64_t calls = 0;
  uint64_t frames = 0;
  uint64_t records = 0;
  uint64_t file_bytes = 0;
  bool started = true;  // false: an armed capture that was never started
  std::vector<std::string> losses;
};

class TraceSink {
 public:
  // `armed`: nothing is written before the program's kContents or kStart.
  // `most_kept_bytes`: LiveState's.
  TraceSink(Result<FileWriter> file, const TraceFacts& facts, bool armed, size_t most_kept_bytes);
  ~TraceSink();

  // Without effect after an error. A record that may not stand in a trace is left out and counted.
  void Add(const Record& record);
  // Writes all added records to the file.
  void Flush();
  bool HasUnflushed() const { return unflushed_; }
  // Writes the losses as notes, and the end of the trace.
  void End(std::span<const TraceThread> threads, std::span<const std::string> losses);
  // Adds chunks to the file.
  Status Append(const std::function<Status(FileWriter*)>& write);
  // Gives the file its name.
  Result<CaptureSummary> Finish();

  const Status& status() const { return status_; }
  // Lets go of the file as well: its name in use would keep the report of a crash out.
  void Fail(Status status);
  // Returns true if there is little room for more chunks: the program should stop recording.
  bool nearly_full() const;
  bool stopped() const { return stop_number_ != 0; }
  uint64_t last_number() const { return last_number_; }

 private:
  void Write(const Record& record);
  void BeginRecording(uint64_t first_number);
  void WriteEnd(std::span<const TraceThread> threads, std::span<const std::string> losses);
  void Note(NoteKind kind, const std::string& text);

  Status status_;
  std::optional<FileWriter> file_;
  std::optional<TraceWriter> writer_;
  std::optional<LiveState> kept_;  // while armed
  std::vector<std::string> restore_losses_;
  std::optional<StartLosses> start_losses_;  // of a recording that began late
  CaptureSummary summary_;
  uint64_t last_number_ = 0;
  uint64_t stop_number_ = 0;
  uint64_t refused_ = 0;  // records
  bool full_ = false;     // of chunks
  bool unflushed_ = false;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_TRACE_SINK_H_
