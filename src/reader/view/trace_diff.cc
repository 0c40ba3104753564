// SPDX-License-Identifier: Apache-2.0
#include "reader/view/trace_diff.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/roles.h"
#include "format/calls/object_text.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_printer.h"
#include "format/file/file_cost.h"
#include "format/trace/trace_state.h"

namespace cairn::cli {
namespace {

// Hides handles of the operating system: their numbers differ in every run.
class IgnoredHandles final : public ValueVisitor {
 public:
  Status Handle(HandleKind, uint64_t* place) override {
    *place = *place == 0 ? 0 : 1;
    return {};
  }
  Status Callback(uint64_t* place) override {
    *place = *place == 0 ? 0 : 1;
    return {};
  }
};

// Names that two runs have in common.
// "1st", "22nd", "113th".
std::string Ordinal(uint64_t number) {
  static constexpr const char* kEnds[] = {"th", "st", "nd", "rd"};
  const bool in_teens = number / 10 % 10 == 1;
  return fmt::format("{}{}", number, kEnds[in_teens || number % 10 > 3 ? 0 : number % 10]);
}

class RunNames final : public ValueNames {
 public:
  explicit RunNames(const TraceReader& trace) : state_(trace) {}

  void Apply(const Record& record) {
    // A contradictory record leaves the state unchanged.
    (void)state_.Apply(record);
    if (record.kind != RecordKind::kObject) return;
    const TracedObject* const object = state_.Find(record.object);
    if (object != nullptr) places_.emplace(record.object, ++counts_[object->chain]);
  }

  std::string Object(uint64_t number) const override {
    const TracedObject* const object = state_.Find(number);
    if (object == nullptr) return "an object that is not known";
    const std::string& kind = ObjectKindText(object->chain);
    if (!object->name.empty()) return fmt::format("{} \"{}\"", kind, object->name);
    const auto place = places_.find(number);
    return fmt::format("{} {}", Ordinal(place == places_.end() ? 0 : place->second), kind);
  }
  std::string GpuAddress(uint64_t address) const override {
    const auto place = state_.gpu_addresses().Find(address);
    if (!place) return "";
    return fmt::format("{} + {:#x}", Object(place->object), place->offset_bytes);
  }
  std::string CpuDescriptor(uint64_t handle) const override {
    return Descriptor(state_.CpuDescriptorAt(handle));
  }
  std::string GpuDescriptor(uint64_t handle) const override {
    return Descriptor(state_.GpuDescriptorAt(handle));
  }

 private:
  std::string Descriptor(const std::optional<TraceState::Descriptor>& place) const {
    return place ? fmt::format("{}[{}]", Object(place->heap), place->index) : "";
  }

  TraceState state_;
  std::map<Chain, uint64_t> counts_;
  std::unordered_map<uint64_t, uint64_t> places_;
};

// Returns true for methods that programs poll: the number of calls differs from run to run.
bool IsPoll(const std::optional<Method>& method) {
  return method.has_value() && RoleOf(*method).polled;
}

// The limit for a block, before lines are cut to kShortText.
constexpr size_t kMostBlockText = size_t{64} << 20;
constexpr size_t kShortText = 160;
constexpr uint64_t kMostDecodedBytes = uint64_t{192} << 20;  // of one call

struct Lines {
  std::vector<uint64_t> hashes;
  std::vector<uint64_t> names;  // hashes of objects and functions
  std::vector<uint64_t> calls;
  std::vector<std::string> texts;
};

struct FrameHash {
  bool known = false;
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const FrameHash&) const = default;
};

// The calls of one frame, or of a part of one that has very many.
struct Block {
  uint64_t frame = 0;
  bool frame_ends = false;
  size_t count = 0;
  size_t text_bytes = 0;
  std::map<uint32_t, Lines> threads;
  FrameHash image;
};

class Side {
 public:
  explicit Side(TraceReader& trace)
      : trace_(trace),
        cursor_(trace),
        names_(trace),
        frame_(trace.first_frame().value_or(0)),
        compare_budget_(FileBudget(trace.file().size_bytes(), kComparedBytes)) {}

