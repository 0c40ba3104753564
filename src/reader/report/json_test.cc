// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cairn/marker_types.h"

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "base/text.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/text.h"
#include "reader/report/work_states.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Snapshot Take(const TestBlock& block) {
  return std::move(SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000).value());
}

Json Parse(const Snapshot& snapshot) {
  return Json::Parse(JsonReport(snapshot, AnalyseDump(snapshot)));
}

Json Schema() {
  return Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/report.schema.json");
}

Snapshot WithKernelLog(Snapshot snapshot) {
  snapshot.kernel_lines = {{.time_ns = 1, .text = snapshot.AddText("GPU reset begin!")}};
  snapshot.kernel_logs = {{.line_count = 1}};
  return snapshot;
}

TEST(JsonReport, FollowsItsSchema) {
  const Json schema = Schema();
  TestBlock block;
  FillSampleBlock(&block);
  EXPECT_EQ(SchemaViolation(schema, Parse(Take(block))), "");
  EXPECT_EQ(SchemaViolation(schema, Parse(Snapshot())), "");
  TestBlock d3d12;
  FillD3D12Block(&d3d12);
  TestBlock vulkan;
  FillVulkanBlock(&vulkan);
  EXPECT_EQ(SchemaViolation(schema, Parse(Take(vulkan))), "");
  EXPECT_EQ(SchemaViolation(schema, Parse(Take(d3d12))), "");
  TestBlock memory;
  FillMemoryBlock(&memory);
  EXPECT_EQ(SchemaViolation(schema, Parse(Take(memory))), "");
  TestBlock durations;
  FillDurationsBlock(&durations);
  const Json with_durations = Parse(Take(durations));
  EXPECT_EQ(SchemaViolation(schema, with_durations), "");
  EXPECT_EQ(with_durations["verdict"]["duration"]["median_ns"], 200'000);
  EXPECT_EQ(with_durations["objects"][0]["description"], "buffer 64 KiB vertex/index");
  EXPECT_EQ(with_durations["memory"][0]["heaps"][0]["budget"], uint64_t{15} << 29);
  d3d12.context(0).mode = MarkerMode::kOff;
  EXPECT_EQ(SchemaViolation(schema, Parse(Take(d3d12))), "");
  const Json asked = Parse(WithKernelLog(Take(block)));
  EXPECT_EQ(SchemaViolation(schema, asked), "");
  EXPECT_EQ(asked["kernel_log"]["lines"][0]["text"], "GPU reset begin!");
  EXPECT_FALSE(asked["kernel_log"]["lines"][0]["names_process"].get<bool>());
  EXPECT_TRUE(asked["kernel_log"]["lines"][0]["address"].is_null());
  Snapshot faulted = WithKernelLog(Take(vulkan));
  faulted.kernel_lines[0].text = faulted.AddText("MMU Fault: faulted @ 0x10_00020000.");
  const Json named = Parse(faulted);
  EXPECT_EQ(SchemaViolation(schema, named), "");
  EXPECT_EQ(named["kernel_log"]["lines"][0]["address"]["state"], "freed");
  EXPECT_THAT(
      TextReport(faulted, AnalyseDump(faulted), {}),
      HasSubstr("the page of its address: memory that was freed, in buffer \"Old lights\""));
  EXPECT_TRUE(Parse(Take(block))["kernel_log"].is_null());
  // The check itself can fail.
  const Json wrong = Parse(Take(block)).Without("/executions/0/state");
  EXPECT_EQ(SchemaViolation(schema, wrong), "/executions/0: lacks state");
}

TEST(JsonReport, CarriesTreeStatesAndCandidates) {
  TestBlock block;
  FillSampleBlock(&block);
  const Json report = Parse(Take(block));
  EXPECT_EQ(report["process"]["program"], "/games/demo");
  EXPECT_EQ(report["incidents"][0]["kind"], "device lost");
  EXPECT_EQ(report["incidents"][0]["name"], "VK_ERROR_DEVICE_LOST");
  EXPECT_EQ(report["devices"][0]["sources"][2]["state"], "silent");
  // Only one source of three, that of faults, would have said why the device was lost.
  for (const Json& source : report["devices"][0]["sources"]) {
    EXPECT_EQ(source["limits_answer"], source["name"] == "VK_EXT_device_fault");
  }
  EXPECT_EQ(report["pipelines"][0]["shaders"]["VS"], "EndlessLoopVS");
  EXPECT_EQ(report["raw_markers"][1]["value"], "0xffffffffffffffff");
  const Json answer = report["verdict"];
  EXPECT_EQ(answer["kind"], "device lost");
  EXPECT_EQ(answer["how_sure"], "likely") << "its device notices faults late";
  EXPECT_EQ(answer["certainty"], "ranked") << "the word of before";
  EXPECT_EQ(answer["incident"], 0);
  EXPECT_EQ(
      answer["sentence"].get<std::string>().find(
          "Device lost (VK_ERROR_DEVICE_LOST) in DISPATCH #1: \"Blur\" (likely); where: Frame · "),
      0u);
  ASSERT_EQ(answer["suspects"].size(), 1u);
  EXPECT_EQ(answer["suspects"][0]["reason"], "only work running");
  EXPECT_EQ(answer["suspects"][0]["scope"], report["verdicts"][0]["candidates"][0]["scope"]);
  EXPECT_TRUE(answer["suspects"][0]["binding"].is_null());
  const Json verdict = report["verdicts"][0];
  EXPECT_TRUE(verdict["exact"].get<bool>());
  EXPECT_TRUE(verdict["late_suspect"].is_null());
  ASSERT_EQ(verdict["candidates"].size(), 1u);
  const Json candidate = verdict["candidates"][0];
  EXPECT_EQ(candidate["type"], "DISPATCH");
  EXPECT_EQ(candidate["name"], "Blur");
  EXPECT_EQ(report["pipelines"][candidate["pipeline"].get<size_t>()]["shaders"]["CS"], "BlurCS");
  const Json scope = report["scopes"][candidate["scope"].get<size_t>()];
  EXPECT_EQ(scope["state"].get<std::string>(), kInFlightWord);
  EXPECT_EQ(scope["begin"], 8);
  EXPECT_EQ(scope["end"], 9);
  EXPECT_EQ(report["scopes"][scope["parent"].get<size_t>()]["name"], "Frame");
  const Json execution = report["executions"][candidate["execution"].get<size_t>()];
  EXPECT_EQ(execution["name"], "Main");
  EXPECT_EQ(execution["state"].get<std::string>(), kInFlightWord);
  EXPECT_EQ(execution["scope_count"], 6);
}

TEST(JsonReport, CarriesWhatHadFinishedBeforeAFault) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "Graphics");
  const TestBlock::List list = block.AddList(context, queue, 0, "Main");
  const uint32_t pass = block.Begin(list, CAIRN_MARKER_PASS, "Opaque");
  block.BindObject(list, BindPoint::kVertexBuffer, 0, 1);
  block.Scope(list, CAIRN_MARKER_DRAW);
  block.Scope(list, CAIRN_MARKER_DISPATCH);
  block.End(list, pass);
  block.Close(list);
  block.Submit(queue, list);
  block.SetProgress(list, 7, 7);
  Snapshot snapshot = Take(block);
  snapshot.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -4}};
  Json report = Parse(snapshot);
  EXPECT_EQ(SchemaViolation(Schema(), report), "");
  Json answer = report["verdict"];
  EXPECT_EQ(answer["how_sure"], "all completed");
  EXPECT_EQ(answer["suspects"].size(), 0u);
  ASSERT_EQ(answer["last_completed"].size(), 1u);
  EXPECT_EQ(answer["last_completed"][0]["queue"], queue);
  EXPECT_EQ(answer["last_completed"][0]["execution"], 0);
  EXPECT_EQ(answer["last_completed"][0]["scope"], 2);
  EXPECT_EQ(answer["last_finished"], answer["last_completed"]) << "the key of earlier versions";

  snapshot.kernel_lines = {{.names_process = true,
                            .tells_fault = true,
                            .text = snapshot.AddText("MMU Fault: faulted @ 0x0_00001000.")}};
  snapshot.kernel_logs = {{.line_count = 1}};
  snapshot.objects = {{.state = ObjectState::kDestroyed,
                       .destroyed_ns = 1,
                       .gpu_address = 0x1000,
                       .size_bytes = 0x100}};
  for (Bind& bind : snapshot.binds) bind.value = 0;
  report = Parse(snapshot);
  EXPECT_EQ(SchemaViolation(Schema(), report), "");
  answer = report["verdict"];
  EXPECT_EQ(answer["how_sure"], "likely");
  EXPECT_EQ(answer["last_completed"].size(), 0u);
  ASSERT_EQ(answer["suspects"].size(), 1u);
  EXPECT_EQ(answer["suspects"][0]["scope"], 1);
  EXPECT_EQ(answer["suspects"][0]["reason"], "leads to the fault");
  EXPECT_EQ(answer["suspects"][0]["binding"]["point"], "vertex buffer");
  EXPECT_EQ(answer["suspects"][0]["binding"]["state"], "destroyed");
  EXPECT_THAT(TextReport(snapshot, AnalyseDump(snapshot), {}),
              HasSubstr("GPU fault (from the kernel log) in DRAW #1 "));
}

