// SPDX-License-Identifier: Apache-2.0
#include "os/browser.h"

#include "os/windows/system.h"

// Needs the system's words.
#include <shellapi.h>

namespace cairn {

void OpenInBrowser(const std::string& address) {
  ShellExecuteW(nullptr, L"open", Wide(address).c_str(), nullptr, nullptr, SW_SHOWNORMAL);
}

}  // namespace cairn
