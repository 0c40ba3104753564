// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/raw_markers.h"

#include <algorithm>

namespace cairn {
namespace {

constexpr uint32_t kBeforeAll = 0;  // positions count from 1
constexpr uint32_t kBehindAll = 0xFFFFFFFF;

using Arrival = RawArrival;

bool IsMarker(const RawCommand& command) {
  return command.kind != RawCommandKind::kWork;
}

class Inference {
 public:
  Inference(const std::vector<RawCommand>& commands, const RawSlots& slots,
            uint32_t bottom_line_limit)
      : commands_(commands), slots_(slots), limit_(bottom_line_limit) {}

  RawVerdict Run() {
    NumberMarkers();
    ReadSlots();
    CollectProgress();
    ApplyLimit();
    RawVerdict verdict;
    verdict.consistent = consistent_;
    if (unreached_ != kBehindAll) verdict.unreached_marker = numbers_[unreached_ - 1];
    for (uint32_t i = 0; i < commands_.size(); ++i) {
      if (IsMarker(commands_[i])) {
        verdict.arrivals.push_back(arrivals_[i]);
      } else {
        verdict.works.push_back(JudgeWork(i));
      }
    }
    MarkLikely(&verdict);
    return verdict;
  }

 private:
  void NumberMarkers() {
    uint32_t number = 0;
    for (const RawCommand& command : commands_) numbers_.push_back(number += IsMarker(command));
    arrivals_.assign(commands_.size(), Arrival::kUnknown);
  }

  // The writes of each slot, in recorded order, against the value it holds.
  void ReadSlots() {
    std::map<uint32_t, std::vector<uint32_t>> writes;
    for (uint32_t i = 0; i < commands_.size(); ++i) {
      if (IsMarker(commands_[i])) writes[commands_[i].slot].push_back(i);
    }
    for (const auto& [slot, positions] : writes) {
      const auto found = slots_.find(slot);
      if (found == slots_.end() || found->second == kRawMarkerUnwritten) {
        for (const uint32_t i : positions) arrivals_[i] = Arrival::kMissing;
      } else {
        ReadWrittenSlot(positions, found->second);
      }
    }
  }

  // The slot's last store is one of the writes of `value`. A single one has arrived. Writes that would
  // have overwritten every one of them are missing: later ones of the same pipe, and later bottom ones.
  void ReadWrittenSlot(const std::vector<uint32_t>& positions, uint64_t value) {
    uint32_t first = kBehindAll;
    uint32_t last_bottom = kBeforeAll;
    uint32_t last = kBeforeAll;
    uint32_t writer_count = 0;
    bool all_bottom = true;
    for (const uint32_t i : positions) {
      if (commands_[i].value != value) continue;
      ++writer_count;
      first = std::min(first, i);
      last = i + 1;
      if (commands_[i].kind == RawCommandKind::kBottomMarker) {
        last_bottom = i + 1;
      } else {
        all_bottom = false;
      }
    }
    if (writer_count == 0) {
      consistent_ = false;  // Somebody else wrote the slot, or it is left from an earlier use.
      return;
    }
    // One of several writers: in any case the front end was at the first of them.
    if (writer_count == 1) {
      arrivals_[first] = Arrival::kArrived;
    } else {
      NoteReached(first);
      if (all_bottom) NoteFinished(first);
    }
    for (const uint32_t i : positions) {
      if (commands_[i].value == value) continue;
      const bool bottom = commands_[i].kind == RawCommandKind::kBottomMarker;
      if (bottom ? i + 1 > last : i + 1 > last && last_bottom == kBeforeAll) {
        arrivals_[i] = Arrival::kMissing;
      }
    }
  }

  void NoteReached(uint32_t command) {
    if (command + 1 > reached_) reached_ = command + 1;
  }
  void NoteFinished(uint32_t command) {
    if (command + 1 > finished_) finished_ = command + 1;
  }

  void CollectProgress() {
    for (uint32_t i = 0; i < commands_.size(); ++i) {
      if (arrivals_[i] != Arrival::kArrived) continue;
      NoteReached(i);
      if (commands_[i].kind == RawCommandKind::kBottomMarker) NoteFinished(i);
    }
    for (uint32_t i = 0; i < commands_.size(); ++i) {
      if (arrivals_[i] != Arrival::kMissing) continue;
      const uint32_t position = i + 1;
      if (commands_[i].kind == RawCommandKind::kTopMarker) {
        if (position < reached_) consistent_ = false;
        unreached_ = std::min(unreached_, position);
      } else {
        if (position < finished_) consistent_ = false;
        missing_bottom_ = std::min(missing_bottom_, position);
      }
    }
    if (!consistent_) unreached_ = kBehindAll;
  }

