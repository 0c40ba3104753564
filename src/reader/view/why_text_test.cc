// SPDX-License-Identifier: Apache-2.0
#include "reader/view/why_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "reader/view/testing/why_answers.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(WhyText, NamesTheLoopAndHowOftenItFailed) {
  EXPECT_EQ(
      "./fog hangs, in 3 of 3 runs.\n"
      "\n"
      "Why\n"
      "  proven: A loop does not end, or runs far too long.\n"
      "  With loops cut after 65,536 trips the program failed in 0 of 4 runs, without in 4 of 4.\n"
      "    fog.frag:41   for (float i = 0.5; i < 3.0; i += step)   loop 2 of the shader, in "
      "march()\n"
      "      19,200 of 20,000 executions reached the cut, the first in pixel (12, 40); its "
      "condition i < 3.0 compared 0.5 and 3\n"
      "  Cut after 1,048,576 trips, the program does not fail either.\n"
      "Not the cause: barrier in front (1 of 1 fails), objects kept alive (loses the device in 1 "
      "of 1)\n"
      "16 runs, 61.2 s.\n",
      WhyAsText(LoopFound()));
}

TEST(WhyText, NamesTheIndicesThatAreOutside) {
  WhyTold told = IndexFound();
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr("      3 stores missed bins (set 0, binding 2), the first in invocation (7, "
                "0, 0): descriptor 9 of 4, element -1 of 64\n"));
  AccessNote& access = told.found.results[0].accesses.missed[0];
  access.pointer = "";
  SetIndexMiss({{3, UINT32_MAX, 0, 0}, {4, 64, 1, 1}}, &access.record);
  access.indices[1].is_signed = false;
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr("      3 stores missed set 0, binding 2, the first in invocation (7, 0, 0): "
                "element 4294967295 of 64\n"));
  access.record.first = 0;
  EXPECT_THAT(WhyAsText(told), HasSubstr("      3 stores missed set 0, binding 2\n"));
}

TEST(WhyText, NamesTheAccessAndHowFarItMissed) {
  WhyTold told = AccessFound();
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr("  proven: A shader accesses memory or a descriptor out of bounds.\n"
                "  With such accesses skipped the program failed in 0 of 4 runs, without in 4 of "
                "4.\n"
                "    fill.comp:43   data.word[at + offset] = at * 3;   access 5 of the shader, in "
                "main()\n"
                "      1 store of 4 bytes missed, the first in invocation (63, 0, 0) at "
                "0x7f0000001140 (data): 64 bytes behind the end of a buffer of 256 bytes at "
                "0x7f0000001000, the last one before it\n"));
  AccessRecord& record = told.found.results[0].accesses.missed[0].record;
  record.misses = 20'000;
  record.address = 0x7f00000010fe;
  EXPECT_THAT(WhyAsText(told), HasSubstr("      20,000 stores of 4 bytes missed, "));
  EXPECT_THAT(WhyAsText(told), HasSubstr("at 0x7f00000010fe (data): it begins in a buffer of 256 "
                                         "bytes at 0x7f0000001000 and ends behind it\n"));
  record.has_range = 0;
  EXPECT_THAT(WhyAsText(told), HasSubstr(": no buffer begins at its address or before\n"));
  told.found.results[0].accesses.refused_modules = 2;
  EXPECT_THAT(WhyAsText(told), HasSubstr("\nNot checked: 2 shader modules that could not be "
                                         "changed, 0 accesses without room for records\n"));
  told.found.results[0].verdict = WhyVerdict::kCodeHelps;
  told.found.causes.clear();
  EXPECT_THAT(WhyAsText(told), HasSubstr("is what helps, not the check"));
}

