// SPDX-License-Identifier: Apache-2.0
//
// What a limited loop calls: a function in the module that writes its LoopRecord.
#ifndef CAIRN_APP_SPIRV_LOOP_REPORT_H_
#define CAIRN_APP_SPIRV_LOOP_REPORT_H_

#include <cstdint>

#include "app/spirv/module.h"
#include "base/status.h"
#include "format/experiment/loop_record.h"

namespace cairn::spirv {

// Types that the inserted code uses, by their ids.
struct BasicTypes {
  explicit BasicTypes(Module& module);
  uint32_t void_type, bool_type, uint_type, uint2, uint4;
};

// Adds the function, and a note of the invocation at the start of each entry point, to a module with the addressing
// model Logical or PhysicalStorageBuffer64.
class LoopReport {
 public:
  LoopReport(Module& module, const BasicTypes& types);

  // kUnsupported: an entry point has no room for one more variable.
  const Status& status() const { return status_; }
  InvocationKind invocations() const { return kind_; }
  // The call by which a loop says that it was left.
  // record: its address. cut: id of a bool, whether the limit ended it. trips, left, right: ids of unsigned integers.
  Instruction CallFor(uint64_t record, uint32_t cut, uint32_t trips, uint32_t left, uint32_t right);
  // Adds the function to the module, behind all others. Once.
  void AddFunction();

 private:
  uint32_t Word(uint32_t value);
  void UseAddresses();
  void NoteInvocations();
  void NoteInvocation(Instruction& entry_point);
  void Name(Instruction& entry_point, uint32_t variable);
  uint32_t Input(Instruction& entry_point, spv::BuiltIn builtin, uint32_t type,
                 uint32_t* loaded_type);

  Module& module_;
  const BasicTypes& types_;
  Status status_;
  InvocationKind kind_ = InvocationKind::kUnknown;
  uint32_t invocation_ = 0;  // a private variable; 0: none
  uint32_t function_;
  uint32_t function_type_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_LOOP_REPORT_H_
