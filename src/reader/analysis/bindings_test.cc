// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/bindings.h"

#include <gtest/gtest.h>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

constexpr uint64_t kSubmitted = 1'000;

// One list, submitted at kSubmitted, whose last command the GPU was in.
class Bindings : public ::testing::Test {
 protected:
  Bindings() {
    queue_ = builder_.AddQueue();
    list_ = builder_.BeginList(queue_);
  }

  uint32_t AddObject(uint64_t address = 0, uint64_t size = 0, uint64_t created_ns = 1,
                     uint64_t destroyed_ns = 0) {
    Object object;
    object.state = destroyed_ns == 0 ? ObjectState::kAlive : ObjectState::kDestroyed;
    object.gpu_address = address;
    object.size_bytes = size;
    object.created_ns = created_ns;
    object.destroyed_ns = destroyed_ns;
    builder_.snapshot.objects.push_back(object);
    return static_cast<uint32_t>(builder_.snapshot.objects.size() - 1);
  }
  // A set of so many descriptors, all of which lead to something destroyed. Returns what binds carry.
  uint64_t AddSet(uint32_t descriptors) {
    Snapshot& snapshot = builder_.snapshot;
    DescriptorSet set;
    set.first_descriptor = static_cast<uint32_t>(snapshot.descriptors.size());
    set.descriptor_count = descriptors;
    for (uint32_t i = 0; i < descriptors; ++i) {
      Descriptor descriptor;
      descriptor.binding = i;
      descriptor.destruction = static_cast<uint32_t>(snapshot.destructions.size());
      snapshot.descriptors.push_back(descriptor);
      Destruction destruction;
      destruction.serial = snapshot.destructions.size() + 1;
      destruction.time_ns = kSubmitted + 50;
      snapshot.destructions.push_back(destruction);
    }
    snapshot.descriptor_sets.push_back(set);
    return snapshot.descriptor_sets.size();
  }
  void BindObject(BindPoint point, uint32_t slot, uint32_t object) {
    AddBind(point, {slot, false, object});
  }
  void BindAddress(BindPoint point, uint32_t slot, uint64_t address) {
    AddBind(point, {slot, true, address});
  }

  // The bindings of the only candidate, the scope that begins at event `sequence`.
  std::vector<Binding> In(uint32_t sequence) {
    builder_.SetWords(list_, sequence, sequence - 1);
    if (builder_.snapshot.submissions.empty()) {
      builder_.Submit(queue_, list_);
      builder_.snapshot.submissions[0].time_ns = kSubmitted;
    }
    // The work before has ended: its bottom write belongs to the event before.
    builder_.snapshot.events[sequence - 2].flags |= kEventWritesBottom;
    analysis_ = Analyse(builder_.snapshot);
    const QueueVerdict& verdict = analysis_.verdicts.at(0);
    EXPECT_EQ(verdict.candidates.size(), 1u);
    const CandidateContext& context = verdict.contexts.at(0);
    const auto begin = analysis_.bindings.begin() + context.first_binding;
    return {begin, begin + context.binding_count};
  }

  SnapshotBuilder builder_;
  Analysis analysis_;
  uint32_t queue_ = 0;
  uint32_t list_ = 0;

 private:
  void AddBind(BindPoint point, const Bind& bind) {
    Event event;
    event.kind = EventKind::kBind;
    event.type = static_cast<uint16_t>(point);
    event.detail = static_cast<uint32_t>(builder_.snapshot.binds.size());
    builder_.snapshot.binds.push_back(bind);
    builder_.snapshot.events.push_back(event);
    ++builder_.snapshot.recordings.back().event_count;
  }
};

TEST_F(Bindings, TheLastOfEachSlotBeforeTheCommandIsInEffect) {
  const uint32_t first = AddObject(), second = AddObject(), later = AddObject();
  BindObject(BindPoint::kRenderTarget, 0, first);
  BindObject(BindPoint::kRenderTarget, 1, first);
  BindObject(BindPoint::kDepthStencil, 0, first);
  builder_.Scope(CAIRN_MARKER_DRAW_INSTANCED);
  BindObject(BindPoint::kRenderTarget, 0, second);
  BindObject(BindPoint::kDepthStencil, 0, kNone);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  builder_.End();
  BindObject(BindPoint::kRenderTarget, 1, later);
  const std::vector<Binding> bindings = In(draw);
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].object, second);
  EXPECT_EQ(bindings[1].object, first);
  EXPECT_EQ(bindings[1].slot, 1u);
  EXPECT_EQ(bindings[0].state, BindingState::kAlive);
}

