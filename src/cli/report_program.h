// SPDX-License-Identifier: Apache-2.0
//
// The program of --on-report, which gets each report that the watcher has written: a crash reporter's, a script's.
// Each run of it has a process of Cairn between (`cairn hand-on`), which reads the report first: what is wrong with
// that, or with the program, does not reach the watcher.
#ifndef CAIRN_CLI_REPORT_PROGRAM_H_
#define CAIRN_CLI_REPORT_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/verb.h"
#include "os/child.h"

namespace cairn::cli {

inline constexpr size_t kMostReportPrograms = 4;  // at once
inline constexpr size_t kMostWaitingReports =
    100;  // for one of them to end; docs/reference/bounds.md

inline constexpr char kOnReportHelp[] =
    "Run COMMAND for each file that is written, with FILE as its last argument and a line of JSON, "
    "that of "
    "cairn triage --jsonl, as its input";

// The watcher's thread.
class ReportProgram {
 public:
  // Its first word is a path, or a name in PATH; the file is its last argument. "": there is none, and nothing is done.
  explicit ReportProgram(std::string_view command);

  // kNotFound if there is no such program that can be executed.
  Status Check() const;
  // Runs the program for this file; later, if too many run already. Does not wait.
  void Add(const std::string& path);
  // Begins with those that wait, as others have ended. True: one runs; look again.
  bool Look();
  // The process groups in which it ran, and runs.
  const std::vector<ProcessId>& groups() const { return groups_; }
  // Runs it for those that wait, and waits for its ends. A request to end this process ends it.
  // `say`, if it is not empty, takes a line if that takes long.
  void Finish(const std::function<void(const std::string& line)>& say);

 private:
  void StartSome();

  const std::vector<std::string> program_;
  std::vector<Child> running_;
  std::vector<ProcessId> groups_;
  std::deque<std::string> waiting_;
  uint64_t dropped_ = 0;
};

// `cairn hand-on FILE -- PROGRAM ARGUMENTS`, which it starts.
Verb AddHandOnVerb(CLI::App& root);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_REPORT_PROGRAM_H_
