// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "app/breadcrumbs/crash_signals.h"
#include "app/breadcrumbs/elimination.h"
#include "app/breadcrumbs/frame_listener.h"
#include "app/breadcrumbs/mirror_words.h"
#include "app/recorder/watcher_link.h"
#include "format/block/raw_marker_binds.h"
#include "os/clock.h"

namespace cairn {
namespace {

// CAIRN_MODE_OFF.
class NoWrites final : public Backend {
 public:
  explicit NoWrites(std::vector<SourceFinding> sources) : sources_(std::move(sources)) {}
  Status Initialize(const WordRegion&, BackendDescription* description) override {
    description->sources = sources_;
    return Status();
  }
  Status BeginList(BackendList&) override { return Status(); }
  bool WriteProgress(BackendList&, WordKind, PipeLocation, uint32_t) override { return false; }
  Status WriteRaw(void*, PipeLocation, uint32_t, uint64_t) override {
    return Status(StatusCode::kUnsupported, "breadcrumbs are off: the GPU writes nothing");
  }
  void ReleaseList(BackendList&) override {}

 private:
  const std::vector<SourceFinding> sources_;  // of Identify
};

constexpr uint64_t RoundUp(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

Result<Context*> Context::Create(const CairnContextDesc& desc, BlockWriter* block,
                                 std::unique_ptr<Backend> backend) {
  return Make(desc, block, std::move(backend), false);
}

Result<Context*> Context::CreateDeferred(const CairnContextDesc& desc, BlockWriter* block,
                                         std::unique_ptr<Backend> backend) {
  return Make(desc, block, std::move(backend), true);
}

Result<Context*> Context::Make(const CairnContextDesc& desc, BlockWriter* block,
                               std::unique_ptr<Backend> backend, bool deferred) {
  CallbackMemory memory(desc.allocation);
  void* place = memory.Allocate(sizeof(Context));
  if (place == nullptr) return Status(StatusCode::kOutOfMemory, "the context cannot be allocated");
  Context* context = new (place) Context(desc, block, std::move(backend), deferred);
  try {
    Status status = context->TakeRecord();
    if (status.ok() && !deferred) status = context->EnsureStarted();
    if (status.ok()) return context;
    Destroy(context);
    return status;
  } catch (...) {
    Destroy(context);
    throw;
  }
}

void Context::Destroy(Context* context) {
  // A forked child has neither the mirror's thread to wait for nor the device, and the block is its
  // parent's: it can only leave everything alone.
  if (!context->block_->BelongsToThisProcess()) return;
  CallbackMemory memory(context->desc_.allocation);
  context->~Context();
  memory.Release(context);
}

Context::Context(const CairnContextDesc& desc, BlockWriter* block, std::unique_ptr<Backend> backend,
                 bool deferred)
    : memory_(desc.allocation),
      block_(block),
      backend_(std::move(backend)),
      desc_(desc),
      deferred_(deferred),
      text_memory_(desc.allocation),
      lists_(&memory_),
      free_lists_(&memory_),
      frames_(&memory_),
      spare_list_vectors_(&memory_),
      lingering_(&memory_),
      queues_(&memory_),
      lists_by_native_(&memory_) {}

Context::~Context() {
  if (record_ == nullptr) return;
  ForgetContextInCrashSignals(this);
  mirror_.Stop();
  // The last frames stay in the block: they may be what a report is about.
  Mirror();
  for (CommandList& list : lists_) {
    list.Detach();
    try {
      list.CollectPages(&remains_.pages);
    } catch (const std::bad_alloc&) {
      // These pages are leaked.
    }
  }
  // A context that could not be initialised was never published, and stays so.
  Retire(record_->state, std::memory_order_release);
  // Stop the backend: it must not write into the block once another context may own its memory.
  // After a device loss the GPU itself is not trusted: its memory is never given out again.
  backend_.reset();
  if (record_->device_lost.load() != 0 || failure_.code() == StatusCode::kDeviceLost) {
    remains_.ranges.clear();
  }
  for (uint32_t queue : queues_) block_->RetireQueue(queue);
  RetirePipelines();
  block_->RetireContext(index_, std::move(remains_));
}

void Context::RetirePipelines() {
  if (live_pipelines_.load() == 0) return;
  const uint32_t count = block_->header()->pipeline_count.load();
  for (uint32_t i = 0; i < count; ++i) {
    PipelineRecord& record = block_->pipelines()[i];
    if (record.context == index_ && Retire(record.state)) {
      block_->RetirePipeline(i);
    }
  }
}

Status Context::TakeRecord() {
  const uint32_t index = block_->AddContext();
  if (index == BlockWriter::kTableFull) {
    return Status(
        StatusCode::kOutOfMemory,
        fmt::format("this process has {} devices with breadcrumbs already, the most that there is "
                    "room for; destroy one to make room",
                    kMaxContexts));
  }
  index_ = index;
  record_ = &block_->contexts()[index];
  record_->mode = static_cast<MarkerMode>(desc_.mode);
  record_->tells_submissions = deferred_ ? 1 : 0;
  frames_.push_back(Frame{0, std::pmr::vector<CommandList*>(&memory_)});
  if (!deferred_) return Status();
  BackendDescription description;
  backend_->Identify(&description);
  DescribeDevice(description);
  // The context needs no device from here on.
  if (desc_.mode == CAIRN_MODE_OFF) {
    backend_ = std::make_unique<NoWrites>(std::move(description.sources));
  }
  Publish(record_->state);
  return Status();
}

Status Context::EnsureStarted() {
  if (start_.load(std::memory_order_acquire) == Start::kDone) return Status();
  std::lock_guard lock(start_mutex_);
  if (start_.load() == Start::kDone) return Status();
  if (start_.load() == Start::kFailed) return failure_;
  Status status = StartLocked();
  if (!status.ok()) {
    failure_ = status;
    if (deferred_) NoteFailure();
  }
  start_.store(status.ok() ? Start::kDone : Start::kFailed, std::memory_order_release);
  return status;
}

Status Context::StartLocked() {
  try {
    return Initialize();
  } catch (const std::bad_alloc&) {
    if (!deferred_) throw;
    return Status(StatusCode::kOutOfMemory, "no memory to start breadcrumbs");
  }
}

void Context::NoteFailure() {
  record_->sources[0] = {block_->AddName("breadcrumbs"), SourceState::kFailed,
                         block_->AddName(failure_.message())};
  record_->source_count.store(1, std::memory_order_release);
}

Status Context::Initialize() {
  WordRegion region;
  ContextRecord& record = *record_;
  CAIRN_RETURN_IF_ERROR(AllocateWords(&region));
  const bool sees_signals = (desc_.flags & CAIRN_CONTEXT_NO_SIGNAL_HANDLER) == 0;
  if (sees_signals) AllocateCrashWords(region);
  BackendDescription description;
  CAIRN_RETURN_IF_ERROR(backend_->Initialize(region, &description));
  if (desc_.mode == CAIRN_MODE_EXACT && !backend_->Serialises()) {
    desc_.mode = CAIRN_MODE_FULL;
    description.sources.push_back({"mode exact", SourceState::kAbsent,
                                   "mode full instead: it takes VK_LAYER_CAIRN_breadcrumbs below "
                                   "this device, and cairn run enables that"});
  }
  if (!deferred_) DescribeDevice(description);
  DescribeMethods(description);
  // The number of recordings says last that they are there: the record of a deferred context is
  // published already.
  std::atomic_ref<uint32_t>(record.raw_marker_count)
      .store(desc_.raw_marker_count, std::memory_order_release);
  std::atomic_ref<uint32_t>(record.recording_capacity)
      .store(desc_.max_command_lists, std::memory_order_release);
  Publish(record.state);
  if (sees_signals) RememberContextInCrashSignals(this, block_->header());
  if (record.mirror_period_us != 0) {
    mirror_.Start(std::chrono::microseconds(record.mirror_period_us),
                  [this] { backend_->Mirror(); });
  }
  return Status();
}

Status Context::AllocateWords(WordRegion* region) {
  ContextRecord& record = *record_;
  const uint32_t capacity = desc_.max_command_lists;
  const uint64_t progress_bytes = RoundUp(uint64_t{capacity} * sizeof(ProgressWords), kPageBytes);
  const uint64_t raw_bytes =
      RoundUp(uint64_t{desc_.raw_marker_count} * sizeof(uint64_t), kPageBytes);
  const uint64_t recordings_bytes = uint64_t{capacity} * sizeof(RecordingSlot);
  const uint64_t recordings = block_->AllocateContextRange(recordings_bytes);
  const uint64_t words = block_->AllocateContextRange(progress_bytes + raw_bytes);
  if (recordings != 0) remains_.ranges.push_back({recordings, recordings_bytes});
  if (words != 0) remains_.ranges.push_back({words, progress_bytes + raw_bytes});
  if (recordings == 0 || words == 0) {
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("{} command lists and {} raw markers do not fit into what is left of "
                              "the block of {} bytes; use a larger block_size_bytes",
                              capacity, desc_.raw_marker_count, block_->size_bytes()));
  }
  region->base = block_->data() + words;
  region->size_bytes = progress_bytes + raw_bytes;
  region->progress_offset = 0;
  region->recording_capacity = capacity;
  region->recordings_used = &slots_used_;
  region->raw_markers_offset = progress_bytes;
  region->raw_marker_count = desc_.raw_marker_count;
  std::memset(region->base + progress_bytes, 0xCD, desc_.raw_marker_count * sizeof(uint64_t));
  record.recordings_offset = recordings;
  record.progress_offset = words;
  record.raw_markers_offset = words + progress_bytes;
  return Status();
}

// Pages that nothing is written to cost nothing. Without room for them a report shows the state at
// the process's end.
void Context::AllocateCrashWords(const WordRegion& words) {
  const uint64_t offset = block_->TryAllocateRange(words.size_bytes);
  if (offset == 0) return;
  remains_.ranges.push_back({offset, words.size_bytes});
  crash_words_ = words;
  crash_words_.base = block_->data() + offset;
  record_->crash_words_offset = offset;
}

void Context::KeepWords(uint64_t crash_ns) {
  Mirror();
  if (crash_words_.base == nullptr) return;
  MirrorWords(crash_words_, block_->data() + record_->progress_offset);
  record_->crash_words_ns.store(crash_ns, std::memory_order_release);
}

void Context::DescribeDevice(const BackendDescription& description) {
  ContextRecord& record = *record_;
  record.api = description.api;
  record.vendor_id = description.vendor_id;
  record.device_id = description.device_id;
  record.device_name = block_->AddName(description.device_name);
  record.driver_name = block_->AddName(description.driver_name);
  record.device_notes = block_->AddName(description.device_notes);
}

std::string_view Context::device_name() const {
  if (record_->device_name == 0) return {};
  const NameRecord* const name = block_->Name(record_->device_name);
  return {name->bytes, name->length_bytes};
}

void Context::DescribeMethods(const BackendDescription& description) {
  ContextRecord& record = *record_;
  record.mode = static_cast<MarkerMode>(desc_.mode);
  record.method = description.method;
  record.memory = description.memory;
  record.mirror_period_us = description.mirror_period_us;
  const uint32_t count = std::min(static_cast<uint32_t>(description.sources.size()), kMaxSources);
  for (uint32_t i = 0; i < count; ++i) {
    const SourceFinding& source = description.sources[i];
    record.sources[i] = {block_->AddName(source.name), source.state,
                         block_->AddName(source.reason)};
  }
  record.source_count.store(count, std::memory_order_release);
}

void Context::BeginFrame() {
  {
    std::lock_guard lock(mutex_);
    application_counts_frames_ = !holds_.empty();
  }
  AdvanceFrame();
  const auto listener = frame_listener.load(std::memory_order_relaxed);
  if (listener != nullptr) listener(*this);
}

void Context::AdvanceFrame() {
  std::lock_guard lock(mutex_);
  const uint64_t number = frames_.back().number + 1;
  // The vectors of forgotten frames are used again: no allocation once warm.
  if (spare_list_vectors_.empty()) {
    frames_.push_back(Frame{number, std::pmr::vector<CommandList*>(&memory_)});
  } else {
    frames_.push_back(Frame{number, std::move(spare_list_vectors_.back())});
    spare_list_vectors_.pop_back();
  }
  record_->frame.store(number, std::memory_order_relaxed);
  RecycleOldFrames();
}

void Context::BeginLayerFrame() {
  {
    std::lock_guard lock(mutex_);
    if (application_counts_frames_) return;
  }
  AdvanceFrame();
}

void Context::Share(const CairnContextDesc& desc, Hold hold) {
  std::lock_guard start_lock(start_mutex_);
  std::lock_guard lock(mutex_);
  holds_.push_back(hold);
  text_memory_ = desc.allocation;
  if (start_.load() != Start::kNotYet) return;
  desc_.max_command_lists = std::max(desc_.max_command_lists, desc.max_command_lists);
  desc_.raw_marker_count = std::max(desc_.raw_marker_count, desc.raw_marker_count);
  desc_.frame_history_length = std::max(desc_.frame_history_length, desc.frame_history_length);
  if (desc_.mode != CAIRN_MODE_OFF) desc_.mode = std::max(desc_.mode, desc.mode);
  record_->mode = static_cast<MarkerMode>(desc_.mode);
}

bool Context::Unshare(Hold* hold) {
  std::lock_guard lock(mutex_);
  if (holds_.empty()) return false;
  *hold = holds_.back();
  holds_.pop_back();
  if (holds_.empty()) {
    application_counts_frames_ = false;
    text_memory_ = {};
  }
  return true;
}

CallbackMemory Context::TextMemory() {
  std::lock_guard lock(mutex_);
  return CallbackMemory(text_memory_);
}

void Context::RecycleReleased() {
  const size_t wanted = desc_.max_command_lists / 4 + 1;
  for (Frame& frame : frames_) {
    std::erase_if(frame.lists, [this, wanted](CommandList* list) {
      if (!list->held() || free_lists_.size() >= wanted || !MayRecycle(*list)) return false;
      Recycle(list);
      return true;
    });
  }
}

void Context::RecycleOldFrames() {
  std::erase_if(lingering_, [this](CommandList* list) {
    if (!MayRecycle(*list)) return false;
    Recycle(list);
    return true;
  });
  while (frames_.size() > desc_.frame_history_length) {
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    for (CommandList* list : frame.lists) {
      if (MayRecycle(*list)) {
        Recycle(list);
      } else {
        lingering_.push_back(list);
      }
    }
    frame.lists.clear();
    spare_list_vectors_.push_back(std::move(frame.lists));
  }
}

void Context::ForgetAbandoned(const void* native) {
  std::erase_if(lingering_, [this, native](CommandList* list) {
    if (list->native() != native || !list->MayBeRecorded()) return false;
    Recycle(list);
    return true;
  });
}

bool Context::Finished(const CommandList& list) const {
  if (list.last_submission_queue != kNoQueue &&
      block_->queues()[list.last_submission_queue].completed_submission.load(
          std::memory_order_acquire) >= list.last_submission_number) {
    return true;
  }
  return list.ProvenFinished();
}

bool Context::MayRecycle(const CommandList& list) const {
  if (list.MayBeRecorded()) return false;
  // If the list's end cannot be proven, no further progress of so old a list can be observed
  // either.
  if (Finished(list) || list.NothingMoreToCome()) return true;
  // A list without a known submission that never started is forgotten with its frame; if it runs
  // after all, its words carry an old generation and are ignored.
  return list.slot()->submit_count.load(std::memory_order_relaxed) == 0 && !list.ReachedAnything();
}

void Context::Recycle(CommandList* list) {
  const auto known = lists_by_native_.find(list->native());
  if (known != lists_by_native_.end() && known->second == list) lists_by_native_.erase(known);
  list->Recycle();
  free_lists_.push_back(list);
}

CommandList* Context::FreeList() {
  if (!free_lists_.empty()) {
    CommandList* list = free_lists_.back();
    free_lists_.pop_back();
    return list;
  }
  const uint32_t slot = static_cast<uint32_t>(lists_.size());
  if (slot == record_->recording_capacity) return nullptr;
  auto* slots = reinterpret_cast<RecordingSlot*>(block_->data() + record_->recordings_offset);
  auto* words = reinterpret_cast<ProgressWords*>(block_->data() + record_->progress_offset);
  CommandList& list =
      lists_.emplace_back(this, block_, backend_.get(), slot, &slots[slot], &words[slot], &memory_);
  slots_used_.store(slot + 1, std::memory_order_release);
  return &list;
}

uint32_t Context::FindQueue(void* native, CairnQueueType type, bool add) {
  for (uint32_t index : queues_) {
    if (block_->queues()[index].native_handle == reinterpret_cast<uintptr_t>(native)) return index;
  }
  if (!add) return kNoQueue;
  const uint32_t index = block_->AddQueue();
  if (index == BlockWriter::kTableFull) return kNoQueue;
  QueueRecord& queue = block_->queues()[index];
  queue.context = index_;
  queue.type = type;
  queue.native_handle = reinterpret_cast<uintptr_t>(native);
  Publish(queue.state);
  queues_.push_back(index);
  return index;
}

Status Context::RegisterQueue(void* native, CairnQueueType type, const char* name) {
  std::lock_guard lock(mutex_);
  const uint32_t index = FindQueue(native, type, true);
  if (index == kNoQueue) {
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("this process has {} queues in use already", kMaxQueues));
  }
  block_->queues()[index].type = type;
  if (name != nullptr) {
    NameRef& known = block_->queues()[index].name;
    block_->FreeName(std::exchange(known, block_->AddName(name)));
  }
  return Status();
}

void Context::ForgetQueue(void* native) {
  std::lock_guard lock(mutex_);
  const uint32_t index = FindQueue(native, CAIRN_QUEUE_DIRECT, false);
  if (index == kNoQueue) return;
  std::erase(queues_, index);
  // The next owner of the record must not answer for these lists.
  for (CommandList& list : lists_) {
    if (list.last_submission_queue == index) list.last_submission_queue = kNoQueue;
  }
  block_->RetireQueue(index);
}

uint32_t Context::QueueIndex(void* native) {
  std::lock_guard lock(mutex_);
  return FindQueue(native, CAIRN_QUEUE_DIRECT, false);
}

Status Context::RegisterPipeline(const CairnPipelineDesc& desc, CairnPipeline* pipeline) {
  const char* const shaders[kStageCount] = {
      desc.vertex_shader,        desc.hull_shader,    desc.domain_shader,
      desc.geometry_shader,      desc.pixel_shader,   desc.mesh_shader,
      desc.amplification_shader, desc.compute_shader, desc.ray_tracing_shader};
  return RegisterPipeline(desc.native, desc.name, shaders, std::array<uint64_t, kStageCount>{}, 0,
                          pipeline);
}

Status Context::RegisterPipeline(const void* native, const char* name,
                                 std::span<const char* const, kStageCount> shader_names,
                                 std::span<const uint64_t, kStageCount> shader_hashes,
                                 uint64_t description, CairnPipeline* pipeline) {
  const uint32_t index = block_->AddPipeline();
  if (index == BlockWriter::kTableFull) {
    return Status(
        StatusCode::kOutOfMemory,
        fmt::format("this process has {} pipelines registered already", kMaxPipelines - 1));
  }
  PipelineRecord& record = block_->pipelines()[index];
  record.context = index_;
  record.native_handle = reinterpret_cast<uintptr_t>(native);
  record.name = name == nullptr ? 0 : block_->AddName(name);
  record.description = description;
  std::copy(shader_hashes.begin(), shader_hashes.end(), record.shader_hashes);
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    const char* const shader = shader_names[stage];
    record.shader_names[stage] = shader == nullptr ? 0 : block_->AddName(shader);
  }
  Publish(record.state);
  live_pipelines_.fetch_add(1);
  *pipeline = index + 1;
  return Status();
}

