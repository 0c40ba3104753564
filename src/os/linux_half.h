// SPDX-License-Identifier: Apache-2.0
//
// Under Wine on Linux a program of Windows has Cairn twice: the Windows half (cairn-d3d.dll) sees its Direct3D, the
// Linux half (libcairn-d3d12.so) is below, beside Vulkan's driver, and belongs to the watcher. Both are in one process,
// so that the first calls functions of the second directly: 10 ns each, on any thread (docs/reference/windows.md, "Under Wine").
//
// The Linux half brings the other one into the process, and gives it this before the program runs. Only what the
// compilers of both systems know alike passes here: no objects of the C++ library, and no exceptions.
#ifndef CAIRN_OS_LINUX_HALF_H_
#define CAIRN_OS_LINUX_HALF_H_

#include <cstdint>

// The convention of functions of Linux.
#if defined(_WIN32)
#define CAIRN_LINUX_CALL [[gnu::sysv_abi]]
#else
#define CAIRN_LINUX_CALL
#endif

namespace cairn {

class LinuxHalf {
 public:
  // The numbers and times by which the watcher knows the process and its threads.
  CAIRN_LINUX_CALL virtual uint64_t ProcessId() const = 0;
  CAIRN_LINUX_CALL virtual uint32_t ThreadId() const = 0;
  CAIRN_LINUX_CALL virtual uint64_t MonotonicNs() const = 0;

  // os/shared_memory.h: Create and MapPathForWriting. Null if there is none.
  CAIRN_LINUX_CALL virtual void* CreateMemory(const char* name, uint64_t size_bytes) = 0;
  CAIRN_LINUX_CALL virtual void* MapMemory(const char* path, uint64_t* size_bytes) = 0;
  CAIRN_LINUX_CALL virtual void FreeMemory(void* memory) = 0;
  // os/futex.h: false if the time has passed.
  CAIRN_LINUX_CALL virtual bool Wait(const void* word, uint32_t expected,
                                     uint64_t timeout_ns) const = 0;
  CAIRN_LINUX_CALL virtual void Wake(const void* word) const = 0;

  // app/recorder: the one block of the process, which both halves fill; null if there is none.
  CAIRN_LINUX_CALL virtual void* ProcessBlock(uint64_t wanted_bytes, uint64_t* size_bytes) = 0;
  // Returns true if there is a watcher and it lives.
  CAIRN_LINUX_CALL virtual bool HasWatcher() const = 0;
  // `memory`: of CreateMemory, or null. 0, or the number of the system's error.
  CAIRN_LINUX_CALL virtual int32_t SendToWatcher(const void* message, uint64_t size_bytes,
                                                 const void* memory) const = 0;

  // app/breadcrumbs/driver_half.h: the calling thread's DriverScopes, and the DriverHalf.
  CAIRN_LINUX_CALL virtual void* ThreadScopes() const = 0;
  CAIRN_LINUX_CALL virtual void* Driver() const = 0;

 protected:
  LinuxHalf() = default;
  ~LinuxHalf() = default;
};

// For the Windows half. Null outside of Wine, and where `cairn run` of Linux has not started the program. The same from the program's first
// instruction on.
LinuxHalf* FindLinuxHalf();
void SetLinuxHalf(LinuxHalf* half);

}  // namespace cairn

#endif  // CAIRN_OS_LINUX_HALF_H_
