// SPDX-License-Identifier: Apache-2.0
#include "os/graphics_adapter.h"

namespace cairn {
namespace {

Status NoNumbers() {
  return {StatusCode::kUnsupported, "this system does not number graphics adapters"};
}

}  // namespace

Result<std::vector<GraphicsAdapter>> ListGraphicsAdapters() {
  return NoNumbers();
}

Result<GraphicsAdapter> FindGraphicsAdapter(uint64_t) {
  return NoNumbers();
}

Result<uint32_t> PlaceOfGraphicsAdapter(uint64_t) {
  return NoNumbers();
}

Result<void*> OpenGraphicsAdapter(uint32_t) {
  return NoNumbers();
}

}  // namespace cairn
