// SPDX-License-Identifier: Apache-2.0
//
// Video-process command lists: libvkd3d has none, so that the layer wraps a list that does nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "annotations_device.h"
#include "app/d3d12/policy.h"
#include "app/d3d12/testing/test_video_list.h"
#include "d3d12gen/thin.h"

namespace cairn::annotations_test {
namespace {

const Environment environment("logging");

TEST(Annotations, M2_VideoProcessListsFollowTheMode) {
  RecordedCalls calls;
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  Wrapper* const wrapper = AsWrapper(device.get());
  ASSERT_NE(nullptr, wrapper);
  for (const auto mode : {kRuntimeOnly, kDriverRetail}) {
    SetMode(device, mode);
    std::vector<int> real;
    ComPtr<ID3D12VideoProcessCommandList> list;
    ASSERT_EQ(S_OK,
              WrapCreated(*wrapper, InterfaceTraits<ID3D12VideoProcessCommandList>::kChains[0],
                          new TestVideoProcessList(&real), __uuidof(ID3D12VideoProcessCommandList),
                          list.Receive()));
    SetMode(device, mode == kRuntimeOnly ? kDriverRetail : kRuntimeOnly);
    list->BeginEvent(10, "a", 1);
    list->SetMarker(11, "b", 1);
    list->EndEvent();
    list->SetName(L"video");
    // The implementation hears of all of it, whatever the mode.
    EXPECT_THAT(real, testing::ElementsAre(10, 11, -1));
    const std::vector<Call> seen = calls.Take();
    if (mode == kRuntimeOnly) {
      EXPECT_EQ(0u, seen.size());
      continue;
    }
    ASSERT_EQ(4u, seen.size());
    EXPECT_EQ(DriverFunction::kCmdListBeginEvent, seen[0].function);
    EXPECT_EQ(DriverFunction::kCmdListSetMarker, seen[1].function);
    EXPECT_EQ(DriverFunction::kCmdListEndEvent, seen[2].function);
    EXPECT_EQ(DriverFunction::kSetName, seen[3].function);
    EXPECT_EQ(10u, seen[0].metadata);
    EXPECT_EQ(11u, seen[1].metadata);
    EXPECT_EQ(seen[0].event_id, seen[2].event_id);
    for (const Call& call : seen) EXPECT_EQ(22u, call.handle_type);
  }
}

}  // namespace
}  // namespace cairn::annotations_test
