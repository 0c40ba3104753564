// SPDX-License-Identifier: Apache-2.0
//
// This process's way to its watcher, over which it hands over its block. Nothing afterwards depends on the
// socket or on the watcher being alive.
//
// The socket is the one that the process inherited. Where a launcher closed that, the process connects
// to the watcher's address (format/block/watcher_address.h), and greets it with the token of the address.
#ifndef CAIRN_APP_RECORDER_WATCHER_LINK_H_
#define CAIRN_APP_RECORDER_WATCHER_LINK_H_

#include "base/status.h"
#include "format/block/handover.h"
#include "format/block/watcher_address.h"
#include "os/handle.h"
#include "os/shared_memory.h"

namespace cairn {

// A socket to the watcher: the inherited one, else a connection, which is made once and kept for the life
// of the process. It stays ours: do not close it. kNotFound if the process has no watcher; kIo, with the
// reason, if it has one that cannot be reached from here. Any thread; may wait a second for a watcher
// that does not accept.
Result<RawHandle> WatcherSocket();

// For a process that nobody gave a watcher: makes the one at this address its watcher, and connects. kInvalidArgument
// if it has another one; else the errors of WatcherSocket. Any thread.
Status UseWatcherAt(const WatcherAddress& address);

// The process has a watcher, whichever half of it (os/linux_half.h) has the socket.
bool HasWatcher();

// Errors: those of WatcherSocket, and kIo if the watcher is gone. A process that has a watcher and cannot
// give it its block says so on stderr, once (not if CAIRN_LOG is off or error).
Status HandOverBlock(const SharedMemory& block);
Status HandOverCapture(const SharedMemory& region);
Status SendDeviceLost();

// Finds out if the watcher is still there, whatever the program closes meanwhile.
class WatcherLine {
 public:
  // Errors: those of WatcherSocket; any other if there is no room for it.
  static Result<WatcherLine> Open();
  bool IsCut() const;

 private:
  SystemHandle socket_;  // none where the Linux half has it
};

// The watcher at the other end of `socket` has closed it: it has ended.
bool WatcherIsGone(RawHandle socket);

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_WATCHER_LINK_H_
