// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/program_name.h"
#include "base/text.h"
#include "format/block/block.h"
#include "format/block/handover.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/shared_memory.h"
#include "watcher/capture_drain.h"
#include "watcher/capture_words.h"
#include "watcher/handover_receiver.h"
#include "watcher/output_file.h"
#include "watcher/output_names.h"
#include "watcher/output_path.h"
#include "watcher/region_reader.h"
#include "watcher/running_blocks.h"
#include "watcher/spoken_lines.h"
#include "watcher/watch_loop.h"
#include "watcher/watched_block.h"

namespace cairn {
namespace {

// How processes ended is read from files, and reports are written to files: not for programs to take.
constexpr rlim_t kReservedDescriptors = 8;
// A process that survives SIGKILL for so long is stuck inside a driver; nobody can end it.
constexpr uint64_t kUnkillableNs = uint64_t{5} * 1'000'000'000;
// More than a socket's buffer holds: a program that never stops sending does not keep the watcher from
// seeing it hang or end.
constexpr int kMessagesAtOnce = 1024;
constexpr size_t kMaxNamed = 8;  // processes in one line
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// epoll tags; those from kFirstProcess on are kFirstProcess + WatchedProcess::number.
enum : uint64_t { kTagSignals, kTagTimer, kTagSocket, kFirstProcess };

struct WatchedProcess {
  WatchedProcess(uint64_t process_number, ProcessHandle process_handle, const WatchPolicy& policy)
      : number(process_number), handle(std::move(process_handle)), watch(policy) {}

  uint64_t number;  // in the order in which they came; the main process is 0
  ProcessHandle handle;
  ProcessWatch watch;
  WatchedBlock block;
  std::string program;       // for people
  std::string command_line;  // as started
  std::string output_path;   // once it has one
  OutputNames::OfProcess output_names;
  std::unique_ptr<CaptureDrain> capture;
  bool ended = false;
  bool abandoned = false;  // survived SIGKILL
  ProcessEnd end;
  uint64_t next_probe_ns = kNever;
  uint64_t killed_at_ns = kNever;
  uint64_t asked_to_end_at_ns =
      kNever;  // by a signal that was passed on, after the main process's end

