// SPDX-License-Identifier: Apache-2.0
//
// The shape of a long list of calls, for who shows a few of its lines: events as groups of lines, a map of what stands
// where, and the calls that are worth going to. Its size does not depend on how long the list is.
#ifndef CAIRN_READER_VIEW_CALL_OUTLINE_H_
#define CAIRN_READER_VIEW_CALL_OUTLINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_reader.h"
#include "reader/view/call_listing.h"

namespace cairn::cli {

// The lines from a BeginEvent to its EndEvent, both included.
struct CallGroup {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t call = 0;               // the number of the BeginEvent
  uint32_t thread = 0;             // that began it
  std::string name;                // visible text
  std::optional<uint32_t> colour;  // 0xRRGGBB, if the event has one
  uint64_t work = 0;               // calls in it that make the GPU work
  bool in_flight = false;          // some of that work is in flight
};

// Calls of one kind, or ends of frames, by their numbers.
struct CallJumps {
  uint64_t count = 0;
  std::vector<uint64_t> numbers;  // the first kMostJumps of them
};

// What stands in some lines that follow each other.
struct CallBucket {
  uint64_t work = 0;
  uint64_t completed = 0;
  uint64_t in_flight = 0;
  uint64_t not_started = 0;
  uint64_t failed = 0;
  uint64_t frames = 0;
};

// Takes the records of a trace in their order. Groups nest: where events of several threads cross, the one that ends
// first is a group, and those that began within it and end behind it are none. An event ends with the recording of its
// command list at the latest. Memory: kMostGroups groups with kMostNameBytes of names, two times kMostBuckets buckets,
// kMostJumps numbers of each kind, and 8 bytes for each event that has no end yet.
class CallOutline {
 public:
  static constexpr size_t kMostGroups = 32'768;
  static constexpr size_t kMostNameBytes = size_t{2} << 20;
  static constexpr size_t kMostBuckets = 256;
  static constexpr size_t kMostJumps = 4096;

  // `trace` and `gpu` must outlive Add().
  CallOutline(TraceReader& trace, const GpuStates& gpu) : trace_(&trace), gpu_(&gpu) {}

  // `line`: the line of the record, or of the next one that has a line.
  void Add(const Record& record, uint64_t line);
  // Ends what is open; `lines`: how many there are.
  void Finish(uint64_t lines);

  // By their first lines, after Finish().
  const std::vector<CallGroup>& groups() const { return groups_; }
  uint64_t groups_left_out() const {
    return groups_left_out_;
  }  // they cross others, or are too many
  const std::vector<CallBucket>& buckets() const { return buckets_; }
  uint64_t lines_per_bucket() const { return lines_per_bucket_; }
  const CallJumps& in_flight() const { return in_flight_; }
  const CallJumps& failed() const { return failed_; }
  const CallJumps& unreturned() const { return unreturned_; }
  const CallJumps& frames() const { return frames_; }

  // `suspects`: numbers of calls, the likeliest first. docs/reference/viewer.md has the keys.
  std::string Json(std::span<const uint64_t> suspects) const;

 private:
  static constexpr uint32_t kNoGroup = ~uint32_t{0};

  void AddCall(const Record& record, uint64_t line);
  void AddWork(const Record& record, uint64_t line);
  void Begin(const Record& record, Method method, uint64_t line);
  void End(uint64_t object, uint64_t line);
  void EndAll(uint64_t object, uint64_t line);
  void Close(uint32_t group, uint64_t line);
  CallBucket& BucketOf(uint64_t line);

  TraceReader* trace_;
  const GpuStates* gpu_;
  Arena arena_{size_t{1} << 20};
  std::vector<CallGroup> groups_;
  std::vector<bool> left_out_;                                  // a group that crosses another one
  std::vector<uint32_t> open_;                                  // groups, the innermost last
  std::unordered_map<uint64_t, std::vector<uint32_t>> events_;  // of each list or queue: open ones
  uint64_t groups_left_out_ = 0;
  size_t name_bytes_ = 0;
  std::vector<CallBucket> buckets_;
  uint64_t lines_per_bucket_ = 1;
  CallJumps in_flight_, failed_, unreturned_, frames_;
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_CALL_OUTLINE_H_
