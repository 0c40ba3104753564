// SPDX-License-Identifier: Apache-2.0
#include "reader/report/answer_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cairn/marker_types.h"

#include "base/testing/json.h"
#include "base/text.h"
#include "format/block/work_arguments.h"
#include "format/snapshot/object_kinds.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/analysis/work_class.h"
#include "reader/report/suspect_text.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// The headline, with how sure it is behind " = ", and a line for each row but those of devices.
std::string InLines(const AnswerText& answer) {
  std::string lines = answer.headline;
  if (!answer.how_sure.empty()) lines += " = " + answer.how_sure;
  for (const AnswerRow& row : answer.rows) {
    if (row.label == "device") continue;
    lines += '\n';
    lines += row.label;
    lines += ": ";
    lines += row.text;
  }
  return lines;
}

std::string Answer(const Snapshot& snapshot) {
  return InLines(AnswerInWords(snapshot, AnalyseDump(snapshot)));
}

// The answer to a crash in no call.
constexpr char kNoCall[] =
    "The program died of SIGSEGV = cause unknown\n"
    "because: the thread that crashed is in no call that this file knows\n";

// Three draws and a barrier in a pass of a queue.
class AnswerTextTest : public ::testing::Test {
 protected:
  AnswerTextTest() {
    context_ = block_.AddContext();
    queue_ = block_.AddQueue(context_, 0, "Graphics");
    const uint32_t fog = block_.AddPipeline(context_, "Volumetric fog");
    block_.SetShader(fog, kStagePixel, "FogPS");
    list_ = block_.AddList(context_, queue_, 5, "Main");
    const uint32_t frame = block_.Begin(list_, CAIRN_MARKER_PASS, "Frame 1");
    const uint32_t lighting = block_.Begin(list_, CAIRN_MARKER_PASS, "Lighting");
    block_.Scope(list_, CAIRN_MARKER_DRAW_INSTANCED, "", fog);
    block_.Scope(list_, CAIRN_MARKER_DRAW_INSTANCED, "", fog);
    block_.Scope(list_, CAIRN_MARKER_RESOURCE_BARRIER, "", fog);
    block_.Scope(list_, CAIRN_MARKER_DRAW_INSTANCED, "", fog);
    block_.End(list_, lighting);
    block_.End(list_, frame);
    block_.Close(list_);
    block_.Submit(queue_, list_);
    block_.SetProgress(list_, 9, 8);
  }

  Snapshot Take(IncidentKind kind, int64_t value) {
    Snapshot snapshot =
        std::move(SnapshotFromBlock(block_.bytes(), 1'700'000'005'000'000'000).value());
    snapshot.incidents = {
        {.kind = kind, .value = value, .queue = kind == IncidentKind::kHang ? queue_ : kNone}};
    return snapshot;
  }
  std::string Told(IncidentKind kind, int64_t value) { return Answer(Take(kind, value)); }
  // Mode top, everything reached.
  void TellLess() {
    block_.context(context_).mode = MarkerMode::kTop;
    block_.SetProgress(list_, 9, 0);
  }

  TestBlock block_;
  uint32_t context_ = 0;
  uint32_t queue_ = 0;
  TestBlock::List list_{};
};

TEST_F(AnswerTextTest, OneWorkProven) {
  const std::string where =
      "where: Frame 1 > Lighting · command buffer 1 \"Main\" · submission 1 · queue 0 \"Graphics\" "
      "(graphics) · frame 5 (Cairn counts from 0)\n"
      "pipeline: graphics pipeline \"Volumetric fog\" [ PS: FogPS ]";
  const std::string proven =
      " in DRAW_INSTANCED #3 = proven\n" + where +
      "\nbecause: it began and did not end; no other command with a marker was in flight";
  EXPECT_EQ(Told(IncidentKind::kHang, 2000), "GPU hang or unreported fault" + proven);
  EXPECT_EQ(Told(IncidentKind::kDeviceLost, -4), "Device lost (VK_ERROR_DEVICE_LOST)" + proven);
  const std::string running = "\nrunning: DRAW_INSTANCED #3\n" + where;
  EXPECT_EQ(Told(IncidentKind::kSignal, 11), std::string(kNoCall) + running.substr(1));
  EXPECT_EQ(Told(IncidentKind::kSignal, 9), "The program was killed by SIGKILL" + running);
  EXPECT_EQ(Told(IncidentKind::kExited, 3),
            "The program exited with code 3, with GPU work unfinished" + running);
  EXPECT_EQ(Told(IncidentKind::kSignal, 0), "The program ended with GPU work unfinished" + running);
  EXPECT_EQ(Told(IncidentKind::kRequested, 0),
            "Nothing had gone wrong: this report was asked for" + running);
}

