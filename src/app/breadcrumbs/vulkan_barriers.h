// SPDX-License-Identifier: Apache-2.0
//
// Behind which barriers a queue goes on, to writes at the top of the pipe, only once the work before them has
// finished: there such a write is a witness. The specification promises nothing of the kind, so it is measured.
#ifndef CAIRN_APP_BREADCRUMBS_VULKAN_BARRIERS_H_
#define CAIRN_APP_BREADCRUMBS_VULKAN_BARRIERS_H_

#include <vector>

#include "app/breadcrumbs/backend.h"
#include "app/breadcrumbs/vulkan_functions.h"
#include "base/status.h"
#include "format/witness/witnesses.h"

namespace cairn {

// Measures on device.queue, which must have no other user meanwhile: a dispatch, a draw and a copy,
// as far as its family takes them, of some milliseconds each, a barrier, and a write of `method` at
// the top of the pipe, which the CPU watches. From the strongest kind of barrier to the weakest,
// until one does not hold; where the CPU could not watch, what was seen before counts. Adds a
// finding for each kind of work to `findings`, which may be null. kDeviceLost as for RunOnce. Takes
// some 0.1 to 0.5 s.
//
// Never inside of a program: on an H100 (driver 580.159) a program no longer learns that its device was lost if this
// has run on it before.
Result<FamilyWitnesses> MeasureWitnesses(const VulkanDevice& device, WriteMethod method,
                                         std::vector<SourceFinding>* findings);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_BARRIERS_H_
