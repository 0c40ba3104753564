// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
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
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/program_name.h"
#include "base/shared_memory.h"
#include "base/text.h"
#include "recorder/block.h"
#include "recorder/handover.h"
#include "watch/capture_drain.h"
#include "watch/capture_words.h"
#include "watch/child_process.h"
#include "watch/output_path.h"
#include "watch/watch_loop.h"
#include "watch/watched_block.h"

namespace cairn {
namespace {

// A runaway fork tree must not exhaust the watcher; processes beyond it run unwatched.
constexpr size_t kMaxWatched = 512;
// A process that survives SIGKILL for so long is stuck inside a driver; nobody can end it.
constexpr uint64_t kUnkillableNs = uint64_t{5} * 1'000'000'000;
// More than a socket's buffer holds: a program that never stops sending does not keep the watcher from
// seeing it hang or end.
constexpr int kMessagesAtOnce = 1024;
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// Linux 6.5; headers of the distributions we build on lack the names.
constexpr int kPassPidfd = 76;        // SO_PASSPIDFD
constexpr int kAttachedPidfd = 0x04;  // SCM_PIDFD

// epoll tags; those from kFirstProcess on are kFirstProcess + index into processes_.
enum : uint64_t { kTagSignals, kTagTimer, kTagSocket, kFirstProcess };

struct WatchedProcess {
  WatchedProcess(ProcessHandle process_handle, const WatchPolicy& policy)
      : handle(std::move(process_handle)), watch(policy) {}

  ProcessHandle handle;
  ProcessWatch watch;
  WatchedBlock block;
  std::string program;       // for people
  std::string command_line;  // as started
  std::string output_path;   // once it has one
  std::unique_ptr<CaptureDrain> capture;
  bool ended = false;
  bool abandoned = false;  // survived SIGKILL
  ProcessEnd end;
  uint64_t next_probe_ns = kNever;
  uint64_t killed_at_ns = kNever;

  bool alive() const { return !ended && !abandoned; }
};

// One message with what the kernel attached to it.
struct ReceivedMessage {
  HandoverMessage message;
  FileDescriptor attached;
  pid_t sender = -1;
  FileDescriptor sender_pidfd;  // where the kernel attaches it: right even if the sender is gone
};

enum class ReceiveResult { kMessage, kUnusable, kEmpty, kClosed };

void TakeAttachments(msghdr& header, ReceivedMessage& received) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS && part->cmsg_len >= CMSG_LEN(sizeof(ucred))) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
      // 0: sent before this end asked for credentials, so by the process that made the socket.
      if (credentials.pid > 0) received.sender = credentials.pid;
    } else if (part->cmsg_type == kAttachedPidfd && part->cmsg_len >= CMSG_LEN(sizeof(int))) {
      int fd = -1;  // or an error, negative
      std::memcpy(&fd, CMSG_DATA(part), sizeof(fd));
      received.sender_pidfd = FileDescriptor(fd);
    } else if (part->cmsg_type == SCM_RIGHTS) {
      const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
        received.attached = FileDescriptor(fd);  // a second one closes the first: unusable anyway
      }
    }
  }
}

// `maker`: the process that made the socket.
ReceiveResult Receive(int socket, pid_t maker, ReceivedMessage& received) {
  iovec data{&received.message, sizeof(received.message)};
  alignas(cmsghdr) char
      control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int)) + CMSG_SPACE(8 * sizeof(int))];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t size = 0;
  do {
    size = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return errno == EAGAIN ? ReceiveResult::kEmpty : ReceiveResult::kClosed;
  received.sender = maker;
  TakeAttachments(header, received);
  // The end of the stream. An empty message looks the same but comes with credentials.
  if (size == 0 && header.msg_controllen == 0) return ReceiveResult::kClosed;
  const bool usable = size == sizeof(received.message) && (header.msg_flags & MSG_TRUNC) == 0 &&
                      received.message.magic == kHandoverMagic &&
                      received.message.version == kHandoverVersion;
  return usable ? ReceiveResult::kMessage : ReceiveResult::kUnusable;
}

