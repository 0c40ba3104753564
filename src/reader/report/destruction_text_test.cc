// SPDX-License-Identifier: Apache-2.0
#include "reader/report/destruction_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/text.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

Snapshot Sample() {
  TestBlock block;
  FillMemoryBlock(&block);
  return std::move(SnapshotFromBlock(block.bytes(), 1).value());
}

// At `ns` after the start of the program.
void AddIncident(IncidentKind kind, uint64_t ns, Snapshot* snapshot) {
  Incident incident;
  incident.kind = kind;
  incident.time_ns = snapshot->process.start_time_ns + ns;
  snapshot->incidents.push_back(incident);
}

std::string DestroyedBy(const Snapshot& snapshot, uint32_t destruction) {
  std::string text;
  AppendDestroyedBy(snapshot, destruction, "", text);
  return text;
}

TEST(DestructionText, OfTheSample) {
  Snapshot snapshot = Sample();
  AddIncident(IncidentKind::kDeviceLost, 7'099'000, &snapshot);
  const std::string report = TextReport(snapshot, AnalyseDump(snapshot), {});
  EXPECT_THAT(
      report,
      HasSubstr(
          "      ! descriptor set 1 binding 2[1]: buffer \"Particles\", destroyed by thread "
          "\"streaming\" (23) in frame 3, after submission 1 of queue 0, 3 ms after the "
          "submission\n"
          "      ! descriptor set 1 binding 3: image view 0xc1, whose device memory \"Heap "
          "A\" was freed by thread \"streaming\" (23) in frame 3, after submission 1 of queue 0, "
          "4 ms after the submission\n"));
  EXPECT_THAT(report, HasSubstr("descriptor set 1: 1,024 descriptors, in arrays that may be "
                                "partially bound or are large, are not looked into\n"));
  EXPECT_THAT(
      report,
      HasSubstr(
          "\n  because   it began and did not end; no other command with a marker was in flight\n"
          "  bound     descriptor set 1 binding 2[1]: buffer \"Particles\""));
}

TEST(DestructionText, CountsFromWhatWasNoticedFirst) {
  Snapshot snapshot = Sample();
  EXPECT_EQ(DestroyedBy(snapshot, kNone), "");
  EXPECT_EQ(DestroyedBy(snapshot, 0),
            " by thread \"streaming\" (23) in frame 3, after submission 1 of queue 0");
  AddIncident(IncidentKind::kRequested, 1'000'000, &snapshot);
  EXPECT_FALSE(BeforeIncidentNs(snapshot, snapshot.destructions[0]));
  // The sample's clock starts at 1,000 ns, and the buffer ended at 4 ms.
  AddIncident(IncidentKind::kHang, 2'999'000, &snapshot);
  AddIncident(IncidentKind::kSignal, 9'000'000, &snapshot);
  EXPECT_EQ(BeforeIncidentNs(snapshot, snapshot.destructions[0]), -1'000'000);
  EXPECT_THAT(DestroyedBy(snapshot, 0), HasSubstr(", 1 ms after the hang was noticed"));
}

TEST(DestructionText, NamesNoSubmissionWhereThereWasNone) {
  Snapshot snapshot = Sample();
  snapshot.destructions[0].submission_serial = 0;
  snapshot.destructions[0].thread_name = {};
  EXPECT_EQ(SubmissionBefore(snapshot, snapshot.destructions[0]), kNone);
  EXPECT_EQ(DestroyedBy(snapshot, 0), " by thread (23) in frame 3");
}

TEST(DestructionText, WhatIsNotLookedIntoIsSaid) {
  Snapshot snapshot = Sample();
  Binding binding;
  binding.point = BindPoint::kDescriptorSet;
  binding.slot = 2;
  binding.state = BindingState::kNotSeen;
  binding.descriptor_set = 0;
  const auto text = [&](bool in_buffers, bool pushed) {
    snapshot.descriptor_sets[0].in_buffers = in_buffers;
    snapshot.descriptor_sets[0].pushed = pushed;
    std::string out;
    AppendDescriptorBinding(snapshot, binding, out);
    return out;
  };
  EXPECT_EQ(text(true, false),
            "descriptor set 2: in a descriptor buffer, which is not looked into");
  EXPECT_EQ(text(false, true), "descriptor set 2: pushed descriptors, which are not looked into");
}

TEST(DestructionText, HostileNamesAreVisible) {
  Snapshot snapshot = Sample();
  snapshot.destructions[0].thread_name = snapshot.AddText("a\nb");
  EXPECT_THAT(DestroyedBy(snapshot, 0), HasSubstr("by thread \"a\\x0ab\" (23)"));
}

}  // namespace
}  // namespace cairn