TEST(WhyText, NamesTheShaderOfDirect3DAndItsPipeline) {
  WhyTold told = TranslatedLoopFound();
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr("    pixel shader DXBC 00000000000000d1 of pipeline \"Fog\"   loop 2 of 3 of the "
                "shader, in main()\n"
                "      19,200 of 20,000 executions reached the cut, the first in pixel (12, 40); "
                "its condition i < 3.0 compared 0.5 and 3\n"
                "        %41 = OpLabel\n"
                "      > OpLoopMerge %42 %43 None\n"
                "        OpBranch %44\n"));
  // One of Vulkan, whose pipeline has no name.
  LoopNote& loop = told.found.results[0].loops.alone[0];
  loop.translated = 0;
  EXPECT_THAT(WhyAsText(told), HasSubstr("    fragment shader 00000000000000a1   loop 2 of 3"));
  loop.stage = LoopNote::kNoStage;
  EXPECT_THAT(WhyAsText(told), HasSubstr("    shader 00000000000000a1   loop 2 of 3"));
}

TEST(WhyText, TheReasonStandsBeforeThePlaceWhereItShows) {
  WhyTold told = AccessFound();
  told.found.results[2].verdict = WhyVerdict::kProven;
  told.found.causes = {2, 0};
  const std::string text = WhyAsText(told);
  const size_t why = text.find("Why\n  proven: Something is used after it was destroyed");
  const size_t where = text.find("Where it shows\n  proven: A shader accesses memory");
  EXPECT_NE(std::string::npos, why) << text;
  EXPECT_NE(std::string::npos, where) << text;
  EXPECT_LT(why, where);
  told.found.results[1].verdict = WhyVerdict::kProven;
  told.found.causes = {2, 1};
  EXPECT_THAT(WhyAsText(told), HasSubstr("Helps as well\n  proven: Work begins before"));
}

TEST(WhyText, NamesTheCallsWithTooMany) {
  WhyTold told = LoopFound();
  WhyResult& counts = told.found.results[1];
  counts = {.name = ExperimentName::kCounts, .verdict = WhyVerdict::kProven};
  counts.with = {4, 0, 0, 0};
  counts.without = {1, 1, 0, 0};
  counts.counts.limited = {.change = Change::kLimitCounts, .counts = 1 << 24};
  CountNote draw = {.command = "vkCmdDraw", .label = "Frame > Terrain", .count = 2};
  draw.record = {.used = {1 << 24, 1}, .given = {UINT32_MAX, 3}, .limited = 2};
  CountNote dispatch = {.command = "vkCmdDispatchIndirect", .count = 3, .is_indirect = true};
  dispatch.record = {.used = {65535, 256, 1}, .given = {65535, 65535, 1}, .limited = 1};
  counts.counts.calls = {draw, dispatch};
  counts.counts.not_limited = 12;
  told.found.causes = {1};
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr("  proven: A draw or dispatch has far too many vertices, instances or groups.\n"
                "  With at most 16,777,216 vertices or groups in a call the program failed in 0 of "
                "4 runs, without in 4 of 4.\n"
                "    vkCmdDraw(4294967295, 3)   in Frame > Terrain\n"
                "      limited 2 times, each to vkCmdDraw(16777216, 1)\n"
                "    vkCmdDispatchIndirect(65535, 65535, 1)   outside of labels\n"
                "      the GPU read these counts, which were limited 1 time, the last time to "
                "vkCmdDispatchIndirect(65535, 256, 1)\n"));
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("\nNot limited: the counts of 12 recorded commands: indirect "
                        "draws, and others that cannot be limited\n"));
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  const Json& told_counts = answer["experiments"][1];
  EXPECT_EQ("counts=16777216", told_counts["experiment"]);
  EXPECT_EQ("Frame > Terrain", told_counts["calls"][0]["label"]);
  EXPECT_EQ(4294967295u, told_counts["calls"][0]["counts"][0].get<uint64_t>());
  EXPECT_EQ(2u, told_counts["calls"][0]["counts"].size());
  EXPECT_EQ(true, told_counts["calls"][1]["indirect"]);
  EXPECT_EQ(256, told_counts["calls"][1]["limited_to"][1]);
  counts.verdict = WhyVerdict::kCodeHelps;
  told.found.causes.clear();
  EXPECT_THAT(WhyAsText(told), HasSubstr("Not proven: with counts limited the program does not "
                                         "fail, but reading the counts is what helps, not the "
                                         "limit\n"));
}

