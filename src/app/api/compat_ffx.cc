// SPDX-License-Identifier: Apache-2.0
//
// Implements cairn/compat/ffx_breadcrumbs.h with the public functions of cairn/breadcrumbs.h. Adds
// the look-up from the application's pointers to our handles.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/compat/ffx_breadcrumbs.h"

#include "app/api/compat_ffx_backends.h"
#include "app/api/compat_ffx_history.h"
#include "app/api/compat_ffx_marker_types.h"
#include "app/api/compat_ffx_status.h"
#include "app/api/errors.h"
#include "app/api/layer_recordings.h"
#include "app/breadcrumbs/allocation.h"

namespace cairn {
namespace {

constexpr uint32_t kMaxFrameHistory = 1024;
constexpr uint64_t kContextMagic = 0x58464652'4e524143;  // "CARNRFFX"

FfxErrorCode FailFfx(FfxErrorCode error, std::string_view message) {
  Fail(CAIRN_ERROR_INVALID_ARGUMENT, message);
  return error;
}

// Runs the body; what the standard library throws becomes a code.
template <typename Body>
FfxErrorCode GuardedFfx(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return FailFfx(FFX_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return FailFfx(FFX_ERROR_BACKEND_API_ERROR, error.what());
  }
}

CairnAllocationCallbacks CallbacksOf(FfxAllocationCallbacks* callbacks) {
  return {[](size_t size_bytes, void* user_data) {
            return static_cast<FfxAllocationCallbacks*>(user_data)->fpAlloc(size_bytes);
          },
          [](void* memory, size_t size_bytes, void* user_data) {
            return static_cast<FfxAllocationCallbacks*>(user_data)->fpRealloc(memory, size_bytes);
          },
          [](void* memory, void* user_data) {
            static_cast<FfxAllocationCallbacks*>(user_data)->fpFree(memory);
          },
          callbacks};
}

// A queueType as the native queue of Cairn's functions, where NULL is no queue.
void* QueueKey(uint32_t queue_type) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(queue_type) + 1);
}

// Different for each frame of each context, so that a thread's last look-up needs no other key.
std::atomic<uint64_t> next_generation{1};

class FfxBreadcrumbs {
 public:
  explicit FfxBreadcrumbs(const FfxBreadcrumbsContextDescription& desc)
      : synchronised_((desc.flags & FFX_BREADCRUMBS_ENABLE_THREAD_SYNCHRONIZATION) != 0),
        flags_(desc.flags),
        backend_{desc.backendInterface,
                 desc.allocCallbacks.fpAlloc != nullptr
                     ? desc.allocCallbacks
                     : FfxAllocationCallbacks{std::malloc, std::realloc, std::free},
                 {}},
        api_(backend_.interface.fpBreadcrumbsWrite == nullptr ? FfxApi::kCustom
                                                              : FfxApiOf(backend_.interface)),
        memory_(CallbacksOf(&backend_.allocation)),
        queues_(desc.pUsedGpuQueues, desc.pUsedGpuQueues + desc.usedGpuQueuesCount, &memory_),
        kinds_(queues_.size(), CAIRN_QUEUE_OTHER, &memory_),
        history_(&memory_, std::min(desc.frameHistoryLength, kMaxFrameHistory)),
        lists_(&memory_),
        pipelines_(&memory_),
        pipeline_names_(&memory_) {}

  ~FfxBreadcrumbs() {
    if (context_ != nullptr) cairnDestroyContext(context_);
    if (has_effect_context_ && backend_.interface.fpDestroyBackendContext != nullptr) {
      backend_.interface.fpDestroyBackendContext(&backend_.interface, effect_context_);
    }
  }

