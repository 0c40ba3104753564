// SPDX-License-Identifier: Apache-2.0
//
// One recording of one command list: the hot path. A begin or an end appends one EventRecord to the
// block and asks the backend for at most one GPU write. No lock, no look-up: the handle is the state.
#ifndef CAIRN_APP_BREADCRUMBS_COMMAND_LIST_H_
#define CAIRN_APP_BREADCRUMBS_COMMAND_LIST_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/backend.h"
#include "app/recorder/block_writer.h"
#include "format/block/work_arguments.h"

namespace cairn {

class Context;
class ListElimination;

// CairnCommandListDesc::flags, for those who see every use of a list (the Direct3D 12 layer): the
// recording belongs to no frame, and lives until ReleaseCommandList says that the list is never
// submitted again; then it stays until the GPU has finished. Not for applications.
inline constexpr uint32_t CAIRN_LIST_HELD = 1u << 31;
// Flags of held lists, for the Vulkan layer. EXCLUSIVE: the GPU has finished with the list whenever
// it is submitted again (Vulkan requires this), so that its words are cleared then. SECONDARY: it
// runs inside other lists only (ExecuteSecondary). SILENT: the GPU writes nothing; commands are
// recorded in the block all the same.
inline constexpr uint32_t CAIRN_LIST_EXCLUSIVE = 1u << 30;
inline constexpr uint32_t CAIRN_LIST_SECONDARY = 1u << 29;
inline constexpr uint32_t CAIRN_LIST_SILENT = 1u << 28;

// Aligned to the pair of cache lines that processors fetch together: lists that two threads record
// stand side by side in memory.
class alignas(128) CommandList {
 public:
  CommandList(Context* context, BlockWriter* block, Backend* backend, uint32_t slot_index,
              RecordingSlot* slot, ProgressWords* words, std::pmr::memory_resource* memory);
  ~CommandList();

  // Starts a recording in a free slot. The slot's generation changes, so that words that an earlier
  // recording may still receive mean nothing to this one.
  Status Start(const CairnCommandListDesc& desc, uint32_t queue, uint64_t frame,
               uint64_t recording_id, MarkerMode mode, uint32_t context_flags,
               const void* application_handle);

  CairnResult BeginMarker(CairnMarkerType type, const char* name, CairnNameKind name_kind);
  CairnResult EndMarker();
  CairnResult End();

  // Like BeginMarker, of one command that commands of another API do below, up to its EndMarker: they are no events of
  // their own. With the pipeline of this command.
  CairnResult BeginCommand(CairnMarkerType type, CairnPipeline pipeline) {
    const CairnPipeline bound = std::exchange(pipeline_, pipeline);
    const CairnResult result = BeginMarker(type, nullptr, CAIRN_NAME_STATIC);
    pipeline_ = bound;
    return result;
  }

  // Like BeginMarker, named by an annotation: an AnnotationHeader and the payload, cut where the record
  // has kMaxNameBytes. `data` may be null: then only its size is kept.
  CairnResult BeginAnnotation(uint64_t event_id, uint32_t metadata, const void* data, uint32_t size,
                              CairnMarkerType type);

  // Like BeginMarker, of an annotation that carries nothing: no name, and nothing is kept of it.
  CairnResult BeginUnnamed(CairnMarkerType type);

  // Records a binding that later commands use (block.h): an address, or 1 + an index into the
  // object table. The GPU writes nothing for it.
  CairnResult Bind(BindPoint point, uint32_t slot, uint64_t value, bool is_address);