  // Reads on to the end of the frame. False at the end of the trace. `wanted`: its calls are kept, but for
  // those that only restore what the program had done before.
  bool Next(bool wanted, Block* block) {
    *block = {};
    block->frame = frame_;
    Record record;
    bool any = false;
    while (cursor_.Next(&record)) {
      any = true;
      const bool is_restored = (record.flags & kRecordRestores) != 0;
      if (record.kind == RecordKind::kCall && wanted && !is_restored) AddCall(record, block);
      names_.Apply(record);
      if (record.kind == RecordKind::kFrame) {
        EndFrame(record, block);
        return true;
      }
      if (block->count >= kMostLines) return true;
    }
    return any;
  }
  const Status& status() const { return cursor_.status(); }
  // The next, as the program counts.
  uint64_t frame() const { return frame_; }
  uint64_t undecoded() const { return undecoded_; }

 private:
  void EndFrame(const Record& record, Block* block) {
    block->frame_ends = true;
    ++frame_;
    std::span<const std::byte> rest = record.body;
    const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
    if (body.ok() && body->hashed != 0) block->image = {true, body->hash_low, body->hash_high};
  }

  void AddCall(const Record& record, Block* block) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (IsPoll(method)) return;
    const std::string start =
        fmt::format("{}: {}", names_.Object(record.object), trace_.MethodName(record));
    std::string text = start;
    std::string whole;
    if (method) {
      DecodeOptions options;
      options.visitor = &handles_;
      options.blobs = &trace_;
      arena_.Reset();
      DecodedCall call;
      const MethodInfo& info = Describe(*method);
      if (compare_budget_ != 0 &&
          DecodeArguments(info, record.body, options, &arena_, &call).ok()) {
        text =
            fmt::format("{}: {}", names_.Object(record.object), PrintArguments(info, call, names_));
        whole = ArgumentsToCompare(info, call, names_);
        compare_budget_ -= std::min<uint64_t>(compare_budget_, whole.size());
      } else {
        ++undecoded_;
      }
    }
    Lines& lines = block->threads[record.thread];
    lines.names.push_back(XXH3_64bits(start.data(), start.size()));
    lines.hashes.push_back(XXH3_64bits_withSeed(whole.data(), whole.size(), lines.names.back()));
    lines.calls.push_back(record.number);
    if (text.size() > kMostBlockText - std::min(kMostBlockText, block->text_bytes)) {
      text = std::string(Utf8Prefix(text, kShortText)) + " ...";
    }
    block->text_bytes += text.size();
    lines.texts.push_back(std::move(text));
    ++block->count;
  }

  TraceReader& trace_;
  TraceCursor cursor_;
  RunNames names_;
  IgnoredHandles handles_;
  Arena arena_{kMostDecodedBytes};
  uint64_t frame_;
  uint64_t undecoded_ = 0;
  uint64_t compare_budget_;  // bytes of calls as text
};

// Whole frames.
FrameRange FramesOf(const TraceReader& trace) {
  const uint64_t first = trace.first_frame().value_or(0);
  return {first, first + std::min(trace.frame_count(), kNoFrame - first)};
}

// Returns true if the recording was stopped on request, before the program's end.
bool WasStopped(TraceReader& trace) {
  TraceCursor cursor(trace);
  if (!cursor.SeekFrame(trace.frame_count()).ok()) return false;
  Record record;
  while (cursor.Next(&record)) {
    if (record.kind == RecordKind::kStop) return true;
  }
  return false;
}

std::string InWords(const FrameRange& range) {
  if (range.first == range.end) return "no ends of frames";
  return fmt::format("frames {} to {}", range.first, range.end - 1);
}

// One thread of each side, or of one only.
struct ThreadPair {
  std::optional<uint32_t> threads[2];
  const Lines* lines[2] = {};
};

using ThreadLines = std::map<uint32_t, const Lines*>;

// Beyond so many that differ, threads are those of the same index.
constexpr size_t kMostThreads = 64;