  bool alive() const { return !ended && !abandoned; }
};

// Without a descriptor if the sender is gone.
Result<ProcessHandle> HandleOfSender(ReceivedMessage& received) {
  ProcessHandle handle{received.sender, std::move(received.sender_pidfd)};
  if (handle.pidfd.valid()) return handle;
  Result<ProcessHandle> opened = OpenProcess(received.sender);
  if (opened.status().code() == StatusCode::kNotFound) return handle;
  return opened;
}

std::string ProgramName(std::string_view command) {
  const std::string_view name = NameOfProgram(command);
  return VisibleText(name.empty() ? "program" : name);
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

class WatchLoop {
 public:
  explicit WatchLoop(const WatchSettings& settings)
      : settings_(settings),
        lines_(settings.say, settings.warn, kMaxLines),
        names_(settings.output_path, kMaxFiles) {}
  // Signals do again what they did before.
  ~WatchLoop();
  WatchLoop(const WatchLoop&) = delete;
  WatchLoop& operator=(const WatchLoop&) = delete;

  // `maker`: the process that made the socket pair. `forward_signals`: those of this process are passed on to
  // the program; they are blocked.
  Status Prepare(FileDescriptor socket, pid_t maker, bool forward_signals);
  // Whoever did not inherit the socket may come in by this address; "" if there is none.
  const std::string& OpenDoors();
  // A process without a descriptor ended before it could be opened.
  Status AddMainProcess(ProcessHandle process, std::string program, std::string command_line);
  Status Run();

  const WatchedProcess& main_process() const { return *processes_.at(0); }
  bool killed_for_hang() const;
  bool captured() const { return captured_; }
  // A report or a trace could not be written.
  bool lost_output() const { return lost_output_; }
  // Of the program, whatever this process may open.
  const std::optional<rlimit>& previous_descriptors() const { return previous_descriptors_; }
  const sigset_t& previous_mask() const { return previous_mask_; }
  bool ignored_broken_pipes() const { return ignored_broken_pipes_; }

 private:
  Status Listen(int fd, uint64_t tag);
  void RaiseDescriptorLimit();
  WatchedProcess* AddProcess(ProcessHandle process);
  bool Finished() const;
  void ForgetEnded();
  // The process is not watched, or not captured: said of the first one.
  void Refuse(const ReceivedMessage& received, const char* why);
  void SayUnwatched();

  void OnSignals();
  void OnSocket();
  void OnMessage(ReceivedMessage& received);
  void HandleMessage(ReceivedMessage& received);
  // The last one that had this number; null: none did.
  WatchedProcess* ProcessWith(pid_t pid);
  // The process that sent it; one that was not known is watched from now on. Null: it cannot be.
  WatchedProcess* SenderOf(ReceivedMessage& received);
  void OnBlock(ReceivedMessage& received);
  void OnCapture(ReceivedMessage& received);
  void RefuseCapture(ReceivedMessage& received, SharedMemory region);
  size_t CaptureCount() const;
  void FinishCapture(WatchedProcess& process);
  void OnEnded(WatchedProcess& process);
  void OnTimer();
  void Probe(WatchedProcess& process, uint64_t now_ns);
  void NoticeLostDevices(WatchedProcess& process);
  void CarryOut(WatchedProcess& process, const Decision& decision);
  bool Kill(WatchedProcess& process);
  // `where`: the name of the file that it is in, when the user reads of it.
  Status WriteReport(WatchedProcess& process, const Decision& decision, std::string* where);
  void ChooseOutputPath(WatchedProcess& process);
  std::string NextPath(WatchedProcess& process);
  void GiveUpOn(WatchedProcess& process);
  void ArmTimer();

  WatchSettings settings_;
  SpokenLines lines_;
  OutputNames names_;
  FileDescriptor epoll_;
  FileDescriptor signals_;
  FileDescriptor timer_;
  HandoverReceiver receiver_;
  std::string address_;
  bool forward_signals_ = false;
  bool captured_ = false;
  bool killed_for_hang_ = false;
  bool lost_output_ = false;
  bool prepared_ = false;
  uint64_t refused_ = 0;  // hand-overs
  rlim_t most_descriptors_ = RLIM_INFINITY;
  sigset_t previous_mask_{};
  bool ignored_broken_pipes_ = false;
  std::optional<rlimit> previous_descriptors_;
  uint64_t next_number_ = 0;
  // By their number. Those that ended go; the main process stays.
  std::map<uint64_t, std::unique_ptr<WatchedProcess>> processes_;
};

Status WatchLoop::Listen(int fd, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return StatusFromErrno(errno, "the watcher cannot wait for events");
}

// Each process takes two, and many of these limits are from a time when select() was in use.
void WatchLoop::RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  previous_descriptors_ = limit;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, kMaxDescriptors));
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit = *previous_descriptors_;
  most_descriptors_ = limit.rlim_cur;
}

Status WatchLoop::Prepare(FileDescriptor socket, pid_t maker, bool forward_signals) {
  forward_signals_ = forward_signals;
  sigset_t mask;
  sigemptyset(&mask);
  // SIGXFSZ: a file that may not grow is an error of the write, not the end of the watcher.
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXFSZ}) sigaddset(&mask, number);
  if (settings_.capture_trigger_signal) sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, &previous_mask_);
  // Writing to a closed stderr must not end the watcher, and with it the program.
  ignored_broken_pipes_ = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  prepared_ = true;
  RaiseDescriptorLimit();

  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  signals_ = FileDescriptor(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid() || !signals_.valid() || !timer_.valid()) {
    return StatusFromErrno(errno, "the watcher cannot wait for events");
  }
  CAIRN_RETURN_IF_ERROR(receiver_.Open(std::move(socket), maker));
  CAIRN_RETURN_IF_ERROR(Listen(signals_.get(), kTagSignals));
  CAIRN_RETURN_IF_ERROR(Listen(timer_.get(), kTagTimer));
  return Listen(receiver_.fd(), kTagSocket);
}

const std::string& WatchLoop::OpenDoors() {
  receiver_.OpenDoors();
  address_ = receiver_.address();
  return address_;
}

