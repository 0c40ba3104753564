// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of this folder: the system's texts and errors.
#ifndef CAIRN_OS_WINDOWS_SYSTEM_H_
#define CAIRN_OS_WINDOWS_SYSTEM_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "os/handle.h"

// Included after the other headers: it has macros with common names.
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#undef ReplaceFile

namespace cairn {

// Convert between UTF-8, used inside, and UTF-16, used by the system. Invalid characters become
// U+FFFD.
std::wstring Wide(std::string_view text);
std::string Utf8(std::wstring_view text);

// Returns the path for functions of the system. Adds the prefix that lifts the limit of long paths;
// it allows no relative paths, and no '/'.
std::wstring SystemPath(const std::filesystem::path& path);

// Returns the error of GetLastError, for comparison with std::errc.
std::error_code LastError();
// "`what`: the system's words for what GetLastError says".
Status StatusFromLastError(const std::string& what);

inline HANDLE HandleOf(const SystemHandle& handle) {
  return reinterpret_cast<HANDLE>(handle.get());
}
inline SystemHandle Owned(HANDLE handle) {
  // Some functions fail with null, others with INVALID_HANDLE_VALUE, which is -1.
  return SystemHandle(handle == nullptr ? -1 : reinterpret_cast<RawHandle>(handle));
}

// Nanoseconds in the system's milliseconds, rounded up: who waits for them has waited long enough.
DWORD Milliseconds(uint64_t ns);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_SYSTEM_H_
