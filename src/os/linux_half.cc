// SPDX-License-Identifier: Apache-2.0
#include "os/linux_half.h"

#include <atomic>

namespace cairn {
namespace {

constinit std::atomic<LinuxHalf*> linux_half{nullptr};

}  // namespace

LinuxHalf* FindLinuxHalf() {
  return linux_half.load(std::memory_order_acquire);
}

void SetLinuxHalf(LinuxHalf* half) {
  linux_half.store(half, std::memory_order_release);
}

}  // namespace cairn
