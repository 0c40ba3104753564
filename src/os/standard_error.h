// SPDX-License-Identifier: Apache-2.0
//
// Lines to whoever started the program.
#ifndef CAIRN_OS_STANDARD_ERROR_H_
#define CAIRN_OS_STANDARD_ERROR_H_

#include <string_view>

namespace cairn {

// Writes `text` to standard error at once, or not at all where nobody reads it or the file may not grow (ulimit -f):
// there is no other place to say so, and the process is not ended by it. On Windows also to the debugger, if there is one. No lock, no allocation, errno stays as it is: safe in a crash handler.
void WriteStandardError(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_OS_STANDARD_ERROR_H_
