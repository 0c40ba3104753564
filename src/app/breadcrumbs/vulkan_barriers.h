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

namespace cairn {

// Measures on device.queue, which nobody else uses meanwhile: a dispatch and a draw, as far as its family takes them, of some milliseconds each,
// a barrier, and a write of `method` at the top of the pipe, which the CPU watches. Appends a finding for each.
// kDeviceLost as for RunOnce. Takes some 0.1 s.
//
// Only for `cairn selftest`, never inside of a program: on an H100 (driver 580.159) a program no longer learns that its device
// was lost if this has run on it before.
Status TestBarriers(const VulkanDevice& device, WriteMethod method,
                    std::vector<SourceFinding>* findings);

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_VULKAN_BARRIERS_H_
