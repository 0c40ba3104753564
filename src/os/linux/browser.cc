// SPDX-License-Identifier: Apache-2.0
#include "os/browser.h"

#include "os/process.h"

namespace cairn {

void OpenInBrowser(const std::string& page) {
  (void)SpawnProgram({.arguments = {"xdg-open", page}});
}

}  // namespace cairn
