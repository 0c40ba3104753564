// SPDX-License-Identifier: Apache-2.0
//
// Chooses the path of dumps.
#ifndef CAIRN_WATCHER_OUTPUT_PATH_H_
#define CAIRN_WATCHER_OUTPUT_PATH_H_

#include <cstdint>
#include <string>

#include "base/status.h"

namespace cairn {

// Returns true if a file, or anything else, has this name.
bool IsThere(const std::string& path);

// "build/bin/game" -> "game.cairn", in the working directory.
std::string DefaultOutputPath(const std::string& program);

// The dump of another process of the same run: "out/game.cairn", 71 -> "out/game-71.cairn". A process that
// needs several has numbers behind that: "out/game-71-2.cairn".
std::string OutputPathOfProcess(const std::string& output_path, int64_t process_id,
                                uint32_t number = 1);
// Names that one process may use. All have room in what CheckOutputPath accepts.
inline constexpr uint32_t kMaxPathsOfProcess = 16;

// Ok if a dump can be written there; leaves nothing behind. The message says what is in the way.
Status CheckOutputPath(const std::string& output_path);

// Returns true if both name the same file, whether it exists or not.
bool IsSameFile(const std::string& one, const std::string& other);

}  // namespace cairn

#endif  // CAIRN_WATCHER_OUTPUT_PATH_H_
