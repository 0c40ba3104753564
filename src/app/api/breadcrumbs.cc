// SPDX-License-Identifier: Apache-2.0
//
// The C entry points of cairn/breadcrumbs.h and cairn/markers.h: checks of arguments, then one call.
#include "cairn/breadcrumbs.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cairn/markers.h"

#include "app/api/errors.h"
#include "app/api/print_status.h"
#include "app/api/start_watcher.h"
#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/custom_backend.h"
#include "app/breadcrumbs/d3d12_abi.h"
#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/vulkan_backend.h"

using cairn::BlockWriter;
using cairn::CommandList;
using cairn::Context;
using cairn::Fail;
using cairn::Finish;
using cairn::Guarded;
using cairn::Result;
using cairn::Status;
using cairn::StatusCode;

namespace {

Context* Unwrap(CairnContext* context) {
  return reinterpret_cast<Context*>(context);
}
CommandList* Unwrap(CairnCommandList* list) {
  return reinterpret_cast<CommandList*>(list);
}

// Fills in the defaults and checks the ranges that the header documents.
Status CheckDesc(const CairnContextDesc* desc, CairnContextDesc* checked) {
  if (desc == nullptr || desc->struct_size != sizeof(CairnContextDesc)) {
    return Status(StatusCode::kInvalidArgument,
                  "CairnContextDesc is NULL or its struct_size is not sizeof(CairnContextDesc)");
  }
  *checked = *desc;
  const auto default_to = [](auto& value, auto fallback) {
    if (value == 0) value = fallback;
  };
  default_to(checked->frame_history_length, 4u);
  default_to(checked->max_command_lists, 4096u);
  default_to(checked->block_size_bytes, cairn::kDefaultBlockBytes);
  const CairnAllocationCallbacks& memory = checked->allocation;
  const int callbacks =
      (memory.allocate != nullptr) + (memory.reallocate != nullptr) + (memory.release != nullptr);
  if (checked->frame_history_length > 1024 || checked->max_command_lists > 65536 ||
      checked->raw_marker_count > 1048576 || checked->mode > CAIRN_MODE_FULL ||
      (callbacks != 0 && callbacks != 3)) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format(
            "mode {}, frame_history_length {}, max_command_lists {}, raw_marker_count {} or "
            "{} of 3 allocation callbacks is outside the documented range",
            static_cast<unsigned>(checked->mode), checked->frame_history_length,
            checked->max_command_lists, checked->raw_marker_count, callbacks));
  }
  return Status();
}

CairnResult CreateContext(const CairnContextDesc* desc, std::unique_ptr<cairn::Backend> backend,
                          CairnContext** context) {
  CairnContextDesc checked;
  if (Status status = CheckDesc(desc, &checked); !status.ok()) return Fail(status);
  Result<BlockWriter*> block = BlockWriter::OfThisProcess(checked.block_size_bytes);
  if (!block.ok()) return Fail(block.status());
  Result<Context*> created = Context::Create(checked, *block, std::move(backend));
  if (!created.ok()) return Fail(created.status());
  *context = reinterpret_cast<CairnContext*>(*created);
  return CAIRN_OK;
}

// If a layer has breadcrumbs for the device, the application shares them: each list has one state,
// which both write. `hold` keeps the layer's context alive.
CairnResult ShareContext(const CairnContextDesc* desc, Context& layers, void* device,
                         Context::Hold (*hold)(void* device), Context::ListFinder finder,
                         CairnContext** context) {
  CairnContextDesc checked;
  if (Status status = CheckDesc(desc, &checked); !status.ok()) return Fail(status);
  Context::Hold held = hold(device);
  layers.SetListFinder(finder);
  layers.Share(checked, held);
  if (Status status = layers.EnsureStarted(); !status.ok()) {
    if (layers.Unshare(&held)) held.release(held.object);
    return Fail(status);
  }
  *context = reinterpret_cast<CairnContext*>(&layers);
  return CAIRN_OK;
}

