// SPDX-License-Identifier: Apache-2.0
#include "os/kernel_log.h"

namespace cairn {

Result<std::vector<KernelLogLine>> ReadKernelLog(uint64_t) {
  return Status(StatusCode::kUnsupported, "Windows keeps no log of its kernel's lines");
}

}  // namespace cairn
