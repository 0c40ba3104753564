// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/arguments_origin.h"

#include <gtest/gtest.h>

#include <vector>

#include "format/block/indirect_values.h"
#include "format/snapshot/object_kinds.h"
#include "reader/analysis/findings.h"
#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

constexpr uint32_t kArguments = 0;  // objects
constexpr uint32_t kOther = 1;
constexpr uint64_t kHandle = 0xB0;
constexpr uint64_t kAddress = 0x1'0000;

// Lists of one queue; in the last one a DISPATCH_INDIRECT is running.
class ArgumentsOriginTest : public ::testing::Test {
 protected:
  ArgumentsOriginTest() : queue_(builder_.AddQueue()) {
    snapshot_.objects.resize(2);
    for (Object& object : snapshot_.objects) {
      object.state = ObjectState::kAlive;
      object.kind = kVulkanBufferKind;
      object.device = 0;
      object.size_bytes = 256;
    }
    snapshot_.objects[kArguments].native_handle = kHandle;
    snapshot_.objects[kArguments].gpu_address = kAddress;
    snapshot_.pipelines.resize(1);
  }

  void Bind(BindPoint point, uint64_t value, uint32_t slot = 0, bool is_address = false) {
    builder_.BindNothing(point);
    snapshot_.binds.back() = {slot, is_address, value};
  }
  // A set whose binding 3 leads to the buffer.
  uint32_t AddSet(uint64_t handle = kHandle, uint32_t destruction = kNone) {
    snapshot_.descriptors.push_back({3, 0, kVulkanBufferKind, handle, destruction});
    DescriptorSet set;
    set.device = 0;
    set.first_descriptor = static_cast<uint32_t>(snapshot_.descriptors.size()) - 1;
    set.descriptor_count = 1;
    snapshot_.descriptor_sets.push_back(set);
    return static_cast<uint32_t>(snapshot_.descriptor_sets.size());  // what a bind has
  }
  void BindSet(uint32_t set, uint32_t slot = 1) {
    Bind(BindPoint::kDescriptorSet, set, slot | kBindSlotOfCompute, true);
  }
  void Fill(uint64_t buffer) {
    Bind(BindPoint::kDestination, buffer);
    builder_.Scope(CAIRN_MARKER_FILL_BUFFER);
  }
  void Dispatch() {
    builder_.Scope(CAIRN_MARKER_DISPATCH);
    snapshot_.events[snapshot_.events.size() - 2].pipeline = 0;
  }
  void Begin() { list_ = builder_.BeginList(queue_); }
  void Finish() {
    builder_.EndList();
    builder_.Submit(queue_, list_);
    const uint32_t last = snapshot_.recordings[list_].event_count;
    builder_.SetWords(list_, last, last);
  }
  // The command in question, and the end of its list.
  ArgumentsOrigin Run() {
    Bind(BindPoint::kIndirectArguments, kArguments);
    const uint32_t begin = builder_.Begin(CAIRN_MARKER_DISPATCH_INDIRECT);
    builder_.End();
    builder_.EndList();
    return Submit(begin);
  }
  ArgumentsOrigin Submit(uint32_t begin) {
    builder_.Submit(queue_, list_);
    uint32_t passed = 0;
    for (uint32_t i = 0; i + 1 < begin; ++i) {
      const Event& event = snapshot_.events[snapshot_.recordings[list_].first_event + i];
      if ((event.flags & kEventWritesBottom) != 0) passed = i + 1;
    }
    builder_.SetWords(list_, begin, passed);
    return AnalyseDump(snapshot_).arguments;
  }
  CairnMarkerType TypeOf(const ArgumentsWriter& writer) {
    const Analysis analysis = Analyse(snapshot_);
    return static_cast<CairnMarkerType>(snapshot_.events[analysis.scopes[writer.scope].event].type);
  }
  uint64_t SubmissionOf(const ArgumentsWriter& writer) {
    const Analysis analysis = Analyse(snapshot_);
    return snapshot_.submissions[analysis.executions[writer.execution].submission].number;
  }

  SnapshotBuilder builder_{MarkerMode::kFull};
  Snapshot& snapshot_ = builder_.snapshot;
  uint32_t queue_;
  uint32_t list_ = 0;
};

