// SPDX-License-Identifier: Apache-2.0
//
// Finds the loops that can be limited so that the module stays valid.
#ifndef CAIRN_APP_SPIRV_VALID_LOOPS_H_
#define CAIRN_APP_SPIRV_VALID_LOOPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace cairn::spirv {

struct ValidLoops {
  std::vector<uint32_t> kept;  // in their order; the last successful try was of these
  std::vector<std::pair<uint32_t, std::string>> refused;  // with the reason: what the try said
};

// Finds as many of `loops` as a try takes together: all, or else what halving the rest finds.
// try_with: ok if the module with these loops limited is valid. It is called at most `most_tries` times, from 2 on; the
// loops that no try was left for are refused, with a sentence. Error: not even the try of no loop is ok; its message.
Result<ValidLoops> KeepValidLoops(
    const std::vector<uint32_t>& loops, uint32_t most_tries,
    const std::function<Status(const std::vector<uint32_t>&)>& try_with);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_VALID_LOOPS_H_