TEST(WhyText, NamesTheStage) {
  WhyTold told = LoopFound();
  WhyResult& stages = told.found.results[1];
  stages = {.name = ExperimentName::kStages, .verdict = WhyVerdict::kLikely};
  stages.with = {4, 0, 0, 0};
  stages.without = {1, 1, 0, 0};
  stages.stages.emptied = {
      .change = Change::kEmptyStage, .shaders = {0xa1}, .stage = EmptiedStage::kFragment};
  told.found.causes = {1};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Why\n"
                        "  likely: The failure depends on what the shaders of one stage do.\n"
                        "  With fragment shaders that do nothing the program failed in 0 of 4 "
                        "runs, without in 4 of 4.\n"));
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_EQ("fragment", answer["experiments"][1]["stage"]);
  EXPECT_EQ("stage=fragment,shader=00000000000000a1", answer["experiments"][1]["experiment"]);
}

// A search in which one binding of two shaders was the cause.
WhyTold BindingFound() {
  WhyTold told = LoopFound();
  WhyResult& result = told.found.results[1];
  result = {.name = ExperimentName::kBindings, .verdict = WhyVerdict::kLikely};
  result.with = {4, 0, 0, 0};
  result.without = {1, 1, 0, 0};
  result.changes = 2;
  BindingNote fog;
  fog.shader = 0xa1;
  fog.stage = kStagePixel;
  fog.place = {BindingPlace::From::kDescriptor, 0, 3};
  fog.kind = BindingKind::kStorageBuffer;
  fog.name = "fogVolume";
  BindingNote declared = fog;
  declared.shader = 0xa2;
  declared.file = "fog.comp";
  declared.line = 7;
  declared.text = "  buffer Fog { vec4 cells[]; } fogVolume;";
  BindingFindings& bindings = result.bindings;
  bindings.emptied = {
      .change = Change::kEmptyBinding, .shaders = {0xa1, 0xa2}, .binding = fog.place};
  bindings.control = {1, 1, 0, 0};
  bindings.variables = {fog, declared};
  bindings.not_asked = 3;
  told.pipelines[0xa1] = "Fog";
  told.found.causes = {1};
  return told;
}

// Variables of each kind, one with lines of its source, and robust accesses with which the program fails.
WhyTold BindingAndFeaturesFound() {
  WhyTold told = BindingFound();
  BindingFindings& bindings = told.found.results[1].bindings;
  BindingNote& declared = bindings.variables[1];
  declared.index = 1;
  declared.excerpt = {"layout(set = 0, binding = 3)\n" + declared.text + "\n", 6, 1};
  BindingNote position = bindings.variables[0];
  position.index = 2;
  position.name = "position";
  position.place = {BindingPlace::From::kVertexInput, 0, 2};
  position.kind = BindingKind::kVertexInput;
  BindingNote pushed = bindings.variables[0];
  pushed.index = 3;
  pushed.name.clear();
  pushed.place = {BindingPlace::From::kPushConstants};
  pushed.kind = BindingKind::kPushConstants;
  bindings.variables.insert(bindings.variables.end(), {position, pushed});
  WhyResult robust = {.name = ExperimentName::kRobust, .verdict = WhyVerdict::kFails};
  robust.with = {1, 1, 0, 0};
  robust.changes = 1;
  robust.robust = {.enabled = kRobustBufferAccess, .missing = kNullDescriptor};
  told.found.results.push_back(robust);
  return told;
}

TEST(WhyText, NamesTheBinding) {
  WhyTold told = BindingFound();
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr(
          "Why\n"
          "  likely: The failure depends on what the shaders read from fogVolume (set 0, binding "
          "3, storage buffer), or write to it.\n"
          "  With that binding empty the program failed in 0 of 4 runs, without in 4 of 4.\n"
          "    fragment shader 00000000000000a1 of pipeline \"Fog\"   fogVolume (set 0, "
          "binding 3, storage buffer)\n"
          "      loads gave zeros, and stores went nowhere\n"
          "    fog.comp:7   buffer Fog { vec4 cells[]; } fogVolume;   fogVolume (set 0, "
          "binding 3, storage buffer)\n"));
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("\nNot asked: 3 more bindings, and 0 bindings that cannot be emptied\n"));
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  const Json& bindings = answer["experiments"][1];
  EXPECT_EQ("binding=0.3,shader=00000000000000a1,shader=00000000000000a2", bindings["experiment"]);
  EXPECT_EQ("fogVolume", bindings["bindings"][0]["name"]);
  EXPECT_EQ("storage buffer", bindings["bindings"][0]["kind"]);
  EXPECT_EQ(3, bindings["bindings"][1]["binding"]);
  EXPECT_EQ(7, bindings["bindings"][1]["line"]);
  EXPECT_EQ(3, bindings["not_asked"]);
  EXPECT_EQ(
      "The failure depends on what the shaders read from fogVolume (set 0, binding 3, storage "
      "buffer), or write to it.",
      answer["answer"]["causes"][0]["sentence"]);
}