TEST_F(ArgumentsOriginTest, TheLastFillBeforeIt) {
  Begin();
  Fill(kArguments);
  builder_.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
  Fill(kArguments);
  Fill(kOther);
  const ArgumentsOrigin origin = Run();
  EXPECT_EQ(origin.scope, 4u);
  EXPECT_EQ(origin.buffer, kArguments);
  EXPECT_EQ(origin.last.scope, 2u);
  EXPECT_EQ(origin.last.execution, origin.execution);
  EXPECT_TRUE(origin.last.is_certain);
  EXPECT_EQ(origin.certain.scope, kNone) << "the last one is";
  EXPECT_EQ(origin.late_writer, kNone);
  EXPECT_FALSE(origin.is_mapped);
}

TEST_F(ArgumentsOriginTest, ADispatchThatHasItBoundMayHaveWritten) {
  const uint32_t set = AddSet();
  Begin();
  Fill(kArguments);
  BindSet(set);
  Dispatch();
  const ArgumentsOrigin origin = Run();
  EXPECT_EQ(TypeOf(origin.last), CAIRN_MARKER_DISPATCH);
  EXPECT_FALSE(origin.last.is_certain);
  EXPECT_EQ(origin.last.point, BindPoint::kDescriptorSet);
  EXPECT_EQ(origin.last.slot, 1u);
  EXPECT_EQ(origin.last.binding, 3u);
  EXPECT_EQ(TypeOf(origin.certain), CAIRN_MARKER_FILL_BUFFER);
  EXPECT_TRUE(origin.certain.is_certain);
}

// The set of draws, a set in whose place another one was bound, a buffer that had this handle before, and a binding that no
// shader of the pipeline declares.
TEST_F(ArgumentsOriginTest, WhatIsBoundElsewhereDoesNotCount) {
  const uint32_t set = AddSet();
  const uint32_t other = AddSet(0xB1);
  const uint32_t destroyed = AddSet(kHandle, 0);
  snapshot_.destructions.resize(1);
  const auto writes = [&](uint32_t slot, uint32_t bound, uint32_t then) {
    const SnapshotBuilder before = builder_;
    Begin();
    Bind(BindPoint::kDescriptorSet, bound, slot, true);
    if (then != 0) Bind(BindPoint::kDescriptorSet, then, slot, true);
    Dispatch();
    const ArgumentsOrigin origin = Run();
    EXPECT_EQ(origin.buffer, kArguments);
    builder_ = before;
    return origin.last.scope != kNone;
  };
  EXPECT_TRUE(writes(1 | kBindSlotOfCompute, set, 0));
  EXPECT_FALSE(writes(1, set, 0));
  EXPECT_FALSE(writes(1 | kBindSlotOfCompute, set, other));
  EXPECT_FALSE(writes(1 | kBindSlotOfCompute, destroyed, 0));
  snapshot_.pipeline_descriptors = {{0, 0, 1}};
  snapshot_.shader_descriptors = {{1, 2}};
  EXPECT_FALSE(writes(1 | kBindSlotOfCompute, set, 0));
  snapshot_.shader_descriptors = {{1, 3}};
  EXPECT_TRUE(writes(1 | kBindSlotOfCompute, set, 0));
}

// Direct3D 12: a view by address.
TEST_F(ArgumentsOriginTest, ARootUnorderedAccessInsideOfIt) {
  snapshot_.objects[kArguments].kind = 0;
  Begin();
  Bind(BindPoint::kRootUnorderedAccess, kAddress + 256, 4 | kBindSlotOfCompute, true);
  Dispatch();  // behind its end
  Bind(BindPoint::kRootUnorderedAccess, kAddress + 64, 4 | kBindSlotOfCompute, true);
  Dispatch();
  Bind(BindPoint::kRootUnorderedAccess, 0, 4 | kBindSlotOfCompute, true);
  Dispatch();
  const ArgumentsOrigin origin = Run();
  EXPECT_EQ(origin.last.scope, 1u);
  EXPECT_EQ(origin.last.point, BindPoint::kRootUnorderedAccess);
  EXPECT_EQ(origin.last.slot, 4u);
  EXPECT_EQ(origin.last.binding, kNone);
  EXPECT_EQ(origin.certain.scope, kNone);
}

TEST_F(ArgumentsOriginTest, EarlierSubmissionsTheLatestFirst) {
  for (int i = 0; i < 2; ++i) {
    Begin();
    Fill(kArguments);
    Finish();
  }
  Begin();
  Fill(kOther);
  Finish();
  Begin();
  const ArgumentsOrigin origin = Run();
  EXPECT_TRUE(origin.last.is_certain);
  EXPECT_EQ(SubmissionOf(origin.last), 2u);
}