WatchLoop::~WatchLoop() {
  // Their captures end before that: they write files.
  processes_.clear();
  if (!prepared_) return;
  if (!ignored_broken_pipes_) signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

WatchedProcess* WatchLoop::AddProcess(ProcessHandle process) {
  if (processes_.size() >= kMaxWatched) return nullptr;
  const uint64_t number = next_number_++;
  if (process.pidfd.valid() && !Listen(process.pidfd.get(), kFirstProcess + number).ok()) {
    return nullptr;
  }
  std::unique_ptr<WatchedProcess>& added = processes_[number];
  added = std::make_unique<WatchedProcess>(number, std::move(process), settings_.policy);
  return added.get();
}

Status WatchLoop::AddMainProcess(ProcessHandle process, std::string program,
                                 std::string command_line) {
  WatchedProcess* added = AddProcess(std::move(process));
  if (added == nullptr) return Status(StatusCode::kIo, "the program cannot be watched");
  added->program = std::move(program);
  added->command_line = std::move(command_line);
  return Status();
}

// Processes that handed over a block are watched to their end, also when the first one has ended.
bool WatchLoop::Finished() const {
  return std::none_of(processes_.begin(), processes_.end(),
                      [](const auto& process) { return process.second->alive(); });
}

bool WatchLoop::killed_for_hang() const {
  return killed_for_hang_ ||
         std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process.second->watch.killed_for_hang(); });
}

void WatchLoop::ForgetEnded() {
  std::erase_if(processes_, [this](const auto& process) {
    if (process.first == 0 || process.second->alive()) return false;
    killed_for_hang_ = killed_for_hang_ || process.second->watch.killed_for_hang();
    return true;
  });
}

void WatchLoop::Refuse(const ReceivedMessage& received, const char* why) {
  if (++refused_ != 1) return;
  // One that ended has no command line any more.
  const WatchedProcess* const known = ProcessWith(received.sender);
  const std::string program =
      known != nullptr ? known->program : ProgramName(ProgramOf(received.sender));
  lines_.Warn(fmt::format("cairn: {} (process {}) {}", program, received.sender, why));
}

// Those that live at the end of the program. What ended before has said it for itself.
void WatchLoop::SayUnwatched() {
  if (address_.empty()) return;
  const std::vector<LiveProcess> living =
      FindLiveProcessesWith(fmt::format("{}={}", kWatcherAddressVariable, address_));
  OnSocket();  // what one of them was about to hand over
  std::string names;
  size_t count = 0;
  for (const LiveProcess& found : living) {
    const bool known = std::any_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return process.second->handle.pid == found.pid && process.second->block.present();
    });
    if (known || ++count > kMaxNamed) continue;
    names += fmt::format("{}{} (process {})", names.empty() ? "" : ", ",
                         ProgramName(ProgramOf(found.pid)), found.pid);
  }
  if (count == 0) return;
  if (count > kMaxNamed) names += fmt::format(" and {} more", count - kMaxNamed);
  lines_.Warn(
      fmt::format("cairn: not watched, so no report tells of their crash or hang: {}", names));
}

Status WatchLoop::Run() {
  if (!main_process().handle.pidfd.valid()) OnEnded(*processes_.at(0));
  while (!Finished()) {
    ArmTimer();
    epoll_event events[16];
    const int count = epoll_wait(epoll_.get(), events, 16, -1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return StatusFromErrno(errno, "the watcher cannot wait for events");
    for (int i = 0; i < count; ++i) {
      const uint64_t tag = events[i].data.u64;
      if (tag == kTagSignals) {
        OnSignals();
      } else if (tag == kTagTimer) {
        OnTimer();
      } else if (tag == kTagSocket) {
        OnSocket();
      } else if (const auto found = processes_.find(tag - kFirstProcess);
                 found != processes_.end()) {
        OnEnded(*found->second);
      }
    }
    ForgetEnded();
  }
  const uint64_t turned_away = receiver_.turned_away();
  if (refused_ > 1 || turned_away != 0) {
    lines_.Warn(fmt::format("cairn: {} hand-overs were refused in all", refused_ + turned_away));
  }
  lines_.SayLast();
  // Those that were meant for the program must not end its watcher when they are no longer blocked.
  OnSignals();
  return Status();
}

void WatchLoop::OnSignals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGXFSZ) continue;
    if (number == SIGUSR1) {
      for (const auto& [index, process] : processes_) {
        if (process->capture != nullptr && process->alive()) process->capture->Trigger();
      }
      continue;
    }
    // The terminal sends ^C and ^\ to the program as well: it decides what they mean.
    const bool from_terminal =
        info.ssi_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT);
    if (!forward_signals_ || from_terminal) continue;
    for (const auto& [index, process] : processes_) {
      if (!process->alive()) continue;
      // It may just have ended; then there is nothing to pass on.
      (void)SendSignal(process->handle, number).ok();
      // What the program left behind does not keep cairn from obeying.
      if (!main_process().alive() && process->asked_to_end_at_ns == kNever) {
        process->asked_to_end_at_ns = MonotonicNs();
      }
    }
  }
}

