// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that somebody else has chosen: only memory among them is used, and none of the others is opened, read or
// closed where that could wait.
#ifndef CAIRN_OS_LINUX_FOREIGN_HANDLE_H_
#define CAIRN_OS_LINUX_FOREIGN_HANDLE_H_

#include <cstdint>

#include "os/handle.h"
#include "os/linux/file_descriptor.h"

namespace cairn {

// True for memory as SharedMemory::Create makes it: a memfd in ordinary pages, sealed against shrinking and growing, so
// that reading a mapping of it never faults. Memory of huge pages is none: the system may have no page left for a hole
// in it. Calls no file system: it never waits.
bool IsSealedMemory(int fd);

// Opens the memory that `path`, a link in /proc/PID/fd, leads to. Invalid, with errno 0, if it leads to anything else,
// which is not opened; with another errno if it cannot be looked at. `flags`: O_RDONLY or O_RDWR.
FileDescriptor OpenMemory(const char* path, int flags);

// Closes it on another thread: a socket that lingers, a file of a slow file system and others block
// while they are closed, perhaps forever. At most 16 threads close handles; further handles stay
// open until a thread is free.
void CloseElsewhere(SystemHandle handle);

// Descriptors that are to be closed and are still open.
uint64_t HandlesStillOpen();

// Unmaps memory that another process made, on another thread: the last one who has it mapped waits while the system
// frees its pages, 0.4 s for 1 GiB. Small memory, and what comes while four others wait, is unmapped at once.
void UnmapElsewhere(void* data, uint64_t size_bytes);

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_FOREIGN_HANDLE_H_
