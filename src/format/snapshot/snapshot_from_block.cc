// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_from_block.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/signal_name.h"
#include "format/block/raw_marker_binds.h"
#include "format/snapshot/block_destructions.h"
#include "format/snapshot/block_diagnostics.h"
#include "format/snapshot/block_reader.h"
#include "format/snapshot/block_tables.h"
#include "format/snapshot/block_user_data.h"
#include "format/snapshot/event_matching.h"
#include "format/snapshot/name_table.h"
#include "format/snapshot/pipeline_descriptors.h"
#include "format/snapshot/secondaries.h"
#include "format/snapshot/snapshot_losses.h"
#include "format/snapshot/unfinished.h"

namespace cairn {
namespace {

// The part of BlockReadLimits::text_bytes that NameRecords leave free: for names of objects, sentences, and markers
// kept in arenas.
constexpr uint64_t kOtherTextBytes = uint64_t{32} << 20;
constexpr uint64_t kKeptMarkerTextBytes = uint64_t{16} << 20;
static_assert(kMaxObjects * sizeof(ObjectRecord::name) + kKeptMarkerTextBytes < kOtherTextBytes);
constexpr int kTornReadTries = 4;

// A live recording, before it is read whole.
struct FoundRecording {
  uint32_t context;
  uint32_t slot;
  uint64_t recording_id;
  uint64_t frame;
  uint64_t event_count;
  bool executes = false;  // by its words the GPU is inside of it
};

class SnapshotTaker {
 public:
  SnapshotTaker(const BlockReader& block, Binaries binaries, Moment moment,
                const BlockReadLimits& limits)
      : block_(block),
        limits_(limits),
        keep_binaries_(binaries == Binaries::kKeep),
        of_fault_(moment == Moment::kLastFault),
        fault_ns_(of_fault_ ? TimeOfFault(block) : 0) {}

  Snapshot Take(uint64_t snapshot_time_ns);

 private:
  static uint64_t TimeOfFault(const BlockReader& block) {
    if (block.Load32(offsetof(BlockHeader, crash_signal)) == 0) return 0;
    return block.Load64(offsetof(BlockHeader, crash_ns));
  }

  void FindRecordings();
  bool Executes(uint32_t context, uint32_t slot, uint32_t event_count) const;
  void LeaveOutTooMany();
  void TakeWordsOfFault(const ContextRecord& record, ContextTables* tables) const;
  void ReserveMemory();
  void ReadProcess(uint64_t snapshot_time_ns);
  void ReadContexts();
  void ReadSources(const ContextRecord& record, Device* device);
  void ReadQueues();
  void ReadPipelines();
  void ReadRecording(const FoundRecording& found);
  // Returns false if the slot does not hold `found` any more.
  bool ReadSlot(const FoundRecording& found, RecordingSlot* slot, Recording* recording);
  void ReadWords(const FoundRecording& found, uint32_t generation, Recording* recording,
                 uint32_t* runs_word);
  void ReadEvents(uint32_t first_page, uint32_t slot, Recording* recording);
  Event MakeEvent(const EventRecord& record);
  Event MakeBindEvent(const EventRecord& record);
  void LeaveOutLater(const SubmissionRecord& record);
  void ReadSubmissions();
  void ReadMemory();
  void ReadDiagnostics();
  uint32_t DeviceOfRawMarkers(uint32_t context) const;
  void ReadRawMarkers();
  void ReadCrash();

  uint64_t SlotOffset(uint32_t context, uint32_t slot) const {
    return tables_[context].recordings_offset + uint64_t{slot} * sizeof(RecordingSlot);
  }

