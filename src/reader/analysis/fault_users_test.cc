// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/fault_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/analysis/bindings.h"
#include "reader/analysis/findings.h"
#include "reader/analysis/testing/snapshot_builder.h"
#include "reader/analysis/work_class.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kSubmitted = 1'000;

// A list that ran to its end, and a line of the kernel's log that names an address in `victim`: a buffer that was
// destroyed after the list was recorded.
class FaultUsers : public ::testing::Test {
 protected:
  FaultUsers() {
    queue = builder.AddQueue();
    list = builder.BeginList(queue);
    victim = AddObject(0x10000, 0x4000, 500);
    other = AddObject(0x20000, 0x4000);
    TellOfKernel("MMU Fault: faulted @ 0x0_00011000. Fault is of type FAULT_PDE");
  }

  uint32_t AddObject(uint64_t address, uint64_t size, uint64_t destroyed_ns = 0) {
    Object object;
    object.state = destroyed_ns == 0 ? ObjectState::kAlive : ObjectState::kDestroyed;
    object.gpu_address = address;
    object.size_bytes = size;
    object.created_ns = 1;
    object.destroyed_ns = destroyed_ns;
    builder.snapshot.objects.push_back(object);
    return static_cast<uint32_t>(builder.snapshot.objects.size() - 1);
  }
  // A set whose descriptor of binding 3 leads to what `destruction` says.
  uint64_t AddSet(const Destruction& destruction) {
    Snapshot& snapshot = builder.snapshot;
    snapshot.descriptors.push_back(
        {.binding = 3, .destruction = static_cast<uint32_t>(snapshot.destructions.size())});
    snapshot.destructions.push_back(destruction);
    snapshot.descriptor_sets.push_back(
        {.first_descriptor = static_cast<uint32_t>(snapshot.descriptors.size() - 1),
         .descriptor_count = 1});
    return snapshot.descriptor_sets.size();
  }
  void TellOfKernel(std::string_view text) {
    Snapshot& snapshot = builder.snapshot;
    snapshot.kernel_lines = {
        {.names_process = true, .tells_fault = true, .text = snapshot.AddText(text)}};
  }
  // In place of the kernel.
  void TellOfDevice(uint32_t device) {
    Snapshot& snapshot = builder.snapshot;
    snapshot.kernel_lines.clear();
    snapshot.fault_addresses = {{FaultAddressType::kReadInvalid, 0, 0x11000, 0x1000}};
    snapshot.faults = {{.device = device, .address_count = 1}};
  }
  void Bind(BindPoint point, uint32_t slot, uint64_t value, bool is_address = false) {
    Event event;
    event.kind = EventKind::kBind;
    event.type = static_cast<uint16_t>(point);
    event.detail = static_cast<uint32_t>(builder.snapshot.binds.size());
    builder.snapshot.binds.push_back({slot, is_address, value});
    builder.snapshot.events.push_back(event);
    ++builder.snapshot.recordings.back().event_count;
  }
  void Run(uint32_t of_list) {
    builder.EndList();
    builder.Submit(queue, of_list);
    builder.snapshot.submissions.back().time_ns = kSubmitted;
    const uint32_t count = builder.snapshot.recordings[of_list].event_count;
    builder.SetWords(of_list, count, count);
  }
  std::vector<uint32_t> Users() {
    analysis = AnalyseDump(builder.snapshot).analysis;
    std::vector<uint32_t> scopes;
    for (const FaultUser& user : analysis.fault_users) scopes.push_back(user.scope);
    return scopes;
  }
  CulpritFinding Finding() {
    Findings findings = AnalyseDump(builder.snapshot);
    analysis = std::move(findings.analysis);
    return std::move(findings.culprit);
  }

  SnapshotBuilder builder;
  Analysis analysis;
  uint32_t queue = 0;
  uint32_t list = 0;
  uint32_t victim = 0;
  uint32_t other = 0;
};

