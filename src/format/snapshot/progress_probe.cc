// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/progress_probe.h"

#include <algorithm>

namespace cairn {
namespace {

// A chain of events may run in a circle, and any slot may claim any count; the rest of a scan is done
// at the next poll.
constexpr uint32_t kMaxEventsPerPoll = 1u << 20;
// The same bound for pages, and for recordings whose last event is looked at again.
constexpr uint32_t kMaxPagesPerPoll = 8192;
constexpr uint32_t kMaxRepeatsPerPoll = 8192;
// The slots of all contexts together that are remembered, at most: a block could claim 64 times 65,536. Slots beyond
// are not looked at.
constexpr uint32_t kMostSlots = 1u << 17;
// The executed secondary command buffers that are remembered, at most: as many as a context may have slots. With one
// more, all are forgotten, and found again with the next recordings.
constexpr size_t kMostSecondaries = 1u << 16;

uint64_t Mix(uint64_t hash, uint64_t value) {
  uint64_t mixed = hash + value + 0x9E3779B97F4A7C15;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return mixed ^ mixed >> 31;
}

}  // namespace

Result<ProgressProbe> ProgressProbe::Open(std::span<const std::byte> block) {
  Result<BlockReader> reader = BlockReader::Open(block);
  if (!reader.ok()) return reader.status();
  return ProgressProbe(*reader);
}

ProgressProbe::ProgressProbe(const BlockReader& block) : block_(block) {
  tables_.reserve(kMaxContexts);
  slots_.reserve(kMaxContexts);
}

uint64_t ProgressProbe::MemoryBytes() const {
  uint64_t bytes =
      sizeof(*this) + queues_.capacity() * sizeof(Group) + contexts_.capacity() * sizeof(Group) +
      tables_.capacity() * sizeof(ContextTables) + slots_.capacity() * sizeof(slots_[0]) +
      result_.capacity() * sizeof(QueueProgress) + secondaries_.capacity() * sizeof(uint32_t);
  for (const std::vector<SlotMemory>& slots : slots_) bytes += slots.capacity() * sizeof(slots[0]);
  // A node, its link and its place in the table.
  constexpr uint64_t kExecutedBytes = 48;
  return bytes + executed_by_.size() * kExecutedBytes;
}

bool ProgressProbe::MakeRoom(std::vector<SlotMemory>* slots, uint32_t slot) {
  if (slot < slots->size()) return true;
  const uint32_t more = slot + 1 - static_cast<uint32_t>(slots->size());
  if (more > kMostSlots - slot_count_) return false;
  slot_count_ += more;
  slots->resize(slot + 1);
  return true;
}

std::span<const QueueProgress> ProgressProbe::Poll() {
  for (Group& group : queues_) group.progress.unfinished = 0;
  for (Group& group : contexts_) group.progress.unfinished = 0;
  scan_budget_ = kMaxEventsPerPoll;
  page_budget_ = kMaxPagesPerPoll;
  repeats_ = 0;
  ReadQueues();
  ReadContextTables();
  ReadNewSubmissions();
  for (uint32_t c = 0; c < tables_.size(); ++c) PollContext(c);
  for (uint32_t c = 0; c < tables_.size(); ++c) CountUnproven(c);
  // The remaining repeats come with the next call.
  first_repeat_ =
      repeats_ > first_repeat_ + kMaxRepeatsPerPoll ? first_repeat_ + kMaxRepeatsPerPoll : 0;
  result_.clear();
  for (const std::vector<Group>* groups : {&queues_, &contexts_}) {
    for (const Group& group : *groups) {
      if (group.seen) result_.push_back(group.progress);
    }
  }
  return result_;
}

void ProgressProbe::ReadQueues() {
  // Keeps queues that are gone: work may still belong to one of them.
  while (queues_.size() < block_.QueueCount()) {
    const auto queue = static_cast<uint32_t>(queues_.size());
    queues_.emplace_back().progress.queue = queue;
  }
  for (uint32_t i = 0; i < queues_.size(); ++i) {
    const uint64_t offset = block_.queues_offset() + i * sizeof(QueueRecord);
    Group& group = queues_[i];
    const uint64_t submissions = block_.Load64(offset + offsetof(QueueRecord, submission_count));
    const uint32_t state = block_.Load32(offset + offsetof(QueueRecord, state));
    // Another queue took its place, and counts from 1 again.
    if (state != kEntryPublished || submissions < group.submission_count) {
      group.completed_submission = 0;
      group.finished_submission = 0;
    }
    group.submission_count = submissions;
    if (state != kEntryPublished) continue;
    group.progress.device = block_.Load32(offset + offsetof(QueueRecord, context));
    const uint64_t completed = block_.Load64(offset + offsetof(QueueRecord, completed_submission));
    if (completed > group.completed_submission) {
      group.completed_submission = completed;
      group.progress.fingerprint = Mix(group.progress.fingerprint, completed);
    }
    group.finished_submission = std::max(group.finished_submission, group.completed_submission);
  }
}

void ProgressProbe::ReadContextTables() {
  const uint32_t context_count = block_.ContextCount();
  for (uint32_t c = 0; c < context_count; ++c) {
    if (c == tables_.size()) {
      tables_.emplace_back();
      slots_.emplace_back();
      contexts_.emplace_back().progress.device = c;
    }
    // The context has ended, or another one took its place: its memory may have another owner by
    // now.
    if (tables_[c].usable && !AreTablesOf(c)) tables_[c] = ContextTables{};
  }
  for (uint32_t c = 0; c < context_count; ++c) {
    if (tables_[c].usable) continue;
    const uint64_t offset = block_.contexts_offset() + c * sizeof(ContextRecord);
    if (block_.Load32(offset + offsetof(ContextRecord, state)) != kEntryPublished) continue;
    // A device without recordings has no tables yet; its first list creates them.
    if (block_.Load32(offset + offsetof(ContextRecord, recording_capacity)) == 0) continue;
    ContextRecord record;
    block_.Copy(offset, &record);
    tables_[c] = block_.TablesOf(record, tables_);
  }
}

bool ProgressProbe::AreTablesOf(uint32_t context) const {
  const uint64_t offset = block_.contexts_offset() + context * sizeof(ContextRecord);
  const ContextTables& tables = tables_[context];
  return block_.Load32(offset + offsetof(ContextRecord, state)) == kEntryPublished &&
         block_.Load32(offset + offsetof(ContextRecord, recording_capacity)) ==
             tables.recording_capacity &&
         block_.Load64(offset + offsetof(ContextRecord, recordings_offset)) ==
             tables.recordings_offset &&
         block_.Load64(offset + offsetof(ContextRecord, progress_offset)) == tables.progress_offset;
}

void ProgressProbe::ReadNewSubmissions() {
  const uint64_t last = block_.Load64(offsetof(BlockHeader, submission_serial));
  if (last >= kSubmissionRing) next_serial_ = std::max(next_serial_, last - kSubmissionRing + 1);
  for (; next_serial_ <= last; ++next_serial_) {
    const uint64_t offset = block_.submissions_offset() +
                            (next_serial_ - 1) % kSubmissionRing * sizeof(SubmissionRecord);
    const uint64_t serial = block_.Load64(offset + offsetof(SubmissionRecord, serial));
    // A submission that is not yet written is read next time. An overwritten one is covered by a
    // later serial.
    if (serial < next_serial_) return;
    SubmissionRecord record;
    block_.Copy(offset, &record);
    if (serial > next_serial_ || record.context >= tables_.size() || record.queue >= kMaxQueues) {
      continue;
    }
    const ContextTables& tables = tables_[record.context];
    if (!tables.usable || record.slot >= tables.recording_capacity) continue;
    std::vector<SlotMemory>& slots = slots_[record.context];
    if (!MakeRoom(&slots, record.slot)) continue;
    SlotMemory& memory = slots[record.slot];
    if (memory.recording_id != record.recording_id) {
      memory = SlotMemory{};
      memory.recording_id = record.recording_id;
    }
    memory.submission_queue = record.queue;
    memory.submission_number = record.submission_number;
  }
}

ProgressProbe::Group& ProgressProbe::GroupOf(uint32_t context, uint32_t queue) {
  return queue < queues_.size() ? queues_[queue] : contexts_[context];
}

void ProgressProbe::PollContext(uint32_t context) {
  const ContextTables& tables = tables_[context];
  std::vector<SlotMemory>& slots = slots_[context];
  if (!tables.usable) {
    // Destroyed, or unused: its owner knows that the GPU has finished.
    for (SlotMemory& memory : slots) memory.group = kNone;
    return;
  }
  secondaries_.clear();
  uint32_t s = 0;
  for (; s < tables.recording_capacity; ++s) {
    const uint64_t offset = tables.recordings_offset + uint64_t{s} * sizeof(RecordingSlot);
    const uint32_t state = block_.Load32(offset + offsetof(RecordingSlot, state));
    if (s < slots.size()) slots[s].group = kNone;
    if (state == static_cast<uint32_t>(RecordingState::kOpen) ||
        state == static_cast<uint32_t>(RecordingState::kClosed)) {
      if (!MakeRoom(&slots, s)) break;
      if ((block_.Load32(offset + offsetof(RecordingSlot, flags)) & kRecordingSecondary) != 0) {
        secondaries_.push_back(s);
      } else {
        PollSlot(context, s, &slots[s]);
      }
    } else if (block_.Load64(offset + offsetof(RecordingSlot, recording_id)) == 0) {
      break;  // Unused, like all slots behind it.
    }
  }
  for (const uint32_t secondary : secondaries_)
    PollSecondary(context, secondary, &slots[secondary]);
}

void ProgressProbe::PollSecondary(uint32_t context, uint32_t slot, SlotMemory* memory) {
  const uint64_t slots = tables_[context].recordings_offset;
  const uint64_t offset = slots + uint64_t{slot} * sizeof(RecordingSlot);
  const uint64_t recording_id = block_.Load64(offset + offsetof(RecordingSlot, recording_id));
  if (memory->recording_id != recording_id) {
    *memory = SlotMemory{};
    memory->recording_id = recording_id;
  }
  const auto found = executed_by_.find(recording_id);
  const std::vector<SlotMemory>& known = slots_[context];
  if (found == executed_by_.end() || found->second >= known.size()) return;
  const uint32_t generation = block_.Load32(offset + offsetof(RecordingSlot, generation));
  if (!ReadWords(context, slot, generation, memory)) return;
  uint32_t queue = known[found->second].submission_queue;
  if (queue == kNone) {
    queue = block_.Load32(slots + uint64_t{found->second} * sizeof(RecordingSlot) +
                          offsetof(RecordingSlot, queue));
  }
  uint64_t& fingerprint = GroupOf(context, queue).progress.fingerprint;
  const uint64_t words = uint64_t{memory->reached} << 32 | memory->passed;
  fingerprint = Mix(Mix(fingerprint, recording_id), words);
}

void ProgressProbe::NoteExecuted(uint64_t event_offset, uint32_t slot) {
  const uint64_t low = block_.Load32(event_offset + offsetof(EventRecord, pipeline));
  const uint64_t high = block_.Load32(event_offset + offsetof(EventRecord, match));
  if (executed_by_.size() >= kMostSecondaries) executed_by_.clear();
  executed_by_[high << 32 | low] = slot;
}

bool ProgressProbe::ReadWords(uint32_t context, uint32_t slot, uint32_t generation,
                              SlotMemory* memory) {
  const uint64_t offset = tables_[context].progress_offset + uint64_t{slot} * sizeof(ProgressWords);
  const uint32_t runs = block_.Load32(offset + offsetof(ProgressWords, runs));
  const uint32_t passed =
      ProgressSequence(block_.Load32(offset + offsetof(ProgressWords, passed)), generation);
  const uint32_t reached =
      ProgressSequence(block_.Load32(offset + offsetof(ProgressWords, reached)), generation);
  // Words are also cleared, by the CPU for the next submission: that is no progress.
  const bool progress = runs != memory->runs || (passed != 0 && passed != memory->passed) ||
                        (reached != 0 && reached != memory->reached);
  memory->runs = runs;
  memory->passed = passed;
  memory->reached = reached;
  return progress;
}

void ProgressProbe::ScanEvents(uint64_t slot_offset, uint32_t slot, SlotMemory* memory) {
  const uint32_t event_count =
      std::min(block_.Load32(slot_offset + offsetof(RecordingSlot, event_count)), kMaxSequence);
  if (event_count == 0) return;
  const uint64_t pages = block_.size_bytes() / kPageBytes;
  uint32_t next = memory->scanned_events == 0 ? 0 : memory->scanned_events - 1;
  if (event_count == memory->scanned_events) {
    if (repeats_++ - first_repeat_ >= kMaxRepeatsPerPoll) return;
  } else if (page_budget_-- == 0) {
    page_budget_ = 0;
    return;
  }
  if (memory->scanned_events == 0) {
    memory->scan_page = block_.Load32(slot_offset + offsetof(RecordingSlot, first_event_page));
  }
  for (; next < event_count && scan_budget_ != 0; --scan_budget_) {
    if (memory->scan_page == 0 || memory->scan_page >= pages) return;
    const uint64_t chunk = uint64_t{memory->scan_page} * kPageBytes;
    const uint64_t event =
        chunk + offsetof(EventChunk, events) + EventPosition(slot, next) * sizeof(EventRecord);
    // kind, flags and type share the first four bytes.
    const uint32_t first_word = block_.Load32(event);
    if ((first_word >> 8 & kEventWritesTop) != 0) memory->last_top = next + 1;
    if ((first_word >> 8 & kEventWritesBottom) != 0) memory->last_bottom = next + 1;
    if ((first_word & 0xFF) == static_cast<uint32_t>(EventKind::kBind) &&
        first_word >> 16 == static_cast<uint32_t>(BindPoint::kSecondary)) {
      NoteExecuted(event, slot);
    }
    memory->scanned_events = ++next;
    // Keep the last of the budget: the next scan starts with this event, on this page.
    if (next % kEventsPerChunk == 0 && next < event_count && scan_budget_ > 1) {
      if (page_budget_ == 0) return;
      --page_budget_;
      memory->scan_page = block_.Load32(chunk + offsetof(EventChunk, next_page));
    }
  }
}

void ProgressProbe::PollSlot(uint32_t context, uint32_t slot, SlotMemory* memory) {
  const uint64_t offset =
      tables_[context].recordings_offset + uint64_t{slot} * sizeof(RecordingSlot);
  const uint64_t recording_id = block_.Load64(offset + offsetof(RecordingSlot, recording_id));
  if (memory->recording_id != recording_id) {
    *memory = SlotMemory{};
    memory->recording_id = recording_id;
  }
  const uint32_t generation = block_.Load32(offset + offsetof(RecordingSlot, generation));
  const uint32_t flags = block_.Load32(offset + offsetof(RecordingSlot, flags));
  const uint32_t submit_count = block_.Load32(offset + offsetof(RecordingSlot, submit_count));
  uint32_t queue = memory->submission_queue;
  if (queue == kNone) queue = block_.Load32(offset + offsetof(RecordingSlot, queue));
  Group& group = GroupOf(context, queue);
  group.seen = true;
  if (ReadWords(context, slot, generation, memory)) {
    const uint64_t words = uint64_t{memory->reached} << 32 | memory->passed;
    group.progress.fingerprint =
        Mix(Mix(Mix(group.progress.fingerprint, recording_id), words), memory->runs);
  }
  if (submit_count == 0 && memory->reached == 0 && memory->passed == 0) return;
  if ((flags & kRecordingRefused) != 0) return;
  ScanEvents(offset, slot, memory);
  const uint64_t number = memory->submission_number;
  if (number != 0 && number <= group.completed_submission) return;
  const bool has_end = memory->last_bottom != 0;
  if (!has_end && memory->last_top == 0) return;
  const bool all_begun = (flags & kRecordingReusable) == 0 || submit_count == 0 ||
                         memory->runs % kRunModulus == submit_count % kRunModulus;
  const bool all_written =
      has_end ? memory->passed >= memory->last_bottom : memory->reached >= memory->last_top;
  if (all_begun && all_written) {
    if (has_end) group.finished_submission = std::max(group.finished_submission, number);
  } else if (has_end) {
    ++group.progress.unfinished;
  } else if (number != 0) {
    memory->group = queue < queues_.size() ? queue : kMaxQueues + context;
  }
}

// Rule 3, once it is known which submissions have finished.
void ProgressProbe::CountUnproven(uint32_t context) {
  for (const SlotMemory& memory : slots_[context]) {
    if (memory.group == kNone) continue;
    Group& group = memory.group < kMaxQueues ? queues_[memory.group] : contexts_[context];
    if (memory.submission_number >= group.finished_submission) ++group.progress.unfinished;
  }
}

}  // namespace cairn
