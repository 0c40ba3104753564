// SPDX-License-Identifier: Apache-2.0
//
// The barriers that the layers of a program under `cairn run` receive (format/witness/witnesses.h):
// those in the user's cache, measured first if some are missing there.
#ifndef CAIRN_CLI_WITNESSES_H_
#define CAIRN_CLI_WITNESSES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "format/witness/witnesses.h"

namespace cairn::cli {

// The folder for what Cairn can make anew: XDG_CACHE_HOME/cairn, or that in HOME/.cache; on Windows that in LOCALAPPDATA.
// "" where no such variable is a path, which kNoWitnessCache says in words.
std::string CacheFolder();
// "witnesses" in it, or "".
std::string WitnessCachePath();
extern const char kNoWitnessCache[];

// Returns a hash of this machine's drivers and devices and of the environment variables about them.
// While it stays the same, there is nothing new to measure. Reads names and times of some files;
// loads no driver. 0 where no driver of Vulkan is installed.
uint64_t WitnessMachine();

// The value of CAIRN_WITNESSES. Never fails: what cannot be known is left out, and the set says why. Measuring
// takes a process of its own for each try, killed when it makes no progress for ten seconds; `say` gets a line if it
// takes more than one. Where the cache cannot be written nothing is measured: a device that hangs in it would at
// every start.
WitnessSet FindWitnesses(const std::function<void(const std::string&)>& say);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WITNESSES_H_
