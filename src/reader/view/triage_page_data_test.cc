// SPDX-License-Identifier: Apache-2.0
#include "reader/view/triage_page_data.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/json.h"

namespace cairn {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kDay = 19'675;  // 2023-11-14
constexpr uint64_t kMadeNs = 1'700'000'000 * kSecondNs;

DumpSummary Dump(const std::string& file, const std::string& id, uint64_t seconds_of_day) {
  DumpSummary dump;
  dump.file = file;
  dump.seen_ns = (kDay * 86'400 + seconds_of_day) * kSecondNs;
  dump.program = "game";
  dump.version = "1.0";
  dump.certainty = Certainty::kProven;
  dump.sentence = "The GPU hung.";
  dump.signature = {.kind = "GPU hang", .path = {"Frame #"}, .shaders = {}, .id = id};
  return dump;
}

std::string Counts(const TriagePageData& data, size_t group) {
  return Json::Parse(data.Json())["details"][group]["counts"].dump();
}

TEST(TriagePageData, CountsByDayProgramVersionAndCertainty) {
  TriagePageData data("crashes", kMadeNs, true);
  data.Add(Dump("1", "000000000000000a", 0), 0);
  data.Add(Dump("2", "000000000000000a", 86'399), 1);
  data.Add(Dump("3", "000000000000000a", 86'400), 2);
  DumpSummary other = Dump("4", "000000000000000a", 0);
  other.program = "editor";
  other.certainty = Certainty::kOneOf;
  data.Add(other, 3);
  DumpSummary timeless = Dump("5", "000000000000000b", 0);
  timeless.seen_ns = 0;
  data.Add(timeless, 4);
  data.AddUnreadable("x", Status(StatusCode::kCorrupt, "it is empty"));
  EXPECT_EQ(Counts(data, 0),
            R"([[19675,0,0,"proven",2],[19675,1,0,"one of",1],[19676,0,0,"proven",1]])");
  EXPECT_EQ(Counts(data, 1), R"([[-1,0,0,"proven",1]])");
  const Json json = Json::Parse(data.Json());
  EXPECT_EQ(json["programs"].dump(), R"(["game","editor"])");
  EXPECT_EQ(json["library_versions"].dump(), R"(["1.0"])");
  EXPECT_EQ(json["made"], "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(json["served"], true);
  EXPECT_EQ(json["group_count"], 2);
  EXPECT_EQ(json["left_out"], 0);
  EXPECT_TRUE(json["details"][1]["files"][0]["seen"].is_null());
  // The groups are those of cairn triage --json, to the letter.
  EXPECT_EQ(json["triage"].dump(), Json::Parse(data.triage().Json()).dump());
}

TEST(TriagePageData, HasTheFilesThatWereSeenLast) {
  TriagePageData data("crashes", kMadeNs, false);
  for (uint64_t i = 0; i < 30; ++i) {
    data.Add(Dump(std::to_string(i), "000000000000000a", i * 7 % 30), i);
  }
  const Json files = Json::Parse(data.Json())["details"][0]["files"];
  ASSERT_EQ(files.size(), TriagePageData::kMostFiles);
  for (size_t i = 0; i < files.size(); ++i) {
    const auto number = files[i]["number"].get<uint64_t>();
    EXPECT_EQ(number * 7 % 30, 29 - i);
    EXPECT_EQ(files[i]["file"], std::to_string(number));
  }
}

TEST(TriagePageData, LeavesOutWhatNoPageCouldHold) {
  TriagePageData data("crashes", kMadeNs, false);
  for (uint64_t i = 0; i < 20'000; ++i) {
    DumpSummary dump = Dump("f", std::to_string(i), i % 1000);
    dump.sentence.assign(8000, 's');
    if (i == 7) data.Add(dump, i);  // the largest group
    data.Add(dump, i);
  }
  const std::string text = data.Json();
  EXPECT_LT(text.size(), size_t{97} << 20);
  const Json json = Json::Parse(text);
  EXPECT_EQ(json["group_count"], 20'000);
  EXPECT_EQ(json["triage"]["dumps"], 20'001);
  const Json groups = json["triage"]["groups"];
  EXPECT_LT(groups.size(), 20'000u);
  EXPECT_GT(groups.size(), 5'000u);
  EXPECT_EQ(groups[0]["signature"]["id"], "7");
}

}  // namespace
}  // namespace cairn
