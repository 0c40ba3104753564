// SPDX-License-Identifier: Apache-2.0
//
// Shared memory mapped twice in one process: what the device writes through one mapping has to show
// in the other, as it will have to in the watcher's.
#ifndef CAIRN_APP_BREADCRUMBS_SECOND_MAPPING_H_
#define CAIRN_APP_BREADCRUMBS_SECOND_MAPPING_H_

#include "base/status.h"
#include "os/shared_memory.h"

namespace cairn {

// A further, read-only mapping of `memory`, independent of its lifetime.
Result<SharedMemory> MapAgain(const SharedMemory& memory);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_SECOND_MAPPING_H_