Status Context::UnregisterPipeline(CairnPipeline pipeline) {
  PipelineRecord* record = nullptr;
  if (pipeline != 0 && pipeline <= block_->header()->pipeline_count.load()) {
    record = &block_->pipelines()[pipeline - 1];
  }
  if (record == nullptr || record->context != index_ || !Retire(record->state)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("pipeline {} is not registered in this context", pipeline));
  }
  live_pipelines_.fetch_sub(1);
  block_->RetirePipeline(pipeline - 1);
  return Status();
}

Status Context::BeginCommandList(const CairnCommandListDesc& desc, CommandList** list,
                                 const void* application_handle) {
  CAIRN_RETURN_IF_ERROR(EnsureStarted());
  std::lock_guard lock(mutex_);
  ForgetAbandoned(desc.native);
  if (free_lists_.empty() && lists_.size() == record_->recording_capacity) RecycleOldFrames();
  if (free_lists_.empty() && lists_.size() == record_->recording_capacity) RecycleReleased();
  CommandList* free_list = FreeList();
  if (free_list == nullptr) {
    record_->lists_dropped.fetch_add(1, std::memory_order_relaxed);
    return Status(
        StatusCode::kOutOfMemory,
        fmt::format("all {} command lists are in use; use a larger max_command_lists or a "
                    "shorter frame_history_length",
                    record_->recording_capacity));
  }
  const uint32_t queue =
      desc.queue == nullptr ? kNoQueue : FindQueue(desc.queue, desc.queue_type, true);
  const uint64_t recording_id = block_->header()->next_recording_id.fetch_add(1) + 1;
  Status status =
      free_list->Start(desc, queue, frames_.back().number, recording_id,
                       static_cast<MarkerMode>(desc_.mode), desc_.flags, application_handle);
  if (!status.ok()) {
    Recycle(free_list);
    return status;
  }
  Elimination* const run = free_list->held() ? Elimination::Active() : nullptr;
  if (run != nullptr) run->NoteDevice(device_name());
  if (!free_list->reusable() && !free_list->held()) frames_.back().lists.push_back(free_list);
  if (desc_.raw_marker_count != 0 && !free_list->held()) {
    lists_by_native_[desc.native] = free_list;
  }
  *list = free_list;
  return Status();
}

