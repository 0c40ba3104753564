// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "d3d12abi/adapters.h"
#include "os/graphics_adapter.h"
#include "os/wine.h"

namespace cairn {

Result<std::vector<Adapter>> ListAdapters() {
  Result<std::vector<GraphicsAdapter>> found = ListGraphicsAdapters();
  if (!found.ok()) return found.status();
  std::vector<Adapter> adapters;
  for (GraphicsAdapter& adapter : *found) {
    adapters.push_back({.name = std::move(adapter.name),
                        .luid = adapter.luid,
                        .vendor_id = WineVersion() == nullptr ? adapter.vendor : 0,
                        .device_id = WineVersion() == nullptr ? adapter.device : 0});
  }
  return adapters;
}

std::optional<uint32_t> AdapterPlaceOf(void*, uint64_t luid) {
  if (luid == 0) return std::nullopt;
  const Result<uint32_t> place = PlaceOfGraphicsAdapter(luid);
  return place.ok() ? std::optional(*place) : std::nullopt;
}

Result<void*> SelectAdapter(uint32_t place) {
  return OpenGraphicsAdapter(place);
}

void EndAdapterSelection() {}

bool EnvironmentSelectsAdapter() {
  return false;
}

}  // namespace cairn
