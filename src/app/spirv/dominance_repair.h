// SPDX-License-Identifier: Apache-2.0
//
// Values that an added branch leads around.
#ifndef CAIRN_APP_SPIRV_DOMINANCE_REPAIR_H_
#define CAIRN_APP_SPIRV_DOMINANCE_REPAIR_H_

#include <string>

#include "app/spirv/module.h"

namespace cairn::spirv {

// After a branch was added: makes each value of the function available where it is used. Values that do not stand before
// all their uses any more go through a variable, which holds zeros until they are computed; addresses within variables
// are computed again where they are used.
// Returns "" , or says which value can't be had; the function is then not valid.
std::string RepairDominance(Module& module, Function& function);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_DOMINANCE_REPAIR_H_