ThreadPair TakePair(uint32_t first, uint32_t second, ThreadLines (&left)[2]) {
  const ThreadPair pair = {{first, second}, {left[0].at(first), left[1].at(second)}};
  left[0].erase(first);
  left[1].erase(second);
  return pair;
}

// Takes out threads that make the same calls, those of the same index first.
void DropEqualThreads(ThreadLines (&left)[2]) {
  std::erase_if(left[0], [&](const auto& entry) {
    const auto other = left[1].find(entry.first);
    if (other == left[1].end() || other->second->hashes != entry.second->hashes) return false;
    left[1].erase(other);
    return true;
  });
  std::map<std::vector<uint64_t>, std::vector<uint32_t>> seconds;
  for (const auto& [thread, lines] : left[1]) seconds[lines->hashes].push_back(thread);
  std::erase_if(left[0], [&](const auto& entry) {
    const auto same = seconds.find(entry.second->hashes);
    if (same == seconds.end() || same->second.empty()) return false;
    left[1].erase(same->second.back());
    same->second.pop_back();
    return true;
  });
}

// Pairs those that have the most calls in common, in any order.
void PairSimilarThreads(ThreadLines (&left)[2], std::vector<ThreadPair>* pairs) {
  std::map<uint32_t, std::vector<uint64_t>> sorted[2];
  for (size_t i = 0; i < 2; ++i) {
    for (const auto& [thread, lines] : left[i]) {
      std::vector<uint64_t>& hashes = sorted[i][thread] = lines->hashes;
      std::sort(hashes.begin(), hashes.end());
    }
  }
  std::vector<std::tuple<size_t, uint32_t, uint32_t>> likeness;
  std::vector<uint64_t> common;
  for (const auto& [first, hashes] : sorted[0]) {
    for (const auto& [second, others] : sorted[1]) {
      common.clear();
      std::set_intersection(hashes.begin(), hashes.end(), others.begin(), others.end(),
                            std::back_inserter(common));
      if (!common.empty()) likeness.emplace_back(common.size(), first, second);
    }
  }
  // Among equally similar threads the one of the same index is taken.
  std::stable_sort(likeness.begin(), likeness.end(), [](const auto& a, const auto& b) {
    const auto& [a_common, a_first, a_second] = a;
    const auto& [b_common, b_first, b_second] = b;
    if (a_common != b_common) return a_common > b_common;
    return a_first == a_second && b_first != b_second;
  });
  for (const auto& [count, first, second] : likeness) {
    if (left[0].contains(first) && left[1].contains(second)) {
      pairs->push_back(TakePair(first, second, left));
    }
  }
}

// The threads of a frame that differ. The index of a thread differs from run to run: threads are
// numbered in the order of their first calls.
std::vector<ThreadPair> DifferentThreads(const Block& first, const Block& second) {
  ThreadLines left[2];
  for (const auto& [thread, lines] : first.threads) left[0][thread] = &lines;
  for (const auto& [thread, lines] : second.threads) left[1][thread] = &lines;
  DropEqualThreads(left);
  std::vector<ThreadPair> pairs;
  if (std::max(left[0].size(), left[1].size()) <= kMostThreads) PairSimilarThreads(left, &pairs);
  static const Lines kNone;
  while (!left[0].empty()) {
    const auto [thread, lines] = *left[0].begin();
    if (left[1].contains(thread)) {
      pairs.push_back(TakePair(thread, thread, left));
      continue;
    }
    pairs.push_back({{thread, std::nullopt}, {lines, &kNone}});
    left[0].erase(thread);
  }
  for (const auto& [thread, lines] : left[1]) {
    pairs.push_back({{std::nullopt, thread}, {&kNone, lines}});
  }
  const auto place = [](const ThreadPair& pair) {
    return pair.threads[0] ? *pair.threads[0] : *pair.threads[1];
  };
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return pairs;
}

