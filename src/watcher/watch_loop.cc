// SPDX-License-Identifier: Apache-2.0
#include "watcher/watch_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "base/program_name.h"
#include "base/shell_words.h"
#include "base/text.h"
#include "format/block/handover.h"
#include "format/settings/layer_settings.h"
#include "os/channel.h"
#include "os/clock.h"
#include "os/descendants.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/this_process.h"
#include "os/user_requests.h"
#include "os/wait_set.h"
#include "watcher/handover_receiver.h"
#include "watcher/output_path.h"
#include "watcher/running_blocks.h"
#include "watcher/session.h"

namespace cairn {
namespace {

// Keys of the wait set; those from kFirstProcess on are kFirstProcess + the session's number of a
// process.
enum : uint64_t { kRequests, kMessages, kFirstProcess };
constexpr uint64_t kLookAtChildrenNs = 100'000'000;

static_assert(kNever == WaitSet::kTime);

// Waits for events, passes them to the session, and acts on processes as the session decides.
class WatchLoop final : public WatchedSystem {
 public:
  explicit WatchLoop(const WatchSettings& settings)
      : settings_(settings),
        session_(settings, this, settings.output == nullptr ? &files_ : settings.output) {}

  // `maker`: the process that made the channel. `forward_signals`: those of this process are passed on to the
  // program.
  Status Prepare(SystemHandle channel, ProcessId maker, bool forward_signals);
  // Returns the address for processes that did not inherit the channel; "" if there is none.
  const std::string& OpenDoors();
  // For the report, where files are written.
  void TakeSpace();
  Status Run();

  WatchSession& session() { return session_; }
  const UserRequests& requests() const { return requests_; }

  uint64_t MonotonicNs() override { return cairn::MonotonicNs(); }
  uint64_t RealtimeNs() override { return cairn::RealtimeNs(); }
  bool Receive(ReceivedMessage* received) override { return receiver_.Receive(received); }
  uint64_t SharedBytesInUse() override { return cairn::SharedBytesInUse(); }
  uint64_t TurnedAway() override { return receiver_.turned_away(); }
  Watching Watch(uint64_t process, ProcessHandle handle) override;
  ProcessEnd CollectEnd(uint64_t process) override;
  void Forget(uint64_t process) override;
  ProcessCondition ConditionOf(uint64_t process) override {
    return cairn::ConditionOf(handles_.at(process).pid);
  }
  bool Kill(uint64_t process) override { return KillProcess(handles_.at(process)).ok(); }
  bool PassOn(uint64_t process, int signal_number) override {
    return SendSignal(handles_.at(process), signal_number).ok();
  }
  std::string ProgramOf(ProcessId id) override { return cairn::ProgramOf(id); }
  std::string CommandLineOf(ProcessId id) override { return cairn::CommandLineOf(id); }
  std::vector<ProcessId> ProcessesWithBlock() override;
  std::vector<Descendant> LivingDescendants() override {
    return Descendants(settings_.groups_of_own_children ? settings_.groups_of_own_children()
                                                        : std::vector<ProcessId>());
  }
  ProcessLook LookAt(ProcessId id, const LookFor& wanted) override {
    return LookAtProcess(id, wanted);
  }
  void ForgetOrphans() override;

 private:
  void TakeRequests();