// The Direct3D 12 layer has wrapped the device. Without breadcrumbs of its own for it, the context is
// the application's, on the real device.
CairnResult CreateContextOnLayer(const CairnContextDesc* desc, const cairn::LayerDevice& layer,
                                 void* device, CairnContext** context) {
  const cairn::LayerListFinder finder = cairn::FinderOfLists(cairn::AbiOfDevice(device));
  if (layer.context != nullptr) {
    return ShareContext(desc, *layer.context, device, cairn::HoldDevice, finder, context);
  }
  const CairnResult result = CreateContext(desc, cairn::CreateD3D12Backend(layer.real), context);
  if (result == CAIRN_OK) Unwrap(*context)->SetListFinder(finder);
  return result;
}

// A VkDevice has no references: it outlives its contexts because the application destroys them first.
Context::Hold HoldVulkanDevice(void* device) {
  return {device, [](void*) {}};
}

// The recording that the layer keeps of an open list is the application's as well.
CairnResult ShareRecording(const cairn::LayerList& layer, const CairnCommandListDesc& desc,
                           CairnCommandList** list) {
  if (layer.recording == nullptr) {
    return Fail(
        CAIRN_ERROR_OUT_OF_MEMORY,
        "the layer has no recording of this list: all were in use when it was created, reset or "
        "begun");
  }
  if (!layer.recording->open()) {
    return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the list is not open for recording");
  }
  layer.recording->Adopt(desc);
  *list = reinterpret_cast<CairnCommandList*>(layer.recording);
  return CAIRN_OK;
}

// The layer sees the passes of its lists by itself.
CairnResult TellRenderPass(CommandList& list, bool inside) {
  if (!list.held()) return list.SetInsideRenderPass(inside);
  return list.open() ? CAIRN_OK : CAIRN_ERROR_INVALID_ARGUMENT;
}

// The lists of a submission that the layer does not see.
Status NotifyOwnSubmit(Context& context, void* queue, CommandList* const* lists, uint32_t count) {
  if (!context.is_layers()) return context.NotifySubmit(queue, lists, count);
  std::vector<CommandList*> own;
  for (uint32_t i = 0; i < count; ++i) {
    if (lists[i] == nullptr || !lists[i]->held()) own.push_back(lists[i]);
  }
  if (own.empty()) return Status();
  return context.NotifySubmit(queue, own.data(), static_cast<uint32_t>(own.size()));
}

cairn::VulkanBackendParams ToParams(const CairnVulkanDesc& desc) {
  cairn::VulkanBackendParams params;
  params.instance = desc.instance;
  params.physical_device = desc.physical_device;
  params.device = desc.device;
  params.queue = desc.queue;
  params.queue_family = desc.queue_family;
  params.get_instance_proc_addr = desc.get_instance_proc_addr;
  params.enabled_extensions.assign(desc.enabled_extensions,
                                   desc.enabled_extensions + desc.enabled_extension_count);
  return params;
}

// Returns true if at most one of the groups names shaders, as the API demands.
bool ShadersFitTogether(const CairnPipelineDesc& desc) {
  const bool vertex =
      desc.vertex_shader || desc.hull_shader || desc.domain_shader || desc.geometry_shader;
  const bool mesh = desc.mesh_shader || desc.amplification_shader;
  const bool graphics = vertex || mesh || desc.pixel_shader;
  const int kinds =
      graphics + (desc.compute_shader != nullptr) + (desc.ray_tracing_shader != nullptr);
  return kinds <= 1 && !(vertex && mesh);
}

}  // namespace

