// SPDX-License-Identifier: Apache-2.0
//
// Warns about differences between a playback and the program.
#ifndef CAIRN_CLI_LEFT_OUT_H_
#define CAIRN_CLI_LEFT_OUT_H_

#include <string>
#include <string_view>

#include "reader/replay/player.h"

namespace cairn::cli {

// Prints a line for each kind of skipped calls, with its count and the first one, and one for each
// note; a limited number of both. Each begins with `about`.
void PrintNotes(std::string_view verb, const std::string& about, const PlayerResult& result);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_LEFT_OUT_H_
