// SPDX-License-Identifier: Apache-2.0
#include "watcher/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "base/program_name.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "format/block/block.h"
#include "format/block/capture_region.h"
#include "watcher/capture_words.h"

namespace cairn {
namespace {

// More than a socket's buffer holds: a program that never stops sending does not keep the watcher from
// seeing it hang or end.
constexpr int kMessagesAtOnce = 1024;

// Returns true if one of the words is this program, with or without its path.
bool NamesProgram(std::string_view command_line, std::string_view program) {
  while (!command_line.empty()) {
    std::string_view word = command_line.substr(0, command_line.find(' '));
    command_line.remove_prefix(std::min(command_line.size(), word.size() + 1));
    if (word.starts_with('\'')) word.remove_prefix(1);
    if (word.ends_with('\'')) word.remove_suffix(1);
    if (ProgramInWords(word) == program) return true;
  }
  return false;
}

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
  return awaited_.empty() && endings_.empty() &&
         std::none_of(processes_.begin(), processes_.end(), [](const auto& process) {
           return process.second->alive() || process.second->awaits_judgement();
         });
}

bool WatchSession::killed_for_hang() const {
  return killed_for_hang_ ||
         std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.second->watch.killed_for_hang(); });
}

void WatchSession::ForgetEnded() {
  std::erase_if(processes_, [this](const auto& process) {
    if (process.first == 0 || process.second->alive() || process.second->awaits_judgement()) {
      return false;
    }
    killed_for_hang_ = killed_for_hang_ || process.second->watch.killed_for_hang();
    if (!process.second->ended) system_.Forget(process.first);
    blocks_.Release(process.first);
    return true;
  });
}

void WatchSession::SayLast() {
  const uint64_t turned_away = system_.TurnedAway();
  if (refused_ > 1 || turned_away != 0) {
    const uint64_t count = refused_ + turned_away;
    lines_.Warn(fmt::format("cairn: {} request{} of processes to be watched {} refused in all",
                            count, Plural(count, "", "s"), Plural(count, "was", "were")));
  }
  SayWhyNothing();
  lines_.SayLast();
}

void WatchSession::OnMessages() {
  const Work work(this);
  (void)TakeMessages();
  JudgeWrappers();
  ForgetEnded();
}

void WatchSession::OnEnded(uint64_t process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  const Work work(this);
  End(*found->second);
  JudgeWrappers();
  ForgetEnded();
}

void WatchSession::OnTime() {
  const Work work(this);
  const uint64_t now_ns = system_.MonotonicNs();
  for (const auto& [number, process] : processes_) {
    const uint64_t doomed_at_ns = process->doomed_at_ns();
    if (process->alive() && doomed_at_ns != kNever && now_ns - doomed_at_ns >= kUnkillableNs) {
      GiveUpOn(*process);
    }
  }
  SayIfItGoesOn();
  ProbeThoseDue();
  LookAtEndings();
  JudgeWrappers();
  if (NextLookNs() <= now_ns) LookAtDescendants();
  ForgetEnded();
}

void WatchSession::OnTrigger() {
  for (const auto& [number, process] : processes_) {
    if (process->capture != nullptr && process->alive()) process->capture->Trigger();
  }
}

void WatchSession::OnSignal(int signal_number) {
  if (signal_number == kSignalTerminate && main_alive()) {
    const uint64_t now_ns = system_.MonotonicNs();
    if (terminated_at_ns_ == kNever) {
      terminated_at_ns_ = now_ns;
    } else if (now_ns - terminated_at_ns_ >= kObeyNs) {
      return KillAll();
    }
  }
  for (const auto& [number, process] : processes_) {
    if (!process->alive()) continue;
    // The process may just have ended; then there is nothing to pass on.
    (void)system_.PassOn(number, signal_number);
    // Once the program has ended, cairn itself obeys the signal, whatever descendants still run.
    if (!main_alive() && process->asked_to_end_at_ns == kNever) {
      process->asked_to_end_at_ns = system_.MonotonicNs();
    }
  }
  if (main_alive() || awaited_.empty()) return;
  awaits_nobody_ = true;
  for (const std::string& name : std::exchange(awaited_, {})) {
    lines_.Warn(fmt::format("cairn: {} goes on after the signal, and is no longer watched", name));
  }
}

// Says once how to end a program that SIGTERM did not end.
void WatchSession::SayIfItGoesOn() {
  if (said_goes_on_ || terminated_at_ns_ == kNever || !main_alive() ||
      system_.MonotonicNs() - terminated_at_ns_ < kObeyNs) {
    return;
  }
  said_goes_on_ = true;
  const Process& main = *processes_.at(0);
  lines_.Warn(fmt::format(
      "cairn: {} (process {}) goes on {} after SIGTERM; a second SIGTERM to cairn kills it",
      main.program, main.id, SecondsInWords(kObeyNs)));
}

