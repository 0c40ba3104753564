// SPDX-License-Identifier: Apache-2.0
//
// Sentences about calls that no replay can make: Replay::kCannot of d3d12gen/roles.h.
#ifndef CAIRN_READER_REPLAY_UNREPEATABLE_H_
#define CAIRN_READER_REPLAY_UNREPEATABLE_H_

#include "d3d12gen/roles.h"

namespace cairn {

// Returns the end of a sentence about the call; "" for Unrepeatable::kNone.
const char* WhyUnrepeatable(Unrepeatable why);

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_UNREPEATABLE_H_