  const BlockReader& block_;
  const BlockReadLimits limits_;
  const bool keep_binaries_;
  const bool of_fault_;
  const uint64_t fault_ns_;  // CLOCK_MONOTONIC; 0: words are read as they are
  Snapshot snapshot_;
  LossCounts losses_;
  std::vector<ContextTables> tables_;
  std::vector<ContextRecord> context_records_;
  std::vector<FoundRecording> found_;
  std::vector<std::vector<uint32_t>> recording_of_slot_;  // by context, as they are before Splice
  std::vector<RecordingPlace> places_;                    // by recording, likewise
  std::vector<SecondaryLink> links_;
  std::vector<bool> unfinished_;  // by recording, before Splice
  std::vector<bool> page_used_;  // A page of events belongs to one recording: no chain has a cycle.
  std::vector<uint32_t> open_events_;
  NameTable* names_ = nullptr;
  uint64_t total_events_ = 0;
};

Snapshot SnapshotTaker::Take(uint64_t snapshot_time_ns) {
  FindRecordings();
  ReserveMemory();
  // Texts of annotations are kept twice: as they came, and decoded.
  NameTable names(block_, total_events_ / 2 + 4096,
                  std::min(block_.size_bytes() * 2, limits_.text_bytes - kOtherTextBytes),
                  limits_.name_pages, &snapshot_);
  names_ = &names;
  ReadProcess(snapshot_time_ns);
  ReadContexts();
  ReadQueues();
  ReadPipelines();
  losses_.objects_changed = ReadObjects(block_, &snapshot_);
  for (const FoundRecording& found : found_) ReadRecording(found);
  NameByObjects(&snapshot_);
  ReadSubmissions();
  ReadDiagnostics();
  losses_.user_data_bad = ReadUserData(block_, keep_binaries_, &snapshot_);
  ReadRawMarkers();
  ReadThreads(block_, names_, &snapshot_);
  ReadKeptMarkers(block_, kKeptMarkerTextBytes, &snapshot_);
  ReadCrash();
  losses_.names_unreadable = names.unreadable_count();
  NoteLosses(block_, losses_, &snapshot_);
  names_ = nullptr;
  return std::move(snapshot_);
}

void SnapshotTaker::FindRecordings() {
  const uint32_t context_count = block_.ContextCount();
  context_records_ = std::vector<ContextRecord>(context_count);
  tables_.resize(context_count);
  recording_of_slot_.resize(context_count);
  uint32_t slots = 0;
  for (uint32_t c = 0; c < context_count; ++c) {
    const uint64_t offset = block_.contexts_offset() + c * sizeof(ContextRecord);
    if (block_.Load32(offset + offsetof(ContextRecord, state)) == kEntryFree) continue;
    block_.Copy(offset, &context_records_[c]);
    tables_[c] = block_.TablesOf(context_records_[c], std::span(tables_).first(c));
    if (!tables_[c].usable) {
      ++losses_.contexts;
      continue;
    }
    TakeWordsOfFault(context_records_[c], &tables_[c]);
    uint32_t used_slots = 0;
    for (uint32_t s = 0; s < tables_[c].recording_capacity; ++s) {
      const uint64_t slot = SlotOffset(c, s);
      const uint32_t state = block_.Load32(slot + offsetof(RecordingSlot, state));
      const uint64_t recording_id = block_.Load64(slot + offsetof(RecordingSlot, recording_id));
      if (recording_id == 0) break;
      if (slots == limits_.slots) {
        ++losses_.recordings_left_out;
        break;
      }
      ++slots;
      used_slots = s + 1;
      if (state == static_cast<uint32_t>(RecordingState::kFree)) continue;
      if (state > static_cast<uint32_t>(RecordingState::kClosed)) {
        ++losses_.recordings_bad;
        continue;
      }
      const uint32_t events = block_.Load32(slot + offsetof(RecordingSlot, event_count));
      found_.push_back({c, s, recording_id, block_.Load64(slot + offsetof(RecordingSlot, frame)),
                        std::min(events, kMaxSequence), Executes(c, s, events)});
    }
    recording_of_slot_[c].assign(used_slots, kNone);
  }
  LeaveOutTooMany();
  std::sort(found_.begin(), found_.end(), [](const FoundRecording& a, const FoundRecording& b) {
    return std::tie(a.context, a.frame, a.recording_id, a.slot) <
           std::tie(b.context, b.frame, b.recording_id, b.slot);
  });
}

bool SnapshotTaker::Executes(uint32_t context, uint32_t slot, uint32_t event_count) const {
  const uint64_t words = tables_[context].progress_offset + uint64_t{slot} * sizeof(ProgressWords);
  const uint32_t generation =
      block_.Load32(SlotOffset(context, slot) + offsetof(RecordingSlot, generation));
  const uint32_t reached =
      ProgressSequence(block_.Load32(words + offsetof(ProgressWords, reached)), generation);
  const uint32_t passed =
      ProgressSequence(block_.Load32(words + offsetof(ProgressWords, passed)), generation);
  return (reached != 0 || passed != 0) && passed < event_count;
}

// Drops the recordings beyond the limits, and counts them. Those that the GPU is inside of are kept first, then the
// latest.
void SnapshotTaker::LeaveOutTooMany() {
  const auto pages = [](const FoundRecording& found) {
    return std::max<uint64_t>(1, (found.event_count + kEventsPerChunk - 1) / kEventsPerChunk);
  };
  uint64_t all_events = 0;
  uint64_t all_pages = 0;
  for (const FoundRecording& found : found_) {
    all_events += found.event_count;
    all_pages += pages(found);
  }
  if (all_events <= limits_.events && all_pages <= limits_.event_pages) return;
  std::sort(found_.begin(), found_.end(), [](const FoundRecording& a, const FoundRecording& b) {
    return std::tie(b.executes, b.recording_id, b.context, b.slot) <
           std::tie(a.executes, a.recording_id, a.context, a.slot);
  });
  uint64_t events = 0;
  uint64_t used_pages = 0;
  size_t kept = 0;
  for (; kept < found_.size(); ++kept) {
    const FoundRecording& found = found_[kept];
    // A recording larger than all limits is read as far as they allow.
    if (kept != 0 && (events + found.event_count > limits_.events ||
                      used_pages + pages(found) > limits_.event_pages)) {
      break;
    }
    events += found.event_count;
    used_pages += pages(found);
  }
  losses_.recordings_left_out += found_.size() - kept;
  found_.resize(kept);
}

// A device that ended before the fault has no copied words: its last words are in their usual
// place.
void SnapshotTaker::TakeWordsOfFault(const ContextRecord& record, ContextTables* tables) const {
  const uint64_t offset = record.crash_words_offset;
  if (fault_ns_ == 0 || offset == 0 || record.crash_words_ns.load() != fault_ns_) return;
  // Laid out as at progress_offset; TablesOf has bounded the counts.
  const uint64_t word_bytes = uint64_t{tables->recording_capacity} * sizeof(ProgressWords);
  const uint64_t raw_offset = (word_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uint64_t bytes = raw_offset + uint64_t{tables->raw_marker_count} * sizeof(uint64_t);
  if (offset % kPageBytes != 0 || offset < block_.pages_offset() ||
      !block_.Contains(offset, bytes)) {
    return;
  }
  tables->progress_offset = offset;
  if (tables->raw_marker_count != 0) tables->raw_markers_offset = offset + raw_offset;
}

// The number of allocations must not depend on the number of markers: everything that grows with it
// gets its memory here.
void SnapshotTaker::ReserveMemory() {
  const uint64_t block_pages = block_.size_bytes() / kPageBytes;
  uint64_t event_pages = 0;
  for (const FoundRecording& found : found_) {
    total_events_ += found.event_count;
    event_pages += (found.event_count + kEventsPerChunk - 1) / kEventsPerChunk;
  }
  total_events_ =
      std::min<uint64_t>({total_events_, limits_.events, block_pages * kEventsPerChunk});
  const uint64_t used_pages =
      std::min(block_.Load64(offsetof(BlockHeader, next_page)), block_pages);
  // Names are on pages that hold no events; untouched memory costs nothing.
  const uint64_t name_pages = used_pages - std::min(used_pages, event_pages);
  snapshot_.text.reserve(std::min(name_pages * kPageBytes * 2, limits_.text_bytes) + kPageBytes +
                         block_.ObjectCount() * sizeof(ObjectRecord::name));
  snapshot_.events.reserve(total_events_);
  // Reserve for the worst case: the number of binds is known only after all events are read.
  snapshot_.binds.reserve(total_events_);
  snapshot_.annotations.reserve(total_events_);
  snapshot_.recordings.reserve(found_.size());
  open_events_.reserve(1024);
  page_used_.resize(block_pages);
}

std::string_view ZeroTerminated(const char* text, size_t capacity) {
  return std::string_view(text, strnlen(text, capacity));
}

void SnapshotTaker::ReadProcess(uint64_t snapshot_time_ns) {
  BlockHeader header;
  block_.Copy(0, &header);
  Process& process = snapshot_.process;
  process.process_id = header.process_id;
  process.start_time_ns = header.start_realtime_ns;
  process.snapshot_time_ns = snapshot_time_ns;
  if (fault_ns_ > header.start_monotonic_ns) {
    const uint64_t fault_time_ns =
        header.start_realtime_ns + (fault_ns_ - header.start_monotonic_ns);
    process.snapshot_time_ns = std::min(snapshot_time_ns, fault_time_ns);
  }
  process.start_monotonic_ns = header.start_monotonic_ns;
  process.program = snapshot_.AddText(ZeroTerminated(header.program, sizeof(header.program)));
  process.library_version =
      snapshot_.AddText(ZeroTerminated(header.library_version, sizeof(header.library_version)));
}

void SnapshotTaker::ReadContexts() {
  for (const ContextRecord& record : context_records_) {
    Device& device = snapshot_.devices.emplace_back();
    device.first_source = static_cast<uint32_t>(snapshot_.sources.size());
    const uint32_t state = record.state.load(std::memory_order_relaxed);
    device.destroyed = state != kEntryPublished;
    if (state == kEntryFree) continue;  // Being created: nothing is known of it yet.
    device.api = record.api;
    device.mode = record.mode;
    device.method = record.method;
    device.memory = record.memory;
    device.mirror_period_us = record.mirror_period_us;
    device.frame = record.frame.load(std::memory_order_relaxed);
    device.lists_dropped = record.lists_dropped.load(std::memory_order_relaxed);
    device.device_lost = record.device_lost.load(std::memory_order_relaxed) != 0;
    device.device_lost_code = record.device_lost_code.load(std::memory_order_relaxed);
    device.name = names_->Text(record.device_name);
    device.driver = names_->Text(record.driver_name);
    device.notes = names_->Text(record.device_notes);
    device.vendor_id = record.vendor_id;
    device.device_id = record.device_id;
    device.annotation_driver = names_->Text(record.annotation_driver);
    device.annotations_forced = record.annotations_forced != 0;
    device.tells_submissions = record.tells_submissions != 0;
    device.application = names_->Text(record.application);
    ReadSources(record, &device);
    if (device.device_lost) {
      Incident incident;
      incident.kind = IncidentKind::kDeviceLost;
      incident.value = device.device_lost_code;
      incident.detail = names_->Text(record.device_lost_where);
      snapshot_.incidents.push_back(incident);
    }
  }
}

void SnapshotTaker::ReadSources(const ContextRecord& record, Device* device) {
  device->source_count = std::min(record.source_count.load(std::memory_order_relaxed), kMaxSources);
  for (uint32_t i = 0; i < device->source_count; ++i) {
    const SourceRecord& source = record.sources[i];
    snapshot_.sources.push_back(
        Source{names_->Text(source.name), source.state, names_->Text(source.reason)});
  }
}

void SnapshotTaker::ReadQueues() {
  const uint32_t count = block_.QueueCount();
  snapshot_.queues.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = block_.queues_offset() + i * sizeof(QueueRecord);
    if (block_.Load32(offset + offsetof(QueueRecord, state)) != kEntryPublished) continue;
    QueueRecord record;
    block_.Copy(offset, &record);
    if (record.context >= snapshot_.devices.size()) {
      ++losses_.queues;
      continue;
    }
    Queue& queue = snapshot_.queues[i];
    queue.device = record.context;
    queue.type = record.type;
    queue.name = names_->Text(record.name);
    queue.native_handle = record.native_handle;
    queue.submission_count = record.submission_count.load(std::memory_order_relaxed);
    queue.completed_submission = record.completed_submission.load(std::memory_order_relaxed);
  }
}

void SnapshotTaker::ReadPipelines() {
  const uint32_t count = block_.PipelineCount();
  snapshot_.pipelines.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = block_.pipelines_offset() + i * sizeof(PipelineRecord);
    if (block_.Load32(offset + offsetof(PipelineRecord, state)) == kEntryFree) continue;
    PipelineRecord record;
    block_.Copy(offset, &record);
    Pipeline& pipeline = snapshot_.pipelines[i];
    pipeline.device = record.context < snapshot_.devices.size() ? record.context : kNone;
    pipeline.unregistered = record.state.load(std::memory_order_relaxed) == kEntryRetired;
    pipeline.name = names_->Text(record.name);
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      pipeline.shader_names[stage] = names_->Text(record.shader_names[stage]);
    }
    std::copy(std::begin(record.shader_hashes), std::end(record.shader_hashes),
              pipeline.shader_hashes.begin());
    pipeline.native_handle = record.native_handle;
    if (record.description != 0) {
      snapshot_.described_pipelines.push_back({i, record.description});
    }
  }
}

