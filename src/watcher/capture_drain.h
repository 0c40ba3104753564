// SPDX-License-Identifier: Apache-2.0
//
// Writes what a captured program hands over into a trace, on a thread of its own, while the program
// runs and after it died:
//
//   CaptureDrain drain(std::move(region), settings);
//   ... the program ends ...
//   drain.BeginEnd();                    // and when drain.ended():
//   drain.Append([&](FileWriter* file) { return WriteSnapshot(snapshot, file); });
//   Result<CaptureSummary> summary = drain.Finish();
//
// A file that cannot be written never stops the program: what it hands over is then thrown away, and it
// is asked to stop recording.
//
// Memory: two chunks of the trace, the index of known blobs (format/trace/trace_writer.h), one record; for a
// capture that starts late also what live_state.h keeps.
// After the end of the program: at most the bytes of the region are written, whoever goes on filling it, and for at most
// kMostEndNs.
// File: every record whose number was taken kFlushNs, and a look at the rings (10 ms), before the watcher died.
#ifndef CAIRN_WATCHER_CAPTURE_DRAIN_H_
#define CAIRN_WATCHER_CAPTURE_DRAIN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/status.h"
#include "format/file/file_writer.h"
#include "format/model/live_state.h"
#include "format/trace/trace_writer.h"
#include "os/shared_memory.h"
#include "watcher/region_reader.h"
#include "watcher/trace_sink.h"

namespace cairn {

// After the end of a program its capture is written for so long, at most.
inline constexpr uint64_t kMostEndNs = 10'000'000'000;

struct CaptureDrainSettings {
  std::string path;  // of the file; PATH.part until Finish()
  // Names to use if something is in the way of that one: output_file.h.
  std::function<std::string()> other_name;
  TraceFacts facts;
  // A file that starts an armed capture by being there, and stops it by being gone. "": none.
  std::string trigger_path;
  size_t most_kept_bytes = LiveState::kMostBytes;
  uint64_t most_end_ns = kMostEndNs;
};

class CaptureDrain {
 public:
  static constexpr uint64_t kFlushNs = 250'000'000;

  // Starts the thread. Errors come from status() and Finish().
  CaptureDrain(SharedMemory region, CaptureDrainSettings settings);
  ~CaptureDrain();
  CaptureDrain(const CaptureDrain&) = delete;
  CaptureDrain& operator=(const CaptureDrain&) = delete;

  const std::string& path() const { return settings_.path; }
  // Returns why the file has another name than the one requested; "" if it has that name.
  const std::string& why_not_there() const { return why_not_there_; }
  // Ok while everything is written. Any thread; may wait for the disk.
  Status status() const;
  // status() is not ok. Any thread, at once.
  bool failed() const { return failed_; }

  // Starts an armed capture at the next end of a frame; the second call stops it, further ones do
  // nothing. Any thread, at once.
  void Trigger() { ++triggers_wanted_; }

  // The program has ended, or is given up: takes what was recorded by now, and ends the trace. Returns at once; the
  // thread does it.
  void BeginEnd();
  // Returns true once the end is done.
  bool ended() const { return ended_; }
  // Waits for that.
  void EndTrace();
  // Adds chunks to the file, at any time. `write` must only append, and may ask for LastNumber().
  Status Append(const std::function<Status(FileWriter*)>& write);
  // The last number that the program took, whether its record is there or not. For Append's `write`.
  uint64_t LastNumber() const {
    return reader_.has_value() ? reader_->last_taken_number() : last_number_;
  }
  // Gives the file its name. Ends the trace if nothing else did.
  Result<CaptureSummary> Finish();

 private:
  void Run();
  // Takes some records, with numbers up to `last`. False: there was none, as far as it has looked. Sets caught_up_.
  bool Pump(uint64_t last);
  // Everything that is there, on the thread.
  void TakeTheRest();
  void WriteTheRest();
  // The same, with `count` of those that were taken, without care for memory.
  void PumpInto(uint64_t last, size_t* count);
  // Returns true if the next number was in the lease of a thread that was slow to use it.
  bool TakeBackLeases(uint64_t now_ns);
  // Returns true if the missing record will not come by any evidence.
  bool IsLost(uint64_t now_ns);
  void WatchTrigger();
  void WriteEnd();
  void LetOthersIn() const;
  // For all but the thread: it lets go of the file soon.
  std::unique_lock<std::mutex> Lock() const;

  CaptureDrainSettings settings_;
  std::string why_not_there_;
  mutable std::mutex mutex_;  // everything below
  Status open_error_;
  std::optional<RegionReader> reader_;
  std::optional<TraceSink> sink_;
  uint64_t held_back_since_ns_ = 0;
  uint64_t holding_lease_ = 0;  // as seen last
  uint64_t holding_since_ns_ = 0;
  uint64_t gap_free_until_ = 0;  // of reader_, as seen last
  uint64_t gap_free_since_ns_ = 0;
  uint64_t last_number_ = 0;  // once reader_ is gone
  int triggers_ = 0;
  bool paused_ = false;     // the reader has looked at as much as it may at once
  bool caught_up_ = false;  // it has taken all that is there
  std::atomic<bool> ended_{false};
  std::atomic<bool> ends_{false};
  std::atomic<bool> failed_{false};
  std::atomic<int> triggers_wanted_{0};
  mutable std::atomic<int> waiters_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_CAPTURE_DRAIN_H_
