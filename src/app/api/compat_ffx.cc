// SPDX-License-Identifier: Apache-2.0
//
// cairn/compat/ffx_breadcrumbs.h on the public functions of cairn/breadcrumbs.h. What is added is the
// look-up from the application's pointers to our handles.
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
#include "app/api/compat_ffx_marker_types.h"
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

uint32_t PrintFlags(uint32_t flags) {
  constexpr uint32_t kPairs[][2] = {
      {FFX_BREADCRUMBS_PRINT_FINISHED_LISTS, CAIRN_PRINT_FINISHED_LISTS},
      {FFX_BREADCRUMBS_PRINT_NOT_STARTED_LISTS, CAIRN_PRINT_NOT_STARTED_LISTS},
      {FFX_BREADCRUMBS_PRINT_FINISHED_NODES, CAIRN_PRINT_FINISHED_NODES},
      {FFX_BREADCRUMBS_PRINT_NOT_STARTED_NODES, CAIRN_PRINT_NOT_STARTED_NODES},
      {FFX_BREADCRUMBS_PRINT_EXTENDED_DEVICE_INFO, CAIRN_PRINT_EXTENDED_DEVICE_INFO},
      {FFX_BREADCRUMBS_PRINT_SKIP_DEVICE_INFO, CAIRN_PRINT_SKIP_DEVICE_INFO},
      {FFX_BREADCRUMBS_PRINT_SKIP_PIPELINE_INFO, CAIRN_PRINT_SKIP_PIPELINE_INFO}};
  uint32_t result = 0;
  for (const auto& [theirs, ours] : kPairs) {
    if ((flags & theirs) != 0) result |= ours;
  }
  return result;
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
        print_flags_(PrintFlags(desc.flags)),
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
        lists_(&memory_),
        pipelines_(&memory_) {}

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
    for (size_t i = 0; i < queues_.size(); ++i) {
      const uint32_t queue = queues_[i];
      // Reports give the kind as a number; the application's own is said where it is another.
      const CairnQueueType kind = kinds_[i] = FfxQueueKind(backend_, api_, queue);
      const std::string name = fmt::format("queue type {}", queue);
      const CairnResult result =
          cairnRegisterQueue(context_, QueueKey(queue), kind,
                             static_cast<uint32_t>(kind) == queue ? nullptr : name.c_str());
      if (result != CAIRN_OK) return ToFfx(result);
    }
    return FFX_OK;
  }

  FfxErrorCode StartFrame() {
    const auto lock = LockToChange();
    lists_.clear();
    generation_.store(next_generation.fetch_add(1, std::memory_order_relaxed),
                      std::memory_order_release);
    return ToFfx(cairnBeginFrame(context_));
  }

  FfxErrorCode RegisterList(const FfxBreadcrumbsCommandListDescription& desc) {
    if (!KnowsQueue(desc.queueType)) {
      return FailFfx(FFX_ERROR_INVALID_ARGUMENT,
                     fmt::format("queueType {} is not in pUsedGpuQueues", desc.queueType));
    }
    const auto lock = LockToChange();
    CairnPipeline pipeline = 0;
    if (!PipelineOf(desc.pipeline, &pipeline)) return UnknownPipeline();
    Registration registration(&memory_);
    registration.queue_type = desc.queueType;
    registration.submission_index = desc.submissionIndex;
    registration.pipeline = pipeline;
    if (desc.name.pName != nullptr) registration.name = desc.name.pName;
    const auto [entry, added] = lists_.try_emplace(desc.commandList, std::move(registration));
    if (!added) {
      return FailFfx(FFX_ERROR_INVALID_ARGUMENT,
                     "the command list is registered in this frame already");
    }
    LayerRecording recording;
    if (FindLayerRecording(context_, desc.commandList, &recording)) {
      entry->second.of_layer = true;
      // Registered before it is opened: what was said is told to the recording at its first marker.
      if (recording.state != LayerRecording::State::kOpen) return FFX_OK;
    }
    const FfxErrorCode error = Begin(desc.commandList, &entry->second, recording.id);
    if (error != FFX_OK) lists_.erase(entry);
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
    const auto [entry, added] = pipelines_.try_emplace(desc.pipeline, 0);
    if (!added) {
      return FailFfx(FFX_ERROR_INVALID_ARGUMENT, "the pipeline is registered already");
    }
    const CairnResult result = cairnRegisterPipeline(context_, &pipeline, &entry->second);
    if (result != CAIRN_OK) pipelines_.erase(entry);
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
    CairnCommandList* list = nullptr;
    const FfxErrorCode error = FindList(native, &list);
    return error != FFX_OK ? error : ToFfx(cairnSetPipeline(list, pipeline));
  }

  FfxErrorCode NotifySubmit(uint32_t queue_type, const FfxCommandList* natives, uint32_t count) {
    if (!KnowsQueue(queue_type)) {
      return FailFfx(FFX_ERROR_INVALID_ARGUMENT,
                     fmt::format("queueType {} is not in pUsedGpuQueues", queue_type));
    }
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
    return ToFfx(cairnPrintStatus(context_, print_flags_, &status->pBuffer, &status->bufferSize));
  }

  // FFX_ERROR_INVALID_ARGUMENT: it is not registered in this frame, or not open. Finding the list that
  // this thread used last takes neither a lock nor a look-up: markers come in long runs for one list. A
  // layer's list is asked for its recording each time, for it may have been reset since.
  FfxErrorCode FindList(FfxCommandList native, CairnCommandList** list) {
    struct Last {
      uint64_t generation;
      FfxCommandList native;
      CairnCommandList* list;
    };
    static thread_local Last last{};
    const uint64_t generation = generation_.load(std::memory_order_acquire);
    if (last.generation == generation && last.native == native) {
      *list = last.list;
      return FFX_OK;
    }
    LayerRecording recording;
    {
      const auto lock = LockToRead();
      const auto found = lists_.find(native);
      if (found == lists_.end()) return FFX_ERROR_INVALID_ARGUMENT;
      if (!found->second.of_layer) {
        *list = found->second.list;
        last = {generation, native, *list};
        return FFX_OK;
      }
      if (!FindLayerRecording(context_, native, &recording)) return FFX_ERROR_INVALID_ARGUMENT;
      if (recording.state == LayerRecording::State::kClosed) return FFX_ERROR_INVALID_ARGUMENT;
      if (recording.state == LayerRecording::State::kNone) return FFX_ERROR_OUT_OF_MEMORY;
      *list = recording.list;
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
  // What ffxBreadcrumbsRegisterCommandList said, until the next frame.
  struct Registration {
    explicit Registration(std::pmr::memory_resource* memory) : name(memory) {}

    CairnCommandList* list = nullptr;  // of a layer's list: of the recording that was told
    bool of_layer = false;
    uint64_t told = 0;  // LayerRecording::id; 0 for none
    uint32_t queue_type = 0;
    uint16_t submission_index = 0;
    CairnPipeline pipeline = 0;
    std::pmr::string name;
  };

  // Tells Cairn of the list, which is open if it is a layer's. Needs mutex_.
  FfxErrorCode Begin(FfxCommandList native, Registration* registration, uint64_t recording_id) {
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.native = native;
    desc.queue = QueueKey(registration->queue_type);
    desc.queue_type = QueueKind(registration->queue_type);
    desc.name = registration->name.empty() ? nullptr : registration->name.c_str();
    desc.pipeline = registration->pipeline;
    desc.submission_index = registration->submission_index;
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

  CairnQueueType QueueKind(uint32_t queue_type) const {
    const auto found = std::find(queues_.begin(), queues_.end(), queue_type);
    return found == queues_.end() ? CAIRN_QUEUE_OTHER
                                  : kinds_[static_cast<size_t>(found - queues_.begin())];
  }
  bool KnowsQueue(uint32_t queue_type) const {
    return std::find(queues_.begin(), queues_.end(), queue_type) != queues_.end();
  }

  // False if it is not registered. Needs mutex_.
  bool PipelineOf(FfxPipeline native, CairnPipeline* pipeline) const {
    *pipeline = 0;
    if (native == nullptr) return true;
    const auto found = pipelines_.find(native);
    if (found == pipelines_.end()) return false;
    *pipeline = found->second;
    return true;
  }
  static FfxErrorCode UnknownPipeline() {
    return FailFfx(FFX_ERROR_INVALID_ARGUMENT, "the pipeline is not registered");
  }

  const bool synchronised_;
  const uint32_t print_flags_;
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
  std::pmr::unordered_map<FfxCommandList, Registration> lists_;
  std::pmr::unordered_map<FfxPipeline, CairnPipeline> pipelines_;
};

// What FfxBreadcrumbsContext::data begins with.
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
  return GuardedFfx([&] {
    CairnCommandList* list = nullptr;
    const FfxErrorCode error = breadcrumbs->FindList(commandList, &list);
    if (error != FFX_OK) return error;
    return cairn::ToFfx(
        cairnBeginMarker(list, cairn::MarkerTypeFromFfx(type), pName->pName,
                         pName->isNameExternallyOwned ? CAIRN_NAME_STATIC : CAIRN_NAME_COPY));
  });
}

FfxErrorCode ffxBreadcrumbsEndMarker(FfxBreadcrumbsContext* pContext, FfxCommandList commandList) {
  FfxBreadcrumbs* breadcrumbs = Unwrap(pContext);
  if (breadcrumbs == nullptr) return FFX_ERROR_INVALID_POINTER;
  return GuardedFfx([&] {
    CairnCommandList* list = nullptr;
    const FfxErrorCode error = breadcrumbs->FindList(commandList, &list);
    return error != FFX_OK ? error : cairn::ToFfx(cairnEndMarker(list));
  });
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
  CairnCommandList* list = nullptr;
  if (breadcrumbs == nullptr) return nullptr;
  // May tell a layer's recording what was registered, which allocates.
  GuardedFfx([&] { return breadcrumbs->FindList(commandList, &list); });
  return list;
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