TEST(WhyText, NamesBindingsOfAllKinds) {
  WhyTold told = BindingFound();
  BindingFindings& bindings = told.found.results[1].bindings;
  BindingNote& binding = bindings.variables[0];
  BindingNote other = binding;
  other.name = "uv\x1b";
  other.place = {BindingPlace::From::kVertexInput, 0, 2};
  other.kind = BindingKind::kVertexInput;
  bindings.also = {other};
  binding.place = {BindingPlace::From::kPushConstants};
  binding.name.clear();
  EXPECT_THAT(WhyAsText(told),
              HasSubstr(": The failure depends on what the shaders below read from the "
                        "push constants, or write to it.\n"))
      << "the other shader has a descriptor of that name";
  bindings.variables.pop_back();
  EXPECT_THAT(WhyAsText(told),
              HasSubstr(": The failure depends on what the shaders read from the push "
                        "constants, or write to it.\n"));
  EXPECT_THAT(WhyAsText(told), HasSubstr("  It does not fail either with one of these empty: the "
                                         "vertex input uv\\x1b (location 2).\n"));
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_FALSE(answer["experiments"][1]["bindings"][0].contains("binding"));
  EXPECT_EQ(2, answer["experiments"][1]["also"][0]["location"]);
  binding.name = "pushed";
  EXPECT_THAT(WhyAsText(told),
              HasSubstr(" read from the push constants (pushed), or write to it.\n"));
  binding.place = {BindingPlace::From::kDescriptor, 1, 9};
  binding.kind = BindingKind::kUnknown;
  binding.name.clear();
  EXPECT_THAT(WhyAsText(told),
              HasSubstr(" read from set 1, binding 9 (descriptor), or write to it.\n"));
}

// Each of these shaders has something else there.
TEST(WhyText, NamesNoBindingForAllShadersIfTheyDiffer) {
  WhyTold told = BindingFound();
  std::vector<BindingNote>& variables = told.found.results[1].bindings.variables;
  variables[1].name = "histogram";
  const char* const place =
      ": The failure depends on what the shaders below read from set 0, binding 3, or write to "
      "it.\n";
  EXPECT_THAT(WhyAsText(told), HasSubstr(place));
  EXPECT_THAT(WhyAsText(told), HasSubstr("fogVolume (set 0, binding 3, storage buffer)\n"));
  EXPECT_THAT(WhyAsText(told), HasSubstr("histogram (set 0, binding 3, storage buffer)\n"));
  variables[1].name = variables[0].name;
  variables[1].kind = BindingKind::kUniformBuffer;
  EXPECT_THAT(WhyAsText(told), HasSubstr(place));
}