  FfxErrorCode Initialize(uint32_t frame_history) {
    FfxInterface& interface = backend_.interface;
    if (interface.fpCreateBackendContext != nullptr) {
      const FfxErrorCode error = interface.fpCreateBackendContext(
          &interface, FFX_EFFECT_BREADCRUMBS, nullptr, &effect_context_);
      if (error != FFX_OK) return FailFfx(error, "fpCreateBackendContext failed");
      has_effect_context_ = true;
    }
    CairnContextDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.flags = CAIRN_CONTEXT_OUTERMOST_END_IS_LIST_END;
    if (synchronised_) desc.flags |= CAIRN_CONTEXT_THREAD_SYNCHRONIZATION;
    desc.mode = CAIRN_MODE_FULL;
    desc.frame_history_length = std::min(frame_history, kMaxFrameHistory);
    desc.allocation = CallbacksOf(&backend_.allocation);
    const FfxErrorCode error = CreateFfxBackendContext(&backend_, desc, queues_, &context_);
    if (error != FFX_OK) return error;
    // A layer sees the queues themselves.
    if (IsLayerContext(context_)) return FFX_OK;
    for (uint32_t i = 0; i < queues_.size(); ++i) {
      const uint32_t queue = queues_[i];
      // Reports give the kind as a number; the application's own is said where it is another.
      const CairnQueueType kind = kinds_[i] = FfxQueueKind(backend_, api_, queue);
      const std::string name = fmt::format("queue type {}", queue);
      const CairnResult result =
          cairnRegisterQueue(context_, QueueKey(i), kind,
                             static_cast<uint32_t>(kind) == queue ? nullptr : name.c_str());
      if (result != CAIRN_OK) return ToFfx(result);
    }
    return FFX_OK;
  }

  FfxErrorCode StartFrame() {
    const auto lock = LockToChange();
    lists_.clear();
    history_.StartFrame();
    generation_.store(next_generation.fetch_add(1, std::memory_order_relaxed),
                      std::memory_order_release);
    return ToFfx(cairnBeginFrame(context_));
  }

  FfxErrorCode RegisterList(const FfxBreadcrumbsCommandListDescription& desc) {
    if (desc.queueType >= queues_.size()) return UnknownQueue(desc.queueType);
    const auto lock = LockToChange();
    CairnPipeline pipeline = 0;
    if (!PipelineOf(desc.pipeline, &pipeline)) return UnknownPipeline();
    const auto [entry, added] = lists_.try_emplace(desc.commandList);
    if (!added) {
      return FailFfx(FFX_ERROR_INVALID_ARGUMENT,
                     "the command list is registered in this frame already");
    }
    FfxFrame& frame = history_.current();
    FfxErrorCode error = FFX_ERROR_OUT_OF_MEMORY;
    try {
      Registration& registration = entry->second;
      registration.told_list = frame.AddList();
      registration.told_list->queue_type = desc.queueType;
      registration.told_list->submission_index = desc.submissionIndex;
      registration.told_list->name = frame.Keep(desc.name);
      registration.told_list->pipeline = ShowsPipelines() ? desc.pipeline : nullptr;
      registration.pipeline = pipeline;
      error = BeginRegistered(desc.commandList, &registration);
    } catch (const std::bad_alloc&) {
    }
    if (error != FFX_OK) {
      if (entry->second.told_list != nullptr) frame.RemoveLastList();
      lists_.erase(entry);
    }
    return error;
  }

  FfxErrorCode RegisterPipeline(const FfxBreadcrumbsPipelineStateDescription& desc) {
    CairnPipelineDesc pipeline{};
    pipeline.struct_size = sizeof(pipeline);
    pipeline.native = desc.pipeline;
    pipeline.name = desc.name.pName;
    pipeline.vertex_shader = desc.vertexShader.pName;
    pipeline.hull_shader = desc.hullShader.pName;
    pipeline.domain_shader = desc.domainShader.pName;
    pipeline.geometry_shader = desc.geometryShader.pName;
    pipeline.pixel_shader = desc.pixelShader.pName;
    pipeline.mesh_shader = desc.meshShader.pName;
    pipeline.amplification_shader = desc.amplificationShader.pName;
    pipeline.compute_shader = desc.computeShader.pName;
    pipeline.ray_tracing_shader = desc.rayTracingShader.pName;
    const auto lock = LockToChange();
    const auto [entry, added] = pipelines_.try_emplace(desc.pipeline);
    if (!added) {
      return FailFfx(FFX_ERROR_INVALID_ARGUMENT, "the pipeline is registered already");
    }
    const CairnResult result = cairnRegisterPipeline(context_, &pipeline, &entry->second.pipeline);
    if (result != CAIRN_OK) {
      pipelines_.erase(entry);
    } else {
      KeepNames(desc, &entry->second.description);
    }
    return ToFfx(result);
  }