TEST_F(Bindings, OfACopyOnlyWhatStandsDirectlyBefore) {
  const uint32_t from = AddObject(), to = AddObject(), other = AddObject();
  BindObject(BindPoint::kRenderTarget, 0, other);
  BindObject(BindPoint::kSource, 0, other);
  builder_.Scope(CAIRN_MARKER_COPY_RESOURCE);
  BindObject(BindPoint::kDestination, 0, to);
  BindObject(BindPoint::kSource, 0, from);
  const uint32_t copy = builder_.Begin(CAIRN_MARKER_COPY_RESOURCE);
  builder_.End();
  std::vector<Binding> bindings = In(copy);
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].point, BindPoint::kSource);
  EXPECT_EQ(bindings[0].object, from);
  EXPECT_EQ(bindings[1].object, to);
}

TEST_F(Bindings, DrawsAndDispatchesHaveTheirOwnRootParameters) {
  const uint32_t buffer = AddObject(0x1000, 0x100);
  BindAddress(BindPoint::kRootConstantBuffer, 2, 0x1000);
  BindAddress(BindPoint::kRootConstantBuffer, 2 | kBindSlotOfCompute, 0x1010);
  BindObject(BindPoint::kRenderTarget, 0, buffer);
  const uint32_t dispatch = builder_.Begin(CAIRN_MARKER_DISPATCH);
  builder_.End();
  const std::vector<Binding> bindings = In(dispatch);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_TRUE(bindings[0].of_compute);
  EXPECT_EQ(bindings[0].slot, 2u);
  EXPECT_EQ(bindings[0].object, buffer);
  EXPECT_EQ(bindings[0].offset, 0x10u);
}

TEST_F(Bindings, DrawsDispatchesAndRaysHaveTheirOwnSets) {
  for (const uint64_t pipe : {0u, kBindSlotOfCompute, kBindSlotOfRays}) {
    BindAddress(BindPoint::kDescriptorSet, 1 | static_cast<uint32_t>(pipe), AddSet(2));
  }
  BindAddress(BindPoint::kDescriptorSet, 2 | kBindSlotOfRays, 0);
  const uint32_t rays = builder_.Begin(CAIRN_MARKER_TRACE_RAYS);
  builder_.End();
  const std::vector<Binding> bindings = In(rays);
  ASSERT_EQ(bindings.size(), 2u) << "both descriptors of the third set";
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(bindings[i].descriptor_set, 2u);
    EXPECT_EQ(bindings[i].descriptor, 4 + i);
    EXPECT_EQ(bindings[i].destruction, 4 + i);
    EXPECT_EQ(bindings[i].slot, 1u);
    EXPECT_EQ(bindings[i].state, BindingState::kDestroyed);
    EXPECT_EQ(bindings[i].destroyed_after_ns, 50);
    EXPECT_TRUE(bindings[i].since_submission);
    EXPECT_EQ(bindings[i].object, kNone);
  }
}

TEST_F(Bindings, WhatWasNotLookedIntoMakesNoSuspect) {
  builder_.snapshot.descriptor_sets.push_back({0, 0xD1, false, false, 500, 0, 0});
  builder_.snapshot.descriptor_sets.push_back({0, 0, true, false, 0, 0, 0});
  BindAddress(BindPoint::kDescriptorSet, 0 | kBindSlotOfCompute, 1);
  BindAddress(BindPoint::kDescriptorSet, 1 | kBindSlotOfCompute, 2);
  BindAddress(BindPoint::kDescriptorSet, 2 | kBindSlotOfCompute, 3);  // of no set that is known
  const uint32_t dispatch = builder_.Begin(CAIRN_MARKER_DISPATCH);
  builder_.End();
  const std::vector<Binding> bindings = In(dispatch);
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].state, BindingState::kNotSeen);
  EXPECT_EQ(bindings[1].state, BindingState::kNotSeen);
  EXPECT_EQ(bindings[1].descriptor_set, 1u);
  EXPECT_EQ(bindings[1].destruction, kNone);
}

