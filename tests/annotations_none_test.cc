// SPDX-License-Identifier: Apache-2.0
//
// The requirements that speak of drivers without user-defined annotations.
#include <gtest/gtest.h>

#include "annotations_device.h"

namespace cairn::annotations_test {
namespace {

const Environment environment("none");

TEST(Annotations, A1_DeviceToolsAnswerWithoutTheFeatureToo) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  const auto tools = ToolsOf(device);
  ASSERT_TRUE(tools);
  EXPECT_EQ(kRuntimeOnly, tools->GetUserDefinedAnnotationMode());
  EXPECT_EQ(S_OK, tools->SetUserDefinedAnnotationMode(kDriverRetail));
  EXPECT_EQ(kDriverRetail, tools->GetUserDefinedAnnotationMode());
}

TEST(Annotations, A5_TheFeatureQuerySaysNoAndSucceeds) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION data = {TRUE};
  EXPECT_EQ(S_OK, device->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION, &data,
                                              sizeof(data)));
  EXPECT_EQ(0u, static_cast<uint32_t>(data.Supported));
}

TEST(Annotations, F3_WithoutTheFeatureCallsSucceedAndNobodyIsCalled) {
  RecordedCalls calls;
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  SetMode(device, kDriverRetail);
  const auto queue = CreateQueue(device);
  const List list = CreateList(device);
  queue->BeginEvent(1, "Frame", 6);
  list.list->BeginEvent(1, "Pass", 5);
  list.list->SetMarker(1, "marker", 7);
  list.list->EndEvent();
  EXPECT_EQ(S_OK, list.list->SetName(L"list"));
  EXPECT_EQ(S_OK, queue->SetName(L"queue"));
  Execute(device, queue, list.list);
  queue->EndEvent();
  EXPECT_EQ(0u, calls.Take().size());
  // No EventID is ever given out, so that no marker has to be kept.
  EXPECT_EQ(0u, MarkerArena::LiveBytes(ProcessBlock()));
  EXPECT_EQ(0u, MarkerArena::EntriesInUse(ProcessBlock()));
  EXPECT_EQ(S_OK, device->GetDeviceRemovedReason());
}

}  // namespace
}  // namespace cairn::annotations_test
