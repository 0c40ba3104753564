// SPDX-License-Identifier: Apache-2.0
#include "reader/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cairn/marker_types.h"

#include "base/text.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/reason_text.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kSampleTime = 1'700'000'005'000'000'000;
constexpr uint32_t kEverything = CAIRN_PRINT_FINISHED_LISTS | CAIRN_PRINT_NOT_STARTED_LISTS |
                                 CAIRN_PRINT_FINISHED_NODES | CAIRN_PRINT_NOT_STARTED_NODES;

Snapshot Take(const TestBlock& block) {
  return std::move(SnapshotFromBlock(block.bytes(), kSampleTime).value());
}

std::string Report(const Snapshot& snapshot, const TextOptions& options = {},
                   uint32_t only_device = kNone) {
  return TextReport(snapshot, AnalyseDump(snapshot, only_device), options);
}

// Returns the text below the heading that starts with `heading`.
std::string Section(const std::string& report, const std::string& heading) {
  const size_t at = report.find("\n" + heading);
  if (at == std::string::npos) return "";
  const size_t begin = report.find('\n', at + 1) + 1;
  const size_t end = report.find("\n\n", begin);
  return report.substr(begin, end == std::string::npos ? end : end + 1 - begin);
}

std::string Tree(const TestBlock& block, uint32_t print_flags = 0, uint32_t width = 0) {
  return Section(Report(Take(block), {.print_flags = print_flags, .width = width}), "Progress");
}

// The list of the documented form; `reached` and `passed` as the GPU left them.
TestBlock DocumentedBlock(uint32_t reached, uint32_t passed) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const uint32_t basic = block.AddPipeline(context, "Basic pipeline");
  block.SetShader(basic, kStageVertex, "EndlessLoopVS");
  block.SetShader(basic, kStagePixel, "SolidColorPS");
  const uint32_t blur = block.AddPipeline(context, "");
  block.SetShader(blur, kStageCompute, "BlurCS");
  const TestBlock::List list = block.AddList(context, queue, 0, "Main");
  const uint32_t frame = block.Begin(list, CAIRN_MARKER_PASS, "Frame");
  const uint32_t opaque = block.Begin(list, CAIRN_MARKER_PASS, "Opaque");
  block.Scope(list, CAIRN_MARKER_DRAW_INDEXED, "", basic);
  block.Scope(list, CAIRN_MARKER_DRAW_INDEXED, "", basic);
  block.End(list, opaque);
  block.Scope(list, CAIRN_MARKER_DISPATCH, "Blur", blur);
  block.Scope(list, CAIRN_MARKER_DISPATCH, "", blur);
  block.End(list, frame);
  block.Close(list);
  block.Submit(queue, list);
  block.SetProgress(list, reached, passed);
  return block;
}

TEST(TextReport, PrintsTheDocumentedForm) {
  EXPECT_EQ(Tree(DocumentedBlock(8, 7), kEverything),
            R"(<Frame 0>
 - [>] queue 0 (graphics), submission 1, command buffer 1 "Main"
    └─[>] Frame
       ├─[X] Opaque
       │  ├─[X] DRAW_INDEXED #1, graphics pipeline "Basic pipeline" [ VS: EndlessLoopVS | PS: SolidColorPS ]
       │  └─[X] DRAW_INDEXED #2, graphics pipeline "Basic pipeline" [ VS: EndlessLoopVS | PS: SolidColorPS ]
       ├─[>] DISPATCH #1: "Blur", compute pipeline [ CS: BlurCS ]
       └─[ ] DISPATCH #2, compute pipeline [ CS: BlurCS ]
)");
}

