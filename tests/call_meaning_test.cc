// SPDX-License-Identifier: Apache-2.0
//
// What calls mean to capture, late starts and trim.
#include "call_meaning.h"

#include "format/model/call_kinds.h"

namespace cairn {
namespace {

// ---- Capture ----

// app/d3d12/capture/call_capture.cc, WhyNotReplayed.
constexpr std::string_view kToldByCapture[] = {
    "ID3D12Device::CreateSharedHandle",
    "ID3D12Device3::OpenExistingHeapFromAddress",
    "ID3D12Device3::OpenExistingHeapFromFileMapping",
    "ID3D12Device13::OpenExistingHeapFromAddress1",
    "ID3D12Device::OpenSharedHandleByName",
    "ID3D12DeviceExt1::CreateResourceFromBorrowedHandle",
    "ID3D12DXVKInteropDevice1::CreateInteropCommandQueue",
    "ID3D12DXVKInteropDevice1::CreateInteropCommandAllocator",
    "ID3D12DXVKInteropDevice::LockCommandQueue",
    "ID3D12DXVKInteropDevice2::LockVulkanQueue",
    "ID3D12DXVKInteropDevice1::BeginVkCommandBufferInterop",
    "ID3D12GraphicsCommandListExt::GetVulkanHandle",
    "ID3D12GraphicsCommandListExt::LaunchCubinShader",
    "ID3D12GraphicsCommandListExt1::LaunchCubinShaderEx",
    "ID3D12GraphicsCommandList10::SetProgram",
    "ID3D12GraphicsCommandList10::DispatchGraph",
};
constexpr Decided kToldOtherwise[] = {
    {"ID3D12Device::CreateSharedHandle", "told by its arguments: a name, and no fence"},
    {"ID3D12Device::OpenSharedHandle", "what this process shared itself is played"},
    {"ID3D12DeviceExt::CreateCubinComputeShaderWithName", "told when the kernel is launched"},
    {"ID3D12DeviceExt2::CreateCubinComputeShaderExV2", "told when the kernel is launched"},
};

TEST(CallMeaningTest, ToldByCapture) {
  const auto by_role = [](Method method) {
    const Replay replay = RoleOf(method).replay;
    return replay == Replay::kCannot || replay == Replay::kImport;
  };
  Compare([](Method method) { return IsOneOf(method, kToldByCapture); }, by_role, kToldOtherwise);
}

// ---- Late start, trim ----

CallKind CallKindByRole(Method method) {
  const CallRole& role = RoleOf(method);
  switch (role.role) {
    case Role::kProperty: return CallKind::kSetting;
    case Role::kPrivateData: return CallKind::kPrivateData;
    case Role::kIdentifier: return CallKind::kIdentifier;
    case Role::kListReset: return CallKind::kListReset;
    case Role::kListClose: return CallKind::kListClose;
    case Role::kView: return CallKind::kView;
    case Role::kCopyViews: return CallKind::kCopyViewsSimple;
    case Role::kCopyViewRanges: return CallKind::kCopyViews;
    case Role::kTiles: return CallKind::kTileMapping;
    case Role::kMap: return CallKind::kMap;
    case Role::kUnmap: return CallKind::kUnmap;
    case Role::kSignal:
      return role.timeline == Timeline::kQueue ? CallKind::kQueueSignal : CallKind::kFenceSignal;
    default: return IsRecorded(method) ? CallKind::kListWork : CallKind::kOther;
  }
}

constexpr std::string_view kKept =
    "what it sets counts for what is made later: a late start lost it";
constexpr Decided kOtherKinds[] = {
    {"ID3D12Device15::TryCreateShaderResourceView", kNeverRecorded},
    {"ID3D12Device15::TryCreateUnorderedAccessView", kNeverRecorded},
    {"ID3D12Device15::TryCreateConstantBufferView", kNeverRecorded},
    {"ID3D12Device15::TryCreateSampler2", kNeverRecorded},
    {"ID3D12Device15::TryCreateRenderTargetView", kNeverRecorded},
    {"ID3D12Device15::TryCreateDepthStencilView", kNeverRecorded},
    {"ID3D12Device15::TryCreateSamplerFeedbackUnorderedAccessView", kNeverRecorded},
    {"ID3D12CommandQueue1::SetProcessPriority", kKept},
    {"ID3D12CommandQueue1::SetGlobalPriority", kKept},
    {"ID3D12DeviceExt3::SetAGSUAVSlot", kKept},
    {"ID3D12DeviceExt4::SetNvShaderExtnSlotSpace", kKept},
    {"ID3D12DeviceExt5::SetCreatePipelineStateFlagsNVAPI", kKept},
    {"ID3D12StateObjectProperties1::GetProgramIdentifier", "SetProgram refers to it"},
    {"ID3D12SharingContract::SharedFenceSignal", "signals a fence"},
    {"ID3D12GraphicsCommandListExt::GetVulkanHandle", "records nothing into its list"},
    {"ID3D12GraphicsCommandListExt2::VerifyOpacityMicromapArrayNVAPI", "a question"},
};

TEST(CallMeaningTest, CallKind) {
  Compare([](Method method) { return CallKindOf(static_cast<uint16_t>(method)); }, CallKindByRole,
          kOtherKinds);
}

constexpr std::string_view kOpaque = "addresses may be in bytes whose meaning the command knows";
constexpr Decided kFollowAddresses[] = {
    {"ID3D12GraphicsCommandList4::InitializeMetaCommand", kOpaque},
    {"ID3D12GraphicsCommandList4::ExecuteMetaCommand", kOpaque},
    {"ID3D12VideoDecodeCommandList2::InitializeExtensionCommand", kOpaque},
    {"ID3D12VideoDecodeCommandList2::ExecuteExtensionCommand", kOpaque},
    {"ID3D12VideoProcessCommandList2::InitializeExtensionCommand", kOpaque},
    {"ID3D12VideoProcessCommandList2::ExecuteExtensionCommand", kOpaque},
    {"ID3D12VideoEncodeCommandList1::InitializeExtensionCommand", kOpaque},
    {"ID3D12VideoEncodeCommandList1::ExecuteExtensionCommand", kOpaque},
    {"ID3D12GraphicsCommandListExt::LaunchCubinShader", kOpaque},
    {"ID3D12GraphicsCommandListExt1::LaunchCubinShaderEx", kOpaque},
    {"ID3D12GraphicsCommandList4::CopyRaytracingAccelerationStructure",
     "a serialised structure names those that it refers to"},
    {"ID3D12GraphicsCommandList10::SetProgram", "node-local root arguments lie in memory"},
    {"ID3D12GraphicsCommandList10::DispatchGraph", "its input and its records may lie in memory"},
};

TEST(CallMeaningTest, GpuReadsAddresses) {
  Compare(
      GpuReadsAddresses, [](Method method) { return RoleOf(method).follows_addresses; },
      kFollowAddresses);
}

// format/model/resource_uses.cc, OnlySets, of what its switch leaves.
bool OnlySets(Method method) {
  constexpr std::string_view kBeginnings[] = {
      "IASet",        "RSSet",      "OMSet",     "SOSet",           "SetPipelineState",
      "SetGraphics",  "SetCompute", "SetMarker", "SetViewInstance", "BeginEvent",
      "EndEvent",     "BeginQuery", "EndQuery",  "Close",           "SetPredication",
      "EndRenderPass"};
  return std::any_of(
      std::begin(kBeginnings), std::end(kBeginnings),
      [&](std::string_view beginning) { return ShortNameOf(method).starts_with(beginning); });
}
bool OnlySetsByRole(Method method) {
  switch (RoleOf(method).role) {
    case Role::kState:
    case Role::kListClose:
    case Role::kEndPass:
    case Role::kBeginQuery:
    case Role::kEndQuery:
    case Role::kBeginEvent:
    case Role::kEndEvent:
    case Role::kMarker: return true;
    default: return false;
  }
}

constexpr Decided kOtherSetters[] = {
    {"ID3D12GraphicsCommandList::SetDescriptorHeaps", "the switch takes it first"},
    {"ID3D12GraphicsCommandList1::SetSamplePositions", "counted as work, which used what is bound"},
    {"ID3D12GraphicsCommandList3::SetProtectedResourceSession", "counted as work"},
    {"ID3D12VideoDecodeCommandList2::SetProtectedResourceSession", "counted as work"},
    {"ID3D12VideoProcessCommandList2::SetProtectedResourceSession", "counted as work"},
    {"ID3D12VideoEncodeCommandList::SetProtectedResourceSession", "counted as work"},
    {"ID3D12GraphicsCommandList10::SetProgram", "counted as work"},
};

TEST(CallMeaningTest, OnlySets) {
  const auto recorded = [](auto answer) {
    return [answer](Method method) { return IsRecorded(method) && answer(method); };
  };
  Compare(recorded(OnlySets), recorded(OnlySetsByRole), kOtherSetters);
}

// format/model/unused_objects.cc, IsNeededItself: asked of calls that make nothing, and are of kind kOther.
// A device and a queue are needed in any case.
TEST(CallMeaningTest, NeededItself) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    const bool makes = Describe(method).object_parameter >= 0;
    if (CallKindOf(static_cast<uint16_t>(method)) != CallKind::kOther || makes) continue;
    const std::string_view interface = InterfaceOf(method);
    const bool before =
        (interface.starts_with("ID3D12Device") && interface != "ID3D12DeviceChild") ||
        interface.starts_with("ID3D12CommandQueue") || interface.starts_with("ID3D12Fence") ||
        interface.find("CommandList") != std::string_view::npos;
    const Chain chain = RoleOf(method).chain;
    if (chain == Chain::kID3D12Device || chain == Chain::kID3D12CommandQueue) continue;
    const bool question = method == Method::ID3D12CommandList_GetType;  // names no object
    EXPECT_EQ(before && !question,
              chain == Chain::kID3D12Fence || chain == Chain::kID3D12GraphicsCommandList)
        << NameOf(method);
  }
}