CairnResult cairnCreateContextVulkan(const CairnContextDesc* desc, const CairnVulkanDesc* vulkan,
                                     CairnContext** context) {
  return Guarded([&] {
    if (vulkan == nullptr || vulkan->struct_size != sizeof(CairnVulkanDesc) || context == nullptr ||
        vulkan->get_instance_proc_addr == nullptr ||
        (vulkan->enabled_extension_count != 0 && vulkan->enabled_extensions == nullptr)) {
      return Fail(
          CAIRN_ERROR_INVALID_ARGUMENT,
          "CairnVulkanDesc, its struct_size or get_instance_proc_addr, or the result pointer "
          "is not valid");
    }
    if (vulkan->instance == nullptr || vulkan->physical_device == nullptr ||
        vulkan->device == nullptr || vulkan->queue == nullptr) {
      return Fail(CAIRN_ERROR_DEVICE_NOT_CREATED, "an instance, device or queue is missing");
    }
    const cairn::LayerDevice* const layer = cairn::FindVulkanLayerDevice(vulkan->device);
    if (layer != nullptr && layer->token == cairn::LayerToken() && layer->context != nullptr) {
      return ShareContext(desc, *layer->context, vulkan->device, HoldVulkanDevice,
                          cairn::FindVulkanLayerList, context);
    }
    return CreateContext(desc, cairn::CreateVulkanBackend(ToParams(*vulkan)), context);
  });
}

CairnResult cairnCreateContextD3D12(const CairnContextDesc* desc, const CairnD3D12Desc* d3d12,
                                    CairnContext** context) {
  return Guarded([&] {
    if (d3d12 == nullptr || d3d12->struct_size != sizeof(CairnD3D12Desc) || context == nullptr) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "CairnD3D12Desc, its struct_size or the result pointer is not valid");
    }
    if (d3d12->device == nullptr) {
      return Fail(CAIRN_ERROR_DEVICE_NOT_CREATED, "the ID3D12Device is missing");
    }
    if (const cairn::LayerDevice* const layer = cairn::FindLayerDevice(d3d12->device)) {
      return CreateContextOnLayer(desc, *layer, d3d12->device, context);
    }
    return CreateContext(desc, cairn::CreateD3D12Backend(d3d12->device), context);
  });
}

CairnResult cairnCreateContextCustom(const CairnContextDesc* desc,
                                     const CairnCustomBackend* backend, CairnContext** context) {
  return Guarded([&] {
    if (backend == nullptr || backend->struct_size != sizeof(CairnCustomBackend) ||
        context == nullptr || backend->allocate_block == nullptr ||
        backend->free_block == nullptr || backend->write == nullptr) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "CairnCustomBackend needs its struct_size, allocate_block, free_block and write");
    }
    return CreateContext(desc, cairn::CreateCustomBackend(*backend), context);
  });
}

CairnResult cairnDestroyContext(CairnContext* context) {
  if (context == nullptr) return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context is NULL");
  return Guarded([&] {
    if (!Unwrap(context)->is_layers()) {
      Context::Destroy(Unwrap(context));
      return CAIRN_OK;
    }
    Context::Hold hold;
    if (!Unwrap(context)->Unshare(&hold)) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "the context belongs to the layer and was destroyed already");
    }
    // This may release the device's last reference, which ends the context.
    hold.release(hold.object);
    return CAIRN_OK;
  });
}

CairnResult cairnBeginFrame(CairnContext* context) {
  if (context == nullptr) return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context is NULL");
  return Guarded([&] {
    Unwrap(context)->BeginFrame();
    return CAIRN_OK;
  });
}

CairnResult cairnRegisterPipeline(CairnContext* context, const CairnPipelineDesc* desc,
                                  CairnPipeline* pipeline) {
  return Guarded([&] {
    if (context == nullptr || desc == nullptr || desc->struct_size != sizeof(CairnPipelineDesc) ||
        pipeline == nullptr) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "the context, CairnPipelineDesc, its struct_size or the result pointer is not "
                  "valid");
    }
    if (!ShadersFitTogether(*desc)) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "graphics, compute and ray tracing shaders exclude one another, and so do vertex "
                  "and mesh pipelines");
    }
    return Finish(Unwrap(context)->RegisterPipeline(*desc, pipeline));
  });
}

CairnResult cairnUnregisterPipeline(CairnContext* context, CairnPipeline pipeline) {
  if (context == nullptr) return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context is NULL");
  return Guarded([&] { return Finish(Unwrap(context)->UnregisterPipeline(pipeline)); });
}