void WatchLoop::OnSocket() {
  ReceivedMessage received;
  for (int i = 0; i < kMessagesAtOnce && receiver_.Receive(&received); ++i) OnMessage(received);
}

WatchedProcess* WatchLoop::ProcessWith(pid_t pid) {
  const auto found =
      std::find_if(processes_.rbegin(), processes_.rend(),
                   [pid](const auto& process) { return process.second->handle.pid == pid; });
  return found == processes_.rend() ? nullptr : found->second.get();
}

WatchedProcess* WatchLoop::SenderOf(ReceivedMessage& received) {
  WatchedProcess* const known = ProcessWith(received.sender);
  if (known != nullptr && known->alive()) return known;
  if (received.message.kind == HandoverKind::kDeviceLost) return nullptr;
  Result<ProcessHandle> handle = HandleOfSender(received);
  WatchedProcess* const process = handle.ok() ? AddProcess(std::move(*handle)) : nullptr;
  if (process == nullptr) {
    Refuse(received,
           "is not watched: there are as many processes as cairn may watch; so it is with those "
           "that come after it");
    return nullptr;
  }
  process->command_line = CommandLineOf(received.sender);
  process->program = ProgramName(ProgramOf(received.sender));
  return process;
}

// The watcher outlives what it has no memory for.
void WatchLoop::OnMessage(ReceivedMessage& received) {
  const Status handled = WithoutExceptions([&] {
    HandleMessage(received);
    return Status();
  });
  if (!handled.ok()) Refuse(received, "is not watched: there is no memory for it");
}

void WatchLoop::HandleMessage(ReceivedMessage& received) {
  // The lowest free number is the one that is given out: a high one says that few are left.
  const int highest = std::max(received.attached.get(), received.sender_pidfd.get());
  if (received.attachment_lost ||
      (highest >= 0 && static_cast<rlim_t>(highest) + kReservedDescriptors >= most_descriptors_)) {
    Refuse(received,
           "is not watched: cairn may open no more files (ulimit -n); so it is with those that "
           "come after it");
    return;
  }
  switch (received.message.kind) {
    case HandoverKind::kDeviceLost:
      if (WatchedProcess* const process = SenderOf(received)) NoticeLostDevices(*process);
      return;
    case HandoverKind::kBlock: OnBlock(received); return;
    case HandoverKind::kCapture: OnCapture(received); return;
    case HandoverKind::kWatching:
    case HandoverKind::kGreeting: return;
  }
}

void WatchLoop::OnBlock(ReceivedMessage& received) {
  const uint64_t block_bytes = received.message.block_bytes;
  if (!received.attached.valid() || block_bytes < kMinBlockBytes || block_bytes > kMaxBlockBytes) {
    return;
  }
  Result<SharedMemory> memory =
      SharedMemory::MapForReading(received.attached.Release(), block_bytes);
  if (!memory.ok()) return;
  WatchedProcess* const process = SenderOf(received);
  if (process == nullptr) return;
  // A process that replaced itself with another program hands over a second block.
  process->block = WatchedBlock(std::move(memory).value());
  process->next_probe_ns = process->watch.watchdog().enabled() ? MonotonicNs() : kNever;
  // Its command line cannot be read any more if it died at once. Of Wine's processes the block knows more than
  // what was typed.
  const std::string in_block = process->block.Program();
  if (process->command_line.empty() || IsWindowsProgram(in_block)) {
    process->program = ProgramName(in_block);
  }
  ChooseOutputPath(*process);
  if (!process->handle.pidfd.valid()) OnEnded(*process);
}

