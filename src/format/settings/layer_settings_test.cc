// SPDX-License-Identifier: Apache-2.0
#include "format/settings/layer_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Variables = std::map<std::string, std::string>;

LayerSettings Read(const Variables& variables, std::vector<std::string>* complaints) {
  return ParseLayerSettings(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      complaints);
}

Variables AsVariables(const std::vector<std::string>& entries) {
  Variables variables;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    EXPECT_TRUE(variables.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second)
        << entry;
  }
  return variables;
}

// Expects that `settings` are read as they are written, and returns what was written.
Variables RoundTrip(const LayerSettings& settings) {
  const Variables variables = AsVariables(FormatLayerSettings(settings));
  std::vector<std::string> complaints;
  EXPECT_EQ(Read(variables, &complaints), settings) << testing::PrintToString(variables);
  EXPECT_THAT(complaints, IsEmpty());
  return variables;
}

// Sets one field of LayerSettings to each of some values.
template <typename T>
void RoundTripEach(Setting<T> LayerSettings::*field, const char* variable,
                   const std::vector<T>& values) {
  for (const T& value : values) {
    LayerSettings settings;
    settings.*field = value;
    const Variables written = RoundTrip(settings);
    ASSERT_EQ(written.size(), 1u);
    EXPECT_EQ(written.begin()->first, variable);
  }
}

TEST(LayerSettingsTest, DefaultsWithoutAnyVariable) {
  std::vector<std::string> complaints;
  Variables empty;
  for (const SettingRow& row : kSettingRows) empty[row.variable] = "";
  for (const Variables& variables : {Variables(), empty}) {
    const LayerSettings settings = Read(variables, &complaints);
    EXPECT_EQ(*settings.breadcrumbs, MarkerMode::kTop);
    EXPECT_FALSE(*settings.all_events);
    EXPECT_FALSE(settings.capture->on);
    EXPECT_EQ(*settings.device_fault, DeviceFaultUse::kAuto);
    EXPECT_EQ(*settings.driver, "breadcrumb");
    EXPECT_FALSE(*settings.check);
    EXPECT_EQ(*settings.log, LogLevel::kWarning);
    EXPECT_EQ(*settings.witnesses, "");
    EXPECT_EQ(settings.log.is_set(), !variables.empty());
  }
  EXPECT_THAT(complaints, IsEmpty());
  EXPECT_THAT(FormatLayerSettings(LayerSettings()), IsEmpty());
}

TEST(LayerSettingsTest, EveryWordHasItsMeaning) {
  std::vector<std::string> complaints;
  const LayerSettings settings = Read({{"CAIRN_BREADCRUMBS", "exact"},
                                       {"CAIRN_EVENTS", "all"},
                                       {"CAIRN_DEVICE_FAULT", "off"},
                                       {"CAIRN_CHECK", "1"},
                                       {"CAIRN_LOG", "debug"},
                                       {"CAIRN_DRIVER", "/opt/driver.so"}},
                                      &complaints);
  EXPECT_EQ(*settings.breadcrumbs, MarkerMode::kExact);
  EXPECT_TRUE(*settings.all_events);
  EXPECT_EQ(*settings.device_fault, DeviceFaultUse::kOff);
  EXPECT_TRUE(*settings.check);
  EXPECT_EQ(*settings.log, LogLevel::kDebug);
  EXPECT_EQ(*settings.driver, "/opt/driver.so");
  EXPECT_THAT(complaints, IsEmpty());
  using Mode = MarkerMode;
  const std::pair<const char*, Mode> modes[] = {
      {"off", Mode::kOff}, {"top", Mode::kTop}, {"pass", Mode::kPass}, {"full", Mode::kFull}};
  for (const auto& [word, mode] : modes) {
    EXPECT_EQ(*Read({{"CAIRN_BREADCRUMBS", word}}, &complaints).breadcrumbs, mode) << word;
  }
}

