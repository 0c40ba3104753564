// SPDX-License-Identifier: Apache-2.0
//
// The document of cairn replay --json (docs/formats/replay.schema.json).
#ifndef CAIRN_CLI_REPLAY_JSON_H_
#define CAIRN_CLI_REPLAY_JSON_H_

#include <string>

#include "reader/replay/player.h"

namespace cairn::cli {

// `path`: of the trace, as the user gave it.
std::string ReplayJson(const std::string& path, const PlayerResult& result);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_REPLAY_JSON_H_