// format/model/unneeded_contents.cc, LeavesContents: asked of calls that are of no list, write no
// descriptors and submit nothing, and that may name a resource.
bool MayNameResource(Method method) {
  const std::span<const ParameterInfo> parameters = Describe(method).parameters;
  return RoleOf(method).chain == Chain::kID3D12Resource ||
         std::any_of(parameters.begin(), parameters.end(), [](const ParameterInfo& parameter) {
           const bool object =
               parameter.kind == ValueKind::kObject &&
               (parameter.chain == Chain::kID3D12Resource || parameter.chain == Chain::kNone);
           return parameter.direction == Direction::kIn &&
                  (object || parameter.kind == ValueKind::kGpuAddress);
         });
}
bool ReachesContents(Method method) {
  switch (CallKindOf(static_cast<uint16_t>(method))) {
    case CallKind::kListReset:
    case CallKind::kListWork:
    case CallKind::kListClose:
    case CallKind::kView:
    case CallKind::kCopyViews:
    case CallKind::kCopyViewsSimple: return false;
    default: break;
  }
  return RoleOf(method).role != Role::kSubmit && RoleOf(method).role != Role::kView &&
         MayNameResource(method);
}
bool LeavesContents(Method method) {
  const std::string_view name = NameOf(method);
  return name.starts_with("ID3D12Object::") || name.starts_with("ID3D12DeviceChild::") ||
         name.starts_with("ID3D12Resource::Get") || name.starts_with("ID3D12Resource1::Get") ||
         name.starts_with("ID3D12Resource2::Get");
}
bool LeavesContentsByRole(Method method) {
  switch (RoleOf(method).role) {
    case Role::kQuestion:
    case Role::kHint:
    case Role::kCreate:
    case Role::kProperty:
    case Role::kPrivateData:
    case Role::kIdentifier:
    case Role::kResidency:
    case Role::kSignal:
    case Role::kWait:
    case Role::kAllocatorReset:
    case Role::kLoseDevice: return true;
    default: return false;
  }
}

