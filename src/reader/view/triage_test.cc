// SPDX-License-Identifier: Apache-2.0
#include "reader/view/triage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

Json Schema(const std::string& name) {
  return Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/" + name);
}

DumpSummary Dump(const std::string& file, const std::string& id, uint64_t seconds) {
  DumpSummary dump;
  dump.file = file;
  dump.seen_ns = seconds * 1'000'000'000;
  dump.sentence = "The GPU hung.";
  dump.signature = {.kind = "GPU hang",
                    .cause = "",
                    .path = {"Frame #", "Lighting"},
                    .shaders = {"a9e48b677ebe6776"},
                    .device = "Test device",
                    .driver = "1.2",
                    .id = id};
  return dump;
}

TEST(Triage, CountsAndSortsGroups) {
  Triage triage;
  triage.Add(Dump("c.cairn", "000000000000000c", 1'700'000'000));
  triage.Add(Dump("b.cairn", "000000000000000b", 1'700'000'009));
  triage.Add(Dump("a2.cairn", "000000000000000a", 1'700'000'002));
  triage.Add(Dump("a1.cairn", "000000000000000a", 1'700'000'001));
  triage.AddUnreadable("x.cairn", Status(StatusCode::kCorrupt, "it is \x1b[2J empty"));
  const Json json = Json::Parse(triage.Json());
  EXPECT_EQ(SchemaViolation(Schema("triage.schema.json"), json), "");
  EXPECT_EQ(json["dumps"], 4);
  EXPECT_EQ(json["unreadable_count"], 1);
  EXPECT_EQ(json["unreadable"][0]["file"], "x.cairn");
  const Json groups = json["groups"];
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0]["count"], 2);
  EXPECT_EQ(groups[0]["first_seen"], "2023-11-14T22:13:21.000Z");
  EXPECT_EQ(groups[0]["last_seen"], "2023-11-14T22:13:22.000Z");
  EXPECT_EQ(groups[0]["example"]["file"], "a2.cairn");
  EXPECT_EQ(groups[1]["signature"]["id"], "000000000000000b");  // seen after the other one
  EXPECT_EQ(groups[2]["signature"]["id"], "000000000000000c");
  EXPECT_EQ(triage.Text().substr(0, 300),
            "4 dumps, 3 signatures; 1 file is without a report\n"
            "\n"
            "    2 GPU hang in Frame # > Lighting\n"
            "      shaders    a9e48b677ebe6776\n"
            "      device     Test device, driver 1.2\n"
            "      seen       2023-11-14 22:13:21.000 UTC to 2023-11-14 22:13:22.000 UTC\n"
            "      signature  000000000000000a\n"
            "      example    a2.cairn\n"
            "\n");
}

TEST(Triage, TheOrderOfDumpsMakesNoDifference) {
  const DumpSummary dumps[] = {Dump("b", "0b", 5), Dump("a", "0a", 5), Dump("c", "0a", 5),
                               Dump("d", "0a", 0)};
  Triage forwards;
  Triage backwards;
  for (size_t i = 0; i < 4; ++i) {
    forwards.Add(dumps[i]);
    backwards.Add(dumps[3 - i]);
  }
  EXPECT_EQ(forwards.Json(), backwards.Json());
  EXPECT_EQ(forwards.Text(), backwards.Text());
  EXPECT_EQ(Json::Parse(forwards.Json())["groups"][0]["example"]["file"], "a");
}

TEST(Triage, NamesCannotActOnATerminal) {
  DumpSummary dump = Dump("evil\x1b[2J.cairn", "0a", 0);
  dump.signature.path = {"\x1b[31m", "a\nb"};
  dump.signature.device = "\x9b";
  Triage triage;
  triage.Add(dump);
  EXPECT_THAT(triage.Text(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(triage.Text(), HasSubstr("GPU hang in \\x1b[31m > a\\x0ab\n"));
  const std::string line = TriageLine(dump);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(Json::Parse(line)["file"], "evil\x1b[2J.cairn");
  EXPECT_TRUE(Json::Parse(line)["seen"].is_null());
}

TEST(Triage, ReadsDumpsAndTellsOthersApart) {
  const Result<DumpSummary> dump = SummariseDump(kGolden + "snapshot-vulkan-v1.cairn");
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  const Json line = Json::Parse(TriageLine(*dump));
  const Json schema = Schema("triage-line.schema.json");
  EXPECT_EQ(SchemaViolation(schema, line), "");
  EXPECT_EQ(line["kind"], "GPU fault");
  EXPECT_EQ(line["how_sure"], "proven");
  EXPECT_EQ(line["certainty"], "proved") << "the word of before";
  EXPECT_EQ(line["signature"], dump->signature.id);
  EXPECT_EQ(SummariseDump(kGolden + "trace-v1.cairn").status().code(), StatusCode::kNotFound);
  const Status none = SummariseDump(kGolden + "none.cairn").status();
  EXPECT_EQ(SchemaViolation(schema, Json::Parse(TriageLine("none.cairn", none))), "");
}

}  // namespace
}  // namespace cairn
