// SPDX-License-Identifier: Apache-2.0
#include "reader/report/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "reader/report/describe.h"
#include "reader/report/fault_text.h"
#include "reader/report/memory_text.h"
#include "reader/report/reason_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

// The most entries in a report without CAIRN_PRINT_EXTENDED_DEVICE_INFO.
constexpr size_t kWaitsShown = 8;
constexpr size_t kCyclesShown = 4;
constexpr size_t kOwnersShown = 3;
constexpr size_t kFreedShown = 4;
constexpr size_t kCheckpointsShown = 8;
// The most entries in a report with it.
constexpr size_t kSyncsShown = 256;
constexpr uint32_t kDeepestWait = 8;

// Returns the state of the first unfinished submission.
std::string_view StateWord(const QueueWaits& waits) {
  if (waits.begun) return "has begun";
  return waits.held ? "is held back" : "may run";
}

}  // namespace

DiagnosticsPrinter::DiagnosticsPrinter(const Snapshot& snapshot, const Findings& findings,
                                       const TextOptions& options)
    : snapshot_(snapshot),
      findings_(findings),
      waits_(findings.waits),
      all_((options.print_flags & CAIRN_PRINT_EXTENDED_DEVICE_INFO) != 0) {
  text_.reserve(1024);
  IndexQueueWaits();
}

size_t DiagnosticsPrinter::MostOwners() const {
  return all_ ? kMostOwners : kOwnersShown;
}

void DiagnosticsPrinter::PrintFaults(LineSink& sink) {
  bool any = false;
  for (uint32_t i = 0; i < snapshot_.faults.size(); ++i) {
    if (!IsShown(snapshot_.faults[i].device)) continue;
    if (!any) {
      sink.Blank();
      sink.Heading("Fault");
    }
    any = true;
    PrintFault(sink, i);
  }
  PrintCrashes(sink, any);
}

void DiagnosticsPrinter::PrintMemory(LineSink& sink) {
  for (const DeviceMemory& memory : snapshot_.memory) {
    if (!IsShown(memory.device)) continue;
    const bool exhausted = IsExhausted(snapshot_, memory);
    if (!exhausted && !all_) continue;
    sink.Blank();
    text_ = "Memory";
    if (memory.device != kNone)
      fmt::format_to(std::back_inserter(text_), " of device {}", memory.device);
    sink.Heading(text_);
    if (memory.result != 0) {
      text_.clear();
      AppendExhausted(snapshot_, memory, text_);
      sink.Prose(" ! ", text_);
    }
    for (uint32_t i = 0; i < memory.heap_count; ++i) {
      text_.clear();
      AppendHeap(snapshot_.memory_heaps[memory.first_heap + i], i, text_);
      sink.Prose(" - ", text_);
    }
  }
}

void DiagnosticsPrinter::PrintFreedInFlight(LineSink& sink) {
  size_t count = 0;
  for (const FreedInFlight& freed : findings_.freed_in_flight) {
    if (!IsShown(snapshot_.objects[freed.object].device)) continue;
    if (count == 0) {
      sink.Blank();
      text_ = fmt::format("Destroyed while work was {}, and reachable by address", kInFlightWord);
      sink.Heading(text_);
    }
    if (count++ >= kFreedShown && !all_) continue;
    text_.clear();
    AppendFreedInFlight(snapshot_, freed, text_);
    sink.Prose(" ! ", text_);
  }
  if (all_ || count <= kFreedShown) return;
  text_ = fmt::format("… {} more; --all shows them", count - kFreedShown);
  sink.Prose("   ", text_);
}

void DiagnosticsPrinter::PrintKernelLog(LineSink& sink) {
  for (const KernelLog& log : snapshot_.kernel_logs) {
    if (log.line_count == 0 && log.why_not.empty() && !all_) continue;
    sink.Blank();
    sink.Heading("Kernel log");
    if (!log.why_not.empty()) {
      text_ = "the log is unavailable: ";
      AppendVisibleText(snapshot_.Text(log.why_not), text_);
      sink.Prose(" - ", text_);
    } else if (log.line_count == 0) {
      sink.Prose(" - ", "nothing about a GPU since the program started");
    }
    for (uint32_t i = 0; i < log.line_count; ++i) {
      const KernelLine& line = snapshot_.kernel_lines[log.first_line + i];
      text_ = fmt::format("[{}] {}: ", KernelTimeInWords(line.time_ns),
                          line.names_process ? "of this process" : "of no process that is named");
      AppendVisibleText(snapshot_.Text(line.text), text_);
      sink.Prose(line.names_process ? " ! " : " - ", text_);
      for (const FaultAddressVerdict& verdict : findings_.addresses.of_kernel) {
        if (verdict.kernel_line != log.first_line + i) continue;
        text_ = "the page of its address: ";
        for (const std::string& owner : OwnersInWords(snapshot_, verdict, MostOwners())) {
          text_ += owner;
          sink.Prose("      ", text_);
          text_.clear();
        }
      }
    }
  }
}

