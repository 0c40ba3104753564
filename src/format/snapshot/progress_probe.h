// SPDX-License-Identifier: Apache-2.0
//
// The cheap question a watchdog asks many times a second: does a queue have unfinished work, and did
// it make progress since the last look? Reads words and counts, never names, and each event once.
//
// A recording is unfinished when it was submitted (cairnNotifySubmit) or has started (the GPU has
// written one of its words) and is not known to have finished. It is known to have finished when
//   1. the application said so: completed_submission of its queue covers its last submission; or
//   2. the last write that can prove it has arrived: the last one at the bottom of the pipe or, where
//      there is none, at the top; a reusable list must also have begun as many executions as were
//      submitted; or
//   3. by rule 2 only its writes at the top are left to come, which predication may skip, and a later
//      submission on its queue is known to have finished.
// A recording in which the GPU writes nothing at all (marker mode off, a queue or a list that takes no
// writes) is never counted, nor is one without a write at the bottom whose submission nobody told: nothing
// can show that it finished, and an idle program must not look hung. Recordings of destroyed contexts are
// not counted either: who destroys a context knows that the GPU has finished.
#ifndef CAIRN_FORMAT_SNAPSHOT_PROGRESS_PROBE_H_
#define CAIRN_FORMAT_SNAPSHOT_PROGRESS_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// One queue, or the recordings of one device that belong to no queue as far as is known.
struct QueueProgress {
  uint32_t device = kNone;  // index into Snapshot::devices
  uint32_t queue = kNone;   // index into Snapshot::queues
  uint32_t unfinished = 0;  // recordings
  // Changes whenever a word of one of the queue's recordings, or the queue's completed_submission,
  // was seen to move forward. Comparable only with earlier values of the same probe. New submissions
  // and recycled recordings do not change it.
  uint64_t fingerprint = 0;
};

class ProgressProbe {
 public:
  // `block` as in SnapshotFromBlock, with its errors; must stay mapped while the probe lives.
  static Result<ProgressProbe> Open(std::span<const std::byte> block);

  // Returns the queues that have, or had, recordings, in the order of queue, device. Valid until
  // the next call. Cost: one read per slot ever used, a few more per live one, each new submission
  // and each new event once; bench ProgressProbe. Limits: one call reads at most 131,072 slots,
  // 1,048,576 events and 16,384 pages of them, whatever the block claims; further events are read
  // by the next calls, recordings beyond the limit are ignored. Allocates only when a context has
  // more slots in use than ever before, for new queues, and for secondary command buffers that are
  // executed for the first time.
  std::span<const QueueProgress> Poll();

  // Returns the memory that the probe takes. Cost: a few additions for each context.
  uint64_t MemoryBytes() const;

 private:
  // The state of a slot that is kept between polls.
  struct SlotMemory {
    uint64_t recording_id = 0;
    uint64_t submission_number = 0;  // of its last submission; 0 if nobody told
    uint32_t submission_queue = kNone;
    uint32_t reached = 0;
    uint32_t passed = 0;
    uint32_t runs = 0;
    uint32_t scanned_events = 0;  // the last one is looked at again: its flags may still change
    uint32_t scan_page = 0;
    uint32_t last_top = 0;     // sequence number of the last top-of-pipe write so far
    uint32_t last_bottom = 0;  // ... and of the last bottom-of-pipe write
    uint32_t group =
        kNone;  // unfinished unless rule 3 says otherwise: its queue, else kMaxQueues + its context
  };
  struct Group {
    QueueProgress progress;
    uint64_t submission_count = 0;
    uint64_t completed_submission = 0;
    uint64_t finished_submission = 0;  // the highest that is known to have finished
    bool seen = false;
  };

  explicit ProgressProbe(const BlockReader& block);

  void ReadQueues();
  void ReadContextTables();
  // Returns true if the context's record still equals the copy that was read.
  bool AreTablesOf(uint32_t context) const;
  void ReadNewSubmissions();
  void PollContext(uint32_t context);
  void PollSlot(uint32_t context, uint32_t slot, SlotMemory* memory);
  // Secondary command buffers are no work of their own: where their words move, the queue that runs them does.
  void PollSecondary(uint32_t context, uint32_t slot, SlotMemory* memory);
  void NoteExecuted(uint64_t event_offset, uint32_t slot);
  void ScanEvents(uint64_t slot_offset, uint32_t slot, SlotMemory* memory);
  // True if a word has moved forward.
  bool ReadWords(uint32_t context, uint32_t slot, uint32_t generation, SlotMemory* memory);
  void CountUnproven(uint32_t context);
  Group& GroupOf(uint32_t context, uint32_t queue);
  // False: as many slots are remembered as may be.
  bool MakeRoom(std::vector<SlotMemory>* slots, uint32_t slot);

  BlockReader block_;
  std::vector<ContextTables> tables_;
  std::vector<std::vector<SlotMemory>> slots_;  // by context
  std::vector<Group> queues_;
  std::vector<Group> contexts_;  // what belongs to no queue
  std::vector<QueueProgress> result_;
  // The slot that executed a secondary recording, by its recording_id; of the same context, as seen
  // last.
  std::unordered_map<uint64_t, uint32_t> executed_by_;
  std::vector<uint32_t> secondaries_;  // slots of the context that is being polled
  uint64_t next_serial_ = 1;
  uint32_t scan_budget_ = 0;
  uint32_t page_budget_ = 0;
  uint32_t repeats_ = 0;  // recordings without new events, in this call
  uint32_t first_repeat_ = 0;
  uint32_t slot_count_ = 0;  // of all contexts
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_PROGRESS_PROBE_H_
