// SPDX-License-Identifier: Apache-2.0
#include "reader/report/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "reader/report/json.h"
#include "reader/report/text.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Snapshot SampleSnapshot() {
  TestBlock block;
  FillSampleBlock(&block);
  Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  snapshot.process.command_line = snapshot.AddText("./demo --user=alice");
  return snapshot;
}

TEST(Redact, ReplacesEveryNameOfTheApplication) {
  const Snapshot snapshot = SampleSnapshot();
  const Snapshot redacted = Redact(snapshot);
  EXPECT_EQ(FindInconsistency(redacted), "");
  const std::string json = JsonReport(redacted, AnalyseDump(redacted));
  for (const char* name : {"/games/demo", "alice", "Graphics", "Basic pipeline", "EndlessLoopVS",
                           "SolidColorPS", "BlurCS", "Main", "Frame\"", "Opaque", "Blur", "Culling",
                           "evil", "vkQueueSubmit", "0x2001", "left open"}) {
    EXPECT_THAT(redacted.text, Not(HasSubstr(name)));
    EXPECT_THAT(json, Not(HasSubstr(name)));
  }
}

TEST(Redact, ReplacesWhatTheLayerOfDirect3DNotes) {
  TestBlock block;
  FillD3D12Block(&block);
  Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  snapshot.devices[0].annotation_driver = snapshot.AddText("/home/alice/driver.so");
  const Snapshot redacted = Redact(snapshot);
  EXPECT_EQ(FindInconsistency(redacted), "");
  const Findings findings = AnalyseDump(redacted);
  const std::string json = JsonReport(redacted, findings);
  const std::string text =
      TextReport(redacted, findings, {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO});
  for (const char* name :
       {"alice", "Demo on", "Scene colour", "Particles", "Frame fence", "Opaque", "Level 3",
        "Player spawned", "render\"", "loader", "0x5000", "0x5004", "0x7000", "0xdead0000"}) {
    EXPECT_THAT(redacted.text, Not(HasSubstr(name)));
    EXPECT_THAT(json, Not(HasSubstr(name)));
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
  // Conclusions stay: the object behind the address, the fence that the call waits for.
  const std::vector<Binding>& bindings = findings.analysis.bindings;
  EXPECT_EQ(bindings.size(), AnalyseDump(snapshot).analysis.bindings.size());
  EXPECT_EQ(bindings[1].object, 2u);
  EXPECT_EQ(bindings[1].offset, 0x40u);
  EXPECT_THAT(text, HasSubstr("ID3D12Fence::SetEventOnCompletion of fence \"name-"));
  EXPECT_THAT(text, HasSubstr("EventID 0x1000001000001"));
}

TEST(Redact, ReplacesWhatTheVulkanLayerNotes) {
  TestBlock block;
  FillVulkanBlock(&block);
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value());
  const Snapshot redacted = Redact(snapshot);
  EXPECT_EQ(FindInconsistency(redacted), "");
  EXPECT_TRUE(redacted.blobs.empty());
  const Findings findings = AnalyseDump(redacted);
  const std::string json = JsonReport(redacted, findings);
  const std::string text =
      TextReport(redacted, findings, {.print_flags = CAIRN_PRINT_EXTENDED_DEVICE_INFO});
  for (const char* name :
       {"Old lights", "Frame timeline", "Shadow", "Cull", "main (", "0xa1\"", "0xA1",
        "0x1000000000", "0x1000020100", "0xfeed", "SPIR-V of", "vendor data"}) {
    EXPECT_THAT(redacted.text, Not(HasSubstr(name)));
    EXPECT_THAT(json, Not(HasSubstr(name)));
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
  // Conclusions stay.
  EXPECT_THAT(text, HasSubstr("memory that was freed, in buffer \"name-"));
  EXPECT_THAT(text, HasSubstr("+ 0x100 of 16 KiB, destroyed 30 ms before the fault was "
                              "noticed, while submitted work was unfinished"));
  EXPECT_THAT(text, HasSubstr("892 KiB before image"));
  EXPECT_THAT(text, HasSubstr("to reach 7, which comes from submission 1 of queue 0"));
  EXPECT_THAT(text, HasSubstr("(00000000000000a1)"));
}

TEST(Redact, WhatADescriptorLeadsToStays) {
  TestBlock block;
  FillMemoryBlock(&block);
  const Snapshot redacted =
      Redact(std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value()));
  EXPECT_EQ(FindInconsistency(redacted), "");
  const Findings findings = AnalyseDump(redacted);
  const std::string text = TextReport(redacted, findings, {});
  const std::string json = JsonReport(redacted, findings);
  for (const char* name : {"Particles", "Heap A", "streaming", "0xb1", "0xc1", "0xd1", "0xe1"}) {
    EXPECT_THAT(redacted.text, Not(HasSubstr(name)));
    EXPECT_THAT(json, Not(HasSubstr(name)));
    EXPECT_THAT(text, Not(HasSubstr(name)));
  }
  EXPECT_THAT(text, HasSubstr("descriptor set 1 binding 2[1]: buffer \"name-"));
  EXPECT_THAT(text, HasSubstr(" by thread \"name-"));
}

