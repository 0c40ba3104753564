// SPDX-License-Identifier: Apache-2.0
#include "watcher/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "base/program_name.h"
#include "base/text.h"
#include "format/block/block.h"
#include "format/block/capture_region.h"
#include "watcher/capture_words.h"

namespace cairn {
namespace {

// More than a socket's buffer holds: a program that never stops sending does not keep the watcher from
// seeing it hang or end.
constexpr int kMessagesAtOnce = 1024;
constexpr size_t kMaxNamed = 8;  // processes in one line

// The watcher outlives a report that takes more memory than there is.
template <typename Write>
Status WithoutExceptions(const Write& write) {
  try {
    return write();
  } catch (const std::exception& error) {
    return Status(StatusCode::kOutOfMemory, error.what());
  }
}

}  // namespace

std::string ProgramInWords(std::string_view command) {
  const std::string_view name = NameOfProgram(command);
  return VisibleText(name.empty() ? "program" : name);
}

WatchSession::WatchSession(const SessionSettings& settings, WatchedSystem* system,
                           SessionOutput* output)
    : settings_(settings),
      system_(*system),
      output_(*output),
      lines_(settings.say, settings.warn, kMaxLines),
      names_(settings.output_path, kMaxFiles) {}

WatchSession::~WatchSession() = default;

WatchSession::Process* WatchSession::AddProcess(ProcessHandle handle) {
  if (processes_.size() >= kMaxWatched) return nullptr;
  const uint64_t number = next_number_++;
  const ProcessId id = handle.pid;
  const WatchedSystem::Watching watching = system_.Watch(number, std::move(handle));
  if (watching == WatchedSystem::Watching::kNoRoom) return nullptr;
  std::unique_ptr<Process>& added = processes_[number];
  added = std::make_unique<Process>(number, id, settings_.policy);
  added->gone = watching == WatchedSystem::Watching::kGone;
  return added.get();
}

Status WatchSession::AddMainProcess(ProcessHandle handle, std::string program,
                                    std::string command_line) {
  Process* const added = AddProcess(std::move(handle));
  if (added == nullptr) return Status(StatusCode::kIo, "the program cannot be watched");
  added->program = std::move(program);
  added->command_line = std::move(command_line);
  if (added->gone) OnEnded(added->number);
  return Status();
}

bool WatchSession::Finished() const {
  return std::none_of(processes_.begin(), processes_.end(),
                      [](const auto& process) { return process.second->alive(); });
}

bool WatchSession::killed_for_hang() const {
  return killed_for_hang_ ||
         std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.second->watch.killed_for_hang(); });
}

void WatchSession::ForgetEnded() {
  std::erase_if(processes_, [this](const auto& process) {
    if (process.first == 0 || process.second->alive()) return false;
    killed_for_hang_ = killed_for_hang_ || process.second->watch.killed_for_hang();
    if (!process.second->ended) system_.Forget(process.first);
    return true;
  });
}

void WatchSession::SayLast() {
  const uint64_t turned_away = system_.TurnedAway();
  if (refused_ > 1 || turned_away != 0) {
    lines_.Warn(fmt::format("cairn: {} hand-overs were refused in all", refused_ + turned_away));
  }
  lines_.SayLast();
}

void WatchSession::OnMessages() {
  TakeMessages();
  ForgetEnded();
}

void WatchSession::OnEnded(uint64_t process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  End(*found->second);
  ForgetEnded();
}

void WatchSession::OnTime() {
  const uint64_t now_ns = system_.MonotonicNs();
  for (const auto& [number, process] : processes_) {
    if (!process->alive()) continue;
    const uint64_t doomed_at_ns = process->doomed_at_ns();
    if (doomed_at_ns != kNever && now_ns - doomed_at_ns >= kUnkillableNs) {
      GiveUpOn(*process);
    } else if (process->killed_at_ns == kNever && process->next_probe_ns <= now_ns) {
      Probe(*process, now_ns);
    }
  }
  ForgetEnded();
}

void WatchSession::OnTrigger() {
  for (const auto& [number, process] : processes_) {
    if (process->capture != nullptr && process->alive()) process->capture->Trigger();
  }
}

void WatchSession::OnSignal(int signal_number) {
  for (const auto& [number, process] : processes_) {
    if (!process->alive()) continue;
    // It may just have ended; then there is nothing to pass on.
    (void)system_.PassOn(number, signal_number);
    // What the program left behind does not keep cairn from obeying.
    if (!main_alive() && process->asked_to_end_at_ns == kNever) {
      process->asked_to_end_at_ns = system_.MonotonicNs();
    }
  }
}

