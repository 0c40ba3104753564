// SPDX-License-Identifier: Apache-2.0
//
// Lines to whoever started the program.
#ifndef CAIRN_OS_STANDARD_ERROR_H_
#define CAIRN_OS_STANDARD_ERROR_H_

#include <string_view>

namespace cairn {

// Writes `text` to standard error at once. Drops it without an error if there is no reader or the
// file may not grow (ulimit -f), and the process is not ended by a signal. On Windows also to the
// debugger, if there is one. No lock, no allocation, errno stays as it is: safe in a crash handler.
void WriteStandardError(std::string_view text);

// Writes `text` to standard output at once and as it is, past the C library's stream. Returns false if not all of it
// could be written, as without a reader; the process is not ended by a signal. Waits for a reader that is slow.
bool WriteStandardOutput(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_OS_STANDARD_ERROR_H_