constexpr std::string_view kMoves = "moves memory, and leaves what is in it";
constexpr Decided kLeaveContents[] = {
    {"ID3D12Device::MakeResident", kMoves},
    {"ID3D12Device::Evict", kMoves},
    {"ID3D12Device1::SetResidencyPriority", kMoves},
    {"ID3D12Device3::EnqueueMakeResident", kMoves},
    {"ID3D12Device::GetResourceTiling", "a question"},
    {"ID3D12DXVKInteropDevice::GetVulkanImageLayout", "a question"},
    {"ID3D12LifetimeTracker::DestroyOwnedObject", "ends the object"},
    {"ID3D12DebugCommandQueue::AssertResourceState", kAsserts},
    {"ID3D12DebugCommandQueue1::AssertResourceAccess", kAsserts},
    {"ID3D12DebugCommandQueue1::AssertTextureLayout", kAsserts},
    {"ID3D12DebugCommandList::AssertResourceState", kAsserts},
    {"ID3D12DebugCommandList1::AssertResourceState", kAsserts},
    {"ID3D12DebugCommandList3::AssertResourceAccess", kAsserts},
    {"ID3D12DebugCommandList3::AssertTextureLayout", kAsserts},
    {"ID3D12GBVDiagnostics::GetGBVEntireSubresourceStatesData", kAsserts},
    {"ID3D12GBVDiagnostics::GetGBVSubresourceState", kAsserts},
    {"ID3D12GBVDiagnostics::GetGBVResourceUniformState", kAsserts},
    {"ID3D12GBVDiagnostics::GetGBVResourceInfo", kAsserts},
    {"ID3D12ManualWriteTrackingResource::TrackWrite",
     "says what the CPU wrote where it is mapped, which counts by itself"},
};

TEST(CallMeaningTest, LeavesContents) {
  const auto asked = [](auto answer) {
    // What a call creates has no contents yet, and what it names besides are not resources: heaps, queues, owners.
    return [answer](Method method) {
      const bool makes = RoleOf(method).role == Role::kCreate;
      return ReachesContents(method) && !makes &&
             method != Method::IDXGIVkSwapChain_ChangeProperties && answer(method);
    };
  };
  Compare(asked(LeavesContents), asked(LeavesContentsByRole), kLeaveContents);
}

// format/model/unneeded_contents.cc and reader/replay/player_calls.cc.
TEST(CallMeaningTest, Committed) {
  Compare([](Method method) { return ShortNameOf(method).starts_with("CreateCommittedResource"); },
          [](Method method) { return RoleOf(method).memory == ResourceMemory::kCommitted; }, {});
}

}  // namespace
}  // namespace cairn
