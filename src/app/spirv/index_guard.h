// SPDX-License-Identifier: Apache-2.0
//
// A checked access by descriptor calls this: a function in the module that compares indices with their bounds.
#ifndef CAIRN_APP_SPIRV_INDEX_GUARD_H_
#define CAIRN_APP_SPIRV_INDEX_GUARD_H_

#include <cstdint>
#include <vector>

#include "app/spirv/inserted_code.h"
#include "app/spirv/invocation_note.h"
#include "app/spirv/module.h"

namespace cairn::spirv {

// Adds the function to a module with the addressing model PhysicalStorageBuffer64.
class IndexGuard {
 public:
  // `invocation`: of the module. All outlive this.
  IndexGuard(Module& module, const BasicTypes& types, const InvocationNote& invocation);

  // An index, and what it has to be below: ids of words.
  struct Bounded {
    uint32_t index = 0;
    uint32_t bound = 0;
  };
  // Adds the call in front of an access, and returns whether all are inside, a bool. indices: kMostIndices at most.
  // record: the address of its AccessRecord.
  uint32_t Call(Code& code, const std::vector<Bounded>& indices, uint64_t record);
  // Adds the function to the module, behind all others. Once.
  void AddFunction();

 private:
  Module& module_;
  const BasicTypes& types_;
  const InvocationNote& invocation_;
  uint32_t function_;
};

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_INDEX_GUARD_H_
