// SPDX-License-Identifier: Apache-2.0
//
// The thread that mirrors progress words must never run one of the application's signal handlers.
#ifndef CAIRN_APP_BREADCRUMBS_MIRROR_THREAD_H_
#define CAIRN_APP_BREADCRUMBS_MIRROR_THREAD_H_

#include <functional>
#include <thread>

namespace cairn {

// Starts a thread that takes no signals but those caused by its own faults.
std::thread StartMirrorThread(std::function<void()> loop);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_MIRROR_THREAD_H_
