// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a playback as it goes on: what was skipped, what people should know, and why it
// ended early. No graphics API.
#ifndef CAIRN_READER_REPLAY_PLAY_LOG_H_
#define CAIRN_READER_REPLAY_PLAY_LOG_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "base/status.h"
#include "reader/replay/player.h"

namespace cairn {

// The player and its parts write into one. Memory: bounded, whatever the trace holds. One thread.
class PlayLog {
 public:
  // `options`: outlives this; its on_note is told what is new, and its interrupted is asked.
  explicit PlayLog(const PlayerOptions& options) : options_(options) {}

  // The record with this number is played from here on.
  void Begin(uint64_t record) { record_ = record; }
  uint64_t record() const { return record_; }

  // Counts a skipped call or record. `number`: its number. Kinds are distinguished by `what` without its
  // numbers; the first of a kind is kept, and the first thousand kinds.
  void LeaveOut(uint64_t number, const std::string& what);
  // Keeps a note on what was played: once, and the first thousand.
  void Note(const std::string& note);
  // Counts what was recorded and cannot be compared here.
  void NotCompared(const std::string& note);

  // Keeps why the playback ends, and at which call or record: the first reason counts.
  void SetFailure(PlayerFailure failure, uint64_t number);
  // The same. Returns the error that ends the playback, of `code`: "record 7: ...".
  Status Fail(PlayerFailure failure, uint64_t number, const std::string& what,
              StatusCode code = StatusCode::kUnsupported);
  // The same: "call 7, ID3D12Device::CreateFence: ...".
  Status FailCall(PlayerFailure failure, uint64_t number, const char* method,
                  const std::string& what);
  bool failed() const { return failure_ != PlayerFailure::kNone; }
  PlayerFailure failure() const { return failure_; }
  uint64_t failed_call() const { return failed_call_; }

  // Asks whether the playback should end. Returns the answer, and keeps a yes in result().
  bool Interrupted();

  // Sorts the kinds of what was skipped: calls that never returned come last, in no order. Nothing is
  // skipped after it.
  void Finish();

  PlayerResult& result() { return result_; }
  const PlayerResult& result() const { return result_; }

 private:
  const PlayerOptions& options_;
  PlayerResult result_;
  PlayerFailure failure_ = PlayerFailure::kNone;
  uint64_t failed_call_ = 0;
  uint64_t record_ = 0;
  std::set<std::string> noted_;
  std::unordered_map<std::string, size_t> kinds_;  // their places in result_.left_out
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_PLAY_LOG_H_