uint64_t WatchSession::NextTimeNs() const {
  uint64_t next_ns = kNever;
  for (const auto& [number, process] : processes_) {
    if (!process->alive()) continue;
    const uint64_t doomed_at_ns = process->doomed_at_ns();
    if (doomed_at_ns != kNever) next_ns = std::min(next_ns, doomed_at_ns + kUnkillableNs);
    if (process->killed_at_ns == kNever) next_ns = std::min(next_ns, process->next_probe_ns);
  }
  return next_ns;
}

void WatchSession::Refuse(ProcessId sender, const char* why) {
  if (++refused_ != 1) return;
  // One that ended has no command line any more.
  const Process* const known = ProcessWith(sender);
  const std::string program =
      known != nullptr ? known->program : ProgramInWords(system_.ProgramOf(sender));
  lines_.Warn(fmt::format("cairn: {} (process {}) {}", program, sender, why));
}

// Those that live at the end of the program. What ended before has said it for itself.
void WatchSession::SayUnwatched() {
  const std::vector<ProcessId> living = system_.ProcessesWithBlock();
  TakeMessages();  // what one of them was about to hand over
  std::string names;
  size_t count = 0;
  for (const ProcessId id : living) {
    const bool known = std::any_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return process.second->id == id && process.second->block.present();
    });
    if (known || ++count > kMaxNamed) continue;
    names += fmt::format("{}{} (process {})", names.empty() ? "" : ", ",
                         ProgramInWords(system_.ProgramOf(id)), id);
  }
  if (count == 0) return;
  if (count > kMaxNamed) names += fmt::format(" and {} more", count - kMaxNamed);
  lines_.Warn(
      fmt::format("cairn: not watched, so no report tells of their crash or hang: {}", names));
}

void WatchSession::TakeMessages() {
  ReceivedMessage received;
  for (int i = 0; i < kMessagesAtOnce && system_.Receive(&received); ++i) {
    const ProcessId sender = received.sender.pid;
    // The watcher outlives what it has no memory for.
    const Status handled = WithoutExceptions([&] {
      HandleMessage(received);
      return Status();
    });
    if (!handled.ok()) Refuse(sender, "is not watched: there is no memory for it");
  }
}

WatchSession::Process* WatchSession::ProcessWith(ProcessId id) {
  const auto found = std::find_if(processes_.rbegin(), processes_.rend(),
                                  [id](const auto& process) { return process.second->id == id; });
  return found == processes_.rend() ? nullptr : found->second.get();
}

WatchSession::Process* WatchSession::SenderOf(ReceivedMessage& received) {
  const ProcessId sender = received.sender.pid;
  Process* const known = ProcessWith(sender);
  if (known != nullptr && known->alive()) return known;
  if (received.message.kind == HandoverKind::kDeviceLost) return nullptr;
  Process* const process = AddProcess(std::move(received.sender));
  if (process == nullptr) {
    Refuse(sender,
           "is not watched: there are as many processes as cairn may watch; so it is with those "
           "that come after it");
    return nullptr;
  }
  process->command_line = system_.CommandLineOf(sender);
  process->program = ProgramInWords(system_.ProgramOf(sender));
  return process;
}

void WatchSession::HandleMessage(ReceivedMessage& received) {
  if (received.no_room) {
    Refuse(received.sender.pid,
           "is not watched: cairn may open no more files (ulimit -n); so it is with those that "
           "come after it");
    return;
  }
  switch (received.message.kind) {
    case HandoverKind::kDeviceLost:
      if (Process* const process = SenderOf(received)) NoticeLostDevices(*process);
      return;
    case HandoverKind::kBlock: TakeBlock(received); return;
    case HandoverKind::kCapture: TakeCapture(received); return;
    case HandoverKind::kWatching:
    case HandoverKind::kGreeting: return;
  }
}

void WatchSession::TakeBlock(ReceivedMessage& received) {
  const uint64_t block_bytes = received.message.block_bytes;
  if (block_bytes < kMinBlockBytes || block_bytes > kMaxBlockBytes) return;
  Result<SharedMemory> memory = received.memory.MapForReading(block_bytes);
  if (!memory.ok()) return;
  Process* const process = SenderOf(received);
  if (process == nullptr) return;
  // A process that replaced itself with another program hands over a second block.
  process->block = WatchedBlock(std::move(memory).value());
  process->next_probe_ns = process->watch.watchdog().enabled() ? system_.MonotonicNs() : kNever;
  // Its command line cannot be read any more if it died at once. Of Wine's processes the block knows more than
  // what was typed.
  const std::string in_block = process->block.Program();
  if (process->command_line.empty() || IsWindowsProgram(in_block)) {
    process->program = ProgramInWords(in_block);
  }
  ChooseOutputPath(*process);
  if (process->gone) End(*process);
}

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
  if (process->capture != nullptr) {
    // It replaced itself with another program, which gets a file of its own.
    process->capture->EndTrace();
    FinishCapture(*process);
    process->output_path.clear();
  }
  if (CaptureCount() >= kMaxCaptures) {
    Refuse(sender, "is not captured: too many processes are already");
    return;
  }
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
  const Result<CaptureSummary> summary = process.capture->Finish();
  std::string words =
      CaptureInWords(process.program, ShellQuoted(process.capture->path()), summary);
  if (const std::string& why = process.capture->why_not_there(); summary.ok() && !why.empty()) {
    words += fmt::format(" ({})", why);
  }
  process.capture.reset();
  if (summary.ok()) {
    lines_.Say(words);
  } else {
    lost_output_ = true;
    lines_.Warn(words);
  }
}

