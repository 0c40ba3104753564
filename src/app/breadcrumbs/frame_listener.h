// SPDX-License-Identifier: Apache-2.0
//
// Listeners that are called when the application begins a frame of a context (cairnBeginFrame).
#ifndef CAIRN_APP_BREADCRUMBS_FRAME_LISTENER_H_
#define CAIRN_APP_BREADCRUMBS_FRAME_LISTENER_H_

#include <atomic>

namespace cairn {

class Context;

// The listener of the whole process; null: none. Set once, called on the application's thread
// without a lock.
inline constinit std::atomic<void (*)(const Context& context)> frame_listener{nullptr};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_FRAME_LISTENER_H_
