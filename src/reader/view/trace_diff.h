// SPDX-License-Identifier: Apache-2.0
//
// Finds differences between the calls of two traces: of two runs of a program, or of two versions
// of it.
#ifndef CAIRN_READER_VIEW_TRACE_DIFF_H_
#define CAIRN_READER_VIEW_TRACE_DIFF_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/trace/frame_range.h"
#include "format/trace/trace_reader.h"

namespace cairn::cli {

// Calls that both make, one behind the other: in the first trace from `first` to `last`.
struct EqualCalls {
  uint64_t count = 0;
  uint64_t first = 0;
  uint64_t last = 0;
};

struct CallDifference {
  uint64_t frame = 0;
  uint32_t thread = 0;     // in the trace that makes the call
  bool in_second = false;  // otherwise in the first only
  // The thread of the other trace that its thread was compared with; nullopt: it has none like it.
  std::optional<uint32_t> other_thread;
  // The frame of the other trace that its frame was compared with; nullopt: it has none like it.
  std::optional<uint64_t> other_frame;
  uint64_t call = 0;  // its number in that trace
  std::string text;
  // The call of the other trace that has the same function and object, in the same place, with other arguments. It
  // is the next difference, or the one before.
  std::optional<uint64_t> changed;
  EqualCalls
      before;  // since the difference before it, or the beginning, of these threads in this frame
};

// The frames in which two recordings can be compared: from the later beginning on. They end where
// one recording was stopped on request; otherwise the end is kNoFrame: further frames of one
// recording are differences. Returns those of them that are `wanted`. Reads the records behind the
// last frames. Errors: kInvalidArgument: no frame in common, or none that is wanted.
Result<FrameRange> ComparableFrames(TraceReader& first, TraceReader& second,
                                    const FrameRange& wanted = {});

struct TraceDiffOptions {
  FrameRange frames;
  // Compares frames that do the same, by the longest common subsequence of their calls, not those of the same number.
  // Reads both traces twice; 16 bytes for each frame.
  bool align = false;
  // Called with the differences in the order of frames and threads; returns false to get no more of
  // them.
  std::function<bool(const CallDifference&)> print;
  // False stops.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

struct TraceDiffResult {
  uint64_t first_frame = 0;  // from which on they are compared
  uint64_t frames[2] = {};   // compared ones
  uint64_t calls[2] = {};
  uint64_t differences = 0;      // calls that only one of them has
  uint64_t compared_images = 0;  // frames of which both have a hash
  std::vector<uint64_t> different_images;
  // Calls whose arguments could not be read, or would cost more than the file may: only their names were
  // compared.
  uint64_t undecoded = 0;
  bool stopped = false;
};

// Compares ComparableFrames frame by frame and, within a frame, thread by thread. Pairs threads
// that make the same calls, then those that have the most calls in common. Calls that only restore
// a state are left out. Objects are the same if they have the same name or, without one, the same
// place among those of their kind; addresses and descriptors are what they are in. Handles of the
// operating system and functions are equal. GetCompletedValue and GetDeviceRemovedReason, which
// programs call until something is done, are left out. Memory: the calls of a frame of each, at
// most kMostLines at once.
// Errors: kCorrupt: a trace that cannot be read on; kInvalidArgument: no such frame in both.
Result<TraceDiffResult> CompareTraces(TraceReader& first, TraceReader& second,
                                      const TraceDiffOptions& options);

// Positions in two sequences that belong together are left out; what remains is in one of them only.
// Smallest, unless there is more than kMostEdits to it: then all that is between the first and the last
// difference.
struct SequenceEdit {
  bool in_second = false;
  size_t index = 0;
};
std::vector<SequenceEdit> CompareSequences(std::span<const uint64_t> first,
                                           std::span<const uint64_t> second);
inline constexpr size_t kMostEdits = 1000;
inline constexpr size_t kMostLines = 100'000;

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_TRACE_DIFF_H_