// Without a descriptor if the sender is gone.
ProcessHandle HandleOfSender(ReceivedMessage& received) {
  if (!received.sender_pidfd.valid()) {
    Result<ProcessHandle> opened = OpenProcess(received.sender);
    if (opened.ok()) return std::move(opened).value();
  }
  return {received.sender, std::move(received.sender_pidfd)};
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
  explicit WatchLoop(const WatchSettings& settings) : settings_(settings) {}
  // Signals do again what they did before.
  ~WatchLoop();
  WatchLoop(const WatchLoop&) = delete;
  WatchLoop& operator=(const WatchLoop&) = delete;

  // `forwarded`: signals of this process that are passed on to the program; all four are blocked.
  Status Prepare(FileDescriptor socket, bool forward_signals);
  // A process without a descriptor ended before it could be opened.
  Status AddMainProcess(ProcessHandle process, std::string program, std::string command_line);
  Status Run();

  const WatchedProcess& main_process() const { return *processes_.front(); }
  bool killed_for_hang() const;
  bool captured() const { return captured_; }
  const sigset_t& previous_mask() const { return previous_mask_; }
  bool ignored_broken_pipes() const { return ignored_broken_pipes_; }

 private:
  Status Listen(int fd, uint64_t tag);
  WatchedProcess* AddProcess(ProcessHandle process);
  bool Finished() const;

  void OnSignals();
  void OnSocket();
  void OnMessage(ReceivedMessage& received);
  // The process that sent it; one that was not known is watched from now on. Null: there are too many.
  WatchedProcess* SenderOf(ReceivedMessage& received);
  void OnBlock(ReceivedMessage& received);
  void OnCapture(ReceivedMessage& received);
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
  void GiveUpOn(WatchedProcess& process);
  void ArmTimer();

  WatchSettings settings_;
  FileDescriptor epoll_;
  FileDescriptor signals_;
  FileDescriptor timer_;
  FileDescriptor socket_;
  bool forward_signals_ = false;
  bool output_path_taken_ = false;
  bool captured_ = false;
  bool prepared_ = false;
  sigset_t previous_mask_{};
  bool ignored_broken_pipes_ = false;
  std::vector<std::unique_ptr<WatchedProcess>> processes_;  // [0] is the main process
};

Status WatchLoop::Listen(int fd, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return StatusFromErrno(errno, "the watcher cannot wait for events");
}

Status WatchLoop::Prepare(FileDescriptor socket, bool forward_signals) {
  socket_ = std::move(socket);
  forward_signals_ = forward_signals;
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&mask, number);
  if (settings_.capture_trigger_signal) sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, &previous_mask_);
  // Writing to a closed stderr must not end the watcher, and with it the program.
  ignored_broken_pipes_ = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  prepared_ = true;

  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  signals_ = FileDescriptor(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_ = FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid() || !signals_.valid() || !timer_.valid()) {
    return StatusFromErrno(errno, "the watcher cannot wait for events");
  }
  const int on = 1;
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    return StatusFromErrno(errno, "the watcher's socket cannot be used");
  }
  // Best effort: OnMessage has another way.
  (void)setsockopt(socket_.get(), SOL_SOCKET, kPassPidfd, &on, sizeof(on));
  CAIRN_RETURN_IF_ERROR(Listen(signals_.get(), kTagSignals));
  CAIRN_RETURN_IF_ERROR(Listen(timer_.get(), kTagTimer));
  return Listen(socket_.get(), kTagSocket);
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
  const uint64_t tag = kFirstProcess + processes_.size();
  if (process.pidfd.valid() && !Listen(process.pidfd.get(), tag).ok()) return nullptr;
  processes_.push_back(std::make_unique<WatchedProcess>(std::move(process), settings_.policy));
  return processes_.back().get();
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
                      [](const auto& process) { return process->alive(); });
}

bool WatchLoop::killed_for_hang() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process->watch.killed_for_hang(); });
}