CairnResult cairnRegisterQueue(CairnContext* context, void* native, CairnQueueType type,
                               const char* name) {
  return Guarded([&] {
    if (context == nullptr || native == nullptr || type > CAIRN_QUEUE_OTHER) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context, queue or queue type is not valid");
    }
    return Finish(Unwrap(context)->RegisterQueue(native, type, name));
  });
}

CairnResult cairnBeginCommandList(CairnContext* context, const CairnCommandListDesc* desc,
                                  CairnCommandList** list) {
  return Guarded([&] {
    if (context == nullptr || desc == nullptr ||
        desc->struct_size != sizeof(CairnCommandListDesc) || list == nullptr ||
        desc->native == nullptr || desc->queue_type > CAIRN_QUEUE_OTHER) {
      return Fail(
          CAIRN_ERROR_INVALID_ARGUMENT,
          "the context, CairnCommandListDesc, its struct_size, native list or queue type, or "
          "the result pointer is not valid");
    }
    CairnCommandListDesc checked = *desc;
    checked.flags &= CAIRN_LIST_REUSABLE;
    if (const cairn::LayerList* const layer = Unwrap(context)->FindLayerList(desc->native)) {
      if (Unwrap(context)->is_layers()) return ShareRecording(*layer, checked, list);
      checked.native = layer->real;
    }
    CommandList* begun = nullptr;
    const Status status = Unwrap(context)->BeginCommandList(checked, &begun, desc->native);
    if (!status.ok()) return Fail(status);
    *list = reinterpret_cast<CairnCommandList*>(begun);
    return CAIRN_OK;
  });
}

// The functions of the recording path keep no message: what they return says everything.

CairnResult cairnEndCommandList(CairnCommandList* list) {
  if (list == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  return Guarded([&] {
    // The layer ends its recordings itself, when the list is closed.
    if (Unwrap(list)->held()) {
      return Unwrap(list)->open() ? CAIRN_OK : CAIRN_ERROR_INVALID_ARGUMENT;
    }
    return Unwrap(list)->End();
  });
}

CairnResult cairnReleaseCommandList(CairnCommandList* list) {
  if (list == nullptr) return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the list is NULL");
  return Guarded([&] {
    if (Unwrap(list)->held()) return CAIRN_OK;  // The layer's, which knows when.
    return Finish(Unwrap(list)->context()->ReleaseCommandList(Unwrap(list)));
  });
}

CairnResult cairnSetPipeline(CairnCommandList* list, CairnPipeline pipeline) {
  if (list == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  return Guarded([&] { return Unwrap(list)->SetPipeline(pipeline); });
}

CairnResult cairnEnterRenderPass(CairnCommandList* list) {
  if (list == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  return Guarded([&] { return TellRenderPass(*Unwrap(list), true); });
}

CairnResult cairnLeaveRenderPass(CairnCommandList* list) {
  if (list == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  return Guarded([&] { return TellRenderPass(*Unwrap(list), false); });
}

CairnResult cairnBeginMarker(CairnCommandList* list, CairnMarkerType type, const char* name,
                             CairnNameKind name_kind) {
  if (list == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  return Guarded([&] { return Unwrap(list)->BeginMarker(type, name, name_kind); });
}

CairnResult cairnEndMarker(CairnCommandList* list) {
  if (list == nullptr) return CAIRN_ERROR_INVALID_ARGUMENT;
  return Guarded([&] { return Unwrap(list)->EndMarker(); });
}

CairnResult cairnNotifySubmit(CairnContext* context, void* queue, CairnCommandList* const* lists,
                              uint32_t list_count) {
  return Guarded([&] {
    if (context == nullptr || queue == nullptr || (lists == nullptr && list_count != 0)) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context, queue or list array is NULL");
    }
    return Finish(NotifyOwnSubmit(*Unwrap(context), queue,
                                  reinterpret_cast<CommandList* const*>(lists), list_count));
  });
}

CairnResult cairnGetLastSubmission(CairnContext* context, void* queue, uint64_t* submission) {
  return Guarded([&] {
    if (context == nullptr || submission == nullptr) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context or the result pointer is NULL");
    }
    return Finish(Unwrap(context)->LastSubmission(queue, submission));
  });
}

CairnResult cairnNotifyCompleted(CairnContext* context, void* queue, uint64_t submission) {
  if (context == nullptr) return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context is NULL");
  return Guarded([&] { return Finish(Unwrap(context)->NotifyCompleted(queue, submission)); });
}

CairnResult cairnReportDeviceLost(CairnContext* context, int32_t code, const char* where) {
  if (context == nullptr) return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context is NULL");
  return Guarded([&] { return Finish(Unwrap(context)->ReportDeviceLost(code, where)); });
}

CairnResult cairnPrintStatus(CairnContext* context, uint32_t flags, char** text,
                             size_t* size_bytes) {
  return Guarded([&] {
    if (context == nullptr || text == nullptr || size_bytes == nullptr) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context or a result pointer is NULL");
    }
    if ((flags & CAIRN_PRINT_EXTENDED_DEVICE_INFO) != 0 &&
        (flags & CAIRN_PRINT_SKIP_DEVICE_INFO) != 0) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "CAIRN_PRINT_EXTENDED_DEVICE_INFO excludes CAIRN_PRINT_SKIP_DEVICE_INFO");
    }
    return Finish(cairn::PrintStatus(*Unwrap(context), flags, text, size_bytes));
  });
}

