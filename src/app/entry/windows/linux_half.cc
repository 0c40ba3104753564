// SPDX-License-Identifier: Apache-2.0
//
// Under Wine on Linux: the Linux half of Cairn (os/linux_half.h), which has had this library loaded, says that it is there.
// Before the program's first instruction; linux/wine.cc.
#include "os/linux_half.h"

#include <cstring>

// False: it is of another version, and what either knows of the other does not fit.
extern "C" bool CairnMeetLinux(cairn::LinuxHalf* half, const char* version) {
  if (std::strcmp(version, CAIRN_LIBRARY_VERSION) != 0) return false;
  cairn::SetLinuxHalf(half);
  return true;
}
