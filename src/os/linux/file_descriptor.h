// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_OS_LINUX_FILE_DESCRIPTOR_H_
#define CAIRN_OS_LINUX_FILE_DESCRIPTOR_H_

#include "os/handle.h"

namespace cairn {

// A SystemHandle made from the system's type; invalid for a negative number, the error of system
// calls.
class FileDescriptor : public SystemHandle {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : SystemHandle(fd < 0 ? -1 : fd) {}

  int get() const { return static_cast<int>(SystemHandle::get()); }
  int Release() { return static_cast<int>(SystemHandle::Release()); }
};

inline int DescriptorOf(const SystemHandle& handle) {
  return static_cast<int>(handle.get());
}

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_FILE_DESCRIPTOR_H_
