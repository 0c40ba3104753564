// SPDX-License-Identifier: Apache-2.0
//
// Reports of one run know more: who wrote the indirect arguments of the culprit, and how long work with its label took
// before. Of a real dispatch on lavapipe, by a program that knows nothing of Cairn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class IndirectArgumentsTest : public ::testing::Test {
 protected:
  // The report of a run that the watcher killed; its schema was checked.
  Json Report(const std::string& writer) {
    const Command::Options options = {.folder = folder_.path(),
                                      .environment = LavapipeEnvironment()};
    const CommandResult run = RunCommand(
        {Program("cairn"), "run", "-o", "hang.cairn", "--breadcrumbs", "full", "--hang-timeout",
         "3", "--kill-on-hang", "--", TestProgram("indirect_arguments"), writer},
        options);
    EXPECT_THAT(run.errors, HasSubstr("GPU hang in DISPATCH_INDIRECT #1")) << run.Summary();
    const CommandResult printed =
        RunCommand({Program("cairn"), "report", "--json", "hang.cairn"}, options);
    Json report = Json::Parse(printed.output);
    EXPECT_TRUE(report.is_object()) << printed.Summary();
    const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/report.schema.json");
    EXPECT_EQ(SchemaViolation(schema, report), "");
    return report;
  }
  static Json ArgumentsOf(const Json& report) {
    const Json arguments = report["verdict"]["arguments"];
    EXPECT_TRUE(arguments.is_object()) << report["verdict"].dump(2);
    return arguments;
  }
  static std::string TypeOf(const Json& report, const Json& writer) {
    return report["scopes"][writer["scope"].get<size_t>()]["type"].get<std::string>();
  }
  static std::string NameOf(const Json& report, const Json& arguments) {
    return report["objects"][arguments["buffer"].get<size_t>()]["name"].get<std::string>();
  }
  // The texts of the answer's rows with this label.
  static std::vector<std::string> Rows(const Json& report, const std::string& label) {
    std::vector<std::string> texts;
    for (const Json& row : report["verdict"]["answer"]["rows"]) {
      if (row["label"] == label) texts.push_back(row["text"].get<std::string>());
    }
    return texts;
  }

  TemporaryFolder folder_;
};

TEST_F(IndirectArgumentsTest, AShaderMayHaveWrittenThem) {
  const Json report = Report("shader");
  const Json arguments = ArgumentsOf(report);
  EXPECT_EQ(NameOf(report, arguments), "Words");
  ASSERT_EQ(arguments["writers"].size(), 1u) << arguments.dump(2);
  const Json& writer = arguments["writers"][0];
  EXPECT_EQ(TypeOf(report, writer), "DISPATCH");
  EXPECT_EQ(writer["certain"], false);
  EXPECT_EQ(writer["point"], "descriptor set");
  EXPECT_EQ(writer["slot"], 0);
  EXPECT_EQ(writer["binding"], 0);
  EXPECT_EQ(writer["execution"], report["verdict"]["suspects"][0]["execution"]);
  EXPECT_EQ(arguments["mapped"], true);
  const std::string words =
      "in buffer \"Words\", perhaps last written by Frame 4 > Prepare > DISPATCH #1 (1, 1, 1) of "
      "the "
      "same list (bound as descriptor set 0 binding 0); the program has the memory mapped: the CPU "
      "can have written them";
  EXPECT_EQ(arguments["words"], words);
  EXPECT_THAT(Rows(report, "arguments"), ::testing::ElementsAre(words));
}

TEST_F(IndirectArgumentsTest, ACopyWroteThem) {
  const Json report = Report("copy");
  const Json arguments = ArgumentsOf(report);
  EXPECT_EQ(NameOf(report, arguments), "Arguments");
  ASSERT_EQ(arguments["writers"].size(), 1u) << arguments.dump(2);
  const Json& writer = arguments["writers"][0];
  EXPECT_EQ(TypeOf(report, writer), "COPY_BUFFER");
  EXPECT_EQ(writer["certain"], true);
  EXPECT_EQ(writer["point"], "destination");
  EXPECT_TRUE(writer["binding"].is_null());
  EXPECT_EQ(arguments["mapped"], false);
  EXPECT_EQ(
      arguments["words"],
      "in buffer \"Arguments\", last written by Frame 4 > Upload > COPY_BUFFER #1 (12 bytes) of "
      "the same list");
}

TEST_F(IndirectArgumentsTest, ACopyOfAnEarlierSubmissionWroteThem) {
  const Json report = Report("earlier");
  const Json arguments = ArgumentsOf(report);
  ASSERT_EQ(arguments["writers"].size(), 1u) << arguments.dump(2);
  const Json& writer = arguments["writers"][0];
  EXPECT_EQ(TypeOf(report, writer), "COPY_BUFFER");
  EXPECT_EQ(writer["certain"], true);
  EXPECT_NE(writer["execution"], report["verdict"]["suspects"][0]["execution"]);
  EXPECT_THAT(arguments["words"].get<std::string>(),
              HasSubstr(", last written by Upload > COPY_BUFFER #1 (12 bytes) of submission "));
}

TEST_F(IndirectArgumentsTest, TheProgramWroteThem) {
  const Json report = Report("program");
  const Json arguments = ArgumentsOf(report);
  EXPECT_EQ(arguments["writers"].size(), 0u) << arguments.dump(2);
  EXPECT_EQ(arguments["mapped"], true);
  EXPECT_EQ(arguments["words"],
            "in buffer \"Arguments\"; no command in this file is known to have written them; the "
            "program has the memory mapped: the CPU can have written them");
}

// Three submissions with the labels "Frame N" and "Particles" ended before.
TEST_F(IndirectArgumentsTest, WorkWithItsLabelEndedBefore) {
  const Json report = Report("program");
  const Json duration = report["verdict"]["label_duration"];
  ASSERT_TRUE(duration.is_object()) << report["verdict"].dump(2);
  EXPECT_EQ(report["scopes"][duration["scope"].get<size_t>()]["name"], "Particles");
  EXPECT_EQ(duration["count"], 3);
  EXPECT_LE(duration["median_ns"].get<uint64_t>(), duration["longest_ns"].get<uint64_t>());
  EXPECT_GE(duration["running_ns"].get<uint64_t>(), 2'700'000'000u)
      << "the watchdog's time-out, less a look of the watcher";
  EXPECT_THAT(duration["words"].get<std::string>(),
              StartsWith("Frame 4 > Particles: usually ended within "));
  EXPECT_THAT(duration["words"].get<std::string>(),
              HasSubstr(" (median of 3 submissions, the longest "));
  EXPECT_THAT(duration["words"].get<std::string>(),
              HasSubstr("; the suspect has run for at least "));
  EXPECT_THAT(Rows(report, "duration"), ::testing::Contains(duration["words"].get<std::string>()));
}

}  // namespace
}  // namespace cairn::testing