Status Context::ReleaseCommandList(CommandList* list) {
  std::lock_guard lock(mutex_);
  const bool in_use = list->slot()->state.load() != static_cast<uint32_t>(RecordingState::kFree);
  if (!in_use || list->released() || (!list->reusable() && !list->held())) {
    return Status(StatusCode::kInvalidArgument,
                  "only a reusable list is released; others leave with their frame");
  }
  if (list->held() && list->slot()->submit_count.load(std::memory_order_relaxed) != 0) {
    // The list ages with the lists of this frame, and stays while it runs.
    list->EndHold();
    frames_.back().lists.push_back(list);
    return Status();
  }
  Recycle(list);
  return Status();
}

Status Context::NotifySubmit(void* queue, CommandList* const* lists, uint32_t list_count) {
  NoteThreadLivesOn(block_->header());
  std::lock_guard lock(mutex_);
  const uint32_t queue_index = FindQueue(queue, CAIRN_QUEUE_DIRECT, true);
  if (queue_index == kNoQueue) {
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("this process has {} queues in use already", kMaxQueues));
  }
  for (uint32_t i = 0; i < list_count; ++i) {
    if (lists[i] == nullptr || lists[i]->context() != this || !lists[i]->in_use()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("list {} of {} does not belong to this context, or was forgotten "
                                "with its frame",
                                i, list_count));
    }
  }
  QueueRecord& record = block_->queues()[queue_index];
  const uint64_t number = record.submission_count.load(std::memory_order_relaxed) + 1;
  const uint64_t now_ns = MonotonicNs();
  bool mirrored = false;
  for (uint32_t i = 0; i < list_count; ++i) {
    CommandList& list = *lists[i];
    RecordingSlot& slot = *list.slot();
    const uint32_t earlier_runs = slot.submit_count.load(std::memory_order_relaxed);
    const bool again = earlier_runs != 0 && !list.reusable();
    const bool finished = again && (list.exclusive() || Finished(list));
    // The words may be copies, and older than what made the application submit the list again.
    if (again && !finished && !mirrored) {
      Mirror();
      mirrored = true;
    }
    if (again && (finished || Finished(list))) {
      slot.reset_run.store(earlier_runs, std::memory_order_relaxed);
      list.ClearWords();
    }
    if (slot.queue == kNoQueue) slot.queue = queue_index;
    list.last_submission_queue = queue_index;
    list.last_submission_number = number;
    list.NoteEliminationSubmit();
    // First, so that a reader that sees this run of the primary finds no words of an earlier one in
    // its secondaries.
    SubmitSecondaries(list);
    std::atomic_ref(slot.flags).fetch_and(~kRecordingRefused, std::memory_order_relaxed);
    block_->AddSubmission(queue_index, earlier_runs + 1, index_, list.slot_index(),
                          slot.recording_id, number, frames_.back().number, now_ns,
                          PipelinesOf(list));
    slot.submit_count.store(earlier_runs + 1, std::memory_order_release);
  }
  record.submission_count.store(number, std::memory_order_release);
  return Status();
}