TEST(TextReport, WorkIsNamedByItsCallInTheTrace) {
  Snapshot snapshot = Take(DocumentedBlock(8, 7));
  for (Event& event : snapshot.events) {
    if (event.kind == EventKind::kBegin && event.type == CAIRN_MARKER_DISPATCH) event.call = 18233;
  }
  const std::string report = Report(snapshot, {});
  EXPECT_THAT(report, HasSubstr(" · frame 0 · call 18,233 of the trace\n"));
  EXPECT_THAT(Report(snapshot, {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO}),
              HasSubstr("[>] call 18,233: frame 0: \"Main\" > Frame > DISPATCH #1: \"Blur\"\n"));
  EXPECT_THAT(report,
              HasSubstr("DISPATCH #1: \"Blur\", compute pipeline [ CS: BlurCS ], call 18,233\n"));
}

TEST(TextReport, FinishedAndUnstartedSubtreesCollapse) {
  EXPECT_EQ(Tree(DocumentedBlock(8, 7)), R"(<Frame 0>
 - [>] queue 0 (graphics), submission 1, command buffer 1 "Main"
    └─[>] Frame
       ├─[X] Opaque (2 scopes)
       ├─[>] DISPATCH #1: "Blur", compute pipeline [ CS: BlurCS ]
       └─[ ] DISPATCH #2, compute pipeline [ CS: BlurCS ]
)");
  EXPECT_EQ(Tree(DocumentedBlock(10, 12)), R"(<Frame 0>
 - [X] queue 0 (graphics), submission 1, command buffer 1 "Main" (6 scopes)
)");
  EXPECT_EQ(Tree(DocumentedBlock(0, 0), CAIRN_PRINT_NOT_STARTED_LISTS), R"(<Frame 0>
 - [ ] queue 0 (graphics), submission 1, command buffer 1 "Main"
    └─[ ] Frame (5 scopes)
)");
}

TEST(TextReport, PipelinesCanBeLeftOut) {
  EXPECT_EQ(Tree(DocumentedBlock(8, 7), CAIRN_PRINT_SKIP_PIPELINE_INFO), R"(<Frame 0>
 - [>] queue 0 (graphics), submission 1, command buffer 1 "Main"
    └─[>] Frame
       ├─[X] Opaque (2 scopes)
       ├─[>] DISPATCH #1: "Blur"
       └─[ ] DISPATCH #2
)");
}

TEST(TextReport, TreesAreCutToTheTerminal) {
  EXPECT_EQ(Tree(DocumentedBlock(8, 7), 0, 30), R"(<Frame 0>
 - [>] queue 0 (graphics), su…
    └─[>] Frame
       ├─[X] Opaque (2 scopes)
       ├─[>] DISPATCH #1: "Bl…
       └─[ ] DISPATCH #2, com…
)");
}

TEST(TextReport, WithoutATerminalRowsStayWholeAndSentencesAreWrapped) {
  TestBlock block;
  FillSampleBlock(&block);
  const Snapshot snapshot = Take(block);
  const std::string whole = Report(snapshot);
  const std::string narrow = Report(snapshot, {.width = 40, .whole_rows = true});
  const auto tree = [](const std::string& report) {
    const size_t begin = report.find("<Frame 0>");
    return report.substr(begin, report.find("\n\n", begin) - begin);
  };
  EXPECT_EQ(tree(narrow), tree(whole));
  EXPECT_THAT(whole, HasSubstr("The GPU writes into shared memory (imported): nothing is lost"));
  EXPECT_THAT(narrow, HasSubstr("   The GPU writes into shared memory\n   (imported): nothing"));
}

TEST(TextReport, NoLineIsWiderThanTheTerminal) {
  TestBlock block;
  FillSampleBlock(&block);
  for (uint32_t width : {40u, 60u, 80u, 120u}) {
    const std::string report = Report(Take(block), {.print_flags = kEverything, .width = width});
    for (size_t at = 0; at < report.size();) {
      const size_t end = report.find('\n', at);
      EXPECT_LE(CodePointCount(std::string_view(report).substr(at, end - at)), width);
      at = end + 1;
    }
  }
  EXPECT_FALSE(Report(Take(block), {.width = 1}).empty());
}