TEST_F(FaultUsers, AreWhatTheVertexBufferIsBoundFor) {
  builder.Scope(CAIRN_MARKER_DRAW);
  Bind(BindPoint::kVertexBuffer, 0, other);
  Bind(BindPoint::kVertexBuffer, 1, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
  builder.Scope(CAIRN_MARKER_DRAW_INDEXED);
  Bind(BindPoint::kVertexBuffer, 1, other);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  EXPECT_THAT(Users(), ElementsAre(4, 1)) << "the latest first";
  for (const FaultUser& user : analysis.fault_users) {
    EXPECT_EQ(user.verdict, 0u);
    EXPECT_EQ(user.execution, 0u);
    const Binding& binding = analysis.bindings.at(user.binding);
    EXPECT_EQ(binding.point, BindPoint::kVertexBuffer);
    EXPECT_EQ(binding.slot, 1u);
    EXPECT_EQ(binding.object, victim);
    EXPECT_EQ(binding.state, BindingState::kDestroyed);
    EXPECT_EQ(binding.destroyed_after_ns, -500);
  }
}

TEST_F(FaultUsers, StandFirstAmongTheSuspects) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Bind(BindPoint::kVertexBuffer, 0, other);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  const CulpritFinding finding = Finding();
  EXPECT_EQ(finding.kind, FindingKind::kGpuFault);
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
  EXPECT_THAT(finding.last_completed, IsEmpty());
  ASSERT_THAT(finding.suspects, SizeIs(1));
  EXPECT_EQ(finding.suspects[0].scope, 0u);
  EXPECT_EQ(finding.suspects[0].reason, SuspectReason::kLeadsToFault);
  EXPECT_EQ(analysis.bindings.at(finding.suspects[0].binding).object, victim);
}

TEST_F(FaultUsers, OfSomethingDestroyedGoBeforeThoseOfWhatLives) {
  const uint32_t heap = AddObject(0, 1 << 20);
  builder.snapshot.objects[heap].gpu_address = 1;  // around both
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Bind(BindPoint::kVertexBuffer, 0, heap);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  EXPECT_THAT(Users(), ElementsAre(1, 0));
  const CulpritFinding finding = Finding();
  ASSERT_THAT(finding.suspects, SizeIs(2));
  EXPECT_EQ(finding.suspects[0].scope, 0u);
  EXPECT_EQ(finding.certainty, Certainty::kLikely);
}

TEST_F(FaultUsers, AreLateSuspectsAtMostOnce) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  TellOfDevice(0);
  EXPECT_THAT(Users(), ElementsAre(0));
  EXPECT_EQ(analysis.verdicts.at(0).late_suspect, 0u);
  EXPECT_THAT(Finding().suspects, SizeIs(1));
  builder.snapshot.faults[0].result = -13;
  EXPECT_THAT(Users(), IsEmpty()) << "the question failed";
}

TEST_F(FaultUsers, AreNotKnownWhileSomethingRunsThatCanHaveFaulted) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Bind(BindPoint::kVertexBuffer, 0, other);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  builder.SetWords(list, 5, 3);
  EXPECT_THAT(Users(), IsEmpty());
  builder.snapshot.events[4].type = CAIRN_MARKER_PIPELINE_BARRIER;
  EXPECT_THAT(Users(), ElementsAre(0));
  EXPECT_THAT(Finding().suspects, SizeIs(2)) << "the barrier, last";
}

TEST_F(FaultUsers, NeedALineOfThisProcessThatTellsOfAFault) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  builder.snapshot.kernel_lines[0].names_process = false;
  EXPECT_THAT(Users(), IsEmpty());
  builder.snapshot.kernel_lines[0].names_process = true;
  builder.snapshot.kernel_lines[0].tells_fault = false;
  EXPECT_THAT(Users(), IsEmpty());
  TellOfKernel("Xid 13, no address");
  EXPECT_THAT(Users(), IsEmpty());
}

TEST_F(FaultUsers, OfAnotherDeviceLeadNowhere) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  Snapshot& snapshot = builder.snapshot;
  snapshot.devices.push_back(snapshot.devices[0]);
  snapshot.objects[victim].device = 0;
  TellOfDevice(1);
  EXPECT_THAT(Users(), IsEmpty());
  TellOfDevice(0);
  EXPECT_THAT(Users(), ElementsAre(0));
}

