// SPDX-License-Identifier: Apache-2.0
#include "app/settings/layer_settings.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "app/settings/log.h"
#include "os/environment.h"

namespace cairn {

namespace {

constexpr std::pair<std::string_view, MarkerMode> kModes[] = {
    {"off", MarkerMode::kOff},   {"top", MarkerMode::kTop},     {"pass", MarkerMode::kPass},
    {"full", MarkerMode::kFull}, {"exact", MarkerMode::kExact},
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

bool ParseNumber(std::string_view text, uint64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stopped == end;
}

// "A-B", or "A-" for all from A on.
bool ParseFrames(std::string_view value, CaptureSettings* capture) {
  const size_t dash = value.find('-');
  if (dash == std::string_view::npos ||
      !ParseNumber(value.substr(0, dash), &capture->start_frame)) {
    return false;
  }
  if (dash + 1 == value.size()) return true;
  uint64_t last = 0;
  if (!ParseNumber(value.substr(dash + 1), &last) || last < capture->start_frame) return false;
  capture->stop_frame = last == ~uint64_t{0} ? last : last + 1;
  return true;
}

bool ParseCaptureWord(std::string_view word, CaptureSettings* capture) {
  constexpr std::string_view kFrames = "frames=";
  if (word == "armed") {
    capture->armed = true;
  } else if (word == "hash") {
    capture->hash_frames = true;
  } else if (word == "hash-resources") {
    capture->hash_resources = true;
  } else {
    return word.starts_with(kFrames) && ParseFrames(word.substr(kFrames.size()), capture);
  }
  return true;
}

bool ParseCapture(std::string_view value, CaptureSettings* capture) {
  if (value == "off") return true;
  size_t comma = value.find(',');
  if (value.substr(0, comma) != "on") return false;
  CaptureSettings parsed;
  parsed.on = true;
  while (comma != std::string_view::npos) {
    value.remove_prefix(comma + 1);
    comma = value.find(',');
    if (!ParseCaptureWord(value.substr(0, comma), &parsed)) return false;
  }
  *capture = parsed;
  return true;
}

LayerSettings ReadOwnSettings() {
  std::vector<std::string> complaints;
  LayerSettings settings = ReadLayerSettings(OwnVariable, &complaints);
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
        Complaint("CAIRN_BREADCRUMBS", value, "none of off, top, pass, full, exact; top is used"));
  }
  if (const std::string_view value = value_of("CAIRN_CHECK"); !value.empty()) {
    settings.check = value == "1";
    if (value != "0" && value != "1") {
      complaints->push_back(Complaint("CAIRN_CHECK", value, "neither 0 nor 1; 0 is used"));
    }
  }
  if (const std::string_view value = value_of("CAIRN_EVENTS"); !value.empty()) {
    settings.all_events = value == "all";
    if (value != "all" && value != "retail") {
      complaints->push_back(
          Complaint("CAIRN_EVENTS", value, "neither retail nor all; retail is used"));
    }
  }
  if (const std::string_view value = value_of("CAIRN_DRIVER"); !value.empty()) {
    settings.driver = value;
  }
  if (const std::string_view value = value_of("CAIRN_CAPTURE");
      !value.empty() && !ParseCapture(value, &settings.capture)) {
    complaints->push_back(
        Complaint("CAIRN_CAPTURE", value,
                  "neither off nor on[,armed][,frames=A-B][,hash]; nothing is captured"));
  }
  return settings;
}

const LayerSettings& Settings() {
  // Never destroyed: objects may still be released while the process ends.
  static const LayerSettings& settings = *new LayerSettings(ReadOwnSettings());
  return settings;
}

}  // namespace cairn
