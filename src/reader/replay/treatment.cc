// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/treatment.h"

#include <array>
#include <string_view>

namespace cairn {

namespace {

// Of debug layers and of the operating system: what they do is not a replay's.
constexpr std::string_view kInterfacesLeftOut[] = {
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
    // Of vkd3d-proton: another implementation has none of them, and what they are about is not recorded.
    "ID3D12DeviceExt",
    "ID3D12DXVKInteropDevice",
    "ID3D12GraphicsCommandListExt",
    "ID3D12CommandQueueExt",
    "ID3DLowLatencyDevice",
    "IAmdExtAntiLagApi",
    "IDXGIVkSwapChain",
};

constexpr std::string_view kMethodsLeftOut[] = {
    "Get",
    "Check",
    "SetPrivate",
    "CreateSharedHandle",
    "ReadFromSubresource",
    "RemoveDevice",
    "SetStablePowerState",
    "SetBackgroundProcessingMode",
    "Serialize",
    "StorePipeline",
    "RegisterTrimNotificationCallback",
    "UnregisterTrimNotificationCallback",
    "SetProgram",
    "DispatchGraph",
    "EnumerateMetaCommand",
    "ReportLiveDeviceObjects",
    "ShaderCacheControl",
};

Treatment ByName(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view method = name.substr(colon + 2);
  for (const std::string_view left_out : kInterfacesLeftOut) {
    if (name.substr(0, colon).starts_with(left_out)) return Treatment::kLeaveOut;
  }
  for (const std::string_view left_out : kMethodsLeftOut) {
    if (method.starts_with(left_out)) return Treatment::kLeaveOut;
  }
  return Treatment::kMake;
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
    // It writes to memory of the program.
    case Method::ID3D12Device15_ResolveQueryData:
    // Images and borrowed resources are made from their descriptions; the others do not exist here.
    case Method::IDXGIVkSwapChain_GetImage:
    case Method::IDXGIVkSwapChainFactory_CreateSwapChain:
    case Method::ID3D12DeviceExt1_CreateResourceFromBorrowedHandle:
    case Method::ID3D12DXVKInteropDevice1_CreateInteropCommandQueue:
    case Method::ID3D12DXVKInteropDevice1_CreateInteropCommandAllocator:
      return Treatment::kLeaveOut;
    // Shader tables hold them.
    case Method::ID3D12StateObjectProperties_GetShaderIdentifier: return Treatment::kMake;
    default: break;
  }
  const MethodInfo& info = Describe(method);
  const Treatment treatment = ByName(info.name);
  // Objects that exist already are asked for all the same: the trace gives them numbers.
  if (treatment == Treatment::kLeaveOut && info.object_parameter >= 0) return Treatment::kMake;
  return treatment;
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

Treatment TreatmentOf(Method method) {
  return AllDecisions().treatments[static_cast<size_t>(method)];
}

int ObjectParameter(Method method) {
  return AllDecisions().objects[static_cast<size_t>(method)];
}

}  // namespace cairn