TEST(LayerSettingsTest, EveryFieldIsReadAsItIsWritten) {
  RoundTripEach(&LayerSettings::breadcrumbs, "CAIRN_BREADCRUMBS",
                {MarkerMode::kOff, MarkerMode::kTop, MarkerMode::kPass, MarkerMode::kFull,
                 MarkerMode::kExact});
  RoundTripEach(&LayerSettings::all_events, "CAIRN_EVENTS", {false, true});
  RoundTripEach(&LayerSettings::check, "CAIRN_CHECK", {false, true});
  RoundTripEach(&LayerSettings::device_fault, "CAIRN_DEVICE_FAULT",
                {DeviceFaultUse::kAuto, DeviceFaultUse::kOn, DeviceFaultUse::kOff});
  RoundTripEach(
      &LayerSettings::log, "CAIRN_LOG",
      {LogLevel::kOff, LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug});
  constexpr uint64_t kLast = ~uint64_t{0};
  std::vector<CaptureSettings> captures = {{}};
  for (const auto& [start, stop] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, kLast}, {0, 1}, {7, kLast}, {10, 21}, {kLast, kLast}, {kLast - 1, kLast}}) {
    for (int bits = 0; bits < 8; ++bits) {
      captures.push_back({true, (bits & 1) != 0, start, stop, (bits & 2) != 0, (bits & 4) != 0});
    }
  }
  RoundTripEach(&LayerSettings::capture, "CAIRN_CAPTURE", captures);
}

TEST(LayerSettingsTest, HostileTextsAreReadAsTheyAreWritten) {
  const std::vector<std::string> texts = {
      "=",   "a=b,c;d", "CAIRN_LOG=debug", "two\nlines \x1b[31m",  "\xff\xfe\x80", " spaced ",
      "off", "%s%n",    "/\xc3\xa4/b:c",   std::string(70000, 'x')};
  LayerSettings all;
  for (const SettingRow& row : kSettingRows) {
    const auto* const field = std::get_if<Setting<std::string> LayerSettings::*>(&row.field);
    if (field == nullptr) continue;
    RoundTripEach(*field, row.variable, texts);
    all.*(*field) = row.variable + texts[1];
  }
  all.capture = CaptureSettings{.on = true};
  all.log = LogLevel::kOff;
  EXPECT_EQ(RoundTrip(all).size(), 12u);
  // The environment ends a text there.
  EXPECT_EQ(*Read({{"CAIRN_DRIVER", std::string("a\0b", 3)}}, nullptr).driver, "a");
}

TEST(LayerSettingsTest, OneVariableAlone) {
  const auto get = [](const char* name) -> const char* {
    return std::string_view(name) == "CAIRN_WITNESSES" ? "none" : "";
  };
  EXPECT_EQ(*ReadSetting<&LayerSettings::witnesses>(get), "none");
  EXPECT_EQ(*ReadSetting<&LayerSettings::driver>(get), "breadcrumb");
  EXPECT_EQ(FormatSetting<&LayerSettings::device_fault>(DeviceFaultUse::kOn),
            "CAIRN_DEVICE_FAULT=on");
  EXPECT_STREQ(kVariableOf<&LayerSettings::watcher_fd>, "CAIRN_WATCHER_FD");
}

TEST(LayerSettingsTest, CaptureIsAListOfWords) {
  std::vector<std::string> complaints;
  const CaptureSettings all =
      *Read({{"CAIRN_CAPTURE", "on,armed,frames=10-20,hash"}}, &complaints).capture;
  EXPECT_EQ(all, (CaptureSettings{true, true, 10, 21, true, false}));
  const CaptureSettings from =
      *Read({{"CAIRN_CAPTURE", "on,frames=7-,hash-resources"}}, &complaints).capture;
  EXPECT_EQ(from, (CaptureSettings{true, false, 7, ~uint64_t{0}, false, true}));
  EXPECT_EQ(*Read({{"CAIRN_CAPTURE", "off"}}, &complaints).capture, CaptureSettings());
  EXPECT_THAT(complaints, IsEmpty());
  EXPECT_EQ(FormatSetting<&LayerSettings::capture>(all),
            "CAIRN_CAPTURE=on,armed,frames=10-20,hash");
}

