// SPDX-License-Identifier: Apache-2.0
//
// The output of cairn replay --check.
#ifndef CAIRN_CLI_DEVICE_CHECK_H_
#define CAIRN_CLI_DEVICE_CHECK_H_

#include <string>

#include "reader/replay/player.h"

namespace cairn::cli {

// Prints the differences that a check has found, and returns the exit code: 0 if none of them prevents anything of
// the trace from being played, kExitLeftOut if one does, kExitFailed if the output cannot be written.
int PrintCheck(const std::string& path, const PlayerResult& result, bool json);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_DEVICE_CHECK_H_