void WatchSession::KillAll() {
  const Process* first = nullptr;
  size_t more = 0;
  for (const auto& [number, process] : processes_) {
    if (!process->alive() || process->doomed_at_ns() != kNever ||
        system_.ConditionOf(number) == ProcessCondition::kEnding || !system_.Kill(number)) {
      continue;
    }
    process->watch.OnKilledForSigterm();
    process->asked_to_end_at_ns = system_.MonotonicNs();
    if (first == nullptr) {
      first = process.get();
    } else {
      ++more;
    }
  }
  if (first == nullptr) return;
  // Processes that the program leaves behind are not waited for either.
  killed_all_ = awaits_nobody_ = true;
  lines_.Warn(fmt::format("cairn: killed {} (process {}){}: SIGTERM did not end it", first->program,
                          first->id, more == 0 ? "" : fmt::format(" and {} more", more)));
}

uint64_t WatchSession::NextTimeNs() const {
  uint64_t next_ns = NextLookNs();
  if (terminated_at_ns_ != kNever && !said_goes_on_ && main_alive()) {
    next_ns = std::min(next_ns, terminated_at_ns_ + kObeyNs);
  }
  if (EndingsGoOn()) next_ns = std::min(next_ns, system_.MonotonicNs() + kLookAtEndingNs);
  for (const auto& [number, process] : processes_) {
    next_ns = std::min(next_ns, process->judged_at_ns);
    if (!process->alive()) continue;
    const uint64_t doomed_at_ns = process->doomed_at_ns();
    if (doomed_at_ns != kNever) next_ns = std::min(next_ns, doomed_at_ns + kUnkillableNs);
    if (process->killed_at_ns == kNever) next_ns = std::min(next_ns, process->next_probe_ns);
  }
  return next_ns;
}

void WatchSession::Refuse(ProcessId sender, const char* why) {
  if (++refused_ != 1) return;
  // An ended process has no command line any more.
  const Process* const known = ProcessWith(sender);
  const std::string program =
      known != nullptr ? known->program : ProgramInWords(system_.ProgramOf(sender));
  lines_.Warn(fmt::format("cairn: {} (process {}) {}", program, sender, why));
}

// Names the processes that live at the program's end. Processes that ended earlier were reported
// then.
void WatchSession::SayUnwatched() {
  const std::vector<ProcessId> living = system_.ProcessesWithBlock();
  (void)TakeMessages();  // what one of them was about to hand over
  std::string names;
  size_t count = 0;
  for (const ProcessId id : living) {
    const bool known = std::any_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return process.second->id == id && process.second->block.present();
    });
    if (known) continue;
    unwatched_.push_back(id);
    if (++count > kMaxNamed) continue;
    names += fmt::format("{}{} (process {})", names.empty() ? "" : ", ",
                         ProgramInWords(system_.ProgramOf(id)), id);
  }
  if (count == 0) return;
  if (count > kMaxNamed) names += fmt::format(" and {} more", count - kMaxNamed);
  lines_.Warn(
      fmt::format("cairn: not watched, so no report tells of their crash or hang: {}", names));
}

bool WatchSession::TakeMessages() {
  ReceivedMessage received;
  const uint64_t begun_ns = system_.MonotonicNs();
  for (int i = 0; i < kMessagesAtOnce && system_.MonotonicNs() - begun_ns < kAtOnceNs; ++i) {
    if (!system_.Receive(&received)) return true;
    ++messages_taken_;
    const ProcessId sender = received.sender.pid;
    // The watcher outlives what it has no memory for.
    const Status handled = WithoutExceptions([&] {
      HandleMessage(received);
      return Status();
    });
    if (!handled.ok()) Refuse(sender, "is not watched: there is no memory for it");
  }
  return false;
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
           "is not watched: there are as many processes as cairn may watch; later ones are "
           "not watched either");
    return nullptr;
  }
  process->command_line = system_.CommandLineOf(sender);
  process->program = ProgramInWords(system_.ProgramOf(sender));
  return process;
}

