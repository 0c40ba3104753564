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
#include "os/handle.h"
#include "os/shared_memory.h"

namespace cairn {

// A socket to the watcher: the inherited one, else a connection, which is made once and kept for the life
// of the process. It stays ours: do not close it. kNotFound if the process has no watcher; kIo, with the
// reason, if it has one that cannot be reached from here. Any thread; may wait a second for a watcher
// that does not accept.
Result<RawHandle> WatcherSocket();

// Errors: those of WatcherSocket, and kIo if the watcher is gone. A process that has a watcher and cannot
// give it its block says so on stderr, once (not if CAIRN_LOG is off or error).
Status HandOverBlock(const SharedMemory& block);
Status HandOverCapture(const SharedMemory& region);
Status SendDeviceLost();

// The watcher at the other end of `socket` has closed it: it has ended.
bool WatcherIsGone(RawHandle socket);

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_WATCHER_LINK_H_
