// SPDX-License-Identifier: Apache-2.0
//
// cairn/compat/amd_ags.h: contexts, and breadcrumbs on the raw markers of cairn/markers.h. Devices are made in
// compat_ags_windows.cc; what is here by name only is in compat_ags_names.cc.
#include "app/api/compat_ags.h"

#include <fmt/format.h>

#include <cstdlib>
#include <new>
#include <string_view>

using cairn::FailAgs;
using cairn::ToAgs;

namespace cairn {

AGSReturnCode FailAgs(AGSReturnCode code, std::string_view message) {
  Fail(CAIRN_ERROR_INVALID_ARGUMENT, message);
  return code;
}

AGSReturnCode FailAgs(const Status& status) {
  return ToAgs(Fail(status));
}

AGSReturnCode ToAgs(CairnResult result) {
  switch (result) {
    case CAIRN_OK: return AGS_SUCCESS;
    case CAIRN_ERROR_INVALID_ARGUMENT: return AGS_INVALID_ARGS;
    case CAIRN_ERROR_OUT_OF_MEMORY: return AGS_OUT_OF_MEMORY;
    case CAIRN_ERROR_EXTENSION_NOT_SUPPORTED: return AGS_EXTENSION_NOT_SUPPORTED;
    case CAIRN_ERROR_DEVICE_NOT_CREATED: return AGS_D3DDEVICE_NOT_CREATED;
    case CAIRN_ERROR_DEVICE_LOST:
    case CAIRN_ERROR_OPERATING_SYSTEM:
    case CAIRN_ERROR_UNBALANCED_MARKER: return AGS_FAILURE;
  }
  return AGS_FAILURE;
}

}  // namespace cairn

namespace {

AGSReturnCode NotAttached() {
  return FailAgs(AGS_D3DDEVICE_NOT_CREATED,
                 "there is no device: call agsDriverExtensionsDX11_CreateDevice, or cairnAgsAttach "
                 "with a CairnContext");
}

}  // namespace

int agsGetVersionNumber(void) {
  return AGS_CURRENT_VERSION;
}

AGSReturnCode agsInitialize(int agsVersion, const AGSConfiguration* config, AGSContext** context,
                            AGSGPUInfo* gpuInfo) {
  const AGSConfiguration memory = config != nullptr ? *config : AGSConfiguration{};
  if (context == nullptr || (memory.allocCallback == nullptr) != (memory.freeCallback == nullptr)) {
    return FailAgs(AGS_INVALID_ARGS, "the context is NULL, or one memory callback is missing");
  }
  if (agsVersion >> 22 != AMD_AGS_VERSION_MAJOR) {
    return FailAgs(AGS_INVALID_ARGS, fmt::format("AGS major version {} is asked for, {} is here",
                                                 agsVersion >> 22, AMD_AGS_VERSION_MAJOR));
  }
  void* storage = memory.allocCallback != nullptr ? memory.allocCallback(sizeof(AGSContext))
                                                  : std::malloc(sizeof(AGSContext));
  if (storage == nullptr) return FailAgs(AGS_OUT_OF_MEMORY, "out of memory");
  *context = new (storage) AGSContext{
      memory.freeCallback != nullptr ? memory.freeCallback : std::free, nullptr, nullptr, nullptr};
  if (gpuInfo != nullptr) *gpuInfo = {"", "", 0, nullptr};
  return AGS_SUCCESS;
}

AGSReturnCode agsGetGPUInfo(AGSContext* context, AGSGPUInfo* gpuInfo) {
  if (context == nullptr || gpuInfo == nullptr) {
    return FailAgs(AGS_INVALID_ARGS, "the context or the result pointer is NULL");
  }
  *gpuInfo = {"", "", 0, nullptr};
  return AGS_SUCCESS;
}

AGSReturnCode agsDeInitialize(AGSContext* context) {
  if (context == nullptr) return FailAgs(AGS_INVALID_ARGS, "the context is NULL");
  const AGS_FREE_CALLBACK free = context->free;
  context->~AGSContext();
  free(context);
  return AGS_SUCCESS;
}

AGSReturnCode agsDriverExtensionsDX11_WriteBreadcrumb(AGSContext* context,
                                                      const AGSBreadcrumbMarker* marker) {
  if (context == nullptr || marker == nullptr) {
    return FailAgs(AGS_INVALID_ARGS, "the context or the marker is NULL");
  }
  if (context->device != nullptr) return context->device->Write(*marker);
  if (context->cairn_context == nullptr) return NotAttached();
  if (context->command_buffer == nullptr) {
    return FailAgs(AGS_INVALID_ARGS, "no command buffer is set; call cairnAgsSetCommandBuffer");
  }
  // Checked by cairnWriteMarker, which also knows what to say.
  const auto pipe = static_cast<CairnPipe>(marker->type);
  return ToAgs(cairnWriteMarker(context->cairn_context, context->command_buffer, pipe,
                                marker->index, marker->markerData));
}

AGSReturnCode cairnAgsAttach(AGSContext* context, CairnContext* cairn_context) {
  if (context == nullptr) return FailAgs(AGS_INVALID_ARGS, "the context is NULL");
  context->cairn_context = cairn_context;
  context->command_buffer = nullptr;
  return AGS_SUCCESS;
}

AGSReturnCode cairnAgsSetCommandBuffer(AGSContext* context, void* command_buffer) {
  if (context == nullptr) return FailAgs(AGS_INVALID_ARGS, "the context is NULL");
  context->command_buffer = command_buffer;
  return AGS_SUCCESS;
}

AGSReturnCode cairnAgsGetBreadcrumbBuffer(AGSContext* context, const volatile void** buffer) {
  if (context == nullptr || buffer == nullptr) {
    return FailAgs(AGS_INVALID_ARGS, "the context or the result pointer is NULL");
  }
  if (context->cairn_context == nullptr) return NotAttached();
  const volatile uint64_t* slots = nullptr;
  uint32_t count = 0;
  const CairnResult result = cairnGetMarkers(context->cairn_context, &slots, &count);
  if (result != CAIRN_OK) return ToAgs(result);
  if (count == 0) {
    return FailAgs(AGS_EXTENSION_NOT_SUPPORTED,
                   "raw markers are off; set CairnContextDesc::raw_marker_count");
  }
  *buffer = slots;
  return AGS_SUCCESS;
}

AGSReturnCode cairnAgsDescribeBreadcrumbs(AGSContext* context, CairnAgsBreadcrumbs* breadcrumbs) {
  if (context == nullptr || breadcrumbs == nullptr) {
    return FailAgs(AGS_INVALID_ARGS, "the context or the result pointer is NULL");
  }
  if (context->device == nullptr) return NotAttached();
  *breadcrumbs = context->device->Describe();
  return AGS_SUCCESS;
}
