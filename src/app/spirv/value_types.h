// SPDX-License-Identifier: Apache-2.0
//
// The types of the values of a function, and of the module.
#ifndef CAIRN_APP_SPIRV_VALUE_TYPES_H_
#define CAIRN_APP_SPIRV_VALUE_TYPES_H_

#include <cstdint>
#include <unordered_map>

#include "app/spirv/module.h"

namespace cairn::spirv {

// Finds the types of values. `module` outlives this, and its types stay.
class ValueTypes {
 public:
  ValueTypes(const Module& module, const Function& function);

  // The id of a value's type; 0 for none.
  uint32_t TypeOf(uint32_t id) const;
  // The OpTypePointer of a pointer; null for other values.
  const Instruction* PointerType(uint32_t id) const;

 private:
  const Module& module_;
  std::unordered_map<uint32_t, uint32_t> types_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_VALUE_TYPES_H_
