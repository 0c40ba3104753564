// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/watcher_connection.h"

#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "format/block/handover.h"
#include "os/channel.h"

namespace cairn {
namespace {

Result<SystemHandle> Connect(const WatcherAddress& address) {
  HandoverGreeting greeting;
  greeting.token = address.token;
  const std::span<const std::byte> first = std::as_bytes(std::span(&greeting, 1));
  std::error_code by_name;
  SystemHandle connection = ConnectTo(DoorName::kName, address.name, first, by_name);
  if (connection.valid()) return connection;
  const std::string door_path = DoorPath(address);
  std::error_code by_door;
  connection = ConnectTo(DoorName::kPath, door_path, first, by_door);
  if (connection.valid()) return connection;
  return Status(StatusCode::kIo,
                "its watcher, process " + std::to_string(address.pid) +
                    ", cannot be reached, neither by its socket (" + by_name.message() +
                    ") nor by " + (door_path.empty() ? "/proc" : door_path) + " (" +
                    by_door.message() +
                    "): it has ended, or this process is in other network and PID namespaces");
}

// A connection, and what shows that its number still means it. It stays open for the life of the process.
struct Kept {
  RawHandle connection = -1;
  std::string text;
};

}  // namespace

Result<RawHandle> ConnectionToWatcher(const WatcherAddress& address) {
  // Never destroyed: threads may ask while the process ends.
  static std::mutex& mutex = *new std::mutex;
  static Kept& kept = *new Kept;
  const std::lock_guard lock(mutex);
  if (FindInherited(kept.text.c_str()) >= 0) return kept.connection;
  Result<SystemHandle> made = Connect(address);
  if (!made.ok()) return made.status();
  kept.text = TextOfInherited(made->get());
  kept.connection = made->Release();
  return kept.connection;
}

}  // namespace cairn