TEST_F(Bindings, WhatNoShaderOfThePipelineDeclaresIsNotMeant) {
  Snapshot& snapshot = builder_.snapshot;
  snapshot.pipelines.resize(2);
  snapshot.pipeline_descriptors = {{1, 0, 1}};
  snapshot.shader_descriptors = {{3, 1}};
  BindAddress(BindPoint::kDescriptorSet, 2 | kBindSlotOfCompute, AddSet(3));
  BindAddress(BindPoint::kDescriptorSet, 3 | kBindSlotOfCompute, AddSet(3));
  const uint32_t dispatch = builder_.Begin(CAIRN_MARKER_DISPATCH);
  builder_.End();
  for (const uint32_t unknown : {0u, kNone}) {
    snapshot.events[dispatch - 1].pipeline = unknown;
    EXPECT_EQ(In(dispatch).size(), 6u) << "of which nothing is known, all counts";
  }
  snapshot.events[dispatch - 1].pipeline = 1;
  const std::vector<Binding> bindings = In(dispatch);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].slot, 3u);
  EXPECT_EQ(snapshot.descriptors[bindings[0].descriptor].binding, 1u);
}

// Secondary command buffers begin with nothing bound, and leave nothing.
TEST_F(Bindings, SetsEndAtSecondaries) {
  BindAddress(BindPoint::kDescriptorSet, 0 | kBindSlotOfCompute, AddSet(1));
  builder_.Begin(CAIRN_MARKER_EXECUTE_COMMANDS);
  BindObject(BindPoint::kSecondary, 0, kNone);
  const uint32_t inside = builder_.Begin(CAIRN_MARKER_DISPATCH);
  builder_.End();
  builder_.End();
  BindAddress(BindPoint::kDescriptorSet, 1 | kBindSlotOfCompute, AddSet(1));
  const uint32_t behind = builder_.Begin(CAIRN_MARKER_DISPATCH);
  builder_.End();
  EXPECT_TRUE(In(inside).empty());
  const std::vector<Binding> bindings = In(behind);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].slot, 1u);
}

TEST_F(Bindings, OfABoundObjectItIsKnownWhoDestroyedIt) {
  const uint32_t freed = AddObject(0, 0, 10, 400);
  const uint32_t untold = AddObject(0, 0, 10, 400);
  AddSet(1);  // of another object
  builder_.snapshot.destructions.push_back({.serial = 9, .object = freed});
  BindObject(BindPoint::kRenderTarget, 0, freed);
  BindObject(BindPoint::kRenderTarget, 1, untold);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  builder_.End();
  const std::vector<Binding> bindings = In(draw);
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].destruction, 1u);
  EXPECT_EQ(bindings[1].destruction, kNone);
}

TEST_F(Bindings, AnAddressBelongsToWhoHeldItThen) {
  const uint32_t freed = AddObject(0x1000, 0x1000, 10, 400);
  const uint32_t alive = AddObject(0x8000, 0x1000);
  AddObject(0x8000, 0x1000, 10, 500);           // before it, at the same place
  AddObject(0x1000, 0x1000, kSubmitted + 500);  // at the place of the freed one, but too late
  const uint32_t freed_later = AddObject(0x20000, 0x10, 10, kSubmitted + 250);
  BindAddress(BindPoint::kVertexBuffer, 0, 0x1FFF);
  BindAddress(BindPoint::kVertexBuffer, 1, 0x8000);
  BindAddress(BindPoint::kVertexBuffer, 2, 0x20008);
  BindAddress(BindPoint::kVertexBuffer, 3, 0x2000);
  BindAddress(BindPoint::kVertexBuffer, 4, 0);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  builder_.End();
  const std::vector<Binding> bindings = In(draw);
  ASSERT_EQ(bindings.size(), 4u);
  EXPECT_EQ(bindings[0].object, freed);
  EXPECT_EQ(bindings[0].state, BindingState::kDestroyed);
  EXPECT_EQ(bindings[0].offset, 0xFFFu);
  EXPECT_EQ(bindings[0].destroyed_after_ns, -600);
  EXPECT_TRUE(bindings[0].since_submission);
  EXPECT_EQ(bindings[1].object, alive);
  EXPECT_EQ(bindings[1].state, BindingState::kAlive);
  EXPECT_EQ(bindings[2].object, freed_later);
  EXPECT_EQ(bindings[2].destroyed_after_ns, 250);
  EXPECT_EQ(bindings[3].state, BindingState::kUnknown);
  EXPECT_EQ(bindings[3].object, kNone);
}

TEST_F(Bindings, AnEntryThatHoldsAYoungerObjectIsNotTakenForTheOldOne) {
  const uint32_t younger = AddObject(0, 0, kSubmitted + 1);
  BindObject(BindPoint::kRenderTarget, 0, younger);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  builder_.End();
  const std::vector<Binding> bindings = In(draw);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].state, BindingState::kReplaced);
  EXPECT_EQ(bindings[0].object, kNone);
}