// A fault below all objects: the distance by which they move must not show.
// The verdict needs no word of the line.
TEST(Redact, KeepsThatTheKernelTellsOfAFault) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.kernel_lines = {{.names_process = true,
                            .tells_fault = true,
                            .text = snapshot.AddText("NVRM: Xid 31, pid=7204, name=secret-game")}};
  snapshot.kernel_logs = {{.line_count = 1}};
  const Snapshot redacted = Redact(snapshot);
  EXPECT_THAT(redacted.Text(redacted.kernel_lines[0].text), StartsWith("name-"));
  EXPECT_TRUE(redacted.kernel_lines[0].names_process);
  EXPECT_TRUE(redacted.kernel_lines[0].tells_fault);
}

TEST(Redact, AddressesBelowAllObjectsDoNotWrap) {
  TestBlock block;
  FillVulkanBlock(&block);
  Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value());
  ASSERT_GE(snapshot.fault_addresses.size(), 2u);
  snapshot.fault_addresses[0].address = 0x40;
  snapshot.fault_addresses[1].address = 0x123456;
  Bind bind;
  bind.is_address = true;
  bind.value = 0x200000;
  snapshot.binds.push_back(bind);
  const Snapshot redacted = Redact(snapshot);
  EXPECT_EQ(redacted.fault_addresses[0].address, 0x40u);
  EXPECT_EQ(redacted.fault_addresses[1].address, 0x10000u);
  EXPECT_EQ(redacted.binds.back().value, 0x10000u);
}

TEST(Redact, KeepsWhatIsNotTheApplications) {
  const Snapshot redacted = Redact(SampleSnapshot());
  EXPECT_EQ(redacted.Text(redacted.devices[0].name), "Test device");
  EXPECT_EQ(redacted.Text(redacted.sources[0].name), "VK_AMD_buffer_marker");
  EXPECT_EQ(redacted.events.size(), SampleSnapshot().events.size());
  EXPECT_EQ(redacted.recordings[1].reached, 8u);
  EXPECT_THAT(TextReport(redacted, AnalyseDump(redacted), {}),
              HasSubstr("[>] DISPATCH #1: \"name-"));
}

TEST(Redact, TheSameNameHasTheSameHash) {
  const Snapshot redacted = Redact(SampleSnapshot());
  const std::string_view first = redacted.Text(redacted.recordings[0].name);  // "Main"
  const std::string_view second = redacted.Text(redacted.recordings[1].name);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, redacted.Text(redacted.recordings[2].name));
  // Stable from release to release: reports are compared with older ones.
  EXPECT_EQ(first, "name-b0000ec1c8d5f383");
}

TEST(Redact, EmptyNamesStayEmpty) {
  const Snapshot redacted = Redact(SampleSnapshot());
  EXPECT_TRUE(redacted.queues[1].name.empty());
  EXPECT_EQ(DumpSnapshot(Redact(Snapshot())), DumpSnapshot(Snapshot()));
}

// A hostile file has one text for a million rows.
TEST(Redact, KeepsATextOnceHoweverManyRowsHaveIt) {
  Snapshot snapshot;
  Call call;
  call.function = snapshot.AddText(std::string(4096, 'f'));
  snapshot.calls.assign(1000, call);
  Thread thread;
  thread.call_count = 1000;
  snapshot.threads.push_back(thread);
  const Snapshot redacted = Redact(std::move(snapshot));
  EXPECT_EQ(redacted.text.size(), 4096u);
  EXPECT_EQ(redacted.Text(redacted.calls.back().function), std::string(4096, 'f'));
}

}  // namespace
}  // namespace cairn
