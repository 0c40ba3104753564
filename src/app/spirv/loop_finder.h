// SPDX-License-Identifier: Apache-2.0
//
// The loops of a function, and why some of them can't be limited.
#ifndef CAIRN_APP_SPIRV_LOOP_FINDER_H_
#define CAIRN_APP_SPIRV_LOOP_FINDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/spirv/control_flow.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

// The comparison of two values of 32 bits whose result leaves a loop.
struct FoundExit {
  struct Side {
    uint32_t id;
    uint32_t type;
  };
  Side left;
  Side right;
  std::string_view sign;  // "<"
  bool is_float;
  bool is_signed;
};

// Blocks by their index in the function.
struct FoundLoop {
  uint32_t header = ControlFlow::kNone;
  uint32_t back = ControlFlow::kNone;   // goes back to the header
  uint32_t after = ControlFlow::kNone;  // follows the loop
  std::optional<FoundExit> exit;
  std::string cannot;  // a sentence, if it can't be limited
};

// In the order in which they stand in a function of a valid module. Cost: linear in the function.
std::vector<FoundLoop> FindLoops(const Module& module, const Function& function,
                                 const ControlFlow& flow);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_LOOP_FINDER_H_
