// SPDX-License-Identifier: Apache-2.0
#include "app/api/compat_ffx_backends.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "cairn/compat/ffx_dx12.h"
#include "cairn/compat/ffx_vk.h"

#include "app/api/errors.h"
#include "app/breadcrumbs/vulkan_loader.h"

namespace cairn {
namespace {

// The data that ffxGetInterface... stores in the application's scratch buffer for the context's
// creation.
struct Scratch {
  FfxApi api;
  bool has_vulkan;
  CairnVulkanDesc vulkan;
  FfxVulkanDevice device;  // kVulkan: of ffxGetDeviceVK
};

// These mark an interface as ours: the context is created without calling them. They answer an
// application that calls them itself.
FfxErrorCode RefuseBlock(FfxInterface*, uint64_t, FfxBreadcrumbsBlockData*) {
  return FFX_ERROR_BACKEND_API_ERROR;
}
void IgnoreBlock(FfxInterface*, FfxBreadcrumbsBlockData*) {}
void WriteBuiltIn(FfxInterface*, FfxCommandList, uint32_t, uint64_t, void*, bool) {}
FfxVersionNumber SdkVersion(FfxInterface*) {
  return FFX_SDK_MAKE_VERSION(FFX_SDK_VERSION_MAJOR, FFX_SDK_VERSION_MINOR, FFX_SDK_VERSION_PATCH);
}

// The devices passed to ffxGetDeviceVK: a FfxDevice is the VkDevice, and the rest is found here.
class KnownVulkanDevices {
 public:
  static KnownVulkanDevices& Get() {
    // Never destroyed: other threads may still read it.
    static auto* const known = new KnownVulkanDevices;
    return *known;
  }
  void Remember(const FfxVulkanDevice& device) {
    const std::lock_guard lock(mutex_);
    for (FfxVulkanDevice& known : devices_) {
      if (known.device == device.device) {
        known = device;
        return;
      }
    }
    devices_.push_back(device);
  }
  // Sets only the handle of an unknown device.
  FfxVulkanDevice Find(void* device) const {
    const std::lock_guard lock(mutex_);
    for (const FfxVulkanDevice& known : devices_) {
      if (known.device == device) return known;
    }
    return {device, nullptr, nullptr, nullptr};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<FfxVulkanDevice> devices_;
};

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
  Scratch empty{api, false, {}, {}};
  if (api == FfxApi::kVulkan) empty.device = KnownVulkanDevices::Get().Find(device);
  std::memcpy(scratch, &empty, sizeof(empty));
  *interface = {};
  interface->fpGetSDKVersion = SdkVersion;
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

// vkGetInstanceProcAddr for a device whose instance is unknown: `device` is a FfxVulkanDevice.
// Functions of physical devices are the loader's exported ones, which take those of every instance.
CairnVoidFunction FunctionOfDevice(void* device, const char* name) {
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) {
    return static_cast<const FfxVulkanDevice*>(device)->device_proc_addr;
  }
  return FindVulkanLoaderFunction(name);
}

// A command that exists only where the extension was enabled: vkGetDeviceProcAddr answers NULL otherwise.
struct ExtensionCommand {
  const char* extension;
  const char* command;
};
constexpr ExtensionCommand kExtensionCommands[] = {
    {VK_AMD_BUFFER_MARKER_EXTENSION_NAME, "vkCmdWriteBufferMarkerAMD"},
    {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, "vkGetMemoryHostPointerPropertiesEXT"},
    {VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME, "vkCmdSetCheckpointNV"},
    {VK_EXT_DEVICE_FAULT_EXTENSION_NAME, "vkGetDeviceFaultInfoEXT"},
};

constexpr char kQueueFamilies[] = "vkGetPhysicalDeviceQueueFamilyProperties";

std::vector<VkQueueFamilyProperties> QueueFamilies(const FfxVulkanDevice& device) {
  const auto get =
      reinterpret_cast<PFN_vkGetPhysicalDeviceQueueFamilyProperties>(device.queue_families);
  if (get == nullptr || device.physical_device == nullptr) return {};
  const auto handle = static_cast<VkPhysicalDevice>(device.physical_device);
  uint32_t count = 0;
  get(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  get(handle, &count, families.data());
  families.resize(count);
  return families;
}

// Makes a context from the arguments of ffxGetDeviceVK. The self-test uses the first queue of the
// first family that the application names.
FfxErrorCode CreateVulkanOfDevice(FfxBackend* backend, const CairnContextDesc& desc,
                                  std::span<const uint32_t> families, CairnContext** context) {
  FfxVulkanDevice& device = backend->vulkan;
  if (device.physical_device == nullptr || device.device_proc_addr == nullptr) {
    Fail(CAIRN_ERROR_INVALID_ARGUMENT,
         "the interface knows no physical device or vkGetDeviceProcAddr; make its FfxDevice by "
         "ffxGetDeviceVK, with all members of VkDeviceContext set, or call cairnFfxSetVulkan");
    return FFX_ERROR_INCOMPLETE_INTERFACE;
  }
  device.queue_families = FindVulkanLoaderFunction(kQueueFamilies);
  const size_t family_count = QueueFamilies(device).size();
  const auto used = std::find_if(families.begin(), families.end(),
                                 [&](uint32_t family) { return family < family_count; });
  if (used == families.end()) {
    Fail(CAIRN_ERROR_INVALID_ARGUMENT,
         "no number in pUsedGpuQueues is a queue family of the device, which has " +
             std::to_string(family_count) + "; name families there, or call cairnFfxSetVulkan");
    return FFX_ERROR_INVALID_ARGUMENT;
  }
  const auto get_proc = reinterpret_cast<PFN_vkGetDeviceProcAddr>(device.device_proc_addr);
  const auto handle = static_cast<VkDevice>(device.device);
  const auto get_queue =
      reinterpret_cast<PFN_vkGetDeviceQueue>(get_proc(handle, "vkGetDeviceQueue"));
  VkQueue queue = VK_NULL_HANDLE;
  if (get_queue != nullptr) get_queue(handle, *used, 0, &queue);
  std::vector<const char*> enabled;
  for (const ExtensionCommand& known : kExtensionCommands) {
    if (get_proc(handle, known.command) != nullptr) enabled.push_back(known.extension);
  }
  CairnVulkanDesc vulkan{};
  vulkan.struct_size = sizeof(vulkan);
  vulkan.instance = &device;
  vulkan.physical_device = device.physical_device;
  vulkan.device = device.device;
  vulkan.queue = queue;
  vulkan.queue_family = *used;
  vulkan.get_instance_proc_addr = FunctionOfDevice;
  vulkan.enabled_extension_count = static_cast<uint32_t>(enabled.size());
  vulkan.enabled_extensions = enabled.data();
  return ToFfx(cairnCreateContextVulkan(&desc, &vulkan, context));
}

FfxErrorCode CreateVulkan(FfxBackend* backend, const CairnContextDesc& desc,
                          std::span<const uint32_t> families, CairnContext** context) {
  const Scratch scratch = ReadScratch(backend->interface);
  backend->vulkan = scratch.device;
  if (!scratch.has_vulkan) return CreateVulkanOfDevice(backend, desc, families, context);
  CairnVulkanDesc vulkan = scratch.vulkan;
  if (vulkan.device == nullptr) vulkan.device = backend->interface.device;
  backend->vulkan.physical_device = vulkan.physical_device;
  if (vulkan.get_instance_proc_addr != nullptr && vulkan.instance != nullptr) {
    backend->vulkan.queue_families = vulkan.get_instance_proc_addr(vulkan.instance, kQueueFamilies);
  }
  return ToFfx(cairnCreateContextVulkan(&desc, &vulkan, context));
}

CairnQueueType KindOfFamily(const FfxVulkanDevice& device, uint32_t family) {
  const std::vector<VkQueueFamilyProperties> families = QueueFamilies(device);
  if (family >= families.size()) return CAIRN_QUEUE_OTHER;
  const VkQueueFlags flags = families[family].queueFlags;
  if ((flags & VK_QUEUE_GRAPHICS_BIT) != 0) return CAIRN_QUEUE_DIRECT;
  if ((flags & VK_QUEUE_COMPUTE_BIT) != 0) return CAIRN_QUEUE_COMPUTE;
  return (flags & VK_QUEUE_TRANSFER_BIT) != 0 ? CAIRN_QUEUE_COPY : CAIRN_QUEUE_OTHER;
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

CairnQueueType FfxQueueKind(const FfxBackend& backend, FfxApi api, uint32_t queue_type) {
  if (api == FfxApi::kVulkan) return KindOfFamily(backend.vulkan, queue_type);
  switch (queue_type) {  // D3D12_COMMAND_LIST_TYPE
    case 0: return CAIRN_QUEUE_DIRECT;
    case 2: return CAIRN_QUEUE_COMPUTE;
    case 3: return CAIRN_QUEUE_COPY;
    default: return CAIRN_QUEUE_OTHER;
  }
}

FfxErrorCode CreateFfxBackendContext(FfxBackend* backend, const CairnContextDesc& desc,
                                     std::span<const uint32_t> queue_types,
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
    case FfxApi::kVulkan: return CreateVulkan(backend, desc, queue_types, context);
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
  if (vkDeviceContext == nullptr || vkDeviceContext->vkDevice == nullptr) return nullptr;
  try {
    cairn::KnownVulkanDevices::Get().Remember(
        {vkDeviceContext->vkDevice, vkDeviceContext->vkPhysicalDevice,
         reinterpret_cast<CairnVoidFunction>(vkDeviceContext->vkDeviceProcAddr), nullptr});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return vkDeviceContext->vkDevice;
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
  cairn::Scratch scratch = cairn::ReadScratch(*backendInterface);
  scratch.has_vulkan = true;
  scratch.vulkan = *vulkan;
  std::memcpy(backendInterface->scratchBuffer, &scratch, sizeof(scratch));
  return FFX_OK;
}
