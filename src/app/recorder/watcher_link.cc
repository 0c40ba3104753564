// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/watcher_link.h"

#include <atomic>
#include <cerrno>
#include <optional>
#include <span>
#include <string>

#include "app/recorder/watcher_connection.h"
#include "format/settings/layer_settings.h"
#include "os/channel.h"
#include "os/environment.h"
#include "os/linux_half.h"
#include "os/process.h"
#include "os/standard_error.h"

namespace cairn {
namespace {

// The address of UseWatcherAt, kept for the life of the process.
std::atomic<const WatcherAddress*> used_address{nullptr};

// Below `settings`, whose log this would be otherwise.
void SayUnwatched(const Status& status) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  if (*ReadSetting<&LayerSettings::log>(OwnVariable) < LogLevel::kWarning) return;
  const std::string line = "cairn: warning: process " + std::to_string(OwnProcessId()) +
                           " is not watched: " + status.message() + "\n";
  WriteStandardError(line);
}

Status Send(const HandoverMessage& message, const SharedMemory* memory) {
  if (const LinuxHalf* const half = FindLinuxHalf()) {
    const int32_t error = half->SendToWatcher(&message, sizeof(message),
                                              memory == nullptr ? nullptr : memory->data());
    if (error == 0) return Status();
    return Status(StatusCode::kIo,
                  "its Linux half cannot send to the watcher: error " + std::to_string(error));
  }
  const Result<RawHandle> socket = WatcherSocket();
  if (!socket.ok()) return socket.status();
  return SendOver(*socket, std::as_bytes(std::span(&message, 1)), memory);
}

}  // namespace

Status UseWatcherAt(const WatcherAddress& address) {
  if (ReadSetting<&LayerSettings::watcher_fd>(OwnVariable).is_set() ||
      ReadSetting<&LayerSettings::watcher_address>(OwnVariable).is_set()) {
    return Status(StatusCode::kInvalidArgument, "this process has a watcher");
  }
  const Result<RawHandle> connection = ConnectionToWatcher(address);
  if (!connection.ok()) return connection.status();
  const WatcherAddress* none = nullptr;
  auto* const kept = new WatcherAddress(address);
  if (!used_address.compare_exchange_strong(none, kept)) delete kept;
  return Status();
}

Result<RawHandle> WatcherSocket() {
  const Setting<std::string> fd = ReadSetting<&LayerSettings::watcher_fd>(OwnVariable);
  // -1: it was not inherited, or means something else by now.
  if (const RawHandle inherited = FindInherited(fd->c_str()); inherited >= 0) return inherited;
  const std::optional<WatcherAddress> address =
      ParseWatcherAddress(*ReadSetting<&LayerSettings::watcher_address>(OwnVariable));
  if (address.has_value()) return ConnectionToWatcher(*address);
  const WatcherAddress* const used = used_address.load();
  if (used != nullptr) return ConnectionToWatcher(*used);
  return Status(StatusCode::kNotFound, "this process has no watcher");
}

Status HandOverBlock(const SharedMemory& block) {
  HandoverMessage message;
  message.kind = HandoverKind::kBlock;
  message.block_bytes = block.size_bytes();
  Status sent = Send(message, &block);
  // Nobody asked for a watcher where a service gives it.
  const bool asked_for = used_address.load() == nullptr;
  if (!sent.ok() && sent.code() != StatusCode::kNotFound && asked_for) SayUnwatched(sent);
  return sent;
}

Status HandOverCapture(const SharedMemory& region) {
  HandoverMessage message;
  message.kind = HandoverKind::kCapture;
  message.block_bytes = region.size_bytes();
  return Send(message, &region);
}

Status SendDeviceLost() {
  HandoverMessage message;
  message.kind = HandoverKind::kDeviceLost;
  return Send(message, nullptr);
}

bool HasWatcher() {
  if (const LinuxHalf* const half = FindLinuxHalf()) return half->HasWatcher();
  return WatcherSocket().ok();
}

Result<WatcherLine> WatcherLine::Open() {
  WatcherLine line;
  if (FindLinuxHalf() != nullptr) {
    if (HasWatcher()) return line;
    return Status(StatusCode::kNotFound, "this process has no watcher");
  }
  const Result<RawHandle> socket = WatcherSocket();
  if (!socket.ok()) return socket.status();
  line.socket_ = CopyOf(*socket);
  if (!line.socket_.valid()) return StatusFromErrno(errno, "the watcher's socket cannot be kept");
  return line;
}

bool WatcherLine::IsCut() const {
  return socket_.valid() ? WatcherIsGone(socket_.get()) : !HasWatcher();
}

bool WatcherIsGone(RawHandle socket) {
  return IsChannelClosed(socket);
}

}  // namespace cairn
