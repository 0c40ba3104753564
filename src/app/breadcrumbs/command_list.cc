// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/command_list.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "app/breadcrumbs/elimination.h"
#include "format/pix/pix_event.h"

namespace cairn {
namespace {

// The recording path locks only if the context was asked to synchronise.
class OptionalLock {
 public:
  explicit OptionalLock(std::mutex* mutex) : mutex_(mutex) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~OptionalLock() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  OptionalLock(const OptionalLock&) = delete;
  OptionalLock& operator=(const OptionalLock&) = delete;

 private:
  std::mutex* mutex_;
};

}  // namespace

CommandList::CommandList(Context* context, BlockWriter* block, Backend* backend,
                         uint32_t slot_index, RecordingSlot* slot, ProgressWords* words,
                         std::pmr::memory_resource* memory)
    : backend_(backend),
      slot_(slot),
      deeper_markers_(memory),
      block_(block),
      secondaries_(memory),
      context_(context),
      words_(words) {
  backend_list_.slot = slot_index;
}

CommandList::~CommandList() = default;

Status CommandList::Start(const CairnCommandListDesc& desc, uint32_t queue, uint64_t frame,
                          uint64_t recording_id, MarkerMode mode, uint32_t context_flags,
                          const void* application_handle) {
  backend_list_.native = desc.native;
  backend_list_.queue_type = static_cast<QueueType>(desc.queue_type);
  backend_list_.reusable = (desc.flags & CAIRN_LIST_REUSABLE) != 0;
  backend_list_.inside_render_pass = false;
  backend_list_.keeps_render_passes = mode == MarkerMode::kTop;
  held_ = (desc.flags & CAIRN_LIST_HELD) != 0;
  released_ = false;
  exclusive_ = (desc.flags & CAIRN_LIST_EXCLUSIVE) != 0;
  always_silent_ = (desc.flags & CAIRN_LIST_SILENT) != 0;
  silent_ = always_silent_;
  secondaries_.clear();
  work_ = 0;
  StartElimination();
  mode_ = mode;
  writes_all_ends_ = WritesAllEnds(mode);
  exact_ = mode == MarkerMode::kExact;
  outermost_end_is_list_end_ = (context_flags & CAIRN_CONTEXT_OUTERMOST_END_IS_LIST_END) != 0;
  synchronised_ = (context_flags & CAIRN_CONTEXT_THREAD_SYNCHRONIZATION) != 0;
  pipeline_ = desc.pipeline;
  pipelines_ = 0;
  call_ = 0;
  event_count_ = 0;
  last_top_ = 0;
  last_bottom_ = 0;
  last_submission_queue = kNoQueue;
  last_submission_number = 0;

  const uint32_t generation = (slot_->generation + 1) & kGenerationMask;
  slot_->generation = generation == 0 ? 1 : generation;
  generation_bits_ = ProgressValue(slot_->generation, 0);
  slot_->queue = queue;
  slot_->flags = (backend_list_.reusable ? kRecordingReusable : 0) |
                 ((desc.flags & CAIRN_LIST_SECONDARY) != 0 ? kRecordingSecondary : 0);
  uint8_t name_flags = 0;
  slot_->name = desc.name == nullptr ? 0 : CopyName(desc.name, &name_flags);
  slot_->first_event_page = 0;
  slot_->event_count.store(0, std::memory_order_relaxed);
  slot_->dropped_count.store(0, std::memory_order_relaxed);
  slot_->recording_id = recording_id;
  slot_->frame = frame;
  slot_->submission_index = desc.submission_index;
  slot_->native_handle =
      reinterpret_cast<uintptr_t>(application_handle != nullptr ? application_handle : desc.native);
  slot_->submit_count.store(0, std::memory_order_relaxed);
  slot_->reset_run.store(0, std::memory_order_relaxed);
  ClearWords();
  words_->runs.store(0, std::memory_order_relaxed);
  in_use_ = true;
  if (Status status = backend_->BeginList(backend_list_); !status.ok()) return status;
  open_ = true;
  SetState(RecordingState::kOpen);
  return Status();
}

// For lists of the layers only, which make the calls themselves. No scope may be open yet.
void CommandList::StartElimination() {
  left_out_ = false;
  Elimination* const run = held_ ? Elimination::Active() : nullptr;
  if (run != nullptr && elimination_ == nullptr) {
    elimination_.reset(new (std::nothrow) ListElimination(*run));
  }
  eliminates_ = run != nullptr && elimination_ != nullptr;
  covered_ = eliminates_;
  if (eliminates_) elimination_->Start();
}

void CommandList::NoteEliminationSubmit() {
  if (elimination_ != nullptr) elimination_->Submitted();
}

bool CommandList::BeginCoveredWork(CairnMarkerType type, CairnPipeline pipeline) {
  left_out_ = eliminates_ && open_ && elimination_->LeavesOut(type, pipeline, *block_);
  if (!left_out_ && !IsInCommand()) return true;
  work_ = 0;
  return false;
}

bool CommandList::ContinueEvents() {
  // The second part of a chunk lies in front of the first: EventPosition in block.h.
  EventRecord* first =
      chunk_ == nullptr ? nullptr : chunk_->events + FirstEventPosition(slot_index());
  if (chunk_ != nullptr && chunk_end_ != first && first != chunk_->events) {
    next_event_ = chunk_->events;
    chunk_end_ = first;
    return true;
  }
  if (chunk_count_ == kMaxSequence / kEventsPerChunk) return false;
  const uint32_t page = block_->AllocatePage();
  if (page == 0) return false;
  EventChunk* next = reinterpret_cast<EventChunk*>(block_->Page(page));
  next->next_page.store(0, std::memory_order_relaxed);
  if (chunk_ == nullptr) {
    slot_->first_event_page = page;
  } else {
    chunk_->next_page.store(page, std::memory_order_release);
  }
  chunk_ = next;
  ++chunk_count_;
  next_event_ = chunk_->events + FirstEventPosition(slot_index());
  chunk_end_ = chunk_->events + kEventsPerChunk;
  return true;
}

CairnResult CommandList::Drop() {
  slot_->dropped_count.fetch_add(1, std::memory_order_relaxed);
  return CAIRN_ERROR_OUT_OF_MEMORY;
}

void CommandList::DropWork() {
  work_ = 0;
  if (open_) Drop();
}

bool CommandList::WritesBottom(CairnMarkerType type) const {
  if (writes_all_ends_) return true;
  if (mode_ == MarkerMode::kPass && type == CAIRN_MARKER_PASS) return true;
  return outermost_end_is_list_end_ && depth_ == 0;
}

bool CommandList::AddNamePage() {
  const uint32_t page = block_->AllocatePage();
  if (page == 0) return false;
  *reinterpret_cast<uint32_t*>(block_->Page(page)) = std::exchange(name_page_, page);
  name_page_used_ = 8 + CacheColour() * kCacheLineBytes;
  return true;
}

NameRef CommandList::CopyName(const char* name, uint8_t* flags) {
  // One pass over the name: it is copied while its end is looked for, and once more into a new page
  // if it does not fit into the rest of this one.
  for (;;) {
    const uint32_t room = kPageBytes - name_page_used_;
    if (room > sizeof(NameRecord)) {
      std::byte* place = block_->Page(name_page_) + name_page_used_;
      char* text = reinterpret_cast<char*>(place) + offsetof(NameRecord, bytes);
      const size_t limit = std::min<size_t>(room - offsetof(NameRecord, bytes), kMaxNameBytes + 1);
      char* end = static_cast<char*>(memccpy(text, name, 0, limit));
      if (end == nullptr && limit == kMaxNameBytes + 1) {
        end = text + limit;
        end[-1] = 0;
        *flags |= kEventNameTruncated;
      }
      if (end != nullptr) {
        reinterpret_cast<NameRecord*>(place)->length_bytes = static_cast<uint32_t>(end - text - 1);
        const size_t bytes = static_cast<size_t>(end - reinterpret_cast<char*>(place));
        name_page_used_ += static_cast<uint32_t>((bytes + 7) / 8 * 8);
        return static_cast<NameRef>((place - block_->data()) / 8);
      }
    }
    if (!AddNamePage()) return 0;
  }
}

NameRef CommandList::CopyAnnotation(const AnnotationHeader& header, const void* data,
                                    uint8_t* flags) {
  constexpr uint32_t kMaxPayload = kMaxNameBytes - sizeof(AnnotationHeader);
  const uint32_t kept = data == nullptr ? 0 : std::min(header.size, kMaxPayload);
  const uint32_t length = sizeof(AnnotationHeader) + kept;
  const uint32_t record_bytes = (offsetof(NameRecord, bytes) + length + 1 + 7) / 8 * 8;
  if (kPageBytes - name_page_used_ < record_bytes && !AddNamePage()) return 0;
  std::byte* const place = block_->Page(name_page_) + name_page_used_;
  char* const bytes = reinterpret_cast<char*>(place) + offsetof(NameRecord, bytes);
  reinterpret_cast<NameRecord*>(place)->length_bytes = length;
  std::memcpy(bytes, &header, sizeof(header));
  if (kept != 0) std::memcpy(bytes + sizeof(header), data, kept);
  bytes[length] = 0;
  name_page_used_ += record_bytes;
  *flags |= kEventNameIsAnnotation;
  if (kept < header.size) *flags |= kEventNameTruncated;
  return static_cast<NameRef>((place - block_->data()) / 8);
}

CairnResult CommandList::BeginMarker(CairnMarkerType type, const char* name,
                                     CairnNameKind name_kind) {
  if (static_cast<uint32_t>(type) >= CAIRN_MARKER_TYPE_LIMIT) return CAIRN_ERROR_INVALID_ARGUMENT;
  if (type == CAIRN_MARKER_PASS && name == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_) return CAIRN_ERROR_INVALID_ARGUMENT;
  if (eliminates_) elimination_->Begin(name == nullptr ? "" : name);
  uint8_t flags = 0;
  NameRef name_ref = 0;
  if (name != nullptr) {
    if (name_kind == CAIRN_NAME_STATIC) name_ref = block_->StaticName(name);
    if (name_ref == 0 && name[0] != 0) name_ref = CopyName(name, &flags);
  }
  return BeginNamed(type, name_ref, flags);
}

CairnResult CommandList::BeginAnnotation(uint64_t event_id, uint32_t metadata, const void* data,
                                         uint32_t size, CairnMarkerType type) {
  if (static_cast<uint32_t>(type) >= CAIRN_MARKER_TYPE_LIMIT) return CAIRN_ERROR_INVALID_ARGUMENT;
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_) return CAIRN_ERROR_INVALID_ARGUMENT;
  if (eliminates_) BeginEliminationScope(metadata, data, size);
  uint8_t flags = 0;
  const NameRef name_ref = CopyAnnotation({event_id, metadata, size}, data, &flags);
  return BeginNamed(type, name_ref, flags);
}

