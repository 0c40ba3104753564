// SPDX-License-Identifier: Apache-2.0
//
// Where the system keeps Cairn's settings (D3DConfig): one text for each user, one for the machine.
//   Linux    $XDG_CONFIG_HOME/cairn/d3dconfig (~/.config/cairn/d3dconfig), /etc/cairn/d3dconfig; the
//            folder of the latter is $CAIRN_SYSTEM_CONFIG_DIR if that is set
//   Windows  HKEY_CURRENT_USER and HKEY_LOCAL_MACHINE, Software\Cairn, value D3DConfig
// Any thread, as long as none changes the environment. Nothing is kept between calls.
#ifndef CAIRN_OS_SETTINGS_STORE_H_
#define CAIRN_OS_SETTINGS_STORE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "base/status.h"

namespace cairn {

enum class SettingsScope { kUser, kSystem };

// For messages: the file or the registry key. kNotFound if the user has none.
Result<std::string> SettingsName(SettingsScope scope);

// "" if nothing was ever set. Of a text with more than `most_bytes` the first `most_bytes` + 1, or kCorrupt,
// which also means that something else is there.
Result<std::string> ReadSettings(SettingsScope scope, size_t most_bytes);

// Writes what `change` returns, unless that is an error, all or nothing: a reader sees what stood there
// before or after. Writers take turns, so that what `change` reads is what it changes. The system's text can
// be read by everybody.
Status ChangeSettings(SettingsScope scope, const std::function<Result<std::string>()>& change);

}  // namespace cairn

#endif  // CAIRN_OS_SETTINGS_STORE_H_