TEST_F(AnswerTextTest, OneLineOfIt) {
  EXPECT_EQ(
      AnswerLine(
          {.headline = "GPU hang in DRAW #1",
           .how_sure = "likely",
           .rows = {{"where", "Frame"}, {"because", "it was reached last"}, {"device", "GPU 1"}}}),
      "GPU hang in DRAW #1 (likely); where: Frame; because: it was reached last");
  EXPECT_EQ(AnswerLine({.headline = "No failure was noticed"}), "No failure was noticed");
}

TEST_F(AnswerTextTest, PipelinesCanBeLeftOut) {
  const Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  EXPECT_THAT(
      InLines(AnswerInWords(snapshot, AnalyseDump(snapshot), CAIRN_PRINT_SKIP_PIPELINE_INFO)),
      ::testing::Not(HasSubstr("pipeline")));
}

std::vector<std::string> Devices(const Snapshot& snapshot, uint32_t print_flags = 0) {
  std::vector<std::string> devices;
  for (const AnswerRow& row : AnswerInWords(snapshot, AnalyseDump(snapshot), print_flags).rows) {
    if (row.label == "device") devices.push_back(row.text);
  }
  return devices;
}

TEST_F(AnswerTextTest, TheDeviceThatRanTheWorkIsNamed) {
  block_.AddContext();
  const Snapshot hang = Take(IncidentKind::kHang, 2000);
  EXPECT_THAT(Devices(hang), ElementsAre("Test device, driver test driver 1.2"));
  EXPECT_THAT(Devices(hang, CAIRN_PRINT_SKIP_DEVICE_INFO), IsEmpty());
  block_.SetProgress(list_, 0, 0);
  EXPECT_EQ(Devices(Take(IncidentKind::kRequested, 0)).size(), 2u)
      << "no work leads to one of them";
}

TEST_F(AnswerTextTest, NothingIsLikelyWhereNothingFailed) {
  TellLess();
  EXPECT_THAT(Told(IncidentKind::kRequested, 0),
              StartsWith("Nothing had gone wrong: this report was asked for\n"
                         "running: one or more of 4, the first DRAW_INSTANCED #3\n"));
}

TEST_F(AnswerTextTest, AHangOfAGpuMayBeAFault) {
  Snapshot snapshot = Take(IncidentKind::kHang, 2000);
  snapshot.devices[context_].vendor_id = 0x10DE;
  snapshot.devices[context_].name = {};
  EXPECT_THAT(Answer(snapshot),
              StartsWith("GPU hang or unreported fault in DRAW_INSTANCED #3 = proven\n"));
  TellLess();
  snapshot = Take(IncidentKind::kHang, 2000);
  snapshot.devices[context_].vendor_id = 0x10DE;
  snapshot.devices[context_].name = {};
  EXPECT_THAT(Answer(snapshot),
              StartsWith("GPU hang or unreported fault in DRAW_INSTANCED #3 = likely\n"));
}

TEST_F(AnswerTextTest, SlowWorkIsNoCulprit) {
  const TestBlock::List batch = block_.AddList(context_, queue_, 5, "Batch");
  for (int i = 0; i < 20; ++i) block_.Scope(batch, CAIRN_MARKER_DISPATCH, "");
  block_.Close(batch);
  block_.Submit(queue_, batch);
  block_.SetProgress(list_, 12, 12);
  block_.SetProgress(batch, 17, 16);
  Snapshot snapshot = Take(IncidentKind::kExited, 7);
  constexpr uint64_t kSecond = 1'000'000'000;
  snapshot.process.start_time_ns = snapshot.process.snapshot_time_ns - 30 * kSecond;
  snapshot.process.start_monotonic_ns = 1 * kSecond;
  snapshot.submissions[0].time_ns = 2 * kSecond;
  snapshot.submissions[1].time_ns = 23 * kSecond;
  snapshot.queues[queue_].still_since_ns = 30 * kSecond;
  EXPECT_THAT(Answer(snapshot),
              StartsWith("The program exited with code 7, with GPU work unfinished\n"
                         "progress: no culprit: the GPU was slow and made progress to the end, 8 "
                         "of 20 pieces of work had completed in 8 s, 1 s each\n"
                         "running: DISPATCH #9\n"
                         "where: command buffer 2 \"Batch\" · submission 2 · "));
}

TEST_F(AnswerTextTest, TheLikelyOfSeveral) {
  TellLess();
  const std::string answer = Told(IncidentKind::kDeviceLost, static_cast<int32_t>(0x887A0006));
  EXPECT_THAT(answer,
              StartsWith("Device lost (DXGI_ERROR_DEVICE_HUNG) in DRAW_INSTANCED #3 = likely\n"
                         "where: Frame 1 > Lighting · command buffer 1 \"Main\" · "));
  EXPECT_THAT(answer, EndsWith("\nbecause: the last work with a pipeline that the GPU reached; the "
                               "first of 4 suspects"));
  EXPECT_THAT(Told(IncidentKind::kSignal, 6),
              StartsWith("The program died of SIGABRT = cause unknown\n"
                         "because: the thread that crashed is in no call that this file knows\n"
                         "running: one or more of 4, likely DRAW_INSTANCED #3\n"
                         "where: Frame 1 > Lighting · "));
}

