// SPDX-License-Identifier: Apache-2.0
#include "settings/layer_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "settings/log.h"

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
  EXPECT_TRUE(Read({{"CAIRN_CHECK", "1"}}, &complaints).check);
  EXPECT_FALSE(Read({{"CAIRN_CHECK", "0"}}, &complaints).check);
  EXPECT_EQ(Read({{"CAIRN_DRIVER", "/opt/driver.so"}}, &complaints).driver, "/opt/driver.so");
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(LayerSettingsTest, WhatMeansNothingIsReportedAndCountsAsTheDefault) {
  std::vector<std::string> complaints;
  const LayerSettings settings =
      Read({{"CAIRN_BREADCRUMBS", "most"}, {"CAIRN_CHECK", "yes"}}, &complaints);
  EXPECT_EQ(settings.breadcrumbs, MarkerMode::kTop);
  EXPECT_FALSE(settings.check);
  EXPECT_THAT(complaints,
              testing::ElementsAre(
                  "CAIRN_BREADCRUMBS is 'most', which is none of off, top, pass, full; top is used",
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
