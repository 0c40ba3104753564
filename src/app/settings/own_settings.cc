// SPDX-License-Identifier: Apache-2.0
#include "app/settings/own_settings.h"

#include "app/settings/log.h"
#include "os/environment.h"

namespace cairn {

const LayerSettings& Settings() {
  // Never destroyed: objects may still be released while the process ends.
  static const LayerSettings& settings = *[] {
    std::vector<std::string> complaints;
    auto* const read = new LayerSettings(ParseLayerSettings(OwnVariable, &complaints));
    LogEach(complaints);
    return read;
  }();
  return settings;
}

}  // namespace cairn
