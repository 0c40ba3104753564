// SPDX-License-Identifier: Apache-2.0
//
// Recognises what a user gave in the place of something else: a program where a .cairn file belongs, a
// .cairn file where a program or a verb belongs, a file of another tool. Each function returns the
// sentence that says so, with the command that was probably meant, or "" where nothing is recognised.
// They read the first bytes of files, and the names of a folder, at most.
#ifndef CAIRN_CLI_MISTAKEN_WORD_H_
#define CAIRN_CLI_MISTAKEN_WORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace cairn::cli {

enum class NeededFile { kAny, kTrace };

// Returns true if `verb` does with a program, behind "--", what it does with a trace.
bool RunsPrograms(std::string_view verb);

// `path` is what `verb` could not open as the .cairn file that it needs.
std::string MistakenForFile(std::string_view verb, const std::string& path, NeededFile needed);

// `program` is what `verb` could not start. `code`: the reason.
std::string MistakenForProgram(std::string_view verb, const std::string& program, StatusCode code);

// `words` are those behind "cairn", the first of which is no verb.
std::string MistakenForVerb(const std::vector<std::string>& words);

// `verb` takes a file, or a program behind "--". `options` are its own words, `program` begins with the
// first word that is none of them, and ends before "--" or with the command line.
std::string MistakenForFileBeforeDashes(std::string_view verb,
                                        const std::vector<std::string>& options,
                                        const std::vector<std::string>& program);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_MISTAKEN_WORD_H_
