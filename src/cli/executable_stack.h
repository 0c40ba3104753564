// SPDX-License-Identifier: Apache-2.0
//
// Implementations of Direct3D 12 that want an executable stack: libvkd3d of Debian 13 does.
#ifndef CAIRN_CLI_EXECUTABLE_STACK_H_
#define CAIRN_CLI_EXECUTABLE_STACK_H_

#include <string>

namespace cairn::cli {

// glibc from 2.41 on does not load such libraries later, unless GLIBC_TUNABLES said so when the process
// started. If `library`, a name or path as for dlopen, is refused for that, this starts cairn again with
// `argv`, those of main, and so told. Otherwise, and where the user's GLIBC_TUNABLES have decided it, it returns:
// loading the library then gives the reason. The library is tried in a child: some
// milliseconds. Call it before anything is printed, without other threads.
void AllowExecutableStack(const std::string& library, char** argv);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_EXECUTABLE_STACK_H_