uint64_t Context::PipelinesOf(const CommandList& primary) {
  uint64_t pipelines = primary.pipelines();
  for (const CommandList::Secondary& executed : primary.secondaries()) {
    pipelines |= executed.list->pipelines();
  }
  return pipelines;
}

void Context::SubmitSecondaries(const CommandList& primary) {
  for (const CommandList::Secondary& executed : primary.secondaries()) {
    CommandList& list = *executed.list;
    RecordingSlot& slot = *list.slot();
    // Recorded anew since: the API forbids to submit the primary then.
    if (!list.in_use() || slot.recording_id != executed.recording_id) continue;
    const uint32_t earlier_runs = slot.submit_count.load(std::memory_order_relaxed);
    if (earlier_runs != 0 && list.exclusive()) {
      slot.reset_run.store(earlier_runs, std::memory_order_relaxed);
      list.ClearWords();
    }
    list.last_submission_queue = primary.last_submission_queue;
    list.last_submission_number = primary.last_submission_number;
    list.NoteEliminationSubmit();
    if (slot.queue == kNoQueue) slot.queue = primary.last_submission_queue;
    slot.submit_count.store(earlier_runs + 1, std::memory_order_release);
  }
}

void Context::Withdraw(void* queue, uint64_t first_submission) {
  std::lock_guard lock(mutex_);
  const uint32_t queue_index = FindQueue(queue, CAIRN_QUEUE_DIRECT, false);
  if (queue_index == kNoQueue) return;
  std::vector<uint32_t> slots;
  block_->RefuseSubmissions(queue_index, first_submission, &slots);
  for (const uint32_t index : slots) {
    CommandList& list = lists_[index];
    list.last_submission_queue = kNoQueue;
    // Reusable ones count their runs, and an earlier one may be at work; words of others were cleared.
    if (!list.reusable()) {
      std::atomic_ref(list.slot()->flags).fetch_or(kRecordingRefused, std::memory_order_relaxed);
    }
    list.slot()->submit_count.fetch_sub(1, std::memory_order_release);
  }
}