TEST(JsonReport, CarriesTheFirstScreenOfTheText) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const TestBlock::List list =
      block.AddList(context, block.AddQueue(context, 0, "Graphics"), 0, "Main");
  block.Scope(list, CAIRN_MARKER_DISPATCH, "Blur\x1b");
  block.Close(list);
  block.Submit(0, list);
  block.SetProgress(list, 1, 0);
  Snapshot snapshot = Take(block);
  snapshot.process.command_line = snapshot.AddText("./game");
  snapshot.incidents = {{.kind = IncidentKind::kDeviceLost, .value = -4}};
  const Findings findings = AnalyseDump(snapshot);
  const Json report = Json::Parse(JsonReport(snapshot, findings, {.file = "game.cairn"}));
  EXPECT_EQ(SchemaViolation(Schema(), report), "");
  const Json& answer = report["verdict"]["answer"];
  EXPECT_EQ(answer["headline"], R"(Device lost (VK_ERROR_DEVICE_LOST) in DISPATCH #1: "Blur\x1b")");
  EXPECT_EQ(answer["how_sure"], "proven");
  const std::string text = TextReport(snapshot, findings, {.file = "game.cairn"});
  EXPECT_THAT(text, StartsWith(answer["headline"].get<std::string>() + ' '));
  ASSERT_GE(answer["rows"].size(), 2u);
  for (size_t i = 0; i < answer["rows"].size(); ++i) {
    const Json& row = answer["rows"][i];
    EXPECT_THAT(text, HasSubstr("\n  " + row["label"].get<std::string>() + ' '));
    EXPECT_THAT(text, HasSubstr(' ' + row["text"].get<std::string>() + '\n'));
  }
  ASSERT_EQ(report["verdict"]["next"].size(), 1u);
  EXPECT_EQ(report["verdict"]["next"][0]["command"], "cairn bisect -- ./game");
  EXPECT_THAT(text, HasSubstr("\n  next      cairn bisect -- ./game\n            " +
                              report["verdict"]["next"][0]["effect"].get<std::string>() + '\n'));
  EXPECT_EQ(Parse(snapshot)["verdict"]["next"].size(), 0u) << "without the file's name";
}