TEST_F(AnswerTextTest, TheFirstOfSeveralMayBeUnlikelyAllTheSame) {
  TellLess();
  const Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  Findings findings = AnalyseDump(snapshot);
  ASSERT_EQ(findings.culprit.certainty, Certainty::kLikely);
  findings.culprit.suspects.front().reason = SuspectReason::kHeldBack;
  EXPECT_EQ(InLines(AnswerInWords(snapshot, findings, CAIRN_PRINT_SKIP_PIPELINE_INFO)),
            "Device lost (VK_ERROR_DEVICE_LOST) in one of 4 suspects = one of 4\n"
            "because: none of them is likely; the first: unlikely: a wait holds its queue back");
  findings.culprit.suspects.resize(1);
  EXPECT_THAT(InLines(AnswerInWords(snapshot, findings, CAIRN_PRINT_SKIP_PIPELINE_INFO)),
              StartsWith("Device lost (VK_ERROR_DEVICE_LOST) in DRAW_INSTANCED #3 = not proven\n"
                         "because: the only candidate; unlikely: a wait holds its queue back\n"
                         "where: "));
}

TEST_F(AnswerTextTest, SeveralAlike) {
  block_.SetProgress(list_, 9, 0);
  EXPECT_EQ(Told(IncidentKind::kHang, 2000),
            "GPU hang or unreported fault in one of 4 suspects = one of 4\n"
            "because: the first 3 are equally likely, the other is less; "
            "the first: the first work with a pipeline that has not completed");
  EXPECT_THAT(Told(IncidentKind::kSignal, 9),
              StartsWith("The program was killed by SIGKILL\n"
                         "running: one or more of 4, the first DRAW_INSTANCED #1\n"));
}

TEST_F(AnswerTextTest, AFaultIsToldWithItsAddress) {
  block_.AddFault(context_, "VK_KHR_device_fault", "page fault");
  block_.AddFaultAddress(context_, FaultAddressType::kWriteInvalid, 0x1000);
  EXPECT_THAT(Told(IncidentKind::kDeviceLost, -4),
              StartsWith("GPU fault (invalid write at 0x1000) in DRAW_INSTANCED #3 = proven\n"));
}

TEST_F(AnswerTextTest, NothingWasRunningOrNothingIsKnown) {
  block_.SetProgress(list_, 11, 12);
  EXPECT_EQ(Told(IncidentKind::kSignal, 11), std::string(kNoCall) + "running: nothing on the GPU");
  EXPECT_EQ(
      Told(IncidentKind::kDeviceLost, -4),
      "Device lost (VK_ERROR_DEVICE_LOST) = culprit unknown\n"
      "because: every command with a marker that began also ended. A GPU can go on after a wrong "
      "access: the culprit may be one that ended\n"
      "completed: queue 0 \"Graphics\" (graphics): the last to complete was DRAW_INSTANCED #3 of "
      "Frame 1 > Lighting in command buffer 1 \"Main\"");
  EXPECT_EQ(Told(IncidentKind::kExited, 0),
            "The program exited with code 0\nrunning: nothing on the GPU");
  block_.SetProgress(list_, 0, 0);
  EXPECT_EQ(
      Told(IncidentKind::kDeviceLost, -4),
      "Device lost (VK_ERROR_DEVICE_LOST) = culprit unknown\nrunning: no command with a marker");
  block_.context(context_).mode = MarkerMode::kOff;
  EXPECT_EQ(
      Told(IncidentKind::kHang, 2000),
      "GPU hang or unreported fault = culprit unknown\nrunning: unknown: the marker mode was off");
  // The report is about another device, which has no lists.
  Snapshot snapshot = Take(IncidentKind::kRequested, 0);
  snapshot.devices.push_back(snapshot.devices[context_]);
  EXPECT_EQ(
      InLines(AnswerInWords(snapshot, AnalyseDump(snapshot, 1), CAIRN_PRINT_SKIP_PIPELINE_INFO)),
      "Nothing had gone wrong: this report was asked for\n"
      "running: unknown: no command list is registered");
  EXPECT_EQ(Answer(Snapshot()),
            "No failure was noticed\nrunning: unknown: no command list is registered");
}