// The scope is identified by the text, not by its bytes: those of PIX may hold times.
void CommandList::BeginEliminationScope(uint32_t metadata, const void* data, uint32_t size) {
  std::string name;
  try {
    if (data != nullptr) name = PixText(metadata, {static_cast<const std::byte*>(data), size});
  } catch (const std::bad_alloc&) {
    // A scope without a name.
  }
  elimination_->Begin(name);
}

CairnResult CommandList::BeginUnnamed(CairnMarkerType type) {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_) return CAIRN_ERROR_INVALID_ARGUMENT;
  if (eliminates_) elimination_->Begin("");
  return BeginNamed(type, 0, 0);
}

CairnResult CommandList::BeginNamed(CairnMarkerType type, NameRef name, uint8_t flags) {
  EventRecord* event = NextEvent();
  Push({event == nullptr ? 0 : event_count_, type});
  if (event == nullptr) return Drop();
  if (outermost_end_is_list_end_ && depth_ == 1) SetState(RecordingState::kOpen);
  if (Write(WordKind::kReached, PipeLocation::kTop, event_count_)) {
    flags |= kEventWritesTop;
    last_top_ = event_count_;
  }
  *event =
      EventRecord{EventKind::kBegin, flags, static_cast<uint16_t>(type), name, pipeline_, call_};
  NotePipeline(pipeline_);
  Publish();
  return CAIRN_OK;
}

