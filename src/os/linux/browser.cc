// SPDX-License-Identifier: Apache-2.0
#include "os/browser.h"

#include "os/process.h"

namespace cairn {

void OpenInBrowser(const std::string& address) {
  (void)SpawnProgram({.arguments = {"xdg-open", address}});
}

}  // namespace cairn