TEST_F(FaultUsers, MayHaveBeenSubmittedWithoutAWord) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  builder.snapshot.submissions.clear();
  EXPECT_THAT(Users(), ElementsAre(0));
}

TEST_F(FaultUsers, BindAnAddressInTheObjectOrInThePageItself) {
  Bind(BindPoint::kRootShaderResource, kBindSlotOfCompute, 0x13000, true);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  Bind(BindPoint::kRootShaderResource, kBindSlotOfCompute, 0x23000, true);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  Run(list);
  EXPECT_THAT(Users(), ElementsAre(0));
  builder.snapshot.objects.clear();
  EXPECT_THAT(Users(), IsEmpty()) << "of no object, and elsewhere";
  builder.snapshot.binds[0].value = 0x11FFF;
  EXPECT_THAT(Users(), ElementsAre(0));
  EXPECT_EQ(analysis.bindings.at(analysis.fault_users[0].binding).state, BindingState::kUnknown);
}

TEST_F(FaultUsers, CopiesUseWhatStandsDirectlyBeforeThem) {
  Bind(BindPoint::kSource, 0, victim);
  Bind(BindPoint::kDestination, 0, other);
  builder.Scope(CAIRN_MARKER_COPY_BUFFER);
  builder.Scope(CAIRN_MARKER_COPY_BUFFER);
  Run(list);
  EXPECT_THAT(Users(), ElementsAre(0));
}

TEST_F(FaultUsers, LeadThereByADescriptorThatTheirShadersDeclare) {
  // A view of an image, or the buffer itself.
  for (const bool of_owner : {false, true}) {
    Destruction destruction;
    (of_owner ? destruction.owner_object : destruction.object) = victim;
    Bind(BindPoint::kDescriptorSet, 1 | kBindSlotOfCompute, AddSet(destruction), true);
    builder.Scope(CAIRN_MARKER_DISPATCH);
  }
  Destruction elsewhere;
  elsewhere.object = other;
  Bind(BindPoint::kDescriptorSet, 1 | kBindSlotOfCompute, AddSet(elsewhere), true);
  builder.Scope(CAIRN_MARKER_DISPATCH);
  Run(list);
  EXPECT_THAT(Users(), ElementsAre(1, 0));
  EXPECT_EQ(analysis.bindings.at(analysis.fault_users[0].binding).descriptor, 1u);
  Snapshot& snapshot = builder.snapshot;
  snapshot.pipelines.resize(1);
  for (Event& event : snapshot.events) {
    if (event.type == CAIRN_MARKER_DISPATCH) event.pipeline = 0;
  }
  snapshot.pipeline_descriptors.push_back(
      {.pipeline = 0, .first_descriptor = 0, .descriptor_count = 1});
  snapshot.shader_descriptors = {{.set = 1, .binding = 2}};
  EXPECT_THAT(Users(), IsEmpty());
  snapshot.shader_descriptors[0].binding = 3;
  EXPECT_THAT(Users(), ElementsAre(1, 0));
}

TEST_F(FaultUsers, NothingStaysBoundAcrossASecondary) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Begin(CAIRN_MARKER_EXECUTE_COMMANDS);
  Bind(BindPoint::kSecondary, 0, kNone);
  builder.Scope(CAIRN_MARKER_DRAW);
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  builder.End();
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  EXPECT_THAT(Users(), ElementsAre(2));
}

TEST_F(FaultUsers, AnEntryThatServesAYoungerObjectLeadsNowhere) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  builder.snapshot.objects[victim].created_ns = kSubmitted + 1;
  EXPECT_THAT(Users(), IsEmpty());
  EXPECT_THAT(analysis.bindings, IsEmpty());
}

