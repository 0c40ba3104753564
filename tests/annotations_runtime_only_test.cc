// SPDX-License-Identifier: Apache-2.0
//
// RUNTIME_ONLY keeps nothing that events carry, anywhere in the memory that outlives the process, unless
// the user asked for names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cairn/marker_types.h"

#include "annotations_device.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"
#include "format/snapshot/snapshot_from_block.h"

namespace cairn::annotations_test {
namespace {

const Environment environment("breadcrumb", "retail");

// Returns how often the text occurs in the used part of the block's memory.
size_t CountInBlock(std::string_view text) {
  const BlockWriter& block = ProcessBlock();
  const size_t used = block.header()->next_page.load() * kPageBytes;
  const std::string_view memory(reinterpret_cast<const char*>(block.data()), used);
  size_t count = 0;
  for (size_t at = memory.find(text); at != memory.npos; at = memory.find(text, at + 1)) ++count;
  return count;
}

struct Live {
  uint64_t bytes = MarkerArena::LiveBytes(ProcessBlock());
  uint32_t entries = MarkerArena::EntriesInUse(ProcessBlock());
  bool operator==(const Live&) const = default;
};

// Texts that stand nowhere else, made when they are needed.
std::string Payload(const char* what) {
  return std::string("payload of ") + what + " 8f1c";
}

template <typename Target>
void Annotate(Target& target, const std::string& what) {
  const std::string begin = Payload((what + " begin").c_str());
  const std::string marker = Payload((what + " marker").c_str());
  target.BeginEvent(1, begin.data(), static_cast<UINT>(begin.size()));
  target.SetMarker(1, marker.data(), static_cast<UINT>(marker.size()));
  target.EndEvent();
}

class Annotations : public ::testing::Test {
 protected:
  ComPtr<ID3D12Device> device_ = CreateWrappedDevice();
};

TEST_F(Annotations, L4_RuntimeOnlyKeepsNoPayloadAnywhere) {
  CreateList(device_);  // The first one makes the block.
  const Live before;
  for (const auto type : {D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_TYPE_COMPUTE,
                          D3D12_COMMAND_LIST_TYPE_COPY}) {
    const List list = CreateList(device_, type);
    const auto queue = CreateQueue(device_, type);
    Annotate(*list.list.get(), "a list");
    Annotate(*queue.get(), "a queue");
    Execute(device_, queue, list.list);
    EXPECT_EQ(Live(), before);
    for (const char* what : {"a list begin", "a list marker", "a queue begin", "a queue marker"}) {
      EXPECT_EQ(CountInBlock(Payload(what)), 0u) << what;
    }
  }
}

// Even the existence of markers on a queue is not recorded.
TEST_F(Annotations, L4_RuntimeOnlyKeepsNoMarkersOfQueues) {
  const auto queue = CreateQueue(device_);
  Annotate(*queue.get(), "a marked queue");
  const BlockWriter& block = ProcessBlock();
  const Result<Snapshot> snapshot =
      SnapshotFromBlock(std::span(block.data(), block.size_bytes()), 1);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  EXPECT_TRUE(snapshot->queue_markers.empty());
}

// The scopes are there all the same, in their order.
TEST_F(Annotations, L4_RuntimeOnlyEventsAreScopesWithoutAName) {
  const List list = CreateList(device_);
  Annotate(*list.list.get(), "a scope");
  Execute(device_, CreateQueue(device_), list.list);
  const BlockWriter& block = ProcessBlock();
  const Result<Snapshot> snapshot =
      SnapshotFromBlock(std::span(block.data(), block.size_bytes()), 1);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  const auto last = std::max_element(
      snapshot->recordings.begin(), snapshot->recordings.end(),
      [](const Recording& a, const Recording& b) { return a.recording_id < b.recording_id; });
  ASSERT_NE(last, snapshot->recordings.end());
  ASSERT_EQ(last->event_count, 4u);
  const Event& begin = snapshot->events[last->first_event];
  EXPECT_EQ(begin.kind, EventKind::kBegin);
  EXPECT_EQ(begin.type, CAIRN_MARKER_PASS);
  EXPECT_TRUE(begin.name.empty());
  EXPECT_EQ(begin.detail, kNone);
  EXPECT_EQ(snapshot->events[last->first_event + 1].type, CAIRN_MARKER_SET_MARKER);
  EXPECT_TRUE(snapshot->events[last->first_event + 1].name.empty());
}

// The search finds what is kept.
TEST_F(Annotations, L4_DriverRetailKeepsThem) {
  SetMode(device_, kDriverRetail);
  const Live before;
  const List list = CreateList(device_);
  Annotate(*list.list.get(), "a retail list");
  EXPECT_NE(Live(), before);
  EXPECT_GE(CountInBlock(Payload("a retail list begin")), 1u);
  EXPECT_GE(CountInBlock(Payload("a retail list marker")), 1u);
}

}  // namespace
}  // namespace cairn::annotations_test