// Goes through two sequences of these sizes by their edits: `equal` gets stretches that both have (where each begins,
// and how long they are), `edited` what only one has, or both in other words (where it begins and ends in each).
template <typename Equal, typename Edited>
void ForEachStretch(std::span<const SequenceEdit> edits, const size_t (&sizes)[2], Equal equal,
                    Edited edited) {
  size_t begin[2] = {};
  for (size_t i = 0; i < edits.size();) {
    const size_t count = edits[i].index - begin[edits[i].in_second ? 1 : 0];
    if (count != 0) equal(begin, count);
    begin[0] += count;
    begin[1] += count;
    size_t end[2] = {begin[0], begin[1]};
    for (; i < edits.size() && edits[i].index == end[edits[i].in_second ? 1 : 0]; ++i) {
      ++end[edits[i].in_second ? 1 : 0];
    }
    edited(begin, end);
    begin[0] = end[0];
    begin[1] = end[1];
  }
  if (begin[0] != sizes[0]) equal(begin, sizes[0] - begin[0]);
}

// Frames that are compared with each other, as the program counts them. nullopt: there is none like the other one.
using FramePair = std::array<std::optional<uint64_t>, 2>;

class Comparison {
 public:
  Comparison(const TraceDiffOptions& options, TraceDiffResult* result)
      : options_(options), result_(*result) {}

  void Compare(const Block (&blocks)[2], const FramePair& frames) {
    for (const ThreadPair& pair : DifferentThreads(blocks[0], blocks[1])) {
      CompareThreads(pair, frames);
    }
    result_.calls[0] += blocks[0].count;
    result_.calls[1] += blocks[1].count;
    if (blocks[0].image.known && blocks[1].image.known) {
      ++result_.compared_images;
      if (blocks[0].image != blocks[1].image) result_.different_images.push_back(*frames[0]);
    }
  }

 private:
  void CompareThreads(const ThreadPair& pair, const FramePair& frames) {
    const Lines& first = *pair.lines[0];
    const Lines& second = *pair.lines[1];
    EqualCalls before;
    ForEachStretch(
        CompareSequences(first.hashes, second.hashes), {first.hashes.size(), second.hashes.size()},
        [&](const size_t(&begin)[2], size_t count) {
          before = {count, first.calls[begin[0]], first.calls[begin[0] + count - 1]};
        },
        [&](const size_t(&begin)[2], const size_t(&end)[2]) {
          PrintEdited(pair, frames, begin, end, before);
        });
  }

  // Calls that differ: those of one function and object are changed ones.
  void PrintEdited(const ThreadPair& pair, const FramePair& frames, const size_t (&begin)[2],
                   const size_t (&end)[2], const EqualCalls& before) {
    std::span<const uint64_t> names[2];
    for (size_t i = 0; i < 2; ++i) {
      names[i] = std::span(pair.lines[i]->names).subspan(begin[i], end[i] - begin[i]);
    }
    EqualCalls left = before;
    const auto print = [&](size_t side, size_t index, std::optional<uint64_t> changed) {
      Print(pair, frames, side, begin[side] + index, changed, std::exchange(left, {}));
    };
    ForEachStretch(
        CompareSequences(names[0], names[1]), {names[0].size(), names[1].size()},
        [&](const size_t(&at)[2], size_t count) {
          for (size_t i = 0; i < count; ++i) {
            print(0, at[0] + i, pair.lines[1]->calls[begin[1] + at[1] + i]);
            print(1, at[1] + i, pair.lines[0]->calls[begin[0] + at[0] + i]);
          }
        },
        [&](const size_t(&from)[2], const size_t(&to)[2]) {
          for (size_t side = 0; side < 2; ++side) {
            for (size_t i = from[side]; i < to[side]; ++i) print(side, i, std::nullopt);
          }
        });
  }

  void Print(const ThreadPair& pair, const FramePair& frames, size_t side, size_t index,
             std::optional<uint64_t> changed, const EqualCalls& before) {
    ++result_.differences;
    if (!printing_ || !options_.print) return;
    const Lines& lines = *pair.lines[side];
    printing_ = options_.print({.frame = *frames[side],
                                .thread = *pair.threads[side],
                                .in_second = side == 1,
                                .other_thread = pair.threads[1 - side],
                                .other_frame = frames[1 - side],
                                .call = lines.calls[index],
                                .text = lines.texts[index],
                                .changed = changed,
                                .before = before});
  }