TEST(JsonReport, CarriesWhatTheLayerOfDirect3DNotes) {
  TestBlock block;
  FillD3D12Block(&block);
  const Json report = Parse(Take(block));
  EXPECT_EQ(report["devices"][0]["application"], "Demo on SampleEngine 3");
  EXPECT_EQ(report["devices"][0]["annotation_driver"], "breadcrumb");
  EXPECT_TRUE(report["devices"][0]["annotations_forced"].get<bool>());
  const Json candidate = report["verdicts"][0]["candidates"][0];
  const Json around = report["scopes"][candidate["annotation_scope"].get<size_t>()];
  const Json annotation = report["annotations"][around["annotation"].get<size_t>()];
  EXPECT_EQ(annotation["name"], "Particles of level 3");
  EXPECT_EQ(annotation["event_id"], "0x1000001000001");
  ASSERT_EQ(candidate["bindings"].size(), 3u);
  EXPECT_EQ(report["verdict"]["suspects"][0]["binding"], candidate["bindings"][1]);
  const Json buffer = candidate["bindings"][1];
  EXPECT_EQ(buffer["point"], "vertex buffer");
  EXPECT_EQ(buffer["address"], "0x70000040");
  EXPECT_EQ(buffer["offset"], 0x40);
  EXPECT_EQ(buffer["state"], "destroyed");
  EXPECT_EQ(buffer["destroyed_after_ns"], -3'000'000);
  EXPECT_EQ(report["objects"][buffer["object"].get<size_t>()]["name"], "Particles");
  EXPECT_EQ(report["objects"][4]["waited"], "0x3");
  EXPECT_EQ(report["objects"][2]["destroyed"], "0.020 s");
  EXPECT_EQ(report["reported_event_ids"][0]["state"], "expired");
  EXPECT_EQ(report["reported_event_ids"][1]["state"], "unknown");
  EXPECT_EQ(report["reported_event_ids"][2]["state"], "resolved");
  EXPECT_EQ(report["reported_event_ids"][2]["scope"], candidate["annotation_scope"]);
  EXPECT_EQ(report["threads"][1]["calls"][2]["function"], "ID3D12Fence::SetEventOnCompletion");
  EXPECT_FALSE(report["threads"][1]["calls"][2]["returned"].get<bool>());
  EXPECT_EQ(report["submissions"][0]["execution"], candidate["execution"]);
  EXPECT_EQ(report["queue_markers"][3]["submissions_before"], 1);
}

