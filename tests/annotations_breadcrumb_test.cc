// SPDX-License-Identifier: Apache-2.0
//
// The requirements that speak of dumps, with the breadcrumb driver: the GPU itself says how far it came
// in the application's markers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cairn/marker_types.h"

#include "annotations_device.h"
#include "app/breadcrumbs/context.h"
#include "app/d3d12/device.h"
#include "format/snapshot/snapshot_from_block.h"

namespace cairn::annotations_test {
namespace {

const Environment environment("breadcrumb");

Snapshot TakeSnapshot(const ComPtr<ID3D12Device>& device) {
  // The GPU's words may be copied with a delay.
  Context* const context = static_cast<WrappedID3D12Device*>(device.get())->context();
  EXPECT_NE(nullptr, context);
  if (context != nullptr) context->Mirror();
  const BlockWriter& block = ProcessBlock();
  Result<Snapshot> snapshot = SnapshotFromBlock(std::span(block.data(), block.size_bytes()), 1);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
  return snapshot.ok() ? std::move(*snapshot) : Snapshot();
}

// The markers of the recording that was made last, as (text, EventID is there and resolves).
struct Marked {
  std::string text;
  uint16_t type;
  uint64_t event_id;
  bool reached;
};
std::vector<Marked> MarkersOfLastRecording(const Snapshot& snapshot) {
  std::vector<Marked> marked;
  if (snapshot.recordings.empty()) return marked;
  const Recording& recording = *std::max_element(
      snapshot.recordings.begin(), snapshot.recordings.end(),
      [](const Recording& a, const Recording& b) { return a.recording_id < b.recording_id; });
  for (uint32_t i = 0; i < recording.event_count; ++i) {
    const Event& event = snapshot.events[recording.first_event + i];
    if (event.kind != EventKind::kBegin || event.detail == kNone) continue;
    const Annotation& annotation = snapshot.annotations[event.detail];
    marked.push_back({std::string(snapshot.Text(annotation.name)), event.type, annotation.event_id,
                      recording.reached >= i + 1});
  }
  return marked;
}

void MarkAndExecute(const ComPtr<ID3D12Device>& device, const List& list) {
  const auto queue = CreateQueue(device);
  list.list->BeginEvent(1, "Shadow", 7);
  list.list->SetMarker(1, "Half", 5);
  list.list->EndEvent();
  list.list->EndEvent();  // without a begin
  Execute(device, queue, list.list);
}

TEST(Annotations, E2_TheGpuWritesTheMarkersWithTheirEventIds) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  SetMode(device, kDriverRetail);
  const List list = CreateList(device);
  MarkAndExecute(device, list);
  const std::vector<Marked> marked = MarkersOfLastRecording(TakeSnapshot(device));
  ASSERT_EQ(2u, marked.size());
  EXPECT_EQ("Shadow", marked[0].text);
  EXPECT_EQ(CAIRN_MARKER_PASS, marked[0].type);
  EXPECT_EQ("Half", marked[1].text);
  EXPECT_EQ(CAIRN_MARKER_SET_MARKER, marked[1].type);
  for (const Marked& each : marked) {
    EXPECT_TRUE(each.reached) << each.text;
    KeptMarker marker;
    ASSERT_EQ(EventIdState::kResolved, ResolveInBlock(each.event_id, &marker)) << each.text;
    EXPECT_EQ(each.text + '\0', PayloadText(marker));
  }
  EXPECT_NE(marked[0].event_id, marked[1].event_id);
}

TEST(Annotations, F2_RuntimeOnlyHasBreadcrumbsWithoutEventIds) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  const List list = CreateList(device);
  MarkAndExecute(device, list);
  const std::vector<Marked> marked = MarkersOfLastRecording(TakeSnapshot(device));
  ASSERT_EQ(2u, marked.size());
  EXPECT_EQ("Shadow", marked[0].text);
  for (const Marked& each : marked) {
    EXPECT_TRUE(each.reached) << each.text;
    EXPECT_EQ(0u, each.event_id);
  }
}

// Names of queue markers are kept like those of list events, if the user asked for the data of
// events.
TEST(Annotations, F2_RuntimeOnlyHasTheMarkersOfQueuesWithoutEventIds) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  const auto queue = CreateQueue(device);
  queue->BeginEvent(1, "Frame 1", 8);
  const List list = CreateList(device);
  Execute(device, queue, list.list);
  queue->SetMarker(1, "executed", 9);
  queue->EndEvent();
  queue->EndEvent();  // without a begin
  const Snapshot snapshot = TakeSnapshot(device);
  std::vector<std::string> markers;
  for (const QueueMarker& marker : snapshot.queue_markers) {
    ASSERT_NE(kNone, marker.queue);
    std::string text = std::to_string(marker.submission);
    if (marker.kind == QueueMarkerKind::kEnd) text += " end";
    if (marker.annotation != kNone) {
      const Annotation& annotation = snapshot.annotations[marker.annotation];
      EXPECT_EQ(0u, annotation.event_id);
      EXPECT_EQ(1u, annotation.metadata);
      text += ' ';
      text += snapshot.Text(annotation.name);
    }
    markers.push_back(text);
  }
  EXPECT_EQ((std::vector<std::string>{"0 Frame 1", "1 executed", "1 end"}), markers);
}

TEST(Annotations, L3_TheDumpHasTheMarkersOfQueuesInOrder) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  SetMode(device, kDriverRetail);
  const auto queue = CreateQueue(device);
  queue->BeginEvent(1, "Frame 1", 8);
  const List list = CreateList(device);
  Execute(device, queue, list.list);
  queue->SetMarker(1, "executed", 9);
  queue->EndEvent();
  const Snapshot snapshot = TakeSnapshot(device);
  ASSERT_EQ(3u, snapshot.queue_markers.size());
  EXPECT_EQ(QueueMarkerKind::kBegin, snapshot.queue_markers[0].kind);
  EXPECT_EQ(QueueMarkerKind::kSetMarker, snapshot.queue_markers[1].kind);
  EXPECT_EQ(QueueMarkerKind::kEnd, snapshot.queue_markers[2].kind);
  EXPECT_EQ(0u, snapshot.queue_markers[0].submission);
  EXPECT_EQ(1u, snapshot.queue_markers[1].submission);
  const uint32_t annotation = snapshot.queue_markers[1].annotation;
  ASSERT_LT(annotation, snapshot.annotations.size());
  EXPECT_EQ("executed", snapshot.Text(snapshot.annotations[annotation].name));
}

}  // namespace
}  // namespace cairn::annotations_test