TEST(TextReport, LongRowsOfFinishedWorkShowTheirEnds) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const TestBlock::List list = block.AddList(context, block.AddQueue(context, 0, ""), 0, "Main");
  for (int i = 0; i < 100; ++i) block.Scope(list, CAIRN_MARKER_DRAW);
  block.Close(list);
  block.SetProgress(list, 81, 80);
  EXPECT_EQ(Tree(block), R"(<Frame 0>
 - [>] queue 0 (graphics), submission 0, command buffer 1 "Main"
    ├─[X] DRAW #1
    ├─[X] DRAW #2
    ├─[X] DRAW #3
    ├─[X] DRAW #4
    ├─… 32 more, completed
    ├─[X] DRAW #37
    ├─[X] DRAW #38
    ├─[X] DRAW #39
    ├─[X] DRAW #40
    ├─[>] DRAW #41
    ├─[ ] DRAW #42
    ├─[ ] DRAW #43
    ├─[ ] DRAW #44
    ├─[ ] DRAW #45
    ├─… 51 more, not started
    ├─[ ] DRAW #97
    ├─[ ] DRAW #98
    ├─[ ] DRAW #99
    └─[ ] DRAW #100
)");
  const std::string everything = Tree(block, kEverything);
  EXPECT_THAT(everything, HasSubstr("[X] DRAW #20\n"));
  EXPECT_THAT(everything, Not(HasSubstr("more")));
}

TEST(TextReport, LongRowsOfFinishedListsShowTheirEnds) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  for (int i = 0; i < 20; ++i) {
    const TestBlock::List list = block.AddList(context, queue, 0, "L");
    block.Scope(list, CAIRN_MARKER_DRAW);
    block.Close(list);
    block.SetProgress(list, 1, 2);
  }
  const std::string tree = Tree(block);
  EXPECT_THAT(tree,
              HasSubstr("command buffer 4 \"L\" (1 scope)\n … 12 more command buffers, completed\n"
                        " - [X] queue 0 (graphics), submission 0, command buffer 17 \"L\""));
}

// A list that was recorded once and is submitted in every frame, as the layers see it.
TEST(TextReport, PrerecordedListsStandInTheFramesOfTheirSubmissions) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  block.AddList(context, queue, 0, "");  // submitted by nobody
  const TestBlock::List list = block.AddList(context, queue, 0, "");
  block.Scope(list, CAIRN_MARKER_DRAW);
  block.Close(list);
  for (uint64_t frame = 500; frame < 600; ++frame) {
    block.submission(block.Submit(queue, list)).frame_plus_1 = frame + 1;
  }
  block.slot(list).reset_run = 99;
  block.SetProgress(list, 1, 0);
  const std::string report = Report(Take(block));
  EXPECT_EQ(Section(report, "Progress"), R"(<Frame 0>
 - [ ] queue 0 (graphics), not submitted, command buffer 1, still being recorded
<Frame 500>
 - [X] queue 0 (graphics), submission 1, command buffer 2, execution 1 (1 scope)
<Frame 501>
 - [X] queue 0 (graphics), submission 2, command buffer 2, execution 2 (1 scope)
<Frame 502>
 - [X] queue 0 (graphics), submission 3, command buffer 2, execution 3 (1 scope)
<Frame 503>
 - [X] queue 0 (graphics), submission 4, command buffer 2, execution 4 (1 scope)
… 91 more frames, all completed
<Frame 595>
 - [X] queue 0 (graphics), submission 96, command buffer 2, execution 96 (1 scope)
<Frame 596>
 - [X] queue 0 (graphics), submission 97, command buffer 2, execution 97 (1 scope)
<Frame 597>
 - [X] queue 0 (graphics), submission 98, command buffer 2, execution 98 (1 scope)
<Frame 598>
 - [X] queue 0 (graphics), submission 99, command buffer 2, execution 99 (1 scope)
<Frame 599>
 - [>] queue 0 (graphics), submission 100, command buffer 2, execution 100
    └─[>] DRAW #1
)");
  // One list has one number, and one place, wherever it is named.
  EXPECT_THAT(report, HasSubstr("  where     command buffer 2, execution 100 · submission 100 · "));
  EXPECT_THAT(report, HasSubstr("of command buffer 2 (frame 599, submission 100, execution 100)"));
  EXPECT_THAT(report,
              HasSubstr("submission 100: [>] frame 599: command buffer 2, execution 100\n"));
}