void DiagnosticsPrinter::PrintFault(LineSink& sink, uint32_t index) {
  const Fault& fault = snapshot_.faults[index];
  text_.clear();
  if (snapshot_.devices.size() > 1 && fault.device != kNone) {
    fmt::format_to(std::back_inserter(text_), "device {}, ", fault.device);
  }
  AppendVisibleText(snapshot_.Text(fault.source), text_);
  if (fault.result < 0) {
    text_ += " could not be asked: ";
    text_ += DeviceLostCodeInWords(fault.result);
  } else if (!fault.description.empty()) {
    text_ += ": \"";
    AppendVisibleText(snapshot_.Text(fault.description), text_);
    text_ += '"';
  }
  const std::string time = MonotonicTimeInWords(snapshot_.process, fault.time_ns);
  if (!time.empty()) fmt::format_to(std::back_inserter(text_), ", at {}", time);
  sink.Prose(" - ", text_);
  if (fault.result >= 0 && fault.address_count == 0) {
    sink.Prose("    ", "The driver reported no address.");
  }
  for (const FaultAddressVerdict& verdict : findings_.addresses.of_drivers) {
    if (verdict.fault == index) PrintFaultAddress(sink, verdict);
  }
  for (uint32_t i = 0; i < fault.vendor_info_count; ++i) {
    const VendorInfo& info = snapshot_.vendor_infos[fault.first_vendor_info + i];
    text_ = "vendor: ";
    AppendVisibleText(snapshot_.Text(info.description), text_);
    fmt::format_to(std::back_inserter(text_), ", code {:#x}, data {:#x}", info.code, info.data);
    sink.Prose("    ", text_);
  }
  if (fault.vendor_binary_bytes == 0) return;
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "binary of the vendor, {}",
                 BytesInWords(fault.vendor_binary_bytes));
  text_ += fault.vendor_binary.empty() ? ", not kept here"
                                       : "; cairn report --extract DIR writes it to a file";
  sink.Prose("    ", text_);
}

void DiagnosticsPrinter::PrintFaultAddress(LineSink& sink, const FaultAddressVerdict& verdict) {
  const FaultAddress& address = snapshot_.fault_addresses[verdict.address];
  text_ = FaultAddressTypeWord(address.type);
  if (verdict.state == AddressState::kNoAddress) {
    sink.Prose("    ", text_);
    return;
  }
  fmt::format_to(std::back_inserter(text_), " at {:#x}", address.address);
  if (verdict.first != verdict.last) {
    fmt::format_to(std::back_inserter(text_), " (somewhere from {:#x} to {:#x})", verdict.first,
                   verdict.last);
  }
  text_ += ": ";
  AppendOwners(snapshot_, verdict, MostOwners(), text_);
  sink.Prose(verdict.state == AddressState::kOwned ? "    " : "  ! ", text_);
  PrintAround(sink, verdict);
}

void DiagnosticsPrinter::PrintAround(LineSink& sink, const FaultAddressVerdict& verdict) {
  text_ = "around it: ";
  const size_t empty = text_.size();
  AppendAround(snapshot_, verdict, text_);
  if (text_.size() != empty) sink.Prose("      ", text_);
}

// Prints the addresses that the CPU accessed when the program died, and the objects there.
void DiagnosticsPrinter::PrintCrashes(LineSink& sink, bool any) {
  for (const FaultAddressVerdict& verdict : findings_.addresses.of_cpu) {
    const bool nothing_near = verdict.below.object == kNone && verdict.above.object == kNone;
    if (verdict.owners.empty() && nothing_near) continue;
    if (!any) {
      sink.Blank();
      sink.Heading("Fault");
    }
    any = true;
    text_ = fmt::format("the CPU, which does the GPU's work here, at {:#x}: ", verdict.given);
    AppendOwners(snapshot_, verdict, MostOwners(), text_);
    sink.Prose(verdict.state == AddressState::kOwned ? " - " : " ! ", text_);
    PrintAround(sink, verdict);
  }
}