void CommandList::AnnotationEventIds(std::vector<uint64_t>* event_ids) const {
  event_ids->clear();
  if (slot_->dropped_count.load(std::memory_order_relaxed) != 0) return;
  const uint32_t count = slot_->event_count.load(std::memory_order_acquire);
  uint32_t page = slot_->first_event_page;
  for (uint32_t i = 0; i < count && page != 0; ++i) {
    const EventChunk& chunk = *reinterpret_cast<const EventChunk*>(block_->Page(page));
    const EventRecord& event = chunk.events[EventPosition(slot_index(), i)];
    if ((i + 1) % kEventsPerChunk == 0) page = chunk.next_page.load(std::memory_order_acquire);
    if (event.kind != EventKind::kBegin) continue;
    AnnotationHeader header = {};
    if ((event.flags & kEventNameIsAnnotation) != 0) {
      std::memcpy(&header, block_->Name(event.name)->bytes, sizeof(header));
    } else if (event.name != 0 ||
               (event.type != CAIRN_MARKER_PASS && event.type != CAIRN_MARKER_SET_MARKER)) {
      continue;  // A command, or a marker of libcairn's.
    }
    event_ids->push_back(header.event_id);
  }
}

CairnResult CommandList::Bind(BindPoint point, uint32_t slot, uint64_t value, bool is_address) {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_) return CAIRN_ERROR_INVALID_ARGUMENT;
  EventRecord* const event = NextEvent();
  if (event == nullptr) return Drop();
  *event = EventRecord{EventKind::kBind,
                       is_address ? kEventBindsAddress : uint8_t{0},
                       static_cast<uint16_t>(point),
                       slot,
                       static_cast<uint32_t>(value),
                       static_cast<uint32_t>(value >> 32)};
  Publish();
  return CAIRN_OK;
}

