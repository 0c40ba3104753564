// SPDX-License-Identifier: Apache-2.0
//
// Makes the entry points of one stage of a SPIR-V module do nothing: all that they leave is zeros.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_APP_SPIRV_EMPTY_STAGE_H_
#define CAIRN_APP_SPIRV_EMPTY_STAGE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/experiment/experiment.h"

namespace cairn::spirv {

struct EmptiedModule {
  std::vector<uint32_t> words;  // none where `emptied` is 0
  uint32_t emptied = 0;         // entry points
};

// Empties the entry points of this stage in a module, which may be any words. Each of their outputs is set to zeros, once,
// so that what comes behind the stage is defined: a vertex whose position is 0, 0, 0, 0 is nowhere.
// Errors: as ReadValid; kUnsupported also where the changed module is not valid, and says why.
// Cost: two validations of modules that have the stage; the rest is linear in the module.
Result<EmptiedModule> EmptyStage(std::span<const uint32_t> words, EmptiedStage stage);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_EMPTY_STAGE_H_
