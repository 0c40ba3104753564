// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_USER_H_
#define CAIRN_OS_USER_H_

#include <string>

namespace cairn {

// Returns true if this process may change settings of the whole machine: it is root's, or runs as
// administrator.
bool IsAdministrator();

// Returns the user whose rights this process has, for messages: "root", a name, or "number 1000"
// for a user without a name.
std::string UserName();

}  // namespace cairn

#endif  // CAIRN_OS_USER_H_
