// SPDX-License-Identifier: Apache-2.0
#include "format/settings/layer_settings.h"

#include <charconv>

namespace cairn {

namespace {

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

// ParseValue leaves `value` untouched and returns false where the text means nothing.
bool ParseValue(const SettingRow&, std::string_view text, CaptureSettings* value) {
  CaptureSettings parsed;
  if (text != "off") {
    size_t comma = text.find(',');
    if (text.substr(0, comma) != "on") return false;
    parsed.on = true;
    while (comma != std::string_view::npos) {
      text.remove_prefix(comma + 1);
      comma = text.find(',');
      if (!ParseCaptureWord(text.substr(0, comma), &parsed)) return false;
    }
  }
  *value = parsed;
  return true;
}

bool ParseValue(const SettingRow&, std::string_view text, std::string* value) {
  *value = text;
  return true;
}

template <typename T>
bool ParseValue(const SettingRow& row, std::string_view text, T* value) {
  for (const SettingWord& word : row.words) {
    if (word.text.empty() || word.text != text) continue;
    *value = static_cast<T>(word.value);
    return true;
  }
  return false;
}

std::string FormatValue(const SettingRow&, const CaptureSettings& value) {
  if (!value.on) return "off";
  std::string text = "on";
  if (value.armed) text += ",armed";
  if (value.start_frame != 0 || value.stop_frame != ~uint64_t{0}) {
    text += ",frames=" + std::to_string(value.start_frame) + "-";
    if (value.stop_frame != ~uint64_t{0}) text += std::to_string(value.stop_frame - 1);
  }
  if (value.hash_frames) text += ",hash";
  if (value.hash_resources) text += ",hash-resources";
  return text;
}

std::string FormatValue(const SettingRow&, const std::string& value) {
  return value;
}

template <typename T>
std::string FormatValue(const SettingRow& row, T value) {
  return std::string(SettingWordOf(row, static_cast<int>(value)));
}

std::string Expected(const SettingRow&, const CaptureSettings&) {
  return "neither off nor on[,armed][,frames=A-B][,hash]; nothing is captured";
}

std::string Expected(const SettingRow&, const std::string&) {
  return {};  // every text means something
}

// "none of off, top, full; top is used", or of two words "neither 0 nor 1; 0 is used".
template <typename T>
std::string Expected(const SettingRow& row, T otherwise) {
  const std::string used = FormatValue(row, otherwise);
  std::string all;
  std::string others;
  size_t count = 0;
  for (const SettingWord& word : row.words) {
    if (word.text.empty()) break;
    all += (count++ == 0 ? "" : ", ") + std::string(word.text);
    if (word.text != used) others = word.text;
  }
  return (count == 2 ? "neither " + used + " nor " + others : "none of " + all) + "; " + used +
         " is used";
}

}  // namespace

std::string_view SettingWordOf(const SettingRow& row, int value) {
  for (const SettingWord& word : row.words) {
    if (word.value == value && !word.text.empty()) return word.text;
  }
  return {};
}

void ParseSetting(const SettingRow& row, const char* text, const std::string& source,
                  LayerSettings* settings, std::vector<std::string>* complaints) {
  if (text == nullptr) return;
  std::visit(
      [&](auto field) {
        auto value = *(settings->*field);
        if (text[0] != 0 && !ParseValue(row, text, &value) && complaints != nullptr) {
          complaints->push_back(source + " is '" + text + "', which is " + Expected(row, value));
        }
        settings->*field = std::move(value);
      },
      row.field);
}

std::string FormatSetting(const SettingRow& row, const LayerSettings& settings) {
  return std::visit(
      [&](auto field) { return row.variable + ("=" + FormatValue(row, *(settings.*field))); },
      row.field);
}

LayerSettings ParseLayerSettings(const GetVariable& get, std::vector<std::string>* complaints) {
  LayerSettings settings;
  for (const SettingRow& row : kSettingRows) {
    ParseSetting(row, get(row.variable), row.variable, &settings, complaints);
  }
  return settings;
}

std::vector<std::string> FormatLayerSettings(const LayerSettings& settings) {
  std::vector<std::string> variables;
  for (const SettingRow& row : kSettingRows) {
    const bool is_set =
        std::visit([&](auto field) { return (settings.*field).is_set(); }, row.field);
    if (is_set) variables.push_back(FormatSetting(row, settings));
  }
  return variables;
}

}  // namespace cairn
