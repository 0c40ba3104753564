// SPDX-License-Identifier: Apache-2.0
#include "api/compat_ffx_backends.h"

#include <algorithm>
#include <cstring>

#include "cairn/compat/ffx_dx12.h"
#include "cairn/compat/ffx_vk.h"

#include "api/errors.h"

namespace cairn {
namespace {

// What ffxGetInterface... leaves in the application's scratch buffer for the context's creation.
struct Scratch {
  FfxApi api;
  bool has_vulkan;
  CairnVulkanDesc vulkan;
};

// These mark an interface as ours: the context is created without calling them. They answer an
// application that calls them itself.
FfxErrorCode RefuseBlock(FfxInterface*, uint64_t, FfxBreadcrumbsBlockData*) {
  return FFX_ERROR_BACKEND_API_ERROR;
}
void IgnoreBlock(FfxInterface*, FfxBreadcrumbsBlockData*) {}
void WriteBuiltIn(FfxInterface*, FfxCommandList, uint32_t, uint64_t, void*, bool) {}

FfxErrorCode FillInterface(FfxInterface* interface, FfxDevice device, void* scratch,
                           size_t scratch_bytes, FfxApi api) {
  if (interface == nullptr || device == nullptr || scratch == nullptr) {
    Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the interface, device or scratch buffer is NULL");
    return FFX_ERROR_INVALID_POINTER;
  }
  if (scratch_bytes < sizeof(Scratch)) {
    Fail(CAIRN_ERROR_INVALID_ARGUMENT,
         "the scratch buffer is smaller than ffxGetScratchMemorySize... said");
    return FFX_ERROR_INSUFFICIENT_MEMORY;
  }
  const Scratch empty{api, false, {}};
  std::memcpy(scratch, &empty, sizeof(empty));
  *interface = {};
  interface->fpBreadcrumbsAllocBlock = RefuseBlock;
  interface->fpBreadcrumbsFreeBlock = IgnoreBlock;
  interface->fpBreadcrumbsWrite = WriteBuiltIn;
  interface->scratchBuffer = scratch;
  interface->scratchBufferSize = scratch_bytes;
  interface->device = device;
  return FFX_OK;
}

// The buffer is the application's and need not be aligned.
Scratch ReadScratch(const FfxInterface& interface) {
  Scratch scratch{};
  std::memcpy(&scratch, interface.scratchBuffer, sizeof(scratch));
  return scratch;
}

FfxErrorCode CreateVulkan(const FfxBackend& backend, const CairnContextDesc& desc,
                          CairnContext** context) {
  const Scratch scratch = ReadScratch(backend.interface);
  if (!scratch.has_vulkan) {
    Fail(CAIRN_ERROR_INVALID_ARGUMENT,
         "the interface does not know the instance, queue and enabled extensions; call "
         "cairnFfxSetVulkan before ffxBreadcrumbsContextCreate");
    return FFX_ERROR_INCOMPLETE_INTERFACE;
  }
  CairnVulkanDesc vulkan = scratch.vulkan;
  if (vulkan.device == nullptr) vulkan.device = backend.interface.device;
  return ToFfx(cairnCreateContextVulkan(&desc, &vulkan, context));
}

CairnResult AllocateBlock(void* user_data, uint64_t size_bytes, CairnCustomBlock* block) {
  FfxBackend& backend = *static_cast<FfxBackend*>(user_data);
  backend.block = {};
  const FfxErrorCode error =
      backend.interface.fpBreadcrumbsAllocBlock(&backend.interface, size_bytes, &backend.block);
  if (error != FFX_OK) return CAIRN_ERROR_OUT_OF_MEMORY;
  *block = {backend.block.memory, backend.block.buffer, backend.block.baseAddress};
  return CAIRN_OK;
}

void FreeBlock(void* user_data, CairnCustomBlock*) {
  FfxBackend& backend = *static_cast<FfxBackend*>(user_data);
  backend.interface.fpBreadcrumbsFreeBlock(&backend.interface, &backend.block);
  backend.block = {};
}

void Write(void* user_data, void* command_list, uint32_t value, uint64_t location, void* buffer,
           int is_begin) {
  FfxBackend& backend = *static_cast<FfxBackend*>(user_data);
  backend.interface.fpBreadcrumbsWrite(&backend.interface, command_list, value, location, buffer,
                                       is_begin != 0);
}

void PrintDeviceInfo(void* user_data, int extended, char* text, size_t size_bytes) {
  FfxBackend& backend = *static_cast<FfxBackend*>(user_data);
  char* printed = nullptr;
  size_t printed_bytes = 0;
  backend.interface.fpBreadcrumbsPrintDeviceInfo(&backend.interface, &backend.allocation,
                                                 extended != 0, &printed, &printed_bytes);
  if (printed == nullptr || size_bytes == 0) return;
  const size_t kept = std::min(printed_bytes, size_bytes - 1);
  std::memcpy(text, printed, kept);
  text[kept] = 0;
  backend.allocation.fpFree(printed);
}

FfxErrorCode CreateCustom(FfxBackend* backend, const CairnContextDesc& desc,
                          CairnContext** context) {
  CairnCustomBackend custom{};
  custom.struct_size = sizeof(custom);
  custom.user_data = backend;
  custom.allocate_block = AllocateBlock;
  custom.free_block = FreeBlock;
  custom.write = Write;
  if (backend->interface.fpBreadcrumbsPrintDeviceInfo != nullptr) {
    custom.print_device_info = PrintDeviceInfo;
  }
  return ToFfx(cairnCreateContextCustom(&desc, &custom, context));
}

}  // namespace

FfxApi FfxApiOf(const FfxInterface& interface) {
  if (interface.fpBreadcrumbsWrite != WriteBuiltIn) return FfxApi::kCustom;
  return ReadScratch(interface).api;
}

FfxErrorCode ToFfx(CairnResult result) {
  switch (result) {
    case CAIRN_OK: return FFX_OK;
    case CAIRN_ERROR_INVALID_ARGUMENT:
    case CAIRN_ERROR_UNBALANCED_MARKER: return FFX_ERROR_INVALID_ARGUMENT;
    case CAIRN_ERROR_OUT_OF_MEMORY: return FFX_ERROR_OUT_OF_MEMORY;
    case CAIRN_ERROR_DEVICE_NOT_CREATED: return FFX_ERROR_NULL_DEVICE;
    case CAIRN_ERROR_EXTENSION_NOT_SUPPORTED:
    case CAIRN_ERROR_DEVICE_LOST:
    case CAIRN_ERROR_OPERATING_SYSTEM: return FFX_ERROR_BACKEND_API_ERROR;
  }
  return FFX_ERROR_BACKEND_API_ERROR;
}

CairnQueueType FfxQueueKind(FfxApi api, uint32_t queue_type) {
  // With Vulkan the number is a queue family, of which we know nothing.
  if (api == FfxApi::kVulkan) return CAIRN_QUEUE_OTHER;
  switch (queue_type) {  // D3D12_COMMAND_LIST_TYPE
    case 0: return CAIRN_QUEUE_DIRECT;
    case 2: return CAIRN_QUEUE_COMPUTE;
    case 3: return CAIRN_QUEUE_COPY;
    default: return CAIRN_QUEUE_OTHER;
  }
}

FfxErrorCode CreateFfxBackendContext(FfxBackend* backend, const CairnContextDesc& desc,
                                     CairnContext** context) {
  const FfxInterface& interface = backend->interface;
  if (interface.fpBreadcrumbsAllocBlock == nullptr || interface.fpBreadcrumbsFreeBlock == nullptr ||
      interface.fpBreadcrumbsWrite == nullptr) {
    Fail(CAIRN_ERROR_INVALID_ARGUMENT,
         "backendInterface needs fpBreadcrumbsAllocBlock, fpBreadcrumbsFreeBlock and "
         "fpBreadcrumbsWrite, or a call of ffxGetInterfaceDX12 or ffxGetInterfaceVK");
    return FFX_ERROR_INCOMPLETE_INTERFACE;
  }
  switch (FfxApiOf(interface)) {
    case FfxApi::kD3D12: {
      const CairnD3D12Desc d3d12{sizeof(CairnD3D12Desc), interface.device};
      return ToFfx(cairnCreateContextD3D12(&desc, &d3d12, context));
    }
    case FfxApi::kVulkan: return CreateVulkan(*backend, desc, context);
    case FfxApi::kCustom: return CreateCustom(backend, desc, context);
  }
  return FFX_ERROR_INCOMPLETE_INTERFACE;
}

}  // namespace cairn

