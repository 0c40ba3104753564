// SPDX-License-Identifier: Apache-2.0
//
// A checked access by address calls this: a function in the module that looks an address up among the ranges.
#ifndef CAIRN_APP_SPIRV_ADDRESS_GUARD_H_
#define CAIRN_APP_SPIRV_ADDRESS_GUARD_H_

#include <cstdint>

#include "app/spirv/inserted_code.h"
#include "app/spirv/invocation_note.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

// Adds the function to a module with the addressing model PhysicalStorageBuffer64.
class AddressGuard {
 public:
  // `invocation`: of the module. All outlive this.
  AddressGuard(Module& module, const BasicTypes& types, const InvocationNote& invocation);

  // Adds the call in front of an access, and returns the address that it is to have, a vector of two words: its own, or
  // `instead`. address, instead: ids of vectors of two words. record: the address of its AccessRecord.
  uint32_t Call(Code& code, uint32_t address, uint32_t bytes, uint64_t record, uint32_t instead);
  // Adds the function to the module, behind all others. Once. table: the address of an AccessTable.
  void AddFunction(uint64_t table);

 private:
  Module& module_;
  const BasicTypes& types_;
  const InvocationNote& invocation_;
  uint32_t function_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_ADDRESS_GUARD_H_
