// SPDX-License-Identifier: Apache-2.0
#include "breadcrumbs/layer_identity.h"

namespace cairn {

const void* LayerToken() {
  static const char token = 0;
  return &token;
}

}  // namespace cairn
