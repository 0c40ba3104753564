// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_SPIRV_VALIDATOR_H_
#define CAIRN_APP_SPIRV_VALIDATOR_H_

#include <cstdint>
#include <span>

#include "base/status.h"

namespace cairn::spirv {

// Validates a module by the rules of the Vulkan that has its version of SPIR-V, as a driver may assume them.
// kCorrupt: the validator's message.
Status Validate(std::span<const uint32_t> words);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_VALIDATOR_H_