size_t ffxGetScratchMemorySizeDX12(size_t) {
  return sizeof(cairn::Scratch);
}

FfxErrorCode ffxGetInterfaceDX12(FfxInterface* backendInterface, FfxDevice device,
                                 void* scratchBuffer, size_t scratchBufferSize, size_t) {
  return cairn::FillInterface(backendInterface, device, scratchBuffer, scratchBufferSize,
                              cairn::FfxApi::kD3D12);
}

FfxDevice ffxGetDeviceDX12(ID3D12Device* device) {
  return device;
}
FfxCommandList ffxGetCommandListDX12(ID3D12CommandList* cmdList) {
  return cmdList;
}
FfxPipeline ffxGetPipelineDX12(ID3D12PipelineState* pipelineState) {
  return pipelineState;
}

size_t ffxGetScratchMemorySizeVK(VkPhysicalDevice, size_t) {
  return sizeof(cairn::Scratch);
}

FfxErrorCode ffxGetInterfaceVK(FfxInterface* backendInterface, FfxDevice device,
                               void* scratchBuffer, size_t scratchBufferSize, size_t) {
  return cairn::FillInterface(backendInterface, device, scratchBuffer, scratchBufferSize,
                              cairn::FfxApi::kVulkan);
}

FfxDevice ffxGetDeviceVK(VkDeviceContext* vkDeviceContext) {
  return vkDeviceContext == nullptr ? nullptr : vkDeviceContext->vkDevice;
}
FfxCommandList ffxGetCommandListVK(VkCommandBuffer cmdBuf) {
  return cmdBuf;
}
FfxPipeline ffxGetPipelineVK(VkPipeline pipeline) {
  FfxPipeline handle = nullptr;
  static_assert(sizeof(handle) == sizeof(pipeline), "a pipeline does not fit into FfxPipeline");
  std::memcpy(&handle, &pipeline, sizeof(handle));
  return handle;
}

FfxErrorCode cairnFfxSetVulkan(FfxInterface* backendInterface, const CairnVulkanDesc* vulkan) {
  if (backendInterface == nullptr || vulkan == nullptr) {
    cairn::Fail(CAIRN_ERROR_INVALID_ARGUMENT, "the interface or CairnVulkanDesc is NULL");
    return FFX_ERROR_INVALID_POINTER;
  }
  if (cairn::FfxApiOf(*backendInterface) != cairn::FfxApi::kVulkan ||
      vulkan->struct_size != sizeof(CairnVulkanDesc)) {
    cairn::Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                "the interface was not filled in by ffxGetInterfaceVK, or struct_size is not "
                "sizeof(CairnVulkanDesc)");
    return FFX_ERROR_INVALID_ARGUMENT;
  }
  const cairn::Scratch scratch{cairn::FfxApi::kVulkan, true, *vulkan};
  std::memcpy(backendInterface->scratchBuffer, &scratch, sizeof(scratch));
  return FFX_OK;
}