// A fault soon after a submission: no copy of the words tells of its begin.
TEST_F(AnswerTextTest, OldCopiesLeaveOpenTheWorkThatWasRunning) {
  block_.SetProgress(list_, 0, 0);
  block_.context(context_).memory = WordMemory::kMirrored;
  block_.context(context_).mirror_period_us = 500;
  EXPECT_EQ(Told(IncidentKind::kSignal, 9),
            "The program was killed by SIGKILL\n"
            "running: unknown: the GPU's markers were copies, up to 500 µs old\n"
            "then: queue 0 \"Graphics\" (graphics) had to begin command buffer 1 \"Main\"");
  EXPECT_EQ(Told(IncidentKind::kExited, 0),
            "The program exited with code 0\nrunning: nothing on the GPU")
      << "they were copied a last time";
  block_.SetProgress(list_, 11, 12);
  EXPECT_EQ(Told(IncidentKind::kSignal, 9),
            "The program was killed by SIGKILL\nrunning: nothing on the GPU")
      << "all had finished";
}

TEST_F(AnswerTextTest, FinishedWorkThatLeadsToTheFaultIsNamed) {
  Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  snapshot.recordings[0].reached = 11;
  snapshot.recordings[0].passed = 12;
  snapshot.kernel_lines = {{.names_process = true,
                            .tells_fault = true,
                            .text = snapshot.AddText("MMU Fault: faulted @ 0x0_00001000.")}};
  snapshot.objects.push_back({.state = ObjectState::kDestroyed,
                              .name = snapshot.AddText("Victim"),
                              .destroyed_ns = 1,
                              .gpu_address = 0x1000,
                              .size_bytes = 0x100});
  // The label's begin makes room.
  Event& bind = snapshot.events[1];
  ASSERT_EQ(bind.kind, EventKind::kBegin);
  bind = {.kind = EventKind::kBind, .type = static_cast<uint16_t>(BindPoint::kVertexBuffer)};
  bind.detail = 0;
  snapshot.binds = {{0, false, 0}};
  EXPECT_THAT(
      Answer(snapshot),
      StartsWith(
          "GPU fault (from the kernel log) in one of 3 suspects = one of 3\n"
          "because: nothing makes one more likely than the others; the first: completed, and "
          "leads to the address of the fault"));
  EXPECT_THAT(Answer(snapshot), HasSubstr("\nfault: page at 0x1000: memory that was freed, in "
                                          "object \"Victim\" + 0x0 of 256 bytes"))
      << "whose memory it was";
  snapshot.objects.back().gpu_address = 0x4000;
  EXPECT_THAT(Answer(snapshot),
              HasSubstr("\nfault: page at 0x1000: in no object that is known, 8 KiB before "));
}

// A thread with three calls into Direct3D, of which the last did not return.
class CrashInACallTest : public AnswerTextTest {
 protected:
  static constexpr uint64_t kList = 0x1e00, kHeap = 0x4ea0;

  static void AddCall(Snapshot& snapshot, const char* function, bool returned,
                      std::vector<CallArgument> arguments) {
    Call call;
    call.number = snapshot.calls.size() + 1;
    call.object = kList;
    call.function = snapshot.AddText(function);
    call.returned = returned;
    snapshot.calls.push_back(call);
    for (CallArgument& argument : arguments) {
      argument.call = call.number;
      snapshot.call_arguments.push_back(argument);
    }
  }
  Snapshot TakeCrash() {
    Snapshot snapshot = Take(IncidentKind::kSignal, 11);
    snapshot.threads.clear();
    snapshot.calls.clear();
    const auto table = [&](uint64_t parameter, uint64_t handle) {
      AddCall(snapshot, "ID3D12GraphicsCommandList::SetComputeRootDescriptorTable", true,
              {{0, ArgumentKind::kUnsigned, snapshot.AddText("RootParameterIndex"), parameter},
               {0, ArgumentKind::kGpuDescriptor, snapshot.AddText("BaseDescriptor"), handle}});
    };
    table(2, kHeap + 0x40);
    table(3, 0xffffffe0);
    AddCall(snapshot, "ID3D12GraphicsCommandList::Dispatch", false,
            {{0, ArgumentKind::kUnsigned, snapshot.AddText("ThreadGroupCountX"), 64},
             {0, ArgumentKind::kUnsigned, snapshot.AddText("ThreadGroupCountY"), 1},
             {0, ArgumentKind::kUnsigned, snapshot.AddText("ThreadGroupCountZ"), 1}});
    Thread thread;
    thread.thread_id = 42;
    thread.name = snapshot.AddText("render");
    thread.crashed = true;
    thread.call_count = 3;
    thread.argument_count = 7;
    snapshot.threads.push_back(thread);
    snapshot.objects.push_back({.state = ObjectState::kAlive,
                                .kind = kD3D12CommandListKind,
                                .name = snapshot.AddText("Main"),
                                .native_handle = kList});
    return snapshot;
  }
  static void AddHeap(Snapshot& snapshot) {
    snapshot.objects.push_back({.state = ObjectState::kAlive,
                                .kind = kD3D12DescriptorHeapKind,
                                .name = snapshot.AddText("Shader heap"),
                                .gpu_address = kHeap,
                                .size_bytes = 0x8000});
  }
  static constexpr const char* kCall =
      "The program died of SIGSEGV in this call = proven\n"
      "call: ID3D12GraphicsCommandList::Dispatch(ThreadGroupCountX = 64, ThreadGroupCountY = 1, "
      "ThreadGroupCountZ = 1) of command list \"Main\", which did not return, on thread 42 "
      "\"render\"\n"
      "because: the thread that crashed is in it; the cause may be an earlier call or write\n";
};

