// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/secondaries.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot_from_block.h"

namespace cairn {
namespace {

constexpr uint8_t kWrites = kEventWritesTop | kEventWritesBottom;

using ById = std::vector<std::pair<uint64_t, uint32_t>>;

// The secondary recordings by recording_id.
ById SecondariesById(const Snapshot& snapshot) {
  ById by_id;
  for (uint32_t i = 0; i < snapshot.recordings.size(); ++i) {
    if (snapshot.recordings[i].secondary) {
      by_id.emplace_back(snapshot.recordings[i].recording_id, i);
    }
  }
  std::sort(by_id.begin(), by_id.end());
  return by_id;
}

// The recording that a link executes; kNone if it is not known.
uint32_t FindTarget(const Snapshot& snapshot, const ById& by_id, const SecondaryLink& link) {
  const auto found =
      std::lower_bound(by_id.begin(), by_id.end(), std::pair(link.secondary_id, uint32_t{0}));
  if (found == by_id.end() || found->first != link.secondary_id) return kNone;
  const bool same_device =
      snapshot.recordings[found->second].device == snapshot.recordings[link.recording].device;
  return same_device ? found->second : kNone;
}

// A word beyond the events says nothing.
uint32_t ReadWord(const BlockReader& block, uint64_t offset, const RecordingPlace& place,
                  const Recording& recording) {
  const uint32_t sequence =
      ProgressSequence(block.Load32(place.words_offset + offset), place.generation);
  return sequence > recording.event_count ? 0 : sequence;
}

}  // namespace

void ReadSecondaryWords(const BlockReader& block, std::span<const RecordingPlace> places,
                        std::span<const SecondaryLink> links, const std::vector<bool>& unfinished,
                        Snapshot* snapshot) {
  if (links.empty()) return;
  const ById by_id = SecondariesById(*snapshot);
  for (const SecondaryLink& link : links) {
    const uint32_t target = FindTarget(*snapshot, by_id, link);
    if (target == kNone || !unfinished[link.recording]) continue;
    Recording& secondary = snapshot->recordings[target];
    const Recording& primary = snapshot->recordings[link.recording];
    std::atomic_thread_fence(std::memory_order_acquire);
    secondary.passed = ReadWord(block, offsetof(ProgressWords, passed), places[target], secondary);
    secondary.reached =
        ReadWord(block, offsetof(ProgressWords, reached), places[target], secondary);
    std::atomic_thread_fence(std::memory_order_acquire);
    const uint64_t slot = places[link.recording].slot_offset;
    if (block.Load32(slot + offsetof(RecordingSlot, submit_count)) == primary.submit_count &&
        block.Load64(slot + offsetof(RecordingSlot, recording_id)) == primary.recording_id) {
      continue;
    }
    secondary.passed = 0;
    secondary.reached = 0;
  }
}

SecondarySplicer::SecondarySplicer(std::vector<SecondaryLink> links, std::vector<bool> unfinished,
                                   Snapshot* snapshot)
    : links_(std::move(links)), unfinished_(std::move(unfinished)), snapshot_(*snapshot) {
  new_index_.resize(snapshot_.recordings.size());
  std::iota(new_index_.begin(), new_index_.end(), 0u);
}

void SecondarySplicer::Splice() {
  const uint32_t count = static_cast<uint32_t>(snapshot_.recordings.size());
  if (links_.empty()) return;
  by_id_ = SecondariesById(snapshot_);
  CountUses();
  ChooseInsertions();
  events_.reserve(snapshot_.events.size());
  new_first_event_.resize(count);
  size_t link = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t first_link = link;
    while (link < links_.size() && links_[link].recording == i) ++link;
    CopyPrimary(i, first_link, link);
  }
  RemoveExecuted();
}

uint32_t SecondarySplicer::TargetOf(const SecondaryLink& link) const {
  return FindTarget(snapshot_, by_id_, link);
}

void SecondarySplicer::CountUses() {
  unfinished_uses_.assign(snapshot_.recordings.size(), 0);
  for (const SecondaryLink& link : links_) {
    const uint32_t secondary = TargetOf(link);
    if (secondary != kNone && unfinished_[link.recording]) ++unfinished_uses_[secondary];
  }
}

