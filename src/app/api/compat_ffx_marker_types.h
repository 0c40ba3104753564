// SPDX-License-Identifier: Apache-2.0
//
// Marker types of FidelityFX Breadcrumbs in Cairn's words.
#ifndef CAIRN_APP_API_COMPAT_FFX_MARKER_TYPES_H_
#define CAIRN_APP_API_COMPAT_FFX_MARKER_TYPES_H_

#include "cairn/compat/ffx_breadcrumbs.h"
#include "cairn/marker_types.h"

namespace cairn {

// `type` is below CAIRN_FFX_BREADCRUMBS_MARKER_COUNT.
CairnMarkerType MarkerTypeFromFfx(FfxBreadcrumbsMarkerType type);

// Returns the original's text: the enumerator without its prefix.
const char* FfxMarkerTypeName(FfxBreadcrumbsMarkerType type);

}  // namespace cairn

#endif  // CAIRN_APP_API_COMPAT_FFX_MARKER_TYPES_H_