TEST_F(CrashInACallTest, TheCallIsToldBeforeWhatTheGpuDid) {
  block_.SetProgress(list_, 11, 12);
  EXPECT_EQ(Answer(TakeCrash()), std::string(kCall) + "running: nothing on the GPU");
  block_.SetProgress(list_, 9, 8);
  EXPECT_THAT(Answer(TakeCrash()), StartsWith(std::string(kCall) + "running: DRAW_INSTANCED #3\n"));
}

TEST_F(CrashInACallTest, ATableOutsideOfItsHeapIsNamed) {
  block_.SetProgress(list_, 11, 12);
  Snapshot snapshot = TakeCrash();
  AddHeap(snapshot);
  EXPECT_EQ(Answer(snapshot),
            std::string(kCall) +
                "tables: The list's root parameter 3 is the descriptor table 0xffffffe0, which "
                "lies in no descriptor heap: descriptor heap \"Shader heap\" has 0x4ea0 to 0xce9f\n"
                "running: nothing on the GPU");
  snapshot.calls[2].function = snapshot.AddText("ID3D12GraphicsCommandList::DrawInstanced");
  EXPECT_THAT(Answer(snapshot), ::testing::Not(HasSubstr("descriptor table")))
      << "those of draws are others";
}

TEST_F(CrashInACallTest, AThreadThatIsInNoCallIsNotTakenForAnotherOne) {
  block_.SetProgress(list_, 11, 12);
  Snapshot snapshot = TakeCrash();
  snapshot.threads[0].crashed = false;
  EXPECT_EQ(Answer(snapshot), std::string(kNoCall) + "running: nothing on the GPU");
}

// The GPU is the CPU: lavapipe.
TEST_F(AnswerTextTest, TheCpuFaultsInMemoryThatWasFreed) {
  Snapshot snapshot = Take(IncidentKind::kSignal, 11);
  snapshot.incidents[0].address = 0x7f0000001040;
  snapshot.devices[0].name = snapshot.AddText("llvmpipe (LLVM 15.0.6, 256 bits)");
  snapshot.devices[0].vendor_id = 0x10005;
  snapshot.objects.push_back({.state = ObjectState::kDestroyed,
                              .kind = kVulkanBufferKind,
                              .device = 0,
                              .name = snapshot.AddText("Particles"),
                              .destroyed_ns = 5,
                              .gpu_address = 0x7f0000001000,
                              .size_bytes = 0x1000});
  EXPECT_THAT(
      Answer(snapshot),
      StartsWith(std::string(kNoCall) +
                 "address: 0x7f0000001040, in buffer \"Particles\" + 0x40 of 4 KiB, destroyed\n"
                 "running: DRAW_INSTANCED #3\n"));
  snapshot.incidents[0].address = 0x7f0000002040;
  EXPECT_THAT(
      Answer(snapshot),
      StartsWith(
          std::string(kNoCall) +
          "address: 0x7f0000002040, in no object that is known, 64 bytes past the end of buffer "
          "\"Particles\" (destroyed)\n"
          "running: "));
  snapshot.incidents[0].address = 0x7f0100001040;
  EXPECT_THAT(Answer(snapshot), StartsWith(std::string(kNoCall) + "running: "))
      << "other memory of the process";
  snapshot.incidents[0].address = 0x7f0000001040;
  snapshot.devices[0].name = snapshot.AddText("NVIDIA H100");
  snapshot.devices[0].vendor_id = 0x10de;
  EXPECT_THAT(Answer(snapshot), StartsWith(std::string(kNoCall) + "running: "))
      << "its addresses are not those of the process";
}

TEST_F(AnswerTextTest, WhatShadersReachByAddressAndWasDestroyedMeanwhileIsNamed) {
  Snapshot snapshot = Take(IncidentKind::kHang, 2000);
  const uint64_t submitted_ns = snapshot.submissions[0].time_ns;
  const auto add = [&](const char* name, uint64_t created_ns, uint64_t destroyed_ns) {
    snapshot.objects.push_back({.state = ObjectState::kDestroyed,
                                .kind = kVulkanBufferKind,
                                .device = 0,
                                .name = snapshot.AddText(name),
                                .created_ns = created_ns,
                                .destroyed_ns = destroyed_ns,
                                .gpu_address = 0x7000,
                                .size_bytes = 0x1000});
  };
  add("Before", 0, submitted_ns - 1);
  add("Younger", submitted_ns + 1, submitted_ns + 2);
  EXPECT_THAT(Answer(snapshot), ::testing::Not(HasSubstr("destroyed")));
  add("Particles", 0, submitted_ns + 20'000'000);
  EXPECT_THAT(
      Answer(snapshot),
      EndsWith("\nfreed: memory that shaders may reach by address, while work was in flight: "
               "buffer \"Particles\" (4 KiB at 0x7000), destroyed 20 ms after submission 1 of "
               "queue 0 \"Graphics\" (graphics)"));
  // The answer about another device says nothing of it.
  snapshot.incidents[0] = {.kind = IncidentKind::kDeviceLost, .value = -4, .queue = kNone};
  snapshot.devices.push_back(snapshot.devices[0]);
  snapshot.devices[1].device_lost = true;
  const std::string answer = InLines(AnswerInWords(snapshot, AnalyseDump(snapshot, 1)));
  EXPECT_THAT(answer, StartsWith("Device lost"));
  EXPECT_THAT(answer, ::testing::Not(HasSubstr("destroyed")));
}