void SecondarySplicer::ChooseInsertions() {
  const uint64_t event_count = snapshot_.events.size();
  uint64_t left =
      std::min<uint64_t>(event_count + kMostExtraEvents,
                         kMaxSnapshotEvents - std::min<uint64_t>(kMaxSnapshotEvents, event_count));
  executed_.assign(snapshot_.recordings.size(), false);
  only_insertion_.assign(snapshot_.recordings.size(), kNone);
  was_inserted_.assign(snapshot_.recordings.size(), false);
  inserted_.assign(links_.size(), kNone);
  for (size_t i = 0; i < links_.size(); ++i) {
    const uint32_t target = TargetOf(links_[i]);
    if (target == kNone) {
      ++unknown_count_;
      continue;
    }
    if (snapshot_.recordings[links_[i].recording].secondary) {
      ++nested_count_;
      continue;
    }
    // Each event adds an end at most, and the pass is around them.
    const uint64_t most = uint64_t{snapshot_.recordings[target].event_count} * 2 + 2;
    if (most > left) {
      ++over_budget_count_;
      continue;
    }
    left -= most;
    inserted_[i] = target;
    executed_[target] = true;
  }
}

bool SecondarySplicer::WordsCount(const SecondaryLink& link, uint32_t secondary) const {
  return unfinished_[link.recording] && unfinished_uses_[secondary] == 1 &&
         !snapshot_.recordings[link.recording].reusable;
}

// Copies a recording's events with what it executes, and moves its words.
void SecondarySplicer::CopyPrimary(uint32_t index, size_t first_link, size_t end_link) {
  const Recording recording = snapshot_.recordings[index];
  const size_t first_insertion = insertions_.size();
  new_first_event_[index] = static_cast<uint32_t>(events_.size());
  uint32_t copied = 0;
  const auto copy_to = [&](uint32_t end) {
    const auto first = snapshot_.events.begin() + recording.first_event;
    events_.insert(events_.end(), first + copied, first + end);
    copied = end;
  };
  if (executed_[index]) return;
  for (size_t i = first_link; i < end_link; ++i) {
    if (inserted_[i] == kNone) continue;
    copy_to(links_[i].sequence);
    Insert(links_[i], inserted_[i]);
  }
  copy_to(recording.event_count);
  if (first_insertion != insertions_.size()) MoveWords(index, first_insertion);
}

void SecondarySplicer::Insert(const SecondaryLink& link, uint32_t secondary_index) {
  const Recording& secondary = snapshot_.recordings[secondary_index];
  const bool named = !secondary.name.empty() && secondary.event_count != 0;
  const size_t before = events_.size();
  const uint32_t bind = static_cast<uint32_t>(before) - new_first_event_[link.recording];
  if (named) {
    Event begin;
    begin.type = CAIRN_MARKER_PASS;
    begin.name = secondary.name;
    events_.push_back(begin);
  }
  const uint32_t base = bind + (named ? 1 : 0);
  const bool writes = WordsCount(link, secondary_index);
  AppendCopies(secondary, base, writes);
  AppendEnds(secondary, base);
  if (named) {
    Event end;
    end.kind = EventKind::kEnd;
    end.match = bind + 1;
    events_.push_back(end);
    events_[before].match =
        static_cast<uint32_t>(events_.size()) - new_first_event_[link.recording];
  }
  // The last write of the secondary recording stands for all its events.
  if (writes && secondary.event_count != 0) {
    const uint8_t last = snapshot_.events[secondary.first_event + secondary.event_count - 1].flags;
    events_.back().flags |= last & kEventWritesBottom;
  }
  const uint32_t inserted = static_cast<uint32_t>(events_.size() - before);
  only_insertion_[secondary_index] =
      was_inserted_[secondary_index] ? kNone : static_cast<uint32_t>(insertions_.size());
  was_inserted_[secondary_index] = true;
  insertions_.push_back({link.recording, link.sequence, secondary_index, bind, base, inserted});
}

void SecondarySplicer::AppendCopies(const Recording& secondary, uint32_t base, bool writes) {
  for (uint32_t i = 0; i < secondary.event_count; ++i) {
    Event event = snapshot_.events[secondary.first_event + i];
    if (event.match != 0) event.match += base;
    if (!writes) event.flags &= static_cast<uint8_t>(~kWrites);
    events_.push_back(event);
  }
}