TEST(WhyText, SaysWhichBindingsAndStagesWereNotEmptied) {
  WhyTold told = BindingFound();
  BindingFindings& bindings = told.found.results[1].bindings;
  EXPECT_THAT(WhyAsText(told), Not(HasSubstr("Not emptied: ")));
  EXPECT_THAT(WhyAsText(told), Not(HasSubstr("Not known: ")));
  bindings.refused_modules = 1;
  bindings.dropped = 70;
  bindings.endless = 2;
  EXPECT_THAT(WhyAsText(told), HasSubstr("\nNot emptied: 1 shader module that could not be "
                                         "changed, 70 bindings without room for records\n"));
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("\nNot known: 2 bindings: with one of them empty the program does not "
                        "end, and its GPU work does not hang\n"));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  const Json answer = Json::Parse(WhyAsJson(told));
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_EQ(1, answer["experiments"][1]["refused_modules"]);
  EXPECT_EQ(70, answer["experiments"][1]["dropped_bindings"]);
  EXPECT_EQ(2, answer["experiments"][1]["endless_bindings"]);
  WhyResult& stages = told.found.results[1];
  stages = {.name = ExperimentName::kStages, .verdict = WhyVerdict::kFails};
  stages.stages.refused_modules = 3;
  told.found.causes.clear();
  EXPECT_THAT(WhyAsText(told), HasSubstr("\nNot emptied: 3 shader modules that could not be "
                                         "changed\n"));
  EXPECT_EQ(3, Json::Parse(WhyAsJson(told))["experiments"][1]["refused_modules"]);
}

TEST(WhyText, AStageStandsBehindItsBinding) {
  WhyTold told = BindingFound();
  WhyResult& stages = told.found.results[0];
  stages = {.name = ExperimentName::kStages, .verdict = WhyVerdict::kLikely};
  stages.stages.emptied = {.change = Change::kEmptyStage, .stage = EmptiedStage::kFragment};
  told.found.causes = {1, 0};
  const std::string text = WhyAsText(told);
  EXPECT_THAT(text, HasSubstr("Why\n  likely: The failure depends on what the shaders read from "));
  EXPECT_THAT(text, HasSubstr("Helps as well\n  likely: The failure depends on what the shaders of "
                              "one stage do.\n"));
  stages.verdict = WhyVerdict::kCodeHelps;
  told.found.causes = {1};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Not proven: with shader stages emptied the program does not fail, but the "
                        "device that was made for it is what helps, not an empty stage\n"));
}

TEST(WhyText, ABindingStandsBehindWhatSaysMore) {
  WhyTold told = BindingFound();
  told.found.results[0].name = ExperimentName::kTime;
  told.found.results[0].verdict = WhyVerdict::kProven;
  told.found.causes = {0, 1};
  EXPECT_THAT(
      WhyAsText(told),
      HasSubstr("Where it shows\n  likely: The failure depends on what the shaders read from "));
  told.found.results[1].verdict = WhyVerdict::kCodeHelps;
  told.found.causes = {0};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Not proven: with bindings emptied the program does not fail, but the "
                        "device that was made for it is what helps, not an empty binding\n"));
  told.found.results[1].verdict = WhyVerdict::kFails;
  told.found.results[1].with = {5, 5, 0, 0};
  EXPECT_THAT(WhyAsText(told), HasSubstr("Not the cause: bindings emptied (5 of 5 fail), "));
  told.found.results[1].with = {8, 1, 7, 0};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Not the cause: bindings emptied (1 of 8 fails, 7 fail otherwise), "));
  told.found.results[1].verdict = WhyVerdict::kFailsOtherwise;
  told.found.results[1].with = {8, 0, 8, 0};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Not the cause: bindings emptied (fails in other ways in 8 of 8), "));
  told.found.results[1].other_kind = FailureKind::kLost;
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Not the cause: bindings emptied (loses the device in 8 of 8), "));
}

TEST(WhyText, SaysThatWorkEndsWithMoreTimeAndHowLongItTook) {
  WhyTold told = LoopFound();
  WhyResult& time = told.found.results[1];
  time = {.name = ExperimentName::kTime, .verdict = WhyVerdict::kProven};
  time.with = {4, 0, 0, 0};
  time.without = {1, 1, 0, 0};
  time.longest_ms = 23'449;
  told.found.causes = {0, 1};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("With more time\n"
                        "  proven: The work is slow, not endless: given more time, it ends.\n"
                        "  With 10 times the --hang-timeout the program failed in 0 of 4 runs, "
                        "without in 4 of 4.\n"
                        "  The longest of these runs took 23.4 s.\n"));
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_EQ("time=10", answer["experiments"][1]["experiment"]);
  EXPECT_EQ(23.449, answer["experiments"][1]["longest_seconds"]);
  told.found.causes = {1};
  EXPECT_THAT(WhyAsText(told), HasSubstr("Why\n  proven: The work is slow"));
}

