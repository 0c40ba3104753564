// SPDX-License-Identifier: Apache-2.0
#include "reader/report/user_data_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "reader/analysis/findings.h"
#include "reader/report/json.h"
#include "reader/report/redact.h"
#include "reader/report/text.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void Add(std::string_view key, std::string_view value, Snapshot* snapshot) {
  UserData data;
  data.key = snapshot->AddText(key);
  data.size_bytes = value.size();
  if (!value.empty()) data.bytes = {snapshot->blobs.size(), value.size()};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(value));
  snapshot->blobs.insert(snapshot->blobs.end(), bytes.begin(), bytes.end());
  snapshot->user_data.push_back(data);
}

Snapshot Sample() {
  Snapshot snapshot;
  Add("bits", std::string_view("\0\xff", 2), &snapshot);
  Add("evil/../key\x1b.", "\x1b[31m", &snapshot);
  Add("level", "e1m1", &snapshot);
  Add("log", "one\ntwo\n", &snapshot);
  Add("most", std::string(kMostJsonUserDataBytes, 'm'), &snapshot);
  Add("more", std::string(kMostJsonUserDataBytes + 1, 'm'), &snapshot);
  Add("nothing", "", &snapshot);
  return snapshot;
}

TEST(UserDataText, ShortTextsAreShown) {
  const Snapshot snapshot = Sample();
  const std::string text = TextReport(snapshot, AnalyseDump(snapshot), {});
  EXPECT_THAT(text, HasSubstr(R"(
User data (cairn report --extract DIR writes it into files)
 - bits, 2 bytes
 - evil/../key\x1b., 5 bytes
 - level, 4 bytes: e1m1
 - log, 8 bytes
 - most, 4,096 bytes
 - more, 4,097 bytes
 - nothing, 0 bytes
)"));
}

// The row of the JSON; `values`: of size_bytes, text and bytes.
std::string Row(const char* key, std::array<const char*, 3> values) {
  return fmt::format(
      "{{\n   \"key\": \"{}\",\n   \"size_bytes\": {},\n   \"text\": {},\n   \"bytes\": {}\n  }}",
      key, values[0], values[1], values[2]);
}

TEST(UserDataText, JsonHasWhatIsNotLong) {
  const Snapshot snapshot = Sample();
  const std::string json = JsonReport(snapshot, AnalyseDump(snapshot), {});
  EXPECT_THAT(json, HasSubstr(Row("bits", {"2", "null", "\"00ff\""})));
  EXPECT_THAT(json, HasSubstr(Row("level", {"4", "\"e1m1\"", "null"})));
  EXPECT_THAT(json, HasSubstr(Row("log", {"8", R"("one\u000atwo\u000a")", "null"})));
  const std::string most = '"' + std::string(kMostJsonUserDataBytes, 'm') + '"';
  EXPECT_THAT(json, HasSubstr(Row("most", {"4096", most.c_str(), "null"})));
  EXPECT_THAT(json, HasSubstr(Row("more", {"4097", "null", "null"})));
  EXPECT_THAT(json, HasSubstr(Row("nothing", {"0", "\"\"", "null"})));
}

TEST(UserDataText, FilesHaveHarmlessNames) {
  const Snapshot snapshot = Sample();
  EXPECT_EQ(UserDataFileName(snapshot, 0), "user-data-00-bits");
  EXPECT_EQ(UserDataFileName(snapshot, 1), "user-data-01-evil_.._key__");
  EXPECT_EQ(UserDataFileName(snapshot, 2), "user-data-02-level");
}

TEST(UserDataText, ALongFileNameIsCutAndEndsWithNoDot) {
  Snapshot snapshot;
  // Keys in a file may be longer than those of a program.
  Add(std::string(66, 'k') + ".txt", "", &snapshot);
  EXPECT_EQ(UserDataFileName(snapshot, 0), "user-data-00-" + std::string(66, 'k') + "_");
}

TEST(UserDataText, NothingIsLeftOfARedactedOne) {
  const Snapshot snapshot = Redact(Sample());
  const std::string text = TextReport(snapshot, AnalyseDump(snapshot), {});
  EXPECT_THAT(text, HasSubstr("\nUser data\n - " + RedactedName("bits") + ", 2 bytes\n"));
  const std::string json = JsonReport(snapshot, AnalyseDump(snapshot), {});
  for (const char* secret : {"e1m1", "00ff", "level", "mmm"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
    EXPECT_THAT(json, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace cairn
