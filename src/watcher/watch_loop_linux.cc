// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "base/program_name.h"
#include "base/text.h"
#include "format/block/handover.h"
#include "os/clock.h"
#include "os/process.h"
#include "watcher/handover_receiver.h"
#include "watcher/output_path.h"
#include "watcher/running_blocks.h"
#include "watcher/session.h"
#include "watcher/watch_loop.h"

namespace cairn {
namespace {

// epoll tags; those from kFirstProcess on are kFirstProcess + the session's number of a process.
enum : uint64_t { kTagSignals, kTagTimer, kTagSocket, kFirstProcess };

// Waits for what happens, tells the session of it, and does to processes what that says.
class WatchLoop final : public WatchedSystem {
 public:
  explicit WatchLoop(const WatchSettings& settings) : settings_(settings) {
    session_.emplace(settings, this, &output_);
  }
  // Signals do again what they did before.
  ~WatchLoop() override;
  WatchLoop(const WatchLoop&) = delete;
  WatchLoop& operator=(const WatchLoop&) = delete;

  // `maker`: the process that made the socket pair. `forward_signals`: those of this process are passed on to
  // the program; they are blocked.
  Status Prepare(FileDescriptor socket, pid_t maker, bool forward_signals);
  // Whoever did not inherit the socket may come in by this address; "" if there is none.
  const std::string& OpenDoors();
  Status Run();

  WatchSession& session() { return *session_; }
  // Of the program, whatever this process may open.
  const std::optional<rlimit>& previous_descriptors() const { return previous_descriptors_; }
  const sigset_t& previous_mask() const { return previous_mask_; }
  bool ignored_broken_pipes() const { return ignored_broken_pipes_; }

  uint64_t MonotonicNs() override { return cairn::MonotonicNs(); }
  uint64_t RealtimeNs() override { return cairn::RealtimeNs(); }
  bool Receive(ReceivedMessage* received) override { return receiver_.Receive(received); }
  uint64_t TurnedAway() override { return receiver_.turned_away(); }
  Watching Watch(uint64_t process, ProcessHandle handle) override;
  ProcessEnd CollectEnd(uint64_t process) override;
  void Forget(uint64_t process) override { handles_.erase(process); }
  ProcessCondition ConditionOf(uint64_t process) override {
    return cairn::ConditionOf(handles_.at(process).pid);
  }
  bool Kill(uint64_t process) override { return PassOn(process, SIGKILL); }
  bool PassOn(uint64_t process, int signal_number) override {
    return SendSignal(handles_.at(process), signal_number).ok();
  }
  std::string ProgramOf(ProcessId id) override { return cairn::ProgramOf(id); }
  std::string CommandLineOf(ProcessId id) override { return cairn::CommandLineOf(id); }
  std::vector<ProcessId> ProcessesWithBlock() override;

 private:
  Status Listen(int fd, uint64_t tag);
  uint64_t RaiseDescriptorLimit();
  void OnSignals();
  void ArmTimer();

  WatchSettings settings_;
  FileDescriptor epoll_;
  FileDescriptor signals_;
  FileDescriptor timer_;
  HandoverReceiver receiver_;
  std::string address_;
  bool forward_signals_ = false;
  bool prepared_ = false;
  sigset_t previous_mask_{};
  bool ignored_broken_pipes_ = false;
  std::optional<rlimit> previous_descriptors_;
  std::map<uint64_t, ProcessHandle> handles_;  // by the session's number
  FileOutput output_;
  std::optional<WatchSession> session_;
};

Status WatchLoop::Listen(int fd, uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return StatusFromErrno(errno, "the watcher cannot wait for events");
}

// Each process takes two, and many of these limits are from a time when select() was in use.
uint64_t WatchLoop::RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return ~uint64_t{0};
  previous_descriptors_ = limit;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, kMaxDescriptors));
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit = *previous_descriptors_;
  return limit.rlim_cur;
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
  receiver_.set_most_handles(RaiseDescriptorLimit());

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
  // Its captures end before that: they write files.
  session_.reset();
  if (!prepared_) return;
  if (!ignored_broken_pipes_) signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &previous_mask_, nullptr);
}

WatchedSystem::Watching WatchLoop::Watch(uint64_t process, ProcessHandle handle) {
  if (!handle.pidfd.valid()) {
    Result<ProcessHandle> opened = OpenProcess(static_cast<pid_t>(handle.pid));
    if (opened.ok()) {
      handle = std::move(*opened);
    } else if (opened.status().code() != StatusCode::kNotFound) {
      return Watching::kNoRoom;
    }
  }
  const bool open = handle.pidfd.valid();
  if (open && !Listen(handle.pidfd.get(), kFirstProcess + process).ok()) return Watching::kNoRoom;
  handles_[process] = std::move(handle);
  return open ? Watching::kAlive : Watching::kGone;
}

ProcessEnd WatchLoop::CollectEnd(uint64_t process) {
  const ProcessEnd end = cairn::CollectEnd(handles_.at(process));
  handles_.erase(process);
  return end;
}

std::vector<ProcessId> WatchLoop::ProcessesWithBlock() {
  std::vector<ProcessId> ids;
  if (address_.empty()) return ids;
  for (const LiveProcess& found :
       FindLiveProcessesWith(fmt::format("{}={}", kWatcherAddressVariable, address_))) {
    ids.push_back(found.pid);
  }
  return ids;
}

Status WatchLoop::Run() {
  while (!session_->Finished()) {
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
        uint64_t expirations = 0;
        [[maybe_unused]] const ssize_t drained =
            read(timer_.get(), &expirations, sizeof(expirations));
        session_->OnTime();
      } else if (tag == kTagSocket) {
        session_->OnMessages();
      } else {
        session_->OnEnded(tag - kFirstProcess);
      }
    }
  }
  session_->SayLast();
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
      session_->OnTrigger();
      continue;
    }
    // The terminal sends ^C and ^\ to the program as well: it decides what they mean.
    const bool from_terminal =
        info.ssi_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT);
    if (forward_signals_ && !from_terminal) session_->OnSignal(number);
  }
}

void WatchLoop::ArmTimer() {
  uint64_t next_ns = session_->NextTimeNs();
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
  CAIRN_RETURN_IF_ERROR(loop.session().AddMainProcess(std::move(*program),
                                                      ProgramInWords(ProgramOfArguments(arguments)),
                                                      JoinedArguments(arguments)));
  CAIRN_RETURN_IF_ERROR(loop.Run());
  if (settings.capture && !loop.session().captured()) {
    settings.warn(fmt::format("cairn: {} made no Direct3D 12 device: nothing was captured",
                              ProgramInWords(ProgramOfArguments(arguments))));
  }
  if (loop.session().killed_for_hang()) return kExitKilledForHang;
  const int exit_code = ExitCodeOf(loop.session().end());
  // Who relies on a file learns that there is none.
  return exit_code == 0 && loop.session().lost_output() ? kExitCairnFailed : exit_code;
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
      loop.session().AddMainProcess(std::move(*program), ProgramInWords(command), command_line));
  HandoverMessage watching;
  watching.kind = HandoverKind::kWatching;
  // Nobody may be there to hear it; that the loop finds out.
  (void)send(socket_fd, &watching, sizeof(watching), MSG_NOSIGNAL | MSG_DONTWAIT);
  return loop.Run();
}

}  // namespace cairn