void SnapshotTaker::ReadWords(const FoundRecording& found, uint32_t generation,
                              Recording* recording, uint32_t* runs_word) {
  const uint64_t offset =
      tables_[found.context].progress_offset + uint64_t{found.slot} * sizeof(ProgressWords);
  // A reusable list's next execution sets both words to 0 and then counts; a set of words counts as
  // one when `runs` stood still around it.
  for (int i = 0; i < kTornReadTries; ++i) {
    *runs_word = block_.Load32(offset + offsetof(ProgressWords, runs));
    recording->passed =
        ProgressSequence(block_.Load32(offset + offsetof(ProgressWords, passed)), generation);
    recording->reached =
        ProgressSequence(block_.Load32(offset + offsetof(ProgressWords, reached)), generation);
    if (block_.Load32(offset + offsetof(ProgressWords, runs)) == *runs_word) return;
  }
}

// The largest count that is at most `submit_count` and equal to `word` modulo kRunModulus; the word
// itself when submissions were not reported.
uint32_t RunsFromWord(uint32_t word, uint32_t submit_count) {
  const uint32_t remainder = word % kRunModulus;
  if (submit_count < remainder) return remainder;
  return submit_count - (submit_count - remainder) % kRunModulus;
}

bool SnapshotTaker::ReadSlot(const FoundRecording& found, RecordingSlot* slot,
                             Recording* recording) {
  const uint64_t offset = SlotOffset(found.context, found.slot);
  const uint32_t generation = block_.Load32(offset + offsetof(RecordingSlot, generation));
  uint32_t runs_word = 0;
  // Words first: the events that they speak of were published before the GPU could see them.
  ReadWords(found, generation, recording, &runs_word);
  block_.Copy(offset, slot);
  const uint32_t state = slot->state.load(std::memory_order_relaxed);
  if (slot->generation != generation || slot->recording_id != found.recording_id ||
      (state != static_cast<uint32_t>(RecordingState::kOpen) &&
       state != static_cast<uint32_t>(RecordingState::kClosed))) {
    return false;
  }
  recording->device = found.context;
  if (slot->queue < snapshot_.queues.size() && snapshot_.queues[slot->queue].device != kNone) {
    recording->queue = slot->queue;
  }
  recording->recording_id = slot->recording_id;
  recording->frame = found.frame;
  recording->submission_index = slot->submission_index;
  recording->native_handle = slot->native_handle;
  recording->name = names_->Text(slot->name);
  recording->open = state == static_cast<uint32_t>(RecordingState::kOpen);
  recording->reusable = (slot->flags & kRecordingReusable) != 0;
  recording->secondary = (slot->flags & kRecordingSecondary) != 0;
  recording->dropped_count = slot->dropped_count.load(std::memory_order_relaxed);
  recording->submit_count = slot->submit_count.load(std::memory_order_relaxed);
  if (recording->reusable) {
    recording->runs = RunsFromWord(runs_word, recording->submit_count);
    recording->finished_runs = recording->runs == 0 ? 0 : recording->runs - 1;
  } else {
    recording->finished_runs =
        std::min(slot->reset_run.load(std::memory_order_relaxed), recording->submit_count);
  }
  return true;
}

