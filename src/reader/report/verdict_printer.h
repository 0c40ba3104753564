// SPDX-License-Identifier: Apache-2.0
//
// Parts of the text report: the answer with next steps and suspects, which come first, and the work
// that was running on each queue.
#ifndef CAIRN_READER_REPORT_VERDICT_PRINTER_H_
#define CAIRN_READER_REPORT_VERDICT_PRINTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/report/answer_text.h"
#include "reader/report/line_sink.h"
#include "reader/report/next_steps.h"
#include "reader/report/text.h"

namespace cairn {

class VerdictPrinter {
 public:
  // Everything is referred to and must live as long.
  VerdictPrinter(const Snapshot& snapshot, const Findings& findings, const TextOptions& options);

  // Each may be called again, for a second sink.
  // The answer, and the first suspects; with CAIRN_PRINT_EXTENDED_DEVICE_INFO all of them.
  void PrintFinding(LineSink& sink);
  // For each queue what is concluded, and why. Its candidates where PrintFinding has no suspects, or with that
  // flag.
  void PrintQueues(LineSink& sink);

 private:
  bool IsShown(uint32_t device) const {
    return findings_.device == kNone || device == findings_.device;
  }
  // Each command, and its effect below it.
  // The first step has `label` before it, each other one `others`.
  static void PrintSteps(LineSink& sink, std::string_view label, std::string_view others,
                         const std::vector<NextStep>& steps);
  void PrintHeadline(LineSink& sink, const AnswerText& answer);
  void PrintSuspects(LineSink& sink);
  void AppendLegend(const std::vector<SuspectWork>& suspects);
  WorkState StateOf(const SuspectWork& suspect) const;
  void PrintBindingsOfOnlySuspect(LineSink& sink);
  void PrintSuspect(LineSink& sink, size_t number, const SuspectWork& suspect);
  void AppendPipelineAndReason(const SuspectWork& suspect, bool with_binding);
  void PrintQueue(LineSink& sink, const QueueVerdict& verdict);
  void PrintCandidates(LineSink& sink, const QueueVerdict& verdict);
  void PrintCandidate(LineSink& sink, const QueueVerdict& verdict, const CandidateContext& context);
  void PrintLateSuspect(LineSink& sink, const QueueVerdict& verdict);
  void PrintPipeline(LineSink& sink, const Scope& scope);
  void PrintContext(LineSink& sink, const CandidateContext& context);
  void PrintBindings(LineSink& sink, const CandidateContext& context);
  void PrintHidden(LineSink& sink, size_t count, const char* what);

  const Snapshot& snapshot_;
  const Findings& findings_;
  const Analysis& analysis_;  // of these
  const std::string& file_;
  uint32_t print_flags_;
  bool all_;
  bool with_pipelines_;
  bool several_queues_ = false;  // that suspects lie on
  std::string text_;             // the sentence being built
};

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_VERDICT_PRINTER_H_
