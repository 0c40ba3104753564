// SPDX-License-Identifier: Apache-2.0
//
// The one place where variables of Cairn (CAIRN_...) are read in a program that uses its libraries. A
// program that has more rights than its user must not obey the user's environment: there it is empty.
#ifndef CAIRN_OS_ENVIRONMENT_H_
#define CAIRN_OS_ENVIRONMENT_H_

#include <string>

namespace cairn {

// True where the program was started with more rights than the user who started it: the kernel says so
// (AT_SECURE: setuid, setgid, capabilities, transitions of a security module), or its file has
// capabilities, even if they changed nothing this time. Found out once; cheap afterwards. Any thread.
bool IsPrivilegedProcess();

// Like getenv, and null in a privileged process.
const char* OwnVariable(const char* name);

// Sets a variable of this process that is not set. Before other threads ask for variables.
void SetMissingVariable(const char* name, const char* value);
// Sets any variable of this process, for libraries that it loads later and processes that it starts. Not while other
// threads run.
void SetVariable(const std::string& name, const std::string& value);
// The same for one that is not to be there.
void ClearVariable(const std::string& name);

}  // namespace cairn

#endif  // CAIRN_OS_ENVIRONMENT_H_