  const TraceDiffOptions& options_;
  TraceDiffResult& result_;
  bool printing_ = true;
};

// ---- Lining up frames ----

// Frames by what they do: all of it, and by objects and functions alone. How its threads are numbered does not matter.
struct FrameMarks {
  std::vector<uint64_t> whole;
  std::vector<uint64_t> names;
};

uint64_t HashOf(std::span<const uint64_t> values) {
  return XXH3_64bits(values.data(), values.size_bytes());
}

uint64_t MarkOf(const Block& block, std::vector<uint64_t> Lines::*of, uint64_t earlier) {
  std::vector<uint64_t> threads;
  for (const auto& [thread, lines] : block.threads) threads.push_back(HashOf(lines.*of));
  std::sort(threads.begin(), threads.end());
  threads.push_back(earlier);  // of the frame's parts before this one
  return HashOf(threads);
}

Result<FrameMarks> MarksOf(TraceReader& trace, const FrameRange& frames,
                           const std::function<bool()>& goes_on) {
  FrameMarks marks;
  Side side(trace);
  bool is_new = true;
  while (side.frame() < frames.end && goes_on()) {
    const bool wanted = side.frame() >= frames.first;
    Block block;
    if (!side.Next(wanted, &block)) break;
    if (!wanted) continue;
    if (std::exchange(is_new, block.frame_ends)) {
      marks.whole.push_back(0);
      marks.names.push_back(0);
    }
    marks.whole.back() = MarkOf(block, &Lines::hashes, marks.whole.back());
    marks.names.back() = MarkOf(block, &Lines::names, marks.names.back());
  }
  if (!side.status().ok()) return side.status();
  return marks;
}

// Equal frames belong together; between them those with the same functions, and between those again the n-th of each.
std::vector<FramePair> LineUp(const FrameMarks (&marks)[2], uint64_t first_frame) {
  std::vector<FramePair> pairs;
  const auto add = [&](const size_t(&at)[2], size_t count) {
    for (size_t i = 0; i < count; ++i) {
      pairs.push_back({first_frame + at[0] + i, first_frame + at[1] + i});
    }
  };
  const auto add_edited = [&](const size_t(&begin)[2], const size_t(&end)[2]) {
    const size_t both = std::min(end[0] - begin[0], end[1] - begin[1]);
    add(begin, both);
    for (size_t i = begin[0] + both; i < end[0]; ++i) {
      pairs.push_back({first_frame + i, std::nullopt});
    }
    for (size_t i = begin[1] + both; i < end[1]; ++i) {
      pairs.push_back({std::nullopt, first_frame + i});
    }
  };
  ForEachStretch(CompareSequences(marks[0].whole, marks[1].whole),
                 {marks[0].whole.size(), marks[1].whole.size()}, add,
                 [&](const size_t(&begin)[2], const size_t(&end)[2]) {
                   std::span<const uint64_t> names[2];
                   for (size_t i = 0; i < 2; ++i) {
                     names[i] = std::span(marks[i].names).subspan(begin[i], end[i] - begin[i]);
                   }
                   ForEachStretch(
                       CompareSequences(names[0], names[1]), {names[0].size(), names[1].size()},
                       [&](const size_t(&at)[2], size_t count) {
                         add({begin[0] + at[0], begin[1] + at[1]}, count);
                       },
                       [&](const size_t(&from)[2], const size_t(&to)[2]) {
                         add_edited({begin[0] + from[0], begin[1] + from[1]},
                                    {begin[0] + to[0], begin[1] + to[1]});
                       });
                 });
  return pairs;
}

// Everything between two positions, one sequence after the other.
void AddAll(size_t begin, size_t first_end, size_t second_end, std::vector<SequenceEdit>* edits) {
  for (size_t i = begin; i < first_end; ++i) edits->push_back({false, i});
  for (size_t i = begin; i < second_end; ++i) edits->push_back({true, i});
}

}  // namespace

// Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): `reached[k]` is how far the diagonal k
// leads with so many edits; the ways there are kept for the way back.
std::vector<SequenceEdit> CompareSequences(std::span<const uint64_t> first,
                                           std::span<const uint64_t> second) {
  size_t begin = 0;
  while (begin < first.size() && begin < second.size() && first[begin] == second[begin]) ++begin;
  size_t first_end = first.size();
  size_t second_end = second.size();
  while (first_end > begin && second_end > begin &&
         first[first_end - 1] == second[second_end - 1]) {
    --first_end;
    --second_end;
  }
  std::vector<SequenceEdit> edits;
  const auto n = static_cast<int64_t>(first_end - begin);
  const auto m = static_cast<int64_t>(second_end - begin);
  if (n == 0 || m == 0) {
    AddAll(begin, first_end, second_end, &edits);
    return edits;
  }
  const int64_t most = std::min<int64_t>(n + m, kMostEdits);
  const auto at = [most](int64_t diagonal) { return static_cast<size_t>(diagonal + most + 1); };
  std::vector<int32_t> reached(static_cast<size_t>(2 * most + 3), 0);
  std::vector<std::vector<int32_t>> ways;  // `reached` around the middle, before each step
  const auto equal = [&](int64_t x, int64_t y) {
    return first[begin + static_cast<size_t>(x)] == second[begin + static_cast<size_t>(y)];
  };
  for (int64_t d = 0; d <= most; ++d) {
    ways.emplace_back(reached.begin() + static_cast<ptrdiff_t>(at(-d - 1)),
                      reached.begin() + static_cast<ptrdiff_t>(at(d + 1)) + 1);
    for (int64_t k = -d; k <= d; k += 2) {
      const bool down = k == -d || (k != d && reached[at(k - 1)] < reached[at(k + 1)]);
      int64_t x = down ? reached[at(k + 1)] : reached[at(k - 1)] + 1;
      int64_t y = x - k;
      while (x < n && y < m && equal(x, y)) ++x, ++y;
      reached[at(k)] = static_cast<int32_t>(std::min<int64_t>(x, n + 1));
      if (x < n || y < m) continue;
      // Back to the beginning: one edit a step.
      for (; d > 0; --d) {
        const std::vector<int32_t>& before = ways[static_cast<size_t>(d)];
        const auto there = [&](int64_t diagonal) {
          return before[static_cast<size_t>(diagonal + d + 1)];
        };
        const int64_t diagonal = x - y;
        const bool came_down =
            diagonal == -d || (diagonal != d && there(diagonal - 1) < there(diagonal + 1));
        const int64_t previous = came_down ? diagonal + 1 : diagonal - 1;
        x = there(previous);
        y = x - previous;
        edits.push_back({came_down, begin + static_cast<size_t>(came_down ? y : x)});
      }
      std::reverse(edits.begin(), edits.end());
      return edits;
    }
  }
  AddAll(begin, first_end, second_end, &edits);
  return edits;
}

Result<FrameRange> ComparableFrames(TraceReader& first, TraceReader& second,
                                    const FrameRange& wanted) {
  const FrameRange ranges[2] = {FramesOf(first), FramesOf(second)};
  FrameRange both = {std::max(ranges[0].first, ranges[1].first), kNoFrame};
  // A recording without any end of a frame still has calls.
  const auto end_of = [](const FrameRange& range) { return std::max(range.end, range.first + 1); };
  if (WasStopped(first)) both.end = std::min(both.end, end_of(ranges[0]));
  if (WasStopped(second)) both.end = std::min(both.end, end_of(ranges[1]));
  const bool is_apart = both.first >= std::min(end_of(ranges[0]), end_of(ranges[1]));
  if (is_apart || both.first >= both.end) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the traces have no frame in common: the first has {}, the second {}",
                              InWords(ranges[0]), InWords(ranges[1])));
  }
  both = {std::max(both.first, wanted.first), std::min(both.end, wanted.end)};
  const uint64_t longest = std::max(ranges[0].end, ranges[1].end);
  if (both.first >= both.end || (both.first != 0 && both.first >= longest)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("there is no frame {} in both: the first has {}, the second {}",
                              wanted.first, InWords(ranges[0]), InWords(ranges[1])));
  }
  return both;
}