TEST(WhyText, ValuesWithoutNamesStandForThemselves) {
  WhyTold told = LoopFound();
  LoopNote& loop = told.found.results[0].loops.cut[0];
  loop.right.clear();
  told.found.results[0].loops.alone = {loop};
  EXPECT_THAT(WhyAsText(told), HasSubstr("; its condition i < 3 compared 0.5 and 3\n"));
  loop.left.clear();
  told.found.results[0].loops.alone = {loop};
  EXPECT_THAT(WhyAsText(told), HasSubstr("; its condition compared 0.5 < 3\n"));
}

TEST(WhyText, SaysThatCodeHelpedAndNotTheLimit) {
  WhyTold told = LoopFound();
  told.found.results[0].verdict = WhyVerdict::kCodeHelps;
  told.found.causes.clear();
  const std::string text = WhyAsText(told);
  EXPECT_THAT(text, HasSubstr("No cause was found"));
  EXPECT_THAT(text, HasSubstr("the changed code of the shaders is what helps, not the limit"));
  EXPECT_THAT(text, HasSubstr("Next      cairn bisect -- ./fog"));
  EXPECT_THAT(text, Not(HasSubstr("  proven: ")));
}

TEST(WhyText, SaysWhichLoopsHadNoLimit) {
  WhyTold told = LoopFound();
  EXPECT_THAT(WhyAsText(told), Not(HasSubstr("Not limited")));
  told.found.results[0].loops.refused_modules = 1;
  told.found.results[0].loops.dropped = 20;
  EXPECT_THAT(WhyAsText(told), HasSubstr("\nNot limited: 1 shader module that could not be "
                                         "changed, 20 loops without room for records\n"));
}

TEST(WhyText, SaysWhichAccessesWereNotChecked) {
  WhyTold told = AccessFound();
  EXPECT_THAT(WhyAsText(told), Not(HasSubstr("Not checked")));
  AccessFindings& accesses = told.found.results[0].accesses;
  accesses.unchecked = {{"the shader does not say how many descriptors there are", 12, false},
                        {"the shader does not say how many descriptors there are", 1, true}};
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("\nNot checked: 12 accesses: the shader does not say how many descriptors "
                        "there are\nNot checked: an index of 1 access: the shader does not say how "
                        "many descriptors there are\n"));
  const Json answer = Json::Parse(WhyAsJson(told));
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_EQ(Json::Parse(R"([{"accesses": 12, "partly": false,
                             "why": "the shader does not say how many descriptors there are"},
                            {"accesses": 1, "partly": true,
                             "why": "the shader does not say how many descriptors there are"}])"),
            answer["experiments"][0]["unchecked_accesses"]);
  told.found.results[0].verdict = WhyVerdict::kDoesNotApply;
  told.found.causes.clear();
  EXPECT_THAT(WhyAsText(told), Not(HasSubstr("Not checked")));
}

TEST(WhyText, SaysThatAnExperimentDoesNotApply) {
  WhyTold told = LoopFound();
  told.found.results[0].verdict = WhyVerdict::kDoesNotApply;
  told.found.results[0].why = "no loop\x1b";
  told.found.causes.clear();
  told.found.out_of_runs = true;
  EXPECT_THAT(WhyAsText(told), HasSubstr("Does not apply: loops cut (no loop\\x1b)\n"));
  EXPECT_THAT(WhyAsText(told), HasSubstr("Ended by --max-runs"));
}

