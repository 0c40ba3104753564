// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_ENTRY_LINUX_LINUX_HALF_H_
#define CAIRN_APP_ENTRY_LINUX_LINUX_HALF_H_

#include "os/linux_half.h"

namespace cairn {

// Returns this library's services for the Windows half in the same process (os/linux_half.h).
LinuxHalf& ThisLinuxHalf();

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_LINUX_LINUX_HALF_H_