TEST_F(FaultUsers, OfManyTheLatestAreTold) {
  Bind(BindPoint::kVertexBuffer, 0, victim);
  for (int i = 0; i < 12; ++i) builder.Scope(CAIRN_MARKER_DRAW);
  Run(list);
  builder.Submit(queue, list);
  builder.snapshot.submissions.back().time_ns = kSubmitted;
  builder.snapshot.queues[queue].completed_submission = 2;
  const std::vector<uint32_t> users = Users();
  ASSERT_THAT(users, SizeIs(kMostFaultUsers));
  EXPECT_EQ(users[0] % 12, 11u);
  EXPECT_EQ(users[11] % 12, 0u);
  EXPECT_EQ(users[12] % 12, 11u);
  EXPECT_EQ(analysis.executions[analysis.fault_users[0].execution].submission, 1u);
  EXPECT_EQ(analysis.executions[analysis.fault_users[15].execution].submission, 0u);
}

// Forwards through a recording as backwards from each work of it.
TEST_F(FaultUsers, AreAllWhoseBindingsLeadThere) {
  constexpr BindPoint kPoints[] = {BindPoint::kVertexBuffer, BindPoint::kIndexBuffer,
                                   BindPoint::kSource,       BindPoint::kRootConstantBuffer,
                                   BindPoint::kSecondary,    BindPoint::kDescriptorSet};
  constexpr CairnMarkerType kTypes[] = {
      CAIRN_MARKER_DRAW,        CAIRN_MARKER_DRAW_INDEXED,     CAIRN_MARKER_DISPATCH,
      CAIRN_MARKER_COPY_BUFFER, CAIRN_MARKER_PIPELINE_BARRIER, CAIRN_MARKER_EXECUTE_COMMANDS};
  std::mt19937 random(1);
  size_t found = 0;
  for (int round = 0; round < 2000; ++round) {
    builder = SnapshotBuilder();
    queue = builder.AddQueue();
    victim = AddObject(0x10000, 0x4000, 500);
    other = AddObject(0x20000, 0x4000);
    TellOfKernel("MMU Fault: faulted @ 0x0_00011000.");
    Destruction destruction;
    destruction.cause_object = victim;
    const uint64_t set = AddSet(destruction);
    list = builder.BeginList(queue);
    uint32_t depth = 0;
    uint32_t works = 0;
    for (uint32_t i = 0; i < 24 && works < kMostFaultUsers; ++i) {
      const BindPoint point = kPoints[random() % std::size(kPoints)];
      const bool of_set = point == BindPoint::kDescriptorSet;
      const uint64_t objects[] = {victim, other, kNone};
      switch (random() % 4) {
        case 0:
          builder.Begin(kTypes[random() % std::size(kTypes)]);
          ++depth;
          ++works;
          break;
        case 1:
          if (depth == 0) break;
          builder.End();
          --depth;
          break;
        default:
          Bind(point, random() % 2 | (random() % 2 == 0 ? kBindSlotOfCompute : 0),
               of_set ? random() % 2 * set : objects[random() % 3], of_set);
      }
    }
    for (; depth > 0; --depth) builder.End();
    builder.Scope(CAIRN_MARKER_PIPELINE_BARRIER);
    Run(list);
    const std::vector<uint32_t> users = Users();
    std::vector<uint32_t> expected;
    BindingResolver resolver(builder.snapshot);
    for (uint32_t scope = static_cast<uint32_t>(analysis.scopes.size()); scope-- > 0;) {
      if (analysis.scopes[scope].has_children ||
          ClassOfScope(builder.snapshot, analysis.scopes[scope]) == WorkClass::kNoWork) {
        continue;
      }
      std::vector<Binding> bindings;
      resolver.FindBindings(analysis.scopes[scope], analysis.executions.at(0), &bindings);
      const bool leads = std::any_of(bindings.begin(), bindings.end(), [&](const Binding& binding) {
        return binding.descriptor != kNone || binding.object == victim;
      });
      if (leads) expected.push_back(scope);
    }
    ASSERT_EQ(users, expected) << round;
    found += users.size();
  }
  EXPECT_GT(found, 1000u);
}

}  // namespace
}  // namespace cairn
