// SPDX-License-Identifier: Apache-2.0
//
// What calls mean to the checks of a replay.
#include <optional>
#include <string>

#include "call_meaning.h"

namespace cairn {
namespace {

// ---- Root arguments and the work that uses them ----

// reader/replay/player_bindings.cc, RootCallOf.
struct RootCall {
  std::string_view name;
  RootArgumentKind kind;
};
constexpr RootCall kRootCalls[] = {
    {"RootDescriptorTable", RootArgumentKind::kTable},
    {"Root32BitConstant", RootArgumentKind::kConstants},
    {"Root32BitConstants", RootArgumentKind::kConstants},
    {"RootConstantBufferView", RootArgumentKind::kConstantBuffer},
    {"RootShaderResourceView", RootArgumentKind::kShaderResource},
    {"RootUnorderedAccessView", RootArgumentKind::kUnorderedAccess},
};

TEST(CallMeaningOfListsTest, RootArguments) {
  size_t found = 0;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    const CallRole& role = RoleOf(method);
    RootArgumentKind kind = RootArgumentKind::kNone;
    RootPoint point = RootPoint::kNone;
    for (const RootCall& known : kRootCalls) {
      for (const RootPoint of : {RootPoint::kGraphics, RootPoint::kCompute}) {
        const std::string_view which = of == RootPoint::kGraphics ? "Graphics" : "Compute";
        if (ShortNameOf(method) != "Set" + std::string(which) + std::string(known.name)) continue;
        kind = known.kind;
        point = of;
        ++found;
      }
    }
    EXPECT_EQ(role.root, kind) << NameOf(method);
    if (kind == RootArgumentKind::kNone) continue;
    EXPECT_EQ(role.point, point) << NameOf(method);
    EXPECT_EQ(role.slot, 0) << NameOf(method);
    EXPECT_EQ(role.value, role.count == kNoParameter ? 1 : 2) << NameOf(method);
    // One constant has its place behind it, several have their number before them.
    const bool constants = kind == RootArgumentKind::kConstants;
    EXPECT_EQ(role.offset, constants ? role.value + 1 : kNoParameter) << NameOf(method);
  }
  EXPECT_EQ(found, 2 * std::size(kRootCalls));
}

// reader/replay/player_bindings.cc, CheckWork: 0: graphics, 1: compute, 2: the command signature says which.
std::optional<int> TablesUsed(Method method) {
  switch (method) {
    case Method::ID3D12GraphicsCommandList_DrawInstanced:
    case Method::ID3D12GraphicsCommandList_DrawIndexedInstanced:
    case Method::ID3D12GraphicsCommandList6_DispatchMesh: return 0;
    case Method::ID3D12GraphicsCommandList_Dispatch:
    case Method::ID3D12GraphicsCommandList4_DispatchRays: return 1;
    case Method::ID3D12GraphicsCommandList_ExecuteIndirect: return 2;
    default: return {};
  }
}
std::optional<int> TablesUsedByRole(Method method) {
  if (RoleOf(method).role != Role::kWork) return {};
  switch (RoleOf(method).point) {
    case RootPoint::kGraphics: return 0;
    case RootPoint::kCompute: return 1;
    case RootPoint::kEither: return 2;
    case RootPoint::kNone: break;
  }
  return {};
}
constexpr Decided kOtherTables[] = {
    {"ID3D12GraphicsCommandList10::DispatchGraph", "is not played yet"},
};

TEST(CallMeaningOfListsTest, TablesThatWorkUses) {
  Compare(TablesUsed, TablesUsedByRole, kOtherTables);
}

// reader/replay/player_bindings.cc, ForgetBindings.
constexpr std::string_view kForgotten[] = {
    "ID3D12GraphicsCommandList::Reset",
    "ID3D12GraphicsCommandList::Close",
    "ID3D12GraphicsCommandList::OMSetRenderTargets",
    "ID3D12GraphicsCommandList4::BeginRenderPass",
    "ID3D12GraphicsCommandList::ClearState",
    "ID3D12GraphicsCommandList::SetGraphicsRootSignature",
    "ID3D12GraphicsCommandList::SetComputeRootSignature",
    "ID3D12GraphicsCommandList::SetDescriptorHeaps",
    "ID3D12GraphicsCommandList::SetPipelineState",
    "ID3D12GraphicsCommandList4::SetPipelineState1",
    "ID3D12GraphicsCommandList10::SetProgram",
};

TEST(CallMeaningOfListsTest, ForgottenBindings) {
  const auto by_role = [](Method method) {
    if (RoleOf(method).chain != Chain::kID3D12GraphicsCommandList) return false;
    switch (RoleOf(method).role) {
      case Role::kListReset:
      case Role::kListClose:
      case Role::kClearState:
      case Role::kBeginPass: return true;
      default: break;
    }
    switch (RoleOf(method).state) {
      case StateKind::kPipeline:
      case StateKind::kRootSignature:
      case StateKind::kDescriptorHeaps:
      case StateKind::kRenderTargets: return true;
      default: return false;
    }
  };
  Compare([](Method method) { return IsOneOf(method, kForgotten); }, by_role, {});
}

// ---- Descriptors, states, fences ----

// reader/replay/replay_values.cc, CheckDescriptors: a D3D12_DESCRIPTOR_HEAP_TYPE; player_views.cc, NoteViews.
std::optional<uint32_t> HeapTypeOf(Method method) {
  switch (method) {
    case Method::ID3D12Device_CreateConstantBufferView:
    case Method::ID3D12Device_CreateShaderResourceView:
    case Method::ID3D12Device_CreateUnorderedAccessView:
    case Method::ID3D12Device8_CreateSamplerFeedbackUnorderedAccessView:
    case Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint:
    case Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewFloat: return 0;
    case Method::ID3D12Device_CreateSampler:
    case Method::ID3D12Device11_CreateSampler2: return 1;
    case Method::ID3D12Device_CreateRenderTargetView:
    case Method::ID3D12GraphicsCommandList_ClearRenderTargetView: return 2;
    case Method::ID3D12Device_CreateDepthStencilView:
    case Method::ID3D12GraphicsCommandList_ClearDepthStencilView: return 3;
    default: return {};
  }
}
std::optional<uint32_t> HeapTypeByRole(Method method) {
  switch (RoleOf(method).view) {
    case ViewKind::kNone: return {};
    case ViewKind::kConstantBuffer:
    case ViewKind::kShaderResource:
    case ViewKind::kUnorderedAccess: return 0;
    case ViewKind::kSampler: return 1;
    case ViewKind::kRenderTarget: return 2;
    case ViewKind::kDepthStencil: return 3;
  }
  return {};
}

constexpr Decided kNeverWritten[] = {
    {"ID3D12Device15::TryCreateShaderResourceView", kNeverRecorded},
    {"ID3D12Device15::TryCreateUnorderedAccessView", kNeverRecorded},
    {"ID3D12Device15::TryCreateConstantBufferView", kNeverRecorded},
    {"ID3D12Device15::TryCreateSampler2", kNeverRecorded},
    {"ID3D12Device15::TryCreateRenderTargetView", kNeverRecorded},
    {"ID3D12Device15::TryCreateDepthStencilView", kNeverRecorded},
    {"ID3D12Device15::TryCreateSamplerFeedbackUnorderedAccessView", kNeverRecorded},
};

TEST(CallMeaningOfListsTest, HeapTypes) {
  Compare(HeapTypeOf, HeapTypeByRole, kNeverWritten);
}

// reader/replay/player_calls.cc, NoteStates: of graphics lists alone.
TEST(CallMeaningOfListsTest, Barriers) {
  constexpr std::string_view kVideoBarriers =
      "replay did not follow states that lists of video set";
  constexpr Decided kOtherBarriers[] = {
      {"ID3D12VideoDecodeCommandList::ResourceBarrier", kVideoBarriers},
      {"ID3D12VideoDecodeCommandList3::Barrier", kVideoBarriers},
      {"ID3D12VideoProcessCommandList::ResourceBarrier", kVideoBarriers},
      {"ID3D12VideoProcessCommandList3::Barrier", kVideoBarriers},
      {"ID3D12VideoEncodeCommandList::ResourceBarrier", kVideoBarriers},
      {"ID3D12VideoEncodeCommandList3::Barrier", kVideoBarriers},
  };
  const auto followed = [](Method method) {
    return method == Method::ID3D12GraphicsCommandList_ResourceBarrier ||
           method == Method::ID3D12GraphicsCommandList7_Barrier;
  };
  Compare(
      followed, [](Method method) { return RoleOf(method).role == Role::kBarrier; },
      kOtherBarriers);
}

// format/trace/verify_calls.cc, LookAtFences; format/model/live_calls.cc.
TEST(CallMeaningOfListsTest, Signals) {
  constexpr Decided kOtherSignals[] = {
      {"ID3D12Device3::EnqueueMakeResident", "replay knew it, verify and late start did not"},
      {"ID3D12SharingContract::SharedFenceSignal", "nobody knew it"},
  };
  const auto known = [](Method method) {
    return method == Method::ID3D12Fence_Signal || method == Method::ID3D12CommandQueue_Signal;
  };
  Compare(
      known, [](Method method) { return RoleOf(method).signals; }, kOtherSignals);
}

// reader/view/trace_diff.cc, IsPoll.
TEST(CallMeaningOfListsTest, Polls) {
  const auto polled = [](Method method) {
    return method == Method::ID3D12Fence_GetCompletedValue ||
           method == Method::ID3D12Device_GetDeviceRemovedReason;
  };
  Compare(polled, [](Method method) { return RoleOf(method).polled; }, {});
}

}  // namespace
}  // namespace cairn