  WatchSettings settings_;
  // Outlives the session, whose captures write files until they end.
  UserRequests requests_;
  HandoverReceiver receiver_;
  std::string address_;
  bool forward_signals_ = false;
  std::map<uint64_t, ProcessHandle> handles_;  // by the session's number
  WaitSet wait_set_;                           // goes before what it waits for
  FileOutput files_;
  WatchSession session_;
};

Status WatchLoop::Prepare(SystemHandle channel, ProcessId maker, bool forward_signals) {
  forward_signals_ = forward_signals;
  CAIRN_RETURN_IF_ERROR(requests_.Listen(settings_.capture_trigger_signal));
  receiver_.set_most_handles(RaiseHandleLimit(kMaxDescriptors));
  CAIRN_RETURN_IF_ERROR(wait_set_.Open());
  CAIRN_RETURN_IF_ERROR(receiver_.Open(std::move(channel), maker));
  CAIRN_RETURN_IF_ERROR(wait_set_.Add(requests_.handle(), kRequests));
  return wait_set_.Add(receiver_.handle(), kMessages);
}

void WatchLoop::TakeSpace() {
  if (settings_.output != nullptr) return;
  const FilePath folder(FilePath(settings_.output_path).parent_path());
  if (files_.TakeSpace(folder)) return;
  settings_.warn(
      fmt::format("cairn: warning: less than {} MiB are free in '{}': if a report cannot be "
                  "written there, its verdict is printed here",
                  kSpareReportBytes >> 20, folder.empty() ? "." : VisibleText(TextOfPath(folder))));
}

const std::string& WatchLoop::OpenDoors() {
  receiver_.OpenDoors();
  address_ = receiver_.address();
  return address_;
}

WatchedSystem::Watching WatchLoop::Watch(uint64_t process, ProcessHandle handle) {
  if (!handle.handle.valid()) {
    Result<ProcessHandle> opened = OpenProcess(handle.pid);
    if (opened.ok()) {
      handle = std::move(*opened);
    } else if (opened.status().code() != StatusCode::kNotFound) {
      return Watching::kNoRoom;
    }
  }
  const bool held = handle.handle.valid();
  if (held && !wait_set_.Add(handle.handle, kFirstProcess + process).ok()) return Watching::kNoRoom;
  handles_[process] = std::move(handle);
  return held ? Watching::kAlive : Watching::kGone;
}

ProcessEnd WatchLoop::CollectEnd(uint64_t process) {
  const ProcessEnd end = cairn::CollectEnd(handles_.at(process));
  Forget(process);
  return end;
}

void WatchLoop::Forget(uint64_t process) {
  const auto found = handles_.find(process);
  if (found == handles_.end()) return;
  if (found->second.handle.valid()) wait_set_.Remove(found->second.handle);
  handles_.erase(found);
}

std::vector<ProcessId> WatchLoop::ProcessesWithBlock() {
  std::vector<ProcessId> ids;
  if (address_.empty()) return ids;
  for (const LiveProcess& found :
       FindLiveProcessesWith(FormatSetting<&LayerSettings::watcher_address>(address_))) {
    ids.push_back(found.pid);
  }
  return ids;
}

void WatchLoop::ForgetOrphans() {
  ForgetEndedOrphans([this](ProcessId id) {
    return std::any_of(handles_.begin(), handles_.end(),
                       [id](const auto& handle) { return handle.second.pid == id; });
  });
}

Status WatchLoop::Run() {
  while (!session_.Finished()) {
    const bool looks = settings_.look_at_own_children && settings_.look_at_own_children();
    const uint64_t look_ns = looks ? cairn::MonotonicNs() + kLookAtChildrenNs : WaitSet::kTime;
    const auto happened = wait_set_.Wait(std::min(session_.NextTimeNs(), look_ns));
    if (!happened.ok()) return happened.status();
    // Processes that were added later are handled first: an earlier one (timeout, strace) may only
    // pass on how they ended.
    std::vector<uint64_t> keys(happened->begin(), happened->end());
    const auto order = [](uint64_t key) {
      return key >= kFirstProcess && key != WaitSet::kTime ? ~key : 0;
    };
    std::stable_sort(keys.begin(), keys.end(),
                     [&order](uint64_t one, uint64_t other) { return order(one) < order(other); });
    for (const uint64_t key : keys) {
      if (key == kRequests) {
        TakeRequests();
      } else if (key == WaitSet::kTime) {
        session_.OnTime();
      } else if (key == kMessages) {
        session_.OnMessages();
      } else {
        session_.OnEnded(key - kFirstProcess);
      }
      // Each of these may have led to a report; what has its time, and the user, does not wait for the others.
      if (session_.NextTimeNs() <= cairn::MonotonicNs()) session_.OnTime();
      TakeRequests();
    }
  }
  session_.SayLast();
  // Takes the requests that were meant for the program, so that they do not end its watcher once
  // signals act on it again.
  TakeRequests();
  return Status();
}

void WatchLoop::TakeRequests() {
  UserRequest request;
  while (requests_.Take(&request)) {
    if (request.kind == UserRequest::Kind::kTrigger) {
      session_.OnTrigger();
    } else if (forward_signals_ && !request.asked_of_all) {
      session_.OnSignal(request.signal_number);
    }
  }
}

int ExitCodeOf(const ProcessEnd& end) {
  if (end.whole_code) return end.value;
  switch (end.kind) {
    case EndKind::kExited: return end.value;
    case EndKind::kSignalled: return 128 + end.value;
    case EndKind::kUnknown: break;
  }
  return kExitCairnFailed;
}

}  // namespace

std::string NameOfStarted(const std::vector<std::string>& arguments) {
  const std::string program = ProgramOfArguments(arguments);
  const std::string file = IsWindowsProgram(program) ? program : FileOfProgram(program);
  return IsWindowsProgram(file) ? file : program;
}

Result<int> RunWatched(const WatchSettings& settings, const std::vector<std::string>& arguments) {
  if (settings.output == nullptr) {
    CAIRN_RETURN_IF_ERROR(CheckOutputPath(settings.output_path.empty()
                                              ? DefaultOutputPath(NameOfStarted(arguments))
                                              : settings.output_path));
  }
  Result<ChannelEnds> channel = MakeChannel();
  if (!channel.ok()) return channel.status();
  WatchLoop loop(settings);
  CAIRN_RETURN_IF_ERROR(loop.Prepare(std::move(channel->first), OwnProcessId(), true));
  loop.TakeSpace();

  SpawnRequest request;
  request.arguments = arguments;
  request.inherited = &channel->second;
  request.environment = settings.environment;
  request.environment.push_back(
      FormatSetting<&LayerSettings::watcher_fd>(TextOfInherited(channel->second.get())));
  // One of an outer watcher would lead away from this one.
  request.environment.push_back(FormatSetting<&LayerSettings::watcher_address>(loop.OpenDoors()));
  request.preloaded = settings.preloaded;
  request.not_preloaded = [&settings](const Status& why) {
    settings.warn(
        fmt::format("cairn run: warning: the program's calls are not followed: {}", why.message()));
  };
  request.requests = &loop.requests();
  RunFacts facts{arguments, settings.preloaded, request.environment.back(), "cairn",
                 LookAtProgramFile(FileOfProgram(arguments.front()))};
  if (const std::string own = OwnProgramPath(); !own.empty()) facts.cairn = ShellQuoted(own);
  const bool shows_descendants = AdoptOrphans();
  Result<ProcessHandle> program = SpawnProgram(request);
  if (!program.ok()) return program.status();
  channel->second.Close();
  const std::string name = ProgramInWords(NameOfStarted(arguments));
  WatchSession& session = loop.session();
  if (shows_descendants) session.FollowDescendants(std::move(facts));
  CAIRN_RETURN_IF_ERROR(
      session.AddMainProcess(std::move(*program), name, ShellQuotedLine(arguments)));
  CAIRN_RETURN_IF_ERROR(loop.Run());
  if (settings.capture && !session.captured()) {
    settings.warn(fmt::format("cairn: {} made no Direct3D 12 device: nothing was captured", name));
  }
  if (session.killed_for_hang()) return kExitKilledForHang;
  const int exit_code = ExitCodeOf(session.end());
  // A caller that relies on a file must learn that there is none.
  return exit_code == 0 && session.lost_output() ? kExitCairnFailed : exit_code;
}

Status WatchInherited(const WatchSettings& settings, uint64_t channel_number) {
  SystemHandle channel = TakeInherited(channel_number);
  // Devices and pipes of the program must not stay open because its watcher inherited them.
  CloseAllBut(channel);
  // It may have died while its watcher started: what it handed over is still in the channel.
  Result<ProcessHandle> program = MakerOfChannel(channel.get());
  if (!program.ok()) return program.status();
  const ProcessId maker = program->pid;
  const std::string command_line = CommandLineOf(maker);
  std::string command = ProgramOf(maker);
  if (command.empty()) command = settings.program;
  CAIRN_RETURN_IF_ERROR(CheckOutputPath(settings.output_path.empty() ? DefaultOutputPath(command)
                                                                     : settings.output_path));
  const RawHandle program_end = channel.get();
  WatchLoop loop(settings);
  CAIRN_RETURN_IF_ERROR(loop.Prepare(std::move(channel), maker, false));
  loop.TakeSpace();
  CAIRN_RETURN_IF_ERROR(
      loop.session().AddMainProcess(std::move(*program), ProgramInWords(command), command_line));
  HandoverMessage watching;
  watching.kind = HandoverKind::kWatching;
  // The program may have ended already; the loop finds that out.
  (void)SendOver(program_end, std::as_bytes(std::span(&watching, 1))).ok();
  return loop.Run();
}

}  // namespace cairn
