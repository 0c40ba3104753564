// SPDX-License-Identifier: Apache-2.0
//
// A library for CAIRN_DRIVER that shows that it was loaded: it leaves a file in the working directory.
#include <fcntl.h>
#include <unistd.h>

namespace {

[[gnu::constructor]] void LeaveAFile() {
  const int file = open("driver-ran", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

}  // namespace
