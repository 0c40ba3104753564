// SPDX-License-Identifier: Apache-2.0
#include "app/settings/layer_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "app/settings/log.h"

namespace cairn {
namespace {

std::map<std::string, std::string>& Variables() {
  static std::map<std::string, std::string> variables;
  return variables;
}

const char* Get(const char* name) {
  const auto found = Variables().find(name);
  return found == Variables().end() ? nullptr : found->second.c_str();
}

LayerSettings Read(std::map<std::string, std::string> variables,
                   std::vector<std::string>* complaints) {
  Variables() = std::move(variables);
  return ReadLayerSettings(Get, complaints);
}

TEST(LayerSettingsTest, DefaultsWithoutAnyVariable) {
  std::vector<std::string> complaints;
  for (const auto& variables :
       {std::map<std::string, std::string>{},
        {{"CAIRN_BREADCRUMBS", ""}, {"CAIRN_CHECK", ""}, {"CAIRN_DRIVER", ""}}}) {
    const LayerSettings settings = Read(variables, &complaints);
    EXPECT_EQ(settings.breadcrumbs, MarkerMode::kTop);
    EXPECT_FALSE(settings.check);
    EXPECT_EQ(settings.driver, "breadcrumb");
  }
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(LayerSettingsTest, EveryModeHasItsWord) {
  std::vector<std::string> complaints;
  EXPECT_EQ(Read({{"CAIRN_BREADCRUMBS", "off"}}, &complaints).breadcrumbs, MarkerMode::kOff);
  EXPECT_EQ(Read({{"CAIRN_BREADCRUMBS", "top"}}, &complaints).breadcrumbs, MarkerMode::kTop);
  EXPECT_EQ(Read({{"CAIRN_BREADCRUMBS", "pass"}}, &complaints).breadcrumbs, MarkerMode::kPass);
  EXPECT_EQ(Read({{"CAIRN_BREADCRUMBS", "full"}}, &complaints).breadcrumbs, MarkerMode::kFull);
  EXPECT_EQ(Read({{"CAIRN_BREADCRUMBS", "exact"}}, &complaints).breadcrumbs, MarkerMode::kExact);
  EXPECT_TRUE(Read({{"CAIRN_CHECK", "1"}}, &complaints).check);
  EXPECT_FALSE(Read({{"CAIRN_CHECK", "0"}}, &complaints).check);
  EXPECT_EQ(Read({{"CAIRN_DRIVER", "/opt/driver.so"}}, &complaints).driver, "/opt/driver.so");
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(LayerSettingsTest, EventsKeepWhatTheyCarryWhereAskedTo) {
  std::vector<std::string> complaints;
  EXPECT_FALSE(Read({}, &complaints).all_events);
  EXPECT_FALSE(Read({{"CAIRN_EVENTS", "retail"}}, &complaints).all_events);
  EXPECT_TRUE(Read({{"CAIRN_EVENTS", "all"}}, &complaints).all_events);
  EXPECT_THAT(complaints, testing::IsEmpty());
  EXPECT_FALSE(Read({{"CAIRN_EVENTS", "ALL"}}, &complaints).all_events);
  EXPECT_THAT(complaints,
              testing::ElementsAre(
                  "CAIRN_EVENTS is 'ALL', which is neither retail nor all; retail is used"));
}

TEST(LayerSettingsTest, CaptureIsAListOfWords) {
  std::vector<std::string> complaints;
  EXPECT_FALSE(Read({}, &complaints).capture.on);
  EXPECT_FALSE(Read({{"CAIRN_CAPTURE", "off"}}, &complaints).capture.on);
  const CaptureSettings plain = Read({{"CAIRN_CAPTURE", "on"}}, &complaints).capture;
  EXPECT_TRUE(plain.on);
  EXPECT_FALSE(plain.armed);
  EXPECT_FALSE(plain.hash_frames);
  EXPECT_FALSE(plain.hash_resources);
  EXPECT_EQ(plain.start_frame, 0u);
  EXPECT_EQ(plain.stop_frame, ~uint64_t{0});
  const CaptureSettings all =
      Read({{"CAIRN_CAPTURE", "on,armed,frames=10-20,hash"}}, &complaints).capture;
  EXPECT_TRUE(all.on);
  EXPECT_TRUE(all.armed);
  EXPECT_TRUE(all.hash_frames);
  EXPECT_FALSE(all.hash_resources);
  EXPECT_EQ(all.start_frame, 10u);
  EXPECT_EQ(all.stop_frame, 21u);
  const CaptureSettings from = Read({{"CAIRN_CAPTURE", "on,frames=7-"}}, &complaints).capture;
  EXPECT_EQ(from.start_frame, 7u);
  const CaptureSettings resources =
      Read({{"CAIRN_CAPTURE", "on,hash-resources"}}, &complaints).capture;
  EXPECT_TRUE(resources.hash_resources);
  EXPECT_FALSE(resources.hash_frames);
  EXPECT_EQ(from.stop_frame, ~uint64_t{0});
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(LayerSettingsTest, ACaptureThatMeansNothingIsNone) {
  for (const char* const value : {"yes", "on,", "on,frames", "on,frames=", "on,frames=3", "armed",
                                  "on,frames=5-4", "on,frames=a-b", "on,loud"}) {
    std::vector<std::string> complaints;
    EXPECT_FALSE(Read({{"CAIRN_CAPTURE", value}}, &complaints).capture.on) << value;
    EXPECT_THAT(complaints, testing::ElementsAre(testing::HasSubstr("CAIRN_CAPTURE"))) << value;
  }
}

TEST(LayerSettingsTest, WhatMeansNothingIsReportedAndCountsAsTheDefault) {
  std::vector<std::string> complaints;
  const LayerSettings settings =
      Read({{"CAIRN_BREADCRUMBS", "most"}, {"CAIRN_CHECK", "yes"}}, &complaints);
  EXPECT_EQ(settings.breadcrumbs, MarkerMode::kTop);
  EXPECT_FALSE(settings.check);
  EXPECT_THAT(
      complaints,
      testing::ElementsAre(
          "CAIRN_BREADCRUMBS is 'most', which is none of off, top, pass, full, exact; top is used",
          "CAIRN_CHECK is 'yes', which is neither 0 nor 1; 0 is used"));
}

TEST(LogTest, LevelsHaveNames) {
  for (const LogLevel level :
       {LogLevel::kOff, LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug}) {
    LogLevel parsed = LogLevel::kOff;
    EXPECT_TRUE(ParseLogLevel(LogLevelName(level), &parsed));
    EXPECT_EQ(parsed, level);
  }
  LogLevel untouched = LogLevel::kInfo;
  EXPECT_FALSE(ParseLogLevel("loud", &untouched));
  EXPECT_EQ(untouched, LogLevel::kInfo);
}

TEST(LogTest, OneLineAnEventWithoutColourWhereThereIsNoTerminal) {
  testing::internal::CaptureStderr();
  Log(LogLevel::kError, "two\nlines \x1b[31m");
  Log(LogLevel::kDebug, "not said by default");
  LogOnce(LogLevel::kWarning, "key", "said once");
  LogOnce(LogLevel::kWarning, "key", "said twice");
  LogAlways("cairn check: all is well");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cairn: error: two\\x0alines \\x1b[31m\n"
            "cairn: warning: said once\n"
            "cairn check: all is well\n");
}

}  // namespace
}  // namespace cairn
