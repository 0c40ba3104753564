// SPDX-License-Identifier: Apache-2.0
//
// The values of an indirect command whose buffer lies in memory that the program had mapped when it
// recorded the command. Behind the command's arguments (work_arguments.h) one more kBind event
// gives the address, in the program's memory, of the first command. When a snapshot is taken of a
// program that lives, the values are read there and take the place of the address.
#ifndef CAIRN_FORMAT_BLOCK_INDIRECT_VALUES_H_
#define CAIRN_FORMAT_BLOCK_INDIRECT_VALUES_H_

#include "format/block/work_arguments.h"

namespace cairn {

// The value is an address of the program's; 0 once it was read, or could not be.
inline constexpr ArgumentsPoint kIndirectHostAddress = static_cast<ArgumentsPoint>(60);
// The first three numbers of the command, as they were when the snapshot was taken.
inline constexpr ArgumentsPoint kIndirectValues = static_cast<ArgumentsPoint>(61);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_INDIRECT_VALUES_H_
