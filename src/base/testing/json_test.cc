// SPDX-License-Identifier: Apache-2.0
#include "base/testing/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/testing/json_schema_check.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json Report() {
  return Json::Parse(R"({
    "version": 2, "name": "Main", "ok": true, "none": null, "offset": -3, "seconds": 0.5,
    "queues": [{"name": "Graphics"}, {"name": "Copy"}], "path": ["Frame", "Draw"], "empty": {}
  })");
}

std::string Error(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Json, ComparesWithPlainValues) {
  EXPECT_EQ(Report()["version"], 2);
  EXPECT_EQ(Report()["version"], uint64_t{2});
  EXPECT_EQ("Main", Report()["name"]);
  EXPECT_EQ(Report()["name"], std::string("Main"));
  EXPECT_EQ(Report()["ok"], true);
  EXPECT_EQ(Report()["none"], nullptr);
  EXPECT_EQ(Report()["offset"], -3);
  EXPECT_EQ(Report()["seconds"], 0.5);
  EXPECT_EQ(Report()["path"], Json::Parse(R"(["Frame", "Draw"])"));
  EXPECT_NE(Report()["version"], "2");
  EXPECT_NE(Report()["version"], 3);
  EXPECT_NE(Report()["none"], false);
  EXPECT_NE(Json::Parse(R"({"a": 1, "b": 2})"), Json::Parse(R"({"b": 2, "a": 1})"));
}

TEST(Json, GivesPlainValues) {
  EXPECT_EQ(Report()["version"].get<uint64_t>(), 2u);
  EXPECT_EQ(Report()["offset"].get<int>(), -3);
  EXPECT_EQ(Report()["seconds"].get<double>(), 0.5);
  EXPECT_EQ(Report()["name"].get<std::string>(), "Main");
  EXPECT_TRUE(Report()["ok"].get<bool>());
  EXPECT_THAT(Report()["path"].get<std::vector<std::string>>(), ElementsAre("Frame", "Draw"));
  EXPECT_EQ(Report().value("version", 1), 2);
  EXPECT_EQ(Report().value("asked", 1), 1);
}

TEST(Json, HasTypesAsSchemasSayThem) {
  std::vector<std::string> types;
  for (const auto& [key, value] : Report().items()) types.emplace_back(value.type());
  EXPECT_THAT(types, ElementsAre("integer", "string", "boolean", "null", "integer", "number",
                                 "array", "array", "object"));
  EXPECT_TRUE(Json().is_null());
}

TEST(Json, IsGoneThrough) {
  std::vector<std::string> names;
  for (const Json& queue : Report()["queues"]) names.push_back(queue["name"].get<std::string>());
  EXPECT_THAT(names, ElementsAre("Graphics", "Copy"));
  EXPECT_EQ(Report()["queues"].items()[1].first, "1");
  EXPECT_EQ(Report()["queues"].size(), 2u);
  EXPECT_THAT(Report()["empty"], IsEmpty());
  EXPECT_TRUE(Report().contains("none"));
  EXPECT_FALSE(Report().contains("asked"));
}

TEST(Json, PartsOutliveTheDocument) {
  const Json part = Json::Parse(R"({"a": [{"b": "kept"}]})")["a"][0];
  EXPECT_EQ(part["b"], "kept");
}

TEST(Json, CopiesAreChanged) {
  EXPECT_EQ(Report().With("/queues/0/name", 7)["queues"].dump(), R"([{"name":7},{"name":"Copy"}])");
  EXPECT_EQ(Report().Without("/queues/0")["queues"].dump(), R"([{"name":"Copy"}])");
  EXPECT_EQ(Report()["queues"][0]["name"], "Graphics");
  EXPECT_THAT(Error([] { Report().Without("/queues/7"); }), HasSubstr("7"));
}

TEST(Json, WhatIsNotThereIsNamed) {
  EXPECT_THAT(Error([] { Report()["queues"][1]["type"]; }), HasSubstr("(/queues/1) key 'type'"));
  EXPECT_THAT(Error([] { Report()["queues"][2]; }), HasSubstr("(/queues) array index 2"));
  EXPECT_THAT(Error([] { Report()["queues"]["name"]; }), HasSubstr("(/queues) cannot use at()"));
  EXPECT_THAT(Error([] { Report()["none"].get<uint64_t>(); }), HasSubstr("(/none) type must be"));
  EXPECT_THAT(Error([] { Report()["name"].get<bool>(); }), HasSubstr("(/name) type must be"));
  EXPECT_THAT(Error([] { Report()["none"].value("a", 1); }), HasSubstr("(/none) cannot use at()"));
  EXPECT_THAT(Error([] { Report()["name"].size(); }), HasSubstr("\"Main\" has no size"));
  EXPECT_THAT(Error([] { Report()["none"].empty(); }), HasSubstr("null has no size"));
}

TEST(Json, TextThatIsNoneSaysWhatIsWrongWithIt) {
  for (const Json& json : {Json::Parse(R"({"a":)"), Json::ParseFile("/does/not/exist")}) {
    EXPECT_TRUE(json.is_discarded());
    EXPECT_FALSE(json.is_object() || json.is_null());
    EXPECT_NE(json, json);
    EXPECT_THAT(Error([&] { json["a"]; }), HasSubstr("parse error at line 1, column"));
    EXPECT_THAT(Error([&] { json.contains("a"); }), HasSubstr("parse error"));
    EXPECT_THAT(Error([&] { json.size(); }), HasSubstr("parse error"));
    EXPECT_THAT(testing::PrintToString(json), HasSubstr("parse error"));
  }
  EXPECT_EQ(testing::PrintToString(Report()["path"]), R"(["Frame","Draw"])");
}

TEST(SchemaViolation, APatternIsForTextAlone) {
  const Json schema = Json::Parse(R"({"type": ["string", "null"], "pattern": "^0x[0-9a-f]+$"})");
  EXPECT_EQ(SchemaViolation(schema, Json::Parse(R"("0x1f")")), "");
  EXPECT_EQ(SchemaViolation(schema, Json::Parse(R"("31")"), "at"), "at: pattern");
  EXPECT_EQ(SchemaViolation(schema, Json::Parse("null")), "");
  EXPECT_EQ(SchemaViolation(schema, Json::Parse("31"), "at"), "at: type");
}

}  // namespace
}  // namespace cairn