  FfxErrorCode SetPipeline(FfxCommandList native, FfxPipeline native_pipeline) {
    CairnPipeline pipeline = 0;
    bool of_layer = false;
    {
      const auto lock = LockToRead();
      if (!PipelineOf(native_pipeline, &pipeline)) return UnknownPipeline();
      const auto found = lists_.find(native);
      if (found == lists_.end()) return FFX_ERROR_INVALID_ARGUMENT;
      of_layer = found->second.of_layer;
      const auto list_lock = LockList(*found->second.told_list);
      if (ShowsPipelines()) found->second.told_list->pipeline = native_pipeline;
    }
    if (of_layer) {
      // For what the list records later, too.
      const auto lock = LockToChange();
      const auto found = lists_.find(native);
      if (found == lists_.end()) return FFX_ERROR_INVALID_ARGUMENT;
      found->second.pipeline = pipeline;
      LayerRecording recording;
      if (!FindLayerRecording(context_, native, &recording) ||
          recording.state != LayerRecording::State::kOpen) {
        return FFX_OK;
      }
    }
    Target target;
    const FfxErrorCode error = FindList(native, &target);
    return error != FFX_OK ? error : ToFfx(cairnSetPipeline(target.list, pipeline));
  }

  FfxErrorCode BeginMarker(FfxCommandList native, FfxBreadcrumbsMarkerType type,
                           const FfxBreadcrumbsNameTag& name) {
    Target target;
    const FfxErrorCode error = FindList(native, &target);
    if (error != FFX_OK) return error;
    FfxList& told = *target.told_list;
    const auto lock = LockList(told);
    // Allocate first: the GPU's writes are reported in any case.
    told.markers.push_back({type, told.depth, history_.current().Keep(name), told.pipeline, 0, 0});
    const CairnResult result =
        cairnBeginMarker(target.list, MarkerTypeFromFfx(type), name.pName,
                         name.isNameExternallyOwned ? CAIRN_NAME_STATIC : CAIRN_NAME_COPY);
    if (result == CAIRN_OK) {
      const RecordedEvent begin = LastEventOf(target.list);
      told.markers.back().recording_id = begin.recording_id;
      told.markers.back().sequence = begin.sequence;
    } else if (result != CAIRN_ERROR_OUT_OF_MEMORY) {
      told.markers.pop_back();
      return ToFfx(result);
    }
    // With a full block the marker is open all the same, but is not reported.
    ++told.depth;
    return ToFfx(result);
  }

  FfxErrorCode EndMarker(FfxCommandList native) {
    Target target;
    const FfxErrorCode error = FindList(native, &target);
    if (error != FFX_OK) return error;
    const auto lock = LockList(*target.told_list);
    const CairnResult result = cairnEndMarker(target.list);
    if (result == CAIRN_OK && target.told_list->depth != 0) --target.told_list->depth;
    return ToFfx(result);
  }

  FfxErrorCode NotifySubmit(uint32_t queue_type, const FfxCommandList* natives, uint32_t count) {
    if (queue_type >= queues_.size()) return UnknownQueue(queue_type);
    std::pmr::vector<CairnCommandList*> lists(&memory_);
    lists.reserve(count);
    const auto lock = LockToRead();
    for (uint32_t i = 0; i < count; ++i) {
      const auto found = lists_.find(natives[i]);
      if (found == lists_.end()) {
        return FailFfx(FFX_ERROR_INVALID_ARGUMENT,
                       fmt::format("command list {} of {} is not registered", i, count));
      }
      // A layer sees the submissions of its lists.
      if (!found->second.of_layer) lists.push_back(found->second.list);
    }
    if (lists.empty()) return FFX_OK;
    return ToFfx(cairnNotifySubmit(context_, QueueKey(queue_type), lists.data(),
                                   static_cast<uint32_t>(lists.size())));
  }

