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
    return AddSetOf({3}, handle, destruction);
  }
  uint32_t AddSetOf(const std::vector<uint32_t>& bindings, uint64_t handle = kHandle,
                    uint32_t destruction = kNone) {
    DescriptorSet set;
    set.device = 0;
    set.first_descriptor = static_cast<uint32_t>(snapshot_.descriptors.size());
    set.descriptor_count = static_cast<uint32_t>(bindings.size());
    for (const uint32_t binding : bindings) {
      snapshot_.descriptors.push_back({binding, 0, kVulkanBufferKind, handle, destruction});
    }
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
  // The same with all fills in this state.
  ArgumentsOrigin RunWithFills(WorkState state) {
    Run();
    Findings findings = AnalyseDump(snapshot_);
    for (Scope& scope : findings.analysis.scopes) {
      if (snapshot_.events[scope.event].type == CAIRN_MARKER_FILL_BUFFER) scope.state = state;
    }
    return FindArgumentsOrigin(snapshot_, findings.analysis, findings.culprit);
  }
  // The only descriptor that shaders of the pipeline declare.
  void Declare(uint32_t set, uint32_t binding) {
    snapshot_.pipeline_descriptors = {{0, 0, 1}};
    snapshot_.shader_descriptors = {{set, binding}};
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
  Declare(1, 2);
  EXPECT_FALSE(writes(1 | kBindSlotOfCompute, set, 0));
  Declare(1, 3);
  EXPECT_TRUE(writes(1 | kBindSlotOfCompute, set, 0));
}

// The GPU may be at both at once, unless a barrier makes the command wait.
TEST_F(ArgumentsOriginTest, AFillThatMayNotHaveEndedIsNotCertain) {
  const auto of = [&](WorkState state, bool barrier, bool earlier) {
    const SnapshotBuilder before = builder_;
    Begin();
    Fill(kArguments);
    if (barrier) builder_.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
    if (earlier) {
      Finish();
      Begin();
    }
    const ArgumentsOrigin origin = RunWithFills(state);
    EXPECT_EQ(TypeOf(origin.last), CAIRN_MARKER_FILL_BUFFER);
    EXPECT_EQ(origin.certain.scope, kNone);
    builder_ = before;
    return origin.last.is_certain;
  };
  for (const bool earlier : {false, true}) {
    EXPECT_TRUE(of(WorkState::kCompleted, false, earlier));
    EXPECT_FALSE(of(WorkState::kInFlight, false, earlier));
    EXPECT_FALSE(of(WorkState::kUnknown, false, earlier));
    EXPECT_TRUE(of(WorkState::kInFlight, true, earlier));
    EXPECT_TRUE(of(WorkState::kUnknown, true, earlier));
  }
}

// The barrier makes the first fill certain; the second one stands behind it.
TEST_F(ArgumentsOriginTest, ABarrierBetweenTwoFills) {
  Begin();
  Fill(kArguments);
  builder_.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
  Fill(kArguments);
  const ArgumentsOrigin origin = RunWithFills(WorkState::kInFlight);
  EXPECT_EQ(origin.last.scope, 2u);
  EXPECT_FALSE(origin.last.is_certain);
  EXPECT_EQ(origin.certain.scope, 0u);
  EXPECT_TRUE(origin.certain.is_certain);
}

// A barrier orders its queue alone.
TEST_F(ArgumentsOriginTest, ABarrierOfAnotherQueue) {
  const uint32_t main = queue_;
  queue_ = builder_.AddQueue();
  Begin();
  Fill(kArguments);
  builder_.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
  Finish();
  queue_ = main;
  Begin();
  const ArgumentsOrigin origin = RunWithFills(WorkState::kInFlight);
  EXPECT_EQ(TypeOf(origin.last), CAIRN_MARKER_FILL_BUFFER);
  EXPECT_FALSE(origin.last.is_certain);
}

// The fill was submitted when the entry held another object.
TEST_F(ArgumentsOriginTest, AnEntryThatWasUsedAgain) {
  Begin();
  Fill(kArguments);
  Finish();
  Begin();
  Run();
  snapshot_.objects[kArguments].created_ns = 50;
  const auto at = [&](uint64_t fill_ns, uint64_t command_ns) {
    snapshot_.submissions[0].time_ns = fill_ns;
    snapshot_.submissions[1].time_ns = command_ns;
    return AnalyseDump(snapshot_).arguments;
  };
  EXPECT_EQ(TypeOf(at(50, 60).last), CAIRN_MARKER_FILL_BUFFER);
  EXPECT_EQ(at(49, 60).buffer, kArguments);
  EXPECT_EQ(at(49, 60).last.scope, kNone);
  EXPECT_EQ(at(40, 49).scope, kNone) << "its own buffer is gone";
  snapshot_.objects[kArguments].state = ObjectState::kFree;
  EXPECT_EQ(at(50, 60).scope, kNone);
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

// Other memory may lie there by now.
TEST_F(ArgumentsOriginTest, AnAddressOfADestroyedBuffer) {
  Begin();
  Bind(BindPoint::kRootUnorderedAccess, kAddress, kBindSlotOfCompute, true);
  Dispatch();
  EXPECT_EQ(Run().last.scope, 0u);
  snapshot_.objects[kArguments].state = ObjectState::kDestroyed;
  const ArgumentsOrigin origin = AnalyseDump(snapshot_).arguments;
  EXPECT_EQ(origin.buffer, kArguments);
  EXPECT_EQ(origin.last.scope, kNone);
}

// Elements of one binding count once, sixteen bindings of a set and 64 of a command are looked at.
TEST_F(ArgumentsOriginTest, BindingsThatAreLookedAt) {
  std::vector<uint32_t> elements(254, 3);
  elements.push_back(7);
  const uint32_t array = AddSetOf(elements);
  std::vector<uint32_t> many(17);
  for (uint32_t i = 0; i < many.size(); ++i) many[i] = i;
  const uint32_t set = AddSetOf(many);
  const auto found = [&](uint32_t bound, uint32_t slots, uint32_t slot, uint32_t binding) {
    const SnapshotBuilder before = builder_;
    Declare(slot, binding);
    Begin();
    for (uint32_t i = 0; i < slots; ++i) BindSet(bound, i);
    Dispatch();
    const ArgumentsOrigin origin = Run();
    builder_ = before;
    return origin.last.scope != kNone && origin.last.slot == slot && origin.last.binding == binding;
  };
  EXPECT_TRUE(found(array, 1, 0, 7));
  EXPECT_TRUE(found(set, 1, 0, 15));
  EXPECT_FALSE(found(set, 1, 0, 16));
  EXPECT_TRUE(found(set, 5, 3, 15));
  EXPECT_FALSE(found(set, 5, 4, 0));
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

TEST_F(ArgumentsOriginTest, AWriterOfAnEarlierSubmissionAndOneBehindIt) {
  Begin();
  Fill(kArguments);
  Finish();
  Begin();
  Bind(BindPoint::kIndirectArguments, kArguments);
  const uint32_t begin = builder_.Begin(CAIRN_MARKER_DISPATCH_INDIRECT);
  builder_.End();
  Fill(kArguments);
  builder_.EndList();
  const ArgumentsOrigin origin = Submit(begin);
  EXPECT_EQ(SubmissionOf(origin.last), 1u);
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
