// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace cairn {
namespace {

void WriteSome(JsonWriter* json) {
  json->BeginObject();
  json->BeginArray("empty");
  json->EndArray();
  json->BeginArray("values");
  json->SignedNumber(-1);
  json->Number(UINT64_MAX);
  json->Bool(true);
  json->Null();
  json->Hex(42);
  json->BeginObject();
  json->StringKey("text", "a\n");
  json->EndObject();
  json->EndArray();
  json->OptionalKey("none", {});
  json->EndObject();
}

TEST(JsonWriter, NestsAndSeparates) {
  std::string out;
  JsonWriter json(&out, JsonWriter::kOneLine);
  WriteSome(&json);
  EXPECT_EQ(out,
            R"({"empty":[],"values":[-1,18446744073709551615,true,null,"0x2a",{"text":"a\u000a"}],)"
            R"("none":null})");
}

TEST(JsonWriter, LeavesOutValuesOfArraysBeyondItsBytes) {
  std::string out;
  std::string all;
  JsonWriter json(&out, JsonWriter::kOneLine, [&] {
    all += out;
    out.clear();
  });
  json.LimitBytes(200'000);
  json.BeginObject();
  for (const char* const key : {"first", "second"}) {
    json.BeginArray(key);
    for (int i = 0; i < 2'000; ++i) {
      json.BeginObject();
      json.StringKey("name", std::string(80, 'n'));
      json.BeginArray("inner");
      json.Number(7);
      json.EndArray();
      json.EndObject();
    }
    json.EndArray();
  }
  json.NumberKey("count", 5);
  json.MakeRoomForTheEnd();
  json.BeginArray("losses");
  json.String("some");
  json.EndArray();
  json.EndObject();
  all += out;
  const size_t value_bytes = std::string(R"({"name":"","inner":[7]},)").size() + 80;
  const size_t kept = 200'000 / value_bytes;
  EXPECT_NEAR(static_cast<double>(json.left_out_count()), 4'000.0 - static_cast<double>(kept), 2);
  EXPECT_LT(all.size(), 201'000u);
  EXPECT_TRUE(all.ends_with(R"(],"second":[],"count":5,"losses":["some"]})"))
      << all.substr(all.size() - 100);
}

TEST(JsonWriter, OuterLevelsHaveLines) {
  std::string out;
  JsonWriter json(&out, 1);
  WriteSome(&json);
  EXPECT_EQ(out, R"({
 "empty": [],
 "values": [-1,18446744073709551615,true,null,"0x2a",{"text":"a\u000a"}],
 "none": null
}
)");
}

TEST(JsonWriter, RealNumbersAreReadBackAsTheyWere) {
  std::string out;
  JsonWriter json(&out, JsonWriter::kOneLine);
  json.BeginArray();
  for (const double value : {0.1, 1.0, -0.0, 1e300, 123456789.25}) json.Real(value);
  json.Real(0.1f);
  json.Real(std::numeric_limits<double>::infinity());
  json.Real(std::numeric_limits<double>::quiet_NaN());
  json.EndArray();
  EXPECT_EQ(out, "[0.1,1.0,-0.0,1e+300,123456789.25,0.1,null,null]");
}

TEST(JsonWriter, WhatIsJsonAlreadyTakesItsPlace) {
  std::string keys;
  JsonWriter part(&keys, JsonWriter::kOneLine);
  part.NumberKey("a", 1);
  const std::vector<std::byte> bytes = {std::byte{0x0a}, std::byte{0xff}};
  part.Key("bytes");
  part.HexBytes(bytes);
  std::string out;
  JsonWriter json(&out, JsonWriter::kOneLine);
  json.BeginObject();
  json.Json(keys);
  json.JsonKey("list", "[1,2]");
  json.EndObject();
  EXPECT_EQ(out, R"({"a":1,"bytes":"0aff","list":[1,2]})");
}

TEST(JsonWriter, TextsHaveAnEnd) {
  std::string out;
  size_t bytes = 0;
  JsonWriter json(&out, JsonWriter::kManyLines, [&] {
    bytes += out.size();
    out.clear();
  });
  json.LimitTexts();
  json.BeginArray();
  const std::string text(1 << 20, 'x');
  for (size_t i = 0; i < JsonWriter::kMostTextBytes / text.size(); ++i) json.String(text);
  EXPECT_EQ(json.cut_count(), 0u);
  for (int i = 0; i < 1000; ++i) json.String(text);
  json.String("short ones are kept");
  json.MakeRoomForTheEnd();
  json.String(std::string(100, 'z'));
  json.EndArray();
  EXPECT_EQ(json.cut_count(), 1000u);
  EXPECT_LT(bytes + out.size(), JsonWriter::kMostTextBytes + 2 * text.size() + 1000 * 80);
  EXPECT_NE(out.find("short ones are kept"), std::string::npos);
  EXPECT_NE(out.find(std::string(100, 'z')), std::string::npos);
}

}  // namespace
}  // namespace cairn