// Ends of what the secondary recording leaves open, the innermost first.
void SecondarySplicer::AppendEnds(const Recording& secondary, uint32_t base) {
  uint32_t sequence = base + secondary.event_count;
  const size_t first_copy = events_.size() - secondary.event_count;
  for (uint32_t i = secondary.event_count; i-- > 0;) {
    Event& begin = events_[first_copy + i];
    if (begin.kind != EventKind::kBegin || begin.match != 0) continue;
    begin.match = ++sequence;
    Event end;
    end.kind = EventKind::kEnd;
    end.match = base + i + 1;
    events_.push_back(end);
  }
}

// Returns the new sequence number of an event of a primary recording.
uint32_t SecondarySplicer::Moved(uint32_t recording, uint32_t sequence) const {
  const auto first = std::lower_bound(
      insertions_.begin(), insertions_.end(), recording,
      [](const Insertion& insertion, uint32_t wanted) { return insertion.recording < wanted; });
  const auto at = std::partition_point(first, insertions_.end(), [&](const Insertion& insertion) {
    return insertion.recording == recording && insertion.sequence < sequence;
  });
  if (at == first) return sequence;
  // Behind the last insertion before it: the distance to its bind stays.
  const Insertion& before = *std::prev(at);
  return before.bind + before.event_count + (sequence - before.sequence);
}

void SecondarySplicer::MoveWords(uint32_t index, size_t first_insertion) {
  Recording& recording = snapshot_.recordings[index];
  const uint32_t first = new_first_event_[index];
  recording.reached = recording.reached == 0 ? 0 : Moved(index, recording.reached);
  recording.passed = recording.passed == 0 ? 0 : Moved(index, recording.passed);
  // Matches of the events between the insertions.
  uint32_t at = 0;
  const uint32_t end = static_cast<uint32_t>(events_.size()) - first;
  for (size_t i = first_insertion; i <= insertions_.size(); ++i) {
    const bool is_last = i == insertions_.size();
    const uint32_t stop = is_last ? end : insertions_[i].bind;
    for (; at < stop; ++at) {
      Event& event = events_[first + at];
      if (event.match != 0) event.match = Moved(index, event.match);
    }
    if (!is_last) at += insertions_[i].event_count;
  }
  for (size_t i = first_insertion; i < insertions_.size(); ++i) {
    const Insertion& insertion = insertions_[i];
    const Recording& secondary = snapshot_.recordings[insertion.secondary];
    recording.dropped_count += secondary.dropped_count;
    const SecondaryLink link{index, insertion.sequence, secondary.recording_id};
    if (!WordsCount(link, insertion.secondary)) continue;
    if (secondary.reached != 0) {
      recording.reached = std::max(recording.reached, insertion.base + secondary.reached);
    }
    if (secondary.passed == 0) continue;
    const bool all = secondary.passed == secondary.event_count;
    const uint32_t tail = insertion.bind + insertion.event_count;
    recording.passed = std::max(recording.passed, all ? tail : insertion.base + secondary.passed);
  }
}

void SecondarySplicer::RemoveExecuted() {
  std::vector<Recording>& recordings = snapshot_.recordings;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < recordings.size(); ++i) {
    const uint32_t end =
        i + 1 < recordings.size() ? new_first_event_[i + 1] : static_cast<uint32_t>(events_.size());
    recordings[i].first_event = new_first_event_[i];
    recordings[i].event_count = end - new_first_event_[i];
    new_index_[i] = executed_[i] ? kNone : kept;
    if (!executed_[i]) recordings[kept++] = recordings[i];
  }
  recordings.resize(kept);
  snapshot_.events = std::move(events_);
  for (Submission& submission : snapshot_.submissions) {
    if (submission.recording != kNone) submission.recording = new_index_[submission.recording];
  }
}

std::pair<uint32_t, uint32_t> SecondarySplicer::PlaceOf(uint32_t recording,
                                                        uint32_t sequence) const {
  if (new_index_[recording] != kNone) {
    return {new_index_[recording], links_.empty() ? sequence : Moved(recording, sequence)};
  }
  if (only_insertion_[recording] == kNone) return {kNone, sequence};
  const Insertion& place = insertions_[only_insertion_[recording]];
  return {new_index_[place.recording], place.base + sequence};
}

}  // namespace cairn