Status WatchLoop::Run() {
  if (!main_process().handle.pidfd.valid()) OnEnded(*processes_.front());
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
      } else if (tag - kFirstProcess < processes_.size()) {
        OnEnded(*processes_[tag - kFirstProcess]);
      }
    }
  }
  // Those that were meant for the program must not end its watcher when they are no longer blocked.
  OnSignals();
  return Status();
}

void WatchLoop::OnSignals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGUSR1) {
      for (const auto& process : processes_) {
        if (process->capture != nullptr && process->alive()) process->capture->Trigger();
      }
      continue;
    }
    // The terminal sends ^C and ^\ to the program as well: it decides what they mean.
    const bool from_terminal =
        info.ssi_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT);
    if (!forward_signals_ || from_terminal) continue;
    for (const auto& process : processes_) {
      // It may just have ended; then there is nothing to pass on.
      if (process->alive()) (void)SendSignal(process->handle, number).ok();
    }
  }
}

void WatchLoop::OnSocket() {
  if (!socket_.valid()) return;
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    ReceivedMessage received;
    switch (Receive(socket_.get(), main_process().handle.pid, received)) {
      case ReceiveResult::kMessage: OnMessage(received); break;
      case ReceiveResult::kUnusable: break;  // somebody else's message: not ours to judge
      case ReceiveResult::kEmpty: return;
      case ReceiveResult::kClosed:
        // Closing it also takes it out of epoll; nobody can send any more.
        socket_.Close();
        return;
    }
  }
}

WatchedProcess* WatchLoop::SenderOf(ReceivedMessage& received) {
  const auto found =
      std::find_if(processes_.begin(), processes_.end(), [&received](const auto& process) {
        return process->alive() && process->handle.pid == received.sender;
      });
  if (found != processes_.end()) return found->get();
  if (received.message.kind == HandoverKind::kDeviceLost) return nullptr;
  WatchedProcess* process = AddProcess(HandleOfSender(received));
  if (process == nullptr) return nullptr;
  process->command_line = CommandLineOf(received.sender);
  process->program = ProgramName(ProgramOfCommandLine(ArgumentsOf(received.sender)));
  return process;
}

