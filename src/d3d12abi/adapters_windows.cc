// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "d3d12abi/adapters.h"
#include "os/graphics_adapter.h"

namespace cairn {

Result<std::vector<Adapter>> ListAdapters() {
  Result<std::vector<GraphicsAdapter>> found = ListGraphicsAdapters();
  if (!found.ok()) return found.status();
  std::vector<Adapter> adapters;
  for (GraphicsAdapter& adapter : *found) {
    adapters.push_back({.name = std::move(adapter.name), .luid = adapter.luid});
  }
  return adapters;
}

std::optional<uint32_t> AdapterPlaceOf(void*, uint64_t luid) {
  const Result<std::vector<GraphicsAdapter>> adapters = ListGraphicsAdapters();
  if (!adapters.ok() || luid == 0) return std::nullopt;
  for (size_t i = 0; i < adapters->size(); ++i) {
    if ((*adapters)[i].luid == luid) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

Result<void*> SelectAdapter(uint32_t place) {
  return OpenGraphicsAdapter(place);
}

void EndAdapterSelection() {}

bool EnvironmentSelectsAdapter() {
  return false;
}

}  // namespace cairn
