// SPDX-License-Identifier: Apache-2.0
#include "watcher/watch_service.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "format/block/handover.h"
#include "os/channel.h"
#include "os/detached_process.h"
#include "os/process.h"
#include "os/service_doors.h"
#include "os/user_requests.h"
#include "os/wait_set.h"

namespace cairn {
namespace {

// Keys of the wait set; those from kFirst on are numbers of visitors and of watched programs.
enum : uint64_t { kRequests, kPath, kName, kFirst };

// The handles that this process needs besides those of programs.
constexpr uint64_t kOwnHandles = 64;

class WatchService {
 public:
  explicit WatchService(const WatchServiceSettings& settings) : settings_(settings) {}

  Status Run();

 private:
  struct Visitor {
    SystemHandle connection;
    ProcessId peer = -1;
    bool greeted = false;
  };

  void Welcome(const SystemHandle& door);
  void Hear(uint64_t number);
  void StartWatcher(Visitor visitor);
  bool AskedToEnd();
  void Refuse(const std::string& why);

  const WatchServiceSettings& settings_;
  UserRequests requests_;
  ServiceDoors doors_;
  std::map<uint64_t, Visitor> visitors_;
  std::map<uint64_t, ProcessHandle> programs_;  // that have a watcher
  std::set<ProcessId> watched_;                 // the same
  uint64_t next_number_ = kFirst;
  bool refused_ = false;
  WaitSet wait_set_;  // goes before what it waits for
};

Status WatchService::Run() {
  CAIRN_RETURN_IF_ERROR(requests_.Listen(/*with_trigger=*/false));
  (void)RaiseHandleLimit(kMostGreeted + kMostWatchedPrograms + kOwnHandles);
  CAIRN_RETURN_IF_ERROR(wait_set_.Open());
  CAIRN_RETURN_IF_ERROR(doors_.Open(DoorsOfService(kWatchServiceDoor)));
  CAIRN_RETURN_IF_ERROR(wait_set_.Add(requests_.handle(), kRequests));
  if (doors_.at_path().valid()) CAIRN_RETURN_IF_ERROR(wait_set_.Add(doors_.at_path(), kPath));
  if (doors_.at_name().valid()) CAIRN_RETURN_IF_ERROR(wait_set_.Add(doors_.at_name(), kName));
  settings_.ready();
  for (;;) {
    const auto happened = wait_set_.Wait(WaitSet::kTime);
    if (!happened.ok()) return happened.status();
    const std::vector<uint64_t> keys(happened->begin(), happened->end());
    for (const uint64_t key : keys) {
      if (key == kRequests) {
        if (AskedToEnd()) return Status();
      } else if (key == kPath || key == kName) {
        Welcome(key == kPath ? doors_.at_path() : doors_.at_name());
      } else if (visitors_.contains(key)) {
        Hear(key);
      } else if (const auto found = programs_.find(key); found != programs_.end()) {
        wait_set_.Remove(found->second.handle);
        watched_.erase(found->second.pid);
        programs_.erase(found);
      }
    }
  }
}

bool WatchService::AskedToEnd() {
  UserRequest request;
  while (requests_.Take(&request)) {
    if (request.kind == UserRequest::Kind::kSignal) return true;
  }
  return false;
}

// One line for all: a program that makes others is no reason to fill a log.
void WatchService::Refuse(const std::string& why) {
  if (std::exchange(refused_, true)) return;
  settings_.warn(fmt::format("{}; programs beyond run unwatched", why));
}

void WatchService::Welcome(const SystemHandle& door) {
  ServiceDoors::Visitor visitor = ServiceDoors::Accept(door);
  if (!visitor.connection.valid()) return;
  if (visitors_.size() >= kMostGreeted) {
    return Refuse(fmt::format("{} programs are connected", kMostGreeted));
  }
  const uint64_t number = next_number_++;
  if (!wait_set_.Add(visitor.connection, number).ok()) return;
  visitors_[number] = {std::move(visitor.connection), visitor.peer, false};
}

// The first message is a greeting, and is taken; the second one is left for the watcher.
void WatchService::Hear(uint64_t number) {
  Visitor& visitor = visitors_.at(number);
  if (!visitor.greeted) {
    ChannelMessage message;
    const Received received = ReceiveWithin(visitor.connection.get(), 0, &message);
    if (received == Received::kNothing) return;
    HandoverGreeting greeting;
    if (received == Received::kMessage && message.size_bytes == sizeof(greeting)) {
      std::memcpy(&greeting, message.data.data(), sizeof(greeting));
      visitor.greeted = greeting.magic == kHandoverMagic && greeting.version == kHandoverVersion &&
                        greeting.kind == HandoverKind::kGreeting;
    }
    if (visitor.greeted) return;
  }
  Visitor leaving = std::move(visitor);
  wait_set_.Remove(leaving.connection);
  visitors_.erase(number);
  if (leaving.greeted && ServiceDoors::HasMessage(leaving.connection)) {
    StartWatcher(std::move(leaving));
  }
}

void WatchService::StartWatcher(Visitor visitor) {
  if (watched_.contains(visitor.peer)) return;
  if (programs_.size() >= kMostWatchedPrograms) {
    return Refuse(fmt::format("{} programs are watched", kMostWatchedPrograms));
  }
  Result<ProcessHandle> program = OpenProcess(visitor.peer);
  const std::error_code error = StartDetached(
      settings_.watcher(NumberInDetached(visitor.connection.get())), visitor.connection.get());
  if (error) return Refuse("a watcher cannot be started: " + error.message());
  // Where it has ended already, the watcher finds that out.
  if (!program.ok()) return;
  const uint64_t number = next_number_++;
  if (!wait_set_.Add(program->handle, number).ok()) return;
  watched_.insert(visitor.peer);
  programs_[number] = std::move(*program);
}

}  // namespace

Status RunWatchService(const WatchServiceSettings& settings) {
  return WatchService(settings).Run();
}

}  // namespace cairn