void WatchLoop::OnCapture(ReceivedMessage& received) {
  const uint64_t region_bytes = received.message.block_bytes;
  if (!received.attached.valid() || region_bytes != kCaptureRegionBytes) return;
  Result<SharedMemory> region =
      SharedMemory::MapForWriting(received.attached.Release(), region_bytes);
  if (!region.ok()) return;
  if (!settings_.capture) {
    RefuseCapture(received, std::move(region).value());
    return;
  }
  WatchedProcess* const process = SenderOf(received);
  if (process == nullptr) return;
  if (process->capture != nullptr) {
    // It replaced itself with another program, which gets a file of its own.
    process->capture->EndTrace();
    FinishCapture(*process);
    process->output_path.clear();
  }
  if (CaptureCount() >= kMaxCaptures) {
    Refuse(received, "is not captured: too many processes are already");
    return;
  }
  ChooseOutputPath(*process);
  if (process->output_path.empty()) {
    Refuse(received, "is not captured: cairn has made as many files for it as it may");
    return;
  }
  CaptureDrainSettings settings;
  settings.path = process->output_path;
  settings.other_name = [this, process] { return NextPath(*process); };
  settings.trigger_path = settings_.capture_trigger_path;
  settings.facts.program = process->program;
  settings.facts.command_line = process->command_line;
  settings.facts.library_version = CAIRN_LIBRARY_VERSION;
  settings.facts.process_id = static_cast<uint64_t>(process->handle.pid);
  settings.facts.start_realtime_ns = RealtimeNs();
  settings.facts.start_monotonic_ns = MonotonicNs();
  process->capture = std::make_unique<CaptureDrain>(std::move(region).value(), std::move(settings));
  process->output_path = process->capture->path();
  captured_ = true;
  if (!process->handle.pidfd.valid()) OnEnded(*process);
}

void WatchLoop::RefuseCapture(ReceivedMessage& received, SharedMemory region) {
  // The program learns from this that nobody reads, and does not wait for it.
  (void)RegionReader::Open(std::move(region)).ok();
  Refuse(received, "asks to be captured, which cairn was not told to do; say cairn run --capture");
}

size_t WatchLoop::CaptureCount() const {
  return static_cast<size_t>(
      std::count_if(processes_.begin(), processes_.end(),
                    [](const auto& process) { return process.second->capture != nullptr; }));
}