TEST(TextReport, WhoseEndCannotBeSeenIsNotSaidToRun) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const TestBlock::List list = block.AddList(context, queue, 0, "");
  block.Close(list);
  block.Submit(queue, list);
  const std::string report = Report(Take(block));
  EXPECT_THAT(report, HasSubstr(": unknown, 1 candidate whose end cannot be seen\n"));
  block.queue(queue).completed_submission = 1;
  // No sentence names a marker event, and the heading explains none.
  EXPECT_THAT(Report(Take(block)),
              HasSubstr("\nQueues\n - queue 0 (graphics): nothing was running\n"));
}

TEST(TextReport, NamesCannotActOnTheTerminal) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const TestBlock::List list = block.AddList(context, block.AddQueue(context, 0, "q\r"), 0, "a\nb");
  block.Begin(list, CAIRN_MARKER_PASS, "\x1b[2J\xff\xe2\x80\xae");
  block.Begin(list, 200, std::string(1024, 'x'));
  block.SetProgress(list, 2, 0);
  const std::string report = Report(Take(block));
  EXPECT_THAT(report, HasSubstr("command buffer 1 \"a\\x0ab\""));
  EXPECT_THAT(report, HasSubstr("[>] \\x1b[2J\\xff\\u{202e}, left open\n"));
  EXPECT_THAT(report, HasSubstr("MARKER_TYPE 200 #1: \"" + std::string(1024, 'x') + "\""));
  EXPECT_THAT(report, Not(HasSubstr("\x1b")));
  EXPECT_THAT(report, Not(HasSubstr("\r")));
  EXPECT_TRUE(IsValidUtf8(report));
}

TEST(TextReport, ColoursOnlyTheMarks) {
  const Snapshot snapshot = Take(DocumentedBlock(8, 7));
  const std::string coloured = Report(snapshot, {.colour = true});
  EXPECT_THAT(coloured, HasSubstr("├─\x1b[1;33m[>]\x1b[0m DISPATCH #1: \"Blur\""));
  EXPECT_THAT(coloured, HasSubstr("├─\x1b[32m[X]\x1b[0m Opaque"));
  EXPECT_THAT(Report(snapshot), Not(HasSubstr("\x1b")));
}

TEST(TextReport, SaysWhatHappened) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  block.AddQueue(context, 0, "Graphics");
  Snapshot snapshot = Take(block);
  const auto add = [&snapshot](IncidentKind kind, int64_t value, uint32_t queue, uint64_t address,
                               std::string_view detail) {
    NoteIncident({.kind = kind, .value = value, .queue = queue, .address = address}, detail,
                 &snapshot);
  };
  add(IncidentKind::kHang, 2500, 0, 0, "");
  add(IncidentKind::kSignal, 11, kNone, 0x10, "");
  add(IncidentKind::kSignal, 0, kNone, 0, "");
  add(IncidentKind::kDeviceLost, static_cast<int32_t>(0x887A0006), kNone, 0, "Present");
  add(IncidentKind::kDeviceLost, -77, kNone, 0, "");
  add(IncidentKind::kExited, 3, kNone, 0, "");
  EXPECT_THAT(Report(snapshot), HasSubstr(R"(

Incidents
 - The watchdog saw a hang: queue 0 "Graphics" made no progress for 2.5 s.
 - The program died of signal 11 (SIGSEGV) at address 0x10.
 - The program ended with GPU work unfinished; how it ended is not known.
 - The program reported that the device was lost: DXGI_ERROR_DEVICE_HUNG (0x887a0006), noticed at "Present".
 - The program reported that the device was lost: code -77.
 - The program exited with code 3.
)"));
}

