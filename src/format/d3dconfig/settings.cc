// SPDX-License-Identifier: Apache-2.0
#include "format/d3dconfig/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "os/user.h"

namespace cairn {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Status LineError(size_t line, const std::string& problem) {
  return Status(StatusCode::kCorrupt, fmt::format("line {}: {}", line, problem));
}

// `line` is neither blank nor a comment.
Status ParseLine(std::string_view line, size_t number, D3DConfigPlace& place) {
  const size_t equals = line.find('=');
  const std::string_view name = Trimmed(line.substr(0, equals));
  if (equals == line.npos || !IsD3DConfigName(name) || !IsPrintable(line)) {
    return LineError(number, "this is no setting (NAME=VALUE)");
  }
  const std::string_view value = Trimmed(line.substr(equals + 1));
  if (name != kForceDriverRetailAnnotations) {
    place.unknown.push_back(fmt::format("{}={}", name, value));
    return Status();
  }
  const std::optional<bool> parsed = ParseD3DConfigSwitch(value);
  if (!parsed.has_value()) {
    return LineError(number, fmt::format("'{}' is neither on nor off", value));
  }
  if (place.force_driver_retail_annotations.has_value()) {
    return LineError(number, fmt::format("{} stands there twice", name));
  }
  place.force_driver_retail_annotations = parsed;
  return Status();
}

// What the place says; nothing, and a warning, if that cannot be known.
D3DConfigPlace ReadOrWarn(D3DConfigScope scope, std::vector<std::string>* warnings) {
  Result<D3DConfigPlace> place = ReadD3DConfigPlace(scope);
  if (place.ok()) return std::move(place).value();
  if (warnings != nullptr) {
    warnings->push_back(place.status().message() + "; its settings have no effect");
  }
  return {};
}

}  // namespace

Result<D3DConfigSettings> ReadD3DConfig(std::vector<std::string>* warnings) {
  const bool has_user = SettingsName(D3DConfigScope::kUser).ok();
  const Result<std::string> system = SettingsName(D3DConfigScope::kSystem);
  if (!has_user && !system.ok()) return system.status();
  // A process without a home has no settings of its user, which is nothing to warn about.
  return CombineD3DConfig(
      has_user ? ReadOrWarn(D3DConfigScope::kUser, warnings) : D3DConfigPlace(),
      system.ok() ? ReadOrWarn(D3DConfigScope::kSystem, warnings) : D3DConfigPlace());
}

D3DConfigScope DefaultD3DConfigScope() {
  return IsAdministrator() ? D3DConfigScope::kSystem : D3DConfigScope::kUser;
}

Result<D3DConfigPlace> ReadD3DConfigPlace(D3DConfigScope scope) {
  const Result<std::string> text = ReadSettings(scope, kMaxD3DConfigBytes);
  if (!text.ok()) return text.status();
  Result<D3DConfigPlace> place = ParseD3DConfig(*text);
  if (place.ok()) return place;
  const Result<std::string> name = SettingsName(scope);
  if (!name.ok()) return name.status();
  return place.status().WithContext(fmt::format("{} is damaged", *name));
}

Status ChangeD3DConfigPlace(D3DConfigScope scope,
                            const std::function<void(D3DConfigPlace&)>& change,
                            std::vector<std::string>* warnings) {
  return ChangeSettings(scope, [&]() -> Result<std::string> {
    Result<D3DConfigPlace> place = ReadD3DConfigPlace(scope);
    if (!place.ok()) {
      if (place.status().code() != StatusCode::kCorrupt) return place.status();
      if (warnings != nullptr) {
        warnings->push_back(place.status().message() + "; what it said is replaced");
      }
      place = D3DConfigPlace();
    }
    change(*place);
    return FormatD3DConfig(*place);
  });
}

D3DConfigSettings CombineD3DConfig(const D3DConfigPlace& user, const D3DConfigPlace& system) {
  D3DConfigSettings settings;
  settings.force_driver_retail_annotations = user.force_driver_retail_annotations.value_or(false) ||
                                             system.force_driver_retail_annotations.value_or(false);
  return settings;
}

Result<std::string> FormatD3DConfig(const D3DConfigPlace& place) {
  std::string text = "# Settings of Direct3D 12 devices. Change them with the command d3dconfig.\n";
  if (place.force_driver_retail_annotations.has_value()) {
    text += fmt::format("{}={}\n", kForceDriverRetailAnnotations,
                        *place.force_driver_retail_annotations ? "on" : "off");
  }
  for (const std::string& line : place.unknown) text += line + '\n';
  if (text.size() <= kMaxD3DConfigBytes) return text;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("the settings would be {} bytes; at most {} are read", text.size(),
                            kMaxD3DConfigBytes));
}

Result<D3DConfigPlace> ParseD3DConfig(std::string_view text) {
  if (text.size() > kMaxD3DConfigBytes) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("{} bytes are more than the {} that settings take", text.size(),
                              kMaxD3DConfigBytes));
  }
  D3DConfigPlace place;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    CAIRN_RETURN_IF_ERROR(ParseLine(line, number, place));
  }
  return place;
}

bool IsD3DConfigName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

std::optional<bool> ParseD3DConfigSwitch(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower == "on" || lower == "true") return true;
  if (lower == "off" || lower == "false") return false;
  return std::nullopt;
}

}  // namespace cairn
