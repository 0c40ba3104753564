// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_WINE_H_
#define CAIRN_OS_WINE_H_

#include "os/library.h"

namespace cairn {

// Returns the version of Wine that runs this program of Windows, "10.0 (Debian 10.0~repack-6)"; null elsewhere.
inline const char* WineVersion() {
  const auto version = Library::FindLoaded("ntdll.dll").Find<const char* (*)()>("wine_get_version");
  return version == nullptr ? nullptr : version();
}

}  // namespace cairn

#endif  // CAIRN_OS_WINE_H_
