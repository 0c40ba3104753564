// SPDX-License-Identifier: Apache-2.0
//
// A module that may be changed: within the bounds, valid, and with addresses that the inserted code can use.
#ifndef CAIRN_APP_SPIRV_VALID_MODULE_H_
#define CAIRN_APP_SPIRV_VALID_MODULE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "app/spirv/control_flow.h"
#include "app/spirv/module.h"
#include "base/status.h"

namespace cairn::spirv {

struct ValidModule {
  Module module;
  std::vector<ControlFlow> flows;  // of its functions
};

// Reads any words. kCorrupt: SPIRV-Tools can't parse the module. kUnsupported: it is not valid, is beyond one of the
// bounds in module_bounds.h, or has another addressing model than Logical and PhysicalStorageBuffer64; the message says
// which. Cost: a validation, and linear in the module.
Result<ValidModule> ReadValid(std::span<const uint32_t> words);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_VALID_MODULE_H_
