// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/treatment.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace cairn {

namespace {

// Interfaces of which no call has an effect on a replay: of debug layers, of the operating system, caches of
// drivers, hints about latency, and what is presented. By the beginning of their names.
constexpr std::string_view kInterfacesWithoutEffect[] = {
    "ID3D12Debug",
    "ID3D12InfoQueue",
    "ID3D12DeviceRemovedExtendedData",
    "ID3D12SharingContract",
    "ID3D12LifetimeTracker",
    "ID3D12VirtualizationGuestDevice",
    "ID3D12DeviceConfiguration",
    "ID3D12ShaderCacheSession",
    "ID3DDestructionNotifier",
    "ID3D12WorkGraphProperties",
    "ID3D12GBVDiagnostics",
    "ID3D12ManualWriteTrackingResource",
    "ID3D12RuntimeValidationControl",
    "ID3D12CommandQueueExt",
    "ID3DLowLatencyDevice",
    "IAmdExtAntiLagApi",
    "IDXGIVkSwapChain",
};

// Methods without an effect on a replay, by the beginning of their names: questions first.
constexpr std::string_view kMethodsWithoutEffect[] = {
    "Get",
    "Check",
    "Enumerate",
    "SetPrivate",
    "CreateSharedHandle",
    "ReadFromSubresource",
    "SetStablePowerState",
    "SetBackgroundProcessingMode",
    "Serialize",
    "StorePipeline",
    "RegisterTrimNotificationCallback",
    "UnregisterTrimNotificationCallback",
    "ReportLiveDeviceObjects",
    "ShaderCacheControl",
};

bool HasNoEffect(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view interface = name.substr(0, colon);
  const std::string_view method = name.substr(colon + 2);
  const auto begins = [](std::string_view whole) {
    return [whole](std::string_view part) { return whole.starts_with(part); };
  };
  return std::any_of(std::begin(kInterfacesWithoutEffect), std::end(kInterfacesWithoutEffect),
                     begins(interface)) ||
         std::any_of(std::begin(kMethodsWithoutEffect), std::end(kMethodsWithoutEffect),
                     begins(method));
}

Treatment Decide(Method method) {
  switch (method) {
    case Method::ID3D12Fence_GetCompletedValue: return Treatment::kCompletedValue;
    case Method::ID3D12Fence_SetEventOnCompletion: return Treatment::kAwait;
    case Method::ID3D12Device1_SetEventOnMultipleFenceCompletion: return Treatment::kAwaitSeveral;
    case Method::ID3D12Fence_Signal: return Treatment::kFenceSignal;
    case Method::ID3D12CommandQueue_Signal: return Treatment::kQueueSignal;
    case Method::ID3D12CommandQueue_Wait: return Treatment::kQueueWait;
    case Method::ID3D12CommandQueue_ExecuteCommandLists: return Treatment::kExecute;
    case Method::ID3D12Resource_Map: return Treatment::kMap;
    case Method::ID3D12Resource_Unmap: return Treatment::kUnmap;
    case Method::ID3D12Device_CheckFeatureSupport: return Treatment::kFeatures;
    case Method::ID3D12Device1_CreatePipelineLibrary: return Treatment::kPipelineLibrary;
    case Method::ID3D12PipelineLibrary_LoadGraphicsPipeline:
    case Method::ID3D12PipelineLibrary_LoadComputePipeline:
    case Method::ID3D12PipelineLibrary1_LoadPipeline: return Treatment::kLoadPipeline;
    case Method::ID3D12GraphicsCommandList_Reset: return Treatment::kListReset;
    case Method::ID3D12Device_OpenSharedHandle:
    case Method::ID3D12Device_OpenSharedHandleByName:
    case Method::ID3D12Device3_OpenExistingHeapFromAddress:
    case Method::ID3D12Device3_OpenExistingHeapFromFileMapping:
    case Method::ID3D12Device13_OpenExistingHeapFromAddress1: return Treatment::kImport;
    case Method::ID3D12Device5_RemoveDevice: return Treatment::kRemoveDevice;
    // The method writes to memory of the program.
    case Method::ID3D12Device15_ResolveQueryData:
    // Caches of a driver, and notifications of the ends of objects: nothing else depends on the
    // objects that these calls create.
    case Method::ID3D12Device9_CreateShaderCacheSession:
    case Method::ID3D12Device5_CreateLifetimeTracker:
    // Queries of vkd3d-proton, and ends of operations that are reported at their begin.
    case Method::ID3D12DeviceExt_CaptureUAVInfo:
    case Method::ID3D12DeviceExt_DestroyCubinComputeShader:
    case Method::ID3D12DeviceExt2_SupportsCubin64bit:
    case Method::ID3D12DeviceExt3_SupportsAGSExtension:
    case Method::ID3D12DeviceExt4_IsNvShaderExtnOpCodeSupported:
    case Method::ID3D12GraphicsCommandListExt2_VerifyOpacityMicromapArrayNVAPI:
    case Method::ID3D12DXVKInteropDevice_UnlockCommandQueue:
    case Method::ID3D12DXVKInteropDevice1_EndVkCommandBufferInterop:
    case Method::ID3D12DXVKInteropDevice2_UnlockVulkanQueue:
    // Images are made from their descriptions.
    case Method::IDXGIVkSwapChain_GetImage:
    case Method::IDXGIVkSwapChainFactory_CreateSwapChain: return Treatment::kNoEffect;
    // Shader tables hold them.
    case Method::ID3D12StateObjectProperties_GetShaderIdentifier: return Treatment::kMake;
    default: break;
  }
  if (WhyUnrepeatable(method) != nullptr) return Treatment::kUnrepeatable;
  const MethodInfo& info = Describe(method);
  // Objects that exist already are asked for all the same: the trace gives them numbers.
  if (info.object_parameter >= 0) return Treatment::kMake;
  return HasNoEffect(info.name) ? Treatment::kNoEffect : Treatment::kMake;
}

int FindObjectParameter(const MethodInfo& info) {
  if (info.object_parameter >= 0) return info.object_parameter;
  bool has_identifier = false;
  int found = -1;
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const ParameterInfo& parameter = info.parameters[i];
    if (parameter.kind == ValueKind::kGuid) has_identifier = true;
    if (has_identifier && parameter.pointers == 2 && parameter.direction == Direction::kOut &&
        (parameter.kind == ValueKind::kBytes || parameter.kind == ValueKind::kObject)) {
      found = static_cast<int>(i);
    }
  }
  return found;
}

