// SPDX-License-Identifier: Apache-2.0
#include "os/graphics_adapter.h"

namespace cairn {

Result<GraphicsAdapter> FindGraphicsAdapter(uint64_t) {
  return Status(StatusCode::kUnsupported, "this system does not number graphics adapters");
}

}  // namespace cairn
