// SPDX-License-Identifier: Apache-2.0
//
// Context: the breadcrumbs of one device. Owns the recordings, frames, queues and pipelines, and the
// backend that writes for them. Off the hot path: everything here may take a lock.
//
// Somebody who wraps a whole device (the Direct3D 12 layer) makes a deferred context: its record is in
// the block at once, and its GPU parts start with the first command list. The application's own calls of
// libcairn then share it (Share), without ever owning it.
#ifndef CAIRN_APP_BREADCRUMBS_CONTEXT_H_
#define CAIRN_APP_BREADCRUMBS_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/breadcrumbs/allocation.h"
#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/command_list.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/breadcrumbs/mirror_thread.h"
#include "app/recorder/block_writer.h"
#include "base/status.h"

namespace cairn {

// For CairnContextDesc::mode, of the layers: FULL, on a device whose work the Vulkan layer serialises.
inline constexpr CairnMode CAIRN_MODE_EXACT = static_cast<CairnMode>(MarkerMode::kExact);
// Further mode that applications cannot request: everything is recorded, the GPU writes nothing, no
// self-test runs. Completion is known from NotifyCompleted only.
inline constexpr CairnMode CAIRN_MODE_OFF = static_cast<CairnMode>(MarkerMode::kOff);

class Context {
 public:
  // `block` must outlive the context. The description has been checked and its defaults filled in.
  static Result<Context*> Create(const CairnContextDesc& desc, BlockWriter* block,
                                 std::unique_ptr<Backend> backend);
  // Only what needs no GPU: the record with the names of the device. EnsureStarted does the rest.
  static Result<Context*> CreateDeferred(const CairnContextDesc& desc, BlockWriter* block,
                                         std::unique_ptr<Backend> backend);
  // Stops the mirror and gives everything back; the block keeps what a last report needs until other
  // contexts need the room.
  static void Destroy(Context* context);

  // Starts a deferred context: memory in the block, self-test. BeginCommandList and WriteRaw call
  // it. A failure is final: the context is off, later calls return the same status at once, and the
  // report shows it among the sources.
  Status EnsureStarted();
  // Returns true if EnsureStarted failed; failure() then returns its status.
  bool failed() const { return start_.load(std::memory_order_acquire) == Start::kFailed; }
  const Status& failure() const { return failure_; }

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void BeginFrame();
  // Counts a frame, unless the application counts them by cairnBeginFrame on a shared context.
  void BeginLayerFrame();

  // The application creates a context on a device whose context this is: it gets this one. Its wishes
  // are met as far as the context has not started: room for lists, raw markers and frames, and the
  // mode if it writes more (CAIRN_MODE_OFF stays). Its allocation callbacks serve TextMemory().
  // `hold` is whose lifetime the application relies on, released by Unshare.
  struct Hold {
    void* object = nullptr;
    void (*release)(void* object) = nullptr;
  };
  void Share(const CairnContextDesc& desc, Hold hold);
  // Ends one Share; false if there is none: then the context is its creator's. Its hold is to be
  // released by the caller, as the last thing.
  bool Unshare(Hold* hold);

  // Finds the layer's list of a native one, for contexts on devices with wrappers; null otherwise.
  using ListFinder = const LayerList* (*)(void* native);
  void SetListFinder(ListFinder finder) { list_finder_.store(finder, std::memory_order_release); }
  const LayerList* FindLayerList(void* native) const {
    const ListFinder finder = list_finder_.load(std::memory_order_acquire);
    return finder == nullptr ? nullptr : finder(native);
  }
  // Returns true for the layer's own context, which sees every list and every submission.
  bool is_layers() const { return deferred_; }

  Status RegisterQueue(void* native, CairnQueueType type, const char* name);
  Status RegisterPipeline(const CairnPipelineDesc& desc, CairnPipeline* pipeline);
  // The same by stage: names, null where there is no such stage, and hashes of their code, each 0 or that of a
  // BlockWriter::AddShader. `description`: format/block/pipeline_description.h; 0: none.
  Status RegisterPipeline(const void* native, const char* name,
                          std::span<const char* const, kStageCount> shader_names,
                          std::span<const uint64_t, kStageCount> shader_hashes,
                          uint64_t description, CairnPipeline* pipeline);
  Status UnregisterPipeline(CairnPipeline pipeline);
  // The queue's record, for BlockWriter::Sync; kNoQueue if it is not registered.
  uint32_t QueueIndex(void* native);
  // The queue is gone: its record may be used again, and its address may be another queue's.
  void ForgetQueue(void* native);
  // `application_handle`: what stands in reports instead of desc.native, unless it is null.
  Status BeginCommandList(const CairnCommandListDesc& desc, CommandList** list,
                          const void* application_handle = nullptr);
  // For reusable and for held lists. A held one that was never submitted is forgotten at once.
  Status ReleaseCommandList(CommandList* list);
  Status NotifySubmit(void* queue, CommandList* const* lists, uint32_t list_count);
  // The queue refused its submissions of this number and more: nothing of them ever runs.
  void Withdraw(void* queue, uint64_t first_submission);
  Status LastSubmission(void* queue, uint64_t* submission);
  Status NotifyCompleted(void* queue, uint64_t submission);
  Status ReportDeviceLost(int32_t code, const char* where);
  // `recording` is the layer's of this command buffer, or null; what is open of the application's own is
  // found by the handle. Where there is one, it keeps the place of the marker among the work.
  Status WriteRaw(void* command_buffer, PipeLocation where, uint32_t index, uint64_t value,
                  CommandList* recording = nullptr);

