// SPDX-License-Identifier: Apache-2.0
//
// Values that added branches lead around.
#ifndef CAIRN_APP_SPIRV_DOMINANCE_REPAIR_H_
#define CAIRN_APP_SPIRV_DOMINANCE_REPAIR_H_

#include <string>
#include <vector>

#include "app/spirv/control_flow.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

// A value that can't be had where it is used.
struct LostValue {
  uint32_t block;   // where it is computed
  std::string why;  // a sentence
};

// After branches were added: makes each value of the function available where it is used. Values that do not stand
// before all their uses any more go through a variable, which holds zeros until they are computed; addresses within
// variables are computed again where they are used.
// flow: of the function as it is now. Returns the values that can't be had; with one, the function is not valid.
// Cost: linear in the function.
std::vector<LostValue> RepairDominance(Module& module, Function& function, const ControlFlow& flow);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_DOMINANCE_REPAIR_H_
