// SPDX-License-Identifier: Apache-2.0
//
// The requirements that speak of crashes, with a driver in a library that keeps EventIDs and nothing
// else (samples/driver.c): what it reports is in the dump.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "annotations_device.h"
#include "format/snapshot/snapshot_from_block.h"

namespace cairn::annotations_test {
namespace {

constexpr char kDriver[] = CAIRN_BINARY_DIR "/samples/cairn-sample-driver.so";
const Environment environment(kDriver);

// Acts as if the GPU had hung at this EventID; 0: at the last one that the driver got.
void Crash(uint64_t event_id) {
  void* const library = dlopen(kDriver, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(nullptr, library);
  const auto crash = reinterpret_cast<void (*)(uint64_t)>(dlsym(library, "sampleDriverCrash"));
  ASSERT_NE(nullptr, crash);
  crash(event_id);
}

// Returns the dump's facts of the last device's EventIDs: in the order reported, state and text.
using Reported = std::pair<EventIdState, std::string>;
std::vector<Reported> ReportedInDump() {
  const BlockWriter& block = ProcessBlock();
  const Result<Snapshot> snapshot =
      SnapshotFromBlock(std::span(block.data(), block.size_bytes()), 1);
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().message();
  std::vector<Reported> reported;
  if (!snapshot.ok() || snapshot->devices.empty()) return reported;
  for (const ReportedEventId& each : snapshot->reported_event_ids) {
    if (each.device != snapshot->devices.size() - 1) continue;
    std::string text;
    if (each.annotation != kNone) {
      text = std::string(snapshot->Text(snapshot->annotations[each.annotation].name));
    }
    reported.emplace_back(each.state, text);
  }
  return reported;
}

TEST(Annotations, E2_EventIdsThatTheDriverReportsResolveInTheDump) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  SetMode(device, kDriverRetail);
  const List list = CreateList(device);
  const List other = CreateList(device);
  other.list->SetMarker(1, "forgotten", 10);
  ASSERT_EQ(S_OK, other.list->Close());
  Crash(0);
  ASSERT_EQ(S_OK, other.allocator->Reset());
  list.list->BeginEvent(1, "Shadow", 7);
  list.list->SetMarker(1, "the culprit", 12);
  Crash(0);
  Crash(0x0123456789ABCDEF);
  EXPECT_EQ((std::vector<Reported>{{EventIdState::kExpired, ""},
                                   {EventIdState::kResolved, "the culprit"},
                                   {EventIdState::kUnknown, ""}}),
            ReportedInDump());
}

TEST(Annotations, E3_ADriverMayKeepNothingButIds) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  SetMode(device, kDriverRetail);
  const List list = CreateList(device);
  char data[] = "read by nobody but the runtime";
  list.list->BeginEvent(1, data, sizeof(data));
  std::fill(data, data + sizeof(data), 'x');
  Crash(0);
  // The text is the runtime's; names of objects are not asked for.
  EXPECT_EQ((std::vector<Reported>{{EventIdState::kResolved, "read by nobody but the runtime"}}),
            ReportedInDump());
}

TEST(Annotations, O1_NothingAssumesThatMarkersArriveInOrder) {
  const auto device = CreateWrappedDevice();
  ASSERT_TRUE(device);
  SetMode(device, kDriverRetail);
  const List list = CreateList(device);
  const List later = CreateList(device);
  // The driver sees a later marker before an earlier one, of two lists, and one of them twice.
  later.list->SetMarker(1, "second list", 12);
  Crash(0);
  list.list->BeginEvent(1, "outer", 6);
  list.list->SetMarker(1, "inner", 6);
  Crash(0);
  list.list->EndEvent();
  Crash(0);  // the sample does not go back to the outer event
  list.list->SetMarker(1, "after", 6);
  Crash(0);
  EXPECT_EQ((std::vector<Reported>{{EventIdState::kResolved, "second list"},
                                   {EventIdState::kResolved, "inner"},
                                   {EventIdState::kResolved, "inner"},
                                   {EventIdState::kResolved, "after"}}),
            ReportedInDump());
}

}  // namespace
}  // namespace cairn::annotations_test
