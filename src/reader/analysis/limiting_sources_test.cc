// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/limiting_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reader/analysis/findings.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Sources 0 and 1 tell of progress, 2 and 3 of faults; 1 and 3 are present.
class LimitingSourcesTest : public ::testing::Test {
 protected:
  LimitingSourcesTest() {
    Add("VK_AMD_buffer_marker", SourceState::kSilent);
    Add("vkCmdFillBuffer", SourceState::kPresent);
    Add("VK_EXT_device_fault", SourceState::kFailed);
    Add("VK_KHR_device_fault", SourceState::kPresent);
  }
  void Add(const char* name, SourceState state) {
    Snapshot& snapshot = builder_.snapshot;
    snapshot.sources.push_back({snapshot.AddText(name), state, {}});
  }
  std::vector<uint32_t> Find(FindingKind kind, Certainty certainty) {
    finding_.kind = kind;
    finding_.certainty = certainty;
    return FindLimitingSources(builder_.snapshot, finding_);
  }

  SnapshotBuilder builder_;
  CulpritFinding finding_;
};

TEST_F(LimitingSourcesTest, ThoseOfProgressWhereTheWorkIsNotProven) {
  EXPECT_THAT(Find(FindingKind::kGpuHang, Certainty::kLikely), ElementsAre(0));
  EXPECT_THAT(Find(FindingKind::kGpuHang, Certainty::kOneOf), ElementsAre(0));
  EXPECT_THAT(Find(FindingKind::kKilled, Certainty::kUnknown), ElementsAre(0));
  EXPECT_THAT(Find(FindingKind::kGpuHang, Certainty::kProven), IsEmpty());
  EXPECT_THAT(Find(FindingKind::kGpuHang, Certainty::kNothingRunning), IsEmpty());
}

TEST_F(LimitingSourcesTest, ThoseOfFaultsWhereNoAddressIsTold) {
  EXPECT_THAT(Find(FindingKind::kDeviceLost, Certainty::kProven), ElementsAre(2));
  EXPECT_THAT(Find(FindingKind::kDeviceLost, Certainty::kOneOf), ElementsAre(0, 2));
  finding_.kernel_line = 0;
  EXPECT_THAT(Find(FindingKind::kGpuFault, Certainty::kAllCompleted), ElementsAre(2));
  finding_.fault_address = 0;
  EXPECT_THAT(Find(FindingKind::kGpuFault, Certainty::kAllCompleted), IsEmpty());
}

TEST_F(LimitingSourcesTest, NoneTellsMoreOfWaits) {
  EXPECT_THAT(Find(FindingKind::kDeadlock, Certainty::kUnknown), IsEmpty());
  EXPECT_THAT(Find(FindingKind::kEndlessWait, Certainty::kUnknown), IsEmpty());
}

TEST_F(LimitingSourcesTest, OfADeviceOnlyItsOwn) {
  Snapshot& snapshot = builder_.snapshot;
  snapshot.devices[0].source_count = 2;
  snapshot.devices.push_back({.first_source = 2, .source_count = 3});
  Add("VK_AMD_buffer_marker", SourceState::kAbsent);
  finding_.kind = FindingKind::kDeviceLost;
  finding_.certainty = Certainty::kOneOf;
  EXPECT_THAT(FindLimitingSources(snapshot, finding_), ElementsAre(0, 2, 4));
  EXPECT_THAT(FindLimitingSources(snapshot, finding_, 0), ElementsAre(0));
  EXPECT_THAT(FindLimitingSources(snapshot, finding_, 1), ElementsAre(2, 4));
  EXPECT_THAT(AnalyseDump(snapshot, 1).limiting_sources, ElementsAre(4));
}

TEST_F(LimitingSourcesTest, ArePartOfTheFindings) {
  // No list, no mode: nothing is known.
  EXPECT_THAT(AnalyseDump(builder_.snapshot).limiting_sources, ElementsAre(0));
}

}  // namespace
}  // namespace cairn