void SnapshotTaker::ReadRecording(const FoundRecording& found) {
  RecordingSlot slot;
  Recording recording;
  if (!ReadSlot(found, &slot, &recording)) {
    ++losses_.recordings_changed;
    return;
  }
  recording.first_event = static_cast<uint32_t>(snapshot_.events.size());
  const size_t first_bind = snapshot_.binds.size();
  const size_t first_link = links_.size();
  recording.event_count = std::min(slot.event_count.load(std::memory_order_relaxed), kMaxSequence);
  ReadEvents(slot.first_event_page, found.slot, &recording);
  // A recording that ended meanwhile gave its pages back: the data read there may be another's.
  const uint64_t offset = SlotOffset(found.context, found.slot);
  std::atomic_thread_fence(std::memory_order_acquire);
  const uint32_t state = block_.Load32(offset + offsetof(RecordingSlot, state));
  if (state == static_cast<uint32_t>(RecordingState::kFree) ||
      block_.Load64(offset + offsetof(RecordingSlot, recording_id)) != found.recording_id) {
    snapshot_.events.resize(recording.first_event);
    snapshot_.binds.resize(first_bind);
    links_.resize(first_link);
    ++losses_.recordings_changed;
    return;
  }
  // Words beyond the events say nothing; assume the least that is proven.
  if (recording.reached > recording.event_count || recording.passed > recording.event_count) {
    ++losses_.words_bad;
    recording.reached = std::min(recording.reached, recording.event_count);
    if (recording.passed > recording.event_count) recording.passed = 0;
  }
  losses_.events_bad +=
      MatchEvents(std::span(snapshot_.events).subspan(recording.first_event), open_events_);
  recording_of_slot_[found.context][found.slot] =
      static_cast<uint32_t>(snapshot_.recordings.size());
  // The events are known since they were read; the recording's index is known only now.
  for (size_t i = first_link; i < links_.size(); ++i) {
    links_[i].recording = static_cast<uint32_t>(snapshot_.recordings.size());
    links_[i].sequence -= recording.first_event;
  }
  places_.push_back(
      {offset,
       tables_[found.context].progress_offset + uint64_t{found.slot} * sizeof(ProgressWords),
       slot.generation});
  snapshot_.recordings.push_back(recording);
}

