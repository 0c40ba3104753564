// SPDX-License-Identifier: Apache-2.0
//
// Getting a library into another process: a thread that is started there loads it. In a process that was started
// suspended that thread is the first one, so the system makes the process ready on it (its libraries are there, their
// DllMain has run), and the program's own first instruction comes behind.
#ifndef CAIRN_OS_WINDOWS_LIBRARY_INJECTION_H_
#define CAIRN_OS_WINDOWS_LIBRARY_INJECTION_H_

#include <string>

#include "base/status.h"
#include "os/windows/system.h"

namespace cairn {

// Loads the library at this whole path into the process, and waits until that is done, a minute at
// most. The system also searches the library's folder for libraries that it needs. Errors:
// kUnsupported: the process has 32 bits, or another processor. kIo: with the system's reason; also
// if the process has ended meanwhile.
Status LoadIntoProcess(HANDLE process, const std::wstring& library);

// Returns true if the file is a program of 32 bits, into which nothing of 64 bits can be loaded.
bool IsProgramOf32Bits(const std::wstring& file);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_LIBRARY_INJECTION_H_
