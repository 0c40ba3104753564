// SPDX-License-Identifier: Apache-2.0
//
// Shared by searches of traces and of programs on the command line.
#ifndef CAIRN_CLI_BISECT_PARTS_H_
#define CAIRN_CLI_BISECT_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/gpu_check.h"
#include "cli/progress.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_journal.h"

namespace cairn::cli {

// The progress that a search prints on stderr.
enum class ProbeProgress {
  kNone,
  kLine,   // one that is written over, if that is a terminal
  kLines,  // one below the other, for who reads them
};

// `lines`: --progress. `quiet`: --quiet, --json.
ProbeProgress ProgressOf(bool lines, bool quiet);

// Shows a bar and the remaining work.
class ProbeLine {
 public:
  explicit ProbeLine(ProbeProgress progress);
  ~ProbeLine() { Clear(); }
  ProbeLine(const ProbeLine&) = delete;
  ProbeLine& operator=(const ProbeLine&) = delete;

  void Show(const BisectProgress& progress, uint64_t average_ms);
  // Shows `what` until the next Show.
  void ShowWait(const std::string& what) const;
  void Clear() const;

 private:
  void Write(const std::string& text) const;

  const ProbeProgress progress_;
};

// Says on `line` that it waits, and ends with ^C. Both have to outlive it.
GpuCheck MakeGpuCheck(uint64_t recovery_ns, TaskProgress* signals, ProbeLine* line);

// "game.cairn", ".bisect" -> "game.bisect"
std::string WithEnding(const std::string& path, const char* ending);

// The variables of this process that choose a driver and a device: "A=1, B=2".
std::string DriverVariables();

// Reports if answers of an earlier search are used or discarded. They are worth hours: a discard is
// reported even without being asked.
void TellOfJournal(std::string_view verb, const BisectJournal& journal, const std::string& path,
                   bool quiet);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_BISECT_PARTS_H_
