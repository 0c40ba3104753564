// SPDX-License-Identifier: Apache-2.0
//
// Warns about differences between a playback and the program.
#ifndef CAIRN_CLI_LEFT_OUT_H_
#define CAIRN_CLI_LEFT_OUT_H_

#include <string>
#include <string_view>

#include "reader/replay/player.h"

namespace cairn::cli {

// A line for each kind of what was left out, with its count and the first of it, and one for each note; so many
// at most of both. Each begins with `about`.
void PrintNotes(std::string_view verb, const std::string& about, const PlayerResult& result);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_LEFT_OUT_H_
