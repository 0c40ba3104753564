// SPDX-License-Identifier: Apache-2.0
//
// This process's own connection to a watcher that it did not inherit a socket of.
#ifndef CAIRN_APP_RECORDER_WATCHER_CONNECTION_H_
#define CAIRN_APP_RECORDER_WATCHER_CONNECTION_H_

#include "base/status.h"
#include "format/block/watcher_address.h"
#include "os/handle.h"

namespace cairn {

// Connects and greets, by the name and else by the door, and keeps the connection: later calls return the
// same, or another if the program closed it. Only a watcher of this user, or root's, is greeted: another
// user may have taken the name of one that ended. kIo, with what was tried, if there is no way. Any
// thread.
Result<RawHandle> ConnectionToWatcher(const WatcherAddress& address);

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_WATCHER_CONNECTION_H_