std::string WatchSession::NextPath(Process& process) {
  return names_.Next(&process.output_names, process.program, process.id);
}

// The first process with breadcrumbs, or with an incident, gets the path that the user gave.
void WatchSession::ChooseOutputPath(Process& process) {
  if (process.output_path.empty()) process.output_path = NextPath(process);
}

void WatchSession::NoticeLostDevices(Process& process) {
  for (const LostDevice& lost : process.block.LostDevices()) {
    CarryOut(process, process.watch.OnDeviceLost(system_.RealtimeNs(), lost.device, lost.code));
  }
}

void WatchSession::End(Process& process) {
  if (process.ended) return;
  // What it sent before it died may not have been read yet.
  TakeMessages();
  if (process.ended) return;  // One that was gone at once ends with its block's arrival.
  process.ended = true;
  process.end = system_.CollectEnd(process.number);
  if (process.capture != nullptr) process.capture->EndTrace();
  NoticeLostDevices(process);
  CarryOut(process,
           process.watch.OnEnd(system_.RealtimeNs(), process.end, process.block.Evidence()));
  FinishCapture(process);
  if (process.number == 0) SayUnwatched();
  // All that will be said of it is in its file; its memory goes.
  process.block = WatchedBlock();
}

void WatchSession::Probe(Process& process, uint64_t now_ns) {
  const std::vector<QueueObservation> queues = process.block.ObserveQueues();
  const ProcessCondition condition = system_.ConditionOf(process.number);
  CarryOut(process, process.watch.OnProbe(now_ns, system_.RealtimeNs(), queues, condition));
  process.next_probe_ns = now_ns + process.watch.watchdog().PollIntervalNs();
}

Status WatchSession::WriteReport(Process& process, const Decision& decision, std::string* where) {
  if (process.output_path.empty()) {
    return Status(StatusCode::kIo, "cairn has made as many files as it may");
  }
  const DumpSubject subject{process.id, process.program, process.command_line,
                            process.watch.incidents()};
  // A capture that cannot be written must not cost the report as well.
  if (process.capture == nullptr || process.capture->failed()) {
    SessionOutput::Place place{*where, ""};
    const Status written = WithoutExceptions([&] {
      return output_.WriteReport(
          subject, process.block, [&] { return NextPath(process); }, &place);
    });
    // Later reports of this process replace this one.
    *where = process.output_path = place.path;
    if (!place.why_not.empty()) lines_.Warn(fmt::format("cairn: {}", place.why_not));
    return written;
  }
  // The file gets its name when the program has ended.
  if (process.alive() && !decision.kill) *where += ".part";
  return WithoutExceptions([&] { return process.capture->AppendReport(subject, process.block); });
}

void WatchSession::CarryOut(Process& process, const Decision& decision) {
  if (decision.keep_state) {
    (void)WithoutExceptions([&] {
      process.block.KeepState();
      return Status();
    }).ok();
  }
  if (!decision.dump) return;
  ChooseOutputPath(process);
  std::string where = process.output_path;
  const Status written = WriteReport(process, decision, &where);
  const char* const killed = decision.kill && Kill(process) ? "; killed it" : "";
  const std::string happened =
      fmt::format("cairn: {} {}{}", process.program, decision.what, killed);
  if (written.ok()) {
    lines_.Say(fmt::format("{}; report: cairn report {}", happened, ShellQuoted(where)));
  } else {
    lost_output_ = true;
    lines_.Warn(fmt::format("{}; no report: {}", happened, written.message()));
  }
}

// False if it was ending by itself, or by somebody else's hand.
bool WatchSession::Kill(Process& process) {
  if (!process.alive() || system_.ConditionOf(process.number) == ProcessCondition::kEnding ||
      !system_.Kill(process.number)) {
    return false;
  }
  process.killed_at_ns = system_.MonotonicNs();
  process.watch.OnKilled();
  return true;
}

void WatchSession::GiveUpOn(Process& process) {
  process.abandoned = true;
  FinishCapture(process);
  lines_.Warn(fmt::format("cairn: {} (process {}) {}", process.program, process.id,
                          process.killed_at_ns != kNever
                              ? "survives SIGKILL: it is stuck inside a driver and ends with it"
                              : "goes on after the signal, and is no longer watched"));
}

}  // namespace cairn