Status Context::LastSubmission(void* queue, uint64_t* submission) {
  std::lock_guard lock(mutex_);
  const uint32_t index = FindQueue(queue, CAIRN_QUEUE_DIRECT, false);
  *submission = index == kNoQueue ? 0 : block_->queues()[index].submission_count.load();
  return Status();
}

Status Context::NotifyCompleted(void* queue, uint64_t submission) {
  std::lock_guard lock(mutex_);
  const uint32_t index = FindQueue(queue, CAIRN_QUEUE_DIRECT, false);
  if (index == kNoQueue || submission > block_->queues()[index].submission_count.load()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("submission {} was never made on this queue", submission));
  }
  std::atomic<uint64_t>& completed = block_->queues()[index].completed_submission;
  const uint64_t known = completed.load(std::memory_order_relaxed);
  if (submission <= known) return Status();
  completed.store(submission, std::memory_order_release);
  block_->NoteEnds(index, known, submission);
  return Status();
}

Status Context::ReportDeviceLost(int32_t code, const char* where) {
  Mirror();
  const NameRef name = where == nullptr ? 0 : block_->AddName(where);
  block_->FreeName(std::exchange(record_->device_lost_where, name));
  record_->device_lost_code.store(code, std::memory_order_relaxed);
  record_->device_lost.store(1, std::memory_order_release);
  // A program without a watcher prints its own status.
  return block_->has_watcher() ? SendDeviceLost() : Status();
}