  FfxErrorCode Print(FfxBreadcrumbsMarkersStatus* status) {
    *status = {};
    const bool skips_device = (flags_ & FFX_BREADCRUMBS_PRINT_SKIP_DEVICE_INFO) != 0;
    const FfxAllocationCallbacks& memory = backend_.allocation;
    if (!skips_device && backend_.interface.fpBreadcrumbsPrintDeviceInfo != nullptr) {
      backend_.interface.fpBreadcrumbsPrintDeviceInfo(
          &backend_.interface, &backend_.allocation,
          (flags_ & FFX_BREADCRUMBS_PRINT_EXTENDED_DEVICE_INFO) != 0, &status->pBuffer,
          &status->bufferSize);
    }
    const auto lock = LockToRead();
    std::string text;
    const Status printed = AppendFfxStatus(
        *reinterpret_cast<Context*>(context_), history_,
        [this](FfxPipeline pipeline) -> const FfxBreadcrumbsPipelineStateDescription* {
          const auto found = pipelines_.find(pipeline);
          return found == pipelines_.end() ? nullptr : &found->second.description;
        },
        {.flags = flags_, .has_device_info = !skips_device && api_ != FfxApi::kCustom}, &text);
    if (!printed.ok()) return FailFfx(FFX_ERROR_BACKEND_API_ERROR, printed.message());
    void* const buffer = memory.fpRealloc(status->pBuffer, status->bufferSize + text.size() + 1);
    if (buffer == nullptr) return FailFfx(FFX_ERROR_OUT_OF_MEMORY, "no memory for the status");
    status->pBuffer = static_cast<char*>(buffer);
    // Copy the zero behind it, which does not count.
    std::memcpy(status->pBuffer + status->bufferSize, text.c_str(), text.size() + 1);
    status->bufferSize += text.size();
    return FFX_OK;
  }

  // The list of a marker: the recorded one, and the one of FfxHistory.
  struct Target {
    CairnCommandList* list = nullptr;
    FfxList* told_list = nullptr;
  };

  // FFX_ERROR_INVALID_ARGUMENT: it is not registered in this frame, or not open. Finding the list that
  // this thread used last takes neither a lock nor a look-up: markers come in long runs for one list. A
  // layer's list is asked for its recording each time, for it may have been reset since.
  FfxErrorCode FindList(FfxCommandList native, Target* target) {
    struct Last {
      uint64_t generation;
      FfxCommandList native;
      Target target;
    };
    static thread_local Last last{};
    const uint64_t generation = generation_.load(std::memory_order_acquire);
    if (last.generation == generation && last.native == native) {
      *target = last.target;
      return FFX_OK;
    }
    LayerRecording recording;
    {
      const auto lock = LockToRead();
      const auto found = lists_.find(native);
      if (found == lists_.end()) return FFX_ERROR_INVALID_ARGUMENT;
      target->told_list = found->second.told_list;
      if (!found->second.of_layer) {
        target->list = found->second.list;
        last = {generation, native, *target};
        return FFX_OK;
      }
      if (!FindLayerRecording(context_, native, &recording)) return FFX_ERROR_INVALID_ARGUMENT;
      if (recording.state == LayerRecording::State::kClosed) return FFX_ERROR_INVALID_ARGUMENT;
      if (recording.state == LayerRecording::State::kNone) return FFX_ERROR_OUT_OF_MEMORY;
      target->list = recording.list;
      if (found->second.told == recording.id) return FFX_OK;
    }
    const auto lock = LockToChange();
    const auto found = lists_.find(native);
    if (found == lists_.end()) return FFX_ERROR_INVALID_ARGUMENT;
    if (found->second.told == recording.id) return FFX_OK;  // By another thread, meanwhile.
    return Begin(native, &found->second, recording.id);
  }

  CairnContext* context() const { return context_; }

 private:
  // The arguments of ffxBreadcrumbsRegisterCommandList, valid until the next frame.
  struct Registration {
    CairnCommandList* list = nullptr;  // of a layer's list: of the recording that was told
    bool of_layer = false;
    uint64_t told = 0;  // LayerRecording::id; 0 for none
    CairnPipeline pipeline = 0;
    FfxList* told_list = nullptr;  // what the status prints of it
  };
  struct RegisteredPipeline {
    CairnPipeline pipeline = 0;
    FfxBreadcrumbsPipelineStateDescription description{};  // names as KeepFfxName has them
  };

