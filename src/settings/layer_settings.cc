// SPDX-License-Identifier: Apache-2.0
#include "settings/layer_settings.h"

#include <stdlib.h>

#include <string_view>
#include <utility>

#include "settings/log.h"

namespace cairn {

namespace {

constexpr std::pair<std::string_view, MarkerMode> kModes[] = {
    {"off", MarkerMode::kOff},
    {"top", MarkerMode::kTop},
    {"pass", MarkerMode::kPass},
    {"full", MarkerMode::kFull},
};

std::string Complaint(const char* name, std::string_view value, const char* rest) {
  std::string text = name;
  text += " is '";
  text += value;
  text += "', which is ";
  text += rest;
  return text;
}

bool ParseMode(std::string_view value, MarkerMode* mode) {
  for (const auto& [name, known] : kModes) {
    if (value != name) continue;
    *mode = known;
    return true;
  }
  return false;
}

const char* Environment(const char* name) {
  return getenv(name);
}

LayerSettings ReadOwnSettings() {
  std::vector<std::string> complaints;
  LayerSettings settings = ReadLayerSettings(Environment, &complaints);
  for (const std::string& complaint : complaints) Log(LogLevel::kWarning, complaint);
  return settings;
}

}  // namespace

LayerSettings ReadLayerSettings(const char* (*get)(const char* name),
                                std::vector<std::string>* complaints) {
  const auto value_of = [&](const char* name) -> std::string_view {
    const char* const value = get(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  };
  LayerSettings settings;
  if (const std::string_view value = value_of("CAIRN_BREADCRUMBS");
      !value.empty() && !ParseMode(value, &settings.breadcrumbs)) {
    complaints->push_back(
        Complaint("CAIRN_BREADCRUMBS", value, "none of off, top, pass, full; top is used"));
  }
  if (const std::string_view value = value_of("CAIRN_CHECK"); !value.empty()) {
    settings.check = value == "1";
    if (value != "0" && value != "1") {
      complaints->push_back(Complaint("CAIRN_CHECK", value, "neither 0 nor 1; 0 is used"));
    }
  }
  if (const std::string_view value = value_of("CAIRN_DRIVER"); !value.empty()) {
    settings.driver = value;
  }
  return settings;
}

const LayerSettings& Settings() {
  // Never destroyed: objects may still be released while the process ends.
  static const LayerSettings& settings = *new LayerSettings(ReadOwnSettings());
  return settings;
}

}  // namespace cairn