// Makes a kBind event. One with an invalid target stays, so that sequence numbers stay: it binds
// nothing.
Event SnapshotTaker::MakeBindEvent(const EventRecord& record) {
  Event event;
  event.kind = EventKind::kBind;
  // If the list ends with this event, the write of the list's end carries its sequence number.
  event.flags = record.flags & (kEventWritesTop | kEventWritesBottom);
  event.type = record.type;
  Bind bind;
  bind.slot = record.name;
  bind.is_address = (record.flags & kEventBindsAddress) != 0;
  const uint64_t value = uint64_t{record.match} << 32 | record.pipeline;
  if (record.type == static_cast<uint16_t>(BindPoint::kSecondary)) {
    // The events of the executed secondary follow the bind later; the bind itself has no target.
    bind.is_address = false;
    bind.value = kNone;
    links_.push_back({kNone, static_cast<uint32_t>(snapshot_.events.size()) + 1, value});
  } else if (bind.is_address) {
    bind.value = value;
  } else if (value != 0 && value <= snapshot_.objects.size()) {
    bind.value = value - 1;
  } else {
    if (value != 0) ++losses_.objects_bad;
    bind.value = kNone;
  }
  event.detail = static_cast<uint32_t>(snapshot_.binds.size());
  snapshot_.binds.push_back(bind);
  return event;
}