TEST(JsonReport, CarriesWhatTheVulkanLayerNotes) {
  TestBlock block;
  FillVulkanBlock(&block);
  const Json report = Parse(Take(block));
  EXPECT_EQ(report["pipelines"][1]["shader_hashes"]["CS"], "00000000000000c1");
  EXPECT_EQ(report["shaders"][0]["hash"], "00000000000000c1");
  EXPECT_EQ(report["shaders"][0]["code"], "SPIR-V");
  EXPECT_FALSE(report["shaders"][2]["kept"].get<bool>());
  const Json wait = report["waits"]["waits"][1];
  EXPECT_EQ(wait["state"], "will be signalled");
  EXPECT_EQ(report["syncs"][wait["sync"].get<size_t>()]["queue"], 1);
  EXPECT_EQ(report["syncs"][wait["signal"].get<size_t>()]["queue"], 0);
  EXPECT_TRUE(report["waits"]["queues"][1]["held"].get<bool>());
  EXPECT_TRUE(report["waits"]["queues"][2]["queue"].is_null());
  const Json address = report["faults"][0]["addresses"][0];
  EXPECT_EQ(address["state"], "freed");
  EXPECT_EQ(report["objects"][address["owners"][0]["object"].get<size_t>()]["name"], "Old lights");
  EXPECT_EQ(address["owners"][0]["destroyed_after_fault_ns"], -30'000'000);
  EXPECT_EQ(address["above"]["distance"], "0xdf000");
  EXPECT_EQ(report["faults"][0]["vendor_infos"][0]["data"], "0xfeed");
  EXPECT_EQ(report["checkpoints"][0]["relation"], "agrees");
  EXPECT_EQ(report["checkpoints"][0]["event"], 7);
  EXPECT_EQ(report["objects"][3]["kind"], "buffer");
  EXPECT_EQ(report["objects"][0]["signalled"], "0x0");
}

TEST(JsonReport, TheSameSnapshotGivesTheSameBytes) {
  TestBlock block;
  FillSampleBlock(&block);
  const Snapshot snapshot = Take(block);
  EXPECT_EQ(JsonReport(snapshot, AnalyseDump(snapshot)),
            JsonReport(snapshot, AnalyseDump(snapshot)));
}

TEST(JsonReport, AnyNameIsValidJson) {
  TestBlock block;
  const TestBlock::List list =
      block.AddList(block.AddContext(), kNoQueue, 0, "\"quoted\\\" \x01\x1f\x7f\n");
  block.Begin(list, CAIRN_MARKER_PASS, "bad \xff\xc3( end \xe2\x82");
  block.Begin(list, CAIRN_MARKER_PASS, "good \xe2\x82\xac \xf0\x9f\xaa\xa8");
  const std::string text = JsonReport(Take(block), AnalyseDump(Take(block)));
  const Json report = Json::Parse(text);
  EXPECT_EQ(report["executions"][0]["name"], "\"quoted\\\" \x01\x1f\x7f\n");
  EXPECT_EQ(report["scopes"][0]["name"],
            "bad \xEF\xBF\xBD\xEF\xBF\xBD( end \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(report["scopes"][1]["name"], "good \xe2\x82\xac \xf0\x9f\xaa\xa8");
  EXPECT_EQ(text.find('\x7f'), std::string::npos);
}

TEST(JsonReport, NoNameActsOnATerminal) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "\u009b2J\u202e");
  block.Begin(list, CAIRN_MARKER_PASS, "\u2066shown");
  const std::string text = JsonReport(Take(block), AnalyseDump(Take(block)));
  EXPECT_EQ(Json::Parse(text)["executions"][0]["name"], "\u009b2J\u202e");
  EXPECT_NE(text.find("\\u009b2J\\u202e"), std::string::npos);
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    EXPECT_TRUE(IsVisibleText(std::string_view(text).substr(start, end - start)));
    start = end + 1;
  }
}

TEST(JsonReport, InPiecesIsTheSame) {
  TestBlock block;
  const TestBlock::List list = block.AddList(block.AddContext(), kNoQueue, 0, "Main");
  for (int i = 0; i < 2000; ++i) block.Begin(list, CAIRN_MARKER_PASS, "a scope with a name");
  const Snapshot snapshot = Take(block);
  std::vector<std::string> pieces;
  EXPECT_TRUE(WriteJsonReport(snapshot, AnalyseDump(snapshot), [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return true;
  }));
  EXPECT_GT(pieces.size(), 2u);
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  EXPECT_EQ(all, JsonReport(snapshot, AnalyseDump(snapshot)));
  EXPECT_FALSE(
      WriteJsonReport(snapshot, AnalyseDump(snapshot), [](std::string_view) { return false; }));
}

}  // namespace
}  // namespace cairn
