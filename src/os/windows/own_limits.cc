// SPDX-License-Identifier: Apache-2.0
#include "os/own_limits.h"

namespace cairn {

bool LimitOwnMemory(uint64_t) {
  return false;
}

bool LimitOwnProcessorTime(uint64_t, const std::string&) {
  return false;
}

void LiftOwnLimits() {}

}  // namespace cairn
