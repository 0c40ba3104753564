// SPDX-License-Identifier: Apache-2.0
#include "watcher/watch_service.h"

#include <fmt/format.h>

#include <algorithm>
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
    std::string program;  // read at once: it may be gone when its block is here
    bool greeted = false;
  };

  // False: nobody is at the door.
  bool Welcome(const SystemHandle& door);
  void Hear(uint64_t number);
  // Hears those that came before this process was asked to end.
  void HearTheRest();
  void TurnAway(uint64_t number);
  void StartWatcher(Visitor visitor);
  bool AskedToEnd();
  // One line for each reason: a program that makes others is no reason to fill a log.
  void Refuse(const std::string& why);

  const WatchServiceSettings& settings_;
  UserRequests requests_;
  ServiceDoors doors_;
  std::map<uint64_t, Visitor> visitors_;
  std::map<uint64_t, ProcessHandle> programs_;  // that have a watcher
  std::set<ProcessId> watched_;                 // the same
  uint64_t next_number_ = kFirst;
  std::set<std::string> refused_;  // reasons
  uint64_t most_greeted_ = kMostGreeted;
  WaitSet wait_set_;  // goes before what it waits for
};

Status WatchService::Run() {
  CAIRN_RETURN_IF_ERROR(requests_.Listen(/*with_trigger=*/false));
  const uint64_t handles = RaiseHandleLimit(kMostGreeted + kMostWatchedPrograms + kOwnHandles);
  constexpr uint64_t kOthers = kMostWatchedPrograms + kOwnHandles;
  most_greeted_ = std::clamp<uint64_t>(handles, kOthers + 1, kOthers + kMostGreeted) - kOthers;
  CAIRN_RETURN_IF_ERROR(wait_set_.Open());
  CAIRN_RETURN_IF_ERROR(doors_.Open(DoorsOfService(kWatchService)));
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
        if (!AskedToEnd()) continue;
        HearTheRest();
        return Status();
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

void WatchService::Refuse(const std::string& why) {
  if (refused_.insert(why).second) settings_.warn(why + "; programs beyond run unwatched");
}

void WatchService::TurnAway(uint64_t number) {
  const auto found = visitors_.find(number);
  wait_set_.Remove(found->second.connection);
  ServiceDoors::TurnAway(std::move(found->second.connection));
  visitors_.erase(found);
}

bool WatchService::Welcome(const SystemHandle& door) {
  ServiceDoors::Visitor visitor;
  const ServiceDoors::Came came = doors_.Accept(door, &visitor);
  if (came != ServiceDoors::Came::kVisitor) return came != ServiceDoors::Came::kNobody;
  size_t of_this = 0;
  uint64_t oldest = 0;
  for (const auto& [number, known] : visitors_) {
    if (known.peer == visitor.peer && of_this++ == 0) oldest = number;
  }
  if (of_this >= kMostGreetedOfOne) TurnAway(oldest);
  if (visitors_.size() >= most_greeted_) {
    Refuse(fmt::format("{} programs are connected", most_greeted_));
    ServiceDoors::TurnAway(std::move(visitor.connection));
    return true;
  }
  const uint64_t number = next_number_++;
  if (!wait_set_.Add(visitor.connection, number).ok()) {
    ServiceDoors::TurnAway(std::move(visitor.connection));
    return true;
  }
  visitors_[number] = {std::move(visitor.connection), visitor.peer, ProgramOf(visitor.peer), false};
  return true;
}

// The first message is a greeting, and is taken; the second one is left for the watcher.
void WatchService::Hear(uint64_t number) {
  Visitor& visitor = visitors_.at(number);
  if (!visitor.greeted) {
    ChannelMessage message;
    const Received received = ServiceDoors::Receive(visitor.connection, &message);
    if (received == Received::kNothing) return;
    HandoverGreeting greeting;
    if (received == Received::kMessage && message.size_bytes == sizeof(greeting)) {
      std::memcpy(&greeting, message.data.data(), sizeof(greeting));
      visitor.greeted = greeting.magic == kHandoverMagic && greeting.version == kHandoverVersion &&
                        greeting.kind == HandoverKind::kGreeting;
    }
    if (!visitor.greeted) TurnAway(number);
    return;
  }
  if (!ServiceDoors::HasMessage(visitor.connection)) return TurnAway(number);
  Visitor leaving = std::move(visitor);
  wait_set_.Remove(leaving.connection);
  visitors_.erase(number);
  StartWatcher(std::move(leaving));
}

void WatchService::HearTheRest() {
  for (const SystemHandle* const door : {&doors_.at_path(), &doors_.at_name()}) {
    while (door->valid() && visitors_.size() < most_greeted_ && Welcome(*door)) {
    }
  }
  std::vector<uint64_t> numbers;
  for (const auto& [number, visitor] : visitors_) numbers.push_back(number);
  for (const uint64_t number : numbers) {
    if (!visitors_.at(number).greeted) Hear(number);
    const auto found = visitors_.find(number);
    if (found == visitors_.end()) continue;
    if (ServiceDoors::HasMessage(found->second.connection)) {
      Hear(number);
    } else {
      TurnAway(number);
    }
  }
}

void WatchService::StartWatcher(Visitor visitor) {
  if (watched_.contains(visitor.peer)) {
    return ServiceDoors::TurnAway(std::move(visitor.connection));
  }
  if (programs_.size() >= kMostWatchedPrograms) {
    Refuse(fmt::format("{} programs are watched", kMostWatchedPrograms));
    return ServiceDoors::TurnAway(std::move(visitor.connection));
  }
  Result<ProcessHandle> program = OpenProcess(visitor.peer);
  const std::error_code error =
      StartDetached(settings_.watcher(visitor.program, NumberInDetached(visitor.connection.get())),
                    visitor.connection.get());
  if (error) {
    Refuse("a watcher cannot be started (" + error.message() + ")");
    return ServiceDoors::TurnAway(std::move(visitor.connection));
  }
  // The watcher of a program that has ended ends by itself.
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
