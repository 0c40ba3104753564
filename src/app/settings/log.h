// SPDX-License-Identifier: Apache-2.0
//
// What the layer says to the person who runs the program: one line an event, to stderr. A line starts
// with "cairn: " and the level; it has colour where stderr is a terminal and NO_COLOR is not set.
// CAIRN_LOG chooses how much is said: off, error, warning (default), info, debug.
#ifndef CAIRN_APP_SETTINGS_LOG_H_
#define CAIRN_APP_SETTINGS_LOG_H_

#include <cstdint>
#include <string_view>

namespace cairn {

enum class LogLevel : uint8_t { kOff = 0, kError = 1, kWarning = 2, kInfo = 3, kDebug = 4 };

// What CAIRN_LOG asks for; read once. An unknown word counts as the default, and is reported.
LogLevel MaxLogLevel();

// The level that a word of CAIRN_LOG names; false, and `level` untouched, for any other text.
bool ParseLogLevel(std::string_view text, LogLevel* level);

// Writes one line with one system call, so that lines of several threads do not mix. Characters that
// act on a terminal are written out. Never throws, never fails visibly. Any thread.
void Log(LogLevel level, std::string_view message) noexcept;

// The same, once in the life of the process for each `key`.
void LogOnce(LogLevel level, std::string_view key, std::string_view message) noexcept;

// A line that was asked for explicitly, such as the report of CAIRN_CHECK: as it is, without a level,
// whatever CAIRN_LOG says.
void LogAlways(std::string_view message) noexcept;

// "error", "warning", "info", "debug" or "off".
std::string_view LogLevelName(LogLevel level);

}  // namespace cairn

#endif  // CAIRN_APP_SETTINGS_LOG_H_
