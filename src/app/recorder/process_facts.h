// SPDX-License-Identifier: Apache-2.0
//
// Fills in the facts of the process in the block's header.
#ifndef CAIRN_APP_RECORDER_PROCESS_FACTS_H_
#define CAIRN_APP_RECORDER_PROCESS_FACTS_H_

#include "format/block/block.h"

namespace cairn {

// Fills process_id, start times, program and library_version.
void FillProcessFacts(BlockHeader& header);

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_PROCESS_FACTS_H_
