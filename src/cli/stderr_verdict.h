// SPDX-License-Identifier: Apache-2.0
//
// The first screen of reports on stderr: who ran a program has the answer without another command.
#ifndef CAIRN_CLI_STDERR_VERDICT_H_
#define CAIRN_CLI_STDERR_VERDICT_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cairn::cli {

// Prints the answer of a report that could not be written (SessionSettings::tell_unwritten): who lost the file does not
// lose the answer. Says nothing if there is none in the bytes.
void TellUnwritten(std::span<const std::byte> file);

// Prints the answers of the reports in these files, of the first four: each once, behind its name if there are several.
// Says nothing of a file that cannot be read, or in which nothing is wrong. Takes as long as `cairn report` does.
void TellWritten(const std::vector<std::string>& paths);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_STDERR_VERDICT_H_
