// SPDX-License-Identifier: Apache-2.0
//
// A variable in which each invocation has a note of what it is called, from the start of its entry point on.
#ifndef CAIRN_APP_SPIRV_INVOCATION_NOTE_H_
#define CAIRN_APP_SPIRV_INVOCATION_NOTE_H_

#include <cstdint>

#include "app/spirv/inserted_code.h"
#include "app/spirv/module.h"
#include "base/status.h"
#include "format/experiment/loop_record.h"

namespace cairn::spirv {

class InvocationNote {
 public:
  // Adds it to a module.
  InvocationNote(Module& module, const BasicTypes& types);

  // kUnsupported: an entry point has no room for one more variable.
  const Status& status() const { return status_; }
  InvocationKind kind() const { return kind_; }
  // Writes the four words behind `offset` bytes from an address, the id of a vector of two words. Nothing for an unknown
  // kind.
  void Store(Code& code, uint32_t address, uint32_t offset) const;

 private:
  void Add();
  void AddTo(Instruction& entry_point);
  void Name(Instruction& entry_point, uint32_t variable);
  uint32_t Input(Instruction& entry_point, spv::BuiltIn builtin, uint32_t type,
                 uint32_t* loaded_type);

  Module& module_;
  const BasicTypes& types_;
  Status status_;
  InvocationKind kind_ = InvocationKind::kUnknown;
  uint32_t variable_ = 0;  // private; 0: none
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_INVOCATION_NOTE_H_
