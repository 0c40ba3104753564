// SPDX-License-Identifier: Apache-2.0
#include "cli/report_store.h"

#include <fmt/format.h>

#include <vector>

#include "cli/verb.h"
#include "os/environment.h"
#include "os/file.h"
#include "watcher/report_folder.h"

namespace cairn::cli {

std::string XdgFolder(const char* variable, const char* in_home) {
  const auto path_of = [](const char* name) {
    const char* const value = OwnVariable(name);
    return value == nullptr || value[0] != '/' ? std::string() : std::string(value);
  };
  const std::string folder = path_of(variable);
  const std::string home = path_of("HOME");
  return !folder.empty() || home.empty() ? folder : home + in_home;
}

std::string ReportFolder() {
  const std::string state = XdgFolder("XDG_STATE_HOME", "/.local/state");
  return state.empty() ? "" : state + "/cairn";
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