  // Begins a single command, without a name and without markers in it; cheaper than BeginMarker and
  // EndMarker. If the innermost open marker is of a kind of command itself, the application has
  // marked it already: nothing happens. Not for contexts with CAIRN_CONTEXT_THREAD_SYNCHRONIZATION
  // or CAIRN_CONTEXT_OUTERMOST_END_IS_LIST_END.
  // Cost: bench BM_Work.
  void BeginWork(CairnMarkerType type) { BeginWork(type, pipeline_); }
  // Begins work with this pipeline, where several are bound at a time.
  void BeginWork(CairnMarkerType type, CairnPipeline pipeline) {
    if (covered_) [[unlikely]] {
      if (!BeginCoveredWork(type, pipeline)) return;
    }
    EventRecord* const event = open_ ? NextEvent() : nullptr;
    if (event == nullptr) [[unlikely]] {
      DropWork();
      return;
    }
    uint8_t flags = 0;
    if (Write(WordKind::kReached, PipeLocation::kTop, event_count_)) {
      flags = kEventWritesTop;
      last_top_ = event_count_;
    }
    *event = EventRecord{EventKind::kBegin, flags, static_cast<uint16_t>(type), 0, pipeline, call_};
    NotePipeline(pipeline);
    work_ = event_count_;
    Publish();
  }
  // `drains`: kEventDrains..., where this device's GPU was seen to go beyond it only so.
  void EndWork(uint8_t drains = 0) {
    if (work_ == 0) [[unlikely]]
      return;  // The dropped counter has its begin, or there was none.
    EventRecord* const event = NextEvent();
    if (event == nullptr) [[unlikely]] {
      DropWork();
      return;
    }
    uint8_t flags = drains;
    if (writes_all_ends_ && Write(WordKind::kPassed, PipeLocation::kBottom, event_count_)) {
      flags |= kEventWritesBottom;
      last_bottom_ = event_count_;
      if (exact_) [[unlikely]]
        flags |= DrainFlags();
    }
    *event = EventRecord{EventKind::kEnd, flags, 0, 0, 0, work_};
    Publish();
  }

  // Directly behind its BeginWork: what the command was recorded with. Also of one that a marker of the application
  // stands for. No write of the GPU's. Cost: bench BM_WorkWithArguments.
  void NoteArguments(const WorkArguments& arguments) {
    AddArguments(arguments.main);
    if (arguments.more.point != ArgumentsPoint::kNone) [[unlikely]]
      AddArguments(arguments.more);
  }

  // For the end of a command that may have become barriers below: what these drain. 0 where ends are written.
  uint8_t DrainsBelow() {
    return mode_ == MarkerMode::kTop ? backend_->DrainsHere(backend_list_) : uint8_t{0};
  }
  // Returns true, after BeginWork, if `cairn bisect -- PROGRAM` tests the program without this
  // command, so that its real call must not be made (elimination.h). Only for lists with
  // CAIRN_LIST_HELD.
  bool left_out() const { return left_out_; }
  // The list was submitted once more.
  void NoteEliminationSubmit();

  // The GPU runs `secondary`, a list of the same context with CAIRN_LIST_SECONDARY, here: between the begin
  // and the end of a marker. May throw std::bad_alloc.
  CairnResult ExecuteSecondary(CommandList& secondary);

  // Stops GPU writes until it is called with false; unlike inside render passes, writes of any
  // method.
  void SetSilent(bool silent) { silent_ = silent || always_silent_; }
  bool silent() const { return silent_; }
  // ProgressValue of the last event.
  uint32_t progress_value() const { return generation_bits_ | event_count_; }

  // For a recording that the application shares with the layer: what its CairnCommandListDesc says more
  // than the layer knew.
  void Adopt(const CairnCommandListDesc& desc);
  // Returns true while the list is being recorded.
  bool open() const { return open_; }
  // Assigns commands that begin from now on to this call of a capture: the low half of its number.
  // 0: to none.
  void SetCall(uint32_t call) { call_ = call; }

  // The EventIDs of its annotations, in recorded order; 0 for those that have none. Empty if some
  // found no room: the others can then not be assigned. May throw std::bad_alloc.
  void AnnotationEventIds(std::vector<uint64_t>* event_ids) const;

  // ReleaseCommandList of a held list: nothing is recorded any more.
  void EndHold();
  CairnResult SetPipeline(CairnPipeline pipeline);
  CairnResult SetInsideRenderPass(bool inside);
  bool inside_render_pass() const { return backend_list_.inside_render_pass; }