TEST_F(AnswerTextTest, ArgumentsThatAreWrittenTooLateAreSaid) {
  Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  Findings findings = AnalyseDump(snapshot);
  snapshot.objects.push_back({.state = ObjectState::kAlive,
                              .kind = kVulkanBufferKind,
                              .name = snapshot.AddText("Arguments")});
  const SuspectWork& first = findings.culprit.suspects.front();
  findings.arguments = {.execution = first.execution,
                        .scope = first.scope,
                        .buffer = static_cast<uint32_t>(snapshot.objects.size() - 1),
                        .late_writer = 3};
  const std::string answer = InLines(AnswerInWords(snapshot, findings));
  EXPECT_THAT(
      answer,
      EndsWith(
          "\nbecause: it began and did not end; no other command with a marker was in flight\n"
          "arguments: in buffer \"Arguments\"; no command in this file is known to have written "
          "them\n"
          "arguments: the command reads them before DRAW_INSTANCED #2 of the same list "
          "writes them"));
}

// In mode top a barrier is a candidate, too; whatever is bound, it runs no shader.
TEST_F(AnswerTextTest, ABarrierIsNotToldWithShaders) {
  Snapshot snapshot = Take(IncidentKind::kHang, 2000);
  const Analysis analysis = Analyse(snapshot);
  for (const Scope& scope : analysis.scopes) {
    const Event& event = snapshot.events[scope.event];
    EXPECT_EQ(PipelineOf(snapshot, scope),
              event.type == CAIRN_MARKER_RESOURCE_BARRIER ? kNone : event.pipeline);
  }
}

TEST_F(AnswerTextTest, AWaitForNothing) {
  block_.SetProgress(list_, 0, 0);
  block_.AddSync(SyncKind::kWait, queue_, 1, 0x20, 7);
  EXPECT_EQ(Told(IncidentKind::kHang, 2000),
            "A wait does not end\n"
            "wait: queue 0 \"Graphics\" (graphics) waits for semaphore 0x20 to reach 7, which "
            "nothing submitted so far signals");
}

TEST_F(AnswerTextTest, TheCallOfTheTraceIsNamed) {
  Snapshot snapshot = Take(IncidentKind::kHang, 1);
  for (Event& event : snapshot.events) event.call = 18233;
  EXPECT_THAT(Answer(snapshot),
              HasSubstr(" · frame 5 (Cairn counts from 0) · call 18,233 of the trace\n"));
}

TEST(AnswerText, NamesAreMadeVisible) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "\x1b]0;q");
  const TestBlock::List list = block.AddList(context, queue, 0, "a\nb");
  block.Begin(list, CAIRN_MARKER_PASS, "\x1b[2J");
  block.Begin(list, CAIRN_MARKER_DRAW, "\xe2\x80\xae", block.AddPipeline(context, "p\r"));
  block.Submit(queue, list);
  block.SetProgress(list, 2, 0);
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  const std::string answer = Answer(snapshot);
  EXPECT_THAT(
      answer,
      HasSubstr("running: DRAW #1: \"\\u{202e}\"\nwhere: \\x1b[2J · command buffer 1 "
                "\"a\\x0ab\", still being recorded · submission 1 · queue 0 \"\\x1b]0;q\""));
  EXPECT_THAT(answer, HasSubstr("\npipeline: \"p\\x0d\""));
}

