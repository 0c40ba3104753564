// SPDX-License-Identifier: Apache-2.0
//
// Context: the breadcrumbs of one device. Owns the recordings, frames, queues and pipelines, and the
// backend that writes for them. Off the hot path: everything here may take a lock.
#ifndef CAIRN_BREADCRUMBS_CONTEXT_H_
#define CAIRN_BREADCRUMBS_CONTEXT_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <thread>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "base/status.h"
#include "breadcrumbs/allocation.h"
#include "breadcrumbs/backend.h"
#include "breadcrumbs/command_list.h"
#include "recorder/block_writer.h"

namespace cairn {

class Context {
 public:
  // `block` must outlive the context. The description has been checked and its defaults filled in.
  static Result<Context*> Create(const CairnContextDesc& desc, BlockWriter* block,
                                 std::unique_ptr<Backend> backend);
  // Stops the mirror and gives everything back; the block keeps what a last report needs.
  static void Destroy(Context* context);

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void BeginFrame();
  Status RegisterQueue(void* native, CairnQueueType type, const char* name);
  Status RegisterPipeline(const CairnPipelineDesc& desc, CairnPipeline* pipeline);
  Status UnregisterPipeline(CairnPipeline pipeline);
  Status BeginCommandList(const CairnCommandListDesc& desc, CommandList** list);
  Status ReleaseCommandList(CommandList* list);
  Status NotifySubmit(void* queue, CommandList* const* lists, uint32_t list_count);
  Status LastSubmission(void* queue, uint64_t* submission);
  Status NotifyCompleted(void* queue, uint64_t submission);
  Status ReportDeviceLost(int32_t code, const char* where);
  Status WriteRaw(void* command_buffer, PipeLocation where, uint32_t index, uint64_t value);

  // Brings the words in the block up to date. Safe in a signal handler.
  void Mirror() { backend_->Mirror(); }

  const volatile uint64_t* raw_markers() const;
  uint32_t raw_marker_count() const { return record_->raw_marker_count; }
  uint32_t index() const { return index_; }
  BlockWriter* block() const { return block_; }
  CallbackMemory& memory() { return memory_; }

 private:
  struct Frame {
    uint64_t number;
    std::pmr::vector<CommandList*> lists;
  };

  Context(const CairnContextDesc& desc, BlockWriter* block, std::unique_ptr<Backend> backend);
  ~Context();
  Status Initialize();
  Status AllocateWords(WordRegion* region);
  void Describe(const BackendDescription& description);
  void MirrorLoop();

  // All below need mutex_.
  uint32_t FindQueue(void* native, CairnQueueType type, bool add);
  bool Finished(const CommandList& list) const;
  bool MayRecycle(const CommandList& list) const;
  void Recycle(CommandList* list);
  void RecycleOldFrames();
  // A native list that is recorded anew was not ended before: nobody records into the old one.
  void ForgetAbandoned(const void* native);
  CommandList* FreeList();

  CallbackMemory memory_;
  BlockWriter* block_;
  std::unique_ptr<Backend> backend_;
  const CairnContextDesc desc_;
  uint32_t index_ = 0;
  ContextRecord* record_ = nullptr;

  std::mutex mutex_;
  std::pmr::deque<CommandList> lists_;  // one for each slot used so far
  std::pmr::vector<CommandList*> free_lists_;
  std::pmr::deque<Frame> frames_;  // oldest first; the last is the current one
  std::pmr::vector<std::pmr::vector<CommandList*>> spare_list_vectors_;
  std::pmr::vector<CommandList*> lingering_;  // of forgotten frames, still running on the GPU
  std::pmr::vector<uint32_t> queues_;         // indices into the block's queue table

  std::mutex mirror_mutex_;
  std::condition_variable mirror_stop_;
  bool mirror_stopping_ = false;
  std::thread mirror_;
};

}  // namespace cairn

#endif  // CAIRN_BREADCRUMBS_CONTEXT_H_
