// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_RANDOM_H_
#define CAIRN_OS_RANDOM_H_

#include <cstddef>
#include <span>

namespace cairn {

// Fills at most 256 bytes with secret random numbers. False if the system has none.
bool FillWithSecrets(std::span<std::byte> bytes);

}  // namespace cairn

#endif  // CAIRN_OS_RANDOM_H_