Event SnapshotTaker::MakeEvent(const EventRecord& record) {
  if (record.kind == EventKind::kBind) return MakeBindEvent(record);
  Event event;
  if (record.kind != EventKind::kBegin && record.kind != EventKind::kEnd) {
    // Keep the sequence number: store an end that ends nothing.
    ++losses_.events_bad;
    event.kind = EventKind::kEnd;
    return event;
  }
  event.kind = record.kind;
  event.flags = record.flags & (kEventWritesTop | kEventWritesBottom);
  if (record.kind == EventKind::kEnd) {
    event.flags |= record.flags & kEventDrains;
    event.match = record.match;
    return event;
  }
  event.flags |= record.flags & kEventNameTruncated;
  event.type = record.type;
  event.call = record.match;
  if ((record.flags & kEventNameIsAnnotation) != 0) {
    event.detail = names_->Annotation(record.name);
    if (event.detail != kNone) event.name = snapshot_.annotations[event.detail].name;
  } else {
    event.name = names_->Text(record.name);
  }
  if (record.pipeline != 0) {
    if (record.pipeline <= snapshot_.pipelines.size()) {
      event.pipeline = record.pipeline - 1;
    } else {
      ++losses_.pipelines_bad;
    }
  }
  return event;
}

void SnapshotTaker::ReadEvents(uint32_t first_page, uint32_t slot, Recording* recording) {
  const uint64_t block_pages = block_.size_bytes() / kPageBytes;
  const uint64_t first_free_page = block_.pages_offset() / kPageBytes;
  uint32_t remaining = recording->event_count;
  uint32_t page = first_page;
  while (remaining != 0) {
    const uint32_t count = std::min(remaining, kEventsPerChunk);
    if (page < first_free_page || page >= block_pages || page_used_[page] ||
        snapshot_.events.size() + count > limits_.events) {
      break;
    }
    page_used_[page] = true;
    EventChunk chunk;
    const uint64_t offset = uint64_t{page} * kPageBytes;
    block_.Copy(offset, &chunk, sizeof(chunk));
    for (uint32_t i = 0; i < count; ++i) {
      snapshot_.events.push_back(MakeEvent(chunk.events[EventPosition(slot, i)]));
    }
    remaining -= count;
    page = chunk.next_page.load(std::memory_order_relaxed);
  }
  losses_.events_missing += remaining;
  recording->event_count -= remaining;
}

// Made after the fault: its queue had not come so far.
void SnapshotTaker::LeaveOutLater(const SubmissionRecord& record) {
  ++losses_.submissions_later;
  Queue& queue = snapshot_.queues[record.queue];
  if (record.submission_number == 0) return;
  queue.submission_count = std::min(queue.submission_count, record.submission_number - 1);
  queue.completed_submission = std::min(queue.completed_submission, queue.submission_count);
}