// A render pass in which the GPU writes nothing: 20 draws, of which one may be the culprit.
class TiedDrawsTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kDraws = 20;

  TiedDrawsTest() {
    context_ = block_.AddContext();
    block_.context(context_).mode = MarkerMode::kTop;
    queue_ = block_.AddQueue(context_, 0, "Graphics");
    plain_ = block_.AddPipeline(context_, "Plain");
    march_ = block_.AddPipeline(context_, "March");
    constexpr uint32_t kPlain[] = {0x07230203, 0x10000, 0, 8, 0, 2 << 16 | 17, 1};
    constexpr uint32_t kMarch[] = {0x07230203, 0x10000, 0, 8, 0, 4 << 16 | 246, 1, 2, 0};
    block_.AddShader(ShaderCode::kSpirV, 0x11,
                     {reinterpret_cast<const char*>(kPlain), sizeof(kPlain)});
    block_.AddShader(ShaderCode::kSpirV, 0x12,
                     {reinterpret_cast<const char*>(kMarch), sizeof(kMarch)});
    block_.SetShaderHash(plain_, kStagePixel, 0x11);
    block_.SetShaderHash(march_, kStagePixel, 0x12);
  }

  // Draw number `odd`, from 1, has this pipeline and so many vertices; 0: none has.
  std::string Told(uint32_t odd, uint32_t pipeline, uint32_t vertices) {
    const TestBlock::List list = block_.AddList(context_, queue_, 1, "Main");
    block_.Begin(list, CAIRN_MARKER_BEGIN_RENDERING);
    block_.End(list, 1, 0);
    for (uint32_t i = 1; i <= kDraws; ++i) {
      const uint32_t begin =
          block_.Begin(list, CAIRN_MARKER_DRAW, {}, i == odd ? pipeline : plain_, /*flags=*/0);
      const ArgumentNumbers numbers = DrawArguments(i == odd ? vertices : 36, 1, 0, 0).main;
      block_.BindAddress(list, static_cast<BindPoint>(numbers.point), numbers.first, numbers.rest);
      block_.End(list, begin, 0);
    }
    const uint32_t end = block_.Begin(list, CAIRN_MARKER_END_RENDERING);
    block_.End(list, end);
    block_.Close(list);
    block_.Submit(queue_, list);
    block_.SetProgress(list, 1, 0);
    Snapshot snapshot =
        std::move(SnapshotFromBlock(block_.bytes(), 1'700'000'005'000'000'000).value());
    snapshot.incidents = {{.kind = incident_, .value = 2000, .queue = queue_}};
    return Answer(snapshot);
  }

  TestBlock block_;
  uint32_t context_ = 0;
  uint32_t queue_ = 0;
  uint32_t plain_ = 0;
  uint32_t march_ = 0;
  IncidentKind incident_ = IncidentKind::kHang;
};

TEST_F(TiedDrawsTest, HowManyTieIsSaid) {
  EXPECT_THAT(Told(0, 0, 0),
              HasSubstr(" in one of 21 suspects = one of 21\n"
                        "because: the first 20 are equally likely, the other is less; "
                        "the first: no marker separates it "
                        "from 19 other commands of its render pass"));
}

TEST_F(TiedDrawsTest, OneWhoseShaderHasALoopComesFirst) {
  const std::string told = Told(4, march_, 36);
  EXPECT_THAT(told, HasSubstr(" in DRAW #4 (36 vertices, 1 instance) = likely\n"));
  EXPECT_THAT(told, HasSubstr("\npipeline: graphics pipeline \"March\""));
  EXPECT_THAT(
      told,
      HasSubstr(
          "\nbecause: no marker separates it from 19 other commands of its "
          "render pass; more likely than others, because a shader of its own pipeline has a loop; "
          "the first of 21 suspects"));
}

TEST_F(TiedDrawsTest, WithoutAFailureTheReasonIsSaidToo) {
  incident_ = IncidentKind::kRequested;
  const std::string told = Told(4, march_, 36);
  EXPECT_THAT(told, HasSubstr("running: one or more of 21, the first DRAW #4 (36 vertices, "));
  EXPECT_THAT(told, HasSubstr("\nbecause: no marker separates it from 19 other commands of its "
                              "render pass; more likely than others, because a shader of its own "
                              "pipeline has a loop"));
  EXPECT_THAT(Told(0, 0, 0), Not(HasSubstr("because: ")));
}

TEST_F(TiedDrawsTest, AnAbsurdCountComesFirst) {
  const std::string told = Told(7, plain_, 0xFFFFFFFF);
  EXPECT_THAT(told, HasSubstr(" in DRAW #7 (4294967295 vertices, 1 instance) = likely\n"));
  EXPECT_THAT(told, HasSubstr("by its arguments it would run for minutes"));
}

TEST_F(TiedDrawsTest, OneAThousandTimesAsLargeComesFirst) {
  EXPECT_THAT(Told(20, plain_, 3'000'000), HasSubstr("DRAW #20 (3000000 vertices, 1 instance)"));
}

TEST_F(TiedDrawsTest, OneWhoseShaderNobodyReadComesBeforeOnesWithoutLoops) {
  EXPECT_THAT(Told(9, block_.AddPipeline(context_, "Unread"), 36),
              HasSubstr("more likely than others, whose shaders have no loop"));
}

