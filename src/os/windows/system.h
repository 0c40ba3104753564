// SPDX-License-Identifier: Apache-2.0
//
// What the files of this folder share: the system's texts and errors.
#ifndef CAIRN_OS_WINDOWS_SYSTEM_H_
#define CAIRN_OS_WINDOWS_SYSTEM_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "os/handle.h"

// Behind the others: it has macros with common names.
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#undef ReplaceFile

namespace cairn {

// UTF-8 inside, UTF-16 at the border. What is no character becomes U+FFFD.
std::wstring Wide(std::string_view text);
std::string Utf8(std::wstring_view text);

// As functions of the system take it. Long paths have no limit behind a prefix, which takes no relative ones, and no
// '/'.
std::wstring SystemPath(const std::filesystem::path& path);

// What GetLastError says, to be compared with std::errc.
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
