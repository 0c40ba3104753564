// SPDX-License-Identifier: Apache-2.0
//
// The reports of `cairn watchd`, for the verbs that read them.
#ifndef CAIRN_CLI_REPORT_STORE_H_
#define CAIRN_CLI_REPORT_STORE_H_

#include <string>
#include <string_view>

#include "cli/command.h"

namespace cairn::cli {

// Returns a folder of the XDG base directory specification, "" if there is none: relative paths are ignored.
std::string XdgFolder(const char* variable, const char* in_home);

// XDG_STATE_HOME/cairn, or that in HOME/.local/state; "" where no such variable is a path, as on Windows, which has no
// such service.
std::string ReportFolder();

// Declares --last, the newest report of cairn watchd in the place of a file.
CommandOption AddLastOption(Command* command, bool* last);
// With `last`, stores the newest report in `path`. Prints one line and returns false if there is none, or if a file is
// given as well.
bool NameLastReport(std::string_view verb, bool last, std::string* path);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_REPORT_STORE_H_
