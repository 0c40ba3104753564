// SPDX-License-Identifier: Apache-2.0
//
// What calls mean to verify and diff.
#include "call_meaning.h"

namespace cairn {
namespace {

// ---- Fences ----

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
