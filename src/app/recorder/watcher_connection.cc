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
  std::error_code by_door;
  const std::string door_path = DoorPath(address);
  const auto try_name = [&] { return ConnectTo(DoorName::kName, address.name, first, by_name); };
  const auto try_door = [&] { return ConnectTo(DoorName::kPath, door_path, first, by_door); };
  // Another user can take a service's name, and leave those waiting who come there.
  SystemHandle connection = address.path.empty() ? try_name() : try_door();
  if (!connection.valid()) connection = address.path.empty() ? try_door() : try_name();
  if (connection.valid()) return connection;
  const std::string watcher =
      address.pid == 0 ? "" : ", process " + std::to_string(address.pid) + ",";
  return Status(StatusCode::kIo,
                "its watcher" + watcher + " cannot be reached, neither by its socket (" +
                    by_name.message() + ") nor by " + (door_path.empty() ? "/proc" : door_path) +
                    " (" + by_door.message() +
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
  if (FindInherited(kept.text.c_str()) >= 0) {
    if (address.path.empty() || !IsChannelClosed(kept.connection)) return kept.connection;
    // The service was started again.
    SystemHandle(kept.connection).Close();
    kept = {};
  }
  Result<SystemHandle> made = Connect(address);
  if (!made.ok()) return made.status();
  kept.text = TextOfInherited(made->get());
  kept.connection = made->Release();
  return kept.connection;
}

}  // namespace cairn
