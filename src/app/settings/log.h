// SPDX-License-Identifier: Apache-2.0
//
// What the layer says to the person who runs the program: one line an event, to stderr. A line starts
// with "cairn: " and the level; it has colour where stderr is a terminal and NO_COLOR is not set.
// CAIRN_LOG chooses how much is said.
#ifndef CAIRN_APP_SETTINGS_LOG_H_
#define CAIRN_APP_SETTINGS_LOG_H_

#include <string>
#include <string_view>
#include <vector>

#include "format/settings/layer_settings.h"

namespace cairn {

// Returns the level that CAIRN_LOG asks for. Read once.
LogLevel MaxLogLevel();

// Writes one line with one system call, so that lines of several threads do not mix. Characters that
// act on a terminal are written out. Never throws, never fails visibly. Any thread.
void Log(LogLevel level, std::string_view message) noexcept;

// The same, once in the life of the process for each `key`.
void LogOnce(LogLevel level, std::string_view key, std::string_view message) noexcept;

// Complaints of ParseLayerSettings: a warning each, once in the life of the process.
void LogEach(const std::vector<std::string>& complaints) noexcept;

// A line that was asked for explicitly, such as the report of CAIRN_CHECK: as it is, without a level,
// whatever CAIRN_LOG says.
void LogAlways(std::string_view message) noexcept;

}  // namespace cairn

#endif  // CAIRN_APP_SETTINGS_LOG_H_
