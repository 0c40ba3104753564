// SPDX-License-Identifier: Apache-2.0
//
// Makes one binding of a SPIR-V module hold zeros, and take nothing: every load through it gives zeros, every store is
// left out.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_APP_SPIRV_EMPTY_BINDING_H_
#define CAIRN_APP_SPIRV_EMPTY_BINDING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/experiment/binding.h"

namespace cairn::spirv {

struct UnboundModule {
  std::vector<uint32_t> words;  // none where `emptied` is 0
  uint32_t emptied = 0;         // instructions
};

// Empties all variables at this place in a module, which may be any words. What is reached through an address that was
// loaded from there is empty, too. The variables stay declared.
// Errors: as ReadValid; kUnsupported also where a use of the variable cannot be emptied, or the changed module is not
// valid, and says which.
// Cost: two validations of modules that have the binding; the rest is linear in the module, and for each function once
// more for each of its parameters that leads to the binding.
Result<UnboundModule> EmptyBinding(std::span<const uint32_t> words, const BindingPlace& place);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_EMPTY_BINDING_H_