CairnResult CommandList::ExecuteSecondary(CommandList& secondary) {
  const CairnResult result =
      Bind(BindPoint::kSecondary, 0, secondary.slot_->recording_id, /*is_address=*/false);
  secondaries_.push_back({&secondary, secondary.slot_->recording_id});
  return result;
}

void CommandList::Adopt(const CairnCommandListDesc& desc) {
  if (desc.pipeline != 0) pipeline_ = desc.pipeline;
  slot_->submission_index = desc.submission_index;
  uint8_t flags = 0;
  if (desc.name != nullptr && desc.name[0] != 0) slot_->name = CopyName(desc.name, &flags);
}

void CommandList::EndHold() {
  released_ = true;
  open_ = false;
  SetState(RecordingState::kClosed);
}

CairnResult CommandList::EndMarker() {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_) return CAIRN_ERROR_INVALID_ARGUMENT;
  if (depth_ == 0) return CAIRN_ERROR_UNBALANCED_MARKER;
  if (eliminates_) elimination_->End();
  const OpenMarker marker = Pop();
  if (marker.sequence == 0) return CAIRN_OK;  // The dropped counter has its begin.
  EventRecord* event = NextEvent();
  if (event == nullptr) return Drop();
  uint8_t flags = 0;
  if (WritesBottom(marker.type) && Write(WordKind::kPassed, PipeLocation::kBottom, event_count_)) {
    flags |= kEventWritesBottom;
    last_bottom_ = event_count_;
    if (exact_) flags |= DrainFlags();
  }
  *event = EventRecord{EventKind::kEnd, flags, 0, 0, 0, marker.sequence};
  Publish();
  // The list stays closed until another marker begins: End() will not be called.
  if (outermost_end_is_list_end_ && depth_ == 0) SetState(RecordingState::kClosed);
  return CAIRN_OK;
}

CairnResult CommandList::End() {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_) return CAIRN_ERROR_INVALID_ARGUMENT;
  // The end of the list is proven by its last event, unless that was written at the bottom already.
  if (event_count_ == 0) {
    AddEndEvent();
  } else if (last_bottom_ != event_count_ &&
             Write(WordKind::kPassed, PipeLocation::kBottom, event_count_)) {
    next_event_[-1].flags |= kEventWritesBottom;
    last_bottom_ = event_count_;
  }
  depth_ = 0;
  covered_ = false;
  deeper_markers_.clear();
  open_ = false;
  SetState(RecordingState::kClosed);
  return CAIRN_OK;
}