TEST(WhyText, SaysThatNothingCouldBeChanged) {
  WhyTold told = LoopFound();
  told.found.causes.clear();
  for (WhyResult& result : told.found.results) {
    result = {.name = result.name};
    result.verdict = WhyVerdict::kDoesNotApply;
    result.why = "the layers changed nothing";
  }
  told.found.results[0].why = "the layers limited no loop";
  EXPECT_EQ(
      "./fog hangs, in 3 of 3 runs.\n"
      "\n"
      "No experiment could be made: the layers changed nothing.\n"
      "Does not apply: loops cut (the layers limited no loop)\n"
      "Does not apply: barrier in front, objects kept alive (the layers changed nothing)\n"
      "Next      cairn bisect -- ./fog   finds the work that it takes\n"
      "16 runs, 61.2 s.\n",
      WhyAsText(told));
  told.found.layers_seen = false;
  told.hang_timeout_seconds = 2;
  EXPECT_EQ(
      "./fog hangs, in 3 of 3 runs.\n"
      "\n"
      "No experiment could be made: no layer saw the program record work of Vulkan or Direct3D "
      "12.\n"
      "Next      cairn run --hang-timeout 2 -- ./fog   says why the layers saw nothing\n"
      "16 runs, 61.2 s.\n",
      WhyAsText(told));
}

TEST(WhyText, AProgramThatDoesNotFail) {
  WhyTold told = LoopFound();
  told.found.unchanged = {3, 0, 0, 0};
  told.found.results.clear();
  told.found.causes.clear();
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("./fog: no cause: the program does not fail: 3 of 3 runs were clean.\n"));
}

TEST(WhyText, OfATraceReplaysFail) {
  WhyTold told = LoopFound();
  told.program = "fog 1.cairn";
  told.is_trace = true;
  EXPECT_THAT(WhyAsText(told), ::testing::StartsWith("fog 1.cairn hangs, in 3 of 3 replays.\n"));
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("the trace failed in 0 of 4 replays, without in 4 of 4.\n"));
  EXPECT_THAT(WhyAsText(told), HasSubstr("\n16 replays, 61.2 s.\n"));
  EXPECT_EQ("trace", Json::Parse(WhyAsJson(told))["subject"]);
  told.found.causes.clear();
  EXPECT_THAT(WhyAsText(told), HasSubstr("Next      cairn bisect 'fog 1.cairn'   finds"));
  told.found.layers_seen = false;
  EXPECT_THAT(WhyAsText(told), HasSubstr("no layer saw the trace record work"));
  EXPECT_THAT(WhyAsText(told),
              HasSubstr("Next      cairn run -- cairn replay --in-process 'fog 1.cairn'   says"));
  told.found.unchanged = {1, 0, 0, 0};
  EXPECT_THAT(WhyAsText(told), HasSubstr("fog 1.cairn: no cause: the trace does not fail on this "
                                         "device: 1 of 1 replay was clean.\n"));
}

TEST(WhyText, BehindABisectNothingIsSaidTwice) {
  WhyTold told = LoopFound();
  const std::string text = WhyAsText(told);
  EXPECT_EQ(text.substr(text.find("\n\nWhy\n") + 1), WhyBehindBisect(told));
  told.found.causes.clear();
  EXPECT_THAT(WhyBehindBisect(told), ::testing::StartsWith("\nWhy\n  No cause was found: "));
  EXPECT_THAT(WhyBehindBisect(told), Not(HasSubstr("cairn bisect")));
  told.found.unchanged = {3, 0, 0, 0};
  told.found.results.clear();
  EXPECT_EQ(
      "\nWhy\n  Not known: the program does not fail: 3 of 3 runs were clean.\n16 runs, 61.2 s.\n",
      WhyBehindBisect(told));
}