  FfxErrorCode BeginRegistered(FfxCommandList native, Registration* registration) {
    LayerRecording recording;
    if (FindLayerRecording(context_, native, &recording)) {
      registration->of_layer = true;
      // The list was registered before it is opened: its recording gets the facts at its first
      // marker.
      if (recording.state != LayerRecording::State::kOpen) return FFX_OK;
    }
    return Begin(native, registration, recording.id);
  }

  // Registers the list with Cairn; it is open if it is a layer's. Needs mutex_.
  FfxErrorCode Begin(FfxCommandList native, Registration* registration, uint64_t recording_id) {
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.native = native;
    FfxList& told = *registration->told_list;
    told.depth = 0;
    desc.queue = QueueKey(told.queue_type);
    desc.queue_type = kinds_[told.queue_type];
    desc.name = told.name;
    desc.pipeline = registration->pipeline;
    desc.submission_index = told.submission_index;
    const CairnResult result = cairnBeginCommandList(context_, &desc, &registration->list);
    if (result == CAIRN_OK) registration->told = recording_id;
    return ToFfx(result);
  }

  std::shared_lock<std::shared_mutex> LockToRead() {
    return synchronised_ ? std::shared_lock(mutex_) : std::shared_lock(mutex_, std::defer_lock);
  }
  std::unique_lock<std::shared_mutex> LockToChange() {
    return synchronised_ ? std::unique_lock(mutex_) : std::unique_lock(mutex_, std::defer_lock);
  }

  std::unique_lock<std::mutex> LockList(FfxList& list) {
    return synchronised_ ? std::unique_lock(list.mutex)
                         : std::unique_lock(list.mutex, std::defer_lock);
  }

  bool ShowsPipelines() const { return (flags_ & FFX_BREADCRUMBS_PRINT_SKIP_PIPELINE_INFO) == 0; }
  FfxErrorCode UnknownQueue(uint32_t queue_type) const {
    return FailFfx(FFX_ERROR_INVALID_ARGUMENT,
                   fmt::format("queueType {} is no index into pUsedGpuQueues, which has {}; give "
                               "the place of the queue there",
                               queue_type, queues_.size()));
  }
  // Needs mutex_.
  void KeepNames(const FfxBreadcrumbsPipelineStateDescription& desc,
                 FfxBreadcrumbsPipelineStateDescription* kept) {
    *kept = desc;
    for (FfxBreadcrumbsNameTag* tag :
         {&kept->name, &kept->vertexShader, &kept->hullShader, &kept->domainShader,
          &kept->geometryShader, &kept->meshShader, &kept->amplificationShader, &kept->pixelShader,
          &kept->computeShader, &kept->rayTracingShader}) {
      tag->pName = KeepFfxName(*tag, &pipeline_names_);
    }
  }

  // False if it is not registered. Needs mutex_.
  bool PipelineOf(FfxPipeline native, CairnPipeline* pipeline) const {
    *pipeline = 0;
    if (native == nullptr) return true;
    const auto found = pipelines_.find(native);
    // If the status shows no pipelines, they need not be registered.
    if (found == pipelines_.end()) return !ShowsPipelines();
    *pipeline = found->second.pipeline;
    return true;
  }
  static FfxErrorCode UnknownPipeline() {
    return FailFfx(FFX_ERROR_INVALID_ARGUMENT, "the pipeline is not registered");
  }

  const bool synchronised_;
  const uint32_t flags_;  // FFX_BREADCRUMBS_...
  FfxBackend backend_;
  const FfxApi api_;
  CallbackMemory memory_;
  const std::pmr::vector<uint32_t> queues_;
  std::pmr::vector<CairnQueueType>
      kinds_;  // of queues_; unknown on a layer's context, and not needed
  CairnContext* context_ = nullptr;
  FfxUInt32 effect_context_ = 0;
  bool has_effect_context_ = false;

  std::atomic<uint64_t> generation_{next_generation.fetch_add(1, std::memory_order_relaxed)};
  std::shared_mutex mutex_;  // only with synchronised_; guards what follows
  FfxHistory history_;
  std::pmr::unordered_map<FfxCommandList, Registration> lists_;
  std::pmr::unordered_map<FfxPipeline, RegisteredPipeline> pipelines_;
  std::pmr::monotonic_buffer_resource pipeline_names_;
};

