// SPDX-License-Identifier: Apache-2.0
//
// Libraries that want an executable stack, as libvkd3d of Debian 13 does.
#ifndef CAIRN_OS_EXECUTABLE_STACK_H_
#define CAIRN_OS_EXECUTABLE_STACK_H_

#include <string>

namespace cairn {

// On Linux, glibc from 2.41 on does not load such libraries later, unless GLIBC_TUNABLES said so when the process
// started. If `library`, a name or path as for dlopen, is refused for that, this starts the program again with
// `argv`, those of main, and so told. Otherwise, where the user's GLIBC_TUNABLES have decided it, in a child
// (os/child.h), whose parent has seen to it, and on other systems it returns: loading the library then gives the
// reason. The library is tried in another process: some milliseconds. Call it before anything is printed, without
// other threads.
void AllowExecutableStack(const std::string& library, char** argv);

}  // namespace cairn

#endif  // CAIRN_OS_EXECUTABLE_STACK_H_
