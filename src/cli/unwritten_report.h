// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_CLI_UNWRITTEN_REPORT_H_
#define CAIRN_CLI_UNWRITTEN_REPORT_H_

#include <cstddef>
#include <span>

namespace cairn::cli {

// Prints the verdict of a report that could not be written (SessionSettings::tell_unwritten) on stderr: who lost the file
// does not lose the answer. Says nothing if there is none in the bytes.
void TellUnwritten(std::span<const std::byte> file);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_UNWRITTEN_REPORT_H_
