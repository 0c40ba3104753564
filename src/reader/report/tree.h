// SPDX-License-Identifier: Apache-2.0
//
// The tree of frames, command lists and scopes, as text.
#ifndef CAIRN_READER_REPORT_TREE_H_
#define CAIRN_READER_REPORT_TREE_H_

#include <cstdint>
#include <vector>

#include "reader/report/line_sink.h"
#include "reader/report/text.h"

namespace cairn {

class TreePrinter {
 public:
  // Everything is referred to and must live as long.
  TreePrinter(const Snapshot& snapshot, const Findings& findings, const TextOptions& options);

  // Prints all frames, oldest first. May be called again, for a second sink.
  void Print(LineSink& sink);

 private:
  // Executions of one frame of one device: they stand side by side.
  struct Frame {
    uint32_t device = kNone;
    uint64_t number = 0;
    uint32_t first = 0;  // into Analysis::executions
    uint32_t end = 0;
    bool quiet = false;  // all have finished and are collapsed
  };

  void FindFrames();
  uint32_t DeviceOf(const Execution& execution) const {
    return snapshot_.recordings[execution.recording].device;
  }
  bool IsShown(const Execution& execution) const;
  bool IsExpanded(const Execution& execution) const;
  bool IsExpanded(const Scope& scope) const;
  // Executions from `first` on, in one frame, that are collapsed in the same state.
  uint32_t CollapsedLists(uint32_t first) const;
  // Siblings from `first` on that are collapsed in the same state and have no line of their own
  // worth reading; `end` is where their parent ends.
  uint32_t CollapsedScopes(uint32_t first, uint32_t end) const;

  // Frames from `first` on, of one device, in which everything is completed.
  size_t QuietFrames(size_t first) const;

  void PrintFrame(LineSink& sink, const Frame& frame);
  void PrintList(LineSink& sink, uint32_t execution);
  void PrintScopes(LineSink& sink, const Execution& execution);
  void PrintScope(LineSink& sink, uint32_t scope, bool is_last);
  void AppendIndent(uint32_t depth, bool is_last, std::string& line) const;

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  uint32_t only_device_;
  const TextOptions& options_;
  bool several_devices_ = false;
  std::vector<Frame> frames_;
  std::vector<bool> tells_submissions_;  // by device
  std::vector<bool> printed_;            // by scope: the first scope of an execution already shown
  std::vector<uint8_t> more_siblings_;   // by depth: the branch goes on below
};

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_TREE_H_
