// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_USER_H_
#define CAIRN_OS_USER_H_

#include <string>

namespace cairn {

// Whether this process may change what belongs to the whole machine: it is root's, or runs as administrator.
bool IsAdministrator();

// Whose rights this process has, for messages: "root", a name, or "number 1000" where that has none.
std::string UserName();

}  // namespace cairn

#endif  // CAIRN_OS_USER_H_
