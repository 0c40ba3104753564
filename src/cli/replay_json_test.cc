// SPDX-License-Identifier: Apache-2.0
#include "cli/replay_json.h"

#include <gtest/gtest.h>

#include "base/testing/json_schema_check.h"

namespace cairn::cli {
namespace {

TEST(ReplayJsonTest, EachCountHasItsPlace) {
  PlayerResult result;
  result.frames = 1;
  result.calls = 2;
  result.skipped = 3;
  result.moved = {.structures = 4, .scratches = 5, .resources = 6};
  result.notes = {"a b"};
  const Json json = Json::Parse(ReplayJson("a.cairn", result));
  EXPECT_EQ("", SchemaViolation(
                    Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/replay.schema.json"), json));
  EXPECT_EQ(json["file"], "a.cairn");
  EXPECT_EQ(json["frames"], 1);
  EXPECT_EQ(json["calls"], 2);
  EXPECT_EQ(json["skipped"], 3);
  EXPECT_EQ(json["moved"]["structures"], 4);
  EXPECT_EQ(json["moved"]["scratches"], 5);
  EXPECT_EQ(json["moved"]["resources"], 6);
  EXPECT_EQ(json["notes"][0], "a b");
}

}  // namespace
}  // namespace cairn::cli
