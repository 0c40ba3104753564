// SPDX-License-Identifier: Apache-2.0
//
// The entry of the Vulkan layer in programs that nobody started with `cairn run`: the manifest that
// `cairn watchd --enable` writes names it.
#include <cstdlib>
#include <cstring>

#include "app/recorder/watcher_link.h"
#include "app/vulkan/instance.h"
#include "app/vulkan/negotiate.h"
#include "os/environment.h"
#include "os/service_doors.h"

namespace {

// The user, or the program, enables the same library under its other name: twice in one chain, each would call the other
// for ever.
bool IsEnabledByHand() {
  if (cairn::IsEnabledByName()) return true;
  const char* const layers = std::getenv("VK_INSTANCE_LAYERS");
  const char* const by_variable = cairn::OwnVariable("CAIRN_ENABLE_VULKAN_LAYER");
  return (layers != nullptr && std::strstr(layers, "VK_LAYER_CAIRN_breadcrumbs") != nullptr) ||
         (by_variable != nullptr && std::strcmp(by_variable, "1") == 0);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VkResult cairnNegotiateWatchedVulkanLayer(
    VkNegotiateLayerInterface* negotiation) {
  if (cairn::IsPrivilegedProcess()) return VK_ERROR_INITIALIZATION_FAILED;
  const cairn::ServiceDoorNames doors = cairn::DoorsOfService(cairn::kWatchService);
  cairn::WatcherAddress address;
  address.name = doors.name;
  address.path = doors.path;
  (void)cairn::UseWatcherAt(address).ok();
  // The other one has that watcher now.
  if (IsEnabledByHand()) return VK_ERROR_INITIALIZATION_FAILED;
  // Where no service runs, the layer passes calls on: a loader complains of layers that refuse.
  cairn::WorkOnlyWithWatcher();
  return cairn::NegotiateLayer(negotiation);
}