void cairnRefresh(CairnContext* context) {
  if (context != nullptr) Unwrap(context)->Mirror();
}

CairnResult cairnStartWatcher(const CairnWatcherDesc* desc) {
  return Guarded([&] {
    constexpr size_t kFirstSize = offsetof(CairnWatcherDesc, on_report);
    if (desc == nullptr ||
        (desc->struct_size != sizeof(CairnWatcherDesc) && desc->struct_size != kFirstSize)) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  "CairnWatcherDesc is NULL or its struct_size is not sizeof(CairnWatcherDesc)");
    }
    CairnWatcherDesc known{};
    std::memcpy(&known, desc, desc->struct_size);
    return Finish(cairn::StartWatcher(known));
  });
}

CairnResult cairnWriteMarker(CairnContext* context, void* command_buffer, CairnPipe pipe,
                             uint32_t index, uint64_t data) {
  if (context == nullptr) return Fail(CAIRN_ERROR_DEVICE_NOT_CREATED, "the context is NULL");
  return Guarded([&] {
    const uint32_t count = Unwrap(context)->raw_marker_count();
    if (count == 0) {
      return Fail(CAIRN_ERROR_EXTENSION_NOT_SUPPORTED,
                  "raw markers are off; set CairnContextDesc::raw_marker_count");
    }
    if (command_buffer == nullptr || index >= count || pipe > CAIRN_BOTTOM_OF_PIPE) {
      return Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                  fmt::format("the command buffer is NULL, index {} is not below {}, or pipe {} is "
                              "neither top nor bottom",
                              index, count, static_cast<unsigned>(pipe)));
    }
    const cairn::LayerList* const layer = Unwrap(context)->FindLayerList(command_buffer);
    return Finish(Unwrap(context)->WriteRaw(
        layer != nullptr ? layer->real : command_buffer,
        pipe == CAIRN_TOP_OF_PIPE ? cairn::PipeLocation::kTop : cairn::PipeLocation::kBottom, index,
        data, layer != nullptr ? layer->recording : nullptr));
  });
}

CairnResult cairnGetMarkers(CairnContext* context, const volatile uint64_t** slots,
                            uint32_t* count) {
  if (context == nullptr || slots == nullptr || count == nullptr) {
    return Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the context or a result pointer is NULL");
  }
  *slots = Unwrap(context)->raw_markers();
  *count = Unwrap(context)->raw_marker_count();
  return CAIRN_OK;
}