CommandList* Context::OpenListOf(const void* native) {
  std::lock_guard lock(mutex_);
  const auto known = lists_by_native_.find(native);
  if (known == lists_by_native_.end()) return nullptr;
  CommandList* const list = known->second;
  // A list that was submitted can only be recorded anew; it is not registered again.
  const bool submitted = list->slot()->submit_count.load(std::memory_order_relaxed) != 0;
  return list->open() && !submitted ? list : nullptr;
}

Status Context::WriteRaw(void* command_buffer, PipeLocation where, uint32_t index, uint64_t value,
                         CommandList* recording) {
  CAIRN_RETURN_IF_ERROR(EnsureStarted());
  CAIRN_RETURN_IF_ERROR(backend_->WriteRaw(command_buffer, where, index, value));
  if (recording == nullptr) recording = OpenListOf(command_buffer);
  if (recording == nullptr) return Status();
  const bool top = where == PipeLocation::kTop && backend_->TellsTopOfPipe();
  const BindPoint point = top ? kBindRawMarkerTop : kBindRawMarkerBottom;
  // A raw marker without room is counted in the recording; the GPU writes it all the same.
  static_cast<void>(recording->Bind(point, index, value, /*is_address=*/true));
  return Status();
}

const volatile uint64_t* Context::raw_markers() const {
  return reinterpret_cast<const volatile uint64_t*>(block_->data() + record_->raw_markers_offset);
}

}  // namespace cairn