void DiagnosticsPrinter::IndexQueueWaits() {
  places_.resize(snapshot_.queues.size());
  for (uint32_t i = 0; i < waits_.queues.size(); ++i) {
    const QueueWaits& waits = waits_.queues[i];
    if (waits.queue == kNone) continue;
    PlaceOfWaits& place = places_[waits.queue];
    place.waits = i;
    for (uint32_t w = waits.first_wait; w < waits.first_wait + waits.wait_count; ++w) {
      if (waits_.waits[w].state == WaitState::kSatisfied) continue;
      place.held = w;
      break;
    }
  }
}

void DiagnosticsPrinter::PrintWaits(LineSink& sink) {
  const bool unfinished =
      std::any_of(waits_.queues.begin(), waits_.queues.end(),
                  [this](const QueueWaits& waits) { return IsShownQueue(waits.queue); });
  if (snapshot_.syncs.empty() || (!unfinished && !all_)) return;
  sink.Blank();
  sink.Heading("Waits");
  told_waits_.assign(waits_.waits.size(), false);
  for (uint32_t i = 0; i < waits_.cycles.size(); ++i) {
    if (!all_ && (i == findings_.culprit.cycle || i >= kCyclesShown)) continue;
    text_ = "Deadlock: ";
    AppendCycle(snapshot_, waits_, waits_.cycles[i], text_);
    text_ += '.';
    sink.Prose(" ! ", text_);
  }
  if (waits_.cycles_left_out != 0) {
    sink.Prose(" ! ", fmt::format("More deadlocks, too many or too long to list: {}.",
                                  waits_.cycles_left_out));
  }
  for (const QueueWaits& waits : waits_.queues) {
    if (IsShownQueue(waits.queue)) PrintQueueWaits(sink, waits);
  }
  if (!unfinished) sink.Prose(" - ", "Nothing waits for a signal that has not come.");
  if (all_) PrintSyncs(sink);
}

void DiagnosticsPrinter::AppendPlace(uint32_t queue, uint64_t submission) {
  if (submission != 0) fmt::format_to(std::back_inserter(text_), "submission {} of ", submission);
  AppendQueue(snapshot_, queue, text_);
}

void DiagnosticsPrinter::PrintQueueWaits(LineSink& sink, const QueueWaits& waits) {
  text_.clear();
  if (waits.queue == kNone) {
    text_ += "the CPU waits";
  } else {
    AppendQueue(snapshot_, waits.queue, text_);
    if (waits.first_unfinished != 0) {
      fmt::format_to(std::back_inserter(text_), ": submission {} of {} {}", waits.first_unfinished,
                     waits.submitted, StateWord(waits));
    } else {
      text_ += waits.held ? ": all work has completed, and it waits" : ": all work has completed";
    }
  }
  // The wait that holds back the queue is printed above with its details.
  const uint32_t held = waits.queue == kNone ? kNone : places_[waits.queue].held;
  if (held != kNone && told_waits_[held] && waits.wait_count == 1 && !all_) {
    text_ += ", as shown above";
    sink.Prose(" - ", text_);
    return;
  }
  sink.Prose(" - ", text_);
  open_queues_.assign(1, waits.queue);
  const size_t limit = all_ ? waits.wait_count : std::min<size_t>(waits.wait_count, kWaitsShown);
  for (uint32_t i = 0; i < limit; ++i) PrintWait(sink, waits.first_wait + i, 1);
  if (limit < waits.wait_count) {
    text_.clear();
    fmt::format_to(std::back_inserter(text_), "… {} more waits; --all shows them",
                   waits.wait_count - limit);
    sink.Prose("    ", text_);
  }
}

void DiagnosticsPrinter::PrintWait(LineSink& sink, uint32_t index, uint32_t depth) {
  const Wait& wait = waits_.waits[index];
  told_waits_[index] = true;
  const Sync& sync = snapshot_.syncs[wait.sync];
  const Sync* signal = wait.signal == kNone ? nullptr : &snapshot_.syncs[wait.signal];
  text_.clear();
  if (wait.held_submission != 0) {
    fmt::format_to(std::back_inserter(text_), "submission {}: ", wait.held_submission);
  } else if ((sync.flags & kSyncPresent) != 0) {
    text_ += "a present: ";
  }
  AppendSync(snapshot_, sync, text_);
  text_ += ", ";
  const auto append_signaller = [&] {
    if (signal == nullptr) {
      text_ += "something that is not known";
    } else if (signal->queue != kNone) {
      AppendPlace(signal->queue, signal->submission_number);
    } else {
      text_ += (signal->flags & kSyncAcquire) != 0 ? "the presentation engine" : "the CPU";
    }
  };
  switch (wait.state) {
    case WaitState::kSatisfied: text_ += "which has come"; break;
    case WaitState::kWillBeSignalled:
      text_ += "which comes from ";
      append_signaller();
      break;
    case WaitState::kBlocked:
      text_ += "which would come from ";
      append_signaller();
      text_ += ", which is held back";
      break;
    case WaitState::kDeadlock:
      text_ += "which would come from ";
      append_signaller();
      text_ += ": a deadlock";
      break;
    case WaitState::kNeverSignalled: text_ += "which nothing submitted so far signals"; break;
    case WaitState::kUnknown:
      text_ += "whose signal is not known: records that old are not kept";
      break;
  }
  const bool ends =
      wait.state == WaitState::kSatisfied || wait.state == WaitState::kWillBeSignalled;
  sink.Prose(std::string(depth * 3, ' ') + (ends ? " └─ " : " └! "), text_);
  if (wait.state == WaitState::kSatisfied || signal == nullptr || signal->queue == kNone) return;
  PrintHeldQueue(sink, signal->queue, depth + 1);
}

