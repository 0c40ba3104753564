// SPDX-License-Identifier: Apache-2.0
//
// What a limited loop calls: a function in the module that writes its LoopRecord.
#ifndef CAIRN_APP_SPIRV_LOOP_REPORT_H_
#define CAIRN_APP_SPIRV_LOOP_REPORT_H_

#include <cstdint>

#include "app/spirv/inserted_code.h"
#include "app/spirv/invocation_note.h"
#include "app/spirv/module.h"
#include "base/status.h"
#include "format/experiment/loop_record.h"

namespace cairn::spirv {

// Adds the function, and a note of the invocation at the start of each entry point, to a module with the addressing
// model Logical or PhysicalStorageBuffer64.
class LoopReport {
 public:
  LoopReport(Module& module, const BasicTypes& types);

  // kUnsupported: an entry point has no room for one more variable.
  const Status& status() const { return invocation_.status(); }
  InvocationKind invocations() const { return invocation_.kind(); }
  // The call by which a loop says that it was left.
  // record: its address. cut: id of a bool, whether the limit ended it. trips, left, right: ids of unsigned integers.
  Instruction CallFor(uint64_t record, uint32_t cut, uint32_t trips, uint32_t left, uint32_t right);
  // Adds the function to the module, behind all others. Once.
  void AddFunction();

 private:
  Module& module_;
  const BasicTypes& types_;
  InvocationNote invocation_;
  uint32_t function_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_LOOP_REPORT_H_
