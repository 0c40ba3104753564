// SPDX-License-Identifier: Apache-2.0
//
// A checked access calls this: a function in the module that looks an address up among the ranges.
#ifndef CAIRN_APP_SPIRV_ACCESS_GUARD_H_
#define CAIRN_APP_SPIRV_ACCESS_GUARD_H_

#include <cstdint>

#include "app/spirv/inserted_code.h"
#include "app/spirv/invocation_note.h"
#include "app/spirv/module.h"
#include "base/status.h"
#include "format/experiment/loop_record.h"

namespace cairn::spirv {

// Adds the function, and a note of the invocation at the start of each entry point, to a module with the addressing
// model PhysicalStorageBuffer64.
class AccessGuard {
 public:
  AccessGuard(Module& module, const BasicTypes& types);

  // kUnsupported: an entry point has no room for one more variable.
  const Status& status() const { return invocation_.status(); }
  InvocationKind invocations() const { return invocation_.kind(); }
  // Adds the call in front of an access, and returns the address that it is to have, a vector of two words: its own, or
  // `instead`. address, instead: ids of vectors of two words. record: the address of its AccessRecord.
  uint32_t Call(Code& code, uint32_t address, uint32_t bytes, uint64_t record, uint32_t instead);
  // A constant.
  uint32_t Address(uint64_t value);
  // Adds the function to the module, behind all others. Once. table: the address of an AccessTable.
  void AddFunction(uint64_t table);

 private:
  Module& module_;
  const BasicTypes& types_;
  InvocationNote invocation_;
  uint32_t function_;
  uint32_t function_type_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_ACCESS_GUARD_H_
