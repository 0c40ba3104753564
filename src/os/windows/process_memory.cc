// SPDX-License-Identifier: Apache-2.0
//
// By the process environment block (winternl.h has its beginning), where debuggers read it, too. There is a way
// without (ProcessCommandLineInformation), which Wine 8 lacks.
#include "os/windows/process_memory.h"

#include <algorithm>
#include <cstddef>

#include "os/windows/system.h"
// Included after windows.h.
#include <winternl.h>

namespace cairn {
namespace {

// RTL_USER_PROCESS_PARAMETERS of 64 bits, as far as it has not changed since Windows Vista.
struct StartParameters {
  std::byte before[0x70];
  UNICODE_STRING command_line;
  void* environment;
};
static_assert(offsetof(StartParameters, environment) == 0x80);

// Loaded by name: the import library is one of drivers.
PROCESS_BASIC_INFORMATION BasicsOf(HANDLE process) {
  using Query = NTSTATUS(NTAPI*)(HANDLE, PROCESSINFOCLASS, void*, ULONG, ULONG*);
  static const auto query = reinterpret_cast<Query>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQueryInformationProcess")));
  PROCESS_BASIC_INFORMATION basics = {};
  if (query != nullptr) {
    query(process, ProcessBasicInformation, &basics, sizeof(basics), nullptr);
  }
  return basics;
}

bool ReadAt(HANDLE process, const void* address, void* bytes, size_t count) {
  SIZE_T read = 0;
  return address != nullptr && ReadProcessMemory(process, address, bytes, count, &read) != 0 &&
         read == count;
}

bool ReadParameters(HANDLE process, StartParameters* parameters) {
  const PEB* const block = BasicsOf(process).PebBaseAddress;
  PEB peb = {};
  return ReadAt(process, block, &peb, sizeof(peb)) &&
         ReadAt(process, peb.ProcessParameters, parameters, sizeof(*parameters));
}

SystemHandle OpenToRead(ProcessId id) {
  return Owned(
      ::OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, static_cast<DWORD>(id)));
}

}  // namespace

std::wstring CommandLineIn(ProcessId id) {
  const SystemHandle process = OpenToRead(id);
  StartParameters parameters = {};
  if (!process.valid() || !ReadParameters(HandleOf(process), &parameters)) return {};
  std::wstring line(parameters.command_line.Length / sizeof(wchar_t), L'\0');
  const bool is_read = ReadAt(HandleOf(process), parameters.command_line.Buffer, line.data(),
                              line.size() * sizeof(wchar_t));
  return is_read ? line : std::wstring();
}

std::wstring EnvironmentIn(ProcessId id, size_t most_units) {
  const SystemHandle process = OpenToRead(id);
  StartParameters parameters = {};
  if (!process.valid() || !ReadParameters(HandleOf(process), &parameters)) return {};
  // The size of the environment is unknown: read up to the end of its memory.
  MEMORY_BASIC_INFORMATION pages = {};
  if (VirtualQueryEx(HandleOf(process), parameters.environment, &pages, sizeof(pages)) == 0) {
    return {};
  }
  const auto* const begin = static_cast<const std::byte*>(parameters.environment);
  const auto* const end = static_cast<const std::byte*>(pages.BaseAddress) + pages.RegionSize;
  std::wstring text(std::min(static_cast<size_t>(end - begin) / sizeof(wchar_t), most_units),
                    L'\0');
  if (!ReadAt(HandleOf(process), begin, text.data(), text.size() * sizeof(wchar_t))) return {};
  // An empty one is the end.
  const size_t last = text.find(std::wstring(2, L'\0'));
  return last == text.npos ? text : text.substr(0, last + 1);
}

ProcessId StarterOf(ProcessId id) {
  const SystemHandle process =
      Owned(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(id)));
  if (!process.valid()) return -1;
  return static_cast<ProcessId>(BasicsOf(HandleOf(process)).InheritedFromUniqueProcessId);
}

}  // namespace cairn
