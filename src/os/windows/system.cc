// SPDX-License-Identifier: Apache-2.0
#include "os/windows/system.h"

#include <algorithm>

#include "os/file.h"

namespace cairn {

std::wstring Wide(std::string_view text) {
  const int bytes = static_cast<int>(text.size());
  const int length = MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0);
  std::wstring wide(static_cast<size_t>(std::max(length, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), length);
  return wide;
}

std::string Utf8(std::wstring_view text) {
  const int units = static_cast<int>(text.size());
  const int length =
      WideCharToMultiByte(CP_UTF8, 0, text.data(), units, nullptr, 0, nullptr, nullptr);
  std::string narrow(static_cast<size_t>(std::max(length, 0)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), units, narrow.data(), length, nullptr, nullptr);
  return narrow;
}

std::wstring SystemPath(const std::filesystem::path& path) {
  constexpr size_t kMostWithoutPrefix = MAX_PATH - 12;  // as of folders
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  std::wstring name = (error ? path : whole).wstring();
  std::replace(name.begin(), name.end(), L'/', L'\\');
  if (error || name.size() < kMostWithoutPrefix || name.starts_with(L"\\\\")) {
    return path.empty() ? L"" : path.wstring();
  }
  return L"\\\\?\\" + name;
}

std::error_code LastError() {
  return {static_cast<int>(GetLastError()), std::system_category()};
}

Status StatusFromLastError(const std::string& what) {
  return StatusFromError(LastError(), what);
}

DWORD Milliseconds(uint64_t ns) {
  constexpr uint64_t kMost = INFINITE - 1;
  return static_cast<DWORD>(std::min(ns / 1'000'000 + (ns % 1'000'000 != 0 ? 1 : 0), kMost));
}

}  // namespace cairn
