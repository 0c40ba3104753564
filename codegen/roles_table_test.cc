// SPDX-License-Identifier: Apache-2.0
//
// The generated table of roles: it fits the table of methods, and says what Direct3D 12 means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "d3d12gen/methods.h"
#include "d3d12gen/roles.h"

namespace cairn {
namespace {

template <typename Predicate>
std::vector<std::string> MethodsThat(Predicate predicate) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    if (predicate(method)) names.emplace_back(Describe(method).name);
  }
  return names;
}

TEST(RolesTest, ParametersExist) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const MethodInfo& info = Describe(static_cast<Method>(i));
    const CallRole& role = RoleOf(static_cast<Method>(i));
    const auto count = static_cast<int>(info.parameters.size());
    for (const int index : {role.object, role.value, role.slot, role.count, role.offset}) {
      EXPECT_LT(index, count) << info.name;
      EXPECT_GE(index, kNoParameter) << info.name;
    }
    EXPECT_EQ((role.reads | role.writes) >> count, 0) << info.name;
    EXPECT_LT(role.created, count) << info.name;
    EXPECT_EQ(role.created != kNoParameter, role.role == Role::kCreate) << info.name;
    if (info.object_parameter >= 0) {
      EXPECT_EQ(role.created, info.object_parameter) << info.name;
    }
    if (role.object != kNoParameter) {
      EXPECT_EQ(info.parameters[static_cast<size_t>(role.object)].kind, ValueKind::kObject)
          << info.name;
    }
  }
}

TEST(RolesTest, WorkIsRecordedAndHasAMarker) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    const CallRole& role = RoleOf(method);
    const bool is_work = role.role == Role::kWork || role.role == Role::kBarrier;
    EXPECT_EQ(is_work, Describe(method).work != kNoWork) << Describe(method).name;
    EXPECT_TRUE(!is_work || IsRecorded(method)) << Describe(method).name;
    EXPECT_EQ(role.replay == Replay::kCannot, role.unrepeatable != Unrepeatable::kNone)
        << Describe(method).name;
  }
}

TEST(RolesTest, ACallIsOfAListIfItIsRecorded) {
  EXPECT_TRUE(IsRecorded(Method::ID3D12GraphicsCommandList_Reset));
  EXPECT_TRUE(IsRecorded(Method::ID3D12GraphicsCommandList10_DispatchGraph));
  EXPECT_TRUE(IsRecorded(Method::ID3D12VideoDecodeCommandList_DecodeFrame));
  EXPECT_FALSE(IsRecorded(Method::ID3D12CommandList_GetType));
  EXPECT_FALSE(IsRecorded(Method::ID3D12DebugCommandList_AssertResourceState));
  EXPECT_FALSE(IsRecorded(Method::ID3D12GraphicsCommandListExt_GetVulkanHandle));
  EXPECT_FALSE(IsRecorded(Method::ID3D12CommandQueue_SetMarker));
}

TEST(RolesTest, CopiesReadTheirSourcesAndWriteTheirTargets) {
  const CallRole& copy = RoleOf(Method::ID3D12GraphicsCommandList_CopyBufferRegion);
  EXPECT_TRUE(copy.Writes(0));
  EXPECT_TRUE(copy.Reads(2));
  EXPECT_FALSE(copy.Reads(0));
  const CallRole& resolve = RoleOf(Method::ID3D12GraphicsCommandList_ResolveQueryData);
  EXPECT_EQ(resolve.object, 0);
  EXPECT_EQ(resolve.slot, 2);
  EXPECT_EQ(resolve.count, 3);
  EXPECT_TRUE(resolve.Writes(4));
}

TEST(RolesTest, FencesAreSignalledByTheseAlone) {
  EXPECT_THAT(MethodsThat([](Method method) { return RoleOf(method).signals; }),
              testing::UnorderedElementsAre("ID3D12Fence::Signal", "ID3D12CommandQueue::Signal",
                                            "ID3D12Device3::EnqueueMakeResident",
                                            "ID3D12SharingContract::SharedFenceSignal"));
}

TEST(RolesTest, AListHasOnePipelineState) {
  EXPECT_THAT(
      MethodsThat([](Method method) { return RoleOf(method).state == StateKind::kPipeline; }),
      testing::UnorderedElementsAre("ID3D12GraphicsCommandList::SetPipelineState",
                                    "ID3D12GraphicsCommandList4::SetPipelineState1",
                                    "ID3D12GraphicsCommandList10::SetProgram"));
}

TEST(RolesTest, ATearOffCountsWithItsObject) {
  EXPECT_EQ(RoleOf(Method::ID3D12GraphicsCommandListExt_LaunchCubinShader).chain,
            Chain::kID3D12GraphicsCommandList);
  EXPECT_EQ(RoleOf(Method::ID3D12SharingContract_Present).chain, Chain::kID3D12CommandQueue);
  EXPECT_EQ(RoleOf(Method::ID3D12Object_SetName).chain, Chain::kNone);
}

}  // namespace
}  // namespace cairn
