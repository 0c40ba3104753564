// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>

#include "os/windows/channel.h"

namespace cairn {
namespace {

constexpr DWORD kDoorPatienceMs = 1000;

// Returns true if the process behind the pipe has this user's rights, or is the system.
bool IsTrusted(HANDLE pipe) {
  constexpr wchar_t kSystem[] = L"S-1-5-18";
  ULONG id = 0;
  if (GetNamedPipeServerProcessId(pipe, &id) == 0) return false;
  // Older Wine does not know who made a pipe; it has one user.
  if (id == 0) return true;
  const SystemHandle process = Owned(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, id));
  const std::wstring user = process.valid() ? UserOf(HandleOf(process)) : L"";
  return !user.empty() && (user == UserOf(GetCurrentProcess()) || user == kSystem);
}

}  // namespace

SystemHandle ConnectTo(DoorName kind, const std::string& door, std::span<const std::byte> first,
                       std::error_code& error) {
  SystemHandle made;
  SetLastError(ERROR_FILE_NOT_FOUND);
  if (kind == DoorName::kName && !door.empty()) {
    const std::wstring path = PathOfPipe(door);
    made = Owned(ConnectToPipe(path));
    // All its ends are taken: the server makes the next one at once.
    if (!made.valid() && GetLastError() == ERROR_PIPE_BUSY &&
        WaitNamedPipeW(path.c_str(), kDoorPatienceMs) != 0) {
      made = Owned(ConnectToPipe(path));
    }
  }
  error = LastError();
  if (!made.valid()) return made;
  error.clear();
  if (!IsTrusted(HandleOf(made))) {
    error = std::make_error_code(std::errc::operation_not_permitted);
  } else if (!SendOver(made.get(), first).ok()) {
    error = std::make_error_code(std::errc::broken_pipe);
  }
  return error ? SystemHandle() : std::move(made);
}

}  // namespace cairn