TEST(TextReport, ShowsDevicesWithModeMemoryAndSources) {
  TestBlock block;
  FillSampleBlock(&block);
  block.context(0).memory = WordMemory::kMirrored;
  block.context(0).mirror_period_us = 500;
  const Snapshot snapshot = Take(block);
  const std::string device = Section(Report(snapshot), "Device 0: Test device");
  EXPECT_THAT(device, HasSubstr("Vulkan, driver test driver 1.2\n"));
  EXPECT_THAT(device, HasSubstr("Marker mode full, written with VK_AMD_buffer_marker, mirrored"));
  EXPECT_THAT(device, HasSubstr("the last 500 µs may be missing"));
  // The verdict leaves open why the device was lost.
  EXPECT_THAT(device, HasSubstr("Data sources that would have told more:\n"
                                "    - absent  VK_EXT_device_fault: not enabled by the "
                                "application\n"
                                "   2 other data sources; --all shows them\n"));
  EXPECT_THAT(device, Not(HasSubstr("vendor")));
  const std::string all = Report(snapshot, {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO});
  EXPECT_THAT(all, HasSubstr("vendor 0x10005, device 0x0000, frame 1"));
  EXPECT_THAT(all, HasSubstr(" - present VK_AMD_buffer_marker: verified\n"));
  EXPECT_THAT(all, HasSubstr(" - silent  vkCmdFillBuffer: writes nothing"));
  EXPECT_THAT(Report(snapshot, {.print_flags = CAIRN_PRINT_SKIP_DEVICE_INFO}),
              Not(HasSubstr("Test device")));
}

TEST(TextReport, TheAnswerStandsFirstWithHowSureItIsAtTheRight) {
  Snapshot snapshot = Take(DocumentedBlock(8, 7));
  snapshot.process.command_line = snapshot.AddText("./game");
  snapshot.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -4, .queue = kNone}};
  const std::string headline = "Device lost (VK_ERROR_DEVICE_LOST) in DISPATCH #1: \"Blur\"";
  EXPECT_THAT(TextReport(snapshot, AnalyseDump(snapshot), {.file = "game.cairn"}),
              StartsWith(headline + std::string(100 - headline.size() - 6, ' ') + R"(proven
  where     Frame · command buffer 1 "Main" · submission 1 · queue 0 (graphics) · frame 0
  pipeline  compute pipeline [ CS: BlurCS ]
  because   it began and did not end; no other command with a marker was in flight
  device    Test device, driver test driver 1.2
  next      cairn bisect -- ./game
            finds why: runs the program with one thing changed each time
  send      cairn report --markdown game.cairn
            for a bug tracker: this answer as text; --redact replaces names by hashes
  file      game.cairn
            for the program's or the driver's authors; holds names, paths and the command line

Incidents
)"));
  const std::string narrow = TextReport(snapshot, AnalyseDump(snapshot), {.width = 60});
  EXPECT_THAT(narrow, StartsWith("Device lost (VK_ERROR_DEVICE_LOST) in DISPATCH #1:    proven\n"
                                 "  \"Blur\"\n"))
      << "of 60 columns the headline takes 55";
  EXPECT_THAT(narrow, HasSubstr("\n  where     Frame · command buffer 1 \"Main\" · submission 1 ·\n"
                                "            queue 0 (graphics) · frame 0\n"));
  EXPECT_THAT(narrow, Not(HasSubstr("cairn bisect"))) << "without the file's name";
  snapshot.process.command_line = snapshot.AddText("./game " + std::string(80, 'a') + " rm -rf x");
  EXPECT_THAT(
      TextReport(snapshot, AnalyseDump(snapshot), {.width = 60, .file = "game.cairn"}),
      HasSubstr("\n  next      cairn bisect -- ./game " + std::string(80, 'a') + " rm -rf x\n"))
      << "a command is copied whole";
}