// A wrapper (nohup, env, the last command of a shell) that became the program is called what that is called. A script
// stays what it is: its interpreter's command line names it.
void WatchSession::NameProcess(Process& process) {
  std::string command_line = system_.CommandLineOf(process.id);
  std::string program = system_.ProgramOf(process.id);
  const ProcessLook* const look =
      descendants_.has_value() ? descendants_->LookOf(process.id) : nullptr;
  if (command_line.empty() && look != nullptr) {
    command_line = look->command_line;
    program = look->program;
  }
  // The block of a process that is dead already knows more than the last look, which may be of the
  // wrapper.
  const std::string in_block = ProgramInWords(process.block.Program());
  if (process.block.present() && NamesProgram(process.command_line, in_block) &&
      system_.CommandLineOf(process.id).empty()) {
    process.program = in_block;
    return;
  }
  if (command_line.empty() || NamesProgram(command_line, process.program)) return;
  process.command_line = std::move(command_line);
  process.program = ProgramInWords(program);
}

void WatchSession::HandleMessage(ReceivedMessage& received) {
  if (received.no_room) {
    Refuse(received.sender.pid,
           "is not watched: cairn may open no more files (ulimit -n); later ones are not "
           "watched either");
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
  const ProcessId sender = received.sender.pid;
  const Process* const known = ProcessWith(sender);
  // Take the block before the process is watched.
  const uint64_t holder = known != nullptr && known->alive() ? known->number : next_number_;
  switch (blocks_.Take(holder, *memory)) {
    case BlockBounds::Taken::kYes: break;
    case BlockBounds::Taken::kAnothers:
      Refuse(sender, "is not watched: it sent the memory of another process, which is watched");
      return;
    case BlockBounds::Taken::kTooMuch:
      Refuse(sender, "is not watched: the blocks of all processes are larger than cairn maps");
      return;
  }
  Process* const process = SenderOf(received);
  if (process == nullptr) {
    blocks_.Release(holder);
    return;
  }
  had_work_ = true;
  // A process that replaced itself with another program hands over a second block.
  process->block = WatchedBlock(std::move(memory).value());
  process->next_probe_ns = process->watch.watchdog().enabled() ? system_.MonotonicNs() : kNever;
  process->busy_seen_ns = busy_ns_;
  // The command line is unreadable if the process died at once. The block names programs under Wine
  // better than the command line does.
  NameProcess(*process);
  const std::string in_block = process->block.Program();
  if (process->command_line.empty() || IsWindowsProgram(in_block)) {
    process->program = ProgramInWords(in_block);
  }
  ChooseOutputPath(*process);
  if (process->gone) End(*process);
}

std::string WatchSession::NextPath(Process& process) {
  return names_.Next(&process.output_names, process.program, process.id);
}

// The first process with breadcrumbs, or with an incident, gets the path that the user gave.
void WatchSession::ChooseOutputPath(Process& process) {
  if (process.output_path.empty()) process.output_path = NextPath(process);
}

// All of them in one report.
void WatchSession::NoticeLostDevices(Process& process) {
  Decision all;
  size_t more = 0;
  for (const LostDevice& lost : process.block.LostDevices()) {
    Decision one = process.watch.OnDeviceLost(system_.RealtimeNs(), lost.device, lost.code);
    if (!one.dump) continue;
    if (all.dump) {
      ++more;
    } else {
      all = std::move(one);
    }
  }
  if (more != 0) all.what += fmt::format(" and {} more", more);
  CarryOut(process, all);
}

void WatchSession::End(Process& process) {
  if (process.ended) return;
  // Messages that it sent before it died may still be unread.
  process.end_seen_at = std::min(process.end_seen_at, messages_taken_);
  // The system reports the end again, once other work has had its turn.
  const bool all = TakeMessages();
  if (!all && !process.gone && messages_taken_ - process.end_seen_at < kMessagesAtOnce) return;
  if (process.ended) return;  // One that was gone at once ends with its block's arrival.
  process.ended = true;
  process.end = system_.CollectEnd(process.number);
  if (process.capture != nullptr) {
    process.capture->BeginEnd();
    process.ends_capture = !process.capture->ended();
  }
  if (!process.ends_capture) JudgeSoon(process);
  if (process.number == 0) SayUnwatched();
  if (main_alive() || awaits_nobody_ || !descendants_.has_value() ||
      !settings_.stays_for_descendants) {
    return;
  }
  // A process that a watched one started may have outlived the program, too.
  last_end_ns_ = system_.MonotonicNs();
  descendants_->LookSoon();
  LookAtDescendants();
}

void WatchSession::JudgeSoon(Process& process) {
  // A process with incidents or a block did more than pass on a death.
  if (process.end.kind == EndKind::kSignalled && !process.block.present() &&
      process.capture == nullptr && process.watch.incidents().empty()) {
    process.judged_at_ns = system_.MonotonicNs() + kPassedOnNs;
  } else {
    JudgeEnd(process);
  }
}

void WatchSession::JudgeEnd(Process& process) {
  process.judged_at_ns = kNever;
  if (process.number == 0 && !process.block.present()) NameProcess(process);
  NoticeLostDevices(process);
  CarryOut(process,
           process.watch.OnEnd(system_.RealtimeNs(), process.end, process.block.Evidence()));
  FinishCapture(process);
  if (process.block.present() && process.end.kind == EndKind::kSignalled) {
    deaths_.insert(process.end.value);
  } else if (process.block.present() && process.end.kind == EndKind::kUnknown) {
    died_of_unknown_ = died_of_unknown_ || !process.watch.incidents().empty();
  }
  // All that will be said of it is in its file; its memory goes.
  process.block = WatchedBlock();
  blocks_.Release(process.number);
}

// timeout, strace and unshare end as their child has ended, so that who started them sees the same.
bool WatchSession::IsPassedOn(const ProcessEnd& end) const {
  return died_of_unknown_ || deaths_.contains(end.value);
}

void WatchSession::JudgeWrappers() {
  const bool alone = std::none_of(processes_.begin(), processes_.end(),
                                  [](const auto& process) { return process.second->alive(); });
  for (const auto& [number, process] : processes_) {
    if (process->judged_at_ns == kNever) continue;
    if (IsPassedOn(process->end)) {
      process->judged_at_ns = kNever;
    } else if (alone || process->judged_at_ns <= system_.MonotonicNs()) {
      JudgeEnd(*process);
    }
  }
}

Status WatchSession::WriteReport(Process& process, const Decision& decision, std::string* where,
                                 std::vector<std::byte>* unwritten) {
  if (process.output_path.empty()) {
    return Status(StatusCode::kIo, "cairn has made as many files as it may");
  }
  const std::vector<QueueStand> stands = process.watch.watchdog().Stands();
  DumpSubject subject{
      process.id, process.program, process.command_line, process.watch.incidents(), stands, {}};
  if (!had_work_ && descendants_.has_value()) {
    subject.why_no_block = descendants_->TellUnfollowed();
  }
  // A capture that cannot be written must not cost the report as well.
  if (process.capture != nullptr && !process.capture->failed()) {
    const Status appended =
        WithoutExceptions([&] { return process.capture->AppendReport(subject, process.block); });
    // The file gets its name when the program has ended.
    process.has_report_in_capture = appended.ok();
    if (appended.ok() && process.alive() && !decision.kill) *where += ".part";
    if (appended.ok()) return appended;
  }
  process.has_report_in_capture = false;
  SessionOutput::Place place{*where, "", {}};
  const Status written = WithoutExceptions([&] {
    return output_.WriteReport(
        subject, process.block, [&] { return NextPath(process); }, &place);
  });
  *unwritten = std::move(place.unwritten);
  // Later reports of this process replace this one.
  *where = process.output_path = place.path;
  if (!place.why_not.empty()) lines_.Warn(fmt::format("cairn: {}", place.why_not));
  return written;
}

void WatchSession::CarryOut(Process& process, const Decision& decision) {
  if (decision.keep_state) {
    (void)WithoutExceptions([&] {
      process.block.KeepState();
      BoundKeptStates(process);
      return Status();
    }).ok();
  }
  if (!decision.dump) return;
  ChooseOutputPath(process);
  std::string where = process.output_path;
  std::vector<std::byte> unwritten;
  const Status written = WriteReport(process, decision, &where, &unwritten);
  process.block.ForgetPages();
  const char* const killed = decision.kill && Kill(process) ? "; killed it" : "";
  const std::string happened =
      fmt::format("cairn: {} {}{}", process.program, decision.what, killed);
  if (written.ok()) {
    lines_.Say(fmt::format("{}; report: cairn report {}", happened, ShellQuoted(where)));
    const bool has_name = !process.has_report_in_capture || where != process.output_path;
    if (settings_.report_written && has_name) settings_.report_written(where);
  } else {
    lost_output_ = true;
    lines_.Warn(fmt::format("{}; no report: {}", happened, written.message()));
    if (settings_.tell_unwritten && !unwritten.empty() && ++unwritten_ <= kMaxUnwritten) {
      (void)WithoutExceptions([&] {
        settings_.tell_unwritten(unwritten);
        return Status();
      }).ok();
    }
  }
}

// Kills the process. Returns false if it was ending by itself, or was killed by another process.
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
                          process.killed_at_ns != kNever || killed_all_
                              ? "survives SIGKILL: it is stuck inside a driver and ends with it"
                              : "goes on after the signal, and is no longer watched"));
}

}  // namespace cairn
