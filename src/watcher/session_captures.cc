// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/text.h"
#include "format/block/capture_region.h"
#include "watcher/capture_words.h"
#include "watcher/session.h"

namespace cairn {

void WatchSession::TakeCapture(ReceivedMessage& received) {
  const uint64_t region_bytes = received.message.block_bytes;
  if (region_bytes != kCaptureRegionBytes) return;
  Result<SharedMemory> region = received.memory.MapForWriting(region_bytes);
  if (!region.ok()) return;
  const ProcessId sender = received.sender.pid;
  if (!settings_.capture) {
    output_.RefuseCapture(std::move(region).value());
    Refuse(sender, "asks to be captured, which cairn was not told to do; say cairn run --capture");
    return;
  }
  Process* const process = SenderOf(received);
  if (process == nullptr) return;
  had_work_ = true;
  if (process->capture != nullptr) {
    // The process replaced itself with another program, which gets a file of its own.
    process->capture->BeginEnd();
    endings_.push_back({std::move(process->capture), process->program});
    LookAtEndings();
    process->output_path.clear();
  }
  if (CaptureCount() >= kMaxCaptures || endings_.size() >= kMaxEndings) {
    Refuse(sender, "is not captured: too many processes are already");
    return;
  }
  NameProcess(*process);
  ChooseOutputPath(*process);
  if (process->output_path.empty()) {
    Refuse(sender, "is not captured: cairn has made as many files for it as it may");
    return;
  }
  StartCapture(*process, std::move(region).value());
  if (process->gone) End(*process);
}

size_t WatchSession::CaptureCount() const {
  return static_cast<size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& process) { return process.second->capture != nullptr; }));
}

void WatchSession::StartCapture(Process& process, SharedMemory region) {
  CaptureDrainSettings settings;
  settings.path = process.output_path;
  settings.other_name = [this, &process] { return NextPath(process); };
  settings.trigger_path = settings_.capture_trigger_path;
  settings.facts.program = process.program;
  settings.facts.command_line = process.command_line;
  settings.facts.library_version = CAIRN_LIBRARY_VERSION;
  settings.facts.process_id = static_cast<uint64_t>(process.id);
  settings.facts.start_realtime_ns = system_.RealtimeNs();
  settings.facts.start_monotonic_ns = system_.MonotonicNs();
  process.capture = output_.StartCapture(std::move(region), std::move(settings));
  process.output_path = process.capture->path();
  captured_ = true;
}

void WatchSession::FinishCapture(Process& process) {
  if (process.capture == nullptr) return;
  const std::string path = FinishCapture(std::move(process.capture), process.program);
  if (process.has_report_in_capture && !path.empty() && settings_.report_written) {
    settings_.report_written(path);
  }
}

std::string WatchSession::FinishCapture(std::unique_ptr<SessionCapture> capture,
                                        const std::string& program) {
  const Result<CaptureSummary> summary = capture->Finish();
  std::string words = CaptureInWords(program, ShellQuoted(capture->path()), summary);
  if (const std::string& why = capture->why_not_there(); summary.ok() && !why.empty()) {
    words += fmt::format(" ({})", why);
  }
  const std::string path = capture->path();
  capture.reset();
  if (summary.ok()) {
    lines_.Say(words);
    return path;
  }
  lost_output_ = true;
  if (settings_.capture_lost) settings_.capture_lost(summary.status());
  lines_.Warn(words);
  return "";
}

bool WatchSession::EndingsGoOn() const {
  return !endings_.empty() ||
         std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.second->ends_capture; });
}

// Finishes the captures that are written to their end. Each is written on its own thread, so that the session's thread
// can see to the other processes.
void WatchSession::LookAtEndings() {
  for (const auto& [number, process] : processes_) {
    if (!process->ends_capture || !process->capture->ended()) continue;
    process->ends_capture = false;
    JudgeSoon(*process);
  }
  for (size_t i = 0; i < endings_.size();) {
    if (!endings_[i].capture->ended()) {
      ++i;
      continue;
    }
    Ending ending = std::move(endings_[i]);
    endings_.erase(endings_.begin() + static_cast<ptrdiff_t>(i));
    (void)FinishCapture(std::move(ending.capture), ending.program);
  }
}

}  // namespace cairn