// The begin of FfxBreadcrumbsContext::data.
struct ContextData {
  uint64_t magic;
  FfxBreadcrumbs* breadcrumbs;
};
static_assert(sizeof(ContextData) <= sizeof(FfxBreadcrumbsContext));

FfxBreadcrumbs* Unwrap(const FfxBreadcrumbsContext* context) {
  if (context == nullptr) return nullptr;
  ContextData data;
  std::memcpy(&data, context->data, sizeof(data));
  return data.magic == kContextMagic ? data.breadcrumbs : nullptr;
}

FfxErrorCode NotCreated() {
  return FailFfx(FFX_ERROR_INVALID_POINTER, "the context is NULL or was not created");
}

FfxErrorCode CheckDescription(const FfxBreadcrumbsContextDescription& desc) {
  const FfxAllocationCallbacks& memory = desc.allocCallbacks;
  const int callbacks =
      (memory.fpAlloc != nullptr) + (memory.fpRealloc != nullptr) + (memory.fpFree != nullptr);
  constexpr uint32_t kExclusive =
      FFX_BREADCRUMBS_PRINT_EXTENDED_DEVICE_INFO | FFX_BREADCRUMBS_PRINT_SKIP_DEVICE_INFO;
  if (desc.frameHistoryLength == 0 || desc.maxMarkersPerMemoryBlock == 0 ||
      desc.maxMarkersPerMemoryBlock > FFX_BREADCRUMBS_MAX_MARKERS_PER_BLOCK ||
      desc.usedGpuQueuesCount == 0 || (callbacks != 0 && callbacks != 3) ||
      (desc.flags & kExclusive) == kExclusive) {
    return FailFfx(
        FFX_ERROR_INVALID_ARGUMENT,
        fmt::format("frameHistoryLength {}, maxMarkersPerMemoryBlock {}, usedGpuQueuesCount {}, {} "
                    "of 3 allocation callbacks or flags {:#x} is outside the documented range",
                    desc.frameHistoryLength, desc.maxMarkersPerMemoryBlock, desc.usedGpuQueuesCount,
                    callbacks, desc.flags));
  }
  if (desc.pUsedGpuQueues == nullptr) {
    return FailFfx(FFX_ERROR_INVALID_POINTER, "pUsedGpuQueues is NULL");
  }
  return FFX_OK;
}

}  // namespace
}  // namespace cairn

using cairn::FailFfx;
using cairn::FfxBreadcrumbs;
using cairn::GuardedFfx;
using cairn::NotCreated;
using cairn::Unwrap;

FfxErrorCode ffxBreadcrumbsContextCreate(
    FfxBreadcrumbsContext* pContext, const FfxBreadcrumbsContextDescription* pContextDescription) {
  if (pContext == nullptr || pContextDescription == nullptr) {
    return FailFfx(FFX_ERROR_INVALID_POINTER, "the context or its description is NULL");
  }
  return GuardedFfx([&] {
    FfxErrorCode error = cairn::CheckDescription(*pContextDescription);
    if (error != FFX_OK) return error;
    auto breadcrumbs = std::make_unique<FfxBreadcrumbs>(*pContextDescription);
    error = breadcrumbs->Initialize(pContextDescription->frameHistoryLength);
    if (error != FFX_OK) return error;
    const cairn::ContextData data{cairn::kContextMagic, breadcrumbs.release()};
    *pContext = {};
    std::memcpy(pContext->data, &data, sizeof(data));
    return FFX_OK;
  });
}

FfxErrorCode ffxBreadcrumbsContextDestroy(FfxBreadcrumbsContext* pContext) {
  const std::unique_ptr<FfxBreadcrumbs> breadcrumbs(Unwrap(pContext));
  if (breadcrumbs == nullptr) return NotCreated();
  *pContext = {};
  return FFX_OK;
}

FfxErrorCode ffxBreadcrumbsStartFrame(FfxBreadcrumbsContext* pContext) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr) return NotCreated();
  return GuardedFfx([&] { return breadcrumbs->StartFrame(); });
}

FfxErrorCode ffxBreadcrumbsRegisterCommandList(
    FfxBreadcrumbsContext* pContext,
    const FfxBreadcrumbsCommandListDescription* pCommandListDescription) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr) return NotCreated();
  if (pCommandListDescription == nullptr || pCommandListDescription->commandList == nullptr) {
    return FailFfx(FFX_ERROR_INVALID_POINTER, "the command list or its description is NULL");
  }
  return GuardedFfx([&] { return breadcrumbs->RegisterList(*pCommandListDescription); });
}

