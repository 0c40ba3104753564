// SPDX-License-Identifier: Apache-2.0
#include "os/pager.h"

namespace cairn {

std::string PagerCommand() {
  return "";
}

Pager::Pager(const std::string&) {}
Pager::~Pager() = default;

}  // namespace cairn
