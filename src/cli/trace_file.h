// SPDX-License-Identifier: Apache-2.0
//
// Opening the .cairn file with a trace that a verb is given.
#ifndef CAIRN_CLI_TRACE_FILE_H_
#define CAIRN_CLI_TRACE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "trace/trace_reader.h"

namespace cairn::cli {

// Opens the trace. If that fails, prints one line with the reason and the next step, and returns nothing;
// warns with one line if something of the file is lost. `path` may be empty: the argument is missing then.
std::optional<TraceReader> OpenTraceFile(std::string_view verb, const std::string& path);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TRACE_FILE_H_