void WatchLoop::OnMessage(ReceivedMessage& received) {
  switch (received.message.kind) {
    case HandoverKind::kDeviceLost:
      if (WatchedProcess* const process = SenderOf(received)) NoticeLostDevices(*process);
      return;
    case HandoverKind::kBlock: OnBlock(received); return;
    case HandoverKind::kCapture: OnCapture(received); return;
    case HandoverKind::kWatching: return;
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
  WatchedProcess* const process = SenderOf(received);
  if (process == nullptr) return;
  if (process->capture != nullptr) {
    // It replaced itself with another program, which gets a file of its own.
    process->capture->EndTrace();
    FinishCapture(*process);
    process->output_path = OutputPathOfProcess(process->output_path, process->handle.pid);
  }
  ChooseOutputPath(*process);
  CaptureDrainSettings settings;
  settings.path = process->output_path;
  settings.trigger_path = settings_.capture_trigger_path;
  settings.facts.program = process->program;
  settings.facts.command_line = process->command_line;
  settings.facts.library_version = CAIRN_LIBRARY_VERSION;
  settings.facts.process_id = static_cast<uint64_t>(process->handle.pid);
  settings.facts.start_realtime_ns = RealtimeNs();
  settings.facts.start_monotonic_ns = MonotonicNs();
  process->capture = std::make_unique<CaptureDrain>(std::move(region).value(), std::move(settings));
  captured_ = true;
  if (!process->handle.pidfd.valid()) OnEnded(*process);
}

void WatchLoop::FinishCapture(WatchedProcess& process) {
  if (process.capture == nullptr) return;
  const Result<CaptureSummary> summary = process.capture->Finish();
  settings_.say(CaptureInWords(process.program, ShellQuoted(process.capture->path()), summary));
  process.capture.reset();
}

// The first process with breadcrumbs, or with an incident, gets the path that the user gave.
void WatchLoop::ChooseOutputPath(WatchedProcess& process) {
  if (!process.output_path.empty()) return;
  const std::string path =
      settings_.output_path.empty() ? DefaultOutputPath(process.program) : settings_.output_path;
  process.output_path = output_path_taken_ ? OutputPathOfProcess(path, process.handle.pid) : path;
  output_path_taken_ = true;
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
  // All that will be said of it is in its file; its memory goes.
  process.block = WatchedBlock();
}

void WatchLoop::OnTimer() {
  uint64_t expirations = 0;
  [[maybe_unused]] const ssize_t drained = read(timer_.get(), &expirations, sizeof(expirations));
  const uint64_t now_ns = MonotonicNs();
  for (const auto& process : processes_) {
    if (!process->alive()) continue;
    if (process->killed_at_ns != kNever) {
      if (now_ns - process->killed_at_ns >= kUnkillableNs) GiveUpOn(*process);
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
  const DumpSubject subject{process.handle.pid, process.program, process.command_line,
                            process.watch.incidents()};
  // A capture that cannot be written must not cost the report as well.
  if (process.capture == nullptr || process.capture->failed()) {
    return WithoutExceptions([&] { return WriteDump(*where, subject, process.block); });
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
  settings_.say(written.ok()
                    ? fmt::format("{}; report: cairn report {}", happened, ShellQuoted(where))
                    : fmt::format("{}; no report: {}", happened, written.message()));
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
  settings_.say(fmt::format(
      "cairn: {} (process {}) survives SIGKILL: it is stuck inside a driver and ends with it",
      process.program, process.handle.pid));
}

void WatchLoop::ArmTimer() {
  uint64_t next_ns = kNever;
  for (const auto& process : processes_) {
    if (!process->alive()) continue;
    next_ns =
        std::min(next_ns, process->killed_at_ns != kNever ? process->killed_at_ns + kUnkillableNs
                                                          : process->next_probe_ns);
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
  CAIRN_RETURN_IF_ERROR(loop.Prepare(FileDescriptor(ends[0]), true));

  SpawnRequest request;
  request.arguments = arguments;
  request.inherited_fd = program_end.get();
  request.environment = settings.environment;
  request.environment.push_back(fmt::format("{}={}", kWatcherFdVariable, program_end.get()));
  request.signal_mask = loop.previous_mask();
  request.ignores_broken_pipes = loop.ignored_broken_pipes();
  Result<ProcessHandle> program = SpawnProgram(request);
  if (!program.ok()) return program.status();
  program_end.Close();
  CAIRN_RETURN_IF_ERROR(loop.AddMainProcess(
      std::move(*program), ProgramName(ProgramOfArguments(arguments)), JoinedArguments(arguments)));
  CAIRN_RETURN_IF_ERROR(loop.Run());
  if (settings.capture && !loop.captured()) {
    settings.say(fmt::format("cairn: {} made no Direct3D 12 device: nothing was captured",
                             ProgramName(ProgramOfArguments(arguments))));
  }
  return loop.killed_for_hang() ? kExitKilledForHang : ExitCodeOf(loop.main_process().end);
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
  const std::string command(ProgramOfCommandLine(ArgumentsOf(peer.pid)));
  CAIRN_RETURN_IF_ERROR(CheckOutputPath(settings.output_path.empty() ? DefaultOutputPath(command)
                                                                     : settings.output_path));
  WatchLoop loop(settings);
  CAIRN_RETURN_IF_ERROR(loop.Prepare(std::move(socket), false));
  CAIRN_RETURN_IF_ERROR(
      loop.AddMainProcess(std::move(*program), ProgramName(command), command_line));
  HandoverMessage watching;
  watching.kind = HandoverKind::kWatching;
  // Nobody may be there to hear it; that the loop finds out.
  (void)send(socket_fd, &watching, sizeof(watching), MSG_NOSIGNAL | MSG_DONTWAIT);
  return loop.Run();
}

}  // namespace cairn
