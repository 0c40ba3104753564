// SPDX-License-Identifier: Apache-2.0
//
// What stdout is connected to.
#ifndef CAIRN_CLI_TERMINAL_H_
#define CAIRN_CLI_TERMINAL_H_

#include <cstdint>

namespace cairn::cli {

// True if stdout is a terminal that shows colours and the user has not declined them (NO_COLOR, see
// no-color.org; TERM=dumb).
bool StdoutShowsColour();

// Columns of the terminal; 0 if stdout is none.
uint32_t StdoutColumns();

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TERMINAL_H_