TEST(LayerSettingsTest, ACaptureThatMeansNothingIsNone) {
  for (const char* const value :
       {"yes", "on,", "on,frames", "on,frames=", "on,frames=3", "armed", "on,frames=5-4",
        "on,frames=a-b", "on,frames=-1-", "on,frames=18446744073709551616-", "on,loud", "one"}) {
    std::vector<std::string> complaints;
    EXPECT_FALSE(Read({{"CAIRN_CAPTURE", value}}, &complaints).capture->on) << value;
    EXPECT_THAT(complaints,
                ElementsAre(std::string("CAIRN_CAPTURE is '") + value +
                            "', which is neither off nor on[,armed][,frames=A-B][,hash]; nothing "
                            "is captured"));
  }
}

TEST(LayerSettingsTest, WhatMeansNothingIsReportedAndCountsAsTheDefault) {
  std::vector<std::string> complaints;
  const LayerSettings settings = Read({{"CAIRN_BREADCRUMBS", "most"},
                                       {"CAIRN_EVENTS", "ALL"},
                                       {"CAIRN_DEVICE_FAULT", "1"},
                                       {"CAIRN_CHECK", "yes"},
                                       {"CAIRN_LOG", "loud"}},
                                      &complaints);
  EXPECT_EQ(*settings.breadcrumbs, MarkerMode::kTop);
  EXPECT_TRUE(settings.breadcrumbs.is_set());
  EXPECT_FALSE(*settings.all_events);
  EXPECT_FALSE(*settings.check);
  EXPECT_THAT(
      complaints,
      ElementsAre(
          "CAIRN_BREADCRUMBS is 'most', which is none of off, top, pass, full, exact; top is used",
          "CAIRN_EVENTS is 'ALL', which is neither retail nor all; retail is used",
          "CAIRN_DEVICE_FAULT is '1', which is none of auto, on, off; auto is used",
          "CAIRN_CHECK is 'yes', which is neither 0 nor 1; 0 is used",
          "CAIRN_LOG is 'loud', which is none of off, error, warning, info, debug; warning is "
          "used"));
}

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the names CAIRN_... of `text` between `before` and one of the characters of `behind`.
std::set<std::string> NamesIn(const std::string& text, const std::string& before,
                              std::string_view behind) {
  std::set<std::string> names;
  const std::string start = before + "CAIRN_";
  for (size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
    const size_t name = at + before.size();
    const size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", name);
    const bool is_whole = end != text.npos && behind.find(text[end]) != behind.npos;
    if (is_whole && end != at + start.size()) names.insert(text.substr(name, end - name));
  }
  return names;
}

bool IsForTests(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.find("_test.") != name.npos || name.find("_bench.") != name.npos;
}

// The page has every variable that the product spells, and no other. Settings of the layers are spelt by
// layer_settings.h alone.
TEST(LayerSettingsTest, ThePageHasTheSameVariables) {
  namespace fs = std::filesystem;
  const fs::path root = CAIRN_SOURCE_DIR;
  std::set<std::string> settings;
  for (const SettingRow& row : kSettingRows) settings.insert(row.variable);
  std::set<std::string> spelt;
  for (const auto& entry : fs::recursive_directory_iterator(root / "src")) {
    const fs::path& file = entry.path();
    // errors.cc has the names of the public errors.
    if (!entry.is_regular_file() || IsForTests(file) || file.filename() == "errors.cc") continue;
    for (const std::string& name : NamesIn(TextOf(file), "\"", "=\"")) {
      spelt.insert(name);
      EXPECT_TRUE(settings.count(name) == 0 || file.filename() == "layer_settings.h")
          << file << " spells " << name << ": kVariableOf does it";
    }
  }
  const std::string page = TextOf(root / "docs" / "reference" / "environment.md");
  EXPECT_EQ(NamesIn(page, "\n| `", "`"), spelt);
  EXPECT_THAT(spelt, testing::IsSupersetOf(settings));
}

}  // namespace
}  // namespace cairn
