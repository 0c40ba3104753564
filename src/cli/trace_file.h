// SPDX-License-Identifier: Apache-2.0
//
// Opening the .cairn file with a trace that a verb is given.
#ifndef CAIRN_CLI_TRACE_FILE_H_
#define CAIRN_CLI_TRACE_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "format/trace/trace_reader.h"

namespace cairn::cli {

// Opens the trace. If that fails, prints one line with the reason and the next step, and returns nothing;
// warns with one line if the file was cut or, as far as `check` looks, damaged. `path` may be empty: the
// argument is missing then.
std::optional<TraceReader> OpenTraceFile(std::string_view verb, const std::string& path,
                                         Check check = Check::kStructure);
// The same for a playback, which names the damage where it has to end: warns only if the file was cut.
// True, with an error, for a trace that holds hashes instead of shaders: it is never played.
bool RefuseWithoutShaders(std::string_view verb, const std::string& path, const TraceReader& trace);
std::optional<TraceReader> OpenTraceToPlay(std::string_view verb, const std::string& path);
// Like OpenTraceFile, without the warning: the caller prints a more detailed one.
std::optional<TraceReader> OpenTraceFileQuietly(std::string_view verb, const std::string& path,
                                                Check check = Check::kStructure);

// The first chunk that a later release has stored in its own way; empty if there is none.
std::string UnknownEncodingInWords(const FileReader& file);

// "game.cairn was cut off, ..." or "game.cairn is damaged, ..."; empty for a trace that is whole.
std::string DamageInWords(const std::string& path, const TraceReader& trace);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_TRACE_FILE_H_
