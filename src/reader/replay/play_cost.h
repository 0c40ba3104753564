// SPDX-License-Identifier: Apache-2.0
//
// Limits the cost of a playback by the size of its file: compression lets a few bytes ask for
// millions of calls, and one list can be submitted again and again. Counted by the calls of the
// trace, in nominal time, so that the same trace is refused everywhere or nowhere. The GPU's work
// is not counted: waits for it have a time-out.
#ifndef CAIRN_READER_REPLAY_PLAY_COST_H_
#define CAIRN_READER_REPLAY_PLAY_COST_H_

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "format/file/file_cost.h"
#include "reader/replay/recent_values.h"

namespace cairn {

class PlayCost {
 public:
  // Nominal times, of one core of a small machine.
  static constexpr uint64_t kRecordNs = 3'000;
  static constexpr uint64_t kObjectNs = 20'000;
  static constexpr uint64_t kPipelineNs = 2'000'000;  // compiles shaders
  static constexpr uint64_t kSubmissionNs = 100'000;  // of one list
  static constexpr uint64_t kCommandNs = 1'000;       // of a list that is executed
  static constexpr uint64_t kByteNs = 1;              // of a record
  // For each byte of memory that is made: it is cleared, some of it in this process. A small file gets a gigabyte
  // at most.
  static constexpr uint64_t kMadeByteNs = 8;
  static constexpr uint64_t kImageByteNs = 10;    // read back and encoded
  static constexpr uint64_t kQuestionNs = 2'000;  // to a device
  static constexpr uint64_t kComparisonNs = 20;   // of two placed resources

  // UINT64_MAX: no bound.
  explicit PlayCost(uint64_t most_ns) : most_ns_(most_ns) {}

  static uint64_t MostNs(uint64_t file_bytes) { return FileBudget(file_bytes, kPlayedNs); }

  void AddRecord(uint64_t body_bytes) { Add(kRecordNs + body_bytes * kByteNs); }
  void AddObject() { Add(kObjectNs); }
  void AddPipeline() { Add(kPipelineNs); }
  void AddQuestion() { Add(kQuestionNs); }
  void AddComparisons(uint64_t count) { Add(count * kComparisonNs); }
  void AddSubmission() { Add(kSubmissionNs); }
  void AddMemory(uint64_t bytes) { AddBytes(bytes, kMadeByteNs); }
  void AddImage(uint64_t bytes) { AddBytes(bytes, kImageByteNs); }

  // Commands of a list, by the number of its object.
  void Record(uint64_t list) {
    uint64_t* const recent = recent_.Find(list);
    ++(recent != nullptr ? *recent : *recent_.Keep(list, &commands_[list]));
  }
  void Reset(uint64_t list) {
    recent_.Forget(list);
    commands_.erase(list);
  }
  void Include(uint64_t list, uint64_t bundle) { commands_[list] += CommandsOf(bundle); }
  void Execute(uint64_t list) { Add(kCommandNs * CommandsOf(list)); }

  bool spent() const { return cost_ns_ > most_ns_; }

 private:
  void AddBytes(uint64_t bytes, uint64_t byte_ns) {
    Add(bytes > UINT64_MAX / byte_ns ? UINT64_MAX : bytes * byte_ns);
  }
  void Add(uint64_t ns) { cost_ns_ += std::min(ns, UINT64_MAX - cost_ns_); }
  uint64_t CommandsOf(uint64_t list) const {
    const auto found = commands_.find(list);
    return found == commands_.end() ? 0 : std::min<uint64_t>(found->second, uint64_t{1} << 40);
  }

  const uint64_t most_ns_;
  uint64_t cost_ns_ = 0;
  std::unordered_map<uint64_t, uint64_t> commands_;
  RecentValues<uint64_t> recent_;  // of commands_
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_PLAY_COST_H_
