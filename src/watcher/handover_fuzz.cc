// SPDX-License-Identifier: Apache-2.0
//
// Messages of programs to their watcher, and addresses in the environment: the input is an address,
// or messages, each behind a byte with its length.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "watcher/handover_receiver.h"

namespace {

void ReadAddress(std::string_view text) {
  const std::optional<cairn::WatcherAddress> address = cairn::ParseWatcherAddress(text);
  if (!address.has_value()) return;
  const std::optional<cairn::WatcherAddress> again =
      cairn::ParseWatcherAddress(cairn::FormatWatcherAddress(*address));
  if (!again.has_value() || again->name != address->name || again->token != address->token ||
      cairn::DoorPath(*again) != cairn::DoorPath(*address)) {
    __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ReadAddress({reinterpret_cast<const char*>(data), size});
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return 0;
  cairn::HandoverReceiver receiver;
  if (!receiver.Open(cairn::SystemHandle(ends[0]), getpid()).ok()) __builtin_trap();
  size_t messages = 0;
  for (size_t place = 0; place < size;) {
    const size_t length = std::min<size_t>(data[place], size - place - 1);
    if (send(ends[1], data + place + 1, length, MSG_NOSIGNAL) < 0) break;
    place += 1 + length;
    ++messages;
  }
  cairn::ReceivedMessage received;
  while (receiver.Receive(&received)) {
    if (messages-- == 0 || received.message.magic != cairn::kHandoverMagic ||
        received.sender.pid != getpid()) {
      __builtin_trap();
    }
  }
  close(ends[1]);
  return 0;
}