void SnapshotTaker::ReadSubmissions() {
  const uint64_t made = block_.Load64(offsetof(BlockHeader, submission_serial));
  const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(made, kSubmissionRing));
  snapshot_.submissions.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = block_.submissions_offset() + i * sizeof(SubmissionRecord);
    const uint64_t serial = block_.Load64(offset + offsetof(SubmissionRecord, serial));
    SubmissionRecord record;
    block_.Copy(offset, &record);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (serial == 0 || (serial - 1) % kSubmissionRing != i ||
        block_.Load64(offset + offsetof(SubmissionRecord, serial)) != serial ||
        record.queue >= snapshot_.queues.size()) {
      ++losses_.submissions_torn;
      continue;
    }
    if (record.refused.load(std::memory_order_relaxed) != 0) continue;
    if (fault_ns_ != 0 && record.time_ns > fault_ns_) {
      LeaveOutLater(record);
      continue;
    }
    Submission submission;
    submission.serial = serial;
    submission.queue = record.queue;
    submission.run = record.run;
    submission.number = record.submission_number;
    submission.time_ns = record.time_ns;
    if (record.context < recording_of_slot_.size() &&
        record.slot < recording_of_slot_[record.context].size()) {
      const uint32_t recording = recording_of_slot_[record.context][record.slot];
      if (recording != kNone &&
          snapshot_.recordings[recording].recording_id == record.recording_id) {
        submission.recording = recording;
        submission.frame = snapshot_.recordings[recording].frame;
      }
    }
    if (record.frame_plus_1 != 0) submission.frame = record.frame_plus_1 - 1;
    snapshot_.submissions.push_back(submission);
    uint64_t ended_ns = record.ended_ns.load(std::memory_order_relaxed);
    if (fault_ns_ != 0 && ended_ns > fault_ns_) ended_ns = 0;
    snapshot_.submission_ends.push_back({serial, ended_ns, record.pipelines});
  }
  std::vector<SubmissionEnd>& ends = snapshot_.submission_ends;
  if (std::none_of(ends.begin(), ends.end(),
                   [](const SubmissionEnd& end) { return end.ended_ns != 0; })) {
    ends.clear();
  }
  std::sort(ends.begin(), ends.end(),
            [](const SubmissionEnd& a, const SubmissionEnd& b) { return a.serial < b.serial; });
  std::sort(snapshot_.submissions.begin(), snapshot_.submissions.end(),
            [](const Submission& a, const Submission& b) { return a.serial < b.serial; });
}

// Finds events of the block after what is executed was put where it is executed.
class PlacesOfBlock : public EventPlaces {
 public:
  PlacesOfBlock(const SecondarySplicer& splicer,
                const std::vector<std::vector<uint32_t>>& recording_of_slot,
                const std::vector<RecordingPlace>& places,
                const std::vector<uint32_t>& event_counts)
      : splicer_(splicer),
        recording_of_slot_(recording_of_slot),
        places_(places),
        event_counts_(event_counts) {}

  EventPlace Find(uint32_t context, uint32_t slot, uint32_t progress_value) const override {
    if (context >= recording_of_slot_.size() || slot >= recording_of_slot_[context].size()) {
      return {};
    }
    const uint32_t recording = recording_of_slot_[context][slot];
    if (recording == kNone) return {};
    const uint32_t sequence = ProgressSequence(progress_value, places_[recording].generation);
    if (sequence == 0 || sequence > event_counts_[recording]) return {};
    const auto [place, moved] = splicer_.PlaceOf(recording, sequence);
    return {true, place, moved};
  }

 private:
  const SecondarySplicer& splicer_;
  const std::vector<std::vector<uint32_t>>& recording_of_slot_;
  const std::vector<RecordingPlace>& places_;
  const std::vector<uint32_t>& event_counts_;
};

// Reads the memory that unfinished work can reach, and all work of a lost device, where the GPU may
// have gone on behind a wrong access. Includes secondary recordings, whose primaries are not known
// yet.
void SnapshotTaker::ReadMemory() {
  std::vector<bool> looked_at = unfinished_;
  for (size_t i = 0; i < looked_at.size(); ++i) {
    const Recording& recording = snapshot_.recordings[i];
    const bool lost = recording.device != kNone && snapshot_.devices[recording.device].device_lost;
    if (recording.secondary || (lost && recording.submit_count != 0)) looked_at[i] = true;
  }
  losses_.destructions_torn = ReadDestructions(block_, looked_at, fault_ns_, &snapshot_);
  ReadPipelineDescriptors(block_, &snapshot_);
}

