// SPDX-License-Identifier: Apache-2.0
#include "watcher/handover_receiver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "os/random.h"

namespace cairn {
namespace {

// Handles reserved for reading exit states and for writing reports: programs must not use them up.
constexpr uint64_t kReservedHandles = 8;

// The most messages read by one call of Receive(), so that strangers do not keep the watcher from
// its other work.
constexpr int kLooksAtOnce = 64;

bool IsEqual(const WatcherToken& a, const WatcherToken& b) {
  // Takes the same time wherever they differ.
  uint8_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

template <typename Message>
bool Read(const ChannelMessage& from, Message* message) {
  if (from.size_bytes != sizeof(*message)) return false;
  std::memcpy(message, from.data.data(), sizeof(*message));
  return message->magic == kHandoverMagic && message->version == kHandoverVersion;
}

}  // namespace

static_assert(sizeof(HandoverGreeting) < kMostMessageBytes, "a longer message is seen to be one");

Status HandoverReceiver::Open(SystemHandle inherited, ProcessId maker) {
  CAIRN_RETURN_IF_ERROR(server_.Open());
  const Result<uint64_t> added = server_.Add(std::move(inherited), maker);
  if (!added.ok()) return added.status();
  greeted_[*added] = true;
  return Status();
}

void HandoverReceiver::OpenDoors() {
  uint64_t random = 0;
  if (!FillWithSecrets(std::as_writable_bytes(std::span(address_.token))) ||
      !FillWithSecrets(std::as_writable_bytes(std::span(&random, 1)))) {
    return;
  }
  const std::string name = fmt::format("cairn-{}-{:016x}", OwnProcessId(), random);
  const ChannelServer::Doors doors = server_.OpenDoors(name);
  if (doors.named) address_.name = name;
  address_.pid = doors.pid;
  address_.door = doors.second_door;
}

std::string HandoverReceiver::address() const {
  return server_.has_doors() ? FormatWatcherAddress(address_) : "";
}

void HandoverReceiver::Welcome(uint64_t connection) {
  if (strangers_ >= kMaxStrangers) {
    // Connections are numbered in the order of arrival, so that the first is the oldest.
    const auto oldest = std::find_if(greeted_.begin(), greeted_.end(),
                                     [](const auto& each) { return !each.second; });
    server_.Close(oldest->first);
    greeted_.erase(oldest);
    --strangers_;
  }
  if (greeted_.size() >= kMaxConnections) {
    ++turned_away_;
    server_.Close(connection);
    return;
  }
  greeted_[connection] = false;
  ++strangers_;
}

void HandoverReceiver::Greet(uint64_t connection, const ChannelMessage& message) {
  HandoverGreeting greeting;
  --strangers_;
  if (!Read(message, &greeting) || greeting.kind != HandoverKind::kGreeting ||
      !IsEqual(greeting.token, address_.token)) {
    greeted_.erase(connection);
    server_.Close(connection);
    return;
  }
  greeted_[connection] = true;
}

bool HandoverReceiver::Receive(ReceivedMessage* received) {
  for (int look = 0; look < kLooksAtOnce; ++look) {
    uint64_t connection = 0;
    ChannelMessage message;
    switch (server_.Next(&connection, &message)) {
      case ChannelServer::Event::kNone: return false;
      case ChannelServer::Event::kNothing: break;
      case ChannelServer::Event::kConnected: Welcome(connection); break;
      case ChannelServer::Event::kTurnedAway: ++turned_away_; break;
      case ChannelServer::Event::kClosed:
        if (!greeted_.at(connection)) --strangers_;
        greeted_.erase(connection);
        break;
      case ChannelServer::Event::kMessage:
        if (!greeted_.at(connection)) {
          Greet(connection, message);
          break;
        }
        *received = ReceivedMessage();
        if (!Read(message, &received->message)) break;
        received->no_room =
            message.memory_lost || message.handles_in_use + kReservedHandles >= most_handles_;
        received->memory = std::move(message.memory);
        received->sender = std::move(message.sender);
        return true;
    }
  }
  return false;
}

}  // namespace cairn