TEST(TextReport, NamesTheCandidateWithPathPipelineAndReason) {
  const Snapshot snapshot = Take(DocumentedBlock(8, 7));
  const Findings findings = AnalyseDump(snapshot);
  const std::string report = TextReport(snapshot, findings, {});
  EXPECT_THAT(report, StartsWith(R"(No failure was noticed
  running   DISPATCH #1: "Blur"
  where     Frame · command buffer 1 "Main" · submission 1 · queue 0 (graphics) · frame 0
  pipeline  compute pipeline [ CS: BlurCS ]
  device    Test device, driver test driver 1.2

Incidents
)"));
  std::string reason;
  AppendQueueReason(snapshot, findings.analysis, findings.analysis.verdicts.at(0), reason);
  EXPECT_EQ(Section(report, "Queues"),
            " - queue 0 (graphics): exactly one command was running\n    " + reason + "\n");
}

TEST(TextReport, NamesFinishedWorkWhereNothingElseCanHaveFaulted) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const TestBlock::List list = block.AddList(context, kNoQueue, 0, "Main");
  block.Scope(list, CAIRN_MARKER_DISPATCH, "Scribble");
  block.Begin(list, CAIRN_MARKER_PIPELINE_BARRIER);
  block.Close(list);
  block.SetProgress(list, 3, 2);
  block.AddFault(context, "VK_KHR_device_fault", "page fault");
  block.AddFaultAddress(context, FaultAddressType::kWriteInvalid, 0x1000);
  EXPECT_THAT(
      Section(Report(Take(block)), "Suspects"),
      HasSubstr(
          " 1. [X] frame 0: \"Main\" > DISPATCH #1: \"Scribble\"\n"
          "        its marker says that it completed, and it may be the culprit all the same: "
          "the driver reports a fault, and nothing that was in flight can have made it\n"));
}

TEST(TextReport, OneDeviceCanBeChosen) {
  TestBlock block;
  const TestBlock::List first = block.AddList(block.AddContext(), kNoQueue, 0, "first");
  const TestBlock::List second = block.AddList(block.AddContext(), kNoQueue, 0, "second");
  block.Begin(first, CAIRN_MARKER_DRAW);
  block.Begin(second, CAIRN_MARKER_DRAW);
  const std::string both = Report(Take(block));
  EXPECT_THAT(both, HasSubstr("<Frame 0> of device 0\n"));
  EXPECT_THAT(both, HasSubstr("<Frame 0> of device 1\n"));
  const std::string one = Report(Take(block), {}, 1);
  EXPECT_THAT(one, Not(HasSubstr("first")));
  EXPECT_THAT(one, HasSubstr("\"second\""));
  EXPECT_THAT(one, HasSubstr("<Frame 0>\n"));
  EXPECT_THAT(one, Not(HasSubstr("Device 0:")));
}

TEST(TextReport, ScopesOfAHostileDepthStayReadable) {
  TestBlock block(64 << 20);
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "deep");
  for (int i = 0; i < 20'000; ++i) block.Begin(list, CAIRN_MARKER_DRAW);
  block.SetProgress(list, 20'000, 0);
  const std::string report = Report(Take(block));
  EXPECT_LT(report.size(), 20'000u * 400);
  EXPECT_THAT(report, HasSubstr("(depth 19999) DRAW #1, left open\n"));
}

TEST(TextReport, ListsRawMarkersAndLosses) {
  TestBlock block;
  const uint32_t context = block.AddContext(64, 1000);
  for (int i = 0; i < 300; ++i) block.raw_markers(context)[i] = static_cast<uint64_t>(i) + 1;
  block.header().pages_refused = 2;
  const std::string report = Report(Take(block));
  const std::string raw = Section(report, "Raw markers");
  EXPECT_THAT(raw, ::testing::StartsWith(" - slot 0: 0x0000000000000001 (1)\n"));
  EXPECT_THAT(raw, HasSubstr("   … 44 more; --json has all of them\n"));
  EXPECT_THAT(Section(report, "Missing from"),
              HasSubstr(" - 2 allocations found the shared block full"));
}

TEST(TextReport, AnEmptySnapshotHasAReport) {
  const std::string report = Report(Snapshot());
  EXPECT_THAT(report, HasSubstr("No failure was noticed"));
  EXPECT_THAT(report, HasSubstr("No command list is registered."));
}

}  // namespace
}  // namespace cairn
