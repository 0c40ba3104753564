// SPDX-License-Identifier: Apache-2.0
#include "os/random.h"

#include <sys/random.h>

namespace cairn {

bool FillWithSecrets(std::span<std::byte> bytes) {
  return getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace cairn