TEST_F(Bindings, UnknownPointsAndSlotsAreIgnored) {
  const uint32_t object = AddObject();
  BindObject(static_cast<BindPoint>(77), 0, object);
  BindObject(static_cast<BindPoint>(0), 0, object);
  BindObject(BindPoint::kVertexBuffer, 64, object);
  BindObject(BindPoint::kVertexBuffer, 0x7FFFFFFF, object);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  builder_.End();
  EXPECT_TRUE(In(draw).empty());
}

TEST_F(Bindings, BindsAreNoWorkAndKeepTheirNumbers) {
  const uint32_t object = AddObject();
  builder_.Scope(CAIRN_MARKER_DRAW_INSTANCED);  // 1, 2
  for (int i = 0; i < 10; ++i) BindObject(BindPoint::kVertexBuffer, 0, object);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  EXPECT_EQ(draw, 13u);
  builder_.End();
  BindObject(BindPoint::kVertexBuffer, 0, object);
  builder_.EndList();
  builder_.Submit(queue_, list_);
  const auto states = [this](uint32_t reached, uint32_t passed) {
    builder_.SetWords(list_, reached, passed);
    const Analysis analysis = Analyse(builder_.snapshot);
    return std::pair(analysis.scopes.at(0).state, analysis.scopes.at(1).state);
  };
  EXPECT_EQ(states(1, 0), std::pair(WorkState::kInFlight, WorkState::kNotStarted));
  EXPECT_EQ(states(1, 2), std::pair(WorkState::kCompleted, WorkState::kNotStarted));
  EXPECT_EQ(states(13, 2), std::pair(WorkState::kCompleted, WorkState::kInFlight));
  // The end of a list whose last event is a bind is written with the number of that bind.
  EXPECT_EQ(states(13, 15), std::pair(WorkState::kCompleted, WorkState::kCompleted));
  EXPECT_EQ(Analyse(builder_.snapshot).executions[0].state, WorkState::kCompleted);
}

TEST_F(Bindings, TheInnermostAnnotationIsFound) {
  builder_.Begin(CAIRN_MARKER_PASS);
  builder_.snapshot.annotations.resize(1);
  builder_.snapshot.events.back().detail = 0;
  builder_.Begin(CAIRN_MARKER_PASS);
  const uint32_t draw = builder_.Begin(CAIRN_MARKER_DRAW_INSTANCED);
  builder_.End();
  In(draw);
  EXPECT_EQ(analysis_.verdicts[0].contexts[0].annotation_scope, 0u);
}

TEST(ModeOff, NothingIsClaimedButWhatTheApplicationTold) {
  SnapshotBuilder builder(MarkerMode::kOff);
  const uint32_t queue = builder.AddQueue();
  const uint32_t told = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW, false);
  const uint32_t submitted = builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW, false);
  const uint32_t reusable = builder.BeginList(queue);
  builder.snapshot.recordings[reusable].reusable = true;
  builder.BeginList(queue);
  builder.Scope(CAIRN_MARKER_DRAW, false);
  builder.Submit(queue, told);
  builder.Submit(queue, submitted);
  builder.Submit(queue, reusable);
  builder.snapshot.queues[queue].completed_submission = 1;
  const Analysis analysis = Analyse(builder.snapshot);
  ASSERT_EQ(analysis.executions.size(), 4u);
  EXPECT_EQ(analysis.executions[0].state, WorkState::kCompleted);
  EXPECT_EQ(analysis.executions[1].state, WorkState::kUnknown);
  EXPECT_EQ(analysis.scopes[analysis.executions[1].first_scope].state, WorkState::kUnknown);
  EXPECT_EQ(analysis.executions[2].state, WorkState::kUnknown);
  EXPECT_EQ(analysis.executions[3].state, WorkState::kNotStarted);
  ASSERT_EQ(analysis.verdicts.size(), 1u);
  EXPECT_TRUE(analysis.verdicts[0].unknown);
  EXPECT_TRUE(analysis.verdicts[0].candidates.empty());
  EXPECT_TRUE(analysis.verdicts[0].list_candidates.empty());
  EXPECT_EQ(analysis.verdicts[0].reason.unknown_count, 2u);
  EXPECT_EQ(analysis.verdicts[0].reason.completed_count, 1u);
}

}  // namespace
}  // namespace cairn