  // Returns true if the list may still be recorded: it was not ended, and neither the application
  // nor the GPU shows that it was submitted. (Without ends it is known by its frame only.)
  bool MayBeRecorded() const;

  // The known progress of the GPU.
  bool ReachedAnything() const;
  // A write at the bottom of the pipe behind its last event arrived.
  bool ProvenFinished() const;
  // Every write that was asked for arrived; work behind the last one may still run.
  bool NothingMoreToCome() const;

  // Clears the words for the next execution of a list recorded once (not reusable, finished).
  void ClearWords();

  // Gives the slot back: pages, the backend's state, the slot itself.
  void Recycle();

  // Gives back the backend's state only; what is in the block stays. The end of the context.
  void Detach();
  // Adds the pages that hold remaining data. Call it after Detach.
  void CollectPages(std::vector<uint32_t>* pages) const;

  Context* context() const { return context_; }
  RecordingSlot* slot() const { return slot_; }
  uint32_t slot_index() const { return backend_list_.slot; }
  bool reusable() const { return backend_list_.reusable; }
  bool held() const { return held_; }
  bool exclusive() const { return exclusive_; }
  // An argument of ExecuteSecondary, with the recording_id of that time.
  struct Secondary {
    CommandList* list;
    uint64_t recording_id;
  };
  const std::pmr::vector<Secondary>& secondaries() const { return secondaries_; }
  // Those of its own commands, as in SubmissionRecord.
  uint64_t pipelines() const { return pipelines_; }
  bool released() const { return released_; }
  bool in_use() const { return in_use_; }
  const void* native() const { return backend_list_.native; }

  // The last submission that held this list, as Context counts them; 0 if none.
  uint32_t last_submission_queue = kNoQueue;
  uint64_t last_submission_number = 0;

 private:
  struct OpenMarker {
    uint32_t sequence;  // 0 if its begin was dropped
    CairnMarkerType type;
  };

  static constexpr uint32_t kInlineDepth = 7;  // deeper nesting goes to a vector

  void Push(OpenMarker marker) {
    if (depth_ < kInlineDepth) {
      open_markers_[depth_] = marker;
    } else {
      deeper_markers_.push_back(marker);
    }
    ++depth_;
    covered_ = IsOfCommand(marker.type) || eliminates_;
  }
  OpenMarker Pop() {
    const OpenMarker marker = Innermost();
    if (--depth_ >= kInlineDepth) deeper_markers_.pop_back();
    covered_ = IsInCommand() || eliminates_;
    return marker;
  }
  // The innermost open marker stands for what is recorded in it.
  bool IsInCommand() const { return depth_ != 0 && IsOfCommand(Innermost().type); }
  // Returns true if the command still gets an event.
  bool BeginCoveredWork(CairnMarkerType type, CairnPipeline pipeline);
  void StartElimination();
  void BeginEliminationScope(uint32_t metadata, const void* data, uint32_t size);
  const OpenMarker& Innermost() const {
    return depth_ <= kInlineDepth ? open_markers_[depth_ - 1] : deeper_markers_.back();
  }
  // Returns true for markers of a single command, false for scopes of several.
  static bool IsOfCommand(CairnMarkerType type) {
    return type != CAIRN_MARKER_PASS && type != CAIRN_MARKER_BEGIN_EVENT &&
           type != CAIRN_MARKER_BEGIN_RENDER_PASS;
  }