namespace {

// Compares frames of the same number.
Status CompareByNumber(Side (&sides)[2], const FrameRange& frames, uint64_t longest,
                       const TraceDiffOptions& options, Comparison* comparison,
                       TraceDiffResult* result) {
  bool more[2] = {true, true};
  while (more[0] || more[1]) {
    // The one that is behind, or both: parts of long frames keep them together.
    const uint64_t frame = std::min(more[0] ? sides[0].frame() : ~uint64_t{0},
                                    more[1] ? sides[1].frame() : ~uint64_t{0});
    if (frame >= frames.end) break;
    const bool wanted = frame >= frames.first;
    Block blocks[2];
    for (size_t i = 0; i < 2; ++i) {
      if (!more[i] || sides[i].frame() != frame) continue;
      more[i] = sides[i].Next(wanted, &blocks[i]);
      CAIRN_RETURN_IF_ERROR(sides[i].status());
      if (wanted && blocks[i].frame_ends) ++result->frames[i];
    }
    if (wanted) comparison->Compare(blocks, {frame, frame});
    if (options.progress && !options.progress(frame, std::min(frames.end, longest))) {
      result->stopped = true;
      break;
    }
  }
  return {};
}

// Compares frames that were lined up.
Status CompareAligned(Side (&sides)[2], uint64_t first_frame, std::span<const FramePair> pairs,
                      const TraceDiffOptions& options, Comparison* comparison,
                      TraceDiffResult* result) {
  for (Side& side : sides) {
    Block skipped;
    while (side.frame() < first_frame && side.Next(false, &skipped)) {
    }
    CAIRN_RETURN_IF_ERROR(side.status());
  }
  for (size_t done = 0; done < pairs.size(); ++done) {
    bool reading[2] = {pairs[done][0].has_value(), pairs[done][1].has_value()};
    while (reading[0] || reading[1]) {
      Block blocks[2];
      for (size_t i = 0; i < 2; ++i) {
        if (!reading[i]) continue;
        reading[i] = sides[i].Next(true, &blocks[i]) && !blocks[i].frame_ends;
        CAIRN_RETURN_IF_ERROR(sides[i].status());
        if (blocks[i].frame_ends) ++result->frames[i];
      }
      comparison->Compare(blocks, pairs[done]);
    }
    if (options.progress && !options.progress(done, pairs.size())) {
      result->stopped = true;
      break;
    }
  }
  return {};
}

}  // namespace

Result<TraceDiffResult> CompareTraces(TraceReader& first, TraceReader& second,
                                      const TraceDiffOptions& options) {
  const Result<FrameRange> both = ComparableFrames(first, second, options.frames);
  if (!both.ok()) return both.status();
  const uint64_t longest = std::max(FramesOf(first).end, FramesOf(second).end);
  TraceDiffResult result;
  result.first_frame = both->first;
  std::vector<FramePair> pairs;
  if (options.align) {
    const auto goes_on = [&] {
      result.stopped = result.stopped || (options.progress && !options.progress(0, longest));
      return !result.stopped;
    };
    FrameMarks marks[2];
    for (size_t i = 0; i < 2; ++i) {
      Result<FrameMarks> made = MarksOf(i == 0 ? first : second, *both, goes_on);
      if (!made.ok()) return made.status();
      marks[i] = std::move(made).value();
    }
    if (result.stopped) return result;
    pairs = LineUp(marks, both->first);
  }
  Comparison comparison(options, &result);
  Side sides[2] = {Side(first), Side(second)};
  CAIRN_RETURN_IF_ERROR(
      options.align ? CompareAligned(sides, both->first, pairs, options, &comparison, &result)
                    : CompareByNumber(sides, *both, longest, options, &comparison, &result));
  result.undecoded = sides[0].undecoded() + sides[1].undecoded();
  return result;
}

}  // namespace cairn::cli
