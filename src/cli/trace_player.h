// SPDX-License-Identifier: Apache-2.0
//
// The playback of a trace as a program that is run again and again (cli/program_runs.h), with the layers in it: for
// cairn why FILE.
#ifndef CAIRN_CLI_TRACE_PLAYER_H_
#define CAIRN_CLI_TRACE_PLAYER_H_

#include <string>

#include "cli/program_runs.h"
#include "format/trace/trace_reader.h"
#include "reader/bisect/bisect_journal.h"
#include "reader/replay/device.h"

namespace cairn::cli {

// Makes runs of the options' hang_timeout_ns that play the trace at `path`.
void SetPlayer(const std::string& path, const PlayOn& on, ProgramRunsOptions* runs);

// Identifies the subject of a journal's answers: the same trace, played in the same way on the same
// device and driver. Libraries that do not say which device it is leave that to variables. `options`: what the answers
// depend on.
JournalIdentity IdentityOfTrace(const TraceReader& trace, const DeviceFacts& device,
                                const PlayOn& on, const std::string& options);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TRACE_PLAYER_H_