void WatchLoop::FinishCapture(WatchedProcess& process) {
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

std::string WatchLoop::NextPath(WatchedProcess& process) {
  return names_.Next(&process.output_names, process.program, process.handle.pid);
}

// The first process with breadcrumbs, or with an incident, gets the path that the user gave.
void WatchLoop::ChooseOutputPath(WatchedProcess& process) {
  if (process.output_path.empty()) process.output_path = NextPath(process);
}

void WatchLoop::NoticeLostDevices(WatchedProcess& process) {
  for (const LostDevice& lost : process.block.LostDevices()) {
    CarryOut(process, process.watch.OnDeviceLost(RealtimeNs(), lost.device, lost.code));
  }
}

void WatchLoop::OnEnded(WatchedProcess& process) {
  if (process.ended) return;
  // What it sent before it died is still in the socket.
  OnSocket();
  if (process.ended) return;  // One without a descriptor ends with its block's arrival.
  process.ended = true;
  process.end = CollectEnd(process.handle);
  process.handle.pidfd.Close();
  if (process.capture != nullptr) process.capture->EndTrace();
  NoticeLostDevices(process);
  CarryOut(process, process.watch.OnEnd(RealtimeNs(), process.end, process.block.Evidence()));
  FinishCapture(process);
  if (process.number == 0) SayUnwatched();
  // All that will be said of it is in its file; its memory goes.
  process.block = WatchedBlock();
}

void WatchLoop::OnTimer() {
  uint64_t expirations = 0;
  [[maybe_unused]] const ssize_t drained = read(timer_.get(), &expirations, sizeof(expirations));
  const uint64_t now_ns = MonotonicNs();
  for (const auto& [number, process] : processes_) {
    if (!process->alive()) continue;
    const uint64_t end_at_ns = std::min(process->killed_at_ns, process->asked_to_end_at_ns);
    if (end_at_ns != kNever && now_ns - end_at_ns >= kUnkillableNs) {
      GiveUpOn(*process);
    } else if (process->killed_at_ns != kNever) {
      continue;
    } else if (process->next_probe_ns <= now_ns) {
      Probe(*process, now_ns);
    }
  }
}

void WatchLoop::Probe(WatchedProcess& process, uint64_t now_ns) {
  const std::vector<QueueObservation> queues = process.block.ObserveQueues();
  const ProcessCondition condition = ConditionOf(process.handle.pid);
  CarryOut(process, process.watch.OnProbe(now_ns, RealtimeNs(), queues, condition));
  process.next_probe_ns = now_ns + process.watch.watchdog().PollIntervalNs();
}

Status WatchLoop::WriteReport(WatchedProcess& process, const Decision& decision,
                              std::string* where) {
  if (process.output_path.empty()) {
    return Status(StatusCode::kIo, "cairn has made as many files as it may");
  }
  const DumpSubject subject{process.handle.pid, process.program, process.command_line,
                            process.watch.incidents()};
  // A capture that cannot be written must not cost the report as well.
  if (process.capture == nullptr || process.capture->failed()) {
    return WithoutExceptions([&] {
      Result<OutputFile> file = CreateOutput(*where, [&] { return NextPath(process); });
      if (!file.ok()) return file.status();
      // Later reports of this process replace this one.
      *where = process.output_path = file->path;
      if (!file->why_not.empty()) lines_.Warn(fmt::format("cairn: {}", file->why_not));
      return WriteDump(&file->writer, subject, process.block);
    });
  }
  // The file gets its name when the program has ended.
  if (process.alive() && !decision.kill) *where += ".part";
  return process.capture->Append([&](FileWriter* file) {
    return WithoutExceptions([&] {
      return AppendDump(file, subject, process.block,
                        [&] { return process.capture->LastNumber(); });
    });
  });
}

void WatchLoop::CarryOut(WatchedProcess& process, const Decision& decision) {
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
bool WatchLoop::Kill(WatchedProcess& process) {
  if (!process.alive() || ConditionOf(process.handle.pid) == ProcessCondition::kEnding ||
      !SendSignal(process.handle, SIGKILL).ok()) {
    return false;
  }
  process.killed_at_ns = MonotonicNs();
  process.watch.OnKilled();
  return true;
}

void WatchLoop::GiveUpOn(WatchedProcess& process) {
  process.abandoned = true;
  FinishCapture(process);
  lines_.Warn(fmt::format("cairn: {} (process {}) {}", process.program, process.handle.pid,
                          process.killed_at_ns != kNever
                              ? "survives SIGKILL: it is stuck inside a driver and ends with it"
                              : "goes on after the signal, and is no longer watched"));
}

void WatchLoop::ArmTimer() {
  uint64_t next_ns = kNever;
  for (const auto& [number, process] : processes_) {
    if (!process->alive()) continue;
    const uint64_t end_at_ns = std::min(process->killed_at_ns, process->asked_to_end_at_ns);
    if (end_at_ns != kNever) next_ns = std::min(next_ns, end_at_ns + kUnkillableNs);
    if (process->killed_at_ns == kNever) next_ns = std::min(next_ns, process->next_probe_ns);
  }
  itimerspec when{};
  if (next_ns != kNever) {
    // A time of 0 would disarm the timer; one in the past fires at once.
    next_ns = std::max<uint64_t>(next_ns, 1);
    when.it_value.tv_sec = static_cast<time_t>(next_ns / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(next_ns % 1'000'000'000);
  }
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

std::string JoinedArguments(const std::vector<std::string>& arguments) {
  std::string joined;
  for (const std::string& argument : arguments) {
    if (!joined.empty()) joined += ' ';
    joined += ShellQuoted(argument);
  }
  return joined;
}

int ExitCodeOf(const ProcessEnd& end) {
  switch (end.kind) {
    case EndKind::kExited: return end.value;
    case EndKind::kSignalled: return 128 + end.value;
    case EndKind::kUnknown: break;
  }
  return kExitCairnFailed;
}

}  // namespace

Result<int> RunWatched(const WatchSettings& settings, const std::vector<std::string>& arguments) {
  CAIRN_RETURN_IF_ERROR(CheckOutputPath(settings.output_path));
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return StatusFromErrno(errno, "the watcher's socket cannot be made");
  }
  FileDescriptor program_end(ends[1]);
  WatchLoop loop(settings);
  CAIRN_RETURN_IF_ERROR(loop.Prepare(FileDescriptor(ends[0]), getpid(), true));

  SpawnRequest request;
  request.arguments = arguments;
  request.inherited_fd = program_end.get();
  request.environment = settings.environment;
  request.environment.push_back(
      fmt::format("{}={}", kWatcherFdVariable, WatcherFdValue(program_end.get())));
  // One of an outer watcher would lead away from this one.
  request.environment.push_back(fmt::format("{}={}", kWatcherAddressVariable, loop.OpenDoors()));
  request.signal_mask = loop.previous_mask();
  request.ignores_broken_pipes = loop.ignored_broken_pipes();
  request.descriptors = loop.previous_descriptors();
  Result<ProcessHandle> program = SpawnProgram(request);
  if (!program.ok()) return program.status();
  program_end.Close();
  CAIRN_RETURN_IF_ERROR(loop.AddMainProcess(
      std::move(*program), ProgramName(ProgramOfArguments(arguments)), JoinedArguments(arguments)));
  CAIRN_RETURN_IF_ERROR(loop.Run());
  if (settings.capture && !loop.captured()) {
    settings.warn(fmt::format("cairn: {} made no Direct3D 12 device: nothing was captured",
                              ProgramName(ProgramOfArguments(arguments))));
  }
  if (loop.killed_for_hang()) return kExitKilledForHang;
  const int exit_code = ExitCodeOf(loop.main_process().end);
  // Who relies on a file learns that there is none.
  return exit_code == 0 && loop.lost_output() ? kExitCairnFailed : exit_code;
}

Status WatchOverSocket(const WatchSettings& settings, int socket_fd) {
  FileDescriptor socket(socket_fd);
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) {
    return StatusFromErrno(errno,
                           fmt::format("descriptor {} is not a watcher's socket", socket_fd));
  }
  // Devices and pipes of the program must not stay open because its watcher inherited them.
  if (socket_fd > 3) syscall(SYS_close_range, 3u, static_cast<unsigned>(socket_fd - 1), 0u);
  syscall(SYS_close_range, static_cast<unsigned>(socket_fd + 1), ~0u, 0u);
  Result<ProcessHandle> program = OpenProcess(peer.pid);
  if (program.status().code() == StatusCode::kNotFound) {
    // It died while its watcher started: what it handed over is still in the socket.
    ProcessHandle gone;
    gone.pid = peer.pid;
    program = std::move(gone);
  }
  if (!program.ok()) return program.status();

  const std::string command_line = CommandLineOf(peer.pid);
  const std::string command = ProgramOf(peer.pid);
  CAIRN_RETURN_IF_ERROR(CheckOutputPath(settings.output_path.empty() ? DefaultOutputPath(command)
                                                                     : settings.output_path));
  WatchLoop loop(settings);
  CAIRN_RETURN_IF_ERROR(loop.Prepare(std::move(socket), peer.pid, false));
  CAIRN_RETURN_IF_ERROR(
      loop.AddMainProcess(std::move(*program), ProgramName(command), command_line));
  HandoverMessage watching;
  watching.kind = HandoverKind::kWatching;
  // Nobody may be there to hear it; that the loop finds out.
  (void)send(socket_fd, &watching, sizeof(watching), MSG_NOSIGNAL | MSG_DONTWAIT);
  return loop.Run();
}

}  // namespace cairn
