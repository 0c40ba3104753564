// SPDX-License-Identifier: Apache-2.0
#include "icd/settings.h"

#include <charconv>

namespace cairn::icd {
namespace {

struct Nickname {
  std::string_view word;
  const char* extension;
};
constexpr Nickname kNicknames[] = {
    {"no-buffer-marker", "VK_AMD_buffer_marker"},
    {"no-host-import", "VK_EXT_external_memory_host"},
    {"no-checkpoints", "VK_NV_device_diagnostic_checkpoints"},
    {"no-device-fault", "VK_EXT_device_fault"},
    {"no-address-binding", "VK_EXT_device_address_binding_report"},
    {"no-debug-marker", "VK_EXT_debug_marker"},
    {"no-debug-utils", "VK_EXT_debug_utils"},
};

struct Flag {
  std::string_view word;
  bool Settings::*member;
};
constexpr Flag kFlags[] = {
    {"no-vendor-binary", &Settings::no_vendor_binary},
    {"refuse-imports", &Settings::refuse_imports},
    {"reuse-addresses", &Settings::reuse_addresses},
    {"nvidia", &Settings::nvidia},
    {"radv", &Settings::radv},
    {"lazy", &Settings::lazy},
    {"dies", &Settings::dies},
    {"sticks", &Settings::sticks},
    {"draws-stick", &Settings::draws_stick},
};

bool ParseLimit(std::string_view word, Settings* settings) {
  constexpr std::string_view kName = "bottom-line=";
  if (!word.starts_with(kName)) return false;
  const std::string_view digits = word.substr(kName.size());
  const char* end = digits.data() + digits.size();
  const auto [stop, status] = std::from_chars(digits.data(), end, settings->bottom_line_limit);
  return status == std::errc() && stop == end && settings->bottom_line_limit > 0;
}

bool ParsePath(std::string_view word, Settings* settings) {
  constexpr std::string_view kName = "sticks-after-hang=";
  if (!word.starts_with(kName) || word.size() == kName.size()) return false;
  settings->sticks_after_hang = word.substr(kName.size());
  return true;
}

bool ParseWord(std::string_view word, Settings* settings) {
  for (const Nickname& nickname : kNicknames) {
    if (word != nickname.word) continue;
    settings->missing_extensions.insert(nickname.extension);
    return true;
  }
  for (const Flag& flag : kFlags) {
    if (word != flag.word) continue;
    settings->*flag.member = true;
    return true;
  }
  if (word.starts_with("no-VK_")) {
    settings->missing_extensions.emplace(word.substr(3));
    return true;
  }
  return ParseLimit(word, settings) || ParsePath(word, settings);
}

}  // namespace

bool ParseSettings(std::string_view text, Settings* settings, std::string* error) {
  while (!text.empty()) {
    const size_t end = text.find(',');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty() || ParseWord(word, settings)) continue;
    *error = "CAIRN_ICD has \"" + std::string(word) +
             "\", which is no setting; tests/icd/README.md lists them";
    return false;
  }
  return true;
}

}  // namespace cairn::icd
