// SPDX-License-Identifier: Apache-2.0
#include "cli/report_store.h"

#include <fmt/format.h>

#include <vector>

#include "cli/verb.h"
#include "os/environment.h"
#include "os/file.h"
#include "watcher/report_folder.h"

namespace cairn::cli {

std::string ReportFolder() {
  // By the XDG base directory specification, relative paths are ignored.
  const auto folder_of = [](const char* name, const char* behind) {
    const char* const value = OwnVariable(name);
    return value == nullptr || value[0] != '/' ? "" : std::string(value) + behind;
  };
  const std::string folder = folder_of("XDG_STATE_HOME", "/cairn");
  return folder.empty() ? folder_of("HOME", "/.local/state/cairn") : folder;
}

CommandOption AddLastOption(Command* command, bool* last) {
  return command->Flag("--last", last, "The newest report of cairn watchd, in the place of FILE");
}

bool NameLastReport(std::string_view verb, bool last, std::string* path) {
  if (!last) return true;
  if (!path->empty()) {
    PrintError(verb, fmt::format("--last takes the newest report; say cairn {0} --last, or cairn "
                                 "{0} {1}",
                                 verb, *path));
    return false;
  }
  const std::string folder = ReportFolder();
  const std::vector<StoredReport> reports = StoredReports(folder);
  if (reports.empty()) {
    PrintError(verb, fmt::format("--last: there is no report in '{}'; cairn watchd writes them "
                                 "there, cairn run into the working directory",
                                 folder));
    return false;
  }
  *path = reports.front().path;
  return true;
}

}  // namespace cairn::cli
