// SPDX-License-Identifier: Apache-2.0
//
// The sections of the text report about what drivers said and what queues wait for: the fault, the graph of
// waits, checkpoints. Each prints nothing where there is nothing.
#ifndef CAIRN_READER_REPORT_DIAGNOSTICS_H_
#define CAIRN_READER_REPORT_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reader/report/line_sink.h"
#include "reader/report/text.h"

namespace cairn {

class DiagnosticsPrinter {
 public:
  // The arguments are referred to and must live as long. The deadlock of the answer was printed
  // already.
  DiagnosticsPrinter(const Snapshot& snapshot, const Findings& findings,
                     const TextOptions& options);

  // Prints the faults. May be called again, for a second sink.
  void PrintFaults(LineSink& sink);
  // Prints the heaps of devices where they are known.
  void PrintMemory(LineSink& sink);
  void PrintFreedInFlight(LineSink& sink);
  void PrintKernelLog(LineSink& sink);
  void PrintWaits(LineSink& sink);
  void PrintCheckpoints(LineSink& sink);

 private:
  bool IsShown(uint32_t device) const {
    return findings_.device == kNone || device == findings_.device;
  }
  bool IsShownQueue(uint32_t queue) const {
    return queue == kNone || IsShown(snapshot_.queues[queue].device);
  }
  void PrintFault(LineSink& sink, uint32_t index);
  void PrintFaultAddress(LineSink& sink, const FaultAddressVerdict& verdict);
  void PrintAround(LineSink& sink, const FaultAddressVerdict& verdict);
  void PrintCrashes(LineSink& sink, bool any);
  size_t MostOwners() const;
  void PrintQueueWaits(LineSink& sink, const QueueWaits& waits);
  void PrintHeldQueue(LineSink& sink, uint32_t queue, uint32_t depth);
  void PrintWait(LineSink& sink, uint32_t wait, uint32_t depth);
  void PrintSyncs(LineSink& sink);
  void AppendPlace(uint32_t queue, uint64_t submission);
  void IndexQueueWaits();

  const Snapshot& snapshot_;
  const Findings& findings_;
  const WaitGraph& waits_;  // of these
  bool all_;
  // The position of a queue's waits; a hostile file may claim any number of them.
  struct PlaceOfWaits {
    uint32_t waits = kNone;  // into WaitGraph::queues
    uint32_t held = kNone;   // into WaitGraph::waits: the first that is not satisfied
  };
  std::vector<PlaceOfWaits> places_;   // by queue
  std::vector<bool> told_waits_;       // by wait: it stands in a tree above
  std::vector<uint32_t> open_queues_;  // of the branch that is being printed
  std::string text_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_DIAGNOSTICS_H_