void SnapshotTaker::ReadDiagnostics() {
  unfinished_ = FindUnfinished(snapshot_);
  ReadMemory();
  std::vector<uint32_t> event_counts;
  event_counts.reserve(snapshot_.recordings.size());
  for (const Recording& recording : snapshot_.recordings) {
    event_counts.push_back(recording.event_count);
  }
  ReadSecondaryWords(block_, places_, links_, unfinished_, &snapshot_);
  SecondarySplicer splicer(std::move(links_), unfinished_, &snapshot_);
  splicer.Splice();
  losses_.secondaries_unknown = splicer.unknown_count();
  losses_.secondaries_nested = splicer.nested_count();
  losses_.secondaries_over_budget = splicer.over_budget_count();
  losses_.syncs_bad = ReadSyncs(block_, &snapshot_);
  losses_.binaries_bad = ReadFaults(block_, keep_binaries_, &snapshot_);
  ReadDeviceMemory(block_, &snapshot_);
  const PlacesOfBlock places(splicer, recording_of_slot_, places_, event_counts);
  losses_.checkpoints_bad = ReadCheckpoints(block_, places, &snapshot_);
  losses_.shaders_bad = ReadShaders(block_, PipelinesInUse(snapshot_), keep_binaries_, &snapshot_);
}

// Returns the context of the lists that own the raw markers: the slots and the lists of one device
// may be in two contexts.
uint32_t SnapshotTaker::DeviceOfRawMarkers(uint32_t context) const {
  const uint32_t of = block_.Load32(
      block_.contexts_offset() + uint64_t{context} * sizeof(ContextRecord) + kRawMarkersOfOffset);
  return of != 0 && of <= tables_.size() && tables_[of - 1].usable ? of - 1 : context;
}

void SnapshotTaker::ReadRawMarkers() {
  for (uint32_t c = 0; c < tables_.size(); ++c) {
    const ContextTables& tables = tables_[c];
    if (!tables.usable) continue;
    const uint32_t device = DeviceOfRawMarkers(c);
    for (uint32_t i = 0; i < tables.raw_marker_count; ++i) {
      const uint64_t value = block_.Load64(tables.raw_markers_offset + uint64_t{i} * 8);
      if (value == kRawMarkerUnwritten) continue;
      if (snapshot_.raw_markers.size() < limits_.raw_markers) {
        snapshot_.raw_markers.push_back(RawMarker{device, i, value});
      } else {
        ++losses_.raw_markers;
      }
    }
  }
}

void SnapshotTaker::ReadCrash() {
  const uint32_t signal = block_.Load32(offsetof(BlockHeader, crash_signal));
  // An exception is noted before its handlers run: a caller that knows that the process died of it
  // requests that moment.
  if (signal == 0 || (IsExceptionCode(signal) && !of_fault_)) return;
  Incident incident;
  incident.kind = IncidentKind::kSignal;
  incident.value = signal;
  incident.address = block_.Load64(offsetof(BlockHeader, crash_address));
  if (fault_ns_ != 0) {
    incident.detail = snapshot_.AddText("the report shows the state at that moment");
  }
  snapshot_.incidents.push_back(incident);
  const uint32_t thread_id = block_.Load32(offsetof(BlockHeader, crash_thread));
  for (Thread& thread : snapshot_.threads) {
    if (!thread.ended && thread.thread_id == thread_id) thread.crashed = true;
  }
}

}  // namespace

Result<Snapshot> SnapshotFromBlock(std::span<const std::byte> block, uint64_t snapshot_time_ns,
                                   Binaries binaries, Moment moment,
                                   const BlockReadLimits& limits) {
  Result<BlockReader> reader = BlockReader::Open(block);
  if (!reader.ok()) return reader.status();
  return SnapshotTaker(*reader, binaries, moment, limits).Take(snapshot_time_ns);
}

void NoteIncident(Incident incident, std::string_view detail, Snapshot* snapshot) {
  for (Incident& known : snapshot->incidents) {
    if (known.kind != incident.kind || known.value != incident.value ||
        known.queue != incident.queue) {
      continue;
    }
    if (known.time_ns == 0) known.time_ns = incident.time_ns;
    if (known.address == 0) known.address = incident.address;
    if (known.detail.empty() && !detail.empty()) known.detail = snapshot->AddText(detail);
    return;
  }
  incident.detail = detail.empty() ? TextRef{} : snapshot->AddText(detail);
  snapshot->incidents.push_back(incident);
}

}  // namespace cairn
