// SPDX-License-Identifier: Apache-2.0
//
// cairnPrintStatus: from the block of this process to text, while the process still runs.
#ifndef CAIRN_APP_API_PRINT_STATUS_H_
#define CAIRN_APP_API_PRINT_STATUS_H_

#include <cstddef>
#include <cstdint>

#include "app/breadcrumbs/context.h"
#include "base/status.h"

namespace cairn {

// `*text` is allocated with the context's callbacks.
Status PrintStatus(Context& context, uint32_t print_flags, char** text, size_t* size_bytes);

}  // namespace cairn

#endif  // CAIRN_APP_API_PRINT_STATUS_H_
