// SPDX-License-Identifier: Apache-2.0
#include "os/standard_input.h"

#include <algorithm>
#include <array>

#include "os/windows/system.h"

namespace cairn {

size_t ReadStandardInput(std::span<std::byte> bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // that a call takes
  const HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
  const auto most = static_cast<DWORD>(std::min(bytes.size(), kMost));
  const bool is_pipe = GetNamedPipeInfo(input, nullptr, nullptr, nullptr, nullptr) != 0;
  DWORD count = 0;
  do {
    // A pipe without a writer is an error here: the end. No bytes from a pipe are a write of none.
    if (ReadFile(input, bytes.data(), most, &count, nullptr) == 0) return 0;
  } while (count == 0 && is_pipe);
  return count;
}

// A file that is gone once nobody has it open: an anonymous pipe would need a thread that writes.
Status ReplaceStandardInput(std::span<const std::byte> bytes) {
  constexpr char kFailed[] = "the standard input cannot be replaced";
  std::array<wchar_t, MAX_PATH + 1> folder = {};
  std::array<wchar_t, MAX_PATH + 1> name = {};
  if (GetTempPathW(MAX_PATH, folder.data()) == 0 ||
      GetTempFileNameW(folder.data(), L"crn", 0, name.data()) == 0) {
    return StatusFromLastError(kFailed);
  }
  SystemHandle file = Owned(CreateFileW(
      name.data(), GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE,
      nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr));
  if (!file.valid()) return StatusFromLastError(kFailed);
  while (!bytes.empty()) {
    DWORD count = 0;
    const auto most = static_cast<DWORD>(std::min(bytes.size(), size_t{1} << 30));
    if (WriteFile(HandleOf(file), bytes.data(), most, &count, nullptr) == 0) {
      return StatusFromLastError(kFailed);
    }
    bytes = bytes.subspan(count);
  }
  if (SetFilePointer(HandleOf(file), 0, nullptr, FILE_BEGIN) != 0 ||
      SetStdHandle(STD_INPUT_HANDLE, HandleOf(file)) == 0) {
    return StatusFromLastError(kFailed);
  }
  (void)file.Release();  // it is the standard input of this process until its end
  return Status();
}

}  // namespace cairn
