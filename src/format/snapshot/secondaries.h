// SPDX-License-Identifier: Apache-2.0
//
// Secondary command buffers: their events are put where primary ones execute them, so that everything
// behind this sees lists that execute nothing but work.
#ifndef CAIRN_FORMAT_SNAPSHOT_SECONDARIES_H_
#define CAIRN_FORMAT_SNAPSHOT_SECONDARIES_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// A kBind event of BindPoint::kSecondary.
struct SecondaryLink {
  uint32_t recording = kNone;
  uint32_t sequence = 0;
  uint64_t secondary_id = 0;  // its recording_id
};

// The location of a recording in the block.
struct RecordingPlace {
  uint64_t slot_offset = 0;   // of its RecordingSlot
  uint64_t words_offset = 0;  // of its ProgressWords
  uint32_t generation = 0;
};

// Reads the words of what unfinished recordings execute once more: those that were read first may be of an execution
// before. The writer clears them before it counts a submission of the primary one, so that words that are read
// behind its count are of that submission or of a later one; where the count has changed meanwhile they are
// dropped. `places` is by recording, as is `unfinished`; for the others see SecondarySplicer.
void ReadSecondaryWords(const BlockReader& block, std::span<const RecordingPlace> places,
                        std::span<const SecondaryLink> links, const std::vector<bool>& unfinished,
                        Snapshot* snapshot);

class SecondarySplicer {
 public:
  // Marks the recordings that are secondary in Recording::secondary; `links` are ordered by
  // recording and sequence. `unfinished` says of each recording whether it was submitted, and is
  // not known to have finished. The constructor trusts only that indices are in range.
  //
  // A secondary recording's events follow the bind that executes it, in a PASS of its name if it
  // has one; scopes that it leaves open are ended. Its words count only if a single execution can
  // have written them: one unfinished recording that is not reusable executes it, once. Otherwise
  // the copies of its events write nothing. Secondary recordings that execute others are not
  // followed: Vulkan forbids it. Executed recordings are removed from Snapshot::recordings;
  // `first_event`, words and indices of submissions follow.
  SecondarySplicer(std::vector<SecondaryLink> links, std::vector<bool> unfinished,
                   Snapshot* snapshot);

  // Events more than there were, and more than there were recorded twice, are not made.
  static constexpr uint64_t kMostExtraEvents = 1u << 20;

  void Splice();

  // Maps the old index of a recording to the new one; kNone if it is gone.
  uint32_t IndexOf(uint32_t recording) const { return new_index_[recording]; }
  // The place now of an event of `recording`, as an index and a sequence number. kNone and the number as it was
  // where it is in a secondary one that is executed in several places.
  std::pair<uint32_t, uint32_t> PlaceOf(uint32_t recording, uint32_t sequence) const;

  uint64_t unknown_count() const { return unknown_count_; }
  uint64_t nested_count() const { return nested_count_; }
  uint64_t over_budget_count() const { return over_budget_count_; }

 private:
  // Events put behind an event of a primary recording.
  struct Insertion {
    uint32_t recording;    // before
    uint32_t sequence;     // before, of the bind
    uint32_t secondary;    // before
    uint32_t bind;         // its sequence number now
    uint32_t base;         // event n of the secondary one is event base + n of the primary one now
    uint32_t event_count;  // with what surrounds them
  };

  uint32_t TargetOf(const SecondaryLink& link) const;
  void CountUses();
  void ChooseInsertions();
  bool WordsCount(const SecondaryLink& link, uint32_t secondary) const;
  void CopyPrimary(uint32_t index, size_t first_link, size_t end_link);
  void Insert(const SecondaryLink& link, uint32_t secondary);
  void AppendCopies(const Recording& secondary, uint32_t base, bool writes);
  void AppendEnds(const Recording& secondary, uint32_t base);
  uint32_t Moved(uint32_t recording, uint32_t sequence) const;
  void MoveWords(uint32_t index, size_t first_insertion);
  void RemoveExecuted();

  std::vector<SecondaryLink> links_;
  std::vector<bool> unfinished_;
  Snapshot& snapshot_;
  std::vector<std::pair<uint64_t, uint32_t>> by_id_;  // secondary recordings
  std::vector<uint32_t> unfinished_uses_;             // by recording
  std::vector<uint32_t> inserted_;     // by link: the recording that is inserted; kNone: none is
  std::vector<bool> executed_;         // by recording: it stands in another now
  std::vector<Insertion> insertions_;  // by recording and sequence
  // The only insertion of each secondary recording, an index into `insertions_`; kNone: none, or
  // several.
  std::vector<uint32_t> only_insertion_;
  std::vector<bool> was_inserted_;  // by recording
  std::vector<Event> events_;
  std::vector<uint32_t> new_first_event_;
  std::vector<uint32_t> new_index_;
  uint64_t unknown_count_ = 0;
  uint64_t nested_count_ = 0;
  uint64_t over_budget_count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SECONDARIES_H_
