// SPDX-License-Identifier: Apache-2.0
#include "reader/report/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kSampleTime = 1'700'000'000'030'000'000;

Snapshot Take(const TestBlock& block) {
  return std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
}

std::string Report(const Snapshot& snapshot, const TextOptions& options = {}) {
  return TextReport(snapshot, AnalyseDump(snapshot), options);
}

// Returns the text below the heading that starts with `heading`.
std::string Section(const std::string& report, const std::string& heading) {
  const size_t at = report.find("\n" + heading);
  if (at == std::string::npos) return "";
  const size_t begin = report.find('\n', at + 1) + 1;
  const size_t end = report.find("\n\n", begin);
  return report.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

class Sections : public ::testing::Test {
 protected:
  Sections() { FillD3D12Block(&block_); }

  std::string Shown(const std::string& heading, const TextOptions& options = {}) {
    return Section(Report(Take(block_), options), heading);
  }

  TestBlock block_;
};

TEST_F(Sections, TheCandidateShowsEventIdAndResources) {
  EXPECT_THAT(Report(Take(block_), {}), StartsWith(R"(No failure was noticed
  running   DRAW_INSTANCED #1
  where     Particles of level 3 · command list 1 "Main" · submission 1 · queue 0 "Graphics" (direct) · frame 3
  pipeline  graphics pipeline "Particle pipeline" [ VS: ParticleVS | PS: ParticlePS ]
  EventID   0x1000001000001, "Particles of level 3"
  bound     vertex buffer 0: resource "Particles" + 0x40, destroyed 3 ms before the submission
            root CBV 1: address 0xdead0000, which belongs to no known object
  device    Test device, driver test driver 1.2

)"));
  EXPECT_EQ(
      Shown("Resources bound for this command (! destroyed"),
      R"(      ! vertex buffer 0: resource "Particles" + 0x40, destroyed 3 ms before the submission
      ! root CBV 1: address 0xdead0000, which belongs to no known object
        render target 0: resource "Scene colour"
)");
  EXPECT_THAT(Shown("Queues (marker event N: the Nth begin, end or binding in its list)"),
              StartsWith(" - queue 0 \"Graphics\" (direct): exactly one command was running\n"
                         "    The GPU reached marker event 9"));
  // With all of it each queue has its own.
  EXPECT_THAT(Shown("Queues", {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO}),
              StartsWith(R"( - queue 0 "Graphics" (direct): exactly one command was running
    [>] frame 3: "Main" > Particles of level 3 > DRAW_INSTANCED #1
        graphics pipeline "Particle pipeline" [ VS: ParticleVS | PS: ParticlePS ]
        EventID 0x1000001000001, "Particles of level 3"
      ! vertex buffer 0: resource)"));
}

TEST(SectionsOfOneList, ManyBindingsAreCountedUnlessAllAreWanted) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t object = block.AddObject(context, 34, "Scene colour", 1);
  const TestBlock::List list = block.AddList(context, kNoQueue, 9, "many");
  for (uint32_t i = 0; i < 32; ++i) block.BindObject(list, BindPoint::kVertexBuffer, i, object);
  block.Begin(list, CAIRN_MARKER_DRAW_INSTANCED);
  block.SetProgress(list, 33, 0);
  const Snapshot snapshot = Take(block);
  EXPECT_THAT(Section(Report(snapshot), "Resources bound for this command"),
              HasSubstr("… 20 more; --all shows them"));
  const std::string all =
      Section(Report(snapshot, {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO}), "Queues");
  EXPECT_THAT(all, HasSubstr("vertex buffer 31: resource \"Scene colour\"\n"));
  EXPECT_THAT(all, Not(HasSubstr("more")));
}

TEST_F(Sections, TheTreeShowsEventIds) {
  EXPECT_EQ(Shown("Progress"), R"(<Frame 3>
 - [>] queue 0 "Graphics" (direct), submission 1, command list 1 "Main"
    ├─[X] Opaque, EventID 0x1000001000000 (1 scope)
    └─[>] Particles of level 3, EventID 0x1000001000001
       └─[>] DRAW_INSTANCED #1, graphics pipeline "Particle pipeline" [ VS: ParticleVS | PS: ParticlePS ]
)");
}

TEST_F(Sections, ReportedEventIdsAreResolvedExpiredOrUnknown) {
  EXPECT_EQ(Shown("EventIDs"),
            R"( - 0x3000004000007: expired; its command allocator was reset, or its queue let it go
 - 0x9000001000001: unknown; no marker that is kept has it
 - 0x1000001000001: "Particles of level 3"; in frame 3: "Main" > Particles of level 3, in flight
)");
}

TEST_F(Sections, MarkersOfQueuesShowWhatIsOpen) {
  EXPECT_EQ(Shown("Markers of queues"), R"( - queue 0 "Graphics" (direct)
    event "Level 3", EventID 0x2000001000000, before submission 1, open
      event "Loading", EventID 0x2000001000001, before submission 1
      marker "Player spawned", EventID 0x2000001000003, before submission 2
)");
}

TEST_F(Sections, CallsThatDidNotReturnStandFirst) {
  EXPECT_EQ(Shown("Last calls"), R"( - thread 16 "render", 3 calls
    [>] ID3D12Fence::SetEventOnCompletion of fence "Frame fence": has not returned
        ID3D12CommandQueue::Signal of command queue "Graphics"
        ID3D12CommandQueue::ExecuteCommandLists of command queue "Graphics"
 - thread 17 "loader", 1 call
        ID3D12Device::CreateCommittedResource
)");
  block_.header().crash_signal = 9;
  EXPECT_THAT(Shown("Last calls"), HasSubstr("\"Frame fence\": never returned\n"));
}

TEST_F(Sections, CallsThatRepeatAreCounted) {
  for (int i = 0; i < 30; ++i) block_.Call(0, "ID3D12Fence::GetCompletedValue", 0x5004, true);
  EXPECT_THAT(
      Shown("Last calls"),
      HasSubstr("thread 17 \"loader\", 31 calls\n"
                "        ID3D12Fence::GetCompletedValue of fence \"Frame fence\", 30 times\n"
                "        ID3D12Device::CreateCommittedResource\n"));
}

// If finished work looks like running work, the last work reached is the likeliest.
TEST_F(Sections, OfManyCandidatesTheLikeliestAreShown) {
  block_.context(0).mode = MarkerMode::kTop;
  const TestBlock::List list = block_.AddList(0, kNoQueue, 9, "many");
  for (uint32_t i = 0; i < 100; ++i) {
    block_.BindObject(list, BindPoint::kRenderTarget, 0, 2);
    block_.End(list, block_.Begin(list, CAIRN_MARKER_DRAW_INSTANCED), 0);
  }
  block_.SetProgress(list, 299, 0);
  const std::string running = Shown("Running on the GPU");
  EXPECT_THAT(running,
              HasSubstr(" 2. [>] frame 9: \"many\", still being recorded > DRAW_INSTANCED #100\n"
                        "        the last work with a pipeline that the GPU reached; on "
                        "lists without a queue\n"
                        " 3. [>] frame 9: \"many\", still being recorded > DRAW_INSTANCED #99\n"));
  EXPECT_THAT(running, HasSubstr("… 97 more; --all shows them\n"));
  EXPECT_THAT(running, Not(HasSubstr("DRAW_INSTANCED #97\n")));
  // With all of them the first and the last of each queue are explained.
  const std::string shown = Shown("Queues", {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO});
  EXPECT_THAT(shown, HasSubstr("lists without a queue: 100 commands may have been running\n"));
  EXPECT_THAT(shown,
              HasSubstr("DRAW_INSTANCED #4\n        render target 0: resource \"Scene colour\"\n"
                        "        … 84 more candidates\n"));
  EXPECT_THAT(shown, Not(HasSubstr("DRAW_INSTANCED #88\n")));
  EXPECT_THAT(shown, HasSubstr("DRAW_INSTANCED #89\n"));
  EXPECT_THAT(shown, HasSubstr("DRAW_INSTANCED #100\n        render target 0: resource"));
}

TEST_F(Sections, LongHistoriesAreCut) {
  for (int i = 0; i < 10; ++i) block_.AddThread(static_cast<uint32_t>(100 + i), "");
  for (int i = 0; i < 20; ++i) block_.Call(5, "f" + std::to_string(i), 0x77, true);
  const std::string calls = Shown("Last calls");
  EXPECT_THAT(calls, HasSubstr("thread 103, 20 calls\n        f19 of 0x77\n"));
  EXPECT_THAT(calls, Not(HasSubstr("f15")));
  EXPECT_THAT(calls, HasSubstr("… 4 more threads; --all shows them\n"));
  const std::string all = Shown("Last calls", {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO});
  EXPECT_THAT(all, HasSubstr("f0 of"));
  EXPECT_THAT(all, HasSubstr("thread 109, no calls"));
}

TEST_F(Sections, FencesShowWhoWaits) {
  block_.AddObject(0, 23, "Done", 1);
  const uint32_t behind = block_.AddObject(0, 23, "Behind", 1);
  block_.object(behind - 1).signalled = 7;
  block_.object(behind - 1).waited = 6;
  EXPECT_EQ(
      Shown("Fences"),
      R"( - fence "Frame fence": completed 1, signalled 2, waited for 3; no signal of that value was seen
 - fence "Behind": completed 0, signalled 7, waited for 6; not seen to have come
 - fence "Done": completed 0, signalled 0, waited for 0
)");
}

TEST_F(Sections, ObjectsShowNamesTimesAndCounts) {
  EXPECT_EQ(Shown("Objects"), R"(   command queue: 1, fence: 1, resource: 2 (and 1 destroyed)
 - command queue "Graphics", created 0.002 s
 - resource "Scene colour", created 0.003 s
 - resource "Particles" at 0x70000000, 64 KiB, created 0.004 s, destroyed 0.020 s
 - fence "Frame fence", created 0.006 s
)");
  EXPECT_THAT(Shown("Objects", {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO}),
              HasSubstr(" - resource 4, created 0.005 s\n"));
}

TEST_F(Sections, SubmissionsStandInTheirOrder) {
  for (int i = 0; i < 10; ++i) {
    const TestBlock::List list = block_.AddList(0, 0, 4, "L" + std::to_string(i));
    block_.Close(list);
    block_.Submit(0, list);
  }
  const std::string submissions = Shown("Submissions");
  EXPECT_THAT(submissions, StartsWith("   … 3 earlier; --all shows them\n - "));
  size_t before = 0;
  for (int i = 2; i < 10; ++i) {
    const size_t at = submissions.find("submission " + std::to_string(i + 2) + ":");
    ASSERT_NE(at, std::string::npos) << i;
    EXPECT_GT(at, before);
    EXPECT_EQ(submissions.find("frame 4: \"L" + std::to_string(i) + "\"\n", at),
              submissions.find("frame 4", at));
    before = at;
  }
  EXPECT_THAT(submissions, Not(HasSubstr("submission 3:")));
}

TEST_F(Sections, NamesCannotActOnTheTerminal) {
  block_.AddObject(0, 34, "a\x1b[2Jb", 1);
  block_.AddThread(9, "t\rt");
  const std::string report = Report(Take(block_));
  EXPECT_THAT(report, HasSubstr("resource \"a\\x1b[2Jb\""));
  EXPECT_THAT(report, HasSubstr("thread 9 \"t\\x0dt\""));
  EXPECT_THAT(report, Not(HasSubstr("\x1b")));
}

TEST_F(Sections, TheDeviceNamesApplicationAndDriverOfAnnotations) {
  const std::string device = Shown("Device 0");
  EXPECT_THAT(device, HasSubstr("Application: Demo on SampleEngine 3\n"));
  EXPECT_THAT(device, HasSubstr("Annotations go to the driver breadcrumb; DRIVER_RETAIL is forced "
                                "by d3dconfig\n"));
}

TEST_F(Sections, ModeOffClaimsNothing) {
  block_.context(0).mode = MarkerMode::kOff;
  const std::string report = Report(Take(block_));
  EXPECT_THAT(report, HasSubstr("queue 0 \"Graphics\" (direct): unknown\n"
                                "    The marker mode was off, so that the GPU wrote nothing: how "
                                "far it came in 1 command list is not known.\n"));
  EXPECT_THAT(report, HasSubstr(" - [?] queue 0 \"Graphics\" (direct), submission 1, command list "
                                "1 \"Main\" (4 scopes)\n"));
  EXPECT_THAT(report, HasSubstr("Marker mode off.\n"));
  EXPECT_THAT(report, HasSubstr("ID3D12Fence::SetEventOnCompletion"));
}

TEST(EmptySections, AreLeftOut) {
  const std::string report = Report(Snapshot());
  for (const char* heading :
       {"EventIDs", "Submissions", "Markers of queues", "Last calls", "Fences", "Objects"}) {
    EXPECT_THAT(report, Not(HasSubstr(heading)));
  }
}

}  // namespace
}  // namespace cairn
