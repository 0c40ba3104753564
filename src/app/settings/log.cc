// SPDX-License-Identifier: Apache-2.0
#include "app/settings/log.h"

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "base/text.h"
#include "os/environment.h"
#include "os/standard_error.h"
#include "os/terminal.h"

namespace cairn {

namespace {

constexpr std::string_view kColours[] = {"", "\x1b[31m", "\x1b[33m", "\x1b[36m", "\x1b[2m"};
constexpr std::string_view kColourEnd = "\x1b[0m";

bool HasColour() {
  static const bool has = IsTerminal(StandardStream::kError) && std::getenv("NO_COLOR") == nullptr;
  return has;
}

void WriteLine(LogLevel level, std::string_view message) {
  std::string line;
  if (level != LogLevel::kOff) {
    line = "cairn: ";
    const bool colour = HasColour();
    if (colour) line += kColours[static_cast<size_t>(level)];
    line += SettingWordOf(kRowOf<&LayerSettings::log>, static_cast<int>(level));
    line += ':';
    if (colour) line += kColourEnd;
    line += ' ';
  }
  AppendVisibleText(message, line);
  line += '\n';
  WriteStandardError(line);
}

}  // namespace

LogLevel MaxLogLevel() {
  static const LogLevel level = *ReadSetting<&LayerSettings::log>(OwnVariable);
  return level;
}

void Log(LogLevel level, std::string_view message) noexcept {
  try {
    if (level == LogLevel::kOff || level > MaxLogLevel()) return;
    WriteLine(level, message);
  } catch (...) {  // No memory for a line: the program's own calls matter more.
  }
}

void LogOnce(LogLevel level, std::string_view key, std::string_view message) noexcept {
  try {
    if (level == LogLevel::kOff || level > MaxLogLevel()) return;
    // Never destroyed: objects may still be released while the process ends.
    static std::mutex& mutex = *new std::mutex;
    static std::set<std::string, std::less<>>& said = *new std::set<std::string, std::less<>>;
    {
      const std::lock_guard lock(mutex);
      if (!said.emplace(key).second) return;
    }
    WriteLine(level, message);
  } catch (...) {
  }
}

void LogEach(const std::vector<std::string>& complaints) noexcept {
  for (const std::string& complaint : complaints) {
    LogOnce(LogLevel::kWarning, complaint, complaint);
  }
}

void LogAlways(std::string_view message) noexcept {
  try {
    WriteLine(LogLevel::kOff, message);
  } catch (...) {
  }
}

}  // namespace cairn
