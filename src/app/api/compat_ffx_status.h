// SPDX-License-Identifier: Apache-2.0
//
// The text of ffxBreadcrumbsPrintStatus, in the form of FidelityFX Breadcrumbs 1.1: the frames of the
// history, their lists, and the tree of markers of each.
#ifndef CAIRN_APP_API_COMPAT_FFX_STATUS_H_
#define CAIRN_APP_API_COMPAT_FFX_STATUS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "app/api/compat_ffx_history.h"
#include "app/breadcrumbs/context.h"
#include "base/status.h"

namespace cairn {

// The description of a pipeline with names that stay; null if it is not registered.
using FfxPipelineLookup =
    std::function<const FfxBreadcrumbsPipelineStateDescription*(FfxPipeline pipeline)>;

struct FfxStatusOptions {
  uint32_t flags = 0;            // FFX_BREADCRUMBS_PRINT_...
  bool has_device_info = false;  // one of Cairn's backends, which has none of its own
};

// Appends to `text`. Reads names where they lie, if the application owns them.
Status AppendFfxStatus(Context& context, const FfxHistory& history,
                       const FfxPipelineLookup& pipelines, const FfxStatusOptions& options,
                       std::string* text);

}  // namespace cairn

#endif  // CAIRN_APP_API_COMPAT_FFX_STATUS_H_