FfxErrorCode ffxBreadcrumbsRegisterPipeline(
    FfxBreadcrumbsContext* pContext,
    const FfxBreadcrumbsPipelineStateDescription* pPipelineDescription) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr) return NotCreated();
  if (pPipelineDescription == nullptr || pPipelineDescription->pipeline == nullptr) {
    return FailFfx(FFX_ERROR_INVALID_POINTER, "the pipeline or its description is NULL");
  }
  return GuardedFfx([&] { return breadcrumbs->RegisterPipeline(*pPipelineDescription); });
}

FfxErrorCode ffxBreadcrumbsSetPipeline(FfxBreadcrumbsContext* pContext, FfxCommandList commandList,
                                       FfxPipeline pipeline) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr || commandList == nullptr) return FFX_ERROR_INVALID_POINTER;
  return GuardedFfx([&] { return breadcrumbs->SetPipeline(commandList, pipeline); });
}

FfxErrorCode ffxBreadcrumbsBeginMarker(FfxBreadcrumbsContext* pContext, FfxCommandList commandList,
                                       FfxBreadcrumbsMarkerType type,
                                       const FfxBreadcrumbsNameTag* pName) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr || pName == nullptr) return FFX_ERROR_INVALID_POINTER;
  if (static_cast<uint32_t>(type) >= CAIRN_FFX_BREADCRUMBS_MARKER_COUNT) {
    return FFX_ERROR_INVALID_ENUM;
  }
  if (type == FFX_BREADCRUMBS_MARKER_PASS && (pName->pName == nullptr || pName->pName[0] == 0)) {
    return FFX_ERROR_INVALID_ARGUMENT;
  }
  return GuardedFfx([&] { return breadcrumbs->BeginMarker(commandList, type, *pName); });
}

FfxErrorCode ffxBreadcrumbsEndMarker(FfxBreadcrumbsContext* pContext, FfxCommandList commandList) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr) return FFX_ERROR_INVALID_POINTER;
  return GuardedFfx([&] { return breadcrumbs->EndMarker(commandList); });
}

FfxErrorCode ffxBreadcrumbsPrintStatus(FfxBreadcrumbsContext* pContext,
                                       FfxBreadcrumbsMarkersStatus* pMarkersStatus) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr) return NotCreated();
  if (pMarkersStatus == nullptr) return FailFfx(FFX_ERROR_INVALID_POINTER, "the status is NULL");
  return GuardedFfx([&] { return breadcrumbs->Print(pMarkersStatus); });
}

FfxVersionNumber ffxBreadcrumbsGetEffectVersion(void) {
  return FFX_SDK_MAKE_VERSION(FFX_BREADCRUMBS_VERSION_MAJOR, FFX_BREADCRUMBS_VERSION_MINOR,
                              FFX_BREADCRUMBS_VERSION_PATCH);
}

CairnContext* cairnFfxGetContext(FfxBreadcrumbsContext* context) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(context);
  return breadcrumbs == nullptr ? nullptr : breadcrumbs->context();
}

CairnCommandList* cairnFfxGetCommandList(FfxBreadcrumbsContext* context,
                                         FfxCommandList commandList) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(context);
  FfxBreadcrumbs::Target target;
  if (breadcrumbs == nullptr) return nullptr;
  // Passing the registration to a layer's recording may allocate.
  const FfxErrorCode error =
      GuardedFfx([&] { return breadcrumbs->FindList(commandList, &target); });
  return error == FFX_OK ? target.list : nullptr;
}

FfxErrorCode cairnFfxNotifySubmit(FfxBreadcrumbsContext* context, uint32_t queueType,
                                  const FfxCommandList* commandLists, uint32_t count) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(context);
  if (breadcrumbs == nullptr) return NotCreated();
  if (commandLists == nullptr && count != 0) {
    return FailFfx(FFX_ERROR_INVALID_POINTER, "the array of command lists is NULL");
  }
  return GuardedFfx([&] { return breadcrumbs->NotifySubmit(queueType, commandLists, count); });
}