// One submission with the same pipeline ended 0.2 ms after it was made; this one was made 2 ms after the start of the
// clock, and the device was lost 5 s after the start of the program.
TEST(AnswerText, DurationsAndMemory) {
  TestBlock block;
  FillDurationsBlock(&block);
  Snapshot snapshot =
      std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
  snapshot.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -4}};
  EXPECT_EQ(Answer(snapshot),
            "Device lost (VK_ERROR_DEVICE_LOST) after memory ran out in DISPATCH #1 = proven\n"
            "where: command buffer 2 \"Main\" · submission 2 · queue 0 \"Graphics\" (graphics) · "
            "frame 1\n"
            "pipeline: compute pipeline \"Simulate\"\n"
            "because: it began and did not end; no other command with a marker was in flight\n"
            "duration: its submission was unfinished for 4.998 s; an earlier one with the same "
            "pipelines ended within 200 µs\n"
            "memory: vkAllocateMemory failed with VK_ERROR_OUT_OF_DEVICE_MEMORY (1 GiB asked for), "
            "the last of 3 such failures; heap 0 (device-local): the program used 7.5 GiB "
            "of 8 GiB, its budget was 7.5 GiB");
  // Another device's memory is not of interest.
  snapshot.memory[0].device = kNone;
  const std::string other = InLines(AnswerInWords(snapshot, AnalyseDump(snapshot, 0)));
  EXPECT_THAT(other, Not(HasSubstr("memory")));
  // Without a failure a full heap is a fact, and no reason for the loss.
  snapshot.memory[0].device = 0;
  snapshot.memory[0].result = 0;
  const std::string full = Answer(snapshot);
  EXPECT_THAT(full, StartsWith("Device lost (VK_ERROR_DEVICE_LOST) in DISPATCH #1"));
  EXPECT_THAT(full,
              EndsWith("memory: heap 0 (device-local): the program used 7.5 GiB of 8 GiB, its "
                       "budget was 7.5 GiB"));
  snapshot.memory_heaps[0].used_bytes -= 1;
  EXPECT_THAT(Answer(snapshot), Not(HasSubstr("memory: ")));
}

// DXGI does not tell the size of an integrated adapter's memory.
TEST(AnswerText, MemoryOfDirect3DAndHeapsOfUnknownSize) {
  TestBlock block;
  FillDurationsBlock(&block);
  Snapshot snapshot =
      std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
  snapshot.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -2005270523}};
  snapshot.memory[0].result = static_cast<int32_t>(0x8007000E);
  snapshot.memory[0].failed_count = 1;
  snapshot.memory[0].wanted_bytes = 0;
  snapshot.memory[0].heap_count = 1;
  snapshot.memory_heaps[0].size_bytes = 0;
  const std::string told = Answer(snapshot);
  EXPECT_THAT(told, StartsWith("Device lost (DXGI_ERROR_DEVICE_REMOVED) after memory ran out"));
  EXPECT_THAT(told, EndsWith("memory: vkAllocateMemory failed with E_OUTOFMEMORY; heap 0 "
                             "(device-local): the program used 7.5 GiB, its budget was 7.5 GiB"));
  snapshot.memory[0].result = 0;
  EXPECT_THAT(
      Answer(snapshot),
      EndsWith("memory: heap 0 (device-local): the program used 7.5 GiB, its budget was 7.5 GiB"));
  snapshot.memory_heaps[0].used_bytes -= 1;
  EXPECT_THAT(Answer(snapshot), Not(HasSubstr("memory: ")));
}

TEST(AnswerText, SeveralSubmissionsBefore) {
  std::string words;
  AppendUsualDuration({.execution = 0,
                       .unfinished_ns = 9'800'000'000,
                       .count = 1041,
                       .median_ns = 200'000,
                       .longest_ns = 1'100'000},
                      words);
  EXPECT_EQ(words,
            "its submission was unfinished for 9.8 s; earlier ones with the same pipelines usually "
            "ended within 200 µs (median of 1,041, the longest 1.1 ms)");
}

TEST_F(AnswerTextTest, WorkWithItsLabelBefore) {
  const Snapshot snapshot = Take(IncidentKind::kDeviceLost, -4);
  Findings findings = AnalyseDump(snapshot);
  const uint32_t label = findings.analysis.scopes[findings.culprit.suspects.front().scope].parent;
  ASSERT_NE(label, kNone);
  findings.label_duration = {.scope = label,
                             .running_ns = 9'800'000'000,
                             .count = 1031,
                             .median_ns = 400'000,
                             .longest_ns = 2'100'000};
  const std::string answer = InLines(AnswerInWords(snapshot, findings));
  EXPECT_THAT(answer, EndsWith(": usually ended within 400 µs (median of 1,031 submissions, the "
                               "longest 2.1 ms); the suspect has run for at least 9.8 s"));
  findings.label_duration.count = 1;
  findings.label_duration.running_ns = 0;
  EXPECT_THAT(InLines(AnswerInWords(snapshot, findings)),
              EndsWith(": ended within 400 µs in one earlier submission"));
}

}  // namespace
}  // namespace cairn