  // Brings the words in the block up to date. Safe in a signal handler.
  void Mirror() {
    if (MirrorThread::MemoryIsThere()) backend_->Mirror();
  }
  // The same, and copies them to where the GPU does not write: as the words of a fault at `crash_ns`.
  void KeepWords(uint64_t crash_ns);

  const volatile uint64_t* raw_markers() const;
  uint32_t raw_marker_count() const { return desc_.raw_marker_count; }
  uint32_t index() const { return index_; }
  // "" until it is known.
  std::string_view device_name() const;
  BlockWriter* block() const { return block_; }
  // For texts that the application releases.
  CallbackMemory TextMemory();

 private:
  struct Frame {
    uint64_t number;
    std::pmr::vector<CommandList*> lists;
  };

  Context(const CairnContextDesc& desc, BlockWriter* block, std::unique_ptr<Backend> backend,
          bool deferred);
  ~Context();
  enum class Start : uint32_t { kNotYet, kDone, kFailed };

  static Result<Context*> Make(const CairnContextDesc& desc, BlockWriter* block,
                               std::unique_ptr<Backend> backend, bool deferred);
  // Takes the record; publishes it if the context is deferred.
  Status TakeRecord();
  Status StartLocked();  // start_mutex_ is held
  Status Initialize();
  Status AllocateWords(WordRegion* region);
  void AllocateCrashWords(const WordRegion& words);
  void DescribeDevice(const BackendDescription& description);
  void DescribeMethods(const BackendDescription& description);
  void NoteFailure();
  void RetirePipelines();
  void AdvanceFrame();

  // All below need mutex_.
  uint32_t FindQueue(void* native, CairnQueueType type, bool add);
  bool Finished(const CommandList& list) const;
  bool MayRecycle(const CommandList& list) const;
  void Recycle(CommandList* list);
  // Those of the list and of what runs inside it, for SubmissionRecord.
  static uint64_t PipelinesOf(const CommandList& primary);
  // The lists that run inside `primary`, which is being submitted.
  void SubmitSecondaries(const CommandList& primary);
  void RecycleOldFrames();
  // Called if no recording is free: recycles lists of kept frames that were held and are now
  // released and finished.
  void RecycleReleased();
  // Forgets the abandoned recording of a native list: one that was not ended before the list was
  // recorded anew.
  void ForgetAbandoned(const void* native);
  CommandList* FreeList();
  // Returns the open list, not yet submitted, that the application registered for `native`, where
  // raw markers are on.
  CommandList* OpenListOf(const void* native);

  CallbackMemory memory_;
  BlockWriter* block_;
  std::unique_ptr<Backend> backend_;
  CairnContextDesc desc_;  // changes before the start only, under start_mutex_ and mutex_
  const bool deferred_;
  uint32_t index_ = 0;
  ContextRecord* record_ = nullptr;
  std::atomic<ListFinder> list_finder_{nullptr};

  std::mutex start_mutex_;  // before mutex_
  std::atomic<Start> start_{Start::kNotYet};
  Status failure_;  // before start_ says that there is one
  BlockWriter::ContextRemains remains_;
  WordRegion crash_words_;  // where KeepWords copies to; null base: nowhere

  std::mutex mutex_;
  std::atomic<uint32_t> live_pipelines_{0};
  std::vector<Hold> holds_;  // one for each Share
  bool application_counts_frames_ = false;
  CairnAllocationCallbacks text_memory_{};
  std::pmr::deque<CommandList> lists_;  // one for each slot used so far
  std::atomic<uint32_t> slots_used_{0};
  std::pmr::vector<CommandList*> free_lists_;
  std::pmr::deque<Frame> frames_;  // oldest first; the last is the current one
  std::pmr::vector<std::pmr::vector<CommandList*>> spare_list_vectors_;
  std::pmr::vector<CommandList*> lingering_;  // of forgotten frames, still running on the GPU
  std::pmr::vector<uint32_t> queues_;         // indices into the block's queue table

  MirrorThread mirror_;

  // The last registered of each native list, where raw markers are on. Needs mutex_.
  std::pmr::unordered_map<const void*, CommandList*> lists_by_native_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_CONTEXT_H_