struct Decisions {
  std::array<Treatment, kMethodCount> treatments;
  std::array<int, kMethodCount> objects;
};

const Decisions& AllDecisions() {
  static const Decisions decisions = [] {
    Decisions result = {};
    for (uint32_t i = 0; i < kMethodCount; ++i) {
      result.treatments[i] = Decide(static_cast<Method>(i));
      result.objects[i] = FindObjectParameter(Describe(static_cast<Method>(i)));
    }
    return result;
  }();
  return decisions;
}

}  // namespace

const char* WhyUnrepeatable(Method method) {
  switch (method) {
    case Method::ID3D12GraphicsCommandList10_SetProgram:
    case Method::ID3D12GraphicsCommandList10_DispatchGraph:
      return "only the implementation that gave the identifier of a program knows it";
    case Method::ID3D12DeviceExt1_CreateResourceFromBorrowedHandle:
      return "the trace does not have the Vulkan resource; an empty one takes its place";
    case Method::ID3D12DXVKInteropDevice1_CreateInteropCommandQueue:
    case Method::ID3D12DXVKInteropDevice1_CreateInteropCommandAllocator:
      return "a replay has no queues for a family of Vulkan queues";
    case Method::ID3D12DXVKInteropDevice_LockCommandQueue:
    case Method::ID3D12DXVKInteropDevice2_LockVulkanQueue:
      return "the trace does not have what the program submits to the Vulkan queue itself";
    case Method::ID3D12DXVKInteropDevice1_BeginVkCommandBufferInterop:
    case Method::ID3D12GraphicsCommandListExt_GetVulkanHandle:
      return "the trace does not have what the program records into the Vulkan command buffer "
             "itself";
    case Method::ID3D12DeviceExt_CreateCubinComputeShaderWithName:
    case Method::ID3D12DeviceExt2_CreateCubinComputeShaderExV2:
    case Method::ID3D12GraphicsCommandListExt_LaunchCubinShader:
    case Method::ID3D12GraphicsCommandListExt1_LaunchCubinShaderEx:
      return "a replay has no CUDA kernels";
    default: return nullptr;
  }
}

Treatment TreatmentOf(Method method) {
  return AllDecisions().treatments[static_cast<size_t>(method)];
}

int ObjectParameter(Method method) {
  return AllDecisions().objects[static_cast<size_t>(method)];
}

}  // namespace cairn
