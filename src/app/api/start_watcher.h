// SPDX-License-Identifier: Apache-2.0
//
// Starting a watcher from inside the program that it will watch.
#ifndef CAIRN_APP_API_START_WATCHER_H_
#define CAIRN_APP_API_START_WATCHER_H_

#include "cairn/breadcrumbs.h"

#include "base/status.h"

namespace cairn {

// Ok without doing anything when the process has a watcher. kNotFound when no `cairn` program could be
// started; kIo in a privileged process, too (os/environment.h).
Status StartWatcher(const CairnWatcherDesc& desc);

}  // namespace cairn

#endif  // CAIRN_APP_API_START_WATCHER_H_