// Prints the state of the queue that should signal, so that the reader sees why it has not.
void DiagnosticsPrinter::PrintHeldQueue(LineSink& sink, uint32_t queue, uint32_t depth) {
  const PlaceOfWaits& place = places_[queue];
  if (place.waits == kNone) return;
  const QueueWaits& waits = waits_.queues[place.waits];
  if (waits.first_unfinished == 0) return;
  if (std::find(open_queues_.begin(), open_queues_.end(), queue) != open_queues_.end()) return;
  text_.clear();
  AppendPlace(queue, waits.first_unfinished);
  text_ += ' ';
  text_ += StateWord(waits);
  sink.Prose(std::string(depth * 3, ' ') + " └─ ", text_);
  if (!waits.held || place.held == kNone || depth >= kDeepestWait) return;
  open_queues_.push_back(queue);
  // Prints only the wait that holds it back; the others are in the queue's own part.
  PrintWait(sink, place.held, depth + 1);
  open_queues_.pop_back();
}

void DiagnosticsPrinter::PrintSyncs(LineSink& sink) {
  const size_t count = snapshot_.syncs.size();
  const size_t first = count - std::min(count, kSyncsShown);
  sink.Prose("   ", first == 0 ? "All recorded waits and signals:"
                               : "The latest recorded waits and signals:");
  for (size_t i = first; i < count; ++i) {
    const Sync& sync = snapshot_.syncs[i];
    if (!IsShownQueue(sync.queue) || (sync.queue == kNone && !IsShown(sync.device))) continue;
    text_.clear();
    const std::string time = MonotonicTimeInWords(snapshot_.process, sync.time_ns);
    if (!time.empty()) fmt::format_to(std::back_inserter(text_), "{}, ", time);
    if (sync.queue != kNone) {
      AppendPlace(sync.queue, sync.submission_number);
    } else {
      text_ += (sync.flags & kSyncAcquire) != 0 ? "the presentation engine" : "the CPU";
    }
    if ((sync.flags & kSyncPresent) != 0) text_ += ", a present";
    text_ += sync.kind == SyncKind::kWait ? " waits for " : " signals ";
    AppendSync(snapshot_, sync, text_);
    if ((sync.flags & kSyncOver) != 0) text_ += ", which is over";
    sink.Prose("    - ", text_);
  }
}

void DiagnosticsPrinter::PrintCheckpoints(LineSink& sink) {
  size_t count = 0;
  for (const CheckpointVerdict& verdict : findings_.checkpoints) {
    const Checkpoint& checkpoint = snapshot_.checkpoints[verdict.checkpoint];
    if (!IsShown(checkpoint.device)) continue;
    if (count == 0) {
      sink.Blank();
      sink.Heading("Checkpoints of the driver");
    }
    if (count++ >= kCheckpointsShown && !all_) continue;
    text_.clear();
    AppendQueue(snapshot_, checkpoint.queue, text_);
    fmt::format_to(std::back_inserter(text_), ", {}: {}. ", PipeStageWord(checkpoint.stage),
                   CheckpointRelationWord(verdict.relation));
    AppendCheckpointReason(snapshot_, verdict, text_);
    const bool contradicts = verdict.relation == CheckpointRelation::kWordsBehind ||
                             verdict.relation == CheckpointRelation::kCheckpointBehind;
    sink.Prose(contradicts ? " ! " : " - ", text_);
  }
  if (all_ || count <= kCheckpointsShown) return;
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "… {} more; --all shows them",
                 count - kCheckpointsShown);
  sink.Prose("   ", text_);
}

}  // namespace cairn