TEST(WhyText, TheJsonFollowsItsSchema) {
  const Json answer = Json::Parse(WhyAsJson(LoopFound()));
  ASSERT_TRUE(answer.is_object());
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/why.schema.json");
  EXPECT_EQ("", SchemaViolation(schema, answer)) << answer.dump(2);
  EXPECT_EQ(true, answer["found"]);
  EXPECT_EQ("loops", answer["causes"][0]);
  EXPECT_EQ("proven", answer["experiments"][0]["verdict"]);
  EXPECT_EQ("loops=65536,shader=00000000000000a1", answer["experiments"][0]["experiment"]);
  EXPECT_EQ("0.5", answer["experiments"][0]["loops"][0]["left_value"]);
  EXPECT_EQ(true, answer["experiments"][0]["loops"][0]["alone"]);
  EXPECT_EQ("device lost", answer["experiments"][2]["other_failure"]);

  // In words, as the text has it.
  const Json& words = answer["answer"];
  EXPECT_EQ("./fog hangs, in 3 of 3 runs.", words["headline"]);
  EXPECT_EQ("", words["none"]);
  ASSERT_EQ(1u, words["causes"].size());
  EXPECT_EQ("Why", words["causes"][0]["heading"]);
  EXPECT_EQ("A loop does not end, or runs far too long.", words["causes"][0]["sentence"]);
  EXPECT_EQ("fog.frag:41", words["causes"][0]["places"][0]["place"]);
  EXPECT_EQ("00000000000000a1", words["causes"][0]["places"][0]["shader"]);
  EXPECT_EQ("barrier in front (1 of 1 fails)", words["not_the_cause"][0]);
  EXPECT_EQ("16 runs, 61.2 s.", words["runs"]);
  EXPECT_EQ("cairn why -- ./fog", words["command"]);
  EXPECT_EQ(WhyAsMarkdown(LoopFound()), words["markdown"].get<std::string>());

  const Json translated = Json::Parse(WhyAsJson(TranslatedLoopFound()));
  EXPECT_EQ("", SchemaViolation(schema, translated)) << translated.dump(2);
  const Json& loop = translated["experiments"][0]["loops"][0];
  EXPECT_EQ("00000000000000d1", loop["dxbc"]);
  EXPECT_EQ("pixel", loop["stage"]);
  EXPECT_EQ("Fog", loop["pipeline"]);
  EXPECT_EQ(3, loop["count"]);
  EXPECT_EQ("SPIR-V", loop["excerpt"]["of"]);
  EXPECT_EQ(1, loop["excerpt"]["marked"]);
  ASSERT_EQ(3u, loop["excerpt"]["lines"].size());
  EXPECT_EQ("OpLoopMerge %42 %43 None", loop["excerpt"]["lines"][1]);

  const Json bounds = Json::Parse(WhyAsJson(AccessFound()));
  EXPECT_EQ("", SchemaViolation(schema, bounds)) << bounds.dump(2);
  EXPECT_EQ("bounds=skip,shader=00000000000000a1", bounds["experiments"][0]["experiment"]);
  const Json& access = bounds["experiments"][0]["accesses"][0];
  EXPECT_EQ("store", access["kind"]);
  EXPECT_EQ("0x7f0000001140", access["address"]);
  EXPECT_EQ("0x7f0000001000", access["buffer"]);
  EXPECT_EQ(256, access["buffer_bytes"]);
  EXPECT_FALSE(access.contains("indices"));

  const Json indices = Json::Parse(WhyAsJson(IndexFound()));
  EXPECT_EQ("", SchemaViolation(schema, indices)) << indices.dump(2);
  const Json& stored = indices["experiments"][0]["accesses"][0];
  EXPECT_EQ("", stored["address"]);
  EXPECT_EQ("bins", stored["pointer"]);
  EXPECT_EQ(2, stored["binding"]);
  EXPECT_EQ(Json::Parse(R"([{"kind": "descriptor", "index": 9, "bound": 4},
                            {"kind": "element", "index": -1, "bound": 64}])"),
            stored["indices"]);
}

// The page's tests show these files (viewer/tests/why.test.mjs). One that differs is left beside the test's other files, to
// be looked at and copied.
TEST(WhyText, TheAnswersThatThePageIsTestedWithAreTheseAnswers) {
  const auto compare = [](const std::string& name, const WhyTold& told) {
    std::ifstream file(CAIRN_SOURCE_DIR "/tests/golden/" + name, std::ios::binary);
    const std::string answer = WhyAsJson(told);
    if (std::string(std::istreambuf_iterator<char>(file), {}) == answer) return;
    const std::string made = ::testing::TempDir() + name;
    std::ofstream(made, std::ios::binary) << answer;
    ADD_FAILURE() << "tests/golden/" << name << " is not what is printed now: " << made;
  };
  compare("why-source.json", LoopFound());
  compare("why-dxbc.json", TranslatedLoopFound());
  compare("why-access.json", AccessFound());
  compare("why-binding.json", BindingAndFeaturesFound());
}

}  // namespace
}  // namespace cairn::cli