void CommandList::AddEndEvent() {
  // Secondaries are no work of their own: their primary records it.
  if (silent_ || mode_ == MarkerMode::kOff || (slot_->flags & kRecordingSecondary) != 0) return;
  EventRecord* const event = NextEvent();
  if (event == nullptr) return;
  if (!Write(WordKind::kPassed, PipeLocation::kBottom, event_count_)) {
    --event_count_;
    --next_event_;
    return;
  }
  *event = EventRecord{EventKind::kEnd, kEventWritesBottom, 0, 0, 0, 0};
  last_bottom_ = event_count_;
  Publish();
}

CairnResult CommandList::SetPipeline(CairnPipeline pipeline) {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  pipeline_ = pipeline;
  return CAIRN_OK;
}

CairnResult CommandList::SetInsideRenderPass(bool inside) {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  if (!open_ || backend_list_.inside_render_pass == inside) return CAIRN_ERROR_INVALID_ARGUMENT;
  backend_list_.inside_render_pass = inside;
  return CAIRN_OK;
}

bool CommandList::MayBeRecorded() const {
  return !outermost_end_is_list_end_ &&
         slot_->state.load(std::memory_order_acquire) ==
             static_cast<uint32_t>(RecordingState::kOpen) &&
         slot_->submit_count.load(std::memory_order_relaxed) == 0 && !ReachedAnything();
}

bool CommandList::ReachedAnything() const {
  const uint32_t generation = slot_->generation;
  return ProgressSequence(words_->reached.load(std::memory_order_relaxed), generation) != 0 ||
         ProgressSequence(words_->passed.load(std::memory_order_relaxed), generation) != 0;
}

bool CommandList::ProvenFinished() const {
  // Writes at the top may be missing: predication skips them with the work that they announce.
  return last_bottom_ == event_count_ &&
         ProgressSequence(words_->passed.load(std::memory_order_acquire), slot_->generation) >=
             last_bottom_;
}

bool CommandList::NothingMoreToCome() const {
  const uint32_t generation = slot_->generation;
  const uint32_t reached = words_->reached.load(std::memory_order_acquire);
  const uint32_t passed = words_->passed.load(std::memory_order_acquire);
  return ProgressSequence(reached, generation) >= last_top_ &&
         ProgressSequence(passed, generation) >= last_bottom_;
}

void CommandList::ClearWords() {
  backend_->ClearWords(backend_list_.slot);
  words_->reached.store(0, std::memory_order_relaxed);
  words_->passed.store(0, std::memory_order_relaxed);
}

void CommandList::Detach() {
  if (!in_use_) return;
  backend_->ReleaseList(backend_list_);
  in_use_ = false;
}

void CommandList::CollectPages(std::vector<uint32_t>* pages) const {
  for (uint32_t page = slot_->first_event_page; page != 0;) {
    pages->push_back(page);
    page = reinterpret_cast<const EventChunk*>(block_->Page(page))->next_page.load();
  }
  for (uint32_t page = name_page_; page != 0;) {
    pages->push_back(page);
    page = *reinterpret_cast<const uint32_t*>(block_->Page(page));
  }
}

void CommandList::Recycle() {
  const OptionalLock lock(synchronised_ ? &mutex_ : nullptr);
  slot_->state.store(static_cast<uint32_t>(RecordingState::kFree), std::memory_order_release);
  slot_->event_count.store(0, std::memory_order_release);
  backend_->ReleaseList(backend_list_);
  in_use_ = false;
  for (uint32_t page = slot_->first_event_page; page != 0;) {
    const EventChunk* chunk = reinterpret_cast<const EventChunk*>(block_->Page(page));
    block_->FreePage(std::exchange(page, chunk->next_page.load(std::memory_order_relaxed)));
  }
  for (uint32_t page = name_page_; page != 0;) {
    block_->FreePage(std::exchange(page, *reinterpret_cast<uint32_t*>(block_->Page(page))));
  }
  slot_->first_event_page = 0;
  chunk_ = nullptr;
  chunk_count_ = 0;
  next_event_ = nullptr;
  chunk_end_ = nullptr;
  name_page_ = 0;
  name_page_used_ = kPageBytes;
  depth_ = 0;
  covered_ = false;
  deeper_markers_.clear();
  open_ = false;
}

}  // namespace cairn