  // Moves on to the rest of the chunk or to a new page; false if there is none or the sequence
  // numbers are used up.
  bool ContinueEvents();
  // Room for the next event, or null when there is none left.
  EventRecord* NextEvent() {
    if (next_event_ == chunk_end_ && !ContinueEvents()) return nullptr;
    ++event_count_;
    return next_event_++;
  }
  // One bit is enough to tell which submissions are alike (SubmissionRecord::pipelines).
  void NotePipeline(CairnPipeline pipeline) { pipelines_ |= uint64_t{1} << (pipeline % 64); }
  void AddArguments(const ArgumentNumbers& numbers) {
    EventRecord* const event = open_ ? NextEvent() : nullptr;
    if (event == nullptr) [[unlikely]] {
      if (open_) Drop();
      return;
    }
    *event = EventRecord{EventKind::kBind, kEventBindsAddress, static_cast<uint16_t>(numbers.point),
                         numbers.first,    numbers.second(),   numbers.third()};
    Publish();
  }
  void SetState(RecordingState state) {
    slot_->state.store(static_cast<uint32_t>(state), std::memory_order_release);
  }
  void Publish() { slot_->event_count.store(event_count_, std::memory_order_release); }
  bool Write(WordKind word, PipeLocation where, uint32_t sequence) {
    if (silent_) [[unlikely]]
      return false;
    return backend_->WriteProgress(backend_list_, word, where, generation_bits_ | sequence);
  }
  // Each list starts its pages of names at another line, for the reason given at EventPosition.
  static constexpr uint32_t kCacheLineBytes = 64;
  uint32_t CacheColour() const { return backend_list_.slot % 16; }
  CairnResult Drop();
  void DropWork();
  // Adds an end that ends nothing to a list without events, so that the list's end is written.
  void AddEndEvent();
  bool AddNamePage();
  CairnResult BeginNamed(CairnMarkerType type, NameRef name, uint8_t flags);
  NameRef CopyAnnotation(const AnnotationHeader& header, const void* data, uint8_t* flags);
  NameRef CopyName(const char* name, uint8_t* flags);
  bool WritesBottom(CairnMarkerType type) const;
  // Mode exact, of an end that is written.
  uint8_t DrainFlags() const { return backend_->Serial(backend_list_) ? kEventDrains : 0; }

  // The hot path's state comes first: with the first open markers it fills two cache lines.
  Backend* backend_;
  RecordingSlot* slot_;
  EventRecord* next_event_ = nullptr;
  EventRecord* chunk_end_ = nullptr;
  uint32_t event_count_ = 0;
  uint32_t generation_bits_ = 0;  // ProgressValue(generation, 0)
  uint32_t pipeline_ = 0;
  uint32_t last_top_ = 0;  // the last sequence number that the GPU was asked to write
  uint32_t last_bottom_ = 0;
  uint32_t depth_ = 0;      // open markers
  uint32_t work_ = 0;       // the sequence number of the last BeginWork, 0 if it was dropped
  uint32_t call_ = 0;       // what SetCall said
  uint64_t pipelines_ = 0;  // as in SubmissionRecord, without those of secondaries
  MarkerMode mode_ = MarkerMode::kFull;
  bool open_ = false;
  bool writes_all_ends_ = true;  // as mode_ says
  bool exact_ = false;
  bool covered_ = false;     // commands are no events of their own: IsInCommand(), or eliminates_
  bool eliminates_ = false;  // elimination_ is asked for each command
  bool left_out_ = false;    // what it said of the last one
  bool silent_ = false;
  bool always_silent_ = false;  // CAIRN_LIST_SILENT
  bool outermost_end_is_list_end_ = false;
  bool synchronised_ = false;
  std::array<OpenMarker, kInlineDepth> open_markers_;
  std::pmr::vector<OpenMarker> deeper_markers_;

  BlockWriter* block_;
  BackendList backend_list_;
  bool in_use_ = false;  // between Start and Recycle or Detach
  bool held_ = false;    // CAIRN_LIST_HELD
  bool released_ = false;
  bool exclusive_ = false;  // CAIRN_LIST_EXCLUSIVE
  std::pmr::vector<Secondary> secondaries_;

  // Copied names: a chain of pages; each starts with the index of the page before it.
  uint32_t name_page_ = 0;
  uint32_t name_page_used_ = kPageBytes;

  Context* context_;
  ProgressWords* words_;
  EventChunk* chunk_ = nullptr;
  uint32_t chunk_count_ = 0;
  std::unique_ptr<ListElimination> elimination_;  // null but in a run of cairn bisect
  std::mutex mutex_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_COMMAND_LIST_H_
