// SPDX-License-Identifier: Apache-2.0
#include "os/browser.h"

#include "os/windows/system.h"

// Needs the system's words.
#include <shellapi.h>

namespace cairn {

void OpenInBrowser(const std::string& page) {
  ShellExecuteW(nullptr, L"open", Wide(page).c_str(), nullptr, nullptr, SW_SHOWNORMAL);
}

}  // namespace cairn