// What is submitted later comes too late, and what was not reached wrote nothing.
TEST_F(ArgumentsOriginTest, LaterSubmissionsDoNotCount) {
  Begin();
  Bind(BindPoint::kIndirectArguments, kArguments);
  const uint32_t begin = builder_.Begin(CAIRN_MARKER_DISPATCH_INDIRECT);
  builder_.End();
  builder_.EndList();
  Submit(begin);
  const uint32_t first = list_;
  Begin();
  Fill(kArguments);
  Finish();
  builder_.SetWords(list_, 0, 0);
  builder_.SetWords(first, begin, 0);
  const ArgumentsOrigin origin = AnalyseDump(snapshot_).arguments;
  EXPECT_EQ(origin.buffer, kArguments);
  EXPECT_EQ(origin.last.scope, kNone);
}

// The second queue was at the fill when the program died.
TEST_F(ArgumentsOriginTest, OnAnotherQueueItMayNotHaveEnded) {
  const uint32_t main = queue_;
  queue_ = builder_.AddQueue();
  Begin();
  Fill(kArguments);
  Finish();
  const uint32_t upload = list_;
  queue_ = main;
  Begin();
  EXPECT_TRUE(Run().last.is_certain);
  builder_.SetWords(upload, 2, 0);
  const Findings findings = AnalyseDump(snapshot_);
  CulpritFinding finding = findings.culprit;
  std::erase_if(finding.suspects, [&](const SuspectWork& suspect) {
    const Scope& scope = findings.analysis.scopes[suspect.scope];
    return snapshot_.events[scope.event].type == CAIRN_MARKER_FILL_BUFFER;
  });
  ASSERT_EQ(finding.suspects.size(), 1u);
  const ArgumentsOrigin origin = FindArgumentsOrigin(snapshot_, findings.analysis, finding);
  EXPECT_EQ(TypeOf(origin.last), CAIRN_MARKER_FILL_BUFFER);
  EXPECT_FALSE(origin.last.is_certain);
  EXPECT_EQ(origin.certain.scope, kNone);
}

TEST_F(ArgumentsOriginTest, AWriterBehindIt) {
  Begin();
  Bind(BindPoint::kIndirectArguments, kArguments);
  const uint32_t begin = builder_.Begin(CAIRN_MARKER_DISPATCH_INDIRECT);
  builder_.End();
  Fill(kArguments);
  builder_.EndList();
  const ArgumentsOrigin origin = Submit(begin);
  EXPECT_EQ(origin.scope, 0u);
  EXPECT_EQ(origin.last.scope, kNone);
  EXPECT_EQ(origin.late_writer, 1u);
  builder_.SetWords(list_, snapshot_.recordings[list_].event_count - 1, begin + 1);
  EXPECT_EQ(AnalyseDump(snapshot_).arguments.scope, kNone) << "the fill has no such arguments";
}

// A writer before it in the list: the one behind it may be meant for the next.
TEST_F(ArgumentsOriginTest, AWriterOnEitherSide) {
  const uint32_t set = AddSet();
  Begin();
  BindSet(set);
  Dispatch();
  Bind(BindPoint::kIndirectArguments, kArguments);
  const uint32_t begin = builder_.Begin(CAIRN_MARKER_DISPATCH_INDIRECT);
  builder_.End();
  Fill(kArguments);
  builder_.EndList();
  const ArgumentsOrigin origin = Submit(begin);
  EXPECT_EQ(origin.last.scope, 0u);
  EXPECT_EQ(origin.late_writer, kNone);
}

TEST_F(ArgumentsOriginTest, MemoryThatTheProgramHasMapped) {
  Begin();
  Bind(BindPoint::kIndirectArguments, kArguments);
  const uint32_t begin = builder_.Begin(CAIRN_MARKER_DISPATCH_INDIRECT);
  Bind(static_cast<BindPoint>(kIndirectHostAddress), 0, 0, true);
  builder_.End();
  builder_.EndList();
  const ArgumentsOrigin origin = Submit(begin);
  EXPECT_EQ(origin.last.scope, kNone);
  EXPECT_TRUE(origin.is_mapped);
}

}  // namespace
}  // namespace cairn
