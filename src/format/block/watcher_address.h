// SPDX-License-Identifier: Apache-2.0
//
// The address of a watcher for a process that did not inherit a socket: two doors, because no
// single one is visible everywhere, and a token that only processes with the address know.
//
//   name   an abstract Unix socket: seen from every process of the same network namespace
//   door   /proc/PID/fd/N, an open socket of the watcher that has no name any more: seen from every process
//          of the same user that sees the watcher in /proc, so in other network namespaces and behind
//          other roots
//
// A process that sees neither (another network namespace and another PID namespace) is not watched.
#ifndef CAIRN_FORMAT_BLOCK_WATCHER_ADDRESS_H_
#define CAIRN_FORMAT_BLOCK_WATCHER_ADDRESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn {

// Names of sockets can be read by every user of the machine; the environment of a process only by its own.
using WatcherToken = std::array<uint8_t, 16>;

struct WatcherAddress {
  std::string name;  // letters, digits and '-', at most kMaxWatcherNameBytes; "" for none
  WatcherToken token = {};
  int64_t pid = 0;    // of the watcher; 0: there is no door in /proc
  int32_t door = -1;  // its descriptor
  // Path of a socket in the file system, in the place of that door: a service's, which no environment names.
  std::string path = {};
};

inline constexpr size_t kMaxWatcherNameBytes = 64;

// "NAME:TOKEN:PID:DOOR", the token in hexadecimal digits.
std::string FormatWatcherAddress(const WatcherAddress& address);
// Returns nullopt for text that FormatWatcherAddress does not produce.
std::optional<WatcherAddress> ParseWatcherAddress(std::string_view text);

// The path, or "/proc/PID/fd/N"; "" if there is no such door.
std::string DoorPath(const WatcherAddress& address);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_WATCHER_ADDRESS_H_
