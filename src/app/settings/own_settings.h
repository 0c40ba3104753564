// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_SETTINGS_OWN_SETTINGS_H_
#define CAIRN_APP_SETTINGS_OWN_SETTINGS_H_

#include "format/settings/layer_settings.h"

namespace cairn {

// Returns what the environment of this process asks of the layers: as if nothing were set in a privileged process
// (os/environment.h). Read once, at the first device; a text that means nothing is then reported. Any thread.
const LayerSettings& Settings();

}  // namespace cairn

#endif  // CAIRN_APP_SETTINGS_OWN_SETTINGS_H_