  // Bottom writes leave the line in order: behind the first missing one, at most `limit` fit.
  void ApplyLimit() {
    if (limit_ == 0 || !consistent_ || missing_bottom_ == kBehindAll) return;
    uint32_t waiting = 0;
    for (uint32_t i = missing_bottom_ - 1; i < commands_.size(); ++i) {
      if (waiting == limit_ && commands_[i].kind != RawCommandKind::kTopMarker) {
        stalled_ = i + 1;
        break;
      }
      waiting += commands_[i].kind == RawCommandKind::kBottomMarker;
    }
    if (stalled_ <= reached_) {
      consistent_ = false;
      stalled_ = kBehindAll;
      unreached_ = kBehindAll;
    }
  }

  uint32_t NumberOf(uint32_t position) const { return numbers_[position - 1]; }

  RawWorkVerdict JudgeWork(uint32_t command) const {
    const uint32_t position = command + 1;
    RawWorkVerdict work;
    work.command = command;
    if (position < finished_) {
      work.state = WorkState::kCompleted;
      work.reason = {RawRule::kBottomWritten, NumberOf(finished_)};
    } else if (position > unreached_) {
      work.state = WorkState::kNotStarted;
      work.reason = {RawRule::kTopMissing, NumberOf(unreached_)};
    } else if (position >= stalled_) {
      work.state = WorkState::kNotStarted;
      work.reason = {RawRule::kLineIsFull, NumberOf(missing_bottom_), limit_};
    } else if (position < reached_) {
      work.reason = {RawRule::kWrittenBehind, NumberOf(reached_)};
    } else if (reached_ != kBeforeAll) {
      work.reason = {RawRule::kReachedBefore, NumberOf(reached_)};
    }
    return work;
  }

  // A missing top-of-pipe marker directly behind a work says that a front end which had time to go on
  // never fetched the work. It is doubted only where the front end is known to have arrived at the
  // work (fetching it may be what hung), or where no other work is left to be the culprit.
  void MarkLikely(RawVerdict* verdict) const {
    bool earlier_unfinished = false;
    for (RawWorkVerdict& work : verdict->works) {
      if (work.state != WorkState::kInFlight) continue;
      work.likely = ArrivedAt(work.command) || !MissingBehind(work.command) || !earlier_unfinished;
      if (!work.likely) work.reason.doubts |= kDoubtMarkerMissing;
      earlier_unfinished |= work.command + 1 < reached_;
    }
  }

  // Returns true if only commands that never stop a front end lie between a marker that arrived and
  // the work.
  bool ArrivedAt(uint32_t command) const {
    if (command + 1 <= reached_) return true;
    for (uint32_t i = command; i-- > 0;) {
      if (arrivals_[i] == Arrival::kArrived) return true;
      if (commands_[i].kind != RawCommandKind::kTopMarker) return false;
    }
    return false;
  }

  bool MissingBehind(uint32_t command) const {
    for (uint32_t i = command + 1; i < commands_.size(); ++i) {
      if (commands_[i].kind != RawCommandKind::kTopMarker) return false;
      if (arrivals_[i] == Arrival::kMissing) return true;
    }
    return false;
  }

  const std::vector<RawCommand>& commands_;
  const RawSlots& slots_;
  uint32_t limit_;
  std::vector<uint32_t> numbers_;  // of each command: markers up to it
  std::vector<Arrival> arrivals_;  // of each command
  bool consistent_ = true;
  // Positions of commands, from 1.
  uint32_t reached_ = kBeforeAll;    // the front end passed this marker
  uint32_t finished_ = kBeforeAll;   // everything before this marker finished
  uint32_t unreached_ = kBehindAll;  // the front end had not come to this marker
  uint32_t missing_bottom_ = kBehindAll;
  uint32_t stalled_ = kBehindAll;  // the front end had not passed this command
};

std::vector<uint32_t> Select(const std::vector<RawWorkVerdict>& works, bool only_likely) {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < works.size(); ++i) {
    if (works[i].state == WorkState::kInFlight && (works[i].likely || !only_likely)) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

}  // namespace

std::vector<uint32_t> RawVerdict::Candidates() const {
  return Select(works, false);
}
std::vector<uint32_t> RawVerdict::Likely() const {
  return Select(works, true);
}

RawVerdict InferFromRawMarkers(const std::vector<RawCommand>& commands, const RawSlots& slots,
                               uint32_t bottom_line_limit) {
  return Inference(commands, slots, bottom_line_limit).Run();
}

void AllowForLostStores(RawVerdict* verdict) {
  if (!verdict->Candidates().empty()) return;
  bool first = true;
  for (RawWorkVerdict& work : verdict->works) {
    if (work.state != WorkState::kNotStarted) continue;
    work.state = WorkState::kInFlight;
    work.likely = first;
    work.reason = {first ? RawRule::kFirstUnproven : RawRule::kBehindUnproven,
                   verdict->unreached_marker};
    first = false;
  }
}

}  // namespace cairn
