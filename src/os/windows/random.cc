// SPDX-License-Identifier: Apache-2.0
#include "os/random.h"

#include "os/windows/system.h"
// Included after windows.h.
#include <bcrypt.h>

namespace cairn {

bool FillWithSecrets(std::span<std::byte> bytes) {
  return BCryptGenRandom(nullptr, reinterpret_cast<PUCHAR>(bytes.data()),
                         static_cast<ULONG>(bytes.size()), BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}

}  // namespace cairn
